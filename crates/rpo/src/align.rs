//! Brings data into the column order of a model.

mod missing;
mod nominal;

pub use missing::MissingName;
pub use nominal::UnseenValues;

use crate::schema::are_positions;
use crate::{ModelError, Schema};
use missing::MOST_LISTED;
use ndarray::Array2;
use nominal::{Recoding, UnseenCount, count_unseen, observed_columns, recode};
use rpo_core::{CsrMatrix, Matrix, MatrixView};
use rpo_data::read::known_positions;
use rpo_data::{ClassColumn, Dataset, Names, TargetOutputs};
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

impl Schema {
    /// Returns the features of a data set in the column order of the model.
    ///
    /// Named columns are found by name, whatever their order; columns that the model does not have, such as outputs
    /// read as features, are left out. Numbered columns are taken as they are. The values of nominal features are
    /// translated to positions in the model's lists, however they are written there
    /// ([`known_positions`]); values that a list lacks become missing values
    /// ([`unseen_values`](Self::unseen_values) counts them). A feature that is nominal on one side only is accepted
    /// where the list is "0", "1", ..., so that each position equals the number it stands for; a number without such a
    /// position is an error. It is also accepted if all its values are missing.
    ///
    /// # Errors
    /// [`ModelError::MissingColumn`], [`ModelError::TargetIsFeature`], [`ModelError::ColumnCount`], [`ModelError::Kind`],
    /// [`ModelError::UnknownValue`].
    pub fn align_features<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, Matrix>, ModelError> {
        let sources = self.feature_sources(data)?;
        let source = |feature: usize| sources.as_ref().map_or(feature, |s| s[feature]);
        let mut recodings = Vec::new();
        let mut numbers = Vec::new();
        let mut nominal: Vec<usize> = self.nominal.keys().copied().collect();
        if !data.nominal().is_empty() {
            nominal = (0..self.feature_names.iter().len()).collect();
        }
        let observed = LazyCell::new(|| observed_columns(data.features().view()));
        for feature in nominal {
            let mine = self.nominal.get(&feature).map(|values| &**values);
            let theirs = data.nominal().get(&source(feature)).map(|values| &**values);
            match self.recoding(feature, mine, theirs) {
                Ok(recoding) => recodings.extend(recoding),
                Err(e) if observed[source(feature)] => return Err(e),
                Err(_) => continue,
            }
            if let (Some(mine), None) = (mine, theirs) {
                numbers.push((source(feature), feature, mine.len()));
            }
        }
        self.check_numbers(data.features().view(), &numbers)?;
        if sources.is_none() && recodings.is_empty() {
            return Ok(Cow::Borrowed(data.features()));
        }
        let sources = sources.unwrap_or_else(|| (0..self.feature_names.iter().len()).collect());
        let aligned = gather(data.features().view(), &sources);
        Ok(Cow::Owned(recode(aligned, &recodings)))
    }

    /// For each feature of the model, the column of the data that holds it; `None` if the columns are the same.
    fn feature_sources(&self, data: &Dataset) -> Result<Option<Vec<usize>>, ModelError> {
        let others = &data.notes.untyped_columns;
        let found = sources("feature", &self.feature_names, data.feature_names(), others);
        found.map_err(|e| match self.feature_among_targets(data) {
            Some(name) if matches!(e, ModelError::MissingColumn { .. }) => {
                ModelError::TargetIsFeature { name }
            }
            _ => self.missing_columns(e, data.feature_names(), others),
        })
    }

    /// The first feature that the data have as a target only.
    fn feature_among_targets(&self, data: &Dataset) -> Option<String> {
        // Numbered outputs are no columns of a table.
        let Names::Given(outputs) = data.output_names() else {
            return None;
        };
        let targets = ClassColumn::targets(data.class_columns(), data.n_outputs());
        let names = targets.into_iter().map(|target| match target {
            TargetOutputs::One(output) => outputs[output].clone(),
            TargetOutputs::Classes(column) => column.name.clone(),
        });
        let names: Names = names.collect();
        let of_model = self.feature_names.positions(&names).into_iter();
        let of_data = data.feature_names().positions(&names);
        let both = names.iter().zip(of_model.zip(of_data));
        let mut found = both.filter(|(_, (of_model, of_data))| of_model.is_some() && of_data.is_none());
        found.next().map(|(name, _)| name.into_owned())
    }

