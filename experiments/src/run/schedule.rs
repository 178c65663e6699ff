//! Runs cells in parallel, each in its own process, within limits on threads and memory.

use super::store::{Outcome, Record, Store};
use crate::plan::job::{Job, STEPS, Source, Work};
use crate::plan::{Cell, Plan};
use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};
use rpo::ensemble::MaxFeatures;
use rpo::projections::Components;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Limits on cells that run at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Number of cells that run at once; a cell uses one thread.
    pub(crate) threads: usize,
    /// Memory limit in bytes for the expected needs of all running cells. A cell that needs more runs alone.
    pub(crate) memory: u64,
}

/// Cells that one process computes with one fit, by increasing number of steps.
type Fit<'a> = Vec<&'a Cell>;

struct State<'a> {
    waiting: Vec<Fit<'a>>,
    running: usize,
    memory: u64,
    store: &'a mut Store,
    failures: Vec<String>,
}

/// Runs the cells of a plan that are missing in the store, or all cells, and stores each as it finishes. Returns the
/// number of cells that ran.
///
/// # Errors
/// If the store cannot be written, or cells failed; all other cells are still run and stored.
pub(crate) fn run(plan: &Plan, store: &mut Store, limits: Limits, all: bool) -> anyhow::Result<usize> {
    let missing = plan
        .cells
        .iter()
        .filter(|cell| all || store.get(&cell.key).is_none());
    let missing: Vec<&Cell> = missing.collect();
    let n_missing = missing.len();
    let mut waiting = fits(&missing);
    let bar = progress_bar(&waiting, plan);
    // Fits are taken from the end.
    waiting.reverse();
    let n_fits = waiting.len();
    let state = State {
        waiting,
        running: 0,
        memory: 0,
        store,
        failures: Vec::new(),
    };
    let (state, freed) = (Mutex::new(state), Condvar::new());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..limits.threads.min(n_fits))
            .map(|_| scope.spawn(|| work(plan, &state, &freed, limits, &bar)))
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    bar.finish_and_clear();
    let failures = state.into_inner().expect("no worker panicked").failures;
    if !failures.is_empty() {
        bail!(
            "{} of {n_missing} cells failed; all others are stored\n{}",
            failures.len(),
            failures.join("\n")
        );
    }
    Ok(n_missing)
}

fn work(
    plan: &Plan,
    state: &Mutex<State<'_>>,
    freed: &Condvar,
    limits: Limits,
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    let mut guard = state.lock().expect("no worker panicked");
    loop {
        let free = limits.memory.saturating_sub(guard.memory);
        let alone = guard.running == 0;
        let next = guard
            .waiting
            .iter()
            .rposition(|fit| alone || memory(plan, last(fit)) <= free);
        let Some(next) = next else {
            if guard.waiting.is_empty() {
                return Ok(());
            }
            guard = freed.wait(guard).expect("no worker panicked");
            continue;
        };
        let fit = guard.waiting.remove(next);
        let cell = last(&fit);
        let needed = memory(plan, cell);
        guard.memory += needed;
        guard.running += 1;
        drop(guard);
        let name = format!(
            "{} {}",
            plan.datasets[cell.dataset].name, plan.columns[cell.column].id
        );
        bar.set_message(name.clone());
        let outcomes = run_apart(&fit);
        bar.inc(weight(plan, cell));

        guard = state.lock().expect("no worker panicked");
        guard.memory -= needed;
        guard.running -= 1;
        match outcomes {
            Ok(outcomes) => {
                let stored = fit.iter().zip(outcomes).try_for_each(|(cell, outcome)| {
                    guard.store.append(Record {
                        key: cell.key.clone(),
                        job: cell.job.clone(),
                        outcome,
                    })
                });
                if stored.is_err() {
                    // Nothing more can be stored, so the other workers should stop too.
                    guard.waiting.clear();
                }
                freed.notify_all();
                stored?;
            }
            Err(e) => {
                guard.failures.push(format!("{name}: {e:#}"));
                freed.notify_all();
            }
        }
    }
}

