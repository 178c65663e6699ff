//! The boosting loop of one model: projects the residual, grows a tree, computes the step and applies it.

use super::ahead::{Group, following};
use super::choices::Algorithm;
use super::features::Features;
use super::loss::Objective;
use super::resolved::Resolved;
use super::state::{
    Coefficients, LeafIndex, Outputs, Pass, State, StepUpdate, check_memory, choose, keep_largest, narrow,
    target_bytes,
};
use super::step::{BoostingStep, StepValues};
use super::target::{ProjectedBy, Target};
use super::trees::{GrownTree, Trees};
use super::units;
use crate::error::EnsembleError;
use crate::projection::{OutputProjection, ProjectionScope};
use rayon::prelude::*;
use rpo_core::Seed;
use rpo_projections::ProjectionInput;
use rpo_tree::AxisRule;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Fits one additive model; single-target boosting runs one per output.
pub(super) struct Booster<'a> {
    pub(super) params: &'a Resolved,
    objective: &'a Objective,
    features: &'a Features<'a>,
    outputs: &'a Outputs<'a>,
    state: State<'a>,
    /// The seed of the random streams of this booster.
    pub(super) seed: Seed,
    /// For a booster of a single target.
    only: Option<Only>,
    /// Factors that bring the residuals of all outputs to a common unit for a tree.
    scales: Option<Vec<f32>>,
    /// The targets of the next trees, once they are computed: one, or one for each tree of a group. Before, targets whose
    /// memory is used again.
    pub(super) targets: Vec<Target>,
    /// Trees that grow ahead of their steps: those of the next steps, and of the steps after them.
    pub(super) growing: VecDeque<Arc<Group>>,
    /// The samples that the trees of the next step grow on, once they are drawn; of the first booster of a group.
    rows: Option<Vec<u32>>,
    /// The shared projection of all steps, once it is drawn.
    shared: OnceLock<Coefficients>,
    loss: f64,
}

/// The output of a booster of a single target.
#[derive(Clone, Copy)]
pub(super) struct Only {
    pub(super) output: u32,
    /// The number of all outputs.
    pub(super) n_outputs: usize,
    /// Factor that brings the gains of all outputs to a common unit.
    pub(super) gain_unit: f64,
}

/// Largest number of draws of a projection, which is drawn again while it is zero.
const MAX_DRAWS: u64 = 1000;

impl<'a> Booster<'a> {
    /// Creates the booster of outputs before its first step, with their constants ρ₀.
    pub(super) fn new(
        params: &'a Resolved,
        objective: &'a Objective,
        features: &'a Features<'a>,
        outputs: &'a Outputs<'a>,
        initial: &[f64],
        seed: Seed,
        only: Option<Only>,
    ) -> Result<Self, EnsembleError> {
        let by_curvature = params.gains_by_curvature();
        let scales = units::factors(params.scale_outputs, by_curvature, objective, outputs, initial);
        Ok(Self {
            params,
            objective,
            features,
            outputs,
            state: choose(params, objective, outputs, initial)?,
            seed,
            only,
            scales,
            targets: Vec::new(),
            growing: VecDeque::new(),
            rows: None,
            shared: OnceLock::new(),
            loss: 0.0,
        })
    }

