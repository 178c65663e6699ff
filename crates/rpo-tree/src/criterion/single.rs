//! Variance of one target.

use super::{Criterion, NodeSums};
use std::sync::Arc;

/// The variance of the [module](crate::criterion) for a single target, without vectors of sums. Its scores equal those
/// of [`Variance`](super::Variance) on one column, bit for bit.
///
/// Cost: O(1) per moved row and per score. Sums are kept in `f64`.
#[derive(Debug, Clone)]
pub(crate) struct SingleVariance {
    rows: Arc<[Cell]>,
    sums: NodeSums,
    total: f64,
    moved: f64,
}

/// The weight and target of a row.
#[derive(Debug, Clone, Copy)]
struct Cell {
    weight: f32,
    target: f32,
}

impl SingleVariance {
    /// Takes one target and one weight per row (finite, weights not negative); rows of weight 0 are never used. Values
    /// are not checked here: non-finite values make scores NaN, and no split is made.
    ///
    /// # Panics
    /// If the number of weights differs from that of targets.
    pub(crate) fn new(targets: impl ExactSizeIterator<Item = f32>, weights: &[f32]) -> Self {
        assert_eq!(targets.len(), weights.len(), "one weight per target");
        let cell = |(target, &weight)| Cell { weight, target };
        Self {
            rows: targets.zip(weights).map(cell).collect(),
            sums: NodeSums::default(),
            total: 0.0,
            moved: 0.0,
        }
    }

    #[inline]
    fn row(&self, row: u32) -> (f64, f64) {
        let Cell { weight, target } = self.rows[row as usize];
        (f64::from(weight), f64::from(target))
    }
}

impl Criterion for SingleVariance {
    fn start(&mut self, rows: &[u32]) {
        (self.total, self.moved) = (0.0, 0.0);
        self.sums = NodeSums::default();
        for &row in rows {
            let (weight, target) = self.row(row);
            self.total += weight * target;
            self.sums.weight += weight;
            self.sums.squares += weight * (target * target);
        }
        self.sums.norm = self.total * self.total;
    }

    fn of_rows(&self, rows: &[u32]) -> Option<Self> {
        Some(Self {
            rows: rows.iter().map(|&row| self.rows[row as usize]).collect(),
            ..*self
        })
    }

    fn is_pure(&self) -> bool {
        self.sums.is_pure()
    }

    fn clear(&mut self) {
        self.moved = 0.0;
        self.sums.moved_weight = 0.0;
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        let (weight, target) = self.row(row);
        self.moved += weight * target;
        self.sums.moved_weight += weight;
    }

    #[inline]
    fn score(&self) -> f64 {
        let rest = self.total - self.moved;
        self.sums.score(self.moved * self.moved, rest * rest)
    }

    fn gain(&self, score: f64) -> f64 {
        self.sums.gain(score)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Variance;
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scores_are_those_of_one_column(
            cells in prop::collection::vec((-1e3_f32..1e3, 0.1_f32..4.0), 2..30),
            moved in 1_usize..29,
        ) {
            let (targets, weights): (Vec<f32>, Vec<f32>) = cells.into_iter().unzip();
            let n = targets.len() as u32;
            let column = Array2::from_shape_vec((targets.len(), 1), targets.clone()).unwrap();
            let mut one = SingleVariance::new(targets.into_iter(), &weights);
            let mut any = Variance::new(column.view(), &weights);
            let rows: Vec<u32> = (0..n).collect();
            one.start(&rows);
            any.start(&rows);
            prop_assert_eq!(one.is_pure(), any.is_pure());
            one.clear();
            any.clear();
            for row in 0..(moved as u32).min(n - 1) {
                one.move_row(row);
                any.move_row(row);
                prop_assert_eq!(one.score().to_bits(), any.score().to_bits());
                prop_assert_eq!(one.gain(one.score()).to_bits(), any.gain(any.score()).to_bits());
            }
        }
    }
}
