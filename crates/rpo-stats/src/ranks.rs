//! Ranks in which tied values share their mean rank.

/// Returns twice the rank (1 for the smallest) of each value, where ties share the mean of their ranks, and the sizes
/// of the groups of equal values in increasing order. Ranks are doubled so that mean ranks stay integers and their sums
/// exact.
///
/// Values must not be NaN.
pub(crate) fn doubled_ranks(values: &[f64]) -> (Vec<u64>, Vec<u64>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut ranks, mut groups, mut below) = (vec![0; values.len()], Vec::new(), 0_u64);
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let size = group.len() as u64;
        // Ranks below + 1 to below + size.
        group.iter().for_each(|&i| ranks[i] = 2 * below + size + 1);
        groups.push(size);
        below += size;
    }
    (ranks, groups)
}

/// Returns the sum of t³ - t over groups of t equal values.
pub(crate) fn tie_sum(groups: &[u64]) -> u128 {
    groups.iter().map(|&t| u128::from(t).pow(3) - u128::from(t)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_mean() {
        let (ranks, groups) = doubled_ranks(&[3.0, -1.0, 3.0, 0.0, -0.0, 3.0]);
        assert_eq!(ranks, [10, 2, 10, 5, 5, 10]);
        assert_eq!(groups, [1, 2, 3]);
        assert_eq!(tie_sum(&groups), 30);
    }
}
