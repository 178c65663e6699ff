//! Values by which samples are kept together or in order.

/// Returns the first sample, from 0, that has no value.
pub(crate) fn first_without(values: &[String]) -> Option<usize> {
    values
        .iter()
        .position(|value| matches!(value.as_str(), "" | "NA"))
}
