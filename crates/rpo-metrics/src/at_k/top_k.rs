//! The best k labels of each sample, with their scores.

use crate::labels::{check_labels, check_not_empty};
use crate::real::{check_csr, check_finite, row_slice};
use crate::{MetricError, Real};
use ndarray::ArrayView2;
use rayon::prelude::*;
use rpo_core::{CsrView, Domain, best_first, csr_row};

/// Number of scores that are compared together with the k-th best so far.
const BLOCK: usize = 32;

/// The best k labels of each sample, by decreasing score; ties go to the smaller label index.
///
/// This is the prediction of a model for very many labels, and the input of every metric "at k". A sample may list
/// fewer than k labels; labels that are not listed are not predicted.
///
/// ```
/// use ndarray::array;
/// use rpo_metrics::TopK;
/// let top = TopK::from_scores(array![[0.1_f32, 0.7, 0.7, 0.2]].view(), 3)?;
/// assert_eq!(top.labels(0), [1, 2, 3]);
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TopK<S = f32> {
    n_labels: usize,
    k: usize,
    /// The entries of sample `i` are `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    labels: Vec<u32>,
    scores: Vec<S>,
}

impl<S: Real> TopK<S> {
    /// Selects from dense scores (n_samples x n_labels) in O(d + k log k) per sample. If k exceeds the number of
    /// labels, samples list all of them.
    ///
    /// # Errors
    /// k = 0, no sample or no column, scores that are not finite.
    pub fn from_scores(scores: ArrayView2<'_, S>, k: usize) -> Result<Self, MetricError> {
        Domain::Count.check("k", k)?;
        check_finite("scores", scores)?;
        let kept = k.min(scores.ncols());
        Ok(Self::collect(scores.dim(), k, |i, found| {
            select(row_slice(scores.row(i), &mut Vec::new()), kept, found);
        }))
    }

    /// Keeps the best k entries of lists of (label, score), one list per sample, in any order and of any length.
    ///
    /// # Errors
    /// k = 0, no sample or no label, a label out of range or listed twice, a score that is not finite.
    pub fn from_lists<R>(n_labels: usize, k: usize, rows: &[R]) -> Result<Self, MetricError>
    where
        R: AsRef<[(u32, S)]>,
    {
        Domain::Count.check("k", k)?;
        check_not_empty((rows.len(), n_labels))?;
        let mut sorted = Vec::new();
        for (row, list) in rows.iter().enumerate() {
            sorted.clear();
            sorted.extend(list.as_ref().iter().map(|&(label, _)| label));
            sorted.sort_unstable();
            check_labels(row, &sorted, n_labels)?;
            if let Some(&(label, score)) = list.as_ref().iter().find(|(_, s)| !s.is_finite()) {
                return Err(MetricError::NonFinite {
                    what: "scores",
                    sample: row,
                    column: label as usize,
                    value: score.into(),
                });
            }
        }
        let mut top = Self::with_rows(n_labels, k, rows.len());
        for list in rows {
            let mut list = list.as_ref().to_vec();
            list.sort_unstable_by(best_first);
            list.truncate(k);
            top.push(&list);
        }
        Ok(top)
    }

    fn with_rows(n_labels: usize, k: usize, n_rows: usize) -> Self {
        let mut starts = Vec::with_capacity(n_rows + 1);
        starts.push(0);
        Self {
            n_labels,
            k,
            starts,
            labels: Vec::new(),
            scores: Vec::new(),
        }
    }

    fn push(&mut self, row: &[(u32, S)]) {
        self.labels.extend(row.iter().map(|&(label, _)| label));
        self.scores.extend(row.iter().map(|&(_, score)| score));
        self.starts.push(self.labels.len());
    }

