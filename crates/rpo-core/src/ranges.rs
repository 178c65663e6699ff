//! Ranges of parameters.

/// A parameter outside its range: what the errors of the crates that check parameters are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfRange {
    /// The parameter.
    pub name: &'static str,
    /// Its value.
    pub given: String,
    /// What is allowed.
    pub expected: &'static str,
}

/// Refuses the first parameter whose value does not fit; given are name, whether it fits, value, and what is expected.
///
/// ```
/// let refused = rpo_core::check_ranges([
///     ("n_trees", true, "10".to_owned(), "at least 1"),
///     ("share", false, "NaN".to_owned(), "in (0, 1]"),
/// ]);
/// assert_eq!(refused.unwrap_err().name, "share");
/// ```
///
/// # Errors
/// [`OutOfRange`].
pub fn check_ranges<const N: usize>(
    checks: [(&'static str, bool, String, &'static str); N],
) -> Result<(), OutOfRange> {
    match checks.into_iter().find(|(_, fits, _, _)| !fits) {
        None => Ok(()),
        Some((name, _, given, expected)) => Err(OutOfRange {
            name,
            given,
            expected,
        }),
    }
}
