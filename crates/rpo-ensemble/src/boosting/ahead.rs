//! Trees that grow ahead of their steps.
//!
//! Steps are made in groups of g, one after the other. The trees of a group grow at the same time, on the residuals
//! before the group that is made before it:
//!
//! | residuals before step | 0 | 0 | g | 2 g |
//! | --- | --- | --- | --- | --- |
//! | trees of the steps from | 0 | g | 2 g | 3 g |
//!
//! The trees of two groups are under way, so that threads find one to grow while others still work on those of which
//! steps are made next. The values of leaves are those of the residuals at the step. What a tree grows on depends on the
//! index of its step alone, so that a model may be continued or truncated anywhere.

use super::booster::{Booster, step_seed};
use super::helpers::work_until;
use super::state::Coefficients;
use super::step::BoostingStep;
use super::stretch::StepOfGroup;
use super::target::Target;
use super::trees::{GrownTree, Trees};
use crate::error::EnsembleError;
use rayon::ScopeFifo;
use rpo_core::Seed;
use rpo_tree::AxisRule;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Trees of consecutive steps that grow at the same time.
pub(super) struct Group {
    steps: Range<usize>,
    /// One for each tree, or one for all.
    targets: Vec<Target>,
    /// Those that have grown.
    trees: Vec<OnceLock<Result<GrownTree, EnsembleError>>>,
}

impl Group {
    /// Starts to grow the trees of some steps.
    fn start<'s>(
        steps: Range<usize>,
        targets: Vec<Target>,
        trees: Trees<'s>,
        seed: Seed,
        scope: &ScopeFifo<'s>,
    ) -> Arc<Self> {
        let group = Arc::new(Self {
            trees: steps.clone().map(|_| OnceLock::new()).collect(),
            steps,
            targets,
        });
        for i in 0..group.trees.len() {
            // Trees for which nobody waits any more do not grow.
            let group = Arc::downgrade(&group);
            scope.spawn_fifo(move |_| {
                if let Some(group) = group.upgrade() {
                    let tree = group.grow(i, trees, seed);
                    group.trees[i].get_or_init(|| tree);
                }
            });
        }
        group
    }

    fn grow(&self, i: usize, trees: Trees<'_>, seed: Seed) -> Result<GrownTree, EnsembleError> {
        let target = &self.targets[i.min(self.targets.len() - 1)];
        if !target.is_finite() {
            return Err(EnsembleError::Diverged {
                step: self.steps.start,
            });
        }
        let are_enough = self.trees.len() >= rayon::current_num_threads();
        trees.grow_beside(target, step_seed(seed, self.steps.start + i), are_enough)
    }

    /// Waits until all trees have grown, and grows some of them or others in the meantime. Returns them, and their targets,
    /// whose memory may be used again.
    fn finish(mut self: Arc<Self>) -> Result<(Vec<GrownTree>, Vec<Target>), EnsembleError> {
        work_until(|| Arc::get_mut(&mut self).is_some());
        let group = Arc::into_inner(self).expect("nobody else holds the group");
        let grown = group.trees.into_iter();
        let grown = grown.map(|tree| tree.into_inner().expect("a task left its tree"));
        Ok((grown.collect::<Result<_, _>>()?, group.targets))
    }
}

impl<'a> Booster<'a> {
    /// Applies the steps of a model to be continued to `last` steps, and prepares the next.
    pub(super) fn begin<'s>(
        &mut self,
        mut stored: impl ExactSizeIterator<Item = &'s BoostingStep<AxisRule>>,
        last: usize,
        scope: &ScopeFifo<'a>,
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
        self.start(steps.clone(), scope);
        self.replay(stored.by_ref().take(g.min(start)));
        let next = following(steps.end, g, last);
        self.prepare(next.clone())?;
        self.start(next, scope);
        self.replay(stored);
        Ok(())
    }

    /// Starts to grow the trees of some steps, if there are any, on the targets that were prepared for them.
    fn start(&mut self, steps: Range<usize>, scope: &ScopeFifo<'a>) {
        if steps.is_empty() {
            return;
        }
        let targets = std::mem::take(&mut self.targets);
        let group = Group::start(steps, targets, self.trees(), self.seed, scope);
        self.growing.push_back(group);
    }

    /// Makes the steps of the next group, in a fit that ends after `last` steps, and starts to grow the trees of the group
    /// after the one that grows meanwhile. On an error, `made` holds the steps before it.
    pub(super) fn make_group(
        &mut self,
        last: usize,
        scope: &ScopeFifo<'a>,
        made: &mut Vec<StepOfGroup>,
    ) -> Result<(), EnsembleError> {
        let Some(group) = self.growing.pop_front() else {
            return Ok(());
        };
        let steps = group.steps.clone();
        let known = self.growing.back().map_or(steps.end, |next| next.steps.end);
        let after = following(known, self.params.ahead(), last);
        let (trees, targets) = group.finish()?;
        self.targets = targets;
        for (step, tree) in steps.clone().zip(trees) {
            let next: Vec<Coefficients> = match step + 1 == steps.end {
                true => self.coefficients_of(after.clone())?,
                false => Vec::new(),
            };
            let made_step = self.step(tree, step, &next)?;
            made.push(vec![(made_step, self.loss())]);
        }
        self.start(after, scope);
        Ok(())
    }
}

/// Returns the group of g steps from `first` on, in a fit that ends after `last` steps.
pub(super) fn following(first: usize, g: usize, last: usize) -> Range<usize> {
    first.min(last)..last.min(first + g)
}
