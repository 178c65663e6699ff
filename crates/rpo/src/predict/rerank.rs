//! Finds the best labels by scores that give rare labels more weight.

use crate::blocks::{BLOCK_BYTES, for_each_block};
use crate::{Model, ModelError};
use rpo_core::Predictor;
use rpo_core::{CsrMatrix, Domain, MatrixView, Propensity, csr_of_rows, top_of};
use rpo_metrics::{MetricError, is_probability};

impl Model {
    /// Returns the k best labels of each row. Without propensities these are those of
    /// [`predict_top_k`](Self::predict_top_k); otherwise those with the largest score / p, as CSR (n x d) of these
    /// quotients, with p the propensity of a label by its count in training (Jain, Prabhu, Varma, KDD 2016). All labels
    /// with nonzero scores are considered, not only the k best by score. Holds the scores of some rows at a time.
    ///
    /// If scores are the probabilities of the labels, no other k labels have a larger expected psp@k, which is
    /// proportional to the sum of the labels' quotients.
    ///
    /// ```
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::{core::Propensity, prelude::*};
    ///
    /// let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
    /// let model = Model::fit(&ForestParams::default(), &data)?;
    /// let best = model.predict_top_k_ranked(data.features().view(), 3, Some(Propensity::default()))?;
    /// assert!(best.shape() == (200, 20) && best.nnz() <= 600);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`predict_top_k`](Self::predict_top_k); a model that predicts numbers, a score that is not a probability
    /// ([`is_probability`]), and parameters of propensities out of range.
    pub fn predict_top_k_ranked(
        &self,
        x: MatrixView<'_>,
        k: usize,
        rerank: Option<Propensity>,
    ) -> Result<CsrMatrix, ModelError> {
        match rerank {
            Some(propensity) => self.predict_top_k_by_propensity(x, k, propensity),
            None => self.predict_top_k(x, k),
        }
    }

    fn predict_top_k_by_propensity(
        &self,
        x: MatrixView<'_>,
        k: usize,
        propensity: Propensity,
    ) -> Result<CsrMatrix, ModelError> {
        Domain::Count.check("k", k)?;
        let inverse = self.inverse_propensities("ranking by propensity", propensity)?;
        let mut best = Vec::with_capacity(x.n_rows());
        for_each_block(x, self.n_outputs(), BLOCK_BYTES, |samples, block| {
            let scores = self.predict_with_limit(block, usize::MAX);
            let mut scores = scores.map_err(|e| e.in_block(samples.start))?;
            for (sample, mut scores) in samples.zip(scores.rows_mut()) {
                for (label, (score, inverse)) in scores.iter_mut().zip(&inverse).enumerate() {
                    let value = f64::from(*score);
                    if !is_probability(value) {
                        return Err(MetricError::NotAProbability { sample, label, value }.into());
                    }
                    *score = (value * inverse) as f32;
                }
                best.push(top_of(scores.view(), k));
            }
            Ok::<(), ModelError>(())
        })?;
        Ok(csr_of_rows(best.iter(), (x.n_rows(), self.n_outputs())))
    }

    /// 1/p of each label by the label counts of the training set; `what` is named in errors.
    pub(crate) fn inverse_propensities(
        &self,
        what: &str,
        propensity: Propensity,
    ) -> Result<Vec<f64>, ModelError> {
        let counts = self.training().label_counts();
        let counts = counts.ok_or_else(|| ModelError::MetricForLabels {
            metric: what.to_owned(),
        })?;
        Ok(propensity.inverse(counts, self.training().n_samples)?)
    }
}
