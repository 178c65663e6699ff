//! Tries configurations, chooses among them, and fits the chosen ones.

use super::{AutoParams, Configuration, Portfolio};
use crate::combine::{Candidate, Choice, Chooser, CombineRule, Pool, Selection, Splits, finite};
use crate::method::{Estimator, FitContext, Needs, parameters_of};
use crate::{Model, ModelError, TrainingSummary};
use rpo_core::{Domain, ParameterError, Seed};
use rpo_data::split::SplitError;
use rpo_data::{Dataset, Task};
use rpo_ensemble::EnsembleError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Largest number of samples for which folds are used, so that each sample is withheld once.
const FOLDED: usize = 2000;
/// Number of folds for small sets.
const FOLDS: usize = 4;
/// Withheld fraction of larger sets.
const WITHHELD: f64 = 0.25;
/// Largest number of samples for which a member is fitted to all of them with several seeds: with few samples,
/// randomness is a large part of the error of a fit, and a fit takes little time.
const FEW: usize = 500;
/// Number of seeds for these last fits.
const SEEDS: u64 = 3;

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
            ..Needs::FEW
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
        let splits = match data.n_samples() {
            n_samples @ ..2 => return Err(SplitError::Empty { n_samples }.into()),
            n_samples if data.n_groups() < 2 => return Err(SplitError::OneGroup { n_samples }.into()),
            n if n <= FOLDED => Splits::new(data, FOLDS.min(data.n_groups()), seed)?,
            _ => Splits::withheld(data, WITHHELD, seed)?,
        };
        let portfolio = self.portfolio()?;
        let most = self.configurations.unwrap_or(usize::MAX);
        let admitted = portfolio.of_task(data.task()).iter().filter(|c| c.admits(data));
        let admitted: Vec<&Configuration> = admitted.take(most).collect();
        let mut search = Search {
            data,
            context,
            start: Instant::now(),
            limit: self.limit(data).map(|limit| context.share_of(limit)),
            cost_of_folds: splits.cost(),
            pool: Pool::new(data, splits),
            tried: Vec::new(),
            late: Vec::new(),
            reported: Vec::new(),
            n_admitted: admitted.len(),
            failure: None,
        };
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
                false => search.skip(configuration, seed),
            }
            observers.step();
        }
        search.visit_in_any_case();
        search.finish(self)
    }
}

/// A candidate of the pool.
pub(super) struct Tried {
    /// One estimator per last fit, each with its own seed; the first is the one that was tried.
    pub(super) estimators: Vec<Box<dyn Estimator>>,
    /// Its index in the report.
    place: usize,
    pub(super) cost: f64,
    pub(super) seconds: f64,
}

/// A configuration that there was no time for.
struct Late {
    /// With as many trees as there was time for, where they are a parameter.
    configuration: Configuration,
    /// This number of trees.
    n_trees: Option<usize>,
    seed: u64,
    /// Its index in the report.
    place: usize,
}

pub(super) struct Search<'a> {
    data: &'a Dataset,
    context: &'a FitContext<'a>,
    pub(super) start: Instant,
    /// Time limit in seconds.
    pub(super) limit: Option<f64>,
    /// Time of fitting the samples of all folds, relative to a fit to all samples.
    pub(super) cost_of_folds: f64,
    pub(super) pool: Pool<'a>,
    /// In the order of candidates in the pool.
    pub(super) tried: Vec<Tried>,
    late: Vec<Late>,
    reported: Vec<Candidate>,
    /// Number of configurations that suit the data.
    pub(super) n_admitted: usize,
    /// The first error of any configuration.
    failure: Option<ModelError>,
}

