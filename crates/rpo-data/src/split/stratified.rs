//! Iterative stratification: partitions in which every label has the same frequency as in the whole set.
//!
//! Source: Sechidis, Tsoumakas, Vlahavas, "On the stratification of multi-label data", ECML-PKDD 2011, algorithm 1.
//! Repeatedly, the label with the fewest remaining samples is chosen, and each of its samples goes to the partition
//! that lacks the most samples of that label; ties go to the partition that lacks the most samples overall, further
//! ties to a random one. Samples without labels follow at the end by the second rule.
//!
//! Two departures keep the sizes of partitions near what was asked, where the paper's rules may leave a partition empty.
//! Of a label with few samples, the largest partition lacks more than any other until hardly a sample is left, so that
//! it gets almost all samples of a thousand such labels. Of such a label, only whole samples that are lacking count;
//! ties go to the partition that lacks the largest fraction of its samples. And a partition with clearly too many
//! samples gets no further ones. With partitions of equal size, only the second departure has an effect.
//!
//! Where the paper leaves the order open, it is random here: the order of equally rare labels and of the samples of a
//! label. Labels wait in an ordered set, so that the cost is O(nnz log d + d k) for k partitions instead of the O(d^2)
//! of a scan for every label.

use super::{Split, SplitError, check_folds, check_fraction, shuffled};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rpo_core::{Domain, MatrixView, Seed};
use std::collections::BTreeSet;

/// A label with fewer samples than this in the smallest partition is a rare one.
const FEW: f64 = 5.0;
/// Number of samples that a partition may have in excess: this fraction of the smallest partition ...
const EXCESS: f64 = 0.02;
/// ... and at least this, as few samples can hardly have all frequencies.
const LEAST: f64 = 3.0;

/// Partitions samples by the given relative sizes, preserving the frequency of each label. The sizes of
/// partitions differ from those asked by up to 3 or a fiftieth of the smallest, where frequencies require it. A label is
/// a stored value that is neither 0 nor NaN: a missing label counts as absent. Returns the samples of each partition, increasing.
///
/// # Errors
/// [`SplitError::Parameter`].
pub fn stratified_partitions(
    outputs: MatrixView<'_>,
    weights: &[f64],
    seed: Seed,
) -> Result<Vec<Vec<usize>>, SplitError> {
    Domain::Count.check("weights", weights.len())?;
    weights
        .iter()
        .try_for_each(|&weight| Domain::Positive.check("weights", weight))?;
    let total: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    let seed = seed.purpose("stratification");
    let labels = Labels::new(outputs, seed);
    let mut state = State::new(&labels, &shares, seed);
    let mut waiting: BTreeSet<(usize, u64, u32)> = (0..labels.n_labels() as u32)
        .filter(|&label| state.left[label as usize] > 0)
        .map(|label| (state.left[label as usize], labels.ranks[label as usize], label))
        .collect();
    while let Some((_, _, label)) = waiting.pop_first() {
        for &row in labels.rows(label) {
            if state.partition_of[row].is_some() {
                continue;
            }
            state.assign(row, Some(label));
            for &other in labels.of_row(row) {
                let (left, rank) = (&mut state.left[other as usize], labels.ranks[other as usize]);
                let was_waiting = waiting.remove(&(*left, rank, other));
                *left -= 1;
                if was_waiting && *left > 0 {
                    waiting.insert((*left, rank, other));
                }
            }
        }
    }
    for &row in &labels.order {
        if state.partition_of[row].is_none() {
            state.assign(row, None);
        }
    }
    Ok(state.partitions())
}

/// Splits samples in two, preserving the frequency of each label.
pub(super) fn stratified_split(
    outputs: MatrixView<'_>,
    test_fraction: f64,
    seed: Seed,
) -> Result<Split, SplitError> {
    check_fraction(test_fraction)?;
    let n_samples = outputs.n_rows();
    match &mut stratified_partitions(outputs, &[1.0 - test_fraction, test_fraction], seed)?[..] {
        [train, test] if !train.is_empty() && !test.is_empty() => Ok(Split {
            train: std::mem::take(train),
            test: std::mem::take(test),
        }),
        _ => Err(SplitError::Empty { n_samples }),
    }
}

