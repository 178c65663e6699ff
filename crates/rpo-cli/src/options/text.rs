//! Options for columns of texts.

use super::names::List;
use crate::error::CliError;
use clap::Args;
use rpo::core::CheckParams;
use rpo::data::text::{TextOptions, TextUnit};

/// Selects columns of texts and the features made of them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Texts")]
pub(crate) struct TextColumnOptions {
    /// Columns of a CSV, Parquet or Arrow file that are texts: each word is a feature, weighted according to
    /// --text-weights. The model keeps the words. * matches any characters, ? matches one.
    #[arg(long, value_name = "NAME,...")]
    text: Vec<List<String>>,

    /// Number of consecutive words in a term, which is a feature: 1 for single words, 1-2 to include pairs.
    #[arg(long, value_name = "N|N-M", default_value = "1", value_parser = parse_range, requires = "text")]
    text_ngrams: (u32, u32),

    /// Terms consist of consecutive characters, not words, as many as --text-ngrams gives: for languages without spaces
    /// between words.
    #[arg(long, requires = "text")]
    text_characters: bool,

    /// Distinguish upper case and lower case in texts.
    #[arg(long, requires = "text")]
    text_case: bool,

    /// Smallest number of training samples that contain a term of the vocabulary.
    #[arg(long, value_name = "N", default_value_t = TextOptions::default().min_samples, requires = "text")]
    text_min_samples: u32,

    /// Largest number of terms in the vocabulary of a column: the terms that occur in most samples.
    #[arg(long, value_name = "N", default_value_t = TextOptions::default().max_terms, requires = "text")]
    text_max_terms: u32,

    /// Hash terms to this many features, instead of a vocabulary: no term is unseen, but terms with the same hash are
    /// not distinguished.
    #[arg(long, value_name = "N", conflicts_with_all = ["text_min_samples", "text_max_terms"], requires = "text")]
    text_hash: Option<u32>,
}

impl TextColumnOptions {
    /// Names and patterns of the columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &String> {
        self.text.iter().flat_map(|List(names)| names)
    }

    /// The options that split texts into terms.
    pub(crate) fn options(&self) -> Result<TextOptions, CliError> {
        let (shortest, longest) = self.text_ngrams;
        let options = TextOptions {
            unit: match self.text_characters {
                true => TextUnit::Characters,
                false => TextUnit::Words,
            },
            shortest,
            longest,
            case: self.text_case,
            min_samples: self.text_min_samples,
            max_terms: self.text_max_terms,
            hash: self.text_hash,
        };
        let option = |name: &str| match name {
            "shortest" | "longest" => "ngrams".to_owned(),
            name => name.replace('_', "-"),
        };
        options.check().map_err(|e| {
            let option = option(e.name());
            CliError::Usage(format!("--text-{option}: {e}"))
        })?;
        Ok(options)
    }
}

fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| {
        text.parse()
            .map_err(|_| "a number such as 2, or a range such as 1-2, is expected")
    };
    let (shortest, longest) = text.split_once('-').unwrap_or((text, text));
    Ok((number(shortest)?, number(longest)?))
}
