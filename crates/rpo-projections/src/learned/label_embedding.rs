//! Label embeddings: directions of the outputs that the features can predict.

use ndarray::{Array1, Array2, ArrayView2, s};
use rpo_core::{Mismatch, Seed, product};

use super::Rank;
use crate::least_squares::{Design, Penalty, Ridge, RidgeSolver, Rows, by_panels, panel_product};
use crate::linalg::{
    completed, fix_row_signs, orthonormal, standard_normal, symmetric_eigen, thin_gram, times,
};
use crate::maps::TableMap;
use crate::{LinearMap, Projection, ProjectionError, ProjectionInput, check_sizes};

/// The randomized label embedding: the leading eigenvectors of G = Yᵀ Π Y, where Π = X (XᵀX + λ̄I)⁻¹ Xᵀ computes fitted
/// values on the features X (n x p). Among all maps of the outputs Y (n x d) to k dimensions it is the best one for
/// predicting Y from X by a matrix of rank k. PCA only sees Y and spends directions on variance that no feature
/// predicts.
///
/// G is only multiplied with thin blocks, 16 columns at a time: a sparse product, a regularised least squares solve
/// ([`Ridge`]), and two sparse products back. Nothing of size d x d, p x p (above the 2,000 columns that the solver
/// factors), n x d or even n x k is formed. Cost: `passes + 1` times k + `oversampling` solves, and O(d k²).
///
/// Source: Karampatziakis, Mineiro, *Scalable Multilabel Prediction via Randomized Methods*, 2015, Algorithm 1. The
/// paper's formulas are lost in the available text; this implementation follows its prose, Halko, Martinsson, Tropp
/// (SIAM Review 53, 2011) and, for the basis, Gram matrices in place of reflections. The last step computes the left
/// singular vectors of G Q from an orthonormal basis of G Q, where the reconstruction divides by singular values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelEmbedding {
    /// Number of directions probed beyond those wanted.
    pub oversampling: usize,
    /// Number of passes of the range finder; 2 in the published experiments.
    pub passes: usize,
    /// Penalty of the least squares solves. [`Penalty::Relative`] is the paper's: λ̄ = λ tr(XᵀX)/p.
    pub penalty: Penalty,
    /// Adds a column of ones, free of penalty, to X.
    pub intercept: bool,
    /// Solver of the least squares problems.
    pub solver: RidgeSolver,
}

impl Default for LabelEmbedding {
    /// 20 more directions than wanted and one pass (the companion paper of 2014; with one pass fewer, or without the
    /// additional directions, subspaces are found poorly), an intercept, and the penalty `variance:2`. The published
    /// experiments use λ = 1e-4, with which a regression on sparse text or few samples overfits: the embedding of the
    /// training samples is then no guide to that of other samples.
    fn default() -> Self {
        Self {
            oversampling: 20,
            passes: 1,
            penalty: Penalty::Variance(2.0),
            intercept: true,
            solver: RidgeSolver::Auto,
        }
    }
}

impl LabelEmbedding {
    /// Fits the embedding to samples with weights, whose square roots are the factors of rows of both matrices.
    fn fit_weighted<X: Rows + Sync>(
        &self,
        x: &X,
        y: &(impl Rows + Sync),
        weights: Option<&[f32]>,
        rank: Rank,
        seed: Seed,
    ) -> Result<Embedding, ProjectionError> {
        check_stored(x, "the feature matrix")?;
        let roots: Option<Vec<f64>> =
            weights.map(|weights| weights.iter().map(|w| f64::from(*w).sqrt()).collect());
        let factors = roots.as_deref();
        let design = Design {
            rows: x,
            intercept: self.intercept,
            factors,
        };
        let outputs = Design {
            rows: y,
            intercept: false,
            factors,
        };
        let ridge = Ridge::new(design, self.penalty.on(x, weights), self.solver)?;
        self.fit_on(&ridge, &outputs, rank, seed)
    }

    /// Fits the embedding of the outputs Y (n x d) that the features X (n x p) predict.
    ///
    /// The result is a function of the arguments, to the bit, for any number of threads. If G has fewer than k directions (a rank above that of the
    /// data, outputs that are all zero), the remaining ones are orthogonal to them, with eigenvalue 0.
    ///
    /// # Errors
    /// [`ProjectionError::Mismatch`] if X and Y have different numbers of rows, [`ProjectionError::TooFewRows`] for none,
    /// [`ProjectionError::NoComponents`] or [`ProjectionError::TooManyComponents`] for a rank of 0 or above d,
    /// [`ProjectionError::Parameter`] for a fraction or penalty out of range, [`ProjectionError::FactorValue`] for
    /// values that are not finite, [`ProjectionError::OutOfMemory`].
    pub fn fit<X: Rows + Sync>(
        &self,
        x: &X,
        y: &(impl Rows + Sync),
        rank: Rank,
        seed: Seed,
    ) -> Result<Embedding, ProjectionError> {
        self.fit_weighted(x, y, None, rank, seed)
    }

