//! Measures methods of this workspace beside other libraries: same data, same machine, same run, in turns.
//!
//! ```text
//! RPO_DATA=... cargo xtask bench peers --sets yeast,scene
//! ```
//! makes an environment with the other libraries and runs this. Every fit is a process of its own; the contestants take
//! turns, so that a machine that slows down slows all of them. Written are a page of tables and a chart per data set.

mod contestant;
mod export;
mod measure;
mod page;

use anyhow::{Context, ensure};
use clap::Parser;
use contestant::CONTESTANTS;
use measure::{Run, Runs};
use std::path::PathBuf;
use std::time::Duration;

/// Fits of methods and of other libraries, as tables and charts.
#[derive(Parser)]
#[command(name = "cargo xtask bench peers")]
struct Arguments {
    /// Data sets of the catalogue that `RPO_DATA` names.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "emotions,yeast,scene,corel5k,bibtex,delicious,atp1d,oes10,wq,scm20d"
    )]
    sets: Vec<String>,
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Fits of each contestant on each set and number of threads.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// Seconds after which a fit is given up.
    #[arg(long, default_value_t = 600)]
    limit: u64,
    /// Contestants whose name contains one of these; all by default.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Interpreter that has the other libraries.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// The page; charts go into a folder of the same name.
    #[arg(long, default_value = "docs/benchmarks.md")]
    out: PathBuf,
    /// Measure one contestant in this process: name, number of threads, and the two files.
    #[arg(long, hide = true, num_args = 4)]
    here: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if let [name, threads, train, test] = &arguments.here[..] {
        return measure::here(name, threads.parse()?, train.as_ref(), test.as_ref());
    }
    ensure!(arguments.repeats > 0, "--repeats is 0; at least 1 expected");
    let scratch = tempfile::tempdir()?;
    let mut results = Vec::new();
    for set in &arguments.sets {
        let data = export::export(set, scratch.path()).with_context(|| set.clone())?;
        let takes_part =
            |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|part| name.contains(part));
        let contestants = CONTESTANTS
            .iter()
            .filter(|c| c.can_fit(&data) && takes_part(c.name));
        let mut runs: Vec<Runs> = contestants.map(Runs::new).collect();
        for repeat in 0..arguments.repeats {
            for &threads in &arguments.threads {
                for runs in runs.iter_mut().filter(|runs| !runs.failed()) {
                    eprintln!(
                        "{set}: {}, {threads} threads, run {}",
                        runs.contestant.name,
                        repeat + 1
                    );
                    let run = Run {
                        threads,
                        limit: Duration::from_secs(arguments.limit),
                        python: &arguments.python,
                        data: &data,
                    };
                    runs.add(&run)?;
                }
            }
        }
        results.push((data, runs));
        // Written after each set: what was measured is kept if a later one fails.
        page::write(&arguments.out, &arguments.threads, &results)?;
    }
    Ok(())
}
