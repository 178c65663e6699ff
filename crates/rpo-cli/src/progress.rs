//! Progress bars on standard error, if it is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// A bar that counts to `n`.
pub(crate) fn bar(n: usize, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(n as u64);
    shown(bar, what, "{msg} {bar:30} {pos}/{len}, {eta} left")
}

/// A counter without a known end.
pub(crate) fn count(what: &'static str) -> ProgressBar {
    shown(ProgressBar::no_length(), what, "{msg} {pos}, {elapsed}")
}

fn shown(bar: ProgressBar, what: &'static str, style: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = bar.with_message(what);
    match ProgressStyle::with_template(style) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
