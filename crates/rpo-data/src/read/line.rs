//! Reads text line by line, holding one line at a time.

use super::error::{ReadError, ReadErrorKind};
use memchr::memchr;
use std::collections::VecDeque;
use std::io::{BufRead, Read};

/// Default length of the longest line that is accepted: 1 GiB.
pub(super) const DEFAULT_LONGEST_LINE: usize = 1 << 30;

/// The lines of a reader, counted from 1, without line ends (LF or CR LF) and byte order mark. One buffer is reused for
/// all lines.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    inner: R,
    line: Vec<u8>,
    number: u64,
    longest: usize,
    /// The lines after it that were looked at, with their line ends.
    ahead: VecDeque<Vec<u8>>,
}

impl<R: BufRead> LineReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self::with_longest(inner, DEFAULT_LONGEST_LINE)
    }

    /// Creates a reader that refuses lines longer than `longest` bytes.
    pub(crate) fn with_longest(inner: R, longest: usize) -> Self {
        Self {
            inner,
            line: Vec::new(),
            number: 0,
            longest,
            ahead: VecDeque::new(),
        }
    }

    /// Number of the line last read; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line; returns false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        match self.ahead.pop_front() {
            Some(line) => self.line = line,
            None => {
                self.line.clear();
                read_line(&mut self.inner, self.longest, &mut self.line)
                    .map_err(|kind| kind.at(self.number + 1))?;
            }
        }
        if self.line.is_empty() {
            return Ok(false);
        }
        self.number += 1;
        let ended = self.line.pop_if(|byte| *byte == b'\n').is_some();
        if ended {
            self.line.pop_if(|byte| *byte == b'\r');
        }
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        if self.line.len() > self.longest {
            let limit = self.longest;
            return Err(self.error(ReadErrorKind::LineTooLong { limit }));
        }
        if let Some(at) = memchr(0, &self.line) {
            return Err(self.error(ReadErrorKind::NulByte).at_byte(at));
        }
        if self.number == 1
            && !ended
            && let Some(at) = memchr(b'\r', &self.line)
        {
            return Err(self.error(ReadErrorKind::CarriageReturns).at_byte(at));
        }
        Ok(true)
    }

    /// Looks for a line after the one last read, which stays to be read: the first for which `test` returns true.
    /// Returns it without its line end, truncated if it is longer than the longest line; `None` if there is none.
    pub(crate) fn look_ahead(&mut self, test: impl Fn(&[u8]) -> bool) -> Result<Option<&[u8]>, ReadError> {
        if let Some(found) = self.ahead.iter().position(|line| test(without_end(line))) {
            return Ok(self.ahead.get(found).map(|line| without_end(line)));
        }
        loop {
            let mut line = Vec::new();
            read_line(&mut self.inner, self.longest, &mut line)
                .map_err(|kind| kind.at(self.number + self.ahead.len() as u64 + 1))?;
            if line.is_empty() {
                return Ok(None);
            }
            let is_found = test(without_end(&line));
            self.ahead.push_back(line);
            if is_found {
                return Ok(self.ahead.back().map(|line| without_end(line)));
            }
        }
    }

    /// Returns the line last read.
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Creates an error in the line last read; without a line number if there was none.
    pub(crate) fn error(&self, kind: ReadErrorKind) -> ReadError {
        match self.number {
            0 => kind.into(),
            line => kind.at(line),
        }
    }
}

/// Appends the next line with its line end; nothing at the end.
fn read_line(from: &mut impl BufRead, longest: usize, to: &mut Vec<u8>) -> Result<(), ReadErrorKind> {
    // Two bytes more than the longest line, for its line end.
    let most = (longest as u64).saturating_add(2);
    let read = from.take(most).read_until(b'\n', to);
    read.map(drop).map_err(|e| ReadErrorKind::from(&e))
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the position of the first byte, from `start` on, that is neither a blank nor a tab.
#[inline]
pub(crate) fn skip_blanks(line: &[u8], start: usize) -> usize {
    let mut at = start;
    while matches!(line.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_and_byte_order_mark_are_dropped() {
        let mut reader = LineReader::new(&b"\xef\xbb\xbfa\r\n\r\nb\rc\n\xef\xbb\xbfd"[..]);
        let mut lines = Vec::new();
        while reader.advance().unwrap() {
            lines.push((reader.number(), reader.line().to_vec()));
        }
        let expected: [(u64, &[u8]); 4] = [(1, b"a"), (2, b""), (3, b"b\rc"), (4, b"\xef\xbb\xbfd")];
        assert_eq!(lines, expected.map(|(n, line)| (n, line.to_vec())));
    }

    #[test]
    fn lines_that_were_looked_at_are_read_again() {
        let mut reader = LineReader::new(&b"a\n\r\n\nb\r\nc"[..]);
        assert!(reader.advance().unwrap());
        let is_text = |line: &[u8]| !line.is_empty();
        assert_eq!(reader.look_ahead(is_text), Ok(Some(&b"b"[..])));
        assert_eq!(reader.line(), b"a");
        let mut lines = Vec::new();
        while reader.advance().unwrap() {
            lines.push((reader.number(), reader.line().to_vec()));
        }
        let expected: [(u64, &[u8]); 4] = [(2, b""), (3, b""), (4, b"b"), (5, b"c")];
        assert_eq!(lines, expected.map(|(n, line)| (n, line.to_vec())));
        assert_eq!(reader.look_ahead(is_text), Ok(None));
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_line() {
        let check = |text: &[u8], longest: usize, expected: Result<u64, ReadErrorKind>, line: u64| {
            let mut reader = LineReader::with_longest(text, longest);
            let found = loop {
                match reader.advance() {
                    Ok(true) => {}
                    Ok(false) => break Ok(reader.number()),
                    Err(e) => {
                        assert_eq!(e.line, Some(line));
                        break Err(e.kind);
                    }
                }
            };
            assert_eq!(found, expected);
        };
        check(b"a\nb\0c\n", 9, Err(ReadErrorKind::NulByte), 2);
        check(b"a\rb\rc", 9, Err(ReadErrorKind::CarriageReturns), 1);
        check(b"abc\r\nabc\nabc", 3, Ok(3), 0);
        for end in ["", "\n", "\r\n", "ef\n"] {
            let text = format!("a\nabcd{end}");
            check(
                text.as_bytes(),
                3,
                Err(ReadErrorKind::LineTooLong { limit: 3 }),
                2,
            );
        }
    }
}
