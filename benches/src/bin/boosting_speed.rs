//! Measures boosting: fits one model and reports time, memory, and test scores after given numbers of steps.
//!
//! ```text
//! cargo run --release -p rpo-benches --bin boosting_speed -- bibtex --method gbrt-relabel-rpo --loss logistic \
//!     --newton --iterations 600 --max-features 0.1
//! ```
//! Data as for `forest_speed`, or `growth` for 100,000 generated samples, each with 2,000 sparse features and about
//! five of 100,000 labels. Times are processor time of all threads; memory is the peak of the process while fitting,
//! including the data.

use anyhow::Context;
use clap::Parser;
use rpo::core::Seed;
use rpo::data::generate::{Generator, MultiLabelSet};
use rpo::data::{Dataset, Task};
use rpo::ensemble::boosting::{
    Algorithm, BoostingOptions, BoostingParams, History, LineSearch, LossKind, StepScope,
};
use rpo::ensemble::{Bins, Learner, MaxFeatures};
use rpo::metrics::{Evaluation, EvaluationOptions, Metric};
use rpo::projections::{Components, ProjectionKind};
use rpo_benches::measure::{Times, peak_memory, reset_peak};
use rpo_benches::sets::load;

#[derive(Parser)]
struct Arguments {
    /// The data.
    data: String,
    /// single-target, gbmort, gbrt-rpo or gbrt-relabel-rpo.
    #[arg(long, default_value = "gbrt-relabel-rpo", value_parser = algorithm)]
    method: Algorithm,
    #[arg(long, default_value = "square")]
    loss: LossKind,
    #[arg(long, default_value_t = 100)]
    iterations: usize,
    #[arg(long, default_value_t = 0.1)]
    learning_rate: f64,
    #[arg(long, default_value = "all")]
    max_features: MaxFeatures,
    /// Bins per feature, or exact.
    #[arg(long, default_value = "255")]
    bins: Bins,
    #[arg(long, default_value_t = 8)]
    max_leaves: usize,
    #[arg(long, default_value_t = 1)]
    min_samples_leaf: usize,
    #[arg(long, default_value_t = 1.0)]
    subsample: f64,
    #[arg(long, default_value = "gaussian")]
    projection: ProjectionKind,
    #[arg(long, default_value = "1")]
    components: Components,
    /// Newton steps.
    #[arg(long)]
    newton: bool,
    /// A step per leaf.
    #[arg(long)]
    leaf_steps: bool,
    /// Penalty on the squares of leaf values, for Newton steps per leaf.
    #[arg(long)]
    leaf_l2: Option<f64>,
    /// Steps after which scores are computed; only the last by default.
    #[arg(long, value_delimiter = ',')]
    stages: Vec<usize>,
    #[arg(long, default_value_t = 1)]
    threads: usize,
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads)
        .build_global()?;
    let (train, test) = if arguments.data == "growth" {
        let data = growth()?;
        (data.clone(), data.select_samples(&(0..1000).collect::<Vec<_>>())?)
    } else {
        load(&arguments.data)?
    };
    let projects = arguments.method.projects();
    let params = BoostingParams {
        loss: Some(arguments.loss),
        iterations: arguments.iterations,
        learning_rate: arguments.learning_rate,
        max_features: arguments.max_features,
        bins: arguments.bins,
        max_leaves: Some(arguments.max_leaves),
        min_samples_leaf: Some(arguments.min_samples_leaf),
        subsample: Some(arguments.subsample),
        projection: projects.then_some(arguments.projection.into()),
        components: projects.then_some(arguments.components),
        line_search: Some(if arguments.newton {
            LineSearch::Newton
        } else {
            LineSearch::Exact
        }),
        step_scope: Some(if arguments.leaf_steps {
            StepScope::Leaf
        } else {
            StepScope::Output
        }),
        leaf_l2: arguments.leaf_l2,
        seed: arguments.seed,
        ..BoostingParams::from(arguments.method)
    };
    let mut history = History::default();
    let options = BoostingOptions {
        history: Some(&mut history),
        ..Default::default()
    };
    reset_peak()?;
    let mut times = Times::default();
    let (x, y) = (train.features().view(), train.outputs().view());
    let fitted = times.of(|| params.fit_with(x, y, options))?;
    let peak = peak_memory().map_or(f64::NAN, |bytes| bytes / 1e6);
    let cpu = times.cpu.as_secs_f64();
    println!(
        "fit {cpu:.2} cpu s ({:.2} ms a step), {:.2} s elapsed, peak {peak:.0} MB, training loss {:.6} to {:.6}",
        1e3 * cpu / arguments.iterations as f64,
        times.wall.as_secs_f64(),
        history.training_loss[0],
        history.training_loss.last().context("the loss is noted")?,
    );
    let stages = if arguments.stages.is_empty() {
        vec![arguments.iterations]
    } else {
        arguments.stages
    };
    for stage in stages {
        let model = fitted.clone().truncate(stage);
        let mut times = Times::default();
        let scores = times.of(|| model.scores(test.features().view()))?;
        let evaluation = Evaluation::new(test.outputs().view(), scores.view(), EvaluationOptions::default());
        let (name, metric) = match test.task() {
            Task::MultiLabel => ("LRAP", Metric::Lrap),
            Task::Regression => ("R2", Metric::R2),
        };
        let score = evaluation.evaluate(&[metric])?[0];
        println!(
            "{stage:6} steps: {name} {score:.4}, predicted in {:.2} cpu s",
            times.cpu.as_secs_f64()
        );
    }
    Ok(())
}

fn algorithm(name: &str) -> Result<Algorithm, String> {
    match name {
        "single-target" => Ok(Algorithm::SingleTarget),
        "gbmort" => Ok(Algorithm::Gbmort),
        "gbrt-rpo" => Ok(Algorithm::GbrtRpo),
        "gbrt-relabel-rpo" => Ok(Algorithm::GbrtRelabelRpo),
        _ => Err("expected single-target, gbmort, gbrt-rpo or gbrt-relabel-rpo".to_owned()),
    }
}

fn growth() -> anyhow::Result<Dataset> {
    let set = MultiLabelSet {
        cardinality: 5.0,
        ..MultiLabelSet::new(100_000, 2000, 100_000)
    };
    Ok(set.generate(Seed::new(1))?)
}
