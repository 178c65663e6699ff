//! Impurity importances.

use crate::grow::Grown;
use crate::rule::AxisRule;
use crate::structure::Node;

impl Grown<AxisRule> {
    /// Mean decrease of impurity: for each feature the sum of the gains |S| ΔI of its splits, as a fraction of the sum over
    /// all features (after Breiman, Friedman, Olshen, Stone 1984, chapter 5, without surrogate splits).
    ///
    /// One value in [0, 1] per feature, summing to 1, or all 0 if no split gains anything. The gains are those of
    /// the split targets.
    ///
    /// # Panics
    /// If a rule has a feature of `n_features` or more.
    pub fn importances(&self, n_features: usize) -> Vec<f64> {
        let mut sums = vec![0.0; n_features];
        for (node, gain) in self.structure.nodes().iter().zip(&self.gains) {
            if let Node::Split { rule, .. } = node {
                sums[rule.feature() as usize] += gain;
            }
        }
        let total: f64 = sums.iter().sum();
        if total > 0.0 {
            sums.iter_mut().for_each(|s| *s /= total);
        }
        sums
    }
}
