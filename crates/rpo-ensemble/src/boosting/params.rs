//! Parameters of boosting.

use super::choices::{Algorithm, LineSearch, StepScope, TrainingForm};
use super::loss::{Loss, LossKind};
use super::options::BoostingOptions;
use crate::error::EnsembleError;
use crate::inference::mean::DEFAULT_BUDGET;
use crate::projection::{OutputProjection, ProjectionChoice, ProjectionScope};
use crate::sampling::max_features::MaxFeatures;
use rpo_core::{ParameterError, Seed, check_count, check_fraction};
use rpo_projections::{Components, Projection, ProjectionKind};
use rpo_tree::GrowParams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Parameters of gradient boosting with random output projections (Joly, Wehenkel, Geurts 2019).
///
/// Set the [`algorithm`](Self::algorithm) and what differs from the defaults, then [`fit`](Self::fit), which checks the
/// parameters itself:
///
/// ```
/// use rpo_ensemble::boosting::{Algorithm, BoostingParams, LossKind};
///
/// let params = BoostingParams {
///     loss: Some(LossKind::Logistic),
///     learning_rate: 0.5,
///     ..BoostingParams::new(Algorithm::GbrtRelabelRpo)
/// };
/// assert!(params.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BoostingParams {
    /// What trees grow on, and what a step adds to the scores.
    pub algorithm: Algorithm,
    /// Number of boosting steps, at least 1.
    ///
    /// Boosting overfits in the end: a [validation set](super::Validation) finds the best number of steps.
    #[schemars(range(min = 1))]
    pub iterations: usize,
    /// Learning rate in (0, 1], by which every step is shortened.
    ///
    /// μ of the paper, which tries 0.01 to 1.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub learning_rate: f64,
    /// Loss that is minimized: square, absolute, or logistic, for labels, which makes predictions probabilities.
    ///
    /// `None` is the square loss. A [custom loss](BoostingOptions::loss) takes its place.
    pub loss: Option<LossKind>,
    /// How the length of a step is found: exact minimizes the loss, newton takes one Newton step, which is cheaper.
    ///
    /// Newton steps need a loss with a curvature: square or logistic.
    pub line_search: LineSearch,
    /// Unit that has its own step length: every output, or every leaf of every output.
    ///
    /// The second is not for gbrt-rpo, whose trees are shared by all outputs.
    pub step_scope: StepScope,
    /// Fraction of the samples, in (0, 1], that each tree grows on, drawn anew without replacement.
    ///
    /// By default all, as in the paper. Leaf values and step lengths are computed from all samples, so that the training
    /// loss never grows (Friedman's stochastic boosting, 2002, uses the drawn samples for both).
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub subsample: f64,
    /// Number of features drawn at each node: all, sqrt, log2, a number, or a fraction such as 0.1.
    pub max_features: MaxFeatures,
    /// Largest depth of a tree; the root has depth 0.
    pub max_depth: Option<u32>,
    /// Largest number of leaves of a tree, which then grows best-first; 8 unless max-depth is given.
    ///
    /// 8 is the largest that the paper tries; trees of 2 leaves are stumps.
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
    /// [custom projection](BoostingOptions::projection) takes the place of the named one.
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
    /// Seed of all randomness: subsamples, features of a node, and projections.
    pub seed: u64,
}

impl Default for BoostingParams {
    /// [`Algorithm::GbrtRelabelRpo`], the paper's best on multi-label sets.
    fn default() -> Self {
        Self::new(Algorithm::GbrtRelabelRpo)
    }
}

