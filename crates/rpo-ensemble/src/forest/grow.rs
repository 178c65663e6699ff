//! Growing the trees of a forest.

use super::model::{ForestTree, Importances};
use super::params::{CriterionKind, ForestParams};
use super::targets::{Targets, TreeTargets};
use crate::error::EnsembleError;
use crate::missing;
use crate::options::FitOptions;
use crate::sampling::subset::{size, subset};
use ndarray::Array2;
use rpo_core::{Matrix, MatrixView, ParameterError, Seed};
use rpo_tree::RankedFeatures;
use rpo_tree::criterion::{
    Criterion, Entropy, LabelCountVariance, LabelEntropy, ObservedVariance, PackedLabelVariance,
    SingleVariance, SparseObservedVariance, SparseVariance, Variance, WeightedEntropy, XLogXTable,
};
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
use rpo_tree::{AxisRule, Grown, LeafKind, Leaves, Tree, grow};
use std::sync::Arc;

/// The features of a training set, prepared for any outputs.
pub(super) struct TrainingFeatures<'x> {
    /// For projections that learn from them.
    x: MatrixView<'x>,
    ranked: RankedFeatures,
    /// For entropies.
    x_log_x: XLogXTable,
}

impl<'x> TrainingFeatures<'x> {
    pub(super) fn new(params: &ForestParams, x: MatrixView<'x>) -> Result<Self, EnsembleError> {
        let most = match params.criterion {
            CriterionKind::Entropy => x.n_rows(),
            _ => 0,
        };
        Ok(Self {
            x,
            ranked: RankedFeatures::new(x)?,
            x_log_x: XLogXTable::up_to(most),
        })
    }
}

/// What the trees of a forest share.
pub(super) struct Training<'a, 'x> {
    params: &'a ForestParams,
    features: &'a TrainingFeatures<'x>,
    /// The outputs that leaves are labelled with.
    outputs: Arc<Matrix>,
    targets: Targets,
    weights: Option<&'a [f32]>,
    leaves: LeafKind,
    /// If outputs are missing: the mean of each over the samples in which it is observed.
    observed_means: Option<Vec<f32>>,
}

impl<'a, 'x> Training<'a, 'x> {
    /// For outputs that were checked.
    pub(super) fn new(
        params: &'a ForestParams,
        features: &'a TrainingFeatures<'x>,
        y: MatrixView<'_>,
        options: &FitOptions<'a>,
    ) -> Result<Self, EnsembleError> {
        let is_partial = options.missing_outputs && y.has_missing();
        let projection = params.output_projection(options.projection.as_ref())?;
        Ok(Self {
            params,
            features,
            outputs: Arc::new(y.to_owned()),
            targets: Targets::new(params, projection, features.x, y, options.weights, is_partial)?,
            weights: options.weights,
            leaves: leaf_kind(params, y, is_partial)?,
            observed_means: is_partial.then(|| missing::known_means(y, options.weights)),
        })
    }

    /// Grows the tree with an index.
    pub(super) fn tree(&self, index: usize) -> Result<(ForestTree, Importances), EnsembleError> {
        let params = self.params;
        let seed = Seed::new(params.seed).purpose("tree").child(index as u64);
        let n_samples = self.features.ranked.n_rows();
        let mut weights = params.bag(n_samples).counts(seed, n_samples);
        if let Some(given) = self.weights {
            weights.iter_mut().zip(given).for_each(|(w, g)| *w *= g);
        }
        if weights.iter().all(|w| *w == 0.0) {
            return Err(EnsembleError::EmptyBag { tree: index });
        }
        if let Targets::Single(target) = &self.targets {
            leave_out_missing(target, &mut weights);
        }
        let mut projected = Array2::zeros((0, 0));
        let tree = TreeInput {
            params,
            ranked: &self.features.ranked,
            x_log_x: &self.features.x_log_x,
            outputs: &self.outputs,
            leaves: self.leaves,
            observed_means: self.observed_means.as_deref(),
            targets: self
                .targets
                .of_tree(params, self.features.x, index, &mut projected)?,
            weights: &weights,
            seed,
        };
        let grown = tree.grow()?;
        let leaves = tree.label(&grown)?;
        let importances = Importances::new(&grown.importances(self.features.ranked.n_features()));
        let tree = Tree::new(grown.structure, leaves)?;
        Ok((ForestTree { tree, seed }, importances))
    }
}

/// What one tree grows on.
struct TreeInput<'a> {
    params: &'a ForestParams,
    ranked: &'a RankedFeatures,
    x_log_x: &'a XLogXTable,
    outputs: &'a Arc<Matrix>,
    leaves: LeafKind,
    observed_means: Option<&'a [f32]>,
    targets: TreeTargets<'a>,
    /// Multiplicities in the bag times weights.
    weights: &'a [f32],
    seed: Seed,
}

