//! The matrix of a node, gathered from the training features.

use super::design::{Batch, DenseDesign, DesignMatrix};
use super::rule::ObliqueRule;
use super::scaling::{FeatureScaling, Standardization};
use super::sparse_design::SparseDesign;
use crate::TreeError;
use ndarray::{CowArray, Ix2};
use rpo_core::{CsrView, MatrixView, csr_row};

/// Training features for hyperplanes, with their standardization: dense or CSR, without missing or infinite values.
#[derive(Debug)]
pub struct Features<'a> {
    values: Values<'a>,
    scaling: Standardization,
}

#[derive(Debug)]
enum Values<'a> {
    Dense(CowArray<'a, f32, Ix2>),
    Sparse(CsrView<'a>),
}

impl<'a> Features<'a> {
    /// Takes features (n x p) after checking them, and scales them as specified.
    ///
    /// # Errors
    /// [`TreeError::NotCsr`] if sparse by columns, [`TreeError::Empty`] without rows or columns,
    /// [`TreeError::InfiniteFeature`] and [`TreeError::MissingFeature`] with the first invalid value in row order,
    /// [`TreeError::TooLarge`] beyond 32-bit indices.
    pub fn new(x: MatrixView<'a>, scaling: FeatureScaling) -> Result<Self, TreeError> {
        x.check_csr("features")?;
        let (rows, columns) = (x.n_rows(), x.n_cols());
        if rows == 0 || columns == 0 {
            return Err(TreeError::Empty { rows, columns });
        }
        let limit = u32::MAX as usize - 1;
        for (what, given) in [
            ("the number of rows", rows),
            ("the number of columns", columns),
            ("the number of values", x.n_stored()),
        ] {
            if given > limit {
                return Err(TreeError::TooLarge { what, given, limit });
            }
        }
        check_present(x)?;
        let scaling = Standardization::of(x, scaling);
        let values = match x {
            MatrixView::Dense(x) if x.is_standard_layout() => Values::Dense(x.into()),
            MatrixView::Dense(x) => Values::Dense(x.as_standard_layout().into_owned().into()),
            MatrixView::Sparse(x) => Values::Sparse(x),
        };
        Ok(Self { values, scaling })
    }

    /// Number of features.
    pub(crate) fn n_features(&self) -> usize {
        self.scaling.scale.len()
    }

    /// Calls `f(feature, value)` for the non-zero values of a row in the given features (increasing, and marked in
    /// `place`).
    #[inline]
    fn for_each(&self, row: u32, subset: &[u32], place: &[u32], mut f: impl FnMut(u32, f32)) {
        match &self.values {
            Values::Dense(x) => {
                let row = x.row(row as usize);
                let row = row.as_slice().expect("rows are contiguous");
                for &j in subset {
                    let v = row[j as usize];
                    if v != 0.0 {
                        f(j, v);
                    }
                }
            }
            Values::Sparse(x) => {
                let (columns, values) = csr_row(x, row as usize);
                for (&j, &v) in columns.iter().zip(values) {
                    if place[j as usize] != OUTSIDE && v != 0.0 {
                        f(j, v);
                    }
                }
            }
        }
    }

    /// Calls `f(i, values)` in turn with all values of the i-th of the given rows.
    pub(super) fn for_each_row(&self, rows: &[u32], spread: &mut Vec<f32>, mut f: impl FnMut(usize, &[f32])) {
        match &self.values {
            Values::Dense(x) => rows.iter().enumerate().for_each(|(i, &row)| {
                f(i, x.row(row as usize).as_slice().expect("rows are contiguous"));
            }),
            Values::Sparse(x) => {
                spread.clear();
                spread.resize(self.n_features(), 0.0);
                for (i, &row) in rows.iter().enumerate() {
                    let (columns, values) = csr_row(x, row as usize);
                    columns
                        .iter()
                        .zip(values)
                        .for_each(|(&j, &v)| spread[j as usize] = v);
                    f(i, spread);
                    columns.iter().for_each(|&j| spread[j as usize] = 0.0);
                }
            }
        }
    }
}

/// Rejects missing and infinite values, which are on neither side of a hyperplane.
///
/// # Errors
/// [`TreeError::MissingFeature`] and [`TreeError::InfiniteFeature`] with the first invalid value in row order.
pub fn check_present(x: MatrixView<'_>) -> Result<(), TreeError> {
    for row in 0..x.n_rows() {
        let mut bad = None;
        x.for_each_in_row(row, |column, value| {
            if !value.is_finite() && bad.is_none() {
                bad = Some((column as usize, value));
            }
        });
        match bad {
            None => {}
            Some((column, value)) if value.is_nan() => {
                return Err(TreeError::MissingFeature { sample: row, column });
            }
            Some((column, value)) => {
                return Err(TreeError::InfiniteFeature {
                    sample: row,
                    column,
                    value,
                });
            }
        }
    }
    Ok(())
}

/// Value in [`NodeDesign::place`] of a feature that the tree does not use.
const OUTSIDE: u32 = u32::MAX;

/// A matrix is gathered densely if at least one in this many values is non-zero: a product over a dense row then takes
/// no longer than one over its entries.
const DENSE_SHARE: usize = 6;

/// The standardised features of a node's rows, gathered once and then multiplied hundreds of times.
///
/// Features that are constant in the node are left out: they act only as the bias does. (The paper keeps them; there
/// they only share the work of the bias and spoil the sparsity of the hyperplane.) Dense or sparse storage is chosen by
/// the number of non-zero values, not by the layout of the features, so that both layouts give the same tree.
#[derive(Debug, Clone)]
pub struct NodeDesign {
    /// Feature of each column.
    columns: Vec<u32>,
    /// Column of each feature while gathered; for other features of the tree any number but [`OUTSIDE`].
    place: Vec<u32>,
    seen: Vec<Seen>,
    is_dense: bool,
    dense: DenseDesign<f32>,
    sparse: SparseDesign<f32>,
}

/// Summary of the values of a feature in the rows of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    value: f32,
    count: u32,
    differs: bool,
}

