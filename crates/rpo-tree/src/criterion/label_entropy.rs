//! Entropy of several labels.

use super::{Criterion, XLogXTable};
use rpo_core::{CsrView, csr_row};

/// Entropy in bits summed over labels (n x d, CSR of 0 and 1), each as in [`Entropy`](super::Entropy).
///
/// Cost: O(labels of the row) per moved row, O(labels that occur in the node) per score; a label that no row of the
/// node has adds nothing.
#[derive(Debug, Clone)]
pub(crate) struct LabelEntropy<'a> {
    labels: CsrView<'a>,
    weights: &'a [f32],
    whole: bool,
    k_log_k: XLogXTable,
    node: Side,
    moved: Side,
    /// The labels that occur in the node.
    present: Vec<u32>,
}

/// Weight of a set of rows, and by label the weight of those that have it.
#[derive(Debug, Clone)]
struct Side {
    weight: f64,
    ones: Vec<f64>,
}

impl Side {
    fn clear(&mut self, present: &[u32]) {
        self.weight = 0.0;
        present.iter().for_each(|&j| self.ones[j as usize] = 0.0);
    }
}

/// Returns the labels of a row.
#[inline]
fn ones<'l>(labels: &'l CsrView<'_>, row: u32) -> impl Iterator<Item = usize> + 'l {
    let (labels, values) = csr_row(labels, row as usize);
    let ones = labels.iter().zip(values).filter(|(_, v)| **v != 0.0);
    ones.map(|(&j, _)| j as usize)
}

impl<'a> LabelEntropy<'a> {
    /// Takes CSR labels (n x d), where stored ones count as 1 unless their value is 0, and one weight per row (finite,
    /// not negative); rows of weight 0 are never used.
    ///
    /// # Panics
    /// If the number of weights differs from that of rows.
    pub(crate) fn new(labels: CsrView<'a>, weights: &'a [f32], k_log_k: XLogXTable) -> Self {
        assert_eq!(labels.rows(), weights.len(), "one weight per row of labels");
        let side = Side {
            weight: 0.0,
            ones: vec![0.0; labels.cols()],
        };
        Self {
            labels,
            weights,
            whole: weights.iter().all(|w| w.fract() == 0.0),
            k_log_k,
            node: side.clone(),
            moved: side,
            present: Vec::new(),
        }
    }

    /// Returns −n H of a label.
    #[inline]
    fn certainty(&self, n: f64, ones: f64) -> f64 {
        let k_log_k = |k| self.k_log_k.of(k, self.whole);
        k_log_k(ones) + k_log_k(n - ones) - k_log_k(n)
    }
}

impl Criterion for LabelEntropy<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.node.clear(&self.present);
        self.moved.clear(&self.present);
        self.present.clear();
        for &row in rows {
            let weight = f64::from(self.weights[row as usize]);
            self.node.weight += weight;
            for j in ones(&self.labels, row) {
                let ones = &mut self.node.ones[j];
                if *ones == 0.0 {
                    self.present.push(j as u32);
                }
                *ones += weight;
            }
        }
        // Sums run over labels in a fixed order, whatever rows come first.
        self.present.sort_unstable();
    }

    fn is_pure(&self) -> bool {
        let Side { weight, ones } = &self.node;
        self.present.iter().all(|&j| ones[j as usize] == *weight)
    }

    fn clear(&mut self) {
        self.moved.clear(&self.present);
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        let weight = f64::from(self.weights[row as usize]);
        self.moved.weight += weight;
        for j in ones(&self.labels, row) {
            self.moved.ones[j] += weight;
        }
    }

    fn score(&self) -> f64 {
        let (node, moved) = (&self.node, &self.moved);
        let rest = node.weight - moved.weight;
        let labels = self.present.iter().map(|&j| {
            let ones = moved.ones[j as usize];
            self.certainty(moved.weight, ones) + self.certainty(rest, node.ones[j as usize] - ones)
        });
        labels.sum()
    }

    fn gain(&self, score: f64) -> f64 {
        let node = &self.node;
        let unsplit: f64 = self
            .present
            .iter()
            .map(|&j| self.certainty(node.weight, node.ones[j as usize]))
            .sum();
        (score - unsplit).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::WeightedEntropy;
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::MatrixView;

    proptest! {
        /// The entropy of several labels is the sum of their single entropies, node after node.
        #[test]
        fn entropies_of_labels_add_up(
            cells in prop::collection::vec(any::<bool>(), 12 * 3),
            weights in prop::collection::vec((1_u8..4, any::<bool>()), 12),
            nodes in prop::collection::vec((2_u32..12, 1_u32..11), 3),
            fractional in any::<bool>(),
        ) {
            let y = Array2::from_shape_fn((12, 3), |(i, j)| f32::from(u8::from(cells[3 * i + j])));
            let csr = MatrixView::from(&y).to_csr();
            let half = |f: bool| if f && fractional { 0.5 } else { 0.0 };
            let weights: Vec<f32> = weights.into_iter().map(|(w, f)| f32::from(w) + half(f)).collect();
            let table = XLogXTable::up_to(20);
            let mut all = LabelEntropy::new(csr.view(), &weights, table.clone());
            let label = |j: usize| {
                let positive: Vec<bool> = (0..12).map(|i| cells[3 * i + j]).collect();
                WeightedEntropy::new(positive.into_iter(), &weights)
            };
            let mut each = [0, 1, 2].map(label);
            for (n, moved) in nodes {
                let rows: Vec<u32> = (0..n).collect();
                all.start(&rows);
                each.iter_mut().for_each(|e| e.start(&rows));
                prop_assert_eq!(all.is_pure(), each.iter().all(Criterion::is_pure));
                for row in 0..moved.min(n - 1) {
                    all.move_row(row);
                    each.iter_mut().for_each(|e| e.move_row(row));
                }
                let gain: f64 = each.iter().map(|e| e.gain(e.score())).sum();
                prop_assert!((all.gain(all.score()) - gain).abs() < 1e-9);
                all.clear();
                each.iter_mut().for_each(Criterion::clear);
            }
        }
    }
}
