//! `rpo generate`.

use crate::error::CliError;
use crate::files;
use crate::options::{WriteOptions, parse_count};
use crate::output::Report;
use clap::{Args, ValueEnum};
use rpo::core::Seed;
use rpo::data::Dataset;
use rpo::data::generate::{FeatureStyle, Friedman, FriedmanKind, GenerateError, Generator, MultiLabelSet};
use std::num::NonZeroUsize;

/// Write a generated data set: the same seed gives the same file on one machine.
///
/// multi-label has sparse features like words, and labels with power-law frequencies; the friedman sets are regression
/// problems whose best prediction is known (Friedman's first function, with many outputs).
#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// The kind of data to generate.
    #[arg(value_enum)]
    kind: Kind,

    /// Number of samples, at least 1.
    #[arg(long, value_name = "N", default_value = "1000", value_parser = parse_count)]
    samples: NonZeroUsize,

    /// Number of features of a multi-label set; 500 by default.
    #[arg(long, value_name = "N")]
    features: Option<usize>,

    /// Number of features without effect in a friedman set, in addition to the others; 0 by default.
    #[arg(long, value_name = "N")]
    irrelevant: Option<usize>,

    /// Number of outputs; 100 labels or 16 numbers by default.
    #[arg(long, value_name = "N")]
    outputs: Option<usize>,

    /// Mean number of labels of a sample; 3 by default.
    #[arg(long, value_name = "C")]
    cardinality: Option<f64>,

    /// Exponent of the power law of label frequencies, 0 for equal frequencies; 1 by default.
    #[arg(long, value_name = "E")]
    exponent: Option<f64>,

    /// Makes the features of a multi-label set dense, with normal noise of this standard deviation.
    #[arg(long, value_name = "NOISE")]
    dense: Option<f64>,

    /// Seed of all randomness.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    to: WriteOptions,

    /// Print one JSON object: n_samples, n_features, n_outputs.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Kind {
    /// Labels with power-law frequencies, and features from which they can be learned.
    MultiLabel,
    /// Each output is the previous one plus noise.
    FriedmanChain,
    /// All outputs are one function with different noise.
    FriedmanGroup,
    /// Each output has its own five features.
    FriedmanIndependent,
}

impl Generate {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        self.check_effect()?;
        files::check([], [self.to.file()])?;
        let out = self.to.open()?;
        let data = self.generate()?;
        self.to.write(&data, out)?;
        let mut report = Report::default();
        report.set_sizes(&data);
        report.print(self.json)
    }

    /// Refuses options that do not apply to the kind.
    fn check_effect(&self) -> Result<(), CliError> {
        let is_labels = self.kind == Kind::MultiLabel;
        let options = [
            ("features", self.features.is_some(), true),
            ("cardinality", self.cardinality.is_some(), true),
            ("exponent", self.exponent.is_some(), true),
            ("dense", self.dense.is_some(), true),
            ("irrelevant", self.irrelevant.is_some(), false),
        ];
        match options
            .iter()
            .find(|(_, given, of_labels)| *given && *of_labels != is_labels)
        {
            Some((name, _, true)) => Err(CliError::Usage(format!("--{name} is for multi-label sets"))),
            Some((name, _, false)) => Err(CliError::Usage(format!("--{name} is for friedman sets"))),
            None => Ok(()),
        }
    }

    fn generate(&self) -> Result<Dataset, GenerateError> {
        let seed = Seed::new(self.seed);
        let kind = match self.kind {
            Kind::MultiLabel => {
                let shape = MultiLabelSet::new(
                    self.samples.get(),
                    self.features.unwrap_or(500),
                    self.outputs.unwrap_or(100),
                );
                let set = MultiLabelSet {
                    cardinality: self.cardinality.unwrap_or(shape.cardinality),
                    exponent: self.exponent.unwrap_or(shape.exponent),
                    features: self
                        .dense
                        .map_or(shape.features, |noise| FeatureStyle::Dense { noise }),
                    ..shape
                };
                return set.generate(seed);
            }
            Kind::FriedmanChain => FriedmanKind::Chain,
            Kind::FriedmanGroup => FriedmanKind::Group,
            Kind::FriedmanIndependent => FriedmanKind::Independent,
        };
        let problem = Friedman {
            n_samples: self.samples.get(),
            n_outputs: self.outputs.unwrap_or(16),
            n_irrelevant: self.irrelevant.unwrap_or(0),
            ..Friedman::from(kind)
        };
        problem.generate(seed)
    }
}
