//! Text of users in error messages.

/// Characters of a name or text that a message shows.
const LONGEST: usize = 80;

/// A name or text as messages show it: in quotes, control characters escaped, cut after 80 characters.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// What another library says of a file, which may repeat all of it: cut after twice as many characters as a name.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(2 * LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Bytes of a file as text for an error: readable whatever the bytes, and no more than [`quoted`] needs.
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
