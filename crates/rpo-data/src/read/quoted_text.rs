//! Fields of a line: bare or quoted text, in ARFF syntax.

use super::error::ReadErrorKind;
use crate::message::lossy;
use std::borrow::Cow;

/// An error with its byte in the line, from 0.
pub(crate) type Fault = (usize, ReadErrorKind);

/// A field of a line.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    /// The text, unquoted.
    pub(crate) text: Cow<'a, [u8]>,
    /// True if it was quoted; a quoted `?` or empty text is an ordinary value.
    pub(crate) quoted: bool,
    /// Position after the field.
    pub(crate) end: usize,
}

/// Parses the field that starts at a position: text quoted by `'` or `"`, otherwise everything before the first byte
/// for which `stops` is true, without trailing blanks.
pub(crate) fn field(line: &[u8], start: usize, stops: impl Fn(u8) -> bool) -> Result<Field<'_>, Fault> {
    if let Some(&quote @ (b'\'' | b'"')) = line.get(start) {
        let (text, end) = quoted(line, start, quote)?;
        return Ok(Field {
            text,
            quoted: true,
            end,
        });
    }
    let rest = line.get(start..).unwrap_or_default();
    let end = start + rest.iter().position(|&b| stops(b)).unwrap_or(rest.len());
    let text = line[start.min(end)..end].trim_ascii_end();
    Ok(Field {
        text: Cow::Borrowed(text),
        quoted: false,
        end,
    })
}

/// Parses the text between the quote at `start` and the closing quote. A backslash before a quote, a percent sign or
/// another backslash stands for that byte; `\n`, `\r` and `\t` have their usual meaning, as Weka writes them; any other
/// backslash stands for itself.
fn quoted(line: &[u8], start: usize, quote: u8) -> Result<(Cow<'_, [u8]>, usize), Fault> {
    let inside = &line[start + 1..];
    let plain = inside.iter().position(|&b| b == quote || b == b'\\');
    if let Some(end) = plain.filter(|&end| inside[end] == quote) {
        return Ok((Cow::Borrowed(&inside[..end]), start + end + 2));
    }
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(&byte) = inside.get(at) {
        if byte == quote {
            return Ok((Cow::Owned(text), start + at + 2));
        }
        let escaped = (byte == b'\\')
            .then(|| inside.get(at + 1))
            .flatten()
            .and_then(|next| match next {
                b'\'' | b'"' | b'\\' | b'%' => Some(*next),
                b'n' => Some(b'\n'),
                b'r' => Some(b'\r'),
                b't' => Some(b'\t'),
                _ => None,
            });
        text.push(escaped.unwrap_or(byte));
        at += 1 + usize::from(escaped.is_some());
    }
    let (quote, text) = (char::from(quote), lossy(inside));
    Err((start, ReadErrorKind::UnclosedQuote { quote, text }))
}

/// Converts the text to UTF-8.
pub(crate) fn utf8(text: &[u8], at: usize) -> Result<String, Fault> {
    std::str::from_utf8(text)
        .map(str::to_owned)
        .map_err(|_| (at, ReadErrorKind::invalid_utf8(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes() {
        let check = |line: &str, expected: &str, end: usize| {
            let found = field(line.as_bytes(), 0, |b| b == b',').unwrap();
            assert_eq!((&*found.text, found.end), (expected.as_bytes(), end), "{line}");
        };
        check("a b ,c", "a b", 4);
        check("", "", 0);
        check("'a,b',c", "a,b", 5);
        check(r"'it\'s' x", "it's", 7);
        check(r#""'ALLminpA'l1" numeric"#, "'ALLminpA'l1", 14);
        check(r"TAG_m\'usica,", r"TAG_m\'usica", 12);
        check(r"'\\ \% \t \q'", "\\ % \t \\q", 13);
        assert!(matches!(
            field(br"x,'open\'", 2, |_| true),
            Err((2, ReadErrorKind::UnclosedQuote { quote: '\'', .. }))
        ));
    }
}