impl TreeInput<'_> {
    /// Grows by the fastest criterion that fits the targets; all that fit give the same tree.
    fn grow(&self) -> Result<Grown<AxisRule>, EnsembleError> {
        let weights = self.weights;
        let table = || self.x_log_x.clone();
        let has_missing = self.observed_means.is_some();
        match self.targets {
            TreeTargets::Single(target) if self.params.criterion == CriterionKind::Entropy => {
                let positive = target.iter().map(|&v| v == 1.0);
                match Entropy::weighted(positive.clone(), weights, table()) {
                    Some(entropy) => self.grow_by(entropy),
                    None => self.grow_by(WeightedEntropy::new(positive, weights)),
                }
            }
            TreeTargets::Single(target) => {
                // A missing target counts only where none is observed, and then all must be equal.
                let values = target.iter().map(|&v| if v.is_nan() { 0.0 } else { v });
                self.grow_by(SingleVariance::new(values, weights))
            }
            TreeTargets::Labels(y) => self.grow_by(LabelEntropy::new(y, weights, table())),
            TreeTargets::Outputs(MatrixView::Dense(y)) if has_missing => {
                self.grow_by(ObservedVariance::new(y, weights))
            }
            TreeTargets::Outputs(MatrixView::Sparse(y)) if has_missing => {
                self.grow_by(SparseObservedVariance::new(y, weights))
            }
            TreeTargets::Outputs(MatrixView::Dense(y)) | TreeTargets::Projected(y) => {
                if y.ncols() == 1 {
                    self.grow_by(SingleVariance::new(y.column(0).iter().copied(), weights))
                } else {
                    self.grow_by(Variance::new(y, weights))
                }
            }
            TreeTargets::Outputs(MatrixView::Sparse(y)) => {
                if let Some(packed) = PackedLabelVariance::<1>::new(y, weights) {
                    self.grow_by(packed)
                } else if let Some(packed) = PackedLabelVariance::<2>::new(y, weights) {
                    self.grow_by(packed)
                } else if let Some(packed) = PackedLabelVariance::<4>::new(y, weights) {
                    self.grow_by(packed)
                } else if let Some(counts) = LabelCountVariance::new(y, weights) {
                    self.grow_by(counts)
                } else {
                    self.grow_by(SparseVariance::new(y, weights))
                }
            }
        }
    }

    /// Grows with splits of one feature that a criterion scores.
    fn grow_by<C: Criterion + Sync>(&self, criterion: C) -> Result<Grown<AxisRule>, EnsembleError> {
        let (params, ranked) = (self.params, self.ranked);
        let rows = self.rows();
        let total: f64 = rows.iter().map(|&i| f64::from(self.weights[i as usize])).sum();
        // The variance of 0/1 labels is half of Gini's impurity.
        let unit = match params.criterion {
            CriterionKind::Gini => 0.5,
            CriterionKind::Variance | CriterionKind::Entropy => 1.0,
        };
        let p = ranked.n_features();
        let n_features = size(params.feature_share, p);
        let axis = AxisParams {
            max_features: Some(params.max_features.resolve(n_features)),
            min_samples_leaf: params.min_samples_leaf,
            min_gain: params.min_impurity_decrease * unit * total * self.targets.view().n_cols() as f64,
            thresholds: params.thresholds(),
        };
        let features = subset(p, n_features, self.seed.purpose("features"));
        let mut splitter = AxisSplitter::new(ranked, criterion, axis)?;
        if n_features < p {
            splitter = splitter.on(&features)?;
        }
        Ok(grow(
            &splitter,
            &mut splitter.workspace(),
            rows,
            &params.grow_params(),
            self.seed.purpose("grow"),
        ))
    }

    /// The samples of positive weight.
    fn rows(&self) -> Vec<u32> {
        (0..self.weights.len() as u32)
            .filter(|&i| self.weights[i as usize] > 0.0)
            .collect()
    }

    /// Labels the leaves with the original outputs.
    fn label(&self, grown: &Grown<AxisRule>) -> Result<Leaves, EnsembleError> {
        let (kind, outputs) = (self.leaves, self.outputs);
        let (structure, members) = (&grown.structure, &grown.members);
        Ok(match self.observed_means {
            None => Leaves::label(kind, members, self.weights, outputs),
            Some(means) => Leaves::label_observed(kind, structure, members, self.weights, outputs, means),
        }?)
    }
}

/// Takes the samples in which a target is missing out of a bag, unless nothing would be left.
fn leave_out_missing(target: &[f32], weights: &mut [f32]) {
    let observed = |(weight, target): (&f32, &f32)| *weight > 0.0 && !target.is_nan();
    if weights.iter().zip(target).any(observed) {
        let missing = weights.iter_mut().zip(target).filter(|(_, t)| t.is_nan());
        missing.for_each(|(weight, _)| *weight = 0.0);
    }
}

fn leaf_kind(params: &ForestParams, y: MatrixView<'_>, is_partial: bool) -> Result<LeafKind, EnsembleError> {
    match (params.leaves.kind(), is_partial) {
        (Some(LeafKind::Samples), true) => {
            let reason = "cannot be combined with missing outputs";
            Err(ParameterError::conflict("leaves", "samples", reason).into())
        }
        (Some(kind), _) => Ok(kind),
        (None, true) => Ok(match y {
            MatrixView::Dense(_) => LeafKind::Dense,
            MatrixView::Sparse(_) => LeafKind::Sparse,
        }),
        (None, false) => Ok(default_leaves(params, y)),
    }
}

fn default_leaves(params: &ForestParams, y: MatrixView<'_>) -> LeafKind {
    let few_samples = params.max_depth.is_none()
        && params.max_leaves.is_none()
        && params.min_samples_split <= 16
        && params.min_samples_leaf <= 8
        && params.min_impurity_decrease == 0.0;
    match y {
        // A leaf's mean then has hardly more labels than the leaf has samples, and often fewer.
        MatrixView::Sparse(y) if y.nnz() <= 2 * y.rows() => LeafKind::Sparse,
        _ if few_samples => LeafKind::Samples,
        MatrixView::Dense(_) => LeafKind::Dense,
        MatrixView::Sparse(_) => LeafKind::Sparse,
    }
}