impl BoostingParams {
    /// The defaults of an algorithm.
    pub fn new(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            iterations: 100,
            learning_rate: 0.1,
            loss: None,
            line_search: LineSearch::Exact,
            step_scope: StepScope::Output,
            subsample: 1.0,
            max_features: MaxFeatures::All,
            max_depth: None,
            max_leaves: None,
            min_samples_split: 2,
            min_samples_leaf: 1,
            leaf_values: None,
            projection: None,
            components: None,
            projection_scope: None,
            seed: 0,
        }
    }

    /// Checks every parameter that can be checked without data, as [`fit`](Self::fit) does.
    ///
    /// # Errors
    /// [`EnsembleError::Parameter`], [`EnsembleError::Tree`] or [`EnsembleError::Projection`] with the first parameter
    /// that is out of range or cannot be combined with another.
    pub fn check(&self) -> Result<(), EnsembleError> {
        Resolved::new(self, &BoostingOptions::default()).map(|_| ())
    }
}

/// Checked parameters with their defaults filled in.
pub(super) struct Resolved {
    pub(super) algorithm: Algorithm,
    pub(super) iterations: usize,
    pub(super) learning_rate: f64,
    pub(super) loss: LossChoice,
    pub(super) line_search: LineSearch,
    pub(super) step_scope: StepScope,
    pub(super) subsample: f64,
    pub(super) max_features: MaxFeatures,
    pub(super) grow: GrowParams,
    pub(super) min_samples_leaf: usize,
    pub(super) leaf_values: Option<usize>,
    pub(super) projection: Option<OutputProjection>,
    pub(super) training_form: TrainingForm,
    pub(super) memory_limit: usize,
    pub(super) seed: Seed,
}

/// A named loss or a custom one.
pub(super) enum LossChoice {
    Kind(LossKind),
    Custom(Arc<dyn Loss>),
}

impl LossChoice {
    pub(super) fn loss(&self) -> &dyn Loss {
        match self {
            Self::Kind(kind) => kind.loss(),
            Self::Custom(loss) => loss.as_ref(),
        }
    }

    pub(super) fn is(&self, kind: LossKind) -> bool {
        matches!(self, Self::Kind(k) if *k == kind)
    }
}

impl Resolved {
    pub(super) fn new(params: &BoostingParams, options: &BoostingOptions<'_>) -> Result<Self, EnsembleError> {
        check_count("iterations", params.iterations)?;
        check_fraction("learning_rate", params.learning_rate)?;
        check_fraction("subsample", params.subsample)?;
        params.max_features.check()?;
        let eight = Some(8).filter(|_| params.max_depth.is_none());
        let grow = GrowParams {
            max_depth: params.max_depth,
            max_leaves: params.max_leaves.or(eight),
            min_samples_split: params.min_samples_split,
        };
        grow.check()?;
        check_count("min_samples_leaf", params.min_samples_leaf)?;
        let resolved = Self {
            algorithm: params.algorithm,
            iterations: params.iterations,
            learning_rate: params.learning_rate,
            loss: loss(params, options)?,
            line_search: params.line_search,
            step_scope: params.step_scope,
            subsample: params.subsample,
            max_features: params.max_features,
            grow,
            min_samples_leaf: params.min_samples_leaf,
            leaf_values: params.leaf_values,
            projection: projection(params, options.projection.as_ref())?,
            training_form: options.training_form,
            memory_limit: options.memory_limit.unwrap_or(DEFAULT_BUDGET),
            seed: Seed::new(params.seed),
        };
        resolved.check_leaves()?;
        resolved.check_form()?;
        if params.line_search == LineSearch::Newton && resolved.loss.loss().curvature(0.0, 0.0).is_none() {
            let reason = "needs a loss with a curvature, such as square or logistic";
            return Err(ParameterError::conflict("line_search", "newton", reason).into());
        }
        Ok(resolved)
    }

    fn check_leaves(&self) -> Result<(), ParameterError> {
        if self.step_scope == StepScope::Leaf && self.algorithm == Algorithm::GbrtRpo {
            let reason = "cannot be combined with gbrt-rpo, whose trees are shared by all outputs";
            return Err(ParameterError::conflict("step_scope", "leaf", reason));
        }
        let Some(k) = self.leaf_values else {
            return Ok(());
        };
        check_count("leaf_values", k)?;
        if matches!(self.algorithm, Algorithm::SingleTarget | Algorithm::GbrtRpo) {
            let reason = "is for gbmort and gbrt-relabel-rpo, whose leaves hold a value for every output";
            return Err(ParameterError::conflict("leaf_values", k, reason));
        }
        Ok(())
    }

