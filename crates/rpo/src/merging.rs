//! Merges the parts of a forest one by one as they arrive.

use crate::{Model, ModelError};

/// Merges the parts of a forest as they arrive. This is fastest in the order of their trees: first the part of the
/// first job of an array, then that of the second. Parts that record their trees may arrive in any order, but no tree
/// may be missing.
///
/// Each part is moved in, so memory holds every tree once, and its source, such as the bytes of its file, can be freed
/// before the next part. Neighbouring models with equal numbers of parts are merged, so each tree is moved log2(number
/// of parts) times. The result equals that of merging one part after the other ([`Model::merge`]).
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
    /// Merged neighbours, in order of decreasing number of parts.
    models: Vec<Merged>,
    n_parts: usize,
}

/// The model of several consecutive parts.
#[derive(Debug)]
struct Merged {
    first: usize,
    n_parts: usize,
    model: Model,
}

impl Merged {
    /// Returns true if no trees are missing between the two models, as far as their trees are recorded.
    fn is_neighbour(&self, other: &Self) -> bool {
        let trees = self.model.trees().zip(other.model.trees());
        trees.is_none_or(|(ours, theirs)| ours.end >= theirs.start && theirs.end >= ours.start)
    }

    /// Merges this model with the one that follows.
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
    /// [`MergingError`] if parts do not belong together, as for [`Model::merge`]. Trees that do not fit together may be
    /// reported only when a later part is pushed, or at the end; the parts pushed before are lost then.
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

    /// Returns the model of all parts, or `None` if there were none.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish(mut self) -> Result<Option<Model>, MergingError> {
        // The sort is stable: the order is unchanged if trees are not recorded.
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

/// A part that cannot be merged with those before it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("part {part}: {source}")]
pub struct MergingError {
    /// The index of the part.
    pub part: usize,
    /// The reason.
    pub source: ModelError,
}
