//! Second-order boosting: penalized Newton steps of leaves, and splits by second-order gains.

use super::boosting_common::{PAPER_LOSSES, Setup, try_fit};
use super::common::{Given, csr, labelled, on_threads, regression};
use ndarray::{Array2, ArrayView2, Axis, array, s};
use rpo_core::{CheckParams, Learner, Matrix, ParameterError, Predictor, TreeEnsemble};
use rpo_ensemble::boosting::{
    Algorithm, BoostingOptions, BoostingParams, LineSearch, LossKind, StepScope, TrainingForm,
};
use rpo_ensemble::{Bins, EnsembleError, MaxFeatures, OutputScaling};
use std::sync::Arc;

/// Returns parameters for Newton steps per leaf with λ = 1, on all samples and features, for outputs in their own
/// units.
fn second_order(algorithm: Algorithm, loss: LossKind) -> BoostingParams {
    BoostingParams {
        loss: Some(loss),
        line_search: Some(LineSearch::Newton),
        step_scope: Some(StepScope::Leaf),
        leaf_l2: Some(1.0),
        subsample: Some(1.0),
        max_features: MaxFeatures::All,
        trees_ahead: Some(0),
        scale_outputs: OutputScaling::None,
        ..BoostingParams::from(algorithm)
    }
}

/// Returns the parameters of [`second_order`], unpenalized and with every penalty and bound.
fn settings(algorithm: Algorithm, loss: LossKind) -> Vec<BoostingParams> {
    let base = second_order(algorithm, loss);
    vec![
        base.clone(),
        BoostingParams {
            leaf_l2: Some(0.0),
            ..base.clone()
        },
        BoostingParams {
            leaf_l2: Some(0.3),
            leaf_l1: 0.4,
            min_child_weight: 1.5,
            min_split_gain: 0.02,
            ..base
        },
    ]
}

const SHARED: [Algorithm; 3] = [
    Algorithm::SingleTarget,
    Algorithm::Gbmort,
    Algorithm::GbrtRelabelRpo,
];
const LOSSES: [LossKind; 2] = [LossKind::Square, LossKind::Logistic];

fn data(loss: LossKind, seed: u64, n: usize) -> (Array2<f32>, Array2<f32>) {
    match loss {
        LossKind::Logistic => labelled(seed, n),
        _ => regression(seed, n),
    }
}

fn distance(a: &Array2<f32>, b: &Array2<f32>) -> f64 {
    let size = a.iter().fold(1.0_f64, |max, v| max.max(f64::from(v.abs())));
    let pairs = a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs()));
    pairs.fold(0.0, f64::max) / size
}

/// The gain of a split and the samples of its children.
type Split = (f64, Vec<usize>, Vec<usize>);

/// Second-order boosting by its definition, in natural units of scores (log-odds for labels): every split of every leaf
/// is tried, and sums are recomputed from the samples.
struct Naive<'a> {
    params: &'a BoostingParams,
    x: ArrayView2<'a, f32>,
    y: ArrayView2<'a, f32>,
    weights: &'a [f64],
    /// The projection, components x outputs.
    phi: Array2<f64>,
}

