//! Summed variance over few 0/1 labels, all processed at once.
//!
//! With few labels, adding a row's labels as one short vector of 16-bit numbers costs less than going from label to
//! label: nothing is looked up, nothing depends on how many labels a row has, and ‖M‖² and M·T take a handful of vector
//! instructions. The last lane counts weight. All numbers are whole, so the scores equal those of the other criteria
//! bit for bit.
//!
//! If all weights are 1 and the rows to move are marked among a node's rows, each label of a node is stored as one bit
//! per row: the number of marked rows that have it is a bit count, 64 rows at a time.

use super::grid::are_whole;
use super::node_bits::{NodeBits, WIDTH};
use super::side_by_side::{self, SideBySide};
use super::{Criterion, Equals, NodeSums};
use rpo_core::{CsrView, csr_row};
use wide::{i16x8, i32x4};

/// One number per label, and the weight in the very last lane.
type Lanes<const BLOCKS: usize> = [i16x8; BLOCKS];

/// Summed variance over fewer than `8 BLOCKS` 0/1 CSR labels (n x d) with integer weights: cost O(`BLOCKS`) per moved
/// row and per score, and `16 BLOCKS` bytes per row.
#[derive(Debug, Clone)]
pub(crate) struct PackedLabelVariance<const BLOCKS: usize> {
    /// Per row: its labels and 1, times its weight.
    rows: Vec<Lanes<BLOCKS>>,
    sums: NodeSums,
    /// ‖total‖².
    norm: i32,
    /// Sums of the node; the lane of the weight is 0.
    total: Lanes<BLOCKS>,
    moved: Lanes<BLOCKS>,
    /// For weights of 1.
    marked: Option<NodeBits<BLOCKS>>,
}

impl<const BLOCKS: usize> PackedLabelVariance<BLOCKS> {
    /// Largest number of labels that fit.
    pub(crate) const MOST_LABELS: usize = WIDTH * BLOCKS - 1;

    /// Takes CSR labels (n x d) and one weight per row. Returns `None` if there are too many labels, a stored label is
    /// not 1, a weight is not a whole number from 0, or a sum could leave the integers used;
    /// [`LabelCountVariance`](super::LabelCountVariance) or [`SparseVariance`](super::SparseVariance) is used then.
    ///
    /// # Panics
    /// If the number of rows differs from that of weights.
    pub(crate) fn new(labels: CsrView<'_>, weights: &[f32]) -> Option<Self> {
        assert_eq!(labels.rows(), weights.len(), "one weight per row of labels");
        let whole = are_whole(weights);
        let total_weight: f64 = weights.iter().map(|&w| f64::from(w)).sum();
        // Every lane is at most the weight of all rows; the squares of all lanes are summed in 32 bits.
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
        let rows: Vec<Lanes<BLOCKS>> = weights.iter().enumerate().map(lanes).collect();
        let are_ones = weights.iter().all(|w| *w == 1.0);
        Some(Self {
            marked: are_ones.then(|| NodeBits::new(&rows)),
            rows,
            sums: NodeSums::default(),
            norm: 0,
            total: [i16x8::ZERO; BLOCKS],
            moved: [i16x8::ZERO; BLOCKS],
        })
    }
}

impl<const BLOCKS: usize> PackedLabelVariance<BLOCKS> {
    /// Sums the labels of rows, with 0 in the lane of the weight; returns the sums and the weight.
    fn sum_of(&self, rows: &[u32]) -> (Lanes<BLOCKS>, i16) {
        let mut total = [i16x8::ZERO; BLOCKS];
        for &row in rows {
            add(&mut total, &self.rows[row as usize]);
        }
        let weight = std::mem::take(&mut total[BLOCKS - 1].as_array_mut()[WIDTH - 1]);
        (total, weight)
    }

    /// Returns the weight of the moved rows, and the squared norms of the sums of the moved rows and of the other rows.
    #[inline(always)]
    fn moved_sums(&self) -> [i32; 3] {
        let weight = i32::from(self.moved[BLOCKS - 1].as_array_ref()[WIDTH - 1]);
        let moved_norm = dot(&self.moved, &self.moved) - weight * weight;
        // Twice the product may overflow 32 bits; the result does not.
        let twice = dot(&self.moved, &self.total).wrapping_mul(2);
        let rest_norm = self.norm.wrapping_sub(twice).wrapping_add(moved_norm);
        [weight, moved_norm, rest_norm]
    }

    /// Starts a node with these sums.
    fn begin(&mut self, total: Lanes<BLOCKS>, weight: f64) {
        let counts = total.iter().flat_map(|block| block.to_array());
        self.norm = dot(&total, &total);
        self.sums = NodeSums {
            weight,
            squares: counts.map(f64::from).sum(),
            norm: f64::from(self.norm),
            moved_weight: 0.0,
        };
        self.total = total;
    }
}

#[inline]
fn add<const BLOCKS: usize>(sums: &mut Lanes<BLOCKS>, row: &Lanes<BLOCKS>) {
    sums.iter_mut().zip(row).for_each(|(sum, row)| *sum += *row);
}

/// Computes Σ a b.
#[inline]
fn dot<const BLOCKS: usize>(a: &Lanes<BLOCKS>, b: &Lanes<BLOCKS>) -> i32 {
    let products = a.iter().zip(b).map(|(a, b)| a.dot(*b));
    products.reduce(|a, b| a + b).map_or(0, i32x4::reduce_add)
}