impl NodeDesign {
    /// Creates buffers for the increasing features that a tree uses.
    pub(super) fn new(features: &Features<'_>, subset: &[u32]) -> Self {
        let mut place = vec![OUTSIDE; features.n_features()];
        subset.iter().for_each(|&j| place[j as usize] = 0);
        Self {
            columns: Vec::new(),
            place,
            seen: vec![Seen::default(); features.n_features()],
            is_dense: true,
            dense: DenseDesign::default(),
            sparse: SparseDesign::default(),
        }
    }

    /// Gathers the given rows; returns true if any feature varies among them. `features` and `subset` are those for
    /// which the buffers were made.
    pub(super) fn gather(&mut self, features: &Features<'_>, subset: &[u32], rows: &[u32]) -> bool {
        for &j in subset {
            self.seen[j as usize] = Seen::default();
        }
        for &row in rows {
            features.for_each(row, subset, &self.place, |j, v| {
                let seen = &mut self.seen[j as usize];
                seen.differs |= seen.count > 0 && seen.value != v;
                seen.value = v;
                seen.count += 1;
            });
        }
        let n = rows.len();
        self.columns.clear();
        let mut n_entries = 0;
        for &j in subset {
            let seen = self.seen[j as usize];
            if seen.differs || (seen.count > 0 && (seen.count as usize) < n) {
                self.place[j as usize] = self.columns.len() as u32;
                self.columns.push(j);
                n_entries += seen.count as usize;
            }
        }
        self.is_dense = n_entries * DENSE_SHARE >= n * self.columns.len();
        let Standardization { centre, scale } = &features.scaling;
        let (place, columns) = (&self.place, &self.columns);
        let column = |j: u32| place[j as usize] as usize;
        if self.is_dense {
            let zero: Vec<f32> = columns
                .iter()
                .map(|&j| -centre[j as usize] * scale[j as usize])
                .collect();
            self.dense.refill(n, columns.len(), |i, out| {
                out.copy_from_slice(&zero);
                features.for_each(rows[i], columns, place, |j, v| {
                    if columns.get(column(j)) == Some(&j) {
                        out[column(j)] = (v - centre[j as usize]) * scale[j as usize];
                    }
                });
            });
        } else {
            let centred = columns.iter().map(|&j| centre[j as usize] * scale[j as usize]);
            self.sparse.refill(n, centred, |i, push| {
                features.for_each(rows[i], columns, place, |j, v| {
                    if columns.get(column(j)) == Some(&j) {
                        push(column(j) as u32, v * scale[j as usize]);
                    }
                });
            });
        }
        !self.columns.is_empty()
    }

    /// Returns the hyperplane of these weights in raw features, without weights of magnitude at most `prune`.
    pub(super) fn rule(&self, features: &Features<'_>, weights: &[f32], prune: f32) -> Option<ObliqueRule> {
        let Standardization { centre, scale } = &features.scaling;
        let (mut kept, mut raw) = (Vec::new(), Vec::new());
        let mut bias = f64::from(weights[self.bias()]);
        for (&j, &w) in self.columns.iter().zip(weights) {
            let scaled = w * scale[j as usize];
            if w.abs() > prune && scaled != 0.0 {
                kept.push(j);
                raw.push(scaled);
                bias -= f64::from(scaled) * f64::from(centre[j as usize]);
            }
        }
        ObliqueRule::new(kept, raw, bias as f32).ok()
    }
}

impl DesignMatrix<f32> for NodeDesign {
    fn n_rows(&self) -> usize {
        if self.is_dense {
            self.dense.n_rows()
        } else {
            self.sparse.n_rows()
        }
    }

    fn n_columns(&self) -> usize {
        if self.is_dense {
            self.dense.n_columns()
        } else {
            self.sparse.n_columns()
        }
    }

    fn bias(&self) -> usize {
        self.columns.len()
    }

    fn margins(&self, batch: Batch<'_>, weights: &[f32], out: &mut [f32]) {
        if self.is_dense {
            self.dense.margins(batch, weights, out);
        } else {
            self.sparse.margins(batch, weights, out);
        }
    }

    fn transposed(&self, batch: Batch<'_>, v: &[f32], out: &mut [f32]) {
        if self.is_dense {
            self.dense.transposed(batch, v, out);
        } else {
            self.sparse.transposed(batch, v, out);
        }
    }

    fn squared_norm(&self) -> f64 {
        if self.is_dense {
            self.dense.squared_norm()
        } else {
            self.sparse.squared_norm()
        }
    }
}
