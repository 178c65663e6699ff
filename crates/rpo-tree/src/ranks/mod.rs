//! Training features by column, coded as ranks.
//!
//! A column is coded once into the ranks of its distinct values, so that growing sorts integers. Zero is one of the
//! values (if a row has it) in both layouts, and missing values rank after all observed ones. Trees share the ranks
//! read-only.
//!
//! The dense layout holds the values by column. For columns that were searched for their best threshold, it also holds
//! a rank per value, in 1, 2 or 4 bytes, and the order of the rows if there are not many. The sparse layout holds the
//! non-zero entries twice: by column in rank order, for nodes with many rows, and by row, for nodes with few. If at
//! least one cell in 64 is not zero, so that a bit per cell takes less memory than the entries, bits mark the non-zero
//! cells, and candidate features are looked up 64 at a time.

pub(crate) mod bits;
mod dense;
mod order;
mod radix;
mod sparse;

pub(crate) use dense::{DenseColumns, Ranks};
pub(crate) use order::{MOST_ROWS, Order};
pub(crate) use radix::sort_by_bits;
pub(crate) use sparse::SparseRanks;

use crate::categories::code_of;
use crate::error::TreeError;
use crate::splitter::check_increasing;
use rpo_core::{MatrixView, TooFew};

/// Training features coded as ranks, in the layout (dense or sparse) of their matrix.
#[derive(Debug, Clone)]
pub struct RankedFeatures(Layout);

#[derive(Debug, Clone)]
pub(crate) enum Layout {
    /// From a dense matrix.
    Dense(DenseColumns),
    /// From a CSR matrix.
    Sparse(SparseRanks),
}

/// The distinct values of one column over the training set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnValues {
    /// Distinct observed values in increasing order; rank r represents `values[r]`.
    pub(crate) values: Vec<f32>,
    /// Number of negative values: the rank of zero, or of the first positive value if there is no zero.
    pub(crate) n_negative: u32,
    /// True if some row holds zero.
    pub(crate) has_zero: bool,
}

/// Which ranks of a column separate negative values, positive values and missing ones: all that a search needs of the
/// values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RankBounds {
    /// The number of negative values, which is the rank of zero if there is one.
    pub(crate) zero: u32,
    /// The rank of missing values.
    pub(crate) missing: u32,
}

impl ColumnValues {
    pub(crate) fn new(values: Vec<f32>) -> Self {
        let n_negative = values.partition_point(|&v| v < 0.0);
        let has_zero = values.get(n_negative) == Some(&0.0);
        Self {
            values,
            n_negative: n_negative as u32,
            has_zero,
        }
    }

    /// Returns the rank of a missing value.
    pub(crate) fn missing_rank(&self) -> u32 {
        self.values.len() as u32
    }

    /// Returns the ranks between the kinds of values.
    pub(crate) fn bounds(&self) -> RankBounds {
        RankBounds {
            zero: self.n_negative,
            missing: self.missing_rank(),
        }
    }

    /// Returns the value of a rank; NaN for the rank of a missing value.
    pub(crate) fn value(&self, rank: u32) -> f32 {
        self.values.get(rank as usize).copied().unwrap_or(f32::NAN)
    }

    /// Returns the rank of zero, if some row holds zero.
    pub(crate) fn zero_rank(&self) -> Option<u32> {
        self.has_zero.then_some(self.n_negative)
    }

    /// Returns the [threshold](threshold_between) between two neighbouring ranks.
    pub(crate) fn threshold(&self, low: u32, high: u32) -> f32 {
        threshold_between(self.values[low as usize], self.values[high as usize])
    }
}

/// Returns the threshold between two neighbouring values: their midpoint in `f64`, rounded to `f32`, or the lower value
/// if rounding would reach the upper one.
pub(crate) fn threshold_between(low: f32, high: f32) -> f32 {
    let middle = (f64::from(low) + (f64::from(high) - f64::from(low)) / 2.0) as f32;
    if middle >= high { low } else { middle }
}

impl RankedFeatures {
    /// Codes a feature matrix (n x p). NaN means missing. The columns in `categorical`, increasing, hold codes of
    /// [categories](crate::categories): whole numbers from 0, or NaN.
    ///
    /// # Errors
    /// [`TreeError::NotCsr`] if sparse by columns, [`TreeError::Empty`] without rows or columns,
    /// [`TreeError::InfiniteFeature`] with the first infinite value in row order, [`TreeError::TooLarge`] for more than
    /// 2^31 rows, 2^31 columns or more, or 2^32 stored values. For categories in a sparse matrix
    /// [`TreeError::SparseCategories`], for columns that are not increasing [`TreeError::Parameter`], for a column that
    /// does not exist [`TreeError::TooFew`], and for a value that is not a code [`TreeError::Category`].
    pub fn new(x: MatrixView<'_>, categorical: &[u32]) -> Result<Self, TreeError> {
        check_training_features(x)?;
        check_categories(x, categorical)?;
        match x {
            MatrixView::Dense(a) => Ok(Self(Layout::Dense(DenseColumns::new(a, categorical)))),
            MatrixView::Sparse(a) => Ok(Self(Layout::Sparse(SparseRanks::new(a)?))),
        }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.0
    }

