//! Merges the parts of a forest, two of them or one by one as they arrive.

use crate::combine::Ensemble;
use crate::method::{Difference, trees_of};
use crate::training::TrainingDifference;
use crate::{Model, ModelError};
use std::cmp::Ordering;
use std::ops::Range;

impl Model {
    /// Merges two models that were trained on the same data, for instance parts of a forest grown separately. Forests
    /// grown with successive [`first_tree`](rpo_ensemble::ForestParams::first_tree) may come in either order and become
    /// exactly the model, with its parameters, that one training would have produced.
    ///
    /// # Errors
    /// [`ModelError::Merge`] if columns, outputs of training samples or their weights differ, decision thresholds are set
    /// (they belong to the scores of one model), or both contain the same tree; [`ModelError::MergeParameters`] if a
    /// parameter other than `first_tree` and `trees` differs, [`ModelError::MergeGap`] if there are missing trees between
    /// the two; [`ModelError::Ensemble`] if the forests are incompatible.
    pub fn merge(self, other: Self) -> Result<Self, ModelError> {
        self.check_part(&other)?;
        if self.check_order(&other)? == Ordering::Greater {
            return other.append(self);
        }
        self.append(other)
    }

    /// The order of the first trees of two parts; equal if a part does not record them.
    fn check_order(&self, other: &Self) -> Result<Ordering, ModelError> {
        let (Some(ours), Some(theirs)) = (self.trees(), other.trees()) else {
            return Ok(Ordering::Equal);
        };
        let order = ours.start.cmp(&theirs.start);
        let (before, after) = match order {
            Ordering::Greater => (theirs, ours),
            _ => (ours, theirs),
        };
        match before.end.cmp(&after.start) {
            Ordering::Less => Err(ModelError::MergeGap {
                missing: before.end..after.start,
            }),
            // A tree that both contain is detected by its seed.
            Ordering::Equal | Ordering::Greater => Ok(order),
        }
    }

    /// The indices of its trees, if recorded.
    fn trees(&self) -> Option<Range<u64>> {
        trees_of(&self.parameters)
    }

    /// Checks that another model was fitted to the same data with the same parameters, and that neither has its own
    /// decisions.
    fn check_part(&self, other: &Self) -> Result<(), ModelError> {
        let refuse = |why| Err(ModelError::Merge(why));
        if self.predictor().downcast_ref::<Ensemble>().is_some() {
            return refuse(
                "an ensemble is not part of a forest; `rpo combine` and `Model::combine` average models of any methods",
            );
        }
        if self.predictor().kind() != other.predictor().kind() {
            return refuse("they are models of different methods");
        }
        if !self.schema().has_columns_of(other.schema()) {
            return refuse("they differ in task, features or outputs");
        }
        if self.pipeline() != other.pipeline() {
            return refuse("features are prepared for them in different ways");
        }
        if let Some(difference) = self.training().difference(other.training()) {
            return refuse(match difference {
                TrainingDifference::Summary => "they were trained on different data",
                TrainingDifference::Outputs => {
                    "they were trained on other outputs, or on the samples in another order"
                }
                TrainingDifference::Weights => "they were trained with other weights of the samples",
            });
        }
        if self.decision != other.decision {
            return refuse("they decide labels by different rules");
        }
        if self.thresholds().is_some() || other.thresholds().is_some() {
            return refuse(
                "decision thresholds belong to the scores of one model; set `thresholds` = none to train its parts",
            );
        }
        if self.intervals().is_some() || other.intervals().is_some() {
            return refuse(
                "prediction intervals belong to the predictions of one model; train its parts without `intervals`",
            );
        }
        let of_trees = |name: &str| matches!(name, "first_tree" | "trees");
        let difference = Difference::first(&self.parameters, &other.parameters, of_trees);
        difference.map_or(Ok(()), |difference| Err(ModelError::MergeParameters(difference)))
    }
}

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
