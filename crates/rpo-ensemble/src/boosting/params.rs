//! Parameters of boosting: a builder, and the checked value that fits.

use super::choices::{Algorithm, LeafStorage, LineSearch, StepScope, TrainingForm};
use super::loss::{Loss, LossKind};
use crate::error::EnsembleError;
use crate::inference::mean::DEFAULT_BUDGET;
use crate::projection::{OutputProjection, ProjectionScope};
use crate::sampling::max_features::MaxFeatures;
use rpo_core::{ParameterError, Seed, check_count, check_fraction};
use rpo_projections::{Components, Projection, ProjectionKind};
use rpo_tree::GrowParams;
use std::sync::Arc;

/// A loss of this crate or of the caller.
#[derive(Debug, Clone)]
pub(crate) enum LossChoice {
    Kind(LossKind),
    Custom(Arc<dyn Loss>),
}

impl LossChoice {
    pub(crate) fn loss(&self) -> &dyn Loss {
        match self {
            Self::Kind(kind) => kind.loss(),
            Self::Custom(loss) => loss.as_ref(),
        }
    }

    pub(crate) fn is(&self, kind: LossKind) -> bool {
        matches!(self, Self::Kind(k) if *k == kind)
    }
}

/// Parameters of boosting. Start from the algorithm, set what differs, then [`check`](Self::check) and fit.
#[derive(Debug, Clone)]
pub struct BoostingParams {
    pub(crate) algorithm: Algorithm,
    pub(crate) loss: LossChoice,
    pub(crate) iterations: usize,
    pub(crate) learning_rate: f64,
    pub(crate) max_features: MaxFeatures,
    pub(crate) grow: GrowParams,
    pub(crate) min_samples_leaf: usize,
    pub(crate) subsample: f64,
    pub(crate) projection: Option<OutputProjection>,
    pub(crate) line_search: LineSearch,
    pub(crate) scope: StepScope,
    pub(crate) leaf_storage: LeafStorage,
    pub(crate) form: TrainingForm,
    pub(crate) memory_budget: usize,
    pub(crate) seed: Seed,
}

impl BoostingParams {
    /// Defaults for an algorithm: the square loss, 100 steps at a learning rate of 0.1, trees of at most 8 leaves
    /// on all features, all rows; one Gaussian projection per step where the algorithm projects (the paper's
    /// best on average); seed 0.
    pub fn new(algorithm: Algorithm) -> Self {
        let gaussian = || OutputProjection::new(ProjectionKind::Gaussian, Components::Exact(1));
        Self {
            algorithm,
            loss: LossChoice::Kind(LossKind::Square),
            iterations: 100,
            learning_rate: 0.1,
            max_features: MaxFeatures::All,
            grow: GrowParams {
                max_leaves: Some(8),
                ..GrowParams::default()
            },
            min_samples_leaf: 1,
            subsample: 1.0,
            projection: algorithm.projects().then(gaussian),
            line_search: LineSearch::Exact,
            scope: StepScope::Output,
            leaf_storage: LeafStorage::Dense,
            form: TrainingForm::Auto,
            memory_budget: DEFAULT_BUDGET,
            seed: Seed::new(0),
        }
    }

    /// Algorithm 1 for each output: [`Algorithm::SingleTarget`].
    pub fn single_target() -> Self {
        Self::new(Algorithm::SingleTarget)
    }

    /// Algorithm 2: [`Algorithm::Gbmort`].
    pub fn gbmort() -> Self {
        Self::new(Algorithm::Gbmort)
    }

    /// Algorithm 3: [`Algorithm::GbrtRpo`].
    pub fn gbrt_rpo() -> Self {
        Self::new(Algorithm::GbrtRpo)
    }

    /// Algorithm 4: [`Algorithm::GbrtRelabelRpo`], the paper's best on multi-label sets.
    pub fn gbrt_relabel_rpo() -> Self {
        Self::new(Algorithm::GbrtRelabelRpo)
    }

    /// The loss. Default square.
    #[must_use]
    pub fn loss(self, loss: LossKind) -> Self {
        Self {
            loss: LossChoice::Kind(loss),
            ..self
        }
    }

    /// A loss of one's own.
    #[must_use]
    pub fn custom_loss(self, loss: Arc<dyn Loss>) -> Self {
        Self {
            loss: LossChoice::Custom(loss),
            ..self
        }
    }

