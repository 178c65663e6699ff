//! Nodes that no split can improve.

use super::splitter::SplitTargets;
use crate::criterion::{Curvature, is_pure};

/// Detects nodes whose targets count as equal, as [criteria](crate::criterion) do, mostly by looking at two samples.
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
        let square = |(&c, row): (&f32, &[f32])| {
            let squares = row.iter().map(|&z| f64::from(z) * f64::from(z)).sum::<f64>();
            if c > 0.0 { f64::from(c) * squares } else { 0.0 }
        };
        // Summed in interleaved parts, as each addition waits for the one before.
        let mut parts = [0.0; 8];
        for (weights, rows) in weights.chunks(8).zip(gradients.chunks(8 * m)) {
            let terms = weights.iter().zip(rows.chunks_exact(m)).map(square);
            parts.iter_mut().zip(terms).for_each(|(part, term)| *part += term);
        }
        let squares = parts.iter().sum();
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
        // |S| Var(S) is at least that of two of its rows, c_i c_j ‖z_i − z_j‖² / (c_i + c_j): a few pairs of rows mostly suffice.
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
