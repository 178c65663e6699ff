//! Losses: what boosting minimises.
//!
//! A loss is a sum over outputs of ℓ(y, f), convex in the score f, so that every line search falls apart into one
//! problem per output. Boosting asks a loss for its negative gradient, on which trees grow, and for the length of
//! a step.

mod absolute;
mod logistic;
mod median;
mod search;
mod square;

pub use absolute::Absolute;
pub use logistic::Logistic;
pub use search::line_search;
pub use square::Square;

pub(crate) use search::root_of_derivative;
pub(crate) use square::quotient;

use median::weighted_middle;
use rpo_core::ParameterError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How scores f become predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    /// Predictions are the scores, in the unit of the outputs.
    Identity,
    /// Predictions are probabilities of the label, σ(2f) = 1 / (1 + exp(−2f)). (The paper's section 3.1 says
    /// "logit function", the inverse of what is meant.)
    Logistic,
}

impl Link {
    /// The prediction for a score.
    #[inline]
    pub fn apply(self, score: f64) -> f64 {
        match self {
            Self::Identity => score,
            Self::Logistic => logistic::sigmoid(2.0 * score),
        }
    }
}

/// One output along a tree: which step ρ minimises Σ_i w_i ℓ(y_i, f_i + ρ g_i)?
///
/// The slices are of one length and hold the rows of positive weight only.
#[derive(Debug, Clone, Copy)]
pub struct Direction<'a> {
    /// Targets y.
    pub targets: &'a [f64],
    /// Scores f so far.
    pub scores: &'a [f64],
    /// What the tree answers, g.
    pub tree: &'a [f64],
    /// Weights w, positive.
    pub weights: &'a [f64],
}

impl Direction<'_> {
    /// Σ w ℓ(y, f + step · g).
    pub fn value<L: Loss + ?Sized>(&self, loss: &L, step: f64) -> f64 {
        self.rows()
            .map(|(y, f, g, w)| w * loss.value(y, f + step * g))
            .sum()
    }

    /// The rows as (y, f, g, w).
    pub fn rows(&self) -> impl Iterator<Item = (f64, f64, f64, f64)> + '_ {
        let (y, f) = (self.targets.iter(), self.scores.iter());
        let pairs = y.zip(f).zip(self.tree.iter().zip(self.weights));
        pairs.map(|((&y, &f), (&g, &w))| (y, f, g, w))
    }
}

/// A loss ℓ(y, f) of a target and a score: convex and finite in f.
///
/// [`value`](Self::value) and [`residual`](Self::residual) are all that is needed; the rest has defaults that
/// work for any such loss. What is known in closed form is best overridden.
///
/// A custom loss, Huber's: quadratic near zero, linear beyond δ.
///
/// ```
/// use ndarray::Array2;
/// use rpo_core::MatrixView;
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
/// let params = BoostingParams { iterations: 40, max_leaves: Some(2), ..BoostingParams::new(Algorithm::Gbmort) };
/// let options = BoostingOptions { loss: Some(Arc::new(Huber(0.5))), ..Default::default() };
/// let model = params.fit_with(MatrixView::from(&x), MatrixView::from(&y), options)?;
/// let predicted = model.predict(MatrixView::from(&x))?;
/// assert!(predicted[[10, 0]].abs() < 0.1 && (predicted[[50, 0]] - 1.0).abs() < 0.1);
/// # Ok::<(), rpo_ensemble::EnsembleError>(())
/// ```
pub trait Loss: fmt::Debug + Send + Sync {
    /// ℓ(y, f).
    fn value(&self, y: f64, score: f64) -> f64;

    /// The negative gradient r = −∂ℓ(y, f)/∂f; at a kink any value between the one-sided ones.
    fn residual(&self, y: f64, score: f64) -> f64;

    /// ∂²ℓ(y, f)/∂f², for Newton steps; `None`, the default, where it is of no help.
    fn curvature(&self, _y: f64, _score: f64) -> Option<f64> {
        None
    }

    /// Whether the curvature does not depend on the score, so that one Newton step is exact. Default no.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// Largest move of a score in one step. Default none; needed where the minimum may be at infinity.
    fn largest_move(&self) -> f64 {
        f64::INFINITY
    }

    /// The constant ρ₀ that minimises Σ w ℓ(y, ρ₀). `targets` is not empty, `weights` are positive. The default
    /// searches from the median.
    fn initial(&self, targets: &[f64], weights: &[f64]) -> f64 {
        let (low, high) = weighted_middle(targets.iter().copied().zip(weights.iter().copied()));
        let median = low + (high - low) / 2.0;
        let (scores, tree) = (vec![median; targets.len()], vec![1.0; targets.len()]);
        let direction = Direction {
            targets,
            scores: &scores,
            tree: &tree,
            weights,
        };
        median + line_search(self, &direction)
    }

    /// The step ρ that minimises Σ w ℓ(y, f + ρ g); never one that is worse than 0. The default is
    /// [`line_search`].
    fn step(&self, direction: &Direction<'_>) -> f64 {
        line_search(self, direction)
    }

    /// What targets must be if `y` cannot be one: "0 or 1". Default: any finite value will do.
    fn refuses(&self, _y: f64) -> Option<&'static str> {
        None
    }

    /// How scores become predictions. Default: as they are.
    fn link(&self) -> Link {
        Link::Identity
    }
}

/// The losses by name: `square`, `absolute`, `logistic`.
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
    /// [`Square`].
    Square,
    /// [`Absolute`].
    Absolute,
    /// [`Logistic`].
    Logistic,
}

impl LossKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Square, Self::Absolute, Self::Logistic];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Square => "square",
            Self::Absolute => "absolute",
            Self::Logistic => "logistic",
        }
    }

    /// The loss.
    pub fn loss(self) -> &'static dyn Loss {
        match self {
            Self::Square => &Square,
            Self::Absolute => &Absolute,
            Self::Logistic => &Logistic,
        }
    }
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for LossKind {
    type Err = crate::EnsembleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| ParameterError::out_of_range("loss", text, "square, absolute or logistic").into())
    }
}

#[cfg(test)]
mod tests;
