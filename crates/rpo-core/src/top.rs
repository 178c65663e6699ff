//! The largest values of rows.

use crate::CsrMatrix;
use ndarray::ArrayView1;

/// Keeps the k largest (column, value) pairs, in column order; ties go to the smaller columns.
///
/// # Panics
/// If k is 0.
pub fn keep_top(values: &mut Vec<(u32, f32)>, k: usize) {
    if values.len() > k {
        values.select_nth_unstable_by(k - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        values.truncate(k);
    }
    values.sort_unstable_by_key(|(column, _)| *column);
}

/// Returns the k largest nonzero values of a row, as [`keep_top`] orders them.
///
/// ```
/// let row = ndarray::array![0.5, 0.0, 0.9, 0.5];
/// assert_eq!(rpo_core::top_of(row.view(), 2), [(0, 0.5), (2, 0.9)]);
/// ```
///
/// # Panics
/// If k is 0.
pub fn top_of(row: ArrayView1<'_, f32>, k: usize) -> Vec<(u32, f32)> {
    let values = (0..).zip(row.iter().copied());
    let mut values: Vec<(u32, f32)> = values.filter(|(_, value)| *value != 0.0).collect();
    keep_top(&mut values, k);
    values
}

/// Converts rows of (column, value) pairs in column order to CSR of the given shape.
///
/// # Panics
/// If the rows do not fit the shape or their columns do not increase.
pub fn csr_of_rows<'a>(rows: impl Iterator<Item = &'a Vec<(u32, f32)>>, shape: (usize, usize)) -> CsrMatrix {
    let (mut indptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        columns.extend(row.iter().map(|(column, _)| *column));
        values.extend(row.iter().map(|(_, value)| *value));
        indptr.push(columns.len());
    }
    CsrMatrix::new(shape, indptr, columns, values)
}
