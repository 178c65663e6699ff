//! The data set: features, outputs, their names and kinds.

mod error;
mod left_out;
mod select;
mod weights;

pub use error::DatasetError;
pub use left_out::LeftOut;
pub use weights::Weighting;

use crate::builder::MatrixBuilder;
use crate::names::Names;
use crate::text::{Counts, TextColumn, Texts};
use rpo_core::{Matrix, MatrixView, Mismatch, finite_or_missing};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use weights::Weights;

/// Fraction of stored entries below which [`Layout::Auto`] chooses CSR. A stored CSR entry takes two words where a
/// dense entry takes one, and costs an indirection to read, so that sparse storage pays off below about 1 in 4.
pub const AUTO_DENSITY: f64 = 0.25;

/// The kind of the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Each output is a label, 0 or 1.
    MultiLabel,
    /// Each output is a finite number.
    Regression,
}

/// A group of columns of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// The features.
    Features,
    /// The outputs.
    Outputs,
}

/// The storage of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Row-major dense.
    Dense,
    /// Compressed sparse rows.
    Sparse,
    /// Sparse below a density of [`AUTO_DENSITY`], dense otherwise.
    Auto,
}

/// The empty lines between the samples of an svmlight file. Most programs, including this one, do not treat them as
/// samples; to some programs an empty line is a sample without labels and features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptyLines {
    /// Number of lines.
    pub count: u64,
    /// Number of the first empty line, from 1.
    pub first_line: u64,
}

impl fmt::Display for EmptyLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, first_line } = self;
        match count {
            1 => write!(f, "line {first_line} is empty: it is skipped")?,
            n => write!(
                f,
                "{n} lines are empty, line {first_line} for one: they are skipped"
            )?,
        }
        write!(f, "; a sample without labels and features is written \" qid:0\"")
    }
}

/// A column that holds a list of labels per sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelColumn {
    /// Its name.
    pub name: String,
    /// The character that separates labels.
    pub separator: char,
}

/// Samples with features and outputs.
///
/// Invariants: features and outputs have the same number of samples; features are finite or NaN (missing); labels are 0
/// or 1 and stored as CSR whose stored values are all 1; regression targets are finite; a nominal feature contains
/// positions in its list of values, as `f32`.
///
/// Outputs may be missing only in a set created by [`Dataset::with_missing`]. A missing output is NaN; among labels it
/// is a stored NaN, as labels that are not stored are 0. Missing outputs are ignored in statistics, splits, training
/// and metrics.
///
/// ```
/// use ndarray::array;
/// use rpo_data::{Dataset, Task};
/// let data = Dataset::new(
///     array![[0.5, 1.0], [0.1, f32::NAN]].into(), // NaN is a missing value
///     array![[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]].into(),
///     Task::MultiLabel,
/// )?;
/// assert_eq!((data.n_samples(), data.n_features(), data.n_outputs()), (2, 2, 3));
/// assert_eq!(data.label_statistics().counts, [0, 1, 2]);
/// # Ok::<(), rpo_data::DatasetError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The name of the set; empty unless given.
    pub name: String,
    /// The empty lines that were skipped when the set was read, if it comes from an svmlight file with empty lines
    /// between samples.
    pub empty_lines: Option<EmptyLines>,
    /// The column of a file in which the labels were listed, if there was one.
    pub label_column: Option<LabelColumn>,
    /// Labels of samples that were not to be read ([`LabelList::labels`](crate::read::LabelList::labels),
    /// [`ReadOptions::leave_out`](crate::read::ReadOptions::leave_out)).
    pub other_labels: LeftOut,
    /// Features of samples that were not to be read ([`ReadOptions::leave_out`](crate::read::ReadOptions::leave_out)).
    pub other_features: LeftOut,
    task: Task,
    features: Matrix,
    outputs: Matrix,
    feature_names: Names,
    output_names: Names,
    nominal: BTreeMap<usize, Arc<[String]>>,
    texts: Texts,
    weights: Weights,
    ids: Option<Arc<[String]>>,
}

impl Dataset {
    /// Creates a set with numbered columns and numeric features. Labels are converted to CSR.
    ///
    /// # Errors
    /// [`DatasetError::Mismatch`], [`DatasetError::InfiniteFeature`], [`DatasetError::NotALabel`],
    /// [`DatasetError::Output`].
    pub fn new(features: Matrix, outputs: Matrix, task: Task) -> Result<Self, DatasetError> {
        Self::checked(features, outputs, task, false)
    }

