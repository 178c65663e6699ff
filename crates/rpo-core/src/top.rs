//! The largest values of rows.

use crate::CsrMatrix;
use ndarray::ArrayView1;
use std::cmp::Ordering;

/// Orders (column, value) pairs by decreasing value; ties, to which -0 and 0 belong, are in column order.
///
/// ```
/// let mut pairs = vec![(0, 0.5_f32), (1, 0.9), (2, 0.5)];
/// pairs.sort_unstable_by(rpo_core::best_first);
/// assert_eq!(pairs, [(1, 0.9), (0, 0.5), (2, 0.5)]);
/// ```
pub fn best_first<S: Copy + Into<f64>>(a: &(u32, S), b: &(u32, S)) -> Ordering {
    // The sum of -0 and 0 is 0.
    let value = |pair: &(u32, S)| pair.1.into() + 0.0;
    value(b).total_cmp(&value(a)).then(a.0.cmp(&b.0))
}

/// Keeps the k largest (column, value) pairs, in column order; ties go to the smaller columns. The capacity remains, for
/// lists that are filled again.
///
/// # Panics
/// If k is 0.
pub fn keep_top(values: &mut Vec<(u32, f32)>, k: usize) {
    if values.len() > k {
        values.select_nth_unstable_by(k - 1, best_first);
        values.truncate(k);
    }
    values.sort_unstable_by_key(|(column, _)| *column);
}

/// Returns the k largest (column, value) pairs as [`keep_top`] orders them, with the memory of these alone.
///
/// # Panics
/// If k is 0.
pub fn top_of_pairs(mut pairs: Vec<(u32, f32)>, k: usize) -> Vec<(u32, f32)> {
    keep_top(&mut pairs, k);
    pairs.shrink_to_fit();
    pairs
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
    top_of_pairs(values.filter(|(_, value)| *value != 0.0).collect(), k)
}

/// Returns the k largest values of a row of scores, as [`keep_top`] orders them. Zeros are left out as in [`top_of`],
/// unless a score is negative: then 0 is a score like others.
///
/// ```
/// let (labels, signed) = (ndarray::array![0.5, 0.0, 0.9], ndarray::array![0.5, 0.0, -0.9]);
/// assert_eq!(rpo_core::best_of(labels.view(), 3), [(0, 0.5), (2, 0.9)]);
/// assert_eq!(rpo_core::best_of(signed.view(), 2), [(0, 0.5), (1, 0.0)]);
/// ```
///
/// # Panics
/// If k is 0.
pub fn best_of(row: ArrayView1<'_, f32>, k: usize) -> Vec<(u32, f32)> {
    match row.iter().any(|score| *score < 0.0) {
        true => top_of_pairs((0..).zip(row.iter().copied()).collect(), k),
        false => top_of(row, k),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array1;

    /// A list per sample would otherwise keep the memory of all scores of the sample.
    #[test]
    fn lists_have_the_room_of_what_they_hold() {
        let row = Array1::from_shape_fn(10_000, |j| (j % 97) as f32);
        let best = top_of(row.view(), 5);
        assert_eq!(best.len(), 5);
        assert!(best.capacity() < 100, "{}", best.capacity());
    }
}
