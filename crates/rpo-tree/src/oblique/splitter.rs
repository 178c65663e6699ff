//! Splitting nodes by hyperplanes.

use super::gather::{Features, NodeDesign};
use super::hellinger::HellingerParams;
use super::logistic::{ObliqueLogisticParams, logistic_regression};
use super::rule::{LinearRule, ObliqueRule};
use super::two_stage::two_stage;
use crate::TreeError;
use crate::criterion::information_gain;
use crate::splitter::{BinarySplitter, NodeRows, ProposedSplit};
use rpo_core::{Domain, Seed};

/// Learns hyperplanes for a binary problem.
pub trait Hyperplanes: Sync {
    /// Returns the weights of hyperplanes by column of the design, the preferred hyperplane first; returns none if the
    /// classes cannot be separated. `n_features` is the number of features that the tree uses, `seed` the seed of the
    /// node.
    fn learn(&self, design: &NodeDesign, positive: &[bool], n_features: usize, seed: Seed) -> Vec<Vec<f32>>;

    /// Largest absolute value of weights that may be set to 0.
    fn prune(&self) -> f64 {
        0.0
    }
}

impl Hyperplanes for HellingerParams {
    fn learn(&self, design: &NodeDesign, positive: &[bool], n_features: usize, seed: Seed) -> Vec<Vec<f32>> {
        two_stage(design, positive, self, n_features, seed)
    }

    fn prune(&self) -> f64 {
        self.prune
    }
}

impl Hyperplanes for ObliqueLogisticParams {
    fn learn(&self, design: &NodeDesign, positive: &[bool], _: usize, _: Seed) -> Vec<Vec<f32>> {
        vec![logistic_regression(design, positive, self)]
    }
}

/// Splits a node by the first hyperplane that leaves enough rows in both children.
#[derive(Debug)]
pub struct ObliqueSplitter<'a, 'x, H> {
    features: &'a Features<'x>,
    subset: &'a [u32],
    hyperplanes: H,
    min_samples_leaf: usize,
}

impl<'a, 'x, H: Hyperplanes> ObliqueSplitter<'a, 'x, H> {
    /// Takes the features, the subset of them that the tree uses, the method that learns hyperplanes, and the fewest
    /// samples of a child.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] if a child may have no samples and for features that are not increasing;
    /// [`TreeError::TooFew`] for a feature that does not exist.
    pub fn new(
        features: &'a Features<'x>,
        subset: &'a [u32],
        hyperplanes: H,
        min_samples_leaf: usize,
    ) -> Result<Self, TreeError> {
        crate::splitter::check_subset(subset, features.n_features())?;
        Domain::Count.check("min_samples_leaf", min_samples_leaf)?;
        Ok(Self {
            features,
            subset,
            hyperplanes,
            min_samples_leaf,
        })
    }

    /// Writes the children chosen by a rule; returns true if both are large enough.
    fn route(&self, rule: &ObliqueRule, rows: &[u32], spread: &mut Vec<f32>, children: &mut [u16]) -> bool {
        let mut n_right = 0;
        self.features.for_each_row(rows, spread, |i, values| {
            children[i] = u16::from(rule.margin(values) >= 0.0);
            n_right += usize::from(children[i]);
        });
        n_right.min(rows.len() - n_right) >= self.min_samples_leaf
    }
}

/// Number of pruning thresholds tried, each half the previous one.
const PRUNINGS: i32 = 4;

impl<H: Hyperplanes> BinarySplitter for ObliqueSplitter<'_, '_, H> {
    type Rule = LinearRule;
    /// The node's matrix, a buffer for an expanded row, and the children of a trial.
    type Workspace = (NodeDesign, Vec<f32>, Vec<u16>);

    fn workspace(&self) -> Self::Workspace {
        (
            NodeDesign::new(self.features, self.subset),
            Vec::new(),
            Vec::new(),
        )
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        positive: &[bool],
        (design, spread, trial): &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<LinearRule>> {
        if node.rows.len() / 2 < self.min_samples_leaf
            || !design.gather(self.features, self.subset, node.rows)
        {
            return None;
        }
        let found = self
            .hyperplanes
            .learn(design, positive, self.subset.len(), node.seed);
        for weights in found {
            let Some(whole) = design.rule(self.features, &weights, 0.0) else {
                continue;
            };
            if !self.route(&whole, node.rows, spread, children) {
                continue;
            }
            trial.clear();
            trial.resize(children.len(), 0);
            let sizes = (0..PRUNINGS).map(|k| self.hyperplanes.prune() / f64::from(1 << k));
            let pruned = sizes.filter(|size| *size > 0.0).find_map(|size| {
                let rule = design.rule(self.features, &weights, size as f32)?;
                self.route(&rule, node.rows, spread, trial);
                (trial == children).then_some(rule)
            });
            return Some(ProposedSplit {
                rule: LinearRule::Oblique(pruned.unwrap_or(whole)),
                gain: information_gain(positive, children),
            });
        }
        None
    }
}
