//! Algorithm 3: embedding, feature projection, random features, and the final fit.

use ndarray::{Array1, Array2, ArrayView1, s};
use rand::seq::SliceRandom;
use rpo_core::{CheckParams, InverseLink, Learner, Matrix, MatrixView, Seed, math};
use rpo_projections::least_squares::{Design, Ridge, System};
use rpo_projections::{LabelEmbedding, Penalty, ProjectionError, RandomFeatures, Rank, standard_normal};

use super::normal::NormalEquations;
use super::params::{Kernel, LabelEmbeddingParams};
use super::sgd::{Descended, Ending, Sgd};
use super::terms::Terms;
use super::{FeatureMap, LabelEmbeddingModel};
use crate::checks::{check_data, check_groups};
use crate::groups::{by_group, taken};
use crate::options::{Limits, check_matrix};
use crate::{LabelEmbeddingOptions, LinearError};

/// Maximum number of training samples on which epochs are evaluated: evaluating all samples costs a third of an epoch.
const JUDGED_SAMPLES: usize = 2000;

/// Maximum number of weights for the default number of random features, which is still at least 250.
const USUAL_WEIGHTS: usize = 2_500_000;
/// Maximum default number of random features per dimension of what they are features of.
const USUAL_PER_INPUT: usize = 300;

/// The progress of the fit of a label embedding.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct History {
    /// Number of dimensions k of the embedding; `None` without an embedding.
    pub rank: Option<usize>,
    /// The penalty on Θ that was used: the parameter, raised tenfold each time ΦᵀΦ + λ̄₂I could not be factored.
    pub penalty: Option<Penalty>,
    /// Mean loss per sample, before the first epoch and after each; empty for the squared loss. Computed on the
    /// withheld samples, with a model fitted to the others, if there are any; otherwise on all samples, or on 2,000 if
    /// there are more.
    pub losses: Vec<f64>,
    /// The epoch with the smallest loss, whose weights were kept, or after which the fit to all samples ended. 0 stands
    /// for the start: least squares, with the log-odds of the labels in the intercepts unless the loss is the squared
    /// one.
    pub kept_epoch: usize,
}

impl Learner for LabelEmbeddingParams {
    type Model = LabelEmbeddingModel;
    type Options<'a> = LabelEmbeddingOptions<'a>;

    /// Outputs are labels for the logistic and softmax losses, and any numbers for the squared loss.
    ///
    /// Time: `embedding_passes + 1` times k + `oversampling` least squares solves for the embedding, n s² + s³ + s
    /// nnz(Y) + s² d for least squares; for the other losses n s² more and, per epoch, 4 n s d. Memory: up to four
    /// times the weights (s d), ΦᵀΦ (s²), and the random features of a block of samples, or of all samples if they take
    /// at most a quarter of the memory limit. Fails for a rank above d, and matrices above the memory limit.
    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: LabelEmbeddingOptions<'_>,
    ) -> Result<LabelEmbeddingModel, LinearError> {
        // Runs on a thread of the pool: batches are short, so that none should be handed over from outside.
        rayon::scope(|_| self.fit_inside(x, y, options))
    }
}

impl LabelEmbeddingParams {
    fn fit_inside(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: LabelEmbeddingOptions<'_>,
    ) -> Result<LabelEmbeddingModel, LinearError> {
        self.check()?;
        let inverse_link = self.inverse_link();
        let limits = Limits::new(options.memory_limit, options.observers);
        check_data(x, y, inverse_link)?;
        check_groups(options.groups, x.n_rows())?;
        if let Some(on_estimate) = options.on_estimate {
            on_estimate(self.estimate(x, y));
        }
        let mut history = History::default();
        let (training, withheld) = self.split(x.n_rows(), options.groups)?;
        let all: Vec<usize> = (0..x.n_rows()).collect();
        let judged = self.judged(x.n_rows());
        let mut ending = Ending::Best(&judged);
        if !withheld.is_empty() {
            // The features are also learned from the training samples only: no part sees the withheld ones.
            let rows = [x.select_rows(&training), y.select_rows(&training)];
            let map = self.feature_map(rows[0].view(), rows[1].view(), limits.memory)?;
            let found = self.weights(&map, (x, y), &training, Ending::Best(&withheld), limits)?;
            history.losses = found.losses;
            ending = Ending::After(found.kept_epoch);
        }
        limits.check_stop()?;
        let map = self.feature_map(x, y, limits.memory)?;
        let fitted = self.weights(&map, (x, y), &all, ending, limits)?;
        history.kept_epoch = fitted.kept_epoch;
        if withheld.is_empty() {
            history.losses = fitted.losses;
        }
        history.rank = map.projection.as_ref().map(|(weights, _)| weights.ncols());
        history.penalty = Some(fitted.penalty);
        options.observers.step();
        if let Some(out) = options.history {
            *out = history;
        }
        LabelEmbeddingModel::new(map, fitted.weights, inverse_link, x.n_rows())
    }