    /// Reports missing features. The terms of a text count as one column, as do the parts of a date.
    fn missing_columns(&self, error: ModelError, given: &Names, others: &[String]) -> ModelError {
        let wide: BTreeMap<usize, (usize, &str)> = self
            .wide_columns()
            .map(|(features, name, _)| (features.start, (features.end, name)))
            .collect();
        if wide.is_empty() || !matches!(error, ModelError::MissingColumn { .. }) {
            return error;
        }
        let positions = self.feature_names.positions(given);
        let is_given: BTreeSet<Option<usize>> = positions.iter().copied().collect();
        let column = |feature: usize| {
            let before = wide.range(..=feature).next_back();
            let of_wide = before.filter(|(_, (end, _))| feature < *end);
            let name = of_wide.map(|(_, (_, name))| (*name).to_owned());
            (name.is_some(), name.unwrap_or_else(|| self.feature_name(feature)))
        };
        let missing =
            (0..self.feature_names.iter().len()).filter(|&feature| !is_given.contains(&Some(feature)));
        let mut columns: Vec<(bool, String)> = missing.map(column).collect();
        columns.dedup();
        let what = match columns.iter().any(|(is_wide, _)| *is_wide) {
            true => "column",
            false => "feature",
        };
        let names = columns.iter().map(|(_, name)| name.clone());
        missing_columns(what, names, columns.len(), &unused(given, &positions, others))
    }

    /// Returns the values of nominal features that the model has not seen in training, with one entry per affected
    /// feature, in the order of the model. [`align_features`](Self::align_features) turns them into missing values.
    ///
    /// # Errors
    /// [`ModelError::MissingColumn`], [`ModelError::TargetIsFeature`], [`ModelError::ColumnCount`].
    pub fn unseen_values(&self, data: &Dataset) -> Result<Vec<UnseenValues>, ModelError> {
        let sources = self.feature_sources(data)?;
        let mut counts: Vec<UnseenCount<'_>> = Vec::new();
        for (&feature, mine) in &self.nominal {
            let column = sources.as_ref().map_or(feature, |s| s[feature]);
            let theirs = data.nominal().get(&column).filter(|theirs| *theirs != mine);
            let Some(theirs) = theirs else {
                continue;
            };
            let positions = known_positions(mine, theirs);
            let is_unseen: Vec<bool> = positions.iter().map(Option::is_none).collect();
            if is_unseen.contains(&true) {
                counts.push(UnseenCount {
                    feature,
                    column,
                    values: theirs,
                    is_unseen,
                    first: None,
                    count: 0,
                });
            }
        }
        count_unseen(data.features().view(), &mut counts);
        let found = counts.into_iter().filter_map(|counted| {
            let (sample, value) = counted.first?;
            Some(UnseenValues {
                feature: self.feature_name(counted.feature),
                sample,
                value: counted.values[value].clone(),
                count: counted.count,
            })
        });
        Ok(found.collect())
    }

    /// Returns the outputs of a data set in the order of the model, each repeated once per quantile level of the model.
    /// They are found by name: numbered ones also as `output 0`, as they are [written](Self::written_names) beside numbered
    /// features.
    ///
    /// # Errors
    /// [`ModelError::Task`], [`ModelError::MissingColumn`], [`ModelError::UnknownOutput`],
    /// [`ModelError::ColumnCount`].
    pub fn align_outputs<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, Matrix>, ModelError> {
        if data.task() != self.task {
            let (expected, given) = (self.task, data.task());
            return Err(ModelError::Task { expected, given });
        }
        let (written, theirs) = (self.written_names(), &*self.names_as_here(data));
        let is_written = written.positions(theirs).iter().any(Option::is_some);
        let targets = if is_written {
            &*written
        } else {
            self.target_names()
        };
        let mut sources = sources("output", targets, theirs, &[])?;
        if theirs.iter().len() > targets.iter().len() {
            let mine = targets.positions(theirs);
            let name = theirs.iter().zip(mine).find(|(_, position)| position.is_none());
            if let Some((name, _)) = name {
                let name = name.into_owned();
                return Err(ModelError::UnknownOutput { name });
            }
        }
        let times = self.outputs_per_target();
        if times > 1 {
            let of_targets = sources.unwrap_or_else(|| (0..targets.iter().len()).collect());
            sources = Some(repeated(of_targets, times));
        }
        Ok(match sources {
            None => Cow::Borrowed(data.outputs()),
            Some(sources) => Cow::Owned(gather(data.outputs().view(), &sources)),
        })
    }

