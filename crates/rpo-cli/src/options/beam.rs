//! The beam of label trees.

use super::parse_count;
use crate::error::CliError;
use clap::Args;
use rpo::Model;
use std::num::NonZeroUsize;

/// Another beam than that of training.
#[derive(Debug, Args)]
pub(crate) struct BeamOptions {
    /// Number of nodes that a prediction of label trees follows at each depth, by default that of training: more nodes
    /// find more labels, and take longer.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    beam: Option<NonZeroUsize>,
}

impl BeamOptions {
    /// Returns the model with the beam, if one is given.
    pub(crate) fn apply(&self, model: Model) -> Result<Model, CliError> {
        Ok(match self.beam {
            Some(beam) => model.with_beam(beam.get())?,
            None => model,
        })
    }
}
