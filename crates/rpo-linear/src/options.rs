//! Options of a fit that are not parameters.

use std::fmt;

use rpo_core::{DEFAULT_MEMORY_LIMIT, MemoryLimit, Mismatch, WeightError};

use crate::{History, LinearError};

/// Estimated cost of a fit, to within a factor of about two.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FitEstimate {
    /// Seconds on one core of a present-day processor.
    pub cpu_seconds: f64,
    /// Bytes of memory, not counting the data.
    pub bytes: f64,
}

/// Options of a fit that are not parameters: a memory limit and observers.
#[derive(Default)]
pub struct FitOptions<'a> {
    /// Maximum size in bytes of any dense matrix that a fit allocates; `None` means [`DEFAULT_MEMORY_LIMIT`].
    pub memory_limit: Option<usize>,
    /// Weights of the samples, not negative: a sample of weight 2 counts as two samples. Label embeddings refuse
    /// weights.
    pub weights: Option<&'a [f32]>,
    /// The group of each sample, such as the customer that it belongs to: samples of a group are withheld together where
    /// a fit withholds some, to choose the cost of one-vs-rest and label trees or the epochs of label embeddings.
    pub groups: Option<&'a [u32]>,
    /// Asked between the parts of a fit, such as labels, nodes or batches: if it returns true, the fit fails with
    /// [`LinearError::Stopped`].
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Called once, when the model has been fitted.
    pub on_step: Option<&'a (dyn Fn() + Sync)>,
    /// Called with the estimated cost before the first solve; only by label embeddings.
    pub on_estimate: Option<&'a (dyn Fn(FitEstimate) + Sync)>,
    /// Receives the progress of the fit; empty except for label embeddings.
    pub history: Option<&'a mut History>,
}

impl fmt::Debug for FitOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FitOptions")
            .field("memory_limit", &self.memory_limit)
            .finish_non_exhaustive()
    }
}

impl<'a> FitOptions<'a> {
    pub(crate) fn limit(&self) -> usize {
        self.memory_limit.unwrap_or(DEFAULT_MEMORY_LIMIT)
    }

    /// Returns what limits the fit from outside.
    pub(crate) fn limits(&self) -> Limits<'a> {
        Limits {
            memory: self.limit(),
            stop: self.stop,
        }
    }

    /// Returns the checked weights of `n` samples; `None` if all are 1.
    pub(crate) fn weights(&self, n: usize) -> Result<Option<&'a [f32]>, LinearError> {
        let Some(weights) = self.weights else {
            return Ok(None);
        };
        Mismatch::check("weights of the samples", n, weights.len())?;
        WeightError::check(weights.iter().copied())?;
        Ok(Some(weights))
    }

    /// Returns the checked groups of `n` samples.
    pub(crate) fn groups(&self, n: usize) -> Result<Option<&'a [u32]>, LinearError> {
        if let Some(groups) = self.groups {
            Mismatch::check("groups of the samples", n, groups.len())?;
        }
        Ok(self.groups)
    }

    /// Reports the end of a fit.
    pub(crate) fn finish(self, history: History) {
        if let Some(on_step) = self.on_step {
            on_step();
        }
        if let Some(out) = self.history {
            *out = history;
        }
    }
}

/// The memory limit of a fit, and the request to stop it.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub(crate) memory: usize,
    stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl Limits<'_> {
    /// Ends a fit that should stop.
    pub(crate) fn check_stop(&self) -> Result<(), LinearError> {
        match self.stop.is_some_and(|stop| stop()) {
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
