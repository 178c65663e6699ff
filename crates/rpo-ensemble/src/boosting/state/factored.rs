//! The training state of the square loss on sparse outputs, without scores: F = 1 ρ₀ᵀ + Σ_m V_m[leaf_m(i)].
//!
//! With V_m the stored values of step m (leaves x outputs, of rank 1 for Algorithm 3), every sum over the residual R =
//! Y − F is a sum over Y, which stores few values, minus one sum per step, which has few distinct values:
//!
//! ```text
//! R φᵀ       = Y φᵀ − 1 (ρ₀·φ) − Σ_m (V_m φᵀ)[leaf_m]          cost nnz(Y) + M (n + d), times q
//! Rᵀ C g     = Yᵀ C g − ρ₀ Σ c g − Σ_m V_mᵀ a_m                cost nnz(Y) + M (n + d)
//! Σ_leaf c r = Σ_leaf c y − ρ₀ Σ_leaf c − Σ_m N_m V_m          cost nnz(Y) + M n + M L² d
//! ```
//!
//! with a_m the sums of c g over the leaves of step m, and N_m the sums of c over the intersections of the leaves of
//! step m and of the new tree. A V_m of rank 1 costs d, others cost L d. The loss is computed from the decrease in each
//! step.

use super::{Coefficients, LeafIndex, Outputs, Pass, Real, StepUpdate};
use crate::boosting::loss::quotient;
use crate::boosting::step::StepValues;
use ndarray::Array2;
use rayon::prelude::*;
use rpo_core::{MatrixView, csr_row, vectorized};
use rpo_tree::LeafModel;
use rpo_tree::criterion::LeafPenalty;

/// Number of outputs that a thread processes at a time.
const STRIP: usize = 1024;

/// Number of samples whose residuals a thread projects at a time.
const ROWS: usize = 4096;

/// An earlier step.
struct Past {
    leaf_of_row: Vec<u32>,
    values: StepValues,
}

/// Residuals in factored form: the outputs and the steps so far.
pub(crate) struct FactoredResiduals<'a> {
    outputs: &'a Outputs<'a>,
    initial: Vec<f64>,
    penalty: LeafPenalty,
    past: Vec<Past>,
    loss: f64,
    /// The sums from which the next step was computed, per output and leaf (a single leaf for steps of rank 1).
    slopes: Option<Slopes>,
}

/// Σ w r (d x L, output by output) and Σ w (L) along a tree, which determine the decrease of the loss.
struct Slopes {
    residual: Vec<f64>,
    weight: Vec<f64>,
}

impl<'a> FactoredResiduals<'a> {
    /// Creates the state from the initial constants.
    pub(crate) fn new(outputs: &'a Outputs<'a>, initial: Vec<f64>, penalty: LeafPenalty) -> Self {
        let total: f64 = outputs.weights.iter().map(|&c| f64::from(c)).sum();
        let loss = (0..initial.len())
            .into_par_iter()
            .with_min_len(STRIP)
            .map(|j| {
                let (mut sum, mut stored) = (0.0, 0.0);
                outputs.for_each_in_column(j, |i, y| {
                    let c = f64::from(outputs.weights[i]);
                    sum += 0.5 * c * (y - initial[j]) * (y - initial[j]);
                    stored += c;
                });
                sum + 0.5 * (total - stored) * initial[j] * initial[j]
            })
            .collect::<Vec<f64>>();
        Self {
            outputs,
            loss: loss.iter().sum(),
            penalty,
            initial,
            past: Vec::new(),
            slopes: None,
        }
    }

    fn weight(&self, row: usize) -> f64 {
        f64::from(self.outputs.weights[row])
    }

    pub(super) fn run<Z: Real>(&mut self, pass: Pass<'_, Z>) -> f64 {
        if let Some((leaves, update)) = pass.update {
            self.update(leaves, update);
        }
        // The square loss has the second derivative 1.
        for next in pass.next {
            self.project(next.phi, next.z);
        }
        self.loss
    }