/// Splits samples into k folds, preserving the frequency of each label; each fold is the test set once. The sizes of
/// the folds may differ by more than 1 if the labels require it.
pub(super) fn stratified_k_fold(
    outputs: MatrixView<'_>,
    k: usize,
    seed: Seed,
) -> Result<Vec<Split>, SplitError> {
    check_folds(k, outputs.n_rows())?;
    let folds = stratified_partitions(outputs, &vec![1.0; k], seed)?;
    Ok(Split::one_against_rest(&folds))
}

/// The labels of each row and the rows of each label.
struct Labels {
    /// All rows in random order.
    order: Vec<usize>,
    /// Random numbers that order equally rare labels.
    ranks: Vec<u64>,
    row_starts: Vec<usize>,
    row_labels: Vec<u32>,
    label_starts: Vec<usize>,
    label_rows: Vec<usize>,
}

impl Labels {
    fn new(outputs: MatrixView<'_>, seed: Seed) -> Self {
        let (n, d) = (outputs.n_rows(), outputs.n_cols());
        let (mut row_starts, mut row_labels, mut label_starts) = (vec![0], Vec::new(), vec![0; d + 1]);
        for row in 0..n {
            outputs.for_each_in_row(row, |label, value| {
                if value != 0.0 && !value.is_nan() {
                    row_labels.push(label);
                    label_starts[label as usize + 1] += 1;
                }
            });
            row_starts.push(row_labels.len());
        }
        for label in 0..d {
            label_starts[label + 1] += label_starts[label];
        }
        let order = shuffled(n, seed.purpose("rows"));
        let mut next = label_starts.clone();
        let mut label_rows = vec![0; row_labels.len()];
        for &row in &order {
            for &label in &row_labels[row_starts[row]..row_starts[row + 1]] {
                label_rows[next[label as usize]] = row;
                next[label as usize] += 1;
            }
        }
        let rank = seed.purpose("labels");
        Self {
            order,
            ranks: (0..d as u64).map(|label| rank.hash(label)).collect(),
            row_starts,
            row_labels,
            label_starts,
            label_rows,
        }
    }

    fn n_labels(&self) -> usize {
        self.ranks.len()
    }

    fn of_row(&self, row: usize) -> &[u32] {
        &self.row_labels[self.row_starts[row]..self.row_starts[row + 1]]
    }

    fn rows(&self, label: u32) -> &[usize] {
        &self.label_rows[self.label_starts[label as usize]..self.label_starts[label as usize + 1]]
    }
}

/// Error of sums of shares.
const ROUNDING: f64 = 1e-9;

/// The assignment of samples so far, and the numbers of samples that each partition lacks.
struct State<'a> {
    labels: &'a Labels,
    partition_of: Vec<Option<usize>>,
    /// Number of unassigned samples of each label.
    left: Vec<usize>,
    /// Relative sizes of the partitions.
    shares: &'a [f64],
    smallest: f64,
    /// Number of samples that each partition lacks.
    lacks: Vec<f64>,
    /// Number of samples of each label that each partition lacks, partition after partition.
    lacks_of_label: Vec<f64>,
    rng: ChaCha8Rng,
}

impl<'a> State<'a> {
    fn new(labels: &'a Labels, shares: &'a [f64], seed: Seed) -> Self {
        let left: Vec<usize> = (0..labels.n_labels() as u32)
            .map(|label| labels.rows(label).len())
            .collect();
        let n = labels.order.len();
        Self {
            labels,
            partition_of: vec![None; n],
            shares,
            smallest: shares.iter().copied().fold(f64::INFINITY, f64::min),
            lacks: shares.iter().map(|share| share * n as f64).collect(),
            lacks_of_label: shares
                .iter()
                .flat_map(|share| left.iter().map(move |&c| share * c as f64))
                .collect(),
            left,
            rng: seed.purpose("ties").rng(),
        }
    }

    /// Returns the samples of each partition, once all are assigned.
    fn partitions(&self) -> Vec<Vec<usize>> {
        let mut parts = vec![Vec::new(); self.lacks.len()];
        for (row, part) in self.partition_of.iter().enumerate() {
            parts[part.expect("every row is assigned")].push(row);
        }
        parts
    }

