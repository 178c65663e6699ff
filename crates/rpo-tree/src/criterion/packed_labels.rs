//! Summed variance over few 0/1 labels, all of them at once.
//!
//! With few labels it costs less to add a row's labels as one short vector of 16-bit numbers than to go from label to
//! label: nothing is looked up, nothing depends on how many labels a row has, and ‖M‖² and M·T come from a handful of
//! vector instructions. The last lane counts weight. All of it is whole numbers, so the scores equal those of the other
//! criteria bit for bit.

use super::grid::are_whole;
use super::{Criterion, NodeSums};
use rpo_core::{CsrView, csr_row};
use wide::{i16x8, i32x4};

/// Lanes of one block.
const WIDTH: usize = 8;

/// One number per label, and in the last lane of all the weight.
type Lanes<const BLOCKS: usize> = [i16x8; BLOCKS];

/// Summed variance over fewer than `8 BLOCKS` 0/1 CSR labels (n x d) with integer weights: cost O(`BLOCKS`) per moved
/// row and per score, and `16 BLOCKS` bytes per row.
#[derive(Debug, Clone)]
pub struct PackedLabelVariance<const BLOCKS: usize> {
    /// Per row: its labels and 1, times its weight.
    rows: Vec<Lanes<BLOCKS>>,
    sums: NodeSums,
    /// Of the node; the lane of the weight is 0.
    total: Lanes<BLOCKS>,
    moved: Lanes<BLOCKS>,
}

impl<const BLOCKS: usize> PackedLabelVariance<BLOCKS> {
    /// Most labels that fit.
    pub const MOST_LABELS: usize = WIDTH * BLOCKS - 1;

    /// CSR labels (n x d) and one weight per row. `None` if there are too many labels, a stored label is not 1, a
    /// weight is not a whole number from 0, or a sum could leave the integers used: use [`LabelCountVariance`](super::LabelCountVariance) or
    /// [`SparseVariance`](super::SparseVariance) then.
    ///
    /// # Panics
    /// If there are not as many rows as weights.
    pub fn new(labels: CsrView<'_>, weights: &[f32]) -> Option<Self> {
        assert_eq!(labels.rows(), weights.len(), "one weight per row of labels");
        let whole = are_whole(weights);
        let total_weight: f64 = weights.iter().map(|&w| f64::from(w)).sum();
        // Every lane stays within the weight of all rows; so many of its squares are summed in 32 bits.
        let small = total_weight <= f64::from(i16::MAX)
            && total_weight * total_weight * (WIDTH * BLOCKS) as f64 <= f64::from(i32::MAX);
        if !whole || !small || labels.cols() > Self::MOST_LABELS || labels.data().iter().any(|&z| z != 1.0) {
            return None;
        }
        let lanes = |(row, &weight): (usize, &f32)| {
            let mut lanes = [[0; WIDTH]; BLOCKS];
            let flat = lanes.as_flattened_mut();
            for &j in csr_row(&labels, row).0 {
                flat[j as usize] = weight as i16;
            }
            flat[WIDTH * BLOCKS - 1] = weight as i16;
            lanes.map(i16x8::new)
        };
        Some(Self {
            rows: weights.iter().enumerate().map(lanes).collect(),
            sums: NodeSums::default(),
            total: [i16x8::ZERO; BLOCKS],
            moved: [i16x8::ZERO; BLOCKS],
        })
    }
}

impl<const BLOCKS: usize> PackedLabelVariance<BLOCKS> {
    /// The labels of rows, with 0 in the lane of the weight, and the weight.
    fn sum_of(&self, rows: &[u32]) -> (Lanes<BLOCKS>, i16) {
        let mut total = [i16x8::ZERO; BLOCKS];
        for &row in rows {
            add(&mut total, &self.rows[row as usize]);
        }
        let weight = std::mem::take(&mut total[BLOCKS - 1].as_array_mut()[WIDTH - 1]);
        (total, weight)
    }

    /// Begins a node of these sums.
    fn begin(&mut self, total: Lanes<BLOCKS>, weight: f64) {
        let counts = total.iter().flat_map(|block| block.to_array());
        self.sums = NodeSums {
            weight,
            squares: counts.map(f64::from).sum(),
            norm: f64::from(dot(&total, &total)),
            moved_weight: 0.0,
        };
        self.total = total;
    }
}

#[inline]
fn add<const BLOCKS: usize>(sums: &mut Lanes<BLOCKS>, row: &Lanes<BLOCKS>) {
    sums.iter_mut().zip(row).for_each(|(sum, row)| *sum += *row);
}

/// Σ a b.
#[inline]
fn dot<const BLOCKS: usize>(a: &Lanes<BLOCKS>, b: &Lanes<BLOCKS>) -> i32 {
    let products = a.iter().zip(b).map(|(a, b)| a.dot(*b));
    products.reduce(|a, b| a + b).map_or(0, i32x4::reduce_add)
}

impl<const BLOCKS: usize> Criterion for PackedLabelVariance<BLOCKS> {
    fn start(&mut self, rows: &[u32]) {
        self.clear();
        let (total, weight) = self.sum_of(rows);
        self.begin(total, f64::from(weight));
    }

    fn take_out(&mut self, rows: &[u32]) -> bool {
        self.clear();
        let (out, weight) = self.sum_of(rows);
        let mut total = self.total;
        total.iter_mut().zip(&out).for_each(|(total, out)| *total -= *out);
        self.begin(total, self.sums.weight - f64::from(weight));
        true
    }

    fn is_pure(&self) -> bool {
        self.sums.is_pure()
    }

    fn clear(&mut self) {
        self.moved = [i16x8::ZERO; BLOCKS];
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        add(&mut self.moved, &self.rows[row as usize]);
    }

    #[inline]
    fn score(&self) -> f64 {
        let weight = i32::from(self.moved[BLOCKS - 1].as_array_ref()[WIDTH - 1]);
        let moved_norm = f64::from(dot(&self.moved, &self.moved) - weight * weight);
        let rest_norm = self.sums.norm - 2.0 * f64::from(dot(&self.moved, &self.total)) + moved_norm;
        NodeSums {
            moved_weight: f64::from(weight),
            ..self.sums
        }
        .score(moved_norm, rest_norm)
    }

    fn gain(&self, score: f64) -> f64 {
        self.sums.gain(score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use rpo_core::MatrixView;

    #[test]
    fn refuses_what_does_not_fit() {
        let check = |n_labels: usize, label: f32, weights: [f32; 2], fits: bool| {
            let mut y = Array2::zeros((2, n_labels));
            y[[1, n_labels - 1]] = label;
            let y = MatrixView::from(&y).to_csr();
            assert_eq!(
                PackedLabelVariance::<1>::new(y.view(), &weights).is_some(),
                fits,
                "{n_labels} labels of {label}, weights {weights:?}"
            );
        };
        let most = PackedLabelVariance::<1>::MOST_LABELS;
        check(most, 1.0, [1.0, 2.0], true);
        check(most + 1, 1.0, [1.0, 2.0], false);
        check(most, 2.0, [1.0, 2.0], false);
        check(most, 1.0, [1.0, 0.5], false);
        check(most, 1.0, [1.0, -1.0], false);
        check(most, 1.0, [1.0, f32::NAN], false);
        // The largest whole number whose square fits eight times into 31 bits is 16,383.
        check(most, 1.0, [16_000.0, 383.0], true);
        check(most, 1.0, [16_000.0, 384.0], false);
    }
}
