//! Measures the processor time of fitting a method with its options, and of predicting the test samples.
//!
//! ```text
//! cargo run --release -p rpo-benches --bin method_speed -- delicious craftml --trees 10
//! ```
//! The data set is one of [`rpo_benches::sets`]; the least of the times of all repeats is printed.

use clap::Parser;
use rpo::{Method, Model, Predictor};
use rpo_benches::measure::Times;
use rpo_benches::sets;

#[derive(Parser)]
struct Arguments {
    /// Number of threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Number of fits and predictions.
    #[arg(long, default_value_t = 1)]
    repeats: usize,
    /// The data set.
    set: String,
    /// The method with its options.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    method: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads)
        .build_global()?;
    let method: Method = arguments.method.join(" ").parse()?;
    let (train, test) = sets::load(&arguments.set)?;
    let (mut fit, mut predict) = (Times::default(), Times::default());
    for _ in 0..arguments.repeats.max(1) {
        let model = fit.of(|| Model::fit(&method, &train))?;
        predict.of(|| model.predict(test.features().view()))?;
    }
    println!(
        "{}: fit {:.3} s, predict {:.3} s",
        arguments.set,
        fit.cpu.as_secs_f64(),
        predict.cpu.as_secs_f64()
    );
    Ok(())
}
