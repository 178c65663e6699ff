#![doc = include_str!("../README.md")]

mod criterion;
mod forest;
mod leaves;
mod loss;
mod metric;
mod projection;
mod splitter;

pub use criterion::BalancedVariance;
pub use forest::{CustomForest, CustomForestModel, CustomForestParams};
pub use leaves::{Shrinkage, ShrunkenMeans};
pub use loss::{Pinball, QuantileBoosting};
pub use metric::WorstF1;
pub use projection::{Predictable, PredictableForest};
pub use splitter::{PairSum, SumOfPairs};

use rpo::ensemble::Forest;
use rpo::ensemble::boosting::Boosted;
use rpo::{MethodEntry, Registry};

/// The methods of `rpo` and those of this crate.
pub fn registry() -> Registry {
    let predictable = "A forest on the outputs that the features explain best";
    let quantile = "Boosting for a quantile of each output";
    Registry::standard()
        .clone()
        .with(forest::entry::<BalancedVariance>(
            "A forest in which outputs of small variance count more",
        ))
        .with(forest::entry::<SumOfPairs>(
            "A forest that compares sums of two features with thresholds",
        ))
        .with(forest::entry::<Shrinkage>(
            "A forest whose leaves are drawn towards the mean of all samples",
        ))
        .with(
            MethodEntry::new(PredictableForest::NAME, predictable, PredictableForest::default())
                .model::<Forest>("forest"),
        )
        .with(
            MethodEntry::new(QuantileBoosting::NAME, quantile, QuantileBoosting::default())
                .model::<Boosted>("boosting"),
        )
}
