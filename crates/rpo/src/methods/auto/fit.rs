//! Tries configurations, chooses among them, and fits the chosen ones.

use super::{AutoParams, Configuration, Portfolio};
use crate::combine::{Candidate, Choice, Chooser, CombineRule, Folds, Pool, Selection, finite};
use crate::method::{Estimator, FitContext, Needs, parameters_of};
use crate::{Model, ModelError, TrainingSummary};
use rpo_core::{Domain, ParameterError, Seed};
use rpo_data::split::SplitError;
use rpo_data::{Dataset, Task};
use rpo_ensemble::EnsembleError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Instant;

/// Largest number of samples for which folds are used, so that each sample is withheld once.
const FOLDED: usize = 2000;
/// Number of folds for small sets.
const FOLDS: usize = 4;
/// Withheld fraction of larger sets.
const WITHHELD: f64 = 0.25;
/// Fraction of the time for trials and the last fits; the rest is for weights and thresholds.
const PART: f64 = 0.9;
/// Largest number of samples for which a member is fitted to all of them with several seeds: with few samples,
/// randomness is a large part of the error of a fit, and a fit takes little time.
const FEW: usize = 500;
/// Number of seeds for these last fits.
const SEEDS: u64 = 3;
/// A trial is stopped after this multiple of the time that it was expected to take ...
const SLOW: f64 = 4.0;
/// ... unless that is less than this fraction of the time that was left.
const TRIAL: f64 = 1.0 / 3.0;
/// Number of members, the most expensive ones, for whose last fits time is reserved.
const REFITTED: usize = 5;

impl AutoParams {
    fn portfolio(&self) -> Result<Portfolio, ModelError> {
        self.portfolio
            .as_deref()
            .map_or_else(|| Ok(Portfolio::default()), Portfolio::read)
    }

    fn rule(&self, task: Task) -> CombineRule {
        self.combine.unwrap_or(match task {
            Task::MultiLabel => CombineRule::GreedyMean,
            Task::Regression => CombineRule::Greedy,
        })
    }

    /// The time limit in seconds, unless the number of configurations is limited instead.
    fn limit(&self, data: &Dataset) -> Option<f64> {
        if self.configurations.is_some() {
            return None;
        }
        let values = data.features().view().n_stored() + data.n_samples() * data.n_outputs();
        Some(
            self.time
                .unwrap_or_else(|| (10.0 + values as f64 / 1e5).min(600.0)),
        )
    }
}

impl Estimator for AutoParams {
    fn method(&self) -> &str {
        "auto"
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Domain::Count.check("configurations", self.configurations)?;
        if let Some(time) = self.time {
            Domain::Positive.check("time", time)?;
            if self.configurations.is_some() {
                let reason = "cannot be combined with `configurations`";
                return Err(ParameterError::conflict("time", time, reason).into());
            }
        }
        self.portfolio().map(drop)
    }

    fn needs(&self) -> Needs {
        // The scores that are compared do not use sample weights.
        Needs {
            equal_weights: true,
            ..Needs::default()
        }
    }

    fn n_steps(&self) -> usize {
        let longest = |portfolio: Portfolio| portfolio.labels.len().max(portfolio.numbers.len());
        let n = self.portfolio().map_or(1, longest);
        self.configurations
            .map_or(n, |configurations| configurations.min(n))
    }

    fn keeps_best(&self) -> bool {
        true
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        Estimator::check(self)?;
        let seed = Seed::new(self.seed).purpose("withheld samples");
        let folds = match data.n_samples() {
            n_samples @ ..2 => return Err(SplitError::Empty { n_samples }.into()),
            n_samples if data.n_groups() < 2 => return Err(SplitError::OneGroup { n_samples }.into()),
            n if n <= FOLDED => Folds::new(data, FOLDS.min(data.n_groups()), seed)?,
            _ => Folds::withheld(data, WITHHELD, seed)?,
        };
        let mut search = Search {
            data,
            context,
            start: Instant::now(),
            limit: self.limit(data).map(|limit| PART * context.share_of(limit)),
            cost_of_folds: folds.cost(),
            pool: Pool::new(data, folds),
            tried: Vec::new(),
            reported: Vec::new(),
            failure: None,
        };
        let portfolio = self.portfolio()?;
        let most = self.configurations.unwrap_or(usize::MAX);
        let admitted = portfolio.of_task(data.task()).iter().filter(|c| c.admits(data));
        let admitted: Vec<&Configuration> = admitted.take(most).collect();
        context
            .on_total
            .iter()
            .for_each(|on_total| on_total(admitted.len()));
        let observers = context.observers();
        let mut postponed = Vec::new();
        for (position, configuration) in search.in_order(&admitted) {
            if observers.is_stopped() {
                break;
            }
            let seed = self.seed.wrapping_add(position as u64);
            if !search.is_affordable(configuration) {
                postponed.push((configuration, seed));
                continue;
            }
            search.visit(configuration, seed);
            observers.step();
        }
        // What was too expensive may take less time than expected.
        postponed.sort_by(|(a, _), (b, _)| a.cost.total_cmp(&b.cost));
        for (configuration, seed) in postponed {
            match !observers.is_stopped() && search.may_end(configuration) {
                true => search.visit(configuration, seed),
                false => search.skip(configuration),
            }
            observers.step();
        }
        search.finish(self)
    }
}