    /// Like [`new`](Self::new), but outputs may be missing: NaN in any layout.
    ///
    /// ```
    /// use ndarray::array;
    /// use rpo_data::{Dataset, Task};
    /// let outputs = array![[1.0, f32::NAN], [0.0, 1.0]]; // label 1 of sample 0 is missing
    /// let data = Dataset::with_missing(array![[0.5], [0.1]].into(), outputs.into(), Task::MultiLabel)?;
    /// assert!(data.outputs().view().has_missing());
    /// assert_eq!(data.label_statistics().counts, [1, 1]);
    /// # Ok::<(), rpo_data::DatasetError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`new`](Self::new), except for outputs that are NaN.
    pub fn with_missing(features: Matrix, outputs: Matrix, task: Task) -> Result<Self, DatasetError> {
        Self::checked(features, outputs, task, true)
    }

    fn checked(features: Matrix, outputs: Matrix, task: Task, missing: bool) -> Result<Self, DatasetError> {
        Mismatch::check("samples of the outputs", features.n_rows(), outputs.n_rows())?;
        let features = as_csr_or_dense(features);
        if let Some((sample, feature, value)) = find(features.view(), |_, v| v.is_infinite()) {
            return Err(DatasetError::InfiniteFeature {
                sample,
                feature,
                value,
            });
        }
        let outputs = match task {
            Task::MultiLabel => label_matrix(as_csr_or_dense(outputs), missing)?,
            Task::Regression => {
                let checked = if missing {
                    outputs.view().check_values(finite_or_missing)
                } else {
                    outputs.view().check_values(f32::is_finite)
                };
                checked.map_err(DatasetError::Output)?;
                as_csr_or_dense(outputs)
            }
        };
        Ok(Self {
            name: String::new(),
            task,
            feature_names: Names::Numbered(features.n_cols()),
            output_names: Names::Numbered(outputs.n_cols()),
            features,
            outputs,
            nominal: BTreeMap::new(),
            texts: Texts::new(),
            weights: Weights::default(),
            ids: None,
            empty_lines: None,
            label_column: None,
            other_labels: LeftOut::default(),
            other_features: LeftOut::default(),
        })
    }

    /// Sets identifiers of the samples.
    pub(crate) fn with_ids(mut self, ids: Vec<String>) -> Result<Self, DatasetError> {
        Mismatch::check("identifiers", self.n_samples(), ids.len())?;
        self.ids = Some(ids.into());
        Ok(self)
    }

    /// Sets the names of features or outputs.
    ///
    /// # Errors
    /// [`DatasetError::Mismatch`], [`DatasetError::DuplicateName`].
    pub fn with_names(mut self, of: Columns, names: Names) -> Result<Self, DatasetError> {
        match of {
            Columns::Features => {
                check_names("feature", &names, self.n_features())?;
                self.feature_names = names;
            }
            Columns::Outputs => {
                check_names("output", &names, self.n_outputs())?;
                self.output_names = names;
            }
        }
        Ok(self)
    }

    /// Declares the nominal features and their values; all other features are numeric.
    ///
    /// # Errors
    /// [`DatasetError::OutOfRange`] for a feature that does not exist, [`DatasetError::NoValues`] for a feature with an
    /// empty list, [`DatasetError::NotAPosition`] for a value that is not a position in the feature's list.
    pub fn with_nominal(mut self, nominal: BTreeMap<usize, Arc<[String]>>) -> Result<Self, DatasetError> {
        if let Some((&index, _)) = nominal.last_key_value() {
            check_range("feature", &[index], self.n_features())?;
            if let Some((&j, _)) = nominal.iter().find(|(_, values)| values.is_empty()) {
                return Err(DatasetError::NoValues(j));
            }
            let mut limits = vec![f32::INFINITY; self.n_features()];
            nominal
                .iter()
                .for_each(|(&j, values)| limits[j] = values.len() as f32);
            let found = find(self.features.view(), |j, v| {
                limits[j].is_finite() && !(v.is_nan() || (v >= 0.0 && v < limits[j] && v.fract() == 0.0))
            });
            if let Some((sample, feature, value)) = found {
                let n_values = nominal[&feature].len();
                return Err(DatasetError::NotAPosition {
                    sample,
                    feature,
                    value,
                    n_values,
                });
            }
        }
        self.nominal = nominal;
        Ok(self)
    }

