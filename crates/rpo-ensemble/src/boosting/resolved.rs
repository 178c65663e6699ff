//! Checked parameters of boosting.

use super::choices::{Algorithm, LineSearch, StepScope, TrainingForm};
use super::loss::{Loss, LossKind, LossShape};
use super::options::BoostingOptions;
use super::params::BoostingParams;
use super::state::Outputs;
use crate::bins::Bins;
use crate::error::EnsembleError;
use crate::projection::{OutputProjection, ProjectionChoice, ProjectionScope};
use crate::sampling::max_features::MaxFeatures;
use crate::scaling::OutputScaling;
use rpo_core::{
    DEFAULT_MEMORY_LIMIT, ParameterError, Seed, check_count, check_fraction, check_not_negative,
    check_positive,
};
use rpo_projections::{Components, Projection, ProjectionKind};
use rpo_tree::GrowParams;
use rpo_tree::criterion::LeafPenalty;
use std::sync::Arc;

/// Checked parameters with their defaults filled in.
pub(super) struct Resolved {
    pub(super) algorithm: Algorithm,
    pub(super) iterations: usize,
    pub(super) learning_rate: f64,
    pub(super) loss: LossChoice,
    pub(super) line_search: LineSearch,
    pub(super) step_scope: StepScope,
    /// Of the value of a leaf for an output, for scores as the loss has them.
    pub(super) penalty: LeafPenalty,
    /// Set where trees split by second-order gains instead of variance.
    pub(super) second_order: Option<SecondOrderSplits>,
    pub(super) min_split_gain: f64,
    /// None where residuals have no unit, or no output shares a tree.
    pub(super) scale_outputs: OutputScaling,
    pub(super) subsample: f64,
    pub(super) bins: Bins,
    pub(super) max_features: MaxFeatures,
    pub(super) grow: GrowParams,
    pub(super) min_samples_leaf: usize,
    pub(super) leaf_values: Option<usize>,
    pub(super) projection: Option<OutputProjection>,
    pub(super) training_form: TrainingForm,
    pub(super) memory_limit: usize,
    pub(super) seed: Seed,
}

/// What second-order gains need beside gradients, for scores as the loss has them.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecondOrderSplits {
    pub(super) penalty: LeafPenalty,
    pub(super) min_child_weight: f64,
    /// True if second derivatives are 1 wherever cells have no weights.
    pub(super) is_constant: bool,
}

impl SecondOrderSplits {
    /// Returns true if second derivatives along every component of unit norm are 1.
    pub(super) fn is_constant_for(&self, outputs: &Outputs<'_>) -> bool {
        self.is_constant && outputs.is_complete()
    }
}

/// A named loss or a custom one.
pub(super) struct LossChoice {
    /// `None` for a custom loss.
    kind: Option<LossKind>,
    loss: Arc<dyn Loss>,
}

impl LossChoice {
    pub(super) fn loss(&self) -> &dyn Loss {
        self.loss.as_ref()
    }

    pub(super) fn is(&self, kind: LossKind) -> bool {
        self.kind == Some(kind)
    }
}

