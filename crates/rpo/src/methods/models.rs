//! Implements [`Predict`] for the fitted models of the other crates.

use crate::predict::{OobPredictions, Stages, ranked};
use crate::{ModelError, Predict, TreeSize};
use ndarray::Array2;
use rpo_core::{
    Apply, Contributions, CsrMatrix, Explain, FeatureImportances, Matrix, MatrixView, Merge, Predictor, Seed,
    TreeEnsemble,
};
use rpo_ensemble::boosting::{self, Boosted, InverseLink};
use rpo_ensemble::craftml::CraftmlTree;
use rpo_ensemble::structured::StructuredForest;
use rpo_ensemble::{Craftml, Forest, ForestTree, OutOfBagPredictor, RelabelOptions, SingleTargetForest};
use rpo_linear::{LabelEmbeddingModel, LabelForest, LabelTree, LinearModel};
use rpo_tree::oblique::LinearRule;
use rpo_tree::{LeafModel, Node, Rule};
use serde_json::{Value, json};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Implements the functions that every model has under the same name.
macro_rules! delegated {
    ($kind:literal) => {
        fn kind(&self) -> &'static str {
            $kind
        }

        fn n_features(&self) -> usize {
            Predictor::n_features(self)
        }

        fn n_outputs(&self) -> usize {
            Predictor::n_outputs(self)
        }

        fn n_train(&self) -> usize {
            Predictor::n_train(self)
        }

        fn predict_with_limit(
            &self,
            x: MatrixView<'_>,
            memory_limit: usize,
        ) -> Result<Array2<f32>, ModelError> {
            Ok(Predictor::predict_with_limit(self, x, memory_limit)?)
        }

        fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, ModelError> {
            Ok(Predictor::predict_top_k(self, x, k)?)
        }

        fn equals(&self, other: &dyn Predict) -> bool {
            other.downcast_ref() == Some(self)
        }
    };
    (apply) => {
        fn apply(&self, x: MatrixView<'_>) -> Result<Option<Array2<u32>>, ModelError> {
            Ok(Some(Apply::apply(self, x)?))
        }
    };
    (explain) => {
        fn contributions(
            &self,
            x: MatrixView<'_>,
            outputs: &[&[u32]],
            background: MatrixView<'_>,
        ) -> Result<Option<Contributions>, ModelError> {
            Ok(Some(Explain::contributions(self, x, outputs, background)?))
        }
    };
    (relabel) => {
        fn relabel(
            &self,
            x: MatrixView<'_>,
            y: MatrixView<'_>,
            options: &RelabelOptions<'_>,
        ) -> Result<Option<Arc<dyn Predict>>, ModelError> {
            Ok(Some(Arc::new(self.relabel(x, y, options)?)))
        }
    };
    (oob) => {
        fn oob_predictions(&self, x: MatrixView<'_>) -> Result<Option<OobPredictions>, ModelError> {
            Ok(Some(OutOfBagPredictor::oob_predictions(self, x)?))
        }
    };
    (merge) => {
        fn merge(self: Arc<Self>, other: Arc<dyn Predict>) -> Result<Arc<dyn Predict>, ModelError> {
            let other: Arc<dyn Any + Send + Sync> = other;
            let Ok(other) = other.downcast::<Self>() else {
                return Err(ModelError::Merge(
                    "only forests of one method can be merged",
                ));
            };
            check_disjoint(self.seeds(), &other.seeds())?;
            let (first, second) = (Arc::unwrap_or_clone(self), Arc::unwrap_or_clone(other));
            Ok(Arc::new(Merge::merge(first, second)?))
        }
    };
    (importances) => {
        fn importances(&self) -> Vec<(u32, f64)> {
            ranked(FeatureImportances::importances(self))
        }
    };
    (trees) => {
        delegated!(apply);
        delegated!(oob);
        delegated!(merge);

        fn tree_sizes(&self) -> Vec<TreeSize> {
            tree_sizes(self.trees())
        }
    };
}

/// Refuses to merge two forests that share a tree.
fn check_disjoint(mut ours: Vec<Seed>, theirs: &[Seed]) -> Result<(), ModelError> {
    ours.sort_unstable_by_key(|seed| seed.value());
    let shared = theirs
        .iter()
        .any(|seed| ours.binary_search_by_key(&seed.value(), |s| s.value()).is_ok());
    if shared {
        let why = "both hold the same tree; grow them with another `first_tree`";
        return Err(ModelError::Merge(why));
    }
    Ok(())
}

fn tree_sizes<R: Rule, L: LeafModel>(trees: &[ForestTree<R, L>]) -> Vec<TreeSize> {
    let of_tree = |t: &ForestTree<R, L>| TreeSize::of(t.tree.structure());
    trees.iter().map(of_tree).collect()
}

