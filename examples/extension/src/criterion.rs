//! A custom criterion: variance that gives outputs of small variance more weight.

use crate::CustomForest;
use ndarray::ArrayView2;
use rpo::ModelError;
use rpo::core::{Domain, math};
use rpo::ensemble::{EnsembleError, Forest, Grower, TreeInput};
use rpo::tree::criterion::Criterion;
use rpo::tree::{AxisRule, Grown, Leaves};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Grows trees by variance, summed over outputs with weights that are a power of each output's variance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BalancedVariance {
    /// Exponent b of the weight v^-b of an output with variance v: 0 for equal weights, up to 1, for which rare labels
    /// count as much as frequent ones.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub balance: f64,
}

impl Default for BalancedVariance {
    fn default() -> Self {
        Self { balance: 1.0 }
    }
}

impl CustomForest for BalancedVariance {
    const NAME: &'static str = "balanced-forest";
    const KIND: &'static str = "forest";
    type Model = Forest;

    fn check(&self) -> Result<(), ModelError> {
        Ok(Domain::Probability.check("balance", self.balance)?)
    }
}

impl Grower for BalancedVariance {
    type Rule = AxisRule;
    type Leaves = Leaves;

    fn grow(&self, tree: &TreeInput<'_>) -> Result<Grown<AxisRule>, EnsembleError> {
        let targets = tree
            .targets()
            .to_dense(usize::MAX)
            .map_err(EnsembleError::Outputs)?;
        let variances = targets.mapv(f64::from).var_axis(ndarray::Axis(0), 0.0);
        let factor = |&v: &f64| {
            if v > 0.0 {
                math::powf(v, -self.balance)
            } else {
                0.0
            }
        };
        tree.grow_by(WeightedOutputs {
            targets: targets.view(),
            weights: tree.weights,
            factors: variances.iter().map(factor).collect(),
            all: Side::new(targets.ncols()),
            moved: Side::new(targets.ncols()),
            pure: false,
        })
    }

    fn label(&self, tree: &TreeInput<'_>, grown: &Grown<AxisRule>) -> Result<Leaves, EnsembleError> {
        tree.label(grown)
    }
}

/// Variance with a factor for each output: Σ_j f_j s_j² / w, summed over both sides, is the score.
#[derive(Clone)]
struct WeightedOutputs<'a> {
    targets: ArrayView2<'a, f32>,
    weights: &'a [f32],
    factors: Vec<f64>,
    all: Side,
    moved: Side,
    pure: bool,
}

/// The weight and the weighted sums s_j of some samples.
#[derive(Clone)]
struct Side {
    weight: f64,
    sums: Vec<f64>,
}

impl Side {
    fn new(n_outputs: usize) -> Self {
        Self {
            weight: 0.0,
            sums: vec![0.0; n_outputs],
        }
    }

    fn clear(&mut self) {
        self.weight = 0.0;
        self.sums.fill(0.0);
    }

    fn add(&mut self, weight: f32, targets: impl Iterator<Item = f32>) {
        self.weight += f64::from(weight);
        for (sum, target) in self.sums.iter_mut().zip(targets) {
            *sum += f64::from(weight) * f64::from(target);
        }
    }
}

impl WeightedOutputs<'_> {
    fn term(&self, weight: f64, sum: impl Fn(usize) -> f64) -> f64 {
        let squares = self.factors.iter().enumerate().map(|(j, f)| f * sum(j) * sum(j));
        squares.sum::<f64>() / weight
    }
}

impl Criterion for WeightedOutputs<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.all.clear();
        for &row in rows {
            let targets = self.targets.row(row as usize);
            self.all.add(self.weights[row as usize], targets.iter().copied());
        }
        let first = self.targets.row(rows[0] as usize);
        self.pure = rows.iter().all(|&row| self.targets.row(row as usize) == first);
        self.clear();
    }

    fn is_pure(&self) -> bool {
        self.pure
    }

    fn clear(&mut self) {
        self.moved.clear();
    }

    fn move_row(&mut self, row: u32) {
        let targets = self.targets.row(row as usize);
        self.moved
            .add(self.weights[row as usize], targets.iter().copied());
    }

    fn score(&self) -> f64 {
        let (all, moved) = (&self.all, &self.moved);
        let rest = self.term(all.weight - moved.weight, |j| all.sums[j] - moved.sums[j]);
        self.term(moved.weight, |j| moved.sums[j]) + rest
    }

    fn gain(&self, score: f64) -> f64 {
        (score - self.term(self.all.weight, |j| self.all.sums[j])).max(0.0)
    }
}
