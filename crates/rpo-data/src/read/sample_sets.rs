//! Converts samples of labels and pairs to a data set.

use super::error::{ReadError, ReadErrorKind};
use super::format::Format;
use super::labelled_line::{Sample, check_declared};
use super::line::LineReader;
use super::narrow::Narrow;
use super::options::{ReadOptions, Targets};
use super::refuse_column_options;
use super::svmlight::SvmLightReader;
use super::xmlrepo::XmlRepoReader;
use crate::builder::MatrixBuilder;
use crate::dataset::{Dataset, LeftOut, Task};
use std::io::BufRead;

pub(super) fn read_xmlrepo(reader: impl BufRead, options: &ReadOptions) -> Result<Dataset, ReadError> {
    refuse_table_options(Format::XmlRepo, options)?;
    let mut reader = XmlRepoReader::from_lines(LineReader::with_longest(reader, options.longest_line))?;
    let declared = reader.sizes();
    let (mut n_features, mut n_labels) = declared;
    if options.leave_out {
        n_features = options.n_features.unwrap_or(n_features);
        n_labels = options.n_outputs.unwrap_or(n_labels);
    }
    options
        .check_columns(n_features, n_labels)
        .map_err(|e| ReadErrorKind::from(e).at(reader.line()))?;
    let mut others = Others::of(options, 0);
    let mut data = assemble(Some(n_features), Some(n_labels), 0, |sample| {
        let more = reader.read_sample(sample)?;
        if more {
            others.take_from(sample);
        }
        Ok((more, reader.line()))
    })?;
    others.note_in(&mut data);
    data.notes.declared = Some(declared).filter(|declared| *declared != (n_features, n_labels));
    Ok(data)
}

pub(super) fn read_svmlight(reader: impl BufRead, options: &ReadOptions) -> Result<Dataset, ReadError> {
    refuse_table_options(Format::SvmLight, options)?;
    let lines = LineReader::with_longest(reader, options.longest_line);
    let first_feature = options.first_feature.unwrap_or_default();
    let (n_features, n_labels) = (options.n_features, options.n_outputs);
    check_declared(n_features.unwrap_or(0) as u64, n_labels.unwrap_or(0) as u64)?;
    let mut others = Others::of(options, first_feature.index());
    let limit = |n: Option<usize>| n.filter(|_| !options.leave_out);
    let mut reader = SvmLightReader::from_lines(lines, first_feature, limit(n_features), limit(n_labels));
    let mut data = assemble(n_features, n_labels, first_feature.index(), |sample| {
        let more = reader.read_sample(sample)?;
        if more {
            others.take_from(sample);
        }
        Ok((more, reader.line()))
    })?;
    data.notes.empty_lines = reader.empty_lines();
    others.note_in(&mut data);
    data.first_feature = Some(first_feature);
    Ok(data)
}

/// Removes labels and features beyond the existing columns from samples.
struct Others {
    n_features: Option<usize>,
    n_labels: Option<usize>,
    /// Index of the first feature in the file.
    first_feature: u64,
    features: LeftOut,
    labels: LeftOut,
    n_read: usize,
}

impl Others {
    /// Removes columns beyond those of the options, if they are to be left out.
    fn of(options: &ReadOptions, first_feature: u64) -> Self {
        Self {
            n_features: options.n_features.filter(|_| options.leave_out),
            n_labels: options.n_outputs.filter(|_| options.leave_out),
            first_feature,
            features: LeftOut::default(),
            labels: LeftOut::default(),
            n_read: 0,
        }
    }

    fn note_in(self, data: &mut Dataset) {
        data.notes.other_features = self.features;
        data.notes.other_labels = self.labels;
    }

    fn take_from(&mut self, sample: &mut Sample) {
        let Sample { labels, features } = sample;
        if let Some(n) = self.n_features {
            let known = features.partition_point(|&(feature, _)| (feature as usize) < n);
            for (feature, _) in features.drain(known..) {
                let written = u64::from(feature) + self.first_feature;
                self.features.add(self.n_read, &written.to_string());
            }
        }
        if let Some(n) = self.n_labels {
            let known = labels.partition_point(|&label| (label as usize) < n);
            let others = labels.drain(known..);
            others.for_each(|label| self.labels.add(self.n_read, &label.to_string()));
        }
        self.n_read += 1;
    }
}

/// Refuses options that only apply to tables.
fn refuse_table_options(format: Format, options: &ReadOptions) -> Result<(), ReadErrorKind> {
    let option = if options.targets != Targets::None {
        "targets"
    } else if options.task == Some(Task::Regression) {
        "task"
    } else if options.missing_outputs.is_some() {
        "missing_outputs"
    } else {
        return refuse_column_options(format, options);
    };
    Err(ReadErrorKind::Option { option, format })
}

/// Maximum number of columns that indices may imply. Larger numbers must be declared: a single wrong index would cost
/// gigabytes in everything that is stored per column.
const MOST_IMPLIED: u32 = 1 << 27;

/// Reads all samples. A number of columns that is not given is one more than the largest index. `first_feature` is the
/// index of the first feature in the file, from which messages count too. `read_sample` also returns the current line.
fn assemble(
    n_features: Option<usize>,
    n_labels: Option<usize>,
    first_feature: u64,
    mut read_sample: impl FnMut(&mut Sample) -> Result<(bool, u64), ReadError>,
) -> Result<Dataset, ReadError> {
    let mut features = MatrixBuilder::sparse(n_features.unwrap_or(0));
    let mut outputs = MatrixBuilder::sparse(n_labels.unwrap_or(0));
    let (mut sample, mut narrow) = (Sample::default(), Narrow::default());
    let name = |feature: u32| format!("feature {}", u64::from(feature) + first_feature);
    loop {
        let (more, line) = read_sample(&mut sample)?;
        if !more {
            break;
        }
        let last_feature = sample.features.last().map(|&(feature, _)| feature);
        for (what, builder, declared, last) in [
            ("feature", &mut features, n_features, last_feature),
            ("label", &mut outputs, n_labels, sample.labels.last().copied()),
        ] {
            if let (None, Some(last)) = (declared, last) {
                if last >= MOST_IMPLIED {
                    let limit = MOST_IMPLIED;
                    return Err(ReadErrorKind::TooManyImplied { what, limit }.at(line));
                }
                builder.widen(last as usize + 1);
            }
        }
        for &(feature, value) in &sample.features {
            let stored = narrow.value(feature, value, || name(feature));
            features.push(feature, stored.map_err(|kind| kind.at(line))?);
        }
        sample.labels.iter().for_each(|&label| outputs.push(label, 1.0));
        features.end_row();
        outputs.end_row();
    }
    let data = Dataset::new(features.finish(), outputs.finish(), Task::MultiLabel);
    let mut data = data.map_err(ReadErrorKind::from)?;
    data.notes.rounded = narrow.finish(name);
    Ok(data)
}
