//! Writers of the table formats CSV and ARFF.

use super::WriteError;
use super::number::Number;
use super::targets::Targets;
use crate::dataset::{Dataset, Task};
use crate::read::ReadOptions;
use rpo_core::Matrix;
use std::borrow::Cow;
use std::fmt;
use std::io::Write;

/// Displays a text as a CSV field, quoted if a reader would otherwise misinterpret it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvField<'a> {
    /// The text.
    pub text: &'a str,
    /// The character between the columns.
    pub delimiter: char,
}

impl CsvField<'_> {
    /// Returns the text of a missing value in a row of `n_fields` fields: none, or two quotes where it would be alone on
    /// its line, as readers skip empty lines.
    pub const fn missing(n_fields: usize) -> &'static str {
        match n_fields {
            1 => "\"\"",
            _ => "",
        }
    }

    /// Refuses a value of a column that would be read as a missing one.
    ///
    /// # Errors
    /// [`WriteError::ReadsAsMissing`] for blanks and `NA`.
    pub fn check_present(&self, column: &str) -> Result<(), WriteError> {
        if ReadOptions::default().reads_as_missing(self.text) {
            return Err(WriteError::ReadsAsMissing {
                column: column.to_owned(),
                value: self.text.to_owned(),
            });
        }
        Ok(())
    }
}

impl fmt::Display for CsvField<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, delimiter } = *self;
        // A comma could be taken for the delimiter where a single column has no other.
        let special = |c: char| matches!(c, ',' | '"' | '\n' | '\r') || c == delimiter;
        if text.is_empty() || text.contains(special) || text.trim() != text {
            write!(f, "\"{}\"", text.replace('"', "\"\""))
        } else {
            f.write_str(text)
        }
    }
}

pub(super) fn csv(data: &Dataset, delimiter: char, mut to: impl Write) -> Result<(), WriteError> {
    let id = data.id_column();
    let mut targets = Targets::new(data);
    let columns = targets.column_names()?;
    let names: Vec<&str> = id.into_iter().chain(columns.iter().map(Cow::as_ref)).collect();
    let header: Vec<String> = names
        .iter()
        .map(|text| CsvField { text, delimiter }.to_string())
        .collect();
    let between = delimiter.to_string();
    writeln!(to, "{}", header.join(&between))?;
    let words = Words::new(data, &targets, |column, word| {
        let word = CsvField {
            text: word,
            delimiter,
        };
        word.check_present(&columns[column])?;
        Ok(word.to_string())
    })?;
    let missing = CsvField::missing(names.len());
    let mut row = vec![0.0; columns.len()];
    for sample in 0..data.n_samples() {
        if let Some(ids) = data.ids() {
            let text = &ids[sample];
            write!(to, "{}{delimiter}", CsvField { text, delimiter })?;
        }
        let (features, of_targets) = row.split_at_mut(data.n_features());
        data.features().view().copy_row(sample, features);
        targets.copy_row(sample, of_targets);
        let mut separator = "";
        for (column, &value) in row.iter().enumerate() {
            match words.word(column, value) {
                _ if value.is_nan() => write!(to, "{separator}{missing}")?,
                Some(word) => write!(to, "{separator}{word}")?,
                None => write!(to, "{separator}{}", Number(value))?,
            }
            separator = &between;
        }
        writeln!(to)?;
    }
    Ok(to.flush()?)
}

