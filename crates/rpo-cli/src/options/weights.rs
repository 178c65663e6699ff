//! Options for weights of samples and outputs.

use super::PropensityOptions;
use crate::error::CliError;
use crate::files::NamedFile;
use crate::output::did_you_mean;
use clap::Args;
use ndarray::Axis;
use rpo::data::read::{Format, ReadOptions, Targets, read};
use rpo::data::{DEFAULT_MEMORY_LIMIT, Dataset, Task, Weighting};
use rpo::metrics::Metric;
use rpo::{Method, Registry};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Weights of outputs that need no file.
const BALANCED: &str = "balanced";
const PROPENSITY: &str = "propensity";
const UNBIASED: &str = "propensity-unbiased";

/// The weights of samples and outputs.
#[derive(Debug, Args)]
pub(crate) struct WeightOptions {
    #[arg(long, value_name = "COLUMN|FILE", help_heading = "Data", help = sample_weights_help())]
    sample_weights: Option<String>,

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

fn sample_weights_help() -> String {
    let methods: Vec<_> = Registry::standard().taking_weights().collect();
    format!(
        "Sample weights, at least 0: a column of the data, which is then not a feature, or a file with one number per \
         line. Scores are not weighted. For {}",
        methods.join(", ")
    )
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
        let samples = self.sample_weights.as_deref().map(Path::new);
        let outputs = self.output_weights.as_deref();
        [
            // Otherwise it is a column.
            ("--sample-weights", samples.filter(|path| path.is_file())),
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
        let data = self.of_samples(data, name)?;
        let Some(path) = &self.output_weights else {
            return Ok(data);
        };
        if let Some(of) = self.by_name() {
            if data.task() == Task::Regression {
                let problem = format!("--output-weights {of} is for labels: the outputs are numbers");
                let data = name.to_owned();
                return Err(CliError::Data { data, problem });
            }
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
        let names: Vec<String> = data.output_names().iter().map(Into::into).collect();
        let options = ReadOptions {
            format: Format::Csv,
            targets: Targets::Names(names.clone()),
            task: Some(Task::Regression),
            ..ReadOptions::default()
        };
        let read = read(path, &options)?;
        let file = path.display().to_string();
        let weights = read.outputs().view().to_dense(DEFAULT_MEMORY_LIMIT);
        let weights = weights.map_err(|e| CliError::Data {
            data: file.clone(),
            problem: e.to_string(),
        })?;
        // The columns of the file may be in another order than the outputs.
        let place = |name: &String| read.output_names().position(name).expect("each was found");
        let columns: Vec<usize> = names.iter().map(place).collect();
        let weights = weights.select(Axis(1), &columns);
        data.with_weights(weights)
            .map_err(|source| CliError::Dataset { data: file, source })
    }

    fn of_samples(&self, data: Dataset, name: &str) -> Result<Dataset, CliError> {
        let Some(given) = &self.sample_weights else {
            return Ok(data);
        };
        let problem = |data: &str, problem: String| CliError::Data {
            data: data.to_owned(),
            problem,
        };
        let of_data = |source| CliError::Dataset {
            data: name.to_owned(),
            source,
        };
        if let Some(feature) = data.feature_names().position(given) {
            if data.nominal().contains_key(&feature) {
                return Err(problem(
                    name,
                    format!("--sample-weights: {given:?} holds words, not numbers"),
                ));
            }
            return data.with_weights(Weighting::Feature(feature)).map_err(of_data);
        }
        if !Path::new(given).exists() {
            let nearest = data.feature_names().nearest(given);
            let nearest = did_you_mean(nearest.map(|name| format!("{name:?}")));
            let message =
                format!("--sample-weights: there is no feature {given:?}{nearest} and no file of that name");
            return Err(problem(name, message));
        }
        let file = File::open(given).map_err(|e| problem(given, e.to_string()))?;
        let mut weights = Vec::new();
        for (number, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(|e| problem(given, e.to_string()))?;
            let weight = line.trim().parse();
            weights.push(weight.map_err(|_| {
                let number = number + 1;
                problem(given, format!("line {number}: {line:?} is not a number"))
            })?);
        }
        data.with_weights(weights).map_err(|source| CliError::Dataset {
            data: given.clone(),
            source,
        })
    }
}
