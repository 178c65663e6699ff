//! New labels for grown forests.

use super::common::{csr, fit, labelled, layouts, on_threads, regression};
use ndarray::{Array2, Axis, concatenate, s};
use proptest::prelude::*;
use rpo_core::{FeatureImportances, Learner, Matrix, Merge, Mismatch, Predictor, TreeEnsemble};
use rpo_ensemble::structured::{StructuredForest, StructuredForestParams};
use rpo_ensemble::{
    CriterionKind, EnsembleError, Forest, ForestOptions, ForestParams, ForestPreset, LeafChoice, LeafSamples,
    OutOfBagPredictor, RelabelOptions, SingleTargetOptions, SingleTargetParams,
};
use rpo_tree::LeafKind;
use std::sync::Arc;

const TRAINING: RelabelOptions<'_> = RelabelOptions {
    samples: LeafSamples::Training,
    same_outputs: false,
    weights: None,
    missing_outputs: false,
    leaves: LeafChoice::Auto,
};

fn presets() -> [ForestParams; 4] {
    let of = |base: ForestParams| ForestParams {
        trees: 5,
        seed: 3,
        ..base
    };
    [
        of(ForestParams::default()),
        of(ForestPreset::ExtraTrees.into()),
        of(ForestPreset::RfCost.into()),
        of(ForestParams {
            max_depth: Some(3),
            ..ForestParams::default()
        }),
    ]
}

/// Leaves with the outputs of the training are those of the fit, bit for bit, whatever the layout and the weights.
#[test]
fn the_training_outputs_give_the_same_forest() {
    let (x, labels) = labelled(1, 60);
    let (_, numbers) = regression(2, 60);
    let mut partial = numbers.clone();
    partial.indexed_iter_mut().for_each(|((i, j), v)| {
        if (3 * i + j) % 5 == 0 {
            *v = f32::NAN;
        }
    });
    let weights: Vec<f32> = (0..60).map(|i| 0.5 + (i % 3) as f32).collect();
    for params in presets() {
        let is_for_labels = params.criterion == CriterionKind::Entropy;
        let of_numbers = [&numbers, &partial];
        let numbers = of_numbers.into_iter().filter(|_| !is_for_labels);
        for y in numbers.chain([&labels]) {
            for (y, weights) in layouts(y).iter().zip([None, Some(&*weights)]) {
                let missing_outputs = y.view().has_missing();
                let options = ForestOptions {
                    weights,
                    missing_outputs,
                    ..ForestOptions::default()
                };
                let forest = params.fit_with((&x).into(), y.view(), options).unwrap();
                let leaves = forest.trees()[0].tree.leaves().kind();
                let options = RelabelOptions {
                    weights,
                    missing_outputs,
                    leaves: Some(leaves).into(),
                    ..TRAINING
                };
                assert_eq!(forest.relabel((&x).into(), y.view(), &options).unwrap(), forest);
            }
        }
    }
}

/// Without a choice, the storage follows from the number of samples in the leaves and from the outputs.
#[test]
fn the_storage_of_leaves_follows_from_their_size() {
    let (x, y) = labelled(3, 60);
    let rare = Array2::from_shape_fn((60, 8), |(i, j)| f32::from(u8::from(i % 8 == j)));
    let [dense, sparse] = layouts(&y);
    for (max_depth, outputs, kind) in [
        (None, &dense, LeafKind::Samples),
        (None, &sparse, LeafKind::Samples),
        (Some(2), &dense, LeafKind::Dense),
        (Some(2), &sparse, LeafKind::Sparse),
        (None, &csr(&rare).into(), LeafKind::Sparse),
    ] {
        let params = ForestParams {
            trees: 4,
            max_depth,
            ..ForestParams::default()
        };
        let forest = fit(params, &x.clone().into(), &dense);
        let relabelled = forest.relabel((&x).into(), outputs.view(), &TRAINING);
        assert_eq!(relabelled.unwrap().trees()[0].tree.leaves().kind(), kind);
    }
}

