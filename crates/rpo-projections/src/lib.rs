#![doc = include_str!("../README.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests compare with the standard library"
    )
)]

mod components;
mod error;
mod fourier;
mod kind;
mod learned;
pub mod least_squares;
mod linalg;
#[cfg(feature = "linfa")]
pub mod linfa;
mod maps;
mod memory;
mod random;

#[cfg(test)]
extern crate self as rpo_projections;
#[cfg(test)]
#[path = "../tests/linalg/mod.rs"]
mod twins;

use std::fmt::Debug;

use ndarray::{Array2, ArrayViewMut2};
use rpo_core::{Mismatch, WeightError};

/// The crate of the types in the signatures of this crate: matrices, parameters, and what errors hold.
pub use rpo_core as core;
/// The types of outputs and seeds.
pub use rpo_core::{CsrMatrix, Matrix, MatrixView, Seed};

pub use components::Components;
pub use error::ProjectionError;
pub use fourier::{RandomFeatures, SpectralLaw};
pub use kind::ProjectionKind;
pub use learned::{Embedding, LabelEmbedding, Pca, PrincipalComponents, Rank};
pub use least_squares::Penalty;
pub use linalg::standard_normal;
pub use maps::SparseMap;
pub use random::{Gaussian, Hadamard, Hashing, HashingMap, Identity, Rademacher, Subsample};

/// A fitted linear map from d outputs to m components: Z = Y Φᵀ with Φ of shape m x d.
///
/// Z is `f32`. A row of Z is a sum over the stored values of the row of Y, in increasing column order and in `f32`.
/// With the few dozen labels of a multi-label row its relative rounding error is about 1e-6, far below the distortion
/// of any projection. The result for a row depends on that row alone, and no instruction set is chosen at run time, so
/// that a random map has the same bits on every machine.
pub trait LinearMap: Debug + Send + Sync {
    /// Number of outputs d.
    fn n_outputs(&self) -> usize;

    /// Number of components m.
    fn n_components(&self) -> usize;

    /// Writes the m components of each of the n rows of Y (n x d) to `z`, one row after the other, overwriting it.
    ///
    /// A map implements this method; [`apply_into`](Self::apply_into) calls it, with arguments that it has checked: Y has
    /// d columns and finite values, is stored by rows, and `z` holds n m numbers.
    ///
    /// # Errors
    /// [`ProjectionError::OutOfMemory`] if a table does not fit in memory, [`ProjectionError::Custom`] for what only the
    /// map knows. Whether Z is finite is checked by the caller.
    fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError>;

    /// Writes Z (n x m, row-major and contiguous) for Y (n x d), overwriting it.
    ///
    /// # Errors
    /// As for [`LinearMap::project`]; for a wrong size, shape or layout ([`ProjectionError::Mismatch`],
    /// [`ProjectionError::TargetShape`], [`ProjectionError::TargetLayout`], [`ProjectionError::NotCsr`]); if a value of Y
    /// ([`ProjectionError::Matrix`]) or of Z ([`ProjectionError::NotFinite`]) is not finite. The content of Z after an
    /// error is unspecified.
    fn apply_into(&self, y: MatrixView<'_>, z: ArrayViewMut2<'_, f32>) -> Result<(), ProjectionError> {
        maps::apply_checked(self, y, z)
    }

    /// Returns Z (n x m) for Y (n x d).
    ///
    /// # Errors
    /// As for [`LinearMap::apply_into`], and [`ProjectionError::OutOfMemory`] if Z does not fit in memory.
    fn apply(&self, y: MatrixView<'_>) -> Result<Array2<f32>, ProjectionError> {
        let mut z = memory::zeros(y.n_rows(), self.n_components())?;
        self.apply_into(y, z.view_mut())?;
        Ok(z)
    }
}

/// The training samples that a [`Projection`] is fitted to.
///
/// Outputs alone can be converted into it: `MatrixView::from(&y).into()`.
#[derive(Debug, Clone, Copy)]
pub struct ProjectionInput<'a> {
    /// Features X (n x p) of the same samples, in the same order; `None` if there are none.
    pub features: Option<MatrixView<'a>>,
    /// Outputs Y (n x d).
    pub outputs: MatrixView<'a>,
    /// The weight of each sample, finite and not negative; `None` if all are 1.
    pub weights: Option<&'a [f32]>,
}

