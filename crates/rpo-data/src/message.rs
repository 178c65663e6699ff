//! Formatting of user text in error messages.

/// Maximum number of characters of a name or text in a message.
const LONGEST: usize = 80;

/// Formats a name or text for messages, as the errors of this crate do: quoted, with control characters escaped,
/// truncated after 80 characters.
///
/// ```
/// assert_eq!(rpo_data::quoted("a\tb"), r#""a\tb""#);
/// ```
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Truncates another library's message about a file, which may repeat the whole file, after twice the length of a name.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(2 * LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Converts bytes of a file to text for an error: readable for any bytes, and not longer than [`quoted`] needs.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    let longest = 4 * (LONGEST + 1);
    String::from_utf8_lossy(&bytes[..bytes.len().min(longest)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut() {
        assert_eq!(
            quoted(&lossy(b"caf\xe9\x1b[2J\n")),
            "\"caf\u{fffd}\\u{1b}[2J\\n\""
        );
        let long = "é".repeat(1000);
        assert_eq!(
            quoted(&lossy(long.as_bytes())),
            format!("{:?}...", "é".repeat(80))
        );
        assert_eq!(quoted(&"x".repeat(80)), format!("{:?}", "x".repeat(80)));
        assert_eq!(cut(&long), format!("{}...", "é".repeat(160)));
        assert_eq!(cut("as it is"), "as it is");
    }
}
