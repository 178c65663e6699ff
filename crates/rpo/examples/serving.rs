//! Serving: loads a model once and predicts one sample at a time, finding features by name.
//!
//! `cargo run --release -p rpo-learn --example serving`

use rpo::data::generate::MultiLabelSet;
use rpo::prelude::*;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = MultiLabelSet::new(1000, 200, 300).generate(Seed::new(1))?;
    let (train, requests) = data.split(0.2, Seed::new(2))?;
    let path = std::env::temp_dir().join("served.rpo");
    let method = Method::named("extra-trees")?
        .with("thresholds", "macro-f")?
        .with("bootstrap", "true")?;
    Model::fit(&method, &train)?.save(&path)?;

    let model = Model::load(&path)?;
    let features = model.schema().align_features(&requests)?;
    let view = MatrixView::from(features.as_ref());
    let start = Instant::now();
    let mut n_labels = 0;
    for sample in 0..requests.n_samples() {
        let row = view.select_rows(&[sample]);
        let scores = model.predict(row.view())?;
        n_labels += model.decide(scores.view())?.nnz();
    }
    let each = start.elapsed().as_secs_f64() / requests.n_samples() as f64;
    println!(
        "{n_labels} labels for {} samples, {:.0} µs each",
        requests.n_samples(),
        1e6 * each
    );
    Ok(())
}
