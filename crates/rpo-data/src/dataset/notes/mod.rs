//! What a reader notes about a file besides its data.

mod code;
mod empty_lines;
mod integer_ids;
mod left_out;
mod rounded;
mod stored_as_text;

pub use code::Code;
pub use empty_lines::EmptyLines;
pub use integer_ids::IntegerIds;
pub(crate) use integer_ids::IntegerTypes;
pub use left_out::LeftOut;
pub use rounded::{Rounded, Rounding};
pub use stored_as_text::StoredAsText;

/// What a set does not hold of the file that it was read from, or holds otherwise: for messages to whoever reads it.
/// Sets of the same data are equal whatever was noted, and what is selected from a set has its notes.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ReadNotes {
    /// The empty lines that were skipped, if there are some between the samples of an svmlight file.
    pub empty_lines: Option<EmptyLines>,
    /// Labels of samples that were not to be read ([`LabelList::labels`](crate::read::LabelList::labels),
    /// [`ReadOptions::leave_out`](crate::read::ReadOptions::leave_out)).
    pub other_labels: LeftOut,
    /// Features of samples that were not to be read ([`ReadOptions::leave_out`](crate::read::ReadOptions::leave_out)).
    pub other_features: LeftOut,
    /// The numbers of features and labels in the header of a file of the Extreme Classification Repository, if they are not
    /// those that were asked for ([`ReadOptions::leave_out`](crate::read::ReadOptions::leave_out)).
    pub declared: Option<(usize, usize)>,
    /// The columns with numbers that rounding changed noticeably.
    pub rounded: Vec<Rounded>,
    /// The columns of a Parquet or Arrow file that were not read, as they hold the index of a pandas data frame.
    pub index_columns: Vec<String>,
    /// The categories of a Parquet or Arrow file whose texts are numbers or dates.
    pub stored_as_text: Vec<StoredAsText>,
    /// The columns of a CSV file whose values have leading zeros, if they may have been read as numbers.
    pub codes: Vec<Code>,
    /// The type of the identifiers, if all are integers of 64 bits in the file: in CSV as they are usually written, in
    /// Parquet and Arrow by the type of their column, in which some may be missing. A set holds them as texts.
    pub integer_ids: Option<IntegerIds>,
    /// The name of the column of identifiers in the file.
    pub id_column: Option<String>,
    /// The columns of a table that were not read, as the options give them no type
    /// ([`ReadOptions::ignore_untyped`](crate::read::ReadOptions::ignore_untyped)).
    pub untyped_columns: Vec<String>,
    /// The first line of a CSV file, cut if it is long, if the names of the columns in it are distinct whole numbers: they
    /// may be column numbers, or a sample of a file without names.
    pub numbers_as_names: Option<String>,
    /// Number of columns of a CSV file that were not read, as they have neither a name nor a value.
    pub n_blank_columns: usize,
}
