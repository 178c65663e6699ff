//! Summed variance over sparse targets some of which are missing.
//!
//! Targets that are not stored are observed zeros; stored NaN values are missing. The *complete* outputs of a node,
//! observed in all of its rows, share its weight, so that their terms of the score follow from two norms as in
//! [`SparseVariance`](super::SparseVariance); only the incomplete ones are summed one by one.

use super::observed::quotient;
use super::{Criterion, NodeSums, PURITY};
use rpo_core::{CsrView, csr_row};

/// Summed variance over CSR targets (n x d) with stored NaN for missing targets, by the formula of
/// [`ObservedVariance`](super::ObservedVariance).
///
/// Cost: O(stored targets of the row) per moved row, O(incomplete outputs of the node) per score.
#[derive(Debug, Clone)]
pub(crate) struct SparseObservedVariance<'a> {
    targets: CsrView<'a>,
    weights: &'a [f32],
    /// Sums of the complete outputs.
    sums: NodeSums,
    /// Σ c z² over the incomplete outputs.
    incomplete_squares: f64,
    /// Score of the unsplit node.
    unsplit: f64,
    outputs: Vec<Output>,
    /// The outputs that are missing in some row of the node.
    incomplete: Vec<u32>,
    node: Vec<u32>,
    moved: Vec<u32>,
    moved_norm: f64,
    moved_dot_total: f64,
}

/// Sums of an output over the node and over its moved rows.
#[derive(Debug, Clone, Copy, Default)]
struct Output {
    /// Σ c z.
    total: f64,
    moved: f64,
    /// Weight of the rows in which the output is missing.
    missing: f64,
    moved_missing: f64,
    /// True if the output is missing in some row of the node.
    incomplete: bool,
}

impl<'a> SparseObservedVariance<'a> {
    /// Takes CSR targets (n x d, finite or NaN) and one weight per row.
    ///
    /// # Panics
    /// If the number of rows differs from that of weights.
    pub(crate) fn new(targets: CsrView<'a>, weights: &'a [f32]) -> Self {
        assert_eq!(targets.rows(), weights.len(), "one weight per row of targets");
        Self {
            targets,
            weights,
            sums: NodeSums::default(),
            incomplete_squares: 0.0,
            unsplit: 0.0,
            outputs: vec![Output::default(); targets.cols()],
            incomplete: Vec::new(),
            node: Vec::new(),
            moved: Vec::new(),
            moved_norm: 0.0,
            moved_dot_total: 0.0,
        }
    }

    fn row(&self, row: u32) -> (f64, impl Iterator<Item = (usize, f64)> + use<'a>) {
        let (columns, values) = csr_row(&self.targets, row as usize);
        let stored = columns.iter().zip(values);
        (
            f64::from(self.weights[row as usize]),
            stored.map(|(&j, &z)| (j as usize, f64::from(z))),
        )
    }

    /// Clears the state of the previous node.
    fn reset(&mut self) {
        for row in std::mem::take(&mut self.node) {
            for &j in csr_row(&self.targets, row as usize).0 {
                self.outputs[j as usize] = Output::default();
            }
        }
        self.moved.clear();
        self.incomplete.clear();
        self.sums = NodeSums::default();
        (self.incomplete_squares, self.moved_norm, self.moved_dot_total) = (0.0, 0.0, 0.0);
    }
}

