//! Fits to training samples and scores on test samples.

use super::meter::{ProjectionTime, Stopwatch, Timed, peak_memory};
use super::{bootstrap, targets, time_limit};
use crate::describe::measures;
use crate::plan::data;
use crate::plan::job::{Job, STEPS};
use anyhow::{Context, ensure};
use rpo::Model;
use rpo::data::Dataset;
use rpo::metrics::{Evaluation, EvaluationOptions, Metric};
use rpo::tune::Refit;
use rpo::{Estimator, EvaluateOptions, FitContext, Method};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

type Values = BTreeMap<String, f64>;

/// Measures jobs that differ only in their numbers of steps, which increase: the last job is fitted once and scored at
/// the steps of the others.
pub(super) fn run(jobs: &[Job], metrics: &[String], bootstrap: Option<usize>) -> anyhow::Result<Vec<Values>> {
    let job = jobs.last().context("no job")?;
    let (train, test) = data::parts(job)?;
    let metrics: Vec<Metric> = metrics
        .iter()
        .map(|name| name.parse())
        .collect::<Result<_, _>>()?;
    let mut fitting = Fitting {
        job,
        metrics: &metrics,
        options: time_limit::limited(job, &train)?,
        projections: Arc::default(),
        cost: Cost::default(),
    };
    let score = Score {
        job,
        metrics: &metrics,
        test: &test,
        bootstrap,
    };
    if let Some(targets) = job.method.targets {
        let sets = targets.of(&train)?;
        let models = sets.iter().map(|set| fitting.fit(set));
        let models: Vec<Model> = models.collect::<anyhow::Result<_>>()?;
        return Ok(vec![score.measure(&models, &fitting.cost)?]);
    }
    if let [_] = jobs {
        let model = fitting.fit(&train)?;
        return Ok(vec![score.measure(&[model], &fitting.cost)?]);
    }
    let steps = jobs
        .iter()
        .map(|job| job.method.number(STEPS).context("no steps"));
    let steps: Vec<usize> = steps.collect::<anyhow::Result<_>>()?;
    let mut found = Vec::with_capacity(jobs.len());
    fitting.fit_in_parts(&train, &steps, |model, cost| {
        found.push(score.measure(std::slice::from_ref(model), cost)?);
        Ok(())
    })?;
    ensure!(
        found.len() == jobs.len(),
        "the fit ended after {} of {steps:?} steps",
        found.len()
    );
    Ok(found)
}

/// Fits the method of a job and records the cost.
struct Fitting<'a> {
    job: &'a Job,
    metrics: &'a [Metric],
    options: Method,
    projections: Arc<ProjectionTime>,
    cost: Cost,
}

/// The cost of the fits so far.
#[derive(Debug, Clone, Default)]
struct Cost {
    /// CPU seconds and wall-clock seconds of the fits.
    fit: (f64, f64),
    /// CPU seconds of searches, and the number of settings tried.
    search: Option<(f64, usize)>,
    /// CPU seconds spent on projections, and the number drawn.
    projections: (f64, u64),
    /// Peak memory in bytes.
    peak_memory: Option<f64>,
}

impl Cost {
    fn fitted(&mut self, (cpu, wall): (f64, f64), projections: &ProjectionTime) {
        self.fit = (self.fit.0 + cpu, self.fit.1 + wall);
        self.projections = (projections.seconds(), projections.draws());
        self.peak_memory = peak_memory();
    }
}

impl Fitting<'_> {
    /// Fits to a set; if options are searched, with those of the winner.
    fn fit(&mut self, train: &Dataset) -> anyhow::Result<Model> {
        let wrap = timed(&self.projections);
        let context = FitContext {
            wrap_projection: Some(&wrap),
            ..FitContext::default()
        };
        let seed = self.job.method.seed;
        let Some(search) = &self.job.method.search else {
            let method = self.options.clone().with_seed(seed);
            let watch = Stopwatch::start();
            let model = method.fit(train, &context)?;
            self.cost.fitted(watch.read(), &self.projections);
            return Ok(model);
        };
        let score = self.metrics.first().map(ToString::to_string);
        let tuning = search.tuning(self.options.clone(), seed, score.as_deref())?;
        let watch = Stopwatch::start();
        let tuned = tuning.run(train, &|| ())?;
        let (cpu, trials) = self.cost.search.unwrap_or_default();
        let found = tuned.result.history.len();
        self.cost.search = Some((cpu + watch.read().0, trials + found));
        let refit = if search.refit {
            Refit::Everything
        } else {
            Refit::No
        };
        let watch = Stopwatch::start();
        let model = tuning.fit_best(&tuned, train, refit, &context)?;
        self.cost.fitted(watch.read(), &self.projections);
        Ok(model)
    }

    /// Fits to a set and passes the model to `look` after each number of steps. The time spent in `look` is not
    /// counted.
    fn fit_in_parts(
        &self,
        train: &Dataset,
        steps: &[usize],
        mut look: impl FnMut(&Model, &Cost) -> anyhow::Result<()> + Send,
    ) -> anyhow::Result<()> {
        let wrap = timed(&self.projections);
        let context = FitContext {
            wrap_projection: Some(&wrap),
            ..FitContext::default()
        };
        let method = self.options.clone().with_seed(self.job.method.seed);
        let estimator = method.estimator(train.task())?;
        let mut failure = None;
        let watch = Stopwatch::start();
        let mut looked = (0.0, 0.0);
        let mut show = |_: usize, model: &Model| {
            let now = watch.read();
            let mut cost = self.cost.clone();
            cost.fitted((now.0 - looked.0, now.1 - looked.1), &self.projections);
            let flow = match look(model, &cost) {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => {
                    failure = Some(e);
                    ControlFlow::Break(())
                }
            };
            let then = watch.read();
            looked = (looked.0 + then.0 - now.0, looked.1 + then.1 - now.1);
            Ok(flow)
        };
        estimator.fit_in_parts(train, &context, steps, &mut show)?;
        failure.map_or(Ok(()), Err)
    }
}