impl Predict for Forest {
    delegated!("forest");
    delegated!(trees);
    delegated!(relabel);
    delegated!(explain);
    delegated!(importances);
}

impl Predict for SingleTargetForest {
    delegated!("single-target-forest");
    delegated!(trees);

    fn relabel(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: &RelabelOptions<'_>,
    ) -> Result<Option<Arc<dyn Predict>>, ModelError> {
        if options.same_outputs {
            return Ok(Some(Arc::new(self.relabel_each(x, y, options)?)));
        }
        Ok(Some(Arc::new(self.relabel(x, y, options)?)))
    }

    delegated!(explain);
    delegated!(importances);
}

/// The links of a boosted model, each with its outputs.
fn linked(model: &Boosted) -> impl Iterator<Item = (InverseLink, Range<usize>)> {
    let mut end = 0;
    model.links().iter().map(move |block| {
        let start = end;
        end += block.n_outputs;
        (block.link, start..end)
    })
}

impl Predict for Boosted {
    delegated!("boosting");
    delegated!(apply);
    delegated!(explain);
    delegated!(importances);

    fn groups(&self) -> Vec<Range<usize>> {
        let groups = linked(self).filter(|(link, _)| *link == InverseLink::Softmax);
        groups.map(|(_, outputs)| outputs).collect()
    }

    fn probabilities(&self) -> Vec<usize> {
        let is_probability = |link| matches!(link, InverseLink::Logistic | InverseLink::Softmax);
        let labels = linked(self).filter(|(link, _)| is_probability(*link));
        labels.flat_map(|(_, outputs)| outputs).collect()
    }

    fn not_negative(&self) -> Vec<usize> {
        let exponentials = linked(self).filter(|(link, _)| *link == InverseLink::Exponential);
        exponentials.flat_map(|(_, outputs)| outputs).collect()
    }

    fn stages(self: Arc<Self>, x: Matrix) -> Result<Option<Stages>, ModelError> {
        let stages = boosting::Stages::new(self, x)?;
        Ok(Some(Box::new(stages.map(|stage| Ok(stage?)))))
    }

    fn tree_sizes(&self) -> Vec<TreeSize> {
        self.trees().iter().map(|t| TreeSize::of(&t.structure)).collect()
    }

    fn summary(&self) -> Vec<(&'static str, Value)> {
        vec![("steps", json!(self.n_steps()))]
    }
}

impl Predict for Craftml {
    delegated!("craftml");
    delegated!(apply);
    delegated!(merge);

    fn tree_sizes(&self) -> Vec<TreeSize> {
        let size = |tree: &CraftmlTree| TreeSize {
            nodes: tree.n_nodes,
            leaves: tree.leaves().n_leaves(),
            depth: tree.depth,
        };
        self.trees().iter().map(size).collect()
    }
}

impl Predict for StructuredForest {
    delegated!("structured-forest");
    delegated!(trees);
    delegated!(relabel);

    fn summary(&self) -> Vec<(&'static str, Value)> {
        let nodes = self.trees().iter().flat_map(|t| t.tree.structure().nodes());
        let sizes: Vec<usize> = nodes
            .filter_map(|node| match node {
                Node::Split {
                    rule: LinearRule::Oblique(plane),
                    ..
                } => Some(plane.features().len()),
                _ => None,
            })
            .collect();
        let mut summary = vec![("hyperplanes", json!(sizes.len()))];
        if !sizes.is_empty() {
            summary.push(("features_per_hyperplane", TreeSize::spread(sizes.iter().copied())));
        }
        summary
    }
}

impl Predict for LabelEmbeddingModel {
    delegated!("label-embedding");
}

impl Predict for LinearModel {
    delegated!("linear");
    delegated!(explain);

    fn summary(&self) -> Vec<(&'static str, Value)> {
        let weights = ("weights", json!(self.weights().n_stored()));
        let residual = self.residual.map(|residual| ("residual", json!(residual)));
        let cost = self.cost.map(|cost| ("cost", json!(cost)));
        let penalty = self.penalty.map(|penalty| ("lambda", json!(penalty)));
        [weights]
            .into_iter()
            .chain(residual)
            .chain(cost)
            .chain(penalty)
            .collect()
    }
}

impl Predict for LabelForest {
    delegated!("label-tree");
    delegated!(merge);

    fn tree_sizes(&self) -> Vec<TreeSize> {
        let size = |tree: &LabelTree| TreeSize {
            nodes: tree.n_nodes,
            leaves: tree.n_leaves,
            depth: tree.depth,
        };
        self.trees().iter().map(size).collect()
    }

    fn summary(&self) -> Vec<(&'static str, Value)> {
        let weights: usize = self.trees().iter().map(|tree| tree.n_weights).sum();
        let cost = self.cost.map(|cost| ("cost", json!(cost)));
        [("weights", json!(weights))].into_iter().chain(cost).collect()
    }
}
