//! Checked parameters of boosting.

mod conflicts;
mod loss_shapes;
mod losses;
mod projection;
mod second_order;

pub(super) use second_order::SecondOrderSplits;

use super::choices::{Algorithm, LineSearch, StepScope, TrainingForm};
use super::loss::{LossKind, Penalties};
use super::options::BoostingOptions;
use super::params::BoostingParams;
use crate::error::EnsembleError;
use crate::projection::{OutputProjection, ProjectionScope};
use crate::sampling::max_features::MaxFeatures;
use crate::scaling::OutputScaling;
use conflicts::check_softmax;
use losses::LossChoice;
use projection::projection;
use rpo_core::{DEFAULT_MEMORY_LIMIT, Domain, ParameterError, Seed};
use rpo_projections::ProjectionKind;
use rpo_tree::criterion::LeafPenalty;
use rpo_tree::histogram::BinLimit;
use rpo_tree::{CheckParams, GrowParams};
use second_order::{check_no_penalty, penalties};

/// Largest number of labels in shared trees for which boosting has the defaults of numbers: with many labels, what one
/// overfits another corrects, in trees that they share, and rare labels need every sample.
const FEW_LABELS: usize = 4;

/// Largest number of trees that grow ahead by default.
const MOST_AHEAD: usize = 4;

/// Largest product of the number of trees ahead and the learning rate, by default; a tree lacks up to twice as many steps.
const MOST_MOVED: f64 = 0.4;

/// Checked parameters with their defaults filled in.
pub(super) struct Resolved {
    pub(super) algorithm: Algorithm,
    pub(super) iterations: usize,
    pub(super) learning_rate: f64,
    pub(super) loss: LossChoice,
    pub(super) line_search: LineSearch,
    pub(super) step_scope: StepScope,
    /// Penalties of leaf values.
    pub(super) penalties: Penalties,
    /// Set if trees split by second-order gains instead of variance.
    pub(super) second_order: Option<SecondOrderSplits>,
    pub(super) min_split_gain: f64,
    /// None if residuals have no unit, or outputs do not share trees.
    pub(super) scale_outputs: OutputScaling,
    pub(super) subsample: f64,
    /// The limit of bins; `None` for exact thresholds.
    pub(super) bins: Option<BinLimit>,
    pub(super) max_features: MaxFeatures,
    pub(super) grow: GrowParams,
    pub(super) min_samples_leaf: usize,
    pub(super) category_smoothing: f64,
    pub(super) min_category_count: usize,
    pub(super) leaf_values: Option<usize>,
    /// Number of trees that grow ahead of their steps, if it is given or [known](Self::for_data).
    pub(super) trees_ahead: Option<usize>,
    pub(super) projection: Option<OutputProjection>,
    /// True if each tree grows on a projection of its own.
    pub(super) draws_projections: bool,
    pub(super) training_form: TrainingForm,
    /// True if the training loss is requested, which costs up to a fifth of the time of a fit.
    pub(super) with_loss: bool,
    pub(super) memory_limit: usize,
    pub(super) seed: Seed,
}

impl Resolved {
    /// Checks parameters. Some defaults depend on the number of outputs, if it is known.
    pub(super) fn new(
        params: &BoostingParams,
        options: &BoostingOptions<'_>,
        n_outputs: Option<usize>,
    ) -> Result<Self, EnsembleError> {
        check_ranges(params)?;
        let loss = LossChoice::new(params, options)?;
        let grow = GrowParams {
            max_depth: params.max_depth,
            max_leaves: params.max_leaves,
            min_samples_split: params.min_samples_split,
        };
        grow.check()?;
        let has_curvature = loss.has_curvature();
        let (line_search, step_scope) = steps(params, has_curvature);
        if line_search == LineSearch::Newton && !has_curvature {
            let reason = "needs a loss with a curvature: square, logistic, poisson, tweedie or softmax";
            return Err(ParameterError::conflict("line_search", "newton", reason).into());
        }
        check_softmax(params, &loss, line_search)?;
        let is_second_order =
            step_scope == StepScope::Leaf && (line_search == LineSearch::Newton || loss.is_quadratic());
        if !is_second_order {
            check_no_penalty(params)?;
        }
        let is_newton = is_second_order && line_search == LineSearch::Newton;
        let is_log_newton = is_newton && loss.has_log_link();
        let are_few = loss.is_of_labels() && n_outputs.is_some_and(|n| n <= FEW_LABELS);
        let is_alone = loss.is_of_labels() && params.algorithm == Algorithm::SingleTarget;
        let is_of_quantiles = loss.is(LossKind::Quantile);
        let draws_half =
            is_log_newton || is_of_quantiles || (is_newton && (loss.has_quadratic() || are_few || is_alone));
        let default_subsample = if draws_half { 0.5 } else { 1.0 };
        let default_leaf = if is_log_newton {
            10
        } else if is_of_quantiles {
            5
        } else {
            1
        };
        let bins = params.bins.limit(loss.is_of_labels());
        let scale_outputs = scaling(params, &loss)?;
        if params.min_child_weight > 0.0 && !loss.has_common_scale() {
            let reason = "needs losses whose second derivatives have the same unit; the units for numeric outputs and for \
                 log-odds differ";
            return Err(ParameterError::conflict("min_child_weight", params.min_child_weight, reason).into());
        }
        let penalties = penalties(
            params,
            is_newton,
            are_few || loss.n_labels_beside_numbers() <= FEW_LABELS,
        );
        let second_order = if is_second_order {
            SecondOrderSplits::unless_variance(&loss, penalties, params.min_child_weight)
        } else {
            None
        };
        let projection = projection(params, options.projection.as_ref())?;
        let is_same =
            options.projection.is_none() && params.projection == Some(ProjectionKind::Identity.into());
        let is_per_tree = projection
            .as_ref()
            .is_some_and(|projection| projection.scope == ProjectionScope::Tree);
        let resolved = Self {
            algorithm: params.algorithm,
            iterations: params.iterations,
            learning_rate: params.learning_rate,
            loss,
            line_search,
            step_scope,
            penalties,
            second_order,
            min_split_gain: params.min_split_gain,
            scale_outputs,
            subsample: params.subsample.unwrap_or(default_subsample),
            bins,
            max_features: params.max_features,
            grow,
            min_samples_leaf: params.min_samples_leaf.unwrap_or(default_leaf),
            category_smoothing: params.category_smoothing,
            min_category_count: params.min_category_count,
            leaf_values: params.leaf_values,
            trees_ahead: params.trees_ahead,
            projection,
            draws_projections: is_per_tree && !is_same,
            training_form: options.training_form,
            with_loss: options.history.is_some(),
            memory_limit: options.memory_limit.unwrap_or(DEFAULT_MEMORY_LIMIT),
            seed: Seed::new(params.seed),
        };
        resolved.check_leaves()?;
        resolved.check_ahead()?;
        resolved.check_form()?;
        Ok(resolved)
    }

