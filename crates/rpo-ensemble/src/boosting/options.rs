//! What a fit may be given beside features and outputs, and what it tells.

use super::model::Boosted;
use ndarray::ArrayView2;
use rpo_core::MatrixView;
use std::fmt;
use std::ops::ControlFlow;

/// What a fit may be given beside features and outputs. Default nothing.
#[derive(Default)]
pub struct BoostingOptions<'a> {
    /// One weight per row, finite and not negative; `None` means 1.
    pub weights: Option<&'a [f32]>,
    /// One weight per row and output (n x d), finite and not negative, times that of the row. Outputs of weight 0
    /// take no part, like missing ones.
    pub cell_weights: Option<ArrayView2<'a, f32>>,
    /// Whether outputs may be missing: NaN, in CSR a stored NaN, as what is not stored is a known 0. They take no
    /// part in gradients, steps and leaf values. Otherwise, the default, they are refused: NaN by mistake would
    /// change silently what is learnt.
    pub missing_outputs: bool,
    /// A validation set; the model then ends with the step that was best on it.
    pub validation: Option<Validation<'a>>,
    /// Called after every step; what was fitted so far is the model if it breaks.
    pub observer: Option<&'a mut Observer<'a>>,
    /// A model to continue, fitted with the same features and outputs: its steps come first. Default none: the
    /// constant.
    pub start: Option<&'a Boosted>,
}

impl fmt::Debug for BoostingOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoostingOptions")
            .field("weights", &self.weights)
            .field("cell_weights", &self.cell_weights)
            .field("missing_outputs", &self.missing_outputs)
            .field("validation", &self.validation)
            .field("start", &self.start.map(Boosted::n_steps))
            .finish_non_exhaustive()
    }
}

/// Told where a fit is after every step; stops it by breaking.
pub type Observer<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + 'a;

/// A metric of predictions (n x d): larger is better.
pub type Metric<'a> = dyn Fn(ArrayView2<'_, f32>) -> f64 + 'a;

/// Rows to watch.
#[derive(Clone, Copy)]
pub struct Validation<'a> {
    /// Their features, at least one row.
    pub x: MatrixView<'a>,
    /// How good predictions for them are; larger is better. NaN never counts as better.
    pub metric: &'a Metric<'a>,
    /// After how many steps without a better value to stop, at least 1. `None`: never.
    pub patience: Option<usize>,
    /// Evaluate after every so many steps, at least 1, and after the last.
    pub every: usize,
}

impl fmt::Debug for Validation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validation")
            .field("rows", &self.x.n_rows())
            .field("patience", &self.patience)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

/// Where a fit is, told to its observer after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress<'a> {
    /// The model so far.
    pub model: &'a Boosted,
    /// Number of steps made, those of a continued model included.
    pub step: usize,
    /// The training loss, Σ over rows and outputs of weight times ℓ, divided by the weight of the rows.
    pub training_loss: f64,
    /// The metric on the validation set, if it was evaluated.
    pub validation: Option<f64>,
}

/// Why a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// All steps were made.
    Iterations,
    /// The validation set saw no better value for long enough.
    Patience,
    /// The observer stopped it.
    Observer,
}

/// How a fit went.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The training loss before the first step of this fit and after each, as in [`Progress`].
    pub training_loss: Vec<f64>,
    /// Numbers of steps and the metric on the validation set after them.
    pub validation: Vec<(usize, f64)>,
    /// Why it ended.
    pub stop: Stop,
}

/// What a fit gives.
#[derive(Debug, Clone, PartialEq)]
pub struct BoostingFit {
    /// The model; with a validation set, up to the step that was best on it (of equal ones the first).
    pub model: Boosted,
    /// How it went.
    pub history: History,
}
