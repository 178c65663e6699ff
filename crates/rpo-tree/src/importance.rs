//! Impurity importances.

use crate::grow::Grown;
use crate::rule::Rule;
use crate::structure::Node;

impl<R: Rule> Grown<R> {
    /// Mean decrease of impurity: for each feature the summed gains |S| ΔI of its splits, as a fraction of the sum over
    /// all features (after Breiman, Friedman, Olshen, Stone 1984, chapter 5, without surrogate splits). Splits on
    /// several features are ignored.
    ///
    /// Returns one value in [0, 1] per feature; the values sum to 1, or are all 0 if no split gains anything. The gains
    /// are those of the targets that the tree was grown on, projected ones if it was grown on projections.
    ///
    /// # Panics
    /// If a rule uses a feature of `n_features` or more.
    pub fn importances(&self, n_features: usize) -> Vec<f64> {
        let mut sums = vec![0.0; n_features];
        for (node, gain) in self.structure.nodes().iter().zip(&self.gains) {
            if let Node::Split { rule, .. } = node
                && let Some(feature) = rule.single_feature()
            {
                sums[feature as usize] += gain;
            }
        }
        let total: f64 = sums.iter().sum();
        if total > 0.0 {
            sums.iter_mut().for_each(|s| *s /= total);
        }
        sums
    }
}