/// Wraps projections to measure their time.
fn timed(
    time: &Arc<ProjectionTime>,
) -> impl Fn(Arc<dyn rpo::projections::Projection>) -> Arc<dyn rpo::projections::Projection> + Sync + use<> {
    let time = Arc::clone(time);
    move |family| {
        let time = Arc::clone(&time);
        Arc::new(Timed { family, time })
    }
}

/// Scores models on test samples.
struct Score<'a> {
    job: &'a Job,
    metrics: &'a [Metric],
    test: &'a Dataset,
    bootstrap: Option<usize>,
}

impl Score<'_> {
    /// All measures of a model, or of several models that are fitted to parts of the outputs.
    fn measure(&self, models: &[Model], cost: &Cost) -> anyhow::Result<Values> {
        let watch = Stopwatch::start();
        let (values, predict_wall) = self.evaluate(models)?;
        let (predict_cpu, _) = watch.read();
        let mut bytes = 0;
        for model in models {
            bytes += model.to_bytes()?.len();
        }
        let mut measured = vec![
            (measures::FIT_CPU, cost.fit.0),
            (measures::FIT_WALL, cost.fit.1),
            (measures::PREDICT_CPU, predict_cpu),
            (measures::PREDICT_WALL, predict_wall),
            (measures::PROJECTION, cost.projections.0),
            (measures::MODEL_BYTES, bytes as f64),
        ];
        let trees: Vec<_> = models.iter().flat_map(|m| m.predictor().tree_sizes()).collect();
        if !trees.is_empty() {
            let nodes = trees.iter().map(|tree| tree.nodes).sum::<usize>();
            measured.push((measures::TREES, trees.len() as f64));
            measured.push((measures::NODES, nodes as f64));
        }
        if let Some((cpu, trials)) = cost.search {
            measured.extend([(measures::SEARCH_CPU, cpu), (measures::TRIALS, trials as f64)]);
        }
        if cost.projections.1 > 0 {
            let once = cost.projections.0 / cost.projections.1 as f64;
            measured.push((measures::PROJECTION_ONCE, once));
        }
        measured.extend(cost.peak_memory.map(|peak| (measures::PEAK_MEMORY, peak)));
        let mut intervals = Vec::new();
        if let (Some(resamples), [model]) = (self.bootstrap, models) {
            let seed = self.job.data_seed;
            intervals = bootstrap::intervals(model, self.test, self.metrics, resamples, seed)?;
        }
        let named = self.metrics.iter().map(ToString::to_string).zip(values);
        let measured = measured.into_iter().map(|(name, value)| (name.to_owned(), value));
        Ok(measured.chain(named).chain(intervals).collect())
    }

    /// The metrics, and the seconds of prediction.
    fn evaluate(&self, models: &[Model]) -> anyhow::Result<(Vec<f64>, f64)> {
        let (x, truth) = (self.test.features().view(), self.test.outputs());
        match (self.job.method.targets, models) {
            (None, [model]) => {
                let options = EvaluateOptions::default();
                let evaluated = model.evaluate_with(self.test, self.metrics, options)?;
                Ok((evaluated.values, evaluated.predict_seconds))
            }
            _ => {
                let watch = Stopwatch::start();
                let predicted = targets::predict(models, x, truth.n_cols())?;
                let (_, wall) = watch.read();
                let evaluation =
                    Evaluation::new(truth.view(), predicted.view(), EvaluationOptions::default());
                Ok((evaluation.evaluate(self.metrics)?, wall))
            }
        }
    }
}
