//! The best split of several features.

use super::{Scanned, Split};

/// The best split of a node so far; among equal scores the feature that comes first wins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::histogram) struct Found {
    pub(in crate::histogram) feature: u32,
    pub(in crate::histogram) split: Split,
    /// Rank of the feature among those searched.
    pub(super) order: u64,
}

/// Returns the best of the scores so far and of more scores, whose positions start at `start`; among equal scores the
/// first by `rank` wins.
pub(in crate::histogram) fn first_of_best(
    best: Option<(f64, usize)>,
    scores: &[f64],
    start: usize,
    largest: Option<(f64, usize)>,
    rank: impl Fn(usize) -> u64,
) -> Option<(f64, usize)> {
    let Some((score, first)) = largest.filter(|(score, _)| best.is_none_or(|(b, _)| *score >= b)) else {
        return best;
    };
    let tied = (first..scores.len()).filter(|&i| scores[i] == score);
    let before = best.filter(|(b, _)| *b == score).map(|(_, i)| i);
    let places = before.into_iter().chain(tied.map(|i| start + i));
    places.min_by_key(|&i| rank(i)).map(|i| (score, i))
}

/// Returns the better of two splits.
pub(super) fn better(a: Option<Found>, b: Option<Found>) -> Option<Found> {
    let wins = |a: &Found, b: &Found| {
        a.split.score > b.split.score || (a.split.score == b.split.score && a.order < b.order)
    };
    match (a, b) {
        (Some(a), Some(b)) => Some(if wins(&b, &a) { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// Offers the result of scanning a feature; returns `None` as long as all are constant.
pub(in crate::histogram) fn offer(
    best: Option<Option<Found>>,
    feature: u32,
    order: u64,
    scanned: Scanned,
) -> Option<Option<Found>> {
    match scanned {
        Scanned::Constant => best,
        Scanned::NoSplit => best.or(Some(None)),
        Scanned::Split(split) => Some(better(
            best.flatten(),
            Some(Found {
                feature,
                split,
                order,
            }),
        )),
    }
}
