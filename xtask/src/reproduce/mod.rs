//! `cargo xtask reproduce`: a published table or figure, ours beside it.
//!
//! An experiment goes through stages, one module each: `describe` reads its file, `plan` makes cells of it (data set
//! x method x repetition), `schedule` runs those that `store` does not have yet, each in a process of its own that
//! does the `work`; `results` and `claims` make sense of what came out, and `report` writes it down.

mod cell;
mod claims;
mod data;
mod describe;
mod measures;
mod plan;
mod published;
mod report;
mod results;
mod schedule;
mod store;
mod work;

use anyhow::Context;
use plan::Selection;
use published::Published;
use results::Results;
use schedule::Limits;
use std::path::{Path, PathBuf};
use store::Store;

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Name of an experiment (see --list), or the path of its description
    #[arg(default_value = "short")]
    experiment: String,
    /// List the experiments with paper, table and expected time
    #[arg(long)]
    list: bool,
    /// Fewer repetitions, smaller forests: what the description says under `quick`
    #[arg(long)]
    quick: bool,
    /// Run only these data sets
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    datasets: Vec<String>,
    /// Run only these methods, by the ids of the description
    #[arg(long, value_delimiter = ',', value_name = "ID,...")]
    methods: Vec<String>,
    /// Limit fits of boosting by time, as the paper does, instead of by steps: results then depend on the machine
    #[arg(long)]
    time_budget: bool,
    /// Repetitions per cell, instead of what the description says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,
    /// Cells to run at once; the number of processors by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// Memory that cells run at once may need together, in GiB
    #[arg(long, value_name = "GIB", default_value_t = 4.0, value_parser = positive)]
    memory: f64,
    /// Run every cell, also those that are stored: timings after a change of the code
    #[arg(long)]
    fresh: bool,
    /// Where results are stored and reports written; a folder of the name under target/reproduce by default
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a positive number expected".to_owned()),
    }
}

/// Runs an experiment and reports it.
///
/// # Errors
/// A description that does not exist or is malformed, results that cannot be stored, cells that fail.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if options.list {
        print!("{}", report::listing(&describe::list()?));
        return Ok(());
    }
    let description = describe::find(&options.experiment)?;
    let selection = Selection {
        quick: options.quick,
        datasets: options.datasets.clone(),
        methods: options.methods.clone(),
        time_budget: options.time_budget,
        repeats: options.repeats.map(|n| n as usize),
    };
    let plan = plan::plan(&description, &selection)?;
    let folder = options
        .out
        .clone()
        .unwrap_or_else(|| default_folder(&description.name));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut store = Store::open(&folder.join("cells.jsonl"))?;
    if store.n_unreadable() > 0 {
        eprintln!(
            "{} unreadable lines in the store are ignored",
            store.n_unreadable()
        );
    }
    let limits = Limits {
        threads: match options.threads {
            Some(n) => n as usize,
            None => std::thread::available_parallelism()?.get(),
        },
        memory: (options.memory * f64::from(1 << 30)) as u64,
    };
    let outcome = schedule::run(&plan, &mut store, limits, options.fresh);
    let published = Published::load()?;
    let results = Results::new(&description, &plan, &published, &store);
    // What is finished is reported even where cells failed.
    report::write(&results, &folder)?;
    let n_run = outcome?;
    eprintln!(
        "{n_run} of {} cells run, {} kept from before",
        plan.cells.len(),
        plan.cells.len() - n_run
    );
    eprintln!("report: {}", folder.join("report.html").display());
    Ok(())
}

/// Runs the jobs on standard input, for a process that [`run`] started.
///
/// # Errors
/// If a job is malformed or fails.
pub(crate) fn run_cell() -> anyhow::Result<()> {
    let jobs: Vec<cell::Job> = serde_json::from_reader(std::io::stdin().lock())?;
    serde_json::to_writer(std::io::stdout().lock(), &work::run(&jobs)?)?;
    Ok(())
}

/// `target/reproduce/<experiment>`, beside what cargo builds.
fn default_folder(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target"),
        PathBuf::from,
    );
    target.join("reproduce").join(name)
}
