//! Maps whose entries are mostly nonzero, drawn output by output and only for outputs that occur.

use std::fmt::Debug;

use rpo_core::MatrixView;

use super::label_table::LabelTable;
use crate::{LinearMap, ProjectionError, check_sizes};

/// The distribution of the entries of a map, output by output.
pub(crate) trait LabelRows: Debug + Send + Sync {
    /// Writes all m numbers of one output. A function of the output alone, so that results do not depend on which
    /// outputs are drawn and when.
    fn fill(&self, label: u32, row: &mut [f32]);
}

/// A map with a dense row of m numbers per output and a common scale.
///
/// With d = 100,000 outputs of which few occur, drawing all rows would cost more than projecting. The table is filled
/// for the outputs that occur when the map is made; a later matrix with other outputs gets its own table.
#[derive(Debug)]
pub(crate) struct DenseMap<R> {
    rows: R,
    n_outputs: usize,
    n_components: usize,
    scale: f32,
    table: LabelTable,
}

impl<R: LabelRows> DenseMap<R> {
    /// Creates a map with the rows of all outputs, or of those that occur in `y`.
    pub(crate) fn new(
        rows: R,
        (n_outputs, n_components): (usize, usize),
        scale: f64,
        y: Option<MatrixView<'_>>,
    ) -> Result<Self, ProjectionError> {
        check_sizes(n_outputs, n_components)?;
        let table = Self::table(&rows, (n_outputs, n_components), y)?;
        Ok(Self {
            rows,
            n_outputs,
            n_components,
            scale: scale as f32,
            table,
        })
    }

    fn table(
        rows: &R,
        (n_outputs, n_components): (usize, usize),
        y: Option<MatrixView<'_>>,
    ) -> Result<LabelTable, ProjectionError> {
        let fill = |label, row: &mut [f32]| rows.fill(label, row);
        match y {
            Some(MatrixView::Sparse(a)) => {
                MatrixView::Sparse(a).check_csr("outputs")?;
                LabelTable::occurring(n_outputs, n_components, a.indices().iter().copied(), fill)
            }
            _ => LabelTable::all(n_outputs, n_components, fill),
        }
    }
}

impl<R: LabelRows> LinearMap for DenseMap<R> {
    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_components(&self) -> usize {
        self.n_components
    }

    fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError> {
        if self.table.covers(y) {
            self.table.project(y, self.scale, z);
        } else {
            let shape = (self.n_outputs, self.n_components);
            Self::table(&self.rows, shape, Some(y))?.project(y, self.scale, z);
        }
        Ok(())
    }
}
