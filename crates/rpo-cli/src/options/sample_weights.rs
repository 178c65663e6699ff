//! Options for weights of samples.

use crate::error::CliError;
use crate::files::NamedFile;
use clap::Args;
use rpo::Registry;
use rpo::core::text::did_you_mean;
use rpo::data::{Dataset, Weighting};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The weights of samples.
#[derive(Debug, Args)]
pub(crate) struct SampleWeightOptions {
    #[arg(long, value_name = "COLUMN|FILE", help_heading = "Data", help = sample_weights_help())]
    sample_weights: Option<String>,
}

fn sample_weights_help() -> String {
    let methods: Vec<_> = Registry::standard().taking_weights().collect();
    format!(
        "Sample weights, at least 0: a column of the data, which is then not a feature, or a file with one number per \
         line. Scores are not weighted. For {}",
        methods.join(", ")
    )
}

impl SampleWeightOptions {
    /// The file that is read, if the weights are not in a column.
    pub(crate) fn file(&self) -> NamedFile<'_> {
        let given = self.sample_weights.as_deref().map(Path::new);
        ("--sample-weights", given.filter(|path| path.is_file()))
    }

    /// The column of the data, or the file if there is no such column.
    pub(crate) fn given(&self) -> Option<&str> {
        self.sample_weights.as_deref()
    }

    /// Adds the given weights, if any, to the data.
    pub(crate) fn apply(&self, data: Dataset, name: &str) -> Result<Dataset, CliError> {
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
            let message = format!(
                "--sample-weights: there is no feature {given:?}{nearest} and no file of that name; a column that \
                 --targets, --labels, --label-list, --id, --group, --time-column or --ignore name is no feature"
            );
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