    fn check_form(&self) -> Result<(), ParameterError> {
        let reason = match self.training_form {
            TrainingForm::Factored if !self.loss.is(LossKind::Square) => "needs the square loss",
            TrainingForm::Odds if !self.loss.is(LossKind::Logistic) => "needs the logistic loss",
            TrainingForm::Odds
                if self.step_scope == StepScope::Leaf && self.line_search == LineSearch::Exact =>
            {
                "needs `line_search` = newton if `step_scope` is leaf"
            }
            TrainingForm::Factored | TrainingForm::Odds if self.algorithm == Algorithm::SingleTarget => {
                "cannot be combined with single targets"
            }
            _ => return Ok(()),
        };
        let given = match self.training_form {
            TrainingForm::Factored => "factored",
            _ => "odds",
        };
        Err(ParameterError::conflict("training_form", given, reason))
    }
}

fn loss(params: &BoostingParams, options: &BoostingOptions<'_>) -> Result<LossChoice, ParameterError> {
    match (params.loss, &options.loss) {
        (kind, None) => Ok(LossChoice::Kind(kind.unwrap_or(LossKind::Square))),
        (None, Some(custom)) => Ok(LossChoice::Custom(Arc::clone(custom))),
        (Some(kind), Some(_)) => {
            let reason = "cannot be combined with a custom loss";
            Err(ParameterError::conflict("loss", kind, reason))
        }
    }
}

/// The projection of an algorithm that has one.
fn projection(
    params: &BoostingParams,
    custom: Option<&Arc<dyn Projection>>,
) -> Result<Option<OutputProjection>, EnsembleError> {
    let named = params.projection;
    let conflict = |name, given: &dyn ToString, reason| {
        Err(ParameterError::conflict(name, given.to_string(), reason).into())
    };
    if !params.algorithm.projects() {
        let reason = "is for gbrt-rpo and gbrt-relabel-rpo; this algorithm does not project the outputs";
        return match (named, custom, params.components, params.projection_scope) {
            (Some(ProjectionChoice::Kind(kind)), ..) => conflict("projection", &kind, reason),
            (_, Some(_), ..) => conflict("projection", &"custom", reason),
            (_, _, Some(components), _) => conflict("components", &components, reason),
            (.., Some(ProjectionScope::Tree)) => conflict("projection_scope", &"tree", reason),
            (.., Some(ProjectionScope::Shared)) => conflict("projection_scope", &"shared", reason),
            _ => Ok(None),
        };
    }
    let choice = named.unwrap_or(ProjectionKind::Gaussian.into());
    if choice == ProjectionChoice::None {
        let reason = "is for gbmort; this algorithm projects the outputs";
        return conflict("projection", &choice, reason);
    }
    let resolved = choice.resolve(
        custom,
        params.components,
        params.projection_scope,
        Components::Exact(1),
    )?;
    let Some(OutputProjection {
        components, scope, ..
    }) = resolved
    else {
        return Ok(None);
    };
    // Refuses 0 components whatever the number of outputs.
    components.resolve(1)?;
    if params.algorithm == Algorithm::GbrtRpo {
        if choice == ProjectionKind::LabelEmbedding.into() {
            let reason = "cannot be combined with gbrt-rpo, which grows every tree on one random direction; it \
                          is for gbrt-relabel-rpo";
            return conflict("projection", &choice, reason);
        }
        if components != Components::Exact(1) {
            return conflict(
                "components",
                &components,
                "cannot be combined with gbrt-rpo, which has 1",
            );
        }
        if scope == ProjectionScope::Shared {
            let reason = "cannot be combined with gbrt-rpo, whose trees would all grow on a single direction";
            return conflict("projection_scope", &"shared", reason);
        }
    }
    Ok(resolved)
}