    /// Assigns a sample to the partition that lacks `label` most, or samples overall if no label is given.
    fn assign(&mut self, row: usize, label: Option<u32>) {
        let d = self.labels.n_labels();
        let is_rare = |label: u32| (self.labels.rows(label).len() as f64) * self.smallest < FEW;
        let need = |part: usize| match label {
            None => (0.0, self.lacks[part]),
            Some(label) => {
                let of_label = self.lacks_of_label[part * d + label as usize];
                match is_rare(label) {
                    true => (
                        (of_label + ROUNDING).floor(),
                        self.lacks[part] / self.shares[part],
                    ),
                    false => (of_label, self.lacks[part]),
                }
            }
        };
        let excess = (EXCESS * self.smallest * self.labels.order.len() as f64).max(LEAST);
        // Never empty, as some partition lacks the sample.
        let parts = (0..self.lacks.len()).filter(|&part| self.lacks[part] > 1.0 - excess);
        let greatest = parts
            .clone()
            .map(need)
            .fold((f64::NEG_INFINITY, f64::NEG_INFINITY), |best, need| {
                if need > best { need } else { best }
            });
        let best: Vec<usize> = parts.filter(|&part| need(part) == greatest).collect();
        let part = match best[..] {
            [one] => one,
            _ => best[self.rng.gen_range(0..best.len() as u32) as usize],
        };
        self.partition_of[row] = Some(part);
        self.lacks[part] -= 1.0;
        for &label in self.labels.of_row(row) {
            self.lacks_of_label[part * d + label as usize] -= 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::ParameterError;

    /// The algorithm as published, with a scan for the rarest label.
    fn naive(outputs: MatrixView<'_>, weights: &[f64], seed: Seed) -> Vec<Vec<usize>> {
        let total: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|w| w / total).collect();
        let seed = seed.purpose("stratification");
        let labels = Labels::new(outputs, seed);
        let mut state = State::new(&labels, &shares, seed);
        loop {
            let left = |label: u32, state: &State<'_>| {
                labels
                    .rows(label)
                    .iter()
                    .filter(|&&row| state.partition_of[row].is_none())
                    .count()
            };
            let rarest = (0..labels.n_labels() as u32)
                .filter(|&label| left(label, &state) > 0)
                .min_by_key(|&label| (left(label, &state), labels.ranks[label as usize]));
            let Some(label) = rarest else { break };
            for &row in labels.rows(label) {
                if state.partition_of[row].is_none() {
                    state.assign(row, Some(label));
                }
            }
        }
        for &row in &labels.order {
            if state.partition_of[row].is_none() {
                state.assign(row, None);
            }
        }
        state.partitions()
    }

    fn labels(n: usize, d: usize) -> impl Strategy<Value = Array2<f32>> {
        proptest::collection::vec(prop_oneof![3 => Just(0.0_f32), 1 => Just(1.0)], n * d)
            .prop_map(move |values| Array2::from_shape_vec((n, d), values).unwrap())
    }

    proptest! {
        #[test]
        fn agrees_with_the_algorithm_as_printed(
            y in labels(24, 5),
            weights in proptest::collection::vec(0.5_f64..3.0, 1..4),
            seed in any::<u64>(),
        ) {
            let found = stratified_partitions((&y).into(), &weights, Seed::new(seed)).unwrap();
            prop_assert_eq!(&found, &naive((&y).into(), &weights, Seed::new(seed)));
            let mut rows = found.concat();
            rows.sort_unstable();
            prop_assert_eq!(rows, (0..24).collect::<Vec<_>>());
        }

        #[test]
        fn a_partition_by_one_label_is_even(classes in proptest::collection::vec(0_usize..4, 6..60), k in 2_usize..6, seed in any::<u64>()) {
            let n = classes.len();
            let y = Array2::from_shape_fn((n, 4), |(i, j)| f32::from(u8::from(classes[i] == j)));
            let folds = stratified_k_fold((&y).into(), k, Seed::new(seed)).unwrap();
            for class in 0..4 {
                let count = classes.iter().filter(|&&c| c == class).count();
                for fold in &folds {
                    let here = fold.test.iter().filter(|&&row| classes[row] == class).count();
                    prop_assert!(here == count / k || here == count.div_ceil(k));
                }
            }
        }
    }

    /// Of labels that `same` consecutive samples have each, and one that every third sample has.
    fn rare(n: usize, same: usize) -> Array2<f32> {
        let d = n.div_ceil(same) + 1;
        Array2::from_shape_fn((n, d), |(i, j)| {
            let has = if j == 0 { i % 3 == 0 } else { i / same == j - 1 };
            f32::from(u8::from(has))
        })
    }

