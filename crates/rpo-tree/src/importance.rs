//! Impurity importances.

use crate::grow::Grown;
use crate::rule::AxisRule;
use crate::structure::Node;

impl Grown<AxisRule> {
    /// Mean decrease of impurity: the gains $|S| \Delta I$ of a feature's splits, summed and divided by the
    /// sum over all features (Breiman et al. 1984, section 5.3.2). All 0 if no split gains anything.
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
