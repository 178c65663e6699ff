//! Ctrl-C and SIGTERM: unfinished files are removed before the process ends. A fit that can end with the best so far does so
//! at the first signal.

use crate::output::harmless;
use rpo::FileTarget;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// What the first signal does in place of ending the process.
static INSTEAD: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// Lets the next signal call a function in place of ending the process; the one after it ends the process as ever.
pub(crate) fn instead(stop: impl FnOnce() + Send + 'static) {
    *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(stop));
}

/// Lets the next signal end the process again.
pub(crate) fn as_ever() {
    *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Watches for signals from now on. Where that fails they end the process as ever.
#[cfg(unix)]
pub(crate) fn watch() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let instead = INSTEAD.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(stop) = instead {
                stop();
                continue;
            }
            FileTarget::abandon_all(|paths| {
                // Where there is no standard error there is nobody to tell.
                let _ = std::io::stderr().write_all(message(paths).as_bytes());
                // The parent process sees which signal it was.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
                std::process::exit(1);
            });
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn watch() {}

/// What has become of the files that were to be written.
fn message(paths: &[PathBuf]) -> String {
    let mut message = "interrupted\n".to_owned();
    for path in paths {
        let outcome = match path.exists() {
            true => "is as it was",
            false => "was not written",
        };
        // Writing to a string does not fail.
        let _ = writeln!(message, "  {} {outcome}", harmless(&path.to_string_lossy()));
    }
    message
}