/// Groups cells that one fit serves: those that differ only in the number of steps.
fn fits<'a>(cells: &[&'a Cell]) -> Vec<Fit<'a>> {
    let mut fits: Vec<(Option<Job>, Fit<'a>)> = Vec::new();
    for &cell in cells {
        let alike = cell.job.but_for_steps();
        match fits.last_mut() {
            Some((others, fit)) if alike.is_some() && *others == alike => fit.push(cell),
            _ => fits.push((alike, vec![cell])),
        }
    }
    let steps = |cell: &&Cell| cell.job.method.number(STEPS);
    fits.into_iter()
        .map(|(_, mut fit)| {
            fit.sort_by_key(steps);
            fit
        })
        .collect()
}

/// The cell with the most steps.
fn last<'a>(fit: &Fit<'a>) -> &'a Cell {
    fit[fit.len() - 1]
}

/// Runs jobs that share one fit in their own process.
fn run_apart(fit: &Fit<'_>) -> anyhow::Result<Vec<Outcome>> {
    let jobs: Vec<&Job> = fit.iter().map(|cell| &cell.job).collect();
    let mut child = Command::new(std::env::current_exe()?)
        .arg("--cell")
        .env("RAYON_NUM_THREADS", "1")
        // Errors are reported by their messages; panics may still print a backtrace.
        .env("RUST_LIB_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let input = serde_json::to_vec(&jobs)?;
    let written = child
        .stdin
        .take()
        .context("a process without input")?
        .write_all(&input);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}; {}", output.status, said.trim());
    }
    // A failed process has reported its error; one that succeeded has read its jobs.
    written?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Rough upper estimate of the bytes that a cell needs: several copies of dense features (the set, its parts, ranks and
/// columns), the projected targets, predictions, and the nodes of the trees.
fn memory(plan: &Plan, cell: &Cell) -> u64 {
    let set = &plan.datasets[cell.dataset];
    let (n, p, d) = (cell.job.train as u64, set.n_features as u64, set.n_outputs as u64);
    let n_all = n + cell.job.test as u64;
    let m = components(cell, set.n_outputs).unwrap_or(0);
    let dense_features = match &cell.job.source {
        Source::MultiLabel { set, .. } if set.dense_noise.is_none() => p.min(256),
        _ => p.min(4096),
    };
    let words = 5 * n_all * dense_features
        + n * m
        + cell.job.test as u64 * d
        + 16 * n * trees(cell) as u64
        + 64 * n_all;
    4 * words + (16 << 20)
}

/// Work of a cell in arbitrary units, for estimating the remaining time: features considered per node, rows per level,
/// targets per row.
fn weight(plan: &Plan, cell: &Cell) -> u64 {
    let set = &plan.datasets[cell.dataset];
    let (n, method) = (cell.job.train as f64, &cell.job.method);
    let k = method.options.get("max-features").and_then(|k| k.parse().ok());
    let k = k.unwrap_or(MaxFeatures::Sqrt).resolve(set.n_features) as f64;
    // Unprojected sparse labels cost as much as a row has labels, which is not known here; a few dozen at most.
    let m = components(cell, set.n_outputs).unwrap_or(set.n_outputs.min(24) as u64) as f64;
    let fits = match &cell.job.work {
        Work::Score { .. } => 1,
        Work::Decompose(sizes) => sizes.learning_sets * sizes.projections * sizes.runs,
    };
    let load = n * set.n_features.min(1000) as f64;
    let fits = fits
        * method
            .search
            .as_ref()
            .map_or(1, |search| 1 + search.trials.unwrap_or(30));
    let fit = trees(cell) as f64 * k * n * rpo::core::math::log2(n + 2.0) * (2.0 + m);
    (1.0 + load + fits as f64 * fit) as u64
}

/// Number of trees or boosting iterations.
fn trees(cell: &Cell) -> usize {
    let method = &cell.job.method;
    method
        .number("trees")
        .or(method.number("iterations"))
        .unwrap_or(100)
}

fn components(cell: &Cell, n_outputs: usize) -> Option<u64> {
    let components: Components = cell.job.method.options.get("components")?.parse().ok()?;
    components.resolve(n_outputs).ok().map(|m| m as u64)
}

/// A progress bar with the remaining time on a terminal; nothing in a pipe.
fn progress_bar(fits: &[Fit<'_>], plan: &Plan) -> ProgressBar {
    let bar = ProgressBar::new(fits.iter().map(|fit| weight(plan, last(fit))).sum());
    let style = ProgressStyle::with_template("{bar:32} {percent:>3} %  {elapsed} elapsed, {eta} left  {msg}")
        .expect("the template is right");
    let bar = bar.with_style(style);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
