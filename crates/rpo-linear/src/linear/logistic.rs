//! Logistic regression, label by label.

use ndarray::Array2;
use rpo_core::Domain;
use rpo_core::{CheckParams, CsrMatrix, InverseLink, Learner, Matrix, MatrixView, Seed};
use rpo_projections::Penalty;
use rpo_projections::least_squares::{Coordinates, Design, Moments, PenaltyDiagonal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calibrate::Calibration;
use super::classifiers::Solver;
use super::newton::Panel;
use super::observed::fit_observed;
use super::panels::{PanelOutputs, fit_panels};
use super::{LinearModel, RowNorm};
use crate::checks::{check_data, check_weights};
use crate::dual::{
    Bias, DualParams, Kept, LabelCost, MarginLoss, Precision, Rows, label_samples, prior_log_odds,
};
use crate::options::Limits;
use crate::{LinearError, RegressionOptions};

/// Fraction of nonzero values below which features count as sparse.
const SPARSE: f64 = 0.25;
/// Largest mean of ‖x‖² / λ for which coordinate descent needs few passes; with weaker penalties it needs very many.
const WEAKEST: f64 = 50.0;
/// Largest sum of violations of a label, as a multiple of `tolerance`: the gradient sums violations, which cancel.
const VIOLATION: f64 = 200.0;
/// Largest curvature of the logistic loss.
const CURVATURE: f64 = 0.25;
/// Number of passes of coordinate descent, as a multiple of `max_steps`: a Newton step also takes several passes.
const PASSES: usize = 10;

/// Parameters of logistic regression, one independent model per label (one-vs-rest). Each label's model is the minimum
/// of Σᵢ ωᵢ (log(1 + e^{aᵢ}) - yᵢ aᵢ) + ½ Σⱼ λⱼ wⱼ², a = Xw + b, where b is not penalized and the sample weights ωᵢ are
/// 1 unless given.
///
/// Sparse features, with fewer than a quarter nonzero, are fitted by coordinate descent in the dual (Yu, Huang, Lin,
/// Machine Learning 85, 2011) for 8 labels at a time, with the method of multipliers for the intercept; small weights
/// are left out. Numbers beside them with their own [penalties](Penalty::Variance) are multiplied by factors with which
/// all have one penalty. Other features, such numbers with a mean beyond their deviation, and penalties below a fiftieth
/// of the mean square length of samples, are fitted by Newton's method with conjugate gradients, for 16 labels at a time,
/// on features that are centred and scaled during the fit: neither units nor the zero of features decide how well they
/// are fitted. A label that all n samples or none have gets weights of 0 and the intercept log((k + ½) / (n - k + ½)),
/// k = n or 0, as no finite intercept is best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogisticRegressionParams {
    /// Penalty on the weights: variance:ALPHA, in units of the variance of the features, or a number, in units of their
    /// mean square.
    ///
    /// Above 0. Default `variance:0.1`, a third of that of ridge regression, because the curvature of the logistic loss
    /// is at most ¼.
    pub lambda: Penalty,
    /// Tolerance of convergence: smaller is more exact and slower. Newton's method ends where the gradient
    /// of a label is this fraction of that at weights of 0; coordinate descent (sparse features) where the violations
    /// of the optimality conditions sum to 200 times this number for each sample with the label.
    ///
    /// A violation is the difference between a sample's dual variable and the corresponding probability; it bounds the
    /// sample's contribution to the gradient, in which violations mostly cancel. Default 0.001: precision at 5 within
    /// 0.2 points of that at 0.00015. Single probabilities may be off by a tenth, with penalties far below the default
    /// by more; for exact ones choose 0.00001.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub tolerance: f64,
    /// Maximum number of Newton steps, at least 1; coordinate descent (sparse features) makes at most ten times as many
    /// passes.
    #[schemars(range(min = 1))]
    pub max_steps: usize,
    /// Magnitude below which weights of sparse features are left out, in units in which samples have length 1.
    ///
    /// Not negative. Default 0.3: precision at 5 within 0.1 points of that with 0.1, which keeps two and a half times
    /// as many weights on 20,000 samples with 5,000 labels.
    #[schemars(range(min = 0.0))]
    pub prune: f64,
}

impl Default for LogisticRegressionParams {
    fn default() -> Self {
        Self {
            lambda: Penalty::Variance(0.1),
            tolerance: 1e-3,
            max_steps: 50,
            prune: 0.3,
        }
    }
}

impl CheckParams for LogisticRegressionParams {
    type Error = LinearError;

    fn check(&self) -> Result<(), LinearError> {
        Domain::Positive.check("lambda", self.lambda.strength())?;
        Domain::Level.check("tolerance", self.tolerance)?;
        Domain::Count.check("max_steps", self.max_steps)?;
        Ok(Domain::NotNegative.check("prune", self.prune)?)
    }
}

impl Learner for LogisticRegressionParams {
    type Model = LinearModel;
    type Options<'a> = RegressionOptions<'a>;

    /// Outputs are 0/1 labels.
    ///
    /// Memory: for coordinate descent, that of [`OneVsRestParams`](crate::OneVsRestParams); otherwise W (p x d), and
    /// per thread four times 16 numbers per sample and feature. Fails for weights beyond the range of `f32`, or a
    /// matrix above the memory limit.
    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: RegressionOptions<'_>,
    ) -> Result<LinearModel, LinearError> {
        self.check()?;
        fit_observed(x, y, options, |x, y, options| self.fit_complete(x, y, options))
    }
}