    /// Returns the number of trees that grow ahead of their steps.
    pub(super) fn ahead(&self) -> usize {
        self.trees_ahead.unwrap_or(0)
    }

    /// Returns true if a parameter is in units of samples of weight 1. Leaf penalties are 0 without steps that have them.
    pub(super) fn is_penalized(&self) -> bool {
        let none = LeafPenalty::default();
        let is_split = self
            .second_order
            .is_some_and(|splits| splits.min_child_weight > 0.0);
        is_split
            || self.min_split_gain > 0.0
            || (self.penalties.quadratic, self.penalties.others) != (none, none)
    }

    /// Returns true if gains are those of single outputs, divided by their second derivatives.
    pub(super) fn gains_by_curvature(&self) -> bool {
        self.second_order.is_some() && self.projection.is_none()
    }

    /// Sets the defaults that depend on the sizes of the data: that of trees, and how many grow ahead.
    pub(super) fn for_data(mut self, n_samples: usize, n_features: usize, n_outputs: usize) -> Self {
        let draws_features = self.max_features.resolve(n_features) < n_features;
        let differ = self.subsample < 1.0 || draws_features || self.draws_projections;
        let default = match self.algorithm {
            Algorithm::SingleTarget => 0,
            _ if n_outputs * self.loss.n_levels() == 1 || !differ || self.loss.is_custom() => 0,
            _ => ((MOST_MOVED / self.learning_rate) as usize).min(MOST_AHEAD),
        };
        self.trees_ahead = Some(self.trees_ahead.unwrap_or(default));
        if self.grow.max_depth.is_none() {
            let default = || self.loss.default_leaves(n_samples);
            self.grow.max_leaves = Some(self.grow.max_leaves.unwrap_or_else(default));
        }
        self
    }
}

/// Checks the ranges of numbers that do not depend on other parameters.
fn check_ranges(params: &BoostingParams) -> Result<(), EnsembleError> {
    Domain::Count.check("iterations", params.iterations)?;
    Domain::Fraction.check("learning_rate", params.learning_rate)?;
    Domain::Fraction.check("subsample", params.subsample)?;
    params.bins.check()?;
    params.max_features.check()?;
    Domain::Count.check("min_samples_leaf", params.min_samples_leaf)?;
    Domain::NotNegative.check("category_smoothing", params.category_smoothing)?;
    Domain::Count.check("min_category_count", params.min_category_count)?;
    Domain::NotNegative.check("leaf_l2", params.leaf_l2)?;
    Domain::NotNegative.check("leaf_l1", params.leaf_l1)?;
    Domain::NotNegative.check("min_child_weight", params.min_child_weight)?;
    Ok(Domain::NotNegative.check("min_split_gain", params.min_split_gain)?)
}

/// Returns the unit of residuals when trees split.
fn scaling(params: &BoostingParams, loss: &LossChoice) -> Result<OutputScaling, ParameterError> {
    let has_unit = loss.has_unit();
    let is_shared = params.algorithm != Algorithm::SingleTarget;
    let conflict = |reason| Err(ParameterError::conflict("scale_outputs", "deviation", reason));
    match params.scale_outputs {
        OutputScaling::Deviation if !is_shared => conflict("is for trees that are shared by all outputs"),
        OutputScaling::Deviation if !has_unit => {
            conflict("needs a loss whose residuals have a unit: square, huber, poisson or tweedie")
        }
        OutputScaling::Auto if !(is_shared && has_unit) => Ok(OutputScaling::None),
        scaling => Ok(scaling),
    }
}

/// Returns the kind of steps: Newton steps per leaf unless another kind is given, or the loss or the algorithm does not
/// support them.
fn steps(params: &BoostingParams, has_curvature: bool) -> (LineSearch, StepScope) {
    let line_search = params.line_search.unwrap_or(if has_curvature {
        LineSearch::Newton
    } else {
        LineSearch::Exact
    });
    let by_output = params.algorithm == Algorithm::GbrtRpo || params.line_search == Some(LineSearch::Exact);
    let step_scope = params.step_scope.unwrap_or(if by_output {
        StepScope::Output
    } else {
        StepScope::Leaf
    });
    (line_search, step_scope)
}