    /// Like [`fit`](Self::fit), but on the least squares problem of the features, which regressions onto the embedding
    /// can share. The problem replaces the penalty, the intercept and the solver of these parameters.
    ///
    /// # Errors
    /// As for [`fit`](Self::fit).
    pub fn fit_on<X: Rows + Sync>(
        &self,
        ridge: &Ridge<'_, X>,
        y: &(impl Rows + Sync),
        rank: Rank,
        seed: Seed,
    ) -> Result<Embedding, ProjectionError> {
        let (design, d) = (ridge.design(), y.column_count());
        Mismatch::check("samples of the outputs", design.row_count(), y.row_count())?;
        if y.row_count() == 0 {
            return Err(ProjectionError::TooFewRows {
                family: "a label embedding",
                found: 0,
                required: 1,
            });
        }
        check_stored(y, "the output matrix")?;
        let seed = seed.purpose("label embedding");
        let k = rank.resolve_weighted(y, design.factors, seed)?;
        check_sizes(d, k)?;
        if k > d {
            return Err(ProjectionError::TooManyComponents {
                family: "a label embedding",
                n_components: k,
                limit: d,
            });
        }
        let apply = |q: ArrayView2<'_, f64>| {
            by_panels(q, d, |q| {
                let z = ridge.solve_panel(y, q)?;
                panel_product(y, design, &z, |_, _| {})
            })
        };
        let probes = k
            .saturating_add(self.oversampling)
            .min(d)
            .min(design.column_count().max(1));
        let omega = standard_normal(d, probes.max(k), seed)?;
        let probe = omega.slice(s![.., ..probes]);
        let mut q = if self.passes == 0 {
            orthonormal(probe)?
        } else {
            orthonormal(apply(probe)?.view())?
        };
        for _ in 1..self.passes {
            q = orthonormal(apply(q.view())?.view())?;
        }
        let image = apply(q.view())?;
        let basis = orthonormal(image.view())?;
        let small = thin_gram(basis.view(), image.view());
        let eigen = symmetric_eigen(product(small.view(), small.t()).view())?;
        let found = k.min(basis.ncols());
        let rotation = eigen.vectors.slice(s![..found, ..]);
        let v = completed(times(basis.view(), rotation.t()), k, omega.view())?;
        let mut directions = v.reversed_axes().as_standard_layout().into_owned();
        fix_row_signs(&mut directions);
        // The singular values of G Q are eigenvalues of G.
        let mut eigenvalues = Array1::zeros(k);
        for (value, square) in eigenvalues.iter_mut().zip(&eigen.values).take(found) {
            *value = square.max(0.0).sqrt();
        }
        Ok(rank.truncate(Embedding {
            directions,
            eigenvalues,
        }))
    }
}

impl Projection for LabelEmbedding {
    fn fit(
        &self,
        data: ProjectionInput<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        let family = "label-embedding";
        let x = data.features.ok_or(ProjectionError::NoFeatures { family })?;
        x.check_csr("features")?;
        data.outputs.check_csr("outputs")?;
        Mismatch::check("samples of the features", data.outputs.n_rows(), x.n_rows())?;
        let (rank, weights) = (Rank::Exact(n_components), data.checked_weights()?);
        let found = self.fit_weighted(&x, &data.outputs, weights, rank, seed)?;
        Ok(Box::new(TableMap::new(found.directions.view())?))
    }
}

/// A learned map of d outputs to k dimensions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Embedding {
    /// Vᵀ (k x d): orthonormal rows; the entry of largest magnitude of each is positive.
    pub directions: Array2<f64>,
    /// Estimates of the k largest eigenvalues of G, decreasing, at least 0: the squared lengths of the fitted values of
    /// Y along each direction.
    pub eigenvalues: Array1<f64>,
}

/// Refuses values that are not finite.
fn check_stored(a: &impl Rows, name: &'static str) -> Result<(), ProjectionError> {
    for row in 0..a.row_count() {
        let mut bad = None;
        a.for_each_stored(row, |column, value| {
            if !value.is_finite() && bad.is_none() {
                bad = Some(ProjectionError::FactorValue {
                    name,
                    row,
                    column,
                    value,
                });
            }
        });
        bad.map_or(Ok(()), Err)?;
    }
    Ok(())
}
