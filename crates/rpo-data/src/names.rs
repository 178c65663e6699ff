//! Names of columns, given or derived from their number.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The names of a set's features or outputs.
///
/// Formats without names number their columns. These names ("0", "1", ...) are not stored, so that millions of columns
/// cost nothing.
///
/// ```
/// use rpo_data::Names;
/// let names = Names::Numbered(1_000_000_000);
/// assert_eq!(names.get(7).as_deref(), Some("7"));
/// assert_eq!(names.position("12"), Some(12));
/// assert_eq!(names.position("012"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Names {
    /// One name per column.
    Given(Vec<String>),
    /// A number of columns, named by their position from 0.
    Numbered(usize),
}

impl Names {
    /// Number of names.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Given(names) => names.len(),
            Self::Numbered(n) => *n,
        }
    }

    /// Returns the name of a column; `None` beyond the last.
    pub fn get(&self, column: usize) -> Option<Cow<'_, str>> {
        match self {
            Self::Given(names) => names.get(column).map(|name| Cow::Borrowed(name.as_str())),
            Self::Numbered(n) => (column < *n).then(|| Cow::Owned(column.to_string())),
        }
    }

    /// The names of these outputs in a file with named columns beside features: their own, or, as numbers could not be
    /// told from those of the features, `output 0`, `output 1`, ... where both are numbered.
    ///
    /// ```
    /// use rpo_data::Names;
    /// let outputs = Names::Numbered(2).beside(&Names::Numbered(9)).into_owned();
    /// assert_eq!(outputs, ["output 0", "output 1"].into_iter().collect());
    /// ```
    pub fn beside(&self, features: &Self) -> Cow<'_, Self> {
        match (self, features) {
            (Self::Numbered(n), Self::Numbered(_)) => {
                Cow::Owned((0..*n).map(|column| format!("output {column}")).collect())
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// Returns all names, in column order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Cow<'_, str>> {
        (0..self.len()).map(|column| self.get(column).unwrap_or_default())
    }

    /// Returns the column of a name. Linear in the number of given names; see [`Names::positions`] for many.
    pub fn position(&self, name: &str) -> Option<usize> {
        match self {
            Self::Given(names) => names.iter().position(|n| n == name),
            Self::Numbered(n) => {
                let column: usize = name.parse().ok()?;
                (column < *n && column.to_string() == name).then_some(column)
            }
        }
    }

    /// Returns true if the columns from `first` on have these names.
    pub fn are_at(&self, first: usize, names: impl IntoIterator<Item = String>) -> bool {
        (0..).zip(names).all(|(i, name)| {
            let column = first.checked_add(i);
            column.and_then(|column| self.get(column)).as_deref() == Some(&*name)
        })
    }

    /// Returns the column of each of `others` in this set, `None` for a name that is not in it: the map from the
    /// columns of another set to those of this one. O((n + m) log n).
    pub fn positions(&self, others: &Self) -> Vec<Option<usize>> {
        match (self, others) {
            (Self::Numbered(n), Self::Numbered(m)) => (0..*m).map(|j| (j < *n).then_some(j)).collect(),
            (Self::Numbered(_), Self::Given(names)) => names.iter().map(|name| self.position(name)).collect(),
            (Self::Given(names), _) => {
                let columns: BTreeMap<&str, usize> = names
                    .iter()
                    .enumerate()
                    .map(|(j, name)| (name.as_str(), j))
                    .collect();
                others
                    .iter()
                    .map(|name| columns.get(name.as_ref()).copied())
                    .collect()
            }
        }
    }

    /// Returns the names of the given columns, in that order. A column keeps its name when others are dropped: numbered
    /// names become given ones unless every column stays in place.
    ///
    /// # Panics
    /// If a column is out of range.
    #[must_use]
    pub(crate) fn select(&self, columns: &[usize]) -> Self {
        match self {
            Self::Numbered(n) if columns.len() == *n && columns.iter().enumerate().all(|(i, &j)| i == j) => {
                self.clone()
            }
            _ => Self::Given(
                columns
                    .iter()
                    .map(|&j| self.get(j).expect("a column within range").into_owned())
                    .collect(),
            ),
        }
    }

    /// Returns the name most similar to a misspelt one, if there is a similar one.
    ///
    /// ```
    /// use rpo_data::Names;
    /// let names: Names = ["lrap", "micro-f1", "macro-f1"].into_iter().collect();
    /// assert_eq!(names.nearest("mikro-f1").as_deref(), Some("micro-f1"));
    /// assert_eq!(names.nearest("weight"), None);
    /// ```
    pub fn nearest(&self, misspelt: &str) -> Option<Cow<'_, str>> {
        let Self::Given(names) = self else { return None };
        let misspelt = misspelt.to_lowercase();
        let score = |name: &str| strsim::jaro_winkler(&misspelt, &name.to_lowercase());
        let scored = names.iter().map(|name| (score(name), name));
        let (score, best) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (score > 0.8).then_some(Cow::Borrowed(best.as_str()))
    }

    /// Returns a name that occurs twice.
    pub fn duplicate(&self) -> Option<&str> {
        match self {
            Self::Given(names) => duplicate(names),
            Self::Numbered(_) => None,
        }
    }
}

/// Returns the name most similar to a misspelt one, if there is a similar one.
pub(crate) fn nearest<'a>(misspelt: &str, names: impl Iterator<Item = &'a str>) -> Option<Box<str>> {
    let names: Names = names.collect();
    names.nearest(misspelt).map(Into::into)
}

/// Returns a name that occurs twice, the first in alphabetical order.
pub(crate) fn duplicate(names: &[String]) -> Option<&str> {
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
    twice.map(|pair| pair[0])
}

impl<S: Into<String>> FromIterator<S> for Names {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self::Given(names.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_map_one_set_of_names_to_another() {
        let given: Names = ["a", "2", "c"].into_iter().collect();
        let other: Names = ["c", "x", "a"].into_iter().collect();
        assert_eq!(given.positions(&other), [Some(2), None, Some(0)]);
        assert_eq!(given.positions(&Names::Numbered(3)), [None, None, Some(1)]);
        assert_eq!(Names::Numbered(3).positions(&given), [None, Some(2), None]);
        assert_eq!(Names::Numbered(1).positions(&Names::Numbered(2)), [Some(0), None]);
    }

    #[test]
    fn names_are_at_their_columns() {
        let given: Names = ["a", "b", "c"].into_iter().collect();
        let are_at = |first, names: &[&str]| given.are_at(first, names.iter().map(|&name| name.to_owned()));
        assert!(are_at(1, &["b", "c"]) && are_at(3, &[]));
        assert!(!are_at(0, &["b"]) && !are_at(2, &["c", "d"]) && !are_at(usize::MAX, &["a", "b"]));
    }

    #[test]
    fn a_selected_column_keeps_its_name() {
        assert_eq!(
            Names::Numbered(3).select(&[2, 0]),
            ["2", "0"].into_iter().collect()
        );
        assert_eq!(Names::Numbered(2).select(&[0, 1]), Names::Numbered(2));
        assert_eq!(
            Names::Given(vec!["x".into(), "y".into(), "x".into()]).duplicate(),
            Some("x")
        );
    }
}
