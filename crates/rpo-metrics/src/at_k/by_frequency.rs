//! Metrics of the best k labels of samples, by training frequency of the labels.

use super::{TopK, check, hits};
use crate::{LabelSets, MetricError, Real};
use rpo_core::{Mismatch, ParameterError};

/// Labels in groups of decreasing training frequency, each with about the same number of positives (pairs of a training
/// sample and one of its labels). These are the equi-voluminous bins of papers on very many labels; 10 groups are
/// deciles.
///
/// Labels are sorted by count, most frequent first; ties go to the smaller index. Of G groups, a label is in group ⌊G
/// (s + N/2) / S⌋, where N samples have it, the labels before it have s positives and all labels have S, that is in the
/// group of the middle of its positives. A label more frequent than S / G fills more than a group, so that other groups
/// may be empty; labels that no sample has are in the last group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrequencyGroups {
    groups: Vec<Vec<u32>>,
    n_labels: usize,
}

impl FrequencyGroups {
    /// Groups labels by the number of training samples that have them.
    ///
    /// # Errors
    /// Fewer than 1 group, or more groups than labels.
    pub fn new(label_counts: &[usize], n_groups: usize) -> Result<Self, MetricError> {
        let fits = (1..=label_counts.len()).contains(&n_groups);
        ParameterError::unless(fits, "n_groups", n_groups, "from 1 to the number of labels")?;
        let mut order: Vec<u32> = (0..label_counts.len() as u32).collect();
        order.sort_by_key(|&label| std::cmp::Reverse(label_counts[label as usize]));
        let total: u128 = label_counts.iter().map(|&count| count as u128).sum();
        let mut groups = vec![Vec::new(); n_groups];
        let mut before = 0_u128;
        for label in order {
            let count = label_counts[label as usize] as u128;
            let group = match count {
                0 => n_groups - 1,
                _ => ((2 * before + count) * n_groups as u128 / (2 * total)) as usize,
            };
            groups[group].push(label);
            before += count;
        }
        Ok(Self {
            groups,
            n_labels: label_counts.len(),
        })
    }
}

/// Iterates over the labels of each group, most frequent group first.
impl<'a> IntoIterator for &'a FrequencyGroups {
    type Item = &'a Vec<u32>;
    type IntoIter = std::slice::Iter<'a, Vec<u32>>;

    fn into_iter(self) -> Self::IntoIter {
        self.groups.iter()
    }
}

/// The recall and precision that the best k labels of samples achieve on a group of labels.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct GroupAtK {
    /// Fraction of the pairs of a sample and a relevant label of the group whose label is among the best k of the
    /// sample, larger is better; NaN if there are no such pairs.
    pub recall: f64,
    /// Contribution of the group to the precision at k, which is the sum over groups.
    pub precision: f64,
}

/// Returns recall at k within each group of labels, and the contribution of each group to precision at k.
///
/// For group g, recall is $\sum_i |\mathrm{top}_k(i) \cap R_i \cap g| / \sum_i |R_i \cap g|$ and precision
/// $\frac{1}{n k} \sum_i |\mathrm{top}_k(i) \cap R_i \cap g|$. Both count pairs rather than labels, so that labels with
/// a single test sample do not blur the rare groups.
///
/// # Errors
/// As for [`gain_at_k`](super::gain_at_k); groups of a different number of labels.
pub fn by_frequency_at_k<S: Real>(
    truth: &LabelSets<'_>,
    top: &TopK<S>,
    groups: &FrequencyGroups,
    k: usize,
) -> Result<Vec<GroupAtK>, MetricError> {
    check(truth, top, k)?;
    Mismatch::check("labels of the groups", truth.n_labels(), groups.n_labels)?;
    let mut found = vec![0_usize; truth.n_labels()];
    for row in 0..truth.n_samples() {
        hits(truth, top, row, k).for_each(|(_, label)| found[label as usize] += 1);
    }
    let counts = truth.label_counts();
    let n_observed = (0..truth.n_samples()).filter(|&i| !truth.all_missing(i)).count();
    let of_group = |labels: &Vec<u32>| {
        let sum = |of: &[usize]| labels.iter().map(|&label| of[label as usize]).sum::<usize>();
        let hits = sum(&found) as f64;
        GroupAtK {
            recall: hits / sum(&counts) as f64,
            precision: hits / n_observed as f64 / k as f64,
        }
    };
    Ok(groups.groups.iter().map(of_group).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MissingTruth;

    fn labels(counts: &[usize], n_groups: usize) -> Vec<Vec<u32>> {
        FrequencyGroups::new(counts, n_groups).unwrap().groups
    }

    #[test]
    fn groups_have_as_many_positives() {
        assert_eq!(labels(&[1, 4, 1, 2, 0], 2), [vec![1], vec![3, 0, 2, 4]]);
        assert_eq!(labels(&[3, 3, 3], 3), [[0], [1], [2]]);
        // The first label has three quarters of all positives; their middle is in the second of four groups.
        assert_eq!(labels(&[9, 2, 1, 0], 4), [vec![], vec![0], vec![], vec![1, 2, 3]]);
        assert_eq!(labels(&[0, 0], 2), [vec![], vec![0, 1]]);
    }

    #[test]
    fn by_hand() {
        let truth = LabelSets::from_lists(4, &[vec![0, 2], vec![], vec![1]]).unwrap();
        let rows = [
            vec![(2, 0.9), (1, 0.8), (0, 0.7)],
            vec![(0, 0.5)],
            vec![(3, 0.5), (1, 0.25)],
        ];
        let top = TopK::from_lists(4, 3, &rows).unwrap();
        // The groups are {0}, {1}, {2, 3}.
        let groups = FrequencyGroups::new(&[2, 2, 1, 1], 3).unwrap();
        let found = |k| by_frequency_at_k(&truth, &top, &groups, k).unwrap();
        let recalls = |k| found(k).iter().map(|group| group.recall).collect::<Vec<_>>();
        assert_eq!(
            [1, 2, 3].map(recalls),
            [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0; 3]]
        );
        assert_eq!(found(2)[1].precision, 1.0 / 6.0);
    }

    #[test]
    fn missing_labels_count_nowhere() {
        let truth = ndarray::array![[1.0, f32::NAN, 0.0], [f32::NAN; 3]];
        let truth = LabelSets::new((&truth).into(), MissingTruth::Skip).unwrap();
        let scores = ndarray::array![[0.5, 0.9, 0.1], [0.5, 0.9, 0.1]];
        let top = TopK::from_scores(scores.view(), 3).unwrap();
        let groups = FrequencyGroups::new(&[1, 1, 1], 3).unwrap();
        let found = by_frequency_at_k(&truth, &top, &groups, 1).unwrap();
        assert_eq!((found[0].recall, found[0].precision), (1.0, 1.0));
        assert!(found[1].recall.is_nan() && found[1].precision == 0.0);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for n_groups in [0, 4] {
            let expected = "from 1 to the number of labels";
            let expected = ParameterError::out_of_range("n_groups", n_groups, expected);
            assert_eq!(FrequencyGroups::new(&[1; 3], n_groups), Err(expected.into()));
        }
        let truth = LabelSets::from_lists(2, &[vec![0]]).unwrap();
        let top = TopK::from_lists(2, 1, &[[(0, 1.0)]]).unwrap();
        let groups = FrequencyGroups::new(&[1; 3], 2).unwrap();
        let expected = Mismatch {
            what: "labels of the groups",
            expected: 2,
            given: 3,
        };
        assert_eq!(by_frequency_at_k(&truth, &top, &groups, 1), Err(expected.into()));
    }
}
