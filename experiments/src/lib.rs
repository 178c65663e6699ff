//! Runs published experiments and reports their figures together with ours: `cargo xtask reproduce`.
//!
//! There is one module per stage, which uses only earlier stages: `describe` reads the file of an experiment; `plan`
//! turns it into cells (data set x method x repetition); `run` computes the cells that are not stored yet, each in its
//! own process; `analyse` averages, ranks and checks claims; `report` writes the results.

#![allow(
    clippy::disallowed_methods,
    reason = "axes and truths to compare with, no models"
)]

mod analyse;
pub mod chart;
mod describe;
mod plan;
mod portfolio;
mod report;
mod run;

use analyse::Analysis;
use anyhow::Context;
use clap::Parser;
use plan::Selection;
use run::{Limits, Store};
use std::path::{Path, PathBuf};

/// Runs an experiment and reports it with the published figures.
#[derive(Parser)]
#[command(name = "cargo xtask reproduce")]
struct Options {
    /// Name of an experiment (see --list), or the path of its description
    #[arg(default_value = "short")]
    experiment: String,
    /// List the experiments with paper, table and expected time
    #[arg(long)]
    list: bool,
    /// Run fewer repetitions and smaller models, as set under `quick` in the description
    #[arg(long)]
    quick: bool,
    /// Run only these data sets
    #[arg(long, alias = "sets", value_delimiter = ',', value_name = "NAME,...")]
    datasets: Vec<String>,
    /// Run only these methods, by the ids of the description
    #[arg(long, value_delimiter = ',', value_name = "ID,...")]
    methods: Vec<String>,
    /// Limit fits of boosting by time, as in the paper, instead of by steps: results then depend on the machine
    #[arg(long)]
    time_budget: bool,
    /// Number of repetitions per cell, instead of that of the description
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,
    /// Number of cells to run at once; by default the number of processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// Memory limit in GiB for all cells that run at once
    #[arg(long, value_name = "GIB", default_value_t = 4.0, value_parser = positive)]
    memory: f64,
    /// Run every cell, including stored ones, for example to measure times after a change of the code
    #[arg(long)]
    fresh: bool,
    /// Folder for results and reports; target/reproduce/EXPERIMENT by default
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Run one cell: its jobs as JSON on standard input, its outcomes on standard output
    #[arg(long, hide = true)]
    cell: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("a positive number expected".to_owned()),
    }
}

/// Runs the command with the arguments of the process.
///
/// # Errors
/// A description that cannot be read, a cell that fails, a report that cannot be written.
pub fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    if options.cell {
        run::run_cell()
    } else if options.list {
        print!("{}", report::listing(&describe::list()?));
        println!(
            "\n`portfolio` makes the portfolio of `rpo train --method auto` from experiments/portfolio.toml (hours)."
        );
        Ok(())
    } else if options.experiment == "portfolio" {
        let default = || target_folder().join("reproduce/portfolio");
        portfolio::run(&options.datasets, &options.out.clone().unwrap_or_else(default))
    } else {
        reproduce(&options)
    }
}

/// Checks the text of a description as far as possible without data.
///
/// # Errors
/// The first invalid field, with its line.
pub fn check_description(text: &str) -> anyhow::Result<()> {
    describe::parse(Path::new("description.toml"), text)?;
    Ok(())
}

fn reproduce(options: &Options) -> anyhow::Result<()> {
    let description = describe::find(&options.experiment)?;
    let selection = Selection {
        quick: options.quick,
        datasets: options.datasets.clone(),
        methods: options.methods.clone(),
        time_budget: options.time_budget,
        repeats: options.repeats.map(|n| n as usize),
    };
    let plan = plan::plan(&description, &selection)?;
    let default_folder = || target_folder().join("reproduce").join(&description.name);
    let folder = options.out.clone().unwrap_or_else(default_folder);
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
    let outcome = run::run(&plan, &mut store, limits, options.fresh);
    // Finished cells are reported even if others failed.
    report::write(&Analysis::new(&description, &plan, &store), &folder)?;
    let n_run = outcome?;
    eprintln!(
        "{n_run} of {} cells run, {} kept from before",
        plan.cells.len(),
        plan.cells.len() - n_run
    );
    eprintln!("report: {}", folder.join("report.html").display());
    Ok(())
}

/// The build folder of cargo.
fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target"),
        PathBuf::from,
    )
}