impl Resolved {
    pub(super) fn new(params: &BoostingParams, options: &BoostingOptions<'_>) -> Result<Self, EnsembleError> {
        check_count("iterations", params.iterations)?;
        check_fraction("learning_rate", params.learning_rate)?;
        check_fraction("subsample", params.subsample)?;
        params.bins.check()?;
        params.max_features.check()?;
        let eight = Some(8).filter(|_| params.max_depth.is_none());
        let grow = GrowParams {
            max_depth: params.max_depth,
            max_leaves: params.max_leaves.or(eight),
            min_samples_split: params.min_samples_split,
        };
        grow.check()?;
        check_count("min_samples_leaf", params.min_samples_leaf)?;
        check_not_negative("leaf_l2", params.leaf_l2.unwrap_or(0.0))?;
        check_not_negative("leaf_l1", params.leaf_l1)?;
        check_not_negative("min_child_weight", params.min_child_weight)?;
        check_not_negative("min_split_gain", params.min_split_gain)?;
        let loss = loss(params, options)?;
        let has_curvature = loss.loss().curvature(0.0, 0.0).is_some();
        let (line_search, step_scope) = steps(params, has_curvature);
        if line_search == LineSearch::Newton && !has_curvature {
            let reason = "needs a loss with a curvature: square, logistic, poisson or tweedie";
            return Err(ParameterError::conflict("line_search", "newton", reason).into());
        }
        let is_second_order = step_scope == StepScope::Leaf
            && (line_search == LineSearch::Newton || loss.loss().is_quadratic());
        if !is_second_order {
            check_no_penalty(params)?;
        }
        let is_newton = is_second_order && line_search == LineSearch::Newton;
        let default_l2 = if is_newton { 1.0 } else { 0.0 };
        let scale_outputs = scaling(params, &loss)?;
        let scale = loss.loss().natural_scale();
        let penalty = LeafPenalty {
            l1: scale * params.leaf_l1,
            l2: scale * scale * params.leaf_l2.unwrap_or(default_l2),
        };
        let min_child_weight = scale * scale * params.min_child_weight;
        // Of a constant curvature and without penalties, gains are those of variance, which is found faster.
        let is_constant = loss.loss().is_quadratic();
        let is_variance = is_constant && penalty == LeafPenalty::default() && min_child_weight == 0.0;
        let second_order = (is_second_order && !is_variance).then_some(SecondOrderSplits {
            penalty,
            min_child_weight,
            is_constant,
        });
        let resolved = Self {
            algorithm: params.algorithm,
            iterations: params.iterations,
            learning_rate: params.learning_rate,
            loss,
            line_search,
            step_scope,
            penalty,
            second_order,
            min_split_gain: params.min_split_gain,
            scale_outputs,
            subsample: params.subsample,
            bins: params.bins,
            max_features: params.max_features,
            grow,
            min_samples_leaf: params.min_samples_leaf,
            leaf_values: params.leaf_values,
            projection: projection(params, options.projection.as_ref())?,
            training_form: options.training_form,
            memory_limit: options.memory_limit.unwrap_or(DEFAULT_MEMORY_LIMIT),
            seed: Seed::new(params.seed),
        };
        resolved.check_leaves()?;
        resolved.check_form()?;
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

/// The unit in which trees split residuals.
fn scaling(params: &BoostingParams, loss: &LossChoice) -> Result<OutputScaling, ParameterError> {
    let has_unit = loss.is(LossKind::Square) || loss.kind.is_none();
    let is_shared = params.algorithm != Algorithm::SingleTarget;
    let conflict = |reason| Err(ParameterError::conflict("scale_outputs", "deviation", reason));
    match params.scale_outputs {
        OutputScaling::Deviation if !is_shared => conflict("is for trees that outputs share"),
        OutputScaling::Deviation if !has_unit => {
            conflict("needs the square loss; residuals of other losses have no unit")
        }
        OutputScaling::Auto if !(is_shared && loss.is(LossKind::Square)) => Ok(OutputScaling::None),
        scaling => Ok(scaling),
    }
}

/// The kind of steps: Newton steps per leaf unless another is given, or the loss or the algorithm has none.
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

/// Refuses penalties of second-order steps where there are none.
fn check_no_penalty(params: &BoostingParams) -> Result<(), ParameterError> {
    let reason = if params.algorithm == Algorithm::GbrtRpo {
        "cannot be combined with gbrt-rpo, whose trees are shared by all outputs"
    } else {
        "needs Newton steps of leaves: `line_search` = newton and `step_scope` = leaf, and a loss with a curvature"
    };
    let penalties = [
        ("leaf_l2", params.leaf_l2.unwrap_or(0.0)),
        ("leaf_l1", params.leaf_l1),
        ("min_child_weight", params.min_child_weight),
    ];
    match penalties.into_iter().find(|(_, value)| *value > 0.0) {
        None => Ok(()),
        Some((name, value)) => Err(ParameterError::conflict(name, value, reason)),
    }
}

fn loss(params: &BoostingParams, options: &BoostingOptions<'_>) -> Result<LossChoice, ParameterError> {
    let shape = loss_shape(params)?;
    match (params.loss, &options.loss) {
        (kind, None) => {
            let kind = kind.unwrap_or(LossKind::Square);
            Ok(LossChoice {
                kind: Some(kind),
                loss: kind.loss(shape),
            })
        }
        (None, Some(custom)) => Ok(LossChoice {
            kind: None,
            loss: Arc::clone(custom),
        }),
        (Some(kind), Some(_)) => {
            let reason = "cannot be combined with a custom loss";
            Err(ParameterError::conflict("loss", kind, reason))
        }
    }
}

/// The numbers that the loss depends on; refuses those of another loss.
fn loss_shape(params: &BoostingParams) -> Result<LossShape, ParameterError> {
    let between = |name, value: Option<f64>, low: f64, expected| match value {
        Some(v) => ParameterError::unless(v > low && v < low + 1.0, name, v, expected),
        None => Ok(()),
    };
    check_positive("huber_delta", params.huber_delta.unwrap_or(1.0))?;
    between("quantile", params.quantile, 0.0, "between 0 and 1")?;
    between("tweedie_power", params.tweedie_power, 1.0, "between 1 and 2")?;
    for (name, value, kind, reason) in [
        (
            "huber_delta",
            params.huber_delta,
            LossKind::Huber,
            "is for the loss huber",
        ),
        (
            "quantile",
            params.quantile,
            LossKind::Quantile,
            "is for the loss quantile",
        ),
        (
            "tweedie_power",
            params.tweedie_power,
            LossKind::Tweedie,
            "is for the loss tweedie",
        ),
    ] {
        if let Some(value) = value.filter(|_| params.loss != Some(kind)) {
            return Err(ParameterError::conflict(name, value, reason));
        }
    }
    Ok(LossShape {
        huber_delta: params.huber_delta.unwrap_or(1.0),
        quantile: params.quantile.unwrap_or(0.5),
        tweedie_power: params.tweedie_power.unwrap_or(1.5),
    })
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
