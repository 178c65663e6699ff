//! Label embeddings with a link, ridge and logistic regression, and one-vs-rest.

use super::growing::ForestMethod;
use crate::method::{Estimator, FitContext, MethodEntry, Needs, OutputNeed, StandardizedBy, parameters_of};
use crate::{Model, ModelError};
use ndarray::Array2;
use rpo_core::{CheckParams, ForestLearner, Learner};
use rpo_data::Dataset;
use rpo_linear::{
    ClassifierOptions, LabelEmbeddingModel, LabelEmbeddingOptions, LabelEmbeddingParams, LabelForest,
    LabelTreeParams, LinearError, LinearModel, LinkLoss, LogisticRegressionParams, OneVsRestParams, Penalty,
    RegressionOptions, RidgeParams,
};
use serde_json::{Map, Value};
use std::ops::Range;

pub(super) fn entries() -> Vec<MethodEntry> {
    vec![
        MethodEntry::new(
            "label-embedding",
            "A randomized label embedding with a link of random features",
            LabelEmbeddingParams::default(),
        )
        .preset("paper", LabelEmbeddingParams::paper())
        .clearing("mode", &["cs", "cs-linear"], &["embedding_passes"])
        .clearing(
            "mode",
            &["kernel"],
            &[
                "rank",
                "embedding_lambda",
                "final_lambda_ratio",
                "embedding_passes",
            ],
        )
        .one_hot()
        .standardized(StandardizedBy::Mixed)
        .model::<LabelEmbeddingModel>("label-embedding"),
        MethodEntry::new(
            "ridge",
            "Least squares with an L2 penalty, for each output",
            RidgeParams::default(),
        )
        .one_hot()
        .standardized(StandardizedBy::Mixed)
        .model::<LinearModel>("linear"),
        MethodEntry::new(
            "logistic-regression",
            "Logistic regression with an L2 penalty, for each label",
            LogisticRegressionParams::default(),
        )
        .one_hot()
        .standardized(StandardizedBy::Mixed)
        .model::<LinearModel>("linear"),
        MethodEntry::new(
            "one-vs-rest",
            "A sparse linear classifier for each label, for very many labels",
            OneVsRestParams::default(),
        )
        .one_hot()
        .standardized(StandardizedBy::Directions)
        .model::<LinearModel>("linear"),
        MethodEntry::new(
            "label-tree",
            "Trees of linear classifiers over clusters of the labels, for the most labels",
            LabelTreeParams::default(),
        )
        .one_hot()
        .standardized(StandardizedBy::Directions)
        .model::<LabelForest>("label-tree"),
    ]
}

/// Linear methods support no missing features, those that fit every output by itself support missing outputs, and all
/// except label embeddings support sample weights.
const fn needs(observed_outputs: bool, equal_weights: bool, outputs: OutputNeed) -> Needs {
    Needs {
        observed_features: true,
        missing_categories: false,
        observed_outputs,
        equal_weights,
        equal_outputs: true,
        outputs,
    }
}

fn regression<'a>(data: &'a Dataset, context: &FitContext<'a>) -> RegressionOptions<'a> {
    RegressionOptions {
        weights: data.weights(),
        is_grouped: data.groups().is_some(),
        missing_outputs: true,
        observers: context.observers(),
        ..RegressionOptions::default()
    }
}

fn classifiers<'a>(data: &'a Dataset, context: &FitContext<'a>) -> ClassifierOptions<'a> {
    ClassifierOptions {
        weights: data.weights(),
        groups: data.groups(),
        observers: context.observers(),
        ..ClassifierOptions::default()
    }
}

fn embedding<'a>(data: &'a Dataset, context: &FitContext<'a>) -> LabelEmbeddingOptions<'a> {
    LabelEmbeddingOptions {
        groups: data.groups(),
        observers: context.observers(),
        on_estimate: context.on_estimate,
        ..LabelEmbeddingOptions::default()
    }
}

/// Implements [`Estimator`] for a [`Learner`], whose options a function makes from the data and the context.
macro_rules! estimator {
    (
        $params:ty,
        $name:literal,
        $options:ident,
        observed_outputs: $observed:literal,
        equal_weights: $equal:literal,
        |$this:ident| $outputs:expr
        $(, $($more:tt)+)?
    ) => {
        impl Estimator for $params {
            fn method(&self) -> &str {
                $name
            }

            fn parameters(&self) -> Map<String, Value> {
                parameters_of(self)
            }

            fn check(&self) -> Result<(), ModelError> {
                Ok(CheckParams::check(self)?)
            }

            fn needs(&self) -> Needs {
                let $this = self;
                needs($observed, $equal, $outputs)
            }

            fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
                let (x, y) = (data.features().view(), data.outputs().view());
                Model::new(self.fit_with(x, y, $options(data, context))?, data)
            }

            $($($more)+)?
        }
    };
}

estimator!(LabelEmbeddingParams, "label-embedding", embedding, observed_outputs: true, equal_weights: true, |params| {
    match params.link_loss {
        LinkLoss::Squared => OutputNeed::Any,
        _ => OutputNeed::LabelsUnless("set `link_loss` = squared"),
    }
});
estimator!(
    RidgeParams,
    "ridge",
    regression,
    observed_outputs: false,
    equal_weights: false,
    |_params| OutputNeed::Any,
    fn fit_leaving_one_out(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        samples: &[usize],
    ) -> Result<Option<(Model, Array2<f32>)>, ModelError> {
        let (x, y) = (data.features().view(), data.outputs().view());
        let Some((fitted, scores)) = self.fit_leaving_one_out(x, y, samples, regression(data, context))? else {
            return Ok(None);
        };
        Ok(Some((Model::new(fitted, data)?, scores)))
    }

    fn has_unit_of_weights(&self) -> bool {
        // A penalty that is found suits the unit.
        self.lambda.is_some_and(is_per_sample)
    }
);
estimator!(
    LogisticRegressionParams,
    "logistic-regression",
    regression,
    observed_outputs: false,
    equal_weights: false,
    |_params| OutputNeed::Labels,
    fn has_unit_of_weights(&self) -> bool {
        is_per_sample(self.lambda)
    }
);
estimator!(
    OneVsRestParams,
    "one-vs-rest",
    classifiers,
    observed_outputs: true,
    equal_weights: false,
    |_params| OutputNeed::Labels,
    fn has_unit_of_weights(&self) -> bool {
        // A cost that is found suits the unit.
        self.cost.is_some()
    }
);

/// Returns true for a penalty in units of samples of weight 1; the other kind is relative to sums over samples.
fn is_per_sample(penalty: Penalty) -> bool {
    matches!(penalty, Penalty::Variance(strength) if strength > 0.0)
}

impl ForestMethod for LabelTreeParams {
    fn name(&self) -> &str {
        "label-tree"
    }

    fn needs(&self) -> Needs {
        needs(true, false, OutputNeed::Labels)
    }

    fn has_unit_of_weights(&self) -> bool {
        self.classifiers.cost.is_some()
    }

    fn grow(
        &self,
        trees: Range<usize>,
        data: &Dataset,
        context: &FitContext<'_>,
    ) -> Result<LabelForest, LinearError> {
        let (x, y) = (data.features().view(), data.outputs().view());
        self.of_trees(trees).fit_with(x, y, classifiers(data, context))
    }
}
