//! Named choices of boosting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Algorithm: determines the target of trees and the update of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Algorithm {
    /// Algorithm 1 for each output separately, round robin: a step adds one tree per output (single target, binary
    /// relevance).
    SingleTarget,
    /// Algorithm 2: multi-output trees on the residuals of all outputs.
    Gbmort,
    /// Algorithm 3: a tree on one projection of the residuals, scaled for each output by a factor ρ.
    GbrtRpo,
    /// Algorithm 4: a tree on q projections of the residuals, whose leaf values are the mean residuals of all outputs.
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

/// Method that finds the length of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum LineSearch {
    /// Minimizes the loss, as in the paper: the training loss never increases, up to rounding (of `f32` sums for
    /// [`TrainingForm::Odds`]).
    Exact,
    /// One Newton step from the current scores. As good in practice with a learning rate below 1, and cheaper, but the
    /// loss need not decrease at every step. Equal to exact for the square loss without penalties.
    Newton,
}

/// Unit that has its own step length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum StepScope {
    /// Each output, as in the paper: leaf values are mean residuals times ρ.
    Output,
    /// Each leaf of each output, as in Friedman's TreeBoost (2001): leaf values are the best constants, less the
    /// penalties. Equal to output for the square loss without penalties. Not for Algorithm 3, in which all outputs have
    /// the same leaf values up to a factor.
    Leaf,
}

/// The representation of training scores between steps. All forms give the same scores up to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrainingForm {
    /// Chooses the cheapest form for the data, the loss and the number of steps.
    #[default]
    Auto,
    /// Scores n x d: `f64` for up to 2¹⁷ scores, `f32` for more.
    Scores,
    /// For the square loss on sparse outputs: the outputs and the update of each step, never n x d.
    Factored,
    /// For the logistic loss: odds n x d in `f32`, which a step multiplies without an exponential per cell.
    Odds,
}
