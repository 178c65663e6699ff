//! Growing the trees of a forest.

use super::choices::{CriterionKind, LeafChoice};
use super::grower::{Grower, TreeInput};
use super::model::{ForestTree, Importances};
use super::options::ForestOptions;
use super::params::ForestParams;
use super::targets::Targets;
use super::weights::GivenWeights;
use crate::error::EnsembleError;
use crate::missing;
use ndarray::Array2;
use rpo_core::{Matrix, MatrixView, ParameterError, Seed};
use rpo_tree::criterion::XLogXTable;
use rpo_tree::histogram::BinnedFeatures;
use rpo_tree::{LeafKind, RankedFeatures, Tree};
use std::sync::Arc;

/// The features of a training set, prepared for growing trees on any outputs.
pub(super) struct TrainingFeatures<'x> {
    /// The features themselves, for projections that learn from them.
    x: MatrixView<'x>,
    coded: CodedFeatures,
}

/// Ranked or binned features.
pub(super) struct CodedFeatures {
    /// Absent if trees grow on bins alone.
    pub(super) ranked: Option<RankedFeatures>,
    pub(super) binned: Option<BinnedFeatures>,
    /// Values of x log x, for entropies.
    pub(super) x_log_x: XLogXTable,
}

impl<'x> TrainingFeatures<'x> {
    /// Prepares features; `categorical` lists, increasing, those that hold codes of categories. Features in bins are
    /// also ranked if `also_ranked`. All is made here, before trees grow: a thread that waits for parallel work while
    /// others wait for its result could take up a tree that waits for the same result.
    pub(super) fn new(
        params: &ForestParams,
        x: MatrixView<'x>,
        categorical: &[u32],
        also_ranked: bool,
    ) -> Result<Self, EnsembleError> {
        let most = match params.criterion {
            CriterionKind::Entropy => x.n_rows(),
            _ => 0,
        };
        let binned = match params.bins.limit(false) {
            None => None,
            Some(limit) => Some(BinnedFeatures::new(x.reborrow(), limit, categorical)?),
        };
        let ranked = match &binned {
            Some(_) if !also_ranked => None,
            _ => Some(RankedFeatures::new(x.reborrow(), categorical)?),
        };
        let coded = CodedFeatures {
            ranked,
            binned,
            x_log_x: XLogXTable::up_to(most),
        };
        Ok(Self { x, coded })
    }
}

/// The data shared by all trees of a forest.
pub(super) struct Training<'a, 'x> {
    params: &'a ForestParams,
    features: &'a TrainingFeatures<'x>,
    /// The outputs from which leaf values are computed.
    outputs: Arc<Matrix>,
    targets: Targets,
    weights: Option<&'a [f32]>,
    given: GivenWeights<'a>,
    leaves: LeafKind,
    /// The mean of each output over the samples in which it is observed, if outputs are missing.
    observed_means: Option<Vec<f32>>,
}

impl<'a, 'x> Training<'a, 'x> {
    /// Prepares the shared data. The outputs must have been checked.
    pub(super) fn new(
        params: &'a ForestParams,
        features: &'a TrainingFeatures<'x>,
        y: MatrixView<'_>,
        options: &ForestOptions<'a>,
    ) -> Result<Self, EnsembleError> {
        let has_missing = options.missing_outputs && y.has_missing();
        let projection = params.output_projection(options.projection.as_ref())?;
        let mut targets = Targets::new(params, projection, features.x, y, options.weights, has_missing)?;
        if features.coded.binned.is_some() {
            targets.make_dense()?;
        }
        Ok(Self {
            params,
            features,
            outputs: Arc::new(y.to_owned()),
            targets,
            weights: options.weights,
            given: GivenWeights::new(options.weights),
            leaves: leaf_kind(params.leaves, y, has_missing, have_few_samples(params))?,
            observed_means: has_missing.then(|| missing::observed_means(y, options.weights)),
        })
    }

    /// Grows the tree with the given index.
    pub(super) fn tree<G: Grower>(&self, grower: &G, index: usize) -> Result<GrownTree<G>, EnsembleError> {
        let params = self.params;
        let seed = Seed::new(params.seed).purpose("tree").child(index as u64);
        let n_samples = self.features.x.n_rows();
        let mut weights = self.given.in_bag(params.bag(n_samples), seed, n_samples);
        if weights.iter().all(|w| *w == 0.0) {
            return Err(EnsembleError::EmptyBag { tree: index });
        }
        if let Targets::Single(target) = &self.targets {
            leave_out_missing(target, &mut weights);
        }
        let mut projected = Array2::zeros((0, 0));
        let tree = TreeInput {
            mean_weight: self.given.mean(),
            params,
            features: self.features.x.reborrow(),
            coded: &self.features.coded,
            outputs: &self.outputs,
            leaves: self.leaves,
            observed_means: self.observed_means.as_deref(),
            targets: self
                .targets
                .of_tree(params, (self.features.x, self.weights), index, &mut projected)?,
            weights: &weights,
            seed,
        };
        let grown = grower.grow(&tree)?;
        let leaves = grower.label(&tree, &grown)?;
        let importances = Importances::new(&grown.importances(self.features.x.n_cols()));
        let tree = Tree::new(grown.structure, leaves)?;
        Ok((ForestTree { tree, seed }, importances))
    }
}

/// A tree with its importances.
type GrownTree<G> = (
    ForestTree<<G as Grower>::Rule, <G as Grower>::Leaves>,
    Importances,
);

/// Removes the samples in which the target is missing from a bag, unless no sample would be left.
fn leave_out_missing(target: &[f32], weights: &mut [f32]) {
    let observed = |(weight, target): (&f32, &f32)| *weight > 0.0 && !target.is_nan();
    if weights.iter().zip(target).any(observed) {
        let missing = weights.iter_mut().zip(target).filter(|(_, t)| t.is_nan());
        missing.for_each(|(weight, _)| *weight = 0.0);
    }
}

/// Returns the storage of leaves; `are_small` is true if they have few samples.
pub(super) fn leaf_kind(
    choice: LeafChoice,
    y: MatrixView<'_>,
    has_missing: bool,
    are_small: bool,
) -> Result<LeafKind, EnsembleError> {
    let by_layout = match y {
        MatrixView::Dense(_) => LeafKind::Dense,
        MatrixView::Sparse(_) => LeafKind::Sparse,
    };
    match (choice.kind(), has_missing) {
        (Some(LeafKind::Samples), true) => {
            let reason = "cannot be combined with missing outputs";
            Err(ParameterError::conflict("leaves", "samples", reason).into())
        }
        (Some(kind), _) => Ok(kind),
        (None, true) => Ok(by_layout),
        (None, false) => Ok(match y {
            // The mean of a leaf then has hardly more labels than the leaf has samples, and often fewer.
            MatrixView::Sparse(y) if y.nnz() <= 2 * y.rows() => LeafKind::Sparse,
            _ if are_small => LeafKind::Samples,
            _ => by_layout,
        }),
    }
}

/// Returns true if leaves have few samples, by the parameters.
fn have_few_samples(params: &ForestParams) -> bool {
    params.max_depth.is_none()
        && params.max_leaves.is_none()
        && params.min_samples_split <= 16
        && params.min_samples_leaf <= 8
        && params.min_impurity_decrease == 0.0
}
