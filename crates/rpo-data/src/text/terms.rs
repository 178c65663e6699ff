//! The terms of a text.

use super::options::{TextOptions, TextUnit};
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Joins the parts of a word, as in Persian and Hindi, without being one: zero width non-joiner and joiner.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

/// Calls `visit` with each term of a text, in no particular order, once per occurrence.
pub(super) fn for_each_term(text: &str, options: &TextOptions, mut visit: impl FnMut(&str)) {
    let text = match options.case {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.to_lowercase()),
    };
    // A letter with an accent is one character or two, which look the same: both become one (NFC).
    let text = match text.is_ascii() {
        true => text,
        false => Cow::Owned(text.nfc().collect()),
    };
    let (joined, units) = match options.unit {
        TextUnit::Words => joined(words(&text)),
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

/// Returns the words of a text: runs of letters and digits, with the marks on them, such as vowel signs.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_word =
        |c: char| c.is_alphanumeric() || !c.is_ascii() && (is_combining_mark(c) || JOINERS.contains(&c));
    let runs = text.split(move |c| !is_of_word(c));
    // Marks and joiners also follow emoji.
    let runs = runs.map(|run| run.trim_start_matches(|c: char| !c.is_alphanumeric()));
    runs.map(|run| run.trim_end_matches(JOINERS))
        .filter(|word| !word.is_empty())
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
            words("ΣΊΣΥΦΟΣ 東京 e\u{301}te\u{301} ÉTÉ"),
            ["σίσυφος", "東京", "été", "été"]
        );
        assert_eq!(words("ΰ \u{3ab}\u{301}"), ["ΰ", "ΰ"]);
        assert_eq!(words("क्रिकेट, मंत्री: नमस्ते।"), ["क्रिकेट", "मंत्री", "नमस्ते"]);
        assert_eq!(words("น้ำ می\u{200c}خواهم"), ["น้ำ", "می\u{200c}خواهم"]);
        assert_eq!(
            words("❤\u{fe0f}love \u{1f469}\u{200d}\u{1f4bb} q\u{200d} q\u{307}"),
            ["love", "q", "q\u{307}"]
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
