//! Options of forest fits beside parameters, features and outputs.

use rpo_core::Observers;
use rpo_projections::Projection;
use std::sync::Arc;

/// Options of the fit of a [`Forest`](super::Forest) that are not parameters: weights, a custom projection and observers.
/// Default: no option.
#[derive(Debug, Clone, Default)]
pub struct ForestOptions<'a> {
    /// One weight per sample, finite and not negative; `None` means 1. A bootstrap draws samples whatever their weight and
    /// multiplies its counts by it.
    pub weights: Option<&'a [f32]>,
    /// Allows missing outputs: NaN, in CSR a stored NaN, because entries that are not stored are 0. By default they are
    /// refused: a NaN by mistake would silently change what is learned.
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
    pub categorical: &'a [u32],
    /// A custom family of projections, in place of the one that the parameters name. Its maps must have the number of
    /// components that the parameters name, and finite values
    /// ([`ProjectionError::NotFinite`](rpo_projections::ProjectionError::NotFinite)).
    pub projection: Option<Arc<dyn Projection>>,
    /// A step is a tree.
    pub observers: Observers<'a>,
}

/// Options of the fit of a [`SingleTargetForest`](super::SingleTargetForest) that are not parameters: weights and
/// observers. Default: no option.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleTargetOptions<'a> {
    /// As [`ForestOptions::weights`].
    pub weights: Option<&'a [f32]>,
    /// Allows missing outputs, as [`ForestOptions::missing_outputs`]. Each is left out of the forest of its output.
    pub missing_outputs: bool,
    /// As [`ForestOptions::categorical`].
    pub categorical: &'a [u32],
    /// A step is a tree of one output.
    pub observers: Observers<'a>,
}

impl<'a> SingleTargetOptions<'a> {
    /// Returns the options of the forest of each output.
    pub(super) fn of_each(self) -> ForestOptions<'a> {
        ForestOptions {
            weights: self.weights,
            missing_outputs: self.missing_outputs,
            categorical: self.categorical,
            projection: None,
            observers: self.observers,
        }
    }
}
