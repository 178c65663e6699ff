//! Splits that keep groups of samples together, or respect the order of time.

use super::{Split, SplitError, check_fraction, shuffled, sorted};
use rpo_core::{ParameterError, Seed};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Numbers the groups of samples ([`Dataset::with_groups`](crate::Dataset::with_groups)) by their names, or by anything
/// else that can be sorted: 0 for the first in order.
///
/// ```
/// assert_eq!(rpo_data::split::group_numbers(&["tokyo", "oslo", "tokyo"]), [1, 0, 1]);
/// ```
///
/// # Panics
/// If there are more than 2³² groups.
pub fn group_numbers<G: Ord>(groups: &[G]) -> Vec<u32> {
    let mut distinct: Vec<&G> = groups.iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let number = |group| {
        let place = distinct.partition_point(|other| *other < group);
        u32::try_from(place).expect("a number of groups in the range of u32")
    };
    groups.iter().map(number).collect()
}

/// Draws groups one after another; a group goes to the test side if that brings the size of the test set closer to the
/// fraction. A side that would be empty, as with two groups of equal size, gets the smallest group.
pub(super) fn grouped_split(groups: &[u32], test_fraction: f64, seed: Seed) -> Result<Split, SplitError> {
    check_fraction(test_fraction)?;
    let samples_of = samples_of(groups);
    let wanted = test_fraction * groups.len() as f64;
    let distance = |size: usize| (size as f64 - wanted).abs();
    let order = shuffled(samples_of.len(), seed.purpose("grouped split"));
    let mut is_tested = vec![false; samples_of.len()];
    let mut n_tested = 0;
    for &group in &order {
        let size = samples_of[group].len();
        is_tested[group] = distance(n_tested + size) < distance(n_tested);
        n_tested += if is_tested[group] { size } else { 0 };
    }
    let smallest = order.iter().min_by_key(|&&group| samples_of[group].len());
    match smallest {
        Some(&smallest) if order.len() > 1 && (n_tested == 0 || n_tested == groups.len()) => {
            is_tested[smallest] = !is_tested[smallest];
        }
        Some(_) if order.len() == 1 => {
            let n_samples = groups.len();
            return Err(SplitError::OneGroup { n_samples });
        }
        _ => {}
    }
    let side = |tested: bool| {
        let groups = (0..samples_of.len()).filter(|&group| is_tested[group] == tested);
        groups
            .flat_map(|group| samples_of[group].iter().copied())
            .collect::<Vec<_>>()
    };
    checked(&side(false), &side(true))
}

/// Assigns whole groups to k folds, the largest group first, each to the fold that is smallest so far; groups of equal
/// size come in random order.
pub(crate) fn grouped_folds(groups: &[u32], k: usize, seed: Seed) -> Result<Vec<Split>, SplitError> {
    let samples_of = samples_of(groups);
    let in_range = (2..=samples_of.len()).contains(&k);
    ParameterError::unless(in_range, "folds", k, "from 2 to the number of groups")?;
    let mut order = shuffled(samples_of.len(), seed.purpose("grouped folds"));
    order.sort_by_key(|&group| Reverse(samples_of[group].len()));
    let mut folds = vec![Vec::new(); k];
    for group in order {
        let smallest = folds.iter_mut().min_by_key(|fold| fold.len());
        smallest
            .expect("two folds or more")
            .extend_from_slice(&samples_of[group]);
    }
    let folds: Vec<_> = folds.iter().map(|fold| sorted(fold)).collect();
    Ok(Split::one_against_rest(&folds))
}

/// Returns the samples of each group.
fn samples_of(groups: &[u32]) -> Vec<Vec<usize>> {
    let mut samples_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (sample, &group) in groups.iter().enumerate() {
        samples_of.entry(group).or_default().push(sample);
    }
    samples_of.into_values().collect()
}

/// Samples of the same time are on the same side. The boundary is the one with which the size of the test set is
/// closest to the fraction.
pub(super) fn time_split(times: &[f64], test_fraction: f64) -> Result<Split, SplitError> {
    check_fraction(test_fraction)?;
    let n = times.len();
    let order = sorted_times(times)?;
    let begins = begins(&order);
    let Some(first) = nearest(&begins, n as f64 - test_fraction * n as f64) else {
        return Err(match n {
            0 => SplitError::Empty { n_samples: n },
            _ => SplitError::OneTime { n_samples: n },
        });
    };
    let first = order[begins[first]];
    let (test, train): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| times[i] >= first);
    checked(&train, &test)
}

