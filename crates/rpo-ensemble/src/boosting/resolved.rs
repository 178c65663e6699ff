//! Checked parameters of boosting.

use super::choices::{Algorithm, LineSearch, StepScope, TrainingForm};
use super::link::check_custom;
use super::loss::{Block, LossKind, LossShape, Objective, OutputLoss, Penalties};
use super::options::BoostingOptions;
use super::params::BoostingParams;
use super::state::Outputs;
use crate::bins::Bins;
use crate::error::EnsembleError;
use crate::list::List;
use crate::projection::{OutputProjection, ProjectionChoice, ProjectionScope};
use crate::sampling::max_features::MaxFeatures;
use crate::scaling::OutputScaling;
use rpo_core::{DEFAULT_MEMORY_LIMIT, Domain, Mismatch, ParameterError, Seed};
use rpo_projections::{Components, Projection, ProjectionKind};
use rpo_tree::criterion::LeafPenalty;
use rpo_tree::{CheckParams, GrowParams};
use std::sync::Arc;

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
    pub(super) bins: Bins,
    pub(super) max_features: MaxFeatures,
    pub(super) grow: GrowParams,
    pub(super) min_samples_leaf: usize,
    pub(super) category_smoothing: f64,
    pub(super) min_category_count: usize,
    pub(super) leaf_values: Option<usize>,
    pub(super) projection: Option<OutputProjection>,
    pub(super) training_form: TrainingForm,
    /// True if the training loss is requested, which costs up to a fifth of the time of a fit.
    pub(super) with_loss: bool,
    pub(super) memory_limit: usize,
    pub(super) seed: Seed,
}

/// Settings of second-order gains, for scores in their natural unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecondOrderSplits {
    pub(super) penalties: Penalties,
    pub(super) min_child_weight: f64,
    /// True if second derivatives are 1 unless cells have weights.
    pub(super) is_constant: bool,
}

impl SecondOrderSplits {
    /// Returns true if second derivatives along every component of unit norm are 1.
    pub(super) fn is_constant_for(&self, outputs: &Outputs<'_>) -> bool {
        self.is_constant && outputs.is_complete()
    }
}

/// Losses of the outputs: named losses or a custom one.
pub(super) struct LossChoice {
    /// The named losses; empty for a custom loss.
    kinds: Vec<LossKind>,
    /// One loss for all outputs, one per output, or one per level of each target.
    losses: Vec<OutputLoss>,
    arrangement: Arrangement,
    /// Sizes of the groups of the softmax loss; unless given, consecutive outputs of that loss form one group.
    groups: Option<Vec<usize>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Arrangement {
    Same,
    Each,
    Levels,
}

impl LossChoice {
    /// Returns true if all outputs have the given loss.
    pub(super) fn is(&self, kind: LossKind) -> bool {
        !self.kinds.is_empty() && self.kinds.iter().all(|k| *k == kind)
    }

