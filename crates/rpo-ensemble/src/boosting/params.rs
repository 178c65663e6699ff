//! Parameters of boosting.

use super::choices::{Algorithm, LineSearch, StepScope};
use super::loss::LossKind;
use super::options::BoostingOptions;
use super::resolved::Resolved;
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
/// Set the [`algorithm`](Self::algorithm) and the fields that differ from the defaults, then call
/// [`fit`](rpo_core::Learner::fit), which checks the parameters:
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
    /// Algorithm: the target on which trees grow, and the update of the scores in a step.
    pub algorithm: Algorithm,
    /// Number of boosting steps: by default 300 if all outputs share a tree, 100 if each output has its own.
    ///
    /// Boosting overfits eventually; a [validation set](super::Validation) finds the best number of steps.
    #[schemars(range(min = 1))]
    pub iterations: usize,
    /// Learning rate in (0, 1], by which every step is multiplied.
    ///
    /// μ in the paper, which tries 0.01 to 1.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub learning_rate: f64,
    /// Loss that is minimized: square, absolute, huber or quantile for numbers, poisson for counts, tweedie for amounts
    /// that are often 0, logistic for labels, or softmax for groups of labels of which each sample has exactly one.
    /// Predictions of the last two are probabilities.
    ///
    /// For poisson and tweedie, the scores are logarithms of means, predictions are means, and targets must not be
    /// negative. `None` is the square loss; for sets of labels, `Model::fit` of the facade and the command take the
    /// logistic loss instead. A [custom loss](super::BoostingOptions::loss) replaces it.
    pub loss: Option<LossKind>,
    /// Loss of each output, in the order of the outputs in the data (that of the columns of a file), as in
    /// square,logistic,logistic, in place of one loss for all.
    ///
    /// Trees shared by outputs split by the sum of the gains of all outputs. Outputs that are numbers, counts or amounts
    /// are scaled ([`scale_outputs`](Self::scale_outputs)), which makes them comparable in size to labels.
    pub output_losses: Option<List<LossKind>>,
    /// Sizes of the groups of consecutive outputs of the softmax loss, as in 3,4; by default all consecutive outputs of
    /// that loss form one group.
    ///
    /// Every sample must have exactly one output of each group, or all of them missing. Not for single targets, where
    /// each output is boosted alone.
    pub groups: Option<List<usize>>,
    /// Distance from which the huber loss is linear, in the outputs' unit; 1 by default.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub huber_delta: Option<f64>,
    /// Level of the quantile that the quantile loss predicts, or several levels in increasing order as in 0.1,0.5,0.9;
    /// 0.5 by default, the median.
    ///
    /// With K levels, the model has K outputs per target, those of the first target first. Each level of each target is
    /// boosted as an output, and the predictions for the levels of a target are sorted, so that they never cross
    /// (Chernozhukov, Fernández-Val, Galichon 2010).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub quantile: Option<List<f64>>,
    /// Power p of the tweedie loss, for amounts whose variance is proportional to the p-th power of their mean; 1.5 by
    /// default.
    #[schemars(extend("exclusiveMinimum" = 1.0, "exclusiveMaximum" = 2.0))]
    pub tweedie_power: Option<f64>,
    /// Method that finds the length of a step: exact minimizes the loss, newton takes one Newton step, which is
    /// cheaper. newton by default, exact for losses without curvature.
    ///
    /// The paper uses exact. Newton steps need a loss with curvature: square, logistic, poisson, tweedie or softmax.
    /// softmax allows only Newton steps.
    pub line_search: Option<LineSearch>,
    /// Unit that has its own step length: each output (output), or each leaf of each output (leaf). leaf by default,
    /// output for gbrt-rpo and if the line search is set to exact.
    ///
    /// The paper uses output. leaf is not for gbrt-rpo, whose trees are shared by all outputs. With Newton steps, leaf
    /// makes boosting second order: leaf values are G / (H + λ), where G and H are the sums of negative gradients and
    /// of second derivatives, and trees split where this gains most
    /// ([`SecondOrder`](rpo_tree::criterion::SecondOrder)).
    pub step_scope: Option<StepScope>,
    /// L2 penalty λ of leaf values, as XGBoost's `lambda`: a leaf value is G / (H + λ), where G and H are the sums of
    /// the negative gradients and of the second derivatives of its samples. For Newton steps per leaf. By default 5 for
    /// outputs with the square loss and for at most 4 labels or classes, alone or beside those, and 1 for others.
    ///
    /// For the square loss, λ is a number of samples: with λ = 5, a leaf of 5 samples takes half a step. With rare
    /// counts and heavy tails, a leaf of fewer samples is hardly informative. For the logistic loss, second derivatives
    /// are those with respect to the log-odds, which are twice the scores here.
    #[schemars(range(min = 0.0))]
    pub leaf_l2: Option<f64>,
    /// L1 penalty α of leaf values, as XGBoost's `alpha`: the sum of the negative gradients of a leaf is moved towards
    /// 0 by α. For Newton steps per leaf.
    ///
    /// On the scale of XGBoost's `alpha`.
    #[schemars(range(min = 0.0))]
    pub leaf_l1: f64,
    /// Smallest sum of second derivatives in a leaf, averaged over the outputs that its tree grows on.
    ///
    /// For Newton steps per leaf; corresponds to XGBoost's `min_child_weight`. Averages are weighted by the squares of
    /// the projection.
    #[schemars(range(min = 0.0))]
    pub min_child_weight: f64,
    /// Smallest gain of a split.
    ///
    /// With Newton steps per leaf, in the unit of the loss: twice the decrease of its second-order approximation, like
    /// XGBoost's `gamma`. Otherwise in squares of residuals, per unit of the projection.
    #[schemars(range(min = 0.0))]
    pub min_split_gain: f64,
    /// Fraction of the samples, in (0, 1], that the trees of a step grow on, drawn anew without replacement. By default
    /// 0.5 if all losses are quantile, and for Newton steps per leaf if an output has the square loss, all losses are
    /// poisson or tweedie, or outputs are all labels or classes and at most 4 or with a tree for each, otherwise 1, as
    /// in the paper.
    ///
    /// Half of the samples, with [`leaf_l2`](Self::leaf_l2) = 5, score better on most numeric data sets. Leaf values
    /// and step lengths are computed from all samples, so that exact steps never increase the training loss (Friedman's
    /// stochastic boosting, 2002, uses the drawn samples for both). If each output has its own tree, the trees of a
    /// step grow on the same samples, so that they share a pass over their roots.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub subsample: Option<f64>,
    /// Largest number of bins per feature, 2 to 255, whose boundaries are the candidate thresholds; exact for any
    /// threshold. auto, the default, is 255; if all outputs are labels or classes, a feature with more than 255 values
    /// other than 0 has one bin per 16 of them, or 63 if that is more.
    ///
    /// Labels are learned as well from fewer bins, in half of the time (docs/defaults.md). Trees on bins are much
    /// faster, and the same if no feature has more distinct values than bins. A value of as many samples as a bin has
    /// its own bin, and so has every category.
    pub bins: Bins,
    /// Weight by which the mean of a category is shrunk towards the overall mean before categories are ordered.
    ///
    /// Splits of a categorical feature are between subsets of its categories, found by ordering the categories by the
    /// means of the targets in a node. The larger the weight, the more samples a category needs to come first or last.
    /// At least 0; 10 by default, as in LightGBM.
    #[schemars(range(min = 0.0))]
    pub category_smoothing: f64,
    /// Smallest number of samples of a category in a node for it to be ordered; rarer categories are routed like
    /// missing values.
    ///
    /// The mean of a few samples says little about a category, and among many categories some always look good by
    /// chance. Default 3, as for forests: on generated sets with 5 to 20 samples per category, half of which a tree
    /// sees, 10 loses .01 to .4 of R² if the categories matter and 3 loses at most .02 if they do not.
    #[schemars(range(min = 1))]
    pub min_category_count: usize,
    /// Number of features drawn at each node: all, sqrt, log2, a number, a fraction such as 0.1, or a fraction and the
    /// fewest features. By default 0.3:3, three tenths but at least 3, if all outputs share a tree, which scores better
    /// than all features and takes a third of the time; all if each output has its own tree.
    pub max_features: MaxFeatures,
    /// Largest depth of a tree; the root has depth 0.
    pub max_depth: Option<u32>,
    /// Largest number of leaves of a tree, which then grows best-first. By default, unless max-depth is given, one leaf
    /// per 200 samples for labels or per 100 for numbers, but at least 8 and at most 64; if all losses are poisson or
    /// tweedie, one per 1000, but at least 4 and at most 8.
    ///
    /// 8 is the largest number that the paper tries; trees of 2 leaves are stumps. With more samples, larger trees
    /// learn more from the same number of steps. A custom loss counts as one for labels.
    #[schemars(range(min = 1))]
    pub max_leaves: Option<usize>,
    /// Smallest number of samples that a node must have to be split.
    pub min_samples_split: usize,
    /// Smallest number of samples in a leaf, of those that a tree grows on. By default 10 for Newton steps per leaf if all
    /// losses are poisson or tweedie, 5 if all are quantile, otherwise 1.
    ///
    /// The logarithm of the mean of few counts, which are often all 0, and the quantiles of few numbers are hardly
    /// determined (docs/defaults.md).
    #[schemars(range(min = 1))]
    pub min_samples_leaf: Option<usize>,
    /// Number of values kept per leaf, those largest in magnitude; all by default.
    ///
    /// The other values are 0, in the model and in the training scores of later steps. For gbmort and gbrt-relabel-rpo.
    #[schemars(range(min = 1))]
    pub leaf_values: Option<usize>,
    /// Projection of the outputs that trees grow on, for gbrt-rpo and gbrt-relabel-rpo; gaussian by default, the best
    /// on average in the paper.
    ///
    /// Projections that learn from data are fitted to the outputs, not the residuals. A [custom
    /// projection](super::BoostingOptions::projection) replaces the named one.
    pub projection: Option<ProjectionChoice>,
    /// Number of components of the projection: a number, ln for round(ln d), or d for the number of outputs. By default
    /// 1, for label-embedding ln, for identity d.
    ///
    /// gbrt-rpo always has 1.
    pub components: Option<Components>,
    /// Scope of a projection: one per step (tree), or one for all steps (shared). shared by default for
    /// label-embedding, tree for others.
    ///
    /// Trees never grow on residuals in directions that no projection of a model covers, so a shared projection needs
    /// as many components as the outputs do. gbrt-rpo, which has one component, cannot share its projection.
    pub projection_scope: Option<ProjectionScope>,
    /// Unit of the outputs while trees split: none for their own units, deviation for their standard deviations, or auto
    /// for standard deviations unless all outputs are labels.
    ///
    /// With the outputs' own units, the output with the largest numbers decides all splits; the paper standardizes all
    /// outputs beforehand. Residuals r are divided by √(Var r / h̄), where Var r is their variance before the first
    /// step and h̄ is the mean second derivative of the loss (1 with steps that use none, and for projected residuals).
    /// For the square loss, that is the standard deviation of the output; for counts, the same or, where h̄ is the mean
    /// count, the square root of the variance divided by the mean. The residuals of the losses for labels and of the
    /// absolute and quantile losses have no unit and stay as they are. Steps and leaf values are always in the outputs'
    /// own units. For trees shared by outputs.
    pub scale_outputs: OutputScaling,
    /// Number of trees that grow at the same time, ahead of their steps; 0 grows the tree of a step once the step before
    /// is made, as in the paper. By default 4 if several outputs share a tree, fewer with a learning rate above 0.1, and 0
    /// above 0.4 or where nothing is drawn for a tree: neither samples nor features nor a projection. A custom
    /// loss has 0, so that a residual that is no number is refused at once.
    ///
    /// With g, the trees of g consecutive steps grow together, while the g steps before them are made, and on the
    /// residuals from before those. Leaf values and step lengths are always those of the current residuals, so that
    /// only the splits are those of earlier ones. Threads then grow whole trees, instead of waiting for each other at every
    /// node, and scores are the same but for chance (docs/defaults.md). For trees shared by outputs.
    #[schemars(range(max = 64))]
    pub trees_ahead: Option<usize>,
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
    /// The defaults of an algorithm: second-order steps if the loss has curvature and trees are not shared through
    /// factors. They score better than those of [`paper`](Self::paper) and cost less.
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
            bins: Bins::Auto,
            category_smoothing: 10.0,
            min_category_count: 3,
            max_features: if algorithm == Algorithm::SingleTarget {
                MaxFeatures::All
            } else {
                MaxFeatures::ShareAtLeast(0.3, 3)
            },
            max_depth: None,
            max_leaves: None,
            min_samples_split: 2,
            min_samples_leaf: None,
            leaf_values: None,
            projection: None,
            components: None,
            projection_scope: None,
            scale_outputs: OutputScaling::Auto,
            trees_ahead: None,
            seed: 0,
        }
    }
}

