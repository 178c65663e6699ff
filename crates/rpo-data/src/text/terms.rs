//! The terms of a text.

use super::options::{TextOptions, TextUnit};
use std::borrow::Cow;

/// Calls `visit` with each term of a text, in no particular order, once per occurrence.
pub(super) fn for_each_term(text: &str, options: &TextOptions, mut visit: impl FnMut(&str)) {
    let text = match options.case {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.to_lowercase()),
    };
    let (joined, units) = match options.unit {
        TextUnit::Words => joined(text.split(|c| !is_of_word(c)).filter(|word| !word.is_empty())),
        TextUnit::Characters => {
            let (blanks, _) = joined(text.split_whitespace());
            let units = blanks
                .char_indices()
                .map(|(start, c)| (start, start + c.len_utf8()));
            let units = units.collect();
            (blanks, units)
        }
    };
    for n in options.shortest..=options.longest {
        for term in units.windows(n as usize) {
            visit(&joined[term[0].0..term[term.len() - 1].1]);
        }
    }
}

/// Joins words by blanks; also returns the start and end of each word.
fn joined<'a>(words: impl Iterator<Item = &'a str>) -> (String, Vec<(usize, usize)>) {
    let (mut text, mut places) = (String::new(), Vec::new());
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        places.push((text.len(), text.len() + word.len()));
        text.push_str(word);
    }
    (text, places)
}

/// Returns true for letters, digits, and combining accents.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)
}

/// Returns the feature of a term among `width`: the 64-bit FNV-1a hash of its UTF-8, with both halves combined by
/// exclusive or, modulo the width.
pub(super) fn hashed(term: &str, width: u32) -> u32 {
    let hash = term.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash ^ (hash >> 32)) as u32) % width
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str, options: TextOptions) -> Vec<String> {
        let mut found = Vec::new();
        for_each_term(text, &options, |term| found.push(term.to_owned()));
        found
    }

    #[test]
    fn words_of_any_script() {
        let words = |text: &str| terms(text, TextOptions::default());
        assert_eq!(
            words("Don't, x_y: 3.5 ÉTÉ"),
            ["don", "t", "x", "y", "3", "5", "été"]
        );
        assert_eq!(
            words("ΣΊΣΥΦΟΣ 東京 e\u{301}te\u{301}"),
            ["σίσυφος", "東京", "e\u{301}te\u{301}"]
        );
        assert!(words("").is_empty() && words(" ... !\n").is_empty());
        let case = TextOptions {
            case: true,
            ..TextOptions::default()
        };
        assert_eq!(terms("Not good", case), ["Not", "good"]);
    }

    #[test]
    fn units_in_a_row() {
        let options = TextOptions {
            shortest: 2,
            longest: 3,
            ..TextOptions::default()
        };
        assert_eq!(
            terms("Not  so, good", options),
            ["not so", "so good", "not so good"]
        );
        assert!(terms("good", options).is_empty());
        let characters = TextOptions {
            unit: TextUnit::Characters,
            ..options
        };
        assert_eq!(terms(" É\n\tb! ", characters), ["é ", " b", "b!", "é b", " b!"]);
    }

    #[test]
    fn hashes_are_those_of_fnv() {
        // 64-bit FNV-1a of "a" is af63dc4c8601ec8c, of "foobar" 85944171f73967e8.
        assert_eq!(hashed("a", u32::MAX), 0xaf63_dc4c ^ 0x8601_ec8c);
        assert_eq!(hashed("foobar", 1000), (0x8594_4171_u32 ^ 0xf739_67e8) % 1000);
        assert_eq!(hashed("", 1), 0);
    }
}
