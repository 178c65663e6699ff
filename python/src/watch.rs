//! Work on other threads, so that Python keeps running and notices signals.

use crate::threads::Pool;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Interval at which signals are checked.
const INTERVAL: Duration = Duration::from_millis(50);

/// Does work on the threads of a pool and returns its result. Meanwhile signals are checked in the calling thread and
/// `also` is called there, at intervals and at the end. A signal such as Ctrl-C, or an exception in `also`, ends the
/// wait at once; whoever can end the work as well does so then.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    pool: Pool,
    work: impl FnOnce() -> T + Send + 'static,
    mut also: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    let on_pool = move || {
        let result = pool.install(work);
        // If the wait was ended, the result has no receiver.
        let _ = sender.send(result);
    };
    let working = thread::Builder::new().name("rpo".to_owned()).spawn(on_pool);
    working.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    loop {
        let received;
        (received, receiver) = py.detach(move || (receiver.recv_timeout(INTERVAL), receiver));
        py.check_signals()?;
        also(py)?;
        match received {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let message =
                    "the computation broke off; the message on the standard error stream says where";
                return Err(PyRuntimeError::new_err(message));
            }
        }
    }
}
