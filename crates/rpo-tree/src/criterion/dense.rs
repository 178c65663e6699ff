//! Summed variance over dense targets.

use super::grid::{Parts, parts, sums_are_exact};
use super::side_by_side::{self, SideBySide};
use super::{Criterion, Equals, NodeSums, SplitBounds, bounds};
use ndarray::ArrayView2;
use rpo_core::vectorized;
use std::borrow::Cow;

/// Summed variance over dense targets (n x m), projected or not; see the [module](crate::criterion).
///
/// Cost: O(m) per moved row and per score. Sums are kept in `f64`. If they are exact, as those of [rounded
/// targets](super::round_for_exact_sums) times whole weights, the sums of the larger child of a node are computed as
/// the node's sums minus those of the smaller child.
#[derive(Debug, Clone)]
pub struct Variance<'a> {
    targets: Cow<'a, [f32]>,
    n_targets: usize,
    weights: Cow<'a, [f32]>,
    /// True if sums are exact.
    exact: bool,
    /// Per row: ‖z‖², in two parts whose sums are exact if those of the targets are.
    squares: Vec<Parts>,
    squares_total: Parts,
    sums: NodeSums,
    total: Vec<f64>,
    moved: Vec<f64>,
    /// Rows to be added to bins next.
    block: Vec<f64>,
}

impl<'a> Variance<'a> {
    /// Takes targets (n x m, contiguous rows, finite) and one weight per row (finite, not negative); rows of weight 0
    /// are never used. Values are not checked here: non-finite values make scores NaN, and no split is made.
    ///
    /// # Panics
    /// If the targets are not contiguous in row order or their number differs from that of weights.
    pub fn new(targets: ArrayView2<'a, f32>, weights: &'a [f32]) -> Self {
        assert_eq!(targets.nrows(), weights.len(), "one weight per row of targets");
        let n_targets = targets.ncols();
        let targets = targets.to_slice().expect("targets are contiguous in row order");
        let rows = targets.chunks_exact(n_targets.max(1)).zip(weights);
        let mut squares = vec![0.0; weights.len()];
        vectorized(
            #[inline(always)]
            || {
                for (square, (row, _)) in squares
                    .iter_mut()
                    .zip(rows)
                    .filter(|(_, (_, weight))| **weight != 0.0)
                {
                    *square = square_norm(row);
                }
            },
        );
        let exact = sums_are_exact(targets, weights);
        Self {
            targets: targets.into(),
            n_targets,
            weights: weights.into(),
            exact,
            squares: if exact {
                parts(&squares, weights)
            } else {
                squares.into_iter().map(|square| [square, 0.0]).collect()
            },
            squares_total: Parts::default(),
            sums: NodeSums::default(),
            total: vec![0.0; n_targets],
            moved: vec![0.0; n_targets],
            block: Vec::new(),
        }
    }
}

#[inline(always)]
fn target_row(targets: &[f32], n_targets: usize, row: u32) -> &[f32] {
    &targets[row as usize * n_targets..][..n_targets]
}

/// Smallest number of targets for which reading ahead helps: fewer fit into a core's cache.
const LARGE: usize = 1 << 18;

/// Number of targets in a cache line.
const LINE: usize = 16;

/// Number of rows that are added to the bins of one feature after another while they are in a core's nearest cache.
const BLOCK: usize = 128;

/// Most targets for which splits are bounded: the sums of all bins of a feature have to stay in a core's cache.
const MOST_BOUNDED: usize = 64;

/// Most sums of all bins of all features together (8 MiB), to limit the memory of searches of very many features.
const MOST_SUMS: usize = 1 << 20;

/// Number of rows added in one pass over the sums.
const TOGETHER: usize = 4;

