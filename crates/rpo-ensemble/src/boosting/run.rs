//! The loop over steps.

use super::booster::Booster;
use super::early_stopping::EarlyStopping;
use super::helpers::Helpers;
use super::model::Boosted;
use super::options::{History, OnProgress, Progress, Stop, Validation};
use super::stretch::{Pace, Stretch, group_size};
use crate::error::EnsembleError;
use crate::observers::check_stop;
use rayon::ScopeFifo;
use rpo_core::{Observers, TreeEnsemble};

/// Boosters, and who looks on.
pub(super) struct Run<'a, 'o> {
    pub(super) iterations: usize,
    /// The largest size in bytes of validation scores.
    pub(super) memory_limit: usize,
    /// One booster, or one per output.
    pub(super) boosters: Vec<Booster<'a>>,
    /// The total weight of the samples, if the training loss is requested.
    pub(super) weight_of_losses: Option<f64>,
    pub(super) validation: Option<Validation<'o>>,
    pub(super) observers: Observers<'o>,
    pub(super) on_progress: Option<&'o mut OnProgress<'o>>,
}

impl<'a> Run<'a, '_> {
    /// Must be called on a thread of the pool, so that whoever waits for a tree began before the tree: threads that work
    /// while they wait can then not wait for each other.
    pub(super) fn run(self, start: Boosted) -> Result<(Boosted, History), EnsembleError> {
        // Trees may grow between the steps.
        rayon::in_place_scope_fifo(|scope| self.run_in(scope, start))
    }

    fn run_in(mut self, scope: &ScopeFifo<'a>, start: Boosted) -> Result<(Boosted, History), EnsembleError> {
        let first = start.n_steps();
        let last = first.saturating_add(self.iterations);
        let mut model = start;
        check_stop(self.observers)?;
        for (i, booster) in self.boosters.iter_mut().enumerate() {
            let trees = model.trees().chunks(model.trees_per_step());
            booster.begin(trees.map(|step| &step[i]), last, scope)?;
        }
        let mut stopping = self
            .validation
            .map(|v| EarlyStopping::new(v, &model, self.memory_limit))
            .transpose()?;
        let loss = self.boosters.iter().map(Booster::loss).sum();
        let mut history = History {
            training_loss: self.mean(loss).into_iter().collect(),
            ..History::default()
        };
        if let Some(stopping) = &mut stopping {
            history.validation.push(stopping.evaluate(&model, first));
        }
        let helpers = Helpers::new();
        let mut pace = Pace::new(group_size(self.boosters.len()) < self.boosters.len());
        'steps: while model.n_steps() < last {
            check_stop(self.observers)?;
            helpers.call();
            let steps = model.n_steps()..last.min(model.n_steps() + pace.n_steps());
            let stretch = pace.time(|| Stretch::make(&mut self.boosters, steps, last, scope));
            for (trees, loss) in stretch.steps {
                let step = model.n_steps() + 1;
                let mut seen = stopping.as_mut().and_then(|stopping| {
                    stopping.add(&trees);
                    let is_due = step.is_multiple_of(stopping.every()) || step == last;
                    is_due.then(|| stopping.evaluate(&model, step))
                });
                model.push(trees);
                let training_loss = self.mean(loss);
                history.training_loss.extend(training_loss);
                self.observers.step();
                let progress = Progress {
                    model: &model,
                    step,
                    training_loss,
                    validation: seen.map(|(_, value)| value),
                };
                let is_ended = self
                    .on_progress
                    .as_mut()
                    .is_some_and(|on_progress| on_progress(&progress).is_break());
                if is_ended && seen.is_none() {
                    // The last step is always evaluated.
                    seen = stopping.as_mut().map(|stopping| stopping.evaluate(&model, step));
                }
                history.validation.extend(seen);
                if is_ended {
                    history.stop = Stop::Progress;
                    break 'steps;
                }
                // Nothing is known of steps that were not evaluated.
                if seen.is_some() && stopping.as_ref().is_some_and(|stopping| stopping.is_over(step)) {
                    history.stop = Stop::Patience;
                    break 'steps;
                }
            }
            stretch.error.map_or(Ok(()), Err)?;
        }
        if let Some(best) = stopping.and_then(|stopping| stopping.best()) {
            model = model.truncate(best);
        }
        Ok((model, history))
    }

    /// Returns a training loss per unit of weight, if it is requested.
    fn mean(&self, loss: f64) -> Option<f64> {
        Some(loss / self.weight_of_losses?)
    }
}
