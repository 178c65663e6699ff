//! Indicators in place of nominal features.

use super::{Nominal, PreprocessError, Transform, check_count, check_nominal};
use crate::builder::MatrixBuilder;
use crate::dataset::{DEFAULT_DENSE_BUDGET, Dataset};
use crate::names::Names;
use rpo_core::{Matrix, MatrixError, check_dense};
use std::sync::Arc;

/// Replaces each nominal feature of three or more values by one indicator per value, nominal `{0,1}` and named
/// `feature=value`. One of two values is an indicator of the second already and stays, as do numeric ones.
///
/// A missing value is missing in all its indicators. The layout of the features is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct OneHot {
    nominal: Nominal,
    n_features: usize,
    /// First column of each feature in the result.
    first: Vec<usize>,
    n_columns: usize,
    budget: usize,
}

impl OneHot {
    /// Takes the nominal features and their values from a set.
    pub fn fit(data: &Dataset) -> Self {
        let mut n_columns = 0;
        let widths = (0..data.n_features()).map(|j| match data.nominal().get(&j) {
            Some(values) if values.len() > 2 => values.len(),
            _ => 1,
        });
        let first = widths
            .map(|width| {
                n_columns += width;
                n_columns - width
            })
            .collect();
        Self {
            nominal: data.nominal().clone(),
            n_features: data.n_features(),
            first,
            n_columns,
            budget: DEFAULT_DENSE_BUDGET,
        }
    }

    /// Bytes that a dense result may take; [`DEFAULT_DENSE_BUDGET`] by default.
    #[must_use]
    pub fn with_budget(mut self, bytes: usize) -> Self {
        self.budget = bytes;
        self
    }

    /// Number of features in the result.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The values of a feature that is encoded.
    fn encoded(&self, feature: usize) -> Option<&[String]> {
        self.nominal
            .get(&feature)
            .filter(|values| values.len() > 2)
            .map(|values| &**values)
    }

    fn names(&self, names: &Names) -> Names {
        let mut encoded = Vec::with_capacity(self.n_columns);
        for (j, name) in names.iter().enumerate() {
            match self.encoded(j) {
                Some(values) => encoded.extend(values.iter().map(|value| format!("{name}={value}"))),
                None => encoded.push(name.into_owned()),
            }
        }
        Names::Given(encoded)
    }

    fn kinds(&self) -> Nominal {
        let indicator: Arc<[String]> = ["0", "1"].map(String::from).into();
        let kinds = self.nominal.iter().flat_map(|(&j, values)| {
            let (width, kind) = match values.len() {
                n if n > 2 => (n, &indicator),
                _ => (1, values),
            };
            (0..width).map(move |k| (self.first[j] + k, Arc::clone(kind)))
        });
        kinds.collect()
    }

    fn dense(&self, data: &Dataset) -> Result<Matrix, MatrixError> {
        let (rows, columns) = (data.n_samples(), self.n_columns);
        check_dense(rows, columns, size_of::<f32>(), self.budget)?;
        let mut builder = MatrixBuilder::dense(columns);
        for row in 0..rows {
            data.features().view().for_each_in_row(row, |j, v| {
                let j = j as usize;
                let width = self.encoded(j).map_or(0, <[String]>::len);
                for k in 0..width {
                    builder.push((self.first[j] + k) as u32, indicator(v, k));
                }
                if width == 0 {
                    builder.push(self.first[j] as u32, v);
                }
            });
            builder.end_row();
        }
        Ok(builder.finish())
    }

    fn sparse(&self, data: &Dataset) -> Matrix {
        let mut builder = MatrixBuilder::sparse(self.n_columns);
        let encoded: Vec<usize> = self
            .nominal
            .keys()
            .copied()
            .filter(|&j| self.encoded(j).is_some())
            .collect();
        for row in 0..data.n_samples() {
            // An encoded feature that is not stored has its first value, so all of them are visited, in step
            // with those that are.
            let mut absent = encoded.iter().copied().peekable();
            data.features().view().for_each_in_row(row, |j, v| {
                let j = j as usize;
                while let Some(before) = absent.next_if(|&before| before < j) {
                    builder.push(self.first[before] as u32, 1.0);
                }
                if absent.next_if_eq(&j).is_none() {
                    builder.push(self.first[j] as u32, v);
                } else if v.is_nan() {
                    let width = self.encoded(j).map_or(0, <[String]>::len);
                    (0..width).for_each(|k| builder.push((self.first[j] + k) as u32, v));
                } else {
                    builder.push((self.first[j] + v as usize) as u32, 1.0);
                }
            });
            absent.for_each(|j| builder.push(self.first[j] as u32, 1.0));
            builder.end_row();
        }
        builder.finish()
    }
}

impl Transform for OneHot {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        check_count("features", self.n_features, data.n_features())?;
        check_nominal(&self.nominal, data)?;
        let features = match data.features() {
            Matrix::Dense(_) => self.dense(data)?,
            Matrix::Sparse(_) => self.sparse(data),
        };
        Ok(data.replace_features(features, self.names(data.feature_names()), self.kinds())?)
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
    use crate::dataset::{FeatureKind, Layout, Task};
    use ndarray::{Array2, array};

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
            .and_then(|data| data.with_feature_names(["w", "colour", "ok", "c"].into_iter().collect()))
            .unwrap();
        let expected = array![
            [1.5, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            [0.0, f32::NAN, f32::NAN, f32::NAN, 1.0, 0.0, 1.0, 0.0]
        ];
        let names = ["w", "colour=r", "colour=g", "colour=b", "ok", "c=x", "c=y", "c=z"];
        for layout in [Layout::Dense, Layout::Sparse] {
            let data = data.clone().with_layout(layout, usize::MAX).unwrap();
            let encoded = OneHot::fit(&data).apply(&data).unwrap();
            let found = encoded.features().view().to_dense(usize::MAX).unwrap();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            assert_eq!(encoded.feature_names(), &names.into_iter().collect());
            assert!(matches!(encoded.feature_kind(7), FeatureKind::Nominal([zero, _]) if zero == "0"));
            assert!(matches!(encoded.feature_kind(4), FeatureKind::Nominal([no, _]) if no == "no"));
            assert_eq!(encoded.feature_kind(0), FeatureKind::Numeric);
            assert_eq!(OneHot::fit(&encoded).apply(&encoded).unwrap().n_features(), 8);
        }
        let fitted = OneHot::fit(&data).with_budget(95);
        assert!(matches!(fitted.apply(&data), Err(PreprocessError::Budget(_))));
        let other = data.select_features(&[0, 2, 3]).unwrap();
        assert!(matches!(
            fitted.apply(&other),
            Err(PreprocessError::ColumnCount {
                expected: 4,
                found: 3,
                ..
            })
        ));
    }
}
