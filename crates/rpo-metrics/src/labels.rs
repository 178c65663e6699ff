//! Sets of labels, one per sample: the truth of every multi-label metric, and thresholded predictions.

use crate::{MetricError, MissingTruth, Real, TopK, real};
use ndarray::ArrayView2;
use rayon::prelude::*;
use rpo_core::{CsrMatrix, CsrView, MatrixView, Mismatch, csr_row};
use std::borrow::Cow;
use std::ops::Range;

/// The labels of each sample, checked once and usable by any number of metrics.
///
/// Borrows the column indices of a CSR matrix that stores only ones. The labels of a sample are an increasing list;
/// some labels of a sample may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelSets<'a> {
    n_labels: usize,
    /// The labels of sample `i` are `labels[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    labels: Cow<'a, [u32]>,
    /// The missing labels of sample `i` are `missing[missing_starts[i]..missing_starts[i + 1]]`; empty if none is
    /// missing.
    missing_starts: Vec<usize>,
    missing: Vec<u32>,
}

impl<'a> LabelSets<'a> {
    /// Creates sets from the ones of a 0/1 matrix (n_samples x n_labels), dense or CSR; stored zeros are zeros. NaN, in
    /// a sparse matrix a stored NaN, is a missing label, which is either refused or skipped by every metric.
    ///
    /// # Errors
    /// No sample or no label, a value that is neither 0 nor 1, NaN unless it is skipped, a sparse matrix compressed by
    /// columns.
    pub fn new(matrix: MatrixView<'a>, missing: MissingTruth) -> Result<Self, MetricError> {
        match matrix {
            MatrixView::Sparse(sparse) => Self::of_csr(sparse, missing),
            MatrixView::Dense(dense) => {
                let rows = dense
                    .rows()
                    .into_iter()
                    .map(|row| row.into_iter().copied().enumerate());
                Self::gather(dense.dim(), rows, missing)
            }
        }
    }

    fn of_csr(sparse: CsrView<'a>, missing: MissingTruth) -> Result<Self, MetricError> {
        MatrixView::Sparse(sparse).check_csr("labels")?;
        let shape = sparse.shape();
        let ranges: Vec<Range<usize>> = (0..shape.0).map(|i| sparse.indptr().outer_inds_sz(i)).collect();
        let (_, columns, values) = sparse.into_raw_storage();
        if values.iter().any(|&v| v.to_bits() != 1.0_f32.to_bits()) {
            let entries = |range: Range<usize>| range.map(|at| (columns[at] as usize, values[at]));
            return Self::gather(shape, ranges.into_iter().map(entries), missing);
        }
        check_not_empty(shape)?;
        let starts = std::iter::once(0).chain(ranges.iter().map(|r| r.end)).collect();
        Ok(Self::observed(shape.1, starts, Cow::Borrowed(columns)))
    }

    /// Creates sets from lists of labels, one list per sample, in any order.
    ///
    /// # Errors
    /// No sample or no label, a label not below `n_labels`, a label listed twice in a sample.
    pub fn from_lists<R: AsRef<[u32]>>(n_labels: usize, rows: &[R]) -> Result<Self, MetricError> {
        check_not_empty((rows.len(), n_labels))?;
        let (mut starts, mut labels) = (vec![0], Vec::new());
        for (row, list) in rows.iter().enumerate() {
            let from = labels.len();
            labels.extend_from_slice(list.as_ref());
            labels[from..].sort_unstable();
            check_labels(row, &labels[from..], n_labels)?;
            starts.push(labels.len());
        }
        Ok(Self::observed(n_labels, starts, Cow::Owned(labels)))
    }

    /// Creates sets without missing labels.
    fn observed(n_labels: usize, starts: Vec<usize>, labels: Cow<'a, [u32]>) -> Self {
        Self {
            n_labels,
            starts,
            labels,
            missing_starts: Vec::new(),
            missing: Vec::new(),
        }
    }

    fn gather<I>(
        shape: (usize, usize),
        rows: impl Iterator<Item = I>,
        skip: MissingTruth,
    ) -> Result<Self, MetricError>
    where
        I: Iterator<Item = (usize, f32)>,
    {
        check_not_empty(shape)?;
        let (mut starts, mut labels) = (vec![0], Vec::new());
        let (mut missing_starts, mut missing) = (vec![0], Vec::new());
        for (row, entries) in rows.enumerate() {
            for (column, value) in entries {
                if value == 1.0 {
                    labels.push(column as u32);
                } else if value.is_nan() && skip == MissingTruth::Skip {
                    missing.push(column as u32);
                } else if value != 0.0 {
                    return Err(MetricError::NotBinary {
                        sample: row,
                        column,
                        value,
                    });
                }
            }
            starts.push(labels.len());
            missing_starts.push(missing.len());
        }
        if missing.is_empty() {
            missing_starts.clear();
        }
        Ok(Self {
            missing_starts,
            missing,
            ..Self::observed(shape.1, starts, Cow::Owned(labels))
        })
    }

