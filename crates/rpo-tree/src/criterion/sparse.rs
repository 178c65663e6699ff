//! Summed variance over sparse targets.
//!
//! With $M$ the sums over the moved rows and $T$ over the node, moving a row with weight $c$ and target value
//! $z_j$ changes $\lVert M \rVert^2$ by $2 M_j c z_j + (c z_j)^2$ and $M \cdot T$ by $c z_j T_j$, and the
//! rest has $\lVert T - M \rVert^2 = \lVert T \rVert^2 - 2 M \cdot T + \lVert M \rVert^2$. So a row costs
//! its own labels, not the number of outputs. For 0/1 labels and integer weights all of these are integers,
//! exact in `f64`: the scores equal those of the dense criterion bit for bit.

use super::{Criterion, NodeSums};
use rpo_core::{CsrView, csr_row};

/// A number in which sums over targets are kept.
///
/// Whole numbers are exact, and adding them does not wait as long as adding `f64`s does.
pub trait SumNumber: Copy + Default + Send + Sync + std::fmt::Debug {
    /// `c * z` for a row of weight c with target value z.
    fn step(weight: f32, value: f32) -> Self;
    /// `2 m s + s^2`: what a step s adds to the square of m.
    fn square_step(self, step: Self) -> Self;
    /// Sum.
    fn plus(self, other: Self) -> Self;
    /// Product.
    fn times(self, other: Self) -> Self;
    /// As `f64`.
    fn to_f64(self) -> f64;
}

impl SumNumber for f64 {
    #[inline]
    fn step(weight: f32, value: f32) -> Self {
        Self::from(weight) * Self::from(value)
    }

    #[inline]
    fn square_step(self, step: Self) -> Self {
        step * (2.0 * self + step)
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline]
    fn times(self, other: Self) -> Self {
        self * other
    }

    #[inline]
    fn to_f64(self) -> f64 {
        self
    }
}

/// For targets that are all 1 where stored, and integer weights.
impl SumNumber for i64 {
    #[inline]
    fn step(weight: f32, _one: f32) -> Self {
        weight as Self
    }

    #[inline]
    fn square_step(self, step: Self) -> Self {
        step * (2 * self + step)
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline]
    fn times(self, other: Self) -> Self {
        self * other
    }

    #[inline]
    fn to_f64(self) -> f64 {
        self as f64
    }
}

/// Summed variance over CSR targets (n x d): cost O(labels of the row) per moved row, O(1) per score.
#[derive(Debug, Clone)]
pub struct SparseVariance<'a, T = f64> {
    targets: CsrView<'a>,
    weights: &'a [f32],
    sums: NodeSums,
    /// Per target, side by side as they are read together.
    counts: Vec<Count<T>>,
    node: Vec<u32>,
    moved_rows: Vec<u32>,
    norm: T,
    moved_norm: T,
    moved_dot_total: T,
}

impl<'a> SparseVariance<'a> {
    /// CSR targets (n x d) of any values and one weight per row.
    ///
    /// # Panics
    /// If there are not as many rows as weights.
    pub fn new(targets: CsrView<'a>, weights: &'a [f32]) -> Self {
        Self::with_number(targets, weights)
    }
}

impl<'a> SparseVariance<'a, i64> {
    /// For 0/1 targets and integer weights: the same scores, bit for bit, from whole numbers. `None` if a
    /// stored target is not 1, a weight is not whole, or a sum of squares could leave the integers that are
    /// exact in `f64`.
    ///
    /// # Panics
    /// If there are not as many rows as weights.
    pub fn counts(targets: CsrView<'a>, weights: &'a [f32]) -> Option<Self> {
        // ‖Σ c z‖² is at most the largest sum of a target times the sum of all.
        let (mut weight, mut total) = (0.0, 0.0);
        for (row, &w) in weights.iter().enumerate().take(targets.rows()) {
            weight += f64::from(w);
            total += f64::from(w) * csr_row(&targets, row).0.len() as f64;
        }
        let exact = weights.iter().all(|w| w.fract() == 0.0) && weight * total < (1_u64 << 53) as f64;
        (exact && targets.data().iter().all(|&z| z == 1.0)).then(|| Self::with_number(targets, weights))
    }
}

impl<'a, T: SumNumber> SparseVariance<'a, T> {
    fn with_number(targets: CsrView<'a>, weights: &'a [f32]) -> Self {
        assert_eq!(targets.rows(), weights.len(), "one weight per row of targets");
        Self {
            targets,
            weights,
            sums: NodeSums::default(),
            counts: vec![Count::default(); targets.cols()],
            node: Vec::new(),
            moved_rows: Vec::new(),
            norm: T::default(),
            moved_norm: T::default(),
            moved_dot_total: T::default(),
        }
    }
}

/// The sums of one target.
#[derive(Debug, Clone, Copy, Default)]
struct Count<T> {
    /// Over the node.
    total: T,
    /// Over the moved rows.
    moved: T,
}

/// Clears the counts that the targets of these rows went into, or all of them if those are few.
#[inline]
fn clear_counts<T>(
    counts: &mut [Count<T>],
    targets: &CsrView<'_>,
    rows: &[u32],
    clear: impl Fn(&mut Count<T>),
) {
    if counts.len() <= rows.len() {
        counts.iter_mut().for_each(clear);
        return;
    }
    for &row in rows {
        for &j in csr_row(targets, row as usize).0 {
            clear(&mut counts[j as usize]);
        }
    }
}

