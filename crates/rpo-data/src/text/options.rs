//! How texts become terms.

use rpo_core::{CheckParams, ParameterError};
use serde::{Deserialize, Serialize};

/// What terms are made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextUnit {
    /// Words: longest runs of letters and digits of any script. Everything else parts words, underscores and apostrophes
    /// too.
    #[default]
    Words,
    /// Characters, runs of white space counting as one blank: for languages without blanks between words, and for
    /// misspelt words.
    Characters,
}

/// How the texts of a column become features: terms are `shortest` to `longest` words (or characters) in a row, and the
/// value of a term's feature is how often the text has it.
///
/// ```
/// use rpo_data::read::{ColumnType, ReadOptions, read_from};
/// use rpo_data::text::TextOptions;
/// let csv = "size,review\n1,\"Good, so good!\"\n2,not good\n";
/// let types = [("review".to_owned(), ColumnType::Text)].into();
/// let text = TextOptions { longest: 2, min_samples: 1, ..TextOptions::default() };
/// let data = read_from(csv.as_bytes(), &ReadOptions { types, text, ..ReadOptions::default() })?;
/// let names: Vec<_> = data.feature_names().iter().collect();
/// let expected = ["good", "good so", "not", "not good", "so", "so good"].map(|term| format!("review[{term}]"));
/// assert_eq!((&names[0][..], &names[1..]), ("size", &expected.map(Into::into)[..]));
/// assert_eq!(data.features().view().to_dense(1 << 20)?.row(0).to_vec(), [1.0, 2.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextOptions {
    /// What terms are made of; words by default.
    pub unit: TextUnit,
    /// The fewest units in a row that are a term; 1 by default.
    pub shortest: u32,
    /// The most units in a row that are a term; 1 by default.
    pub longest: u32,
    /// Tells upper case from lower case; false by default: texts are read in lower case.
    pub case: bool,
    /// The fewest samples that have a term of the vocabulary; 2 by default, as nothing general can be learned of a term
    /// that one sample has.
    pub min_samples: u32,
    /// The most terms of the vocabulary: those of most samples, first in the alphabet among equals. 100,000 by default.
    pub max_terms: u32,
    /// The number of features that terms are hashed to, in place of a vocabulary, which `min_samples` and `max_terms`
    /// limit: memory does not grow with the terms, and terms that training did not have are not lost, but terms that
    /// meet in a feature are not told apart. By default none: a vocabulary.
    pub hash: Option<u32>,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            unit: TextUnit::Words,
            shortest: 1,
            longest: 1,
            case: false,
            min_samples: 2,
            max_terms: 100_000,
            hash: None,
        }
    }
}

/// The most units in a row, and the most features of a column.
const MOST_UNITS: u32 = 16;
const MOST_FEATURES: u32 = 1 << 24;

impl CheckParams for TextOptions {
    type Error = ParameterError;

    /// Refuses a term of no units or more than 16, or of more than the longest; no feature, or more than 2^24.
    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::unless(
            (1..=MOST_UNITS).contains(&self.longest),
            "longest",
            self.longest,
            "1 to 16",
        )?;
        ParameterError::unless(
            (1..=self.longest).contains(&self.shortest),
            "shortest",
            self.shortest,
            "1 to `longest`",
        )?;
        let features = [("max_terms", Some(self.max_terms)), ("hash", self.hash)];
        for (name, n) in features.into_iter().filter_map(|(name, n)| Some((name, n?))) {
            ParameterError::unless((1..=MOST_FEATURES).contains(&n), name, n, "1 to 16777216")?;
        }
        Ok(())
    }
}
