//! Fit on a training part, score on a test part.

use super::bootstrap;
use super::meter::{ProjectionTime, Stopwatch, Timed, peak_memory};
use crate::reproduce::cell::Job;
use crate::reproduce::{data, measures};
use rpo::Predictor;
use rpo::data::Dataset;
use rpo::metrics::Metric;
use rpo::tune::Refit;
use rpo_cli::methods::{FitContext, Recipe};
use rpo_cli::scoring::Scoring;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn run(
    job: &Job,
    metrics: &[String],
    bootstrap: Option<usize>,
) -> anyhow::Result<BTreeMap<String, f64>> {
    let (train, test) = data::parts(job)?;
    let metrics: Vec<Metric> = metrics
        .iter()
        .map(|name| name.parse())
        .collect::<Result<_, _>>()?;
    let mut measured = BTreeMap::new();
    let (recipe, train) = recipe(job, train, metrics.first(), &mut measured)?;

    let time = Arc::new(ProjectionTime::default());
    let wrap = |family| {
        let time = Arc::clone(&time);
        Arc::new(Timed { family, time }) as _
    };
    let context = FitContext {
        wrap: Some(&wrap),
        ..FitContext::default()
    };
    let watch = Stopwatch::start();
    let model = recipe.fit(&train, &context)?;
    let (fit_cpu, fit_wall) = watch.read();
    let peak = peak_memory();

    let watch = Stopwatch::start();
    let scoring = Scoring::new(&model, test.features().view(), test.outputs(), test.name());
    let (values, predict_wall) = scoring.evaluate(&metrics)?;
    let (predict_cpu, _) = watch.read();

    measured.extend([
        (measures::FIT_CPU, fit_cpu),
        (measures::FIT_WALL, fit_wall),
        (measures::PREDICT_CPU, predict_cpu),
        (measures::PREDICT_WALL, predict_wall),
        (measures::PROJECTION, time.seconds()),
        (measures::MODEL_BYTES, model.to_bytes()?.len() as f64),
    ]);
    let nodes: Option<usize> = match model.predictor() {
        Predictor::Forest(forest) => {
            let trees = forest.trees().iter();
            Some(trees.map(|t| t.tree.structure().nodes().len()).sum())
        }
        Predictor::Craftml(forest) => {
            let trees = forest.trees().iter();
            Some(trees.map(|t| t.tree().structure().nodes().len()).sum())
        }
        _ => None,
    };
    measured.extend(nodes.map(|n| (measures::NODES, n as f64)));
    if time.draws() > 0 {
        measured.insert(measures::PROJECTION_ONCE, time.seconds() / time.draws() as f64);
    }
    measured.extend(peak.map(|peak| (measures::PEAK_MEMORY, peak)));

    let mut intervals = Vec::new();
    if let Some(resamples) = bootstrap {
        intervals = bootstrap::intervals(&model, &test, &metrics, resamples, job.data_seed)?;
    }
    let named = metrics.iter().map(ToString::to_string).zip(values);
    Ok(measured
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .chain(named)
        .chain(intervals)
        .collect())
}

/// The parameters to fit with, and the samples to fit to: those of the winner where options are searched.
fn recipe(
    job: &Job,
    train: Dataset,
    score: Option<&Metric>,
    measured: &mut BTreeMap<&str, f64>,
) -> anyhow::Result<(Box<dyn Recipe>, Dataset)> {
    let options = job.method.method_options()?;
    let Some(search) = &job.method.search else {
        return Ok((options.recipe(job.method.seed)?, train));
    };
    let tuning = search.tuning(
        options,
        job.method.seed,
        score.map(ToString::to_string).as_deref(),
    )?;
    let watch = Stopwatch::start();
    let tuned = tuning.run(&train, train.name(), &|| ())?;
    measured.insert(measures::SEARCH_CPU, watch.read().0);
    measured.insert(measures::TRIALS, tuned.found.history().len() as f64);
    let refit = if search.refit {
        Refit::Everything
    } else {
        Refit::No
    };
    Ok((
        tuning.best(&tuned)?,
        refit.samples(&train, &tuned.holdout).clone(),
    ))
}
