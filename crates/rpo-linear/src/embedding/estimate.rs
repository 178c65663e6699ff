//! Cost estimates of label embeddings, from sizes alone.

use rpo_core::MatrixView;
use rpo_projections::least_squares::RidgeSolver;

use super::params::LabelEmbeddingParams;
use crate::FitEstimate;

/// Multiplications and additions per second in products of dense matrices.
const DENSE: f64 = 4e10;
/// The same for solves and products with sparse matrices, which wait for memory.
const SPARSE: f64 = 4e9;
/// Number of conjugate gradient iterations of a least squares problem on text.
const ITERATIONS: f64 = 40.0;

impl LabelEmbeddingParams {
    /// Estimates the cost of a fit from the operations of its steps, at the rates of a processor core of 2024. If the
    /// rank is a rule, it is taken at the maximum number of dimensions.
    pub(super) fn estimate(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> FitEstimate {
        let [n, p, d] = [x.n_rows(), x.n_cols(), y.n_cols()].map(|size| size as f64);
        let (x_stored, y_stored) = (x.n_stored() as f64, y.n_stored() as f64);
        let (mut sparse, mut dense) = (0.0, 0.0);
        let mut terms = p;
        if let Some((rank, is_learned)) = self.embedding() {
            let k = rank.at_most(y.n_cols()) as f64;
            let embedding = self.label_embedding();
            let mut columns = k;
            if is_learned {
                columns += (k + embedding.oversampling as f64) * (1.0 + embedding.passes as f64);
            }
            let products = 2.0 * (x_stored + y_stored);
            sparse += 2.0 * columns * products;
            if x.n_cols() < RidgeSolver::DIRECT_COLUMNS {
                dense += p * x_stored + p * p * p / 3.0 + 2.0 * columns * p * p;
            } else {
                sparse += 2.0 * columns * ITERATIONS * 2.0 * x_stored;
            }
            sparse += 2.0 * x_stored * k;
            terms = k;
        }
        if let Some(kernel) = self.kernel() {
            let s = kernel.n_features.unwrap_or_else(|| self.usual_features(x, y)) as f64;
            dense += 2.0 * n * terms * s;
            terms = s;
        }
        dense += n * terms * terms + terms * terms * terms / 3.0 + 2.0 * d * terms * terms;
        sparse += 2.0 * y_stored * terms;
        let mut copies = 1.5;
        if let Some(sgd) = self.sgd() {
            dense += n * terms * terms + sgd.epochs as f64 * 4.0 * n * d * terms;
            copies = 4.0;
        }
        FitEstimate {
            cpu_seconds: dense / DENSE + sparse / SPARSE,
            bytes: 4.0 * (copies * d * terms + n * terms) + 16.0 * terms * terms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use rpo_projections::Rank;

    /// Every size, every pass and every dimension has a cost.
    #[test]
    fn more_work_takes_longer() {
        let zeros = |n, columns| Array2::<f32>::zeros((n, columns));
        let (x, y) = (zeros(500, 30), zeros(500, 20));
        let base = LabelEmbeddingParams {
            rank: Some(Rank::Exact(10)),
            features: Some(100),
            ..LabelEmbeddingParams::default()
        };
        let estimate = |params: &LabelEmbeddingParams, x: &Array2<f32>, y: &Array2<f32>| {
            params.estimate(x.into(), y.into()).cpu_seconds
        };
        let least = estimate(&base, &x, &y);
        for (x, y) in [
            (zeros(600, 30), zeros(600, 20)),
            (zeros(500, 40), y.clone()),
            (x.clone(), zeros(500, 30)),
        ] {
            assert!(estimate(&base, &x, &y) > least);
        }
        for more in [
            LabelEmbeddingParams {
                rank: Some(Rank::Exact(11)),
                ..base.clone()
            },
            LabelEmbeddingParams {
                features: Some(110),
                ..base.clone()
            },
            LabelEmbeddingParams {
                epochs: Some(6),
                ..base.clone()
            },
            LabelEmbeddingParams {
                embedding_passes: Some(2),
                ..base.clone()
            },
        ] {
            assert!(estimate(&more, &x, &y) > least, "{more:?}");
        }
    }
}
