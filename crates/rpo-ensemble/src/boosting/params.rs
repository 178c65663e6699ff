//! Parameters of boosting.

use super::choices::{Algorithm, LineSearch, StepScope};
use super::loss::LossKind;
use crate::bins::Bins;
use crate::list::List;
use crate::projection::{ProjectionChoice, ProjectionScope};
use crate::sampling::max_features::MaxFeatures;
use crate::scaling::OutputScaling;
use rpo_projections::Components;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of gradient boosting with random output projections (Joly, Wehenkel, Geurts 2019).
///
/// Set the [`algorithm`](Self::algorithm) and what differs from the defaults, then [`fit`](rpo_core::Learner::fit), which checks the
/// parameters itself:
///
/// ```
/// use rpo_ensemble::CheckParams;
/// use rpo_ensemble::boosting::{Algorithm, BoostingParams, LossKind};
///
/// let params = BoostingParams {
///     loss: Some(LossKind::Logistic),
///     learning_rate: 0.5,
///     ..BoostingParams::from(Algorithm::GbrtRelabelRpo)
/// };
/// assert!(params.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BoostingParams {
    /// What trees grow on, and what a step adds to the scores.
    pub algorithm: Algorithm,
    /// Number of boosting steps: 300 by default where all outputs share a tree, 100 where each has its own.
    ///
    /// Boosting overfits in the end: a [validation set](super::Validation) finds the best number of steps.
    #[schemars(range(min = 1))]
    pub iterations: usize,
    /// Learning rate in (0, 1], by which every step is shortened.
    ///
    /// μ of the paper, which tries 0.01 to 1.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub learning_rate: f64,
    /// Loss that is minimized: square, absolute, huber or quantile of numbers, poisson of counts, tweedie of amounts that
    /// are often 0, logistic of labels, or softmax of groups of labels of which each sample has exactly one; predictions of
    /// the last two are probabilities.
    ///
    /// Predictions of poisson and tweedie are means, whose logarithms are boosted; their targets are not negative.
    /// `None` is the square loss. A [custom loss](super::BoostingOptions::loss) takes its place.
    pub loss: Option<LossKind>,
    /// Loss of each output in their order, as in square,logistic,logistic, in place of one for all.
    ///
    /// Trees that outputs share split by the sum of the gains of all: numbers count in units of their standard deviations
    /// ([`scale_outputs`](Self::scale_outputs)), in which they and labels are of one size.
    pub output_losses: Option<List<LossKind>>,
    /// Numbers of consecutive outputs that are the groups of the softmax loss, as in 3,4; all outputs of that loss by
    /// default.
    ///
    /// Every sample has exactly one output of each group, or misses them all. Not for single targets, which boost each
    /// output alone.
    pub groups: Option<List<usize>>,
    /// Distance from which the huber loss is linear, in the outputs' unit; 1 by default.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub huber_delta: Option<f64>,
    /// Level of the quantile that is predicted with the quantile loss, or several in increasing order as in 0.1,0.5,0.9; 0.5
    /// by default, the median.
    ///
    /// Of K levels the model has K outputs for each target, those of the first target first: each level of each target is
    /// boosted as an output, and the predictions of the levels of a target are sorted, so that they never cross
    /// (Chernozhukov, Fernández-Val, Galichon 2010).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub quantile: Option<List<f64>>,
    /// Power p of the tweedie loss, whose variance is in proportion to the mean to the p; 1.5 by default.
    #[schemars(extend("exclusiveMinimum" = 1.0, "exclusiveMaximum" = 2.0))]
    pub tweedie_power: Option<f64>,
    /// How the length of a step is found: exact minimizes the loss, newton takes one Newton step, which is cheaper.
    /// newton by default, exact for losses without curvature.
    ///
    /// The paper's is exact. Newton steps need a loss with a curvature: square, logistic, poisson, tweedie or softmax, which has no others.
    pub line_search: Option<LineSearch>,
    /// Unit that has its own step length: every output, or every leaf of every output. leaf by default, output for
    /// gbrt-rpo and where the line search is set to exact.
    ///
    /// The paper's is output. leaf is not for gbrt-rpo, whose trees are shared by all outputs. With Newton steps it makes boosting second
    /// order: leaves hold R / (H + λ), the sums of negative gradients and second derivatives, and trees split where that
    /// gains most ([`SecondOrder`](rpo_tree::criterion::SecondOrder)).
    pub step_scope: Option<StepScope>,
    /// Penalty λ of the squares of leaf values: steps of leaves are R / (H + λ). By default, where steps are Newton's per
    /// leaf, 5 for outputs with the square loss and 1 for others, as in XGBoost.
    ///
    /// For the square loss λ is a number of samples: a leaf of 5 takes half a step. Of rare counts and heavy tails a leaf of
    /// fewer says next to nothing.
    /// For Newton steps per leaf. On the scale of XGBoost's `lambda`: for the logistic loss, second derivatives are those by
    /// the log-odds, which are twice the scores here.
    #[schemars(range(min = 0.0))]
    pub leaf_l2: Option<f64>,
    /// Penalty α of the magnitudes of leaf values: R moves towards 0 by α first.
    ///
    /// For Newton steps per leaf; on the scale of XGBoost's `alpha`.
    #[schemars(range(min = 0.0))]
    pub leaf_l1: f64,
    /// Smallest sum of second derivatives in a leaf, averaged over the outputs that its tree grows on.
    ///
    /// For Newton steps per leaf; as XGBoost's `min_child_weight`. Averages are weighted by the squares of a projection.
    #[schemars(range(min = 0.0))]
    pub min_child_weight: f64,
    /// Smallest gain of a split.
    ///
    /// With Newton steps per leaf in the unit of the loss, twice the decrease of its second-order approximation, as XGBoost's
    /// `gamma`. Otherwise in squares of residuals, per unit of the projection.
    #[schemars(range(min = 0.0))]
    pub min_split_gain: f64,
    /// Fraction of the samples, in (0, 1], that the trees of a step grow on, drawn anew without replacement. By default 0.5 for Newton
    /// steps per leaf where an output has the square loss, otherwise all, as in the paper.
    ///
    /// Half of the samples, with [`leaf_l2`](Self::leaf_l2) = 5, score better on most sets of numbers. Leaf values and step
    /// lengths are computed from all samples, so that the training loss never grows (Friedman's stochastic boosting, 2002, uses the drawn samples for both).
    /// Where each output has a tree, those of a step grow on the same samples: they share a pass over their roots.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub subsample: Option<f64>,
    /// Largest number of bins of a feature, 2 to 255, between which splits choose; exact for any threshold.
    ///
    /// Trees on bins are much faster, and the same where no feature has more values than bins. Of more than 255 samples, a
    /// feature has at most one bin per 16, or 63 if that is more.
    pub bins: Bins,
    /// Weight with which the mean of a category is drawn to that of all before categories are ordered.
    ///
    /// Splits of a categorical feature are between subsets of its categories, which are found by ordering them by the means
    /// of the targets in a node. The larger the weight, the more samples a category needs to come first or last. At least 0;
    /// 10 by default, as in LightGBM.
    #[schemars(range(min = 0.0))]
    pub category_smoothing: f64,
    /// Fewest samples of a node that a category needs to be ordered; rarer ones go where missing values go.
    ///
    /// The mean of a few samples says little of a category, and of many categories some always look good. Default 10: trees
    /// of boosting are small, and their nodes large.
    #[schemars(range(min = 1))]
    pub min_category_count: usize,
    /// Number of features drawn at each node: all, sqrt, log2, a number, or a fraction such as 0.1. By default 0.3 where
    /// all outputs share a tree, which scores better than all in a third of the time, and all where each has its own.
    pub max_features: MaxFeatures,
    /// Largest depth of a tree; the root has depth 0.
    pub max_depth: Option<u32>,
    /// Largest number of leaves of a tree, which then grows best-first: by default, unless max-depth is given, one for every
    /// 200 samples of labels or 100 of numbers, but at least 8 and at most 64.
    ///
    /// 8 is the largest that the paper tries, on sets of up to some thousand samples; trees of 2 leaves are stumps. With more
    /// samples, larger trees learn more from as many steps. A custom loss counts as one of labels.
    #[schemars(range(min = 1))]
    pub max_leaves: Option<usize>,
    /// Smallest number of samples in a node that is split.
    pub min_samples_split: usize,
    /// Smallest number of samples in a leaf.
    #[schemars(range(min = 1))]
    pub min_samples_leaf: usize,
    /// Keep only the K values of a leaf that are largest in magnitude; all by default.
    ///
    /// The others count as 0, in the model and in the scores that later steps start from. For gbmort and
    /// gbrt-relabel-rpo.
    #[schemars(range(min = 1))]
    pub leaf_values: Option<usize>,
    /// Projection of the outputs that trees grow on, for gbrt-rpo and gbrt-relabel-rpo; gaussian by default, the best
    /// on average in the paper.
    ///
    /// Projections that learn from data see the outputs, not the residuals. A
    /// [custom projection](super::BoostingOptions::projection) takes the place of the named one.
    pub projection: Option<ProjectionChoice>,
    /// Number of components to project to: a number, ln for round(ln d), or d for as many as there are outputs. By
    /// default 1, of label-embedding ln, of identity d.
    ///
    /// Algorithm gbrt-rpo has 1.
    pub components: Option<Components>,
    /// Projections drawn: one for each step, or one shared by all. shared by default for label-embedding, tree for others.
    ///
    /// Residuals in directions that no projection of a model has are never grown on, so a shared projection needs as many
    /// components as the outputs do; gbrt-rpo, which has one, shares none.
    pub projection_scope: Option<ProjectionScope>,
    /// Unit of the outputs while trees of the square loss split: none for their own, deviation for their standard
    /// deviations, or auto for deviations unless all outputs are labels.
    ///
    /// Of outputs in their own units, as in the paper, the one of the largest numbers decides the splits of all. Steps and
    /// leaves are in the outputs' units always. For trees that outputs share.
    pub scale_outputs: OutputScaling,
    /// Seed of all randomness: subsamples, features of a node, and projections.
    pub seed: u64,
}

