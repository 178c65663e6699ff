//! `rpo combine`.

use crate::error::CliError;
use crate::output::Report;
use clap::Args;
use rpo::{FileTarget, Model};
use std::path::PathBuf;

/// Put models of any methods, fitted to the same data, together into one that predicts their weighted mean.
///
/// `rpo train --method blend` fits and combines at once, and finds the weights.
#[derive(Debug, Args)]
pub(crate) struct Combine {
    /// Models to combine.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    models: Vec<PathBuf>,

    /// A positive weight for each model; equal by default.
    #[arg(long, value_name = "WEIGHT", num_args = 1.., allow_negative_numbers = true)]
    weights: Vec<f64>,

    /// File to save the ensemble to.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Combine {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        if !self.weights.is_empty() && self.weights.len() != self.models.len() {
            let (weights, models) = (self.weights.len(), self.models.len());
            let message = format!("--weights has {weights} numbers for {models} models");
            return Err(CliError::Usage(message));
        }
        FileTarget::check(&self.out)?;
        let mut members = Vec::new();
        for (index, path) in self.models.iter().enumerate() {
            let weight = self.weights.get(index).copied().unwrap_or(1.0);
            members.push((Model::load(path)?, weight));
        }
        let model = Model::combine(members).map_err(CliError::Model)?;
        let mut report = Report::default();
        report.set("models", self.models.len());
        report.set("model_bytes", model.save(&self.out)?);
        report.print(self.json)
    }
}
