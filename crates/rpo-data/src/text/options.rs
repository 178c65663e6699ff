//! Options for converting texts to terms.

use rpo_core::{CheckParams, ParameterError};
use serde::{Deserialize, Serialize};

/// The units of which terms consist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextUnit {
    /// Words: longest runs of letters and digits of any script, with the marks on them (vowel signs, accents, zero
    /// width joiners within). Everything else separates words, including underscores and apostrophes.
    #[default]
    Words,
    /// Characters, where a run of white space counts as one blank: for languages without blanks between words, and for
    /// misspelt words.
    Characters,
}

/// The conversion of text columns to features: terms are `shortest` to `longest` consecutive words (or characters), and
/// the value of a term's feature is its count in the text. Texts are normalized before (NFC), as an accented letter may be
/// one character or two.
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
    /// The units of terms; words by default.
    pub unit: TextUnit,
    /// Minimum number of consecutive units of a term; 1 by default.
    pub shortest: u32,
    /// Maximum number of consecutive units of a term; 1 by default.
    pub longest: u32,
    /// Distinguishes upper and lower case; false by default: texts are converted to lower case.
    pub case: bool,
    /// Minimum number of samples with a term of the vocabulary; 2 by default, as nothing general can be learned from a
    /// term that occurs in one sample.
    pub min_samples: u32,
    /// Maximum number of terms of the vocabulary: those in the most samples, ties in alphabetical order. 100,000 by
    /// default.
    pub max_terms: u32,
    /// Number of features that terms are hashed to, in place of a vocabulary limited by `min_samples` and `max_terms`:
    /// memory does not grow with the terms, and terms that are not in the training set are not lost, but terms with the
    /// same feature are not distinguished. None by default: a vocabulary.
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

/// Maximum number of consecutive units.
const MOST_UNITS: u32 = 16;
/// Maximum number of features of a column, and of all columns whose terms are hashed.
const MOST_FEATURES: u32 = 1 << 24;

impl TextOptions {
    /// Refuses more hashed features of several columns together than one column may have.
    pub(crate) fn check_columns(&self, n_columns: usize) -> Result<(), ParameterError> {
        self.check()?;
        let Some(width) = self.hash else {
            return Ok(());
        };
        let all = (width as usize).saturating_mul(n_columns);
        let expected = "at most 16777216 for all columns of texts together";
        ParameterError::unless(all <= MOST_FEATURES as usize, "hash", width, expected)
    }
}

impl CheckParams for TextOptions {
    type Error = ParameterError;

    /// Refuses terms of 0 or more than 16 units, a `shortest` above `longest`, and 0 or more than 2^24 features.
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
