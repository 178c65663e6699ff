//! Losses that boosting minimizes.
//!
//! A loss is a sum of ℓ(y, f) over outputs, convex in the score f, so that every line search is a separate problem for
//! each output. Each output may have its own loss. The softmax loss couples the outputs of a group, and allows only
//! Newton steps. Boosting needs the negative gradient, on which trees grow, and the length of a step.

mod absolute;
mod huber;
mod log_link;
mod logistic;
mod median;
mod objective;
mod quantile;
mod search;
mod softmax;
mod square;

pub(crate) use logistic::Logistic;
pub(in crate::boosting) use objective::{Block, Objective, OutputLoss, Penalties, StepRule};
pub(crate) use search::root_of_derivative;
pub(crate) use softmax::Softmax;
pub(crate) use square::quotient;

use crate::list::ListItem;
use absolute::Absolute;
use huber::Huber;
use log_link::{LogLink, Poisson, Tweedie};
use median::weighted_median;
use quantile::Quantile;
use rpo_core::{InverseLink, vectorized};
use schemars::JsonSchema;
use search::line_search;
use serde::{Deserialize, Serialize};
use square::Square;
use std::fmt;
use std::sync::Arc;

/// The line search problem of one output along a tree: minimize Σ_i w_i ℓ(y_i, f_i + ρ g_i) over the step ρ.
///
/// The slices have equal lengths and hold only the samples of positive weight.
#[derive(Debug, Clone, Copy)]
pub struct Direction<'a> {
    /// Targets y.
    pub targets: &'a [f64],
    /// Current scores f.
    pub scores: &'a [f64],
    /// Values g of the tree.
    pub tree: &'a [f64],
    /// Positive weights w.
    pub weights: &'a [f64],
}

impl Direction<'_> {
    /// Returns Σ w ℓ(y, f + step · g).
    pub fn value<L: Loss + ?Sized>(&self, loss: &L, step: f64) -> f64 {
        self.samples()
            .map(|(y, f, g, w)| w * loss.value(y, f + step * g))
            .sum()
    }

    /// Iterates over the samples as (y, f, g, w).
    pub fn samples(&self) -> impl Iterator<Item = (f64, f64, f64, f64)> + '_ {
        let (y, f) = (self.targets.iter(), self.scores.iter());
        let pairs = y.zip(f).zip(self.tree.iter().zip(self.weights));
        pairs.map(|((&y, &f), (&g, &w))| (y, f, g, w))
    }
}

/// A loss ℓ(y, f) of a target and a score, convex and finite in f.
///
/// Only [`value`](Self::value) and [`residual`](Self::residual) are required; the defaults of the other methods work
/// for any such loss. Override the methods for which a closed form is known.
///
/// Example of a custom loss, the Huber loss: quadratic near zero, linear beyond δ.
///
/// ```
/// use ndarray::Array2;
/// use rpo_ensemble::{Learner, MatrixView, Predictor};
/// use rpo_ensemble::boosting::{Algorithm, BoostingOptions, BoostingParams, Loss};
/// use std::sync::Arc;
///
/// #[derive(Debug)]
/// struct Huber(f64);
///
/// impl Loss for Huber {
///     fn value(&self, y: f64, score: f64) -> f64 {
///         let distance = (y - score).abs();
///         if distance <= self.0 { 0.5 * distance * distance } else { self.0 * (distance - 0.5 * self.0) }
///     }
///
///     fn residual(&self, y: f64, score: f64) -> f64 {
///         (y - score).clamp(-self.0, self.0)
///     }
/// }
///
/// let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f32);
/// // A step from 0 to 1 with one wild value.
/// let y = Array2::from_shape_fn((60, 1), |(i, _)| if i == 3 { 1e4 } else { f32::from(u8::from(i >= 30)) });
/// let params = BoostingParams { iterations: 40, max_leaves: Some(2), ..BoostingParams::from(Algorithm::Gbmort) };
/// let options = BoostingOptions { loss: Some(Arc::new(Huber(0.5))), ..Default::default() };
/// let model = params.fit_with(MatrixView::from(&x), MatrixView::from(&y), options)?;
/// let predicted = model.predict(MatrixView::from(&x))?;
/// assert!(predicted[[10, 0]].abs() < 0.1 && (predicted[[50, 0]] - 1.0).abs() < 0.1);
/// # Ok::<(), rpo_ensemble::EnsembleError>(())
/// ```
pub trait Loss: fmt::Debug + Send + Sync {
    /// Returns ℓ(y, f).
    fn value(&self, y: f64, score: f64) -> f64;

    /// Returns the negative gradient r = −∂ℓ(y, f)/∂f; at a kink, any value between the one-sided derivatives.
    fn residual(&self, y: f64, score: f64) -> f64;

    /// Returns the second derivative ∂²ℓ(y, f)/∂f², for Newton steps; `None`, the default, if the loss has none. Not
    /// negative, as the loss is convex.
    fn curvature(&self, _y: f64, _score: f64) -> Option<f64> {
        None
    }

