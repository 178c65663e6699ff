//! Labels or features of samples in a file that were left out of the set.

use std::collections::BTreeSet;

/// Labels or features that samples have in a file but that were not to be read, so that the set does not contain them.
///
/// For metrics, the samples of such a set never had these labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Number of occurrences in samples.
    pub count: usize,
    /// Number of samples with any.
    pub n_samples: usize,
    /// The first one in the file, by its name or index there; `None` if there was none.
    pub first: Option<String>,
    /// The last sample with any.
    last: Option<usize>,
    /// The distinct names.
    distinct: BTreeSet<String>,
}

impl LeftOut {
    /// Returns the number of distinct labels or features.
    pub fn n_distinct(&self) -> usize {
        self.distinct.len()
    }

    /// Counts one occurrence in a sample; samples come in order.
    pub(crate) fn add(&mut self, sample: usize, name: &str) {
        self.count += 1;
        if self.last.replace(sample) != Some(sample) {
            self.n_samples += 1;
        }
        if !self.distinct.contains(name) {
            self.first.get_or_insert_with(|| name.to_owned());
            self.distinct.insert(name.to_owned());
        }
    }
}
