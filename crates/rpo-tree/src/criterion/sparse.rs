//! Summed variance over sparse targets of any values.
//!
//! With M the sums over the moved rows and T those over the node, moving a row of weight c with targets z
//! adds
//!
//! ```text
//! c (2 M·z + c ‖z‖²)  to ‖M‖²,     c T·z  to M·T,     and     ‖T − M‖² = ‖T‖² − 2 M·T + ‖M‖².
//! ```
//!
//! So a row costs its own stored targets, not the number of outputs.

use super::{Criterion, NodeSums};
use rpo_core::{CsrView, csr_row};

/// Summed variance over CSR targets (n x d): cost O(stored targets of the row) per moved row, O(1) per score.
///
/// For 0/1 targets and integer weights [`LabelCountVariance`](super::LabelCountVariance) gives the same scores in less
/// time.
#[derive(Debug, Clone)]
pub(crate) struct SparseVariance<'a> {
    targets: CsrView<'a>,
    weights: &'a [f32],
    sums: NodeSums,
    /// Per target: its sum over the node and over the moved rows, side by side as they are read together.
    counts: Vec<[f64; 2]>,
    node: Vec<u32>,
    moved: Vec<u32>,
    moved_norm: f64,
    moved_dot_total: f64,
}

impl<'a> SparseVariance<'a> {
    /// Takes CSR targets (n x d) and one weight per row.
    ///
    /// # Panics
    /// If the number of rows differs from that of weights.
    pub(crate) fn new(targets: CsrView<'a>, weights: &'a [f32]) -> Self {
        assert_eq!(targets.rows(), weights.len(), "one weight per row of targets");
        Self {
            targets,
            weights,
            sums: NodeSums::default(),
            counts: vec![[0.0; 2]; targets.cols()],
            node: Vec::new(),
            moved: Vec::new(),
            moved_norm: 0.0,
            moved_dot_total: 0.0,
        }
    }

    /// Zeroes one of the sums of the targets that these rows hold.
    fn zero(counts: &mut [[f64; 2]], which: usize, targets: &CsrView<'_>, rows: &[u32]) {
        for &row in rows {
            for &j in csr_row(targets, row as usize).0 {
                counts[j as usize][which] = 0.0;
            }
        }
    }
}

