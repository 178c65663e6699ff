//! The numbers of a map by output, and the sums over them: the inner loop of every dense map.

use ndarray::Axis;
use rpo_core::{CsrView, MatrixView, csr_row};

use crate::{ProjectionError, memory};

/// Marks an output that has no row in the table.
const ABSENT: u32 = u32::MAX;
/// Widest block of components that a kernel holds in registers: eight vectors of four lanes, half of the registers of
/// the x86-64 baseline; the other half is free for operands.
const BLOCK: usize = 32;

/// The m numbers of each output that occurs: the transpose of Φ, so that the projection of a sparse row is a sum of a
/// few short vectors.
///
/// Components are stored in blocks of up to [`BLOCK`], one block after the other, with the numbers of an output side by
/// side in each. A pass over the rows then works on one block, whose size fits a cache.
#[derive(Debug, Clone)]
pub(crate) struct LabelTable {
    n_components: usize,
    /// Number of outputs with rows.
    n_rows: usize,
    /// Row of each output, [`ABSENT`] if it has none; `None` if the row of every output is its own index.
    slots: Option<Vec<u32>>,
    values: Vec<f32>,
}

impl LabelTable {
    /// Creates a table of all outputs. `fill` writes the m numbers of an output.
    pub(crate) fn all(
        n_outputs: usize,
        n_components: usize,
        fill: impl Fn(u32, &mut [f32]),
    ) -> Result<Self, ProjectionError> {
        Self::with_rows(n_outputs, n_components, None, fill)
    }

    /// Creates a table of the outputs that occur among `labels`; of all outputs if nearly all occur, so that one that
    /// does not occur yet needs no other table.
    pub(crate) fn occurring(
        n_outputs: usize,
        n_components: usize,
        labels: impl IntoIterator<Item = u32>,
        fill: impl Fn(u32, &mut [f32]),
    ) -> Result<Self, ProjectionError> {
        let mut slots = memory::filled(ABSENT, n_outputs, 1)?;
        let mut n_rows = 0;
        for label in labels {
            let slot = &mut slots[label as usize];
            if *slot == ABSENT {
                *slot = 0;
                n_rows += 1;
                if n_outputs - n_rows <= n_outputs / 8 {
                    return Self::all(n_outputs, n_components, fill);
                }
            }
        }
        // Rows are in label order, whatever the order of `labels`.
        let occurring = slots.iter_mut().filter(|slot| **slot != ABSENT);
        occurring.zip(0..).for_each(|(slot, row)| *slot = row);
        Self::with_rows(n_rows, n_components, Some(slots), fill)
    }

    fn with_rows(
        n_rows: usize,
        n_components: usize,
        slots: Option<Vec<u32>>,
        fill: impl Fn(u32, &mut [f32]),
    ) -> Result<Self, ProjectionError> {
        let mut table = Self {
            n_components,
            n_rows,
            slots: None,
            values: Vec::new(),
        };
        let last = (n_components - 1) / BLOCK * BLOCK;
        table.values = memory::filled(0.0, n_rows, last + block_width(n_components, last))?;
        let mut numbers = memory::filled(0.0, n_components, 1)?;
        let draw = |(row, label): (usize, u32)| {
            fill(label, &mut numbers);
            for (block, width) in table.blocks() {
                let here = &numbers[block..n_components.min(block + width)];
                table.values[block * n_rows + row * width..][..here.len()].copy_from_slice(here);
            }
        };
        match &slots {
            None => (0..n_rows).zip(0..).for_each(draw),
            Some(slots) => {
                let occurring = (0..).zip(slots).filter(|(_, slot)| **slot != ABSENT);
                (0..).zip(occurring.map(|(label, _)| label)).for_each(draw);
            }
        }
        table.slots = slots;
        Ok(table)
    }

