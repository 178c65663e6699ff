//! A random forest on projected labels: fit, evaluate, predict the best labels, save.
//!
//! `cargo run --release -p rpo-learn --example forest`

use rpo::data::generate::MultiLabelSet;
use rpo::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = MultiLabelSet::new(2000, 500, 1000).generate(Seed::new(1))?;
    let (train, test) = data.split(0.25, Seed::new(2))?;

    let forest = ForestParams::default().project(ProjectionKind::Gaussian, 20);
    let model = Model::fit(&forest, &train)?;

    let metrics = [Metric::Lrap, Metric::PrecisionAt(1), Metric::PrecisionAt(5)];
    for (metric, value) in metrics.iter().zip(model.evaluate(&test, &metrics)?) {
        println!("{metric:>8} {value:.3}");
    }

    let best = model.predict_top_k(test.features().view(), 3)?;
    println!(
        "the best labels of the first sample: {:?}",
        best.outer_view(0).map(|row| row.indices().to_vec())
    );

    let path = std::env::temp_dir().join("forest.rpo");
    println!("{} bytes in {}", model.save(&path)?, path.display());
    assert_eq!(Model::load(&path)?, model);
    Ok(())
}
