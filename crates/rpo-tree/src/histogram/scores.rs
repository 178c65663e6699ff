//! The parts that scores of one and of several targets have in common.

/// Most bins of a feature, and number of scores computed side by side.
pub(super) const MOST: usize = 256;

/// Returns the largest score and the position where it is first reached; `None` if all are −∞.
pub(super) fn best_of(scores: &[f64]) -> Option<(f64, usize)> {
    const LANES: usize = 8;
    let max = |a: f64, b: f64| if b > a { b } else { a };
    let mut lanes = [f64::NEG_INFINITY; LANES];
    let (chunks, rest) = scores.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = max(lanes[lane], chunk[lane]);
        }
    }
    let top = lanes.iter().chain(rest).copied().fold(f64::NEG_INFINITY, max);
    if top == f64::NEG_INFINITY {
        return None;
    }
    let place = scores.iter().position(|&score| score == top)?;
    Some((top, place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_of_the_largest_is_found(scores in prop::collection::vec(0_u8..6, 0..40)) {
            let scores: Vec<f64> = scores
                .into_iter()
                .map(|v| if v == 0 { f64::NEG_INFINITY } else { f64::from(v) })
                .collect();
            let mut expected: Option<(f64, usize)> = None;
            for (i, &score) in scores.iter().enumerate() {
                if score > expected.map_or(f64::NEG_INFINITY, |(best, _)| best) {
                    expected = Some((score, i));
                }
            }
            prop_assert_eq!(best_of(&scores), expected);
        }
    }
}
