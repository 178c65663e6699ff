//! Formatting of user text in error messages.

pub(crate) use rpo_core::text::{LONGEST, cut, quoted};

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
            format!("{:?}...", "é".repeat(LONGEST))
        );
    }
}
