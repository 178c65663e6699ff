//! Boosting with a loss for each output, several quantile levels, and groups of outputs.

use super::boosting_common::{Setup, try_fit};
use super::common::{Given, csr, labelled, on_threads, regression, uniform};
use ndarray::{Array2, Axis, array, concatenate, s};
use rpo_core::store::{Restore, Sizes, Store, Writer};
use rpo_core::{InverseLink, Learner, Matrix, Mismatch, ParameterError, Predictor, TreeEnsemble};
use rpo_ensemble::boosting::{
    Algorithm, Boosted, BoostingOptions, BoostingParams, LineSearch, LinkBlock, LossKind, Stages, StepScope,
};
use rpo_ensemble::{Bins, EnsembleError, List, MaxFeatures, OutputScaling};
use rpo_tree::LeafModel;
use std::sync::Arc;

/// A number, a label, a count, a group of three outputs, and a label.
fn mixed(seed: u64, n: usize) -> (Array2<f32>, Array2<f32>) {
    let (x, numbers) = regression(seed, n);
    let (_, labels) = labelled(seed, n);
    let mut uniform = uniform(seed + 9);
    let counts = numbers.mapv(|v| ((v - 10.0) * 3.0 * uniform() as f32).floor().max(0.0));
    let group = Array2::from_shape_fn((n, 3), |(i, j)| {
        let which = labels[[i, 2]] as usize + labels[[i, 3]] as usize;
        f32::from(u8::from(which == j))
    });
    let columns = [
        numbers.slice(s![.., 0..1]),
        labels.slice(s![.., 1..2]),
        counts.slice(s![.., 0..1]),
        group.view(),
        labels.slice(s![.., 4..5]),
    ];
    (x, concatenate(Axis(1), &columns).unwrap())
}

const LOSSES: [LossKind; 7] = [
    LossKind::Square,
    LossKind::Logistic,
    LossKind::Poisson,
    LossKind::Softmax,
    LossKind::Softmax,
    LossKind::Softmax,
    LossKind::Logistic,
];

fn of_each(algorithm: Algorithm) -> BoostingParams {
    BoostingParams {
        output_losses: Some(LOSSES.into()),
        iterations: 12,
        max_leaves: Some(4),
        ..BoostingParams::from(algorithm)
    }
}

fn links(blocks: &[(InverseLink, usize)]) -> Vec<LinkBlock> {
    let block = |&(link, n_outputs): &(InverseLink, usize)| LinkBlock {
        link,
        n_outputs,
        ordered: false,
    };
    blocks.iter().map(block).collect()
}

#[test]
fn an_output_alone_is_boosted_by_its_loss() {
    let (x, y) = mixed(1, 60);
    let of = [0, 1, 2, 6];
    let params = BoostingParams {
        output_losses: Some(of.map(|j| LOSSES[j]).into()),
        iterations: 8,
        // The square loss and the Poisson loss alone have other defaults.
        leaf_l2: Some(1.0),
        subsample: Some(1.0),
        min_samples_leaf: Some(1),
        max_leaves: Some(8),
        ..BoostingParams::from(Algorithm::SingleTarget)
    };
    let together = try_fit(params.clone(), &x, &y.select(Axis(1), &of)).unwrap();
    for (output, &column) in of.iter().enumerate() {
        let alone = BoostingParams {
            loss: Some(LOSSES[column]),
            output_losses: None,
            ..params.clone()
        };
        let alone = try_fit(alone, &x, &y.select(Axis(1), &[column; 4])).unwrap();
        assert_eq!(together.initial()[output], alone.initial()[output]);
        let steps = |model: &Boosted| {
            let trees = model.trees().iter().skip(output).step_by(4);
            trees.cloned().collect::<Vec<_>>()
        };
        assert_eq!(steps(&together), steps(&alone), "{output}");
    }
}

/// Returns R and H of each output at constant scores, over some samples.
fn sums(y: &Array2<f32>, initial: &[f64], rows: &[usize]) -> Vec<(f64, f64)> {
    let p = |j: usize| 1.0 / (1.0 + (-2.0 * initial[j]).exp());
    let mut sums = vec![(0.0, 0.0); 7];
    let total: f64 = initial[3..6].iter().map(|f| f.exp()).sum();
    for &i in rows {
        for (j, (r, h)) in sums.iter_mut().enumerate() {
            let v = f64::from(y[[i, j]]);
            let (dr, dh) = match LOSSES[j] {
                LossKind::Square => (v - initial[j], 1.0),
                LossKind::Logistic => (2.0 * (v - p(j)), 4.0 * p(j) * (1.0 - p(j))),
                LossKind::Poisson => (v - initial[j].exp(), initial[j].exp()),
                _ => {
                    let p = initial[j].exp() / total;
                    (v - p, 1.5 * p * (1.0 - p))
                }
            };
            *r += dr;
            *h += dh;
        }
    }
    sums
}

