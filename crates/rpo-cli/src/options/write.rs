//! Options for writing data.

use super::data::formats;
use crate::data_file::DataFile;
use crate::error::CliError;
use crate::files::{self, NamedFile};
use crate::output::{first_of, note};
use clap::Args;
use rpo::core::MatrixView;
use rpo::data::read::Format;
use rpo::data::{Dataset, write};
use std::io::{BufWriter, IntoInnerError};
use std::path::PathBuf;

/// A data file to write.
#[derive(Debug, Args)]
pub(crate) struct WriteOptions {
    /// File to write, compressed by gzip if its name ends in .gz; it appears when it is complete. With -, standard output,
    /// and the report goes to standard error.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    out: PathBuf,

    /// Format to write; by default from the file name: .arff, .csv, .tsv (CSV with tabs), .svm or .svmlight, .parquet,
    /// .arrow or .feather.
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = formats())]
    to: Format,
}

impl WriteOptions {
    /// The file that is written.
    pub(crate) fn file(&self) -> NamedFile<'_> {
        ("--out", Some(&self.out))
    }

    /// Opens the file, after its format is determined.
    pub(crate) fn open(&self) -> Result<DataFile, CliError> {
        self.format()?;
        DataFile::new(&self.out)
    }

    fn format(&self) -> Result<Format, CliError> {
        let of_name = || Format::of_name(&self.out);
        let given = Some(self.to).filter(|format| *format != Format::Auto);
        given.or_else(of_name).ok_or_else(|| {
            let name = self.out.display();
            CliError::Usage(format!(
                "cannot tell the format from the name {name}; choose it with --to"
            ))
        })
    }

    /// Writes a set.
    pub(crate) fn write(&self, data: &Dataset, out: DataFile) -> Result<(), CliError> {
        let mut out = BufWriter::new(out);
        let format = self.format()?;
        let of_name = || Format::delimiter_of_name(&self.out);
        let options = write::WriteOptions {
            format,
            delimiter: (format == Format::Csv).then(of_name).flatten(),
            ..write::WriteOptions::default()
        };
        write::write(data, options, &mut out)?;
        let file = out.into_inner().map_err(IntoInnerError::into_error)?;
        file.finish()?;
        if data.ids().is_some() && matches!(format, Format::Arff | Format::SvmLight | Format::XmlRepo) {
            note(&format!(
                "{format} has no column for identifiers, which are left out"
            ));
        }
        if format == Format::Csv
            && let Some(names) = first_of(&write::untyped_in_csv(data))
        {
            note(&format!(
                "a CSV file does not tell the words of {names} from numbers, dates and booleans: read it with --categorical"
            ));
        }
        if format == Format::SvmLight {
            note_sizes(data);
        }
        if matches!(format, Format::SvmLight | Format::XmlRepo) {
            note_numbers(data);
        }
        Ok(())
    }
}

/// Notes that the numbers of terms, categories, labels in lists and classes are those of this file alone.
fn note_numbers(data: &Dataset) {
    let has_terms = data
        .texts()
        .values()
        .any(|column| column.options().hash.is_none());
    let has_categories = data.nominal().values().any(|values| values.len() > 2);
    let has_lists = data.label_column().is_some() || !data.class_columns().is_empty();
    if has_terms || has_categories || has_lists {
        note(
            "terms, categories, listed labels and classes are numbered as they occur in this file, and otherwise in another: convert all \
             samples at once, and divide the result by rpo split",
        );
    }
}

/// Notes the numbers of features and labels if an svmlight file does not show them, which says neither.
fn note_sizes(data: &Dataset) {
    let last_used = |x: MatrixView<'_>| {
        let mut n_used = 0;
        for row in 0..x.n_rows() {
            x.for_each_in_row(row, |j, value| {
                if value != 0.0 {
                    n_used = n_used.max(j as usize + 1);
                }
            });
        }
        n_used
    };
    let (p, d) = (data.n_features(), data.n_outputs());
    let used = (
        last_used(data.features().view()),
        last_used(data.outputs().view()),
    );
    if used != (p, d) {
        note(&format!(
            "the last of the {p} features or {d} labels are in no sample, and an svmlight file does not say how many there are: \
             train on it with --n-features {p} --n-labels {d}"
        ));
    }
}
