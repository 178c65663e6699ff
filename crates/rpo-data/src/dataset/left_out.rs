//! What samples have in a file beyond the columns of a set.

use std::collections::BTreeSet;

/// Labels, or features, that samples have in a file and that were not among those to be read: the set is without them.
///
/// Metrics see such a set as one whose samples never had these labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How often a sample had one of them.
    pub count: usize,
    /// The first in the file, by the name or the index that it has there; `None` if there was none.
    pub first: Option<String>,
    /// Each of them once.
    distinct: BTreeSet<String>,
}

impl LeftOut {
    /// How many different ones there were.
    pub fn n_distinct(&self) -> usize {
        self.distinct.len()
    }

    /// Counts one that a sample had.
    pub(crate) fn add(&mut self, name: &str) {
        self.count += 1;
        if !self.distinct.contains(name) {
            self.first.get_or_insert_with(|| name.to_owned());
            self.distinct.insert(name.to_owned());
        }
    }
}