    /// Subtracts the decrease by an update from the loss, and stores the update.
    fn update(&mut self, leaves: &LeafIndex, update: &StepUpdate) {
        let slopes = match (self.slopes.take(), update) {
            (Some(slopes), _) => slopes,
            // A step of a model to be continued.
            (None, StepUpdate::Product { leaves: g, .. }) => self.scalar_slopes(leaves, g),
            (None, StepUpdate::Vectors(_)) => self.vector_slopes(leaves),
        };
        let d = self.initial.len();
        let gain = |value: f64, residual: f64, weight: f64| value * residual - 0.5 * value * value * weight;
        let n_leaves = slopes.weight.len();
        let strips: Vec<f64> = (0..d)
            .into_par_iter()
            .step_by(STRIP)
            .map(|start| {
                let mut sum = 0.0;
                for j in start..(start + STRIP).min(d) {
                    let residual = &slopes.residual[j * n_leaves..][..n_leaves];
                    for (leaf, (&r, &w)) in residual.iter().zip(&slopes.weight).enumerate() {
                        sum += match update {
                            StepUpdate::Product { outputs, .. } => gain(outputs[j], r, w),
                            StepUpdate::Vectors(values) => gain(values[[leaf, j]], r, w),
                        };
                    }
                }
                sum
            })
            .collect();
        // Rounding may make the loss negative once it is near 0.
        self.loss = (self.loss - strips.iter().sum::<f64>()).max(0.0);
        self.past.push(Past {
            leaf_of_row: leaves.of_row.clone(),
            values: update.to_stored(),
        });
    }

    fn project<Z: Real>(&self, phi: &Coefficients, z: &mut [Z]) {
        let q = phi.n_components();
        let mut constant = vec![0.0; q];
        phi.project(&self.initial, &mut constant);
        let tables: Vec<Vec<f64>> = self.past.par_iter().map(|past| past.table(phi)).collect();
        let MatrixView::Sparse(y) = self.outputs.y else {
            unreachable!("factored outputs are sparse")
        };
        z.par_chunks_mut(ROWS * q).enumerate().for_each(|(chunk, z)| {
            let start = chunk * ROWS;
            let mut sums = vec![0.0; z.len()];
            for (i, sums) in sums.chunks_exact_mut(q).enumerate() {
                let (columns, values) = csr_row(&y, start + i);
                phi.project_sparse(columns, values, sums);
                sums.iter_mut().zip(&constant).for_each(|(sum, c)| *sum -= c);
            }
            for (past, table) in self.past.iter().zip(&tables) {
                let leaves = &past.leaf_of_row[start..];
                if q == 1 {
                    for (sum, &leaf) in sums.iter_mut().zip(leaves) {
                        *sum -= table[leaf as usize];
                    }
                    continue;
                }
                for (sums, &leaf) in sums.chunks_exact_mut(q).zip(leaves) {
                    let table = &table[leaf as usize * q..][..q];
                    sums.iter_mut().zip(table).for_each(|(sum, t)| *sum -= t);
                }
            }
            z.iter_mut()
                .zip(&sums)
                .for_each(|(z, &sum)| *z = Z::from_f64(sum));
        });
    }

    /// Returns, for each earlier step, the sums over the samples of each leaf, split into `width` parts per leaf.
    ///
    /// Each addition waits for the previous one to the same sum, so several steps are processed side by side.
    fn sums_by_leaf(
        &self,
        width: usize,
        part: impl Fn(usize) -> usize + Sync,
        value: impl Fn(usize) -> f64 + Sync,
    ) -> Vec<Vec<f64>> {
        const TOGETHER: usize = 4;
        let n = self.outputs.n_rows();
        let of_group = |group: &[Past]| {
            let mut sums: Vec<_> = group
                .iter()
                .map(|past| vec![0.0; past.values.n_leaves() * width])
                .collect();
            if let (Ok(group), Ok(sums)) = (
                <&[Past; TOGETHER]>::try_from(group),
                <&mut [Vec<f64>; TOGETHER]>::try_from(&mut sums[..]),
            ) {
                let leaves = group.each_ref().map(|past| &past.leaf_of_row[..n]);
                for i in 0..n {
                    let (part, value) = (part(i), value(i));
                    for (sums, leaves) in sums.iter_mut().zip(leaves) {
                        sums[leaves[i] as usize * width + part] += value;
                    }
                }
            } else {
                for (past, sums) in group.iter().zip(&mut sums) {
                    for (i, &leaf) in past.leaf_of_row.iter().enumerate() {
                        sums[leaf as usize * width + part(i)] += value(i);
                    }
                }
            }
            sums
        };
        self.past.par_chunks(TOGETHER).flat_map_iter(of_group).collect()
    }

