//! The sums of two siblings, of which only the smaller is summed.

use super::HistogramSplitter;
use crate::histogram::search::Sums;
use crate::histogram::workspace::{Common, TOGETHER, Work};
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
        if !(small_wanted || large_wanted) || (parent.sums.is_some() && !work.has_room()) {
            return work.give_back(parent.sums);
        }
        let (mut of_small, mut of_large) = (None, None);
        if let Some((mut histogram, mut total)) = parent.sums {
            let (mut small_histogram, gathered) = (work.take_free(), &mut work.gathered[0]);
            let small_total = sums.accumulate(self.features, small.0.rows, gathered, &mut small_histogram);
            if large_wanted {
                let of_parent = (&mut histogram, &mut total);
                sums.subtract(self.features, of_parent, (&small_histogram, &small_total));
            }
            (of_small, of_large) = (Some((small_histogram, small_total)), Some((histogram, total)));
        }
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
        let numbers: Vec<_> = nodes.iter().map(|(node, _)| node.number).collect();
        let searched = self.search(sums, nodes, common, work);
        for (number, searched) in numbers.into_iter().zip(searched) {
            work.keep(number, searched);
        }
    }
}
