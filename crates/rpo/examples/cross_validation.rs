//! Five-fold cross-validation of several methods.
//!
//! `cargo run --release -p rpo-learn --example cross_validation`

use rpo::data::generate::MultiLabelSet;
use rpo::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = MultiLabelSet::new(1000, 100, 50).generate(Seed::new(1))?;
    let metrics = [Metric::Lrap, Metric::PrecisionAt(1)];
    for name in ["baseline", "random-forest", "extra-trees", "craftml", "ridge"] {
        let result = cross_validate(&Method::named(name)?, &data, &metrics, Folds::default())?;
        print!("{name:>14}");
        for (j, metric) in metrics.iter().enumerate() {
            print!(
                "  {metric} {:.3} ± {:.3}",
                result.means[j], result.standard_deviations[j]
            );
        }
        println!();
    }
    Ok(())
}