impl Criterion for SparseObservedVariance<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.reset();
        self.node.extend_from_slice(rows);
        for &row in rows {
            let (weight, stored) = self.row(row);
            self.sums.weight += weight;
            for (j, _) in stored.filter(|(_, z)| z.is_nan()) {
                let output = &mut self.outputs[j];
                if !output.incomplete {
                    output.incomplete = true;
                    self.incomplete.push(j as u32);
                }
                output.missing += weight;
            }
        }
        for &row in rows {
            let (weight, stored) = self.row(row);
            let (mut squares, mut dot) = (0.0, 0.0);
            for (j, z) in stored.filter(|(_, z)| !z.is_nan()) {
                let output = &mut self.outputs[j];
                if output.incomplete {
                    self.incomplete_squares += weight * z * z;
                } else {
                    squares += z * z;
                    dot += z * output.total;
                }
                output.total += weight * z;
            }
            self.sums.squares += weight * squares;
            self.sums.norm += weight * (2.0 * dot + weight * squares);
        }
        self.unsplit = self.sums.norm / self.sums.weight;
        for &j in &self.incomplete {
            let Output { total, missing, .. } = self.outputs[j as usize];
            self.unsplit += quotient(total, self.sums.weight - missing, self.sums.weight);
        }
    }

    fn is_pure(&self) -> bool {
        let squares = self.sums.squares + self.incomplete_squares;
        squares - self.unsplit <= PURITY * squares
    }

    fn clear(&mut self) {
        for row in self.moved.drain(..) {
            for &j in csr_row(&self.targets, row as usize).0 {
                let output = &mut self.outputs[j as usize];
                (output.moved, output.moved_missing) = (0.0, 0.0);
            }
        }
        self.sums.moved_weight = 0.0;
        (self.moved_norm, self.moved_dot_total) = (0.0, 0.0);
    }

    fn move_row(&mut self, row: u32) {
        let (weight, stored) = self.row(row);
        let (mut squares, mut dot_moved, mut dot_total) = (0.0, 0.0, 0.0);
        for (j, z) in stored {
            let output = &mut self.outputs[j];
            if z.is_nan() {
                output.moved_missing += weight;
                continue;
            }
            if !output.incomplete {
                squares += z * z;
                dot_moved += z * output.moved;
                dot_total += z * output.total;
            }
            output.moved += weight * z;
        }
        self.moved_norm += weight * (2.0 * dot_moved + weight * squares);
        self.moved_dot_total += weight * dot_total;
        self.sums.moved_weight += weight;
        self.moved.push(row);
    }

    fn score(&self) -> f64 {
        let rest_norm = self.sums.norm - 2.0 * self.moved_dot_total + self.moved_norm;
        let NodeSums {
            weight, moved_weight, ..
        } = self.sums;
        let mut score = self.sums.score(self.moved_norm, rest_norm);
        for &j in &self.incomplete {
            let output = &self.outputs[j as usize];
            let moved = moved_weight - output.moved_missing;
            let rest = weight - output.missing - moved;
            score += quotient(output.moved, moved, weight);
            score += quotient(output.total - output.moved, rest, weight);
        }
        score
    }

    fn gain(&self, score: f64) -> f64 {
        (score - self.unsplit).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ObservedVariance, SparseVariance, Variance};
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::MatrixView;

    /// Computes |S| Var(S) by its definition, output by output over the rows in which it is observed.
    fn spread(z: &Array2<f32>, weights: &[f32], rows: &[u32]) -> f64 {
        let of_output = |j: usize| {
            let observed: Vec<(f64, f64)> = rows
                .iter()
                .map(|&i| (f64::from(weights[i as usize]), f64::from(z[[i as usize, j]])))
                .filter(|(_, z)| !z.is_nan())
                .collect();
            let weight: f64 = observed.iter().map(|(c, _)| c).sum();
            let mean = observed.iter().map(|(c, z)| c * z).sum::<f64>() / weight;
            observed.iter().map(|(c, z)| c * (z - mean).powi(2)).sum::<f64>()
        };
        (0..z.ncols()).map(of_output).sum()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + a.abs())
    }

    fn target() -> impl Strategy<Value = f32> {
        prop_oneof![3 => Just(0.0_f32), 2 => Just(1.0), 1 => Just(-2.5), 3 => Just(f32::NAN)]
    }

    proptest! {
        /// The gain is the decrease of the spread of observed targets, in both layouts, node after node.
        #[test]
        fn gain_is_the_decrease_of_the_observed_spread(
            targets in proptest::collection::vec(target(), 40),
            weights in proptest::collection::vec(0.25_f32..3.0, 10),
            cut in 1_usize..9,
        ) {
            let z = Array2::from_shape_vec((10, 4), targets).unwrap();
            let csr = MatrixView::from(&z).to_csr();
            let mut dense = ObservedVariance::new(z.view(), &weights);
            let mut sparse = SparseObservedVariance::new(csr.view(), &weights);
            // An earlier node must leave nothing behind.
            sparse.start(&[1, 4, 6]);
            sparse.move_row(4);
            dense.start(&[1, 4, 6]);
            dense.move_row(4);
            let rows: Vec<u32> = (0..9).collect();
            let whole = spread(&z, &weights, &rows);
            dense.start(&rows);
            sparse.start(&rows);
            prop_assert_eq!(dense.is_pure(), whole < 1e-9);
            prop_assert_eq!(sparse.is_pure(), whole < 1e-9);
            for _ in 0..2 {
                dense.clear();
                sparse.clear();
                for &row in &rows[..cut] {
                    dense.move_row(row);
                    sparse.move_row(row);
                }
                let left = spread(&z, &weights, &rows[..cut]) + spread(&z, &weights, &rows[cut..]);
                let (a, b) = (dense.gain(dense.score()), sparse.gain(sparse.score()));
                prop_assert!(close(a, whole - left), "{} {}", a, whole - left);
                prop_assert!(close(b, whole - left), "{} {}", b, whole - left);
            }
        }

        /// If nothing is missing, the scores are those of the other criteria.
        #[test]
        fn without_missing_targets_nothing_is_new(
            targets in proptest::collection::vec(0_u8..4, 24),
            weights in proptest::collection::vec(1_u8..4, 8),
            cut in 1_usize..8,
        ) {
            let z = Array2::from_shape_vec((8, 3), targets.into_iter().map(f32::from).collect()).unwrap();
            let weights: Vec<f32> = weights.into_iter().map(f32::from).collect();
            let csr = MatrixView::from(&z).to_csr();
            let rows: Vec<u32> = (0..8).collect();
            fn score(mut criterion: impl Criterion, rows: &[u32], cut: usize) -> (bool, f64, f64) {
                criterion.start(rows);
                rows[..cut].iter().for_each(|&row| criterion.move_row(row));
                let score = criterion.score();
                (criterion.is_pure(), score, criterion.gain(score))
            }
            let expected = score(Variance::new(z.view(), &weights), &rows, cut);
            let dense = score(ObservedVariance::new(z.view(), &weights), &rows, cut);
            let sparse = score(SparseObservedVariance::new(csr.view(), &weights), &rows, cut);
            prop_assert_eq!(sparse, score(SparseVariance::new(csr.view(), &weights), &rows, cut));
            prop_assert_eq!(dense.0, expected.0);
            prop_assert!(close(dense.1, expected.1) && close(dense.2, expected.2));
        }
    }
}
