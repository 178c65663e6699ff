//! Counting sort: the rows of a node by child, or by cluster.

/// Sorts values by their group, stably, into the front of `sorted`, which grows where it has to; `ends` become where the
/// values of each group end.
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
    }
}