pub(super) fn arff(data: &Dataset, mut to: impl Write) -> Result<(), WriteError> {
    writeln!(to, "@relation {}", arff_word(&data.name))?;
    let mut targets = Targets::new(data);
    let names = targets.column_names()?;
    let words = Words::new(data, &targets, |_, word| Ok(arff_word(word)))?;
    for (column, name) in names.iter().enumerate() {
        let name = arff_word(name);
        match words.of.get(column).filter(|words| !words.is_empty()) {
            Some(words) => writeln!(to, "@attribute {name} {{{}}}", words.join(","))?,
            None if column >= data.n_features() && data.task() == Task::MultiLabel => {
                writeln!(to, "@attribute {name} {{0,1}}")?;
            }
            None => writeln!(to, "@attribute {name} numeric")?,
        }
    }
    writeln!(to, "@data")?;
    let n_columns = names.len();
    let is_sparse = matches!(data.features(), Matrix::Sparse(_));
    let mut row = vec![0.0; n_columns];
    for sample in 0..data.n_samples() {
        let (features, of_targets) = row.split_at_mut(data.n_features());
        data.features().view().copy_row(sample, features);
        targets.copy_row(sample, of_targets);
        let mut comma = "";
        if is_sparse {
            write!(to, "{{")?;
        }
        for (column, &value) in row.iter().enumerate() {
            if is_sparse && value == 0.0 {
                continue;
            }
            write!(to, "{comma}")?;
            comma = ",";
            if is_sparse {
                write!(to, "{column} ")?;
            }
            match words.word(column, value) {
                _ if value.is_nan() => write!(to, "?")?,
                Some(word) => write!(to, "{word}")?,
                None => write!(to, "{}", Number(value))?,
            }
        }
        writeln!(to, "{}", if is_sparse { "}" } else { "" })?;
    }
    Ok(to.flush()?)
}

/// Writes a MULAN label file, which contains the names of the outputs of an ARFF file.
///
/// # Errors
/// [`WriteError::Io`], [`WriteError::ClassesInLabelFile`] for columns of classes, [`WriteError::NotLabels`] for
/// numbers, which readers of label files do not expect.
pub fn label_file(data: &Dataset, mut to: impl Write) -> Result<(), WriteError> {
    if let Some(column) = data.class_columns().first() {
        return Err(WriteError::ClassesInLabelFile(column.name.clone()));
    }
    if data.task() == Task::Regression {
        return Err(WriteError::NotLabels);
    }
    writeln!(to, "<labels xmlns=\"http://mulan.sourceforge.net/labels\">")?;
    for name in Targets::new(data).column_names()?.iter().skip(data.n_features()) {
        let name = quick_xml::escape::escape(name.as_ref());
        writeln!(to, "<label name=\"{name}\"></label>")?;
    }
    writeln!(to, "</labels>")?;
    Ok(to.flush()?)
}

/// The values of each nominal feature, and the classes of each target, in their written form; empty for others.
struct Words {
    of: Vec<Vec<String>>,
}

