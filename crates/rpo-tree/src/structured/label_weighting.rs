//! Label weights that give rare labels influence in clusters.

use crate::TreeError;
use rpo_core::{Domain, math};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a label's weight is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum WeightMode {
    /// Multiplies the label: its squared difference is multiplied by the squared weight. The default; the paper says
    /// "weigh each label".
    Scale,
    /// Multiplies the label's squared difference.
    Sqrt,
}

rpo_core::impl_names!(WeightMode, "a mode of weights");

/// Weights labels by inverse frequency, in the tree's samples and in the node's (eq. 1 of Daniels and Metaxas 2017):
///
/// ```text
/// s_i = β a_i / max_j a_j + (1 − β) b_i / max_j b_j,    a_i = ln(1 + N_g/n_gi),   b_i = ln(1 + N_l/n_li)
/// ```
///
/// with N_g samples of the tree, n_gi of them with label i, and N_l and n_li the same for the node. A label that no
/// sample of the node has (the formula would divide by 0) cannot separate its samples: its weight is 0, and it is
/// ignored in the maxima.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LabelWeighting {
    /// β, in [0, 1]: the weight of the tree's frequencies; those of the node have weight 1 − β. Default 0.5.
    pub beta: f64,
    /// How the weight is applied. Default: it multiplies the label.
    pub mode: WeightMode,
}

impl Default for LabelWeighting {
    fn default() -> Self {
        Self {
            beta: 0.5,
            mode: WeightMode::Scale,
        }
    }
}

/// Number of occurrences of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LabelFrequency {
    /// n_gi: in the tree's samples.
    pub(super) tree: u32,
    /// n_li: in the node's samples.
    pub(super) node: u32,
}

impl LabelWeighting {
    /// Checks the range of β.
    ///
    /// # Errors
    /// [`TreeError::Parameter`].
    pub(crate) fn check(&self) -> Result<(), TreeError> {
        Ok(Domain::Probability.check("beta", self.beta)?)
    }

    /// Returns the factors of the labels, s_i or √s_i depending on the mode, given how often each label occurs in the
    /// tree's and the node's samples, and the numbers of these samples. Factors are in (0, 1] for labels that occur, 0
    /// for others.
    pub(super) fn scales(&self, counts: &[LabelFrequency], tree_rows: usize, node_rows: usize) -> Vec<f64> {
        let occurs = |c: &LabelFrequency| c.tree > 0 && c.node > 0;
        let inverse = |rows: usize, count: u32| math::ln_1p(rows as f64 / f64::from(count));
        let of = |count: fn(&LabelFrequency) -> u32, rows: usize| -> Vec<f64> {
            let values = counts
                .iter()
                .map(|c| if occurs(c) { inverse(rows, count(c)) } else { 0.0 });
            let mut values: Vec<f64> = values.collect();
            let largest = values.iter().copied().fold(0.0, f64::max);
            if largest > 0.0 {
                values.iter_mut().for_each(|v| *v /= largest);
            }
            values
        };
        let (tree, node) = (of(|c| c.tree, tree_rows), of(|c| c.node, node_rows));
        tree.iter()
            .zip(&node)
            .map(|(a, b)| self.beta * a + (1.0 - self.beta) * b)
            .map(|s| match self.mode {
                WeightMode::Scale => s,
                WeightMode::Sqrt => s.sqrt(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rpo_core::ParameterError;

    #[test]
    fn beta_is_checked_at_its_bounds() {
        let check = |beta| {
            LabelWeighting {
                beta,
                ..LabelWeighting::default()
            }
            .check()
        };
        assert!([0.0, 0.5, 1.0].into_iter().all(|beta| check(beta).is_ok()));
        for beta in [-f64::MIN_POSITIVE, 1.0 + f64::EPSILON, f64::NAN] {
            assert!(
                matches!(
                    check(beta),
                    Err(TreeError::Parameter(ParameterError::OutOfRange {
                        name: "beta",
                        ..
                    }))
                ),
                "{beta}"
            );
        }
    }

    #[test]
    fn a_hand_computed_node() {
        let counts = [(8, 1), (2, 2), (0, 0), (4, 0)].map(|(tree, node)| LabelFrequency { tree, node });
        let weighting = LabelWeighting {
            beta: 0.25,
            mode: WeightMode::Scale,
        };
        let scales = weighting.scales(&counts, 16, 4);
        let (a, b) = ([3.0_f64.ln(), 9.0_f64.ln()], [5.0_f64.ln(), 3.0_f64.ln()]);
        assert!((scales[0] - (0.25 * a[0] / a[1] + 0.75)).abs() < 1e-15);
        assert!((scales[1] - (0.25 + 0.75 * b[1] / b[0])).abs() < 1e-15);
        assert_eq!(scales[2..], [0.0, 0.0]);
        let roots = LabelWeighting {
            mode: WeightMode::Sqrt,
            ..weighting
        }
        .scales(&counts, 16, 4);
        assert!(roots.iter().zip(scales).all(|(r, s)| (r * r - s).abs() < 1e-15));
    }

    proptest! {
        /// A label rarer both in the sample of the tree and in the node never has the smaller weight; repeating the data
        /// changes no weight, and permuting the labels permutes them.
        #[test]
        fn rarer_labels_never_weigh_less(
            counts in prop::collection::vec((0_u32..40, 0_u32..20), 1..8),
            beta in 0.0..=1.0,
            times in 2_usize..5,
        ) {
            let (tree_rows, node_rows) = (60, 20);
            let counts: Vec<_> = counts.iter().map(|&(rest, node)| LabelFrequency { tree: node + rest, node }).collect();
            let weighting = LabelWeighting { beta, mode: WeightMode::Scale };
            let scales = weighting.scales(&counts, tree_rows, node_rows);
            for (a, s) in counts.iter().zip(&scales) {
                let in_range = if a.node > 0 { *s > 0.0 && *s <= 1.0 } else { *s == 0.0 };
                prop_assert!(in_range);
                for (b, other) in counts.iter().zip(&scales) {
                    if b.node > 0 && a.node > 0 && a.node <= b.node && a.tree <= b.tree {
                        prop_assert!(s >= other);
                    }
                }
            }
            let repeated: Vec<_> = counts
                .iter()
                .map(|c| LabelFrequency { tree: c.tree * times as u32, node: c.node * times as u32 })
                .collect();
            let again = weighting.scales(&repeated, tree_rows * times, node_rows * times);
            prop_assert!(scales.iter().zip(again).all(|(a, b)| (a - b).abs() < 1e-12));
            let reversed: Vec<_> = counts.iter().rev().copied().collect();
            let mut back = weighting.scales(&reversed, tree_rows, node_rows);
            back.reverse();
            prop_assert_eq!(back, scales);
        }
    }
}
