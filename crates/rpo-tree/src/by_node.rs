//! Routing of samples through a tree, node by node.

use crate::partition::ByChild;
use crate::rule::Rule;
use crate::structure::{Node, Structure};
use std::ops::Range;

/// Buffers of [`Structure::leaves_by_node`].
#[derive(Debug, Clone, Default)]
pub struct ByNode {
    /// Rows, with those of a node adjacent.
    order: Vec<u32>,
    by_child: ByChild,
    /// Nodes at which rows are waiting.
    waiting: Vec<(usize, Range<usize>)>,
}

impl<R: Rule> Structure<R> {
    /// Writes the leaf of each of `leaves.len()` samples, where `child` returns the child to which a rule sends the
    /// i-th sample.
    ///
    /// All samples of a node are routed before any goes further, so that a large rule is loaded into the cache once for
    /// all of them. For small rules, [`leaves`](Self::leaves) is faster.
    pub fn leaves_by_node(&self, child: impl Fn(&R, usize) -> usize, work: &mut ByNode, leaves: &mut [u32]) {
        let ByNode {
            order,
            by_child,
            waiting,
        } = work;
        order.clear();
        order.extend(0..leaves.len() as u32);
        waiting.clear();
        waiting.push((0, 0..leaves.len()));
        while let Some((node, range)) = waiting.pop() {
            let rows = &mut order[range.clone()];
            let (rule, first_child) = match &self.nodes()[node] {
                Node::Leaf(leaf) => {
                    rows.iter().for_each(|&row| leaves[row as usize] = *leaf);
                    continue;
                }
                Node::Split { rule, first_child } => (rule, *first_child as usize),
            };
            by_child.sort(rows, rule.arity(), |row| child(rule, row as usize));
            waiting.extend(by_child.reached().map(|(c, reached)| {
                let reached = range.start + reached.start..range.start + reached.end;
                (first_child + c, reached)
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Row;
    use proptest::prelude::*;

    /// Sends a row to the child given by a digit of its number.
    #[derive(Debug, Clone, PartialEq)]
    struct Digit(u32);

    impl Rule for Digit {
        fn arity(&self) -> usize {
            3
        }
        fn child(&self, row: Row<'_>) -> usize {
            (row.values[0] as usize / 3_usize.pow(self.0)) % 3
        }
        fn n_features(&self) -> usize {
            1
        }
    }

    proptest! {
        #[test]
        fn leaves_are_those_of_rows_alone(numbers in prop::collection::vec(0_u16..27, 0..60), split in prop::collection::vec(any::<bool>(), 13)) {
            // A tree of depth up to 3, breadth first.
            let (mut nodes, mut depths, mut n_leaves) = (vec![], vec![0], 0);
            while let Some(&depth) = depths.get(nodes.len()) {
                if depth < 3 && split.get(nodes.len()) == Some(&true) {
                    nodes.push(Node::Split { rule: Digit(depth), first_child: depths.len() as u32 });
                    depths.extend([depth + 1; 3]);
                } else {
                    nodes.push(Node::Leaf(n_leaves));
                    n_leaves += 1;
                }
            }
            let structure = Structure::try_from(nodes).unwrap();
            let values: Vec<[f32; 1]> = numbers.iter().map(|&n| [n.into()]).collect();
            let (mut leaves, mut work) = (vec![0; numbers.len()], ByNode::default());
            for _ in 0..2 {
                structure.leaves_by_node(|rule, i| rule.child(Row { values: &values[i], stored: None }), &mut work, &mut leaves);
                for (value, leaf) in values.iter().zip(&leaves) {
                    let mut alone = [0];
                    structure.leaves(&[Row { values: value, stored: None }], &mut alone);
                    prop_assert_eq!([*leaf], alone);
                }
            }
        }
    }
}