/// A prediction is the mean of what the relabelled trees predict, with all samples in each tree.
#[test]
fn other_samples_reach_all_trees() {
    let (x, y) = labelled(4, 80);
    let (other_x, other_y) = regression(5, 30);
    for params in presets() {
        let forest = fit(params, &x.clone().into(), &y.clone().into());
        for outputs in layouts(&other_y) {
            let relabelled = forest
                .relabel((&other_x).into(), outputs.view(), &RelabelOptions::default())
                .unwrap();
            let outputs = Arc::new(outputs);
            let mut sum = Array2::<f64>::zeros((80, 8));
            for tree in forest.trees() {
                let tree = tree
                    .tree
                    .relabel(&LeafKind::Samples, (&other_x).into(), &[1.0; 30], &outputs);
                sum += &tree.unwrap().predict((&x).into()).unwrap().mapv(f64::from);
            }
            let predicted = relabelled.predict((&x).into()).unwrap();
            for (found, sum) in predicted.iter().zip(&sum) {
                let expected = sum / forest.trees().len() as f64;
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-5,
                    "{found} for {expected}"
                );
            }
            assert_eq!(relabelled.n_train(), 30);
            assert_eq!(relabelled.importances(), forest.importances());
            assert_eq!(
                relabelled.oob_predictions((&other_x).into()),
                Err(EnsembleError::NoBootstrap)
            );
        }
    }
}

/// The out-of-bag prediction of a sample does not depend on its own new output; its prediction does.
#[test]
fn predictions_of_training_samples_stay_out_of_bag() {
    let (x, y) = labelled(6, 50);
    let forest = fit(
        ForestParams {
            trees: 20,
            ..ForestParams::default()
        },
        &x.clone().into(),
        &y.into(),
    );
    let new = Array2::from_shape_fn((50, 2), |(i, j)| ((7 * i + j) % 11) as f32);
    let mut changed = new.clone();
    changed[[8, 0]] += 100.0;
    let of = |y: &Array2<f32>| forest.relabel((&x).into(), y.into(), &TRAINING).unwrap();
    let (before, after) = (of(&new), of(&changed));
    let oob = |forest: &Forest| forest.oob_predictions((&x).into()).unwrap();
    let ((first, counts), (second, _)) = (oob(&before), oob(&after));
    assert_eq!(counts, oob(&forest).1);
    assert_eq!(first.row(8), second.row(8));
    assert_ne!(first, second);
    let all = |forest: &Forest| forest.predict((&x).into()).unwrap();
    assert_ne!(all(&before).row(8), all(&after).row(8));
    assert_eq!(all(&before).column(1), all(&after).column(1));
}

/// The trees of all outputs become one forest, whose prediction is the mean over all of them.
#[test]
fn trees_of_single_targets_predict_all_new_outputs() {
    let (x, y) = labelled(7, 50);
    let params = ForestParams {
        trees: 3,
        ..ForestParams::default()
    };
    let forests = SingleTargetParams(params).fit((&x).into(), (&y).into()).unwrap();
    let new = y.slice(s![.., ..2]).to_owned();
    let relabelled = forests.relabel((&x).into(), (&new).into(), &TRAINING).unwrap();
    assert_eq!((relabelled.trees().len(), relabelled.n_outputs()), (24, 2));
    for (new, old) in relabelled.trees().iter().zip(forests.trees()) {
        assert_eq!((new.tree.structure(), new.seed), (old.tree.structure(), old.seed));
    }
    // The trees of output 0 label it as before.
    let of_output: Vec<_> = relabelled.trees()[..3]
        .iter()
        .map(|t| t.tree.predict((&x).into()).unwrap())
        .collect();
    for (old, new) in forests.trees().iter().zip(of_output) {
        assert_eq!(old.tree.predict((&x).into()).unwrap().column(0), new.column(0));
    }
}