    /// The names of a data set's outputs, of which the classes of the model's columns have the names in the model: a
    /// table calls a class `column=class`, and whoever makes a data set may call it otherwise.
    fn names_as_here<'a>(&self, data: &'a Dataset) -> Cow<'a, Names> {
        if data.class_columns().is_empty() {
            return Cow::Borrowed(data.output_names());
        }
        let (mine, mut names) = (self.target_names(), data.output_names().clone());
        for theirs in data.class_columns() {
            let is_same =
                |column: &&ClassColumn| column.name == theirs.name && column.classes == theirs.classes;
            if let (Some(column), Names::Given(names)) = (self.class_columns.iter().find(is_same), &mut names)
            {
                for (output, other) in column.outputs().zip(theirs.outputs()) {
                    names[other] = mine.get(output).map_or_else(String::new, Cow::into_owned);
                }
            }
        }
        Cow::Owned(names)
    }

    /// Returns how to translate the values of a feature from the data's list to the model's, or `None` if nothing
    /// changes.
    fn recoding(
        &self,
        feature: usize,
        mine: Option<&[String]>,
        theirs: Option<&[String]>,
    ) -> Result<Option<Recoding>, ModelError> {
        let differ = |expected, given| {
            let name = self.feature_name(feature);
            Err(ModelError::Kind {
                name,
                expected,
                given,
            })
        };
        match (mine, theirs) {
            (Some(mine), Some(theirs)) if mine != theirs => {
                let position = |position: Option<usize>| position.map_or(f32::NAN, |p| p as f32);
                Ok(Some(Recoding {
                    feature,
                    positions: known_positions(mine, theirs).into_iter().map(position).collect(),
                }))
            }
            (Some(mine), None) if !are_positions(mine) => differ("nominal", "numeric"),
            (None, Some(theirs)) if !are_positions(theirs) => differ("numeric", "nominal"),
            _ => Ok(None),
        }
    }

    /// Checks that numbers are positions in the lists of nominal features. For each feature, `numbers` has its column
    /// in the data, its index in the model, and the length of its list.
    fn check_numbers(&self, x: MatrixView<'_>, numbers: &[(usize, usize, usize)]) -> Result<(), ModelError> {
        if numbers.is_empty() {
            return Ok(());
        }
        let mut places = vec![None; x.n_cols()];
        for &(column, feature, n_values) in numbers {
            places[column] = Some((feature, n_values as f32));
        }
        let is_unknown = |column: usize, v: f32| {
            let is_position = |end: f32| v >= 0.0 && v < end && v.fract() == 0.0;
            places[column].is_some_and(|(_, end)| !v.is_nan() && !is_position(end))
        };
        if let Some((row, column, value)) = x.find(is_unknown)
            && let Some((feature, _)) = places[column]
        {
            return Err(ModelError::UnknownValue {
                row,
                name: self.feature_name(feature),
                value: value.to_string(),
            });
        }
        Ok(())
    }

    fn feature_name(&self, feature: usize) -> String {
        self.feature_names
            .get(feature)
            .map_or_else(|| feature.to_string(), Cow::into_owned)
    }
}

/// For each column of the model, the column of the data that holds it; `None` if the columns are the same. An error
/// refers to further columns, `others`, that were not read.
fn sources(
    what: &'static str,
    mine: &Names,
    theirs: &Names,
    others: &[String],
) -> Result<Option<Vec<usize>>, ModelError> {
    if mine == theirs {
        return Ok(None);
    }
    if let Names::Numbered(given) = *theirs {
        let expected = mine.iter().len();
        return if given == expected {
            Ok(None)
        } else {
            Err(ModelError::ColumnCount {
                what,
                expected,
                given,
            })
        };
    }
    // Search by the data's columns: a model may declare more columns than fit in memory.
    let positions = mine.positions(theirs);
    let found: BTreeSet<usize> = positions.iter().copied().flatten().collect();
    if found.len() < mine.iter().len() {
        let n = mine.iter().len();
        let missing = (0..n).filter(|j| !found.contains(j)).filter_map(|j| mine.get(j));
        let unused = unused(theirs, &positions, others);
        let missing = missing.map(Cow::into_owned);
        return Err(missing_columns(what, missing, n - found.len(), &unused));
    }
    let mut sources = vec![0; mine.iter().len()];
    for (source, position) in positions.into_iter().enumerate() {
        position
            .into_iter()
            .for_each(|position| sources[position] = source);
    }
    Ok(Some(sources))
}

