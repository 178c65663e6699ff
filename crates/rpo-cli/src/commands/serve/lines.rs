//! Serves requests from lines of standard input, with one response per line of standard output.

use super::problem::Problem;
use super::service::Service;
use crate::error::CliError;
use crate::interrupt::{self, INTERRUPTED};
use crate::output::note;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Serves until standard input ends, or until a signal; a request in progress then has its response first. Blank lines
/// are skipped.
pub(super) fn serve(service: &Service, max_bytes: usize) -> Result<(), CliError> {
    let mut input = io::stdin().lock();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut line = Vec::new();
    let is_given_up = AtomicBool::new(false);
    let progress = Arc::new(Progress::default());
    while read_line(&mut input, max_bytes, &mut line).map_err(CliError::Input)? {
        if line.len() <= max_bytes && line.trim_ascii().is_empty() {
            continue;
        }
        progress.is_busy.store(true, Ordering::SeqCst);
        let of_signal = Arc::clone(&progress);
        interrupt::instead(move || of_signal.interrupt());
        let response = match line.len() > max_bytes {
            true => Problem::TooLong { limit: max_bytes }.response(None),
            false => service.respond(&line, &is_given_up).1,
        };
        writeln!(out, "{response}")
            .and_then(|()| out.flush())
            .map_err(CliError::Output)?;
        // While there is no request, a signal ends the process at once.
        interrupt::end_on_signal();
        progress.is_busy.store(false, Ordering::SeqCst);
        if progress.is_interrupted.load(Ordering::SeqCst) {
            return Err(CliError::InterruptedServer);
        }
    }
    Ok(())
}

/// Whether a request has no response yet, and whether the process is to end. Each side sets its own before it looks at
/// that of the other, so that no signal is lost between two requests.
#[derive(Debug, Default)]
struct Progress {
    is_busy: AtomicBool,
    is_interrupted: AtomicBool,
}

impl Progress {
    fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::SeqCst);
        if !self.is_busy.load(Ordering::SeqCst) {
            std::process::exit(INTERRUPTED.into());
        }
        note("ending after the response in progress; interrupt again to end at once");
    }
}

/// Reads a line without its line end, keeping at most one byte beyond the limit. Returns false at the end of the input.
fn read_line(input: &mut impl BufRead, limit: usize, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let most = (limit as u64).saturating_add(1);
    if input.by_ref().take(most).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.pop_if(|byte| *byte == b'\n').is_some() {
        return Ok(true);
    }
    if line.len() > limit {
        input.skip_until(b'\n')?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::read_line;

    #[test]
    fn long_lines_are_skipped_to_their_end() {
        let mut input = &b"abc\nabcd\nabcdefgh\nxy\n\nz"[..];
        let mut line = Vec::new();
        let mut found = Vec::new();
        while read_line(&mut input, 3, &mut line).unwrap() {
            found.push((line.len(), line.clone()));
        }
        let lengths: Vec<usize> = found.iter().map(|(n, _)| *n).collect();
        assert_eq!(lengths, [3, 4, 4, 2, 0, 1]);
        assert_eq!(found[3].1, b"xy");
    }
}
