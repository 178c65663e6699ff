//! Growing the trees of a step.

use super::choices::Algorithm;
use super::features::{Coded, Features};
use super::helpers;
use super::resolved::Resolved;
use super::state::LeafIndex;
use super::target::Target;
use crate::error::EnsembleError;
use ndarray::Array2;
use rand::seq::index;
use rayon::prelude::*;
use rpo_core::{MatrixView, Seed};
use rpo_tree::criterion::{Criterion, CriterionVisitor, Curvature, Impurity, LeafPenalty, SecondOrder};
use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, SplitTargets};
use rpo_tree::splitter::{AxisParams, AxisSplitter, CategoryTargets, Splitter};
use rpo_tree::{
    AxisRule, GrowParams, Grown, RankedFeatures, Structure, Team, grow, grow_together, undivided,
};

/// A tree that has grown, with what its step needs.
pub(super) struct GrownTree {
    pub(super) structure: Structure<AxisRule>,
    /// The leaf of each sample.
    pub(super) leaves: LeafIndex,
    /// The gains of splits, in preorder, in the unit of those of the model.
    pub(super) gains: Vec<f64>,
    /// The values of the leaves, for Algorithm 3.
    pub(super) values: Vec<f64>,
}

/// The data shared by the trees of a step.
#[derive(Clone, Copy)]
pub(super) struct Trees<'t> {
    pub(super) params: &'t Resolved,
    pub(super) features: &'t Features<'t>,
    /// One weight per sample.
    pub(super) weights: &'t [f32],
    /// The mean weight of the outputs of each sample, for Algorithm 3; empty if all are 1.
    pub(super) mean_weights: &'t [f32],
    /// Whether some outputs have no weight, as missing ones. A node may then have rows that count for nothing, of which its
    /// split does not know where the rule of the tree will send them.
    pub(super) has_missing: bool,
    /// Whether all trees grow one after the other, unless they [grow ahead](super::ahead).
    pub(super) in_turn: bool,
}

