//! Measures forests: fits random forests or Extra-Trees to whole data sets, predicts, and reports time and memory.
//!
//! ```text
//! cargo run --release -p rpo-benches --bin forest_speed -- [--threads N] [--repeats N] [--trees N] [--extra-trees] [SETTING...]
//! ```
//! A setting is the name of a set in the catalogue that `RPO_DATA` names (published split, or all samples);
//! `generated-D` for 10,000 generated samples with 5,000 sparse features, each with about three of D labels, from 20
//! topics whatever D is, and 500 further samples to predict; or `numbers-N` for N samples with 50 dense features and 10
//! outputs. A number after a colon is the number of Gaussian components per tree, if outputs are projected.
//!
//! Every setting runs in its own process: 100 trees, ⌊√p⌋ features at a node, grown to pure leaves. Times are processor
//! time of all threads, the minimum over the repeats, separately for `fit` and `predict`. Memory is the peak of the
//! process while fitting, including the data; the model size is that of its file. The score is LRAP for labels and R²
//! for numbers.

use anyhow::{Context, ensure};
use clap::Parser;
use rpo::data::Task;
use rpo::ensemble::{Forest, ForestParams, ForestPreset, Learner, ProjectionChoice};
use rpo::metrics::{Evaluation, EvaluationOptions, Metric};
use rpo::projections::{Components, ProjectionKind};
use rpo::{Model, Predictor};
use rpo_benches::measure::{Times, peak_memory, reset_peak};
use rpo_benches::sets::load;
use std::process::{Command, ExitCode};

/// The settings of docs/performance.md.
const SETTINGS: [&str; 11] = [
    "delicious:25",
    "delicious",
    "bibtex:25",
    "bibtex",
    "corel5k:25",
    "corel5k",
    "yeast",
    "scene",
    "generated-1000:25",
    "generated-10000:25",
    "generated-100000:25",
];

#[derive(Parser)]
struct Arguments {
    /// Data and number of components, such as delicious:25; by default the settings of docs/performance.md.
    settings: Vec<String>,
    /// Number of threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Number of fits of a forest.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// Number of trees.
    #[arg(long, default_value_t = 100)]
    trees: usize,
    /// Extra-Trees instead of random forests.
    #[arg(long)]
    extra_trees: bool,
    /// Measure in this process.
    #[arg(long, hide = true)]
    here: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = Arguments::parse();
    ensure!(arguments.repeats > 0, "--repeats is 0; at least 1 expected");
    if let ([setting], true) = (arguments.settings.as_slice(), arguments.here) {
        measure(setting, &arguments)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.settings.is_empty() {
        arguments.settings = SETTINGS.map(str::to_owned).to_vec();
    }
    println!("setting                 fit cpu s    wall s  predict cpu s  peak MB  model MB   score");
    let mut outcome = ExitCode::SUCCESS;
    for setting in &arguments.settings {
        let mut process = Command::new(std::env::current_exe()?);
        for (name, value) in [
            ("--threads", arguments.threads),
            ("--repeats", arguments.repeats),
            ("--trees", arguments.trees),
        ] {
            process.arg(name).arg(value.to_string());
        }
        if arguments.extra_trees {
            process.arg("--extra-trees");
        }
        if !process.args(["--here", setting]).status()?.success() {
            outcome = ExitCode::FAILURE;
        }
    }
    Ok(outcome)
}

fn measure(setting: &str, arguments: &Arguments) -> anyhow::Result<()> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads)
        .build_global()?;
    let (name, m) = match setting.split_once(':') {
        None => (setting, None),
        Some((name, m)) => (
            name,
            Some(m.parse().with_context(|| format!("components of {setting}"))?),
        ),
    };
    let (train, test) = load(name)?;
    let defaults = if arguments.extra_trees {
        ForestParams::from(ForestPreset::ExtraTrees)
    } else {
        ForestParams::default()
    };
    let params = ForestParams {
        trees: arguments.trees,
        projection: m.map_or(ProjectionChoice::None, |_| ProjectionKind::Gaussian.into()),
        components: m.map(Components::Exact),
        ..defaults
    };

    // The peak memory is measured from here on.
    reset_peak()?;
    let mut fit = Times::default();
    let mut forest: Option<Forest> = None;
    let mut peak = None;
    for _ in 0..arguments.repeats {
        drop(forest.take());
        forest = Some(fit.of(|| params.fit(train.features().view(), train.outputs().view()))?);
        peak = peak.or_else(peak_memory);
    }
    let forest = forest.context("fitted at least once")?;
    let mut predict = Times::default();
    let mut scores = predict.of(|| forest.predict(test.features().view()))?;
    for _ in 1..arguments.repeats {
        scores = predict.of(|| forest.predict(test.features().view()))?;
    }
    let evaluation = Evaluation::new(test.outputs().view(), scores.view(), EvaluationOptions::default());
    let metric = match test.task() {
        Task::MultiLabel => Metric::Lrap,
        Task::Regression => Metric::R2,
    };
    let score = evaluation.evaluate(&[metric])?[0];
    let model = Model::new(forest, &train)?.to_bytes()?.len();
    let megabytes = |bytes: f64| bytes / 1e6;
    println!(
        "{setting:22} {:10.2} {:9.2} {:14.3} {:8.0} {:9.1} {score:7.4}",
        fit.cpu.as_secs_f64(),
        fit.wall.as_secs_f64(),
        predict.cpu.as_secs_f64(),
        peak.map_or(f64::NAN, megabytes),
        megabytes(model as f64),
    );
    Ok(())
}
