//! Options of every command that fits a method.

use super::{MethodOptions, ThreadOptions, TrainingOptions, WeightOptions};
use crate::error::CliError;
use crate::files::NamedFile;
use crate::output::note;
use clap::Args;
use rpo::data::Dataset;
use rpo::metrics::Metric;
use rpo::{Estimator, Method, ModelError, SmallWeights};

/// A method, a seed, the training data, and threads.
#[derive(Debug, Args)]
pub(crate) struct FitOptions {
    /// Seed of all randomness: the same seed gives the same result; 0 by default.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    #[command(flatten)]
    pub(crate) data: TrainingOptions,

    #[command(flatten)]
    pub(crate) weights: WeightOptions,

    #[command(flatten)]
    pub(crate) method: MethodOptions,

    #[command(flatten)]
    threads: ThreadOptions,
}

impl FitOptions {
    /// Starts the threads and checks what can be checked before the data is read: the method with its seed, and that
    /// options of weights affect training or one of the metrics.
    pub(crate) fn start(&self, metrics: &[Metric]) -> Result<Method, CliError> {
        self.threads.start()?;
        let mut method = self.weights.propensity.of_method(self.method.method()?)?;
        if let Some(seed) = self.seed {
            method = method.with_seed(seed);
        }
        method.check()?;
        method
            .check_metrics(metrics)
            .map_err(|source| self.failed(source))?;
        self.weights.check_effect(&method, metrics)?;
        Ok(method)
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> Vec<NamedFile<'_>> {
        let mut files = self.data.files();
        files.extend(self.weights.files());
        files.push(self.method.file());
        files
    }

    /// Reads the data with their weights.
    pub(crate) fn load(&self) -> Result<Dataset, CliError> {
        self.data.load(Some(&self.weights))
    }

    /// Builds the estimator for the data, which must meet its requirements.
    pub(crate) fn estimator(&self, method: &Method, data: &Dataset) -> Result<Box<dyn Estimator>, CliError> {
        let estimator = method.estimator(data.task())?;
        let checked = method.check_data(estimator.as_ref(), data);
        checked.map_err(|source| self.failed(source.into()))?;
        if let Some(small) = SmallWeights::of(estimator.as_ref(), data) {
            note(&small.to_string());
        }
        Ok(estimator)
    }

    /// The error of a fit, which names the data.
    pub(crate) fn failed(&self, source: ModelError) -> CliError {
        CliError::Train {
            data: self.data.name().to_owned(),
            source,
        }
    }
}
