//! Predictions of boosted models.
//!
//! Blocks of samples are routed through the trees, whose values are summed step by step in `f64`
//! ([`BlockScores`]). The scores of a sample therefore depend on that sample alone, and the scores after m steps are
//! those of the model truncated at m, bit for bit ([`Stages`](super::Stages)).

use super::block_scores::BlockScores;
use super::link::prediction;
use super::model::Boosted;
use crate::error::EnsembleError;
use crate::inference::mean::{check_features, check_leaves, check_width, zeros};
use ndarray::{Array1, Array2, ArrayViewMut1, ArrayViewMut2, Axis};
use rayon::prelude::*;
use rpo_core::{
    Apply, CsrMatrix, DEFAULT_MEMORY_LIMIT, Domain, InverseLink, MatrixView, Predictor, TreeEnsemble,
    best_of, csr_of_rows, top_of_pairs,
};

/// The outputs and predictions that are kept for each sample.
type TopRows = Vec<Vec<(u32, f32)>>;

/// Trees are in the order of steps, and within a step in that of outputs.
impl Apply for Boosted {
    fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, EnsembleError> {
        self.check_features(x)?;
        check_leaves(x.n_rows(), self.trees().len())?;
        let block = BlockScores::block_size(self, x);
        let mut out = Array2::zeros((x.n_rows(), self.trees().len()));
        let blocks = out
            .axis_chunks_iter_mut(Axis(0), block)
            .into_par_iter()
            .enumerate();
        blocks.for_each(|(i, mut out)| {
            let range = i * block..i * block + out.nrows();
            BlockScores::new(self, x).leaves_of(range, |tree, leaves| {
                out.column_mut(tree)
                    .iter_mut()
                    .zip(leaves)
                    .for_each(|(out, &leaf)| *out = leaf);
            });
        });
        Ok(out)
    }
}

/// Predictions are probabilities of the labels for the logistic loss, otherwise outputs in their unit. A prediction
/// beyond the range of `f32` is an [`EnsembleError::Prediction`].
impl Predictor for Boosted {
    type Error = EnsembleError;

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_outputs(&self) -> usize {
        self.initial.len()
    }

    fn n_train(&self) -> usize {
        self.n_train
    }

    fn predict_with_limit(
        &self,
        x: MatrixView<'_>,
        memory_limit: usize,
    ) -> Result<Array2<f32>, EnsembleError> {
        self.sums(x, memory_limit, |scores, out| self.links.predict(scores, out))
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
        self.check_features(x)?;
        Domain::Count.check("k", k)?;
        let (n, d, block) = (x.n_rows(), self.n_outputs(), BlockScores::block_size(self, x));
        let common = self.links.common();
        let blocks: Vec<Result<TopRows, EnsembleError>> = (0..n.div_ceil(block))
            .into_par_iter()
            .map(|i| {
                let range = i * block..((i + 1) * block).min(n);
                let mut rows = Vec::with_capacity(range.len());
                let mut checked = Ok(());
                let mut predictions = Array1::zeros(if common.is_none() { d } else { 0 });
                BlockScores::new(self, x).for_each(range, |row, scores| {
                    let top = match common {
                        Some(link) => top_by_score(link, scores, k),
                        None => {
                            self.links.predict(scores, predictions.view_mut());
                            best_of(predictions.view(), k)
                        }
                    };
                    if checked.is_ok() {
                        checked = check_row(row, top.iter().copied());
                    }
                    rows.push(top);
                });
                checked.map(|()| rows)
            })
            .collect();
        let blocks = blocks.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(csr_of_rows(blocks.iter().flatten(), (n, d)))
    }
}

impl Boosted {
    /// Returns the scores f (n x d), to which [links](Self::links) have not been applied. They rank labels as
    /// predictions do, but more finely where probabilities round to 0 or 1.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict).
    pub fn scores(&self, x: MatrixView<'_>) -> Result<Array2<f32>, EnsembleError> {
        self.sums(x, DEFAULT_MEMORY_LIMIT, |scores, out| {
            out.into_iter()
                .zip(scores)
                .for_each(|(out, &score)| *out = score as f32);
        })
    }

    /// Returns the constants ρ₀ for each sample.
    pub(super) fn initial_scores(&self, n_rows: usize) -> Array2<f64> {
        Array2::from_shape_fn((n_rows, self.n_outputs()), |(_, j)| self.initial()[j])
    }

    /// Writes the predictions for scores.
    pub(super) fn predictions_into(&self, scores: &Array2<f64>, out: &mut Array2<f32>) {
        ndarray::Zip::from(out.rows_mut())
            .and(scores.rows())
            .par_for_each(|out, scores| {
                self.links
                    .predict(scores.as_slice().expect("made in row order"), out);
            });
    }

    fn sums(
        &self,
        x: MatrixView<'_>,
        memory_limit: usize,
        convert: impl Fn(&[f64], ArrayViewMut1<'_, f32>) + Sync,
    ) -> Result<Array2<f32>, EnsembleError> {
        self.check_features(x)?;
        let mut out = zeros(x.n_rows(), self.n_outputs(), memory_limit)?;
        let block = BlockScores::block_size(self, x);
        let checked: Vec<Result<(), EnsembleError>> = out
            .axis_chunks_iter_mut(Axis(0), block)
            .into_par_iter()
            .enumerate()
            .map(|(i, mut out): (usize, ArrayViewMut2<'_, f32>)| {
                let start = i * block;
                BlockScores::new(self, x).for_each(start..start + out.nrows(), |row, scores| {
                    convert(scores, out.row_mut(row - start));
                });
                let mut rows = out.rows().into_iter().enumerate();
                rows.try_for_each(|(row, values)| check_row(start + row, (0..).zip(values.iter().copied())))
            })
            .collect();
        checked.into_iter().collect::<Result<(), _>>()?;
        Ok(out)
    }

    pub(super) fn check_features(&self, x: MatrixView<'_>) -> Result<(), EnsembleError> {
        check_features(x, self.n_features())?;
        check_width(x)
    }
}

/// Returns the k largest predictions of a sample, without zeros unless one is negative. They are chosen by score, because
/// the probabilities of nearly certain labels round to equal values.
fn top_by_score(link: InverseLink, scores: &[f64], k: usize) -> Vec<(u32, f32)> {
    let converted = |score| prediction(link, score) as f32;
    let is_signed = link == InverseLink::Identity && scores.iter().any(|score| *score < 0.0);
    let counts = (0..)
        .zip(scores)
        .filter(|(_, score)| is_signed || converted(**score) != 0.0);
    let mut top = top_of_pairs(counts.map(|(j, &score)| (j, score as f32)).collect(), k);
    top.iter_mut()
        .for_each(|(j, value)| *value = converted(scores[*j as usize]));
    top
}

/// Checks that the predictions of a sample are finite.
pub(super) fn check_row(row: usize, values: impl Iterator<Item = (u32, f32)>) -> Result<(), EnsembleError> {
    let mut values = values.filter(|(_, value)| !value.is_finite());
    values.next().map_or(Ok(()), |(output, value)| {
        let output = output as usize;
        Err(EnsembleError::Prediction {
            sample: row,
            output,
            value,
        })
    })
}
