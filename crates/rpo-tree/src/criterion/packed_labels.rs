//! Summed variance over few 0/1 labels, all of them at once.
//!
//! With few labels it costs less to add a row's labels as one short vector of 16-bit numbers than to go from label to
//! label: nothing is looked up, nothing depends on how many labels a row has, and ‖M‖² and M·T come from a handful of
//! vector instructions. The last lane counts weight. All of it is whole numbers, so the scores equal those of the other
//! criteria bit for bit.

use super::grid::are_whole;
use super::{Criterion, Equals, NodeSums};
use rpo_core::{CsrView, csr_row};
use wide::{i16x8, i32x4};

/// Lanes of one block.
const WIDTH: usize = 8;

/// Splits that are scored side by side.
const TOGETHER: usize = 4;

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

    /// Moves `n` rows, at most [`TOGETHER`], after `n_before`.
    #[inline(always)]
    fn score_some(
        &mut self,
        n: usize,
        row: impl Fn(usize) -> (u32, bool),
        n_before: usize,
        best: &mut SideBySide,
    ) {
        let (mut norms, mut products, mut weights) = ([0; TOGETHER], [0; TOGETHER], [0; TOGETHER]);
        let mut is_scored = [false; TOGETHER];
        for lane in 0..n {
            let (row, scored) = row(lane);
            add(&mut self.moved, &self.rows[row as usize]);
            norms[lane] = dot(&self.moved, &self.moved);
            products[lane] = dot(&self.moved, &self.total);
            weights[lane] = i32::from(self.moved[BLOCKS - 1].as_array_ref()[WIDTH - 1]);
            is_scored[lane] = scored;
        }
        let mut scores = [0.0; TOGETHER];
        for lane in 0..TOGETHER {
            let weight = f64::from(weights[lane]);
            let moved_norm = f64::from(norms[lane] - weights[lane] * weights[lane]);
            let rest_norm = self.sums.norm - 2.0 * f64::from(products[lane]) + moved_norm;
            let sums = NodeSums {
                moved_weight: weight,
                ..self.sums
            };
            scores[lane] = sums.score(moved_norm, rest_norm);
        }
        best.offer(scores, is_scored, n_before);
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

/// The best of scores that come side by side: nothing is behind a branch, as which is the best so far cannot be predicted.
struct SideBySide {
    equals: Equals,
    scores: [f64; TOGETHER],
    n: [u64; TOGETHER],
}

impl SideBySide {
    fn new(equals: Equals) -> Self {
        Self {
            equals,
            scores: [f64::NEG_INFINITY; TOGETHER],
            n: [0; TOGETHER],
        }
    }

    /// Takes in the scores after 1, 2, ... more rows than `n_before`, those that are marked.
    #[inline(always)]
    fn offer(&mut self, scores: [f64; TOGETHER], is_scored: [bool; TOGETHER], n_before: usize) {
        for lane in 0..TOGETHER {
            // All bits set are no number.
            let unscored = u64::from(is_scored[lane]).wrapping_sub(1);
            let score = f64::from_bits(scores[lane].to_bits() | unscored);
            let is_better = self.equals.improves(score, self.scores[lane]);
            let n = (n_before + lane + 1) as u64;
            self.scores[lane] = if is_better { score } else { self.scores[lane] };
            self.n[lane] = if is_better { n } else { self.n[lane] };
        }
    }

    /// The best score and the number of rows after which it came, if there is one.
    #[inline(always)]
    fn best(self) -> Option<(f64, usize)> {
        let score = self.scores.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let lanes = self.scores.into_iter().zip(self.n);
        let n = match self.equals {
            Equals::First => lanes.fold(u64::MAX, |first, (s, n)| {
                first.min(if s == score { n } else { u64::MAX })
            }),
            Equals::Last => lanes.fold(0, |last, (s, n)| last.max(if s == score { n } else { 0 })),
        };
        (n > 0).then_some((score, n as usize))
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

    fn is_exact(&self) -> bool {
        true
    }

    /// Scores several splits side by side, and none behind a branch: which score is the best so far cannot be predicted.
    #[inline(always)]
    fn best_of(
        &mut self,
        n: usize,
        row: impl Fn(usize) -> (u32, bool),
        equals: Equals,
    ) -> Option<(f64, usize)> {
        let mut best = SideBySide::new(equals);
        for first in (0..n).step_by(TOGETHER) {
            // A number of rounds that is known is unrolled.
            if first + TOGETHER <= n {
                self.score_some(TOGETHER, |i| row(first + i), first, &mut best);
            } else {
                self.score_some(n - first, |i| row(first + i), first, &mut best);
            }
        }
        best.best()
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
    use proptest::prelude::*;
    use rpo_core::MatrixView;

    /// Scores one split after the other.
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
