//! The parts that scores of one and of several targets have in common.

/// Most bins of a feature, and number of scores computed side by side.
pub(super) const MOST: usize = 256;

/// Returns the largest score; −∞ if there is none.
#[inline(always)]
pub(super) fn largest(scores: &[f64]) -> f64 {
    const LANES: usize = 8;
    let max = |a: f64, b: f64| if b > a { b } else { a };
    let mut lanes = [f64::NEG_INFINITY; LANES];
    let (chunks, rest) = scores.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = max(lanes[lane], chunk[lane]);
        }
    }
    lanes.iter().chain(rest).copied().fold(f64::NEG_INFINITY, max)
}

/// Returns the largest of the scores, which is `top`, and the position where it is first reached; `None` if it is below
/// `at_least` or −∞.
pub(super) fn first_of(scores: &[f64], top: f64, at_least: f64) -> Option<(f64, usize)> {
    if top == f64::NEG_INFINITY || top < at_least {
        return None;
    }
    let place = scores.iter().position(|&score| score == top)?;
    Some((top, place))
}

/// Returns the largest score and the position where it is first reached; `None` if all are −∞.
pub(super) fn best_of(scores: &[f64]) -> Option<(f64, usize)> {
    first_of(scores, largest(scores), f64::NEG_INFINITY)
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
            let top = largest(&scores);
            prop_assert_eq!(first_of(&scores, top, top), expected);
            prop_assert_eq!(first_of(&scores, top, top.max(0.0) + 1.0), None);
        }
    }
}
