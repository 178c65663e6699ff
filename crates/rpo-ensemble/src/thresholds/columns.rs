//! The scores of each label with what they are of.

use super::cuts::Pair;
use crate::error::EnsembleError;
use crate::inputs::check_binary;
use ndarray::ArrayView2;
use rpo_core::{MatrixView, Mismatch};

/// Scores and labels, read label by label: the pairs of all labels together would take more memory than the scores.
pub(super) struct Columns<'a> {
    scores: ArrayView2<'a, f32>,
    /// For each label, the samples that have it.
    positive: Vec<Vec<u32>>,
    /// For each label, the samples where it is missing.
    missing: Vec<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Negative,
    Positive,
    Missing,
}

impl<'a> Columns<'a> {
    pub(super) fn new(scores: ArrayView2<'a, f32>, labels: MatrixView<'_>) -> Result<Self, EnsembleError> {
        let (n, d) = scores.dim();
        Mismatch::check("rows of labels for the rows of scores", n, labels.n_rows())?;
        Mismatch::check("labels for the columns of scores", d, labels.n_cols())?;
        check_binary(labels, true)?;
        // There is nothing midway between infinite scores.
        if let Some(((sample, output), &value)) = scores.indexed_iter().find(|(_, score)| score.is_infinite())
        {
            return Err(EnsembleError::Prediction {
                sample,
                output,
                value,
            });
        }
        let (mut positive, mut missing) = (vec![Vec::new(); d], vec![Vec::new(); d]);
        for row in 0..n {
            labels.for_each_in_row(row, |label, value| {
                let marked = match value {
                    0.0 => return,
                    _ if value.is_nan() => &mut missing,
                    _ => &mut positive,
                };
                marked[label as usize].push(row as u32);
            });
        }
        Ok(Self {
            scores,
            positive,
            missing,
        })
    }

    pub(super) fn n_labels(&self) -> usize {
        self.positive.len()
    }

    /// Writes the pairs of a label, without those of which the score or the label is NaN.
    pub(super) fn copy(&self, label: usize, buffer: &mut Buffer) {
        buffer.marks.clear();
        buffer.marks.resize(self.scores.nrows(), Mark::Negative);
        for (marked, mark) in [(&self.positive, Mark::Positive), (&self.missing, Mark::Missing)] {
            for &row in &marked[label] {
                buffer.marks[row as usize] = mark;
            }
        }
        buffer.pairs.clear();
        let scores = self.scores.column(label);
        let known = scores
            .iter()
            .zip(&buffer.marks)
            .filter(|(score, mark)| **mark != Mark::Missing && !score.is_nan());
        let pairs = known.map(|(&score, &mark)| (score, mark == Mark::Positive));
        buffer.pairs.extend(pairs);
    }
}

/// The pairs of one label at a time.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) pairs: Vec<Pair>,
    marks: Vec<Mark>,
}
