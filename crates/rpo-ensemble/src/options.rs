//! Options of a fit beside parameters, features and outputs.

use crate::error::EnsembleError;
use rpo_core::ParameterError;
use rpo_projections::Projection;
use std::fmt;
use std::sync::Arc;

/// Options of a forest fit that are not parameters: weights, observers and custom parts.
#[derive(Clone, Default)]
pub struct FitOptions<'a> {
    /// One weight per sample, finite and not negative; `None` means 1. A bootstrap draws samples whatever their weight and
    /// multiplies its counts by it. CRAFTML and structured forests refuse weights.
    pub weights: Option<&'a [f32]>,
    /// Allows missing outputs: NaN, in CSR a stored NaN, because entries that are not stored are 0. By default they are
    /// refused: a NaN by mistake would silently change what is learned. CRAFTML and structured forests always refuse them.
    ///
    /// A missing output is left out of the statistics of its sample: splits are scored and leaf values computed from
    /// the samples in which an output is observed. An output that is observed in no sample of positive weight is an
    /// [`EnsembleError::NoTarget`](crate::EnsembleError::NoTarget). A projection z = Φy needs every entry, so trees
    /// grow on z with each missing output replaced by its mean over the samples in which it is observed. If outputs are
    /// missing at random, the mean of z stays the same, and as a constant has no variance to explain, a missing entry
    /// favours no split. Leaves then store means, since they cannot refer to training samples.
    pub missing_outputs: bool,
    /// Indices, increasing, of the features whose values are codes of categories: whole numbers from 0. Their
    /// [splits](rpo_tree::categories) are between subsets of categories instead of at thresholds. Dense features only.
    /// CRAFTML and structured forests refuse this option.
    pub categorical: &'a [u32],
    /// Called whenever a tree is finished, from any thread.
    pub on_step: Option<&'a (dyn Fn() + Sync)>,
    /// Called before every tree, from any thread. If it returns true, the fit ends with [`EnsembleError::Stopped`].
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// A custom family of projections, in place of the one that the parameters name. Its maps must have the number of
    /// components that the parameters name, and finite values ([`ProjectionError::NotFinite`](rpo_projections::ProjectionError::NotFinite)). CRAFTML, structured forests
    /// and single-target forests refuse it.
    pub projection: Option<Arc<dyn Projection>>,
}

impl fmt::Debug for FitOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FitOptions")
            .field("weights", &self.weights)
            .field("missing_outputs", &self.missing_outputs)
            .field("categorical", &self.categorical)
            .field("projection", &self.projection)
            .finish_non_exhaustive()
    }
}

impl FitOptions<'_> {
    /// Refuses all options but the observers, for methods that support no others.
    pub(crate) fn check_plain(&self) -> Result<(), EnsembleError> {
        for (name, is_given) in [
            ("weights", self.weights.is_some()),
            ("missing_outputs", self.missing_outputs),
            ("categorical", !self.categorical.is_empty()),
            ("projection", self.projection.is_some()),
        ] {
            if is_given {
                let reason = "is not an option of this method";
                return Err(ParameterError::conflict(name, "given", reason).into());
            }
        }
        Ok(())
    }

    /// Returns [`EnsembleError::Stopped`] if the fit is to stop.
    pub(crate) fn check_stop(&self) -> Result<(), EnsembleError> {
        match self.stop {
            Some(stop) if stop() => Err(EnsembleError::Stopped),
            _ => Ok(()),
        }
    }

    pub(crate) fn finish_step(&self) {
        if let Some(on_step) = self.on_step {
            on_step();
        }
    }
}