impl Words {
    fn new(
        data: &Dataset,
        targets: &Targets<'_>,
        written: impl Fn(usize, &str) -> Result<String, WriteError>,
    ) -> Result<Self, WriteError> {
        let values = |feature| data.nominal().get(&feature).map(|values| &**values);
        let columns = (0..data.n_features()).map(values).chain(targets.classes());
        let of = columns.enumerate().map(|(column, words)| {
            let words = words.unwrap_or_default().iter();
            words.map(|word| written(column, word)).collect()
        });
        Ok(Self {
            of: of.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the word for a position, if the column holds words.
    fn word(&self, column: usize, value: f32) -> Option<&str> {
        let words = self.of.get(column)?;
        words.get(value as usize).map(String::as_str)
    }
}

/// Formats a text as a name or value of ARFF, quoted unless it is plain.
fn arff_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut word = "'".to_owned();
    for c in text.chars() {
        match c {
            '\'' | '\\' => word.extend(['\\', c]),
            '\n' => word.push_str("\\n"),
            '\r' => word.push_str("\\r"),
            c => word.push(c),
        }
    }
    word + "'"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Generator, MultiLabelSet};
    use crate::read::{LabelFile, ReadOptions, Targets, read_from};
    use crate::{Columns, Layout, Seed};
    use ndarray::array;
    use std::sync::Arc;

    fn awkward() -> Dataset {
        let x = array![[0.5, 1.0], [f32::NAN, 0.0], [-3e-9, f32::NAN]];
        let y = array![[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]];
        let words: Arc<[String]> = ["a, b", "it's \"c\"\\"].map(String::from).into();
        Dataset::new(x.into(), y.into(), Task::MultiLabel)
            .unwrap()
            .with_names(Columns::Features, [" x", "what\nkind"].into_iter().collect())
            .unwrap()
            .with_names(Columns::Outputs, ["R&D", "<b>"].into_iter().collect())
            .unwrap()
            .with_nominal([(1, words)].into())
            .unwrap()
    }

    fn same(a: &Dataset, b: &Dataset) {
        assert_eq!(format!("{:?}", a.features()), format!("{:?}", b.features()));
        assert_eq!((a.outputs(), a.task()), (b.outputs(), b.task()));
        assert_eq!(
            (a.feature_names(), a.output_names()),
            (b.feature_names(), b.output_names())
        );
        assert_eq!((a.nominal(), a.ids()), (b.nominal(), b.ids()));
    }

    fn written(write: impl Fn(&mut Vec<u8>) -> Result<(), WriteError>) -> Vec<u8> {
        let mut text = Vec::new();
        write(&mut text).unwrap();
        text
    }

    #[test]
    fn tables_are_read_back() {
        let targets = Targets::Last(2);
        let data = awkward()
            .with_ids(["1", "two", "2,5\t;"].map(String::from).into())
            .unwrap();
        for delimiter in [',', '\t', ';'] {
            let text = written(|to| csv(&data, delimiter, to));
            let options = ReadOptions {
                targets: targets.clone(),
                id: Some("id".into()),
                delimiter: Some(delimiter),
                ..ReadOptions::default()
            };
            same(&read_from(text.as_slice(), &options).unwrap(), &data);
        }

        let mut data = awkward();
        "it's".clone_into(&mut data.name);
        let options = ReadOptions {
            targets,
            ..ReadOptions::default()
        };
        let text = written(|to| arff(&data, to));
        let read = read_from(text.as_slice(), &options).unwrap();
        assert_eq!(read.name, "it's");
        same(&read, &data);

        let sparse = data.with_layout(Layout::Sparse, 0).unwrap();
        let text = written(|to| arff(&sparse, to));
        same(&read_from(text.as_slice(), &options).unwrap(), &sparse);
        let labels = LabelFile::try_from(&*written(|to| label_file(&sparse, to))).unwrap();
        assert_eq!(labels.labels, ["R&D", "<b>"]);
    }

    #[test]
    fn identifiers_keep_the_name_of_their_column() {
        let text = "customer,x,id\na,1.5,0.5\n\" b\",2.5,1.5\n";
        let options = ReadOptions {
            id: Some("customer".into()),
            ..ReadOptions::default()
        };
        let data = read_from(text.as_bytes(), &options).unwrap();
        assert_eq!(written(|to| csv(&data, ',', to)), text.as_bytes());
    }

    #[test]
    fn missing_values_alone_on_their_lines_are_read_back() {
        let column = Dataset::new(
            array![[1.5], [f32::NAN], [f32::NAN]].into(),
            ndarray::Array2::zeros((3, 0)).into(),
            Task::Regression,
        );
        let column = column
            .unwrap()
            .with_names(Columns::Features, ["x"].into_iter().collect());
        let column = column.unwrap();
        let text = written(|to| csv(&column, ',', to));
        assert_eq!(text, b"x\n1.5\n\"\"\n\"\"\n");
        let options = ReadOptions {
            format: crate::read::Format::Csv,
            ..ReadOptions::default()
        };
        let read = read_from(text.as_slice(), &options).unwrap();
        assert_eq!(
            format!("{:?}", read.features()),
            format!("{:?}", column.features())
        );
    }

    #[test]
    fn numbered_columns_have_different_names() {
        let data = MultiLabelSet::new(20, 30, 4).generate(Seed::new(1)).unwrap();
        let text = written(|to| arff(&data, to));
        let options = ReadOptions {
            targets: Targets::Names(vec!["output *".into()]),
            ..ReadOptions::default()
        };
        let read = read_from(text.as_slice(), &options).unwrap();
        assert_eq!(
            (read.features(), read.outputs()),
            (data.features(), data.outputs())
        );
        assert_eq!(read.output_names().get(3).as_deref(), Some("output 3"));
    }

    #[test]
    fn what_would_be_read_differently_is_refused() {
        let words: Arc<[String]> = ["x", "NA"].map(String::from).into();
        let data = awkward().with_nominal([(1, words)].into()).unwrap();
        let found = csv(&data, ',', Vec::new());
        let expected = WriteError::ReadsAsMissing {
            column: "what\nkind".into(),
            value: "NA".into(),
        };
        assert_eq!(found, Err(expected));
        let data = awkward()
            .with_names(Columns::Outputs, [" x", "y"].into_iter().collect())
            .unwrap();
        let expected = WriteError::TwoColumns { name: " x".into() };
        assert_eq!(arff(&data, Vec::new()), Err(expected));
    }
}