    /// Number of steps M, at least 1. Default 100. Boosting overfits in the end: use a validation set.
    #[must_use]
    pub fn iterations(self, iterations: usize) -> Self {
        Self { iterations, ..self }
    }

    /// Learning rate μ in (0, 1], by which every step is shortened. Default 0.1; the paper tries 0.01 to 1.
    #[must_use]
    pub fn learning_rate(self, learning_rate: f64) -> Self {
        Self {
            learning_rate,
            ..self
        }
    }

    /// Features drawn per node, anew at every node. Default all.
    #[must_use]
    pub fn max_features(self, max_features: MaxFeatures) -> Self {
        Self { max_features, ..self }
    }

    /// Largest number of leaves of a tree, at least 1; trees then grow best-first. Default 8, the largest the
    /// paper tries; 2 are stumps. `None` grows fully, depth-first.
    #[must_use]
    pub fn max_leaves(mut self, max_leaves: Option<usize>) -> Self {
        self.grow.max_leaves = max_leaves;
        self
    }

    /// Largest depth of a leaf; the root has depth 0. Default none.
    #[must_use]
    pub fn max_depth(mut self, max_depth: Option<u32>) -> Self {
        self.grow.max_depth = max_depth;
        self
    }

    /// Fewest distinct rows of a node that is split; below 2 means 2. Default 2.
    #[must_use]
    pub fn min_samples_split(mut self, min_samples_split: usize) -> Self {
        self.grow.min_samples_split = min_samples_split;
        self
    }

    /// Fewest distinct rows of a leaf, at least 1. Default 1.
    #[must_use]
    pub fn min_samples_leaf(self, min_samples_leaf: usize) -> Self {
        Self {
            min_samples_leaf,
            ..self
        }
    }

    /// Share of the rows, in (0, 1], that each tree grows on, drawn anew without replacement. Default 1: all, as
    /// in the paper. Leaves are labelled and steps found with all rows, so that the training loss falls all the
    /// same (Friedman's stochastic boosting, 2002, uses the drawn rows for both).
    #[must_use]
    pub fn subsample(self, subsample: f64) -> Self {
        Self { subsample, ..self }
    }

    /// The projection drawn for each step, for the algorithms that project: a family, and how many components q
    /// (1 for Algorithm 3). Default one Gaussian. Learned families see the outputs, not the residuals.
    #[must_use]
    pub fn projection(self, family: ProjectionKind, components: Components) -> Self {
        self.custom_projection(Arc::new(family), components)
    }

    /// A projection family of one's own. It is asked once per step, in order (more often where it gives 0), or
    /// once if steps [share](Self::projection_scope) it.
    #[must_use]
    pub fn custom_projection(self, family: Arc<dyn Projection>, components: Components) -> Self {
        Self {
            projection: Some(OutputProjection {
                family,
                components,
                scope: ProjectionScope::Tree,
            }),
            ..self
        }
    }

    /// Whether every step draws a projection, the default of random ones and the paper's way, or all steps share the one
    /// drawn before the first: for learned families, whose directions are worth keeping and cost more than a step. For a
    /// projection already set; nothing without one.
    ///
    /// Residuals in directions that no projection of a model has are never grown on: share as many components as the
    /// outputs need; Algorithm 3, which has one, shares none.
    #[must_use]
    pub fn projection_scope(mut self, scope: ProjectionScope) -> Self {
        if let Some(projection) = &mut self.projection {
            projection.scope = scope;
        }
        self
    }

    /// The same with another family around that of the projection, to watch it at work; nothing without one.
    #[must_use]
    pub fn map_projection(mut self, wrap: impl FnOnce(Arc<dyn Projection>) -> Arc<dyn Projection>) -> Self {
        if let Some(projection) = &mut self.projection {
            projection.family = wrap(Arc::clone(&projection.family));
        }
        self
    }

    /// How the length of a step is found. Default exact.
    #[must_use]
    pub fn line_search(self, line_search: LineSearch) -> Self {
        Self { line_search, ..self }
    }

    /// What has a step length of its own. Default every output.
    #[must_use]
    pub fn step_scope(self, scope: StepScope) -> Self {
        Self { scope, ..self }
    }

    /// How leaf vectors are stored. Default dense.
    #[must_use]
    pub fn leaf_storage(self, leaf_storage: LeafStorage) -> Self {
        Self { leaf_storage, ..self }
    }

