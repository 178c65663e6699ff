//! Extension point for custom criteria, splitters and leaf models.

use super::choices::CriterionKind;
use super::grow::CodedFeatures;
use super::params::ForestParams;
use super::targets::TreeTargets;
use crate::error::EnsembleError;
use crate::sampling::subset::{size, subset};
use ndarray::Array2;
use rpo_core::{Matrix, MatrixView, Seed};
use rpo_tree::criterion::{Criterion, CriterionVisitor, Impurity};
use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, SplitTargets};
use rpo_tree::splitter::{AxisParams, AxisSplitter, CategoryTargets, Search, Splitter};
use rpo_tree::{AxisRule, Grown, LeafBuilder, LeafKind, LeafModel, Leaves, RankedFeatures, Rule, grow};
use std::sync::Arc;

/// Grows the trees of a forest and computes their leaves: the extension point for a custom criterion, splitter or leaf
/// model.
///
/// [`ForestParams::fit_custom`] calls a grower once per tree, so that the search inside is compiled for its types. A
/// grower implements only what it replaces and takes the rest from the [`TreeInput`].
///
/// Example: a criterion that prefers balanced splits, whatever the targets.
///
/// ```
/// use ndarray::Array2;
/// use rpo_ensemble::tree::criterion::Criterion;
/// use rpo_ensemble::tree::{AxisRule, Grown, Leaves};
/// use rpo_ensemble::{EnsembleError, ForestOptions, ForestParams, ForestPreset, Grower, TreeEnsemble, TreeInput};
///
/// /// Numbers of samples of the node, and on its left side.
/// #[derive(Clone)]
/// struct Balance {
///     all: f64,
///     moved: f64,
/// }
///
/// impl Criterion for Balance {
///     fn start(&mut self, rows: &[u32]) {
///         *self = Self { all: rows.len() as f64, moved: 0.0 };
///     }
///     fn is_pure(&self) -> bool {
///         false
///     }
///     fn clear(&mut self) {
///         self.moved = 0.0;
///     }
///     fn move_row(&mut self, _: u32) {
///         self.moved += 1.0;
///     }
///     fn score(&self) -> f64 {
///         self.moved * (self.all - self.moved)
///     }
///     fn gain(&self, score: f64) -> f64 {
///         score
///     }
/// }
///
/// struct Balanced;
///
/// impl Grower for Balanced {
///     type Rule = AxisRule;
///     type Leaves = Leaves;
///
///     fn grow(&self, tree: &TreeInput<'_>) -> Result<Grown<AxisRule>, EnsembleError> {
///         tree.grow_by(Balance { all: 0.0, moved: 0.0 })
///     }
///
///     fn label(&self, tree: &TreeInput<'_>, grown: &Grown<AxisRule>) -> Result<Leaves, EnsembleError> {
///         tree.label(grown)
///     }
/// }
///
/// let x = Array2::from_shape_fn((64, 1), |(i, _)| i as f32);
/// let y = x.mapv(|v| f32::from(u8::from(v > 40.0)));
/// let params = ForestParams { max_depth: Some(3), ..ForestPreset::Cart.into() };
/// let forest = params.fit_custom((&x).into(), (&y).into(), ForestOptions::default(), &Balanced)?;
/// assert_eq!(forest.trees()[0].tree.structure().n_leaves(), 8);
/// # Ok::<(), EnsembleError>(())
/// ```
pub trait Grower: Sync {
    /// The rules of the trees.
    type Rule: Rule;
    /// The leaves of the trees.
    type Leaves: LeafModel;