/// Cuts time into k + 1 parts, whose ends are as close to those of equal parts as times allow, each being non-empty, and
/// tests each part but the first against all earlier ones.
pub(super) fn time_folds(times: &[f64], k: usize) -> Result<Vec<Split>, SplitError> {
    let n = times.len();
    let order = sorted_times(times)?;
    let begins = begins(&order);
    let in_range = (2..=begins.len()).contains(&k);
    ParameterError::unless(
        in_range,
        "folds",
        k,
        "at least 2, and less than the number of times",
    )?;
    let mut first_of_fold = Vec::with_capacity(k + 1);
    let mut used = 0;
    for fold in 1..=k {
        let left = &begins[used..begins.len() - (k - fold)];
        let wanted = fold as f64 * n as f64 / (k + 1) as f64;
        let chosen = nearest(left, wanted).expect("as many times as folds are left");
        first_of_fold.push(order[left[chosen]]);
        used += chosen + 1;
    }
    let split = |fold: usize| {
        let first = first_of_fold[fold];
        let end = first_of_fold.get(fold + 1);
        Split {
            train: (0..n).filter(|&i| times[i] < first).collect(),
            test: (0..n)
                .filter(|&i| times[i] >= first && end.is_none_or(|&end| times[i] < end))
                .collect(),
        }
    };
    Ok((0..k).map(split).collect())
}

fn sorted_times(times: &[f64]) -> Result<Vec<f64>, SplitError> {
    if let Some(sample) = times.iter().position(|time| time.is_nan()) {
        return Err(SplitError::Time { sample });
    }
    let mut order = times.to_vec();
    order.sort_by(f64::total_cmp);
    Ok(order)
}

/// Indices where a later time begins, so that everything from there on is later than everything before.
fn begins(order: &[f64]) -> Vec<usize> {
    (1..order.len()).filter(|&i| order[i - 1] < order[i]).collect()
}