    proptest! {
        #[test]
        fn sizes_are_near_those_asked(
            n in 10_usize..300,
            same in 1_usize..12,
            weights in proptest::collection::vec(0.5_f64..5.0, 2..5),
            seed in any::<u64>(),
        ) {
            let (total, k): (f64, usize) = (weights.iter().sum(), weights.len());
            let found = stratified_partitions((&rare(n, same)).into(), &weights, Seed::new(seed)).unwrap();
            let asked = |part: usize| weights[part] / total * n as f64;
            let smallest = (0..k).map(asked).fold(f64::INFINITY, f64::min);
            let excess = (EXCESS * smallest).max(LEAST);
            for (part, rows) in found.iter().enumerate() {
                let more = rows.len() as f64 - asked(part);
                prop_assert!(more < excess && more > -((k - 1) as f64) * excess, "{part}: {more}");
            }
        }
    }

    #[test]
    fn rare_labels_are_in_all_partitions_in_proportion() {
        for same in [1, 2, 3, 7] {
            let y = rare(600, same);
            for (fraction, size) in [(0.2, 120), (0.1, 60)] {
                let split = stratified_split((&y).into(), fraction, Seed::new(2)).unwrap();
                assert!(
                    split.test.len().abs_diff(size) <= 6,
                    "{same}: {}",
                    split.test.len()
                );
                let frequent = split.test.iter().filter(|&&row| row % 3 == 0).count();
                assert!(frequent.abs_diff(size / 3) <= size / 10, "{same}: {frequent}");
            }
        }
        // A label for each sample.
        let y = Array2::eye(200);
        assert_eq!(
            stratified_split((&y).into(), 0.2, Seed::new(0))
                .unwrap()
                .test
                .len(),
            40
        );
    }

    #[test]
    fn missing_labels_count_as_absent() {
        let present = Array2::from_shape_fn((30, 3), |(i, j)| f32::from(i % (j + 2) == 0));
        let mut partial = present.clone();
        for (i, value) in partial.iter_mut().enumerate() {
            if *value == 0.0 && i % 4 == 0 {
                *value = f32::NAN;
            }
        }
        let split = |y: &Array2<f32>| stratified_split(y.into(), 0.3, Seed::new(5)).unwrap();
        assert!(partial.iter().any(|v| v.is_nan()));
        assert_eq!(split(&present), split(&partial));
    }

    #[test]
    fn labels_stored_by_columns_are_read_as_they_are() {
        // Also square, where reading the transpose would go unnoticed.
        for n in [3, 7] {
            let y = Array2::from_shape_fn((n, 3), |(i, j)| f32::from(u8::from((5 * i + 2 * j) % 3 == 0)));
            let rows = MatrixView::from(&y).to_csr();
            let columns = rows.to_csc();
            let split = |y| stratified_partitions(y, &[0.5, 0.5], Seed::new(3)).unwrap();
            assert_eq!(split(MatrixView::from(&rows)), split(MatrixView::from(&columns)));
        }
    }

    #[test]
    fn impossible_splits_are_refused() {
        let y = Array2::zeros((3, 2));
        let seed = Seed::new(0);
        assert_eq!(
            stratified_partitions((&y).into(), &[], seed),
            Err(ParameterError::out_of_range("weights", 0, "at least 1").into())
        );
        for weight in [0.0, -1.0, f64::INFINITY] {
            let found = stratified_partitions((&y).into(), &[1.0, weight], seed);
            let expected = ParameterError::out_of_range("weights", weight, "positive and finite");
            assert_eq!(found, Err(expected.into()));
        }
        assert_eq!(
            stratified_split((&y).into(), 1.0, seed),
            Err(ParameterError::out_of_range("fraction", 1.0, "in (0, 1)").into())
        );
        let one = Array2::zeros((1, 2));
        assert_eq!(
            stratified_split((&one).into(), 0.5, seed),
            Err(SplitError::Empty { n_samples: 1 })
        );
        assert_eq!(
            stratified_k_fold((&y).into(), 4, seed),
            Err(ParameterError::out_of_range("folds", 4, "from 2 to the number of samples").into())
        );
    }
}
