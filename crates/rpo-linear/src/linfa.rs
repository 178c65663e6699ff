//! linfa interfaces of the estimators of this crate, with the feature `linfa`.
//!
//! Parameters implement [`Fit`] for datasets of dense `f32` features and outputs, with sample weights unless they are
//! those of label embeddings; models implement `Predict`. The
//! methods of [`Learner`] and [`Predictor`] with the same names take matrices instead, so call linfa's by their trait:
//!
//! ```
//! use linfa::Dataset;
//! use linfa::traits::{Fit, Predict};
//! use ndarray::Array2;
//! use rpo_linear::RidgeParams;
//!
//! let x = Array2::from_shape_fn((60, 2), |(i, j)| ((i * (j + 3)) % 17) as f32);
//! let y = Array2::from_shape_fn((60, 3), |(i, k)| x[[i, 0]] * k as f32 - x[[i, 1]]);
//! let data = Dataset::new(x, y);
//! let model = Fit::fit(&RidgeParams::default(), &data)?;
//! let predicted: Array2<f32> = Predict::predict(&model, &data);
//! assert_eq!(predicted.dim(), (60, 3));
//! # Ok::<(), rpo_linear::linfa::FitError>(())
//! ```

use ::linfa::DatasetBase;
use ::linfa::traits::{Fit, PredictInplace};
use ndarray::{Array2, ArrayBase, Data, Ix2};
use rpo_core::{Learner, ParameterError, Predictor};

use crate::{
    LabelEmbeddingModel, LabelEmbeddingOptions, LabelEmbeddingParams, LinearError, LinearModel,
    LogisticRegressionParams, MatrixView, RegressionOptions, RidgeParams,
};

/// The error of fitting through linfa.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// An error of this crate.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// An error of linfa.
    #[error(transparent)]
    Linfa(#[from] ::linfa::Error),
}

/// Implements linfa's fit; `$options` turns the weights of a data set into options.
macro_rules! impl_linfa {
    ($params:ty, $model:ty, $options:expr) => {
        impl<X, Y> Fit<ArrayBase<X, Ix2>, ArrayBase<Y, Ix2>, FitError> for $params
        where
            X: Data<Elem = f32>,
            Y: Data<Elem = f32>,
        {
            type Object = $model;

            fn fit(
                &self,
                data: &DatasetBase<ArrayBase<X, Ix2>, ArrayBase<Y, Ix2>>,
            ) -> Result<$model, FitError> {
                let (x, y) = (data.records.view(), data.targets.view());
                let options = $options(data.weights())?;
                Ok(self.fit_with(x.into(), y.into(), options)?)
            }
        }
    };
}

impl_linfa!(LabelEmbeddingParams, LabelEmbeddingModel, unweighted);
impl_linfa!(RidgeParams, LinearModel, weighted);
impl_linfa!(LogisticRegressionParams, LinearModel, weighted);

fn weighted(weights: Option<&[f32]>) -> Result<RegressionOptions<'_>, FitError> {
    Ok(RegressionOptions {
        weights,
        ..Default::default()
    })
}

/// Refuses weights that differ, which label embeddings cannot take into account.
fn unweighted(weights: Option<&[f32]>) -> Result<LabelEmbeddingOptions<'static>, FitError> {
    if weights.is_some_and(|weights| weights.iter().any(|weight| *weight != weights[0])) {
        let refused = ParameterError::conflict(
            "weights",
            "unequal",
            "is not for label embeddings, which count all samples alike",
        );
        return Err(LinearError::from(refused).into());
    }
    Ok(LabelEmbeddingOptions::default())
}

macro_rules! impl_predict {
    ($model:ty) => {
        /// Panics if [`predict`](Self::predict) refuses the features, because linfa's prediction cannot fail.
        impl<X: Data<Elem = f32>> PredictInplace<ArrayBase<X, Ix2>, Array2<f32>> for $model {
            fn predict_inplace(&self, x: &ArrayBase<X, Ix2>, y: &mut Array2<f32>) {
                let predicted = self.predict(MatrixView::from(x.view()));
                *y = predicted.unwrap_or_else(|error| panic!("prediction failed: {error}"));
            }

            fn default_target(&self, x: &ArrayBase<X, Ix2>) -> Array2<f32> {
                Array2::zeros((x.nrows(), self.n_outputs()))
            }
        }
    };
}

impl_predict!(LabelEmbeddingModel);
impl_predict!(LinearModel);

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn samples_have_the_weights_of_the_data_set() {
        let (x, y) = (array![[0.0_f32], [1.0], [1.0]], array![[0.0_f32], [1.0], [3.0]]);
        let once = DatasetBase::new(x.clone(), y.clone());
        let weights = array![1.0_f32, 1.0, 5.0];
        let weighted = DatasetBase::new(x.clone(), y.clone()).with_weights(weights.clone());
        let fit = |data: &DatasetBase<_, _>| Fit::fit(&RidgeParams::default(), data).unwrap();
        let options = RegressionOptions {
            weights: weights.as_slice(),
            ..Default::default()
        };
        let expected = RidgeParams::default()
            .fit_with((&x).into(), (&y).into(), options)
            .unwrap();
        assert_eq!(fit(&weighted), expected);
        assert_ne!(fit(&once), expected);
        let refused = Fit::fit(&LabelEmbeddingParams::default(), &weighted).unwrap_err();
        assert!(refused.to_string().contains("weights"), "{refused}");
    }
}