impl Criterion for SparseVariance<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.clear();
        Self::zero(&mut self.counts, 0, &self.targets, &self.node);
        self.node.clear();
        self.node.extend_from_slice(rows);
        self.sums = NodeSums::default();
        for &row in rows {
            let weight = f64::from(self.weights[row as usize]);
            let (columns, values) = csr_row(&self.targets, row as usize);
            let (mut squares, mut dot) = (0.0, 0.0);
            for (&j, &z) in columns.iter().zip(values) {
                let (z, total) = (f64::from(z), &mut self.counts[j as usize][0]);
                squares += z * z;
                dot += z * *total;
                *total += weight * z;
            }
            self.sums.squares += weight * squares;
            self.sums.norm += weight * (2.0 * dot + weight * squares);
            self.sums.weight += weight;
        }
    }

    fn is_pure(&self) -> bool {
        self.sums.is_pure()
    }

    fn clear(&mut self) {
        Self::zero(&mut self.counts, 1, &self.targets, &self.moved);
        self.moved.clear();
        self.sums.moved_weight = 0.0;
        self.moved_norm = 0.0;
        self.moved_dot_total = 0.0;
    }

    fn move_row(&mut self, row: u32) {
        let weight = f64::from(self.weights[row as usize]);
        let (columns, values) = csr_row(&self.targets, row as usize);
        let (mut squares, mut dot_moved, mut dot_total) = (0.0, 0.0, 0.0);
        for (&j, &z) in columns.iter().zip(values) {
            let (z, [total, moved]) = (f64::from(z), &mut self.counts[j as usize]);
            squares += z * z;
            dot_moved += z * *moved;
            dot_total += z * *total;
            *moved += weight * z;
        }
        self.moved_norm += weight * (2.0 * dot_moved + weight * squares);
        self.moved_dot_total += weight * dot_total;
        self.sums.moved_weight += weight;
        self.moved.push(row);
    }

    fn score(&self) -> f64 {
        let rest_norm = self.sums.norm - 2.0 * self.moved_dot_total + self.moved_norm;
        self.sums.score(self.moved_norm, rest_norm)
    }

    fn gain(&self, score: f64) -> f64 {
        self.sums.gain(score)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LabelCountVariance, PackedLabelVariance, Variance};
    use super::*;
    use ndarray::{Array2, Axis};
    use proptest::prelude::*;
    use rpo_core::MatrixView;

    /// Computes Var(S) by its definition.
    fn variance(z: &Array2<f32>, weights: &[f32], rows: &[u32]) -> f64 {
        let total: f64 = rows.iter().map(|&i| f64::from(weights[i as usize])).sum();
        (0..z.ncols())
            .map(|j| {
                let value = |i: u32| f64::from(z[[i as usize, j]]);
                let weight = |i: u32| f64::from(weights[i as usize]) / total;
                let mean: f64 = rows.iter().map(|&i| weight(i) * value(i)).sum();
                rows.iter()
                    .map(|&i| weight(i) * (value(i) - mean).powi(2))
                    .sum::<f64>()
            })
            .sum()
    }

    /// Returns the scores, with their gains, as rows are moved one by one.
    fn scores(criterion: &mut impl Criterion, rows: &[u32]) -> Vec<(u64, u64)> {
        criterion.clear();
        let moved = rows.split_last().map_or(rows, |(_, others)| others);
        let score = |&row: &u32| {
            criterion.move_row(row);
            let score = criterion.score();
            (score.to_bits(), criterion.gain(score).to_bits())
        };
        moved.iter().map(score).collect()
    }

    /// Removing rows gives the same state, bit for bit, as starting without them.
    fn check_rest(criterion: &impl Criterion, rows: &[u32], n_out: usize) -> Result<(), TestCaseError> {
        let (mut rest, mut fresh) = (criterion.clone(), criterion.clone());
        rest.start(rows);
        rest.move_row(rows[0]);
        prop_assert!(rest.take_out(&rows[..n_out]));
        fresh.start(&rows[n_out..]);
        prop_assert_eq!(rest.is_pure(), fresh.is_pure());
        prop_assert_eq!(
            scores(&mut rest, &rows[n_out..]),
            scores(&mut fresh, &rows[n_out..])
        );
        // Nothing is left behind in the next node.
        rest.start(rows);
        fresh.start(rows);
        prop_assert_eq!(scores(&mut rest, rows), scores(&mut fresh, rows));
        Ok(())
    }

    proptest! {
        /// The gain is |S| Var(S) - |S_l| Var(S_l) - |S_r| Var(S_r), in both layouts, and for 0/1 targets
        /// with integer weights the layouts agree bit for bit.
        #[test]
        fn gain_is_the_decrease_of_variance(
            labels in proptest::collection::vec(0_u8..2, 24),
            weights in proptest::collection::vec(1_u8..4, 8),
            cut in 1_usize..8,
        ) {
            let z = Array2::from_shape_vec((8, 3), labels.into_iter().map(f32::from).collect()).unwrap();
            let weights: Vec<f32> = weights.into_iter().map(f32::from).collect();
            let csr = MatrixView::from(&z).to_csr();
            let rows: Vec<u32> = (0..8).collect();
            let mut dense = Variance::new(z.view(), &weights);
            let mut sparse = SparseVariance::new(csr.view(), &weights);
            let mut counts = LabelCountVariance::of(csr.view(), &weights).unwrap();
            let mut lanes = PackedLabelVariance::<1>::new(csr.view(), &weights).unwrap();
            let mut wide = PackedLabelVariance::<4>::new(csr.view(), &weights).unwrap();
            check_rest(&dense, &rows, cut)?;
            check_rest(&counts, &rows, cut)?;
            check_rest(&lanes, &rows, cut)?;
            check_rest(&wide, &rows, cut)?;
            // An earlier node must not leave its counts behind.
            sparse.start(&rows[2..5]);
            sparse.move_row(3);
            lanes.start(&rows[2..5]);
            lanes.move_row(3);
            let weigh = |rows: &[u32]| rows.iter().map(|&i| f64::from(weights[i as usize])).sum::<f64>();
            let impurity = |rows: &[u32]| weigh(rows) * variance(&z, &weights, rows);
            let expected = impurity(&rows) - impurity(&rows[..cut]) - impurity(&rows[cut..]);
            dense.start(&rows);
            sparse.start(&rows);
            counts.start(&rows);
            lanes.start(&rows);
            wide.start(&rows);
            prop_assert_eq!(dense.is_pure(), z.axis_iter(Axis(0)).all(|r| r == z.row(0)));
            prop_assert_eq!(dense.is_pure(), sparse.is_pure());
            for &row in &rows[..cut] {
                dense.move_row(row);
                sparse.move_row(row);
                counts.move_row(row);
                lanes.move_row(row);
                wide.move_row(row);
            }
            let score = dense.score();
            prop_assert_eq!(score.to_bits(), sparse.score().to_bits());
            prop_assert_eq!(score.to_bits(), counts.score().to_bits());
            prop_assert_eq!(score.to_bits(), lanes.score().to_bits());
            prop_assert_eq!(score.to_bits(), wide.score().to_bits());
            prop_assert_eq!(dense.is_pure(), counts.is_pure());
            prop_assert_eq!(dense.is_pure(), lanes.is_pure());
            prop_assert_eq!(dense.is_pure(), wide.is_pure());
            prop_assert!((dense.gain(score) - expected).abs() <= 1e-10 * (1.0 + expected));
            for gain in [sparse.gain(score), counts.gain(score), lanes.gain(score), wide.gain(score)] {
                prop_assert_eq!(dense.gain(score).to_bits(), gain.to_bits());
            }
        }
    }
}
