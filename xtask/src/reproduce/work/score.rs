//! Fit on a training part, score on a test part.

use super::meter::{ProjectionTime, Stopwatch, Timed, peak_memory};
use crate::reproduce::cell::Job;
use crate::reproduce::{data, measures};
use ndarray::Array2;
use rpo::Model;
use rpo::core::Seed;
use rpo::data::split::{TestSize, random_split};
use rpo::data::{Dataset, Task};
use rpo::ensemble::Forest;
use rpo::metrics::{Evaluation, Metric, Propensity, Scores};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn run(job: &Job, metrics: &[String]) -> anyhow::Result<BTreeMap<String, f64>> {
    let (train, test) = parts(job)?;
    let metrics: Vec<Metric> = metrics
        .iter()
        .map(|name| name.parse())
        .collect::<Result<_, _>>()?;
    let time = Arc::new(ProjectionTime::default());
    let wrap = |family| {
        Arc::new(Timed {
            family,
            time: Arc::clone(&time),
        }) as _
    };
    let params = job.forest.params(train.n_outputs(), wrap)?.check()?;

    let watch = Stopwatch::start();
    let forest = params.fit(train.features().into(), train.outputs().into())?;
    let (fit_cpu, fit_wall) = watch.read();
    let peak = peak_memory();

    let watch = Stopwatch::start();
    let scores = forest.predict(test.features().into())?;
    let (predict_cpu, predict_wall) = watch.read();
    let values = evaluate(&metrics, &train, &test, &scores)?;

    let mut measured = BTreeMap::from([
        (measures::FIT_CPU, fit_cpu),
        (measures::FIT_WALL, fit_wall),
        (measures::PREDICT_CPU, predict_cpu),
        (measures::PREDICT_WALL, predict_wall),
        (measures::PROJECTION, time.seconds()),
        (measures::NODES, n_nodes(&forest) as f64),
    ]);
    if time.draws() > 0 {
        measured.insert(measures::PROJECTION_ONCE, time.seconds() / time.draws() as f64);
    }
    measured.extend(peak.map(|peak| (measures::PEAK_MEMORY, peak)));
    let model = Model::new(forest, &train)?;
    measured.insert(measures::MODEL_BYTES, model.to_bytes()?.len() as f64);

    let named = metrics.iter().map(ToString::to_string).zip(values);
    Ok(measured
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .chain(named)
        .collect())
}

fn parts(job: &Job) -> anyhow::Result<(Dataset, Dataset)> {
    let data = data::load(&job.source, job.train + job.test)?;
    let size = TestSize::Counts {
        train: job.train,
        test: job.test,
    };
    Ok(random_split(data.n_samples(), size, Seed::new(job.data_seed))?.apply(&data)?)
}

fn evaluate(
    metrics: &[Metric],
    train: &Dataset,
    test: &Dataset,
    scores: &Array2<f32>,
) -> anyhow::Result<Vec<f64>> {
    let propensities = if metrics.iter().any(|metric| metric.needs_propensities()) {
        let counts = train.label_statistics().counts;
        Some(Propensity::default().inverse(&counts, train.n_samples())?)
    } else {
        None
    };
    let means = match train.task() {
        Task::Regression => rpo::TrainingSummary::of(train).output_means(),
        Task::MultiLabel => Vec::new(),
    };
    let mut evaluation = Evaluation::new(test.outputs().into(), Scores::Dense(scores.view()));
    if let Some(inverse) = &propensities {
        evaluation = evaluation.inverse_propensities(inverse);
    }
    if !means.is_empty() {
        evaluation = evaluation.train_means(&means);
    }
    Ok(evaluation.evaluate(metrics)?)
}

fn n_nodes(forest: &Forest) -> usize {
    forest
        .trees()
        .iter()
        .map(|tree| tree.tree.structure().nodes().len())
        .sum()
}