/// Adds rows times their weights and a sign in their order, several in one pass over the sums. One pass costs less than
/// a pass for each row and loads the rows from memory at the same time.
#[inline(always)]
fn add_rows(
    sums: &mut [f64],
    targets: &[f32],
    (weights, sign): (&[f32], f64),
    mut rows: impl ExactSizeIterator<Item = u32>,
) {
    let n_targets = sums.len();
    let weight = |row: u32| sign * f64::from(weights[row as usize]);
    while rows.len() >= TOGETHER {
        let rows: [u32; TOGETHER] = std::array::from_fn(|_| rows.next().expect("there are as many"));
        let [a, b, c, d] = rows.map(|row| target_row(targets, n_targets, row));
        let w = rows.map(weight);
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = *sum
                + w[0] * f64::from(a[j])
                + w[1] * f64::from(b[j])
                + w[2] * f64::from(c[j])
                + w[3] * f64::from(d[j]);
        }
    }
    for row in rows {
        add_scaled(sums, weight(row), target_row(targets, n_targets, row));
    }
}

#[inline(always)]
fn add_scaled(sums: &mut [f64], weight: f64, z: &[f32]) {
    let (sum_blocks, sums) = sums.as_chunks_mut::<LANES>();
    let (z_blocks, z) = z.as_chunks::<LANES>();
    for (sums, z) in sum_blocks.iter_mut().zip(z_blocks) {
        for (sum, &z) in sums.iter_mut().zip(z) {
            *sum += weight * f64::from(z);
        }
    }
    for (sum, &z) in sums.iter_mut().zip(z) {
        *sum += weight * f64::from(z);
    }
}

/// Number of values added side by side.
const LANES: usize = 8;

/// Computes ‖z‖², in partial sums as in [`norms`].
#[inline(always)]
fn square_norm(z: &[f32]) -> f64 {
    let mut norm = [0.0; LANES];
    let (blocks, rest) = z.as_chunks::<LANES>();
    for block in blocks {
        for (norm, &z) in norm.iter_mut().zip(block) {
            *norm += f64::from(z) * f64::from(z);
        }
    }
    for (norm, &z) in norm.iter_mut().zip(rest) {
        *norm += f64::from(z) * f64::from(z);
    }
    norm.iter().sum()
}

/// Computes ‖a‖² and ‖b - a‖², each in eight partial sums: a single sum would wait for itself at every addition.
#[inline(always)]
pub(super) fn norms(a: &[f64], b: &[f64]) -> (f64, f64) {
    let (mut norm, mut rest_norm) = ([0.0; LANES], [0.0; LANES]);
    let (a_blocks, a) = a.as_chunks::<LANES>();
    let (b_blocks, b) = b.as_chunks::<LANES>();
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            let rest = b[lane] - a[lane];
            norm[lane] += a[lane] * a[lane];
            rest_norm[lane] += rest * rest;
        }
    }
    for (lane, (&a, &b)) in a.iter().zip(b).enumerate() {
        let rest = b - a;
        norm[lane] += a * a;
        rest_norm[lane] += rest * rest;
    }
    (norm.iter().sum(), rest_norm.iter().sum())
}

impl Variance<'_> {
    /// Adds rows, with a sign, to the sums of the node, and clears the moved rows.
    fn add(&mut self, rows: &[u32], sign: f64) {
        let (total, targets, weights) = (&mut self.total, &*self.targets, &*self.weights);
        vectorized(
            #[inline(always)]
            || add_rows(total, targets, (weights, sign), rows.iter().copied()),
        );
        for &row in rows {
            let weight = sign * f64::from(self.weights[row as usize]);
            self.sums.weight += weight;
            let squares = self.squares_total.iter_mut().zip(self.squares[row as usize]);
            squares.for_each(|(total, part)| *total += weight * part);
        }
        self.sums.squares = self.squares_total.iter().sum();
        self.sums.norm = norms(&self.total, &self.total).0;
        self.clear();
    }
}

