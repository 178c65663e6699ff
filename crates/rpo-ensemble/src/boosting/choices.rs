//! Named choices of boosting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The algorithm: what trees grow on, and what a step adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Algorithm {
    /// Algorithm 1 for every output by itself, round robin: a step adds one tree per output (single target,
    /// binary relevance).
    SingleTarget,
    /// Algorithm 2: multi-output trees on the residuals of all outputs.
    Gbmort,
    /// Algorithm 3: a tree on one projection of the residuals, fitted to every output by a factor ρ.
    GbrtRpo,
    /// Algorithm 4: a tree on q projections of the residuals, whose leaves hold the mean residuals of all outputs.
    GbrtRelabelRpo,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 4] = [
        Self::SingleTarget,
        Self::Gbmort,
        Self::GbrtRpo,
        Self::GbrtRelabelRpo,
    ];

    /// Returns true if trees grow on projections of the outputs.
    pub const fn projects(self) -> bool {
        matches!(self, Self::GbrtRpo | Self::GbrtRelabelRpo)
    }
}

/// How the length of a step is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum LineSearch {
    /// The minimizer, as in the paper: the training loss never grows.
    Exact,
    /// One Newton step from the current scores. As good in practice with a learning rate below 1, and cheaper; the
    /// loss need not fall at every step. The same as exact for the square loss.
    Newton,
}

/// Unit that has its own step length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum StepScope {
    /// Every output, as in the paper: leaves hold mean residuals times ρ.
    Output,
    /// Every leaf of every output, as in Friedman's TreeBoost (2001): leaves hold the best constants. The same
    /// for the square loss; not for Algorithm 3, whose tree all outputs share.
    Leaf,
}

/// The form in which training scores are kept between steps. All give the same scores up to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrainingForm {
    /// The cheapest of the other forms for the data, the loss and the number of steps.
    #[default]
    Auto,
    /// Scores n x d: `f64` up to 2¹⁷ of them, `f32` beyond.
    Scores,
    /// The square loss on sparse outputs: the outputs and what each step added, never n x d.
    Factored,
    /// The logistic loss: odds n x d in `f32`, which a step multiplies without an exponential per cell.
    Odds,
}
