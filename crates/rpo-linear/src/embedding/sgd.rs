//! Preconditioned stochastic gradient descent on logistic losses.

use std::ops::RangeInclusive;

use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use rpo_core::{InverseLink, MatrixView, Seed, product, product_into};

use super::loss::{apply_to_rows, loss};
use super::terms::Terms;
use crate::LinearError;
use crate::options::Limits;

/// Minimum and maximum number of labels, or samples, per task. Every task of labels packs the terms of the batch anew,
/// and holds a gradient.
const TASK: RangeInclusive<usize> = 32..=512;
/// Number of rows that one task evaluates.
const JUDGED: usize = 256;
/// Maximum number of activations or features of a batch.
const BATCH_VALUES: usize = 100_000_000;

/// Preconditioned stochastic gradient descent with momentum.
#[derive(Debug, Clone, Copy)]
pub(super) struct SgdParams {
    pub(super) epochs: usize,
    /// Step length η.
    pub(super) rate: f64,
    /// Momentum α.
    pub(super) momentum: f64,
    /// Factor on the step length and on the accumulated change after each epoch.
    pub(super) decay: f64,
    /// Targets are s₀ and 1 - s₀ in place of 1 and 0.
    pub(super) smoothing: f64,
    /// Number of samples per step.
    pub(super) batch: Option<usize>,
    /// Fraction of the samples withheld to choose the epoch.
    pub(super) withhold: f64,
}

/// The rule for the final weights of a descent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending<'a> {
    /// The weights of the epoch with the smallest loss on these samples.
    Best(&'a [usize]),
    /// The weights after this number of epochs.
    After(usize),
}

/// A descent on Θ'ᵀ (outputs x terms), the weights of whitened terms: activations are Θᵀ φ = (LᵀΘ)ᵀ (L⁻¹φ), so that
/// Θ' = LᵀΘ.
pub(super) struct Sgd<'a, 'x, 'y> {
    pub(super) terms: &'a Terms<'a, 'x>,
    pub(super) y: MatrixView<'y>,
    pub(super) inverse_link: InverseLink,
    pub(super) params: SgdParams,
    /// (ΦᵀY)ᵀ over the training samples.
    pub(super) right: Array2<f32>,
    /// The training samples.
    pub(super) training: &'a [usize],
    pub(super) ending: Ending<'a>,
    pub(super) limits: Limits<'a>,
    pub(super) seed: Seed,
}

/// The result of a descent.
pub(super) struct Descended {
    /// Θ'ᵀ.
    pub(super) weights: Array2<f64>,
    /// Mean loss per sample, before the first epoch and after each; empty if the number of epochs is given.
    pub(super) losses: Vec<f64>,
    /// The epoch whose weights were kept; 0 for the start.
    pub(super) kept: usize,
}

