//! The problems of files, and their messages.

use super::ReadError;
use crate::dataset::DatasetError;
use crate::message::{lossy, quoted};
use crate::read::format::Format;
use crate::read::number::NotANumber;
use rpo_core::text::did_you_mean;
use rpo_core::{MemoryLimit, Mismatch, ParameterError};
use std::io;

/// The problem of a file.
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
    /// Compressed data that are damaged or followed by other data.
    #[error("the gzip data are damaged, or followed by bytes that are not gzip, such as padding by zeros")]
    Gzip,
    /// Data that are compressed by this program, which is not gzip.
    #[error("the file is compressed by {0}; only gzip is read: decompress the file first")]
    Compressed(&'static str),
    /// JSON, or lines of it.
    #[error("the file is JSON, which is not read as data")]
    Json,
    /// A byte that does not occur in text.
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
    /// A column of texts in which no term occurs in enough samples.
    #[error(
        "no term of the texts of {} occurs in {} or more",
        quoted(column),
        match min_samples { 1 => "one sample".to_owned(), n => format!("{n} samples") }
    )]
    NoTerms {
        /// The column.
        column: String,
        /// The minimum number of samples with a term.
        min_samples: u32,
    },
    /// Options that are out of range.
    #[error(transparent)]
    Parameter(Box<ParameterError>),
    /// More text than fits into memory within the limit.
    #[error("more than {limit} bytes, the limit for data held in memory; files may be larger")]
    TooMuchText {
        /// The limit.
        limit: usize,
    },
    /// A format that cannot be determined from the name or the first line of the file, which is given.
    #[error(
        "cannot tell the format from the file name or from the first line {}; set it to arff, xmlrepo, svmlight, csv, \
         parquet or arrow",
        quoted(.0)
    )]
    UnknownFormat(String),
    /// A Parquet or Arrow file for a program that was built without the feature `arrow`.
    #[error("{0} files cannot be read: the program was built without the feature arrow")]
    NotBuilt(Format),
    /// A Parquet or Arrow file that is damaged, or uses unsupported features.
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
        /// The column, if it can be determined.
        column: Option<Box<str>>,
        /// The problem.
        message: Box<str>,
    },
    /// A column of a Parquet or Arrow file with an unsupported type.
    #[error(
        "column {} has the unsupported type {found}; numbers, booleans, texts, dates and date-times can be read",
        quoted(column)
    )]
    UnsupportedColumn {
        /// Name of the column.
        column: String,
        /// Its type.
        found: Box<str>,
    },
    /// A date outside the years that four digits can express.
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
    /// An option that does not apply to the format.
    #[error("option {option:?} does not apply to {format} files")]
    Option {
        /// The option.
        option: &'static str,
        /// The format of the file.
        format: Format,
    },
    /// Text that is not UTF-8.
    #[error(
        "invalid UTF-8 in {}{}",
        quoted(text),
        column.as_ref().map_or_else(String::new, |column| format!(" of column {}", quoted(column)))
    )]
    InvalidUtf8 {
        /// The text, with replacement characters.
        text: String,
        /// The column of a value.
        column: Option<Box<str>>,
    },
    /// A file without content, and what was expected.
    #[error("the file is empty; {0} expected")]
    Empty(&'static str),
    /// A number that differs from the expected one: values of a row of an ARFF file or in memory, or columns required by
    /// the options.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),

    /// A line that starts with `@` and an unknown word.
    #[error("unknown keyword {}; @relation, @attribute or @data expected", quoted(.0))]
    UnknownKeyword(String),
    /// Unexpected text in a header.
    #[error("unexpected {} in the header; a line starting with @relation, @attribute or @data expected", quoted(.0))]
    UnexpectedInHeader(String),
    /// Text after a complete declaration.
    #[error("unexpected {} after the declaration of {}", quoted(text), quoted(name))]
    AfterDeclaration {
        /// The declared name.
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
    #[error("unexpected quote before {}; quotes enclose a whole field, from separator to separator", quoted(.0))]
    StrayQuote(String),
    /// A row of a CSV file with more or fewer fields than the header.
    #[error("the row has {}, but the header has {expected}; they are separated by {delimiter:?}", fields(*given))]
    FieldCount {
        /// Number of fields of the header.
        expected: usize,
        /// Number of fields of the row.
        given: usize,
        /// The character between them, given or detected.
        delimiter: char,
    },
    /// A CSV column that an option names but that does not exist.
    #[error(
        "{option} names the column {}, which does not exist{}",
        quoted(name),
        did_you_mean(nearest.as_deref().map(quoted))
    )]
    UnknownColumn {
        /// The option.
        option: &'static str,
        /// The name or pattern.
        name: String,
        /// The most similar name, if there is a similar one.
        nearest: Option<Box<str>>,
    },
    /// A column that is named both as a target and as something else.
    #[error(
        "{} is named both as a target and as {other}; it can be one of them",
        quoted(name)
    )]
    TargetIsOther {
        /// Its name.
        name: String,
        /// "ignored", "the id" or "a column of a given type".
        other: &'static str,
    },
    /// A CSV column with a few words among numbers, or with a few dates.
    #[error(
        "{} is not a number; {}",
        quoted(text),
        mistakes(column, *others, *total)
    )]
    MixedColumn {
        /// Name of the column.
        column: String,
        /// The first value that is not a number.
        text: String,
        /// Number of values that are not numbers.
        others: u32,
        /// Number of values that are not missing.
        total: u32,
    },
    /// A CSV column with a few other values among dates.
    #[error(
        "{} is not a date; {}",
        quoted(text),
        mistakes(column, *others, *total)
    )]
    MixedDates {
        /// Name of the column.
        column: String,
        /// The first value that is not a date.
        text: String,
        /// Number of values that are not dates.
        others: u32,
        /// Number of values that are not missing.
        total: u32,
    },
    /// A character that cannot separate columns.
    #[error(
        "{0:?} cannot separate the columns of a CSV file; the delimiter must be an ASCII character that cannot be \
         part of a value"
    )]
    Delimiter(char),
    /// A number with a decimal point in a file whose numbers have decimal commas.
    #[error(
        "{} in {} has a point, in a file whose numbers have decimal commas",
        quoted(text),
        quoted(column)
    )]
    DecimalPoint {
        /// Name of the column.
        column: String,
        /// The number.
        text: String,
    },
    /// A number written with a decimal comma, or with commas between thousands.
    #[error(
        "{} in {} has a decimal comma or separators of thousands; numbers are written with a decimal point, and without \
         separators",
        quoted(text),
        quoted(column)
    )]
    DecimalComma {
        /// Name of the column.
        column: String,
        /// The number.
        text: String,
    },
    /// A number with separators between thousands.
    #[error(
        "{} in {} has separators of thousands; numbers are written without them",
        quoted(text),
        quoted(column)
    )]
    Thousands {
        /// Name of the column.
        column: String,
        /// The number.
        text: String,
    },
    /// Text in place of a date.
    #[error(
        "{} is not a date; {} holds dates such as 2024-01-31, 31.01.2024 or 2024-01-31T18:30:00",
        quoted(text),
        quoted(column)
    )]
    NotADate {
        /// Name of the column.
        column: String,
        /// The text.
        text: String,
    },
    /// A CSV column with more distinct words than a feature can have.
    #[error(
        "{} holds more than {limit} different words, too many for a category",
        quoted(column)
    )]
    TooManyCategories {
        /// Name of the column.
        column: String,
        /// The maximum number.
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
    /// A number beyond the largest f64, or beyond the largest f32 if a data set stores it as such.
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
    /// A number that is not an index in place of the labels of a sample.
    #[error(
        "{} is not a label: labels are given by their indices, integers of at least 0; binary or numeric targets can be read from a column of a CSV file",
        quoted(.0)
    )]
    TargetForLabels(String),
    /// Text in place of an index.
    #[error(
        "{} is not a valid {what} index; an integer of at least 0 is expected",
        quoted(text)
    )]
    BadIndex {
        /// "attribute", "feature" or "label".
        what: &'static str,
        /// The text.
        text: String,
    },
    /// Index 0 although counting starts at 1.
    #[error("feature index 0 in a file that counts from 1; set `first_feature` to zero if it counts from 0")]
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
    #[error(
        "a {what} index implies more than {limit} {what}s{}",
        if *what == "feature" { "; to read more, declare their number" } else { "" }
    )]
    TooManyImplied {
        /// "feature" or "label".
        what: &'static str,
        /// The maximum number of columns that may be implied.
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
    /// Indices that do not increase although they must.
    #[error("{what} index {index} after {previous} is out of order; indices must be increasing")]
    UnsortedIndex {
        /// "attribute" or "feature".
        what: &'static str,
        /// The index.
        index: u64,
        /// The index before it.
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
        /// The complete element.
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
    /// A blank line where each line is a sample.
    #[error("the line is blank; a sample without labels and features is written as {0}")]
    BlankLine(&'static str),
    /// A blank line among names.
    #[error("the line is blank; each line must hold a name")]
    BlankName,
    /// A first line that is not three numbers.
    #[error("{} is not a header; three integer numbers expected: samples, features, labels", quoted(.0))]
    BadHeader(String),
    /// A number of samples that differs from that in the header.
    #[error("the header declares {promised} samples, but the file has {found}{}", if found > promised { " or more" } else { "" })]
    SampleCount {
        /// Number of samples according to the header.
        promised: u64,
        /// Number of samples read.
        found: u64,
    },
    /// More columns than 32-bit indices can address.
    #[error("{count} {what}s are too many; at most {} can be indexed", u32::MAX)]
    TooManyColumns {
        /// "feature" or "label".
        what: &'static str,
        /// The number.
        count: u64,
    },
    /// More declared labels than are read: counts of labels would take gigabytes.
    #[error("{count} labels are too many; a set may have at most {limit}")]
    TooManyLabels {
        /// The number.
        count: u64,
        /// The largest number.
        limit: u64,
    },

    /// A label file that is not well-formed XML, with the reason.
    #[error("malformed XML: {0}")]
    Xml(String),
    /// An element or text that does not belong in a label file.
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
        match nearest {
            Some(nearest) => did_you_mean(Some(quoted(nearest))),
            None => listed(columns),
        }
    )]
    UnknownTarget {
        /// Its name or pattern.
        name: String,
        /// The most similar column name, if there is a similar one.
        nearest: Option<Box<str>>,
        /// The names of the columns.
        columns: Box<[String]>,
    },
    /// A target that is named twice.
    #[error("target {} is named twice", quoted(.0))]
    RepeatedTarget(String),
    /// More targets than columns.
    #[error("{asked} targets requested, but the file has only {columns} columns")]
    TooManyTargets {
        /// Number of requested targets.
        asked: usize,
        /// Number of columns of the file.
        columns: usize,
    },
    /// A target of a table with a word that is not one of a label, or not of the same pair as those before it.
    #[error(
        "target {} holds the word {}; a target is a number or, for a label, 0 or 1, or a word of the same pair in all \
         rows: false and true, no and yes, n and y, or f and t",
        quoted(name),
        quoted(text)
    )]
    TargetOfWords {
        /// Its name.
        name: String,
        /// The word.
        text: String,
    },
    /// A target of a kind that does not fit the task.
    #[error("target {} is {found}; {expected}", quoted(name))]
    WrongTarget {
        /// Its name.
        name: String,
        /// Its kind, such as its declaration.
        found: String,
        /// The kinds that the task requires.
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
    /// Targets that are partly labels and partly numbers.
    #[error(
        "target {} is a label and target {} a number; set the task",
        quoted(label),
        quoted(number)
    )]
    MixedTargets {
        /// A target declared {0,1}.
        label: String,
        /// A target declared numeric.
        number: String,
    },
    /// A target, by its name, that is missing although the options refuse missing targets.
    #[error("target {} is missing, but the options do not allow missing targets", quoted(.0))]
    MissingOutput(String),
    /// A feature, by its name, that is missing although the options refuse missing features.
    #[error("feature {} is missing, but the options do not allow missing features", quoted(.0))]
    MissingFeature(String),
    /// Content that does not make a valid data set.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

