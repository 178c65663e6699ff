//! What boosting can be told to do in one of several ways.

use crate::error::EnsembleError;
use rpo_core::ParameterError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which of the paper's algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Algorithm 1 for every output by itself, round robin: a step adds one tree per output (single target,
    /// binary relevance).
    SingleTarget,
    /// Algorithm 2: multi-output trees on the residuals of all outputs.
    Gbmort,
    /// Algorithm 3: a tree on one projection of the residuals, fitted to every output by a factor ρ.
    GbrtRpo,
    /// Algorithm 4: a tree on q projections of the residuals, its leaves relabelled with the mean residuals of all
    /// outputs.
    GbrtRelabelRpo,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::SingleTarget,
        Self::Gbmort,
        Self::GbrtRpo,
        Self::GbrtRelabelRpo,
    ];

    /// The name: `single-target-gbrt`, `gbmort`, `gbrt-rpo` or `gbrt-relabel-rpo`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SingleTarget => "single-target-gbrt",
            Self::Gbmort => "gbmort",
            Self::GbrtRpo => "gbrt-rpo",
            Self::GbrtRelabelRpo => "gbrt-relabel-rpo",
        }
    }

    /// Whether trees grow on projections.
    pub const fn projects(self) -> bool {
        matches!(self, Self::GbrtRpo | Self::GbrtRelabelRpo)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the length of a step is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineSearch {
    /// The minimiser, as the paper has it: the training loss never grows.
    Exact,
    /// One Newton step from where the scores are. As good in practice with a learning rate below 1, and cheaper;
    /// the loss need not fall at every step. The same as exact for the square loss.
    Newton,
}

/// What has a step length of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepScope {
    /// Every output, as the paper has it: leaves hold mean residuals times ρ.
    Output,
    /// Every leaf of every output, as in Friedman's TreeBoost (2001): leaves hold the best constants. The same
    /// for the square loss; not for Algorithm 3, whose tree all outputs share.
    Leaf,
}

/// How the leaf vectors of Algorithms 2 and 4 are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeafStorage {
    /// All d numbers of a leaf.
    Dense,
    /// The k numbers of a leaf that are largest in absolute value; the others count as 0, in the model and in the
    /// scores that later steps start from.
    Largest(usize),
}

/// In which form the training scores are kept between steps. All agree up to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrainingForm {
    /// Whichever of the others costs least for the data, the loss and the number of steps.
    Auto,
    /// Scores n x d: `f64` up to 2¹⁷ of them, `f32` beyond.
    Scores,
    /// The square loss on sparse outputs: the outputs, and what each step added, never n x d.
    Factored,
    /// The logistic loss: odds n x d in `f32`, which a step multiplies without an exponential per cell.
    Odds,
}

impl FromStr for Algorithm {
    type Err = EnsembleError;

    fn from_str(text: &str) -> Result<Self, EnsembleError> {
        let found = Self::ALL.into_iter().find(|algorithm| algorithm.name() == text);
        let expected = "single-target-gbrt, gbmort, gbrt-rpo or gbrt-relabel-rpo";
        found.ok_or_else(|| ParameterError::out_of_range("algorithm", text, expected).into())
    }
}
