//! Measures how training time grows with the data: fits one method to generated sets that differ in one size, and finds
//! the exponent e of processor time ~ size^e that fits the times best.
//!
//! ```text
//! cargo run --release -p rpo-benches --bin growth -- [--largest N] [--threads N] [CASE...]
//! ```
//! A case is a method on one kind of data; by default all cases run. Each size is varied separately from the base, by a
//! factor of four from run to run, with `n` up to `--largest`. Sparse sets have about 30 features and three labels per
//! sample from 20 topics; dense ones have uniform numbers, five of which determine all outputs. Every fit runs in its
//! own process.

use anyhow::{Context, ensure};
use clap::Parser;
use rpo::core::{Seed, math};
use rpo::data::Dataset;
use rpo::data::generate::{Friedman, FriedmanKind, Generator, MultiLabelSet};
use rpo::{Method, Model};
use rpo_benches::measure::Times;
use std::process::Command;

#[derive(Parser)]
struct Arguments {
    /// Names of cases.
    cases: Vec<String>,
    /// Largest number of samples.
    #[arg(long, default_value_t = 256_000)]
    largest: usize,
    /// Number of threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Measure one size in this process: a name and a number.
    #[arg(long, hide = true, num_args = 2)]
    at: Option<Vec<String>>,
}

/// A method on one kind of data.
struct Case {
    name: &'static str,
    method: &'static str,
    is_sparse: bool,
    /// Parameters of the method that are not sizes.
    parameters: &'static [(&'static str, &'static str)],
    /// Sizes that are parameters of the method: the name here, the name of the parameter, and the smallest value.
    sizes: &'static [(&'static str, &'static str, usize)],
    /// The smallest values of n, p and d, and the largest value of d.
    data: [usize; 4],
}

const CASES: [Case; 5] = [
    Case {
        name: "forest-dense",
        method: "random-forest",
        is_sparse: false,
        parameters: &[("trees", "2")],
        sizes: &[("trees", "trees", 1)],
        data: [4000, 16, 4, 64],
    },
    Case {
        name: "forest-sparse",
        method: "random-forest",
        is_sparse: true,
        parameters: &[("trees", "2"), ("projection", "gaussian"), ("components", "25")],
        sizes: &[("m", "components", 4), ("trees", "trees", 1)],
        data: [4000, 2000, 1600, 102_400],
    },
    Case {
        name: "boosting",
        method: "gbrt-relabel-rpo",
        is_sparse: true,
        parameters: &[("loss", "square"), ("iterations", "20"), ("components", "1")],
        sizes: &[("m", "components", 1), ("trees", "iterations", 5)],
        data: [4000, 2000, 1600, 102_400],
    },
    Case {
        name: "craftml",
        method: "craftml",
        is_sparse: true,
        parameters: &[("trees", "2")],
        sizes: &[("trees", "trees", 1)],
        data: [4000, 2000, 1600, 102_400],
    },
    Case {
        name: "label-tree",
        method: "label-tree",
        is_sparse: true,
        parameters: &[("trees", "1")],
        sizes: &[("trees", "trees", 1)],
        data: [4000, 2000, 1600, 102_400],
    },
];

/// Factor between successive sizes.
const FACTOR: usize = 4;
/// Number of sizes in a series, except for n and d, whose largest values are given.
const POINTS: u32 = 4;

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let is_chosen =
        |case: &&Case| arguments.cases.is_empty() || arguments.cases.iter().any(|c| c == case.name);
    let cases: Vec<&Case> = CASES.iter().filter(is_chosen).collect();
    ensure!(!cases.is_empty(), "no such case");
    if let Some([size, value]) = arguments.at.as_deref() {
        rayon::ThreadPoolBuilder::new()
            .num_threads(arguments.threads)
            .build_global()?;
        println!("{}", cases[0].seconds(size, value.parse()?)?);
        return Ok(());
    }
    println!("case            size   exponent  processor seconds of the fit at each size");
    for case in cases {
        for (size, values) in case.series(arguments.largest) {
            let mut points = Vec::new();
            for value in values {
                let output = Command::new(std::env::current_exe()?)
                    .args([
                        "--threads",
                        &arguments.threads.to_string(),
                        "--at",
                        size,
                        &value.to_string(),
                    ])
                    .arg(case.name)
                    .output()?;
                let text = String::from_utf8(output.stdout)?;
                let seconds = text.trim().parse::<f64>();
                let errors = String::from_utf8_lossy(&output.stderr).into_owned();
                points.push((value as f64, seconds.context(errors)?));
            }
            let runs: Vec<_> = points.iter().map(|(v, s)| format!("{v}: {s:.2}")).collect();
            println!(
                "{:14}  {size:5} {:10.2}  {}",
                case.name,
                exponent(&points),
                runs.join(", ")
            );
        }
    }
    Ok(())
}

impl Case {
    /// The sizes that are varied, with their values.
    fn series(&self, largest: usize) -> Vec<(&'static str, Vec<usize>)> {
        let up_to = |least: usize, most: usize| {
            std::iter::successors(Some(least), |v| Some(v * FACTOR))
                .take_while(|&v| v <= most)
                .collect()
        };
        let some = |least: usize| up_to(least, least * FACTOR.pow(POINTS - 1));
        let [n, p, d, most_outputs] = self.data;
        let mut series = vec![
            ("n", up_to(n, largest)),
            ("p", some(p)),
            ("d", up_to(d, most_outputs)),
        ];
        series.extend(self.sizes.iter().map(|&(size, _, least)| (size, some(least))));
        series
    }

    /// Processor seconds of a fit with one size set and the others at their base values.
    fn seconds(&self, size: &str, value: usize) -> anyhow::Result<f64> {
        let mut method = Method::named(self.method)?;
        for (name, text) in self.parameters {
            method = method.with(name, text)?;
        }
        if let Some((_, name, _)) = self.sizes.iter().find(|s| s.0 == size) {
            method = method.with(name, &value.to_string())?;
        }
        // The base is the second value in the series of each size.
        let [n, p, d, _] = self.data.map(|least| least * FACTOR);
        let or = |name: &str, base: usize| if size == name { value } else { base };
        let data = self.generate(or("n", n), or("p", p), or("d", d))?;
        let mut times = Times::default();
        times.of(|| Model::fit(&method, &data))?;
        Ok(times.cpu.as_secs_f64())
    }

    fn generate(&self, n: usize, p: usize, d: usize) -> anyhow::Result<Dataset> {
        if self.is_sparse {
            let set = MultiLabelSet {
                n_topics: Some(20),
                ..MultiLabelSet::new(n, p, d)
            };
            return Ok(set.generate(Seed::new(1))?);
        }
        let problem = Friedman {
            n_samples: n,
            n_outputs: d,
            n_irrelevant: p - 5,
            ..Friedman::from(FriedmanKind::Group)
        };
        Ok(problem.generate(Seed::new(1))?)
    }
}

/// The slope of the least squares line through the logarithms of sizes and seconds.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<_> = points.iter().map(|(v, s)| (math::ln(*v), math::ln(*s))).collect();
    let n = logs.len() as f64;
    let (x, y) = logs
        .iter()
        .fold((0.0, 0.0), |(x, y), l| (x + l.0 / n, y + l.1 / n));
    let products = logs.iter().map(|l| (l.0 - x) * (l.1 - y)).sum::<f64>();
    products / logs.iter().map(|l| (l.0 - x).powi(2)).sum::<f64>()
}
