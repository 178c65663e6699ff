//! Records with quotes.

use super::super::error::{ReadError, ReadErrorKind};
use super::super::line::LineReader;
use crate::message::lossy;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

/// The lines of records with quotes, for the `csv` crate: up to the line that closes the last quote.
#[derive(Debug)]
pub(super) struct QuotedLines<R> {
    pub(super) lines: LineReader<R>,
    delimiter: u8,
    /// Bytes of the current line that have not been read yet.
    rest: VecDeque<u8>,
    /// True if the preceding bytes open a quote without closing it.
    inside: bool,
    /// The reason why there are no more lines: an error, or the end of the file.
    pub(super) failed: Option<Option<ReadError>>,
}

impl<R: BufRead> QuotedLines<R> {
    pub(super) fn new(lines: LineReader<R>, delimiter: u8) -> Self {
        Self {
            lines,
            delimiter,
            rest: VecDeque::new(),
            inside: false,
            failed: None,
        }
    }

    /// Makes the current line the next to be read. First removes the blanks around its fields, which the `csv` crate
    /// would keep, and checks the positions of quotes, which it does not check.
    pub(super) fn give_line(&mut self) -> Result<(), ReadError> {
        let (line, delimiter) = (self.lines.line(), self.delimiter);
        let is_text = |byte: &u8| !byte.is_ascii_whitespace() || *byte == delimiter;
        let separates = |byte: Option<u8>| byte.is_none_or(|b| b == delimiter);
        // The last byte before that is not blank, and the position of the next one.
        let (mut before, mut next) = (None, 0);
        for (at, &byte) in line.iter().enumerate() {
            if at > 0 {
                before = Some(line[at - 1]).filter(is_text).or(before);
            }
            if next <= at {
                let rest = line[at + 1..].iter().position(is_text);
                next = rest.map_or(line.len(), |blanks| at + 1 + blanks);
            }
            let (starts, ends) = (separates(before), separates(line.get(next).copied()));
            match byte {
                b'"' => {
                    let is_doubled =
                        |neighbour: Option<usize>| neighbour.and_then(|at| line.get(at)) == Some(&b'"');
                    let fits = if self.inside {
                        ends || is_doubled(Some(at + 1))
                    } else {
                        starts || is_doubled(at.checked_sub(1))
                    };
                    if !fits {
                        let text = lossy(&line[at + 1..]);
                        return Err(self.lines.error(ReadErrorKind::StrayQuote(text)).at_byte(at));
                    }
                    self.inside = !self.inside;
                }
                b if !is_text(&b) && !self.inside && (starts || ends || before == Some(b'"')) => {
                    continue;
                }
                _ => {}
            }
            self.rest.push_back(byte);
        }
        self.rest.push_back(b'\n');
        Ok(())
    }
}

impl<R: BufRead> Read for QuotedLines<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            // The line last read ends inside quotes.
            match self.lines.advance() {
                Ok(true) => self.failed = self.give_line().err().map(Some),
                Ok(false) => self.failed = Some(None),
                Err(e) => self.failed = Some(Some(e)),
            }
        }
        self.rest.read(out)
    }
}
