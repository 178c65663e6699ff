//! Splits of a categorical feature into subsets of its categories.
//!
//! A categorical feature holds codes 0, 1, 2, ... that have no order. A split sends a subset S of them to one child and
//! everything else to the other: K categories have 2^(K−1) − 1 splits, too many to score. For the variance of one
//! target the best one is found by sorting the categories by the mean of the target and scoring the K − 1 prefixes
//! (Fisher, *On grouping for maximum homogeneity*, JASA 53, 1958; Breiman, Friedman, Olshen, Stone, *Classification and
//! regression trees*, 1984, theorem 4.5). For several targets the means are sorted along their first principal
//! direction, and if there are few categories, all subsets are tried.
//!
//! With n_k samples of weight w_k and the sum of targets g_k in category k, W = Σ w_k and G = Σ g_k,
//!
//! ```text
//! d_k = (g_k − w_k G / W) / (w_k + s)          (s: smoothing, which draws rare categories to the middle)
//! v   = the first eigenvector of Σ_k w_k d_k d_kᵀ
//! ```
//!
//! and categories are sorted by v·d_k; among equal ones the smaller code comes first. Categories with fewer samples in
//! the node than a minimum count are not sorted: with missing values and categories that do not occur in the node, in
//! training or later, they form a rest that goes to the better side as a whole.

mod groups;
mod set;

pub(crate) use groups::Groups;
pub use set::CategorySet;

/// Most categories of a feature that splits distinguish; the rarest beyond this number count as missing.
pub const MOST_CATEGORIES: usize = 255;

/// Codes are below this number: larger whole numbers may not be exact in `f32`.
const MOST_CODES: u32 = 1 << 24;

/// Returns the code that a value represents; `None` for a missing value and for values that are not codes.
#[inline]
pub(crate) fn code_of(value: f32) -> Option<u32> {
    let code = value as u32;
    (code as f32 == value && code < MOST_CODES).then_some(code)
}

/// Returns the distinct values of a sorted sequence with their counts.
pub(crate) fn count_distinct(sorted: impl IntoIterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut distinct: Vec<(u32, u32)> = Vec::new();
    for value in sorted {
        match distinct.last_mut() {
            Some((last, count)) if *last == value => *count += 1,
            _ => distinct.push((value, 1)),
        }
    }
    distinct
}

/// Returns the most frequent categories with their numbers of samples, at most `limit`, by increasing code. Among
/// equally frequent ones, those with smaller codes are kept.
pub(crate) fn most_frequent(mut counted: Vec<(u32, u32)>, limit: usize) -> Vec<(u32, u32)> {
    if counted.len() > limit {
        counted.sort_unstable_by_key(|&(code, count)| (std::cmp::Reverse(count), code));
        counted.truncate(limit);
        counted.sort_unstable();
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_whole_numbers() {
        for (value, code) in [
            (0.0, Some(0)),
            (-0.0, Some(0)),
            (255.0, Some(255)),
            (16_777_215.0, Some(16_777_215)),
            (16_777_216.0, None),
            (-1.0, None),
            (0.5, None),
            (f32::NAN, None),
            (f32::INFINITY, None),
        ] {
            assert_eq!(code_of(value), code, "{value}");
        }
    }

    #[test]
    fn the_rarest_are_left_out() {
        let counted = vec![(0, 3), (1, 1), (2, 3), (5, 2), (7, 2)];
        assert_eq!(most_frequent(counted.clone(), 5), counted);
        assert_eq!(most_frequent(counted, 3), [(0, 3), (2, 3), (5, 2)]);
    }
}
