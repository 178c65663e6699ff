//! Handles Ctrl-C, SIGTERM and SIGHUP: unfinished files are removed before the process ends. At the first signal, a fit that
//! can end with its best result so far does so.

use crate::output::{harmless, note};
use rpo::FileTarget;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The status of a process that ended because it was interrupted, as shells return it: 128 and the number of the signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// Called by the first signal instead of ending the process.
static INSTEAD: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// Makes the next signal call a function instead of ending the process; the signal after it ends the process.
pub(crate) fn instead(stop: impl FnOnce() + Send + 'static) {
    *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(stop));
}

/// Makes the next signal set the returned flag, for work that can end with its best result so far.
pub(crate) fn finish_with_best() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    instead(move || {
        flag.store(true, Ordering::Relaxed);
        note("interrupted: finishing with the best result so far; interrupt again to stop at once");
    });
    interrupted
}

/// Makes the next signal call a function before it ends the process.
pub(crate) fn finally(last: impl FnOnce() + Send + 'static) {
    instead(move || {
        last();
        FileTarget::abandon_all(|_| std::process::exit(INTERRUPTED.into()));
    });
}

/// Makes the next signal end the process again.
pub(crate) fn as_ever() {
    *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Starts watching for signals. If that fails, signals end the process as usual.
#[cfg(unix)]
pub(crate) fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let mut watched = vec![SIGINT, SIGTERM];
    watched.extend(Some(SIGHUP).filter(|hangup| !may_be_ignored(*hangup)));
    let Ok(mut signals) = Signals::new(watched) else {
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
                // If standard error is closed, nothing can be reported.
                let _ = std::io::stderr().write_all(message(paths).as_bytes());
                // Lets the parent process see which signal it was.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
                std::process::exit(1);
            });
        }
    });
}

/// Returns true if a signal is ignored, as `nohup` makes hangups, or if the system does not show that it is not: watching
/// it would end that.
#[cfg(unix)]
fn may_be_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(not(unix))]
pub(crate) fn watch() {}

/// Describes the state of the files that were to be written.
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
