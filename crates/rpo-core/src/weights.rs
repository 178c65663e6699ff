//! Weights of samples, and the checks of them.

/// A weight of a sample that cannot be used: the error of every crate that takes weights has a variant for it.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum WeightError {
    /// A weight that is negative, NaN or infinite.
    #[error("the weight of sample {sample} must be finite and not negative, got {value}")]
    OutOfRange {
        /// Sample, from 0.
        sample: usize,
        /// The weight.
        value: f32,
    },
    /// Weights that are all 0.
    #[error("no sample has a positive weight")]
    AllZero,
}

impl WeightError {
    /// Refuses weights, each beside the sample it is of, that are negative or not finite.
    ///
    /// # Errors
    /// [`WeightError::OutOfRange`] for the first of them.
    pub fn check_range(weights: impl IntoIterator<Item = (usize, f32)>) -> Result<(), Self> {
        let mut weights = weights.into_iter();
        let bad = weights.find(|(_, weight)| !(weight.is_finite() && *weight >= 0.0));
        bad.map_or(Ok(()), |(sample, value)| Err(Self::OutOfRange { sample, value }))
    }

    /// [`check_range`](Self::check_range), and refuses weights that are all 0.
    ///
    /// # Errors
    /// [`WeightError`].
    pub fn check_of(weights: impl IntoIterator<Item = (usize, f32)>) -> Result<(), Self> {
        let mut has_weight = false;
        let weights = weights.into_iter();
        Self::check_range(weights.inspect(|(_, weight)| has_weight |= *weight > 0.0))?;
        match has_weight {
            true => Ok(()),
            false => Err(Self::AllZero),
        }
    }

    /// The same of a weight for each sample, in their order.
    ///
    /// ```
    /// use rpo_core::WeightError;
    /// assert_eq!(WeightError::check(&[0.5, 0.0, 2.0]), Ok(()));
    /// assert_eq!(WeightError::check(&[1.0, -1.0]), Err(WeightError::OutOfRange { sample: 1, value: -1.0 }));
    /// assert_eq!(WeightError::check(&[0.0, 0.0]), Err(WeightError::AllZero));
    /// ```
    ///
    /// # Errors
    /// [`WeightError`].
    pub fn check(weights: &[f32]) -> Result<(), Self> {
        Self::check_of(weights.iter().copied().enumerate())
    }
}
