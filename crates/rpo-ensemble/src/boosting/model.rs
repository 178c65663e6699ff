//! The fitted model.

use super::link::{LinkBlock, Links};
use super::routing::WIDE;
use super::step::{BoostingStep, StepValues};
use crate::error::EnsembleError;
use crate::forest::check_rules;
use crate::inference::traversal::{LazyTraversal, Traversal};
use crate::inputs::check_some_outputs;
use rpo_core::{FeatureImportances, Mismatch, TreeEnsemble};
use rpo_tree::{AxisRule, LeafModel};
use std::collections::BTreeMap;

/// A boosted model f(x) = ρ₀ + Σ_m v_m(leaf of x in tree m). f has d scores, which [links](LinkBlock) convert to
/// predictions.
///
/// Leaf values include the learning rate. A step is one tree or, with single targets, one tree per output. A model can
/// be truncated after any step.
#[derive(Debug, Clone, PartialEq)]
pub struct Boosted {
    pub(super) initial: Vec<f64>,
    trees: Vec<BoostingStep<AxisRule>>,
    trees_per_step: usize,
    pub(super) links: Links,
    pub(super) n_features: usize,
    pub(super) n_train: usize,
    traversal: LazyTraversal,
}

/// Trees are ordered by step.
impl TreeEnsemble for Boosted {
    type Tree = BoostingStep<AxisRule>;

    fn trees(&self) -> &[BoostingStep<AxisRule>] {
        &self.trees
    }
}

/// Gain importances: the gains of the splits on a feature ([`gains`](BoostingStep::gains)), summed over all trees. With
/// Newton steps per leaf, the default, gains are twice the decrease of the penalized second-order approximation of the
/// loss, otherwise the decrease of the squared residuals.
///
/// Trees are weighted by their gains (Friedman 2001, section 8.1), unlike those of a [`Forest`](crate::Forest), which
/// have equal weight, because late steps are fitted to small residuals. Gains are those of the projected residuals, per
/// unit of the projection, so that its scale does not matter. For the square loss they are in units of the variances of
/// the outputs, where trees that outputs share split in these units, and where each output has its own trees.
impl FeatureImportances for Boosted {
    fn importances(&self) -> Vec<(u32, f64)> {
        let mut sums = BTreeMap::<u32, f64>::new();
        for tree in &self.trees {
            for ((_, rule), gain) in tree.structure.splits().zip(&tree.gains) {
                *sums.entry(rule.test().feature).or_default() += gain;
            }
        }
        let total: f64 = sums.values().sum();
        let scale = |sum: f64| if total > 0.0 { sum / total } else { sum };
        sums.into_iter()
            .map(|(feature, sum)| (feature, scale(sum)))
            .collect()
    }
}

impl Boosted {
    /// Assembles a model from its parts: ρ₀ for each output, the trees step by step (one per step, or one per output), the
    /// links, and the numbers of features p and training samples n.
    ///
    /// # Errors
    /// [`EnsembleError::NoOutputs`]; [`EnsembleError::Mismatch`] or [`EnsembleError::TooFew`] if the links or a tree do not
    /// match the numbers of leaves, features or outputs, or the trees do not form whole steps;
    /// [`EnsembleError::Diverged`] for a number that is not finite, or a negative gain.
    pub(super) fn from_parts(
        initial: Vec<f64>,
        mut trees: Vec<BoostingStep<AxisRule>>,
        trees_per_step: usize,
        links: Vec<LinkBlock>,
        n_features: usize,
        n_train: usize,
    ) -> Result<Self, EnsembleError> {
        let n_outputs = initial.len();
        check_some_outputs(n_outputs)?;
        let links = Links::new(links, n_outputs)?;
        let may_be_one = trees
            .iter()
            .all(|tree| !matches!(tree.values, StepValues::Single { .. }));
        if !(trees_per_step == 1 && may_be_one) {
            Mismatch::check("trees of a step", n_outputs, trees_per_step)?;
        }
        let whole_steps = trees.len().next_multiple_of(trees_per_step);
        Mismatch::check("trees of whole steps", whole_steps, trees.len())?;
        if initial.iter().any(|v| !v.is_finite()) {
            return Err(EnsembleError::Diverged { step: 0 });
        }
        for (i, tree) in trees.iter_mut().enumerate() {
            tree.values.lay_out();
            let leaves = tree.structure.n_leaves();
            Mismatch::check("leaves of a tree with values", leaves, tree.values.n_leaves())?;
            let given = match &tree.values {
                StepValues::Single {
                    output, n_outputs, ..
                } => (*n_outputs).max(*output as usize + 1),
                values => values.n_outputs(),
            };
            Mismatch::check("outputs of a tree", n_outputs, given)?;
            let splits = tree.structure.nodes().len() - leaves;
            Mismatch::check("splits of a tree with gains", splits, tree.gains.len())?;
            if !tree.values.is_finite() || tree.gains.iter().any(|g| !(0.0..f64::INFINITY).contains(g)) {
                return Err(EnsembleError::Diverged {
                    step: i / trees_per_step,
                });
            }
            check_rules(&tree.structure, n_features)?;
        }
        Ok(Self {
            initial,
            trees,
            trees_per_step,
            links,
            n_features,
            n_train,
            traversal: LazyTraversal::default(),
        })
    }

    /// Returns ρ₀, the scores before the first step.
    pub fn initial(&self) -> &[f64] {
        &self.initial
    }

    /// Returns the number of trees of a step: 1 or, with single targets, the number of outputs.
    pub(super) fn trees_per_step(&self) -> usize {
        self.trees_per_step
    }

    /// Returns the functions from scores to predictions, by consecutive outputs.
    pub fn links(&self) -> &[LinkBlock] {
        self.links.blocks()
    }

    /// Returns the number of steps M.
    pub fn n_steps(&self) -> usize {
        self.trees.len() / self.trees_per_step
    }

    /// Returns the model after its first `n_steps` steps, or the whole model if it has fewer steps.
    #[must_use]
    pub fn truncate(mut self, n_steps: usize) -> Self {
        self.trees.truncate(n_steps.saturating_mul(self.trees_per_step));
        self.traversal = LazyTraversal::default();
        self
    }

    /// Adds the trees of a step.
    pub(super) fn push(&mut self, trees: Vec<BoostingStep<AxisRule>>) {
        self.trees.extend(trees);
        self.traversal = LazyTraversal::default();
    }

    /// Returns a compact layout of the trees for predictions.
    pub(super) fn traversal(&self) -> &Traversal {
        self.traversal.get_or_make(|| {
            if self.n_features > WIDE {
                return Traversal::Rules;
            }
            let structures: Vec<_> = self.trees.iter().map(|tree| &tree.structure).collect();
            Traversal::new(&structures)
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/boosting_model.rs"]
mod tests;
