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
use super::step::BoostingStep;
use super::target::Target;
use super::trees::{GrownTree, Trees};
use crate::error::EnsembleError;
use rayon::ScopeFifo;
use rpo_core::Seed;
use rpo_tree::AxisRule;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

/// Trees of consecutive steps that grow at the same time.
pub(super) struct Group {
    steps: Range<usize>,
    /// One for each tree, or one for all.
    targets: Vec<Target>,
    /// Those that have grown, until their steps are made.
    trees: Vec<Mutex<Slot>>,
}

/// A tree once it has grown, or the error or panic that prevented it.
type Slot = Option<std::thread::Result<Result<GrownTree, EnsembleError>>>;

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
            trees: steps.clone().map(|_| Mutex::default()).collect(),
            steps,
            targets,
        });
        for i in 0..group.trees.len() {
            // Trees for which nobody waits any more do not grow.
            let group = Arc::downgrade(&group);
            scope.spawn_fifo(move |_| {
                if let Some(group) = group.upgrade() {
                    // Who waits for the tree would wait for ever.
                    let grow = AssertUnwindSafe(|| group.grow(i, trees, seed));
                    let tree = catch_unwind(grow);
                    *group.slot(i) = Some(tree);
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

    fn slot(&self, i: usize) -> MutexGuard<'_, Slot> {
        self.trees[i].lock().expect("nothing panics beside an open slot")
    }

    /// Takes a tree, and grows it or others until it has grown.
    fn take(&self, i: usize) -> Result<GrownTree, EnsembleError> {
        let mut found = None;
        work_until(|| {
            found = self.slot(i).take();
            found.is_some()
        });
        found
            .expect("waited for")
            .unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Returns the targets of a group whose trees have all been taken, so that their memory is used again.
    fn into_targets(mut self: Arc<Self>) -> Vec<Target> {
        // Whoever left the last tree lets go of the group at once.
        while Arc::get_mut(&mut self).is_none() {
            std::thread::yield_now();
        }
        Arc::into_inner(self).map_or_else(Vec::new, |group| group.targets)
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

    /// Makes the next step, in a fit that ends after `last` steps. The last step of a group starts to grow the trees of the
    /// group after the one that grows meanwhile.
    pub(super) fn make_step(
        &mut self,
        step: usize,
        last: usize,
        scope: &ScopeFifo<'a>,
    ) -> Result<BoostingStep<AxisRule>, EnsembleError> {
        let group = self.growing.front().expect("steps have trees that grow");
        let steps = group.steps.clone();
        let tree = group.take(step - steps.start)?;
        if step + 1 < steps.end {
            return self.step(tree, step, &[]);
        }
        let known = self.growing.back().map_or(steps.end, |last| last.steps.end);
        let after = following(known, self.params.ahead(), last);
        let next = self.coefficients_of(after.clone())?;
        if let Some(group) = self.growing.pop_front() {
            self.targets = group.into_targets();
        }
        let made = self.step(tree, step, &next)?;
        self.start(after, scope);
        Ok(made)
    }
}

/// Returns the group of g steps from `first` on, in a fit that ends after `last` steps.
pub(super) fn following(first: usize, g: usize, last: usize) -> Range<usize> {
    first.min(last)..last.min(first + g)
}
