//! Sums over the columns of a matrix.

use rpo_core::{MatrixView, Spread};

/// Sums over the observed values of a column, each with the weight of its sample.
#[derive(Debug, Clone)]
pub(crate) struct ColumnSums {
    /// Number of missing values.
    pub(crate) missing: usize,
    /// Sum of the weights of the observed values.
    pub(crate) weight: f64,
    /// Sum of the weights of the observed values that are not 0.
    pub(crate) nonzero: f64,
    /// Weighted mean; 0 if no value is observed.
    pub(crate) mean: f64,
    /// Sum of the weighted squares of the distances from the mean.
    pub(crate) squares: f64,
    /// Smallest value; ∞ if none is observed.
    pub(crate) least: f64,
    /// Largest value; -∞ if none is observed.
    pub(crate) largest: f64,
}

impl ColumnSums {
    /// Returns true if two values differ. Rounding of the mean can give a constant column a tiny sum of squares.
    pub(crate) fn varies(&self) -> bool {
        self.least < self.largest
    }

    /// What shows the unit of the column.
    pub(crate) fn spread(&self) -> Spread {
        let part = |sum: f64| if self.weight > 0.0 { sum / self.weight } else { 0.0 };
        Spread {
            mean: self.mean,
            variance: if self.varies() { part(self.squares) } else { 0.0 },
            share: part(self.nonzero),
        }
    }
}

/// The values of a column that are stored.
#[derive(Clone)]
struct Stored {
    /// Number of values, observed or missing, and the sum of their weights.
    count: usize,
    weight: f64,
    sums: ColumnSums,
}

/// Sums each column, in two passes. Entries that are not stored are 0. A sample of weight w counts as w samples, one of
/// weight 0 not at all; without weights, each counts as one.
pub(crate) fn column_sums(a: MatrixView<'_>, weights: Option<&[f32]>) -> Vec<ColumnSums> {
    let weight = |row: usize| weights.map_or(1.0, |weights| f64::from(weights[row]));
    let rows: Vec<(usize, f64)> = (0..a.n_rows())
        .map(|row| (row, weight(row)))
        .filter(|(_, w)| *w > 0.0)
        .collect();
    let none = Stored {
        count: 0,
        weight: 0.0,
        sums: ColumnSums {
            missing: 0,
            weight: 0.0,
            nonzero: 0.0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        },
    };
    let mut columns = vec![none; a.n_cols()];
    for_each(a, &rows, |j, v, w| {
        let Stored { count, weight, sums } = &mut columns[j];
        *count += 1;
        *weight += w;
        if v.is_nan() {
            sums.missing += 1;
        } else {
            sums.weight += w;
            sums.nonzero += if v == 0.0 { 0.0 } else { w };
            // Divided below.
            sums.mean += w * v;
            sums.least = v.min(sums.least);
            sums.largest = v.max(sums.largest);
        }
    });
    let total: f64 = rows.iter().map(|(_, w)| w).sum();
    let mut all: Vec<ColumnSums> = Vec::with_capacity(columns.len());
    for Stored {
        count,
        weight,
        mut sums,
    } in columns
    {
        let mut of_zeros = 0.0;
        if count < rows.len() {
            of_zeros = (total - weight).max(0.0);
            (sums.least, sums.largest) = (sums.least.min(0.0), sums.largest.max(0.0));
        }
        sums.weight += of_zeros;
        sums.mean = if sums.weight > 0.0 {
            sums.mean / sums.weight
        } else {
            0.0
        };
        sums.squares = of_zeros * sums.mean * sums.mean;
        all.push(sums);
    }
    for_each(a, &rows, |j, v, w| {
        if !v.is_nan() {
            let sums = &mut all[j];
            sums.squares += w * (v - sums.mean) * (v - sums.mean);
        }
    });
    all
}

/// Calls `f` with the column and value of each stored entry of some rows, and the weight of its row.
fn for_each(a: MatrixView<'_>, rows: &[(usize, f64)], mut f: impl FnMut(usize, f64, f64)) {
    for &(row, weight) in rows {
        a.for_each_in_row(row, |j, v| f(j as usize, f64::from(v), weight));
    }
}
