//! Coordinate descent for several labels side by side.

use super::loss::{LaneLoss, Step};
use super::{Bias, DualParams, LANES, Positives, Rows, Solution, prior_log_odds};

/// The state of the problems of several labels.
pub(super) struct Lanes<'r, F> {
    pub(super) rows: &'r Rows,
    pub(super) loss: F,
    /// Labels of each sample, one bit per label.
    pub(super) labels: Vec<u8>,
    /// Dual variables of each sample.
    pub(super) alpha: Vec<[f32; LANES]>,
    /// Weights of each feature.
    weights: Vec<[f32; LANES]>,
    pub(super) bias: Bias,
    /// Weight of the bias for each label.
    pub(super) bias_weights: [f32; LANES],
    /// Numbers added to the scores, in addition to the bias.
    pub(super) shift: [f32; LANES],
}

impl<'r, F: LaneLoss> Lanes<'r, F> {
    pub(super) fn new(rows: &'r Rows, positives: &[Positives<'_>], loss: F, params: &DualParams) -> Self {
        let n = rows.n_rows();
        let mut labels = vec![0; n];
        for (lane, positives) in positives.iter().enumerate() {
            positives
                .samples
                .iter()
                .for_each(|&i| labels[i as usize] |= 1 << lane);
        }
        let mut shift = [0.0; LANES];
        if params.bias.is_free {
            for (shift, positives) in shift.iter_mut().zip(positives) {
                *shift = prior_log_odds(positives.samples.len() as f64, n as f64) as f32;
            }
        }
        Self {
            rows,
            loss,
            labels,
            alpha: vec![[0.0; LANES]; n],
            weights: vec![[0.0; LANES]; rows.n_features()],
            bias: params.bias,
            bias_weights: [0.0; LANES],
            shift,
        }
    }

    /// Returns the step of a sample.
    #[inline(always)]
    pub(super) fn step(&self, row: usize) -> Step {
        let weight = self.rows.weight(row);
        if weight == 0.0 {
            return Step::none();
        }
        let (features, values) = self.rows.row(row);
        let mut z = self.shift;
        for (&j, &v) in features.iter().zip(values) {
            let weights = &self.weights[j as usize];
            for l in 0..LANES {
                z[l] += v * weights[l];
            }
        }
        let bias = self.bias.value;
        for l in 0..LANES {
            z[l] += bias * self.bias_weights[l];
        }
        let square = self.rows.square(row) + bias * bias;
        self.loss
            .step(self.labels[row], &z, &self.alpha[row], square, weight)
    }

    #[inline(always)]
    pub(super) fn take(&mut self, row: usize, step: &Step) {
        self.alpha[row] = step.alpha;
        self.add(row, &step.change);
    }

    /// Adds a multiple of a sample to the weights of each label.
    #[inline(always)]
    fn add(&mut self, row: usize, change: &[f32; LANES]) {
        let (features, values) = self.rows.row(row);
        for (&j, &v) in features.iter().zip(values) {
            let weights = &mut self.weights[j as usize];
            for l in 0..LANES {
                weights[l] += v * change[l];
            }
        }
        for l in 0..LANES {
            self.bias_weights[l] += self.bias.value * change[l];
        }
    }

    pub(super) fn solution(self, residual: f32) -> Solution {
        Solution {
            weights: self.weights,
            offsets: std::array::from_fn(|l| self.shift[l] + self.bias.value * self.bias_weights[l]),
            residual,
        }
    }
}
