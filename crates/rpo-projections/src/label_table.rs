//! The numbers of a map output by output, and the sums over them: the inner loop of every dense map.

use ndarray::Axis;
use rpo_core::{CsrView, csr_row};

use crate::outputs::Outputs;
use crate::{ProjectionError, memory};

/// Marks an output that has no row in the table.
const ABSENT: u32 = u32::MAX;
/// Widest block of components that a kernel keeps in registers: eight vectors of four lanes, half of the
/// registers of the x86-64 baseline, the other half being free for operands.
const BLOCK: usize = 32;

/// For each output that occurs, its m numbers side by side: the transpose of Φ, so that the projection of a
/// sparse row is a sum of a few contiguous vectors.
#[derive(Debug, Clone)]
pub(crate) struct LabelTable {
    n_components: usize,
    /// m rounded up to whole vectors; the padding is 0.
    stride: usize,
    /// Row of an output, [`ABSENT`] if it has none; `None` when every output has the row of its own number.
    slots: Option<Vec<u32>>,
    values: Vec<f32>,
}

impl LabelTable {
    /// A table of all outputs. `fill` writes the m numbers of an output over zeros.
    pub(crate) fn all(
        n_outputs: usize,
        n_components: usize,
        fill: impl Fn(u32, &mut [f32]),
    ) -> Result<Self, ProjectionError> {
        Self::with_rows(n_outputs, n_components, None, fill)
    }

    /// A table of the outputs that occur among `labels`.
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
                if n_rows == n_outputs {
                    return Self::all(n_outputs, n_components, fill);
                }
            }
        }
        // Rows in label order, whatever the order in which the labels came.
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
        let stride = if n_components <= 2 {
            n_components
        } else {
            n_components.next_multiple_of(4)
        };
        let mut values = memory::filled(0.0_f32, n_rows, stride)?;
        let draw = |(label, row): (u32, &mut [f32])| fill(label, &mut row[..n_components]);
        let rows = values.chunks_exact_mut(stride);
        match &slots {
            None => (0..).zip(rows).for_each(draw),
            Some(slots) => {
                let occurring = (0..).zip(slots).filter(|(_, slot)| **slot != ABSENT);
                occurring.map(|(label, _)| label).zip(rows).for_each(draw);
            }
        }
        Ok(Self {
            n_components,
            stride,
            slots,
            values,
        })
    }

    /// Whether every output stored in `y` has a row.
    pub(crate) fn covers(&self, y: &Outputs<'_>) -> bool {
        match (&self.slots, y) {
            (None, _) => true,
            (Some(_), Outputs::Dense(_)) => false,
            (Some(slots), Outputs::Csr(a) | Outputs::Ones(a)) => {
                a.indices().iter().all(|&j| slots[j as usize] != ABSENT)
            }
        }
    }

    /// Writes `scale` times the sum, over the values of each row, of value times table row.
    ///
    /// The table must cover `y`.
    pub(crate) fn project(&self, y: &Outputs<'_>, scale: f32, z: &mut [f32]) {
        self.project_some(y, &(0..y.n_rows()), scale, z);
    }

    /// As [`LabelTable::project`] for some of the rows, which the table must cover; the others are left alone.
    pub(crate) fn project_some(
        &self,
        y: &Outputs<'_>,
        rows: &(impl Iterator<Item = usize> + Clone),
        scale: f32,
        z: &mut [f32],
    ) {
        let slot = |j: u32| self.slots.as_ref().map_or(j, |slots| slots[j as usize]) as usize;
        match y {
            Outputs::Dense(a) => {
                // A zero adds nothing to any sum: dense 0/1 outputs cost what sparse ones cost.
                let row = |i| (0..).zip(a.index_axis(Axis(0), i)).filter(|(_, v)| **v != 0.0);
                self.sum_rows(rows, |i| row(i).map(|(j, &v)| (j, v)), scale, z);
            }
            Outputs::Csr(a) => self.sum_rows(rows, |i| stored(a, i).map(|(j, v)| (slot(j), v)), scale, z),
            Outputs::Ones(a) => {
                self.sum_rows(
                    rows,
                    |i| csr_row(a, i).0.iter().map(|&j| (slot(j), 1.0)),
                    scale,
                    z,
                );
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
        for block in (0..self.stride).step_by(BLOCK) {
            let (rows, target) = (rows.clone(), (block, scale));
            match (self.stride - block).min(BLOCK) {
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

    /// The sums of components `block..block + W`, held in registers over a row.
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
        let width = W.min(m - block);
        for i in rows {
            let mut sums = [0.0_f32; W];
            for (slot, value) in row(i) {
                let at = slot * self.stride + block;
                let numbers: &[f32; W] = self.values[at..].first_chunk().expect("rows are whole blocks");
                for lane in 0..W {
                    sums[lane] += value * numbers[lane];
                }
            }
            let out = &mut z[i * m + block..][..width];
            out.iter_mut()
                .zip(&sums)
                .for_each(|(out, sum)| *out = sum * scale);
        }
    }
}

/// The (column, value) pairs stored in a row.
pub(crate) fn stored<'b>(
    a: &'b CsrView<'_>,
    row: usize,
) -> impl ExactSizeIterator<Item = (u32, f32)> + Clone + use<'b> {
    let (columns, values) = csr_row(a, row);
    columns.iter().copied().zip(values.iter().copied())
}
