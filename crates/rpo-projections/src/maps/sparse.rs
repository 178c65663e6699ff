//! Maps with few nonzero entries, stored by output.

use rpo_core::MatrixView;

use crate::{LinearMap, ProjectionError, check_sizes, memory};

/// Output, component and value of a nonzero entry.
pub(crate) type Entry = (u32, u32, f32);

/// A map given by its nonzero entries and a common scale.
#[derive(Debug)]
pub struct SparseMap {
    n_components: usize,
    scale: f32,
    /// Start of the entries of each output; d + 1 values.
    starts: Vec<usize>,
    /// (component, value), output by output.
    entries: Vec<(u32, f32)>,
}

impl SparseMap {
    /// Creates a map from entries in increasing order of output.
    pub(crate) fn new(
        (n_outputs, n_components): (usize, usize),
        scale: f64,
        sorted: &[Entry],
    ) -> Result<Self, ProjectionError> {
        check_sizes(n_outputs, n_components)?;
        let mut starts = memory::filled(0, n_outputs + 1, 1)?;
        sorted.iter().for_each(|entry| starts[entry.0 as usize + 1] += 1);
        for label in 0..n_outputs {
            starts[label + 1] += starts[label];
        }
        let entries = sorted
            .iter()
            .map(|&(_, component, value)| (component, value))
            .collect();
        Ok(Self {
            n_components,
            scale: scale as f32,
            starts,
            entries,
        })
    }

    /// Returns the nonzero entries of an output, with their components.
    ///
    /// # Panics
    /// If the output is out of range.
    pub fn entries(&self, output: u32) -> impl ExactSizeIterator<Item = (u32, f32)> + '_ {
        let range = self.starts[output as usize]..self.starts[output as usize + 1];
        let entries = self.entries[range].iter();
        entries.map(|&(component, value)| (component, value * self.scale))
    }

    fn add(&self, label: u32, value: f32, z: &mut [f32]) {
        let label = label as usize;
        for &(component, entry) in &self.entries[self.starts[label]..self.starts[label + 1]] {
            z[component as usize] += value * entry;
        }
    }
}

impl LinearMap for SparseMap {
    fn n_outputs(&self) -> usize {
        self.starts.len() - 1
    }

    fn n_components(&self) -> usize {
        self.n_components
    }

    fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError> {
        for (i, z) in z.chunks_exact_mut(self.n_components).enumerate() {
            z.fill(0.0);
            y.for_each_in_row(i, |j, v| self.add(j, v, z));
            z.iter_mut().for_each(|z| *z *= self.scale);
        }
        Ok(())
    }
}