/// A candidate of the pool.
struct Tried {
    /// One estimator per last fit, each with its own seed; the first is the one that was tried.
    estimators: Vec<Box<dyn Estimator>>,
    /// Its index in the report.
    place: usize,
    cost: f64,
    seconds: f64,
}

/// Estimates the seconds per unit of cost from the seconds and costs of trials: the median, or the smaller of two. An
/// unusually slow trial does not predict the others, and a trial slower than expected is stopped while there is still
/// time for the last fits.
fn seconds_per_cost(trials: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let mut ratios: Vec<f64> = trials.map(|(seconds, cost)| seconds / cost).collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len().saturating_sub(1) / 2).copied()
}

/// Returns when a trial is stopped that begins now and is expected to take some seconds, if trials end at `last`.
fn stopped_at(now: f64, last: f64, expected: f64) -> f64 {
    last.min(now + (SLOW * expected).max(TRIAL * (last - now)))
}

struct Search<'a> {
    data: &'a Dataset,
    context: &'a FitContext<'a>,
    start: Instant,
    /// Time limit in seconds for trials and the last fits.
    limit: Option<f64>,
    /// Time of fitting the samples of all folds, relative to a fit to all samples.
    cost_of_folds: f64,
    pool: Pool<'a>,
    /// In the order of candidates in the pool.
    tried: Vec<Tried>,
    reported: Vec<Candidate>,
    /// The first error of any configuration.
    failure: Option<ModelError>,
}