impl Naive<'_> {
    /// Returns the negative gradient and the second derivative.
    fn derivatives(&self, y: f64, score: f64) -> (f64, f64) {
        match self.params.loss {
            Some(LossKind::Logistic) => {
                let p = 1.0 / (1.0 + (-score).exp());
                (y - p, p * (1.0 - p))
            }
            _ => (y - score, 1.0),
        }
    }

    fn shrunk(r: f64, l1: f64) -> f64 {
        r.signum() * (r.abs() - l1).max(0.0)
    }

    /// Returns the sum of R² / (H + λ) over the components, and the mean of H.
    fn score(&self, rows: &[usize], scores: &Array2<f64>) -> (f64, f64) {
        let (mut score, mut weight) = (0.0, 0.0);
        for phi in self.phi.rows() {
            let norm = phi.dot(&phi).sqrt();
            let (mut r, mut h) = (0.0, 0.0);
            for &i in rows {
                for (j, &c) in phi.iter().enumerate() {
                    let (first, second) = self.derivatives(f64::from(self.y[[i, j]]), scores[[i, j]]);
                    r += self.weights[i] * c / norm * first;
                    h += self.weights[i] * (c / norm).powi(2) * second;
                }
            }
            let l1 = self.params.leaf_l1 * phi.iter().map(|c| c.abs() / norm).sum::<f64>();
            let denominator = h + self.params.leaf_l2.unwrap();
            let shrunk = Self::shrunk(r, l1);
            score += if denominator > 0.0 {
                shrunk * shrunk / denominator
            } else {
                0.0
            };
            weight += h / self.phi.nrows() as f64;
        }
        (score, weight)
    }

    /// Returns the best split of a leaf, and its gain.
    fn split(&self, rows: &[usize], scores: &Array2<f64>) -> Option<Split> {
        let parent = self.score(rows, scores).0;
        let mut best: Option<Split> = None;
        for feature in self.x.columns() {
            for &row in rows {
                let (left, right): (Vec<usize>, Vec<usize>) =
                    rows.iter().partition(|&&i| feature[i] <= feature[row]);
                if right.is_empty() {
                    continue;
                }
                let ((left_score, left_weight), (right_score, right_weight)) =
                    (self.score(&left, scores), self.score(&right, scores));
                let gain = left_score + right_score - parent;
                let is_allowed = left_weight.min(right_weight) >= self.params.min_child_weight
                    && gain >= self.params.min_split_gain;
                // Rounding has no influence: the data have no ties.
                if is_allowed && best.as_ref().is_none_or(|b| gain > b.0 + 1e-12) {
                    best = Some((gain, left, right));
                }
            }
        }
        best
    }

    fn grow(&self, scores: &Array2<f64>) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..self.x.nrows()).filter(|&i| self.weights[i] > 0.0).collect();
        let mut leaves = vec![(self.split(&all, scores), all)];
        while leaves.len() < self.params.max_leaves.unwrap() {
            let gain = |leaf: &(Option<Split>, Vec<usize>)| {
                leaf.0.as_ref().map_or(f64::NEG_INFINITY, |split| split.0)
            };
            let best = (0..leaves.len()).max_by(|&a, &b| gain(&leaves[a]).total_cmp(&gain(&leaves[b])));
            let best = best.unwrap();
            let Some((_, left, right)) = leaves[best].0.clone() else {
                break;
            };
            leaves.remove(best);
            for side in [left, right] {
                leaves.push((self.split(&side, scores), side));
            }
        }
        leaves.into_iter().map(|leaf| leaf.1).collect()
    }

    /// Returns the scores of the training samples in natural units.
    fn fit(&self, initial: &[f64]) -> Array2<f64> {
        let mut scores = Array2::from_shape_fn(self.y.dim(), |(_, j)| initial[j]);
        for _ in 0..self.params.iterations {
            let mut next = scores.clone();
            for leaf in self.grow(&scores) {
                for j in 0..self.y.ncols() {
                    let (mut r, mut h) = (0.0, 0.0);
                    for &i in &leaf {
                        let (first, second) = self.derivatives(f64::from(self.y[[i, j]]), scores[[i, j]]);
                        r += self.weights[i] * first;
                        h += self.weights[i] * second;
                    }
                    let denominator = h + self.params.leaf_l2.unwrap();
                    let value = Self::shrunk(r, self.params.leaf_l1) / denominator;
                    for &i in leaf.iter().filter(|_| denominator > 0.0) {
                        next[[i, j]] += self.params.learning_rate * value;
                    }
                }
            }
            scores = next;
        }
        scores
    }
}