/// With the outputs of the training, trees stay with their output, whatever the layout, weights and missing outputs.
#[test]
fn the_training_outputs_give_the_same_single_targets() {
    let (x, labels) = labelled(7, 50);
    let mut partial = labels.clone();
    partial.indexed_iter_mut().for_each(|((i, j), v)| {
        if (3 * i + j) % 5 == 0 {
            *v = f32::NAN;
        }
    });
    let weights: Vec<f32> = (0..50).map(|i| 0.5 + (i % 3) as f32).collect();
    let params = SingleTargetParams(ForestParams {
        trees: 3,
        ..ForestParams::default()
    });
    for y in [&labels, &partial] {
        for (y, weights) in layouts(y).iter().zip([None, Some(&*weights)]) {
            let missing_outputs = y.view().has_missing();
            let options = SingleTargetOptions {
                weights,
                missing_outputs,
                ..SingleTargetOptions::default()
            };
            let forests = params.fit_with((&x).into(), y.view(), options).unwrap();
            let options = RelabelOptions {
                weights,
                missing_outputs,
                ..TRAINING
            };
            let again = forests.relabel_each((&x).into(), y.view(), &options);
            assert_eq!(again.unwrap(), forests);
            let fewer = labels.slice(s![.., ..2]).to_owned();
            let refused = forests.relabel_each((&x).into(), (&fewer).into(), &options);
            assert!(matches!(refused, Err(EnsembleError::Mismatch(_))));
        }
    }
}

/// Trees that weigh equally are not merged with those that weigh the labels that they clustered.
#[test]
fn the_training_outputs_keep_the_weights_of_structured_trees() {
    let (x, y) = labelled(8, 60);
    let params = StructuredForestParams {
        trees: 6,
        ..StructuredForestParams::default()
    };
    let forest = params.fit((&x).into(), (&y).into()).unwrap();
    let relabel = |same_outputs| {
        let options = RelabelOptions {
            same_outputs,
            ..TRAINING
        };
        forest.relabel((&x).into(), (&y).into(), &options).unwrap()
    };
    let predicted = |forest: &StructuredForest| forest.predict((&x).into()).unwrap();
    let far = |(a, b): (&f32, &f32)| (a - b).abs() > 1e-6;
    assert!(!predicted(&relabel(true)).iter().zip(&predicted(&forest)).any(far));
    assert!(
        predicted(&relabel(false))
            .iter()
            .zip(&predicted(&forest))
            .any(far)
    );
    assert!(forest.clone().merge(relabel(true)).is_ok());
    assert!(matches!(
        forest.clone().merge(relabel(false)),
        Err(EnsembleError::Merge("their trees weight labels differently"))
    ));
}

#[test]
fn structured_forests_weigh_trees_equally() {
    let (x, y) = labelled(8, 60);
    let params = StructuredForestParams {
        trees: 6,
        ..StructuredForestParams::default()
    };
    let forest = params.fit((&x).into(), (&y).into()).unwrap();
    let numbers = y.mapv(|v| 2.0 * v - 1.0);
    let relabelled = forest.relabel((&x).into(), (&numbers).into(), &TRAINING).unwrap();
    assert!(relabelled.clustered_labels().iter().all(Vec::is_empty));
    let mut sum = Array2::<f64>::zeros(y.dim());
    for tree in relabelled.trees() {
        sum += &tree.tree.predict((&x).into()).unwrap().mapv(f64::from);
    }
    let predicted = relabelled.predict((&x).into()).unwrap();
    for (found, sum) in predicted.iter().zip(&sum) {
        assert!((f64::from(*found) - sum / 6.0).abs() < 1e-6);
    }
    let mut missing = x.clone();
    missing[[3, 1]] = f32::NAN;
    let refused = forest.relabel((&missing).into(), (&numbers).into(), &TRAINING);
    assert!(refused.is_err(), "hyperplanes need all values");
}

