//! Fitting one-vs-rest.

use std::cmp::Reverse;

use ndarray::Array1;
use rayon::prelude::*;
use rpo_core::{CsrMatrix, InverseLink, MatrixView, Seed};

use super::{OneVsRestModel, OneVsRestParams, RowNorm};
use crate::checks::{check_data, check_labels};
use crate::dual::{MAX_LANES, Rows, SparseWeights, label_samples, solve};
use crate::options::check_matrix;
use crate::{FitOptions, History, LinearError};

impl OneVsRestParams {
    /// Fits a model to features `x` (n x p) and 0/1 labels `y` (n x d).
    ///
    /// Labels are fitted in groups of 32, in parallel on the current rayon pool; the result does not depend on its size.
    /// Memory: the stored values of X again, 8 bytes each, and 128 bytes per sample and feature for each thread. The weights
    /// of all labels are never held dense.
    ///
    /// ```
    /// # use ndarray::array;
    /// use rpo_linear::{OneVsRestParams, Predictor};
    /// let x = array![[1.0, 0.0, 0.2], [0.9, 0.1, 0.0], [0.0, 1.0, 0.3], [0.0, 0.8, 0.0]];
    /// let y = array![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
    /// let model = OneVsRestParams::default().fit((&x).into(), (&y).into())?;
    /// let scores = model.predict((&x).into())?;
    /// assert!(scores[[0, 0]] > 0.5 && scores[[0, 1]] < 0.5);
    /// # Ok::<(), rpo_linear::LinearError>(())
    /// ```
    ///
    /// # Errors
    /// [`LinearError`] for a parameter out of range, sizes that do not match, values that are not finite or no labels,
    /// weights beyond the range of their precision, or working memory above the limit.
    pub fn fit(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<OneVsRestModel, LinearError> {
        self.fit_with(x, y, FitOptions::default())
    }

    /// [`fit`](Self::fit) with options.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: FitOptions<'_>,
    ) -> Result<OneVsRestModel, LinearError> {
        self.check()?;
        check_data(x, y)?;
        check_labels(InverseLink::Logistic, y)?;
        let (n, p, d) = (x.n_rows(), x.n_cols(), y.n_cols());
        let n_at_once = rayon::current_num_threads().min(d.div_ceil(MAX_LANES));
        let entries = MAX_LANES * n_at_once;
        let what = "the weights and dual variables of the labels that threads fit at once";
        check_matrix::<f32>(what, n + p, entries, options.limit())?;
        let rows = Rows::new(x, self.normalize == RowNorm::L2, self.bias as f32);
        let samples = label_samples(y);
        // Labels of like frequency, as the samples of a group that are not settled are those of any of its labels.
        let mut order: Vec<u32> = (0..d as u32).collect();
        order.sort_by_key(|&label| Reverse(samples[label as usize].len()));
        let seed = Seed::new(self.seed).purpose("one-vs-rest");
        let groups: Vec<(SparseWeights, f32)> = order
            .par_chunks(MAX_LANES)
            .enumerate()
            .map(|(group, labels)| {
                let positives: Vec<&[u32]> = labels.iter().map(|&l| &samples[l as usize][..]).collect();
                let solution = solve(&rows, &positives, &self.dual(), seed.child(group as u64));
                let (bias, limit) = (self.bias as f32, self.prune as f32);
                let kept = SparseWeights::prune(&solution, labels.len(), bias, limit, self.precision)?;
                Ok((kept, solution.residual))
            })
            .collect::<Result<_, LinearError>>()?;
        let residual = groups.iter().map(|(_, residual)| *residual).fold(0.0, f32::max);
        let groups: Vec<SparseWeights> = groups.into_iter().map(|(kept, _)| kept).collect();
        let mut offset = Array1::zeros(d);
        let offsets = groups.iter().flat_map(|kept| &kept.offsets);
        order
            .iter()
            .zip(offsets)
            .for_each(|(&label, &b)| offset[label as usize] = b);
        let weights = joined(groups, &order, (p, d));
        options.finish(History::default());
        OneVsRestModel::new(weights, offset, self.loss, self.normalize, residual, n)
    }
}

/// The weights of all groups (p x d); the classifiers of all groups, one after the other, are those of the labels in `order`.
fn joined(groups: Vec<SparseWeights>, order: &[u32], (p, d): (usize, usize)) -> CsrMatrix {
    let mut starts = vec![0_usize; p + 1];
    for group in &groups {
        for (&feature, range) in group.features.iter().zip(group.starts.windows(2)) {
            starts[feature as usize + 1] += (range[1] - range[0]) as usize;
        }
    }
    for feature in 0..p {
        starts[feature + 1] += starts[feature];
    }
    let mut next = starts.clone();
    let mut entries = vec![(0, 0.0); starts[p]];
    for (weights, labels) in groups.into_iter().zip(order.chunks(MAX_LANES)) {
        for (&feature, range) in weights.features.iter().zip(weights.starts.windows(2)) {
            let next = &mut next[feature as usize];
            for entry in range[0] as usize..range[1] as usize {
                entries[*next] = (labels[weights.lanes[entry] as usize], weights.values[entry]);
                *next += 1;
            }
        }
    }
    for range in starts.windows(2) {
        entries[range[0]..range[1]].sort_unstable_by_key(|(label, _)| *label);
    }
    let (labels, values) = entries.into_iter().unzip();
    CsrMatrix::new((p, d), starts, labels, values)
}