    /// Creates sets of the labels whose score reaches its threshold (s >= t, compared in `f64`).
    ///
    /// # Errors
    /// Thresholds that are NaN or not one per label, scores that are not finite, no sample or no column.
    pub fn from_scores<S: Real>(
        scores: ArrayView2<'_, S>,
        thresholds: &Thresholds,
    ) -> Result<LabelSets<'static>, MetricError> {
        thresholds.check(scores.ncols())?;
        real::check_finite("scores", scores)?;
        let pick = |i: usize| {
            let row = scores.row(i).into_iter().enumerate();
            row.filter(|&(j, &s)| s.into() >= thresholds.of(j))
                .map(|(j, _)| j as u32)
                .collect()
        };
        Ok(LabelSets::collect(scores.ncols(), scores.nrows(), pick))
    }

    /// Creates sets of the stored labels of CSR scores whose score reaches its threshold: those of the dense matrix if
    /// thresholds are positive, however many labels a sample has.
    ///
    /// # Errors
    /// As [`from_scores`](Self::from_scores); a matrix compressed by columns.
    pub fn from_csr(scores: CsrView<'_>, thresholds: &Thresholds) -> Result<LabelSets<'static>, MetricError> {
        thresholds.check(scores.cols())?;
        real::check_csr("scores", &scores, f32::is_finite)?;
        let pick = |i: usize| {
            let (columns, values) = csr_row(&scores, i);
            let stored = columns.iter().zip(values);
            stored
                .filter(|&(&j, &s)| f64::from(s) >= thresholds.of(j as usize))
                .map(|(&j, _)| j)
                .collect()
        };
        Ok(LabelSets::collect(scores.cols(), scores.rows(), pick))
    }

    /// Creates sets of the labels among the best k whose score reaches its threshold.
    ///
    /// Labels that are not listed are not predicted, so that k should be at least the largest number of labels that a
    /// sample may have.
    ///
    /// # Errors
    /// Thresholds that are not one per label.
    pub fn from_top_k<S: Real>(
        top: &TopK<S>,
        thresholds: &Thresholds,
    ) -> Result<LabelSets<'static>, MetricError> {
        thresholds.check(top.n_labels())?;
        let pick = |i: usize| {
            let listed = top.labels(i).iter().zip(top.scores(i));
            let mut labels: Vec<u32> = listed
                .filter(|&(&j, &s)| s.into() >= thresholds.of(j as usize))
                .map(|(&j, _)| j)
                .collect();
            labels.sort_unstable();
            labels
        };
        Ok(LabelSets::collect(top.n_labels(), top.n_samples(), pick))
    }

    fn collect(
        n_labels: usize,
        n_rows: usize,
        pick: impl Fn(usize) -> Vec<u32> + Sync + Send,
    ) -> LabelSets<'static> {
        let rows: Vec<Vec<u32>> = (0..n_rows).into_par_iter().map(pick).collect();
        let mut starts = vec![0];
        starts.extend(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        LabelSets::observed(n_labels, starts, Cow::Owned(rows.concat()))
    }

    /// Returns the number of samples.
    pub fn n_samples(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of labels.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// Returns the labels of a sample, increasing.
    ///
    /// # Panics
    /// If the sample is out of range.
    pub fn labels(&self, sample: usize) -> &[u32] {
        &self.labels[self.starts[sample]..self.starts[sample + 1]]
    }

    /// Returns the missing labels of a sample, increasing.
    ///
    /// # Panics
    /// If the sample is out of range.
    #[inline]
    pub fn missing(&self, sample: usize) -> &[u32] {
        match self.missing_starts.get(sample..sample + 2) {
            Some(range) => &self.missing[range[0]..range[1]],
            None => &[],
        }
    }

    /// Returns the number of missing entries.
    pub fn n_missing(&self) -> usize {
        self.missing.len()
    }

    /// Returns the largest number of missing labels of a sample. Lists with this number of labels beyond k hold the
    /// best k observed labels of every sample.
    pub fn most_missing(&self) -> usize {
        self.missing_starts
            .windows(2)
            .map(|w| w[1] - w[0])
            .max()
            .unwrap_or(0)
    }

    /// Returns true if all labels of a sample are missing.
    ///
    /// # Panics
    /// If the sample is out of range.
    pub fn all_missing(&self, sample: usize) -> bool {
        self.missing(sample).len() == self.n_labels
    }

    /// Returns the number of samples that have each label.
    pub fn label_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_labels];
        self.labels.iter().for_each(|&j| counts[j as usize] += 1);
        counts
    }

    /// Returns the samples of each label, increasing, as (starts, rows): label `j` has
    /// `rows[starts[j]..starts[j + 1]]`.
    pub(crate) fn samples_by_label(&self) -> (Vec<usize>, Vec<u32>) {
        self.transposed(&self.labels, |row| self.labels(row))
    }

    /// Returns the samples in which each label is missing, increasing, in the format of
    /// [`samples_by_label`](Self::samples_by_label).
    pub(crate) fn missing_by_label(&self) -> (Vec<usize>, Vec<u32>) {
        self.transposed(&self.missing, |row| self.missing(row))
    }

    fn transposed<'s>(&self, all: &[u32], of_row: impl Fn(usize) -> &'s [u32]) -> (Vec<usize>, Vec<u32>) {
        let mut starts = vec![0; self.n_labels + 1];
        all.iter().for_each(|&j| starts[j as usize + 1] += 1);
        for j in 0..self.n_labels {
            starts[j + 1] += starts[j];
        }
        let (mut next, mut rows) = (starts.clone(), vec![0; all.len()]);
        for row in 0..self.n_samples() {
            for &j in of_row(row) {
                rows[next[j as usize]] = row as u32;
                next[j as usize] += 1;
            }
        }
        (starts, rows)
    }

    /// Checks that there is a value for each sample and label.
    pub(crate) fn check_shape(&self, (n_samples, n_labels): (usize, usize)) -> Result<(), Mismatch> {
        Mismatch::check("samples", self.n_samples(), n_samples)?;
        Mismatch::check("labels", self.n_labels, n_labels)
    }
}

