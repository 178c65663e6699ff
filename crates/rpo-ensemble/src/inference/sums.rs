//! Sums per output for one row.

/// Sums with a list of the outputs met, so that a row costs what it met.
pub(crate) struct SparseSums {
    values: Vec<f64>,
    met: Vec<u32>,
}

impl SparseSums {
    pub(crate) fn new(n_outputs: usize) -> Self {
        Self {
            values: vec![0.0; n_outputs],
            met: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, output: u32, value: f64) {
        let sum = &mut self.values[output as usize];
        if *sum == 0.0 {
            self.met.push(output);
        }
        *sum += value;
    }

    /// Hands out each sum that is not 0, once, and clears.
    pub(crate) fn drain(&mut self, mut f: impl FnMut(u32, f64)) {
        for &output in &self.met {
            let sum = std::mem::take(&mut self.values[output as usize]);
            // An output is listed again if its sum passed through zero.
            if sum != 0.0 {
                f(output, sum);
            }
        }
        self.met.clear();
    }
}
