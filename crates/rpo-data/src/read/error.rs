//! What can be wrong with a file, and where.

use super::format::Format;
use super::number::NotANumber;
use crate::dataset::DatasetError;
use crate::message::{lossy, quoted};
use rpo_core::{MemoryLimit, Mismatch, ParameterError};
use std::fmt;
use std::io;
use std::path::Path;

/// A file that could not be read: which, where in it, why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadError {
    /// The file, if one was named.
    pub path: Option<Box<Path>>,
    /// Line, from 1, comments and blank lines included; the row, from 1, of a file that has no lines.
    pub line: Option<u64>,
    /// Byte in the line, from 1, where it makes sense.
    pub column: Option<u64>,
    /// True for a file that has no lines but rows.
    pub has_rows: bool,
    /// What is wrong.
    pub kind: ReadErrorKind,
}

impl ReadError {
    /// Names the file, unless one is named already.
    #[must_use]
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        self.path.get_or_insert_with(|| path.into());
        self
    }

    /// Makes the line a row, as the file has no lines.
    #[cfg(feature = "arrow")]
    #[must_use]
    pub(crate) fn of_row(mut self) -> Self {
        self.has_rows = true;
        self
    }

    /// Adds the position in the line, from 0.
    #[must_use]
    pub(crate) fn at_byte(mut self, position: usize) -> Self {
        self.column = Some(position as u64 + 1);
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        match (self.line, self.column) {
            (Some(row), _) if self.has_rows => write!(f, "row {row}: ")?,
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            _ => {}
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

impl From<ReadErrorKind> for ReadError {
    fn from(kind: ReadErrorKind) -> Self {
        Self {
            path: None,
            line: None,
            column: None,
            has_rows: false,
            kind,
        }
    }
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The system could not read the file.
    #[error("cannot read: {message}")]
    Io {
        /// The kind of error.
        kind: io::ErrorKind,
        /// The system's message.
        message: String,
    },
    /// Compressed data that are damaged or followed by something else.
    #[error("the gzip data are damaged, or followed by bytes that are not gzip, such as padding by zeros")]
    Gzip,
    /// A byte that text does not contain.
    #[error("a NUL byte: the file is binary, or text in UTF-16; text in UTF-8 is expected")]
    NulByte,
    /// Line ends of old Macintosh computers.
    #[error("the lines end in CR alone; LF or CR LF is expected")]
    CarriageReturns,
    /// A line longer than the options allow.
    #[error("the line is longer than the limit of {limit} bytes")]
    LineTooLong {
        /// The limit.
        limit: usize,
    },
    /// A table that would take more memory than the options allow.
    #[error(transparent)]
    Memory(#[from] MemoryLimit),
    /// A column of texts without a term that is in enough samples.
    #[error(
        "no term of the texts of {} is in {} or more",
        quoted(column),
        match min_samples { 1 => "one sample".to_owned(), n => format!("{n} samples") }
    )]
    NoTerms {
        /// The column.
        column: String,
        /// The fewest samples that have a term.
        min_samples: u32,
    },
    /// Options that are out of range.
    #[error(transparent)]
    Parameter(Box<ParameterError>),
    /// More text than is held in memory.
    #[error("more than {limit} bytes, which are held in memory; a file may be larger")]
    TooMuchText {
        /// The limit.
        limit: usize,
    },
    /// Neither the name nor the first line of the file, which is given, tells the format.
    #[error(
        "cannot tell the format from the file name or from the first line {}; say which it is: arff, xmlrepo, svmlight, \
         csv, parquet or arrow",
        quoted(.0)
    )]
    UnknownFormat(String),
    /// A Parquet or Arrow file for a program that was built without the feature `arrow`.
    #[error("{0} files are not read: the program was built without the feature arrow")]
    NotBuilt(Format),
    /// A Parquet or Arrow file that is damaged, or uses what is not read.
    #[error(
        "{}{}the {format} file cannot be decoded: {message}",
        part.map_or_else(String::new, |part| match format {
            Format::Parquet => format!("row group {part} (from 0), "),
            _ => format!("record batch {part} (from 0), "),
        }),
        column.as_ref().map_or_else(String::new, |column| format!("column {}: ", quoted(column)))
    )]
    Container {
        /// The format.
        format: Format,
        /// The row group of a Parquet file or the record batch of an Arrow file, from 0.
        part: Option<u64>,
        /// The column, if it is known.
        column: Option<Box<str>>,
        /// What is wrong.
        message: Box<str>,
    },
    /// A column of a Parquet or Arrow file of a type that is not read.
    #[error(
        "column {} holds {found}; numbers, booleans, texts, dates and times are read",
        quoted(column)
    )]
    UnsupportedColumn {
        /// Name of the column.
        column: String,
        /// Its type.
        found: Box<str>,
    },
    /// A date that no calendar of four digits has.
    #[error(
        "a date in {} lies {days} days after 1970-01-01, outside of the years -9999 to 9999",
        quoted(column)
    )]
    DateOutOfRange {
        /// Name of the column.
        column: String,
        /// Days since 1970-01-01.
        days: i64,
    },
    /// An option that the format does not take.
    #[error("option {option:?} does not apply to {format} files")]
    Option {
        /// The option.
        option: &'static str,
        /// The format of the file.
        format: Format,
    },
    /// Text that is not UTF-8, given with replacement characters.
    #[error("invalid UTF-8 in {}", quoted(.0))]
    InvalidUtf8(String),
    /// A file without content, and what was expected.
    #[error("the file is empty; {0} expected")]
    Empty(&'static str),
    /// A size that is not the expected one: values of a row, or columns that the options demand.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),

    /// A line that starts with `@` and an unknown word.
    #[error("unknown keyword {}; @relation, @attribute or @data expected", quoted(.0))]
    UnknownKeyword(String),
    /// Text in a header that belongs nowhere.
    #[error("unexpected {} in the header; a line starting with @relation, @attribute or @data expected", quoted(.0))]
    UnexpectedInHeader(String),
    /// Text after a complete declaration.
    #[error("unexpected {} after the declaration of {}", quoted(text), quoted(name))]
    AfterDeclaration {
        /// The name declared.
        name: String,
        /// The text.
        text: String,
    },
    /// An attribute without a name.
    #[error("attribute without a name")]
    NoAttributeName,
    /// An attribute, by its name, without a type.
    #[error("attribute {} has no type; numeric or {{value,...}} expected", quoted(.0))]
    NoAttributeType(String),
    /// An attribute that is neither numeric nor nominal.
    #[error(
        "attribute {} has the unsupported type {}; numeric, real, integer or {{value,...}} expected",
        quoted(name),
        quoted(found)
    )]
    UnsupportedType {
        /// The attribute.
        name: String,
        /// The text in place of the type.
        found: String,
    },
    /// A nominal attribute, by its name, without values.
    #[error("attribute {} declares an empty list of values", quoted(.0))]
    NoValues(String),
    /// A header without attributes.
    #[error("no attribute is declared before @data")]
    NoAttributes,
    /// A file that ends in its header.
    #[error("the file ends without a @data section")]
    NoDataSection,
    /// A quoted text without its closing quote.
    #[error("missing closing quote {quote} after {}", quoted(text))]
    UnclosedQuote {
        /// The quote expected.
        quote: char,
        /// The text.
        text: String,
    },
    /// A sparse row or list of values without its closing brace.
    #[error("missing closing brace }}")]
    UnclosedBrace,
    /// A name or value declared twice.
    #[error("{what} {} is declared twice", quoted(name))]
    DeclaredTwice {
        /// "attribute", "value", "column" or "label".
        what: &'static str,
        /// The name.
        name: String,
    },

    /// A CSV file whose first line, which is given, is a row of numbers.
    #[error("{} are numbers; the first line of a CSV file names the columns", quoted(.0))]
    NoNames(String),
    /// A quote that neither encloses a field of a CSV file nor is doubled.
    #[error("unexpected quote before {}; quotes enclose a whole field, from comma to comma", quoted(.0))]
    StrayQuote(String),
    /// A column of a CSV file that an option names and that is not there.
    #[error(
        "{option} names the column {}, which does not exist{}",
        quoted(name),
        did_you_mean(nearest)
    )]
    UnknownColumn {
        /// The option.
        option: &'static str,
        /// The name or pattern.
        name: String,
        /// The most similar name, if one is similar.
        nearest: Option<Box<str>>,
    },
    /// A column that is named as a target and as something else.
    #[error(
        "{} is named both as a target and as {other}; it can be one of them",
        quoted(name)
    )]
    TargetIsOther {
        /// Its name.
        name: String,
        /// "ignored" or "the id".
        other: &'static str,
    },
    /// A column of a CSV file with a few words among numbers, or a few dates.
    #[error(
        "{} is not a number; most values of {} are, so {} {} of {total} may be mistakes",
        quoted(text),
        quoted(column),
        others,
        if *others == 1 { "value" } else { "values" }
    )]
    MixedColumn {
        /// Name of the column.
        column: String,
        /// The first value that is not a number.
        text: String,
        /// Values that are not numbers.
        others: u32,
        /// Values that are not missing.
        total: u32,
    },
    /// A column of a CSV file with a few other values among dates.
    #[error(
        "{} is not a date; most values of {} are, so {} {} of {total} may be mistakes",
        quoted(text),
        quoted(column),
        others,
        if *others == 1 { "value" } else { "values" }
    )]
    MixedDates {
        /// Name of the column.
        column: String,
        /// The first value that is not a date.
        text: String,
        /// Values that are not dates.
        others: u32,
        /// Values that are not missing.
        total: u32,
    },
    /// A character that cannot separate columns.
    #[error(
        "{0:?} cannot separate the columns of a CSV file; a single ASCII character that values do not contain can"
    )]
    Delimiter(char),
    /// A number written with a decimal comma.
    #[error(
        "{} in {} has a decimal comma; numbers are written with a decimal point",
        quoted(text),
        quoted(column)
    )]
    DecimalComma {
        /// Name of the column.
        column: String,
        /// The number.
        text: String,
    },
    /// Text in place of a date.
    #[error(
        "{} is not a date; {} holds dates such as 2024-01-31 or 2024-01-31T18:30:00",
        quoted(text),
        quoted(column)
    )]
    NotADate {
        /// Name of the column.
        column: String,
        /// The text.
        text: String,
    },
    /// A column of a CSV file with more different words than a feature can have.
    #[error(
        "{} holds more than {limit} different words, too many for a category",
        quoted(column)
    )]
    TooManyCategories {
        /// Name of the column.
        column: String,
        /// The largest number.
        limit: usize,
    },
    /// An empty field where a value is required.
    #[error("empty value for {}; a missing value is written ?", quoted(.0))]
    EmptyField(String),
    /// Text in place of a number.
    #[error("{} is not a number; {} is numeric", quoted(text), quoted(column))]
    NotANumber {
        /// Name of the column or feature.
        column: String,
        /// The text.
        text: String,
    },
    /// NaN or infinity written as text.
    #[error("{} for {} is not a finite number", quoted(text), quoted(column))]
    NotFinite {
        /// Name of the column or feature.
        column: String,
        /// The text.
        text: String,
    },
    /// A number beyond the largest f64, or beyond the largest f32 where that is what a data set stores.
    #[error(
        "{} for {} is too large, outside the range of a {bits}-bit float",
        quoted(text),
        quoted(column)
    )]
    TooLarge {
        /// Name of the column or feature.
        column: String,
        /// The text or value.
        text: String,
        /// 64 or 32.
        bits: u32,
    },
    /// A nominal value that is not declared.
    #[error("{} is not among the declared values of {}", quoted(text), quoted(column))]
    UndeclaredValue {
        /// Name of the attribute.
        column: String,
        /// The text.
        text: String,
    },
    /// Text in place of an index.
    #[error(
        "{} is not a valid {what} index; an integer from 0 on is expected",
        quoted(text)
    )]
    BadIndex {
        /// "attribute", "feature" or "label".
        what: &'static str,
        /// The text.
        text: String,
    },
    /// Index 0 where counting starts at 1.
    #[error("feature index 0 in a file that counts from 1; if it counts from 0, say so")]
    IndexZero,
    /// An index beyond the last column.
    #[error("{what} index {index} is out of range, there are {count}{}", if index == count { " counted from 0" } else { "" })]
    IndexOutOfRange {
        /// "attribute", "feature" or "label".
        what: &'static str,
        /// The index.
        index: u64,
        /// Number of columns.
        count: u64,
    },
    /// An index that implies more columns than a file may have without declaring them.
    #[error("a {what} index implies more than {limit} {what}s; a file with more needs their number given")]
    TooManyImplied {
        /// "feature" or "label".
        what: &'static str,
        /// The largest number of columns that may be implied.
        limit: u32,
    },
    /// An index given twice in a row.
    #[error("{what} index {index} is given twice")]
    RepeatedIndex {
        /// "attribute", "feature" or "label".
        what: &'static str,
        /// The index.
        index: u64,
    },
    /// Indices that do not increase where they must.
    #[error("{what} index {index} after {previous} is out of order; indices must be increasing")]
    UnsortedIndex {
        /// "attribute" or "feature".
        what: &'static str,
        /// The index.
        index: u64,
        /// The one before it.
        previous: u64,
    },
    /// An index without a value.
    #[error("{what} index {index} without a value")]
    NoValue {
        /// "attribute" or "feature".
        what: &'static str,
        /// The index.
        index: u64,
    },
    /// Text after a complete row or field.
    #[error("unexpected {} after {after}", quoted(text))]
    TextAfter {
        /// What is complete.
        after: &'static str,
        /// The text.
        text: String,
    },
    /// A feature that is not written `index:value`.
    #[error("{} has no colon; index:value expected", quoted(.0))]
    NoColon(String),
    /// A query, the text after `qid:`, that is not an integer.
    #[error("{} is not a valid query; qid: is followed by an integer", quoted(.0))]
    BadQuery(String),
    /// A line without content where each line is a sample.
    #[error("the line is blank; a sample without labels and features is written as {0}")]
    BlankLine(&'static str),
    /// A blank line among names.
    #[error("the line is blank; each line of a file of names is a name")]
    BlankName,
    /// A first line that is not three numbers.
    #[error("{} is not a header; three integer numbers expected: samples, features, labels", quoted(.0))]
    BadHeader(String),
    /// Another number of samples than the header says.
    #[error("the header says {promised} samples, the file has {found}{}", if found > promised { " or more" } else { "" })]
    SampleCount {
        /// Samples by the header.
        promised: u64,
        /// Samples read.
        found: u64,
    },
    /// More columns than indices of 32 bits can address.
    #[error("{count} {what}s are more than the {} that can be indexed", u32::MAX)]
    TooManyColumns {
        /// "feature" or "label".
        what: &'static str,
        /// The number.
        count: u64,
    },

    /// A label file that is not well-formed XML, and why.
    #[error("malformed XML: {0}")]
    Xml(String),
    /// An element or text that a list of labels does not contain.
    #[error("unexpected {}; a label file holds <labels> with nested <label name=\"...\"> elements", quoted(.0))]
    NotALabelFile(String),
    /// An element, by its name, that is never closed.
    #[error("the file ends before element <{0}> is closed")]
    UnclosedElement(String),
    /// A label without a name.
    #[error("element <label> has no attribute name")]
    LabelWithoutName,
    /// A label file without labels.
    #[error("the label file is empty: it names no label")]
    NoLabels,

    /// A target that is not a column of the file.
    #[error(
        "target {} is not a column of the data file{}",
        quoted(name),
        did_you_mean(nearest)
    )]
    UnknownTarget {
        /// Its name or pattern.
        name: String,
        /// The most similar name of a column, if one is similar.
        nearest: Option<Box<str>>,
    },
    /// More targets than columns.
    #[error("{asked} targets requested, but the file has only {columns} columns")]
    TooManyTargets {
        /// Targets requested.
        asked: usize,
        /// Columns of the file.
        columns: usize,
    },
    /// A target whose declaration does not fit the task.
    #[error("target {} is declared {found}; {expected}", quoted(name))]
    WrongTarget {
        /// Its name.
        name: String,
        /// Its declaration.
        found: String,
        /// The declarations of the task.
        expected: &'static str,
    },
    /// A label that is neither 0 nor 1.
    #[error("label {} has the value {value}; 0 or 1 expected", quoted(name))]
    NotALabel {
        /// Its name.
        name: String,
        /// The value.
        value: f64,
    },
    /// Targets of which some are labels and others numbers.
    #[error(
        "target {} is a label and target {} a number; say which task it is",
        quoted(label),
        quoted(number)
    )]
    MixedTargets {
        /// A target declared {0,1}.
        label: String,
        /// A target declared numeric.
        number: String,
    },
    /// A target, by its name, without a value where the options refuse that.
    #[error("target {} is missing, which the options refuse", quoted(.0))]
    MissingTarget(String),
    /// A feature, by its name, without a value where the options refuse that.
    #[error("feature {} is missing, which the options refuse", quoted(.0))]
    MissingFeature(String),
    /// Content that does not make a valid data set.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

fn did_you_mean(nearest: &Option<Box<str>>) -> String {
    let name = nearest.as_ref();
    name.map_or_else(String::new, |name| format!(" (did you mean {}?)", quoted(name)))
}

impl ReadErrorKind {
    /// The error in a line, from 1.
    pub(crate) fn at(self, line: u64) -> ReadError {
        ReadError {
            line: Some(line),
            ..self.into()
        }
    }

    /// A text that should have been a number.
    pub(crate) fn number(why: NotANumber, column: impl Into<String>, text: &[u8]) -> Self {
        let (column, text) = (column.into(), lossy(text));
        match why {
            NotANumber::NotFinite => Self::NotFinite { column, text },
            NotANumber::TooLarge => Self::TooLarge {
                column,
                text,
                bits: 64,
            },
            NotANumber::Malformed => Self::NotANumber { column, text },
        }
    }
}

impl From<&io::Error> for ReadErrorKind {
    fn from(e: &io::Error) -> Self {
        let (kind, message) = (e.kind(), e.to_string());
        // What the decompressor says where it looks for the next member of a gzip file.
        if kind == io::ErrorKind::InvalidInput && message.contains("gzip") {
            Self::Gzip
        } else {
            Self::Io { kind, message }
        }
    }
}