impl Search<'_> {
    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Configurations with their positions in the portfolio, in the order in which they are tried: if the time is limited,
    /// the cheapest one is the first, so that it is tried in any case, and shows what the others take.
    fn in_order<'c>(&self, admitted: &[&'c Configuration]) -> Vec<(usize, &'c Configuration)> {
        let mut order: Vec<(usize, &Configuration)> = admitted.iter().copied().enumerate().collect();
        let cheapest = order.iter().min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
        if let (Some(_), Some(&(cheapest, _))) = (self.limit, cheapest) {
            order[..=cheapest].rotate_right(1);
        }
        order
    }

    /// The expected seconds of the last fit of a candidate.
    fn last_fit(&self, index: usize) -> f64 {
        match self.pool.is_whole(index) {
            true => 0.0,
            false => {
                let tried = &self.tried[index];
                tried.estimators.len() as f64 * tried.seconds / self.cost_of_folds
            }
        }
    }

    /// The expected seconds of the last fits of the candidates so far and of one more, if given.
    fn last_fits(&self, further: Option<f64>) -> f64 {
        let tried = (0..self.tried.len()).map(|index| self.last_fit(index));
        let mut last: Vec<f64> = tried.chain(further).collect();
        last.sort_by(|a, b| b.total_cmp(a));
        last.iter().take(REFITTED).sum()
    }

    /// The expected seconds of a fit to all samples, once there was a trial.
    fn expected(&self, configuration: &Configuration) -> Option<f64> {
        let tried = self.tried.iter().map(|tried| (tried.seconds, tried.cost));
        Some(configuration.cost * seconds_per_cost(tried)?)
    }

    /// The seconds since the start of the search at which trials end, so that there is time for the last fits; `None` for
    /// no limit.
    fn last(&self) -> Option<f64> {
        Some(self.limit? - self.last_fits(None))
    }

    /// The seconds since the start of the search at which a trial that begins now is stopped: while there is still time
    /// for the last fits, and for other trials if it takes far longer than expected. `None` for no limit, and for the
    /// first trial, so that there is a result.
    fn deadline(&self, configuration: &Configuration) -> Option<f64> {
        let last = self.last()?;
        let expected = self.expected(configuration)? * self.cost_of_folds;
        Some(stopped_at(self.seconds(), last, expected))
    }

    /// Returns true if a trial of a configuration would end in time if it were much faster than expected.
    fn may_end(&self, configuration: &Configuration) -> bool {
        let (Some(last), Some(fit)) = (self.last(), self.expected(configuration)) else {
            return true;
        };
        self.seconds() + fit * self.cost_of_folds / SLOW <= last
    }

    /// Returns true if a configuration is expected to leave enough time for the last fits.
    fn is_affordable(&self, configuration: &Configuration) -> bool {
        let (Some(limit), Some(fit)) = (self.limit, self.expected(configuration)) else {
            return true;
        };
        self.seconds() + fit * self.cost_of_folds + self.last_fits(Some(fit)) <= limit
    }

    /// Tries a configuration.
    fn visit(&mut self, configuration: &Configuration, seed: u64) {
        let mut report = Candidate {
            method: configuration.method.clone(),
            ..Candidate::default()
        };
        let start = Instant::now();
        let outcome = self.attempt(configuration, seed, &mut report.method);
        let seconds = start.elapsed().as_secs_f64();
        report.seconds = self.limit.map(|_| seconds);
        match outcome {
            Ok((estimators, score)) => {
                report.score = finite(score);
                let index = self.tried.len();
                // A forest with out-of-bag predictions was fitted only once, to all samples.
                let fits = if self.pool.is_whole(index) {
                    1.0
                } else {
                    self.cost_of_folds
                };
                self.tried.push(Tried {
                    estimators,
                    place: self.reported.len(),
                    cost: fits * configuration.cost,
                    seconds,
                });
            }
            Err(e) if e.is_stopped() && self.context.observers().is_stopped() => {
                report.skipped = Some("stopped by the user".to_owned());
            }
            Err(e) if e.is_stopped() => {
                report.skipped = Some("took longer than the time that it was given".to_owned());
            }
            Err(e) => {
                report.skipped = Some(e.to_string());
                self.failure.get_or_insert(e);
            }
        }
        self.report(report);
    }

    /// Records a configuration that there is no time for.
    fn skip(&mut self, configuration: &Configuration) {
        let reason = match self.context.observers().is_stopped() {
            true => "stopped by the user",
            false => "would have taken longer than the time that was left",
        };
        self.report(Candidate {
            method: configuration.method.clone(),
            skipped: Some(reason.to_owned()),
            ..Candidate::default()
        });
    }

    fn report(&mut self, report: Candidate) {
        self.context
            .on_candidate
            .iter()
            .for_each(|on_candidate| on_candidate(&report));
        self.reported.push(report);
    }

    /// Adds a configuration to the pool, imputing missing features if its method needs them.
    fn attempt(
        &mut self,
        configuration: &Configuration,
        seed: u64,
        text: &mut String,
    ) -> Result<(Vec<Box<dyn Estimator>>, f64), ModelError> {
        let method = configuration.for_data(self.data)?;
        if method.given("impute").is_some() && !text.contains("--impute") {
            text.push_str(" --impute median");
        }
        let seeds = if method.given("seed").is_some() {
            vec![method.seed()]
        } else if self.data.n_samples() <= FEW {
            // Far from the seeds of other configurations, which are consecutive.
            (0..SEEDS).map(|fit| seed.wrapping_add(fit << 32)).collect()
        } else {
            vec![seed]
        };
        let estimators = seeds
            .into_iter()
            .map(|seed| method.clone().with_seed(seed).estimator(self.data.task()));
        let estimators: Vec<_> = estimators.collect::<Result<_, _>>()?;
        let (start, deadline) = (self.start, self.deadline(configuration));
        let stop = || {
            let is_late = || deadline.is_some_and(|deadline| start.elapsed().as_secs_f64() > deadline);
            self.context.observers().is_stopped() || is_late()
        };
        // Samples withheld to choose among settings must not be used to choose weights as well.
        let context = FitContext {
            on_step: None,
            on_score: None,
            stop: Some(&stop),
            validation: None,
            ..*self.context
        };
        let score = self.pool.add(estimators[0].as_ref(), &context)?;
        Ok((estimators, score))
    }

    /// Builds the ensemble from the configurations that were tried.
    fn finish(mut self, params: &AutoParams) -> Result<Model, ModelError> {
        if self.tried.is_empty() {
            return Err(self.failure.unwrap_or(EnsembleError::Stopped.into()));
        }
        let chooser = Chooser {
            rule: params.rule(self.data.task()),
            or_best: true,
        };
        let grams = self.pool.grams()?;
        let mut candidates: Vec<usize> = (0..self.tried.len()).collect();
        let mut models: BTreeMap<usize, Vec<Model>> = BTreeMap::new();
        let chosen = loop {
            let chosen = self.pool.choose_crossed(chooser, &grams, &candidates)?;
            let left_out = self.fit_members(&chosen.choice, &mut models);
            if left_out.is_empty() {
                break chosen;
            }
            candidates.retain(|index| !left_out.contains(index));
            if candidates.is_empty() {
                return Err(self.failure.unwrap_or(EnsembleError::Stopped.into()));
            }
        };
        let judged = self.pool.judge(&chosen, &candidates, params.thresholds)?;
        let choice = chosen.choice;
        for (index, weight) in choice.members() {
            let report = &mut self.reported[self.tried[index].place];
            (report.weight, report.label_weight) = (Some(weight.of_outputs), weight.of_labels);
            let fits = models[&index].len();
            match models[&index][0].training().n_samples == self.data.n_samples() {
                true => report.seeds = (fits > 1).then_some(fits),
                false => report.folds = Some(fits),
            }
        }
        let reason = match choice.is_better_alone {
            true => "the chosen one scores higher alone than all with weights",
            false => "does not lower the error of the ensemble",
        };
        for report in &mut self.reported {
            if report.weight.is_none() && report.skipped.is_none() {
                report.skipped = Some(reason.to_owned());
            }
        }
        let selection = Selection {
            metric: self.pool.metric().to_string(),
            score: finite(judged.score),
            candidates: self.reported,
        };
        let training = TrainingSummary::of(self.data);
        let model = self.pool.ensemble(&choice, Some(selection), training, |index| {
            Ok(models.remove(&index).expect("every member was fitted"))
        })?;
        model.with_thresholds(judged.thresholds)
    }

    /// Fits the members of a choice to all samples, largest weights first, and returns the members that could not be
    /// fitted. If there is no time left for a member, the models of its folds are used instead.
    fn fit_members(&mut self, choice: &Choice, models: &mut BTreeMap<usize, Vec<Model>>) -> Vec<usize> {
        let members = choice.members().map(|(index, weight)| (index, weight.size()));
        let mut members: Vec<(usize, f64)> = members.collect();
        members.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        // A caller who stops the search wants the best result so far.
        let context = FitContext {
            on_step: None,
            on_score: None,
            stop: None,
            validation: None,
            ..*self.context
        };
        let mut left_out = Vec::new();
        for (index, _) in members {
            if models.contains_key(&index) {
                continue;
            }
            if self
                .limit
                .is_some_and(|limit| self.seconds() + self.last_fit(index) > limit)
                && !self.pool.is_whole(index)
            {
                models.insert(index, self.pool.of_folds(index).to_vec());
                continue;
            }
            match self.pool.fitted(index, &self.tried[index].estimators, &context) {
                Ok(fitted) => {
                    models.insert(index, fitted);
                }
                Err(e) => {
                    let place = self.tried[index].place;
                    self.reported[place].skipped = Some(e.to_string());
                    self.failure.get_or_insert(e);
                    left_out.push(index);
                }
            }
        }
        left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_trial_leaves_time_for_others() {
        assert_eq!(stopped_at(0.0, 90.0, 1.0), 30.0);
        assert_eq!(stopped_at(0.0, 90.0, 10.0), 40.0);
        assert_eq!(stopped_at(80.0, 90.0, 10.0), 90.0);
        assert_eq!(stopped_at(95.0, 90.0, 1.0), 90.0);
    }

    #[test]
    fn one_slow_trial_does_not_tell_what_others_take() {
        let per_cost = |trials: &[(f64, f64)]| seconds_per_cost(trials.iter().copied());
        assert_eq!(per_cost(&[]), None);
        assert_eq!(per_cost(&[(2.0, 1.0)]), Some(2.0));
        assert_eq!(per_cost(&[(2.0, 1.0), (5.0, 0.1)]), Some(2.0));
        assert_eq!(per_cost(&[(2.0, 1.0), (5.0, 0.1), (1.5, 0.5)]), Some(3.0));
    }
}
