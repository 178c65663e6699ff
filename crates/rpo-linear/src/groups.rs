//! Samples that are withheld by whole groups.

use std::collections::BTreeMap;

/// Returns the samples of each group, groups and samples in the order in which they first occur.
pub(crate) fn by_group(order: &[u32], groups: &[u32]) -> Vec<Vec<u32>> {
    let mut places = BTreeMap::new();
    let mut found: Vec<Vec<u32>> = Vec::new();
    for &sample in order {
        let place = *places.entry(groups[sample as usize]).or_insert(found.len());
        match found.get_mut(place) {
            Some(samples) => samples.push(sample),
            None => found.push(vec![sample]),
        }
    }
    found
}

/// Joins groups to parts of at most this number of samples, in order. A larger group is a part for itself, so that there
/// are at least two parts of two groups or more, unless the size is that of all samples.
pub(crate) fn joined(groups: Vec<Vec<u32>>, size: usize) -> Vec<Vec<u32>> {
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for group in groups {
        match parts.last_mut() {
            Some(part) if part.len() + group.len() <= size => part.extend(group),
            _ => parts.push(group),
        }
    }
    parts
}

/// Takes groups of at most this number of samples together, in order, or else the smallest one. Returns the samples that
/// were taken and the others; `None` if there are no two groups.
pub(crate) fn taken(groups: Vec<Vec<u32>>, size: usize) -> Option<(Vec<u32>, Vec<u32>)> {
    if groups.len() < 2 {
        return None;
    }
    let smallest = groups.iter().map(Vec::len).min().unwrap_or(0);
    let (mut taken, mut others) = (Vec::new(), Vec::new());
    for group in groups {
        let fits = match taken.is_empty() {
            true => group.len() <= size.max(smallest),
            false => taken.len() + group.len() <= size,
        };
        if fits { &mut taken } else { &mut others }.extend(group);
    }
    Some((taken, others))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_group_is_torn(
            groups in proptest::collection::vec(0_u32..9, 1..60),
            size in 1_usize..60,
        ) {
            let order: Vec<u32> = (0..groups.len() as u32).rev().collect();
            let all = by_group(&order, &groups);
            let is_apart = |a: &[u32], b: &[u32]| {
                a.iter().all(|&i| b.iter().all(|&j| groups[i as usize] != groups[j as usize]))
            };
            let sorted = |mut samples: Vec<u32>| {
                samples.sort_unstable_by(|a, b| b.cmp(a));
                samples
            };
            prop_assert_eq!(sorted(all.concat()), &order[..]);
            for (i, part) in all.iter().enumerate() {
                prop_assert!(all[..i].iter().all(|other| is_apart(part, other)));
            }
            let parts = joined(all.clone(), size);
            prop_assert_eq!(parts.concat(), all.concat());
            for (i, part) in parts.iter().enumerate() {
                prop_assert!(parts[..i].iter().all(|other| is_apart(part, other)));
                prop_assert!(part.len() <= size || all.contains(part));
            }
            let n_groups = all.len();
            let smallest = all.iter().map(Vec::len).min().unwrap();
            match taken(all, size.min(groups.len() - 1)) {
                None => prop_assert!(n_groups < 2),
                Some((taken, others)) => {
                    prop_assert!(is_apart(&taken, &others));
                    prop_assert!(!taken.is_empty() && !others.is_empty());
                    prop_assert!(taken.len() <= size.max(smallest));
                    prop_assert_eq!(sorted([taken, others].concat()), order);
                }
            }
        }
    }
}
