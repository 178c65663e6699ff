//! Principal components of the outputs, a learned projection.

use ndarray::{Array1, Array2, s};
use rpo_core::{Seed, product};

use crate::least_squares::Rows;
use crate::linalg::{
    Covariance, LinearOperator, completed, fix_row_signs, range_finder, standard_normal, symmetric_eigen,
};
use crate::maps::TableMap;
use crate::{LinearMap, Projection, ProjectionError, ProjectionInput, check_sizes, memory};

/// Up to this number of outputs the whole covariance is decomposed. Measured: this takes 30 ms for 256 outputs, the
/// same as the randomized method with 25 components of 400 to 1000 outputs.
const EXACT_OUTPUTS: usize = 256;

/// Principal component maps: Φ has the leading m eigenvectors of the covariance
/// C = (1/(n-1)) Σᵢ (yᵢ - μ)(yᵢ - μ)ᵀ of the outputs as rows, in decreasing order of their eigenvalues. A sample of
/// weight 2 counts as two samples.
///
/// Shapes: Y (n x d), Φ (m x d), Z (n x m), at most d components. Units: those of Y; ‖Φu‖² <= ‖u‖², with equality for
/// m = d. Z = Y Φᵀ is not centred, since the map is linear: a shift changes no variance and hence no tree. Meant to be
/// fitted on the whole learning set, not on bootstrap samples.
///
/// With few outputs, or if a large fraction of the components is wanted, the covariance is decomposed exactly.
/// Otherwise its leading eigenvectors are found by randomized subspace iteration: the range finder on C, then the
/// eigenvectors of the small Qᵀ C Q. Rows are centred on the fly, so that nothing of size n x d is formed; the cost is
/// 2q + 2 passes of O(nnz(Y)(m + oversampling)) for q power iterations.
///
/// The same arguments give the same bits for any number of threads and on every processor ([`rpo_core::product`]).
///
/// Source: Joly, Geurts, Wehenkel, ECML-PKDD 2014, section 2.2 and figure 3c; Halko, Martinsson, Tropp, SIAM Review
/// 53, 2011, algorithms 4.4 and 5.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pca {
    /// Number of directions probed beyond the components wanted.
    pub oversampling: usize,
    /// Number of power iterations q.
    pub power_iterations: usize,
}

impl Default for Pca {
    /// 10 more directions than components, as Halko et al. recommend (section 4.2), and 3 power iterations on C, which
    /// equal about 7 on Y: the spectra of label matrices fall slowly.
    fn default() -> Self {
        Self {
            oversampling: 10,
            power_iterations: 3,
        }
    }
}

impl Pca {
    /// Computes the principal components of the rows of `y`, in `f64`.
    ///
    /// # Errors
    /// [`ProjectionError::TooFewRows`] for fewer than 2 rows, [`ProjectionError::TooManyComponents`] for more
    /// components than columns, [`ProjectionError::FactorValue`] if values are not finite or their squares
    /// overflow, [`ProjectionError::OutOfMemory`] if the working matrices, d x (m + oversampling), do not fit.
    pub fn components(
        &self,
        y: &impl Rows,
        n_components: usize,
        seed: Seed,
    ) -> Result<PrincipalComponents, ProjectionError> {
        self.weighted_components(y, None, n_components, seed)
    }

    /// Like [`components`](Self::components), for rows with weights, which have been checked.
    fn weighted_components(
        &self,
        y: &impl Rows,
        weights: Option<&[f32]>,
        n_components: usize,
        seed: Seed,
    ) -> Result<PrincipalComponents, ProjectionError> {
        let d = y.column_count();
        check_sizes(d, n_components)?;
        if n_components > d {
            return Err(ProjectionError::TooManyComponents {
                family: "pca",
                n_components,
                limit: d,
            });
        }
        let covariance = Covariance::of(y, weights)?;
        let probes = n_components.saturating_add(self.oversampling);
        let (variances, mut components) = if d <= EXACT_OUTPUTS || probes >= d / 2 {
            let mut identity: Array2<f64> = memory::zeros(d, d)?;
            identity.diag_mut().fill(1.0);
            let eigen = symmetric_eigen(covariance.apply(identity.view())?.view())?;
            (eigen.values, eigen.vectors)
        } else {
            let omega = standard_normal(d, probes, seed)?;
            let found = range_finder(&covariance, omega.view(), self.power_iterations)?;
            let q = completed(found, n_components, omega.view())?;
            let small = product(q.t(), covariance.apply(q.view())?.view());
            let eigen = symmetric_eigen(small.view())?;
            (eigen.values, product(eigen.vectors.view(), q.t()))
        };
        components.slice_collapse(s![..n_components, ..]);
        fix_row_signs(&mut components);
        Ok(PrincipalComponents {
            total_variance: covariance.trace(),
            mean: covariance.mean().clone(),
            components,
            // Rounding may make a zero eigenvalue slightly negative.
            variances: variances.slice(s![..n_components]).mapv(|v| v.max(0.0)),
        })
    }
}

/// Principal components of the rows of an n x d matrix.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PrincipalComponents {
    /// Mean of the rows, d.
    pub mean: Array1<f64>,
    /// Directions as orthonormal rows, m x d; the entry of largest magnitude of each is positive. Not unique where the
    /// variance is 0 or equal to another one.
    pub components: Array2<f64>,
    /// Variances along the directions, m, decreasing, with divisor n - 1.
    pub variances: Array1<f64>,
    /// Sum of the variances of all d columns, which is the sum of `variances` for m = d.
    pub total_variance: f64,
}

impl Projection for Pca {
    fn fit(
        &self,
        data: ProjectionInput<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        let y = data.outputs;
        y.check_csr("outputs")?;
        y.check_values(f32::is_finite)?;
        let found = self.weighted_components(&y, data.checked_weights()?, n_components, seed)?;
        Ok(Box::new(TableMap::new(found.components.view())?))
    }
}
