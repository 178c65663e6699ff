//! Whole methods of custom growers: the code shared by the criterion, the splitter and the leaves of this crate.

use ndarray::Array2;
use rpo::core::store::{Reader, Restore, Sizes, Store, StoreError, Writer};
use rpo::core::{CsrMatrix, Domain, MatrixView};
use rpo::data::Dataset;
use rpo::ensemble::{Forest, ForestOptions, ForestParams, Grower, OutOfBagPredictor};
use rpo::tree::LeafModel;
use rpo::tree::store::{StoreLeaves, StoreRule};
use rpo::{
    Estimator, FitContext, MethodEntry, Model, ModelError, Needs, OobPredictions, OutputNeed, Predict,
    Predictor, parameters_of,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt::Debug;

/// A named grower whose fields are parameters of the method.
pub trait CustomForest:
    Grower + Debug + Clone + Default + Send + Serialize + DeserializeOwned + JsonSchema + 'static
{
    /// The name of the method.
    const NAME: &'static str;
    /// The name of the kind of model in a file.
    const KIND: &'static str;
    /// The model: [`Forest`] for the rules and leaves of `rpo`, [`CustomForestModel`] for others.
    type Model: Predict + Restore + From<Forest<Self::Rule, Self::Leaves>>;

    /// Checks the parameters of the grower.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    fn check(&self) -> Result<(), ModelError>;
}

/// The parameters of a forest with a custom grower.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CustomForestParams<G: Default> {
    /// Number of trees.
    #[schemars(range(min = 1))]
    pub trees: usize,
    /// Largest depth of a leaf; unlimited if not set.
    pub max_depth: Option<u32>,
    /// The parameters of the grower.
    #[serde(flatten)]
    pub grower: G,
    /// Seed of all randomness.
    pub seed: u64,
}

impl<G: Default> Default for CustomForestParams<G> {
    fn default() -> Self {
        Self {
            trees: 20,
            max_depth: None,
            grower: G::default(),
            seed: 0,
        }
    }
}

/// The registry entry of a method.
pub(crate) fn entry<G: CustomForest>(summary: &'static str) -> MethodEntry {
    MethodEntry::new(G::NAME, summary, CustomForestParams::<G>::default()).model::<G::Model>(G::KIND)
}

impl<G: CustomForest> Estimator for CustomForestParams<G> {
    fn method(&self) -> &str {
        G::NAME
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Domain::Count.check("trees", self.trees)?;
        self.grower.check()
    }

    fn needs(&self) -> Needs {
        Needs {
            outputs: OutputNeed::Any,
            ..Needs::default()
        }
    }

    fn n_steps(&self) -> usize {
        self.trees
    }

    fn has_oob(&self) -> bool {
        true
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        Estimator::check(self)?;
        let params = ForestParams {
            trees: self.trees,
            max_depth: self.max_depth,
            seed: self.seed,
            ..ForestParams::default()
        };
        let options = ForestOptions {
            observers: context.observers(),
            ..ForestOptions::default()
        };
        let (x, y) = (data.features().view(), data.outputs().view());
        let forest = params.fit_custom(x, y, options, &self.grower)?;
        Model::new(G::Model::from(forest), data)
    }
}

/// A forest with custom rules or leaves, as a predictor that can be stored in model files.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomForestModel<G: Grower>(Forest<G::Rule, G::Leaves>);

impl<G: Grower> From<Forest<G::Rule, G::Leaves>> for CustomForestModel<G> {
    fn from(forest: Forest<G::Rule, G::Leaves>) -> Self {
        Self(forest)
    }
}

impl<G> Predict for CustomForestModel<G>
where
    G: CustomForest,
    G::Rule: StoreRule + 'static,
    G::Leaves: LeafModel + StoreLeaves + Debug + PartialEq + 'static,
{
    fn kind(&self) -> &'static str {
        G::KIND
    }

    fn n_features(&self) -> usize {
        self.0.n_features()
    }

    fn n_outputs(&self) -> usize {
        self.0.n_outputs()
    }

    fn n_train(&self) -> usize {
        self.0.n_train()
    }

    fn predict_with_limit(&self, x: MatrixView<'_>, memory_limit: usize) -> Result<Array2<f32>, ModelError> {
        Ok(self.0.predict_with_limit(x, memory_limit)?)
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, ModelError> {
        Ok(self.0.predict_top_k(x, k)?)
    }

    fn oob_predictions(&self, x: MatrixView<'_>) -> Result<Option<OobPredictions>, ModelError> {
        Ok(Some(self.0.oob_predictions(x)?))
    }

    fn equals(&self, other: &dyn Predict) -> bool {
        other
            .downcast_ref::<Self>()
            .is_some_and(|other| self.0 == other.0)
    }
}

impl<G: Grower<Rule: StoreRule, Leaves: StoreLeaves>> Store for CustomForestModel<G> {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        self.0.store(out)
    }
}

impl<G: Grower<Rule: StoreRule, Leaves: StoreLeaves>> Restore for CustomForestModel<G> {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        Forest::restore(from, sizes).map(Self)
    }
}
