//! Growing subtrees on copies of their rows.
//!
//! If a training set is much larger than a core's cache, the rows of a small node lie far apart in it, and every node
//! below waits for them again. A [splitter](Splitter::of_subtree) that supports it copies the data of these rows; the
//! subtree grows on the copy, and its nodes are added to those of the tree.

use super::subtree::graft;
use super::{Growth, Pending};
use crate::splitter::Splitter;

impl<S: Splitter> Growth<'_, S> {
    /// Grows the subtree below a node on a copy of its rows; returns false if that is not worth it.
    pub(super) fn grow_on_copy(&mut self, root: Pending) -> bool {
        if !root.may_split(self.params) {
            return false;
        }
        let rows = &mut self.rows[root.start..root.end];
        let Some(splitter) = self.splitter.of_subtree(rows) else {
            return false;
        };
        let n = rows.len();
        let mut workspace = splitter.workspace();
        let mut below = Growth::new(&splitter, &mut workspace, self.params, (0..n as u32).collect());
        below.grow_below(Pending {
            node: 0,
            start: 0,
            end: n,
            ..root
        });
        let Growth {
            rows: places,
            nodes,
            gains,
            leaves,
            ..
        } = below;
        let sorted: Vec<u32> = places.into_iter().map(|place| rows[place as usize]).collect();
        rows.copy_from_slice(&sorted);
        graft(
            &mut self.nodes,
            &mut self.gains,
            root.node,
            self.leaves.len(),
            nodes.into_iter().zip(gains),
        );
        let own = leaves.into_iter();
        self.leaves
            .extend(own.map(|(start, end)| (root.start + start, root.start + end)));
        true
    }
}
