//! Options for weights of samples and outputs.

use super::{PropensityOptions, SampleWeightOptions};
use crate::error::CliError;
use crate::files::NamedFile;
use clap::Args;
use ndarray::Axis;
use rpo::Method;
use rpo::data::read::{Format, ReadErrorKind, ReadOptions, Targets, read};
use rpo::data::{DEFAULT_MEMORY_LIMIT, Dataset, Task, Weighting};
use rpo::metrics::Metric;
use std::path::{Path, PathBuf};

/// Weights of outputs that need no file.
const BALANCED: &str = "balanced";
const PROPENSITY: &str = "propensity";
const UNBIASED: &str = "propensity-unbiased";

/// The weights of samples and outputs.
#[derive(Debug, Args)]
pub(crate) struct WeightOptions {
    #[command(flatten)]
    samples: SampleWeightOptions,

    /// Weights of the outputs of each sample, which multiply those of the samples, for boosting: `balanced`, which
    /// gives the samples with a label and those without equal total weight; `propensity`, 1/p if a label of propensity
    /// p (Jain et al. 2016) is present, as absent labels may just not be recorded; `propensity-unbiased`, 2/p - 1; or a
    /// CSV file with a column named like each output and a row for each sample. An output of weight 0 counts as
    /// missing.
    #[arg(
        long,
        value_name = "balanced|propensity|propensity-unbiased|FILE",
        help_heading = "Data"
    )]
    output_weights: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) propensity: PropensityOptions,
}

impl WeightOptions {
    /// Refuses a propensity model that affects neither the weights, nor the method, nor metrics.
    pub(crate) fn check_effect(&self, method: &Method, metrics: &[Metric]) -> Result<(), CliError> {
        let of_method = method.given("propensity_weights") == Some(&true.into());
        let is_heeded = of_method || matches!(self.by_name(), Some(PROPENSITY | UNBIASED));
        self.propensity.check_effect(metrics, is_heeded)
    }

    /// The files that are read.
    pub(super) fn files(&self) -> [NamedFile<'_>; 2] {
        let outputs = self.output_weights.as_deref();
        [
            self.samples.file(),
            ("--output-weights", outputs.filter(|_| self.by_name().is_none())),
        ]
    }

    /// The named rule for the weights of outputs, if no file is given.
    fn by_name(&self) -> Option<&'static str> {
        let given = self.output_weights.as_deref()?;
        let mut names = [BALANCED, PROPENSITY, UNBIASED].into_iter();
        names.find(|name| given == Path::new(name))
    }

    /// Adds the given weights, if any, to the data.
    pub(super) fn apply(&self, data: Dataset, name: &str) -> Result<Dataset, CliError> {
        let data = self.samples.apply(data, name)?;
        let Some(path) = &self.output_weights else {
            return Ok(data);
        };
        if let Some(of) = self.by_name() {
            let weighting = match of {
                BALANCED => Weighting::Balanced,
                of => Weighting::Propensity {
                    model: self.propensity.model(),
                    unbiased: of == UNBIASED,
                },
            };
            return data.with_weights(weighting).map_err(|source| CliError::Dataset {
                data: name.to_owned(),
                source,
            });
        }
        if !path.exists() {
            return Err(CliError::Usage(format!(
                "--output-weights {}: there is no such file, and the rules are {BALANCED}, {PROPENSITY} and {UNBIASED}",
                path.display()
            )));
        }
        let names: Vec<String> = data.output_names().iter().map(Into::into).collect();
        let options = ReadOptions {
            format: Format::Csv,
            targets: Targets::Names(names.clone()),
            task: Some(Task::Regression),
            ..ReadOptions::default()
        };
        let file = path.display().to_string();
        let read = read(path, &options).map_err(|e| match e.kind {
            ReadErrorKind::UnknownTarget { name, .. } => CliError::Data {
                data: file.clone(),
                problem: format!("the weights have no column {name:?}, which is an output"),
            },
            _ => e.into(),
        })?;
        let weights = read.outputs().view().to_dense(DEFAULT_MEMORY_LIMIT);
        let weights = weights.map_err(|e| CliError::Data {
            data: file.clone(),
            problem: e.to_string(),
        })?;
        // The columns of the file may be in another order than the outputs.
        let places = read.output_names().positions(data.output_names());
        let columns: Vec<usize> = places
            .into_iter()
            .map(|place| place.expect("each was found"))
            .collect();
        let weights = weights.select(Axis(1), &columns);
        data.with_weights(weights)
            .map_err(|source| CliError::Dataset { data: file, source })
    }
}
