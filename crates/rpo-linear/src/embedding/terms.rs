//! The terms Φ of a training set, stored or computed on demand.

use std::ops::Range;

use ndarray::{Array2, Axis, CowArray, Ix2, s};
use rpo_core::MatrixView;
use rpo_projections::least_squares::{Cholesky, System};

use super::FeatureMap;
use crate::LinearError;

/// Φ (n x terms), row by row, or Φ L⁻ᵀ.
pub(super) struct Terms<'m, 'x> {
    map: &'m FeatureMap,
    x: MatrixView<'x>,
    kept: Option<Array2<f32>>,
    /// L.
    whitening: Option<Cholesky<f32>>,
}

impl<'m, 'x> Terms<'m, 'x> {
    /// Stores Φ if it takes at most `cache` bytes; this does not affect results.
    pub(super) fn new(map: &'m FeatureMap, x: MatrixView<'x>, cache: usize) -> Self {
        let bytes = x
            .n_rows()
            .saturating_mul(map.n_terms())
            .saturating_mul(size_of::<f32>());
        let kept = (bytes <= cache).then(|| computed(map, x, &(0..x.n_rows()).collect::<Vec<_>>()));
        Self {
            map,
            x,
            kept,
            whitening: None,
        }
    }

    /// Replaces each row φ by L⁻¹ φ: if L Lᵀ = ΦᵀΦ + λI, the new terms are uncorrelated except for the penalty, and a
    /// step along a gradient is a step of Newton's method.
    pub(super) fn whitened(mut self, factor: Cholesky<f32>) -> Result<Self, LinearError> {
        if let Some(kept) = &mut self.kept {
            factor.solve_rows(System::Forward, kept.view_mut())?;
        }
        self.whitening = Some(factor);
        Ok(self)
    }

    pub(super) fn n_rows(&self) -> usize {
        self.x.n_rows()
    }

    pub(super) fn n_terms(&self) -> usize {
        self.map.n_terms()
    }

    /// Returns Φ for consecutive rows.
    pub(super) fn block(&self, rows: Range<usize>) -> CowArray<'_, f32, Ix2> {
        match &self.kept {
            Some(kept) => kept.slice(s![rows, ..]).into(),
            None => self.computed(&rows.collect::<Vec<_>>()).into(),
        }
    }

    /// Returns Φ for any rows.
    pub(super) fn select(&self, rows: &[usize]) -> Array2<f32> {
        match &self.kept {
            Some(kept) => kept.select(Axis(0), rows),
            None => self.computed(rows),
        }
    }

    fn computed(&self, rows: &[usize]) -> Array2<f32> {
        let mut out = computed(self.map, self.x, rows);
        if let Some(factor) = &self.whitening {
            let whitened = factor.solve_rows(System::Forward, out.view_mut());
            whitened.expect("the factor is that of the products of these terms");
        }
        out
    }
}

fn computed(map: &FeatureMap, x: MatrixView<'_>, rows: &[usize]) -> Array2<f32> {
    let mut out = Array2::zeros((rows.len(), map.n_terms()));
    map.fill(x, rows, out.view_mut());
    out
}