    /// Grows the structure of a tree.
    ///
    /// # Errors
    /// Any error of the grower for data that it refuses; [`EnsembleError::Custom`] if it is none of the others.
    fn grow(&self, tree: &TreeInput<'_>) -> Result<Grown<Self::Rule>, EnsembleError>;

    /// Computes the leaves of a tree.
    ///
    /// # Errors
    /// Any error of the grower for data that it refuses; [`EnsembleError::Custom`] if it is none of the others.
    fn label(&self, tree: &TreeInput<'_>, grown: &Grown<Self::Rule>) -> Result<Self::Leaves, EnsembleError>;
}

/// Grows the trees that the parameters describe.
pub(super) struct AxisGrower;

impl Grower for AxisGrower {
    type Rule = AxisRule;
    type Leaves = Leaves;

    fn grow(&self, tree: &TreeInput<'_>) -> Result<Grown<AxisRule>, EnsembleError> {
        tree.grow()
    }

    fn label(&self, tree: &TreeInput<'_>, grown: &Grown<AxisRule>) -> Result<Leaves, EnsembleError> {
        tree.label(grown)
    }
}

/// The data and parameters from which one tree of a forest is grown.
pub struct TreeInput<'a> {
    /// The features (n x p).
    pub features: MatrixView<'a>,
    /// The outputs (n x d), which leaves predict.
    pub outputs: &'a Arc<Matrix>,
    /// The weight of each of the n samples: its multiplicity in the bag of the tree times its given weight.
    pub weights: &'a [f32],
    /// The seed of the tree.
    pub seed: Seed,
    /// The mean of the given weights that are positive.
    pub(super) mean_weight: f64,
    pub(super) params: &'a ForestParams,
    pub(super) coded: &'a CodedFeatures,
    pub(super) leaves: LeafKind,
    pub(super) observed_means: Option<&'a [f32]>,
    pub(super) targets: TreeTargets<'a>,
}

impl TreeInput<'_> {
    /// Returns the ranks of the features, for [`AxisSplitter`].
    pub fn ranked_features(&self) -> &RankedFeatures {
        match &self.coded.ranked {
            Some(ranked) => ranked,
            None => unreachable!("features are ranked for custom growers, and where there are no bins"),
        }
    }