impl BoostingParams {
    /// Returns the settings of the paper: exact steps for each output, no penalties, all features and thresholds, trees
    /// of 8 leaves that grow one after the other, numeric outputs in units of their standard deviations (the paper
    /// standardizes those of its real data beforehand, appendix C, and not those of its simulations: `scale_outputs` =
    /// none). The number of steps, which the paper chooses on held-out samples, is 100.
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
            trees_ahead: Some(0),
            iterations: 100,
            max_features: MaxFeatures::All,
            max_leaves: Some(8),
            bins: Bins::Exact,
            ..Self::from(algorithm)
        }
    }

    /// Returns true if leaf values are penalized or splits need a gain, by default or as set: these numbers are in units
    /// of samples of weight 1, and other fits depend on the ratios of weights, apart from `category_smoothing`. False for
    /// parameters that are refused.
    ///
    /// ```
    /// use rpo_ensemble::boosting::{BoostingParams, LossKind};
    /// let square = BoostingParams::default();
    /// let absolute = BoostingParams { loss: Some(LossKind::Absolute), ..square.clone() };
    /// assert!(square.is_penalized() && !absolute.is_penalized());
    /// ```
    pub fn is_penalized(&self) -> bool {
        Resolved::new(self, &BoostingOptions::default(), None).is_ok_and(|resolved| resolved.is_penalized())
    }
}
