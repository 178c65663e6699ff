//! Reads lines of bytes without keeping more than one.

use super::error::{ReadError, ReadErrorKind};
use std::io::BufRead;

/// Lines of a reader, counted from 1, without line end (LF or CR LF) and byte order mark. One buffer is
/// reused for all.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    inner: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> LineReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            line: Vec::new(),
            number: 0,
        }
    }

    /// Number of the line last read; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line, `false` at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        self.line.clear();
        let length = self.inner.read_until(b'\n', &mut self.line).map_err(|e| {
            let kind = ReadErrorKind::Io {
                kind: e.kind(),
                message: e.to_string(),
            };
            kind.at(self.number + 1)
        })?;
        if length == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        }
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(true)
    }

    /// The line last read.
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    /// An error in the line last read; without a line if there was none.
    pub(crate) fn error(&self, kind: ReadErrorKind) -> ReadError {
        match self.number {
            0 => kind.into(),
            line => kind.at(line),
        }
    }
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Position of the first byte from `start` on that is neither blank nor tab.
#[inline]
pub(crate) fn skip_blanks(line: &[u8], start: usize) -> usize {
    let mut at = start;
    while matches!(line.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// Text for an error message: readable whatever the bytes, and of bounded length.
pub(crate) fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 60;
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST)]);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
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
    fn long_text_is_cut() {
        assert_eq!(shown(b"caf\xe9"), "caf\u{fffd}");
        assert_eq!(
            shown("é".repeat(1000).as_bytes()),
            format!("{}...", "é".repeat(60))
        );
    }
}
