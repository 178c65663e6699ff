//! Replaces each nominal feature by several columns.

use super::{Nominal, PreprocessError, is_position};
use crate::builder::MatrixBuilder;
use crate::dataset::DatasetError;
use rpo_core::{DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, Mismatch, check_dense};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The columns that a step makes of features.
pub(super) trait Columns {
    /// Number of columns.
    fn n_columns(&self) -> usize;

    /// Returns the feature of each column; increasing.
    fn sources(&self) -> Vec<usize>;

    /// Returns the first column of several features, none of them nominal, that begin with this one; `None` if they may no
    /// longer be complete.
    fn place_of_several(&self, first: usize) -> Option<usize>;
}

/// Maps columns of several features, none of them nominal, to their positions after a step.
pub(super) fn kept<C: Clone>(columns: &dyn Columns, before: &BTreeMap<usize, C>) -> BTreeMap<usize, C> {
    let place = |(&first, column): (&usize, &C)| Some((columns.place_of_several(first)?, column.clone()));
    before.iter().filter_map(place).collect()
}

/// The columns that replace the nominal features of three or more values. A feature of two values already is an
/// indicator of the second value and stays, as do numeric features.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expansion {
    n_features: usize,
    /// The replaced features, by increasing index.
    replaced: Vec<Replaced>,
    /// Memory limit of a dense result, in bytes.
    pub(super) memory_limit: usize,
}

/// The storage of an expanded matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Dense,
    /// Compressed sparse rows, in which zeros are not stored.
    Sparse,
}

impl Storage {
    /// Returns the storage of a matrix.
    pub(super) fn of(x: MatrixView<'_>) -> Self {
        match x {
            MatrixView::Dense(_) => Self::Dense,
            MatrixView::Sparse(_) => Self::Sparse,
        }
    }
}

/// A feature that is replaced by columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Replaced {
    pub(super) feature: usize,
    pub(super) values: Arc<[String]>,
    /// Index of its first column in the result.
    pub(super) first: usize,
    /// Number of its columns in the result.
    pub(super) n_columns: usize,
}

impl Expansion {
    /// Creates the columns for `n_features` features, of which `nominal` have lists of values; `width` returns the
    /// number of columns for a list of values.
    pub(super) fn new(n_features: usize, nominal: &Nominal, width: impl Fn(&[String]) -> usize) -> Self {
        let mut replaced = Vec::new();
        for (&feature, values) in nominal.iter().filter(|(_, values)| values.len() > 2) {
            replaced.push(Replaced {
                feature,
                values: Arc::clone(values),
                first: moved(&replaced, feature),
                n_columns: width(values),
            });
        }
        Self {
            n_features,
            replaced,
            memory_limit: DEFAULT_MEMORY_LIMIT,
        }
    }

    /// Returns the replaced features, by increasing index.
    pub(super) fn replaced(&self) -> &[Replaced] {
        &self.replaced
    }

    /// Number of features that are expanded.
    pub(super) fn n_features(&self) -> usize {
        self.n_features
    }

    /// Returns the column of a feature that stays.
    fn moved(&self, feature: usize) -> usize {
        let n_before = self.replaced.partition_point(|r| r.feature < feature);
        moved(&self.replaced[..n_before], feature)
    }

    /// Returns the nominal features that stay, by their index in the result, from those before.
    pub(super) fn kept_nominal(&self, before: &Nominal) -> Nominal {
        let kept = before.iter().filter(|(_, values)| values.len() <= 2);
        let moved = kept.map(|(&feature, values)| (self.moved(feature), Arc::clone(values)));
        moved.collect()
    }

    /// Returns the name of a feature in the result, from the names before; `None` beyond the last. `name` makes the
    /// name of a column from the replaced feature, its name and the position among its columns.
    pub(super) fn feature_name(
        &self,
        before: &dyn Fn(usize) -> Option<String>,
        column: usize,
        name: impl FnOnce(&Replaced, &str, usize) -> String,
    ) -> Option<String> {
        let n_before = self.replaced.partition_point(|r| r.first <= column);
        let Some(last) = n_before.checked_sub(1).map(|i| &self.replaced[i]) else {
            return before(column);
        };
        match column - last.first {
            place if place < last.n_columns => {
                let feature = before(last.feature)?;
                Some(name(last, &feature, place))
            }
            place => before(last.feature + 1 + place - last.n_columns),
        }
    }

    /// Replaces the nominal features of a matrix (n x p) by columns. `push` gets the matrix, the row, the position
    /// among the replaced features and the value: a position in the list of values, or NaN. It may leave out zeros of
    /// a sparse result.
    pub(super) fn expand(
        &self,
        x: MatrixView<'_>,
        storage: Storage,
        push: impl Fn(&mut MatrixBuilder, usize, usize, f32),
    ) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.n_features, x.n_cols())?;
        let (rows, columns) = (x.n_rows(), self.n_columns());
        let mut builder = match storage {
            Storage::Dense => {
                check_dense(rows, columns, size_of::<f32>(), self.memory_limit)?;
                MatrixBuilder::dense(columns)
            }
            Storage::Sparse => MatrixBuilder::sparse(columns),
        };
        for row in 0..rows {
            // A replaced feature that is not stored has its first value, so that all replaced features are visited, in
            // step with the stored ones.
            let mut rest = self.replaced.iter().enumerate().peekable();
            let (mut n_added, mut invalid) = (0, None);
            x.for_each_in_row(row, |j, v| {
                let j = j as usize;
                while let Some((absent, r)) = rest.next_if(|(_, r)| r.feature < j) {
                    push(&mut builder, row, absent, 0.0);
                    n_added = r.first + r.n_columns - (r.feature + 1);
                }
                let Some((index, r)) = rest.next_if(|(_, r)| r.feature == j) else {
                    return builder.push((j + n_added) as u32, v);
                };
                if v.is_nan() || is_position(v, r.values.len()) {
                    push(&mut builder, row, index, v);
                } else {
                    invalid = invalid.or(Some((r, v)));
                }
                n_added = r.first + r.n_columns - (r.feature + 1);
            });
            if let Some((r, value)) = invalid {
                let not_a_position = DatasetError::NotAPosition {
                    sample: row,
                    feature: r.feature,
                    value,
                    n_values: r.values.len(),
                };
                return Err(not_a_position.into());
            }
            rest.for_each(|(absent, _)| push(&mut builder, row, absent, 0.0));
            builder.end_row();
        }
        Ok(builder.finish())
    }
}

impl Columns for Expansion {
    fn n_columns(&self) -> usize {
        moved(&self.replaced, self.n_features)
    }

    fn sources(&self) -> Vec<usize> {
        let mut replaced = self.replaced.iter().peekable();
        let columns = |feature| {
            let n_columns = replaced
                .next_if(|r| r.feature == feature)
                .map_or(1, |r| r.n_columns);
            std::iter::repeat_n(feature, n_columns)
        };
        (0..self.n_features).flat_map(columns).collect()
    }

    fn place_of_several(&self, first: usize) -> Option<usize> {
        Some(self.moved(first))
    }
}

/// Returns the column of a feature that follows replaced features.
fn moved(replaced: &[Replaced], feature: usize) -> usize {
    replaced
        .last()
        .map_or(feature, |r| r.first + r.n_columns + feature - (r.feature + 1))
}
