//! Sums over leaves, and the steps that can be computed from these sums alone.

use crate::boosting::choices::StepScope;
use crate::boosting::loss::{StepRule, quotient};
use ndarray::{Array2, ArrayView1, Zip};
use rpo_core::vectorized;

/// Sums over the samples of each leaf, per output (L x d).
#[derive(Debug, Clone)]
pub(super) struct LeafSums {
    /// Σ w r.
    pub(super) residual: Array2<f64>,
    /// Σ w.
    pub(super) weight: Array2<f64>,
    /// Σ w h, the second derivatives.
    pub(super) curvature: Array2<f64>,
    /// Σ w r² over all leaves, per output.
    pub(super) squares: Vec<f64>,
}

impl LeafSums {
    pub(super) fn zero(n_leaves: usize, n_outputs: usize) -> Self {
        let zero = || Array2::zeros((n_leaves, n_outputs));
        Self {
            residual: zero(),
            weight: zero(),
            curvature: zero(),
            squares: vec![0.0; n_outputs],
        }
    }

    /// Adds the sums of parts of the samples, in order.
    pub(super) fn total(n_leaves: usize, n_outputs: usize, parts: &[Self]) -> Self {
        let mut total = Self::zero(n_leaves, n_outputs);
        parts.iter().for_each(|part| total.add(part));
        total
    }

    /// Combines the sums of leaves that were summed separately.
    pub(super) fn of_leaves(leaves: &[Self]) -> Self {
        let mut all = Self::zero(leaves.len(), leaves[0].squares.len());
        for (leaf, sums) in leaves.iter().enumerate() {
            all.residual.row_mut(leaf).assign(&sums.residual.row(0));
            all.weight.row_mut(leaf).assign(&sums.weight.row(0));
            all.curvature.row_mut(leaf).assign(&sums.curvature.row(0));
            let squares = all.squares.iter_mut().zip(&sums.squares);
            squares.for_each(|(all, square)| *all += square);
        }
        all
    }

    /// Adds samples, given by their leaves and weights and, row after row, the weights of their cells (1 if empty),
    /// residuals and second derivatives.
    pub(super) fn take(
        &mut self,
        leaves: &[u32],
        weights: impl Iterator<Item = f64>,
        cells: &[f64],
        (residual, curvature): (&[f64], &[f64]),
    ) {
        vectorized(
            #[inline(always)]
            || match self.squares.len() {
                // A single output is a constant known to the compiler.
                1 => self.take_rows(1, leaves, weights, cells, (residual, curvature)),
                d => self.take_rows(d, leaves, weights, cells, (residual, curvature)),
            },
        );
    }

    #[inline(always)]
    fn take_rows(
        &mut self,
        d: usize,
        leaves: &[u32],
        weights: impl Iterator<Item = f64>,
        cells: &[f64],
        (residual, curvature): (&[f64], &[f64]),
    ) {
        let flat = "made in row order";
        let sums = [&mut self.residual, &mut self.weight, &mut self.curvature];
        let [sum_r, sum_w, sum_h] = sums.map(|sums| sums.as_slice_mut().expect(flat));
        let rows = residual.chunks_exact(d).zip(curvature.chunks_exact(d));
        for (i, ((&leaf, c), (residual, curvature))) in leaves.iter().zip(weights).zip(rows).enumerate() {
            let place = leaf as usize * d..(leaf as usize + 1) * d;
            let sums = RowSums {
                residual: &mut sum_r[place.clone()],
                weight: &mut sum_w[place.clone()],
                curvature: &mut sum_h[place],
                squares: &mut self.squares[..d],
            };
            match cells.get(i * d..(i + 1) * d) {
                Some(cells) => sums.add(d, |j| c * cells[j], residual, curvature),
                None => sums.add(d, |_| c, residual, curvature),
            }
        }
    }

    fn add(&mut self, other: &Self) {
        self.residual += &other.residual;
        self.weight += &other.weight;
        self.curvature += &other.curvature;
        self.squares
            .iter_mut()
            .zip(&other.squares)
            .for_each(|(a, b)| *a += b);
    }

