//! Forests as linfa estimators (crate feature `linfa`).
//!
//! [`ForestParams`] implements [`Fit`] for datasets of dense `f32` features and outputs, with sample weights, and
//! [`Forest`] implements `Predict`. Traits of this crate have methods of the same names that take matrices, so call
//! linfa's methods through their trait:
//!
//! ```
//! use linfa::Dataset;
//! use linfa::traits::{Fit, Predict};
//! use ndarray::Array2;
//! use rpo_ensemble::ForestParams;
//!
//! let x = Array2::from_shape_fn((60, 2), |(i, j)| ((i * (j + 3)) % 17) as f32);
//! let y = Array2::from_shape_fn((60, 3), |(i, k)| f32::from(x[[i, 0]] > 4.0 * k as f32));
//! let data = Dataset::new(x, y);
//! let forest = Fit::fit(&ForestParams { trees: 10, ..ForestParams::default() }, &data)?;
//! let predicted: Array2<f32> = Predict::predict(&forest, &data);
//! assert_eq!(predicted.dim(), (60, 3));
//! # Ok::<(), rpo_ensemble::linfa::FitError>(())
//! ```

use crate::{EnsembleError, Forest, ForestOptions, ForestParams};
use ::linfa::DatasetBase;
use ::linfa::traits::{Fit, PredictInplace};
use ndarray::{Array2, ArrayBase, Data, Ix2};
use rpo_core::{Learner, Predictor};

/// The error of fitting through linfa.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// An error of this crate.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// An error of linfa.
    #[error(transparent)]
    Linfa(#[from] ::linfa::Error),
}

impl<X, Y> Fit<ArrayBase<X, Ix2>, ArrayBase<Y, Ix2>, FitError> for ForestParams
where
    X: Data<Elem = f32>,
    Y: Data<Elem = f32>,
{
    type Object = Forest;

    fn fit(&self, data: &DatasetBase<ArrayBase<X, Ix2>, ArrayBase<Y, Ix2>>) -> Result<Forest, FitError> {
        let (x, y) = (data.records.view(), data.targets.view());
        let options = ForestOptions {
            weights: data.weights(),
            ..ForestOptions::default()
        };
        Ok(self.fit_with(x.into(), y.into(), options)?)
    }
}

/// Panics for features that [`Forest::predict`] refuses, because linfa's prediction cannot fail.
impl<X: Data<Elem = f32>> PredictInplace<ArrayBase<X, Ix2>, Array2<f32>> for Forest {
    fn predict_inplace(&self, x: &ArrayBase<X, Ix2>, y: &mut Array2<f32>) {
        let predicted = self.predict(x.view().into());
        *y = predicted.unwrap_or_else(|error| panic!("prediction failed: {error}"));
    }

    fn default_target(&self, x: &ArrayBase<X, Ix2>) -> Array2<f32> {
        Array2::zeros((x.nrows(), self.n_outputs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array1;

    #[test]
    fn samples_have_the_weights_of_the_data_set() {
        let x = Array2::from_shape_fn((40, 2), |(i, j)| ((i * (j + 3)) % 11) as f32);
        let y = Array2::from_shape_fn((40, 1), |(i, _)| ((i * 7) % 5) as f32);
        let weights = Array1::from_shape_fn(40, |i| (i % 3) as f32);
        let params = ForestParams {
            trees: 3,
            ..ForestParams::default()
        };
        let data = DatasetBase::new(x.clone(), y.clone()).with_weights(weights.clone());
        let options = ForestOptions {
            weights: weights.as_slice(),
            ..ForestOptions::default()
        };
        let expected = params.fit_with((&x).into(), (&y).into(), options).unwrap();
        assert_eq!(Fit::fit(&params, &data).unwrap(), expected);
        let unweighted = Learner::fit(&params, (&x).into(), (&y).into()).unwrap();
        assert_ne!(unweighted, expected);
    }
}