/// Returns α and λ of an output, converted from the natural unit of the score to that of the loss; the logistic score
/// is half of the natural score. By default λ is 5 for the square loss and 1 for others.
fn penalty(output: usize, leaf_l2: Option<f64>) -> (f64, f64) {
    let is_square = LOSSES[output] == LossKind::Square;
    let lambda = leaf_l2.unwrap_or(if is_square { 5.0 } else { 1.0 });
    if LOSSES[output] == LossKind::Logistic {
        (2.0 * 0.3, 4.0 * lambda)
    } else {
        (0.3, lambda)
    }
}

fn penalized(leaf_l2: Option<f64>) -> BoostingParams {
    BoostingParams {
        iterations: 1,
        learning_rate: 1.0,
        leaf_l1: 0.3,
        leaf_l2,
        subsample: Some(1.0),
        bins: Bins::Exact,
        max_features: MaxFeatures::All,
        scale_outputs: OutputScaling::None,
        ..of_each(Algorithm::Gbmort)
    }
}

/// Returns the samples on both sides of the first split, and its gain.
fn first_split(model: &Boosted, x: &Array2<f32>) -> ([Vec<usize>; 2], f64) {
    let tree = &model.trees()[0];
    let (node, rule) = tree.structure.splits().next().unwrap();
    assert_eq!(node, 0);
    let goes_left = |i: &usize| x[[*i, rule.test().feature as usize]] <= rule.test().threshold;
    let (left, right) = (0..x.nrows()).partition(goes_left);
    ([left, right], tree.gains[0])
}

/// Up to four labels have the penalty beside numbers that they have alone; counts beside them, or more labels, do not.
#[test]
fn few_labels_beside_numbers_are_penalized_as_alone() {
    let (x, y) = mixed(3, 120);
    let fit = |outputs: &[usize], leaf_l2| {
        let losses: List<LossKind> = outputs.iter().map(|&j| LOSSES[j]).collect::<Vec<_>>().into();
        let params = BoostingParams {
            output_losses: Some(losses),
            leaf_l2,
            ..of_each(Algorithm::Gbmort)
        };
        let y = y.select(Axis(1), outputs);
        let model = params.fit((&x).into(), (&y).into()).unwrap();
        model.predict((&x).into()).unwrap()
    };
    for (outputs, is_of_few) in [
        (&[0, 1][..], true),
        (&[0, 3, 4, 5], true),
        (&[0, 1, 2], false),
        (&[0, 1, 3, 4, 5, 6], false),
    ] {
        let default = fit(outputs, None);
        assert_eq!(default == fit(outputs, Some(5.0)), is_of_few, "{outputs:?}");
    }
}

#[test]
fn leaves_and_gains_are_those_of_each_loss() {
    for leaf_l2 in [Some(0.7), None] {
        check_leaves_and_gains(leaf_l2);
    }
}

