//! Measures methods of this workspace beside other libraries: same data, same machine, same run, in turns.
//!
//! ```text
//! RPO_DATA=... cargo xtask bench peers --sets yeast,scene
//! ```
//! makes an environment with the other libraries and runs this. Every fit is a process of its own; the contestants take
//! turns, so that a machine that slows down slows all of them. Each set's records are kept in a file beside the page, which
//! is made of all of them: sets, and with `--only` contestants and with `--threads` numbers of threads, can be measured one after the other.

mod contestant;
mod export;
mod measure;
mod page;
mod results;

use anyhow::{Context, ensure};
use clap::Parser;
use contestant::CONTESTANTS;
use measure::Run;
use results::{Results, Runs, processor};
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
    /// The page; records and charts are in a folder of the same name.
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
    let folder = arguments.out.with_extension("");
    for set in &arguments.sets {
        let data = export::export(set, scratch.path()).with_context(|| set.clone())?;
        let takes_part =
            |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|part| name.contains(part));
        let contestants = CONTESTANTS
            .iter()
            .filter(|c| c.can_fit(&data.sizes) && takes_part(c.name));
        let processor = processor();
        let mut measured: Vec<_> = contestants.map(|c| (c, Runs::new(c.name, &processor))).collect();
        for repeat in 0..arguments.repeats {
            for &threads in &arguments.threads {
                for (contestant, runs) in measured.iter_mut().filter(|(_, runs)| runs.failure.is_none()) {
                    eprintln!(
                        "{set}: {}, {threads} threads, run {}",
                        contestant.name,
                        repeat + 1
                    );
                    let run = Run {
                        threads,
                        limit: Duration::from_secs(arguments.limit),
                        python: &arguments.python,
                        data: &data,
                    };
                    runs.add(threads, measure::fit(contestant, &run)?);
                }
            }
        }
        // Written after each set: what was measured is kept if a later one fails.
        let mut results =
            Results::load(&folder, set)?.unwrap_or_else(|| Results::new(set, data.sizes.clone()));
        let measured = measured.into_iter().map(|(_, runs)| runs);
        results.replace(data.sizes, &arguments.threads, measured);
        results.save(&folder)?;
    }
    page::write(&arguments.out, &Results::load_all(&folder)?)
}
