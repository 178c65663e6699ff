//! Trials of single settings.

use super::search::Rule;
use super::{Direction, Setting};
use std::ops::ControlFlow;
use std::time::Instant;

/// One evaluation of the objective: receives reports and decides whether the trial continues.
#[derive(Debug)]
pub struct Trial<'a> {
    rule: &'a Rule,
    reports: Vec<(u64, f64)>,
    steps: u64,
    stopped: bool,
}

impl Trial<'_> {
    /// Reports the score reached after a number of steps since the beginning of the trial: trees, boosting rounds, or
    /// any unit that costs about the same in every setting. `Break` asks the objective to return its result early,
    /// because the trial is not promising ([`Pruner`](super::Pruner)) or the time is up. This is for intermediate
    /// scores; the final score is returned.
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

    /// Reports the number of steps used so far, counted as in [`report`](Self::report).
    pub fn used(&mut self, steps: u64) {
        self.steps = self.steps.max(steps);
    }
}

/// The record of a trial.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Record<E> {
    /// Position in the sequence of settings, from 0.
    pub index: usize,
    /// The setting.
    pub setting: Setting,
    /// Its score, or the reason why it has none.
    pub outcome: Outcome<E>,
    /// Number of steps reported; 1 if none were reported.
    pub steps: u64,
    /// Wall-clock seconds. Trials share the threads, so the time depends on what else was running.
    pub seconds: f64,
    /// The reported steps and scores.
    pub reports: Vec<(u64, f64)>,
}

impl<E> Record<E> {
    pub(super) fn run(
        index: usize,
        setting: Setting,
        rule: &Rule,
        objective: &impl Fn(&Setting, &mut Trial<'_>) -> Result<f64, E>,
        is_interrupted: &impl Fn() -> bool,
    ) -> Self {
        let clock = Instant::now();
        let mut trial = Trial {
            rule,
            reports: Vec::new(),
            steps: 0,
            stopped: false,
        };
        let outcome = match objective(&setting, &mut trial) {
            Err(_) if is_interrupted() => Outcome::Failed(TrialError::Interrupted),
            Err(e) => Outcome::Failed(TrialError::Error(e)),
            Ok(score) if score.is_nan() => Outcome::Failed(TrialError::NotANumber),
            Ok(score) if score.is_infinite() => Outcome::Failed(TrialError::Infinite),
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

    /// The score, also for a trial that was stopped.
    pub fn score(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Scored(score) | Outcome::Stopped(score) => Some(score),
            Outcome::Failed(_) => None,
        }
    }
}

/// The end of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<E> {
    /// The trial was completed with this score.
    Scored(f64),
    /// The trial was stopped, with this score at the time.
    Stopped(f64),
    /// The trial has no score.
    Failed(TrialError<E>),
}

/// Reason why a setting has no score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError<E> {
    /// The error of the objective.
    #[error("{0}")]
    Error(E),
    /// A score that is NaN.
    #[error("the score is undefined on the withheld samples (NaN)")]
    NotANumber,
    /// A score that is infinite.
    #[error("the score is infinite")]
    Infinite,
    /// The search was interrupted meanwhile.
    #[error("interrupted")]
    Interrupted,
}

/// The best score reported up to a step, ignoring NaN.
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
