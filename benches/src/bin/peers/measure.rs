//! Measures contestants, with each fit in its own process.

use crate::contestant::{Contestant, Of};
use crate::export::{Exported, read};
use anyhow::{Context, bail};
use rpo::Predictor;
use rpo::data::Task;
use rpo::metrics::Metric;
use rpo_benches::measure::{Times, peak_memory, reset_peak};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Times, memory and scores of a fit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) version: String,
    pub(crate) fit_cpu: f64,
    pub(crate) fit_wall: f64,
    pub(crate) predict_cpu: f64,
    pub(crate) predict_wall: f64,
    pub(crate) peak_bytes: f64,
    pub(crate) model_bytes: f64,
    pub(crate) scores: BTreeMap<String, f64>,
}

/// Options of a fit.
pub(crate) struct Run<'a> {
    pub(crate) threads: usize,
    pub(crate) limit: Duration,
    pub(crate) python: &'a Path,
    pub(crate) data: &'a Exported,
}

/// Fits a contestant once; returns the record, or the reason why there is none.
pub(crate) fn fit(contestant: &Contestant, run: &Run<'_>) -> anyhow::Result<Result<Record, String>> {
    let threads = run.threads.to_string();
    let mut command = match contestant.of {
        Of::Here(..) => {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["--here", contestant.name, &threads]);
            command.args([&run.data.train, &run.data.test]);
            command
        }
        Of::Python => {
            let mut command = Command::new(run.python);
            command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/peers/peers.py"));
            command.args([contestant.name]);
            command.args([&run.data.train, &run.data.test]);
            command.args(["--threads", &threads]);
            command
        }
    };
    command
        .env("OMP_NUM_THREADS", &threads)
        .env("RAYON_NUM_THREADS", &threads);
    Ok(match output(&mut command, run.limit)? {
        Ok(text) => {
            let line = text.lines().last().unwrap_or_default();
            Ok(serde_json::from_str(line).with_context(|| contestant.name)?)
        }
        Err(failure) => Err(failure),
    })
}

/// Returns the output of a process, or the reason why there is none: it failed, or exceeded the time limit.
fn output(command: &mut Command, limit: Duration) -> anyhow::Result<Result<String, String>> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start")?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(Err(format!("more than {} s", limit.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if !status.success() {
        return Ok(Err("failed".to_owned()));
    }
    let mut text = String::new();
    // A single line, which the pipe could hold while the process ran.
    child
        .stdout
        .take()
        .context("is piped")?
        .read_to_string(&mut text)?;
    Ok(Ok(text))
}

/// Fits a method of this workspace in this process and prints the record.
pub(crate) fn here(name: &str, threads: usize, train: &Path, test: &Path) -> anyhow::Result<()> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()?;
    let Some(method) = Contestant::named(name)?.method()? else {
        bail!("{name} is not of this workspace");
    };
    let (train, test) = (read(train)?, read(test)?);
    let estimator = method.estimator(train.task())?;
    let (mut fit, mut predict) = (Times::default(), Times::default());
    reset_peak()?;
    let model = fit.of(|| estimator.fit(&train, &rpo::FitContext::default()))?;
    predict.of(|| model.predict(test.features().view()))?;
    let peak_bytes = peak_memory().unwrap_or(f64::NAN);
    let metrics: &[(&str, Metric)] = match train.task() {
        Task::MultiLabel => &[("lrap", Metric::LrapAll), ("p@1", Metric::PrecisionAt(1))],
        Task::Regression => &[("r2", Metric::R2)],
    };
    let kinds: Vec<Metric> = metrics.iter().map(|(_, metric)| *metric).collect();
    let values = model.evaluate(&test, &kinds)?;
    let record = Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        fit_cpu: fit.cpu.as_secs_f64(),
        fit_wall: fit.wall.as_secs_f64(),
        predict_cpu: predict.cpu.as_secs_f64(),
        predict_wall: predict.wall.as_secs_f64(),
        peak_bytes,
        model_bytes: model.to_bytes()?.len() as f64,
        scores: metrics
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .zip(values)
            .collect(),
    };
    println!("{}", serde_json::to_string(&record)?);
    Ok(())
}
