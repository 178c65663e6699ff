//! Output projections as a linfa transformer, with the feature `linfa`.
//!
//! ```
//! use linfa::Dataset;
//! use linfa::traits::{Fit, Transformer};
//! use ndarray::Array2;
//! use rpo_projections::linfa::{OutputProjectionParams, FitError};
//! use rpo_projections::{Components, ProjectionKind};
//!
//! let x = Array2::<f32>::ones((20, 2));
//! let y = Array2::from_shape_fn((20, 8), |(i, j)| f32::from((i + j) % 3 == 0));
//! let data = Dataset::new(x, y);
//! let params = OutputProjectionParams { kind: ProjectionKind::Gaussian, components: Components::Exact(3), seed: 7 };
//! let projected = params.fit(&data)?.transform(data);
//! assert_eq!(projected.targets.dim(), (20, 3));
//! # Ok::<(), FitError>(())
//! ```

use ::linfa::DatasetBase;
use ::linfa::dataset::Records;
use ::linfa::traits::{Fit, Transformer};
use ndarray::{Array2, ArrayBase, Data, Ix2};
use rpo_core::{MatrixView, Seed};

use crate::{Components, LinearMap, Projection, ProjectionError, ProjectionInput, ProjectionKind};

/// Parameters of a projection of the outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputProjectionParams {
    /// Family of the projection.
    pub kind: ProjectionKind,
    /// Number of components.
    pub components: Components,
    /// Seed of random families.
    pub seed: u64,
}

/// A fitted projection of the outputs.
#[derive(Debug)]
pub struct OutputProjection(Box<dyn LinearMap>);

/// The error of fitting through linfa.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// An error of this crate.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// An error of linfa.
    #[error(transparent)]
    Linfa(#[from] ::linfa::Error),
}

impl<X, Y> Fit<ArrayBase<X, Ix2>, ArrayBase<Y, Ix2>, FitError> for OutputProjectionParams
where
    X: Data<Elem = f32>,
    Y: Data<Elem = f32>,
{
    type Object = OutputProjection;

    fn fit(
        &self,
        data: &DatasetBase<ArrayBase<X, Ix2>, ArrayBase<Y, Ix2>>,
    ) -> Result<OutputProjection, FitError> {
        let outputs = MatrixView::from(data.targets.view());
        let input = ProjectionInput {
            features: Some(data.records.view().into()),
            outputs,
            weights: data.weights(),
        };
        let n_components = self.components.resolve(outputs.n_cols())?;
        Ok(OutputProjection(self.kind.fit(
            input,
            n_components,
            Seed::new(self.seed),
        )?))
    }
}

impl<Y: Data<Elem = f32>> Transformer<ArrayBase<Y, Ix2>, Array2<f32>> for OutputProjection {
    /// Projects outputs.
    ///
    /// # Panics
    /// If [`LinearMap::apply`] refuses the outputs, because linfa's transformers cannot fail.
    fn transform(&self, y: ArrayBase<Y, Ix2>) -> Array2<f32> {
        let projected = self.0.apply(y.view().into());
        projected.unwrap_or_else(|error| panic!("projection failed: {error}"))
    }
}

impl<R: Records, Y: Data<Elem = f32>>
    Transformer<DatasetBase<R, ArrayBase<Y, Ix2>>, DatasetBase<R, Array2<f32>>> for OutputProjection
{
    /// Projects the targets of a dataset.
    ///
    /// # Panics
    /// As for outputs alone.
    fn transform(&self, data: DatasetBase<R, ArrayBase<Y, Ix2>>) -> DatasetBase<R, Array2<f32>> {
        let targets = self.transform(data.targets.view());
        data.with_targets(targets)
    }
}
