//! Sparse design matrix.

use super::design::{Batch, DesignMatrix};
use super::product::product_at;
use super::real::Real;
use std::ops::Range;

/// A design matrix A = S − 1cᵀ with S sparse by rows: standardised features whose raw values are mostly 0, with the
/// centring c never written out. A product costs the entries of S and one pass over c.
#[derive(Debug, Clone, Default)]
pub(crate) struct SparseDesign<T> {
    start: Vec<u32>,
    columns: Vec<u32>,
    /// Empty if columns have [units](Self::units).
    values: Vec<T>,
    centre: Vec<T>,
    /// The value of the entries of each column, if all entries of a column are equal; empty otherwise. Products then
    /// read no values, and multiply once per column.
    units: Vec<T>,
}

impl<T: Real> SparseDesign<T> {
    /// Creates a matrix centred by `centre`, one value per feature; `fill(row, push)` writes each row as pairs of a
    /// feature and a value.
    #[cfg(test)]
    pub(super) fn new(
        n_rows: usize,
        centre: Vec<T>,
        fill: impl FnMut(usize, &mut dyn FnMut(u32, T)),
    ) -> Self {
        let mut design = Self::default();
        design.refill(n_rows, centre, fill);
        design
    }

    /// Replaces the matrix by one with `n_rows` rows, centred by `centre`; `fill(row, push)` writes each row as pairs
    /// of a feature and a value.
    pub(crate) fn refill(
        &mut self,
        n_rows: usize,
        centre: impl IntoIterator<Item = T>,
        mut fill: impl FnMut(usize, &mut dyn FnMut(u32, T)),
    ) {
        self.centre.clear();
        self.centre.extend(centre);
        self.start.clear();
        self.columns.clear();
        self.values.clear();
        self.start.push(0);
        self.units.clear();
        self.units.resize(self.centre.len(), T::default());
        let mut are_equal = true;
        for row in 0..n_rows {
            let (columns, values, units) = (&mut self.columns, &mut self.values, &mut self.units);
            fill(row, &mut |column, value| {
                columns.push(column);
                values.push(value);
                let unit = &mut units[column as usize];
                if *unit == T::default() {
                    *unit = value;
                }
                are_equal &= *unit == value && value != T::default();
            });
            self.start.push(columns.len() as u32);
        }
        if are_equal {
            self.values.clear();
        } else {
            self.units.clear();
        }
    }

    fn has_units(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the range of entries of a row of S.
    #[inline]
    fn row(&self, row: usize) -> Range<usize> {
        self.start[row] as usize..self.start[row + 1] as usize
    }

    #[inline]
    fn margins_of(&self, row: impl Fn(usize) -> usize, weights: &[T], out: &mut [T]) {
        let (features, bias) = weights.split_at(self.centre.len());
        let centre: f64 = features
            .iter()
            .zip(&self.centre)
            .map(|(w, c)| w.to_f64() * c.to_f64())
            .sum();
        let offset = T::from_f64(bias[0].to_f64() - centre);
        let scaled = features.iter().zip(&self.units).map(|(&w, &unit)| unit * w);
        let scaled: Vec<T> = scaled.collect();
        for (i, out) in out.iter_mut().enumerate() {
            let entries = self.row(row(i));
            let columns = &self.columns[entries.clone()];
            *out = offset
                + if self.has_units() {
                    product_at(columns, columns, &scaled, |_, w| w)
                } else {
                    product_at(columns, &self.values[entries], features, |v, w| v * w)
                };
        }
    }

    #[inline]
    fn transposed_of(&self, row: impl Fn(usize) -> usize, v: &[T], out: &mut [T]) {
        out.fill(T::default());
        let (features, bias) = out.split_at_mut(self.centre.len());
        let mut sum = 0.0;
        for (i, &v) in v.iter().enumerate() {
            sum += v.to_f64();
            let entries = self.row(row(i));
            let columns = &self.columns[entries.clone()];
            if self.has_units() {
                columns.iter().for_each(|&j| features[j as usize] += v);
            } else {
                for (&j, &value) in columns.iter().zip(&self.values[entries]) {
                    features[j as usize] += v * value;
                }
            }
        }
        bias[0] = T::from_f64(sum);
        for (out, &unit) in features.iter_mut().zip(&self.units) {
            *out = *out * unit;
        }
        for (out, &centre) in features.iter_mut().zip(&self.centre) {
            *out = *out - centre * bias[0];
        }
    }
}

impl<T: Real> DesignMatrix<T> for SparseDesign<T> {
    fn n_rows(&self) -> usize {
        self.start.len() - 1
    }

