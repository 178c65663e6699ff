//! Entropy of 0/1 labels, as an author of a method would add it from outside the crate.

use ndarray::ArrayView2;
use rpo_tree::criterion::Criterion;

/// Binary entropy in bits, summed over the labels. The score is minus the weighted entropy of the two sides.
#[derive(Debug, Clone)]
pub(crate) struct Entropy<'a> {
    labels: ArrayView2<'a, f32>,
    weights: &'a [f32],
    node: Side,
    moved: Side,
}

/// Weight, and weight of ones by label.
#[derive(Debug, Clone)]
struct Side {
    weight: f64,
    ones: Vec<f64>,
}

impl Side {
    fn empty(n_labels: usize) -> Self {
        Self {
            weight: 0.0,
            ones: vec![0.0; n_labels],
        }
    }

    fn clear(&mut self) {
        self.weight = 0.0;
        self.ones.fill(0.0);
    }

    /// Returns weight times entropy.
    fn spread(&self) -> f64 {
        self.ones.iter().map(|&ones| spread(ones, self.weight)).sum()
    }
}

/// Returns `weight` times the entropy in bits of a label that `ones` of the weight carry.
fn spread(ones: f64, weight: f64) -> f64 {
    let term = |part: f64| {
        if part > 0.0 {
            -part * (part / weight).log2()
        } else {
            0.0
        }
    };
    term(ones) + term(weight - ones)
}

impl<'a> Entropy<'a> {
    pub(crate) fn new(labels: ArrayView2<'a, f32>, weights: &'a [f32]) -> Self {
        let side = Side::empty(labels.ncols());
        Self {
            labels,
            weights,
            node: side.clone(),
            moved: side,
        }
    }
}

fn add(side: &mut Side, labels: &ArrayView2<'_, f32>, weights: &[f32], row: u32) {
    let weight = f64::from(weights[row as usize]);
    side.weight += weight;
    for (ones, &label) in side.ones.iter_mut().zip(labels.row(row as usize)) {
        *ones += weight * f64::from(label);
    }
}

impl Criterion for Entropy<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.node.clear();
        self.moved.clear();
        for &row in rows {
            add(&mut self.node, &self.labels, self.weights, row);
        }
    }

    fn is_pure(&self) -> bool {
        self.node
            .ones
            .iter()
            .all(|&ones| ones == 0.0 || ones == self.node.weight)
    }

    fn clear(&mut self) {
        self.moved.clear();
    }

    fn move_row(&mut self, row: u32) {
        add(&mut self.moved, &self.labels, self.weights, row);
    }

    fn score(&self) -> f64 {
        let rest = self.node.weight - self.moved.weight;
        let rest_spread: f64 = self
            .node
            .ones
            .iter()
            .zip(&self.moved.ones)
            .map(|(&node, &moved)| spread(node - moved, rest))
            .sum();
        -self.moved.spread() - rest_spread
    }

    fn gain(&self, score: f64) -> f64 {
        (self.node.spread() + score).max(0.0)
    }
}
