//! What can be wrong with a file, and where.

use super::Format;
use super::number::NotANumber;
use crate::dataset::DatasetError;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file that could not be read: which, where in it, why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadError {
    /// The file, if one was named.
    pub path: Option<PathBuf>,
    /// Line, from 1, comments and blank lines included.
    pub line: Option<u64>,
    /// Byte in the line, from 1, where it makes sense.
    pub column: Option<u64>,
    /// What is wrong.
    pub kind: ReadErrorKind,
}

impl ReadError {
    /// Names the file, unless one is named already.
    #[must_use]
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Says where in the line, by a position from 0.
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
            kind,
        }
    }
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The system could not read it (or its gzip data is damaged).
    #[error("cannot read: {message}")]
    Io {
        /// The kind of error.
        kind: std::io::ErrorKind,
        /// What the system says.
        message: String,
    },
    /// Neither name nor first line tell the format.
    #[error(
        "cannot tell the format from the file name or from the first line {first_line:?}; say which it is: arff, \
         xmlrepo, svmlight or csv"
    )]
    UnknownFormat {
        /// How the file begins.
        first_line: String,
    },
    /// An option that means nothing for the format.
    #[error("option {option:?} does not apply to {format} files")]
    Option {
        /// The option.
        option: &'static str,
        /// The format of the file.
        format: Format,
    },
    /// Text that is not UTF-8.
    #[error("invalid UTF-8 in {text:?}")]
    InvalidUtf8 {
        /// The text, with replacement characters.
        text: String,
    },
    /// Nothing in the file.
    #[error("the file is empty; {expected} expected")]
    Empty {
        /// What should come first.
        expected: &'static str,
    },

    /// A line that starts with `@` and an unknown word.
    #[error("unknown keyword {keyword:?}; @relation, @attribute or @data expected")]
    UnknownKeyword {
        /// The word.
        keyword: String,
    },
    /// Text in a header that belongs nowhere.
    #[error(
        "unexpected {text:?} in the header; a line starting with @relation, @attribute or @data expected"
    )]
    UnexpectedInHeader {
        /// The text.
        text: String,
    },
    /// Text after a complete declaration.
    #[error("unexpected {text:?} after the declaration of {name:?}")]
    AfterDeclaration {
        /// The name declared.
        name: String,
        /// The text.
        text: String,
    },
    /// An attribute without a name.
    #[error("attribute without a name")]
    NoAttributeName,
    /// An attribute without a type.
    #[error("attribute {name:?} has no type; numeric or {{value,...}} expected")]
    NoAttributeType {
        /// The attribute.
        name: String,
    },
    /// A string, date or relational attribute.
    #[error("attribute {name:?} has the unsupported type {found:?}; numeric and nominal ones are supported")]
    UnsupportedType {
        /// The attribute.
        name: String,
        /// Its type.
        found: String,
    },
    /// An unknown type.
    #[error(
        "attribute {name:?} has the unknown type {found:?}; numeric, real, integer or {{value,...}} expected"
    )]
    UnknownType {
        /// The attribute.
        name: String,
        /// The text in place of the type.
        found: String,
    },
    /// A nominal attribute without values.
    #[error("attribute {name:?} declares an empty list of values")]
    NoValues {
        /// The attribute.
        name: String,
    },
    /// The header declares nothing.
    #[error("no attribute is declared before @data")]
    NoAttributes,
    /// The file ends in its header.
    #[error("the file ends without a @data section")]
    NoDataSection,
    /// A quoted text that the line ends in.
    #[error("missing closing quote {quote} after {text:?}")]
    UnclosedQuote {
        /// The quote expected.
        quote: char,
        /// The text.
        text: String,
    },
    /// A sparse row or list of values that the line ends in.
    #[error("missing closing brace }}")]
    UnclosedBrace,
    /// A name or value declared twice.
    #[error("{what} {name:?} is declared twice")]
    DeclaredTwice {
        /// "attribute", "value", "column" or "label".
        what: &'static str,
        /// The name.
        name: String,
    },

    /// A CSV file whose columns another character separates.
    #[error("no comma in {text:?}; columns are separated by commas, not by {found:?}")]
    Separator {
        /// The first line.
        text: String,
        /// What seems to separate columns.
        found: char,
    },
    /// A CSV file that begins with its first row.
    #[error("{text:?} are numbers; the first line of a CSV file names the columns")]
    NoNames {
        /// The first line.
        text: String,
    },
    /// A row of the wrong length.
    #[error("the row has {found} values, {expected} are expected")]
    FieldCount {
        /// Values in the row; as many as were seen if there are too many.
        found: usize,
        /// Columns.
        expected: usize,
    },
    /// A field without text where only numbers or values may stand.
    #[error("empty value for {column:?}; a missing value is written ?")]
    EmptyField {
        /// Name of the column.
        column: String,
    },
    /// Text in place of a number.
    #[error("{text:?} is not a number; {column:?} is numeric")]
    NotANumber {
        /// Name of the column or feature.
        column: String,
        /// The text.
        text: String,
    },
    /// NaN or infinity, which no format here writes.
    #[error("{text:?} for {column:?} is not a finite number")]
    NotFinite {
        /// Name of the column or feature.
        column: String,
        /// The text.
        text: String,
    },
    /// A number beyond the largest f64, or beyond the largest f32 where that is what a data set stores.
    #[error("{text:?} for {column:?} is too large, outside the range of a {bits}-bit float")]
    TooLarge {
        /// Name of the column or feature.
        column: String,
        /// The text or value.
        text: String,
        /// 64 or 32.
        bits: u32,
    },
    /// A nominal value that is not declared.
    #[error("{text:?} is not among the declared values of {column:?}")]
    UndeclaredValue {
        /// Name of the attribute.
        column: String,
        /// The text.
        text: String,
    },
    /// Text in place of an index.
    #[error("{text:?} is no {what} index; an integer from 0 on is expected")]
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
    #[error("{what} index {index} is out of range, there are {count} (0 to {count} exclusive)")]
    IndexOutOfRange {
        /// "attribute", "feature" or "label".
        what: &'static str,
        /// The index.
        index: u64,
        /// Columns there are.
        count: u64,
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
    /// An index that no value follows.
    #[error("{what} index {index} without a value")]
    NoValue {
        /// "attribute" or "feature".
        what: &'static str,
        /// The index.
        index: u64,
    },
    /// Text after a complete row or field.
    #[error("unexpected {text:?} after {after}")]
    TextAfter {
        /// What is complete.
        after: &'static str,
        /// The text.
        text: String,
    },
    /// A feature that is not written `index:value`.
    #[error("{text:?} has no colon; index:value expected")]
    NoColon {
        /// The text.
        text: String,
    },
    /// A first line that is not three numbers.
    #[error("{text:?} is no header; three integer numbers expected: samples, features, labels")]
    BadHeader {
        /// The line.
        text: String,
    },
    /// Another number of rows than the header says.
    #[error("the header says {promised} rows, the file has {found}{}", if *.found > *.promised { " or more" } else { "" })]
    RowCount {
        /// Rows by the header.
        promised: u64,
        /// Rows read.
        found: u64,
    },
    /// More columns than an index of 32 bits can tell apart.
    #[error("{count} {what}s are more than the {} that can be indexed", u32::MAX)]
    TooManyColumns {
        /// "feature" or "label".
        what: &'static str,
        /// The number.
        count: u64,
    },

    /// A label file that is not well-formed XML.
    #[error("malformed XML: {message}")]
    Xml {
        /// What is wrong.
        message: String,
    },
    /// A file that is XML, but not a list of labels.
    #[error("unexpected {found:?}; a label file holds <labels> with nested <label name=\"...\"> elements")]
    NotALabelFile {
        /// The element or text.
        found: String,
    },
    /// An element that the file ends in.
    #[error("the file ends before element <{element}> is closed")]
    UnclosedElement {
        /// Its name.
        element: String,
    },
    /// A label without a name.
    #[error("element <label> has no attribute name")]
    LabelWithoutName,
    /// A label file without a label.
    #[error("the label file is empty: it names no label")]
    NoLabels,

    /// A target that the file does not have.
    #[error("target {name:?} is not a column of the data file")]
    UnknownTarget {
        /// Its name.
        name: String,
    },
    /// More targets asked for than there are columns.
    #[error("{asked} targets asked for, the file has {columns} columns")]
    TooManyTargets {
        /// Targets asked for.
        asked: usize,
        /// Columns of the file.
        columns: usize,
    },
    /// A label column that is declared as something else.
    #[error("label {name:?} is declared {found}; a label is declared {{0,1}}")]
    NotALabelColumn {
        /// Its name.
        name: String,
        /// Its declaration.
        found: String,
    },
    /// A label that is neither 0 nor 1.
    #[error("label {name:?} has the value {value}; 0 or 1 expected")]
    NotALabel {
        /// Its name.
        name: String,
        /// The value.
        value: f64,
    },
    /// A regression target that is declared as something else.
    #[error("target {name:?} is declared {found}; regression needs numeric targets")]
    NotATarget {
        /// Its name.
        name: String,
        /// Its declaration.
        found: String,
    },
    /// Some targets are labels, others numbers.
    #[error("target {label:?} is a label, {number:?} a number; say which task it is")]
    MixedTargets {
        /// A target declared {0,1}.
        label: String,
        /// A target declared numeric.
        number: String,
    },
    /// A target without a value where the options refuse that.
    #[error("target {name:?} is missing, which the options refuse")]
    MissingTarget {
        /// Its name.
        name: String,
    },
    /// A feature without a value where the options refuse that.
    #[error("feature {name:?} is missing, which the options refuse")]
    MissingFeature {
        /// Its name.
        name: String,
    },
    /// Another number of columns than the options demand.
    #[error("the file has {found} {what}s, the options demand {expected}")]
    Dimension {
        /// "feature" or "output".
        what: &'static str,
        /// By the options.
        expected: usize,
        /// In the file.
        found: usize,
    },
    /// A set that the file's content does not make.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
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
        let (column, text) = (column.into(), super::line::shown(text));
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
