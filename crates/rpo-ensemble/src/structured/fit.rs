//! Growing a structured forest.

use super::model::StructuredForest;
use super::params::{NodeSplit, StructuredForestParams};
use crate::error::EnsembleError;
use crate::forest::{Forest, ForestTree, Importances};
use crate::inputs::check_labels;
use crate::observers::grow_each;
use crate::sampling::bag::Bag;
use crate::sampling::subset::{size, subset};
use rpo_core::{CheckParams, CsrMatrix, ForestLearner, Learner, Matrix, MatrixView, Observers, Seed};
use rpo_tree::oblique::{Features, Hyperplanes, LinearRule, ObliqueSplitter};
use rpo_tree::splitter::{BinarySplitter, FallbackSplitter, Splitter};
use rpo_tree::structured::{InformationGain, StructuredSplitter};
use rpo_tree::{LeafBuilder, LeafKind, RankedFeatures, Tree, grow};
use std::sync::Arc;

/// The data shared by all trees of a fit.
struct Training<'p, 'x> {
    params: &'p StructuredForestParams,
    bag: Bag,
    /// Ranked features, for splits on one feature.
    columns: Option<RankedFeatures>,
    /// Features in the units of hyperplanes.
    features: Option<Features<'x>>,
    labels: Arc<CsrMatrix>,
    /// The labels, from which leaf values are computed.
    outputs: Arc<Matrix>,
}

impl ForestLearner for StructuredForestParams {
    fn tree_range(&self) -> (usize, usize) {
        (self.first_tree, self.trees)
    }

    fn tree_range_mut(&mut self) -> (&mut usize, &mut usize) {
        (&mut self.first_tree, &mut self.trees)
    }
}

/// Outputs are labels, 0 or 1. Tree t draws its samples, features, labels, clusters and batches from its own streams,
/// keyed by the seed and t.
///
/// Hyperplanes need all feature values; splits on one feature accept NaN for missing values. There are no options
/// but the observers, for whom a step is a tree.
impl Learner for StructuredForestParams {
    type Model = StructuredForest;
    type Options<'a> = Observers<'a>;

    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        observers: Observers<'_>,
    ) -> Result<StructuredForest, EnsembleError> {
        let params = self;
        params.check()?;
        let labels = check_labels(x, y)?;
        let along_one_feature = params.split() == NodeSplit::InformationGain;
        let training = Training {
            params,
            bag: Bag::of_fraction(params.row_share, x.n_rows()),
            columns: (along_one_feature || params.falls_back())
                .then(|| RankedFeatures::new(x, &[]))
                .transpose()?,
            features: params.units().map(|units| Features::new(x, units)).transpose()?,
            outputs: Arc::new(Matrix::Sparse(labels.clone())),
            labels: Arc::new(labels),
        };
        let trees = grow_each(params.indices()?, observers, |index| {
            training.tree(index, x.n_cols())
        })?;
        let (trees, clustered) = trees.into_iter().unzip();
        let (n, p, d) = (x.n_rows(), x.n_cols(), y.n_cols());
        let forest = Forest::from_parts(trees, Importances::zero(p), training.bag, n, p, d)?;
        StructuredForest::from_forest(forest, clustered, params.label_weight)
    }
}

impl Training<'_, '_> {
    fn tree(&self, index: usize, p: usize) -> Result<(ForestTree<LinearRule>, Vec<u32>), EnsembleError> {
        let params = self.params;
        let seed = Seed::new(params.seed)
            .purpose("structured tree")
            .child(index as u64);
        let (n, d) = (self.labels.rows(), self.labels.cols());
        let counts = self.bag.counts(seed, n);
        let rows: Vec<u32> = (0..n as u32).filter(|row| counts[*row as usize] > 0.0).collect();
        let labels = subset(d, size(params.label_share, d), seed.purpose("labels"));
        let features = subset(p, size(params.feature_share, p), seed.purpose("features"));
        let view = TreeView {
            training: self,
            rows: &rows,
            labels: &labels,
            features: &features,
            seed,
        };
        let tree = match params.split() {
            NodeSplit::InformationGain => view.grow(view.information_gain()?),
            NodeSplit::Logistic(logistic) => view.grow_oblique(logistic),
            NodeSplit::Hellinger(hellinger) => view.grow_oblique(hellinger),
        }?;
        Ok((ForestTree { tree, seed }, labels))
    }
}

/// The samples, labels and features of one tree.
struct TreeView<'a, 'p, 'x> {
    training: &'a Training<'p, 'x>,
    rows: &'a [u32],
    labels: &'a [u32],
    features: &'a [u32],
    seed: Seed,
}

impl<'a> TreeView<'a, '_, '_> {
    fn information_gain(&self) -> Result<InformationGain<'a>, EnsembleError> {
        let columns = self.training.columns.as_ref().expect("coded for this");
        let min_samples_leaf = self.training.params.min_samples_leaf;
        Ok(InformationGain::new(columns, self.features, min_samples_leaf)?)
    }

    fn grow_oblique(&self, hyperplanes: impl Hyperplanes) -> Result<Tree<LinearRule>, EnsembleError> {
        let params = self.training.params;
        let features = self.training.features.as_ref().expect("checked for this");
        let oblique = ObliqueSplitter::new(features, self.features, hyperplanes, params.min_samples_leaf)?;
        if params.falls_back() {
            self.grow(FallbackSplitter(oblique, self.information_gain()?))
        } else {
            self.grow(oblique)
        }
    }

    fn grow(
        &self,
        binary: impl BinarySplitter<Rule = LinearRule>,
    ) -> Result<Tree<LinearRule>, EnsembleError> {
        let Training {
            params,
            labels,
            outputs,
            ..
        } = self.training;
        let splitter = StructuredSplitter::new(
            labels.view(),
            self.labels,
            self.rows,
            &params.clustering(),
            binary,
        )?;
        let mut workspace = splitter.workspace();
        let rows = self.rows.to_vec();
        let grown = grow(
            &splitter,
            &mut workspace,
            rows,
            &params.grow_params(),
            self.seed.purpose("grow"),
        )?;
        let weights = vec![1.0; labels.rows()];
        let leaves = LeafKind::Sparse.build(&grown.members, &weights, outputs)?;
        Ok(Tree::new(grown.structure, leaves)?)
    }
}
