//! Linear classifiers for many labels at once by coordinate descent in the dual: the solver of one-vs-rest and of the
//! nodes of label trees.
//!
//! For each label, with signs yᵢ = ±1 and margins mᵢ = yᵢ wᵀxᵢ, it minimises ½‖w‖² + Σᵢ Cᵢ ℓ(mᵢ) through its dual,
//! whose variables αᵢ give w = Σᵢ αᵢ yᵢ xᵢ. A step takes one sample and finds the best αᵢ for up to 8 labels side by
//! side. Weights are stored feature by feature, so that a stored value of the sample meets the weights of all labels in
//! adjacent memory.
//!
//! * Squared hinge, ℓ(m) = max(0, 1 - m)²: Hsieh, Chang, Lin, Keerthi, Sundararajan (ICML 2008), Algorithm 1 with
//!   D = 1 / 2C.
//! * Logistic, ℓ(m) = log(1 + e⁻ᵐ): Yu, Huang, Lin (Machine Learning 85, 2011), with a closed-form step in place of
//!   their Algorithm 4: one logistic function, and no logarithm.
//!
//! The bias is a feature of a constant value β, whose weight w₀ is penalised like any other. Alternatively, it is free
//! of penalty: the dual then has the constraint Σᵢ αᵢ yᵢ = 0, which is enforced by the method of multipliers. The
//! multiplier is a second intercept that absorbs β w₀ after each pass, until the penalised part is 0 (Bertsekas,
//! Constrained Optimization and Lagrange Multiplier Methods, 1982, section 2.2).
//!
//! With the squared hinge (`settle`), settled samples are left out, and most samples without a label never take part:
//! passes begin with an eighth of these. When the active samples are settled, and after ten times as many visits at the
//! latest, a pass over all samples moves those that are not. If it moves none, its largest violation of the optimality
//! conditions is that of the returned weights, the *residual*; labels that stand out by less than the tolerance are
//! then fitted more exactly. With the logistic loss (`sweep`), every sample counts a little: passes cover all samples,
//! those with a rare label several times, and the residual sums over them.
//!
//! Sums run in the order of the stored values, and labels do not interact, so that weights depend on the data and the
//! seed alone.

mod lanes;
mod loss;
mod rows;
mod settle;
mod sweep;
mod weights;

pub use loss::MarginLoss;
pub(crate) use rows::{Numbering, Rows, label_samples};
pub use weights::Precision;
pub(crate) use weights::{Kept, SparseWeights};

use crate::LinearError;
use lanes::Lanes;
use loss::{Hinge, Logistic};
use rpo_core::{Seed, math};

/// Number of labels that are fitted side by side: one processor vector. With more, samples would be visited for labels
/// for which they are settled, and the weights of 30,000 features would not fit the cache: 32 labels take two to three
/// times as long.
pub(crate) const LANES: usize = 8;

/// Parameters of fitting classifiers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DualParams {
    pub(crate) loss: MarginLoss,
    /// Largest violation that is tolerated.
    pub(crate) tolerance: f32,
    pub(crate) max_passes: usize,
    pub(crate) bias: Bias,
    /// ω̄, the mean weight of samples, which C multiplies.
    pub(crate) mean_weight: f32,
    pub(crate) kept: Kept,
}

/// The feature that represents the intercept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bias {
    /// β; 0 for no intercept.
    pub(crate) value: f32,
    pub(crate) is_free: bool,
}

/// The cost C of the samples for a label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LabelCost {
    /// Cost of the samples without the label.
    pub(crate) negative: f32,
    /// Cost of the samples with the label.
    pub(crate) positive: f32,
}

impl LabelCost {
    /// Returns equal costs for all samples.
    pub(crate) fn equal(cost: f32) -> Self {
        Self {
            negative: cost,
            positive: cost,
        }
    }
}

/// The samples with a label.
#[derive(Debug, Clone, Copy)]
struct Positives<'a> {
    /// Sample indices, increasing.
    samples: &'a [u32],
    cost: LabelCost,
}

/// The fitted classifiers of some labels.
#[derive(Debug, Default)]
struct Solution {
    /// Weights of each feature, without the bias.
    weights: Vec<[f32; LANES]>,
    /// Number added to the score of each label.
    offsets: [f32; LANES],
    /// Violation of the optimality conditions. For the squared hinge, the largest projected gradient, in units of the
    /// margin, times the strictness of its label. For the logistic loss, the largest Σᵢ |αᵢ / Cᵢ - σ(-mᵢ)| of a label,
    /// and with a free bias |Σ αᵢ yᵢ| / C, divided by the number of samples with the label, or without it if these are
    /// fewer.
    residual: f32,
}

/// Returns the log-odds of a label that k of n samples have: log((k + ½) / (n - k + ½)).
pub(crate) fn prior_log_odds(k: f64, n: f64) -> f64 {
    math::ln((k + 0.5) / (n - k + 0.5))
}

/// Fits the classifiers of at most [`LANES`] labels, given the increasing list of samples with each label; returns the
/// weights that are kept, and the residual. `cost` returns C for a label from its samples.
///
/// # Errors
/// Those of `cost`, and [`LinearError::Overflow`] for weights beyond the range of their precision.
pub(crate) fn fit_group<'s>(
    rows: &Rows,
    samples: impl Iterator<Item = &'s [u32]>,
    cost: impl Fn(&[u32]) -> Result<LabelCost, LinearError>,
    params: &DualParams,
    seed: Seed,
) -> Result<(SparseWeights, f32), LinearError> {
    let positives = samples.map(|samples| {
        let cost = cost(samples)?;
        Ok(Positives { samples, cost })
    });
    let positives = positives.collect::<Result<Vec<_>, LinearError>>()?;
    let solution = solve(rows, &positives, params, seed);
    let weights = SparseWeights::prune(&solution, &positives, params)?;
    Ok((weights, solution.residual))
}

fn solve(rows: &Rows, positives: &[Positives<'_>], params: &DualParams, seed: Seed) -> Solution {
    let mean_weight = params.mean_weight;
    match params.loss {
        MarginLoss::SquaredHinge => {
            let loss = Hinge::new(positives, mean_weight);
            Lanes::new(rows, positives, loss, params).settle(params, seed)
        }
        MarginLoss::Logistic => {
            let loss = Logistic::new(positives, mean_weight);
            Lanes::new(rows, positives, loss, params).sweep(positives, params, seed)
        }
    }
}
