//! Sample weights: checks and sums.

mod wide_sum;

pub use wide_sum::WideSum;

/// An invalid sample weight. The error of every crate that takes weights has a variant for it.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightError {
    /// A weight that is negative, NaN or infinite.
    #[error("the weight of sample {sample} must be finite and not negative, got {value}")]
    OutOfRange {
        /// Index of the sample, from 0.
        sample: usize,
        /// The weight.
        value: f32,
    },
    /// All weights are 0.
    #[error("no sample has a positive weight")]
    AllZero,
}

impl WeightError {
    /// Refuses weights that are negative or not finite, or all 0.
    ///
    /// ```
    /// use rpo_core::WeightError;
    /// assert_eq!(WeightError::check([0.5, 0.0, 2.0]), Ok(()));
    /// assert_eq!(WeightError::check([1.0, -1.0]), Err(WeightError::OutOfRange { sample: 1, value: -1.0 }));
    /// assert_eq!(WeightError::check([0.0, 0.0]), Err(WeightError::AllZero));
    /// ```
    ///
    /// # Errors
    /// [`WeightError`] for the first weight that is out of range.
    pub fn check(weights: impl IntoIterator<Item = f32>) -> Result<(), Self> {
        let mut has_weight = false;
        for (sample, value) in weights.into_iter().enumerate() {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Self::OutOfRange { sample, value });
            }
            has_weight |= value > 0.0;
        }
        match has_weight {
            true => Ok(()),
            false => Err(Self::AllZero),
        }
    }
}