impl Trees<'_> {
    /// Largest number of trees that grow together, sharing a pass over their roots.
    pub(super) const TOGETHER: usize = 8;

    /// Grows a tree on each target with the seed given for it, all on the same samples.
    pub(super) fn grow(
        &self,
        targets: &[(&Target, Seed)],
        rows: &[u32],
    ) -> Result<Vec<Grown<AxisRule>>, EnsembleError> {
        match &self.features.coded {
            Coded::Ranked(columns) => targets
                .par_iter()
                .map(|(target, seed)| self.on_values(columns, target, rows.to_vec(), *seed))
                .collect(),
            Coded::Binned(columns) => {
                let splitters = targets
                    .par_iter()
                    .map(|(target, _)| self.splitter(columns, target));
                let mut splitters = splitters.collect::<Result<Vec<_>, EnsembleError>>()?;
                HistogramSplitter::share_root(&mut splitters, rows);
                let n_threads = if self.in_turn && self.are_large() {
                    helpers::n_helpers() + 1
                } else {
                    1
                };
                let trees = splitters.par_iter().zip(targets);
                trees
                    .map(|(splitter, (_, seed))| self.on_bins(splitter, rows.to_vec(), n_threads, *seed))
                    .collect()
            }
        }
    }

    /// Grows a tree at the same time as others: on one thread, if there are at least as many trees as threads.
    pub(super) fn grow_beside(
        &self,
        target: &Target,
        seed: Seed,
        are_enough: bool,
    ) -> Result<GrownTree, EnsembleError> {
        let rows = self.rows(seed);
        let grow = || match &self.features.coded {
            Coded::Binned(columns) => self.on_bins(&self.splitter(columns, target)?, rows, 1, seed),
            Coded::Ranked(columns) => self.on_values(columns, target, rows, seed),
        };
        let grown = match are_enough {
            true => undivided(grow),
            false => grow(),
        };
        Ok(self.complete(grown?, target, 1.0))
    }

    /// Finds the leaves of all samples, and brings gains to the unit of the model's.
    pub(super) fn complete(&self, grown: Grown<AxisRule>, target: &Target, gain_unit: f64) -> GrownTree {
        let by_rules = self.params.subsample < 1.0 || self.has_missing;
        let leaves = LeafIndex::new(&grown, self.features, by_rules);
        let unit = gain_unit / target.unit();
        let splits = grown.structure.splits();
        let gains = splits.map(|(node, _)| grown.gains[node] * unit).collect();
        let values = match self.params.algorithm {
            Algorithm::GbrtRpo => target.leaf_values(&leaves, self.weights, self.mean_weights),
            _ => Vec::new(),
        };
        GrownTree {
            structure: grown.structure,
            leaves,
            gains,
            values,
        }
    }

    /// Returns whether trees have so many nodes that threads open different ones at the same time. With few, nodes that
    /// take longer than others leave threads waiting.
    fn are_large(&self) -> bool {
        self.params.grow.max_leaves.is_some_and(|most| most >= 16)
    }

    /// Draws the samples that trees grow on.
    pub(super) fn rows(&self, seed: Seed) -> Vec<u32> {
        let rows: Vec<u32> = (0..self.weights.len() as u32)
            .filter(|&i| self.weights[i as usize] > 0.0)
            .collect();
        if self.params.subsample == 1.0 {
            return rows;
        }
        let amount = ((self.params.subsample * rows.len() as f64) as usize).max(1);
        let mut is_drawn = vec![false; rows.len()];
        for place in index::sample(&mut seed.purpose("subsample").rng(), rows.len(), amount) {
            is_drawn[place] = true;
        }
        // Without a branch, which would be mispredicted for half of the samples.
        let (mut drawn, mut n) = (vec![0; amount + 1], 0);
        for (&row, is_drawn) in rows.iter().zip(is_drawn) {
            drawn[n] = row;
            n += usize::from(is_drawn);
        }
        drawn.truncate(n);
        drawn
    }

    fn axis(&self, target: &Target) -> AxisParams {
        AxisParams {
            max_features: Some(self.params.max_features.resolve(self.features.x().n_cols())),
            min_samples_leaf: self.params.min_samples_leaf,
            min_gain: self.params.min_split_gain * target.unit(),
            category_smoothing: self.params.category_smoothing,
            min_category_count: self.params.min_category_count,
            ..AxisParams::default()
        }
    }

    fn splitter<'s>(
        &'s self,
        columns: &'s BinnedFeatures,
        target: &'s Target,
    ) -> Result<HistogramSplitter<'s>, EnsembleError> {
        let weights = self.weights;
        let targets = match target {
            Target::Variance { z, observed, .. } => SplitTargets {
                gradients: z.view(),
                curvature: curvature(observed.as_ref()),
                weights,
                ..SplitTargets::default()
            },
            Target::SecondOrder(target) => SplitTargets {
                gradients: target.gradients.view(),
                curvature: target.curvature(),
                weights,
                penalties: &target.penalties,
                min_child_weight: target.min_child_weight,
            },
        };
        Ok(HistogramSplitter::new(columns, targets, self.axis(target))?)
    }

    fn on_bins(
        &self,
        splitter: &HistogramSplitter<'_>,
        rows: Vec<u32>,
        n_threads: usize,
        seed: Seed,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        let team = || Team::new(n_threads, helpers::may_help);
        self.features.with_team(team, |team| {
            let seed = seed.purpose("grow");
            Ok(grow_together(splitter, team, rows, &self.params.grow, seed)?)
        })
    }

    fn on_values(
        &self,
        columns: &RankedFeatures,
        target: &Target,
        rows: Vec<u32>,
        seed: Seed,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        let (axis, weights) = (self.axis(target), self.weights);
        let growth = |targets, curvatures| Growth {
            grow: &self.params.grow,
            columns,
            targets: CategoryTargets {
                targets,
                weights,
                curvatures,
            },
            axis,
            rows,
            seed,
        };
        match target {
            Target::Variance {
                z, observed: None, ..
            } => {
                let targets = MatrixView::from(z);
                Impurity::Variance(targets).visit(weights, growth(targets, None))
            }
            Target::Variance { z, observed, .. } => {
                let curvature = curvature(observed.as_ref());
                let penalties = vec![LeafPenalty::default(); z.ncols()];
                let criterion = SecondOrder::new(z.view(), curvature, weights, penalties, 0.0);
                growth(z.into(), observed.as_ref().and_then(Array2::as_slice)).visit(criterion)
            }
            Target::SecondOrder(target) => {
                let criterion = SecondOrder::new(
                    target.gradients.view(),
                    target.curvature(),
                    weights,
                    target.penalties.clone(),
                    target.min_child_weight,
                );
                let curvatures = match target.curvature() {
                    Curvature::Constant => None,
                    Curvature::Each(h) => h.to_slice(),
                };
                growth((&target.gradients).into(), curvatures).visit(criterion)
            }
        }
    }
}

fn curvature(observed: Option<&Array2<f32>>) -> Curvature<'_> {
    observed.map_or(Curvature::Constant, |h| Curvature::Each(h.view()))
}

/// Visitor that grows a tree by the visited criterion.
struct Growth<'s> {
    grow: &'s GrowParams,
    columns: &'s RankedFeatures,
    targets: CategoryTargets<'s>,
    axis: AxisParams,
    rows: Vec<u32>,
    seed: Seed,
}

impl CriterionVisitor for Growth<'_> {
    type Output = Result<Grown<AxisRule>, EnsembleError>;

    fn visit<C: Criterion + Sync>(self, criterion: C) -> Self::Output {
        let splitter = AxisSplitter::new(self.columns, criterion, self.axis)?;
        let splitter = splitter.with_category_targets(self.targets)?;
        let (mut workspace, seed) = (splitter.workspace(), self.seed.purpose("grow"));
        Ok(grow(&splitter, &mut workspace, self.rows, self.grow, seed)?)
    }
}
