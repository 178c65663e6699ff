//! Compares methods of this workspace with other libraries: same data, same machine, same run, taking turns.
//!
//! ```text
//! RPO_DATA=... cargo xtask bench peers --sets yeast,scene
//! ```
//! creates an environment with the other libraries and runs this program. Every fit runs in its own process; the
//! contestants take turns, so that a slowdown of the machine affects all of them. The records of each set are kept in a
//! file beside the page, which is made from all of them: sets, contestants (`--only`) and numbers of threads
//! (`--threads`) can be measured one after the other.

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

/// Measures fits of methods and other libraries, and reports tables and charts.
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
    /// Number of fits of each contestant per set and number of threads.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// Time limit of a fit in seconds.
    #[arg(long, default_value_t = 600)]
    limit: u64,
    /// Only contestants whose name contains one of these; all by default.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Interpreter that has the other libraries.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// The page to write; records and charts are in a folder of the same name.
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
        // Written after each set, so that measurements are kept if a later one fails.
        let mut results =
            Results::load(&folder, set)?.unwrap_or_else(|| Results::new(set, data.sizes.clone()));
        let measured = measured.into_iter().map(|(_, runs)| runs);
        results.replace(data.sizes, &arguments.threads, measured);
        results.save(&folder)?;
    }
    page::write(&arguments.out, &Results::load_all(&folder)?)
}
