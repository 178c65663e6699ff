//! Ensembles of methods that suit the data, found within a time limit or a number of trials.

mod fit;
mod portfolio;
mod time;

pub use portfolio::{Configuration, Portfolio};

use crate::combine::CombineRule;
use crate::method::MethodEntry;
use rpo_ensemble::thresholds::ThresholdRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the search for an ensemble.
///
/// Configurations of a portfolio, a list of methods with options, are fitted in order while time allows; with a time
/// limit, the cheapest one comes first. Each is scored on samples that it was not fitted to: in four folds for at most
/// 2000 samples, otherwise on a quarter of the samples. Random forests of 100 or more trees are scored on their
/// out-of-bag predictions, and ridge regression of fewer than 2000 features on leave-one-out predictions; where samples
/// have groups, on withheld groups like all others. The weights are found from these scores, and the members with
/// weight are fitted to all samples; members for which no time is left keep the models of the folds. With at most 500
/// samples, a member is the mean of three such fits with different seeds, but for the forests and ridge regression that
/// need no withheld samples. Predicted numbers are limited to the range of the output in training. A configuration that
/// the data or the machine does not allow is left out with a note in the model
/// ([`Selection`](crate::combine::Selection)). For methods that need every feature, missing ones are imputed by
/// medians, and trees get means of the outputs (`nominal` = target) if a category has more than the 255 values that
/// their splits distinguish.
///
/// A static portfolio instead of a search and selection with replacement follow Feurer et al. (auto-sklearn 2, 2022)
/// and Salinas, Erickson (TabRepo, 2024). They compute a metric in each round of selection; here it is the squared
/// error, which depends only on the inner products of predictions.
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
    /// Time limit in seconds for the search and the fits to all samples. Where intervals need another search on
    /// withheld samples, each of the two searches has half of the time. The configurations that are tried, and
    /// therefore the model, depend on the machine. Default: 10, plus one for every 100,000 values of the data (stored
    /// features, and samples times outputs), at most 600.
    ///
    /// The cheapest configuration is tried first. Once two have a score, another is postponed if its expected time,
    /// from its cost and the times so far, would not leave enough time to fit members to all samples and to find their
    /// weights; it is tried in the end if a quarter of that time suffices. A trial that takes four times as long as
    /// expected, and a third of the time that was left, is stopped; of the first one nothing is expected. If all are
    /// stopped, a method with trees is fitted without a limit, with as many trees as there was time for, or, if none
    /// has trees, the cheapest configuration.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub time: Option<f64>,
    /// Number of configurations to try, in the order of the portfolio, instead of a time limit. The model then depends
    /// only on the data and the seed.
    #[schemars(range(min = 1))]
    pub configurations: Option<usize>,
    /// File with another portfolio: JSON with the lists `labels` and `numbers` of objects with `method`, `cost` and,
    /// where sizes are limited, `min_outputs`, `max_outputs` and `max_weights` (features times outputs); like the built-in
    /// one, which `rpo help auto` prints.
    pub portfolio: Option<String>,
    /// Rule for the weights of members: mean, greedy, greedy-mean, nnls or stack. Default: greedy-mean for labels and
    /// greedy for numbers.
    pub combine: Option<CombineRule>,
    /// Rule for the decision thresholds: macro-f, label-f, micro-f, rate, or none. They are found on the scores of the
    /// ensemble for samples that its members were not fitted to. For labels; none if the scores of these samples take
    /// more than 1 GiB.
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
    vec![entry.ensemble()]
}
