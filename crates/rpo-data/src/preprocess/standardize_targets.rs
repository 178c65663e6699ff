//! Standardization of targets.

use super::moments::Moments;
use super::{PreprocessError, Transform, check_samples, check_task};
use crate::dataset::{Dataset, DatasetError, Task};
use ndarray::Array2;
use rpo_core::{DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, Mismatch, finite_or_missing};

/// Standardizes targets: y' = (y - mean) / sd, with the mean and the standard deviation (divisor n) of the observed
/// values of the set it is fitted on, which count equally, whatever the weights of the samples. A target that is
/// constant in that set becomes 0 everywhere. Missing values stay missing; a value so far from those of that set that
/// the result would be infinite is an error.
/// [`Steps::standardize`](super::Steps::standardize) standardizes features.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardizer(Moments);

impl Standardizer {
    /// Fits on the targets of a regression; [`Standardizer::restore`] reverts predictions.
    ///
    /// # Errors
    /// [`PreprocessError::NoSamples`], [`PreprocessError::Task`].
    pub fn of_targets(data: &Dataset) -> Result<Self, PreprocessError> {
        check_samples(data)?;
        check_task(data, Task::Regression)?;
        Ok(Self(Moments::of(data.outputs().view(), None)))
    }

    /// Reverts standardized values, such as predictions (n x d), to the scale of the targets: y = y' sd + mean.
    ///
    /// # Errors
    /// [`PreprocessError::Mismatch`].
    pub fn restore(&self, values: &mut Array2<f32>) -> Result<(), PreprocessError> {
        Mismatch::check("outputs", self.0.mean.len(), values.ncols())?;
        for mut row in values.rows_mut() {
            for (j, v) in row.iter_mut().enumerate() {
                let sd = if self.0.factor[j] == 0.0 {
                    0.0
                } else {
                    1.0 / self.0.factor[j]
                };
                *v = (f64::from(*v) * sd + self.0.mean[j]) as f32;
            }
        }
        Ok(())
    }

    /// Standardizes targets (n x d); the result is dense.
    ///
    /// # Errors
    /// [`PreprocessError::Mismatch`], [`PreprocessError::Memory`], and [`PreprocessError::Dataset`] for a value that
    /// would become infinite.
    pub fn standardize(&self, values: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("outputs", self.0.mean.len(), values.n_cols())?;
        let moved = self.0.dense(values, DEFAULT_MEMORY_LIMIT)?;
        let finite = moved.view().check_values(finite_or_missing);
        finite.map_err(DatasetError::Output)?;
        Ok(moved)
    }
}

impl Transform for Standardizer {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        check_task(data, Task::Regression)?;
        Ok(data.replace_outputs(self.standardize(data.outputs().view())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use rpo_core::MatrixError;

    fn regression(y: Array2<f32>) -> Dataset {
        let x = Array2::zeros((y.nrows(), 1));
        Dataset::new(x.into(), y.into(), Task::Regression).unwrap()
    }

    #[test]
    fn hand_computed_and_reverted() {
        let train = regression(array![[1.0, 0.1, 5.0], [3.0, 0.1, 5.0]]);
        let targets = Standardizer::of_targets(&train).unwrap();
        let moved = targets.apply(&train).unwrap();
        assert_eq!(moved.outputs(), &array![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]].into());
        let mut back = moved.outputs().view().to_dense(1000).unwrap();
        targets.restore(&mut back).unwrap();
        assert_eq!(Matrix::from(back), *train.outputs());
    }

    #[test]
    fn a_target_that_would_become_infinite_is_refused() {
        let narrow = Standardizer::of_targets(&regression(array![[0.0], [1e-30]])).unwrap();
        let (row, column, value) = (1, 0, f32::INFINITY);
        assert_eq!(
            narrow.apply(&regression(array![[0.0], [1e20]])),
            Err(DatasetError::Output(MatrixError::NonFinite { row, column, value }).into())
        );
    }
}