    /// Fills the lists of samples, of min(k, d) entries each, in parallel.
    fn collect(
        (n_rows, n_labels): (usize, usize),
        k: usize,
        select_row: impl Fn(usize, &mut Vec<(u32, S)>) + Sync,
    ) -> Self {
        let width = k.min(n_labels);
        let (mut labels, mut scores) = (vec![0; n_rows * width], vec![S::default(); n_rows * width]);
        labels
            .par_chunks_exact_mut(width)
            .zip(scores.par_chunks_exact_mut(width))
            .enumerate()
            .for_each_init(Vec::new, |found, (i, (labels, scores))| {
                found.clear();
                select_row(i, found);
                for (at, &(label, score)) in found.iter().enumerate() {
                    (labels[at], scores[at]) = (label, score);
                }
            });
        Self {
            n_labels,
            k,
            starts: (0..=n_rows).map(|i| i * width).collect(),
            labels,
            scores,
        }
    }

    /// Returns the number of samples.
    pub fn n_samples(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of labels that were ranked.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// Refuses a k beyond that of the lists.
    pub(crate) fn check_holds(&self, k: usize) -> Result<(), MetricError> {
        if k > self.k {
            let (needed, held) = (k, self.k);
            return Err(MetricError::TopKTooShort { needed, held });
        }
        Ok(())
    }

    /// Returns the k of the lists.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Returns the labels of a sample, best first.
    ///
    /// # Panics
    /// If the sample is out of range.
    pub fn labels(&self, sample: usize) -> &[u32] {
        &self.labels[self.starts[sample]..self.starts[sample + 1]]
    }

    /// Returns the scores of a sample's labels, decreasing.
    ///
    /// # Panics
    /// If the sample is out of range.
    pub fn scores(&self, sample: usize) -> &[S] {
        &self.scores[self.starts[sample]..self.starts[sample + 1]]
    }
}

impl TopK<f32> {
    /// Selects from CSR scores, where labels that are not stored have score 0. The lists are the same as from the dense
    /// matrix; the cost is O(stored + k log k) per sample.
    ///
    /// # Errors
    /// k = 0, no sample or no column, a matrix compressed by columns, scores that are not finite.
    pub fn from_csr(scores: CsrView<'_>, k: usize) -> Result<Self, MetricError> {
        // Only the first k labels that are not stored can be zeros among the best k.
        Self::filled(scores, k, |_, kept| kept)
    }

    /// Takes the k best labels of each sample as [`Predictor::predict_top_k`](rpo_core::Predictor::predict_top_k) returns
    /// them: where they are fewer, the next ones are labels that are not stored, with score 0.
    ///
    /// ```
    /// use rpo_core::csr_of_rows;
    /// use rpo_metrics::TopK;
    /// // Where a score is negative, zeros are stored: label 0 of the second sample has a score below them.
    /// let best = csr_of_rows([vec![(2, 0.5)], vec![(1, 0.0), (2, 0.5)]].iter(), (2, 3));
    /// let top = TopK::from_best(best.view(), 2)?;
    /// assert_eq!((top.labels(0), top.labels(1)), (&[2, 0][..], &[2, 1][..]));
    /// # Ok::<(), rpo_metrics::MetricError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`from_csr`](Self::from_csr).
    pub fn from_best(scores: CsrView<'_>, k: usize) -> Result<Self, MetricError> {
        Self::filled(scores, k, |n_stored, kept| kept.saturating_sub(n_stored))
    }

