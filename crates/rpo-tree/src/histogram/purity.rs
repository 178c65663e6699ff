//! Nodes that no split can improve.

use super::splitter::SplitTargets;
use crate::criterion::{Curvature, is_pure};

/// Tells nodes whose targets count as equal, as [criteria](crate::criterion) do, mostly by a look at two samples.
#[derive(Debug, Clone)]
pub(super) struct Purity<'a> {
    gradients: &'a [f32],
    /// Empty if constant.
    curvatures: &'a [f32],
    weights: &'a [f32],
    m: usize,
    /// Σ c ‖z‖² over all samples.
    squares: f64,
}

impl<'a> Purity<'a> {
    pub(super) fn new(targets: &SplitTargets<'a>) -> Self {
        let slice = "contiguous in row order";
        let gradients = targets.gradients.to_slice().expect(slice);
        let curvatures = match &targets.curvature {
            Curvature::Constant => &[],
            Curvature::Each(h) => h.to_slice().expect(slice),
        };
        let m = targets.gradients.ncols();
        let weights = targets.weights;
        let squares = weights
            .iter()
            .zip(gradients.chunks_exact(m))
            .filter(|(c, _)| **c > 0.0)
            .map(|(&c, row)| f64::from(c) * row.iter().map(|&z| f64::from(z) * f64::from(z)).sum::<f64>())
            .sum();
        Self {
            gradients,
            curvatures,
            weights,
            m,
            squares,
        }
    }

    /// Returns true if the targets of these rows, at least one, count as equal.
    pub(super) fn is_pure(&self, rows: &[u32]) -> bool {
        let row = |row: u32| {
            let targets = &self.gradients[row as usize * self.m..][..self.m];
            (f64::from(self.weights[row as usize]), targets)
        };
        // |S| Var(S) is at least that of two of its rows, c_i c_j ‖z_i − z_j‖² / (c_i + c_j): few pairs of rows do mostly.
        let bound = 1e-10 * self.squares;
        let (first_weight, first) = row(rows[0]);
        for &other in rows.iter().skip(1).take(8) {
            let (weight, other) = row(other);
            let terms = first
                .iter()
                .zip(other)
                .map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
            if first_weight * weight * terms.sum::<f64>() > bound * (first_weight + weight) {
                return false;
            }
        }
        let equal = |values: &[f32]| is_pure(values, self.m, self.weights, rows);
        equal(self.gradients) && (self.curvatures.is_empty() || equal(self.curvatures))
    }
}
