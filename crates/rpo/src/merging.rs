//! Merging the parts of a forest as they come.

use crate::{Model, ModelError};

/// Merges the parts of a forest as they come, fastest in the order of their trees: the first part of an array of jobs, then the
/// second. Parts that record their trees may come in any order, and must leave none out.
///
/// A part is taken over, so that memory holds every tree once, and what it came from, such as the bytes of its file, can be
/// let go of before the next. Neighbours of as many parts are merged: each tree is moved log2 of the number of parts times.
/// The model is that of merging one part after the other ([`Model::merge`]).
///
/// ```
/// use rpo::data::generate::MultiLabelSet;
/// use rpo::prelude::*;
/// use rpo::Merging;
///
/// let data = MultiLabelSet::new(100, 20, 5).generate(Seed::new(1))?;
/// let grow = |first_tree, trees| {
///     Model::fit(&ForestParams { trees, first_tree, ..ForestParams::default() }, &data)
/// };
/// let mut merging = Merging::default();
/// for first in 0..5 {
///     merging.push(grow(2 * first, 2)?)?;
/// }
/// assert_eq!(merging.finish()?, Some(grow(0, 10)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Merging {
    /// Neighbours, with fewer and fewer parts.
    models: Vec<Merged>,
    n_parts: usize,
}

/// A model of parts that follow each other.
#[derive(Debug)]
struct Merged {
    first: usize,
    n_parts: usize,
    model: Model,
}

impl Merged {
    /// Returns true if nothing lies between the trees of the two, as far as they are recorded.
    fn is_neighbour(&self, other: &Self) -> bool {
        let trees = self.model.trees().zip(other.model.trees());
        trees.is_none_or(|(ours, theirs)| ours.end >= theirs.start && theirs.end >= ours.start)
    }

    /// One model of this one and the parts that follow.
    fn merge(self, next: Self) -> Result<Self, MergingError> {
        let part = self.first.max(next.first);
        let model = self.model.merge(next.model);
        Ok(Self {
            first: self.first.min(next.first),
            n_parts: self.n_parts + next.n_parts,
            model: model.map_err(|source| MergingError { part, source })?,
        })
    }
}

impl Merging {
    /// Adds the next part.
    ///
    /// # Errors
    /// [`MergingError`] if parts do not belong together, as for [`Model::merge`]. That trees do not may be found when a later
    /// part comes, or at the end; what was pushed is lost then.
    pub fn push(&mut self, part: Model) -> Result<(), MergingError> {
        if let Some(before) = self.models.last() {
            let checked = before.model.check_part(&part);
            let index = self.n_parts;
            checked.map_err(|source| MergingError { part: index, source })?;
        }
        let mut merged = Merged {
            first: self.n_parts,
            n_parts: 1,
            model: part,
        };
        self.n_parts += 1;
        let fits = |before: &Merged, merged: &Merged| {
            before.n_parts == merged.n_parts && before.is_neighbour(merged)
        };
        while let Some(before) = self.models.pop_if(|before| fits(before, &merged)) {
            merged = before.merge(merged)?;
        }
        self.models.push(merged);
        Ok(())
    }

    /// The model of all parts; `None` if there was none.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish(mut self) -> Result<Option<Model>, MergingError> {
        // The order stays where trees are not recorded.
        self.models
            .sort_by_key(|merged| merged.model.trees().map(|trees| trees.start));
        let mut models = self.models.into_iter().rev();
        let Some(last) = models.next() else {
            return Ok(None);
        };
        let merged = models.try_fold(last, |merged, before| before.merge(merged))?;
        Ok(Some(merged.model))
    }
}

/// A part that does not belong to those before it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("part {part}: {source}")]
pub struct MergingError {
    /// The index of the part.
    pub part: usize,
    /// Why.
    pub source: ModelError,
}
