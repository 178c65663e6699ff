//! Rows to the children of a node, or to clusters.

/// Brings the values for each receiver together in front of `dealt`, one receiver after the other, values in the order
/// in which they are given; `ends` become where those of each receiver end. `dealt` grows where it has to.
#[inline]
pub(crate) fn deal(
    values: impl Iterator<Item = (usize, u32)> + Clone,
    ends: &mut [usize],
    dealt: &mut Vec<u32>,
) {
    ends.fill(0);
    values.clone().for_each(|(receiver, _)| ends[receiver] += 1);
    let mut n = 0;
    for end in &mut *ends {
        n += std::mem::replace(end, n);
    }
    if dealt.len() < n {
        dealt.resize(n, 0);
    }
    for (receiver, value) in values {
        let place = &mut ends[receiver];
        dealt[*place] = value;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_receives_its_own_in_order(receivers in prop::collection::vec(0_usize..5, 0..40), room in 0_usize..50) {
            let (mut ends, mut dealt) = ([7; 5], vec![9; room]);
            deal(receivers.iter().copied().zip(0..), &mut ends, &mut dealt);
            let mut start = 0;
            for (receiver, end) in ends.into_iter().enumerate() {
                let own = receivers.iter().zip(0..).filter(|(r, _)| **r == receiver);
                prop_assert_eq!(&dealt[start..end], own.map(|(_, i)| i).collect::<Vec<u32>>());
                start = end;
            }
            prop_assert_eq!((start, dealt.len()), (receivers.len(), room.max(receivers.len())));
        }
    }
}
