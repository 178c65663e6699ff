//! Medians of sparse columns.

/// Returns the median of some values, which it sorts, and `n_zeros` zeros, the mean of the middle two if their number is
/// even; `None` without any. No value is NaN.
pub fn median(values: &mut [f32], n_zeros: usize) -> Option<f64> {
    values.sort_unstable_by(f32::total_cmp);
    let n_negative = values.partition_point(|&v| v < 0.0);
    let at = |rank: usize| match rank {
        rank if rank < n_negative => f64::from(values[rank]),
        rank if rank < n_negative + n_zeros => 0.0,
        rank => f64::from(values[rank - n_zeros]),
    };
    let last = (values.len() + n_zeros).checked_sub(1)?;
    Some(at(last / 2).midpoint(at(last.div_ceil(2))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hand_computed() {
        for (values, n_zeros, expected) in [
            (vec![], 0, None),
            (vec![], 2, Some(0.0)),
            (vec![3.0], 0, Some(3.0)),
            (vec![5.0, -2.0], 1, Some(0.0)),
            (vec![-2.0, 5.0, -1.0], 1, Some(-0.5)),
            (vec![2.0, 1.0], 2, Some(0.5)),
        ] {
            assert_eq!(median(&mut values.clone(), n_zeros), expected, "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn zeros_may_be_counted_or_listed(values in proptest::collection::vec(-3_i8..4, 1..20)) {
            let mut all: Vec<f32> = values.iter().map(|&v| f32::from(v)).collect();
            let mut stored: Vec<f32> = all.iter().copied().filter(|v| *v != 0.0).collect();
            let n_zeros = all.len() - stored.len();
            let found = median(&mut stored, n_zeros);
            all.sort_unstable_by(f32::total_cmp);
            let n = all.len();
            prop_assert_eq!(found, Some(f64::from(all[(n - 1) / 2] + all[n / 2]) / 2.0));
            prop_assert_eq!(found, median(&mut all, 0));
        }
    }
}