impl<const BLOCKS: usize> SideBySide for PackedLabelVariance<BLOCKS> {
    type Number = i32;

    #[inline(always)]
    fn move_and_sum(&mut self, row: u32, _is_scored: bool) -> [i32; 3] {
        self.move_row(row);
        self.moved_sums()
    }
}

impl<const BLOCKS: usize> Criterion for PackedLabelVariance<BLOCKS> {
    fn start(&mut self, rows: &[u32]) {
        self.clear();
        let (total, weight) = self.sum_of(rows);
        self.begin(total, f64::from(weight));
        if let Some(marked) = &mut self.marked {
            marked.begin(rows.len());
        }
    }

    fn take_out(&mut self, rows: &[u32]) -> bool {
        self.clear();
        let (out, weight) = self.sum_of(rows);
        let mut total = self.total;
        total.iter_mut().zip(&out).for_each(|(total, out)| *total -= *out);
        self.begin(total, self.sums.weight - f64::from(weight));
        if let Some(marked) = &mut self.marked {
            marked.begin(marked.n_rows() - rows.len());
        }
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

    #[inline(always)]
    fn move_marked(&mut self, rows: &[u32], marks: &[u64]) -> bool {
        let Some(marked) = self
            .marked
            .as_mut()
            .filter(|marked| marked.n_rows() == rows.len())
        else {
            return false;
        };
        let counts = marked.count(rows, marks, &self.rows);
        add(&mut self.moved, &counts.map(i16x8::new));
        true
    }

    fn is_exact(&self) -> bool {
        true
    }

    #[inline(always)]
    fn best_of(
        &mut self,
        n: usize,
        row: impl Fn(usize) -> (u32, bool),
        equals: Equals,
    ) -> Option<(f64, usize)> {
        side_by_side::best_of(self, self.sums, n, row, equals)
    }

    #[inline(always)]
    fn score(&self) -> f64 {
        let [weight, moved_norm, rest_norm] = self.moved_sums().map(f64::from);
        NodeSums {
            moved_weight: weight,
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
    use proptest::prelude::*;
    use rpo_core::MatrixView;

    /// Scores one split after another.
    #[derive(Clone)]
    struct OneByOne(PackedLabelVariance<2>);

    impl Criterion for OneByOne {
        fn start(&mut self, rows: &[u32]) {
            self.0.start(rows);
        }
        fn is_pure(&self) -> bool {
            self.0.is_pure()
        }
        fn clear(&mut self) {
            self.0.clear();
        }
        fn move_row(&mut self, row: u32) {
            self.0.move_row(row);
        }
        fn score(&self) -> f64 {
            self.0.score()
        }
        fn gain(&self, score: f64) -> f64 {
            self.0.gain(score)
        }
    }

    proptest! {
        #[test]
        fn splits_are_scored_side_by_side_as_one_by_one(
            rows in prop::collection::vec((0_u32..1 << 12, 1_u8..4, any::<bool>()), 2..40),
            few_labels in any::<bool>(),
        ) {
            let label = |labels: u32, j: usize| {
                // Few labels tie often.
                let labels = if few_labels { labels & 1 } else { labels };
                (labels >> j & 1) as f32
            };
            let y = Array2::from_shape_fn((rows.len(), 12), |(i, j)| label(rows[i].0, j));
            let weights: Vec<f32> = rows.iter().map(|row| row.1.into()).collect();
            let labels = MatrixView::from(&y).to_csr();
            let mut packed = PackedLabelVariance::new(labels.view(), &weights).unwrap();
            packed.start(&(0..rows.len() as u32).collect::<Vec<_>>());
            for equals in [Equals::First, Equals::Last] {
                let row = |i: usize| (i as u32, rows[i].2);
                packed.clear();
                let expected = OneByOne(packed.clone()).best_of(rows.len() - 1, row, equals);
                prop_assert_eq!(packed.best_of(rows.len() - 1, row, equals), expected);
            }
        }
    }

    proptest! {
        #[test]
        fn marked_rows_are_moved_as_one_by_one(
            rows in prop::collection::vec((0_u32..1 << 12, any::<bool>()), 2..200),
            n_out in 0_usize..2,
        ) {
            let y = Array2::from_shape_fn((rows.len(), 12), |(i, j)| (rows[i].0 >> j & 1) as f32);
            let mut packed = PackedLabelVariance::<2>::new(MatrixView::from(&y).to_csr().view(), &vec![1.0; rows.len()]).unwrap();
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            let (out, node) = all.split_at(n_out);
            packed.start(&all);
            packed.take_out(out);
            let is_marked = |row: u32| rows[row as usize].1;
            let marks: Vec<u64> = node.chunks(64).map(|rows| (0..).zip(rows).map(|(i, &row)| u64::from(is_marked(row)) << i).sum()).collect();
            let mut expected = packed.clone();
            node.iter().filter(|row| is_marked(**row)).for_each(|&row| expected.move_row(row));
            prop_assert!(packed.move_marked(node, &marks));
            prop_assert_eq!(packed.moved, expected.moved);
            // Some of the node's rows have other bits.
            prop_assert!(!packed.move_marked(&node[1..], &marks));
            let mut weighted = PackedLabelVariance::<2>::new(MatrixView::from(&y).to_csr().view(), &vec![2.0; rows.len()]).unwrap();
            weighted.start(&all);
            prop_assert!(!weighted.move_marked(&all, &marks));
        }
    }

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
