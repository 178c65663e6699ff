//! Boosting that stops when withheld samples are no longer predicted better, compared with the baseline.
//!
//! `cargo run --release -p rpo-learn --example boosting`

use rpo::data::generate::MultiLabelSet;
use rpo::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = MultiLabelSet::new(1500, 200, 100).generate(Seed::new(1))?;
    let (train, test) = data.split(0.25, Seed::new(2))?;

    // A method by name, with the parameters of the command.
    let boosting = Method::named("gbrt-relabel-rpo")?
        .with("iterations", "500")?
        .with("early_stopping", "20")?
        .with("validation", "0.2")?
        .with("refit_all", "true")?;
    let model = Model::fit(&boosting, &train)?;
    let baseline = Model::fit(&BaselineParams::default(), &train)?;

    println!("steps: {}", model.predictor().tree_sizes().len());
    for (name, model) in [("boosting", &model), ("baseline", &baseline)] {
        println!("{name:>8} LRAP {:.3}", model.evaluate(&test, &[Metric::Lrap])?[0]);
    }
    Ok(())
}