    /// Makes the final fit: Θ of least squares on some samples, followed by descent from there.
    fn weights(
        &self,
        map: &FeatureMap,
        (x, y): (MatrixView<'_>, MatrixView<'_>),
        training: &[usize],
        ending: Ending<'_>,
        limits: Limits<'_>,
    ) -> Result<Weights, LinearError> {
        limits.check_stop()?;
        let limit = limits.memory;
        check_matrix::<f64>(
            "the products of all random features",
            map.n_terms(),
            map.n_terms(),
            limit,
        )?;
        check_matrix::<f64>("the weights of all outputs", y.n_cols(), map.n_terms(), limit)?;
        let terms = Terms::new(map, x, limit / 4);
        let normal = NormalEquations::new(&terms, y, training);
        let (factor, penalty) = normal.factor(self.lambda)?;
        let NormalEquations { mut right, .. } = normal;
        let last = right.ncols() - 1;
        let counts = right.column(last).to_owned();
        factor.solve_rows(System::Forward, right.view_mut())?;
        let descended = match self.sgd() {
            None => Descended {
                weights: right,
                losses: Vec::new(),
                kept: 0,
            },
            Some(params) => {
                let right = right.mapv(|v| v as f32);
                let mut start = right.clone();
                let log_odds = log_odds(&counts, training.len(), self.inverse_link());
                add_intercepts(&mut start, &log_odds, factor.last_row());
                let sgd = Sgd {
                    terms: &terms.whitened((&factor).into())?,
                    y,
                    inverse_link: self.inverse_link(),
                    params,
                    right,
                    training,
                    ending,
                    limits,
                    seed: Seed::new(self.seed).purpose("descent"),
                };
                sgd.run(start)?
            }
        };
        let mut weights = descended.weights;
        factor.solve_rows(System::Backward, weights.view_mut())?;
        let weights = weights.mapv(|v| v as f32);
        if weights.iter().any(|v| !v.is_finite()) {
            return Err(LinearError::Overflow { what: "Θ" });
        }
        Ok(Weights {
            weights,
            penalty,
            losses: descended.losses,
            kept_epoch: descended.kept,
        })
    }

    /// Splits the samples into training samples and withheld ones, each increasing.
    fn split(&self, n: usize, groups: Option<&[u32]>) -> Result<(Vec<usize>, Vec<usize>), LinearError> {
        let Some(sgd) = self.sgd() else {
            return Ok(((0..n).collect(), Vec::new()));
        };
        let n_withheld = ((sgd.withhold * n as f64) as usize).min(n - 1);
        let mut withheld: Vec<usize> = (0..n).collect();
        withheld.shuffle(&mut Seed::new(self.seed).purpose("validation").rng());
        let mut training = match groups.filter(|_| n_withheld > 0) {
            None => withheld.split_off(n_withheld),
            Some(groups) => {
                let order: Vec<u32> = withheld.iter().map(|&sample| sample as u32).collect();
                let purpose = "by `withhold`";
                let (taken, others) =
                    taken(by_group(&order, groups), n_withheld).ok_or(LinearError::OneGroup { purpose })?;
                let wide = |samples: Vec<u32>| samples.into_iter().map(|sample| sample as usize).collect();
                withheld = wide(taken);
                wide(others)
            }
        };
        training.sort_unstable();
        withheld.sort_unstable();
        Ok((training, withheld))
    }

    /// Returns the samples whose loss selects the epoch if none are withheld, increasing: all samples, or a subset of
    /// very many.
    fn judged(&self, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        if n <= JUDGED_SAMPLES {
            return all;
        }
        let mut rng = Seed::new(self.seed).purpose("judged").rng();
        let mut judged = all.partial_shuffle(&mut rng, JUDGED_SAMPLES).0.to_vec();
        judged.sort_unstable();
        judged
    }

    fn feature_map(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        limit: usize,
    ) -> Result<FeatureMap, LinearError> {
        feature_map(self, x, y, Seed::new(self.seed), limit)
    }
}

