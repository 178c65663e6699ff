//! Handles Ctrl-C, SIGTERM and SIGHUP: unfinished files are removed before the process ends. At the first Ctrl-C, a fit
//! that can end with its best result so far does so.

use crate::output::{harmless, note};
use rpo::FileTarget;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The status of a server, or of a search without a result, that a signal ended, whichever it was, as shells return it for
/// Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// Called by the first signal instead of ending the process.
static INSTEAD: Mutex<Option<Instead>> = Mutex::new(None);

struct Instead {
    stop: Box<dyn FnOnce(i32) + Send>,
    /// True if only Ctrl-C calls it, and other signals end the process.
    is_by_hand: bool,
}

fn set(instead: Option<Instead>) {
    *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) = instead;
}

/// Makes the next signal call a function instead of ending the process; the signal after it ends the process.
pub(crate) fn instead(stop: impl FnOnce() + Send + 'static) {
    at_any(|_| stop());
}

/// Makes the next signal, whichever it is, call a function with its number.
fn at_any(stop: impl FnOnce(i32) + Send + 'static) {
    set(Some(Instead {
        stop: Box::new(stop),
        is_by_hand: false,
    }));
}

/// Makes the next Ctrl-C set the returned flag, for work that can end with its best result so far. Other signals, which
/// a deadline or a lost connection sends, end the process: nobody has seen the result that would replace a file.
pub(crate) fn finish_with_best() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    set(Some(Instead {
        stop: Box::new(move |_| {
            flag.store(true, Ordering::Relaxed);
            patiently(|| {
                note("interrupted: finishing with the best result so far; interrupt again to stop at once");
            });
        }),
        is_by_hand: true,
    }));
    interrupted
}

/// Makes the next signal call a function before it ends the process, with the status that shells give for the signal.
pub(crate) fn finally(last: impl FnOnce() + Send + 'static) {
    at_any(move |signal| {
        last();
        FileTarget::abandon_all(|_| std::process::exit(128 + signal));
    });
}

/// Makes the next signal end the process again.
pub(crate) fn end_on_signal() {
    set(None);
}

/// Starts watching for signals. If that fails, signals end the process as usual.
#[cfg(unix)]
pub(crate) fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    let mut watched = vec![SIGINT, SIGTERM];
    watched.extend(Some(SIGHUP).filter(|hangup| !may_be_ignored(*hangup)));
    // Watched alone, the signal of a file that is larger than allowed leaves the error to the write that failed.
    watched.push(SIGXFSZ);
    let Ok(mut signals) = Signals::new(watched) else {
        return;
    };
    let watching = move || {
        for signal in signals.forever().filter(|signal| *signal != SIGXFSZ) {
            let acts = |instead: &mut Instead| signal == SIGINT || !instead.is_by_hand;
            let instead = INSTEAD
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take_if(acts);
            if let Some(instead) = instead {
                (instead.stop)(signal);
                continue;
            }
            FileTarget::abandon_all(|paths| {
                let text = message(paths);
                // If standard error is closed, nothing can be reported.
                patiently(move || drop(std::io::stderr().write_all(text.as_bytes())));
                end_by(signal);
            });
        }
    };
    let _ = std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(watching);
}

/// Longest wait for a message to be written.
const PATIENCE: Duration = Duration::from_millis(200);

/// Writes something to standard error on another thread, and waits for that, but not for long: the pipe may be full and
/// have no reader, and the signal still has to end the process.
fn patiently(write: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = channel();
    let writing = std::thread::Builder::new()
        .name("message".to_owned())
        .spawn(move || {
            write();
            // Whoever has stopped waiting needs no answer.
            let _ = sender.send(());
        });
    if writing.is_ok() {
        let _ = receiver.recv_timeout(PATIENCE);
    }
}

/// Ends the process as the signal does by default, so that its parent sees which signal it was.
#[cfg(unix)]
fn end_by(signal: i32) -> ! {
    // The first process of a container is not ended by signals: it returns the status that shells give for them.
    if std::process::id() != 1 {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
    std::process::exit(128 + signal)
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