    fn n_columns(&self) -> usize {
        self.centre.len() + 1
    }

    fn bias(&self) -> usize {
        self.centre.len()
    }

    fn margins(&self, batch: Batch<'_>, weights: &[T], out: &mut [T]) {
        match batch {
            Batch::All => self.margins_of(|i| i, weights, out),
            Batch::Rows(rows) => self.margins_of(|i| rows[i] as usize, weights, out),
        }
    }

    fn transposed(&self, batch: Batch<'_>, v: &[T], out: &mut [T]) {
        match batch {
            Batch::All => self.transposed_of(|i| i, v, out),
            Batch::Rows(rows) => self.transposed_of(|i| rows[i] as usize, v, out),
        }
    }

    fn squared_norm(&self) -> f64 {
        // (s − c)² − c² over the entries, and c² for every row.
        let n = self.n_rows() as f64;
        let whole: f64 = self.centre.iter().map(|c| c.to_f64().powi(2)).sum();
        let entries = self.columns.iter().enumerate().map(|(i, &j)| {
            let value = self.values.get(i).unwrap_or_else(|| &self.units[j as usize]);
            let (v, c) = (value.to_f64(), self.centre[j as usize].to_f64());
            v * (v - 2.0 * c)
        });
        n * (whole + 1.0) + entries.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::design::DenseDesign;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Both layouts give the products of the matrix written out.
        #[test]
        fn products_agree_with_the_definition(
            (n, p) in (1_usize..14, 1_usize..20),
            cells in prop::collection::vec(prop::option::weighted(0.3, -2.0..2.0), 14 * 20),
            vectors in prop::collection::vec(-1.0..1.0, 14 + 21 + 20),
            subset in prop::collection::vec(0_u32..14, 0..9),
            has_units: bool,
        ) {
            let value = |v: f64, j: usize| if has_units { 0.5 - j as f64 } else { v };
            let cell = |i: usize, j: usize| cells[i * 20 + j].map_or(0.0, |v| value(v, j));
            let centre: Vec<f64> = vectors[35..35 + p].to_vec();
            let dense = DenseDesign::new(n, p, |i, row| {
                (0..p).for_each(|j| row[j] = cell(i, j) - centre[j]);
            });
            let sparse = SparseDesign::new(n, centre.clone(), |i, push| {
                (0..p).filter(|&j| cell(i, j) != 0.0).for_each(|j| push(j as u32, cell(i, j)));
            });
            prop_assert!(!has_units || sparse.has_units());
            let a = |i: usize, j: usize| if j == p { 1.0 } else { cell(i, j) - centre[j] };
            let subset: Vec<u32> = subset.into_iter().map(|i| i % n as u32).collect();
            let all: Vec<u32> = (0..n as u32).collect();
            for (batch, rows) in [(Batch::All, &all), (Batch::Rows(&subset), &subset)] {
                for design in [&dense as &dyn DesignMatrix<f64>, &sparse] {
                    prop_assert_eq!((design.n_rows(), design.bias()), (n, p));
                    let squares: f64 = (0..n).flat_map(|i| (0..=p).map(move |j| (i, j))).map(|(i, j)| a(i, j).powi(2)).sum();
                    prop_assert!((design.squared_norm() - squares).abs() < 1e-9);
                    let mut weights = vec![0.0; design.n_columns()];
                    weights[..=p].copy_from_slice(&vectors[14..14 + p + 1]);
                    let mut margins = vec![7.0; rows.len()];
                    design.margins(batch, &weights, &mut margins);
                    for (&i, margin) in rows.iter().zip(margins) {
                        let expected: f64 = (0..=p).map(|j| a(i as usize, j) * weights[j]).sum();
                        prop_assert!((margin - expected).abs() < 1e-12);
                    }
                    let v = &vectors[..rows.len()];
                    let mut out = vec![7.0; design.n_columns()];
                    design.transposed(batch, v, &mut out);
                    for (j, out) in out.iter().enumerate() {
                        let expected: f64 = rows.iter().zip(v).map(|(&i, v)| v * if j > p { 0.0 } else { a(i as usize, j) }).sum();
                        prop_assert!((out - expected).abs() < 1e-12);
                    }
                }
            }
        }
    }
}
