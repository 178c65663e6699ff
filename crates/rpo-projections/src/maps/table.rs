//! Learned maps, stored as a table.

use ndarray::ArrayView2;
use rpo_core::MatrixView;

use super::label_table::LabelTable;
use crate::{LinearMap, ProjectionError};

/// Z = Y Φᵀ with a stored Φ.
#[derive(Debug)]
pub(crate) struct TableMap {
    n_outputs: usize,
    n_components: usize,
    table: LabelTable,
}

impl TableMap {
    /// Creates the map with the rows of Φ (m x d), rounded to `f32`.
    pub(crate) fn new(phi: ArrayView2<'_, f64>) -> Result<Self, ProjectionError> {
        let (n_components, n_outputs) = phi.dim();
        let table = LabelTable::all(n_outputs, n_components, |label, row| {
            row.iter_mut()
                .zip(phi.column(label as usize))
                .for_each(|(x, &v)| *x = v as f32);
        })?;
        Ok(Self {
            n_outputs,
            n_components,
            table,
        })
    }
}

impl LinearMap for TableMap {
    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_components(&self) -> usize {
        self.n_components
    }

    fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError> {
        self.table.project(y, 1.0, z);
        Ok(())
    }
}
