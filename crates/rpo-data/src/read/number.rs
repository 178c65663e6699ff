//! Decimal numbers and column ids.

/// The reason why a text is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotANumber {
    /// "nan", "inf" or "infinity", signed or not, in any case.
    NotFinite,
    /// A decimal number beyond the range of an f64.
    TooLarge,
    /// Anything else.
    Malformed,
}

/// Parses the finite number at the start of the text, `[+-] digits [. digits] [e [+-] digits]` with at least one digit
/// before the exponent; returns it with its length. The value is the f64 nearest to the decimal text.
#[inline]
pub(crate) fn scan(text: &[u8]) -> Option<(f64, usize)> {
    // A single digit, the usual value of labels and counts, takes a faster path.
    if let [digit @ b'0'..=b'9', b',' | b' ', ..] = text {
        return Some((f64::from(digit - b'0'), 1));
    }
    match fast_float2::parse_partial(text) {
        Ok((value, length)) if f64::is_finite(value) => Some((value, length)),
        _ => None,
    }
}

/// Parses a number that spans the whole text.
pub(crate) fn parse(text: &[u8]) -> Result<f64, NotANumber> {
    match fast_float2::parse::<f64, _>(text) {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) if text.iter().any(u8::is_ascii_digit) => Err(NotANumber::TooLarge),
        Ok(_) => Err(NotANumber::NotFinite),
        Err(_) => Err(NotANumber::Malformed),
    }
}

/// Parses the unsigned integer at the start of the text; returns it with its length, `None` without a digit or beyond a
/// u64.
#[inline]
pub(crate) fn scan_id(text: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    let mut length = 0;
    while let Some(digit) = text.get(length).filter(|b| b.is_ascii_digit()) {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        length += 1;
    }
    (length > 0).then_some((value, length))
}

/// Parses an unsigned integer that spans the whole text.
pub(crate) fn parse_id(text: &[u8]) -> Option<u64> {
    scan_id(text)
        .filter(|&(_, length)| length == text.len())
        .map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hand_made_cases() {
        for text in [
            "", ".", "-", "+-1", "1e", "e5", "0x1F", "1_0", "1.2.3", "1 ", "--1", "infin", "1e+", "1e400x",
        ] {
            assert_eq!(parse(text.as_bytes()), Err(NotANumber::Malformed), "{text}");
        }
        for text in ["nan", "-NaN", "Inf", "+infinity"] {
            assert_eq!(parse(text.as_bytes()), Err(NotANumber::NotFinite), "{text}");
            assert_eq!(scan(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(b"-1e400"), Err(NotANumber::TooLarge));
        assert_eq!(parse(b"1e99999999999999999999"), Err(NotANumber::TooLarge));
        assert_eq!(parse(b"1e-99999999999999999999"), Ok(0.0));
        assert_eq!(
            (
                parse_id(b"18446744073709551615"),
                parse_id(b"18446744073709551616")
            ),
            (Some(u64::MAX), None)
        );
        for (text, expected) in [
            ("1e,", (1.0, 1)),
            ("7,8", (7.0, 1)),
            ("7 8", (7.0, 1)),
            ("7", (7.0, 1)),
            ("7.5 8", (7.5, 3)),
            ("1e400x", (0.0, 0)),
        ] {
            assert_eq!(
                scan(text.as_bytes()),
                Some(expected).filter(|e| e.1 > 0),
                "{text}"
            );
        }
    }

    /// Compares with the standard library, which reads the same syntax and rounds to nearest as well.
    fn check(text: &str) {
        let found = parse(text.as_bytes());
        match text.parse::<f64>() {
            Ok(expected) if expected.is_finite() => {
                assert_eq!(found.unwrap().to_bits(), expected.to_bits(), "{text}");
                let (value, length) = scan(text.as_bytes()).unwrap();
                assert_eq!(
                    (value.to_bits(), length),
                    (expected.to_bits(), text.len()),
                    "{text}"
                );
            }
            Ok(_) => assert!(
                matches!(found, Err(NotANumber::NotFinite | NotANumber::TooLarge)),
                "{text}"
            ),
            Err(_) => assert_eq!(found, Err(NotANumber::Malformed), "{text}"),
        }
    }

    #[test]
    fn values_on_the_edge_of_rounding() {
        for text in [
            "0",
            "-0",
            "+7",
            "5.",
            ".5",
            "1e23",
            "9007199254740993",
            "0.1",
            "1e22",
            "4.9e-324",
            "2.4e-324",
            "2.2250738585072011e-308",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "1e-400",
            "8.5899345919999999999999999999999999999e9",
            "0.000000000000000000000000000000000001e36",
        ] {
            check(text);
        }
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_the_standard_library(text in r"[+-]?([0-9]{1,22}(\.[0-9]{0,22})?|\.[0-9]{1,22})([eE][+-]?[0-9]{1,3})?") {
            check(&text);
        }

        #[test]
        fn syntax_is_that_of_the_standard_library(text in "[-+.eE0-9infatyINFATY]{0,9}") {
            check(&text);
        }

        #[test]
        fn shortest_representation_round_trips(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            check(&format!("{value}"));
            check(&format!("{value:e}"));
        }
    }
}