    /// The kind of the outputs.
    pub fn task(&self) -> Task {
        self.task
    }

    /// Features, n_samples x n_features; NaN if missing.
    pub fn features(&self) -> &Matrix {
        &self.features
    }

    /// Outputs, n_samples x n_outputs; NaN if missing, in a set created by [`with_missing`](Self::with_missing).
    pub fn outputs(&self) -> &Matrix {
        &self.outputs
    }

    /// Names of the features.
    pub fn feature_names(&self) -> &Names {
        &self.feature_names
    }

    /// Names of the outputs.
    pub fn output_names(&self) -> &Names {
        &self.output_names
    }

    /// The nominal features and their values.
    pub fn nominal(&self) -> &BTreeMap<usize, Arc<[String]>> {
        &self.nominal
    }

    /// The text columns, by their first feature. From there on, a text column has one feature per term, which counts
    /// the term in the text.
    pub fn texts(&self) -> &BTreeMap<usize, Arc<TextColumn>> {
        &self.texts
    }

    /// Replaces the outputs by labels.
    pub(crate) fn with_labels(
        self,
        labels: Matrix,
        names: Names,
        column: LabelColumn,
        others: LeftOut,
    ) -> Result<Self, DatasetError> {
        check_names("output", &names, labels.n_cols())?;
        Ok(Self {
            task: Task::MultiLabel,
            outputs: labels,
            output_names: names,
            label_column: Some(column),
            other_labels: others,
            ..self
        })
    }

    /// Appends the features of texts to all others, which makes all features sparse.
    pub(crate) fn with_texts(self, texts: &[(Arc<TextColumn>, Counts)]) -> Result<Self, DatasetError> {
        let mut names: Vec<String> = self.feature_names.iter().map(Cow::into_owned).collect();
        let mut firsts = Texts::new();
        for (column, _) in texts {
            firsts.insert(names.len(), Arc::clone(column));
            names.extend(column.feature_names());
        }
        let mut builder = MatrixBuilder::sparse(names.len());
        for row in 0..self.n_samples() {
            let features = self.features.view();
            features.for_each_in_row(row, |j, v| builder.push(j, v));
            for (&first, (_, counts)) in firsts.keys().zip(texts) {
                let counts = counts.row(row);
                counts.for_each(|(term, count)| builder.push(first as u32 + term, count));
            }
            builder.end_row();
        }
        let nominal = self.nominal.clone();
        self.replace_features(builder.finish(), Names::Given(names), nominal, firsts)
    }

    /// Identifiers of the samples, if there are any ([`ReadOptions::id`](crate::read::ReadOptions::id)). Predictions
    /// are written with them.
    pub fn ids(&self) -> Option<&[String]> {
        self.ids.as_deref()
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.features.n_rows()
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.features.n_cols()
    }

