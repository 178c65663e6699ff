//! Values of nominal features: how those of the data are written in the model.

use super::CsrRows;
use rpo_core::{CsrMatrix, Matrix, MatrixView, csr_row};

/// Values of a nominal feature that a model has not seen in training.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnseenValues {
    /// Name of the feature.
    pub feature: String,
    /// The first sample with such a value.
    pub sample: usize,
    /// The value of that sample.
    pub value: String,
    /// Number of samples with such values.
    pub count: usize,
}

/// For each column, whether a value is observed. One that is not stored is 0.
pub(super) fn observed_columns(x: MatrixView<'_>) -> Vec<bool> {
    let missing = x.missing_counts(None);
    missing.into_iter().map(|count| count < x.n_rows()).collect()
}

/// The samples whose value of a nominal feature is not in the model's list.
pub(super) struct UnseenCount<'a> {
    pub(super) feature: usize,
    /// The column of the data.
    pub(super) column: usize,
    /// The values of the column.
    pub(super) values: &'a [String],
    /// For each of the values, whether the model's list lacks it.
    pub(super) is_unseen: Vec<bool>,
    /// The first such sample, and the position of its value.
    pub(super) first: Option<(usize, usize)>,
    pub(super) count: usize,
}

impl UnseenCount<'_> {
    fn add(&mut self, sample: usize, value: f32) {
        let value = value as usize;
        if self.is_unseen[value] {
            self.first = self.first.or(Some((sample, value)));
            self.count += 1;
        }
    }
}

/// Counts in one pass, so that many columns cost no more than reading the data.
pub(super) fn count_unseen(x: MatrixView<'_>, counts: &mut [UnseenCount<'_>]) {
    if counts.is_empty() {
        return;
    }
    let mut places = vec![None; x.n_cols()];
    for (place, counted) in counts.iter().enumerate() {
        places[counted.column] = Some(place);
    }
    // A value that is not stored is 0, the first of its list.
    let is_sparse = matches!(x, MatrixView::Sparse(_));
    let of_zero = |counted: &UnseenCount<'_>| is_sparse && counted.is_unseen[0];
    let of_zero: Vec<usize> = (0..counts.len()).filter(|&i| of_zero(&counts[i])).collect();
    let mut last_stored = vec![None; counts.len()];
    for sample in 0..x.n_rows() {
        x.for_each_in_row(sample, |column, v| {
            if let Some(place) = places[column as usize] {
                last_stored[place] = Some(sample);
                if !v.is_nan() {
                    counts[place].add(sample, v);
                }
            }
        });
        for &place in &of_zero {
            if last_stored[place] != Some(sample) {
                counts[place].add(sample, 0.0);
            }
        }
    }
}

/// Translates values of the columns of a model, which the recodings name in increasing order.
pub(super) fn recode(x: Matrix, recodings: &[Recoding]) -> Matrix {
    match x {
        Matrix::Dense(mut a) => {
            for mut row in a.rows_mut() {
                for recoding in recodings {
                    let value = &mut row[recoding.feature];
                    *value = recoding.apply(*value);
                }
            }
            a.into()
        }
        Matrix::Sparse(a) => Matrix::Sparse(recode_sparse(&a, recodings)),
    }
}

/// Translates the values of a nominal feature of the data to positions in the model's list.
pub(super) struct Recoding {
    pub(super) feature: usize,
    /// For each value of the data, its position in the model's list; NaN (missing) if the list lacks it.
    pub(super) positions: Vec<f32>,
}

impl Recoding {
    fn apply(&self, value: f32) -> f32 {
        if value.is_nan() {
            return value;
        }
        self.positions[value as usize]
    }
}

/// Changes values, including zeros that are not stored.
fn recode_sparse(x: &CsrMatrix, recodings: &[Recoding]) -> CsrMatrix {
    let mut of_column = vec![None; x.cols()];
    for recoding in recodings {
        of_column[recoding.feature] = Some(recoding);
    }
    let of_zero = recodings.iter().map(|r| (r.feature as u32, r.apply(0.0)));
    let of_zero: Vec<(u32, f32)> = of_zero.filter(|(_, value)| *value != 0.0).collect();
    let view = x.view();
    let mut rows = CsrRows::default();
    for i in 0..x.rows() {
        let (columns, values) = csr_row(&view, i);
        for (&j, &value) in columns.iter().zip(values) {
            let value = of_column[j as usize].map_or(value, |recoding| recoding.apply(value));
            if value != 0.0 {
                rows.push(j, value);
            }
        }
        let mut stored = columns.iter().copied().peekable();
        for &(j, value) in &of_zero {
            while stored.next_if(|&stored| stored < j).is_some() {}
            if stored.peek() != Some(&j) {
                rows.push(j, value);
            }
        }
        rows.end_row();
    }
    rows.finish(x.cols())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sparse_values_are_recoded_and_counted_like_dense_ones(
            codes in proptest::collection::vec(prop_oneof![Just(f32::NAN), Just(0.0), Just(1.0), Just(2.0)], 5 * 4),
            zero in prop_oneof![Just(f32::NAN), Just(0.0), Just(2.0)],
        ) {
            let dense = Array2::from_shape_vec((5, 4), codes).unwrap();
            let mut rows = CsrRows::default();
            for row in dense.rows() {
                let stored = row.iter().zip(0..).filter(|(v, _)| **v != 0.0);
                stored.for_each(|(v, column)| rows.push(column, *v));
                rows.end_row();
            }
            let sparse = rows.finish(4);
            let recoding = |feature| Recoding { feature, positions: vec![zero, 0.0, 1.0] };
            let recodings = [recoding(0), recoding(2), recoding(3)];
            let bits = |x: Matrix| {
                let x = x.view().to_dense(usize::MAX).unwrap();
                x.iter().map(|v| if v.is_nan() { u32::MAX } else { v.to_bits() }).collect::<Vec<_>>()
            };
            prop_assert_eq!(bits(recode(dense.clone().into(), &recodings)), bits(recode(sparse.clone().into(), &recodings)));

            let values = ["a", "b", "c"].map(str::to_owned);
            let unseen = |x: MatrixView<'_>, is_unseen: [bool; 3]| {
                let counted = |column| UnseenCount {
                    feature: column,
                    column,
                    values: &values,
                    is_unseen: is_unseen.to_vec(),
                    first: None,
                    count: 0,
                };
                let mut counts = [counted(3), counted(1)];
                count_unseen(x, &mut counts);
                counts.map(|counted| (counted.first, counted.count))
            };
            for is_unseen in [[true, false, false], [false, true, true]] {
                let of_column = |column: usize| {
                    let column = dense.column(column);
                    let found = column.iter().enumerate().filter(|(_, v)| !v.is_nan() && is_unseen[**v as usize]);
                    let first = found.clone().next().map(|(sample, v)| (sample, *v as usize));
                    (first, found.count())
                };
                let expected = [of_column(3), of_column(1)];
                prop_assert_eq!(unseen((&dense).into(), is_unseen), expected);
                prop_assert_eq!(unseen(MatrixView::Sparse(sparse.view()), is_unseen), expected);
            }
            let observed: Vec<bool> = dense.columns().into_iter().map(|c| c.iter().any(|v| !v.is_nan())).collect();
            prop_assert_eq!(observed_columns(MatrixView::Sparse(sparse.view())), observed);
        }
    }
}