    /// Writes ℓ(y, f) of some cells. There is no need to override this method: it is compiled for each loss with static
    /// calls, so that a fit makes one dynamic call for many cells.
    fn values(&self, targets: &[f64], scores: &[f64], out: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                for (out, (&y, &f)) in out.iter_mut().zip(targets.iter().zip(scores)) {
                    *out = self.value(y, f);
                }
            },
        );
    }

    /// Writes the negative gradients of some cells and, unless `curvature` is empty, their second derivatives, 0 if the
    /// loss has none. Like [`values`](Self::values), there is no need to override this method.
    fn derivatives(&self, targets: &[f64], scores: &[f64], residual: &mut [f64], curvature: &mut [f64]) {
        vectorized(
            #[inline(always)]
            || {
                let pairs = targets.iter().zip(scores).zip(residual);
                if curvature.is_empty() {
                    pairs.for_each(|((&y, &f), r)| *r = self.residual(y, f));
                    return;
                }
                // In one loop, so that what both have in common is computed once.
                for (((&y, &f), r), h) in pairs.zip(curvature) {
                    (*r, *h) = (self.residual(y, f), self.curvature(y, f).unwrap_or(0.0));
                }
            },
        );
    }

    /// Returns true if the second derivative does not depend on the score, so that one Newton step is exact. Default
    /// false.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// Returns true, the default, if residuals depend on the unit of the targets, so that trees shared by several
    /// outputs scale them ([`scale_outputs`](super::BoostingParams::scale_outputs)).
    fn has_unit(&self) -> bool {
        true
    }

    /// Returns the number of natural units of the score per unit: 2 for a score that is half of the log-odds. Default
    /// 1.
    ///
    /// Penalties and bounds on second derivatives refer to scores in natural units, as in XGBoost.
    fn natural_scale(&self) -> f64 {
        1.0
    }

    /// Returns the largest change of a score in one step, needed if the minimum may be at infinity. Default infinite.
    fn largest_move(&self) -> f64 {
        f64::INFINITY
    }

    /// Returns the constant ρ₀ that minimizes Σ w ℓ(y, ρ₀). `targets` is not empty, `weights` are positive. The default
    /// searches from the median by Brent's method.
    fn initial(&self, targets: &[f64], weights: &[f64]) -> f64 {
        let median = weighted_median(targets, weights);
        let (scores, tree) = (vec![median; targets.len()], vec![1.0; targets.len()]);
        let direction = Direction {
            targets,
            scores: &scores,
            tree: &tree,
            weights,
        };
        median + line_search(self, &direction)
    }

    /// Returns the step ρ that minimizes Σ w ℓ(y, f + ρ g), which must not be worse than 0. The default finds the root
    /// of the derivative by Brent's method.
    fn step(&self, direction: &Direction<'_>) -> f64 {
        line_search(self, direction)
    }

    /// Returns a description of the allowed targets, such as "0 or 1", if `y` is not allowed. By default any finite
    /// value is accepted.
    fn refuses(&self, _y: f64) -> Option<&'static str> {
        None
    }

    /// Returns the function from scores to predictions, which model files store by name: [`InverseLink::Identity`], the
    /// default, [`InverseLink::Exponential`], or [`InverseLink::Logistic`] of 2f.
    fn inverse_link(&self) -> InverseLink {
        InverseLink::Identity
    }
}

/// A named loss: `square`, `absolute`, `logistic`, `huber`, `quantile`, `poisson`, `tweedie` or `softmax`.
///
/// ```
/// use rpo_ensemble::boosting::LossKind;
/// assert_eq!("logistic".parse(), Ok(LossKind::Logistic));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
#[non_exhaustive]
pub enum LossKind {
    /// ℓ(y, f) = ½ (y − f)².
    Square,
    /// ℓ(y, f) = |y − f|.
    Absolute,
    /// The binomial deviance ℓ(y, f) = log(1 + exp(−2 y± f)) for labels y in {0, 1} and y± = 2y − 1; predictions are
    /// probabilities.
    Logistic,
    /// ½ (y − f)² up to a distance δ and linear beyond ([`huber_delta`](super::BoostingParams::huber_delta)), so that
    /// outliers have little influence.
    Huber,
    /// τ (y − f) above the score and (1 − τ) (f − y) below it: predictions are τ-quantiles
    /// ([`quantile`](super::BoostingParams::quantile)).
    Quantile,
    /// Half the Poisson deviance of counts with mean eᶠ; predictions are means.
    Poisson,
    /// Half the deviance of the Tweedie distribution with mean eᶠ and variance proportional to a power of the mean
    /// ([`tweedie_power`](super::BoostingParams::tweedie_power)), for amounts that are often 0.
    Tweedie,
    /// −log p of the one output of a group that is 1, where p = e^f / Σ e^f over the group
    /// ([`groups`](super::BoostingParams::groups)); predictions are the p.
    Softmax,
}

/// The numeric parameters of losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LossShape {
    pub(super) huber_delta: f64,
    pub(super) quantile: f64,
    pub(super) tweedie_power: f64,
}

impl LossKind {
    /// All losses.
    pub const ALL: [Self; 8] = [
        Self::Square,
        Self::Absolute,
        Self::Logistic,
        Self::Huber,
        Self::Quantile,
        Self::Poisson,
        Self::Tweedie,
        Self::Softmax,
    ];

    /// Returns the loss.
    pub(super) fn loss(self, shape: LossShape) -> OutputLoss {
        let alone: Arc<dyn Loss> = match self {
            Self::Square => Arc::new(Square),
            Self::Absolute => Arc::new(Absolute),
            Self::Logistic => Arc::new(Logistic),
            Self::Huber => Arc::new(Huber {
                delta: shape.huber_delta,
            }),
            Self::Quantile => Arc::new(Quantile {
                level: shape.quantile,
            }),
            Self::Poisson => Arc::new(LogLink(Poisson)),
            Self::Tweedie => Arc::new(LogLink(Tweedie {
                power: shape.tweedie_power,
            })),
            Self::Softmax => return OutputLoss::Softmax,
        };
        OutputLoss::Alone(alone)
    }
}

impl ListItem for LossKind {
    const EXPECTED: &'static str = "names of losses separated by commas";
}

rpo_core::impl_names!(LossKind, "a loss");

#[cfg(test)]
#[path = "../../../tests/unit/boosting_loss.rs"]
mod tests;
