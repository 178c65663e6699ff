//! The branches that the samples of a background set take.

use super::quadrature::Quadrature;
use crate::rule::{AxisRule, Rule};
use crate::structure::{Node, Structure};
use rpo_core::Mismatch;
use std::collections::BTreeSet;

/// A tree with the fraction of a background set that takes each branch.
#[derive(Debug, Clone)]
pub struct Branches<'a> {
    pub(super) structure: &'a Structure<AxisRule>,
    /// For each node, the fraction of the background samples of its parent; 1 for the root.
    pub(super) fractions: Vec<f64>,
    pub(super) quadrature: Quadrature,
}

impl<'a> Branches<'a> {
    /// Counts the background samples below each node, given their number in each leaf. A node that none of them
    /// reaches divides samples evenly: it has no part in v(∅), but a sample that differs from the background may get
    /// there.
    ///
    /// # Errors
    /// [`Mismatch`] for another number of leaves.
    pub fn new(structure: &'a Structure<AxisRule>, in_leaves: &[u64]) -> Result<Self, Mismatch> {
        Mismatch::check("leaves with a count", structure.n_leaves(), in_leaves.len())?;
        let nodes = structure.nodes();
        let mut counts = vec![0_u64; nodes.len()];
        let mut fractions = vec![1.0; nodes.len()];
        // Children lie behind their parents.
        for (i, node) in nodes.iter().enumerate().rev() {
            match node {
                Node::Leaf(leaf) => counts[i] = in_leaves[*leaf as usize],
                Node::Split { rule, first_child } => {
                    let children = *first_child as usize..*first_child as usize + rule.arity();
                    counts[i] = counts[children.clone()].iter().sum();
                    let total = counts[i] as f64;
                    for child in children {
                        fractions[child] = match counts[i] {
                            0 => 1.0 / rule.arity() as f64,
                            _ => counts[child] as f64 / total,
                        };
                    }
                }
            }
        }
        let features: BTreeSet<u32> = structure.splits().map(|(_, rule)| rule.feature()).collect();
        let on_path = features.len().min(structure.depth());
        Ok(Self {
            structure,
            fractions,
            quadrature: Quadrature::new(on_path.div_ceil(2)),
        })
    }
}
