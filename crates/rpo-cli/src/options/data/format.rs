//! The format of a file.

use crate::options::names::{List, all};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rpo::data::read::{FirstFeature, Format, ReadOptions};

/// The format of a file.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub(super) struct FormatOptions {
    /// Format of the file; by default detected from its name or its first bytes.
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = formats())]
    pub(super) format: Format,

    /// Character between the columns of a CSV file (or the word tab). By default, of comma, semicolon, tab and |, the
    /// most frequent that divides header and first row into the same number of columns; if none does, a comma or, if
    /// the header has none, the most frequent; a tab in files named .tsv or .tab. Input that is not recognized as
    /// another format is CSV if this option is given.
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    pub(super) delimiter: Option<char>,

    /// Numbers of a CSV file have decimal commas, 0,57; where commas separate columns, too, such numbers are in quotes
    /// (--delimiter , says so if the first row has none). A number with a point is an error, as the point may separate
    /// thousands. Give it again for each such file.
    #[arg(long)]
    pub(super) decimal_comma: bool,

    /// Texts of a CSV file that are missing values beside an empty cell and NA, as they are written: n/a or -999, for
    /// example. By default those of the training file of the model, which stores them.
    #[arg(long, value_name = "TEXT,...", allow_hyphen_values = true)]
    pub(super) missing_values: Vec<List<String>>,

    /// Memory limit in MiB for the rows of a Parquet or Arrow file, as a small file can hold any number of equal rows,
    /// and for the terms of a column of texts.
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    table_memory: usize,

    /// Index of the first feature in svmlight files: 1 by default, or as in the training file of the model.
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(super) first_feature: Option<u8>,
}

impl FormatOptions {
    pub(super) fn options(&self) -> ReadOptions {
        let first_feature = self.first_feature.map(|first| match first {
            0 => FirstFeature::Zero,
            _ => FirstFeature::One,
        });
        ReadOptions {
            format: self.format,
            first_feature,
            delimiter: self.delimiter,
            decimal_comma: self.decimal_comma,
            missing_values: all(&self.missing_values),
            memory_limit: self.table_memory.saturating_mul(1 << 20),
            ..ReadOptions::default()
        }
    }
}

/// Parses the names of formats.
pub(in crate::options) fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::names()).try_map(|name| name.parse::<Format>())
}

/// Parses a character that separates columns or labels.
pub(super) fn parse_delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (characters.next(), characters.next(), text) {
        (Some(character), None, _) => Ok(character),
        (_, _, "tab" | "\\t") => Ok('\t'),
        _ => Err("one character is expected, or tab".to_owned()),
    }
}
