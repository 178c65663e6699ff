//! Ensembles of the methods that suit the data, found within a time or a number of trials.

mod fit;
mod portfolio;

pub use portfolio::{Configuration, Portfolio};

use crate::combine::CombineRule;
use crate::method::MethodEntry;
use rpo_ensemble::thresholds::ThresholdRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the search for an ensemble.
///
/// Configurations of a portfolio, a list of methods with options, are fitted in its order, as long as the time allows. Each
/// is scored on samples that it was not fitted to: in four folds of at most 2000 samples, otherwise on a quarter of the
/// samples; forests of 100 trees and more on their out-of-bag predictions, ridge regression on those that leave one sample
/// out. Those scores give the weights, and the members of weight are fitted to all samples; those that no time is left for stay
/// as they were fitted to the folds. Of at most 500 samples such a member is the mean of three fits, with a seed each. Numbers that members predict are limited to the range of the output in training. A
/// configuration that the data or the machine refuses is left out with a
/// note in the model ([`Selection`](crate::combine::Selection)). Linear methods have missing features filled in by medians.
///
/// A static portfolio in place of a search and selection with replacement follow Feurer et al. (auto-sklearn 2, 2022) and
/// Salinas, Erickson (TabRepo, 2024). They measure a metric in each round of selection; here it is the squared error, of
/// which the inner products of predictions hold all that is needed.
///
/// ```
/// use rpo::data::generate::MultiLabelSet;
/// use rpo::prelude::*;
///
/// let data = MultiLabelSet::new(200, 30, 10).generate(Seed::new(1))?;
/// let model = Model::fit(&AutoParams { configurations: Some(2), ..AutoParams::default() }, &data)?;
/// assert_eq!(model.predictor().kind(), "ensemble");
/// assert!(model.thresholds().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AutoParams {
    /// Seconds that trials and the last fits may take: which configurations are tried, and so the model, depends on the
    /// machine. By default 10 and one more for every 100,000 values of the data, stored features and outputs, but at most 600.
    ///
    /// The first configuration is always tried. Another is left out where what it is expected to take, by the time of those
    /// before and its cost, would not leave time to fit members to all samples.
    pub time: Option<f64>,
    /// Number of configurations to try, in the order of the portfolio, in place of a time: the model depends on the data and
    /// the seed alone.
    #[schemars(range(min = 1))]
    pub configurations: Option<usize>,
    /// File with another portfolio: JSON with the lists `labels` and `numbers` of objects with `method`, `cost` and
    /// `max_outputs`; docs/auto.md shows the one that is built in.
    pub portfolio: Option<String>,
    /// Rule for the weights of members: mean, greedy, greedy-mean, nnls or stack. By default greedy-mean of labels and greedy
    /// of numbers.
    pub combine: Option<CombineRule>,
    /// Rule of the decision thresholds, which are found on the scores of the ensemble for the samples that its members were
    /// not fitted to: macro-f, micro-f, rate, or none. With macro-f, labels of fewer than five such samples have the
    /// threshold of rate. For labels.
    pub thresholds: Option<ThresholdRule>,
    /// Seed of the withheld samples; each configuration has this seed plus its position in the portfolio.
    pub seed: u64,
}

impl Default for AutoParams {
    fn default() -> Self {
        Self {
            time: None,
            configurations: None,
            portfolio: None,
            combine: None,
            thresholds: Some(ThresholdRule::MacroF),
            seed: 0,
        }
    }
}

pub(super) fn entries() -> Vec<MethodEntry> {
    let summary = "The best ensemble of many methods that is found in a given time";
    let entry = MethodEntry::new("auto", summary, AutoParams::default());
    vec![entry.ensemble().without(&["threshold_share"])]
}
