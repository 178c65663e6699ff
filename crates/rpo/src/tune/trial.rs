//! What happens to one setting.

use super::search::Rule;
use super::{Direction, Setting};
use std::ops::ControlFlow;
use std::time::Instant;

/// One evaluation of the objective: takes reports and decides whether the trial goes on.
#[derive(Debug)]
pub struct Trial<'a> {
    rule: &'a Rule,
    reports: Vec<(u64, f64)>,
    steps: u64,
    stopped: bool,
}

impl Trial<'_> {
    /// Reports the score reached after a number of steps, counted from the beginning of the trial: trees, boosting
    /// rounds, whatever costs alike in every setting. `Break` asks the objective to return what it has: the trial
    /// is not promising ([`Pruner`](super::Pruner)) or the time is up. For scores on the way; the one at the
    /// end is returned.
    pub fn report(&mut self, step: u64, score: f64) -> ControlFlow<()> {
        self.used(step);
        self.reports.push((step, score));
        if !self.stopped && self.rule.stops(&self.reports) {
            self.stopped = true;
        }
        if self.stopped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Tells how many steps the trial has used by now, counted as in [`report`](Self::report).
    pub fn used(&mut self, steps: u64) {
        self.steps = self.steps.max(steps);
    }
}

/// How a setting fared.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<E> {
    /// Position in the sequence of settings, from 0.
    pub index: usize,
    /// The setting.
    pub setting: Setting,
    /// Its score, or why it has none.
    pub outcome: Outcome<E>,
    /// Steps used as told, 1 if the objective told none.
    pub steps: u64,
    /// Wall-clock seconds. Trials share the threads, so that this depends on what ran beside it.
    pub seconds: f64,
    /// Steps and scores as reported.
    pub reports: Vec<(u64, f64)>,
}

impl<E> Record<E> {
    pub(super) fn run(
        index: usize,
        setting: Setting,
        rule: &Rule,
        objective: &impl Fn(&Setting, &mut Trial<'_>) -> Result<f64, E>,
    ) -> Self {
        let clock = Instant::now();
        let mut trial = Trial {
            rule,
            reports: Vec::new(),
            steps: 0,
            stopped: false,
        };
        let outcome = match objective(&setting, &mut trial) {
            Err(e) => Outcome::Failed(TrialError::Error(e)),
            Ok(score) if score.is_nan() => Outcome::Failed(TrialError::NotANumber),
            Ok(score) if trial.stopped => Outcome::Stopped(score),
            Ok(score) => Outcome::Scored(score),
        };
        Self {
            index,
            setting,
            outcome,
            steps: trial.steps.max(1),
            seconds: clock.elapsed().as_secs_f64(),
            reports: trial.reports,
        }
    }

    /// The score, also of a trial that was stopped.
    pub fn score(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Scored(score) | Outcome::Stopped(score) => Some(score),
            Outcome::Failed(_) => None,
        }
    }
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<E> {
    /// It ran to its end and has this score.
    Scored(f64),
    /// It was asked to stop, and had this score by then.
    Stopped(f64),
    /// It has no score.
    Failed(TrialError<E>),
}

/// Why a setting has no score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrialError<E> {
    /// The objective's error.
    #[error("{0}")]
    Error(E),
    /// A score that is NaN.
    #[error("the score is undefined (NaN)")]
    NotANumber,
}

/// The best score reported up to a step, NaN aside.
pub(super) fn best_until(reports: &[(u64, f64)], step: u64, direction: Direction) -> Option<f64> {
    let scores = reports.iter().filter(|(s, score)| *s <= step && !score.is_nan());
    scores.map(|(_, score)| *score).reduce(|best, score| {
        if direction.is_better(score, best) {
            score
        } else {
            best
        }
    })
}