impl LogisticRegressionParams {
    /// Fits labels that are all observed.
    fn fit_complete(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: RegressionOptions<'_>,
    ) -> Result<LinearModel, LinearError> {
        check_data(x, y, InverseLink::Logistic)?;
        check_weights(options.weights, x.n_rows())?;
        let weights = options.weights;
        let penalty = self.lambda.on(&x, weights);
        let moments = || Moments::of(&x, |row| weights.map_or(1.0, |weights| weights[row].into()));
        if fraction_of_nonzero(x) < SPARSE
            && let Some(unit) = Unit::of_all(&penalty, moments)
        {
            let mut rows = Rows::new(x, false, weights);
            if let Some(factors) = &unit.factors {
                rows.multiply_features(factors);
            }
            let square = rows.mean_square();
            if square > 0.0 && square <= WEAKEST * unit.penalty {
                return self.fit_sparse(&rows, y, &unit, options);
            }
        }
        let coordinates = Coordinates::new(moments(), &penalty, true, CURVATURE);
        fit_panels(x, y.n_cols(), InverseLink::Logistic, options, |first| {
            let panel = Panel {
                x: Design {
                    rows: &x,
                    intercept: true,
                    factors: None,
                },
                y: PanelOutputs {
                    y,
                    first,
                    factors: None,
                },
                weights,
                coordinates: &coordinates,
                tolerance: self.tolerance,
                max_steps: self.max_steps,
            };
            panel.fit()
        })
    }

    /// Fits by coordinate descent.
    fn fit_sparse(
        &self,
        rows: &Rows,
        y: MatrixView<'_>,
        unit: &Unit,
        options: RegressionOptions<'_>,
    ) -> Result<LinearModel, LinearError> {
        let penalty = unit.penalty;
        let length = rows.mean_square().sqrt();
        let params = DualParams {
            loss: MarginLoss::Logistic,
            tolerance: (VIOLATION * self.tolerance) as f32,
            max_passes: self.max_steps.saturating_mul(PASSES),
            bias: Bias {
                value: length as f32,
                is_free: true,
            },
            mean_weight: 1.0,
            kept: Kept {
                limit: (self.prune * penalty.sqrt() / length) as f32,
                precision: Precision::Single,
                factor: 1.0,
            },
        };
        let cost = LabelCost::equal(penalty.recip() as f32);
        let samples = label_samples(y, options.weights);
        let solver = Solver {
            params,
            seed: Seed::new(0).purpose("logistic regression"),
            limits: Limits::new(options.memory_limit, options.observers),
        };
        let mut fitted = solver.fit(rows, &samples, |_| Ok(cost))?;
        let total = rows.total_weight();
        for (offset, samples) in fitted.offset.iter_mut().zip(&samples) {
            if offset.is_infinite() {
                *offset = prior_log_odds(rows.sum_weights(samples), total) as f32;
            }
        }
        if let Some(factors) = &unit.factors {
            let rows = fitted.weights.outer_iterator_mut().zip(factors);
            rows.for_each(|(mut row, factor)| row.iter_mut().for_each(|(_, weight)| *weight *= factor));
        }
        options.observers.step();
        Ok(LinearModel {
            weights: compact(fitted.weights),
            offset: fitted.offset.mapv(f64::from),
            inverse_link: InverseLink::Logistic,
            calibration: Calibration::line(1.0),
            normalize: RowNorm::None,
            residual: Some((f64::from(fitted.residual) / VIOLATION) as f32),
            cost: None,
            penalty: None,
            n_train: y.n_rows(),
        })
    }
}

fn fraction_of_nonzero(x: MatrixView<'_>) -> f64 {
    let mut n = 0_usize;
    (0..x.n_rows()).for_each(|row| x.for_each_in_row(row, |_, v| n += usize::from(v != 0.0)));
    n as f64 / (x.n_rows() as f64 * x.n_cols() as f64)
}

/// A unit of features in which all have the same penalty.
struct Unit {
    penalty: f64,
    /// What features are multiplied by; `None` for nothing.
    factors: Option<Vec<f32>>,
}

impl Unit {
    /// The unit of the features with the least penalty: λ wⱼ² is λ₀ (wⱼ √(λ/λ₀))². `None` if a feature that is multiplied
    /// has a mean beyond its deviation, which coordinate descent, without centring, would hardly tell from the intercept.
    fn of_all(penalty: &PenaltyDiagonal, moments: impl FnOnce() -> Moments) -> Option<Self> {
        let penalties = match penalty {
            PenaltyDiagonal::Uniform(penalty) => {
                return Some(Self {
                    penalty: *penalty,
                    factors: None,
                });
            }
            PenaltyDiagonal::PerFeature(penalties) => penalties,
        };
        let least = penalties.iter().copied().fold(f64::INFINITY, f64::min);
        let moments = moments();
        let moments = moments.means.iter().zip(&moments.variances);
        let is_centred =
            |(penalty, (mean, variance)): (&f64, (&f64, &f64))| *penalty == least || mean * mean <= *variance;
        let factor = |penalty: &f64| (least / penalty).sqrt() as f32;
        penalties.iter().zip(moments).all(is_centred).then(|| Self {
            penalty: least,
            factors: Some(penalties.iter().map(factor).collect()),
        })
    }
}

/// Returns the matrix in the layout that takes less memory.
fn compact(weights: CsrMatrix) -> Matrix {
    if 2 * weights.nnz() < weights.rows() * weights.cols() {
        return Matrix::Sparse(weights);
    }
    let mut dense = Array2::zeros(weights.shape());
    for (&weight, (feature, label)) in &weights {
        dense[[feature as usize, label as usize]] = weight;
    }
    Matrix::Dense(dense)
}