    /// The form of the training scores. Default whichever costs least.
    #[must_use]
    pub fn training_form(self, form: TrainingForm) -> Self {
        Self { form, ..self }
    }

    /// Largest number of bytes of what grows with n x d while training. Default 4 GiB.
    #[must_use]
    pub fn memory_budget(self, memory_budget: usize) -> Self {
        Self {
            memory_budget,
            ..self
        }
    }

    /// The master seed. Default 0.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self {
            seed: Seed::new(seed),
            ..self
        }
    }

    /// Checks every parameter that can be checked without data.
    ///
    /// # Errors
    /// [`EnsembleError::Parameter`], [`EnsembleError::Tree`] or [`EnsembleError::Projection`] with the first
    /// parameter that is out of range or has no effect.
    pub fn check(self) -> Result<ValidBoostingParams, EnsembleError> {
        check_count("iterations", self.iterations)?;
        check_fraction("learning_rate", self.learning_rate)?;
        check_fraction("subsample", self.subsample)?;
        self.max_features.check()?;
        self.grow.check()?;
        check_count("min_samples_leaf", self.min_samples_leaf)?;
        self.check_projection()?;
        self.check_leaves()?;
        self.check_form()?;
        let newton = self.line_search == LineSearch::Newton;
        let fits = !newton || self.loss.loss().curvature(0.0, 0.0).is_some();
        ParameterError::unless(
            fits,
            "line_search",
            "newton",
            "exact for a loss without curvature",
        )?;
        Ok(ValidBoostingParams(self))
    }

    fn check_projection(&self) -> Result<(), EnsembleError> {
        let Some(projection) = &self.projection else {
            let fits = !self.algorithm.projects();
            return Ok(ParameterError::unless(
                fits,
                "projection",
                "none",
                "one for this algorithm",
            )?);
        };
        let fits = self.algorithm.projects();
        ParameterError::unless(fits, "projection", "one", "none for this algorithm")?;
        // Refuses 0 components whatever the number of outputs.
        projection.components.resolve(1)?;
        if self.algorithm == Algorithm::GbrtRpo {
            let components = projection.components;
            ParameterError::unless(
                components == Components::Exact(1),
                "components",
                components,
                "1 for gbrt-rpo",
            )?;
            let expected = "one per step for gbrt-rpo: a single direction would be all that is grown on";
            let fits = projection.scope != ProjectionScope::Shared;
            ParameterError::unless(fits, "projection_scope", "shared", expected)?;
        }
        Ok(())
    }

    fn check_leaves(&self) -> Result<(), ParameterError> {
        let of_leaves = self.scope == StepScope::Leaf;
        let fits = !of_leaves || self.algorithm != Algorithm::GbrtRpo;
        ParameterError::unless(fits, "step_scope", "leaf", "output for gbrt-rpo")?;
        let LeafStorage::Largest(k) = self.leaf_storage else {
            return Ok(());
        };
        ParameterError::unless(k > 0, "leaf_storage", "0 numbers per leaf", "at least 1")?;
        let fits = matches!(self.algorithm, Algorithm::Gbmort | Algorithm::GbrtRelabelRpo);
        let expected = "dense for algorithms without leaf vectors";
        ParameterError::unless(fits, "leaf_storage", format!("the {k} largest"), expected)
    }

    fn check_form(&self) -> Result<(), ParameterError> {
        let needs = match self.form {
            TrainingForm::Factored if !self.loss.is(LossKind::Square) => "the square loss for factored",
            TrainingForm::Odds if !self.loss.is(LossKind::Logistic) => "the logistic loss for odds",
            TrainingForm::Odds if self.scope == StepScope::Leaf && self.line_search == LineSearch::Exact => {
                "Newton steps for odds with a step per leaf"
            }
            TrainingForm::Factored | TrainingForm::Odds if self.algorithm == Algorithm::SingleTarget => {
                "scores for single targets"
            }
            _ => return Ok(()),
        };
        Err(ParameterError::out_of_range(
            "training_form",
            format!("{:?}", self.form),
            needs,
        ))
    }
}

/// Checked [`BoostingParams`], ready to [`fit`](Self::fit).
#[derive(Debug, Clone)]
pub struct ValidBoostingParams(pub(crate) BoostingParams);
