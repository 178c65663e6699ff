//! Ensembles of any methods, with weights that are found on withheld samples.

mod fit;
mod model;
mod selection;
mod store;

pub use model::Ensemble;
pub(crate) use store::restore;

use crate::method::MethodEntry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of an ensemble: methods whose predictions are averaged.
///
/// ```
/// use rpo::data::generate::MultiLabelSet;
/// use rpo::prelude::*;
///
/// let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
/// let members = "craftml --trees 5; one-vs-rest --cost 0.5".to_owned();
/// let model = Model::fit(&BlendParams { members, ..BlendParams::default() }, &data)?;
/// assert_eq!(model.predictor().kind(), "ensemble");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BlendParams {
    /// The methods, each with options as on the command line, separated by semicolons.
    ///
    /// The default, for very many labels: CRAFTML on the features as they are and weighted by their inverse document
    /// frequency, and one-vs-rest.
    pub members: String,
    /// Weights of the members: selected, on withheld samples; equal.
    ///
    /// Selection (Caruana, Niculescu-Mizil, Crew, Ksikes, ICML 2004) adds the member that helps most, again and again, with
    /// replacement; members that are never chosen are left out, and the others are fitted to all samples. The goal for labels
    /// is the mean of the precision at 1, 3 and 5, for numbers the squared error in units of each output's variance.
    pub member_weights: MemberWeights,
    /// Fraction of the samples that are withheld to select weights, between 0 and 1.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub withheld: f64,
    /// Seed of all members and of the withheld samples.
    pub seed: u64,
}

/// How the weights of members are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemberWeights {
    /// By selection with replacement on withheld samples.
    #[default]
    Selected,
    /// Equal.
    Equal,
}

impl Default for BlendParams {
    fn default() -> Self {
        Self {
            members: "craftml; craftml --feature-weights idf --normalize l2; one-vs-rest --cost 0.5"
                .to_owned(),
            member_weights: MemberWeights::Selected,
            withheld: 0.2,
            seed: 0,
        }
    }
}

pub(super) fn entries() -> Vec<MethodEntry> {
    let summary = "A weighted mean of several methods, by default for very many labels";
    vec![MethodEntry::new("blend", summary, BlendParams::default()).ensemble()]
}
