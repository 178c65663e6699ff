//! Measures a label embedding: time and memory on generated sparse sets of any size, and the time of a least squares
//! solve compared with that of its sparse products.
//!
//! ```text
//! cargo run --release -p rpo-benches --bin embedding_speed -- --samples 1000000 --features 500000 --outputs 100000 \
//!     --rank 100 --iterations 10
//! ```
//! Times are processor time of all threads; memory is the peak of the process, including the data.

use clap::Parser;
use rpo::core::Seed;
use rpo::data::generate::{Generator, MultiLabelSet};
use rpo::projections::least_squares::{Design, LANES, Penalty, Ridge, RidgeSolver, panel_product};
use rpo::projections::{LabelEmbedding, Rank};
use rpo_benches::measure::{Times, peak_memory, reset_peak};

#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value_t = 100_000)]
    samples: usize,
    #[arg(long, default_value_t = 50_000)]
    features: usize,
    #[arg(long, default_value_t = 10_000)]
    outputs: usize,
    /// Mean number of labels per sample.
    #[arg(long, default_value_t = 3.0)]
    cardinality: f64,
    #[arg(long, default_value_t = 100)]
    rank: usize,
    /// Passes of the range finder.
    #[arg(long, default_value_t = 1)]
    passes: usize,
    /// Largest number of conjugate gradient iterations in a solve.
    #[arg(long, default_value_t = 10)]
    iterations: usize,
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads)
        .build_global()?;
    let set = MultiLabelSet {
        cardinality: arguments.cardinality,
        ..MultiLabelSet::new(arguments.samples, arguments.features, arguments.outputs)
    };
    let data = set.generate(Seed::new(1))?;
    let (x, y) = (data.features().view(), data.outputs().view());
    println!(
        "n = {}, p = {}, d = {}: {:.1} features and {:.1} labels per sample, {:.0} MB held",
        arguments.samples,
        arguments.features,
        arguments.outputs,
        x.n_stored() as f64 / arguments.samples as f64,
        y.n_stored() as f64 / arguments.samples as f64,
        megabytes(),
    );
    let solver = RidgeSolver::ConjugateGradients {
        iterations: arguments.iterations,
        tolerance: 1e-6,
        jacobi: true,
    };

    // One panel: a solve with this number of iterations, and the same number of products as the solve makes.
    let design = Design {
        rows: &x,
        intercept: false,
        factors: None,
    };
    let ridge = Ridge::new(design, Penalty::Relative(1e-4).on(&x, None), solver)?;
    let q: Vec<[f64; LANES]> = (0..arguments.outputs)
        .map(|j| {
            std::array::from_fn(|lane| {
                (Seed::new(2).child(j as u64).hash(lane as u64) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
            })
        })
        .collect();
    let (mut products, mut solve) = (Times::default(), Times::default());
    let z = solve.of(|| ridge.solve_panel(&y, &q))?;
    products.of(|| panel_product(&x, &y, &q, |_, _| {}))?;
    let mut pairs = Times::default();
    pairs.of(|| panel_product(&x, &x, &z, |_, _| {}))?;
    let least = products.cpu.as_secs_f64() + arguments.iterations as f64 * pairs.cpu.as_secs_f64();
    println!(
        "{LANES} columns: a solve of at most {} iterations {:.2} cpu s; its products, as many pairs, {least:.2} cpu s ({:.2} a pair)",
        arguments.iterations,
        solve.cpu.as_secs_f64(),
        pairs.cpu.as_secs_f64(),
    );

    reset_peak()?;
    let embedding = LabelEmbedding {
        passes: arguments.passes,
        solver,
        ..LabelEmbedding::default()
    };
    let mut times = Times::default();
    let found = times.of(|| embedding.fit(&x, &y, Rank::Exact(arguments.rank), Seed::new(3)))?;
    println!(
        "embedding, k = {}: {:.1} cpu s, {:.1} s elapsed, peak {:.0} MB; eigenvalues {:.3e} to {:.3e}",
        arguments.rank,
        times.cpu.as_secs_f64(),
        times.wall.as_secs_f64(),
        megabytes(),
        found.eigenvalues[0],
        found.eigenvalues[arguments.rank - 1],
    );
    Ok(())
}

fn megabytes() -> f64 {
    peak_memory().map_or(f64::NAN, |bytes| bytes / 1e6)
}