    /// Selects from the stored scores of each sample and zeros of labels that are not stored: `n_zeros(stored, kept)` of
    /// them, given the number of stored scores and that of labels to keep.
    fn filled(
        scores: CsrView<'_>,
        k: usize,
        n_zeros: impl Fn(usize, usize) -> usize + Sync,
    ) -> Result<Self, MetricError> {
        Domain::Count.check("k", k)?;
        check_csr("scores", &scores, f32::is_finite)?;
        let (n_labels, kept) = (scores.cols(), k.min(scores.cols()));
        Ok(Self::collect(scores.shape(), k, |i, found| {
            let (columns, values) = csr_row(&scores, i);
            found.extend(columns.iter().copied().zip(values.iter().copied()));
            let mut stored = columns.iter().copied().peekable();
            let absent = (0..n_labels as u32).filter(|j| stored.next_if_eq(j).is_none());
            found.extend(absent.take(n_zeros(columns.len(), kept)).map(|j| (j, 0.0)));
            keep_best(found, kept);
            found.sort_unstable_by(best_first);
        }))
    }
}

fn keep_best<S: Real>(found: &mut Vec<(u32, S)>, k: usize) {
    if found.len() > k {
        found.select_nth_unstable_by(k - 1, best_first);
        found.truncate(k);
    }
}

/// Stores the best k of a sample in `found`, sorted.
///
/// A score must exceed the k-th best so far (a later label loses a tie). The k-th best is updated whenever 2k
/// candidates have been collected, so that each update costs O(k), shared by k candidates. Most blocks of a long sample
/// hold no candidates, which is checked without a branch per score.
fn select<S: Real>(row: &[S], k: usize, found: &mut Vec<(u32, S)>) {
    let mut floor = None;
    for (block, scores) in row.chunks(BLOCK).enumerate() {
        let beats = |score: S| floor.is_none_or(|floor| score > floor);
        if !scores.iter().fold(false, |any, &s| any | beats(s)) {
            continue;
        }
        for (at, &score) in scores.iter().enumerate() {
            if floor.is_none_or(|floor| score > floor) {
                found.push(((block * BLOCK + at) as u32, score));
                if found.len() >= 2 * k {
                    keep_best(found, k);
                    floor = found.iter().map(|&(_, s)| s).min_by(|a, b| a.order(*b));
                }
            }
        }
    }
    keep_best(found, k);
    found.sort_unstable_by(best_first);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};
    use proptest::prelude::*;
    use rpo_core::CsrMatrix;

    #[test]
    fn bad_lists_are_refused() {
        let range = MetricError::LabelOutOfRange {
            sample: 0,
            label: 3,
            n_labels: 3,
        };
        assert_eq!(TopK::from_lists(3, 2, &[[(0, 1.0), (3, 0.5)]]), Err(range));
        let twice = MetricError::DuplicateLabel { sample: 1, label: 1 };
        let rows = [vec![(0, 1.0_f32)], vec![(1, 0.5), (1, 0.25)]];
        assert_eq!(TopK::from_lists(3, 2, &rows), Err(twice));
        let infinite = TopK::from_lists(3, 2, &[[(2, f64::NEG_INFINITY)]]);
        let expected = MetricError::NonFinite {
            what: "scores",
            sample: 0,
            column: 2,
            value: f64::NEG_INFINITY,
        };
        assert_eq!(infinite, Err(expected));
        let zero = TopK::from_scores(array![[1.0]].view(), 0).unwrap_err();
        assert_eq!(zero.to_string(), "`k` must be at least 1, got 0");
    }

    proptest! {
        #[test]
        fn selection_is_a_cut_sort(values in proptest::collection::vec(-9_i8..10, 160), k in 1_usize..25, width in 1_usize..80) {
            let n = values.len() / width;
            let values: Vec<f32> = values.into_iter().take(n * width).map(f32::from).collect();
            let dense = Array2::from_shape_vec((n, width), values).unwrap();
            let top = TopK::from_scores(dense.view(), k).unwrap();
            for i in 0..n {
                let mut expected: Vec<(u32, f32)> = dense.row(i).iter().enumerate().map(|(j, &s)| (j as u32, s)).collect();
                expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                expected.truncate(k);
                let (labels, scores): (Vec<u32>, Vec<f32>) = expected.into_iter().unzip();
                prop_assert_eq!(top.labels(i), labels);
                prop_assert_eq!(top.scores(i), scores);
            }
            // The lists from the same matrix in CSR, and from lists in any order, must be equal.
            let mut indptr = vec![0];
            let (mut columns, mut stored, mut lists) = (vec![], vec![], vec![]);
            for row in dense.rows() {
                for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    columns.push(j as u32);
                    stored.push(v);
                }
                indptr.push(columns.len());
                lists.push(row.iter().enumerate().map(|(j, &s)| (j as u32, s)).rev().collect::<Vec<_>>());
            }
            let csr = CsrMatrix::new((n, width), indptr, columns, stored);
            prop_assert_eq!(&TopK::from_csr(csr.view(), k).unwrap(), &top);
            prop_assert_eq!(&TopK::from_lists(width, k, &lists).unwrap(), &top);
        }
    }
}