#[test]
fn models_are_those_of_the_definition() {
    let n = 28;
    let weights: Vec<f32> = (0..n).map(|i| [1.0, 0.5, 2.25][i % 3]).collect();
    let wide: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
    for loss in LOSSES {
        let (x, y) = data(loss, 31, n);
        // Continuous features, so that no two splits are equal.
        let x = Array2::from_shape_fn((n, 3), |(i, j)| x[[i, j]] + ((i * 13 + j * 5) % 29) as f32 / 31.0);
        let y = y.select(Axis(1), &[0, 1, 6]);
        let several = array![[0.6_f32, -0.8, 0.0], [0.48, 0.6, 0.64]];
        for algorithm in SHARED {
            for params in settings(algorithm, loss) {
                let params = BoostingParams {
                    iterations: 4,
                    learning_rate: 0.4,
                    max_leaves: Some(4),
                    ..params
                };
                let setup = match algorithm {
                    Algorithm::GbrtRelabelRpo => {
                        Setup::from(params.clone()).projection(Arc::new(Given(several.clone())), 2)
                    }
                    _ => params.clone().into(),
                };
                let options = BoostingOptions {
                    weights: Some(&weights),
                    ..BoostingOptions::default()
                };
                let model = setup.fit_with((&x).into(), (&y).into(), options).unwrap().model;
                let found = model.scores((&x).into()).unwrap();
                let natural = if loss == LossKind::Logistic { 2.0 } else { 1.0 };
                let naive = |y: &Array2<f32>, phi: Array2<f64>, initial: &[f64]| {
                    let initial: Vec<f64> = initial.iter().map(|v| v * natural).collect();
                    let naive = Naive {
                        params: &params,
                        x: x.view(),
                        y: y.view(),
                        weights: &wide,
                        phi,
                    };
                    naive.fit(&initial).mapv(|v| (v / natural) as f32)
                };
                let initial = model.initial();
                let expected = match algorithm {
                    Algorithm::SingleTarget => {
                        let columns =
                            (0..3).map(|j| naive(&y.select(Axis(1), &[j]), Array2::eye(1), &initial[j..=j]));
                        let columns: Vec<_> = columns.collect();
                        let views: Vec<_> = columns.iter().map(Array2::view).collect();
                        ndarray::concatenate(Axis(1), &views).unwrap()
                    }
                    Algorithm::GbrtRelabelRpo => naive(&y, several.mapv(f64::from), initial),
                    _ => naive(&y, Array2::eye(3), initial),
                };
                let error = distance(&expected, &found);
                assert!(error < 1e-5, "{params:?}: {error}");
                assert!(model.trees().iter().any(|tree| tree.structure.n_leaves() > 2));
            }
        }
    }
}

/// XGBoost 3.2.0, `xgboost.train` with eta = 0.5, max_depth = 2, tree_method = exact, 4 rounds, and base_score the
/// weighted mean: margins, and predictions of numbers.
#[test]
fn parameters_mean_what_they_mean_in_xgboost() {
    let x = Array2::from_shape_fn((16, 2), |(i, j)| {
        if j == 0 {
            ((7 * i * i + 3 * i) % 23) as f32 / 4.0
        } else {
            ((5 * i + 2 * i * i) % 19) as f32 / 3.0
        }
    });
    let labels = [0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0].map(|v| v as f32);
    let labels = Array2::from_shape_vec((16, 1), labels.to_vec()).unwrap();
    let numbers = Array2::from_shape_fn((16, 1), |(i, _)| ((3 * i * i + i) % 17) as f32 / 2.0);
    let weights: Vec<f32> = (0..16)
        .map(|i| 0.5 + (i * 5 % 7) as f32 / 4.0 + (i * i % 5) as f32 / 16.0)
        .collect();
    let check = |loss, penalties: [f64; 4], expected: [f32; 16]| {
        let [l2, l1, weight, gain] = penalties;
        let params = BoostingParams {
            iterations: 4,
            learning_rate: 0.5,
            max_depth: Some(2),
            leaf_l2: Some(l2),
            leaf_l1: l1,
            min_child_weight: weight,
            min_split_gain: gain,
            ..second_order(Algorithm::SingleTarget, loss)
        };
        let (y, unit) = if loss == LossKind::Logistic {
            (&labels, 2.0)
        } else {
            (&numbers, 1.0)
        };
        let options = BoostingOptions {
            weights: Some(&weights),
            ..BoostingOptions::default()
        };
        let model = params.fit_with((&x).into(), y.into(), options).unwrap();
        let found = model.scores((&x).into()).unwrap();
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (unit * found - expected).abs() < 2e-5,
                "{loss}: {found} {expected}"
            );
        }
    };
    check(
        LossKind::Logistic,
        [1.0, 0.0, 1.0, 0.0],
        [
            -0.2798, 0.262854, 0.76091, -1.275247, 0.445735, -1.275247, 0.262854, 0.262854, 0.76091, 0.76091,
            0.262854, -1.275247, 0.262854, -0.2798, 0.262854, -0.310936,
        ],
    );
    check(
        LossKind::Logistic,
        [0.5, 0.4, 0.6, 0.05],
        [
            0.060021, 0.162875, 0.852494, -0.23051, 0.576596, -1.069923, -0.409016, 0.173405, 0.852494,
            0.280603, 0.173405, -1.361813, -0.113023, 0.060021, 0.162875, 0.162875,
        ],
    );
    check(
        LossKind::Logistic,
        [0.0, 0.0, 0.0, 0.0],
        [
            -1.22053, 0.576532, 0.911886, -1.581574, 1.190124, -1.581574, -0.668108, 1.483745, 0.911886,
            -0.332754, 1.483745, -2.203995, -0.664904, 0.989539, 0.576532, -0.320722,
        ],
    );
    check(
        LossKind::Square,
        [1.0, 0.0, 1.0, 0.0],
        [
            3.052186, 3.584109, 6.164195, 4.445058, 1.677387, 4.743985, 3.584109, 1.698477, 6.164195,
            6.164195, 2.426683, 1.677387, 1.677387, 4.445058, 3.584109, 3.584109,
        ],
    );
    check(
        LossKind::Square,
        [2.0, 1.5, 3.0, 2.0],
        [
            2.514821, 3.152631, 6.125528, 2.514821, 2.058347, 5.727741, 3.152631, 3.152631, 6.125528,
            6.125528, 3.152631, 2.514821, 2.058347, 2.514821, 3.152631, 3.575298,
        ],
    );
}

