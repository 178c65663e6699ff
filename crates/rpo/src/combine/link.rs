//! Combines the predictions of members into that of the ensemble.

use super::Weight;
use ndarray::{Array2, Zip};
use rpo_core::math;
use serde::{Deserialize, Serialize};

/// How predictions are combined, after they are [limited](super::Limits).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Link {
    /// Their weighted mean.
    #[default]
    Mean,
    /// The probability of the weighted sum of their log-odds and an intercept.
    LogOdds {
        /// The intercept.
        intercept: f64,
    },
    /// The training mean plus the weighted sum of their distances from it; of labels at least 0 and at most 1, as weights
    /// may have any sign.
    Distances,
}

/// The probability that stands for 0, and the distance from 1 of that which stands for 1.
const LEAST: f64 = 1e-3;

/// ln(q / (1 − q)) with q = ε + (1 − 2ε) p, which is finite and keeps the order of all p.
pub(super) fn log_odds(p: f32) -> f32 {
    let p = f64::from(p.clamp(0.0, 1.0));
    let of = |p: f64| LEAST + (1.0 - 2.0 * LEAST) * p;
    math::ln(of(p) / of(1.0 - p)) as f32
}

fn probability(z: f32) -> f32 {
    math::sigmoid(z)
}

impl Link {
    /// Combines limited predictions with their weights; `means` are the training means of the outputs, and `labels` are
    /// those that are labels. Returns `None` if there are no predictions.
    ///
    /// # Errors
    /// The first error among the predictions.
    pub(super) fn combine<E>(
        self,
        predictions: impl IntoIterator<Item = (Result<Array2<f32>, E>, Weight)>,
        means: &[f64],
        labels: &[usize],
    ) -> Result<Option<Array2<f32>>, E> {
        let mut sum: Option<Array2<f32>> = None;
        for (scores, weight) in predictions {
            let mut scores = scores?;
            match self {
                Self::Mean => {}
                Self::LogOdds { .. } => scores.mapv_inplace(log_odds),
                Self::Distances => shift(&mut scores, means, -1.0),
            }
            weight.scale(&mut scores, labels);
            match &mut sum {
                None => sum = Some(scores),
                Some(sum) => *sum += &scores,
            }
        }
        if let Some(sum) = &mut sum {
            match self {
                Self::Mean => {}
                Self::LogOdds { intercept } => sum.mapv_inplace(|z| probability(z + intercept as f32)),
                Self::Distances => {
                    shift(sum, means, 1.0);
                    for &label in labels {
                        sum.column_mut(label).mapv_inplace(|score| score.clamp(0.0, 1.0));
                    }
                }
            }
        }
        Ok(sum)
    }
}

fn shift(scores: &mut Array2<f32>, means: &[f64], sign: f64) {
    for row in scores.rows_mut() {
        Zip::from(row)
            .and(means)
            .for_each(|score, mean| *score += (sign * mean) as f32);
    }
}