    /// Returns Rᵀ C g and Σ c g².
    fn scalar_slopes(&self, leaves: &LeafIndex, g: &[f64]) -> Slopes {
        let n = self.outputs.n_rows();
        // c g by row.
        let tree: Vec<f64> = (0..n)
            .map(|i| self.weight(i) * g[leaves.of_row[i] as usize])
            .collect();
        let total: f64 = tree.iter().sum();
        let shares = self.sums_by_leaf(1, |_| 0, |i| tree[i]);
        let mut residual = vec![0.0; self.initial.len()];
        residual
            .par_chunks_mut(STRIP)
            .enumerate()
            .for_each(|(strip, sums)| {
                let start = strip * STRIP;
                for (k, sum) in sums.iter_mut().enumerate() {
                    self.outputs
                        .for_each_in_column(start + k, |i, y| *sum += y * tree[i]);
                    *sum -= self.initial[start + k] * total;
                }
                for (past, share) in self.past.iter().zip(&shares) {
                    past.subtract(share, 1, start, sums);
                }
            });
        let squares = (0..n).map(|i| tree[i] * g[leaves.of_row[i] as usize]).sum();
        Slopes {
            residual,
            weight: vec![squares],
        }
    }

    /// Returns Σ_leaf c r per output and leaf, and Σ_leaf c.
    fn vector_slopes(&self, leaves: &LeafIndex) -> Slopes {
        let (n, n_leaves) = (self.outputs.n_rows(), leaves.n_leaves);
        let mut weight = vec![0.0; n_leaves];
        (0..n).for_each(|i| weight[leaves.of_row[i] as usize] += self.weight(i));
        // Weights of the intersections of the leaves of step m and the new leaves, by leaf of m.
        let common = self.sums_by_leaf(n_leaves, |i| leaves.of_row[i] as usize, |i| self.weight(i));
        let mut residual = vec![0.0; self.initial.len() * n_leaves];
        let strips = residual.par_chunks_mut(STRIP * n_leaves).enumerate();
        strips.for_each(|(strip, sums)| {
            let start = strip * STRIP;
            for (k, sums) in sums.chunks_exact_mut(n_leaves).enumerate() {
                self.outputs.for_each_in_column(start + k, |i, y| {
                    sums[leaves.of_row[i] as usize] += self.weight(i) * y;
                });
                for (sum, w) in sums.iter_mut().zip(&weight) {
                    *sum -= self.initial[start + k] * w;
                }
            }
            for (past, common) in self.past.iter().zip(&common) {
                past.subtract(common, n_leaves, start, sums);
            }
        });
        Slopes { residual, weight }
    }

    pub(super) fn scalar_steps(&mut self, leaves: &LeafIndex, g: &[f64]) -> Vec<f64> {
        let slopes = self.scalar_slopes(leaves, g);
        let steps = slopes
            .residual
            .iter()
            .map(|&r| quotient(r, slopes.weight[0], 0.0))
            .collect();
        self.slopes = Some(slopes);
        steps
    }

    /// Returns penalized mean residuals; the step is 1.
    pub(super) fn vector_steps(&mut self, leaves: &LeafIndex) -> Array2<f64> {
        let slopes = self.vector_slopes(leaves);
        let n_leaves = leaves.n_leaves;
        let means = Array2::from_shape_fn((n_leaves, self.initial.len()), |(leaf, j)| {
            let residual = slopes.residual[j * n_leaves + leaf];
            self.penalty.value(residual, slopes.weight[leaf])
        });
        self.slopes = Some(slopes);
        means
    }
}

impl Past {
    /// Returns V φᵀ, leaf by leaf.
    fn table(&self, phi: &Coefficients) -> Vec<f64> {
        let q = phi.n_components();
        let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
        match &self.values {
            StepValues::Product { leaves, outputs } => {
                let mut along = vec![0.0; q];
                phi.project(&wide(outputs), &mut along);
                let leaf = |&g: &f32| along.iter().map(move |a| f64::from(g) * a);
                leaves.iter().flat_map(leaf).collect()
            }
            StepValues::Vectors(values) => {
                let mut table = vec![0.0; values.nrows() * q];
                for (row, out) in values.rows().into_iter().zip(table.chunks_exact_mut(q)) {
                    phi.project(&wide(row.as_slice().expect("made in row order")), out);
                }
                table
            }
            StepValues::Sparse(_) | StepValues::Single { .. } => unreachable!("kept in the other forms"),
        }
    }

