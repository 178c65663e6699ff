//! Finds the best labels by scores that give rare labels more weight.

use crate::blocks::best_by_blocks;
use crate::{Model, ModelError};
use ndarray::{Array1, ArrayView1};
use rpo_core::Predictor;
use rpo_core::{CsrMatrix, Domain, MatrixView, Propensity, TooFew, best_of, csr_of_rows};
use rpo_metrics::{MetricError, is_probability};

/// The name of the ranking in errors.
pub(crate) const BY_PROPENSITY: &str = "ranking by propensity";

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
            Some(_) => {
                Domain::Count.check("k", k)?;
                let best = self.best_by_blocks(x, rerank, |values| best_of(values, k))?;
                Ok(csr_of_rows(best.iter(), (x.n_rows(), self.n_outputs())))
            }
            None => self.predict_top_k(x, k),
        }
    }

    /// Calls `keep` with the scores of each sample, or with their quotients by the propensities of a model, and returns
    /// what it keeps.
    pub(crate) fn best_by_blocks(
        &self,
        x: MatrixView<'_>,
        rerank: Option<Propensity>,
        keep: impl Fn(ArrayView1<'_, f32>) -> Vec<(u32, f32)> + Sync,
    ) -> Result<Vec<Vec<(u32, f32)>>, ModelError> {
        let inverse = rerank.map(|propensity| self.inverse_propensities(BY_PROPENSITY, propensity));
        let inverse = inverse.transpose()?;
        let predict = |x: MatrixView<'_>| self.predict_with_limit(x, usize::MAX);
        best_by_blocks(x, self.n_outputs(), predict, |sample, scores| {
            let Some(inverse) = &inverse else {
                return Ok(keep(scores));
            };
            let quotients = scores.iter().zip(inverse).enumerate();
            let quotients = quotients.map(|(label, (score, inverse))| {
                let value = f64::from(*score);
                match is_probability(value) {
                    true => Ok((value * inverse) as f32),
                    false => Err(MetricError::NotAProbability { sample, label, value }),
                }
            });
            Ok(keep(quotients.collect::<Result<Array1<_>, _>>()?.view()))
        })
    }

    /// 1/p of each label by the label counts of the training set; `what` is named in errors.
    pub(crate) fn inverse_propensities(
        &self,
        what: &str,
        propensity: Propensity,
    ) -> Result<Vec<f64>, ModelError> {
        let (counts, n_samples) = (self.label_counts(what)?, self.training().n_samples);
        TooFew::check("training samples for propensities", 3, n_samples)?;
        Ok(propensity.inverse(counts, n_samples)?)
    }

    /// The label counts of the training set, which `what` depends on.
    pub(crate) fn label_counts(&self, what: &str) -> Result<&[usize], ModelError> {
        let counts = self.training().label_counts();
        counts.ok_or_else(|| self.only_for_labels(what.to_owned()))
    }
}