    /// Number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.outputs.n_cols()
    }

    /// Number of missing feature values.
    pub(crate) fn n_missing(&self) -> usize {
        count_missing(&self.features)
    }

    /// Number of missing outputs.
    pub(crate) fn n_missing_outputs(&self) -> usize {
        count_missing(&self.outputs)
    }

    /// Fraction of feature values that are not 0, including missing ones; 0 for an empty set. Stored zeros of a sparse
    /// matrix count as zeros.
    pub fn feature_density(&self) -> f64 {
        let is_not_zero = |v: &&f32| **v != 0.0;
        let nonzero = match &self.features {
            Matrix::Dense(a) => a.iter().filter(is_not_zero).count(),
            Matrix::Sparse(a) => a.data().iter().filter(is_not_zero).count(),
        };
        nonzero as f64 / (self.n_samples() as f64 * self.n_features() as f64).max(1.0)
    }

    /// Returns this set with other features from a transform, which are trusted except for their names.
    pub(crate) fn replace_features(
        &self,
        features: Matrix,
        feature_names: Names,
        nominal: BTreeMap<usize, Arc<[String]>>,
        texts: Texts,
    ) -> Result<Self, DatasetError> {
        debug_assert_eq!(features.n_rows(), self.n_samples());
        check_names("feature", &feature_names, features.n_cols())?;
        Ok(Self {
            features,
            outputs: self.outputs.clone(),
            feature_names,
            nominal,
            texts,
            ..self.without_matrices()
        })
    }

    /// Returns this set with other feature values from a transform, which are trusted; the columns stay the same.
    pub(crate) fn replace_values(&self, features: Matrix) -> Self {
        debug_assert_eq!(
            (features.n_rows(), features.n_cols()),
            (self.n_samples(), self.n_features())
        );
        Self {
            features,
            outputs: self.outputs.clone(),
            ..self.without_matrices()
        }
    }

    /// Returns this set with other output values.
    pub(crate) fn replace_outputs(&self, outputs: Matrix) -> Self {
        debug_assert_eq!(
            (outputs.n_rows(), outputs.n_cols()),
            (self.n_samples(), self.n_outputs())
        );
        Self {
            features: self.features.clone(),
            outputs,
            ..self.without_matrices()
        }
    }

    /// Returns everything except the matrices, for struct update syntax.
    fn without_matrices(&self) -> Self {
        let empty = || Matrix::Dense(ndarray::Array2::zeros((0, 0)));
        Self {
            name: self.name.clone(),
            task: self.task,
            features: empty(),
            outputs: empty(),
            feature_names: self.feature_names.clone(),
            output_names: self.output_names.clone(),
            nominal: self.nominal.clone(),
            texts: self.texts.clone(),
            weights: self.weights.clone(),
            ids: self.ids.clone(),
            empty_lines: self.empty_lines,
            label_column: self.label_column.clone(),
            other_labels: self.other_labels.clone(),
            other_features: self.other_features.clone(),
        }
    }
}

/// Converts a sparse matrix to CSR, as it may be stored by columns.
fn as_csr_or_dense(a: Matrix) -> Matrix {
    match a {
        Matrix::Sparse(a) => Matrix::from(a),
        dense @ Matrix::Dense(_) => dense,
    }
}

/// Returns the first stored value, in row order, for which `test` returns true.
fn find(a: MatrixView<'_>, test: impl Fn(usize, f32) -> bool) -> Option<(usize, usize, f32)> {
    (0..a.n_rows()).find_map(|row| {
        let mut found = None;
        a.for_each_in_row(row, |column, value| {
            if found.is_none() && test(column as usize, value) {
                found = Some((row, column as usize, value));
            }
        });
        found
    })
}

fn count_missing(a: &Matrix) -> usize {
    match a {
        Matrix::Dense(a) => a.iter().filter(|v| v.is_nan()).count(),
        Matrix::Sparse(a) => a.data().iter().filter(|v| v.is_nan()).count(),
    }
}

/// Converts labels to CSR whose stored values are all 1, or NaN if labels may be missing.
fn label_matrix(outputs: Matrix, missing: bool) -> Result<Matrix, DatasetError> {
    let is_missing = |v: f32| missing && v.is_nan();
    let is_label = |v: f32| v == 0.0 || v == 1.0 || is_missing(v);
    if let Some((sample, output, value)) = find(outputs.view(), |_, v| !is_label(v)) {
        return Err(DatasetError::NotALabel {
            sample,
            output,
            value,
        });
    }
    if let Matrix::Sparse(a) = &outputs
        && a.data().iter().all(|&v| v == 1.0 || is_missing(v))
    {
        return Ok(outputs);
    }
    let mut builder = MatrixBuilder::sparse(outputs.n_cols());
    for row in 0..outputs.n_rows() {
        outputs.view().for_each_in_row(row, |j, v| builder.push(j, v));
        builder.end_row();
    }
    Ok(builder.finish())
}

fn check_range(what: &'static str, indices: &[usize], count: usize) -> Result<(), DatasetError> {
    indices
        .iter()
        .find(|&&index| index >= count)
        .map_or(Ok(()), |&index| {
            Err(DatasetError::OutOfRange { what, index, count })
        })
}

