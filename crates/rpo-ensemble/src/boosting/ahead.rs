//! Trees that grow ahead of their steps.
//!
//! Steps are made in groups of g. While those of a group are made, one after the other, the trees of the next group grow
//! at the same time, on the residuals before the group that is made:
//!
//! | residuals before step | 0 | 0 | g | 2 g |
//! | --- | --- | --- | --- | --- |
//! | trees of the steps from | 0 | g | 2 g | 3 g |
//!
//! The values of leaves are those of the residuals at the step. What a tree grows on depends on the index of its step
//! alone, so that a model may be continued or truncated anywhere.

use super::booster::Booster;
use super::step::BoostingStep;
use super::stretch::StepOfGroup;
use super::trees::GrownTree;
use crate::error::EnsembleError;
use rpo_tree::AxisRule;
use std::collections::VecDeque;
use std::ops::Range;

impl Booster<'_> {
    /// Applies the steps of a model to be continued to `last` steps, and prepares the next.
    pub(super) fn begin<'s>(
        &mut self,
        mut stored: impl ExactSizeIterator<Item = &'s BoostingStep<AxisRule>>,
        last: usize,
    ) -> Result<(), EnsembleError> {
        let (first, g) = (stored.len(), self.params.ahead());
        if g == 0 {
            self.replay(stored);
            return self.prepare(first..first + 1);
        }
        let start = first - first % g;
        self.replay(stored.by_ref().take(start.saturating_sub(g)));
        // The trees of the group that is continued, from the first that is not stored.
        let steps = first..last.min(start + g);
        self.prepare(steps.clone())?;
        self.grown = self.trees().grow_ahead(&self.targets, steps.clone(), self.seed)?;
        self.replay(stored.by_ref().take(g.min(start)));
        self.prepare(following(steps.end, g, last))?;
        self.replay(stored);
        Ok(())
    }

    /// Makes the steps from `step` on whose trees have grown, in a fit that ends after `last` steps, while the next trees
    /// grow. On an error, `made` holds the steps before it.
    pub(super) fn make_group(
        &mut self,
        step: usize,
        last: usize,
        made: &mut Vec<StepOfGroup>,
    ) -> Result<(), EnsembleError> {
        let g = self.params.ahead();
        let grown = std::mem::take(&mut self.grown);
        let next = following(step + grown.len(), g, last);
        let after = following(next.end, g, last);
        let targets = std::mem::replace(&mut self.targets, std::mem::take(&mut self.spare));
        let (trees, seed) = (self.trees(), self.seed);
        let (next, result) = rayon::join(
            || trees.grow_ahead(&targets, next, seed),
            || self.make_steps(grown, step, after, made),
        );
        self.spare = targets;
        result?;
        self.grown = next?;
        Ok(())
    }

    /// Makes a step from each tree, from `step` on, and computes the targets of the steps `after`.
    fn make_steps(
        &mut self,
        trees: VecDeque<GrownTree>,
        step: usize,
        after: Range<usize>,
        made: &mut Vec<StepOfGroup>,
    ) -> Result<(), EnsembleError> {
        let n = trees.len();
        for (i, tree) in trees.into_iter().enumerate() {
            let next = match i + 1 == n {
                true => self.coefficients_of(after.clone())?,
                false => Vec::new(),
            };
            let made_step = self.step(tree, step + i, &next)?;
            made.push(vec![(made_step, self.loss())]);
        }
        Ok(())
    }
}

/// Returns the group of g steps from `first` on, in a fit that ends after `last` steps.
pub(super) fn following(first: usize, g: usize, last: usize) -> Range<usize> {
    first.min(last)..last.min(first + g)
}
