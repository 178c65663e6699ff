//! Options of a boosting fit that are not parameters, and reports of its course.

use super::choices::TrainingForm;
use super::loss::Loss;
use super::model::Boosted;
use ndarray::ArrayView2;
use rpo_core::MatrixView;
use rpo_projections::Projection;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Options of a boosting fit that are not parameters: weights, a validation set, observers and custom parts.
#[derive(Default)]
pub struct BoostingOptions<'a> {
    /// One weight per sample, finite and not negative; `None` means 1.
    pub weights: Option<&'a [f32]>,
    /// One weight per sample and output (n x d), finite and not negative, which multiplies that of the sample. Outputs of
    /// weight 0 are ignored, like missing ones.
    pub cell_weights: Option<ArrayView2<'a, f32>>,
    /// Allows missing outputs: NaN, in CSR a stored NaN, because entries that are not stored are 0. They are left out of
    /// gradients, steps and leaf values. By default they are refused: a NaN by mistake would silently change what is
    /// learned.
    pub missing_outputs: bool,
    /// The features, increasing, whose values are codes of categories: whole numbers from 0. Their
    /// [splits](rpo_tree::categories) are between subsets, instead of at thresholds. Dense features only.
    pub categorical: &'a [u32],
    /// A custom loss, in place of a named one.
    pub loss: Option<Arc<dyn Loss>>,
    /// A custom family of projections, in place of the one that the parameters name. It is fitted once per step, in order
    /// (again where it gives 0), or once if steps share it.
    pub projection: Option<Arc<dyn Projection>>,
    /// A validation set; the model then ends with the step that was best on it.
    pub validation: Option<Validation<'a>>,
    /// Called after every step.
    pub on_step: Option<&'a (dyn Fn() + Sync)>,
    /// Called after every step with the progress of the fit, which it ends by breaking; the model then has the steps so
    /// far.
    pub observer: Option<&'a mut Observer<'a>>,
    /// Receives the course of the fit.
    pub history: Option<&'a mut History>,
    /// A model to continue, fitted to the same features and outputs: its steps come first.
    pub start: Option<&'a Boosted>,
    /// The form in which training scores are kept.
    pub training_form: TrainingForm,
    /// Largest number of bytes of training data structures that grow with n x d; `None` means 4 GiB.
    pub memory_limit: Option<usize>,
}

impl fmt::Debug for BoostingOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoostingOptions")
            .field("weights", &self.weights)
            .field("cell_weights", &self.cell_weights)
            .field("missing_outputs", &self.missing_outputs)
            .field("categorical", &self.categorical)
            .field("loss", &self.loss)
            .field("projection", &self.projection)
            .field("validation", &self.validation)
            .field("start", &self.start.map(Boosted::n_steps))
            .field("training_form", &self.training_form)
            .field("memory_limit", &self.memory_limit)
            .finish_non_exhaustive()
    }
}

/// Receives the progress of a fit after every step; ends the fit by breaking.
pub type Observer<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + Send + 'a;

/// A metric of predictions (n x d): larger is better.
pub type Metric<'a> = dyn Fn(ArrayView2<'_, f32>) -> f64 + Sync + 'a;

/// Samples on which the number of steps is chosen.
#[derive(Clone, Copy)]
pub struct Validation<'a> {
    /// Their features, at least one sample.
    pub x: MatrixView<'a>,
    /// Quality of predictions for them; larger is better. NaN never counts as better.
    pub metric: &'a Metric<'a>,
    /// Number of steps without a better value after which the fit ends, at least 1; `None` means never.
    pub patience: Option<usize>,
    /// Number of steps between evaluations, at least 1; the last step is always evaluated.
    pub every: usize,
}

impl fmt::Debug for Validation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validation")
            .field("samples", &self.x.n_rows())
            .field("patience", &self.patience)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

/// Progress of a fit after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress<'a> {
    /// The model so far.
    pub model: &'a Boosted,
    /// Number of steps made, those of a continued model included.
    pub step: usize,
    /// The training loss: Σ over samples and outputs of weight times ℓ, divided by the weight of the samples. `None` unless a
    /// [history](BoostingOptions::history) is kept: it costs up to a fifth of the time of a fit.
    pub training_loss: Option<f64>,
    /// The metric on the validation set, if it was evaluated.
    pub validation: Option<f64>,
}

/// Why a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// All steps were made.
    #[default]
    Iterations,
    /// The validation metric did not improve for as many steps as the patience allows.
    Patience,
    /// The observer ended it.
    Observer,
}

/// The course of a fit.
///
/// ```
/// # use ndarray::array;
/// # use rpo_core::{Learner, MatrixView};
/// # use rpo_ensemble::boosting::{Algorithm, BoostingOptions, BoostingParams, History};
/// # let (x, y) = (array![[1.0], [2.0], [3.0]], array![[0.0], [0.0], [1.0]]);
/// let mut history = History::default();
/// let options = BoostingOptions { history: Some(&mut history), ..Default::default() };
/// BoostingParams::from(Algorithm::Gbmort).fit_with(MatrixView::from(&x), MatrixView::from(&y), options)?;
/// assert_eq!(history.training_loss.len(), 301);
/// # Ok::<(), rpo_ensemble::EnsembleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// The training loss before the first step of this fit and after each, as in [`Progress`].
    pub training_loss: Vec<f64>,
    /// Numbers of steps and the metric on the validation set after them.
    pub validation: Vec<(usize, f64)>,
    /// Why the fit ended.
    pub stop: Stop,
}
