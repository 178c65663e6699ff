//! Leaves as sparse vectors.

use super::LeafModel;
use rpo_core::{CsrMatrix, csr_row};

/// The non-zero values of each leaf, as CSR (leaves x outputs).
#[derive(Debug, Clone, PartialEq)]
pub struct SparseLeaves {
    values: CsrMatrix,
}

impl SparseLeaves {
    /// Creates leaves from values (leaves x outputs), converted to CSR if needed.
    pub(crate) fn new(values: CsrMatrix) -> Self {
        Self {
            values: if values.is_csr() { values } else { values.to_csr() },
        }
    }

    /// Stores the predictions of a leaf model, rounded to `f32`; values that round to 0 are not stored.
    pub(super) fn from_model(model: &impl LeafModel) -> Self {
        let (mut indptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut sums = vec![0.0; model.n_outputs()];
        let mut met: Vec<u32> = Vec::new();
        for leaf in 0..model.n_leaves() {
            model.for_each(leaf as u32, |j, v| {
                // Outputs whose terms cancel are listed more than once; duplicates are removed after sorting.
                if sums[j as usize] == 0.0 {
                    met.push(j);
                }
                sums[j as usize] += v;
            });
            met.sort_unstable();
            met.dedup();
            for j in met.drain(..) {
                let value = std::mem::take(&mut sums[j as usize]) as f32;
                if value != 0.0 {
                    columns.push(j);
                    values.push(value);
                }
            }
            indptr.push(columns.len());
        }
        Self {
            values: CsrMatrix::new((model.n_leaves(), model.n_outputs()), indptr, columns, values),
        }
    }

    /// The values (leaves x outputs).
    pub(crate) fn values(&self) -> &CsrMatrix {
        &self.values
    }
}

impl LeafModel for SparseLeaves {
    fn n_leaves(&self) -> usize {
        self.values.rows()
    }

    fn n_outputs(&self) -> usize {
        self.values.cols()
    }

    #[inline]
    fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        let view = self.values.view();
        let (columns, values) = csr_row(&view, leaf as usize);
        columns.iter().zip(values).for_each(|(&j, &v)| f(j, f64::from(v)));
    }
}
