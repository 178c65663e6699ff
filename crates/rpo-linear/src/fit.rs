//! Algorithm 3: embedding, feature projection, random features, and the final fit.

use ndarray::{Array1, Array2, s};
use rand::seq::SliceRandom;
use rpo_core::{Matrix, MatrixView};
use rpo_projections::linalg::{Penalty, standard_normal};
use rpo_projections::{RandomFeatures, Rank};

use crate::checks::{check_data, check_labels};
use crate::descent::Descending;
use crate::normal::NormalEquations;
use crate::params::{LinkParams, ValidLinkParams};
use crate::source::Source;
use crate::{Descent, FeatureMap, Fit, Inputs, LinearError, Link, LinkModel, Response};

/// What happened during a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitLog {
    /// Dimensions k of the embedding; `None` for raw inputs.
    pub rank: Option<usize>,
    /// The penalty on Θ as used: tenfold the parameter for each time that ΦᵀΦ + λ̄₂I had no factor.
    pub penalty: Penalty,
    /// Mean loss per sample, before the first epoch and after each; empty for the squared loss. Of the samples withheld
    /// if there are any, otherwise of all.
    pub losses: Vec<f64>,
    /// The epoch whose weights were kept; 0 for the solution of least squares.
    pub kept_epoch: usize,
}

impl ValidLinkParams {
    /// Fits a link to features `x` (n x p) and outputs `y` (n x d): labels for the logistic losses, any numbers for the
    /// squared loss.
    ///
    /// A function of data, parameters and seed for any number of threads. Time: `passes + 1` times k + `oversampling`
    /// least squares solves for the embedding, n s² + s³ + s nnz(Y) + s² d for the squared loss, and
    /// n s d + 10 s² d per epoch for the others. Memory: Θ and as much again up to three times (s d), ΦᵀΦ (s²), and the
    /// features of a block of rows if they are not kept.
    ///
    /// # Errors
    /// [`LinearError`] for shapes that do not fit, values that are not finite, outputs that are no labels where the loss
    /// needs them, and parameters that the data make impossible (a rank above d).
    pub fn fit(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<LinkModel, LinearError> {
        self.fit_logged(x, y).map(|(model, _)| model)
    }

    /// [`fit`](Self::fit) with an account of it.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_logged(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
    ) -> Result<(LinkModel, FitLog), LinearError> {
        let params = &self.0;
        check_data(x, y)?;
        let response = match params.fit {
            Fit::Squared => Response::Identity,
            Fit::Logistic(_) => Response::Logistic,
            Fit::Softmax(_) => Response::Softmax,
        };
        check_labels(response, y)?;
        let map = feature_map(params, x, y)?;
        let source = Source::new(&map, x, params.cache);
        let (training, withheld) = self.shares(x.n_rows());
        let normal = NormalEquations::new(&source, y, &training);
        let (factor, penalty) = normal.factor(params.penalty)?;
        let mut start = normal.right.clone();
        factor.solve_rows(start.view_mut())?;
        let start = start.mapv(|v| v as f32);
        if start.iter().any(|v| !v.is_finite()) {
            return Err(LinearError::Overflow { what: "Θ" });
        }
        let mut log = FitLog {
            rank: map.projection().map(|(weights, _)| weights.ncols()),
            penalty,
            losses: Vec::new(),
            kept_epoch: 0,
        };
        let weights = match params.fit {
            Fit::Squared => start,
            Fit::Logistic(descent) | Fit::Softmax(descent) => {
                let descending = Descending {
                    source: &source,
                    y,
                    response,
                    params: descent,
                    factor: factor.to_f32(),
                    right: normal.right.mapv(|v| v as f32),
                    training: &training,
                    judging: if withheld.is_empty() { &training } else { &withheld },
                    seed: params.seed.purpose("descent"),
                };
                let descended = descending.run(start)?;
                (log.losses, log.kept_epoch) = (descended.losses, descended.kept);
                descended.weights
            }
        };
        drop(source);
        let model = LinkModel::new(map, weights, response, x.n_rows())?;
        Ok((model, log))
    }

