//! Replaces missing values by typical ones.

use super::kinds::Kinds;
use super::step::{Fitted, Step, restored};
use super::{PreprocessError, Steps, check_samples, is_position, map_values};
use crate::dataset::Dataset;
use ndarray::Axis;
use rpo_core::math::median;
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_core::{Matrix, MatrixView, Mismatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the stored array of values.
const FILL: &str = "impute.fill";

/// The value that replaces the missing values of a numeric feature; for a nominal feature it is always the most
/// frequent value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// The median; for an even number of values, the mean of the two in the middle. Outliers do not affect it.
    #[default]
    Median,
    /// The mean.
    Mean,
    /// The most frequent value; ties go to the smallest.
    MostFrequent,
}

/// Fills missing features according to [`Fill`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Imputer {
    /// The value for each feature; `None` for a feature that was never observed, which is filled with 0.
    fill: Vec<Option<f32>>,
}

impl Imputer {
    /// Learns the values to fill in.
    fn fit(data: &Dataset, fill: Fill) -> Result<Self, PreprocessError> {
        check_samples(data)?;
        let typical = |j: usize, present: &mut [f32], n_zeros: usize| {
            if present.is_empty() && n_zeros == 0 {
                return None;
            }
            Some(match fill {
                _ if data.nominal().contains_key(&j) => most_frequent(present, n_zeros),
                Fill::Median => median(present, n_zeros)? as f32,
                Fill::Mean => mean(present, n_zeros),
                Fill::MostFrequent => most_frequent(present, n_zeros),
            })
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
        Ok(Self { fill })
    }

    /// Creates an imputer from the fill value of each feature.
    fn new(fill: Vec<Option<f32>>, kinds: &Kinds) -> Result<Self, PreprocessError> {
        Mismatch::check("features", kinds.n_features, fill.len())?;
        for (feature, value) in fill.iter().enumerate() {
            let Some(value) = *value else { continue };
            let values = kinds.nominal.get(&feature);
            if !value.is_finite() || values.is_some_and(|values| !is_position(value, values.len())) {
                return Err(PreprocessError::Fill { feature, value });
            }
        }
        Ok(Self { fill })
    }
}

impl Step for Imputer {
    fn fit_transform(steps: Steps<'_>, data: &Dataset) -> Fitted<Self> {
        match steps.impute {
            Some(fill) => Self::fit(data, fill)?.fitted(data),
            None => Ok(None),
        }
    }

    fn transform(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.fill.len(), x.n_cols())?;
        Ok(map_values(x, |_, j, v| {
            if v.is_nan() {
                self.fill[j as usize].unwrap_or(0.0)
            } else {
                v
            }
        }))
    }

    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        let fill = self.fill.iter().map(|fill| fill.unwrap_or(f32::NAN));
        out.array(FILL, &fill.collect::<Vec<_>>())
    }

    fn restore(from: &mut Reader<'_>, kinds: &Kinds) -> Result<Option<Self>, StoreError> {
        if !from.has(FILL) {
            return Ok(None);
        }
        let values = from.array::<f32>(FILL)?;
        let fill = values.map(|v| (!v.is_nan()).then_some(v)).collect();
        restored(Self::new(fill, kinds))
    }
}

/// Returns the mean of some values and `n_zeros` zeros.
fn mean(present: &[f32], n_zeros: usize) -> f32 {
    let sum: f64 = present.iter().map(|&v| f64::from(v)).sum();
    (sum / (present.len() + n_zeros) as f64) as f32
}

/// Returns the most frequent of some values and `n_zeros` zeros; ties go to the smallest.
fn most_frequent(present: &mut [f32], n_zeros: usize) -> f32 {
    present.sort_unstable_by(f32::total_cmp);
    let runs = present.chunk_by(|a, b| a == b);
    let mut counts: Vec<(f32, usize)> = runs.map(|run| (run[0], run.len())).collect();
    let at = counts.partition_point(|(value, _)| *value < 0.0);
    match counts.get_mut(at) {
        Some((value, count)) if *value == 0.0 => *count += n_zeros,
        _ => counts.insert(at, (0.0, n_zeros)),
    }
    let most = counts.iter().map(|&(_, count)| count).max();
    let found = counts.iter().find(|&&(_, count)| Some(count) == most);
    found.map_or(0.0, |&(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Layout, Task};
    use crate::text::Texts;
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
            for (fill, expected) in [
                (Fill::Mean, [Some(5.0 / 3.0), Some(1.0), None, Some(2.0)]),
                (Fill::MostFrequent, [Some(0.0), Some(1.0), None, Some(0.0)]),
                (Fill::Median, [Some(1.0), Some(1.0), None, Some(0.0)]),
            ] {
                let imputer = Imputer::fit(&data, fill).unwrap();
                assert_eq!(imputer.fill, expected);
                let again = Imputer::new(imputer.fill.clone(), &Kinds::of(&data));
                assert_eq!(again, Ok(imputer));
            }
            let imputer = Imputer::fit(&data, Fill::Median).unwrap();
            let filled = imputer.transform(data.features().view()).unwrap();
            let found = filled.view().to_dense(usize::MAX).unwrap();
            assert!(!found.iter().any(|v| v.is_nan()));
            assert_eq!(found.row(3).to_vec(), [1.0, 1.0, 0.0, 5.0]);
        }
    }

    #[test]
    fn invalid_values_are_refused() {
        let nominal = [(1, ["a", "b"].map(String::from).into())].into();
        let kinds = Kinds::new(2, nominal, Texts::new()).unwrap();
        let new = |fill: [Option<f32>; 2]| Imputer::new(fill.to_vec(), &kinds);
        assert!(new([None, Some(1.0)]).is_ok());
        for (fill, feature) in [
            ([Some(f32::NAN), None], 0),
            ([None, Some(2.0)], 1),
            ([None, Some(0.5)], 1),
        ] {
            assert!(matches!(new(fill), Err(PreprocessError::Fill { feature: j, .. }) if j == feature));
        }
        assert!(matches!(
            Imputer::new(vec![None], &kinds),
            Err(PreprocessError::Mismatch(_))
        ));
    }

    proptest! {
        #[test]
        fn zeros_may_be_counted_or_listed(values in proptest::collection::vec(-3_i8..4, 1..20)) {
            let mut stored: Vec<f32> = values.iter().filter(|v| **v != 0).map(|&v| f32::from(v)).collect();
            let n_zeros = values.len() - stored.len();
            let mut listed: Vec<f32> = values.iter().map(|&v| f32::from(v)).collect();
            prop_assert_eq!(mean(&stored, n_zeros), mean(&listed, 0));
            let found = most_frequent(&mut stored, n_zeros);
            prop_assert_eq!(found, most_frequent(&mut listed, 0));
            let count = |value: f32| listed.iter().filter(|v| **v == value).count();
            prop_assert!(listed.iter().all(|&v| (count(v), -v) <= (count(found), -found)));
        }
    }
}
