//! Algorithm 3: embedding, feature projection, random features, and the final fit.

use ndarray::{Array1, Array2, s};
use rand::seq::SliceRandom;
use rpo_core::{Matrix, MatrixView, Seed};
use rpo_projections::{LabelEmbedding, Penalty, RandomFeatures, Rank, standard_normal};

use super::normal::NormalEquations;
use super::params::{Kernel, LabelEmbeddingParams};
use super::sgd::Sgd;
use super::terms::Terms;
use super::{FeatureMap, LinkModel};
use crate::checks::{check_data, check_labels};
use crate::options::check_matrix;
use crate::{FitOptions, LinearError};

/// The course of the fit of a label embedding.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// Dimensions k of the embedding; `None` without one.
    pub rank: Option<usize>,
    /// The penalty on Θ that was used: the parameter, raised tenfold each time that ΦᵀΦ + λ̄₂I had no factor.
    pub penalty: Option<Penalty>,
    /// Mean loss per sample, before the first epoch and after each; empty for the squared loss. Of the withheld samples if
    /// there are any, otherwise of all.
    pub losses: Vec<f64>,
    /// The epoch whose weights were kept; 0 for the solution of least squares.
    pub kept_epoch: usize,
}

impl LabelEmbeddingParams {
    /// [`fit`](Self::fit) with options.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: FitOptions<'_>,
    ) -> Result<LinkModel, LinearError> {
        self.check()?;
        check_data(x, y)?;
        let (inverse_link, limit) = (self.inverse_link(), options.limit());
        check_labels(inverse_link, y)?;
        let seed = Seed::new(self.seed);
        let map = feature_map(self, x, y, seed, limit)?;
        check_matrix::<f64>(
            "the products of all random features",
            map.n_terms(),
            map.n_terms(),
            limit,
        )?;
        check_matrix::<f64>("the weights of all outputs", y.n_cols(), map.n_terms(), limit)?;
        let terms = Terms::new(&map, x, limit / 4);
        let (training, withheld) = self.split(x.n_rows(), seed);
        let normal = NormalEquations::new(&terms, y, &training);
        let (factor, penalty) = normal.factor(self.lambda)?;
        let mut start = normal.right.clone();
        factor.solve_rows(start.view_mut())?;
        let start = start.mapv(|v| v as f32);
        if start.iter().any(|v| !v.is_finite()) {
            return Err(LinearError::Overflow { what: "Θ" });
        }
        let mut history = History {
            rank: map.projection().map(|(weights, _)| weights.ncols()),
            penalty: Some(penalty),
            ..History::default()
        };
        let weights = match self.sgd() {
            None => start,
            Some(params) => {
                let sgd = Sgd {
                    terms: &terms,
                    y,
                    inverse_link,
                    params,
                    factor: factor.to_f32(),
                    right: normal.right.mapv(|v| v as f32),
                    training: &training,
                    judging: if withheld.is_empty() { &training } else { &withheld },
                    seed: seed.purpose("descent"),
                };
                let descended = sgd.run(start)?;
                (history.losses, history.kept_epoch) = (descended.losses, descended.kept);
                descended.weights
            }
        };
        drop(terms);
        options.finish(history);
        LinkModel::new(map, weights, inverse_link, x.n_rows())
    }

    /// Splits the samples into those to learn from and those withheld, each increasing.
    fn split(&self, n: usize, seed: Seed) -> (Vec<usize>, Vec<usize>) {
        let Some(sgd) = self.sgd() else {
            return ((0..n).collect(), Vec::new());
        };
        let withheld = ((sgd.withhold * n as f64) as usize).min(n - 1);
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut seed.purpose("validation").rng());
        let mut training = order.split_off(withheld);
        training.sort_unstable();
        order.sort_unstable();
        (training, order)
    }
}

/// W and R: everything before the final fit.
fn feature_map(
    params: &LabelEmbeddingParams,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    seed: Seed,
    limit: usize,
) -> Result<FeatureMap, LinearError> {
    let n_features = |kernel: &Kernel| kernel.n_features.unwrap_or_else(|| usual_features(x.n_rows()));
    let kernel = params.kernel();
    if let Some(kernel) = &kernel {
        let s = n_features(kernel);
        check_matrix::<f64>("the products of all random features", s, s, limit)?;
    }
    let projection = match params.embedding() {
        None => None,
        Some((rank, learned)) => Some(regression(params, x, y, rank, learned, seed)?),
    };
    let linear = FeatureMap::new(x.n_cols(), projection, None)?;
    let Some(kernel) = kernel else {
        return Ok(linear);
    };
    let seed = seed.purpose("link");
    let mut rows: Vec<usize> = (0..x.n_rows()).collect();
    let (sample, _) = rows.partial_shuffle(&mut seed.purpose("sample").rng(), RandomFeatures::BANDWIDTH_ROWS);
    let z = match linear.projected(x, sample) {
        Some(z) => Matrix::Dense(z),
        None => x.select_rows(sample),
    };
    let distance = RandomFeatures::median_squared_distance(z.view(), seed)?;
    let inverse_bandwidth = kernel.law.inverse_bandwidth(kernel.bandwidth, distance);
    let (inputs, s) = (z.n_cols(), n_features(&kernel));
    check_matrix::<f32>("the frequencies of the random features", inputs, s, limit)?;
    let fourier = RandomFeatures::draw(kernel.law, inverse_bandwidth, inputs, s, seed)?;
    linear.with_fourier(fourier)
}

/// Half the number of samples, within bounds.
fn usual_features(n: usize) -> usize {
    (n / 2).clamp(100, 2000)
}

/// V, learned or drawn, and W = argmin ‖YV - XW‖² + λ̄'‖W‖² with its offset.
fn regression(
    params: &LabelEmbeddingParams,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    rank: Rank,
    learned: bool,
    seed: Seed,
) -> Result<(Array2<f32>, Array1<f32>), LinearError> {
    let embedding = params.label_embedding();
    let ridge = embedding.ridge(&x)?;
    let v = if learned {
        let found = embedding.fit_on(&ridge, &y, rank, seed)?;
        found.directions.reversed_axes()
    } else {
        let k = rank.resolve(&y, seed)?;
        standard_normal(y.n_cols(), k, seed.purpose("compressed sensing"))? / (k as f64).sqrt()
    };
    let ratio = params.final_lambda_ratio();
    let same = (ratio - 1.0).abs() == 0.0;
    let w = if same {
        ridge.solve(&y, v.view())?
    } else {
        let penalty = embedding.penalty.scaled(ratio);
        LabelEmbedding { penalty, ..embedding }
            .ridge(&x)?
            .solve(&y, v.view())?
    };
    let p = x.n_cols();
    let weights = w.slice(s![..p, ..]).mapv(|v| v as f32);
    let offset = w.row(p).mapv(|v| v as f32);
    if weights.iter().chain(&offset).any(|v| !v.is_finite()) {
        return Err(LinearError::Overflow { what: "W" });
    }
    Ok((weights, offset))
}
