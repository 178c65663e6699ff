//! Summed variance over dense targets.

use super::{Criterion, NodeSums};
use ndarray::ArrayView2;
use rpo_core::vectorized;
use std::borrow::Cow;

/// Summed variance over dense targets (n x m), projected or not; see the [module](crate::criterion).
///
/// Cost: O(m) per moved row and per score. Sums are kept in `f64`.
#[derive(Debug, Clone)]
pub struct Variance<'a> {
    targets: Cow<'a, [f32]>,
    n_targets: usize,
    weights: Cow<'a, [f32]>,
    /// Per row: ‖z‖².
    squares: Vec<f64>,
    sums: NodeSums,
    total: Vec<f64>,
    moved: Vec<f64>,
}

impl<'a> Variance<'a> {
    /// Targets (n x m, contiguous rows, finite) and one weight per row (finite, not negative); rows of weight 0
    /// are never used. Values are not checked here: what is not finite makes scores NaN, and no split.
    ///
    /// # Panics
    /// If the targets are not contiguous in row order or not as many as the weights.
    pub fn new(targets: ArrayView2<'a, f32>, weights: &'a [f32]) -> Self {
        assert_eq!(targets.nrows(), weights.len(), "one weight per row of targets");
        let n_targets = targets.ncols();
        let targets = targets.to_slice().expect("targets are contiguous in row order");
        let norm = |row: &[f32]| row.iter().map(|&z| f64::from(z) * f64::from(z)).sum();
        Self {
            targets: targets.into(),
            n_targets,
            weights: weights.into(),
            squares: targets.chunks_exact(n_targets.max(1)).map(norm).collect(),
            sums: NodeSums::default(),
            total: vec![0.0; n_targets],
            moved: vec![0.0; n_targets],
        }
    }
}

#[inline(always)]
fn target_row(targets: &[f32], n_targets: usize, row: u32) -> &[f32] {
    &targets[row as usize * n_targets..][..n_targets]
}

/// Fewer targets fit into a core's cache, where reading ahead is of no use.
const LARGE: usize = 1 << 18;

/// Targets on a line of the cache.
const LINE: usize = 16;

/// Rows that are added in one pass over the sums.
const TOGETHER: usize = 4;

/// Adds rows times their weights in their order, several in one pass over the sums, which costs less than a pass for
/// each and has the rows come from memory at the same time.
#[inline(always)]
fn add_rows(
    sums: &mut [f64],
    targets: &[f32],
    weights: &[f32],
    mut rows: impl ExactSizeIterator<Item = u32>,
) {
    let n_targets = sums.len();
    while rows.len() >= TOGETHER {
        let rows: [u32; TOGETHER] = std::array::from_fn(|_| rows.next().expect("there are as many"));
        let [a, b, c, d] = rows.map(|row| target_row(targets, n_targets, row));
        let w = rows.map(|row| f64::from(weights[row as usize]));
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = *sum
                + w[0] * f64::from(a[j])
                + w[1] * f64::from(b[j])
                + w[2] * f64::from(c[j])
                + w[3] * f64::from(d[j]);
        }
    }
    for row in rows {
        let weight = f64::from(weights[row as usize]);
        add_scaled(sums, weight, target_row(targets, n_targets, row));
    }
}

#[inline(always)]
fn add_scaled(sums: &mut [f64], weight: f64, z: &[f32]) {
    for (sum, &z) in sums.iter_mut().zip(z) {
        *sum += weight * f64::from(z);
    }
}

/// ‖a‖² and ‖b - a‖², each in eight partial sums: a single one would wait for itself at every addition.
#[inline]
fn norms(a: &[f64], b: &[f64]) -> (f64, f64) {
    const LANES: usize = 8;
    let (mut norm, mut rest_norm) = ([0.0; LANES], [0.0; LANES]);
    let mut add = |a: &[f64], b: &[f64]| {
        for (lane, (&a, &b)) in a.iter().zip(b).enumerate() {
            let rest = b - a;
            norm[lane] += a * a;
            rest_norm[lane] += rest * rest;
        }
    };
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let (a_rest, b_rest) = (a_chunks.remainder(), b_chunks.remainder());
    a_chunks.zip(b_chunks).for_each(|(a, b)| add(a, b));
    add(a_rest, b_rest);
    (norm.iter().sum(), rest_norm.iter().sum())
}

impl Criterion for Variance<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.total.fill(0.0);
        self.sums = NodeSums::default();
        let (total, targets, weights) = (&mut self.total, &*self.targets, &*self.weights);
        vectorized(
            #[inline(always)]
            || add_rows(total, targets, weights, rows.iter().copied()),
        );
        for &row in rows {
            let weight = f64::from(self.weights[row as usize]);
            self.sums.weight += weight;
            self.sums.squares += weight * self.squares[row as usize];
        }
        self.sums.norm = norms(&self.total, &self.total).0;
        self.moved.fill(0.0);
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
            squares: rows.iter().map(|&row| self.squares[row as usize]).collect(),
            sums: NodeSums::default(),
            total: vec![0.0; self.n_targets],
            moved: vec![0.0; self.n_targets],
        })
    }

    fn is_pure(&self) -> bool {
        self.sums.is_pure()
    }

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
        // Reading must not be left out although nothing comes of it.
        std::hint::black_box(bits);
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        let weight = f64::from(self.weights[row as usize]);
        add_scaled(
            &mut self.moved,
            weight,
            target_row(&self.targets, self.n_targets, row),
        );
        self.sums.moved_weight += weight;
    }

    #[inline]
    fn move_rows(&mut self, rows: impl ExactSizeIterator<Item = u32>) {
        let weights = &*self.weights;
        let rows = rows.inspect(|&row| self.sums.moved_weight += f64::from(weights[row as usize]));
        add_rows(&mut self.moved, &self.targets, weights, rows);
    }

    #[inline]
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
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;

    proptest! {
        /// Rows moved together leave the sums that rows moved one by one leave, bit for bit.
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
            // A node is summed as its rows would be moved.
            rows[n_moved..].iter().for_each(|&row| one_by_one.move_row(row));
            prop_assert_eq!(&one_by_one.moved, &one_by_one.total);
        }
    }
}
