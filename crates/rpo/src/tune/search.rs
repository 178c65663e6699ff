//! Runs trials in rounds, within a limit.

use super::trial::best_until;
use super::{Outcome, Record, Setting, Trial, TrialError};
use rayon::prelude::*;
use rpo_metrics::Score;
use std::time::{Duration, Instant};

/// The direction of better scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Higher scores are better.
    Maximize,
    /// Lower scores are better.
    Minimize,
}

impl Direction {
    /// Returns true if one score is strictly better than another.
    pub(super) fn is_better(self, score: f64, than: f64) -> bool {
        match self {
            Self::Maximize => score > than,
            Self::Minimize => score < than,
        }
    }
}

impl<S: Score> From<S> for Direction {
    fn from(metric: S) -> Self {
        if metric.higher_is_better() {
            Self::Maximize
        } else {
            Self::Minimize
        }
    }
}

/// The limit of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchLimit {
    /// Every given setting. The default; endless for random settings of an infinite space.
    Everything,
    /// The number of settings to try.
    Trials(usize),
    /// The number of steps: a setting is tried if the settings before it used fewer. The trial that crosses the limit
    /// is finished, so that the result does not depend on the machine.
    Steps(u64),
    /// Wall-clock time: no trial starts after it has passed, and running trials are asked to stop at their next report.
    WallClock(Duration),
}

/// The rule that stops trials early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pruner {
    /// Trials are never stopped. The default.
    Never,
    /// Stops a trial whose best score so far is strictly worse than the median over the completed trials of earlier
    /// rounds, each with its best score up to the same step. This is the median rule of Golovin et al., KDD 2017,
    /// section 3.2, with the best instead of the running mean. A stopped trial cannot win if any trial was completed.
    Median {
        /// Number of steps before which no trial is stopped.
        warm_up: u64,
        /// Number of earlier trials that must have reported by that step before a trial is stopped.
        min_trials: usize,
    },
}

/// A search for the setting with the best score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// The direction of better scores.
    pub direction: Direction,
    /// The limit of the search. Default [`SearchLimit::Everything`].
    pub limit: SearchLimit,
    /// The rule that stops trials early. Default [`Pruner::Never`].
    pub pruner: Pruner,
    /// The number of trials that run concurrently; 0 means 1. A trial is compared with those of earlier rounds. Default
    /// 8 for any number of threads, because the result depends on it if trials are stopped. Memory grows with it.
    pub round: usize,
}

impl Search {
    /// Creates a search without limit, in rounds of 8, that completes every trial. Accepts a
    /// [`Metric`](rpo_metrics::Metric) for its direction.
    pub fn new(direction: impl Into<Direction>) -> Self {
        Self {
            direction: direction.into(),
            limit: SearchLimit::Everything,
            pruner: Pruner::Never,
            round: 8,
        }
    }

