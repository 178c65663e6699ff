//! Dense columns: one value per row and column, and one rank if a search sorts the column.

use super::{ColumnValues, MOST_ROWS, Order, from_sortable, sort_by_bits, sortable};
use crate::categories::{MOST_CATEGORIES, code_of, count_distinct, most_frequent};
use ndarray::{ArrayView2, s};
use rayon::prelude::*;
use std::sync::OnceLock;

/// The ranks of one column, in the narrowest type that holds them and the rank of a missing value.
#[derive(Debug, Clone)]
pub(crate) enum Ranks {
    /// At most 255 distinct values.
    U8(Vec<u8>),
    /// At most 65,535 distinct values.
    U16(Vec<u16>),
    /// Any number of values.
    U32(Vec<u32>),
}

impl Ranks {
    /// Returns the rank of a row.
    pub(crate) fn get(&self, row: usize) -> u32 {
        match self {
            Self::U8(ranks) => ranks[row].into(),
            Self::U16(ranks) => ranks[row].into(),
            Self::U32(ranks) => ranks[row],
        }
    }
}

/// Columns of a dense matrix. Memory: four bytes per value. Columns that a search sorts take one to four more for
/// ranks, one for bins if there are enough rows, six for their order if there are not many, and four per distinct
/// value.
#[derive(Debug, Clone)]
pub(crate) struct DenseColumns {
    columns: Vec<DenseColumn>,
    n_rows: usize,
}

#[derive(Debug, Clone)]
struct DenseColumn {
    /// By row; negative zero is stored as positive zero.
    values: Vec<f32>,
    /// True if values are category codes, which splits separate one by one.
    is_categorical: bool,
    /// True if values are zero and one other number, in all rows of the training set.
    is_binary: bool,
    /// Computed when a search first needs them; random thresholds never do.
    ranks: OnceLock<Coded>,
}

/// A column that is searched for its best threshold.
#[derive(Debug, Clone)]
struct Coded {
    column: (ColumnValues, Ranks),
    /// Present if there are few enough rows, and not mostly zeros, which a search skips.
    order: Option<Order>,
    /// Present if there are enough rows and no value is missing.
    bins: Option<ValueBins>,
}

/// The values of a column in 256 bins of about equally many rows: of two values, the smaller one is never in a later
/// bin.
#[derive(Debug, Clone)]
pub(crate) struct ValueBins {
    /// By row.
    pub(crate) of_rows: Vec<u8>,
    /// Per bin, and for the end: the number of distinct values before it.
    n_before: Vec<u32>,
}

const N_BINS: usize = 256;
/// Fewest rows of a column with bins: with fewer rows, hardly any node is large enough to be searched by bins.
const LEAST_BINNED: usize = 2_048;

impl ValueBins {
    /// Begins the bins of this many rows, of which no value is known.
    fn new(n_rows: usize) -> Self {
        Self {
            of_rows: vec![0; n_rows],
            n_before: vec![0],
        }
    }

    /// Returns the bin of the next larger value, of which this is the rank, and the place of its first row in the order
    /// of values.
    fn next(&mut self, rank: u32, place: usize) -> u8 {
        let bin = place * N_BINS / self.of_rows.len();
        self.n_before.resize(bin + 1, rank);
        bin as u8
    }

    /// Ends with this many values.
    fn end(&mut self, n_values: u32) {
        self.n_before.resize(N_BINS + 1, n_values);
    }

    /// Returns true if a bin, numbered after shifting to the right, has at most one value.
    pub(crate) fn has_one_value(&self, bin: usize, shift: u32) -> bool {
        self.n_before[(bin + 1) << shift] - self.n_before[bin << shift] <= 1
    }
}

/// Number of columns copied together: as many as fill a cache line.
const TOGETHER: usize = 16;