impl SideBySide for Variance<'_> {
    type Number = f64;

    #[inline(always)]
    fn move_and_sum(&mut self, row: u32, is_scored: bool) -> [f64; 3] {
        self.move_row(row);
        let (moved_norm, rest_norm) = if is_scored {
            norms(&self.moved, &self.total)
        } else {
            (0.0, 0.0)
        };
        [self.sums.moved_weight, moved_norm, rest_norm]
    }
}

impl Criterion for Variance<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.total.fill(0.0);
        self.squares_total = Parts::default();
        self.sums = NodeSums::default();
        self.add(rows, 1.0);
    }

    fn take_out(&mut self, rows: &[u32]) -> bool {
        if self.exact {
            self.add(rows, -1.0);
        }
        self.exact
    }

    fn of_rows(&self, rows: &[u32]) -> Option<Self> {
        let mut targets = Vec::with_capacity(rows.len() * self.n_targets);
        for &row in rows {
            targets.extend_from_slice(target_row(&self.targets, self.n_targets, row));
        }
        Some(Self {
            targets: targets.into(),
            n_targets: self.n_targets,
            weights: rows.iter().map(|&row| self.weights[row as usize]).collect(),
            exact: self.exact,
            squares: rows.iter().map(|&row| self.squares[row as usize]).collect(),
            squares_total: Parts::default(),
            sums: NodeSums::default(),
            total: vec![0.0; self.n_targets],
            moved: vec![0.0; self.n_targets],
            block: Vec::new(),
        })
    }

    fn is_pure(&self) -> bool {
        self.sums.is_pure()
    }

    #[inline(always)]
    fn clear(&mut self) {
        self.moved.fill(0.0);
        self.sums.moved_weight = 0.0;
    }

    fn read_ahead(&self, rows: impl Iterator<Item = u32>) {
        if self.targets.len() < LARGE {
            return;
        }
        let mut bits = 0;
        for row in rows {
            let targets = target_row(&self.targets, self.n_targets, row);
            bits |= self.weights[row as usize].to_bits();
            for target in targets.iter().step_by(LINE).chain(targets.last()) {
                bits |= target.to_bits();
            }
        }
        // Keeps the reads from being optimized away although their result is not used.
        std::hint::black_box(bits);
    }

    #[inline(always)]
    fn move_row(&mut self, row: u32) {
        let weight = f64::from(self.weights[row as usize]);
        add_scaled(
            &mut self.moved,
            weight,
            target_row(&self.targets, self.n_targets, row),
        );
        self.sums.moved_weight += weight;
    }

    #[inline(always)]
    fn move_rows(&mut self, rows: impl ExactSizeIterator<Item = u32>) {
        let weights = &*self.weights;
        let rows = rows.inspect(|&row| self.sums.moved_weight += f64::from(weights[row as usize]));
        add_rows(&mut self.moved, &self.targets, (weights, 1.0), rows);
    }

    fn is_exact(&self) -> bool {
        self.exact
    }

    fn cannot_reach(&self, score: f64, rows: impl Iterator<Item = u32>) -> bool {
        let weight_and_square = |row: u32| {
            let [coarse, fine] = self.squares[row as usize];
            (f64::from(self.weights[row as usize]), coarse + fine)
        };
        self.sums.cannot_reach(score, rows.map(weight_and_square))
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

    fn bound(&mut self, rows: &[u32], bins: &[&[u8]], shift: u32, of_features: &mut [SplitBounds]) -> bool {
        let (stride, n_bins) = (bounds::stride(self.n_targets), 1 << (8 - shift));
        let n_sums = of_features.len() * n_bins * stride;
        if !self.exact || self.n_targets > MOST_BOUNDED || n_sums > MOST_SUMS {
            return false;
        }
        for bounds in &mut *of_features {
            bounds.start(self.n_targets, n_bins);
        }
        let (block, mut rows_left) = (&mut self.block, rows);
        block.resize(BLOCK * stride, 0.0);
        let (targets, n_targets, weights, squares) =
            (&*self.targets, self.n_targets, &*self.weights, &*self.squares);
        vectorized(
            #[inline(always)]
            || {
                while !rows_left.is_empty() {
                    let (rows, others) = rows_left.split_at(rows_left.len().min(BLOCK));
                    rows_left = others;
                    for (out, &row) in block.chunks_exact_mut(stride).zip(rows) {
                        let weight = f64::from(weights[row as usize]);
                        let square = squares[row as usize].iter().sum();
                        bounds::write_row(out, target_row(targets, n_targets, row), weight, square);
                    }
                    for (bounds, bins) in of_features.iter_mut().zip(bins) {
                        let bins = rows.iter().map(|&row| usize::from(bins[row as usize] >> shift));
                        bounds.add(bins, block);
                    }
                }
                for bounds in of_features {
                    bounds.finish(self.sums, &self.total);
                }
            },
        );
        true
    }

    fn move_before(&mut self, bounds: &SplitBounds, bin: usize) {
        match bounds.before(bin) {
            None => self.clear(),
            Some((sums, weight)) => {
                self.moved.copy_from_slice(sums);
                self.sums.moved_weight = weight;
            }
        }
    }

    #[inline(always)]
    fn score(&self) -> f64 {
        let (moved_norm, rest_norm) = norms(&self.moved, &self.total);
        self.sums.score(moved_norm, rest_norm)
    }

    fn gain(&self, score: f64) -> f64 {
        self.sums.gain(score)
    }
}

