//! Steps that groups of boosters make without waiting for each other.
//!
//! Boosters of single targets do not depend on each other. They meet only where somebody looks at the model, so that
//! threads need not wait for the slowest of them at every step.

use super::booster::Booster;
use super::step::BoostingStep;
use super::trees::Trees;
use crate::error::EnsembleError;
use rayon::ScopeFifo;
use rayon::prelude::*;
use rpo_tree::AxisRule;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Some steps of all boosters.
pub(super) struct Stretch {
    /// The trees of each step, one per booster, and the training loss after it, as a sum.
    pub(super) steps: Vec<(Vec<BoostingStep<AxisRule>>, f64)>,
    /// Why there are no further steps, if they failed.
    pub(super) error: Option<EnsembleError>,
}

/// A step of each booster of a group, with its training loss after the step, as a sum.
type StepOfGroup = Vec<(BoostingStep<AxisRule>, f64)>;

/// The steps that a group made, and the error that ended them.
type OfGroup = (Vec<StepOfGroup>, Option<EnsembleError>);

impl Stretch {
    /// Makes the given steps of a fit that ends after `last` steps.
    pub(super) fn make<'a>(
        boosters: &mut [Booster<'a>],
        steps: Range<usize>,
        last: usize,
        scope: &ScopeFifo<'a>,
    ) -> Self {
        let groups = boosters.par_chunks_mut(group_size(boosters.len()));
        let groups: Vec<OfGroup> = groups
            .map(|group| {
                let mut made = Vec::with_capacity(steps.len());
                for step in steps.clone() {
                    let trees = match group {
                        [booster] if booster.params.ahead() > 0 => {
                            booster.make_step(step, last, scope).map(|tree| vec![tree])
                        }
                        _ => Booster::step_together(group, step, last),
                    };
                    match trees {
                        Ok(trees) => {
                            let losses = group.iter().map(Booster::loss);
                            made.push(trees.into_iter().zip(losses).collect());
                        }
                        Err(error) => return (made, Some(error)),
                    }
                }
                (made, None)
            })
            .collect();
        let (made, errors): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        // The first error is that of the group with the fewest steps.
        let n_steps = made.iter().map(Vec::len).min().unwrap_or(0);
        let mut failed = errors.into_iter().zip(&made);
        let error = failed.find_map(|(error, made)| error.filter(|_| made.len() == n_steps));
        let mut groups: Vec<_> = made.into_iter().map(Vec::into_iter).collect();
        let steps = (0..n_steps).map(|_| {
            let trees = groups.iter_mut().filter_map(Iterator::next).flatten();
            let (trees, losses): (Vec<_>, Vec<f64>) = trees.unzip();
            (trees, losses.iter().sum())
        });
        Self {
            steps: steps.collect(),
            error,
        }
    }
}

/// Returns the number of boosters of a group. Groups are of equal size and as many for each thread; boosters of a group
/// share work, so that there are at least two in each.
pub(super) fn group_size(n_boosters: usize) -> usize {
    let n_groups = n_boosters.div_ceil(Trees::TOGETHER).max(1);
    let n_groups = n_groups.next_multiple_of(rayon::current_num_threads());
    n_boosters.div_ceil(n_groups).max(2)
}

/// The number of steps of the next stretch: as many as take some [`SHORT`](Pace::SHORT) time, since nobody sees the
/// model until they are made.
pub(super) struct Pace {
    n_steps: usize,
    /// Whether there are several groups, which would wait for each other.
    is_shared: bool,
}

impl Pace {
    const SHORT: Duration = Duration::from_millis(20);

    pub(super) fn new(is_shared: bool) -> Self {
        Self {
            n_steps: 1,
            is_shared,
        }
    }

    pub(super) fn n_steps(&self) -> usize {
        self.n_steps
    }

    /// Makes a stretch, and adapts the length of the next.
    pub(super) fn time<T>(&mut self, make: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let made = make();
        if self.is_shared {
            self.n_steps = match start.elapsed() < Self::SHORT {
                true => self.n_steps * 2,
                false => (self.n_steps / 2).max(1),
            };
        }
        made
    }
}
