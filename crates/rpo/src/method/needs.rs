//! Requirements of a method on the data.

use super::{DataProblem, MethodError, Registry};
use rpo_core::MatrixView;
use rpo_data::{Dataset, Task};

/// Requirements of a method on the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Features must not be missing.
    pub observed_features: bool,
    /// Nominal features with three or more values may be missing nevertheless, because their encoding handles missing
    /// values.
    pub missing_categories: bool,
    /// Outputs must not be missing.
    pub observed_outputs: bool,
    /// Samples must not have weights.
    pub equal_weights: bool,
    /// The outputs of a sample must have equal weights.
    pub equal_outputs: bool,
    /// The kind of outputs.
    pub outputs: OutputNeed,
}

/// The kind of outputs that a method learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputNeed {
    /// Labels and numbers.
    #[default]
    Any,
    /// Labels alone.
    Labels,
    /// Labels alone with the given parameters. The text names those with which numbers can be learned.
    LabelsUnless(&'static str),
}

/// Everything, of labels and numbers: data that a method does not know of are refused, not ignored.
impl Default for Needs {
    fn default() -> Self {
        Self {
            observed_features: true,
            missing_categories: false,
            observed_outputs: true,
            equal_weights: true,
            equal_outputs: true,
            outputs: OutputNeed::Any,
        }
    }
}

impl Needs {
    /// Those of a method that respects missing features and outputs and the weights of samples: only the outputs of a
    /// sample must have equal weights.
    pub const FEW: Self = Self {
        observed_features: false,
        missing_categories: false,
        observed_outputs: false,
        equal_weights: false,
        equal_outputs: true,
        outputs: OutputNeed::Any,
    };

    /// Checks that the data meet the requirements of the method.
    ///
    /// # Errors
    /// [`MethodError::Data`] for data without samples or outputs, missing values where the method needs all, an output
    /// without an observed value, weights that the method does not support, and numbers where it needs labels.
    pub(crate) fn check(&self, method: &str, data: &Dataset) -> Result<(), MethodError> {
        match self.problem(data) {
            None => Ok(()),
            Some(problem) => Err(MethodError::data(method, problem)),
        }
    }

    /// The first requirement that the data do not meet.
    fn problem(&self, data: &Dataset) -> Option<DataProblem> {
        let (n_samples, n_outputs) = (data.n_samples(), data.n_outputs());
        if n_samples == 0 || n_outputs == 0 {
            return Some(DataProblem::Empty { n_samples, n_outputs });
        }
        let missing = self.missing_feature(data).or_else(|| self.missing_output(data));
        if missing.is_some() {
            return missing;
        }
        let outputs = data.outputs().view();
        if outputs.has_missing()
            && let Some(output) = outputs.first_unobserved(data.weights())
        {
            let name = data.output_names().get(output).unwrap_or_default().into_owned();
            return Some(DataProblem::UnobservedOutput { name });
        }
        if self.equal_weights && data.weights().is_some() {
            let others = Registry::standard().taking_weights().map(str::to_owned);
            return Some(DataProblem::SampleWeights {
                others: others.collect(),
            });
        }
        if self.equal_outputs && data.has_cell_weights() {
            return Some(DataProblem::OutputWeights);
        }
        match self.outputs {
            _ if data.task() == Task::MultiLabel => None,
            OutputNeed::Any => None,
            OutputNeed::Labels => Some(DataProblem::Numbers),
            OutputNeed::LabelsUnless(remedy) => Some(DataProblem::NumbersWithParameters {
                remedy: remedy.to_owned(),
            }),
        }
    }

    fn missing_feature(&self, data: &Dataset) -> Option<DataProblem> {
        let is_encoded = |feature: usize| {
            let values = data.nominal().get(&feature);
            self.missing_categories && values.is_some_and(|values| values.len() > 2)
        };
        let first = || first_missing(data, data.features().view(), |feature| !is_encoded(feature));
        let (sample, feature) = self.observed_features.then(first).flatten()?;
        let name = data.feature_names().get(feature).unwrap_or_default().into_owned();
        Some(DataProblem::MissingFeature {
            name,
            sample,
            remedy: "set `impute` = median".to_owned(),
        })
    }

    fn missing_output(&self, data: &Dataset) -> Option<DataProblem> {
        let first = || first_missing(data, data.outputs().view(), |_| true);
        let (sample, output) = self.observed_outputs.then(first).flatten()?;
        let name = data.output_names().get(output).unwrap_or_default().into_owned();
        Some(DataProblem::MissingOutput { name, sample })
    }
}

/// Row and column of the first missing value among the samples for training, which alone must be complete, and the
/// columns selected by `of`.
fn first_missing(
    data: &Dataset,
    values: MatrixView<'_>,
    of: impl Fn(usize) -> bool,
) -> Option<(usize, usize)> {
    let first_in = |row: usize| {
        let mut found = None;
        values.for_each_in_row(row, |column, v| {
            if found.is_none() && v.is_nan() && of(column as usize) {
                found = Some((row, column as usize));
            }
        });
        found
    };
    match data.samples_for_training() {
        Some(rows) => rows.into_iter().find_map(first_in),
        None => (0..data.n_samples()).find_map(first_in),
    }
}
