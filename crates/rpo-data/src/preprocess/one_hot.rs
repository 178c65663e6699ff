//! Replaces nominal features by indicators.

use super::expansion::{Expansion, Replaced};
use super::{Nominal, PreprocessError, Transform, check_features};
use crate::dataset::Dataset;
use crate::names::Names;
use rpo_core::{Matrix, MatrixView};
use std::sync::Arc;

/// The step of [`Encoding::OneHot`](super::Encoding::OneHot).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OneHot {
    columns: Expansion,
}

impl OneHot {
    /// Creates the encoding for `n_features` features, of which `nominal` have lists of values.
    pub(super) fn new(n_features: usize, nominal: Nominal) -> Result<Self, PreprocessError> {
        check_features(&nominal, n_features)?;
        Ok(Self {
            columns: Expansion::new(n_features, nominal, <[String]>::len),
        })
    }

    /// Returns the columns that replace features.
    pub(super) fn columns(&self) -> &Expansion {
        &self.columns
    }

    /// Returns the name of a feature in the result, from the names before; `None` beyond the last.
    pub(super) fn feature_name(&self, names: &Names, column: usize) -> Option<String> {
        let name = |r: &Replaced, feature: &str, value: usize| format!("{feature}={}", r.values[value]);
        self.columns.feature_name(names, column, name)
    }

    /// Returns the nominal features of the result and their values.
    pub(super) fn nominal(&self) -> Nominal {
        let indicator: Arc<[String]> = ["0", "1"].map(String::from).into();
        let mut nominal = self.columns.kept_nominal();
        for r in self.columns.replaced() {
            let columns = r.first..r.first + r.n_columns;
            nominal.extend(columns.map(|column| (column, Arc::clone(&indicator))));
        }
        nominal
    }

    /// Replaces the nominal features of a matrix (n x p) by indicators.
    pub(super) fn encode(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        self.columns.expand(x, |matrix, _, index, position| {
            let r = &self.columns.replaced()[index];
            for value in 0..r.n_columns {
                matrix.push((r.first + value) as u32, indicator(position, value));
            }
        })
    }
}

impl Transform for OneHot {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        self.columns.check(data)?;
        let features = self.encode(data.features().view())?;
        let names = (0..self.columns.n_columns()).filter_map(|j| self.feature_name(data.feature_names(), j));
        Ok(data.replace_features(
            features,
            Names::Given(names.collect()),
            self.nominal(),
            self.columns.kept(data.texts()),
            self.columns.kept(data.dates()),
        )?)
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
    use ndarray::{Array2, array};
    use rpo_core::Mismatch;

    fn fit(data: &Dataset) -> OneHot {
        OneHot::new(data.n_features(), data.nominal().clone()).unwrap()
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
            let encoded = fit(&data).apply(&data).unwrap();
            let found = encoded.features().view().to_dense(usize::MAX).unwrap();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            assert_eq!(encoded.feature_names(), &names.into_iter().collect());
            assert_eq!(encoded.nominal()[&7], list(&["0", "1"]));
            assert_eq!(encoded.nominal()[&4], list(&["no", "yes"]));
            assert!(!encoded.nominal().contains_key(&0));
            assert_eq!(fit(&encoded).apply(&encoded).unwrap().n_features(), 8);
        }
        let mut fitted = fit(&data);
        fitted.columns.memory_limit = 95;
        assert!(matches!(fitted.apply(&data), Err(PreprocessError::Memory(_))));
        let other = data.select_features(&[0, 2, 3]).unwrap();
        assert!(matches!(
            fitted.apply(&other),
            Err(PreprocessError::Mismatch(Mismatch {
                expected: 4,
                given: 3,
                ..
            }))
        ));
        assert_eq!(
            OneHot::new(3, data.nominal().clone()),
            Err(PreprocessError::Kind(3))
        );
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
                assert_eq!(fit(&data).encode(x), Err(PreprocessError::Dataset(expected)));
            }
        }
    }
}
