//! The feature map φ(x), in which activations are linear.

use ndarray::{Array1, Array2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;
use rpo_core::{MatrixView, Mismatch};
use rpo_projections::RandomFeatures;

use crate::LinearError;

/// Number of rows that one task maps.
const CHUNK: usize = 128;

/// The map x ↦ (φ(z), 1) from p features to s + 1 terms, where z = Wᵀx + offset or x itself, and φ is the identity or
/// random Fourier features.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureMap {
    /// W (p x k) and its offset (k), if there is a projection.
    pub projection: Option<(Array2<f32>, Array1<f32>)>,
    /// The random features of the projected features, if there are any.
    pub fourier: Option<RandomFeatures>,
    /// Number of features p of a sample.
    pub(super) n_features: usize,
}

impl FeatureMap {
    /// Combines an optional projection, W (p x k) and its offset (k), with optional random features of its result.
    ///
    /// # Errors
    /// [`LinearError::Mismatch`] if sizes do not match.
    pub(crate) fn new(
        n_features: usize,
        projection: Option<(Array2<f32>, Array1<f32>)>,
        fourier: Option<RandomFeatures>,
    ) -> Result<Self, LinearError> {
        let mut n_inputs = n_features;
        if let Some((weights, offset)) = &projection {
            Mismatch::check("rows of the feature projection", n_features, weights.nrows())?;
            Mismatch::check("offsets of the feature projection", weights.ncols(), offset.len())?;
            n_inputs = weights.ncols();
        }
        if let Some(fourier) = &fourier {
            Mismatch::check(
                "inputs of the random features",
                n_inputs,
                fourier.frequencies.nrows(),
            )?;
        }
        Ok(Self {
            n_features,
            projection,
            fourier,
        })
    }

    /// Returns the same map with random features of its projection.
    pub(super) fn with_fourier(self, fourier: RandomFeatures) -> Result<Self, LinearError> {
        Self::new(self.n_features, self.projection, Some(fourier))
    }

    /// Returns the number of terms, s + 1.
    pub(crate) fn n_terms(&self) -> usize {
        1 + match (&self.fourier, &self.projection) {
            (Some(fourier), _) => fourier.phases.len(),
            (None, Some((weights, _))) => weights.ncols(),
            (None, None) => self.n_features,
        }
    }

    /// Writes the terms of some rows of `x`, the last of which is 1, to `out` (rows x terms). Parallel over chunks of
    /// rows; the terms of a row depend on that row alone.
    ///
    /// # Panics
    /// If a row is out of range or a shape does not match.
    pub(crate) fn fill(&self, x: MatrixView<'_>, rows: &[usize], mut out: ArrayViewMut2<'_, f32>) {
        assert_eq!(
            out.dim(),
            (rows.len(), self.n_terms()),
            "a row of terms for each sample"
        );
        out.axis_chunks_iter_mut(Axis(0), CHUNK)
            .into_par_iter()
            .zip(rows.par_chunks(CHUNK))
            .for_each(|(out, rows)| self.fill_chunk(x, rows, out));
    }

    fn fill_chunk(&self, x: MatrixView<'_>, rows: &[usize], mut out: ArrayViewMut2<'_, f32>) {
        let last = self.n_terms() - 1;
        out.column_mut(last).fill(1.0);
        let mut terms = out.slice_mut(s![.., ..last]);
        match (&self.projection, &self.fourier) {
            (None, None) => {
                terms.fill(0.0);
                for (&row, mut terms) in rows.iter().zip(terms.rows_mut()) {
                    x.for_each_in_row(row, |j, v| terms[j as usize] = v);
                }
            }
            (Some(projection), None) => project(projection, x, rows, terms),
            (None, Some(fourier)) => {
                let selected = x.select_rows(rows);
                fourier
                    .apply_into(selected.view(), terms)
                    .expect("sizes were checked when the map was made");
            }
            (Some(projection), Some(fourier)) => {
                let mut z = Array2::zeros((rows.len(), projection.1.len()));
                project(projection, x, rows, z.view_mut());
                fourier
                    .apply_into((&z).into(), terms)
                    .expect("sizes were checked when the map was made");
            }
        }
    }

    /// Returns z (rows x k) for some rows, if there is a projection.
    pub(crate) fn projected(&self, x: MatrixView<'_>, rows: &[usize]) -> Option<Array2<f32>> {
        let projection = self.projection.as_ref()?;
        let mut z = Array2::zeros((rows.len(), projection.1.len()));
        project(projection, x, rows, z.view_mut());
        Some(z)
    }
}

fn project(
    (weights, offset): &(Array2<f32>, Array1<f32>),
    x: MatrixView<'_>,
    rows: &[usize],
    mut z: ArrayViewMut2<'_, f32>,
) {
    for (&row, mut z) in rows.iter().zip(z.rows_mut()) {
        z.assign(offset);
        x.for_each_in_row(row, |j, v| z.scaled_add(v, &weights.row(j as usize)));
    }
}
