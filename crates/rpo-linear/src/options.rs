//! Options of fits that are not parameters.

use std::fmt;

use rpo_core::{DEFAULT_MEMORY_LIMIT, MemoryLimit, Observers};

use crate::checks::{check_groups, check_weights};
use crate::{History, LinearError};

/// Options of ridge and logistic regression that are not parameters. Default: no option.
#[derive(Debug, Clone, Copy, Default)]
pub struct RegressionOptions<'a> {
    /// Maximum size in bytes of any dense matrix that a fit allocates; `None` means [`DEFAULT_MEMORY_LIMIT`].
    pub memory_limit: Option<usize>,
    /// Weights of the samples, not negative: a sample of weight 2 counts as two samples. `None` means 1.
    pub weights: Option<&'a [f32]>,
    /// True if samples of a group, such as a customer, are alike: one that is left out is not like a new one then, so that
    /// the penalty is not found by leaving samples out.
    pub is_grouped: bool,
    /// Allows missing outputs: NaN, in CSR a stored NaN, because entries that are not stored are 0. Each output is fitted
    /// to the samples that have it, together with those that the same samples lack. By default they are refused.
    pub missing_outputs: bool,
    /// The whole fit is one step; it may be stopped between groups of outputs.
    pub observers: Observers<'a>,
}

/// Options of one-vs-rest and label trees that are not parameters. Default: no option.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClassifierOptions<'a> {
    /// Maximum size in bytes of any dense matrix that a fit allocates; `None` means [`DEFAULT_MEMORY_LIMIT`].
    pub memory_limit: Option<usize>,
    /// Weights of the samples, not negative: a sample of weight 2 counts as two samples. `None` means 1.
    pub weights: Option<&'a [f32]>,
    /// The group of each sample, such as the customer that it belongs to: samples of a group are withheld together where
    /// a fit withholds some, to choose the cost and to calibrate the scores.
    pub groups: Option<&'a [u32]>,
    /// A step is a label tree, or the whole fit of one-vs-rest; it may be stopped between groups of labels and between
    /// nodes.
    pub observers: Observers<'a>,
}

impl<'a> ClassifierOptions<'a> {
    /// Checks the weights and groups of `n` samples, and returns the limits of the fit.
    pub(crate) fn checked(&self, n: usize) -> Result<Limits<'a>, LinearError> {
        check_weights(self.weights, n)?;
        check_groups(self.groups, n)?;
        Ok(Limits::new(self.memory_limit, self.observers))
    }
}

/// Options of label embeddings that are not parameters. Default: no option.
#[derive(Default)]
pub struct LabelEmbeddingOptions<'a> {
    /// Maximum size in bytes of any dense matrix that a fit allocates; `None` means [`DEFAULT_MEMORY_LIMIT`].
    pub memory_limit: Option<usize>,
    /// The group of each sample, such as the customer that it belongs to: samples of a group are withheld together where
    /// a fit withholds some, to choose the number of epochs.
    pub groups: Option<&'a [u32]>,
    /// The whole fit is one step; it may be stopped between batches.
    pub observers: Observers<'a>,
    /// Called with the estimated cost before the first solve.
    pub on_estimate: Option<&'a (dyn Fn(FitEstimate) + Sync)>,
    /// Receives the progress of the fit.
    pub history: Option<&'a mut History>,
}

impl fmt::Debug for LabelEmbeddingOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LabelEmbeddingOptions")
            .field("memory_limit", &self.memory_limit)
            .field("groups", &self.groups)
            .field("observers", &self.observers)
            .finish_non_exhaustive()
    }
}

/// Estimated cost of a fit, to within a factor of about two.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FitEstimate {
    /// Seconds on one core of a present-day processor.
    pub cpu_seconds: f64,
    /// Bytes of memory, not counting the data.
    pub bytes: f64,
}

/// The memory limit of a fit, and the request to stop it.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub(crate) memory: usize,
    observers: Observers<'a>,
}

impl<'a> Limits<'a> {
    pub(crate) fn new(memory_limit: Option<usize>, observers: Observers<'a>) -> Self {
        Self {
            memory: memory_limit.unwrap_or(DEFAULT_MEMORY_LIMIT),
            observers,
        }
    }

    /// Ends a fit that should stop.
    pub(crate) fn check_stop(&self) -> Result<(), LinearError> {
        match self.observers.is_stopped() {
            true => Err(LinearError::Stopped),
            false => Ok(()),
        }
    }
}

/// Refuses a matrix of a fit that exceeds the memory limit.
pub(crate) fn check_matrix<T>(
    what: &'static str,
    rows: usize,
    columns: usize,
    limit: usize,
) -> Result<(), LinearError> {
    let bytes = rows.saturating_mul(columns).saturating_mul(size_of::<T>());
    let what = || format!("{what}, a dense {rows} x {columns} matrix,");
    Ok(MemoryLimit::check(bytes, limit, what)?)
}
