//! Gaussian projection of the output space.

use rpo_core::math::Normals;
use rpo_core::{MatrixView, Seed};

use crate::maps::{DenseMap, LabelRows};
use crate::{LinearMap, ProjectionError, RandomProjection};

/// Gaussian maps: Z = Y Φᵀ with independent entries Φₖⱼ ~ N(0, 1/m); 1/m is the variance.
///
/// Shapes: Y (n x d), Φ (m x d), Z (n x m); m may exceed d. Units: those of Y; E‖Φu‖² = ‖u‖² and
/// Var(‖Φu‖²) = 2‖u‖⁴/m. Cost: O(m min(d, nnz(Y))) to draw, O(m nnz(Y)) to apply.
///
/// The m numbers of an output come from a stream keyed by (seed, output), so that outputs that do not occur need not be
/// drawn.
///
/// With m >= ln(n(n-1)/δ) / (ε²/4 - ε³/6), all squared distances among n rows are preserved within a factor 1 ± ε with
/// probability 1 - δ. That is the union bound; the paper's size 8 ln(n)/ε² drops the term in ε³.
///
/// Source: Joly, Geurts, Wehenkel, ECML-PKDD 2014, section 2.2, lemma 1 (Johnson-Lindenstrauss).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gaussian;

#[derive(Debug)]
struct NormalRows(Seed);

impl LabelRows for NormalRows {
    fn fill(&self, label: u32, row: &mut [f32]) {
        Normals::write_first(&mut self.0.child(label.into()).stream(), row);
    }
}

impl Gaussian {
    fn make(
        (n_outputs, n_components): (usize, usize),
        seed: Seed,
        y: Option<MatrixView<'_>>,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        let scale = (n_components as f64).sqrt().recip();
        Ok(Box::new(DenseMap::new(
            NormalRows(seed),
            (n_outputs, n_components),
            scale,
            y,
        )?))
    }
}

impl RandomProjection for Gaussian {
    fn draw(
        &self,
        n_outputs: usize,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        Self::make((n_outputs, n_components), seed, None)
    }

    fn draw_for(
        &self,
        y: MatrixView<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        Self::make((y.n_cols(), n_components), seed, Some(y))
    }
}