    /// Returns mean residuals: the leaf values, 0 where no sample has weight.
    pub(super) fn means(&self) -> Array2<f64> {
        let mean = |&r: &f64, &w: &f64| if w > 0.0 { r / w } else { 0.0 };
        Zip::from(&self.residual).and(&self.weight).map_collect(mean)
    }

    /// Returns one Newton step per output along a tree with leaf values `g`, exact for a quadratic loss: ρ = Σ_l g Σ w
    /// r / Σ_l g² Σ w h, limited so that no score moves by more than the largest move. A residual of output j times
    /// `units(j)` is in the unit of `g`.
    pub(super) fn newton(
        &self,
        rules: &[StepRule],
        units: impl Fn(usize) -> f64,
        g: impl Fn(usize, usize) -> f64,
    ) -> Vec<f64> {
        let (n_leaves, n_outputs) = self.residual.dim();
        let (mut slope, mut curvature, mut size) = (
            vec![0.0; n_outputs],
            vec![0.0; n_outputs],
            vec![0.0_f64; n_outputs],
        );
        for leaf in 0..n_leaves {
            for j in 0..n_outputs {
                let g = g(leaf, j);
                slope[j] += g * self.residual[[leaf, j]];
                curvature[j] += g * g * self.curvature[[leaf, j]];
                size[j] = size[j].max(g.abs());
            }
        }
        (0..n_outputs)
            .map(|j| {
                limit(
                    quotient(slope[j], curvature[j], units(j) * units(j) * self.squares[j]),
                    rules[j].largest,
                    size[j],
                )
            })
            .collect()
    }

    /// Returns one penalized Newton step per leaf and output.
    fn newton_by_leaf(&self, rules: &[StepRule]) -> Array2<f64> {
        let step = |&r: &f64, &h: &f64, rule: &StepRule| match r.is_finite() && h.is_finite() {
            true => limit(rule.penalty.value(r, h), rule.largest, 1.0),
            // Of a custom loss: the step is refused.
            false => f64::NAN,
        };
        Zip::from(&self.residual)
            .and(&self.curvature)
            .and_broadcast(ArrayView1::from(rules))
            .map_collect(step)
    }

    /// Returns the leaf values of Newton steps: mean residuals times a step per output, or a step per leaf.
    pub(super) fn newton_vectors(&self, scope: StepScope, rules: &[StepRule]) -> Array2<f64> {
        match scope {
            StepScope::Output => {
                let means = self.means();
                let steps = self.newton(rules, |_| 1.0, |leaf, j| means[[leaf, j]]);
                scale_columns(means, &steps)
            }
            StepScope::Leaf => self.newton_by_leaf(rules),
        }
    }
}

/// The sums of the leaf that a row belongs to, by output.
struct RowSums<'a> {
    residual: &'a mut [f64],
    weight: &'a mut [f64],
    curvature: &'a mut [f64],
    squares: &'a mut [f64],
}

impl RowSums<'_> {
    #[inline(always)]
    fn add(self, d: usize, weight: impl Fn(usize) -> f64, residual: &[f64], curvature: &[f64]) {
        let (sum_r, sum_w, sum_h) = (
            &mut self.residual[..d],
            &mut self.weight[..d],
            &mut self.curvature[..d],
        );
        let (squares, residual, curvature) = (&mut self.squares[..d], &residual[..d], &curvature[..d]);
        for j in 0..d {
            let (w, r) = (weight(j), residual[j]);
            sum_r[j] += w * r;
            sum_w[j] += w;
            sum_h[j] += w * curvature[j];
            squares[j] += w * r * r;
        }
    }
}

/// Limits a step so that the step times `size` stays within ± `largest`.
fn limit(step: f64, largest: f64, size: f64) -> f64 {
    if step.abs() * size > largest {
        (largest / size).copysign(step)
    } else {
        step
    }
}

/// Multiplies leaf values by the step of each output.
pub(super) fn scale_columns(mut labels: Array2<f64>, steps: &[f64]) -> Array2<f64> {
    for mut row in labels.rows_mut() {
        row.iter_mut().zip(steps).for_each(|(v, step)| *v *= step);
    }
    labels
}
