//! Replaces nominal features by indicators.

use super::expansion::{Columns, Expansion, Replaced, Storage};
use super::kinds::Kinds;
use super::step::{Fitted, Step, restored};
use super::{Encoding, Nominal, PreprocessError, Steps};
use crate::dataset::{Dataset, is_sparse};
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_core::{Matrix, MatrixError, MatrixView, ParameterError};
use std::sync::Arc;

/// The name of the stored field, which is true: indicators follow from the values of nominal features.
const ONE_HOT: &str = "one_hot";

/// The step of [`Encoding::OneHot`](super::Encoding::OneHot).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OneHot {
    columns: Expansion,
}

impl OneHot {
    /// Creates the encoding of features of these kinds.
    fn new(kinds: &Kinds) -> Result<Self, PreprocessError> {
        if kinds.encoded {
            let reason = "cannot be combined with means of targets";
            return Err(ParameterError::conflict(ONE_HOT, true, reason).into());
        }
        Ok(Self {
            columns: Expansion::new(kinds.n_features, &kinds.nominal, <[String]>::len),
        })
    }

    fn replaces_some(&self) -> bool {
        !self.columns.replaced().is_empty()
    }

    /// Returns true if the features are sparse by the rule of [`Layout::Auto`](crate::Layout::Auto): a category has one
    /// indicator that is not 0, and all other features count as not 0. The features alone decide, so that all sets and
    /// all parts of them have the layout of the training set.
    fn mostly_zeros(&self) -> bool {
        is_sparse(self.columns.n_features(), self.columns.n_columns())
    }
}

impl Step for OneHot {
    fn fit_transform(steps: Steps<'_>, data: &Dataset) -> Fitted<Self> {
        if steps.nominal != Encoding::OneHot {
            return Ok(None);
        }
        match Self::new(&Kinds::of(data))? {
            step if step.replaces_some() => step.fitted(data),
            _ => Ok(None),
        }
    }