    /// Returns the targets to grow on (n x m): the outputs (dense outputs far from zero are centred) or their
    /// projection. They are [rounded](rpo_tree::criterion::round_for_exact_sums) so that their sums are exact if the
    /// given weights are whole numbers and not huge, and no target is so extreme that others would become equal.
    pub fn targets(&self) -> MatrixView<'_> {
        self.targets.view()
    }

    /// Returns the indices of the samples of positive weight, increasing.
    pub fn samples(&self) -> Vec<u32> {
        (0..self.weights.len() as u32)
            .filter(|&i| self.weights[i as usize] > 0.0)
            .collect()
    }

    /// Grows the tree by the criterion of the parameters, in the form that is fastest for the targets. All forms give
    /// the same tree.
    ///
    /// # Errors
    /// [`EnsembleError::Tree`] for data that a splitter refuses.
    pub fn grow(&self) -> Result<Grown<AxisRule>, EnsembleError> {
        if let Some(binned) = &self.coded.binned {
            return self.grow_binned(binned);
        }
        let table = &self.coded.x_log_x;
        let impurity = match self.targets {
            TreeTargets::Single(target) if self.params.criterion == CriterionKind::Entropy => {
                Impurity::Entropy(target, table)
            }
            // Missing targets have weight only if none is observed; all targets must then be equal.
            TreeTargets::Single(target) => Impurity::OneVariance(target),
            TreeTargets::Labels(y) => Impurity::LabelEntropy(y, table),
            TreeTargets::Outputs(y) if self.observed_means.is_some() => Impurity::ObservedVariance(y),
            TreeTargets::Outputs(y) => Impurity::Variance(y),
            TreeTargets::Counted(y, counted) => Impurity::LabelVariance(y, counted),
            TreeTargets::Projected(y) => Impurity::Variance(y.into()),
        };
        impurity.visit(self.weights, GrowBy(self))
    }

    /// Grows the tree on bins.
    fn grow_binned(&self, features: &BinnedFeatures) -> Result<Grown<AxisRule>, EnsembleError> {
        let (axis, subset) = self.axis();
        let filled;
        let targets = match &self.targets {
            // Missing targets have weight only if none is observed; all targets must then be equal.
            TreeTargets::Single(target) => {
                let observed = |v: f32| if v.is_nan() { 0.0 } else { v };
                filled = Array2::from_shape_fn((target.len(), 1), |(i, _)| observed(target[i]));
                filled.view()
            }
            TreeTargets::Outputs(MatrixView::Dense(y)) | TreeTargets::Projected(y) => y.view(),
            TreeTargets::Outputs(MatrixView::Sparse(_))
            | TreeTargets::Counted(..)
            | TreeTargets::Labels(_) => {
                unreachable!("made dense; labels are kept for entropies, which have no bins")
            }
        };
        let targets = SplitTargets {
            gradients: targets,
            weights: self.weights,
            ..SplitTargets::default()
        };
        let search = Search {
            params: axis,
            features: subset.as_deref(),
        };
        let splitter = HistogramSplitter::new(features, targets, search)?;
        self.grow_with(&splitter)
    }

    /// Grows the tree by a custom criterion and the other parameters of the forest.
    ///
    /// # Errors
    /// [`EnsembleError::Tree`] for data that a splitter refuses.
    pub fn grow_by<C: Criterion + Sync>(&self, criterion: C) -> Result<Grown<AxisRule>, EnsembleError> {
        let (axis, subset) = self.axis();
        let targets = CategoryTargets {
            targets: self.targets(),
            weights: self.weights,
            curvatures: None,
        };
        let search = Search {
            params: axis,
            features: subset.as_deref(),
        };
        let splitter = AxisSplitter::new(self.ranked_features(), criterion, search)?;
        let splitter = splitter.with_category_targets(targets)?;
        self.grow_with(&splitter)
    }

    /// Returns the parameters of the search, and the features that the tree uses if it does not use all.
    fn axis(&self) -> (AxisParams, Option<Vec<u32>>) {
        let params = self.params;
        let total: f64 = self
            .samples()
            .iter()
            .map(|&i| f64::from(self.weights[i as usize]))
            .sum();
        // The variance of 0/1 labels is half of Gini's impurity.
        let unit = match params.criterion {
            CriterionKind::Gini => 0.5,
            CriterionKind::Variance | CriterionKind::Entropy => 1.0,
        };
        let p = self.features.n_cols();
        let n_features = size(params.feature_share, p);
        let axis = AxisParams {
            max_features: Some(params.max_features.resolve(n_features)),
            min_samples_leaf: params.min_samples_leaf,
            min_gain: params.min_impurity_decrease * unit * total * self.targets.view().n_cols() as f64,
            thresholds: params.thresholds(),
            category_smoothing: params.category_smoothing * self.mean_weight,
            min_category_count: params.min_category_count,
        };
        let features = || subset(p, n_features, self.seed.purpose("features"));
        (axis, (n_features < p).then(features))
    }

    /// Grows the tree with a custom splitter, within the limits of the parameters on depth, leaves and samples.
    ///
    /// # Errors
    /// [`EnsembleError::Tree`] if the splitter has fewer samples than the training set.
    pub fn grow_with<S: Splitter>(&self, splitter: &S) -> Result<Grown<S::Rule>, EnsembleError> {
        Ok(grow(
            splitter,
            &mut splitter.workspace(),
            self.samples(),
            &self.params.grow_params(),
            self.seed.purpose("grow"),
        )?)
    }

    /// Computes the leaves as means of the outputs, in the storage that the parameters choose.
    ///
    /// # Errors
    /// [`EnsembleError::Tree`] for leaves whose values cannot be computed.
    pub fn label(&self, grown: &Grown<impl Rule>) -> Result<Leaves, EnsembleError> {
        let (kind, outputs) = (self.leaves, self.outputs);
        let (structure, members) = (&grown.structure, &grown.members);
        Ok(match self.observed_means {
            None => kind.build(members, self.weights, outputs),
            Some(means) => Leaves::label_observed(kind, structure, members, self.weights, outputs, means),
        }?)
    }
}

/// Visitor that grows a tree by the visited criterion.
struct GrowBy<'t, 'a>(&'t TreeInput<'a>);

impl CriterionVisitor for GrowBy<'_, '_> {
    type Output = Result<Grown<AxisRule>, EnsembleError>;

    fn visit<C: Criterion + Sync>(self, criterion: C) -> Self::Output {
        self.0.grow_by(criterion)
    }
}
