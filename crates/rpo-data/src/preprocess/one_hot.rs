//! Indicators in place of nominal features.

use super::{Nominal, PreprocessError, Transform, check_features, check_nominal, is_position};
use crate::builder::MatrixBuilder;
use crate::dataset::{Dataset, DatasetError};
use crate::names::Names;
use crate::text::Texts;
use rpo_core::{DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, Mismatch, check_dense};
use std::borrow::Cow;
use std::sync::Arc;

/// Replaces each nominal feature of three or more values by one indicator per value, nominal `{0,1}` and named
/// `feature=value`. One of two values is an indicator of the second already and stays, as do numeric ones.
///
/// A missing value is missing in all its indicators. The layout of the features is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct OneHot {
    nominal: Nominal,
    n_features: usize,
    /// The features that are replaced, by increasing index.
    encoded: Vec<Encoded>,
    memory_limit: usize,
}

/// A feature that indicators replace.
#[derive(Debug, Clone, PartialEq)]
struct Encoded {
    feature: usize,
    n_values: usize,
    /// Its first column in the result.
    first: usize,
}

impl OneHot {
    /// Takes the nominal features and their values from a set.
    pub fn fit(data: &Dataset) -> Self {
        Self::of(data.n_features(), data.nominal().clone())
    }

    /// The encoding of this many features, some of them nominal with these values.
    pub(super) fn new(n_features: usize, nominal: Nominal) -> Result<Self, PreprocessError> {
        check_features(&nominal, n_features)?;
        Ok(Self::of(n_features, nominal))
    }

    fn of(n_features: usize, nominal: Nominal) -> Self {
        let mut encoded: Vec<Encoded> = Vec::new();
        for (&feature, values) in nominal.iter().filter(|(_, values)| values.len() > 2) {
            let first = feature + added(&encoded);
            encoded.push(Encoded {
                feature,
                n_values: values.len(),
                first,
            });
        }
        Self {
            nominal,
            n_features,
            encoded,
            memory_limit: DEFAULT_MEMORY_LIMIT,
        }
    }

    /// Sets the memory limit of a dense result, in bytes; [`DEFAULT_MEMORY_LIMIT`] by default.
    #[must_use]
    pub fn with_memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Number of features in the result.
    pub(super) fn n_columns(&self) -> usize {
        self.n_features + added(&self.encoded)
    }

    /// The texts in the result, from those before: indicators before them move them.
    pub(super) fn texts(&self, before: &Texts) -> Texts {
        let moved = before.iter().map(|(&first, column)| {
            let n_before = self.encoded.partition_point(|e| e.feature < first);
            (first + added(&self.encoded[..n_before]), Arc::clone(column))
        });
        moved.collect()
    }

    /// Names of the features in the result, from the names before.
    pub(super) fn feature_names(&self, names: &Names) -> Names {
        let columns = 0..self.n_columns();
        Names::Given(
            columns
                .filter_map(|column| self.feature_name(names, column))
                .collect(),
        )
    }

    /// Name of a feature in the result, from the names before; `None` beyond the last.
    pub(super) fn feature_name(&self, names: &Names, column: usize) -> Option<String> {
        let after = self.encoded.partition_point(|e| e.first <= column);
        let mut feature = column;
        if let Some(e) = after.checked_sub(1).map(|i| &self.encoded[i]) {
            if let Some(value) = self.nominal[&e.feature].get(column - e.first) {
                return names.get(e.feature).map(|name| format!("{name}={value}"));
            }
            feature = column - (e.first + e.n_values) + e.feature + 1;
        }
        names.get(feature).map(Cow::into_owned)
    }

    /// The nominal features of the result and their values.
    pub(super) fn nominal(&self) -> Nominal {
        let indicator: Arc<[String]> = ["0", "1"].map(String::from).into();
        let mut kinds = Nominal::new();
        let mut n_added = 0;
        for (&j, values) in &self.nominal {
            if values.len() > 2 {
                let columns = j + n_added..j + n_added + values.len();
                kinds.extend(columns.map(|column| (column, Arc::clone(&indicator))));
                n_added += values.len() - 1;
            } else {
                kinds.insert(j + n_added, Arc::clone(values));
            }
        }
        kinds
    }

    /// Features (n x p) with indicators in place of nominal ones.
    pub(super) fn encode(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.n_features, x.n_cols())?;
        let (rows, columns) = (x.n_rows(), self.n_columns());
        let mut builder = match x {
            MatrixView::Dense(_) => {
                check_dense(rows, columns, size_of::<f32>(), self.memory_limit)?;
                MatrixBuilder::dense(columns)
            }
            MatrixView::Sparse(_) => MatrixBuilder::sparse(columns),
        };
        for row in 0..rows {
            // A replaced feature that is not stored has its first value, so all of them are visited, in step with
            // those that are stored.
            let mut rest = self.encoded.iter().peekable();
            let (mut n_added, mut invalid) = (0, None);
            x.for_each_in_row(row, |j, v| {
                let j = j as usize;
                while let Some(absent) = rest.next_if(|e| e.feature < j) {
                    builder.push(absent.first as u32, 1.0);
                    n_added += absent.n_values - 1;
                }
                let Some(e) = rest.next_if(|e| e.feature == j) else {
                    return builder.push((j + n_added) as u32, v);
                };
                if !(v.is_nan() || is_position(v, e.n_values)) {
                    invalid = invalid.or(Some((e, v)));
                }
                for k in 0..e.n_values {
                    builder.push((e.first + k) as u32, indicator(v, k));
                }
                n_added += e.n_values - 1;
            });
            rest.for_each(|absent| builder.push(absent.first as u32, 1.0));
            builder.end_row();
            if let Some((e, value)) = invalid {
                let (sample, feature, n_values) = (row, e.feature, e.n_values);
                let not_a_position = DatasetError::NotAPosition {
                    sample,
                    feature,
                    value,
                    n_values,
                };
                return Err(not_a_position.into());
            }
        }
        Ok(builder.finish())
    }
}

impl Transform for OneHot {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        Mismatch::check("features", self.n_features, data.n_features())?;
        check_nominal(&self.nominal, data)?;
        let features = self.encode(data.features().view())?;
        Ok(data.replace_features(
            features,
            self.feature_names(data.feature_names()),
            self.nominal(),
            self.texts(data.texts()),
        )?)
    }
}

/// Number of columns that encoding adds.
fn added(encoded: &[Encoded]) -> usize {
    encoded.last().map_or(0, |e| e.first - e.feature + e.n_values - 1)
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
        let fitted = OneHot::fit(&data).with_memory_limit(95);
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
        assert_eq!(OneHot::new(4, data.nominal().clone()), Ok(OneHot::fit(&data)));
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
                assert_eq!(
                    OneHot::fit(&data).encode(x),
                    Err(PreprocessError::Dataset(expected))
                );
            }
        }
    }
}