/// All forms of the training scores give the same models.
#[test]
fn forms_agree() {
    let weights: Vec<f32> = (0..80).map(|i| (i % 4) as f32 * 0.5).collect();
    for algorithm in [Algorithm::Gbmort, Algorithm::GbrtRelabelRpo] {
        for (loss, form) in [
            (LossKind::Square, TrainingForm::Factored),
            (LossKind::Logistic, TrainingForm::Odds),
        ] {
            let (x, y) = data(loss, 12, 80);
            let y: Matrix = csr(&y).into();
            for params in settings(algorithm, loss) {
                let params = BoostingParams {
                    iterations: 10,
                    max_leaves: Some(4),
                    subsample: Some(0.9),
                    ..params
                };
                let fits = [TrainingForm::Scores, form].map(|form| {
                    let options = BoostingOptions {
                        weights: Some(&weights),
                        ..BoostingOptions::default()
                    };
                    let setup = Setup::from(params.clone()).form(form);
                    setup.fit_with((&x).into(), y.view(), options).unwrap()
                });
                let [a, b] = fits.each_ref().map(|fit| fit.model.scores((&x).into()).unwrap());
                assert!(distance(&a, &b) < 2e-5, "{params:?}: {}", distance(&a, &b));
                let losses = fits.each_ref().map(|fit| &fit.history.training_loss);
                for (a, b) in losses[0].iter().zip(losses[1]) {
                    assert!((a - b).abs() < 1e-5 * (1.0 + a), "{params:?}: {a} {b}");
                }
            }
        }
    }
}

/// The square loss has the second derivative 1, whether as a constant or stored cell by cell.
#[test]
fn a_constant_curvature_needs_no_cells() {
    let (x, y) = regression(5, 60);
    let ones = Array2::ones(y.dim());
    for algorithm in SHARED {
        for params in settings(algorithm, LossKind::Square) {
            let params = Setup::from(BoostingParams {
                iterations: 5,
                ..params
            });
            let [plain, by_cells] = [None, Some(ones.view())].map(|cell_weights| {
                let options = BoostingOptions {
                    cell_weights,
                    ..BoostingOptions::default()
                };
                let model = params.fit_with((&x).into(), (&y).into(), options).unwrap().model;
                model.scores((&x).into()).unwrap()
            });
            assert!(distance(&plain, &by_cells) < 1e-5, "{params:?}");
        }
    }
}

#[test]
fn samples_of_weight_two_are_two_samples_and_threads_do_not_matter() {
    let (x, y) = labelled(14, 40);
    let rows: Vec<usize> = (0..40).flat_map(|i| vec![i; 1 + i % 2]).collect();
    let weights: Vec<f32> = (0..40).map(|i| (1 + i % 2) as f32).collect();
    let (twice_x, twice_y) = (x.select(Axis(0), &rows), y.select(Axis(0), &rows));
    for algorithm in SHARED {
        for params in settings(algorithm, LossKind::Logistic) {
            let params = Setup::from(BoostingParams {
                iterations: 8,
                max_leaves: Some(4),
                ..params
            });
            let twice = params.fit((&twice_x).into(), (&twice_y).into()).unwrap().model;
            let fit = |threads| {
                on_threads(threads, || {
                    let options = BoostingOptions {
                        weights: Some(&weights),
                        ..BoostingOptions::default()
                    };
                    params.fit_with((&x).into(), (&y).into(), options).unwrap().model
                })
            };
            let weighted = fit(1);
            assert_eq!(weighted, fit(3));
            let [a, b] = [twice, weighted].map(|model| model.scores((&x).into()).unwrap());
            assert!(distance(&a, &b) < 1e-5, "{params:?}");
        }
    }
}

