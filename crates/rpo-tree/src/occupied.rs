//! Structures without the leaves that no sample reaches.

use crate::TreeError;
use crate::leaves::LeafMembers;
use crate::rule::Rule;
use crate::structure::{Node, Structure};
use rpo_core::{MatrixView, Mismatch};

impl<R: Rule> Structure<R> {
    /// Sorts the samples of `x` that have positive weight into leaves, and removes the leaves that none of them reaches.
    /// Returns the structure and the samples of its leaves, for new predictions of a tree grown on other samples.
    ///
    /// A split that sends all of these samples to one child is replaced by this child, so that other samples meet only
    /// splits that tell some of these apart, as in the honest trees of generalized random forests (Athey, Tibshirani,
    /// Wager 2019, whose software prunes in this way). A rule with more than two children keeps its leaves without
    /// samples as long as two of its children have some. Without any sample, the structure is unchanged.
    ///
    /// # Errors
    /// [`TreeError::Mismatch`] if there is not one weight per sample; those of [`apply`](Self::apply).
    pub fn occupied(&self, x: MatrixView<'_>, weights: &[f32]) -> Result<(Self, LeafMembers), TreeError> {
        Mismatch::check("weights for the rows of features", x.n_rows(), weights.len())?;
        let leaf_of = self.apply(x)?;
        let placed = || {
            let placed = leaf_of.iter().zip(weights).zip(0..);
            placed.filter_map(|((leaf, weight), row)| (*weight > 0.0).then_some((row, *leaf)))
        };
        let mut has_sample = vec![false; self.n_leaves()];
        placed().for_each(|(_, leaf)| has_sample[leaf as usize] = true);
        if !has_sample.contains(&false) || !has_sample.contains(&true) {
            return Ok((self.clone(), LeafMembers::of_leaves(placed, self.n_leaves())?));
        }
        let (structure, new_leaf) = self.without_empty(&has_sample);
        let placed = || placed().map(|(row, leaf)| (row, new_leaf[leaf as usize]));
        let members = LeafMembers::of_leaves(placed, structure.n_leaves())?;
        Ok((structure, members))
    }

    /// Removes leaves without samples. Also returns the number of each remaining leaf in the new structure.
    fn without_empty(&self, has_sample: &[bool]) -> (Self, Vec<u32>) {
        let nodes = self.nodes();
        // The node that takes the place of each: itself, unless it is a split with samples in one child alone. Children
        // come after their parents.
        let mut stands_for: Vec<usize> = (0..nodes.len()).collect();
        let mut is_occupied = vec![false; nodes.len()];
        for (i, node) in nodes.iter().enumerate().rev() {
            match node {
                Node::Leaf(leaf) => is_occupied[i] = has_sample[*leaf as usize],
                Node::Split { rule, first_child } => {
                    let first = *first_child as usize;
                    let mut occupied = (first..first + rule.arity()).filter(|&child| is_occupied[child]);
                    let (only, another) = (occupied.next(), occupied.next());
                    is_occupied[i] = only.is_some();
                    if let (Some(only), None) = (only, another) {
                        stands_for[i] = stands_for[only];
                    }
                }
            }
        }
        // Nodes keep their order, in the places of those that they stand for. What is below a child without samples goes.
        let mut is_place = vec![false; nodes.len()];
        is_place[0] = true;
        for i in 0..nodes.len() {
            if let (true, Node::Split { rule, first_child }) = (is_place[i], &nodes[stands_for[i]])
                && is_occupied[i]
            {
                is_place[*first_child as usize..][..rule.arity()].fill(true);
            }
        }
        let mut place = vec![0_u32; nodes.len()];
        let mut n_places = 0;
        for (place, is_place) in place.iter_mut().zip(&is_place) {
            *place = n_places;
            n_places += u32::from(*is_place);
        }
        let (mut new_leaf, mut n_leaves) = (vec![0; has_sample.len()], 0);
        let mut kept = Vec::with_capacity(n_places as usize);
        for i in (0..nodes.len()).filter(|&i| is_place[i]) {
            kept.push(match &nodes[stands_for[i]] {
                Node::Split { rule, first_child } if is_occupied[i] => Node::Split {
                    rule: rule.clone(),
                    first_child: place[*first_child as usize],
                },
                node => {
                    if let Node::Leaf(leaf) = node {
                        new_leaf[*leaf as usize] = n_leaves;
                    }
                    n_leaves += 1;
                    Node::Leaf(n_leaves - 1)
                }
            });
        }
        (Self::from_grower(kept, n_leaves), new_leaf)
    }
}