/// The position of the first value that is nearest to the one that is wanted.
fn nearest(values: &[usize], wanted: f64) -> Option<usize> {
    let distance = |&i: &usize| (values[i] as f64 - wanted).abs();
    (0..values.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

fn checked(train: &[usize], test: &[usize]) -> Result<Split, SplitError> {
    if train.is_empty() || test.is_empty() {
        let n_samples = train.len() + test.len();
        return Err(SplitError::Empty { n_samples });
    }
    Ok(Split {
        train: sorted(train),
        test: sorted(test),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_split_is_refused() {
        let seed = Seed::new(0);
        let empty = |n_samples| Err(SplitError::Empty { n_samples });
        assert_eq!(grouped_split(&[], 0.5, seed), empty(0));
        let one = Err(SplitError::OneGroup { n_samples: 4 });
        assert_eq!(grouped_split(&[7; 4], 0.5, seed), one);
        assert_eq!(
            time_split(&[1.0; 3], 0.5),
            Err(SplitError::OneTime { n_samples: 3 })
        );
        assert_eq!(time_split(&[], 0.5), empty(0));
        assert_eq!(
            time_split(&[1.0, f64::NAN], 0.5),
            Err(SplitError::Time { sample: 1 })
        );
        for fraction in [0.0, 1.0, f64::NAN] {
            assert!(matches!(
                grouped_split(&[0, 1], fraction, seed),
                Err(SplitError::Parameter(_))
            ));
            assert!(matches!(
                time_split(&[0.0, 1.0], fraction),
                Err(SplitError::Parameter(_))
            ));
        }
    }

    #[test]
    fn folds_of_groups_are_as_equal_as_the_groups_allow() {
        let groups = group_numbers(&["a", "b", "b", "c", "a", "a", "d", "b", "a"]);
        let folds = grouped_folds(&groups, 2, Seed::new(1)).unwrap();
        let sizes: Vec<usize> = folds.iter().map(|fold| fold.test.len()).collect();
        assert_eq!(sizes, [5, 4]);
        for k in [0, 1, 5] {
            let expected = ParameterError::out_of_range("folds", k, "from 2 to the number of groups");
            assert_eq!(grouped_folds(&groups, k, Seed::new(1)), Err(expected.into()));
        }
    }

    /// With 2 of 10 wanted, either group of 5 is farther away than none.
    #[test]
    fn two_groups_suffice() {
        let groups = [1, 1, 1, 1, 1, 8, 8, 8, 8, 8];
        for (fraction, seed) in [(0.2, 0), (0.2, 1), (0.8, 2), (0.8, 3), (0.01, 4), (0.99, 5)] {
            let split = grouped_split(&groups, fraction, Seed::new(seed)).unwrap();
            assert_eq!((split.train.len(), split.test.len()), (5, 5));
        }
        // The smaller one is withheld, or left to train on.
        let groups = [1, 1, 1, 1, 1, 1, 8, 8, 8, 8];
        assert_eq!(
            grouped_split(&groups, 0.01, Seed::new(1)).unwrap().test,
            [6, 7, 8, 9]
        );
        assert_eq!(
            grouped_split(&groups, 0.99, Seed::new(1)).unwrap().train,
            [6, 7, 8, 9]
        );
    }

    #[test]
    fn samples_of_one_time_stay_together() {
        // Two of six are wanted: the three of the last time are closer to that than including the time before them.
        let split = time_split(&[1.0, 2.0, 3.0, 3.0, 3.0, 2.0], 1.0 / 3.0).unwrap();
        assert_eq!(split.test, [2, 3, 4]);
    }

    #[test]
    fn folds_of_times_follow_one_another() {
        let folds = time_folds(&[3.0, 1.0, 2.0, 4.0, 4.0, 4.0], 3).unwrap();
        let parts: Vec<_> = folds
            .iter()
            .map(|fold| (&fold.train[..], &fold.test[..]))
            .collect();
        let expected: [(&[usize], &[usize]); 3] = [(&[1], &[2]), (&[1, 2], &[0]), (&[0, 1, 2], &[3, 4, 5])];
        assert_eq!(parts, expected);
        for k in [0, 1, 4] {
            let expected =
                ParameterError::out_of_range("folds", k, "at least 2, and less than the number of times");
            assert_eq!(time_folds(&[1.0, 2.0, 3.0, 4.0, 4.0], k), Err(expected.into()));
        }
        assert_eq!(
            time_folds(&[1.0, f64::NAN], 2),
            Err(SplitError::Time { sample: 1 })
        );
    }

    proptest! {
        #[test]
        fn nothing_that_belongs_together_is_split(
            keys in proptest::collection::vec(0_u32..12, 2..60),
            fraction in 0.05..0.95,
            k in 2_usize..14,
            seed in any::<u64>(),
        ) {
            let complete = |split: &Split| {
                let mut all = [split.train.clone(), split.test.clone()].concat();
                all.sort_unstable();
                all == (0..keys.len()).collect::<Vec<_>>()
            };
            let n_groups = keys.iter().collect::<std::collections::BTreeSet<_>>().len();
            let split = grouped_split(&keys, fraction, Seed::new(seed));
            prop_assert_eq!(split.is_ok(), n_groups > 1);
            if let Ok(split) = split {
                prop_assert!(complete(&split));
                prop_assert!(split.train.iter().all(|&i| split.test.iter().all(|&j| keys[i] != keys[j])));
                // The size is off by at most the largest group, as each group was assigned to the better side.
                let largest = (0..12).map(|g| keys.iter().filter(|&&k| k == g).count()).max().unwrap();
                let off = (split.test.len() as f64 - fraction * keys.len() as f64).abs();
                prop_assert!(off <= largest as f64, "{off} {largest}");
            }
            match grouped_folds(&keys, k, Seed::new(seed)) {
                Ok(folds) => {
                    let mut tested: Vec<usize> = folds.iter().flat_map(|fold| fold.test.clone()).collect();
                    tested.sort_unstable();
                    prop_assert_eq!(tested, (0..keys.len()).collect::<Vec<_>>());
                    for fold in &folds {
                        prop_assert!(complete(fold) && !fold.test.is_empty());
                        prop_assert!(fold.train.iter().all(|&i| fold.test.iter().all(|&j| keys[i] != keys[j])));
                    }
                }
                Err(_) => prop_assert!(k > n_groups),
            }
            let times: Vec<f64> = keys.iter().map(|&k| f64::from(k)).collect();
            match time_split(&times, fraction) {
                Ok(split) => {
                    prop_assert!(complete(&split));
                    prop_assert!(split.train.iter().all(|&i| split.test.iter().all(|&j| keys[i] < keys[j])));
                }
                Err(_) => prop_assert!(keys.iter().all(|k| *k == keys[0])),
            }
            match time_folds(&times, k) {
                Ok(folds) => {
                    prop_assert_eq!(folds.len(), k);
                    // A fold is trained on everything before its test samples, the last one leaving nothing.
                    let mut earlier = folds[0].train.clone();
                    for fold in &folds {
                        prop_assert!(!fold.test.is_empty() && !fold.train.is_empty());
                        prop_assert_eq!(&sorted(&earlier), &fold.train);
                        prop_assert!(fold.train.iter().all(|&i| fold.test.iter().all(|&j| keys[i] < keys[j])));
                        earlier.extend(&fold.test);
                    }
                    prop_assert_eq!(earlier.len(), keys.len());
                }
                Err(_) => prop_assert!(k >= n_groups),
            }
        }
    }
}
