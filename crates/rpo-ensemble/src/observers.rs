//! Work that observers watch, and may stop.

use crate::error::EnsembleError;
use rayon::prelude::*;
use rpo_core::Observers;
use std::ops::Range;

/// Grows a tree for each index, in parallel, and returns them in order. Before each, observers may stop the fit; after
/// each, a step is reported.
pub(crate) fn grow_each<T: Send>(
    indices: Range<usize>,
    observers: Observers<'_>,
    grow: impl Fn(usize) -> Result<T, EnsembleError> + Sync,
) -> Result<Vec<T>, EnsembleError> {
    let trees = indices.into_par_iter().map(|index| {
        check_stop(observers)?;
        let tree = grow(index)?;
        observers.step();
        Ok(tree)
    });
    trees.collect()
}

/// Returns [`EnsembleError::Stopped`] if the fit should stop.
pub(crate) fn check_stop(observers: Observers<'_>) -> Result<(), EnsembleError> {
    match observers.is_stopped() {
        true => Err(EnsembleError::Stopped),
        false => Ok(()),
    }
}
