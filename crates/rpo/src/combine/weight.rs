//! The weight of a member.

use ndarray::{Array1, Array2};

/// The weight of a member of an ensemble. Where labels stand beside numbers, a member may be good at one kind only, so
/// that either has weights of its own.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Weight {
    /// The weight of all outputs or, if labels have their own, of numbers.
    pub(crate) of_outputs: f64,
    /// The weight of labels beside numbers, if they have their own.
    pub(crate) of_labels: Option<f64>,
}

impl Weight {
    /// The same weight for all outputs.
    pub(super) fn same(weight: f64) -> Self {
        Self {
            of_outputs: weight,
            of_labels: None,
        }
    }

    /// The larger absolute value; 0 for no member.
    pub(crate) fn size(self) -> f64 {
        self.of_outputs
            .abs()
            .max(self.of_labels.unwrap_or_default().abs())
    }

    /// Divides by another weight, kind by kind.
    pub(super) fn over(self, total: Self) -> Self {
        Self {
            of_outputs: self.of_outputs / total.of_outputs,
            of_labels: self
                .of_labels
                .map(|weight| weight / total.of_labels.unwrap_or(total.of_outputs)),
        }
    }

    /// The sum of weights, kind by kind.
    pub(super) fn sum(weights: impl Iterator<Item = Self>) -> Self {
        weights
            .reduce(|sum, weight| Self {
                of_outputs: sum.of_outputs + weight.of_outputs,
                of_labels: sum.of_labels.zip(weight.of_labels).map(|(a, b)| a + b),
            })
            .unwrap_or_default()
    }

    /// The weight of each of `n` outputs, of which some are labels.
    pub(super) fn by_output(self, n: usize, labels: &[usize]) -> Array1<f64> {
        let mut weights = Array1::from_elem(n, self.of_outputs);
        if let Some(weight) = self.of_labels {
            labels.iter().for_each(|&label| weights[label] = weight);
        }
        weights
    }

    /// Multiplies scores, whose columns are outputs, of which some are labels.
    pub(super) fn scale(self, scores: &mut Array2<f32>, labels: &[usize]) {
        match self.of_labels {
            None => *scores *= self.of_outputs as f32,
            Some(_) => {
                let weights = self.by_output(scores.ncols(), labels);
                *scores *= &weights.mapv(|weight| weight as f32);
            }
        }
    }
}