/// Converts the sets to a matrix of ones.
impl From<&LabelSets<'_>> for CsrMatrix {
    fn from(sets: &LabelSets<'_>) -> Self {
        let shape = (sets.n_samples(), sets.n_labels);
        let ones = vec![1.0; sets.labels.len()];
        Self::new(shape, sets.starts.clone(), sets.labels.to_vec(), ones)
    }
}

/// The score at or above which a label is predicted (s >= t).
#[derive(Debug, Clone, PartialEq)]
pub enum Thresholds {
    /// One threshold for all labels.
    One(f64),
    /// One threshold per label, for example chosen on out-of-bag scores.
    PerLabel(Vec<f64>),
}

impl Default for Thresholds {
    /// 0.5: with calibrated probabilities this rule minimises the expected Hamming loss.
    fn default() -> Self {
        Self::One(0.5)
    }
}

impl Thresholds {
    fn of(&self, label: usize) -> f64 {
        match self {
            Self::One(t) => *t,
            Self::PerLabel(t) => t[label],
        }
    }

    fn check(&self, n_labels: usize) -> Result<(), MetricError> {
        let values = match self {
            Self::One(t) => std::slice::from_ref(t),
            Self::PerLabel(t) => {
                Mismatch::check("thresholds", n_labels, t.len())?;
                t
            }
        };
        check_label_values("thresholds", values, "a number", |t| !t.is_nan())
    }
}

/// Checks the values per label, or the single value for all labels.
pub(crate) fn check_label_values(
    what: &'static str,
    values: &[f64],
    expected: &'static str,
    allowed: impl Fn(f64) -> bool,
) -> Result<(), MetricError> {
    match values.iter().position(|&value| !allowed(value)) {
        Some(label) => Err(MetricError::LabelValue {
            what,
            label,
            expected,
            value: values[label],
        }),
        None => Ok(()),
    }
}

/// Checks a sorted list of labels.
pub(crate) fn check_labels(sample: usize, sorted: &[u32], n_labels: usize) -> Result<(), MetricError> {
    if let Some(&label) = sorted.last().filter(|&&j| j as usize >= n_labels) {
        return Err(MetricError::LabelOutOfRange {
            sample,
            label,
            n_labels,
        });
    }
    match sorted.windows(2).find(|w| w[0] == w[1]) {
        Some(twice) => Err(MetricError::DuplicateLabel {
            sample,
            label: twice[0],
        }),
        None => Ok(()),
    }
}