#[test]
fn what_is_no_training_set_is_refused() {
    let (x, y) = labelled(9, 60);
    let forest = fit(
        ForestParams {
            trees: 4,
            ..ForestParams::default()
        },
        &x.clone().into(),
        &y.clone().into(),
    );
    let relabel = |x: &Array2<f32>, y: &Array2<f32>, options: &RelabelOptions<'_>| {
        forest.relabel(x.into(), y.into(), options).map(|_| ())
    };
    let reversed = x.slice(s![..;-1, ..]).to_owned();
    assert!(matches!(
        relabel(&reversed, &y, &TRAINING),
        Err(EnsembleError::NotTrainingSamples { .. })
    ));
    assert_eq!(relabel(&reversed, &y, &RelabelOptions::default()), Ok(()));
    let sizes_differ = |found, sizes| match found {
        Err(EnsembleError::Mismatch(Mismatch { expected, given, .. })) => {
            assert_eq!((expected, given), sizes);
        }
        other => panic!("{other:?}"),
    };
    let half = |a: &Array2<f32>| a.slice(s![..30, ..]).to_owned();
    sizes_differ(relabel(&half(&x), &half(&y), &TRAINING), (60, 30));
    sizes_differ(relabel(&x, &half(&y), &TRAINING), (60, 30));
    let wider = concatenate![Axis(1), x, x];
    sizes_differ(relabel(&wider, &y, &TRAINING), (5, 10));
    let mut missing = y.clone();
    missing[[2, 3]] = f32::NAN;
    assert!(matches!(
        relabel(&x, &missing, &TRAINING),
        Err(EnsembleError::Outputs(_))
    ));
    let options = |weights| RelabelOptions {
        weights: Some(weights),
        ..RelabelOptions::default()
    };
    sizes_differ(relabel(&x, &y, &options(&[1.0; 3])), (60, 3));
    assert!(matches!(
        relabel(&x, &y, &options(&[0.0; 60])),
        Err(EnsembleError::Weight(_))
    ));
    let samples = RelabelOptions {
        missing_outputs: true,
        leaves: LeafChoice::Samples,
        ..TRAINING
    };
    assert!(matches!(
        relabel(&x, &missing, &samples),
        Err(EnsembleError::Parameter(_))
    ));
    let empty = Array2::zeros((60, 0));
    assert!(matches!(
        relabel(&x, &empty, &TRAINING),
        Err(EnsembleError::NoOutputs)
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Any samples, any missing outputs: predictions lie between the least and the largest observed value of an output,
    /// for any number of threads, and a sample of weight 0 changes nothing.
    #[test]
    fn predictions_are_means_of_observed_outputs(
        seed in any::<u64>(),
        n in 2_usize..20,
        gaps in prop::collection::vec(any::<bool>(), 20 * 8),
        sparse in any::<bool>(),
    ) {
        let (x, y) = labelled(seed, 40);
        let forest = fit(ForestParams { trees: 3, ..ForestParams::default() }, &x.clone().into(), &y.into());
        let (other_x, mut other_y) = regression(seed ^ 1, n);
        other_y.indexed_iter_mut().for_each(|((i, j), v)| {
            // Each output is observed in the first sample.
            if i > 0 && gaps[i * 8 + j] {
                *v = f32::NAN;
            }
        });
        let outputs: Matrix = if sparse { csr(&other_y).into() } else { other_y.clone().into() };
        let options = RelabelOptions { missing_outputs: true, ..RelabelOptions::default() };
        let relabel = || forest.relabel((&other_x).into(), outputs.view(), &options).unwrap();
        let relabelled = on_threads(1, relabel);
        prop_assert_eq!(&on_threads(3, relabel), &relabelled);
        let predicted = relabelled.predict((&x).into()).unwrap();
        for (column, observed) in predicted.columns().into_iter().zip(other_y.columns()) {
            let observed = || observed.iter().filter(|v| !v.is_nan());
            let (least, most) = (observed().fold(f32::MAX, |a, b| a.min(*b)), observed().fold(f32::MIN, |a, b| a.max(*b)));
            prop_assert!(column.iter().all(|v| (least - 1e-4..=most + 1e-4).contains(v)));
        }
        let mut weights = vec![1.0; n];
        weights[n - 1] = 0.0;
        if other_y.slice(s![..n - 1, ..]).axis_iter(Axis(1)).all(|y| y.iter().any(|v| !v.is_nan())) {
            let weighted = RelabelOptions { weights: Some(&weights), ..options.clone() };
            let weighted = forest.relabel((&other_x).into(), outputs.view(), &weighted).unwrap();
            let fewer = |a: &Array2<f32>| a.slice(s![..n - 1, ..]).to_owned();
            let fewer = forest.relabel((&fewer(&other_x)).into(), (&fewer(&other_y)).into(), &options).unwrap();
            let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
            let (a, b) = (weighted.predict((&x).into()).unwrap(), fewer.predict((&x).into()).unwrap());
            prop_assert!(a.iter().zip(&b).all(close));
        }
    }
}