/// The effect of each penalty and bound on a model.
#[test]
fn penalties_hold_leaves_back() {
    for loss in LOSSES {
        let (x, y) = data(loss, 8, 60);
        for algorithm in SHARED {
            let largest = |change: &dyn Fn(&mut BoostingParams)| {
                let mut params = BoostingParams {
                    iterations: 1,
                    learning_rate: 1.0,
                    ..second_order(algorithm, loss)
                };
                change(&mut params);
                let model = try_fit(params, &x, &y).unwrap();
                let initial = model.initial().to_vec();
                let scores = model.scores((&x).into()).unwrap();
                let moves = scores
                    .indexed_iter()
                    .map(|((_, j), v)| (f64::from(*v) - initial[j]).abs());
                let leaves = model
                    .trees()
                    .iter()
                    .map(|tree| tree.structure.n_leaves())
                    .max()
                    .unwrap();
                (moves.fold(0.0, f64::max), leaves)
            };
            let (free, leaves) = largest(&|p| p.leaf_l2 = Some(0.0));
            assert!(free > 0.1 && leaves > 2);
            let mut last = free;
            for l2 in [0.5, 5.0, 500.0, 1e9] {
                let (moved, _) = largest(&|p| p.leaf_l2 = Some(l2));
                assert!(moved <= last, "{loss} {algorithm:?} {l2}: {moved} {last}");
                last = moved;
            }
            assert!(last < 1e-5);
            // No score moves, so no node is split.
            let (moved, leaves) = largest(&|p| p.leaf_l1 = 1e9);
            assert!(moved < 1e-5 && leaves == 1);
            assert_eq!(largest(&|p| p.min_split_gain = 1e12).1, 1);
            assert_eq!(largest(&|p| p.min_child_weight = 1e9).1, 1);
        }
    }
}

/// On data sets where sums vanish or overflow `f32`, predictions are finite.
#[test]
fn degenerate_sets_have_results() {
    let (x, y) = labelled(3, 24);
    let never = Array2::from_shape_fn(y.dim(), |(i, j)| match j {
        0 => 0.0,
        1 => 1.0,
        _ => y[[i, j]],
    });
    let huge: Vec<f32> = (0..24).map(|i| [1e30, 0.0, 1e-30, 1.0][i % 4]).collect();
    let one_row = (array![[1.0_f32, 2.0]], array![[1.0_f32, 0.0]]);
    for algorithm in SHARED {
        for loss in LOSSES {
            for params in settings(algorithm, loss) {
                let params = BoostingParams {
                    iterations: 30,
                    learning_rate: 1.0,
                    ..params
                };
                for (x, y, weights) in [
                    (&one_row.0, &one_row.1, None),
                    (&x, &never, None),
                    (&x, &never, Some(&huge[..])),
                    (&x, &Array2::ones((24, 2)), None),
                ] {
                    let options = BoostingOptions {
                        weights,
                        ..BoostingOptions::default()
                    };
                    let model = params.fit_with(x.into(), y.into(), options).unwrap();
                    let found = model.predict(x.into()).unwrap();
                    assert!(found.iter().all(|v| v.is_finite()), "{params:?}");
                    // An output that is always 1 keeps a large prediction, from the initial constant on.
                    let ones = found.column(usize::from(y.ncols() == 8));
                    let is_one = y.column(usize::from(y.ncols() == 8)).iter().all(|v| *v == 1.0);
                    assert!(!is_one || ones.iter().all(|v| *v > 0.4), "{params:?} {ones}");
                }
            }
        }
    }
}

/// Without curvature and penalty no step is made: probabilities of 0 and 1 have second derivative 0.
#[test]
fn no_curvature_makes_no_step() {
    let x = array![[0.0], [1.0], [2.0], [3.0]];
    let y = array![[0.0], [0.0], [1.0], [1.0]];
    let params = BoostingParams {
        iterations: 400,
        learning_rate: 1.0,
        leaf_l2: Some(0.0),
        ..second_order(Algorithm::SingleTarget, LossKind::Logistic)
    };
    let model = try_fit(params, &x, &y).unwrap();
    let found = model.predict((&x).into()).unwrap();
    assert_eq!(found, y);
    assert!(model.scores((&x).into()).unwrap().iter().all(|v| v.is_finite()));
}