fn check_leaves_and_gains(leaf_l2: Option<f64>) {
    let (x, y) = mixed(2, 70);
    let model = try_fit(penalized(leaf_l2), &x, &y).unwrap();
    let penalty = |output| penalty(output, leaf_l2);
    let initial = model.initial();
    let all: Vec<usize> = (0..70).collect();
    let shrunk = |r: f64, alpha: f64| (r.abs() - alpha).max(0.0) * r.signum();
    let tree = &model.trees()[0];
    let structure = &tree.structure;
    let reached = structure.apply((&x).into()).unwrap();
    for leaf in 0..structure.n_leaves() {
        let reaches = |i: &usize| reached[*i] as usize == leaf;
        let rows: Vec<usize> = all.iter().copied().filter(reaches).collect();
        assert!(!rows.is_empty());
        let sums = sums(&y, initial, &rows);
        tree.values.for_each(leaf as u32, |j, found| {
            let ((alpha, lambda), (r, h)) = (penalty(j as usize), sums[j as usize]);
            let largest = if LOSSES[j as usize] == LossKind::Poisson {
                2.0
            } else {
                10.0
            };
            let expected = (shrunk(r, alpha) / (h + lambda)).clamp(-largest, largest);
            assert!(
                (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                "{leaf} {j}: {found} {expected}"
            );
        });
    }
    let score = |rows: &[usize]| -> f64 {
        let sums = sums(&y, initial, rows).into_iter().enumerate();
        sums.map(|(j, (r, h))| shrunk(r, penalty(j).0).powi(2) / (h + penalty(j).1))
            .sum()
    };
    let ([left, right], gain) = first_split(&model, &x);
    let expected = score(&left) + score(&right) - score(&all);
    assert!((gain - expected).abs() < 1e-4 * expected, "{gain} {expected}");
}

#[test]
fn penalties_along_a_projection_are_sums_over_outputs() {
    for leaf_l2 in [Some(0.7), None] {
        check_penalties_along(leaf_l2);
    }
}

fn check_penalties_along(leaf_l2: Option<f64>) {
    let (x, y) = mixed(3, 70);
    let phi = array![[0.5_f32, -1.0, 0.25, 2.0, 0.0, -0.5, 1.0]];
    let params = BoostingParams {
        algorithm: Algorithm::GbrtRelabelRpo,
        ..penalized(leaf_l2)
    };
    let penalty = |output| penalty(output, leaf_l2);
    let model = Setup::from(params).projection(Arc::new(Given(phi.clone())), 1);
    let model = model.fit((&x).into(), (&y).into()).unwrap().model;
    let norm = phi.iter().map(|v| f64::from(v * v)).sum::<f64>().sqrt();
    let unit: Vec<f64> = phi.iter().map(|&v| f64::from(v) / norm).collect();
    let (mut alpha, mut lambda) = (0.0, 0.0);
    for (j, phi) in unit.iter().enumerate() {
        alpha += phi.abs() * penalty(j).0;
        lambda += phi * phi * penalty(j).1;
    }
    let score = |rows: &[usize]| -> f64 {
        let (mut r, mut h) = (0.0, 0.0);
        for (phi, (r_j, h_j)) in unit.iter().zip(sums(&y, model.initial(), rows)) {
            r += phi * r_j;
            h += phi * phi * h_j;
        }
        (r.abs() - alpha).max(0.0).powi(2) / (h + lambda)
    };
    let ([left, right], gain) = first_split(&model, &x);
    let all: Vec<usize> = (0..70).collect();
    let expected = score(&left) + score(&right) - score(&all);
    assert!((gain - expected).abs() < 1e-4 * expected, "{gain} {expected}");
}

#[test]
fn units_of_numbers_do_not_matter_beside_labels() {
    let (x, y) = mixed(4, 90);
    let mut large = y.clone();
    large.column_mut(0).mapv_inplace(|v| 1024.0 * v);
    let params = BoostingParams {
        leaf_l2: Some(0.0),
        ..of_each(Algorithm::Gbmort)
    };
    let fit = |y| try_fit(params.clone(), &x, y).unwrap();
    let (one, other) = (fit(&y), fit(&large));
    let same = one.trees().iter().zip(other.trees());
    assert!(same.into_iter().all(|(a, b)| a.structure == b.structure));
}

#[test]
fn every_algorithm_learns_all_on_any_thread_and_in_any_layout() {
    let (x, mut y) = mixed(5, 90);
    // A number, a label, and a whole group are missing.
    y[[3, 0]] = f32::NAN;
    y[[4, 1]] = f32::NAN;
    y.slice_mut(s![5, 3..6]).fill(f32::NAN);
    let weights: Vec<f32> = (0..90).map(|i| [1.0, 2.0, 0.5, 0.0][i % 4]).collect();
    for algorithm in [Algorithm::Gbmort, Algorithm::GbrtRpo, Algorithm::GbrtRelabelRpo] {
        let params = Setup::from(BoostingParams {
            iterations: 40,
            ..of_each(algorithm)
        });
        let fit = |threads, y: Matrix| {
            on_threads(threads, || {
                let options = BoostingOptions {
                    weights: Some(&weights),
                    missing_outputs: true,
                    ..BoostingOptions::default()
                };
                params.fit_with((&x).into(), y.view(), options).unwrap()
            })
        };
        let one = fit(1, y.clone().into());
        assert_eq!(one, fit(3, csr(&y).into()), "{algorithm:?}");
        let losses = &one.history.training_loss;
        assert!(losses[40] < 0.95 * losses[0], "{algorithm:?}: {losses:?}");
        let expected = [
            (InverseLink::Identity, 1),
            (InverseLink::Logistic, 1),
            (InverseLink::Exponential, 1),
            (InverseLink::Softmax, 3),
            (InverseLink::Logistic, 1),
        ];
        assert_eq!(one.model.links(), links(&expected));
        let (scores, predicted) = (
            one.model.scores((&x).into()).unwrap(),
            one.model.predict((&x).into()).unwrap(),
        );
        for (f, p) in scores.rows().into_iter().zip(predicted.rows()) {
            let f = f.mapv(f64::from);
            let total: f64 = f.slice(s![3..6]).iter().map(|f| f.exp()).sum();
            let logistic = |f: f64| 1.0 / (1.0 + (-2.0 * f).exp());
            let expected = [
                f[0],
                logistic(f[1]),
                f[2].exp(),
                f[3].exp() / total,
                f[4].exp() / total,
                f[5].exp() / total,
                logistic(f[6]),
            ];
            for (found, expected) in p.iter().zip(expected) {
                assert!((f64::from(*found) - expected).abs() < 1e-5 * (1.0 + expected.abs()));
            }
        }
        // The best outputs of each sample, by prediction.
        let best = one.model.predict_top_k((&x).into(), 2).unwrap();
        let dense = rpo_core::top_of(predicted.row(0), 2);
        let (columns, values) = rpo_core::csr_row(&best.view(), 0);
        let found: Vec<_> = columns.iter().copied().zip(values.iter().copied()).collect();
        assert_eq!(found.len(), 2);
        assert!(
            dense.iter().all(|pair| found.contains(pair)),
            "{dense:?} {found:?}"
        );
    }
}

/// Storing, restoring and continuing preserve models.
#[test]
fn links_are_stored_and_continued() {
    let (x, y) = mixed(6, 50);
    let levels = BoostingParams {
        loss: Some(LossKind::Quantile),
        quantile: Some([0.2, 0.8].into()),
        iterations: 12,
        ..BoostingParams::from(Algorithm::Gbmort)
    };
    for (params, y) in [
        (of_each(Algorithm::Gbmort), y.clone()),
        (levels, y.slice(s![.., 0..2]).to_owned()),
    ] {
        let model = try_fit(params.clone(), &x, &y).unwrap();
        let mut out = Writer::default();
        model.store(&mut out).unwrap();
        let stored = out.finish().unwrap();
        let sizes = Sizes {
            n_features: 5,
            n_outputs: model.n_outputs(),
            n_train: 50,
        };
        assert_eq!(Boosted::restore(&mut stored.reader(), sizes).unwrap(), model);
        let options = BoostingOptions {
            start: Some(&model),
            ..BoostingOptions::default()
        };
        let more = params.fit_with((&x).into(), (&y).into(), options).unwrap();
        assert_eq!((more.n_steps(), more.truncate(12)), (24, model));
    }
}

#[test]
fn levels_are_outputs_in_order() {
    let (x, y) = regression(7, 80);
    let (y, levels) = (y.slice(s![.., 0..2]).to_owned(), [0.1, 0.5, 0.9]);
    let params = BoostingParams {
        loss: Some(LossKind::Quantile),
        quantile: Some(levels.into()),
        iterations: 30,
        learning_rate: 0.5,
        ..BoostingParams::from(Algorithm::SingleTarget)
    };
    let cells = Array2::from_shape_fn((80, 2), |(i, j)| [1.0, 0.0, 2.0][(i + j) % 3]);
    let fit = |params: &BoostingParams, y: &Array2<f32>, cells: &Array2<f32>| {
        let options = BoostingOptions {
            cell_weights: Some(cells.view()),
            ..BoostingOptions::default()
        };
        params.fit_with((&x).into(), y.into(), options).unwrap()
    };
    let model = fit(&params, &y, &cells);
    assert_eq!(model.n_outputs(), 6);
    let repeated = |a: &Array2<f32>| a.select(Axis(1), &[0, 0, 0, 1, 1, 1]);
    for (k, level) in levels.into_iter().enumerate() {
        let alone = BoostingParams {
            quantile: Some(level.into()),
            ..params.clone()
        };
        let alone = fit(&alone, &repeated(&y), &repeated(&cells));
        for output in [k, 3 + k] {
            let trees = |model: &Boosted| {
                model
                    .trees()
                    .iter()
                    .skip(output)
                    .step_by(6)
                    .cloned()
                    .collect::<Vec<_>>()
            };
            assert_eq!(trees(&model), trees(&alone), "{output}");
        }
    }
    let scores = model.scores((&x).into()).unwrap();
    let predicted = model.predict((&x).into()).unwrap();
    let mut crossings = 0;
    for (f, p) in scores.rows().into_iter().zip(predicted.rows()) {
        for target in [0, 3] {
            let mut sorted = f.slice(s![target..target + 3]).to_vec();
            crossings += usize::from(!sorted.is_sorted());
            sorted.sort_unstable_by(f32::total_cmp);
            assert_eq!(p.slice(s![target..target + 3]).to_vec(), sorted);
        }
    }
    assert!(crossings > 0, "nothing was put in order");
    let last = Stages::new(&model, Matrix::from(x.clone())).unwrap().last();
    assert_eq!(last.unwrap().unwrap(), predicted);
    // Trees on all levels at once.
    for algorithm in [Algorithm::Gbmort, Algorithm::GbrtRpo, Algorithm::GbrtRelabelRpo] {
        let params = BoostingParams {
            algorithm,
            ..params.clone()
        };
        let history = Setup::from(params).fit((&x).into(), (&y).into()).unwrap().history;
        assert!(history.training_loss[30] < 0.9 * history.training_loss[0]);
    }
}

/// A group of two outputs is equivalent to a label and its complement: the difference of their scores is the log-odds.
#[test]
fn two_outputs_of_a_group_are_a_label() {
    let (x, y) = labelled(8, 120);
    let y = y.slice(s![.., 0..1]).to_owned();
    let pair = concatenate(Axis(1), &[y.mapv(|v| 1.0 - v).view(), y.view()]).unwrap();
    let params = |loss| BoostingParams {
        loss: Some(loss),
        iterations: 15,
        leaf_l2: Some(0.0),
        max_leaves: Some(3),
        bins: Bins::Exact,
        max_features: MaxFeatures::All,
        trees_ahead: Some(0),
        ..BoostingParams::from(Algorithm::Gbmort)
    };
    let label = try_fit(params(LossKind::Logistic), &x, &y).unwrap();
    let group = try_fit(params(LossKind::Softmax), &x, &pair).unwrap();
    let (label, group) = (
        label.predict((&x).into()).unwrap(),
        group.predict((&x).into()).unwrap(),
    );
    for (one, two) in label.rows().into_iter().zip(group.rows()) {
        assert!(
            (one[0] - two[1]).abs() < 1e-4 && (two.sum() - 1.0).abs() < 1e-6,
            "{one} {two}"
        );
    }
}

#[test]
fn an_output_that_no_sample_has_is_improbable() {
    let (x, y) = mixed(9, 60);
    let group = y.slice(s![.., 3..6]).to_owned();
    let never = concatenate(Axis(1), &[group.view(), Array2::zeros((60, 1)).view()]).unwrap();
    let alone = Array2::ones((60, 1));
    for y in [never, alone] {
        for algorithm in [Algorithm::Gbmort, Algorithm::GbrtRpo, Algorithm::GbrtRelabelRpo] {
            let params = BoostingParams {
                loss: Some(LossKind::Softmax),
                iterations: 60,
                learning_rate: 1.0,
                leaf_l2: (algorithm != Algorithm::GbrtRpo).then_some(0.0),
                ..BoostingParams::from(algorithm)
            };
            let found = try_fit(params, &x, &y).unwrap().predict((&x).into()).unwrap();
            let sums = found.sum_axis(Axis(1));
            assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-5), "{sums}");
            let last = found.column(y.ncols() - 1);
            assert!(y.ncols() == 1 || last.iter().all(|p| *p < 0.01), "{last}");
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let (x, y) = mixed(10, 30);
    let group = y.slice(s![.., 3..6]).to_owned();
    let refused = |params: BoostingParams, y: &Array2<f32>| match try_fit(params, &x, y).unwrap_err() {
        EnsembleError::Parameter(error) => error.name(),
        other => panic!("{other:?}"),
    };
    let base = || BoostingParams::from(Algorithm::Gbmort);
    let softmax = |groups: &[usize]| BoostingParams {
        loss: Some(LossKind::Softmax),
        groups: Some(groups.to_vec().into()),
        ..base()
    };
    for groups in [&[2][..], &[2, 2], &[3, 1], &[0, 3], &[]] {
        assert_eq!(refused(softmax(groups), &group), "groups", "{groups:?}");
    }
    let split = BoostingParams {
        output_losses: Some([LossKind::Softmax, LossKind::Square, LossKind::Softmax].into()),
        groups: Some(2.into()),
        ..base()
    };
    assert_eq!(refused(split, &group), "groups");
    for (params, name) in [
        (
            BoostingParams {
                groups: Some(3.into()),
                ..base()
            },
            "groups",
        ),
        (
            BoostingParams {
                algorithm: Algorithm::SingleTarget,
                ..softmax(&[3])
            },
            "loss",
        ),
        (
            BoostingParams {
                line_search: Some(LineSearch::Exact),
                ..softmax(&[3])
            },
            "line_search",
        ),
        (
            BoostingParams {
                loss: Some(LossKind::Square),
                ..of_each(Algorithm::Gbmort)
            },
            "output_losses",
        ),
        (
            BoostingParams {
                min_child_weight: 1.0,
                ..of_each(Algorithm::Gbmort)
            },
            "min_child_weight",
        ),
        (
            BoostingParams {
                output_losses: Some([LossKind::Square, LossKind::Absolute].into()),
                step_scope: Some(StepScope::Leaf),
                leaf_l2: Some(1.0),
                ..base()
            },
            "leaf_l2",
        ),
        (
            BoostingParams {
                loss: Some(LossKind::Huber),
                quantile: Some([0.1, 0.9].into()),
                ..base()
            },
            "quantile",
        ),
        (
            BoostingParams {
                output_losses: Some([LossKind::Quantile, LossKind::Square].into()),
                quantile: Some([0.1, 0.9].into()),
                ..base()
            },
            "quantile",
        ),
    ] {
        assert_eq!(refused(params, &group), name);
    }
    for levels in [&[0.5, 0.5][..], &[0.9, 0.1], &[], &[0.1, f64::NAN]] {
        let params = BoostingParams {
            loss: Some(LossKind::Quantile),
            quantile: Some(levels.to_vec().into()),
            ..base()
        };
        assert_eq!(refused(params, &group), "quantile", "{levels:?}");
    }
    let of_six = try_fit(of_each(Algorithm::Gbmort), &x, &y.slice(s![.., 0..6]).to_owned());
    assert!(matches!(
        of_six,
        Err(EnsembleError::Mismatch(Mismatch {
            expected: 6,
            given: 7,
            ..
        }))
    ));
    let mut wrong = group.clone();
    wrong.row_mut(4).fill(0.0);
    let error = try_fit(softmax(&[3]), &x, &wrong).unwrap_err();
    let expected = EnsembleError::Group {
        sample: 4,
        first: 0,
        last: 2,
    };
    assert_eq!(error, expected);
    let (x_view, y_view) = ((&x).into(), (&group).into());
    let cells = Array2::from_shape_fn((30, 3), |(i, j)| if (i, j) == (2, 1) { 2.0 } else { 1.0 });
    let options = BoostingOptions {
        cell_weights: Some(cells.view()),
        ..BoostingOptions::default()
    };
    let error = softmax(&[3]).fit_with(x_view, y_view, options).unwrap_err();
    assert!(matches!(
        error,
        EnsembleError::CellWeight {
            sample: 2,
            output: 1,
            ..
        }
    ));
}

#[test]
fn lists_read_what_they_write() {
    for text in ["0.1,0.5,0.9", "0.5"] {
        assert_eq!(text.parse::<List<f64>>().unwrap().to_string(), text);
    }
    assert_eq!(
        "square, logistic".parse(),
        Ok(List::<LossKind>::from([LossKind::Square, LossKind::Logistic]))
    );
    for text in ["", "a", "1,", "1,,2"] {
        let refused = text.parse::<List<usize>>();
        assert!(
            matches!(refused, Err(ParameterError::OutOfRange { .. })),
            "{text}"
        );
    }
    let params: BoostingParams = serde_json::from_str(
        r#"{"algorithm": "gbmort", "loss": "quantile", "quantile": "0.1,0.9", "groups": 3}"#,
    )
    .unwrap();
    assert_eq!(
        (params.quantile, params.groups),
        (Some([0.1, 0.9].into()), Some(3.into()))
    );
}
