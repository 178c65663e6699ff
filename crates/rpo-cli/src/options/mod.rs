//! Options that several commands or methods share.

mod beam;
mod data;
mod fit;
mod method;
mod names;
mod params;
mod propensity;
mod sample_weights;
mod text;
mod weights;
mod write;

pub(crate) use beam::BeamOptions;
pub(crate) use data::{
    BackgroundOptions, Column, DataOptions, GroupOptions, InputOptions, SplitDataOptions, TaskOptions,
    TrainingOptions, UnseenOptions, WithheldOptions,
};
pub(crate) use fit::FitOptions;
pub(crate) use method::{MethodOptions, argument};
pub(crate) use names::{List, all};
pub(crate) use propensity::{PropensityOptions, RerankOptions};
pub(crate) use sample_weights::SampleWeightOptions;
pub(crate) use text::TextColumnOptions;
pub(crate) use weights::WeightOptions;
pub(crate) use write::WriteOptions;

use crate::error::CliError;
use clap::Args;
use rpo::core::useful_threads;
use std::num::NonZeroUsize;

/// Parses a whole number of at least 1.
pub(crate) fn parse_count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "a whole number of at least 1 is expected".to_owned())
}

/// Limits the processors that a command uses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Resources")]
pub(crate) struct ThreadOptions {
    /// Number of threads, at most 4096; all processors by default. Results do not depend on it. At most four per
    /// processor are started: more would only wait for each other.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
}

impl ThreadOptions {
    /// Starts the threads.
    pub(crate) fn start(&self) -> Result<(), CliError> {
        let threads = self.threads.map_or(0, |threads| useful_threads(threads.into()));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build_global().map_err(|e| CliError::Threads {
            threads,
            message: e.to_string(),
        })
    }
}

/// Limits the memory for dense scores.
#[derive(Debug, Args)]
#[command(next_help_heading = "Resources")]
pub(crate) struct MemoryOptions {
    /// Memory limit in MiB for a dense matrix of scores; larger ones are processed in blocks of rows.
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    memory: usize,
}

impl MemoryOptions {
    /// The limit in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.saturating_mul(1 << 20)
    }
}
