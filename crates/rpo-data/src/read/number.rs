//! Decimal numbers and column ids, fast and exact.

/// What a token is, when it is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotANumber {
    /// "nan", "inf" or "infinity", signed or not, in any case.
    NotFinite,
    /// A decimal number beyond the range of an f64.
    TooLarge,
    /// Anything else.
    Malformed,
}

/// Powers of ten that an f64 holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The number that starts the text and its length: `[+-] digits [. digits] [e [+-] digits]`, at least one
/// digit before the exponent. The value is the f64 nearest to the decimal text.
///
/// Up to 19 digits are gathered in an integer. If that is below 2^53 and the power of ten at most 22, both
/// are exact in an f64 and one correctly rounded operation gives the nearest result (Clinger 1990); anything
/// else is left to the standard library.
#[inline]
pub(crate) fn scan(text: &[u8]) -> Result<(f64, usize), NotANumber> {
    let at = |i: usize| text.get(i).copied().unwrap_or(0);
    let negative = at(0) == b'-';
    let start = usize::from(negative || at(0) == b'+');
    let (mut i, mut mantissa, mut exponent) = (start, 0_u64, 0_i32);
    while at(i).is_ascii_digit() {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(at(i) - b'0'));
        i += 1;
    }
    let mut n_digits = i - start;
    if at(i) == b'.' {
        let point = i;
        i += 1;
        while at(i).is_ascii_digit() {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(at(i) - b'0'));
            i += 1;
        }
        let n_decimals = i - point - 1;
        n_digits += n_decimals;
        exponent = -i32::try_from(n_decimals).unwrap_or(i32::MAX);
    }
    if n_digits == 0 {
        return Err(NotANumber::Malformed);
    }
    if matches!(at(i), b'e' | b'E') {
        let sign = usize::from(matches!(at(i + 1), b'+' | b'-'));
        let first = i + 1 + sign;
        if at(first).is_ascii_digit() {
            let mut written = 0_i32;
            let mut j = first;
            while at(j).is_ascii_digit() {
                written = written.saturating_mul(10).saturating_add(i32::from(at(j) - b'0'));
                j += 1;
            }
            exponent = exponent.saturating_add(if at(i + 1) == b'-' { -written } else { written });
            i = j;
        }
    }
    if n_digits <= 19 && mantissa < 1 << 53 && (-22..=22).contains(&exponent) {
        let magnitude = if exponent < 0 {
            mantissa as f64 / EXACT_POWERS[-exponent as usize]
        } else {
            mantissa as f64 * EXACT_POWERS[exponent as usize]
        };
        return Ok((if negative { -magnitude } else { magnitude }, i));
    }
    let digits = std::str::from_utf8(&text[..i]).map_err(|_| NotANumber::Malformed)?;
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((value, i)),
        Ok(_) => Err(NotANumber::TooLarge),
        Err(_) => Err(NotANumber::Malformed),
    }
}

/// The number that is the whole text.
pub(crate) fn parse(text: &[u8]) -> Result<f64, NotANumber> {
    match scan(text) {
        Ok((value, length)) if length == text.len() => Ok(value),
        Err(NotANumber::TooLarge) => Err(NotANumber::TooLarge),
        _ => {
            let unsigned = text
                .strip_prefix(b"-")
                .or(text.strip_prefix(b"+"))
                .unwrap_or(text);
            let special: [&[u8]; 3] = [b"nan", b"inf", b"infinity"];
            Err(
                if special.iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
                    NotANumber::NotFinite
                } else {
                    NotANumber::Malformed
                },
            )
        }
    }
}

/// The unsigned integer that starts the text and its length; `None` without a digit or beyond a u64.
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

/// The unsigned integer that is the whole text.
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
            "0",
            "-0",
            "+7",
            "5.",
            ".5",
            "1e-3",
            "-2.5E+2",
            "1e23",
            "9007199254740993",
            "0.1",
            "1e22",
        ] {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(
                parse(text.as_bytes()).unwrap().to_bits(),
                expected.to_bits(),
                "{text}"
            );
        }
        for text in [
            "", ".", "-", "+-1", "1e", "e5", "0x1F", "1_0", "1.2.3", "1 ", "--1", "infin", "1e+",
        ] {
            assert_eq!(parse(text.as_bytes()), Err(NotANumber::Malformed), "{text}");
        }
        for text in ["nan", "-NaN", "Inf", "+infinity"] {
            assert_eq!(parse(text.as_bytes()), Err(NotANumber::NotFinite), "{text}");
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
        assert_eq!(scan(b"1e,"), Ok((1.0, 1)));
    }

    proptest! {
        #[test]
        fn as_the_standard_library(text in r"[+-]?([0-9]{1,22}(\.[0-9]{0,22})?|\.[0-9]{1,22})([eE][+-]?[0-9]{1,3})?") {
            let expected: f64 = text.parse().unwrap();
            match parse(text.as_bytes()) {
                Ok(value) => prop_assert_eq!(value.to_bits(), expected.to_bits()),
                Err(e) => prop_assert!(e == NotANumber::TooLarge && expected.is_infinite()),
            }
        }

        #[test]
        fn shortest_representation_round_trips(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            prop_assert_eq!(parse(format!("{value}").as_bytes()).unwrap().to_bits(), value.to_bits());
            prop_assert_eq!(parse(format!("{value:e}").as_bytes()).unwrap().to_bits(), value.to_bits());
        }
    }
}