/// Returns the log-odds of the labels of n samples, or the logarithms of their frequencies if the labels exclude each
/// other.
///
/// If no sample or every sample has a label, its odds are those of half a sample more or fewer.
fn log_odds(counts: &Array1<f64>, n: usize, inverse_link: InverseLink) -> Array1<f64> {
    let n = n as f64;
    counts.mapv(|count| {
        let count = count.clamp(0.5, n - 0.5);
        let rest = if inverse_link == InverseLink::Softmax {
            n
        } else {
            n - count
        };
        math::ln(count / rest)
    })
}

/// Adds to the intercept of each output, the weight of the last term, in terms of whitened weights; `last` is the last
/// row of L.
///
/// The activations of least squares are about 0 for absent labels, for which probabilities would start at one half.
fn add_intercepts(weights: &mut Array2<f32>, added: &Array1<f64>, last: ArrayView1<'_, f64>) {
    for (mut weights, added) in weights.rows_mut().into_iter().zip(added) {
        weights.zip_mut_with(&last, |weight, l| *weight += (added * l) as f32);
    }
}

/// The result of the final fit.
struct Weights {
    weights: Array2<f32>,
    penalty: Penalty,
    losses: Vec<f64>,
    kept_epoch: usize,
}

/// Computes W and R: everything before the final fit.
fn feature_map(
    params: &LabelEmbeddingParams,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    seed: Seed,
    limit: usize,
) -> Result<FeatureMap, LinearError> {
    let usual = params.usual_features(x, y);
    let n_features = |kernel: &Kernel| kernel.n_features.unwrap_or(usual);
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
    let inverse_bandwidth = kernel.law.inverse_bandwidth(kernel.bandwidth, z.view(), seed)?;
    let (inputs, s) = (z.n_cols(), n_features(&kernel));
    check_matrix::<f32>("the frequencies of the random features", inputs, s, limit)?;
    let fourier = RandomFeatures::draw(kernel.law, inverse_bandwidth, inputs, s, seed)?;
    linear.with_fourier(fourier)
}