    fn has(&self, kind: LossKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns true if outputs have losses of different kinds.
    pub(super) fn is_mixed(&self) -> bool {
        self.kinds.iter().any(|kind| *kind != self.kinds[0])
    }

    fn is_custom(&self) -> bool {
        self.kinds.is_empty()
    }

    fn has_curvature(&self) -> bool {
        self.losses.iter().all(OutputLoss::has_curvature)
    }

    fn is_quadratic(&self) -> bool {
        self.losses.iter().all(OutputLoss::is_quadratic)
    }

    fn has_quadratic(&self) -> bool {
        self.losses.iter().any(OutputLoss::is_quadratic)
    }

    /// Returns the default of `max_leaves` for a number of samples. Labels, most of which are rare, are overfitted
    /// earlier than numbers.
    fn default_leaves(&self, n_samples: usize) -> usize {
        let of_labels = |kind: &LossKind| matches!(kind, LossKind::Logistic | LossKind::Softmax);
        let per_leaf = if self.kinds.iter().all(of_labels) {
            200
        } else {
            100
        };
        (n_samples / per_leaf).clamp(8, 64)
    }

    fn has_common_scale(&self) -> bool {
        let mut scales = self.losses.iter().map(OutputLoss::natural_scale);
        scales.all(|scale| scale == self.losses[0].natural_scale())
    }

    /// Returns the number of outputs of the model for each target.
    pub(super) fn n_levels(&self) -> usize {
        match self.arrangement {
            Arrangement::Levels => self.losses.len(),
            Arrangement::Same | Arrangement::Each => 1,
        }
    }

    /// Returns the losses of `n_outputs` outputs, which include all levels of each target.
    pub(super) fn objective(&self, n_outputs: usize) -> Result<Objective, EnsembleError> {
        if self.arrangement == Arrangement::Each {
            Mismatch::check("outputs with `output_losses`", n_outputs, self.losses.len())?;
        }
        let mut sizes = self.groups.iter().flatten().copied();
        let mut blocks: Vec<Block> = Vec::new();
        let mut start = 0;
        while start < n_outputs {
            let loss = match self.arrangement {
                Arrangement::Same => &self.losses[0],
                Arrangement::Each => &self.losses[start],
                Arrangement::Levels => &self.losses[start % self.losses.len()],
            };
            let is_softmax = |j: usize| match self.arrangement {
                Arrangement::Each => matches!(self.losses[j], OutputLoss::Softmax),
                _ => matches!(loss, OutputLoss::Softmax),
            };
            let run = (start..n_outputs).take_while(|&j| is_softmax(j)).count();
            let n = match (loss, &self.groups) {
                (OutputLoss::Softmax, None) => run,
                (OutputLoss::Softmax, Some(groups)) => match sizes.next() {
                    Some(size) if size <= run => size,
                    _ => return Err(unfit_groups(groups)),
                },
                (OutputLoss::Alone(_), _) if self.arrangement == Arrangement::Same => n_outputs,
                (OutputLoss::Alone(_), _) => 1,
            };
            blocks.push(Block {
                outputs: start..start + n,
                loss: loss.clone(),
            });
            start += n;
        }
        match (sizes.next(), &self.groups) {
            (Some(_), Some(groups)) => Err(unfit_groups(groups)),
            _ => Ok(Objective::new(blocks, self.n_levels())),
        }
    }
}

fn unfit_groups(groups: &[usize]) -> EnsembleError {
    let reason = "does not make up the consecutive outputs of the softmax loss";
    ParameterError::conflict("groups", List::<usize>::from(groups.to_vec()), reason).into()
}

impl Resolved {
    pub(super) fn new(
        params: &BoostingParams,
        options: &BoostingOptions<'_>,
        n_samples: usize,
    ) -> Result<Self, EnsembleError> {
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
        Domain::NotNegative.check("min_split_gain", params.min_split_gain)?;
        let loss = loss(params, options)?;
        let by_samples = params.max_depth.is_none().then(|| loss.default_leaves(n_samples));
        let grow = GrowParams {
            max_depth: params.max_depth,
            max_leaves: params.max_leaves.or(by_samples),
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
        let [quadratic_l2, other_l2] = if is_newton { [5.0, 1.0] } else { [0.0, 0.0] };
        let default_subsample = if is_newton && loss.has_quadratic() {
            0.5
        } else {
            1.0
        };
        let scale_outputs = scaling(params, &loss)?;
        if params.min_child_weight > 0.0 && !loss.has_common_scale() {
            let reason = "needs losses whose second derivatives have one unit; those of numbers and of logarithms of odds \
                          differ";
            return Err(ParameterError::conflict("min_child_weight", params.min_child_weight, reason).into());
        }
        let penalty = |default_l2| LeafPenalty {
            l1: params.leaf_l1,
            l2: params.leaf_l2.unwrap_or(default_l2),
        };
        let penalties = Penalties {
            quadratic: penalty(quadratic_l2),
            others: penalty(other_l2),
        };
        let min_child_weight = params.min_child_weight;
        // With constant curvature and without penalties, gains equal those of variance, which is computed faster.
        let is_constant = loss.is_quadratic();
        let is_variance =
            is_constant && penalties.quadratic == LeafPenalty::default() && min_child_weight == 0.0;
        let second_order = (is_second_order && !is_variance).then_some(SecondOrderSplits {
            penalties,
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
            penalties,
            second_order,
            min_split_gain: params.min_split_gain,
            scale_outputs,
            subsample: params.subsample.unwrap_or(default_subsample),
            bins: params.bins,
            max_features: params.max_features,
            grow,
            min_samples_leaf: params.min_samples_leaf,
            category_smoothing: params.category_smoothing,
            min_category_count: params.min_category_count,
            leaf_values: params.leaf_values,
            projection: projection(params, options.projection.as_ref())?,
            training_form: options.training_form,
            with_loss: options.history.is_some(),
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
        Domain::Count.check("leaf_values", k)?;
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

/// Returns the unit of residuals when trees split.
fn scaling(params: &BoostingParams, loss: &LossChoice) -> Result<OutputScaling, ParameterError> {
    let has_unit = loss.has(LossKind::Square) || loss.is_custom();
    let is_shared = params.algorithm != Algorithm::SingleTarget;
    let conflict = |reason| Err(ParameterError::conflict("scale_outputs", "deviation", reason));
    match params.scale_outputs {
        OutputScaling::Deviation if !is_shared => conflict("is for trees that outputs share"),
        OutputScaling::Deviation if !has_unit => {
            conflict("needs the square loss; residuals of other losses have no unit")
        }
        OutputScaling::Auto if !(is_shared && loss.has(LossKind::Square)) => Ok(OutputScaling::None),
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

/// Refuses penalties of second-order steps, for other kinds of steps.
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

/// Refuses parameters that the softmax loss, which couples outputs, does not support, and `groups` for other losses.
fn check_softmax(
    params: &BoostingParams,
    loss: &LossChoice,
    line_search: LineSearch,
) -> Result<(), ParameterError> {
    if !loss.has(LossKind::Softmax) {
        return match &params.groups {
            Some(groups) => Err(ParameterError::conflict(
                "groups",
                groups,
                "is for the loss softmax",
            )),
            None => Ok(()),
        };
    }
    if params.groups.as_ref().is_some_and(|groups| groups.contains(&0)) {
        return Err(ParameterError::out_of_range("groups", 0, "numbers of at least 1"));
    }
    if params.algorithm == Algorithm::SingleTarget {
        let reason =
            "couples outputs and cannot be combined with single targets, of which each is boosted alone";
        return Err(ParameterError::conflict("loss", LossKind::Softmax, reason));
    }
    if line_search == LineSearch::Exact {
        let reason = "cannot be combined with the softmax loss, which couples outputs; set it to newton";
        return Err(ParameterError::conflict("line_search", "exact", reason));
    }
    Ok(())
}

fn loss(params: &BoostingParams, options: &BoostingOptions<'_>) -> Result<LossChoice, ParameterError> {
    if let Some(custom) = &options.loss {
        let reason = "cannot be combined with a custom loss";
        if let Some(losses) = &params.output_losses {
            return Err(ParameterError::conflict("output_losses", losses, reason));
        }
        if let Some(kind) = params.loss {
            return Err(ParameterError::conflict("loss", kind, reason));
        }
        check_custom(custom.inverse_link())?;
        loss_shapes(params, &[])?;
        return Ok(LossChoice {
            kinds: Vec::new(),
            losses: vec![OutputLoss::Alone(Arc::clone(custom))],
            arrangement: Arrangement::Same,
            groups: None,
        });
    }
    let (kinds, arrangement) = match (&params.output_losses, params.loss) {
        (Some(losses), Some(_)) => {
            let reason = "takes the place of `loss`; set one of them";
            return Err(ParameterError::conflict("output_losses", losses, reason));
        }
        (Some(losses), None) => (losses.to_vec(), Arrangement::Each),
        (None, kind) => (vec![kind.unwrap_or(LossKind::Square)], Arrangement::Same),
    };
    let shapes = loss_shapes(params, &kinds)?;
    let groups = params.groups.as_ref().map(|groups| groups.to_vec());
    if shapes.len() > 1 {
        if kinds != [LossKind::Quantile] {
            let levels = params
                .quantile
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            let reason = "has several levels, which need the quantile loss for all outputs";
            return Err(ParameterError::conflict("quantile", levels, reason));
        }
        let losses = shapes.into_iter().map(|shape| LossKind::Quantile.loss(shape));
        return Ok(LossChoice {
            kinds,
            losses: losses.collect(),
            arrangement: Arrangement::Levels,
            groups,
        });
    }
    let losses = kinds.iter().map(|kind| kind.loss(shapes[0])).collect();
    Ok(LossChoice {
        kinds,
        losses,
        arrangement,
        groups,
    })
}

/// Returns the numeric parameters of losses for each level of quantiles. Refuses parameters of losses that are not
/// used.
fn loss_shapes(params: &BoostingParams, kinds: &[LossKind]) -> Result<Vec<LossShape>, ParameterError> {
    let levels = params.quantile.as_deref().unwrap_or(&[0.5]);
    for &level in levels {
        Domain::Level.check("quantile", level)?;
    }
    if levels.is_empty() || levels.windows(2).any(|pair| pair[0] >= pair[1]) {
        let given = List::<f64>::from(levels.to_vec());
        return Err(ParameterError::out_of_range(
            "quantile",
            given,
            "levels in increasing order",
        ));
    }
    Domain::Positive.check("huber_delta", params.huber_delta)?;
    let power = params.tweedie_power.unwrap_or(1.5);
    ParameterError::unless(
        power > 1.0 && power < 2.0,
        "tweedie_power",
        power,
        "between 1 and 2",
    )?;
    let quantile = params.quantile.as_ref().map(ToString::to_string);
    for (name, given, kind, reason) in [
        (
            "huber_delta",
            params.huber_delta.map(|v| v.to_string()),
            LossKind::Huber,
            "is for the loss huber",
        ),
        (
            "quantile",
            quantile,
            LossKind::Quantile,
            "is for the loss quantile",
        ),
        (
            "tweedie_power",
            params.tweedie_power.map(|v| v.to_string()),
            LossKind::Tweedie,
            "is for the loss tweedie",
        ),
    ] {
        if let Some(given) = given.filter(|_| !kinds.contains(&kind)) {
            return Err(ParameterError::conflict(name, given, reason));
        }
    }
    let shape = |&quantile: &f64| LossShape {
        huber_delta: params.huber_delta.unwrap_or(1.0),
        quantile,
        tweedie_power: power,
    };
    Ok(levels.iter().map(shape).collect())
}

/// Returns the projection, if the algorithm has one.
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
    // Refuses 0 components, whatever the number of outputs.
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