fn check_names(what: &'static str, names: &Names, columns: usize) -> Result<(), DatasetError> {
    let names_of = match what {
        "feature" => "feature names",
        _ => "output names",
    };
    Mismatch::check(names_of, columns, names.len())?;
    names.duplicate().map_or(Ok(()), |name| {
        let name = name.to_owned();
        Err(DatasetError::DuplicateName { what, name })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use rpo_core::MatrixError;

    pub(super) fn mixed() -> Dataset {
        let features = array![[0.0, 1.5, 2.0], [1.0, f32::NAN, 0.0], [0.0, -1.0, 1.0]];
        let outputs = array![[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]];
        let values: Arc<[String]> = ["a", "b", "c"].map(String::from).into();
        Dataset::new(features.into(), outputs.into(), Task::MultiLabel)
            .unwrap()
            .with_nominal([(2, values)].into())
            .unwrap()
    }

    #[test]
    fn outputs_are_missing_only_where_allowed() {
        let x = || Matrix::from(array![[1.0], [2.0]]);
        let y = array![[f32::NAN, 1.0, 0.0], [0.0, f32::NAN, 1.0]];
        for outputs in [
            Matrix::from(y.clone()),
            Matrix::from(MatrixView::from(&y).to_csr()),
        ] {
            for task in [Task::MultiLabel, Task::Regression] {
                assert!(Dataset::new(x(), outputs.clone(), task).is_err());
                let data = Dataset::with_missing(x(), outputs.clone(), task).unwrap();
                assert_eq!((data.n_missing(), data.n_missing_outputs()), (0, 2));
                let other = data.select_outputs(&[0, 2]).unwrap();
                let joined = other.concat(&other).unwrap();
                assert_eq!(joined.n_missing_outputs(), 2);
            }
            let found = Dataset::with_missing(x(), outputs, Task::MultiLabel).unwrap();
            assert!(matches!(found.outputs(), Matrix::Sparse(a) if a.nnz() == 4));
        }
        let infinite = array![[f32::NAN], [f32::INFINITY]];
        let (row, column, value) = (1, 0, f32::INFINITY);
        let (sample, output) = (row, column);
        assert_eq!(
            Dataset::with_missing(x(), infinite.clone().into(), Task::MultiLabel),
            Err(DatasetError::NotALabel {
                sample,
                output,
                value
            })
        );
        assert_eq!(
            Dataset::with_missing(x(), infinite.into(), Task::Regression),
            Err(DatasetError::Output(MatrixError::NonFinite {
                row,
                column,
                value
            }))
        );
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_place() {
        let x = || Matrix::from(array![[1.0], [2.0]]);
        let new = |x: Matrix, y: Matrix, task| Dataset::new(x, y, task).unwrap_err();
        let mismatch = |what, expected, given| {
            DatasetError::from(Mismatch {
                what,
                expected,
                given,
            })
        };
        assert_eq!(
            new(x(), array![[1.0]].into(), Task::Regression),
            mismatch("samples of the outputs", 2, 1)
        );
        assert_eq!(
            new(x(), array![[0.0, 1.0], [1.0, 2.0]].into(), Task::MultiLabel),
            DatasetError::NotALabel {
                sample: 1,
                output: 1,
                value: 2.0
            }
        );
        assert!(matches!(
            new(x(), array![[0.0], [f32::NAN]].into(), Task::MultiLabel),
            DatasetError::NotALabel {
                sample: 1,
                output: 0,
                ..
            }
        ));
        assert!(matches!(
            new(x(), array![[0.0], [f32::NAN]].into(), Task::Regression),
            DatasetError::Output(MatrixError::NonFinite {
                row: 1,
                column: 0,
                ..
            })
        ));
        assert_eq!(
            new(
                array![[1.0, f32::INFINITY]].into(),
                array![[1.0]].into(),
                Task::Regression
            ),
            DatasetError::InfiniteFeature {
                sample: 0,
                feature: 1,
                value: f32::INFINITY
            }
        );
        assert_eq!(
            mixed().select_samples(&[3]),
            Err(DatasetError::OutOfRange {
                what: "sample",
                index: 3,
                count: 3
            })
        );
        assert_eq!(
            mixed().with_names(Columns::Features, ["x"; 3].into_iter().collect()),
            Err(DatasetError::DuplicateName {
                what: "feature",
                name: "x".into()
            })
        );
        assert_eq!(
            mixed().with_names(Columns::Outputs, Names::Numbered(3)),
            Err(mismatch("output names", 2, 3))
        );
        assert_eq!(
            mixed().with_nominal([(1, [].into())].into()),
            Err(DatasetError::NoValues(1))
        );
        let two: Arc<[String]> = ["a", "b"].map(String::from).into();
        assert_eq!(
            mixed().with_nominal([(2, two)].into()),
            Err(DatasetError::NotAPosition {
                sample: 0,
                feature: 2,
                value: 2.0,
                n_values: 2
            })
        );
    }
}
