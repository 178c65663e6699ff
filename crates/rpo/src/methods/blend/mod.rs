//! Ensembles of given methods, with weights found on withheld samples.

mod fit;

use crate::combine::CombineRule;
use crate::method::MethodEntry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of an ensemble: methods whose predictions are combined, by weighted means or a regression on them.
///
/// ```
/// use rpo::data::generate::MultiLabelSet;
/// use rpo::prelude::*;
///
/// let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
/// let members = Some("craftml --trees 5; one-vs-rest".to_owned());
/// let model = Model::fit(&BlendParams { members, ..BlendParams::default() }, &data)?;
/// assert_eq!(model.predictor().kind(), "ensemble");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BlendParams {
    /// The methods, each with options as on the command line, separated by semicolons. Members do not decide on labels:
    /// thresholds belong to the ensemble. Default: "craftml; craftml --feature-weights idf --normalize l2; one-vs-rest" for
    /// labels, or "extra-trees; craftml; one-vs-rest" if there are no texts and most values are not 0, each but Extra-Trees
    /// with `--impute median`; "extra-trees; random-forest; gbmort" for numbers, and for labels some of which are missing.
    ///
    /// The default for labels suits very many of them. That for numbers has forests beside boosting, as they lose less
    /// on rare counts; over eleven sets its R² is the best of its members' or close to it.
    pub members: Option<String>,
    /// Rule for the weights of the members: greedy, greedy-mean, nnls and stack find them on withheld samples, mean
    /// uses equal weights. Default: stack for labels, a logistic regression on the members' log-odds, as the
    /// probabilities of a few members of different kinds are not on one scale; greedy for numbers. Members that predict
    /// quantiles must all predict the same ones, and allow only mean and, for one level, the greedy rules, by the pinball
    /// loss.
    ///
    /// Members without weight, which greedy rules and nnls may produce, are left out; the others are fitted to all
    /// samples.
    pub combine: Option<CombineRule>,
    /// Fraction of the samples withheld to find the weights, between 0 and 1.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub withheld: f64,
    /// Seed of all members and of the withheld samples.
    pub seed: u64,
}

impl Default for BlendParams {
    fn default() -> Self {
        Self {
            members: None,
            combine: None,
            withheld: 0.2,
            seed: 0,
        }
    }
}

pub(super) fn entries() -> Vec<MethodEntry> {
    let summary = "A weighted mean of several methods; the default ones suit very many labels, or numbers";
    vec![MethodEntry::new("blend", summary, BlendParams::default()).ensemble()]
}