    /// The blocks of components, as first component and width.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let m = self.n_components;
        (0..m)
            .step_by(BLOCK)
            .map(move |block| (block, block_width(m, block)))
    }

    /// Returns true if every output stored in `y` has a row.
    pub(crate) fn covers(&self, y: MatrixView<'_>) -> bool {
        match (&self.slots, y) {
            (None, _) => true,
            (Some(_), MatrixView::Dense(_)) => false,
            (Some(slots), MatrixView::Sparse(a)) => a.indices().iter().all(|&j| slots[j as usize] != ABSENT),
        }
    }

    /// Writes `scale` times the sum, over the values of each row, of the value times its table row.
    ///
    /// The table must cover `y`.
    pub(crate) fn project(&self, y: MatrixView<'_>, scale: f32, z: &mut [f32]) {
        self.project_some(y, &(0..y.n_rows()), scale, z);
    }

    /// Like [`LabelTable::project`], but for some of the rows, which the table must cover; the other rows of `z` are
    /// left unchanged.
    pub(crate) fn project_some(
        &self,
        y: MatrixView<'_>,
        rows: &(impl Iterator<Item = usize> + Clone),
        scale: f32,
        z: &mut [f32],
    ) {
        match (y, &self.slots) {
            (MatrixView::Dense(a), _) => {
                // A zero adds nothing to any sum: dense 0/1 outputs cost the same as sparse ones.
                let row = |i| {
                    (0..)
                        .zip(a.index_axis_move(Axis(0), i))
                        .filter(|(_, v)| **v != 0.0)
                };
                self.sum_rows(rows, |i| row(i).map(|(j, &v)| (j, v)), scale, z);
            }
            (MatrixView::Sparse(a), None) => {
                self.sum_rows(rows, |i| stored(&a, i).map(|(j, v)| (j as usize, v)), scale, z);
            }
            (MatrixView::Sparse(a), Some(slots)) => {
                let slot = |j: u32| slots[j as usize] as usize;
                self.sum_rows(rows, |i| stored(&a, i).map(|(j, v)| (slot(j), v)), scale, z);
            }
        }
    }

    fn sum_rows<I>(
        &self,
        rows: &(impl Iterator<Item = usize> + Clone),
        row: impl Fn(usize) -> I,
        scale: f32,
        z: &mut [f32],
    ) where
        I: Iterator<Item = (usize, f32)>,
    {
        for (block, width) in self.blocks() {
            let (rows, target) = (rows.clone(), (block, scale));
            match width {
                1 => self.sum_block::<1, I>(rows, &row, target, z),
                2 => self.sum_block::<2, I>(rows, &row, target, z),
                4 => self.sum_block::<4, I>(rows, &row, target, z),
                8 => self.sum_block::<8, I>(rows, &row, target, z),
                12 => self.sum_block::<12, I>(rows, &row, target, z),
                16 => self.sum_block::<16, I>(rows, &row, target, z),
                20 => self.sum_block::<20, I>(rows, &row, target, z),
                24 => self.sum_block::<24, I>(rows, &row, target, z),
                28 => self.sum_block::<28, I>(rows, &row, target, z),
                _ => self.sum_block::<BLOCK, I>(rows, &row, target, z),
            }
        }
    }

    /// Sums the components of a block of width W, held in registers over a row.
    fn sum_block<const W: usize, I>(
        &self,
        rows: impl Iterator<Item = usize>,
        row: impl Fn(usize) -> I,
        (block, scale): (usize, f32),
        z: &mut [f32],
    ) where
        I: Iterator<Item = (usize, f32)>,
    {
        let m = self.n_components;
        let values = &self.values[block * self.n_rows..][..W * self.n_rows];
        for i in rows {
            let mut sums = [0.0_f32; W];
            for (slot, value) in row(i) {
                let numbers: &[f32; W] = values[slot * W..].first_chunk().expect("rows are whole blocks");
                for lane in 0..W {
                    sums[lane] += value * numbers[lane];
                }
            }
            let out = &mut z[i * m + block..][..W.min(m - block)];
            out.iter_mut()
                .zip(&sums)
                .for_each(|(out, sum)| *out = sum * scale);
        }
    }
}

/// Returns the width of the block that starts at a component: a whole number of vectors except for 1 and 2. The excess
/// over m is padded with 0.
fn block_width(n_components: usize, block: usize) -> usize {
    match n_components - block {
        rest @ 1..=2 => rest,
        rest => rest.next_multiple_of(4).min(BLOCK),
    }
}

/// Returns the (column, value) pairs stored in a row.
pub(crate) fn stored<'b>(
    a: &'b CsrView<'_>,
    row: usize,
) -> impl ExactSizeIterator<Item = (u32, f32)> + Clone + use<'b> {
    let (columns, values) = csr_row(a, row);
    columns.iter().copied().zip(values.iter().copied())
}
