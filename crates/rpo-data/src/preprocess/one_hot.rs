//! Replaces nominal features by indicators.

use super::expansion::{Expansion, Replaced};
use super::kinds::Kinds;
use super::step::{Fitted, Step, restored};
use super::{Encoding, Nominal, PreprocessError, Steps};
use crate::dataset::Dataset;
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_core::{Matrix, MatrixView, ParameterError};
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
        self.columns.expand(x, |matrix, _, index, position| {
            let r = &self.columns.replaced()[index];
            for value in 0..r.n_columns {
                matrix.push((r.first + value) as u32, indicator(position, value));
            }
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

    fn columns(&self) -> Option<&Expansion> {
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

fn indicator(position: f32, value: usize) -> f32 {
    if position.is_nan() {
        f32::NAN
    } else {
        f32::from(position == value as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Columns, DatasetError, Layout, Task};
    use crate::preprocess::step::{AnyStep, replaced};
    use ndarray::{Array2, array};
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
            [0.0, f32::NAN, f32::NAN, f32::NAN, 1.0, 0.0, 1.0, 0.0]
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
        assert!(matches!(memory, Err(PreprocessError::Memory(_))));
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
}
