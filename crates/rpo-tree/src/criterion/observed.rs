//! Summed variance over targets some of which are missing.
//!
//! Missing targets (NaN) are ignored: output j is summed over the rows in which it is observed, whose weight is |S|_j =
//! Σ_{i∈S, z_ij observed} c_i, so that
//!
//! ```text
//! |S| Var(S) = Σ_j Σ_{i∈S, z_ij observed} c_i (z_ij − z̄_j)²
//! score      = Σ_j (Σ_{S_l} c z_j)² / |S_l|_j + (Σ_{S_r} c z_j)² / |S_r|_j,     observed targets only,
//! ```
//!
//! where an output that is observed in no row of a side adds 0 there. Without missing targets these are the sums of the
//! [module](crate::criterion), so that gains of both kinds are comparable. The decrease is never negative: that of each
//! output is the decrease over the rows in which it is observed. A split gains nothing from where it sends the other
//! rows.

use super::{Criterion, PURITY};
use ndarray::ArrayView2;

/// Fraction of a node's weight up to which the observed weight of an output counts as 0: the weight of a side is a
/// difference of two sums, and dividing by their rounding errors would be wrong.
const NO_WEIGHT: f64 = 1e-12;

/// Computes (Σ c z)² / Σ c of the observed rows; 0 if there are none.
#[inline]
pub(super) fn quotient(sum: f64, weight: f64, node_weight: f64) -> f64 {
    if weight > NO_WEIGHT * node_weight {
        sum * sum / weight
    } else {
        0.0
    }
}

/// Summed variance over dense targets (n x m) with NaN where they are missing.
///
/// Cost: O(m) per moved row and per score, about twice that of [`Variance`](super::Variance), which is for targets
/// without missing values. Sums are kept in `f64`.
#[derive(Debug, Clone)]
pub(crate) struct ObservedVariance<'a> {
    targets: &'a [f32],
    n_targets: usize,
    weights: &'a [f32],
    /// |S| of the node.
    weight: f64,
    /// Σ c z² over the observed targets of the node.
    squares: f64,
    /// Score of the unsplit node.
    unsplit: f64,
    total: Sums,
    moved: Sums,
}

/// Σ c z and Σ c per target over its observed rows.
#[derive(Debug, Clone)]
struct Sums {
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl Sums {
    fn zero(n_targets: usize) -> Self {
        Self {
            values: vec![0.0; n_targets],
            weights: vec![0.0; n_targets],
        }
    }

    fn clear(&mut self) {
        self.values.fill(0.0);
        self.weights.fill(0.0);
    }

    #[inline]
    fn add(&mut self, weight: f64, z: &[f32]) {
        for ((value, observed), &z) in self.values.iter_mut().zip(&mut self.weights).zip(z) {
            // Adding 0 costs less than an unpredictable branch.
            let (z, weight) = if z.is_nan() { (0.0, 0.0) } else { (z, weight) };
            *value += weight * f64::from(z);
            *observed += weight;
        }
    }
}

impl<'a> ObservedVariance<'a> {
    /// Takes targets (n x m, contiguous rows, finite or NaN) and one weight per row (finite, not negative); rows of
    /// weight 0 are never used. Values are not checked here.
    ///
    /// # Panics
    /// If the targets are not contiguous in row order or their number differs from that of weights.
    pub(crate) fn new(targets: ArrayView2<'a, f32>, weights: &'a [f32]) -> Self {
        assert_eq!(targets.nrows(), weights.len(), "one weight per row of targets");
        let n_targets = targets.ncols();
        Self {
            targets: targets.to_slice().expect("targets are contiguous in row order"),
            n_targets,
            weights,
            weight: 0.0,
            squares: 0.0,
            unsplit: 0.0,
            total: Sums::zero(n_targets),
            moved: Sums::zero(n_targets),
        }
    }

    fn row(&self, row: u32) -> (f64, &'a [f32]) {
        let weight = f64::from(self.weights[row as usize]);
        (
            weight,
            &self.targets[row as usize * self.n_targets..][..self.n_targets],
        )
    }
}

impl Criterion for ObservedVariance<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.total.clear();
        self.moved.clear();
        (self.weight, self.squares) = (0.0, 0.0);
        for &row in rows {
            let (weight, z) = self.row(row);
            self.total.add(weight, z);
            self.weight += weight;
            let observed = z.iter().filter(|z| !z.is_nan());
            self.squares += weight * observed.map(|&z| f64::from(z) * f64::from(z)).sum::<f64>();
        }
        let sums = self.total.values.iter().zip(&self.total.weights);
        self.unsplit = sums
            .map(|(&sum, &weight)| quotient(sum, weight, self.weight))
            .sum();
    }

    fn is_pure(&self) -> bool {
        self.squares - self.unsplit <= PURITY * self.squares
    }

    fn clear(&mut self) {
        self.moved.clear();
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        let (weight, z) = self.row(row);
        self.moved.add(weight, z);
    }

    #[inline]
    fn score(&self) -> f64 {
        let total = self.total.values.iter().zip(&self.total.weights);
        let moved = self.moved.values.iter().zip(&self.moved.weights);
        let term = |((t, t_weight), (m, m_weight)): ((&f64, &f64), (&f64, &f64))| {
            quotient(*m, *m_weight, self.weight) + quotient(t - m, t_weight - m_weight, self.weight)
        };
        total.zip(moved).map(term).sum()
    }

    fn gain(&self, score: f64) -> f64 {
        (score - self.unsplit).max(0.0)
    }
}
