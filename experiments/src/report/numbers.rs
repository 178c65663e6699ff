//! Formats numbers.

use crate::analyse::results::Summary;

/// Formats a mean and its deviation.
pub(super) fn show(summary: Summary) -> String {
    // Scores have three decimals, as the paper prints them.
    let decimals = if summary.mean.abs() < 10.0 { 3 } else { 1 };
    match summary.std {
        Some(std) => format!("{:.decimals$} ± {std:.decimals$}", summary.mean),
        None => format!("{:.decimals$}", summary.mean),
    }
}

/// A number formatted with three significant digits, but at most three decimals.
pub(super) struct Significant(pub(super) f64);

impl std::fmt::Display for Significant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decimals = match self.0.abs() {
            size if size >= 100.0 => 0,
            size if size >= 10.0 => 1,
            size if size >= 1.0 => 2,
            _ => 3,
        };
        // A difference that rounds to 0 is shown without a sign.
        let zero = self.0.abs() < 0.5 * 0.1_f64.powi(decimals as i32);
        if zero {
            write!(f, "{:.decimals$}", 0.0)
        } else if f.sign_plus() {
            write!(f, "{:+.decimals$}", self.0)
        } else {
            write!(f, "{:.decimals$}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_they_deserve() {
        let text = |v: f64| (format!("{}", Significant(v)), format!("{:+}", Significant(v)));
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(text(0.12345), pair("0.123", "+0.123"));
        assert_eq!(text(-0.0004), pair("0.000", "0.000"));
        assert_eq!(text(3.456), pair("3.46", "+3.46"));
        assert_eq!(text(-12.34), pair("-12.3", "-12.3"));
        assert_eq!(text(3348.4), pair("3348", "+3348"));
    }
}
