//! Conversion of scores to predictions.

use super::loss::Softmax;
use crate::error::EnsembleError;
use ndarray::ArrayViewMut1;
use rpo_core::{InverseLink, Mismatch, ParameterError, TooFew, math};
use serde::{Deserialize, Serialize};

/// The function that converts the scores of consecutive outputs to predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkBlock {
    /// The function of each score, or of all scores of the block for [`InverseLink::Softmax`].
    pub link: InverseLink,
    /// Number of outputs.
    pub n_outputs: usize,
    /// True for levels of one target, whose predictions are sorted in increasing order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
}

impl LinkBlock {
    /// Returns true if the prediction of each output depends only on its own score.
    fn is_separate(self) -> bool {
        self.link != InverseLink::Softmax && !self.ordered
    }
}

/// The links of all outputs, in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Links(Vec<LinkBlock>);

impl Links {
    /// Creates links, whose blocks must add up to `n_outputs` outputs.
    pub(super) fn new(blocks: Vec<LinkBlock>, n_outputs: usize) -> Result<Self, EnsembleError> {
        for block in &blocks {
            TooFew::check("outputs of a link", 1, block.n_outputs)?;
        }
        let given = blocks
            .iter()
            .fold(0_usize, |sum, block| sum.saturating_add(block.n_outputs));
        Mismatch::check("outputs of the links", n_outputs, given)?;
        Ok(Self(blocks))
    }

    pub(super) fn blocks(&self) -> &[LinkBlock] {
        &self.0
    }

    /// Returns the link of all outputs, if they share one and each prediction depends on one score.
    pub(super) fn common(&self) -> Option<InverseLink> {
        match self.0[..] {
            [block] if block.is_separate() => Some(block.link),
            _ => None,
        }
    }

    /// Writes the predictions of a sample.
    pub(super) fn predict(&self, scores: &[f64], mut out: ArrayViewMut1<'_, f32>) {
        let mut start = 0;
        for block in &self.0 {
            let scores = &scores[start..start + block.n_outputs];
            let out = out.slice_mut(ndarray::s![start..start + block.n_outputs]);
            start += block.n_outputs;
            if block.is_separate() {
                let pairs = out.into_iter().zip(scores);
                pairs.for_each(|(out, &score)| *out = prediction(block.link, score) as f32);
                continue;
            }
            let mut values = scores.to_vec();
            if block.ordered {
                values.sort_unstable_by(f64::total_cmp);
            } else {
                Softmax::probabilities(scores, &mut values);
            }
            out.into_iter()
                .zip(values)
                .for_each(|(out, value)| *out = value as f32);
        }
    }
}

/// Returns the prediction for a score f: f itself, eᶠ for [`InverseLink::Exponential`], or for
/// [`InverseLink::Logistic`] the probability of the label, σ(2f) = 1 / (1 + exp(−2f)), because f is half of the
/// log-odds. (The paper's section 3.1 says "logit function", which is the inverse of the function meant.)
#[inline]
pub(super) fn prediction(inverse_link: InverseLink, score: f64) -> f64 {
    match inverse_link {
        InverseLink::Logistic => math::sigmoid(2.0 * score),
        InverseLink::Exponential => math::exp(score),
        InverseLink::Identity | InverseLink::Softmax => score,
    }
}

/// Checks that each prediction of a custom loss depends on a single score.
pub(super) fn check_custom(inverse_link: InverseLink) -> Result<(), ParameterError> {
    let reason = "couples the outputs; a custom loss needs identity, logistic or exponential";
    match inverse_link {
        InverseLink::Softmax => Err(ParameterError::conflict("inverse_link", "softmax", reason)),
        InverseLink::Identity | InverseLink::Logistic | InverseLink::Exponential => Ok(()),
    }
}
