//! Summed variance over dense targets.

use super::{Criterion, NodeSums};
use ndarray::ArrayView2;

/// Summed variance over dense targets (n x m): cost O(m) per moved row and per score.
#[derive(Debug, Clone)]
pub struct Variance<'a> {
    targets: &'a [f32],
    n_targets: usize,
    weights: &'a [f32],
    sums: NodeSums,
    total: Vec<f64>,
    moved: Vec<f64>,
}

impl<'a> Variance<'a> {
    /// Targets (n x m, contiguous rows) and one weight per row.
    ///
    /// # Panics
    /// If the targets are not contiguous in row order or not as many as the weights.
    pub fn new(targets: ArrayView2<'a, f32>, weights: &'a [f32]) -> Self {
        assert_eq!(targets.nrows(), weights.len(), "one weight per row of targets");
        let n_targets = targets.ncols();
        Self {
            targets: targets.to_slice().expect("targets are contiguous in row order"),
            n_targets,
            weights,
            sums: NodeSums::default(),
            total: vec![0.0; n_targets],
            moved: vec![0.0; n_targets],
        }
    }
}

fn target_row(targets: &[f32], n_targets: usize, row: u32) -> &[f32] {
    &targets[row as usize * n_targets..][..n_targets]
}

impl Criterion for Variance<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.total.fill(0.0);
        self.sums = NodeSums::default();
        for &row in rows {
            let weight = f64::from(self.weights[row as usize]);
            let mut squares = 0.0;
            for (total, &z) in self
                .total
                .iter_mut()
                .zip(target_row(self.targets, self.n_targets, row))
            {
                let z = f64::from(z);
                *total += weight * z;
                squares += z * z;
            }
            self.sums.weight += weight;
            self.sums.squares += weight * squares;
        }
        self.sums.norm = self.total.iter().map(|t| t * t).sum();
        self.moved.fill(0.0);
    }

    fn is_pure(&self) -> bool {
        self.sums.is_pure()
    }

    fn clear(&mut self) {
        self.moved.fill(0.0);
        self.sums.moved_weight = 0.0;
    }

    fn move_row(&mut self, row: u32) {
        let weight = f64::from(self.weights[row as usize]);
        for (moved, &z) in self
            .moved
            .iter_mut()
            .zip(target_row(self.targets, self.n_targets, row))
        {
            *moved += weight * f64::from(z);
        }
        self.sums.moved_weight += weight;
    }

    fn score(&self) -> f64 {
        let (mut moved_norm, mut rest_norm) = (0.0, 0.0);
        for (&moved, &total) in self.moved.iter().zip(&self.total) {
            let rest = total - moved;
            moved_norm += moved * moved;
            rest_norm += rest * rest;
        }
        self.sums.score(moved_norm, rest_norm)
    }

    fn gain(&self, score: f64) -> f64 {
        self.sums.gain(score)
    }
}