pub(crate) fn check_not_empty((samples, columns): (usize, usize)) -> Result<(), MetricError> {
    if samples == 0 || columns == 0 {
        return Err(MetricError::Empty { samples, columns });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use rpo_core::Matrix;

    #[test]
    fn dense_csr_and_lists_agree() {
        let dense = array![[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
        let ones = CsrMatrix::new((3, 3), vec![0, 2, 2, 3], vec![1, 2, 0], vec![1.0; 3]);
        let zeros_stored = CsrMatrix::new(
            (3, 3),
            vec![0, 3, 3, 4],
            vec![0, 1, 2, 0],
            vec![0.0, 1.0, 1.0, 1.0],
        );
        let expected = LabelSets::from_lists(3, &[vec![2, 1], vec![], vec![0]]).unwrap();
        assert_eq!(
            LabelSets::new((&dense).into(), MissingTruth::Refuse).unwrap(),
            expected
        );
        assert_eq!(
            LabelSets::new(MatrixView::Sparse(ones.view()), MissingTruth::Refuse).unwrap(),
            expected
        );
        assert_eq!(
            LabelSets::new(MatrixView::Sparse(zeros_stored.view()), MissingTruth::Refuse).unwrap(),
            expected
        );
        assert_eq!(CsrMatrix::from(&expected), ones);
        assert_eq!(expected.label_counts(), [1, 1, 1]);
        assert_eq!(expected.samples_by_label(), (vec![0, 1, 2, 3], vec![2, 0, 0]));
    }

    #[test]
    fn a_slice_of_a_csr_matrix_keeps_its_rows() {
        let ones = CsrMatrix::new((3, 3), vec![0, 2, 2, 3], vec![1, 2, 0], vec![1.0; 3]);
        let tail = ones.slice_outer(1..3);
        let sets = LabelSets::new(MatrixView::Sparse(tail.view()), MissingTruth::Refuse).unwrap();
        assert_eq!(
            (sets.n_samples(), sets.labels(0), sets.labels(1)),
            (2, &[][..], &[0][..])
        );
    }

    #[test]
    fn bad_labels_are_named() {
        let half = array![[0.0, 1.0], [0.5, 0.0]];
        let expected = MetricError::NotBinary {
            sample: 1,
            column: 0,
            value: 0.5,
        };
        assert_eq!(
            LabelSets::new((&half).into(), MissingTruth::Refuse),
            Err(expected)
        );
        let by_columns = CsrMatrix::new((1, 2), vec![0, 1], vec![0], vec![1.0]).transpose_into();
        assert_eq!(
            LabelSets::new(MatrixView::Sparse(by_columns.view()), MissingTruth::Refuse),
            Err(rpo_core::NotCsr { what: "labels" }.into())
        );
        let none = Matrix::from(CsrMatrix::zero((0, 4)));
        assert_eq!(
            LabelSets::new(none.view(), MissingTruth::Refuse),
            Err(MetricError::Empty {
                samples: 0,
                columns: 4
            })
        );
        let out_of_range = MetricError::LabelOutOfRange {
            sample: 1,
            label: 4,
            n_labels: 4,
        };
        assert_eq!(
            LabelSets::from_lists(4, &[vec![0], vec![4, 1]]),
            Err(out_of_range)
        );
        let twice = MetricError::DuplicateLabel { sample: 0, label: 2 };
        assert_eq!(LabelSets::from_lists(4, &[[2, 1, 2]]), Err(twice));
    }

    #[test]
    fn thresholds_are_reached_or_not() {
        let scores = array![[0.5_f32, 0.25, 0.75], [0.0, 0.5, 1.0]];
        let sets = LabelSets::from_scores(scores.view(), &Thresholds::default()).unwrap();
        assert_eq!(sets, LabelSets::from_lists(3, &[[0, 2], [1, 2]]).unwrap());
        let stored = MatrixView::from(&scores).to_csr();
        assert_eq!(
            LabelSets::from_csr(stored.view(), &Thresholds::default()).unwrap(),
            sets
        );
        let per_label = Thresholds::PerLabel(vec![0.0, 0.75, 1.0]);
        let sets = LabelSets::from_scores(scores.view(), &per_label).unwrap();
        assert_eq!(sets, LabelSets::from_lists(3, &[vec![0], vec![0, 2]]).unwrap());
        let top = TopK::from_scores(scores.view(), 2).unwrap();
        let sets = LabelSets::from_top_k(&top, &per_label).unwrap();
        assert_eq!(sets, LabelSets::from_lists(3, &[vec![0], vec![2]]).unwrap());
        let nan = Thresholds::PerLabel(vec![0.0, f64::NAN, 1.0]);
        let found = LabelSets::from_scores(scores.view(), &nan);
        let error = found.unwrap_err().to_string();
        assert_eq!(
            error,
            "thresholds: the value of label 1 must be a number, got NaN"
        );
    }
}
