//! Updates of the training scores.

use crate::boosting::step::StepValues;
use ndarray::Array2;
use rpo_core::CsrMatrix;
use rpo_tree::LeafModel;

/// The values that the leaves of a tree add to the training scores, before they are rounded for storage.
#[derive(Debug, Clone)]
pub(in crate::boosting) enum StepUpdate {
    /// leaves[l] · outputs[j].
    Product { leaves: Vec<f64>, outputs: Vec<f64> },
    /// L x d.
    Vectors(Array2<f64>),
}

impl StepUpdate {
    /// Converts stored values to an update. For values of a single target, the update has only that output.
    pub(in crate::boosting) fn from_stored(values: &StepValues) -> Self {
        let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
        match values {
            StepValues::Product { leaves, outputs } => Self::Product {
                leaves: wide(leaves),
                outputs: wide(outputs),
            },
            StepValues::Single { leaves, .. } => {
                Self::Vectors(Array2::from_shape_fn((leaves.len(), 1), |(leaf, _)| {
                    f64::from(leaves[leaf])
                }))
            }
            StepValues::Vectors(values) => Self::Vectors(values.mapv(f64::from)),
            StepValues::Sparse(_) => {
                let mut dense = Array2::zeros((values.n_leaves(), values.n_outputs()));
                for (leaf, mut row) in dense.rows_mut().into_iter().enumerate() {
                    values.for_each(leaf as u32, |j, v| row[j as usize] = v);
                }
                Self::Vectors(dense)
            }
        }
    }

    /// Converts the values to the form that a model stores.
    pub(in crate::boosting) fn to_stored(&self) -> StepValues {
        match self {
            Self::Product { leaves, outputs } => StepValues::Product {
                leaves: narrow(leaves),
                outputs: narrow(outputs),
            },
            Self::Vectors(values) => StepValues::Vectors(values.mapv(|v| v as f32)),
        }
    }

    /// Copies the values of a leaf.
    pub(super) fn copy_leaf(&self, leaf: usize, out: &mut [f64]) {
        match self {
            Self::Product { leaves, outputs } => {
                let g = leaves[leaf];
                out.iter_mut().zip(outputs).for_each(|(out, rho)| *out = g * rho);
            }
            Self::Vectors(values) => out
                .iter_mut()
                .zip(values.row(leaf))
                .for_each(|(out, &v)| *out = v),
        }
    }

    /// Returns the values of all leaves (L x d).
    pub(super) fn by_leaf(&self, n_leaves: usize, n_outputs: usize) -> Array2<f64> {
        let mut values = Array2::zeros((n_leaves, n_outputs));
        for (leaf, mut row) in values.rows_mut().into_iter().enumerate() {
            self.copy_leaf(leaf, row.as_slice_mut().expect("made in row order"));
        }
        values
    }
}

/// Converts numbers to `f32`.
pub(in crate::boosting) fn narrow<'v>(values: impl IntoIterator<Item = &'v f64>) -> Vec<f32> {
    values.into_iter().map(|&v| v as f32).collect()
}

/// Keeps the k values of each leaf that are largest in magnitude (the first among equal ones), rounds them to `f32` and
/// sets the others to 0. Returns the nonzero values.
pub(in crate::boosting) fn keep_largest(values: &mut Array2<f64>, k: usize) -> CsrMatrix {
    let (mut indptr, mut columns, mut kept) = (vec![0], Vec::new(), Vec::new());
    for mut row in values.rows_mut() {
        let mut order: Vec<u32> = (0..row.len() as u32)
            .filter(|&j| row[j as usize] as f32 != 0.0)
            .collect();
        let size = |j: u32| row[j as usize].abs();
        if order.len() > k {
            order.select_nth_unstable_by(k - 1, |&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
            order.truncate(k);
        }
        order.sort_unstable();
        let first = kept.len();
        kept.extend(order.iter().map(|&j| row[j as usize] as f32));
        row.fill(0.0);
        for (&j, &v) in order.iter().zip(&kept[first..]) {
            row[j as usize] = f64::from(v);
        }
        columns.append(&mut order);
        indptr.push(columns.len());
    }
    CsrMatrix::new(values.dim(), indptr, columns, kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_largest_stay() {
        let values = array![[1.0, -3.0, 0.0, 3.0, 1.0], [0.0, 1e-60, 0.0, 0.0, -1.0]];
        let check = |k, expected: Array2<f64>| {
            let mut kept = values.clone();
            let stored = StepValues::Sparse(keep_largest(&mut kept, k));
            assert_eq!(kept, expected, "{k}");
            let StepUpdate::Vectors(again) = StepUpdate::from_stored(&stored) else {
                panic!("vectors")
            };
            assert_eq!(again, expected, "{k}");
        };
        check(1, array![[0.0, -3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, -1.0]]);
        check(3, array![[1.0, -3.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0, -1.0]]);
        check(5, array![[1.0, -3.0, 0.0, 3.0, 1.0], [0.0, 0.0, 0.0, 0.0, -1.0]]);
    }
}