impl Search<'_> {
    /// Configurations with their positions in the portfolio, in the order in which they are tried: if the time is limited,
    /// the cheapest one is the first, and shows what the others take.
    fn in_order<'c>(&self, admitted: &[&'c Configuration]) -> Vec<(usize, &'c Configuration)> {
        let mut order: Vec<(usize, &Configuration)> = admitted.iter().copied().enumerate().collect();
        let cheapest = order.iter().min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost));
        if let (Some(_), Some(&(cheapest, _))) = (self.limit, cheapest) {
            order[..=cheapest].rotate_right(1);
        }
        order
    }

    /// Tries a configuration while there is time.
    fn visit(&mut self, configuration: &Configuration, seed: u64) {
        self.visit_until(configuration, seed, self.deadline(configuration));
    }

    /// Tries configurations that there was no time for, without a limit, until there is a result: first those with as
    /// many trees as there was time for, but at least one, the most trees first; then the cheapest, whose time is unknown.
    fn visit_in_any_case(&mut self) {
        let mut late = std::mem::take(&mut self.late);
        let cheaper = |a: &Late, b: &Late| a.configuration.cost.total_cmp(&b.configuration.cost);
        late.sort_by(|a, b| b.n_trees.cmp(&a.n_trees).then_with(|| cheaper(a, b)));
        for Late {
            configuration,
            seed,
            place,
            ..
        } in late
        {
            if !self.tried.is_empty() || self.context.observers().is_stopped() {
                break;
            }
            self.visit_until(&configuration, seed, None);
            // Its report takes the place of the earlier one.
            self.reported.swap_remove(place);
            self.tried.iter_mut().for_each(|tried| tried.place = place);
        }
    }

    /// Tries a configuration until a number of seconds since the start of the search, if there is one.
    fn visit_until(&mut self, configuration: &Configuration, seed: u64, deadline: Option<f64>) {
        let mut report = Candidate {
            method: configuration.method.clone(),
            ..Candidate::default()
        };
        let start = Instant::now();
        let n_steps = AtomicUsize::new(0);
        let outcome = self.attempt(configuration, seed, deadline, &n_steps, &mut report.method);
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
                self.remember(configuration, seed, n_steps.into_inner());
            }
            Err(e) => {
                report.skipped = Some(e.to_string());
                self.failure.get_or_insert(e);
            }
        }
        self.report(report);
    }

    /// Remembers the configuration that is reported next, as there was no time for more than some steps.
    fn remember(&mut self, configuration: &Configuration, seed: u64, n_steps: usize) {
        // A forest of these few is fitted to the samples of all folds.
        let n_trees = (n_steps as f64 / self.cost_of_folds.max(1.0)) as usize;
        let smaller = configuration.with_trees(n_trees.max(1));
        self.late.push(Late {
            n_trees: smaller.as_ref().map(|_| n_trees),
            configuration: smaller.unwrap_or_else(|| configuration.clone()),
            seed,
            place: self.reported.len(),
        });
    }

    /// Records a configuration that there is no time for.
    fn skip(&mut self, configuration: &Configuration, seed: u64) {
        let reason = match self.context.observers().is_stopped() {
            true => "stopped by the user",
            false => {
                self.remember(configuration, seed, 0);
                "would have taken longer than the time that was left"
            }
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

    /// Adds a configuration to the pool, with the options that suit it to the data, and counts its steps.
    fn attempt(
        &mut self,
        configuration: &Configuration,
        seed: u64,
        deadline: Option<f64>,
        n_steps: &AtomicUsize,
        text: &mut String,
    ) -> Result<(Vec<Box<dyn Estimator>>, f64), ModelError> {
        let (own, method) = (configuration.parsed()?, configuration.for_data(self.data)?);
        for (name, added) in [("impute", " --impute median"), ("nominal", " --nominal target")] {
            if method.given(name).is_some() && own.given(name).is_none() {
                text.push_str(added);
            }
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
        let start = self.start;
        let stop = || {
            let is_late = || deadline.is_some_and(|deadline| start.elapsed().as_secs_f64() > deadline);
            self.context.observers().is_stopped() || is_late()
        };
        let on_step = || {
            n_steps.fetch_add(1, Ordering::Relaxed);
        };
        // Samples withheld to choose among settings must not be used to choose weights as well.
        let context = FitContext {
            on_step: Some(&on_step),
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
                .end(true)
                .is_some_and(|end| self.seconds() + self.last_fit(index) > end)
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
