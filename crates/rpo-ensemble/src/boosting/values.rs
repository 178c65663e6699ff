//! What a step adds to the scores.

use super::choices::LeafStorage;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, csr_row};
use rpo_tree::{Rule, Structure};

/// What the leaves of a step add to the scores, learning rate included.
#[derive(Debug, Clone, PartialEq)]
pub enum StepValues {
    /// One tree for all outputs: leaf l adds `leaves[l] * outputs[j]` to output j. A step of Algorithm 3: L + d
    /// numbers.
    Product {
        /// One number per leaf, g.
        leaves: Vec<f32>,
        /// One number per output, μρ.
        outputs: Vec<f32>,
    },
    /// Leaf l adds row l of a matrix (L x d). A step of Algorithms 2 and 4.
    Vectors(Array2<f32>),
    /// The same where only some numbers differ from 0.
    Sparse(CsrMatrix),
    /// Leaf l adds `leaves[l]` to one output. A tree of Algorithm 1.
    Single {
        /// One number per leaf, μρg.
        leaves: Vec<f32>,
        /// The output.
        output: u32,
    },
}

impl StepValues {
    /// Stores leaf vectors as told.
    pub(super) fn vectors(values: &Array2<f64>, storage: LeafStorage) -> Self {
        match storage {
            LeafStorage::Dense => Self::Vectors(values.mapv(|v| v as f32)),
            LeafStorage::Largest(k) => Self::Sparse(largest(values, k)),
        }
    }

    /// Stores matrices by rows.
    pub(super) fn lay_out(&mut self) {
        match self {
            Self::Vectors(values) if !values.is_standard_layout() => {
                *values = values.as_standard_layout().into_owned();
            }
            Self::Sparse(values) if !values.is_csr() => *values = values.to_csr(),
            _ => {}
        }
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        match self {
            Self::Product { leaves, .. } | Self::Single { leaves, .. } => leaves.len(),
            Self::Vectors(values) => values.nrows(),
            Self::Sparse(values) => values.rows(),
        }
    }

    /// Number of outputs, `None` for [`Single`](Self::Single), which does not say.
    pub fn n_outputs(&self) -> Option<usize> {
        match self {
            Self::Product { outputs, .. } => Some(outputs.len()),
            Self::Vectors(values) => Some(values.ncols()),
            Self::Sparse(values) => Some(values.cols()),
            Self::Single { .. } => None,
        }
    }

    /// Calls `f(output, value)` for what a leaf adds.
    pub fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        let leaf = leaf as usize;
        match self {
            Self::Product { leaves, outputs } => {
                let g = f64::from(leaves[leaf]);
                (0..).zip(outputs).for_each(|(j, &rho)| f(j, g * f64::from(rho)));
            }
            Self::Vectors(values) => (0..).zip(values.row(leaf)).for_each(|(j, &v)| f(j, f64::from(v))),
            Self::Sparse(values) => {
                let view = values.view();
                let (columns, values) = csr_row(&view, leaf);
                columns.iter().zip(values).for_each(|(&j, &v)| f(j, f64::from(v)));
            }
            Self::Single { leaves, output } => f(*output, f64::from(leaves[leaf])),
        }
    }

    /// Whether every number is finite.
    pub(super) fn is_finite(&self) -> bool {
        let all = |values: &[f32]| values.iter().all(|v| v.is_finite());
        match self {
            Self::Product { leaves, outputs } => all(leaves) && all(outputs),
            Self::Vectors(values) => values.iter().all(|v| v.is_finite()),
            Self::Sparse(values) => all(values.data()),
            Self::Single { leaves, .. } => all(leaves),
        }
    }
}

/// The k largest numbers of each row in absolute value, of equal ones the first, and none that is 0.
fn largest(values: &Array2<f64>, k: usize) -> CsrMatrix {
    let (mut indptr, mut columns, mut kept) = (vec![0], Vec::new(), Vec::new());
    for row in values.rows() {
        let mut order: Vec<u32> = (0..row.len() as u32)
            .filter(|&j| row[j as usize] as f32 != 0.0)
            .collect();
        let size = |j: u32| row[j as usize].abs();
        if order.len() > k {
            order.select_nth_unstable_by(k - 1, |&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
            order.truncate(k);
        }
        order.sort_unstable();
        kept.extend(order.iter().map(|&j| row[j as usize] as f32));
        columns.append(&mut order);
        indptr.push(columns.len());
    }
    CsrMatrix::new(values.dim(), indptr, columns, kept)
}

/// One boosting step: a structure, and what its leaves add to the scores.
#[derive(Debug, Clone, PartialEq)]
pub struct BoostingStep<R> {
    /// The tree's structure.
    pub structure: Structure<R>,
    /// What its leaves add.
    pub values: StepValues,
    /// What each split took off the squares of the residual that the tree grew on, per unit of its projection:
    /// |S| ΔI / ‖φ‖², in preorder ([`Structure::splits`]). Features are weighed by it
    /// ([`Boosted::importances`](super::Boosted::importances)).
    pub gains: Vec<f64>,
}

impl<R: Rule> BoostingStep<R> {
    /// Adds what the leaves of rows add to their scores, a row per row.
    pub(super) fn add(&self, leaf_of_row: &[u32], scores: &mut Array2<f64>) {
        let d = scores.ncols();
        let rows = scores.axis_chunks_iter_mut(Axis(0), 256).into_par_iter();
        rows.zip(leaf_of_row.par_chunks(256))
            .for_each(|(mut scores, leaves)| {
                let scores = scores.as_slice_mut().expect("made in row order");
                for (row, &leaf) in scores.chunks_exact_mut(d).zip(leaves) {
                    self.values.for_each(leaf, |j, v| row[j as usize] += v);
                }
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_largest_stay() {
        let values = array![[1.0, -3.0, 0.0, 3.0, 1.0], [0.0, 1e-60, 0.0, 0.0, -1.0]];
        let check = |k, expected: Array2<f32>| {
            let found = StepValues::vectors(&values, LeafStorage::Largest(k));
            let mut dense = Array2::zeros((2, 5));
            for leaf in 0..2 {
                found.for_each(leaf, |j, v| dense[[leaf as usize, j as usize]] = v as f32);
            }
            assert_eq!(dense, expected, "{k}");
        };
        check(1, array![[0.0, -3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, -1.0]]);
        check(3, array![[1.0, -3.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0, -1.0]]);
        check(5, array![[1.0, -3.0, 0.0, 3.0, 1.0], [0.0, 0.0, 0.0, 0.0, -1.0]]);
    }
}