impl LabelEmbeddingParams {
    /// Returns the default number of random features: half the number of samples, within bounds. One of them limits the
    /// number of weights for very many outputs, another follows from the number of the features' inputs.
    pub(super) fn usual_features(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> usize {
        let (n, d) = (x.n_rows(), y.n_cols());
        let n_inputs = self.embedding().map_or(x.n_cols(), |(rank, _)| rank.at_most(d));
        let of_weights = (USUAL_WEIGHTS / d.max(1)).clamp(250, 2000);
        let of_inputs = USUAL_PER_INPUT.saturating_mul(n_inputs.max(1));
        (n / 2).clamp(100, of_weights.min(of_inputs))
    }
}

/// Returns the least squares problem shared by the embedding and the regressions onto it.
fn ridge<'a, 'x>(
    embedding: &LabelEmbedding,
    penalty: Penalty,
    x: &'a MatrixView<'x>,
) -> Result<Ridge<'a, MatrixView<'x>>, ProjectionError> {
    let design = Design {
        rows: x,
        intercept: embedding.intercept,
        factors: None,
    };
    Ridge::new(design, penalty.on(x, None), embedding.solver)
}

/// Computes V, learned or drawn, and W = argmin ‖YV - XW‖² + λ̄'‖W‖² with its offset.
fn regression(
    params: &LabelEmbeddingParams,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    rank: Rank,
    learned: bool,
    seed: Seed,
) -> Result<(Array2<f32>, Array1<f32>), LinearError> {
    let embedding = params.label_embedding();
    let ridge = ridge(&embedding, embedding.penalty, &x)?;
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
        let penalty = embedding.penalty * ratio;
        self::ridge(&embedding, penalty, &x)?.solve(&y, v.view())?
    };
    let p = x.n_cols();
    let weights = w.slice(s![..p, ..]).mapv(|v| v as f32);
    let offset = w.row(p).mapv(|v| v as f32);
    if weights.iter().chain(&offset).any(|v| !v.is_finite()) {
        return Err(LinearError::Overflow { what: "W" });
    }
    Ok((weights, offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkLoss;
    use rpo_core::Predictor;
    use std::collections::BTreeSet;

    fn data() -> (Array2<f32>, Array2<f32>) {
        let x = Array2::from_shape_fn((120, 5), |(i, j)| {
            ((i * (3 * j + 7) + j) % 23) as f32 / 23.0 - 0.5
        });
        let y = Array2::from_shape_fn((120, 6), |(i, j)| {
            let noise = ((i * 31 + j * 17) % 13) as f32 / 26.0;
            f32::from(u8::from(x[[i, j % 5]] + noise > 0.25))
        });
        (x, y)
    }

    fn fitted(
        params: &LabelEmbeddingParams,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
    ) -> (LabelEmbeddingModel, History) {
        let mut history = History::default();
        let options = LabelEmbeddingOptions {
            history: Some(&mut history),
            ..LabelEmbeddingOptions::default()
        };
        (params.fit_with(x, y, options).unwrap(), history)
    }

    /// The descent starts where σ(a) is the frequency of a label for the least squares activation a = 0: rare labels
    /// start as rare.
    #[test]
    fn the_descent_starts_at_the_frequencies() {
        let (x, mut y) = data();
        y.column_mut(0).fill(0.0);
        y[[7, 0]] = 1.0;
        y.column_mut(1).fill(0.0);
        let params = LabelEmbeddingParams {
            rank: Some(Rank::Exact(3)),
            features: Some(40),
            epochs: Some(1),
            rate: Some(1e-9),
            ..LabelEmbeddingParams::default()
        };
        let squares = LabelEmbeddingParams {
            link_loss: LinkLoss::Squared,
            epochs: None,
            rate: None,
            ..params.clone()
        };
        let [p, a] = [params, squares].map(|params| {
            let (model, _) = fitted(&params, (&x).into(), (&y).into());
            model.predict((&x).into()).unwrap()
        });
        for ((i, j), &p) in p.indexed_iter() {
            let count = y.column(j).sum().clamp(0.5, 119.5);
            let odds = (count / (120.0 - count)) * a[[i, j]].exp();
            assert!((p - odds / (1.0 + odds)).abs() < 1e-5, "{i} {j}: {p} {odds}");
        }
    }

    /// The withheld loss is that of a model no part of which saw the withheld samples. The returned model is fitted to
    /// all samples with the same number of epochs.
    #[test]
    fn nothing_sees_withheld_samples() {
        let (x, y) = data();
        let (x, y) = (MatrixView::from(&x), MatrixView::from(&y));
        let params = LabelEmbeddingParams {
            link_loss: LinkLoss::Logistic,
            rank: Some(Rank::Exact(3)),
            features: Some(40),
            epochs: Some(4),
            ..LabelEmbeddingParams::default()
        };
        let withholding = LabelEmbeddingParams {
            withhold: Some(0.25),
            ..params.clone()
        };
        let (model, history) = fitted(&withholding, x, y);
        let (training, withheld) = withholding.split(120, None).unwrap();
        assert_eq!((training.len(), withheld.len()), (90, 30));

        let part = |rows: &[usize]| (x.select_rows(rows), y.select_rows(rows));
        let (known, unknown) = (part(&training), part(&withheld));
        let (alone, of_training) = fitted(&params, known.0.view(), known.1.view());
        let p = alone.predict(unknown.0.view()).unwrap();
        let truth = unknown.1.view().to_dense(usize::MAX).unwrap();
        let loss: f64 = p
            .iter()
            .zip(&truth)
            .map(|(&p, &y)| -f64::from(if y > 0.0 { p } else { 1.0 - p }).ln())
            .sum();
        let reported = history.losses[of_training.kept_epoch];
        assert!(
            (loss / 30.0 - reported).abs() < 1e-3 * reported,
            "{} {reported}",
            loss / 30.0
        );

        let as_long = LabelEmbeddingParams {
            epochs: Some(history.kept_epoch),
            ..params
        };
        let (again, of_all) = fitted(&as_long, x, y);
        assert_eq!((of_all.kept_epoch, &again), (history.kept_epoch, &model));
    }

    #[test]
    fn groups_are_withheld_as_a_whole() {
        let params = LabelEmbeddingParams {
            link_loss: LinkLoss::Logistic,
            withhold: Some(0.25),
            ..LabelEmbeddingParams::default()
        };
        let groups: Vec<u32> = (0..120).map(|i| i / 3).collect();
        let (training, withheld) = params.split(120, Some(&groups)).unwrap();
        assert_eq!((training.len(), withheld.len()), (90, 30));
        let of = |samples: &[usize]| samples.iter().map(|&i| groups[i]).collect::<BTreeSet<_>>();
        assert!(of(&training).is_disjoint(&of(&withheld)));
        let purpose = "by `withhold`";
        let one = params.split(120, Some(&[1; 120]));
        assert_eq!(one, Err(LinearError::OneGroup { purpose }));
        // Groups have no effect where nothing is withheld.
        let all = LabelEmbeddingParams {
            withhold: None,
            ..params
        };
        assert_eq!(all.split(120, Some(&[1; 120])), all.split(120, None));
    }
}
