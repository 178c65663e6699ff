//! Detection of features that were probably not meant to be features.

mod identifiers;
mod words;

pub use words::Form;

use crate::dataset::{Code, Dataset, StoredAsText};
use crate::message::quoted;
use rpo_core::MatrixView;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Minimum number of samples from which on distinct values are no coincidence.
const FEW: usize = 20;

/// A feature that probably is not one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Suspicion {
    /// A category with a different value in every sample, like a name or an identifier; or a different whole number in
    /// every sample, if the numbers of 100 samples or more are consecutive in some order, or if the name is that of an
    /// identifier.
    DistinctValues {
        /// The feature.
        feature: String,
    },
    /// A category whose values are texts, most of which occur in one sample.
    Texts {
        /// The feature.
        feature: String,
        /// Number of distinct values.
        n_values: usize,
    },
    /// A category with values that usually stand for a missing one.
    MissingWords {
        /// The feature.
        feature: String,
        /// These values.
        words: Vec<String>,
    },
    /// A category whose values are dates or numbers in a form that is not read.
    OtherForm {
        /// The feature.
        feature: String,
        /// One of its values.
        value: String,
        /// What the values look like.
        form: Form,
    },
    /// A category whose values are numbers or dates that the file stores as texts.
    StoredAsText(StoredAsText),
    /// Numbers with leading zeros, such as postal codes.
    Code(Code),
    /// Features whose name is that of an output with another number.
    LikeOutput {
        /// The first such feature.
        feature: String,
        /// Number of such features.
        count: usize,
        /// The output.
        output: String,
    },
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DistinctValues { feature } => write!(
                f,
                "feature {} has a different value in every sample, as identifiers have",
                quoted(feature)
            ),
            Self::Texts { feature, n_values } => write!(
                f,
                "feature {} is a category of {n_values} values that look like texts",
                quoted(feature)
            ),
            Self::MissingWords { feature, words } => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                write!(
                    f,
                    "feature {} is a category with the value {}",
                    quoted(feature),
                    words.join(" and ")
                )
            }
            Self::OtherForm { feature, value, form } => write!(
                f,
                "feature {} is a category of values such as {}, which look like {form}",
                quoted(feature),
                quoted(value)
            ),
            Self::StoredAsText(stored) => stored.fmt(f),
            Self::Code(code) => write!(
                f,
                "feature {} is a number whose values have leading zeros, such as {}, as codes have",
                quoted(&code.column),
                code.value
            ),
            Self::LikeOutput {
                feature,
                count,
                output,
            } => {
                let features = match count {
                    1 => format!("feature {} is", quoted(feature)),
                    n => format!("feature {} and {} more are", quoted(feature), n - 1),
                };
                write!(
                    f,
                    "{features} named like the target {}; are they targets too?",
                    quoted(output)
                )
            }
        }
    }
}

/// Finds features with names or values that are unusual for features. Sets with numbered columns have none.
///
/// ```
/// use rpo_data::read::{ReadOptions, Targets, read_from};
/// use rpo_data::{Suspicion, suspicious_features};
/// let text = "width,price_1,price_2\n1,2,3\n4,5,6\n";
/// let options = ReadOptions { targets: Targets::Last(1), ..ReadOptions::default() };
/// let found = suspicious_features(&read_from(text.as_bytes(), &options)?);
/// assert_eq!(found[0].to_string(), "feature \"price_1\" is named like the target \"price_2\"; are they targets too?");
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
pub fn suspicious_features(data: &Dataset) -> Vec<Suspicion> {
    let mut found = texts(data);
    found.extend(words::missing(data));
    found.extend(
        data.notes
            .stored_as_text
            .iter()
            .cloned()
            .map(Suspicion::StoredAsText),
    );
    found.extend(codes(data).map(Suspicion::Code));
    found.extend(other_forms(data));
    found.extend(distinct_values(data));
    found.extend(like_outputs(data));
    found
}

/// Minimum mean number of words of a column of texts; categories and identifiers have fewer.
const FEW_WORDS: usize = 4;

/// Returns true if the values of a category of `n` samples are texts: most samples have a unique value.
fn are_texts(values: &[String], n: usize) -> bool {
    let n_words = values.iter().map(|value| value.split_whitespace().count());
    n >= FEW && 2 * values.len() > n && n_words.sum::<usize>() >= FEW_WORDS * values.len()
}

fn texts(data: &Dataset) -> Vec<Suspicion> {
    let n = data.n_samples();
    let features = data.nominal().iter().filter(|(_, values)| are_texts(values, n));
    let found = features.filter_map(|(&j, values)| {
        Some(Suspicion::Texts {
            feature: data.feature_names().get(j)?.into_owned(),
            n_values: values.len(),
        })
    });
    found.collect()
}

/// The features that are numbers with leading zeros.
fn codes(data: &Dataset) -> impl Iterator<Item = Code> + '_ {
    let names = data.notes.codes.iter().map(|code| code.column.clone()).collect();
    let positions = data.feature_names().positions(&names);
    let codes = data.notes.codes.iter().zip(positions);
    codes.filter_map(|(code, feature)| {
        let is_number = !data.nominal().contains_key(&feature?);
        is_number.then(|| code.clone())
    })
}