    /// Copies some increasing rows, numbered from 0; returns `None` for sparse and for categorical features.
    pub(crate) fn of_rows(&self, rows: &[u32]) -> Option<Self> {
        match &self.0 {
            Layout::Dense(c) => c.of_rows(rows).map(|c| Self(Layout::Dense(c))),
            Layout::Sparse(_) => None,
        }
    }

    /// Number of training samples.
    pub(crate) fn n_rows(&self) -> usize {
        match &self.0 {
            Layout::Dense(c) => c.n_rows(),
            Layout::Sparse(c) => c.n_rows(),
        }
    }

    /// Number of features.
    pub(crate) fn n_features(&self) -> usize {
        match &self.0 {
            Layout::Dense(c) => c.n_features(),
            Layout::Sparse(c) => c.n_features(),
        }
    }
}

/// Rejects a feature matrix that no tree can grow on: the errors of [`RankedFeatures::new`], except for the number of
/// stored values.
pub(crate) fn check_training_features(x: MatrixView<'_>) -> Result<(), TreeError> {
    x.check_csr("features")?;
    let (rows, columns) = (x.n_rows(), x.n_cols());
    if rows == 0 || columns == 0 {
        return Err(TreeError::Empty { rows, columns });
    }
    for (what, given, limit) in [
        // A fully grown tree has two nodes per row, less one; nodes have 32-bit indices.
        ("the number of rows", rows, 1 << 31),
        ("the number of columns", columns, i32::MAX as usize),
    ] {
        if given > limit {
            return Err(TreeError::TooLarge { what, given, limit });
        }
    }
    for row in 0..rows {
        let mut bad = None;
        x.for_each_in_row(row, |column, value| {
            if value.is_infinite() && bad.is_none() {
                bad = Some(TreeError::InfiniteFeature {
                    sample: row,
                    column: column as usize,
                    value,
                });
            }
        });
        bad.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// Rejects columns that do not hold category codes.
pub(crate) fn check_categories(x: MatrixView<'_>, categorical: &[u32]) -> Result<(), TreeError> {
    check_increasing("categorical", categorical)?;
    TooFew::check_indices("features up to the last categorical one", categorical, x.n_cols())?;
    let MatrixView::Dense(x) = x else {
        return match categorical.first() {
            None => Ok(()),
            Some(&column) => Err(TreeError::SparseCategories {
                column: column as usize,
            }),
        };
    };
    for &column in categorical {
        let column = column as usize;
        let mut values = x.column(column).into_iter().enumerate();
        if let Some((row, &value)) = values.find(|(_, v)| !v.is_nan() && code_of(**v).is_none()) {
            return Err(TreeError::Category {
                sample: row,
                column,
                value,
            });
        }
    }
    Ok(())
}

/// Returns bits that sort like the value; NaN last, -0 equal to 0.
pub(crate) fn sortable(value: f32) -> u32 {
    if value.is_nan() {
        return u32::MAX;
    }
    let bits = (value + 0.0).to_bits();
    if bits >> 31 == 1 {
        !bits
    } else {
        bits | 0x8000_0000
    }
}

/// Returns the value represented by bits of [`sortable`].
pub(crate) fn from_sortable(bits: u32) -> f32 {
    f32::from_bits(if bits >> 31 == 1 {
        bits & 0x7fff_ffff
    } else {
        !bits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sortable_bits_order_values() {
        let values = [
            f32::MIN,
            -1.5,
            -f32::MIN_POSITIVE,
            0.0,
            1e-40,
            2.0,
            f32::MAX,
            f32::NAN,
        ];
        assert!(values.windows(2).all(|w| sortable(w[0]) < sortable(w[1])));
        assert_eq!(sortable(-0.0), sortable(0.0));
    }

    #[test]
    fn thresholds_stay_below_the_upper_value() {
        let next = f32::from_bits(1.0_f32.to_bits() + 1);
        let third = f32::from_bits(1.0_f32.to_bits() + 2);
        let column = ColumnValues::new(vec![-3.0, 1.0, next, third, f32::MAX]);
        assert_eq!(column.threshold(0, 1), -1.0);
        assert_eq!(column.threshold(1, 2), 1.0);
        assert_eq!(column.threshold(2, 3), next);
        assert!(column.threshold(0, 4).is_finite());
        assert_eq!((column.n_negative, column.zero_rank()), (1, None));
    }
}
