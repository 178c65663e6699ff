//! What a tree of label forests sees: shares without replacement, of labels that are 0 or 1.

use crate::EnsembleError;
use rand::seq::index;
use rayon::prelude::*;
use rpo_core::{CsrMatrix, MatrixView, Seed};
use rpo_tree::check_csr;

/// How many of n a share is: round(share · n), at least 1.
pub(crate) fn size(share: f64, n: usize) -> usize {
    ((share * n as f64).round() as usize).clamp(1, n.max(1))
}

/// `k` of `0..n` without replacement, increasing; all of them, without drawing, if k is n.
pub(crate) fn subset(n: usize, k: usize, seed: Seed) -> Vec<u32> {
    if k >= n {
        return (0..n as u32).collect();
    }
    let drawn = index::sample(&mut seed.rng(), n, k);
    let mut drawn: Vec<u32> = drawn.into_iter().map(|i| i as u32).collect();
    drawn.sort_unstable();
    drawn
}

/// The rows that a tree grows on.
pub(crate) fn rows(tree: Seed, n: usize, k: usize) -> Vec<u32> {
    subset(n, k, tree.purpose("rows"))
}

/// By tree, whether each of n rows is not among the k that the tree grew on.
pub(crate) fn out_of_bag(seeds: &[Seed], n: usize, k: usize) -> Vec<Vec<bool>> {
    let of_tree = |seed: &Seed| {
        let mut out = vec![true; n];
        rows(*seed, n, k)
            .into_iter()
            .for_each(|row| out[row as usize] = false);
        out
    };
    seeds.par_iter().map(of_tree).collect()
}

/// Checks shapes and values; the labels as CSR.
pub(crate) fn check_labels(x: MatrixView<'_>, y: MatrixView<'_>) -> Result<CsrMatrix, EnsembleError> {
    let mismatch = |what, expected, given| {
        Err(EnsembleError::Mismatch {
            what,
            expected,
            given,
        })
    };
    if x.n_rows() != y.n_rows() {
        return mismatch("rows of outputs for the rows of features", x.n_rows(), y.n_rows());
    }
    if y.n_cols() == 0 {
        return mismatch("number of outputs of at least", 1, 0);
    }
    check_csr("features", x)?;
    check_csr("outputs", y)?;
    let mut bad = None;
    for row in 0..y.n_rows() {
        y.for_each_in_row(row, |output, value| {
            if value != 0.0 && value != 1.0 && bad.is_none() {
                bad = Some(EnsembleError::Label {
                    row,
                    output: output as usize,
                    value,
                });
            }
        });
    }
    bad.map_or(Ok(y.to_csr()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_and_never_empty() {
        let sizes = [(0.75, 294), (0.75, 6), (0.1, 3), (1.0, 5), (0.5, 1)].map(|(s, n)| size(s, n));
        assert_eq!(sizes, [221, 5, 1, 5, 1]);
    }

    #[test]
    fn subsets_are_increasing_and_of_the_right_size() {
        for (n, k) in [(10, 7), (10, 10), (1, 1), (1000, 3)] {
            let drawn = subset(n, k, Seed::new(4));
            assert_eq!(drawn.len(), k);
            assert!(drawn.windows(2).all(|w| w[0] < w[1]) && drawn.iter().all(|&i| (i as usize) < n));
        }
        let out = out_of_bag(&[Seed::new(1), Seed::new(2)], 8, 6);
        assert!(out.iter().all(|tree| tree.iter().filter(|o| **o).count() == 2));
        assert_ne!(out[0], out[1]);
    }
}