#[test]
fn penalties_need_second_order_steps() {
    let refused = |params: BoostingParams| match params.check().unwrap_err() {
        EnsembleError::Parameter(error) => error,
        other => panic!("{other:?}"),
    };
    type Change = fn(&mut BoostingParams, f64);
    let changes: [(&str, Change); 4] = [
        ("leaf_l2", |p, v| p.leaf_l2 = Some(v)),
        ("leaf_l1", |p, v| p.leaf_l1 = v),
        ("min_child_weight", |p, v| p.min_child_weight = v),
        ("min_split_gain", |p, v| p.min_split_gain = v),
    ];
    for (name, change) in changes {
        let with = |mut params: BoostingParams, value| {
            change(&mut params, value);
            params
        };
        let good = second_order(Algorithm::Gbmort, LossKind::Logistic);
        for bad in [-1e-9, f64::NAN, f64::INFINITY] {
            let error = refused(with(good.clone(), bad));
            assert!(matches!(error, ParameterError::OutOfRange { .. }));
            assert_eq!(error.name(), name);
        }
        for fine in [0.0, 1e9] {
            assert_eq!(with(good.clone(), fine).check(), Ok(()));
        }
        if name == "min_split_gain" {
            continue;
        }
        let absolute = BoostingParams {
            line_search: None,
            ..second_order(Algorithm::Gbmort, LossKind::Absolute)
        };
        let exact = BoostingParams {
            line_search: Some(LineSearch::Exact),
            ..good.clone()
        };
        let by_output = BoostingParams {
            step_scope: Some(StepScope::Output),
            ..good.clone()
        };
        let projected = BoostingParams {
            step_scope: None,
            ..second_order(Algorithm::GbrtRpo, LossKind::Logistic)
        };
        for params in [absolute, exact, by_output, projected] {
            let params = BoostingParams {
                leaf_l2: None,
                ..params
            };
            assert_eq!(with(params.clone(), 0.0).check(), Ok(()), "{params:?}");
            let error = refused(with(params, 0.5));
            assert!(matches!(error, ParameterError::Conflict { .. }));
            assert_eq!(error.name(), name);
        }
    }
}

/// The defaults are second-order steps where the loss and the algorithm support them, for few labels like those for
/// numbers; `paper` has the defaults of the paper.
#[test]
fn defaults_are_second_order_where_they_can_be() {
    let (x, y) = labelled(4, 40);
    check_defaults(&x, &y, (1.0, 1.0));
    check_defaults(&x, &y.slice(s![.., ..4]).to_owned(), (5.0, 0.5));
    check_defaults(&x, &y.slice(s![.., ..5]).to_owned(), (1.0, 1.0));
}

/// Checks the defaults, given those of the penalty and of the fraction of samples for labels.
fn check_defaults(x: &Array2<f32>, y: &Array2<f32>, of_labels: (f64, f64)) {
    let fit = |params: BoostingParams| {
        let params = BoostingParams {
            iterations: 5,
            ..params
        };
        try_fit(params, x, y).unwrap()
    };
    for algorithm in Algorithm::ALL {
        for loss in PAPER_LOSSES {
            let default = BoostingParams {
                loss: Some(loss),
                ..BoostingParams::from(algorithm)
            };
            let has_curvature = loss != LossKind::Absolute;
            let is_shared = algorithm == Algorithm::GbrtRpo;
            let scope = if is_shared {
                StepScope::Output
            } else {
                StepScope::Leaf
            };
            let search = if has_curvature {
                LineSearch::Newton
            } else {
                LineSearch::Exact
            };
            let (leaf_l2, subsample) = match loss {
                _ if is_shared || !has_curvature => (0.0, 1.0),
                LossKind::Square => (5.0, 0.5),
                _ if algorithm == Algorithm::SingleTarget => (of_labels.0, 0.5),
                _ => of_labels,
            };
            let explicit = BoostingParams {
                line_search: Some(search),
                step_scope: Some(scope),
                leaf_l2: Some(leaf_l2),
                subsample: Some(subsample),
                ..default.clone()
            };
            assert_eq!(fit(default.clone()), fit(explicit), "{algorithm:?} {loss}");
            // Exact steps are those of the paper, and so are per output.
            let exact = BoostingParams {
                line_search: Some(LineSearch::Exact),
                max_features: MaxFeatures::All,
                scale_outputs: OutputScaling::None,
                bins: Bins::Exact,
                trees_ahead: Some(0),
                ..default
            };
            let paper = BoostingParams {
                loss: Some(loss),
                ..BoostingParams::paper(algorithm)
            };
            assert_eq!(fit(exact), fit(paper), "{algorithm:?} {loss}");
        }
    }
}
