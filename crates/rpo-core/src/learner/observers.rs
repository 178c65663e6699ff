//! Those who look on while a model is fitted.

use std::fmt;

/// Observers of a fit. They do not change the model; [`stop`](Self::stop) may end the fit without one.
#[derive(Clone, Copy, Default)]
pub struct Observers<'a> {
    /// Called after every step of the fit, such as a tree, from any thread.
    pub on_step: Option<&'a (dyn Fn() + Sync)>,
    /// Called between the parts of a fit, such as steps or labels, from any thread. If it returns true, the fit ends with
    /// the error `Stopped` of its crate; a fit that has nothing left to do returns its model.
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl Observers<'_> {
    /// Reports that a step has been made.
    pub fn step(&self) {
        if let Some(on_step) = self.on_step {
            on_step();
        }
    }

    /// Returns true if the fit should stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }
}

impl fmt::Debug for Observers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observers")
            .field("on_step", &self.on_step.is_some())
            .field("stop", &self.stop.is_some())
            .finish()
    }
}
