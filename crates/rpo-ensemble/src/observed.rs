//! Work that observers watch, and may stop.

use crate::error::EnsembleError;
use rpo_core::Observers;

/// Returns [`EnsembleError::Stopped`] if the fit should stop.
pub(crate) fn check_stop(observers: Observers<'_>) -> Result<(), EnsembleError> {
    match observers.is_stopped() {
        true => Err(EnsembleError::Stopped),
        false => Ok(()),
    }
}
