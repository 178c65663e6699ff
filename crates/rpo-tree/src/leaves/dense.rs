//! Leaves as dense vectors.

use super::LeafModel;
use ndarray::Array2;

/// Leaf values as a dense matrix: one `f32` per leaf and output.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseLeaves {
    /// The values (leaves x outputs).
    pub values: Array2<f32>,
}

impl DenseLeaves {
    /// Stores the predictions of a leaf model, rounded to `f32`.
    pub(super) fn from_model(model: &impl LeafModel) -> Self {
        let mut values = Array2::zeros((model.n_leaves(), model.n_outputs()));
        let mut sums = vec![0.0; model.n_outputs()];
        for (leaf, mut row) in values.rows_mut().into_iter().enumerate() {
            sums.fill(0.0);
            model.for_each(leaf as u32, |j, v| sums[j as usize] += v);
            row.iter_mut()
                .zip(&sums)
                .for_each(|(out, &sum)| *out = sum as f32);
        }
        Self { values }
    }
}

impl LeafModel for DenseLeaves {
    fn n_leaves(&self) -> usize {
        self.values.nrows()
    }

    fn n_outputs(&self) -> usize {
        self.values.ncols()
    }

    #[inline]
    fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        let row = self.values.row(leaf as usize);
        row.iter()
            .enumerate()
            .for_each(|(j, &v)| f(j as u32, f64::from(v)));
    }
}
