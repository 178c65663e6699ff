//! Detection of features that were probably not meant to be features.

mod identifiers;

use crate::dataset::Dataset;
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
    /// every sample, if the numbers are consecutive in some order or the name is that of an identifier.
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
                "feature {} has a different value in every sample, as identifiers have; name it by --id or --ignore if it \
                 is one",
                quoted(feature)
            ),
            Self::Texts { feature, n_values } => write!(
                f,
                "feature {} is a category of {n_values} values that look like texts; --text makes features of their words",
                quoted(feature)
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

fn distinct_values(data: &Dataset) -> Vec<Suspicion> {
    let n = data.n_samples();
    let is_distinct = |feature: usize, values: &[String]| {
        let fits = n >= FEW && values.len() == n && !are_texts(values, n);
        fits && count_distinct(data.features().view(), feature) == n
    };
    let features = data.nominal().iter();
    let features = features.filter(|(feature, values)| is_distinct(**feature, values));
    let names = features.filter_map(|(&feature, _)| data.feature_names().get(feature));
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
        let mut text = String::from("key,kind,a1,b1,t1,t2,t3,row\n");
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
            [distinct("key"), distinct("row"), like]
        );
        let fewer = data.select_samples(&[0, 1, 2]).unwrap();
        assert_eq!(suspicious_features(&fewer).len(), 1);
        let numbered = Dataset::new(data.features().clone(), data.outputs().clone(), data.task()).unwrap();
        assert!(suspicious_features(&numbered).is_empty());
    }
}