/// Returns the part of a message on a few values that are unlike most values of their column.
fn mistakes(column: &str, others: u32, total: u32) -> String {
    let values = if others == 1 { "value" } else { "values" };
    let column = quoted(column);
    format!("most values of {column} are, so {others} {values} of {total} may be mistakes")
}

fn fields(n: usize) -> String {
    match n {
        1 => "1 field".to_owned(),
        n => format!("{n} fields"),
    }
}

impl ReadErrorKind {
    /// Adds the line of the error, from 1.
    pub(crate) fn at(self, line: u64) -> ReadError {
        ReadError {
            line: Some(line),
            ..self.into()
        }
    }

    /// Creates the error for a text that is not UTF-8.
    pub(crate) fn invalid_utf8(text: &[u8]) -> Self {
        let (text, column) = (lossy(text), None);
        Self::InvalidUtf8 { text, column }
    }

    /// Adds the column to an error of a value, where it is part of the message.
    pub(crate) fn in_column(mut self, name: &str) -> Self {
        if let Self::InvalidUtf8 { column, .. } = &mut self {
            column.get_or_insert_with(|| name.into());
        }
        self
    }

    /// Creates the error for a text that should be a number.
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
        // The decompressor's message if it finds no next member of a gzip file.
        if kind == io::ErrorKind::InvalidInput && message.contains("gzip") {
            Self::Gzip
        } else {
            Self::Io { kind, message }
        }
    }
}

/// The first columns of a file, as the end of a message.
fn listed(columns: &[String]) -> String {
    /// Number of columns that are named.
    const FIRST: usize = 5;
    let first = columns.iter().take(FIRST).map(|name| quoted(name));
    let first = first.collect::<Vec<_>>().join(", ");
    match columns.len() {
        0 => String::new(),
        1 => format!("; its only column is {first}"),
        2..=FIRST => format!("; its columns are {first}"),
        n => format!("; its columns are {first}, ... ({n} in all)"),
    }
}