fn other_forms(data: &Dataset) -> Vec<Suspicion> {
    let features = data.nominal().iter();
    let found = features.filter_map(|(&feature, values)| {
        let name = data.feature_names().get(feature)?;
        if is_stored_as_text(data, &name) {
            return None;
        }
        Some(Suspicion::OtherForm {
            form: Form::of(values)?,
            feature: name.into_owned(),
            value: words::example(values)?.clone(),
        })
    });
    found.collect()
}

fn is_stored_as_text(data: &Dataset, feature: &str) -> bool {
    let mut stored = data.notes.stored_as_text.iter();
    stored.any(|stored| stored.column == feature)
}

fn distinct_values(data: &Dataset) -> Vec<Suspicion> {
    let n = data.n_samples();
    let is_distinct = |feature: usize, values: &[String]| {
        let is_other = are_texts(values, n) || Form::of(values).is_some();
        let fits = n >= FEW && values.len() == n && !is_other;
        fits && count_distinct(data.features().view(), feature) == n
    };
    let features = data.nominal().iter();
    let features = features.filter(|(feature, values)| is_distinct(**feature, values));
    let names = features.filter_map(|(&feature, _)| data.feature_names().get(feature));
    let names = names.filter(|name| !is_stored_as_text(data, name));
    let numbered = identifiers::numbered(data).into_iter().map(Into::into);
    let found = names.chain(numbered);
    found
        .map(|name| Suspicion::DistinctValues {
            feature: name.into_owned(),
        })
        .collect()
}

fn count_distinct(x: MatrixView<'_>, feature: usize) -> usize {
    let mut values = BTreeSet::new();
    for row in 0..x.n_rows() {
        x.for_each_in_row(row, |j, v| {
            if j as usize == feature && !v.is_nan() {
                values.insert(v.to_bits());
            }
        });
    }
    values.len()
}

fn like_outputs(data: &Dataset) -> Vec<Suspicion> {
    let crate::Names::Given(outputs) = data.output_names() else {
        return Vec::new();
    };
    let crate::Names::Given(features) = data.feature_names() else {
        return Vec::new();
    };
    let stems: BTreeMap<&str, &String> = outputs
        .iter()
        .rev()
        .filter_map(|name| Some((stem(name)?, name)))
        .collect();
    let mut found: BTreeMap<&str, (&String, usize)> = BTreeMap::new();
    for feature in features {
        if let Some(stem) = stem(feature).filter(|stem| stems.contains_key(stem)) {
            found.entry(stem).or_insert((feature, 0)).1 += 1;
        }
    }
    let suspicions = found
        .into_iter()
        .map(|(stem, (feature, count))| Suspicion::LikeOutput {
            feature: feature.clone(),
            count,
            output: stems[stem].clone(),
        });
    suspicions.collect()
}

/// Returns a name without the number at its end; `None` if there is no number, or nothing else.
fn stem(name: &str) -> Option<&str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some(stem).filter(|stem| stem.len() < name.len() && !stem.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{Format, ReadOptions, Targets, read_from};

    #[test]
    fn identifiers_and_forgotten_targets_are_found() {
        let mut text = String::from("key,kind,a1,b1,t1,t2,t3,row_id\n");
        for i in 0..FEW {
            text += &format!("k{i},{},1,2,3,4,5,{i}\n", if i % 2 == 0 { "x" } else { "y" });
        }
        let options = ReadOptions {
            format: Format::Csv,
            targets: Targets::Names(vec!["t3".to_owned()]),
            ..ReadOptions::default()
        };
        let data = read_from(text.as_bytes(), &options).unwrap();
        let distinct = |feature: &str| Suspicion::DistinctValues {
            feature: feature.to_owned(),
        };
        let like = Suspicion::LikeOutput {
            feature: "t1".to_owned(),
            count: 2,
            output: "t3".to_owned(),
        };
        assert_eq!(
            suspicious_features(&data),
            [distinct("key"), distinct("row_id"), like]
        );
        let fewer = data.select_samples(&[0, 1, 2]).unwrap();
        assert_eq!(suspicious_features(&fewer).len(), 1);
        let numbered = Dataset::new(data.features().clone(), data.outputs().clone(), data.task()).unwrap();
        assert!(suspicious_features(&numbered).is_empty());
    }

    #[test]
    fn words_for_missing_values_and_other_forms_are_found() {
        let mut text = String::from("kind,since,price,plain,y\n");
        for i in 0..FEW {
            let kind = ["red", "blue", "n/a", "None"][i % 4];
            text += &format!("{kind},{}/12/2024,${i},word{},1\n", i + 1, i % 3);
        }
        let options = ReadOptions {
            format: Format::Csv,
            targets: Targets::Last(1),
            ..ReadOptions::default()
        };
        let notes = |options: &ReadOptions| {
            let data = read_from(text.as_bytes(), options).unwrap();
            let found = suspicious_features(&data);
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let since = "feature \"since\" is a category of values such as \"1/12/2024\", which look like dates; dates are \
                     read in the forms 2024-01-31, 2024/01/31 and 31.01.2024";
        let price = "feature \"price\" is a category of values such as \"$0\", which look like numbers; numbers are read \
                     without currencies, percent signs, units, parentheses and separators of thousands";
        let kind = "feature \"kind\" is a category with the value \"None\" and \"n/a\"";
        assert_eq!(notes(&options), [kind, since, price]);
        let missing = ReadOptions {
            missing_values: vec!["n/a".to_owned(), "None".to_owned()],
            ..options
        };
        assert_eq!(notes(&missing), [since, price]);
    }
}
