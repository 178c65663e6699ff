//! Sums per output for one row.

/// Sums with a list of the outputs that were added to, so that the cost of a row depends only on their number.
pub(crate) struct SparseSums {
    values: Vec<f64>,
    /// Outputs that were added to; only the first `n_met` entries are valid.
    met: Vec<u32>,
    n_met: usize,
}

impl SparseSums {
    pub(crate) fn new(n_outputs: usize) -> Self {
        Self {
            values: vec![0.0; n_outputs],
            met: Vec::new(),
            n_met: 0,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, output: u32, value: f64) {
        self.add_all(std::iter::once((output, value)));
    }

    /// Adds values to some sums. Whether a sum is new is unpredictable, so there is no branch: each output is written
    /// to the list, and overwritten by the next one unless it was new.
    #[inline]
    pub(crate) fn add_all(&mut self, terms: impl ExactSizeIterator<Item = (u32, f64)>) {
        let mut n_met = self.n_met;
        if self.met.len() < n_met + terms.len() {
            self.met.resize(2 * (n_met + terms.len()), 0);
        }
        let (values, met) = (&mut self.values[..], &mut self.met[..]);
        for (output, value) in terms {
            let sum = &mut values[output as usize];
            met[n_met] = output;
            n_met += usize::from(*sum == 0.0);
            *sum += value;
        }
        self.n_met = n_met;
    }

    /// Calls `f` once for each nonzero sum, and clears the sums.
    pub(crate) fn drain(&mut self, mut f: impl FnMut(u32, f64)) {
        for &output in &self.met[..self.n_met] {
            let sum = std::mem::take(&mut self.values[output as usize]);
            // An output is listed twice if its sum passed through zero.
            if sum != 0.0 {
                f(output, sum);
            }
        }
        self.n_met = 0;
    }
}
