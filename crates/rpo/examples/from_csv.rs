//! Regression on a CSV file: read, tune, predict.
//!
//! `cargo run --release -p rpo-learn --example from_csv`

use rpo::prelude::*;
use rpo::tune::Tuning;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join("rooms.csv");
    std::fs::write(&path, rooms())?;
    let options = ReadOptions {
        targets: Targets::Names(vec!["area".to_owned(), "volume".to_owned()]),
        ..ReadOptions::default()
    };
    let data = rpo::data::read::read(&path, &options)?;
    let (train, test) = data.split(0.3, Seed::new(1))?;

    let method = Method::named("gbmort")?.with("learning_rate", "0.2")?;
    let tuning = Tuning::new(method, ["max_leaves=4,8,16", "iterations=50,200"], 7);
    let tuned = tuning.run(&train, &|| ())?;
    println!(
        "best: {} ({} {:.3})",
        tuned.result.best_setting,
        tuned.metric.name(),
        tuned.result.best_score
    );

    let model = tuning.fit_best(&tuned, &train, Refit::Everything, &FitContext::default())?;
    println!(
        "r2 on the test set: {:.3}",
        model.evaluate(&test, &[Metric::R2])?[0]
    );
    Ok(())
}

/// Rooms with their sizes: area and volume are computed from width, depth and height.
fn rooms() -> String {
    let mut text = "width,depth,height,area,volume\n".to_owned();
    for i in 0..400 {
        let side = |step: usize| 2.0 + (i * step % 17) as f64 / 4.0;
        let (width, depth, height) = (side(3), side(5), side(7) / 2.0);
        let area = width * depth;
        text += &format!("{width},{depth},{height},{area},{}\n", area * height);
    }
    text
}