impl DenseColumns {
    /// Creates columns; the increasing ones in `categorical` hold category codes.
    pub(super) fn new(x: ArrayView2<'_, f32>, categorical: &[u32]) -> Self {
        let groups = (0..x.ncols()).step_by(TOGETHER).collect::<Vec<_>>();
        let mut columns: Vec<DenseColumn> = groups
            .into_par_iter()
            .flat_map_iter(|first| columns_of(x.slice(s![.., first..(first + TOGETHER).min(x.ncols())])))
            .collect();
        for &column in categorical {
            columns[column as usize].is_categorical = true;
        }
        Self {
            columns,
            n_rows: x.nrows(),
        }
    }

    /// Copies some rows, numbered from 0; returns `None` if some column is categorical, as the set of distinguished
    /// categories depends on all rows.
    pub(super) fn of_rows(&self, rows: &[u32]) -> Option<Self> {
        let copy = |column: &DenseColumn| {
            (!column.is_categorical).then(|| DenseColumn {
                values: rows.iter().map(|&row| column.values[row as usize]).collect(),
                is_categorical: false,
                is_binary: column.is_binary,
                ranks: OnceLock::new(),
            })
        };
        Some(Self {
            columns: self.columns.iter().map(copy).collect::<Option<_>>()?,
            n_rows: rows.len(),
        })
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn n_features(&self) -> usize {
        self.columns.len()
    }

    /// Returns the values of a feature, by row; NaN for missing values.
    pub(crate) fn values(&self, feature: u32) -> &[f32] {
        &self.columns[feature as usize].values
    }

    /// Returns true if a feature is categorical.
    pub(crate) fn is_categorical(&self, feature: u32) -> bool {
        self.columns[feature as usize].is_categorical
    }

    /// Returns true if all values of a feature are zero or one other number, and both occur.
    pub(crate) fn is_binary(&self, feature: u32) -> bool {
        self.columns[feature as usize].is_binary
    }

    /// Returns the distinct values of a feature, and the ranks of its values by row. The rarest categories, beyond
    /// those that splits distinguish, have the rank of missing values.
    pub(crate) fn ranks(&self, feature: u32) -> &(ColumnValues, Ranks) {
        &self.coded(feature).column
    }

    /// Returns the rows in the order of a feature's values, if that is worth its memory; never for a categorical
    /// feature.
    pub(crate) fn order(&self, feature: u32) -> Option<&Order> {
        self.coded(feature).order.as_ref()
    }

    /// Returns the bins of the values of a feature, if it has at least [`LEAST_BINNED`] rows and no missing value.
    pub(crate) fn bins(&self, feature: u32) -> Option<&ValueBins> {
        self.coded(feature).bins.as_ref()
    }

    fn coded(&self, feature: u32) -> &Coded {
        let DenseColumn {
            values,
            is_categorical,
            ranks,
            ..
        } = &self.columns[feature as usize];
        ranks.get_or_init(|| match is_categorical {
            true => Coded {
                column: code_categories(values),
                order: None,
                bins: None,
            },
            false => code(values),
        })
    }
}

fn columns_of(x: ArrayView2<'_, f32>) -> impl Iterator<Item = DenseColumn> + use<> {
    let mut columns = vec![Vec::with_capacity(x.nrows()); x.ncols()];
    for row in x.rows() {
        for (column, &value) in columns.iter_mut().zip(row) {
            column.push(value + 0.0);
        }
    }
    columns.into_iter().map(|values| DenseColumn {
        is_binary: is_binary(&values),
        values,
        is_categorical: false,
        ranks: OnceLock::new(),
    })
}

/// Returns true if all values are zero or one other number, and both occur.
fn is_binary(values: &[f32]) -> bool {
    let other = values.iter().copied().find(|&v| v != 0.0);
    other.is_some_and(|other| values.iter().all(|&v| v == 0.0 || v == other) && values.contains(&0.0))
}

fn code(column: &[f32]) -> Coded {
    // The key sorts by value, then row.
    let mut keys: Vec<u64> = column
        .iter()
        .enumerate()
        .map(|(i, &v)| u64::from(sortable(v)) << 32 | i as u64)
        .collect();
    let (bits_of, row_of) = (|key: u64| (key >> 32) as u32, |key: u64| key as u32);
    sort_by_bits(&mut keys, bits_of);
    let observed = keys.partition_point(|&key| bits_of(key) != sortable(f32::NAN));
    let (observed, unobserved) = keys.split_at(observed);
    let is_binned = column.len() >= LEAST_BINNED && unobserved.is_empty();
    let mut bins = is_binned.then(|| ValueBins::new(column.len()));
    let (mut values, mut ranks) = (Vec::new(), vec![0_u32; column.len()]);
    // Of a large column, rows come from memory in the order of values: each is written to once.
    let (mut last, mut bin) = (None, 0);
    for (place, &key) in observed.iter().enumerate() {
        let (row, bits) = (row_of(key) as usize, bits_of(key));
        if last != Some(bits) {
            last = Some(bits);
            bin = bins
                .as_mut()
                .map_or(0, |bins| bins.next(values.len() as u32, place));
            values.push(from_sortable(bits));
        }
        ranks[row] = values.len() as u32 - 1;
        if let Some(bins) = &mut bins {
            bins.of_rows[row] = bin;
        }
    }
    let missing = values.len() as u32;
    if let Some(bins) = &mut bins {
        bins.end(missing);
    }
    unobserved
        .iter()
        .for_each(|&key| ranks[row_of(key) as usize] = missing);
    let n_zeros = column.iter().filter(|v| **v == 0.0).count();
    let order = (column.len() <= MOST_ROWS && 2 * n_zeros <= column.len()).then(|| {
        let rows = keys.iter().map(|&key| row_of(key));
        Order::new(rows.map(|row| (row, ranks[row as usize])))
    });
    let ranks = match missing {
        0..=0xff => Ranks::U8(ranks.into_iter().map(|r| r as u8).collect()),
        0x100..=0xffff => Ranks::U16(ranks.into_iter().map(|r| r as u16).collect()),
        _ => Ranks::U32(ranks),
    };
    Coded {
        column: (ColumnValues::new(values), ranks),
        order,
        bins,
    }
}

fn code_categories(column: &[f32]) -> (ColumnValues, Ranks) {
    let mut codes: Vec<u32> = column.iter().filter_map(|&v| code_of(v)).collect();
    codes.sort_unstable();
    let kept = most_frequent(count_distinct(codes), MOST_CATEGORIES);
    let rank = |value: f32| {
        let place = code_of(value).map(|code| kept.binary_search_by_key(&code, |c| c.0));
        place.and_then(Result::ok).unwrap_or(kept.len()) as u8
    };
    let ranks = column.iter().map(|&value| rank(value)).collect();
    let values = kept.iter().map(|&(code, _)| code as f32).collect();
    (ColumnValues::new(values), Ranks::U8(ranks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn ranks_follow_values_and_missing_comes_last() {
        let columns = DenseColumns::new(
            array![[2.0], [f32::NAN], [-1.0], [0.0], [2.0], [-0.0]].view(),
            &[],
        );
        let (values, ranks) = columns.ranks(0);
        assert_eq!(values.values, [-1.0, 0.0, 2.0]);
        assert!(columns.values(0)[5].is_sign_positive());
        assert_eq!(
            (values.n_negative, values.has_zero, values.missing_rank()),
            (1, true, 3)
        );
        assert!(matches!(ranks, Ranks::U8(r) if *r == [2, 3, 0, 1, 2, 1]));
    }

    #[test]
    fn wide_columns_take_wide_ranks() {
        let column: Vec<f32> = (0..70_000_u32).map(|i| i as f32).collect();
        assert!(matches!(code(&column[..255]).column.1, Ranks::U8(_)));
        assert!(matches!(code(&column[..256]).column.1, Ranks::U16(_)));
        assert!(matches!(code(&column).column.1, Ranks::U32(r) if r[69_999] == 69_999));
    }

    #[test]
    fn columns_are_those_of_the_matrix() {
        let x = ndarray::Array2::from_shape_fn((3, 35), |(i, j)| (100 * i + j) as f32);
        let columns = DenseColumns::new(x.view(), &[]);
        assert_eq!((columns.n_rows(), columns.n_features()), (3, 35));
        for j in 0..35 {
            assert_eq!(columns.values(j), x.column(j as usize).to_vec());
        }
    }
}
