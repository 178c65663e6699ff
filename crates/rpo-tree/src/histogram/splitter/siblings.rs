//! The sums of two siblings, of which only the smaller is summed.

use super::HistogramSplitter;
use crate::histogram::search::Sums;
use crate::histogram::workspace::{Common, TOGETHER, Whole, Work};
use crate::splitter::NodeRows;

impl HistogramSplitter<'_> {
    /// Searches the children that may be split and computes their sums: those of the smaller child from its rows, those
    /// of the larger from the parent's sums.
    pub(super) fn opened_by<S: Sums>(
        &self,
        sums: &S,
        parent: usize,
        children: &[(NodeRows<'_>, bool)],
        common: &mut Common,
        work: &mut Work<S>,
    ) {
        let (Some(parent), [left, right]) = (work.take(parent), children) else {
            return;
        };
        let (small, large) = if left.0.rows.len() <= right.0.rows.len() {
            (left, right)
        } else {
            (right, left)
        };
        let wanted = |child: &(NodeRows<'_>, bool)| child.1 && self.may_split(child.0.rows);
        let (small_wanted, large_wanted) = (wanted(small), wanted(large));
        if !(small_wanted || large_wanted) {
            return work.give_back(parent.sums);
        }
        let (of_small, of_large) =
            self.sums_of_children(sums, parent.sums, (small.0.rows, large_wanted), work);
        let mut nodes = Vec::with_capacity(TOGETHER);
        for (node, sums, is_wanted) in [
            (small.0, of_small, small_wanted),
            (large.0, of_large, large_wanted),
        ] {
            if is_wanted {
                nodes.push((node, sums));
            } else {
                work.give_back(sums);
            }
        }
        // The children of a node whose rows fill few of its bins are searched without its sums.
        let kept = nodes.iter().map(|(node, sums)| {
            let is_whole = sums.is_some() && self.is_summed_whole(node.rows);
            (node.number, is_whole)
        });
        let kept: Vec<_> = kept.collect();
        let searched = self.search(sums, nodes, common, work);
        for ((number, is_whole), mut searched) in kept.into_iter().zip(searched) {
            if !is_whole {
                work.give_back(searched.sums.take());
            }
            work.keep(number, searched);
        }
    }

    /// Returns the sums of the smaller child, given its rows, and of the larger, if that is wanted, from those of their
    /// parent; none if the parent has none or there is no room.
    fn sums_of_children<S: Sums>(
        &self,
        sums: &S,
        parent: Option<Whole<S>>,
        (small_rows, large_wanted): (&[u32], bool),
        work: &mut Work<S>,
    ) -> (Option<Whole<S>>, Option<Whole<S>>) {
        let Some(mut large) = parent else {
            return (None, None);
        };
        let Some(small) = self.sum_whole(sums, small_rows, work) else {
            work.give_back(Some(large));
            return (None, None);
        };
        if large_wanted {
            let of_parent = (&mut *large.0, &mut large.1);
            sums.subtract(self.features, of_parent, (&small.0, &small.1));
        }
        (Some(small), Some(large))
    }
}
