//! Serves requests from lines of standard input, with one response per line of standard output.

use super::problem::Problem;
use super::service::Service;
use crate::error::CliError;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::sync::atomic::AtomicBool;

/// Serves until standard input ends. Blank lines are skipped.
pub(super) fn serve(service: &Service, max_bytes: usize) -> Result<(), CliError> {
    let mut input = io::stdin().lock();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut line = Vec::new();
    let is_given_up = AtomicBool::new(false);
    while read_line(&mut input, max_bytes, &mut line).map_err(CliError::Input)? {
        let response = match line.len() > max_bytes {
            true => Problem::TooLong { limit: max_bytes }.response(None),
            false if line.trim_ascii().is_empty() => continue,
            false => service.respond(&line, &is_given_up).1,
        };
        writeln!(out, "{response}")
            .and_then(|()| out.flush())
            .map_err(CliError::Output)?;
    }
    Ok(())
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
