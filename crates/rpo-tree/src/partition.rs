//! Sorting of the rows of a node by child or cluster.

use std::ops::Range;

/// Sorts values by group, stably, into the front of `sorted`, which grows if needed; writes the end of the values of
/// each group into `ends`.
#[inline]
pub(crate) fn partition(
    values: impl Iterator<Item = (usize, u32)> + Clone,
    ends: &mut [usize],
    sorted: &mut Vec<u32>,
) {
    ends.fill(0);
    values.clone().for_each(|(group, _)| ends[group] += 1);
    let mut n = 0;
    for end in &mut *ends {
        n += std::mem::replace(end, n);
    }
    if sorted.len() < n {
        sorted.resize(n, 0);
    }
    for (group, value) in values {
        let place = &mut ends[group];
        sorted[*place] = value;
        *place += 1;
    }
}

const TWO_CHILDREN: &str = "a row of a split into two goes to child 0 or 1";

/// Sorts the rows of a node by child, stably, given the child of each, 0 or 1; returns the number of rows that go to
/// child 0.
///
/// If few rows go to one of the children, as in a chain of nodes that each split off a few rows, the others move in
/// whole blocks: a row then costs next to nothing.
///
/// # Panics
/// If a child is neither 0 nor 1.
pub(crate) fn partition_in_two(rows: &mut [u32], children: &[u16], fewer: &mut Vec<u32>) -> usize {
    const BLOCK: usize = 64;
    let n_right = children.iter().map(|&child| u32::from(child)).sum::<u32>() as usize;
    let n_left = rows.len().checked_sub(n_right).expect(TWO_CHILDREN);
    let of_fewer = u16::from(n_right <= n_left);
    let n_fewer = n_left.min(n_right);
    // One more, as each row is written before its child is known.
    if fewer.len() <= n_fewer {
        fewer.resize(n_fewer + 1, 0);
    }
    let (mut n_kept, mut n_taken) = (0, 0);
    for (block, children) in children.chunks(BLOCK).enumerate() {
        let start = block * BLOCK;
        if children
            .iter()
            .fold(false, |any, &child| any | (child == of_fewer))
        {
            for (i, &child) in children.iter().enumerate() {
                let row = rows[start + i];
                rows[n_kept] = row;
                fewer[n_taken] = row;
                n_taken += usize::from(child == of_fewer);
                n_kept += usize::from(child != of_fewer);
            }
        } else {
            if n_kept < start {
                rows.copy_within(start..start + children.len(), n_kept);
            }
            n_kept += children.len();
        }
    }
    // Other children would have made the sum of all children more than the number of rows of child 1.
    assert_eq!(n_taken, n_fewer, "{TWO_CHILDREN}");
    let fewer = &fewer[..n_fewer];
    if of_fewer == 1 {
        rows[n_kept..].copy_from_slice(fewer);
    } else {
        rows.copy_within(..n_kept, n_fewer);
        rows[..n_fewer].copy_from_slice(fewer);
    }
    n_left
}

/// Sorts the rows of a node by child; holds the buffers.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByChild {
    children: Vec<usize>,
    sorted: Vec<u32>,
    /// End of the rows of each child.
    pub(crate) ends: Vec<usize>,
}

impl ByChild {
    /// Sorts rows by child, stably; [`ends`](Self::ends) are set to the end of the rows of each of `arity` children.
    pub(crate) fn sort(&mut self, rows: &mut [u32], arity: usize, child: impl FnMut(u32) -> usize) {
        self.children.clear();
        self.children.extend(rows.iter().copied().map(child));
        self.ends.resize(arity, 0);
        let of_children = self.children.iter().copied().zip(rows.iter().copied());
        partition(of_children, &mut self.ends, &mut self.sorted);
        rows.copy_from_slice(&self.sorted[..rows.len()]);
    }

    /// Returns the children that received rows, each with the range of its rows among those of the node.
    pub(crate) fn reached(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, &end)| start..end);
        ranges.enumerate().filter(|(_, range)| !range.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_keep_their_order(groups in prop::collection::vec(0_usize..5, 0..40), room in 0_usize..50) {
            let (mut ends, mut sorted) = ([7; 5], vec![9; room]);
            partition(groups.iter().copied().zip(0..), &mut ends, &mut sorted);
            let mut start = 0;
            for (group, end) in ends.into_iter().enumerate() {
                let own = groups.iter().zip(0..).filter(|(g, _)| **g == group);
                prop_assert_eq!(&sorted[start..end], own.map(|(_, i)| i).collect::<Vec<u32>>());
                start = end;
            }
            prop_assert_eq!((start, sorted.len()), (groups.len(), room.max(groups.len())));
        }

        #[test]
        fn two_groups_are_those_of_any_number(
            children in prop_oneof![
                prop::collection::vec(0_u16..2, 1..300),
                prop::collection::vec(prop_oneof![20 => Just(0_u16), 1 => Just(1)], 1..900),
                prop::collection::vec(prop_oneof![1 => Just(0_u16), 20 => Just(1)], 1..900),
            ],
        ) {
            let mut rows: Vec<u32> = (5..).step_by(3).take(children.len()).collect();
            let (mut ends, mut expected) = ([0; 2], Vec::new());
            partition(children.iter().map(|&c| c.into()).zip(rows.iter().copied()), &mut ends, &mut expected);
            prop_assert_eq!(partition_in_two(&mut rows, &children, &mut Vec::new()), ends[0]);
            prop_assert_eq!(rows, expected);
        }
    }
}
