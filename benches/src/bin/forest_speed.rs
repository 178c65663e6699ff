//! What a forest costs: fits and applies random forests to whole data sets, and says what that took.
//!
//! ```text
//! cargo run --release -p rpo-benches --bin forest_speed -- [--threads N] [--repeats N] [SETTING...]
//! ```
//! A setting is the name of a set in the catalogue that `RPO_DATA` names (published split, or all samples), or
//! `generated-D` for 10,000 generated samples with 5,000 sparse features, some three of D labels each, from 20 topics
//! whatever D is, and 500 further samples to predict; then, after a colon, the number of Gaussian components per
//! tree, if outputs are projected.
//!
//! Every setting runs in a process of its own: 100 trees, ⌊√p⌋ features at a node, grown to pure leaves. Times are
//! the least of the repeats, processor time of all threads, for `fit` and for `predict` alone. Memory is the most
//! that the process held while fitting, the data included; the model is the size of its file.

use anyhow::{Context, ensure};
use clap::Parser;
use rpo::Model;
use rpo::core::Seed;
use rpo::data::generate::MultiLabelSet;
use rpo::data::{Catalogue, DEFAULT_DENSE_BUDGET, Dataset, Layout};
use rpo::ensemble::{Forest, ForestParams, OutputProjection};
use rpo::metrics::{Evaluation, Metric, Scores};
use rpo::projections::{Components, ProjectionKind};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

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
    /// Data and number of components, such as delicious:25; those of docs/performance.md by default.
    settings: Vec<String>,
    /// Number of threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// How often a forest is fitted.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// Number of trees.
    #[arg(long, default_value_t = 100)]
    trees: usize,
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
    println!("setting                 fit cpu s    wall s  predict cpu s  peak MB  model MB    LRAP");
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
    let projection = m.map(|m| OutputProjection::new(ProjectionKind::Gaussian, Components::Exact(m)));
    let params = ForestParams::random_forest()
        .n_trees(arguments.trees)
        .projection(projection)
        .check()?;

    // Most memory so far, from here on.
    #[cfg(target_os = "linux")]
    std::fs::write("/proc/self/clear_refs", "5")?;
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
    let evaluation = Evaluation::new(test.outputs().view(), Scores::Dense(scores.view()));
    let lrap = evaluation.evaluate(&[Metric::Lrap])?[0];
    let model = Model::new(forest, &train)?.to_bytes()?.len();
    let megabytes = |bytes: f64| bytes / 1e6;
    println!(
        "{setting:22} {:10.2} {:9.2} {:14.3} {:8.0} {:9.1} {lrap:7.4}",
        fit.cpu.as_secs_f64(),
        fit.wall.as_secs_f64(),
        predict.cpu.as_secs_f64(),
        peak.map_or(f64::NAN, megabytes),
        megabytes(model as f64),
    );
    Ok(())
}

/// Samples to fit to, and samples to predict: the same where there is no published split.
fn load(name: &str) -> anyhow::Result<(Dataset, Dataset)> {
    let (train, test) = if let Some(d) = name.strip_prefix("generated-") {
        let (n, n_test) = (10_000, 500);
        let set = MultiLabelSet::new(n + n_test, 5000, d.parse().with_context(|| name.to_owned())?);
        // A fixed number of topics: trees grow as deep as the features tell topics apart, whatever d is.
        let data = set.n_topics(20).generate(Seed::new(1))?;
        let rows: Vec<usize> = (0..n + n_test).collect();
        (data.select_rows(&rows[..n])?, data.select_rows(&rows[n..])?)
    } else {
        let loaded = Catalogue::from_env()?.load(name)?;
        let test = loaded.test.unwrap_or_else(|| loaded.train.clone());
        (loaded.train, test)
    };
    let layout = |data: Dataset| data.with_layout(Layout::Auto, DEFAULT_DENSE_BUDGET);
    Ok((layout(train)?, layout(test)?))
}

/// The least times that something took.
struct Times {
    wall: Duration,
    cpu: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            wall: Duration::MAX,
            cpu: Duration::MAX,
        }
    }
}

impl Times {
    fn of<T, E: std::error::Error + Send + Sync + 'static>(
        &mut self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> anyhow::Result<T> {
        let (wall, cpu) = (Instant::now(), cpu_time()?);
        let result = work()?;
        self.wall = self.wall.min(wall.elapsed());
        self.cpu = self.cpu.min(cpu_time()? - cpu);
        Ok(result)
    }
}

#[cfg(unix)]
fn cpu_time() -> anyhow::Result<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(Duration::new(time.tv_sec.try_into()?, time.tv_nsec.try_into()?))
}

#[cfg(not(unix))]
fn cpu_time() -> anyhow::Result<Duration> {
    anyhow::bail!("processor time is measured on Unix only")
}

/// The most memory held, in bytes, where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse()
        .ok()
        .map(|kib: f64| kib * 1024.0)
}