impl Sgd<'_, '_, '_> {
    /// Descends from the weights `start`, which are kept if no epoch has a smaller loss.
    ///
    /// Per batch of h rows, Δ ← α Δ + (1-α) η (ΦᵀY - (n/h) Φ_bᵀ P), Θ ← Θ + Δ: the contribution of the labels is that
    /// of all rows, computed once; only the probabilities P are sampled. Whitening the terms has the effect of the
    /// paper's preconditioner C⁻¹ = (ΦᵀΦ + λ̄₂I)⁻¹, without a solve at each step.
    ///
    /// Source: Karampatziakis, Mineiro, 2015, line 14 of Algorithm 3, following the software of the authors. That starts
    /// from plain least squares; callers here add the labels' log-odds to the intercepts, from which the few passes of the
    /// default end nearer to the minimum.
    pub(super) fn run(&self, start: Array2<f32>) -> Result<Descended, LinearError> {
        let SgdParams {
            epochs,
            mut rate,
            momentum,
            decay,
            ..
        } = self.params;
        let batch = self.batch();
        let target = self.target();
        let mut weights = start;
        let mut change = Array2::<f32>::zeros(weights.dim());
        let (mut losses, mut best) = (Vec::new(), None);
        let epochs = match self.ending {
            Ending::After(epochs) => epochs,
            Ending::Best(samples) => {
                let loss = self.judge(&weights, samples);
                if !loss.is_finite() {
                    return Err(LinearError::Overflow {
                        what: "the loss of least squares",
                    });
                }
                losses.push(loss);
                best = Some((0, loss, weights.clone()));
                epochs
            }
        };
        let mut order = self.training.to_vec();
        for epoch in 1..=epochs {
            order.shuffle(&mut self.seed.child(epoch as u64).rng());
            for rows in even_chunks(&order, batch) {
                self.limits.check_stop()?;
                let step = ((1.0 - momentum) * rate) as f32;
                self.step(&mut weights, &mut change, &target, rows, (momentum as f32, step));
            }
            rate *= decay;
            change *= decay as f32;
            let Ending::Best(samples) = self.ending else {
                continue;
            };
            let loss = self.judge(&weights, samples);
            losses.push(loss);
            // A descent that diverges never recovers.
            if !loss.is_finite() {
                break;
            }
            if best.as_ref().is_none_or(|(_, least, _)| loss < *least) {
                best = Some((epoch, loss, weights.clone()));
            }
        }
        let (kept, _, weights) = best.unwrap_or((epochs, f64::NAN, weights));
        Ok(Descended {
            weights: weights.mapv(f64::from),
            losses,
            kept,
        })
    }

    fn batch(&self) -> usize {
        let n = self.training.len();
        let wide = self.right.nrows().max(self.right.ncols());
        let most = BATCH_VALUES.div_ceil(wide);
        self.params.batch.unwrap_or(n.div_ceil(10).min(most)).clamp(1, n)
    }

    /// Computes (ΦᵀY)ᵀ for smoothed labels: s₀ Y + (1 - s₀)(1 - Y).
    fn target(&self) -> Array2<f32> {
        let smoothing = self.params.smoothing as f32;
        if smoothing >= 1.0 {
            return self.right.clone();
        }
        let mut sums = Array1::<f64>::zeros(self.terms.n_terms());
        for rows in self.training.chunks(1024) {
            let phi = self.terms.select(rows);
            for row in phi.rows() {
                sums.zip_mut_with(&row, |sum, &v| *sum += f64::from(v));
            }
        }
        let shift = sums.mapv(|v| (1.0 - smoothing) * v as f32);
        &self.right * (2.0 * smoothing - 1.0) + &shift
    }

    fn step(
        &self,
        weights: &mut Array2<f32>,
        change: &mut Array2<f32>,
        target: &Array2<f32>,
        rows: &[usize],
        (momentum, step): (f32, f32),
    ) {
        let phi = self.terms.select(rows);
        let probabilities = self.probabilities(weights, phi.view());
        let scale = self.training.len() as f32 / rows.len() as f32;
        let labels = per_task(weights.nrows());
        weights
            .axis_chunks_iter_mut(Axis(0), labels)
            .into_par_iter()
            .zip(change.axis_chunks_iter_mut(Axis(0), labels))
            .zip(target.axis_chunks_iter(Axis(0), labels))
            .zip(probabilities.axis_chunks_iter(Axis(0), labels))
            .for_each(|(((mut weights, mut change), target), probabilities)| {
                let mut gradient = product(probabilities, phi.view());
                gradient.zip_mut_with(&target, |g, &t| *g = t - scale * *g);
                change.zip_mut_with(&gradient, |c, &g| *c = momentum * *c + step * g);
                weights += &change;
            });
    }

    /// Computes P (outputs x rows).
    fn probabilities(&self, weights: &Array2<f32>, phi: ArrayView2<'_, f32>) -> Array2<f32> {
        let mut activations = activations(weights, phi);
        let (labels, samples) = (per_task(weights.nrows()), per_task(phi.nrows()));
        match self.inverse_link {
            InverseLink::Softmax => {
                activations
                    .view_mut()
                    .reversed_axes()
                    .axis_chunks_iter_mut(Axis(0), samples)
                    .into_par_iter()
                    .for_each(|activations| apply_to_rows(self.inverse_link, activations));
            }
            _ => activations
                .axis_chunks_iter_mut(Axis(0), labels)
                .into_par_iter()
                .for_each(|activations| apply_to_rows(self.inverse_link, activations)),
        }
        activations
    }

    /// Returns the mean loss of some samples.
    fn judge(&self, weights: &Array2<f32>, samples: &[usize]) -> f64 {
        let losses: Vec<f64> = samples
            .par_chunks(JUDGED)
            .map(|rows| {
                let activations = product(self.terms.select(rows).view(), weights.t());
                loss(self.inverse_link, activations.view(), |i, f| {
                    self.y.for_each_in_row(rows[i], |j, v| f(j as usize, v.into()));
                })
            })
            .collect();
        losses.iter().sum::<f64>() / samples.len() as f64
    }
}

/// Computes Θᵀ Φᵀ (outputs x rows).
fn activations(weights: &Array2<f32>, phi: ArrayView2<'_, f32>) -> Array2<f32> {
    let mut out = Array2::zeros((weights.nrows(), phi.nrows()));
    let labels = per_task(weights.nrows());
    out.axis_chunks_iter_mut(Axis(0), labels)
        .into_par_iter()
        .zip(weights.axis_chunks_iter(Axis(0), labels))
        .for_each(|(out, weights)| product_into(weights, phi.t(), out));
    out
}

/// Returns the number of labels, or samples, per task. No sum depends on the other content of its task.
fn per_task(n: usize) -> usize {
    let tasks = match rayon::current_num_threads() {
        1 => 1,
        threads => 2 * threads,
    };
    n.div_ceil(tasks).clamp(*TASK.start(), *TASK.end())
}

/// Divides samples into as many parts as there are with at most `most` each, of equal size but for one sample: a part of
/// few samples would move the weights as far as the others, in a direction that says little.
fn even_chunks(samples: &[usize], most: usize) -> impl Iterator<Item = &[usize]> {
    let (n, n_parts) = (samples.len(), samples.len().div_ceil(most));
    (0..n_parts).map(move |part| &samples[part * n / n_parts..(part + 1) * n / n_parts])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_step_has_few_samples() {
        let samples: Vec<usize> = (0..301).collect();
        for (most, expected) in [(100, 4), (101, 3), (301, 1), (1, 301), (43, 7)] {
            let parts: Vec<&[usize]> = even_chunks(&samples, most).collect();
            assert_eq!((parts.len(), parts.concat()), (expected, samples.clone()));
            let sizes = parts.iter().map(|part| part.len());
            let (least, largest) = (sizes.clone().min().unwrap(), sizes.max().unwrap());
            assert!(largest <= most && largest - least <= 1, "{least} {largest}");
        }
        assert_eq!(even_chunks(&[], 3).count(), 0);
    }
}
