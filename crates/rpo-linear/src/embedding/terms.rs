//! The terms Φ of a training set, kept or computed when they are needed.

use std::ops::Range;

use ndarray::{Array2, Axis, CowArray, Ix2, s};
use rpo_core::MatrixView;

use super::FeatureMap;

/// Φ (n x terms), row by row.
pub(super) struct Terms<'m, 'x> {
    map: &'m FeatureMap,
    x: MatrixView<'x>,
    kept: Option<Array2<f32>>,
}

impl<'m, 'x> Terms<'m, 'x> {
    /// Keeps Φ if it takes at most `cache` bytes; whether it does changes no result.
    pub(super) fn new(map: &'m FeatureMap, x: MatrixView<'x>, cache: usize) -> Self {
        let bytes = x
            .n_rows()
            .saturating_mul(map.n_terms())
            .saturating_mul(size_of::<f32>());
        let kept = (bytes <= cache).then(|| computed(map, x, &(0..x.n_rows()).collect::<Vec<_>>()));
        Self { map, x, kept }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.x.n_rows()
    }

    pub(super) fn n_terms(&self) -> usize {
        self.map.n_terms()
    }

    /// Φ of successive rows.
    pub(super) fn block(&self, rows: Range<usize>) -> CowArray<'_, f32, Ix2> {
        match &self.kept {
            Some(kept) => kept.slice(s![rows, ..]).into(),
            None => computed(self.map, self.x, &rows.collect::<Vec<_>>()).into(),
        }
    }

    /// Φ of any rows.
    pub(super) fn select(&self, rows: &[usize]) -> Array2<f32> {
        match &self.kept {
            Some(kept) => kept.select(Axis(0), rows),
            None => computed(self.map, self.x, rows),
        }
    }
}

fn computed(map: &FeatureMap, x: MatrixView<'_>, rows: &[usize]) -> Array2<f32> {
    let mut out = Array2::zeros((rows.len(), map.n_terms()));
    map.fill(x, rows, out.view_mut());
    out
}
