//! A note on the unit of sample weights.

use super::Estimator;
use rpo_data::Dataset;
use std::fmt;

/// The mean weight below which penalties are strong.
const SMALL: f64 = 0.1;

/// Sample weights so small that the penalties of a method, which are in units of samples of weight 1, dominate, as where
/// weights sum to 1. A fit is possible, but hardly what is wanted: commands and packages show this as a note.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmallWeights {
    /// The mean of the positive weights.
    pub mean: f64,
}

impl SmallWeights {
    /// Returns the mean weight if it is below 0.1 and its unit matters ([`Estimator::has_unit_of_weights`]).
    pub fn of(estimator: &dyn Estimator, data: &Dataset) -> Option<Self> {
        let weights = data.weights().filter(|_| estimator.has_unit_of_weights())?;
        let weights = weights.iter().map(|&weight| f64::from(weight));
        let positive: Vec<f64> = weights.filter(|weight| *weight > 0.0).collect();
        let mean = positive.iter().sum::<f64>() / positive.len() as f64;
        (mean < SMALL).then_some(Self { mean })
    }
}

impl fmt::Display for SmallWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the mean weight is {:.2e}, and penalties of this method are in units of samples of weight 1, so that they \
             dominate: multiply the weights by a constant, for a mean of 1",
            self.mean
        )
    }
}