    /// Applies steps of a model to be continued.
    pub(super) fn replay<'s>(&mut self, steps: impl Iterator<Item = &'s BoostingStep<AxisRule>>) {
        for step in steps {
            let leaves = LeafIndex {
                of_row: self.features.leaves(&step.structure),
                n_leaves: step.structure.n_leaves(),
            };
            let update = StepUpdate::from_stored(&step.values);
            self.pass(Some((&leaves, &update)), &[]);
        }
    }

    /// Returns the current training loss, as a sum.
    pub(super) fn loss(&self) -> f64 {
        self.loss
    }

    /// Computes the targets of the trees of some steps, if there are any. Must be called before the first step.
    pub(super) fn prepare(&mut self, steps: Range<usize>) -> Result<(), EnsembleError> {
        if steps.is_empty() {
            return Ok(());
        }
        let phis = self.coefficients_of(steps)?;
        if self.params.projection.is_some() {
            let n_components = phis.iter().map(Coefficients::n_components).sum::<usize>();
            // With trees ahead, of those that grow and of those after them.
            let n_sets = if self.params.ahead() > 0 { 2 } else { 1 };
            let bytes = target_bytes(self.params, self.outputs);
            check_memory(
                self.params.memory_limit,
                self.outputs.n_rows(),
                n_components.saturating_mul(n_sets),
                bytes,
            )?;
        }
        self.pass(None, &phis);
        Ok(())
    }

    /// Returns what the trees of this booster have in common.
    pub(super) fn trees(&self) -> Trees<'a> {
        Trees {
            params: self.params,
            features: self.features,
            weights: self.outputs.weights,
            mean_weights: match self.params.algorithm {
                Algorithm::GbrtRpo => self.outputs.mean_weights(),
                _ => &[],
            },
            has_missing: !self.outputs.counts_all(),
            in_turn: self.only.is_none_or(|only| only.n_outputs == 1),
        }
    }

    /// Makes a step of each booster of a group that shares parameters, features and samples, in a fit that ends after
    /// `last` steps. Prepares the next step, if there is one.
    pub(super) fn step_together(
        group: &mut [Self],
        step: usize,
        last: usize,
    ) -> Result<Vec<BoostingStep<AxisRule>>, EnsembleError> {
        let drawn = group.first_mut().and_then(|first| first.rows.take());
        let Some(first) = group.first() else {
            return Ok(Vec::new());
        };
        if !group.iter().flat_map(|b| &b.targets).all(Target::is_finite) {
            return Err(EnsembleError::Diverged { step });
        }
        let trees = first.trees();
        let targets = group.iter().map(|b| (&b.targets[0], step_seed(b.seed, step)));
        let targets: Vec<_> = targets.collect();
        let rows_of = |step| trees.rows(step_seed(first.params.seed, step));
        let rows = drawn.unwrap_or_else(|| rows_of(step));
        let next_step = following(step + 1, 1, last);
        let next = |booster: &Self| booster.coefficients_of(next_step.clone());
        let (grown, (next, next_rows)) = rayon::join(
            // All trees grow on the same samples, so they share a pass over their roots.
            || trees.grow(&targets, &rows),
            || {
                let next = group.iter().map(next).collect::<Result<Vec<_>, EnsembleError>>();
                (next, next_step.clone().next().map(rows_of))
            },
        );
        group[0].rows = next_rows;
        let steps = group.par_iter_mut().zip(grown?).zip(next?);
        steps
            .map(|((booster, grown), next)| {
                let gain_unit = booster.only.map_or(1.0, |only| only.gain_unit);
                let tree = trees.complete(grown, &booster.targets[0], gain_unit);
                booster.step(tree, step, &next)
            })
            .collect()
    }

    /// Makes a step from a grown tree. Computes the targets of the next trees if their projections `next` are given.
    pub(super) fn step(
        &mut self,
        tree: GrownTree,
        step: usize,
        next: &[Coefficients],
    ) -> Result<BoostingStep<AxisRule>, EnsembleError> {
        let GrownTree {
            structure,
            leaves,
            gains,
            values: of_leaves,
        } = tree;
        let rate = self.params.learning_rate;
        let update = if self.params.algorithm == Algorithm::GbrtRpo {
            let (g, factor) = ordinary(of_leaves);
            let steps = self.state.scalar_steps(&leaves, &g, &self.units(factor));
            StepUpdate::Product {
                leaves: g,
                outputs: steps.into_iter().map(|rho| rate * rho).collect(),
            }
        } else {
            StepUpdate::Vectors(self.state.vector_steps(&leaves) * rate)
        };
        let (update, values) = self.store(update);
        if !values.is_finite() {
            return Err(EnsembleError::Diverged { step });
        }
        self.pass(Some((&leaves, &update)), next);
        Ok(BoostingStep {
            structure,
            values,
            gains,
        })
    }

    /// Returns, for each output, the factor from the unit of its residuals to that of leaf values of
    /// [`ordinary`] size: that of the scaled outputs, reduced where the values were.
    fn units(&self, factor: f64) -> Vec<f64> {
        let scale = |output: usize| {
            self.scales
                .as_ref()
                .map_or(1.0, |scales| f64::from(scales[output]))
        };
        let units = (0..self.outputs.n_outputs()).map(|output| factor.min(1.0) * scale(output));
        units.collect()
    }

    /// Converts an update to the values that the model stores. The returned update lacks the numbers that are not
    /// stored.
    fn store(&self, update: StepUpdate) -> (StepUpdate, StepValues) {
        match (update, self.only, self.params.leaf_values) {
            (StepUpdate::Vectors(values), Some(only), _) => {
                let leaves = narrow(values.column(0));
                let stored = StepValues::Single {
                    leaves,
                    output: only.output,
                    n_outputs: only.n_outputs,
                };
                (StepUpdate::Vectors(values), stored)
            }
            (StepUpdate::Vectors(mut values), None, Some(k)) => {
                let stored = StepValues::Sparse(keep_largest(&mut values, k));
                (StepUpdate::Vectors(values), stored)
            }
            (update, ..) => {
                let stored = update.to_stored();
                (update, stored)
            }
        }
    }

    /// Passes over the training set: applies an update, and computes the targets of the next trees if their projections
    /// `phis` are given.
    fn pass(&mut self, update: Option<(&LeafIndex, &StepUpdate)>, phis: &[Coefficients]) {
        if phis.is_empty() {
            self.loss = self.state.run::<f32>(Pass {
                update,
                next: Vec::new(),
            });
            return;
        }
        (self.targets, self.loss) = Target::after(
            std::mem::take(&mut self.targets),
            update,
            &mut self.state,
            ProjectedBy {
                phis,
                scales: self.scales.as_deref(),
            },
            self.params,
            self.objective,
            self.outputs,
        );
    }

    /// Returns the projections of some steps: one for each, or one for all if they have the same.
    pub(super) fn coefficients_of(
        &self,
        mut steps: Range<usize>,
    ) -> Result<Vec<Coefficients>, EnsembleError> {
        if !self.params.draws_projections {
            steps.end = steps.end.min(steps.start + 1);
        }
        steps.map(|step| self.coefficients(step)).collect()
    }

    /// Returns the projection of a step.
    fn coefficients(&self, step: usize) -> Result<Coefficients, EnsembleError> {
        let n_outputs = self.outputs.n_outputs();
        match &self.params.projection {
            None => Ok(Coefficients::Identity { n_outputs }),
            Some(projection) if projection.scope == ProjectionScope::Shared => {
                if let Some(shared) = self.shared.get() {
                    return Ok(shared.clone());
                }
                let drawn = self.draw(projection, self.seed, step)?;
                Ok(self.shared.get_or_init(|| drawn).clone())
            }
            Some(projection) => self.draw(projection, step_seed(self.seed, step), step),
        }
    }

    /// Draws a projection. A zero projection, which sparse families may return, is drawn again.
    fn draw(
        &self,
        projection: &OutputProjection,
        seed: Seed,
        step: usize,
    ) -> Result<Coefficients, EnsembleError> {
        let seed = seed.purpose("projection");
        let data = ProjectionInput {
            features: Some(self.features.x()),
            outputs: self.outputs.y.reborrow(),
            weights: Some(self.outputs.weights),
        };
        for draw in 0..MAX_DRAWS {
            let map = projection.fit(data, seed.child(draw), self.params.memory_limit)?;
            let phi = Coefficients::of(map.as_ref())?;
            if !phi.is_zero() {
                return Ok(phi);
            }
        }
        Err(EnsembleError::ZeroProjection { step })
    }
}

/// Returns the seed of a step.
pub(super) fn step_seed(seed: Seed, step: usize) -> Seed {
    seed.purpose("boosting step").child(step as u64)
}

/// Returns numbers of ordinary size unchanged, and others multiplied by the power of 2 that moves the largest into [1,
/// 2), with this factor. Only products of these numbers with steps matter. If residuals have all but vanished, as for
/// labels that are the same in all samples, the steps would otherwise leave the range of `f32`.
fn ordinary(mut g: Vec<f64>) -> (Vec<f64>, f64) {
    let mut factor = 1.0;
    let largest = g.iter().fold(0.0_f64, |max, v| max.max(v.abs()));
    if largest > 0.0 && !(1e-20..1e20).contains(&largest) {
        let exponent = (largest.to_bits() >> 52).clamp(23, 2023);
        factor = f64::from_bits((2046 - exponent) << 52);
        g.iter_mut().for_each(|v| *v *= factor);
    }
    (g, factor)
}