/// The columns of the data that the model does not have, by the positions of the data's columns in the model, and
/// those that were not read.
fn unused(theirs: &Names, positions: &[Option<usize>], others: &[String]) -> Vec<String> {
    let of_data = theirs.iter().zip(positions);
    let unused = of_data.filter(|(_, position)| position.is_none());
    let unused = unused.map(|(name, _)| name.into_owned());
    unused.chain(others.iter().cloned()).collect()
}

/// Reports columns that are missing, of which there are `n`.
fn missing_columns(
    what: &'static str,
    names: impl Iterator<Item = String>,
    n: usize,
    unused: &[String],
) -> ModelError {
    let listed = names.take(MOST_LISTED).map(|name| MissingName::new(name, unused));
    let missing: Vec<MissingName> = listed.collect();
    let more = n - missing.len();
    ModelError::MissingColumn { what, missing, more }
}

/// Repeats each column `times` times in succession.
pub(crate) fn repeated_columns(x: MatrixView<'_>, times: usize) -> Matrix {
    gather(x, &repeated(0..x.n_cols(), times))
}

fn repeated(columns: impl IntoIterator<Item = usize>, times: usize) -> Vec<usize> {
    let columns = columns.into_iter();
    columns
        .flat_map(|column| std::iter::repeat_n(column, times))
        .collect()
}

/// Returns the columns with the given indices, in that order, repeated as often as they occur.
fn gather(x: MatrixView<'_>, sources: &[usize]) -> Matrix {
    match x {
        MatrixView::Dense(_) => dense_columns(x, sources).into(),
        MatrixView::Sparse(_) => gather_sparse(x, sources),
    }
}

/// Like [`gather`], in a dense matrix.
pub(crate) fn dense_columns(x: MatrixView<'_>, sources: &[usize]) -> Array2<f32> {
    let mut row_values = vec![0.0; x.n_cols()];
    let mut out = Array2::zeros((x.n_rows(), sources.len()));
    for (i, mut row) in out.rows_mut().into_iter().enumerate() {
        x.copy_row(i, &mut row_values);
        row.iter_mut()
            .zip(sources)
            .for_each(|(value, &source)| *value = row_values[source]);
    }
    out
}

fn gather_sparse(x: MatrixView<'_>, sources: &[usize]) -> Matrix {
    let mut places = vec![Vec::new(); x.n_cols()];
    for (place, &source) in sources.iter().enumerate() {
        places[source].push(place as u32);
    }
    let mut rows = CsrRows::default();
    for i in 0..x.n_rows() {
        x.for_each_in_row(i, |j, value| {
            places[j as usize]
                .iter()
                .for_each(|&place| rows.push(place, value));
        });
        rows.end_row();
    }
    Matrix::Sparse(rows.finish(sources.len()))
}

/// Builds a CSR matrix row by row from entries in any order.
struct CsrRows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    row: Vec<(u32, f32)>,
}

impl Default for CsrRows {
    fn default() -> Self {
        Self {
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            row: Vec::new(),
        }
    }
}

impl CsrRows {
    fn push(&mut self, column: u32, value: f32) {
        self.row.push((column, value));
    }

    fn end_row(&mut self) {
        self.row.sort_unstable_by_key(|&(column, _)| column);
        for (column, value) in self.row.drain(..) {
            self.columns.push(column);
            self.values.push(value);
        }
        self.starts.push(self.columns.len());
    }

    fn finish(self, n_cols: usize) -> CsrMatrix {
        let shape = (self.starts.len() - 1, n_cols);
        CsrMatrix::new(shape, self.starts, self.columns, self.values)
    }
}
