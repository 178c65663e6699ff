//! Options of a boosting fit that are not parameters, and reports of its progress.

use super::choices::TrainingForm;
use super::loss::Loss;
use super::model::Boosted;
use ndarray::ArrayView2;
use rpo_core::{MatrixView, Observers};
use rpo_projections::Projection;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Options of a boosting fit that are not parameters: weights, a validation set, observers and custom parts.
#[derive(Default)]
pub struct BoostingOptions<'a> {
    /// One weight per sample, finite and not negative; `None` means 1. Samples of weight 0 are left out, as are those
    /// without an observed output.
    pub weights: Option<&'a [f32]>,
    /// One weight per sample and output (n x d), finite and not negative, which multiplies the weight of the sample.
    /// Outputs of weight 0 are missing.
    pub cell_weights: Option<ArrayView2<'a, f32>>,
    /// Allows missing outputs: NaN, in CSR a stored NaN, because entries that are not stored are 0. Missing outputs are
    /// left out of gradients, steps and leaf values. By default they are refused: a NaN by mistake would silently
    /// change what is learned.
    pub missing_outputs: bool,
    /// Indices, increasing, of the features whose values are codes of categories: whole numbers from 0. Their
    /// [splits](rpo_tree::categories) are between subsets of categories instead of at thresholds. Dense features only.
    pub categorical: &'a [u32],
    /// A custom loss, in place of a named one. It must be finite at the initial scores
    /// ([`EnsembleError::Loss`](crate::EnsembleError::Loss)).
    pub loss: Option<Arc<dyn Loss>>,
    /// A custom family of projections, in place of the one that the parameters name. It is fitted once per step, in
    /// order (again if the projection is zero), or once if steps share it.
    pub projection: Option<Arc<dyn Projection>>,
    /// A validation set. The model is then truncated after the step that is best on it.
    pub validation: Option<Validation<'a>>,
    /// A step is a step of boosting. Boosting of single targets makes several at once, as many as take some 20 ms, before
    /// it reports each of them and may be stopped.
    pub observers: Observers<'a>,
    /// Called after every step with the progress of the fit. Returning a break ends the fit; the model then has the
    /// steps so far, or with a validation set the best number of them.
    pub on_progress: Option<&'a mut OnProgress<'a>>,
    /// Receives the history of the fit.
    pub history: Option<&'a mut History>,
    /// A model to continue, fitted to the same features and outputs: its steps come first.
    pub start: Option<&'a Boosted>,
    /// The representation of training scores.
    pub training_form: TrainingForm,
    /// Memory limit in bytes for training data structures that grow with n x d; `None` means 4 GiB.
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

/// A function that receives the progress of a fit after every step, and ends the fit by returning a break. Steps that
/// were made ahead are then discarded.
pub type OnProgress<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + Send + 'a;

/// A metric of predictions (n x d): larger is better.
pub type ValidationMetric<'a> = dyn Fn(ArrayView2<'_, f32>) -> f64 + Sync + 'a;

/// A validation set, on which the number of steps is chosen.
#[derive(Clone, Copy)]
pub struct Validation<'a> {
    /// The features of at least one sample.
    pub x: MatrixView<'a>,
    /// Metric of the predictions for `x`; larger is better. NaN never counts as better.
    pub metric: &'a ValidationMetric<'a>,
    /// Number of steps without a better value after which the fit ends, at least 1, where a step is evaluated; `None`
    /// means never.
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
#[non_exhaustive]
pub struct Progress<'a> {
    /// The model so far.
    pub model: &'a Boosted,
    /// Number of steps made, including those of a continued model.
    pub step: usize,
    /// The training loss: the sum of weight times ℓ over samples and outputs, divided by the total weight of the
    /// samples that are not left out. `None` unless a [history](BoostingOptions::history) is requested, because the loss costs up to a fifth
    /// of the time of a fit.
    pub training_loss: Option<f64>,
    /// The metric on the validation set, if it was evaluated.
    pub validation: Option<f64>,
}

/// The reason why a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stop {
    /// All steps were made.
    #[default]
    Iterations,
    /// The validation metric did not improve for as many steps as the patience allows.
    Patience,
    /// [`BoostingOptions::on_progress`] ended the fit.
    Progress,
}

/// The history of a fit.
///
/// ```
/// # use ndarray::array;
/// # use rpo_ensemble::{Learner, MatrixView};
/// # use rpo_ensemble::boosting::{Algorithm, BoostingOptions, BoostingParams, History};
/// # let (x, y) = (array![[1.0], [2.0], [3.0]], array![[0.0], [0.0], [1.0]]);
/// let mut history = History::default();
/// let options = BoostingOptions { history: Some(&mut history), ..Default::default() };
/// BoostingParams::from(Algorithm::Gbmort).fit_with(MatrixView::from(&x), MatrixView::from(&y), options)?;
/// assert_eq!(history.training_loss.len(), 301);
/// # Ok::<(), rpo_ensemble::EnsembleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct History {
    /// The training loss before the first step of this fit and after each step, as in [`Progress`].
    pub training_loss: Vec<f64>,
    /// Pairs of a number of steps and the metric on the validation set after them.
    pub validation: Vec<(usize, f64)>,
    /// The reason why the fit ended.
    pub stop: Stop,
}
