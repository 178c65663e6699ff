//! Boosting with a custom loss, Huber's, on numbers with outliers.
//!
//! `cargo run --release -p rpo-learn --example custom_loss`

use rpo::core::Learner;
use rpo::data::Dataset;
use rpo::ensemble::boosting::{Algorithm, BoostingOptions, Loss};
use rpo::prelude::*;
use std::sync::Arc;

/// ½ r² for residuals |r| ≤ δ, δ (|r| − δ/2) for larger ones.
#[derive(Debug)]
struct Huber {
    delta: f64,
}

impl Loss for Huber {
    fn value(&self, y: f64, score: f64) -> f64 {
        let r = (y - score).abs();
        if r <= self.delta {
            r * r / 2.0
        } else {
            self.delta * (r - self.delta / 2.0)
        }
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        (y - score).clamp(-self.delta, self.delta)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (train, test) = (numbers(0..600, true)?, numbers(600..900, false)?);
    let params = BoostingParams::from(Algorithm::Gbmort);
    let (x, y) = (train.features().view(), train.outputs().view());
    let options = BoostingOptions {
        loss: Some(Arc::new(Huber { delta: 0.5 })),
        ..BoostingOptions::default()
    };
    let huber = Model::new(params.fit_with(x, y, options)?, &train)?;
    let square = Model::fit(&params, &train)?;
    for (name, model) in [("Huber", &huber), ("square", &square)] {
        println!(
            "{name:>6} loss: mean absolute error {:.3}",
            model.evaluate(&test, &[Metric::Mae])?[0]
        );
    }
    Ok(())
}

/// Two outputs that are functions of three features; every twentieth sample is an outlier.
fn numbers(samples: std::ops::Range<usize>, outliers: bool) -> Result<Dataset, Box<dyn std::error::Error>> {
    use rpo::core::ndarray::Array2;
    let n = samples.len();
    let value = |i: usize, j: usize| (((samples.start + i) * (7 * j + 3)) % 101) as f32 / 101.0;
    let x = Array2::from_shape_fn((n, 3), |(i, j)| value(i, j));
    let y = Array2::from_shape_fn((n, 2), |(i, j)| {
        let noise = if outliers && i % 20 == 0 { 30.0 } else { 0.0 };
        value(i, 0) * value(i, 1 + j) + noise
    });
    Ok(Dataset::new(x.into(), y.into(), Task::Regression)?)
}