impl Default for BoostingParams {
    /// [`Algorithm::GbrtRelabelRpo`], the paper's best on multi-label sets.
    fn default() -> Self {
        Self::from(Algorithm::GbrtRelabelRpo)
    }
}

impl From<Algorithm> for BoostingParams {
    /// The defaults of an algorithm: steps of second order where the loss has a curvature and trees are not shared by
    /// factors, which score better than those of [`paper`](Self::paper) and cost less.
    fn from(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            iterations: if algorithm == Algorithm::SingleTarget {
                100
            } else {
                300
            },
            learning_rate: 0.1,
            loss: None,
            output_losses: None,
            groups: None,
            huber_delta: None,
            quantile: None,
            tweedie_power: None,
            line_search: None,
            step_scope: None,
            leaf_l2: None,
            leaf_l1: 0.0,
            min_child_weight: 0.0,
            min_split_gain: 0.0,
            subsample: None,
            bins: Bins::MOST,
            category_smoothing: 10.0,
            min_category_count: 10,
            max_features: if algorithm == Algorithm::SingleTarget {
                MaxFeatures::All
            } else {
                MaxFeatures::Share(0.3)
            },
            max_depth: None,
            max_leaves: None,
            min_samples_split: 2,
            min_samples_leaf: 1,
            leaf_values: None,
            projection: None,
            components: None,
            projection_scope: None,
            scale_outputs: OutputScaling::Auto,
            seed: 0,
        }
    }
}

impl BoostingParams {
    /// The settings of the paper: exact steps for each output, no penalties, all features and thresholds, trees of 8 leaves,
    /// outputs in their own units. 100 steps, whose number the paper chooses on withheld samples.
    ///
    /// ```
    /// use rpo_ensemble::boosting::{Algorithm, BoostingParams, LineSearch, StepScope};
    /// let params = BoostingParams::paper(Algorithm::Gbmort);
    /// assert_eq!((params.line_search, params.step_scope), (Some(LineSearch::Exact), Some(StepScope::Output)));
    /// ```
    pub fn paper(algorithm: Algorithm) -> Self {
        Self {
            line_search: Some(LineSearch::Exact),
            step_scope: Some(StepScope::Output),
            scale_outputs: OutputScaling::None,
            iterations: 100,
            max_features: MaxFeatures::All,
            max_leaves: Some(8),
            bins: Bins::Exact,
            ..Self::from(algorithm)
        }
    }
}