    /// Tries settings in order, running each round in parallel on the current rayon pool.
    ///
    /// The objective returns the score of a setting, may report to the [`Trial`], and may use the pool itself. A
    /// setting that fails is recorded with its error and does not end the search; NaN is a failure.
    ///
    /// # Errors
    /// [`SearchError::NoTrial`] if there is no setting or the limit is 0, [`SearchError::AllFailed`].
    pub fn run<E: Send + Sync>(
        &self,
        settings: impl IntoIterator<Item = Setting>,
        objective: impl Fn(&Setting, &mut Trial<'_>) -> Result<f64, E> + Sync,
    ) -> Result<SearchResult<E>, SearchError<E>> {
        self.run_until(settings, objective, |_| {}, || false)
    }

    /// Like [`run`](Self::run), and calls `on_record` with the record of each trial when it ends, in any order; with a
    /// limit in steps, some of them may not be in the history. Once `stop` returns true, no trial begins, and trials that
    /// fail are interrupted ones ([`TrialError::Interrupted`]): the objective is expected to end early then.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`SearchError::Interrupted`] if no setting was scored before `stop` returned true.
    pub fn run_until<E: Send + Sync>(
        &self,
        settings: impl IntoIterator<Item = Setting>,
        objective: impl Fn(&Setting, &mut Trial<'_>) -> Result<f64, E> + Sync,
        on_record: impl Fn(&Record<E>) + Sync,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<SearchResult<E>, SearchError<E>> {
        let mut settings = settings.into_iter().fuse();
        let deadline = match self.limit {
            SearchLimit::WallClock(time) => Instant::now().checked_add(time),
            _ => None,
        };
        let mut history: Vec<Record<E>> = Vec::new();
        let mut rule = Rule::new(self, deadline);
        while !(rule.is_late() || stop() || self.is_spent(&history)) {
            let first = history.len();
            let n = match self.limit {
                SearchLimit::Trials(trials) => self.round.max(1).min(trials - first),
                _ => self.round.max(1),
            };
            let round: Vec<Setting> = settings.by_ref().take(n).collect();
            if round.is_empty() {
                break;
            }
            let records: Vec<Option<Record<E>>> = round
                .into_par_iter()
                .enumerate()
                .map(|(i, setting)| {
                    if rule.is_late() || stop() {
                        return None;
                    }
                    let record = Record::run(first + i, setting, &rule, &objective, &stop);
                    on_record(&record);
                    Some(record)
                })
                .collect();
            for record in records.into_iter().flatten() {
                // Discard the rest of the round, which a single thread would not have tried.
                if self.is_spent(&history) {
                    break;
                }
                rule.learn(&record);
                history.push(record);
            }
        }
        self.choose(history).map_err(|e| match stop() {
            true => SearchError::Interrupted,
            false => e,
        })
    }

    fn is_spent<E>(&self, history: &[Record<E>]) -> bool {
        match self.limit {
            SearchLimit::Trials(trials) => history.len() >= trials,
            SearchLimit::Steps(steps) => {
                let used = history.iter().map(|record| record.steps);
                used.fold(0, u64::saturating_add) >= steps
            }
            SearchLimit::Everything | SearchLimit::WallClock(_) => false,
        }
    }

    /// Chooses the best completed trial, or the best stopped one if none was completed.
    fn choose<E>(&self, history: Vec<Record<E>>) -> Result<SearchResult<E>, SearchError<E>> {
        let best_of = |of: fn(&Outcome<E>) -> Option<f64>| {
            let scores = history.iter().enumerate();
            let scores = scores.filter_map(|(i, record)| Some((i, of(&record.outcome)?)));
            scores.reduce(|best, next| {
                if self.direction.is_better(next.1, best.1) {
                    next
                } else {
                    best
                }
            })
        };
        let whole = best_of(|outcome| match outcome {
            Outcome::Scored(score) => Some(*score),
            _ => None,
        });
        let best = whole.or_else(|| {
            best_of(|outcome| match outcome {
                Outcome::Stopped(score) => Some(*score),
                _ => None,
            })
        });
        if let Some((best, best_score)) = best {
            return Ok(SearchResult {
                best_setting: history[best].setting.clone(),
                history,
                best,
                best_score,
            });
        }
        let n_trials = history.len();
        match history.into_iter().next() {
            Some(Record {
                setting,
                outcome: Outcome::Failed(failure),
                ..
            }) => Err(SearchError::AllFailed {
                n_trials,
                setting,
                failure,
            }),
            _ => Err(SearchError::NoTrial),
        }
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SearchResult<E> {
    /// Every setting that was tried, in order.
    pub history: Vec<Record<E>>,
    /// Position of the best setting in the history; ties go to the earliest.
    pub best: usize,
    /// The best setting.
    pub best_setting: Setting,
    /// Its score.
    pub best_score: f64,
}

/// Reason why a search found no setting.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError<E> {
    /// No setting was tried.
    #[error("no setting was tried: the limit is 0 or the space is empty")]
    NoTrial,
    /// The search was stopped early.
    #[error("interrupted before any setting was scored")]
    Interrupted,
    /// No setting has a score.
    #[error("all {n_trials} settings failed; the first, {setting}: {failure}")]
    AllFailed {
        /// The number of settings tried.
        n_trials: usize,
        /// The first setting.
        setting: Setting,
        /// The error of the first setting.
        failure: TrialError<E>,
    },
}

/// The rule that stops the trials of a round: the trials they are compared with, and the deadline.
#[derive(Debug)]
pub(super) struct Rule {
    direction: Direction,
    pruner: Pruner,
    deadline: Option<Instant>,
    /// Reports of the completed trials of earlier rounds.
    earlier: Vec<Vec<(u64, f64)>>,
}

impl Rule {
    fn new(search: &Search, deadline: Option<Instant>) -> Self {
        Self {
            direction: search.direction,
            pruner: search.pruner,
            deadline,
            earlier: Vec::new(),
        }
    }

    fn learn<E>(&mut self, record: &Record<E>) {
        if self.pruner != Pruner::Never && matches!(record.outcome, Outcome::Scored(_)) {
            self.earlier.push(record.reports.clone());
        }
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns true if the trial with these reports, of which the last is new, should stop.
    pub(super) fn stops(&self, reports: &[(u64, f64)]) -> bool {
        self.is_late() || self.is_hopeless(reports)
    }

    fn is_hopeless(&self, reports: &[(u64, f64)]) -> bool {
        let (Pruner::Median { warm_up, min_trials }, Some(&(step, _))) = (self.pruner, reports.last()) else {
            return false;
        };
        let Some(own) = best_until(reports, step, self.direction) else {
            return false;
        };
        let others = self.earlier.iter();
        let mut others: Vec<f64> = others
            .filter_map(|r| best_until(r, step, self.direction))
            .collect();
        if step < warm_up || others.is_empty() || others.len() < min_trials {
            return false;
        }
        others.sort_unstable_by(f64::total_cmp);
        let (low, high) = (others[(others.len() - 1) / 2], others[others.len() / 2]);
        self.direction.is_better(low.midpoint(high), own)
    }
}