    /// Subtracts Σ_l shares[l, k] V[l, j] from sums[j, k] (k < width) for a strip of outputs.
    fn subtract(&self, shares: &[f64], width: usize, start: usize, sums: &mut [f64]) {
        let rows = sums.chunks_exact_mut(width);
        match &self.values {
            StepValues::Product { leaves, outputs } => {
                let mut total = vec![0.0; width];
                for (&g, shares) in leaves.iter().zip(shares.chunks_exact(width)) {
                    total
                        .iter_mut()
                        .zip(shares)
                        .for_each(|(t, s)| *t += f64::from(g) * s);
                }
                for (sums, &v) in rows.zip(&outputs[start..]) {
                    sums.iter_mut()
                        .zip(&total)
                        .for_each(|(sum, t)| *sum -= t * f64::from(v));
                }
            }
            StepValues::Vectors(values) => vectorized(
                #[inline(always)]
                || subtract_products(values, start, (shares, width), sums),
            ),
            StepValues::Sparse(_) | StepValues::Single { .. } => unreachable!("kept in the other forms"),
        }
    }
}

/// Subtracts Σ_l shares[l, k] V[l, j] from sums[j, k] (k < width) for the outputs from `start` on.
#[inline(always)]
fn subtract_products(values: &Array2<f32>, start: usize, (shares, width): (&[f64], usize), sums: &mut [f64]) {
    /// Number of outputs, and of sums per output, that stay in registers during the loop over leaves.
    const OUTPUTS: usize = 4;
    const SUMS: usize = 8;
    for (block, sums) in sums.chunks_mut(OUTPUTS * width).enumerate() {
        let first = start + block * OUTPUTS;
        if sums.len() < OUTPUTS * width {
            for (j, sums) in sums.chunks_exact_mut(width).enumerate() {
                (0..width).for_each(|k| subtract_tile::<1, 1>(values, first + j, (shares, width), k, sums));
            }
            continue;
        }
        let whole = width / SUMS * SUMS;
        for k in (0..whole).step_by(SUMS) {
            subtract_tile::<OUTPUTS, SUMS>(values, first, (shares, width), k, sums);
        }
        for k in whole..width {
            subtract_tile::<OUTPUTS, 1>(values, first, (shares, width), k, sums);
        }
    }
}

/// Like [`subtract_products`], but for J outputs and K sums of each, from output `first` and sum k on.
#[inline(always)]
fn subtract_tile<const J: usize, const K: usize>(
    values: &Array2<f32>,
    first: usize,
    (shares, width): (&[f64], usize),
    k: usize,
    sums: &mut [f64],
) {
    let mut tile = [[0.0; K]; J];
    for (tile, sums) in tile.iter_mut().zip(sums.chunks_exact(width)) {
        tile.copy_from_slice(&sums[k..k + K]);
    }
    let values = values
        .as_slice()
        .expect("made in row order")
        .chunks_exact(values.ncols());
    for (values, shares) in values.zip(shares.chunks_exact(width)) {
        let shares: &[f64; K] = shares[k..].first_chunk().expect("sums end where shares do");
        for (tile, &value) in tile.iter_mut().zip(&values[first..first + J]) {
            let value = f64::from(value);
            *tile = std::array::from_fn(|i| tile[i] - value * shares[i]);
        }
    }
    for (tile, sums) in tile.iter().zip(sums.chunks_exact_mut(width)) {
        sums[k..k + K].copy_from_slice(tile);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_matrices() {
        for (n_leaves, width, n_outputs, start) in [(1, 1, 1, 0), (3, 2, 5, 2), (5, 8, 4, 1), (4, 21, 11, 3)]
        {
            let values = Array2::from_shape_fn((n_leaves, start + n_outputs), |(l, j)| {
                (l as f32 + 1.0) / (j as f32 + 2.0)
            });
            let shares: Vec<f64> = (0..n_leaves * width).map(|i| (i as f64 - 7.0) / 3.0).collect();
            let before: Vec<f64> = (0..n_outputs * width).map(|i| 1.0 / (i as f64 + 1.0)).collect();
            let mut sums = before.clone();
            subtract_products(&values, start, (&shares, width), &mut sums);
            for (i, (sum, before)) in sums.iter().zip(before).enumerate() {
                let (j, k) = (i / width, i % width);
                let expected = (0..n_leaves).fold(before, |sum, l| {
                    sum - f64::from(values[[l, start + j]]) * shares[l * width + k]
                });
                assert_eq!(*sum, expected, "output {j}, sum {k} of {width}");
            }
        }
    }
}