    /// The rows to learn from and those withheld, each increasing.
    fn shares(&self, n: usize) -> (Vec<usize>, Vec<usize>) {
        let (Fit::Logistic(Descent { validation, .. }) | Fit::Softmax(Descent { validation, .. })) =
            self.0.fit
        else {
            return ((0..n).collect(), Vec::new());
        };
        let withheld = ((validation * n as f64) as usize).min(n - 1);
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut self.0.seed.purpose("validation").rng());
        let mut training = order.split_off(withheld);
        training.sort_unstable();
        order.sort_unstable();
        (training, order)
    }
}

/// W and R: everything before the final fit.
fn feature_map(params: &LinkParams, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<FeatureMap, LinearError> {
    let projection = match params.inputs {
        Inputs::Raw => None,
        Inputs::Learned(rank) => Some(regression(params, x, y, rank, true)?),
        Inputs::Random(rank) => Some(regression(params, x, y, rank, false)?),
    };
    let linear = FeatureMap::new(x.n_cols(), projection, None)?;
    let Link::Fourier {
        law,
        n_features,
        bandwidth_factor,
    } = params.link
    else {
        return Ok(linear);
    };
    let seed = params.seed.purpose("link");
    let mut rows: Vec<usize> = (0..x.n_rows()).collect();
    let (sample, _) = rows.partial_shuffle(&mut seed.purpose("sample").rng(), RandomFeatures::BANDWIDTH_ROWS);
    let z = match linear.projected(x, sample) {
        Some(z) => Matrix::Dense(z),
        None => x.select_rows(sample),
    };
    let distance = RandomFeatures::median_squared_distance(z.view(), seed)?;
    let inverse_bandwidth = law.inverse_bandwidth(bandwidth_factor, distance);
    let n_features = n_features.unwrap_or_else(|| usual_features(x.n_rows()));
    let fourier = RandomFeatures::draw(law, inverse_bandwidth, z.n_cols(), n_features, seed)?;
    let projection = linear
        .projection()
        .map(|(weights, offset)| (weights.clone(), offset.clone()));
    FeatureMap::new(x.n_cols(), projection, Some(fourier))
}

/// Half as many as samples, within bounds.
fn usual_features(n: usize) -> usize {
    (n / 2).clamp(100, 2000)
}

/// V, learned or drawn, and W = argmin ‖YV - XW‖² + λ̄'‖W‖² with its offset.
fn regression(
    params: &LinkParams,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    rank: Rank,
    learned: bool,
) -> Result<(Array2<f32>, Array1<f32>), LinearError> {
    let embedding = &params.embedding;
    let ridge = embedding.ridge(&x)?;
    let v = if learned {
        let found = embedding.fit_on(&ridge, &y, rank, params.seed)?;
        found.directions.reversed_axes()
    } else {
        let k = rank.resolve(&y, params.seed)?;
        standard_normal(y.n_cols(), k, params.seed.purpose("compressed sensing"))? / (k as f64).sqrt()
    };
    let same = (params.final_lambda_ratio - 1.0).abs() == 0.0;
    let w = if same {
        ridge.solve(&y, v.view())?
    } else {
        let last = embedding.scale_penalty(params.final_lambda_ratio);
        last.ridge(&x)?.solve(&y, v.view())?
    };
    let p = x.n_cols();
    let weights = w.slice(s![..p, ..]).mapv(|v| v as f32);
    let offset = if w.nrows() > p {
        w.row(p).mapv(|v| v as f32)
    } else {
        Array1::zeros(w.ncols())
    };
    if weights.iter().chain(&offset).any(|v| !v.is_finite()) {
        return Err(LinearError::Overflow { what: "W" });
    }
    Ok((weights, offset))
}
