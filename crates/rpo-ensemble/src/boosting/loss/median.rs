//! Weighted medians.

/// Returns the two middle values of (value, weight) pairs: the smallest value up to which at least half of the weight
/// lies, and the smallest up to which more than half lies. They are equal unless half of the weight lies on either side
/// of a gap.
///
/// # Panics
/// If there are no pairs.
pub(super) fn weighted_middle(pairs: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let mut pairs: Vec<(f64, f64)> = pairs.collect();
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = pairs.iter().map(|p| p.1).sum::<f64>() / 2.0;
    let (mut below, mut low) = (0.0, None);
    for &(value, weight) in &pairs {
        below += weight;
        if below >= half && low.is_none() {
            low = Some(value);
        }
        if below > half {
            return (low.unwrap_or(value), value);
        }
    }
    // Rounding may keep the sum from exceeding half of the total; the last value is then the upper one.
    let last = pairs.last().expect("a median needs values").0;
    (low.unwrap_or(last), last)
}

/// Returns the weighted median, or the midpoint if two values share it.
///
/// # Panics
/// If there are no values.
pub(super) fn weighted_median(values: &[f64], weights: &[f64]) -> f64 {
    let (low, high) = weighted_middle(values.iter().copied().zip(weights.iter().copied()));
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let check = |pairs: &[(f64, f64)], expected| {
            assert_eq!(weighted_middle(pairs.iter().copied()), expected, "{pairs:?}");
        };
        check(&[(3.0, 1.0)], (3.0, 3.0));
        check(&[(3.0, 1.0), (1.0, 1.0)], (1.0, 3.0));
        check(&[(3.0, 1.0), (1.0, 1.0), (2.0, 1.0)], (2.0, 2.0));
        check(&[(3.0, 5.0), (1.0, 1.0), (2.0, 1.0)], (3.0, 3.0));
        check(&[(3.0, 2.0), (1.0, 1.0), (2.0, 1.0)], (2.0, 3.0));
        check(&[(1.0, 2.0), (1.0, 2.0), (2.0, 3.0)], (1.0, 1.0));
    }
}