    fn transform(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        let stored = match x {
            MatrixView::Dense(_) if !self.mostly_zeros() => Storage::Dense,
            _ => Storage::Sparse,
        };
        let expanded = self.columns.expand(x, stored, |matrix, _, index, position| {
            let r = &self.columns.replaced()[index];
            let column = |value: usize| (r.first + value) as u32;
            match stored {
                Storage::Sparse if position.is_nan() => {}
                // A category of many values has one indicator that is not 0.
                Storage::Sparse => matrix.push(column(position as usize), 1.0),
                Storage::Dense => {
                    let indicator = |value: usize| f32::from(position == value as f32);
                    (0..r.n_columns).for_each(|value| matrix.push(column(value), indicator(value)));
                }
            }
        });
        expanded.map_err(|e| match e {
            PreprocessError::Memory(MatrixError::Memory(limit)) => PreprocessError::Indicators(limit),
            e => e,
        })
    }

    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field(ONE_HOT, true)
    }

    fn restore(from: &mut Reader<'_>, kinds: &Kinds) -> Result<Option<Self>, StoreError> {
        match from.field(ONE_HOT)? {
            Some(true) => Ok(restored(Self::new(kinds))?.filter(Self::replaces_some)),
            Some(false) | None => Ok(None),
        }
    }

    fn columns(&self) -> Option<&dyn Columns> {
        Some(&self.columns)
    }

    fn nominal(&self, before: Nominal) -> Nominal {
        let indicator: Arc<[String]> = ["0", "1"].map(String::from).into();
        let mut nominal = self.columns.kept_nominal(&before);
        for r in self.columns.replaced() {
            let columns = r.first..r.first + r.n_columns;
            nominal.extend(columns.map(|column| (column, Arc::clone(&indicator))));
        }
        nominal
    }

    fn feature_name(&self, before: &dyn Fn(usize) -> Option<String>, column: usize) -> Option<String> {
        let name = |r: &Replaced, feature: &str, value: usize| format!("{feature}={}", r.values[value]);
        self.columns.feature_name(before, column, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Columns, DatasetError, Layout, Task};
    use crate::preprocess::step::{AnyStep, replaced};
    use ndarray::{Array2, array};
    use proptest::prelude::*;
    use rpo_core::Mismatch;

    fn fit(data: &Dataset) -> OneHot {
        OneHot::new(&Kinds::of(data)).unwrap()
    }

    fn encoded(data: &Dataset) -> Dataset {
        let features = fit(data).transform(data.features().view()).unwrap();
        replaced(&[AnyStep::OneHot(fit(data))], data, features).unwrap()
    }

    #[test]
    fn dense_and_sparse_agree_with_the_hand() {
        let x = array![
            [1.5, 2.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 2.0],
            [0.0, f32::NAN, 1.0, 1.0]
        ];
        let list = |values: &[&str]| -> Arc<[String]> { values.iter().map(|v| (*v).to_owned()).collect() };
        let nominal = [
            (1, list(&["r", "g", "b"])),
            (2, list(&["no", "yes"])),
            (3, list(&["x", "y", "z"])),
        ];
        let data = Dataset::new(x.into(), Array2::zeros((3, 1)).into(), Task::MultiLabel)
            .and_then(|data| data.with_nominal(nominal.into()))
            .and_then(|data| {
                data.with_names(
                    Columns::Features,
                    ["w", "colour", "ok", "c"].into_iter().collect(),
                )
            })
            .unwrap();
        let expected = array![
            [1.5, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0]
        ];
        let names = ["w", "colour=r", "colour=g", "colour=b", "ok", "c=x", "c=y", "c=z"];
        for layout in [Layout::Dense, Layout::Sparse] {
            let data = data.clone().with_layout(layout, usize::MAX).unwrap();
            let made = encoded(&data);
            let found = made.features().view().to_dense(usize::MAX).unwrap();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            assert_eq!(made.feature_names(), &names.into_iter().collect());
            assert_eq!(made.nominal()[&7], list(&["0", "1"]));
            assert_eq!(made.nominal()[&4], list(&["no", "yes"]));
            assert!(!made.nominal().contains_key(&0));
            assert!(!fit(&made).replaces_some());
            assert_eq!(encoded(&made).n_features(), 8);
        }
        let mut fitted = fit(&data);
        fitted.columns.memory_limit = 95;
        let memory = fitted.transform(data.features().view());
        assert!(matches!(memory, Err(PreprocessError::Indicators(_))));
        let other = data.select_features(&[0, 2, 3]).unwrap();
        assert!(matches!(
            fitted.transform(other.features().view()),
            Err(PreprocessError::Mismatch(Mismatch {
                expected: 4,
                given: 3,
                ..
            }))
        ));
        for value in [-1.0, 0.5, 3.0, f32::INFINITY] {
            let x = Matrix::from(array![[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, value]]);
            let sparse = Matrix::from(x.view().to_csr());
            for x in [x.view(), sparse.view()] {
                let expected = DatasetError::NotAPosition {
                    sample: 1,
                    feature: 3,
                    value,
                    n_values: 3,
                };
                assert_eq!(fit(&data).transform(x), Err(PreprocessError::Dataset(expected)));
            }
        }
    }

    /// Features of `n_values` values each, 0 for numbers, of two samples whose values are their positions.
    fn features(n_values: &[usize]) -> Dataset {
        let x = Array2::from_shape_fn((2, n_values.len()), |(i, _)| i as f32);
        let list = |n: usize| (0..n).map(|v| format!("v{v}")).collect();
        let nominal = n_values.iter().enumerate().filter(|(_, n)| **n > 0);
        Dataset::new(x.into(), Array2::zeros((2, 1)).into(), Task::MultiLabel)
            .and_then(|data| data.with_nominal(nominal.map(|(j, &n)| (j, list(n))).collect()))
            .unwrap()
    }

    #[test]
    fn dense_features_become_sparse_where_indicators_dominate() {
        let is_sparse = |n_values: &[usize]| {
            let data = features(n_values);
            let of_all = fit(&data).transform(data.features().view()).unwrap();
            // A part of the samples has the layout of all.
            let part = data.select_samples(&[1]).unwrap();
            let of_part = fit(&data).transform(part.features().view()).unwrap();
            let is_sparse = |x: &Matrix| matches!(x, Matrix::Sparse(_));
            assert_eq!(is_sparse(&of_all), is_sparse(&of_part));
            is_sparse(&of_all)
        };
        assert!(!is_sparse(&[4]) && is_sparse(&[5]));
        // A number, and a category of two values, count as not 0: 2 of 8 columns, and 2 of 9.
        for other in [0, 2] {
            assert!(!is_sparse(&[other, 7]) && is_sparse(&[other, 8]));
        }
        assert!(is_sparse(&[0, 3, 9]) && !is_sparse(&[0, 3, 8]));
    }

    proptest! {
        /// Where only one indicator of a category is stored, the features are those in which each value is compared
        /// with each position.
        #[test]
        fn stored_indicators_are_those_of_all_comparisons(
            seed in proptest::collection::vec(any::<u8>(), 24), n_values in 3_usize..12, sparse in any::<bool>(),
        ) {
            let x = Array2::from_shape_fn((8, 3), |(i, j)| match usize::from(seed[3 * i + j]) {
                v if v < 20 => f32::NAN,
                v if j == 0 => v as f32 - 100.0,
                v => (v % n_values) as f32,
            });
            let list = || (0..n_values).map(|v| format!("v{v}")).collect();
            let layout = if sparse { Layout::Sparse } else { Layout::Dense };
            let data = Dataset::new(x.clone().into(), Array2::zeros((8, 1)).into(), Task::MultiLabel)
                .and_then(|data| data.with_nominal([(1, list()), (2, list())].into()))
                .and_then(|data| data.with_layout(layout, usize::MAX))
                .unwrap();
            let found = fit(&data).transform(data.features().view()).unwrap();
            if let Matrix::Sparse(found) = &found {
                prop_assert!(found.data().iter().all(|v| *v != 0.0));
            }
            let expected = Array2::from_shape_fn((8, 1 + 2 * n_values), |(i, column)| match column.checked_sub(1) {
                None => x[[i, 0]],
                Some(place) => f32::from(x[[i, 1 + place / n_values]] == (place % n_values) as f32),
            });
            let found = found.view().to_dense(usize::MAX).unwrap();
            prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        }
    }
}
