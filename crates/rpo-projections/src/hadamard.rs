//! Sub-sampled Hadamard projection: Φ = (1/√m) R H C, with H the Hadamard matrix of Sylvester of order
//! N = 2^⌈log2 max(m, d)⌉, R a choice of m of its rows and C of d of its columns, both uniform and without
//! replacement. The entry of H in row a and column b is (-1)^popcount(a AND b).
//!
//! Shapes: Y (n x d), Φ (m x d), Z (n x m). Units: those of Y; E‖Φu‖² = ‖u‖² up to a term of order 1/N, as H has
//! orthogonal columns. Cost: O(N) to draw; per row O(N log N), or O(m) per stored value where that is less.
//! H is never formed. Source: Joly, Geurts, Wehenkel, ECML-PKDD 2014, section 2.2; Candes, Plan, IEEE Trans.
//! Inf. Theory 57, 2011.

use ndarray::ArrayViewMut2;
use rand::seq::index::sample;
use rpo_core::{MatrixView, Seed};

use crate::label_table::{LabelTable, stored};
use crate::linalg::fwht;
use crate::outputs::{Outputs, checked};
use crate::{LinearMap, Projection, ProjectionError, RandomProjection, check_sizes, memory};

/// Additions per stored value and component that cost as much as one of the N log2 N additions of a transform.
/// Measured: both are four-lane additions, but a transform also walks its N numbers log2 N times.
const SUMS_PER_BUTTERFLY: usize = 1;

/// The family of maps made of rows and columns of a Hadamard matrix. More components than outputs are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hadamard;

#[derive(Debug)]
struct HadamardMap {
    /// N.
    order: usize,
    /// The row of H behind each component.
    rows: Vec<u32>,
    /// The column of H behind each output.
    columns: Vec<u32>,
}

impl Projection for Hadamard {
    fn fit(
        &self,
        y: MatrixView<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        self.draw(y.n_cols(), n_components, seed)
    }
}

impl RandomProjection for Hadamard {
    fn draw(
        &self,
        n_outputs: usize,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        check_sizes(n_outputs, n_components)?;
        let limit = 1 << 31;
        if n_outputs.max(n_components) > limit {
            return Err(ProjectionError::IndexRange {
                n_outputs,
                n_components,
                limit,
            });
        }
        let order = n_outputs.max(n_components).next_power_of_two();
        let pick = |purpose, amount| -> Vec<u32> {
            let chosen = sample(&mut seed.purpose(purpose).rng(), order, amount);
            chosen.into_iter().map(|index| index as u32).collect()
        };
        let (rows, columns) = (
            pick("hadamard rows", n_components),
            pick("hadamard columns", n_outputs),
        );
        Ok(Box::new(HadamardMap { order, rows, columns }))
    }
}

impl HadamardMap {
    /// Whether adding up the signs of `stored` values costs less than a transform.
    fn is_short(&self, stored: usize) -> bool {
        let butterflies = self.order.saturating_mul(self.order.ilog2() as usize);
        stored.saturating_mul(self.rows.len()) < butterflies.saturating_mul(SUMS_PER_BUTTERFLY)
    }

    /// The column of RHC that belongs to an output.
    fn signs(&self, label: u32, row: &mut [f32]) {
        let column = self.columns[label as usize];
        for (x, a) in row.iter_mut().zip(&self.rows) {
            *x = if (a & column).count_ones().is_multiple_of(2) {
                1.0
            } else {
                -1.0
            };
        }
    }

    /// The signs of the outputs in short rows; `None` if there is no such row.
    fn sign_table(&self, y: &Outputs<'_>) -> Result<Option<LabelTable>, ProjectionError> {
        let (d, m) = (self.columns.len(), self.rows.len());
        let fill = |label, row: &mut [f32]| self.signs(label, row);
        match y {
            Outputs::Dense(_) if self.is_short(d) => LabelTable::all(d, m, fill).map(Some),
            Outputs::Dense(_) => Ok(None),
            Outputs::Csr(a) | Outputs::Ones(a) => {
                let is_short = |i: &usize| self.is_short(stored(a, *i).len());
                let mut short = (0..a.rows()).filter(is_short).peekable();
                if short.peek().is_none() {
                    return Ok(None);
                }
                let labels = short.flat_map(|i| stored(a, i).map(|(j, _)| j));
                LabelTable::occurring(d, m, labels, fill).map(Some)
            }
        }
    }

    fn transform(
        &self,
        row: impl Iterator<Item = (u32, f32)>,
        buffer: &mut [f32],
        scale: f32,
        z: &mut [f32],
    ) {
        buffer.fill(0.0);
        row.for_each(|(j, v)| buffer[self.columns[j as usize] as usize] = v);
        fwht(buffer).expect("the order is a power of two");
        for (z, &a) in z.iter_mut().zip(&self.rows) {
            *z = buffer[a as usize] * scale;
        }
    }
}

impl LinearMap for HadamardMap {
    fn n_outputs(&self) -> usize {
        self.columns.len()
    }

    fn n_components(&self) -> usize {
        self.rows.len()
    }

    fn apply_into(&self, y: MatrixView<'_>, z: ArrayViewMut2<'_, f32>) -> Result<(), ProjectionError> {
        checked(self, y, z, |y, z| {
            let scale = (self.rows.len() as f64).sqrt().recip() as f32;
            let table = self.sign_table(&y)?;
            let mut buffer = Vec::new();
            for (i, z) in z.chunks_exact_mut(self.rows.len()).enumerate() {
                let stored_here = match &y {
                    Outputs::Dense(a) => a.ncols(),
                    Outputs::Csr(a) | Outputs::Ones(a) => stored(a, i).len(),
                };
                let table = table.as_ref().filter(|_| self.is_short(stored_here));
                if table.is_none() && buffer.is_empty() {
                    buffer = memory::filled(0.0, self.order, 1)?;
                }
                match (&y, table) {
                    (Outputs::Dense(a), Some(table)) => {
                        let row = (0..).zip(a.row(i)).map(|(j, &v)| (j, v));
                        table.project_row(&row, scale, z);
                    }
                    (Outputs::Dense(a), None) => {
                        let row = (0..).zip(a.row(i)).map(|(j, &v)| (j, v));
                        self.transform(row, &mut buffer, scale, z);
                    }
                    (Outputs::Csr(a) | Outputs::Ones(a), Some(table)) => {
                        table.project_row(&stored(a, i), scale, z);
                    }
                    (Outputs::Csr(a) | Outputs::Ones(a), None) => {
                        self.transform(stored(a, i), &mut buffer, scale, z);
                    }
                }
            }
            Ok(())
        })
    }
}
