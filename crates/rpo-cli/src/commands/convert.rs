//! `rpo convert`.

use crate::data_file::DataFile;
use crate::error::CliError;
use crate::files;
use crate::options::{TrainingOptions, WriteOptions};
use crate::output::Report;
use clap::Args;
use rpo::data::write;
use std::path::PathBuf;

/// Write a data set in another format.
///
/// ARFF and CSV have features, then outputs, with their names; dates of a CSV file are replaced by their parts. The
/// formats of sparse labels (svmlight, xmlrepo) have numbers instead of names, only labels, and no missing values.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    to: WriteOptions,

    /// MULAN label file to write beside an ARFF file: it names the outputs.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    label_file: Option<PathBuf>,

    /// Print one JSON object: n_samples, n_features, n_outputs.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: TrainingOptions,
}

impl Convert {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        let label_file = ("--label-file", self.label_file.as_deref());
        files::check(self.data.files(), [self.to.file(), label_file])?;
        let out = self.to.open()?;
        let data = self.data.load_to_convert()?;
        if let Some(path) = &self.label_file {
            let mut out = DataFile::new(path)?;
            write::label_file(&data, &mut out)?;
            out.finish()?;
        }
        self.to.write(&data, out)?;
        let mut report = Report::default();
        report.set_sizes(&data);
        report.print(self.json)
    }
}
