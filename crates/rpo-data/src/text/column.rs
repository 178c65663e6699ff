//! Text columns of a set, with which other texts can be read in the same way.

use super::options::TextOptions;
use super::terms::{for_each_term, hashed};
use rpo_core::CheckParams;
use std::sync::Arc;

/// A text column of a set, with the features of its terms. It serves to read other texts in the same way
/// ([`ReadOptions::texts`](crate::read::ReadOptions::texts)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextColumn {
    /// The name of the column.
    pub name: String,
    options: TextOptions,
    /// The terms in alphabetical order; empty if terms are hashed.
    pub(super) vocabulary: Arc<[String]>,
}

impl TextColumn {
    /// Creates a column with hashed terms, or with a vocabulary in alphabetical order.
    pub(super) fn of(name: String, options: TextOptions, vocabulary: Vec<String>) -> Self {
        debug_assert!(vocabulary.windows(2).all(|pair| pair[0] < pair[1]));
        Self {
            name,
            options,
            vocabulary: vocabulary.into(),
        }
    }

    /// Restores a column whose terms are hashed; `None` if they are not by these options.
    pub fn restore_hashed(name: &str, options: TextOptions) -> Option<Self> {
        options.check().ok()?;
        options.hash?;
        Some(Self::of(name.to_owned(), options, Vec::new()))
    }

    /// Restores a column with a vocabulary from the names of its features; `None` if they are not those of such a column.
    pub fn restore<'a>(
        name: &str,
        options: TextOptions,
        features: impl Iterator<Item = &'a str>,
    ) -> Option<Self> {
        options.check().ok()?;
        let term = |feature: &'a str| feature.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']');
        let terms: Vec<&str> = features.map(term).collect::<Option<_>>()?;
        if terms.is_empty() {
            return None;
        }
        let is_valid = options.hash.is_none() && terms.windows(2).all(|pair| pair[0] < pair[1]);
        is_valid.then(|| {
            let vocabulary = terms.into_iter().map(str::to_owned).collect();
            Self::of(name.to_owned(), options, vocabulary)
        })
    }

    /// Returns the options for converting its texts to terms.
    pub fn options(&self) -> &TextOptions {
        &self.options
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.options
            .hash
            .map_or(self.vocabulary.len(), |width| width as usize)
    }

    /// Names of the features: `review[good]`, or `review[#7]` if terms are hashed.
    pub fn feature_names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.n_features()).map(|j| match self.vocabulary.get(j) {
            Some(term) => format!("{}[{term}]", self.name),
            None => format!("{}[#{j}]", self.name),
        })
    }

    /// Appends the features of the terms of a text, once per occurrence.
    pub(super) fn push_features(&self, text: &str, to: &mut Vec<u32>) {
        for_each_term(text, &self.options, |term| match self.options.hash {
            Some(width) => to.push(hashed(term, width)),
            None => {
                let found = self.vocabulary.binary_search_by(|known| known.as_str().cmp(term));
                to.extend(found.ok().map(|j| j as u32));
            }
        });
    }
}