impl<'a> ProjectionInput<'a> {
    /// Returns the weights, after checking them; `None` if all are 1.
    fn checked_weights(&self) -> Result<Option<&'a [f32]>, ProjectionError> {
        if let Some(weights) = self.weights {
            Mismatch::check("weights of the samples", self.outputs.n_rows(), weights.len())?;
            WeightError::check(weights.iter().copied())?;
        }
        Ok(self
            .weights
            .filter(|weights| weights.iter().any(|weight| *weight != 1.0)))
    }
}

impl<'a> From<MatrixView<'a>> for ProjectionInput<'a> {
    fn from(outputs: MatrixView<'a>) -> Self {
        Self {
            features: None,
            outputs,
            weights: None,
        }
    }
}

/// A family of projections, which fits linear maps to training samples.
///
/// A family whose maps depend on the seed alone implements [`RandomProjection`] instead. [`Pca`] learns from the outputs,
/// [`LabelEmbedding`] from features and outputs.
///
/// The example is a custom family, for outputs whose neighbours are alike. It can be used wherever the families of this
/// crate can, boxed or in an `Arc`.
///
/// ```
/// use ndarray::array;
/// use rpo_projections::{LinearMap, MatrixView, Projection, ProjectionError, ProjectionInput, Seed};
///
/// /// Sums of neighbours: output j of d goes to component ⌊j m / d⌋ of m.
/// #[derive(Debug)]
/// struct Blocks;
///
/// #[derive(Debug)]
/// struct BlockSums {
///     d: usize,
///     m: usize,
/// }
///
/// impl LinearMap for BlockSums {
///     fn n_outputs(&self) -> usize {
///         self.d
///     }
///
///     fn n_components(&self) -> usize {
///         self.m
///     }
///
///     fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError> {
///         z.fill(0.0);
///         for (i, z) in z.chunks_exact_mut(self.m).enumerate() {
///             y.for_each_in_row(i, |j, value| z[j as usize * self.m / self.d] += value);
///         }
///         Ok(())
///     }
/// }
///
/// impl Projection for Blocks {
///     fn fit(&self, data: ProjectionInput<'_>, m: usize, _: Seed) -> Result<Box<dyn LinearMap>, ProjectionError> {
///         Ok(Box::new(BlockSums { d: data.outputs.n_cols(), m }))
///     }
/// }
///
/// let y = array![[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
/// let y = MatrixView::from(&y);
/// assert_eq!(Blocks.fit(y.into(), 2, Seed::new(0))?.apply(y)?, array![[1.0, 1.0], [0.0, 1.0]]);
/// # Ok::<(), ProjectionError>(())
/// ```
pub trait Projection: Debug + Send + Sync {
    /// Fits the map from the d outputs of `data` to `n_components` components. The map is a function of the arguments
    /// alone.
    ///
    /// # Errors
    /// If there are no outputs or components, or more components than the family has;
    /// [`ProjectionError::NoFeatures`] if the family learns from features and there are none; [`ProjectionError::Custom`]
    /// for other data that it refuses.
    fn fit(
        &self,
        data: ProjectionInput<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError>;
}

/// A family whose maps do not depend on the outputs, scaled so that E‖Φu‖² = ‖u‖² for every u. Also a [`Projection`].
pub trait RandomProjection: Debug + Send + Sync {
    /// Draws the map from `n_outputs` outputs, a function of the arguments alone.
    ///
    /// # Errors
    /// As for [`Projection::fit`].
    fn draw(
        &self,
        n_outputs: usize,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError>;

    /// Draws the same map, to be applied to `y` (n x d). A family that stores numbers for each output need not draw
    /// those of outputs that do not occur.
    ///
    /// # Errors
    /// As for [`Projection::fit`].
    fn draw_for(
        &self,
        y: MatrixView<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        self.draw(y.n_cols(), n_components, seed)
    }
}

impl<R: RandomProjection + ?Sized> Projection for R {
    fn fit(
        &self,
        data: ProjectionInput<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        self.draw_for(data.outputs, n_components, seed)
    }
}

/// Checks that there are outputs and components, within 32-bit indices.
fn check_sizes(n_outputs: usize, n_components: usize) -> Result<(), ProjectionError> {
    let limit = u32::MAX as usize - 1;
    if n_outputs == 0 {
        Err(ProjectionError::NoOutputs)
    } else if n_components == 0 {
        Err(ProjectionError::NoComponents)
    } else if n_outputs > limit || n_components > limit {
        Err(ProjectionError::IndexRange {
            n_outputs,
            n_components,
            limit,
        })
    } else {
        Ok(())
    }
}
