//! `rpo split`.

use crate::data_file::DataFile;
use crate::error::CliError;
use crate::files;
use crate::options::{Column, SplitDataOptions};
use crate::output::Report;
use clap::Args;
use rpo::core::Seed;
use rpo::data::Dataset;
use rpo::data::read::{Format, TextOfSamples, read_split};
use rpo::data::split::{Split, Withheld};
use std::io::{BufWriter, IntoInnerError};
use std::path::PathBuf;

/// Split a file into a training file and a test file.
///
/// Samples are copied verbatim, in the format and order of the file; both files get the header. The split keeps the
/// frequencies of labels and classes (iterative stratification), also beside numbers; where all outputs are numbers,
/// samples are drawn at random.
#[derive(Debug, Args)]
pub(crate) struct SplitCommand {
    /// File for the training samples, compressed by gzip if its name ends in .gz; its extension must not be that of
    /// another format.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    train: PathBuf,

    /// File for the test samples.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    test: PathBuf,

    /// Fraction of the samples to test on.
    #[arg(
        long,
        value_name = "FRACTION",
        default_value_t = 0.2,
        allow_negative_numbers = true
    )]
    test_fraction: f64,

    /// Draw samples at random, ignoring their labels.
    #[arg(long, conflicts_with_all = ["group", "time_column"])]
    random: bool,

    /// Keep samples together that have the same value in this column of a table, such as a customer.
    #[arg(long, value_name = "COLUMN", conflicts_with = "time_column")]
    group: Option<String>,

    /// Test on the latest samples by this column of a table, which has numbers or dates.
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,

    /// Published lists of the training and test samples, instead of drawing them: two files with a line of numbers,
    /// counted from 1, one for each repetition (trSplit and tstSplit of the Extreme Classification Repository).
    #[arg(
        long,
        num_args = 2,
        value_names = ["TRAIN_LIST", "TEST_LIST"],
        conflicts_with_all = ["group", "time_column", "random", "seed", "test_fraction"]
    )]
    lists: Vec<PathBuf>,

    /// Which number on each line of the lists to use, counted from 1.
    #[arg(long, value_name = "K", default_value_t = 1, requires = "lists", conflicts_with_all = ["group", "time_column", "random", "seed", "test_fraction"])]
    repetition: usize,

    /// Seed of the drawn samples; 0 by default.
    #[arg(long, value_name = "SEED", conflicts_with = "time_column")]
    seed: Option<u64>,

    /// Print one JSON object: n_train, n_test.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: SplitDataOptions,
}

impl SplitCommand {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        let lists = self.lists.iter().map(|path| ("--lists", Some(path.as_path())));
        let parts = [("--train", &self.train), ("--test", &self.test)];
        files::check(
            lists.chain(self.data.files()),
            parts.map(|(option, path)| (option, Some(path.as_path()))),
        )?;
        let mut outs = [
            BufWriter::new(DataFile::new(&self.train)?),
            BufWriter::new(DataFile::new(&self.test)?),
        ];
        let split = self.split(self.data.load(self.column())?)?;
        let text = TextOfSamples::find(self.data.path(), &self.data.options())?;
        self.check_names(text.format())?;
        let [train, test] = &mut outs;
        let mut parts: [(&[usize], &mut (dyn std::io::Write + Send)); 2] =
            [(&split.train, train), (&split.test, test)];
        text.copy(&mut parts)
            .map_err(|e| self.data.problem(&e.to_string()))?;
        for out in outs {
            let file = out.into_inner().map_err(IntoInnerError::into_error)?;
            file.finish()?;
        }
        let mut report = Report::default();
        report.set("n_train", split.train.len());
        report.set("n_test", split.test.len());
        report.print(self.json)
    }

    /// Refuses the name of another format than that of the data, which the parts keep.
    fn check_names(&self, format: Format) -> Result<(), CliError> {
        for (option, path) in [("--train", &self.train), ("--test", &self.test)] {
            if Format::of_name(path).is_some_and(|of_name| of_name != format) {
                let path = path.display();
                let message = format!(
                    "{option} {path}: both parts have the format of the data, {format}; give the file such a name, and \
                     convert it afterwards"
                );
                return Err(CliError::Usage(message));
            }
        }
        Ok(())
    }

    fn column(&self) -> Option<Column<'_>> {
        Column::of(self.group.as_deref(), self.time_column.as_deref())
    }

    fn split(&self, data: Dataset) -> Result<Split, CliError> {
        if let [train, test] = self.lists.as_slice() {
            return Ok(read_split(train, test, self.repetition, data.n_samples())?);
        }
        let seed = Seed::new(self.seed.unwrap_or(0));
        let (data, withheld) = match self.column() {
            Some(column) => {
                let values = data.ids().unwrap_or_default().to_vec();
                let applied = column.apply(data, &values);
                applied.map_err(|problem| self.data.problem(&problem))?
            }
            None if data.n_outputs() > 0 && !self.random => (data, Withheld::Stratified),
            None => (data, Withheld::Random),
        };
        let split = Split::withholding(&data, &withheld, self.test_fraction, seed);
        split.map_err(|source| {
            let problem = source.to_string().replace("`fraction`", "--test-fraction");
            self.data.problem(&problem)
        })
    }
}