impl<T: SumNumber> Criterion for SparseVariance<'_, T> {
    fn start(&mut self, rows: &[u32]) {
        self.clear();
        clear_counts(&mut self.counts, &self.targets, &self.node, |c| {
            c.total = T::default()
        });
        self.node.clear();
        self.node.extend_from_slice(rows);
        self.sums = NodeSums::default();
        self.norm = T::default();
        for &row in rows {
            let weight = self.weights[row as usize];
            let (columns, values) = csr_row(&self.targets, row as usize);
            let mut squares = 0.0;
            for (&j, &z) in columns.iter().zip(values) {
                let (step, total) = (T::step(weight, z), &mut self.counts[j as usize].total);
                self.norm = self.norm.plus(total.square_step(step));
                *total = total.plus(step);
                squares += f64::from(z) * f64::from(z);
            }
            self.sums.squares += f64::from(weight) * squares;
            self.sums.weight += f64::from(weight);
        }
        self.sums.norm = self.norm.to_f64();
    }

    fn is_pure(&self) -> bool {
        self.sums.is_pure()
    }

    fn clear(&mut self) {
        clear_counts(&mut self.counts, &self.targets, &self.moved_rows, |c| {
            c.moved = T::default()
        });
        self.moved_rows.clear();
        self.sums.moved_weight = 0.0;
        self.moved_norm = T::default();
        self.moved_dot_total = T::default();
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        let weight = self.weights[row as usize];
        let (columns, values) = csr_row(&self.targets, row as usize);
        for (&j, &z) in columns.iter().zip(values) {
            let step = T::step(weight, z);
            let Count { total, moved } = &mut self.counts[j as usize];
            self.moved_norm = self.moved_norm.plus(moved.square_step(step));
            self.moved_dot_total = self.moved_dot_total.plus(step.times(*total));
            *moved = moved.plus(step);
        }
        self.sums.moved_weight += f64::from(weight);
        self.moved_rows.push(row);
    }

    #[inline]
    fn score(&self) -> f64 {
        let moved_norm = self.moved_norm.to_f64();
        let rest_norm = self.sums.norm - 2.0 * self.moved_dot_total.to_f64() + moved_norm;
        self.sums.score(moved_norm, rest_norm)
    }

    fn gain(&self, score: f64) -> f64 {
        self.sums.gain(score)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Variance;
    use super::*;
    use ndarray::{Array2, Axis};
    use proptest::prelude::*;
    use rpo_core::CsrMatrix;

    /// Var(S) by its definition.
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

    proptest! {
        /// F-P2: the gain is |S| Var(S) - |S_l| Var(S_l) - |S_r| Var(S_r), in both layouts, and for 0/1 targets
        /// with integer weights the layouts agree bit for bit.
        #[test]
        fn gain_is_the_decrease_of_variance(
            labels in proptest::collection::vec(0_u8..2, 24),
            weights in proptest::collection::vec(1_u8..4, 8),
            cut in 1_usize..8,
        ) {
            let z = Array2::from_shape_vec((8, 3), labels.into_iter().map(f32::from).collect()).unwrap();
            let weights: Vec<f32> = weights.into_iter().map(f32::from).collect();
            let csr: CsrMatrix = {
                let mut t = sprs::TriMatI::<f32, u32>::new((8, 3));
                z.indexed_iter().filter(|(_, v)| **v != 0.0).for_each(|((i, j), &v)| t.add_triplet(i, j, v));
                t.to_csr()
            };
            let rows: Vec<u32> = (0..8).collect();
            let mut dense = Variance::new(z.view(), &weights);
            let mut sparse = SparseVariance::new(csr.view(), &weights);
            let mut counts = SparseVariance::counts(csr.view(), &weights).unwrap();
            // A node before it leaves its counts behind.
            sparse.start(&rows[2..5]);
            sparse.move_row(3);
            let weigh = |rows: &[u32]| rows.iter().map(|&i| f64::from(weights[i as usize])).sum::<f64>();
            let impurity = |rows: &[u32]| weigh(rows) * variance(&z, &weights, rows);
            let expected = impurity(&rows) - impurity(&rows[..cut]) - impurity(&rows[cut..]);
            dense.start(&rows);
            sparse.start(&rows);
            counts.start(&rows);
            prop_assert_eq!(dense.is_pure(), z.axis_iter(Axis(0)).all(|r| r == z.row(0)));
            prop_assert_eq!(dense.is_pure(), sparse.is_pure());
            for &row in &rows[..cut] {
                dense.move_row(row);
                sparse.move_row(row);
                counts.move_row(row);
            }
            let score = dense.score();
            prop_assert_eq!(score.to_bits(), sparse.score().to_bits());
            prop_assert_eq!(score.to_bits(), counts.score().to_bits());
            prop_assert_eq!(dense.is_pure(), counts.is_pure());
            prop_assert!((dense.gain(score) - expected).abs() <= 1e-10 * (1.0 + expected));
            prop_assert_eq!(dense.gain(score).to_bits(), sparse.gain(score).to_bits());
        }
    }
}
