//! Typical values in place of missing ones.

use super::{Nominal, PreprocessError, Transform, check_count, check_nominal, check_rows};
use crate::builder::MatrixBuilder;
use crate::dataset::Dataset;
use ndarray::Axis;
use rpo_core::Matrix;

/// Fills missing features: the median of a numeric feature (of an even number of values the mean of the two in
/// the middle), the most frequent value of a nominal one (of several the first declared).
///
/// A feature without any value in the set it is fitted on is filled with 0; [`Imputer::unknown`] lists such.
#[derive(Debug, Clone, PartialEq)]
pub struct Imputer {
    fill: Vec<f32>,
    unknown: Vec<usize>,
    nominal: Nominal,
}

impl Imputer {
    /// Finds the values to fill in.
    ///
    /// # Errors
    /// [`PreprocessError::NoRows`].
    pub fn fit(data: &Dataset) -> Result<Self, PreprocessError> {
        check_rows(data)?;
        let mut unknown = Vec::new();
        let mut typical = |j: usize, present: &mut [f32], n_zeros: usize| {
            if present.is_empty() && n_zeros == 0 {
                unknown.push(j);
                return 0.0;
            }
            match data.nominal().get(&j) {
                Some(values) => most_frequent(present, n_zeros, values.len()),
                None => median(present, n_zeros),
            }
        };
        let mut fill = Vec::with_capacity(data.n_features());
        let mut present = Vec::new();
        match data.features() {
            Matrix::Dense(a) => {
                for (j, column) in a.axis_iter(Axis(1)).enumerate() {
                    present.clear();
                    present.extend(column.iter().copied().filter(|v| !v.is_nan()));
                    fill.push(typical(j, &mut present, 0));
                }
            }
            Matrix::Sparse(a) => {
                let by_column = a.to_csc();
                for (j, column) in by_column.outer_iterator().enumerate() {
                    present.clear();
                    present.extend(column.data().iter().copied().filter(|v| !v.is_nan()));
                    fill.push(typical(j, &mut present, data.n_samples() - column.nnz()));
                }
            }
        }
        Ok(Self {
            fill,
            unknown,
            nominal: data.nominal().clone(),
        })
    }

    /// The value that fills each feature.
    pub fn fill(&self) -> &[f32] {
        &self.fill
    }

    /// Features without any value to learn from; 0 fills them.
    pub fn unknown(&self) -> &[usize] {
        &self.unknown
    }
}

impl Transform for Imputer {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        check_count("features", self.fill.len(), data.n_features())?;
        check_nominal(&self.nominal, data)?;
        let features = match data.features() {
            Matrix::Dense(a) => {
                let mut filled = a.clone();
                for mut row in filled.rows_mut() {
                    let missing = row.iter_mut().zip(&self.fill).filter(|(v, _)| v.is_nan());
                    missing.for_each(|(v, &fill)| *v = fill);
                }
                Matrix::Dense(filled)
            }
            Matrix::Sparse(a) => {
                let mut builder = MatrixBuilder::sparse(a.cols());
                for row in 0..a.rows() {
                    data.features().view().for_each_in_row(row, |j, v| {
                        builder.push(j, if v.is_nan() { self.fill[j as usize] } else { v });
                    });
                    builder.end_row();
                }
                builder.finish()
            }
        };
        Ok(data.replace_features(features, data.feature_names().clone(), self.nominal.clone())?)
    }
}

/// The median of some values and so many zeros.
fn median(present: &mut [f32], n_zeros: usize) -> f32 {
    present.sort_unstable_by(f32::total_cmp);
    let n_negative = present.partition_point(|&v| v < 0.0);
    let n = present.len() + n_zeros;
    let at = |rank: usize| match rank {
        r if r < n_negative => present[r],
        r if r < n_negative + n_zeros => 0.0,
        r => present[r - n_zeros],
    };
    let (low, high) = (at((n - 1) / 2), at(n / 2));
    ((f64::from(low) + f64::from(high)) / 2.0) as f32
}

/// The most frequent of some positions and so many zeros; the lowest of several.
fn most_frequent(present: &[f32], n_zeros: usize, n_values: usize) -> f32 {
    let mut counts = vec![0; n_values];
    counts[0] = n_zeros;
    present.iter().for_each(|&v| counts[v as usize] += 1);
    let most = counts.iter().copied().max().unwrap_or(0);
    counts.iter().position(|&count| count == most).unwrap_or(0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Layout, Task};
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    #[test]
    fn hand_computed() {
        let nan = f32::NAN;
        let x = array![
            [1.0, 2.0, nan, -1.0],
            [nan, 1.0, nan, 0.0],
            [4.0, 1.0, nan, 0.0],
            [nan, nan, nan, 5.0],
            [0.0, 2.0, nan, 6.0]
        ];
        let values = ["a", "b", "c"].map(String::from).into();
        let data = Dataset::new(x.into(), Array2::zeros((5, 1)).into(), Task::MultiLabel)
            .and_then(|data| data.with_nominal([(1, values)].into()))
            .unwrap();
        for layout in [Layout::Dense, Layout::Sparse] {
            let data = data.clone().with_layout(layout, usize::MAX).unwrap();
            let imputer = Imputer::fit(&data).unwrap();
            assert_eq!(
                (imputer.fill(), imputer.unknown()),
                (&[1.0, 1.0, 0.0, 0.0][..], &[2][..])
            );
            let filled = imputer.apply(&data).unwrap();
            assert_eq!(filled.n_missing(), 0);
            let found = filled.features().view().to_dense(usize::MAX).unwrap();
            assert_eq!(found.row(3).to_vec(), [1.0, 1.0, 0.0, 5.0]);
        }
    }

    proptest! {
        #[test]
        fn zeros_may_be_counted_or_listed(mut values in proptest::collection::vec(-3_i8..4, 1..20)) {
            values.sort_unstable();
            let n = values.len();
            let expected = (f32::from(values[(n - 1) / 2]) + f32::from(values[n / 2])) / 2.0;
            let mut stored: Vec<f32> = values.iter().filter(|v| **v != 0).map(|&v| f32::from(v)).collect();
            let n_zeros = n - stored.len();
            prop_assert_eq!(median(&mut stored, n_zeros), expected);
        }
    }
}
