//! Columns of a model that data lack, with the columns of the data that may be meant.

use rpo_data::Names;
use std::fmt;

/// The largest number of missing columns that an error lists.
pub(super) const MOST_LISTED: usize = 5;

/// The name of a column that the data lack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingName {
    /// The name.
    pub name: String,
    /// The most similar name of a column of the data that the model does not use, if there is a similar one.
    pub nearest: Option<String>,
}

impl MissingName {
    /// Finds the nearest of the unused columns of the data, in any case.
    pub(super) fn new(name: String, unused: &[String]) -> Self {
        let lower: Vec<String> = unused.iter().map(|name| name.to_lowercase()).collect();
        let wanted = name.to_lowercase();
        let position = |nearest: &str| lower.iter().position(|name| name == nearest);
        let found = position(&wanted).or_else(|| {
            let names: Names = lower.iter().map(String::as_str).collect();
            position(&names.nearest(&wanted)?)
        });
        let nearest = found.map(|at| unused[at].clone());
        Self { name, nearest }
    }
}

impl fmt::Display for MissingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.name)?;
        match &self.nearest {
            // A column of the kind that is needed would have been found.
            Some(nearest) if *nearest == self.name => {
                write!(f, " (it has a column of this name that is of another kind)")
            }
            Some(nearest) => write!(f, " (it has {nearest:?})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MissingName;

    #[test]
    fn the_nearest_unused_column_is_found_in_any_case() {
        let unused = ["hight", "WIDTH", "colour"].map(str::to_owned);
        for (name, nearest) in [("height", Some("hight")), ("Width", Some("WIDTH")), ("age", None)] {
            let missing = MissingName::new(name.to_owned(), &unused);
            assert_eq!(missing.nearest.as_deref(), nearest);
        }
        let missing = MissingName::new("height".to_owned(), &unused);
        assert_eq!(missing.to_string(), "\"height\" (it has \"hight\")");
    }
}