#[cfg(test)]
mod tests {
    use super::super::round_for_exact_sums;
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;

    proptest! {
        /// With rounded targets and whole weights, removing rows gives the same state, bit for bit, as starting without
        /// them; otherwise no rows are removed.
        #[test]
        fn rows_are_taken_out_of_exact_sums(
            cells in proptest::collection::vec((-1e3_f32..1e3, -30..1_i32), 13 * 5),
            weights in proptest::collection::vec(1_u8..4, 13),
            n_out in 1_usize..12,
        ) {
            let cells: Vec<f32> = cells.into_iter().map(|(z, exponent)| z * 2.0_f32.powi(exponent)).collect();
            let mut weights: Vec<f32> = weights.into_iter().map(f32::from).collect();
            let rows: Vec<u32> = (0..13).collect();
            let given = Array2::from_shape_vec((13, 5), cells).unwrap();
            let mut z = given.clone();
            round_for_exact_sums(z.as_slice_mut().unwrap(), 39.0);
            let mut rest = Variance::new(z.view(), &weights);
            rest.start(&rows);
            rest.move_row(2);
            prop_assert!(rest.take_out(&rows[..n_out]));
            let mut fresh = Variance::new(z.view(), &weights);
            fresh.start(&rows[n_out..]);
            prop_assert_eq!(&rest.total, &fresh.total);
            prop_assert_eq!(rest.squares_total, fresh.squares_total);
            prop_assert_eq!((rest.sums.weight, rest.sums.squares), (fresh.sums.weight, fresh.sums.squares));
            prop_assert_eq!((rest.sums.norm, rest.sums.moved_weight), (fresh.sums.norm, 0.0));
            prop_assert_eq!(&rest.moved, &[0.0; 5]);
            weights[0] = 0.3;
            let mut inexact = Variance::new(given.view(), &weights);
            inexact.start(&rows);
            let total = inexact.total.clone();
            prop_assert!(!inexact.take_out(&rows[..n_out]));
            prop_assert_eq!(inexact.total, total);
        }

        /// The best split scored side by side is that of splits scored one by one, bit for bit.
        #[test]
        fn splits_are_scored_side_by_side_as_one_by_one(
            cells in proptest::collection::vec(prop_oneof![-1e3_f32..1e3, Just(0.0)], 23 * 3),
            weights in proptest::collection::vec(0.1_f32..4.0, 23),
            scored in proptest::collection::vec(any::<bool>(), 23),
            n in 1_usize..23,
        ) {
            let z = Array2::from_shape_vec((23, 3), cells).unwrap();
            let mut criterion = Variance::new(z.view(), &weights);
            criterion.start(&(0..23).collect::<Vec<_>>());
            for equals in [Equals::First, Equals::Last] {
                criterion.clear();
                let mut expected = None;
                for i in 0..n {
                    criterion.move_row(i as u32);
                    let score = criterion.score();
                    if scored[i] && expected.is_none_or(|(best, _)| equals.improves(score, best)) {
                        expected = Some((score, i + 1));
                    }
                }
                criterion.clear();
                prop_assert_eq!(criterion.best_of(n, |i| (i as u32, scored[i]), equals), expected);
            }
        }

        /// Scores between bins are those of rows moved one by one, bit for bit, and no score inside a bin is above its
        /// bound, in whatever order its rows are moved.
        #[test]
        fn bounds_hold(
            cells in proptest::collection::vec(prop_oneof![-1e3_f32..1e3, Just(0.0), 1e3_f32..1.001e3], 40 * 3),
            weights in proptest::collection::vec(1_u8..4, 40),
            bins in proptest::collection::vec(0_u8..12, 40),
            shift in 0_u32..3,
        ) {
            let mut z = Array2::from_shape_vec((40, 3), cells).unwrap();
            let weights: Vec<f32> = weights.into_iter().map(f32::from).collect();
            round_for_exact_sums(z.as_slice_mut().unwrap(), 120.0);
            let mut criterion = Variance::new(z.view(), &weights);
            let rows: Vec<u32> = (0..40).collect();
            criterion.start(&rows);
            let mut bounds = [SplitBounds::default()];
            prop_assert!(criterion.bound(&rows, &[&bins], shift, &mut bounds));
            let mut sorted = rows.clone();
            sorted.sort_by_key(|&row| bins[row as usize] >> shift);
            let bin = |i: usize| usize::from(bins[sorted[i] as usize] >> shift);
            criterion.clear();
            for i in 0..39 {
                criterion.move_row(sorted[i]);
                if bin(i) == bin(i + 1) {
                    prop_assert!(criterion.score() <= bounds[0].inside()[bin(i)]);
                } else {
                    prop_assert_eq!(criterion.score(), bounds[0].scores()[bin(i)]);
                    prop_assert_eq!(bounds[0].n_rows(bin(i)), i + 1);
                    let moved = criterion.moved.clone();
                    criterion.move_before(&bounds[0], bin(i + 1));
                    prop_assert_eq!(&criterion.moved, &moved);
                }
            }
        }

        /// Rows moved together give the same sums as rows moved one by one, bit for bit.
        #[test]
        fn rows_move_together_as_one_by_one(
            cells in proptest::collection::vec(-1e3_f32..1e3, 13 * 5),
            weights in proptest::collection::vec(0.1_f32..4.0, 13),
            n_moved in 0_usize..13,
        ) {
            let z = Array2::from_shape_vec((13, 5), cells).unwrap();
            let rows: Vec<u32> = (0..13).collect();
            let mut one_by_one = Variance::new(z.view(), &weights);
            one_by_one.start(&rows);
            let mut together = one_by_one.clone();
            rows[..n_moved].iter().for_each(|&row| one_by_one.move_row(row));
            together.move_rows(rows[..n_moved].iter().copied());
            prop_assert_eq!(&one_by_one.moved, &together.moved);
            prop_assert_eq!(one_by_one.sums.moved_weight, together.sums.moved_weight);
            // The sums of a node are computed as if its rows were moved.
            rows[n_moved..].iter().for_each(|&row| one_by_one.move_row(row));
            prop_assert_eq!(&one_by_one.moved, &one_by_one.total);
        }
    }
}
