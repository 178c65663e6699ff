//! Invariants of fitting: seeds, threads, projections, layouts, merged parts.
//!
//! Forests compare as a whole: rules, leaves, seeds and importances.

use super::common::{
    OutputProjection, csr, every_kind, fit, fit_given, gaussian, labelled, layouts, on_threads, projected,
    regression,
};
use ndarray::{Array2, Axis};
use rpo_core::{Apply, FeatureImportances, Learner, Matrix, Merge, Observers, Predictor, TreeEnsemble};
use rpo_ensemble::{
    CriterionKind, Forest, ForestOptions, ForestParams, ForestPreset, MaxFeatures, OutOfBagPredictor,
    Splitting,
};
use rpo_projections::{Components, ProjectionKind};
use rpo_tree::{LeafModel, Node};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The identity projection equals no projection, bit for bit.
#[test]
fn the_identity_is_no_projection() {
    let (x, labels) = labelled(1, 60);
    let (_, real) = regression(1, 60);
    let x = x.into();
    for y in [labels.clone().into(), csr(&labels).into(), real.into()] {
        for base in [
            ForestParams::default,
            || ForestPreset::ExtraTrees.into(),
            || ForestPreset::Cart.into(),
        ] {
            let params = || ForestParams {
                trees: 4,
                seed: 5,
                ..base()
            };
            let identity = OutputProjection::new(ProjectionKind::Identity, Components::Exact(8));
            for identity in [identity, identity.shared()] {
                let projected = projected(params(), Some(identity));
                assert_eq!(fit(params(), &x, &y), fit(projected, &x, &y));
            }
        }
    }
}

/// An orthogonal projection of all outputs changes nothing. This one, half a Hadamard matrix, is exact.
#[test]
fn orthogonal_projections_change_nothing() {
    let (x, y) = labelled(2, 60);
    let (x, y) = (x.into(), csr(&y.slice(ndarray::s![.., ..4]).to_owned()).into());
    let sign = |(i, j): (usize, usize)| if (i & j).count_ones() % 2 == 0 { 0.5 } else { -0.5 };
    let params = || ForestParams {
        trees: 5,
        ..ForestParams::default()
    };
    let rotated = fit_given(params(), Array2::from_shape_fn((4, 4), sign), &x, &y);
    let plain = fit(params(), &x, &y);
    for (a, b) in plain.trees().iter().zip(rotated.trees()) {
        assert_eq!(a.tree.structure(), b.tree.structure());
    }
}

/// The scale of a projection changes nothing, however small or large.
#[test]
fn the_scale_of_a_projection_does_not_matter() {
    let (x, y) = regression(3, 50);
    let (x, y) = (x.into(), y.into());
    let phi = Array2::from_shape_fn((3, 8), |(i, j)| ((5 * i + 3 * j) % 7) as f32 - 3.0);
    let fit_scaled = |exponent: i32| {
        let params = ForestParams {
            trees: 4,
            ..ForestParams::default()
        };
        fit_given(params, phi.mapv(|v| v * 2.0_f32.powi(exponent)), &x, &y)
    };
    let plain = fit_scaled(0);
    for exponent in [-40, -1, 3, 40] {
        assert_eq!(fit_scaled(exponent), plain);
    }
}

/// Outputs may be permuted, with the columns of the projection where there is one.
#[test]
fn outputs_may_be_permuted() {
    let (x, y) = labelled(4, 60);
    let order = [3, 0, 7, 5, 1, 2, 6, 4];
    let permuted = y.select(Axis(1), &order);
    let phi = Array2::from_shape_fn((2, 8), |(i, j)| ((3 * i + j * j) % 5) as f32 - 2.0);
    let x = x.into();
    let params = || ForestParams {
        trees: 5,
        ..ForestParams::default()
    };
    let (given, reordered) = (csr(&y).into(), csr(&permuted).into());
    for (forest, other) in [
        (fit(params(), &x, &given), fit(params(), &x, &reordered)),
        (
            fit_given(params(), phi.clone(), &x, &given),
            fit_given(params(), phi.select(Axis(1), &order), &x, &reordered),
        ),
    ] {
        let found = forest.predict(x.view()).unwrap().select(Axis(1), &order);
        assert_eq!(found, other.predict(x.view()).unwrap());
    }
}

/// The same seed gives the same forest and the same predictions on any number of threads.
#[test]
fn threads_do_not_matter() {
    let (x, y) = labelled(5, 90);
    let (x, y): (Matrix, Matrix) = (csr(&x).into(), csr(&y).into());
    for params in every_kind() {
        let [one, two, eight] = [1, 2, 8].map(|n| {
            on_threads(n, || {
                let forest = fit(params.clone(), &x, &y);
                let predictions = forest.predict(x.view()).unwrap();
                let top = forest.predict_top_k(x.view(), 3).unwrap();
                let leaves = forest.apply(x.view()).unwrap();
                let oob = forest
                    .oob_predictions(x.view())
                    .map(|(oob, counts)| (oob.mapv(f32::to_bits), counts));
                (forest, predictions, top, leaves, oob)
            })
        });
        assert!(one == two && one == eight, "{params:?}");
    }
}

#[test]
fn seeds_matter() {
    let (x, y) = labelled(6, 60);
    let (x, y) = (x.into(), y.into());
    for params in every_kind() {
        let structures = |forest: &Forest| -> Vec<_> {
            forest
                .trees()
                .iter()
                .map(|t| t.tree.structure().clone())
                .collect()
        };
        let first = fit(params.clone(), &x, &y);
        let trees = structures(&first);
        assert_ne!(
            structures(&fit(ForestParams { seed: 4, ..params }, &x, &y)),
            trees
        );
        assert!(
            trees.windows(2).all(|w| w[0] != w[1]),
            "trees differ among themselves"
        );
    }
}

/// With one tree, a shared projection equals the projection of the tree.
#[test]
fn one_tree_has_the_shared_projection() {
    let (x, y) = labelled(7, 60);
    let (x, y) = (x.into(), y.into());
    for base in [ForestParams::default, || ForestPreset::ExtraTrees.into()] {
        let fit_scope = |projection| fit(projected(ForestParams { trees: 1, ..base() }, projection), &x, &y);
        assert_eq!(
            fit_scope(gaussian(2)),
            fit_scope(gaussian(2).map(OutputProjection::shared))
        );
    }
}

/// Trees that see all rows and all features differ only by their projections, as long as no features tie: each tree has
/// its own projection, or all share one.
#[test]
fn trees_have_their_own_projection_or_share_one() {
    let (x, y) = labelled(16, 60);
    let (x, y) = (x.into(), y.into());
    for (projection, differ) in [
        (gaussian(1), true),
        (gaussian(1).map(OutputProjection::shared), false),
    ] {
        let forest = fit(
            projected(
                ForestParams {
                    trees: 5,
                    // In nodes of two rows all features tie.
                    max_depth: Some(2),
                    ..ForestPreset::Cart.into()
                },
                projection,
            ),
            &x,
            &y,
        );
        let different = |w: &[rpo_ensemble::ForestTree]| w[0].tree.structure() != w[1].tree.structure();
        assert!(forest.trees().windows(2).all(|w| different(w) == differ));
    }
}

/// Without bootstrap, distinct rows are fitted exactly through any Gaussian projection.
#[test]
fn distinct_rows_are_learnt_by_heart() {
    let (x, y) = labelled(8, 80);
    for (m, y) in [1, 2, 20].into_iter().flat_map(|m| layouts(&y).map(|y| (m, y))) {
        for base in [|| ForestPreset::Cart.into(), || ForestPreset::ExtraTrees.into()] {
            for projection in [gaussian(m), gaussian(m).map(OutputProjection::shared)] {
                let forest = fit(
                    projected(ForestParams { trees: 3, ..base() }, projection),
                    &x.clone().into(),
                    &y,
                );
                let found = forest.predict((&x).into()).unwrap();
                assert_eq!(found, y.view().to_dense(usize::MAX).unwrap());
            }
        }
    }
}

/// With one component, a projection per tree is at least as accurate on average as one for all, as it
/// divides the variance due to the projection by the number of trees.
#[test]
fn a_projection_per_tree_is_no_worse() {
    let mut sums = [0.0; 2];
    for repetition in 0..20 {
        let (x, y) = regression(100 + repetition, 60);
        let (x_test, y_test) = regression(200 + repetition, 60);
        let (x, y) = (x.into(), y.into());
        for (sum, projection) in sums
            .iter_mut()
            .zip([gaussian(1), gaussian(1).map(OutputProjection::shared)])
        {
            let params = projected(
                ForestParams {
                    trees: 50,
                    seed: repetition,
                    ..ForestParams::default()
                },
                projection,
            );
            let errors = fit(params, &x, &y).predict((&x_test).into()).unwrap() - &y_test;
            *sum += errors.mapv(|e| f64::from(e * e)).mean().unwrap() / 20.0;
        }
    }
    let [per_tree, shared] = sums;
    assert!(per_tree <= shared, "{per_tree} against {shared}");
}

/// Sparse features, including missing and negative values, give the same forest as dense ones, and so do sparse
/// outputs if they are labels.
#[test]
fn layouts_give_the_same_forest() {
    let (mut x, y) = labelled(9, 80);
    x.iter_mut().step_by(7).for_each(|v| *v = f32::NAN);
    let (x, y) = (layouts(&x), csr(&y).into());
    for params in every_kind() {
        let [dense, sparse] = x.each_ref().map(|x| fit(params.clone(), x, &y));
        assert_eq!(dense, sparse, "{params:?}");
        let [a, b] = x.each_ref().map(|x| dense.predict(x.view()).unwrap());
        assert_eq!(a, b);
    }
}

/// Forests grown in any number of parts equal the forest grown at once.
#[test]
fn parts_merge_into_the_whole() {
    let (x, y) = labelled(10, 70);
    for (params, y) in every_kind()
        .into_iter()
        .flat_map(|p| layouts(&y).map(|y| (p.clone(), y)))
    {
        let x = x.clone().into();
        let part = |first: usize, n: usize| {
            fit(
                ForestParams {
                    first_tree: first,
                    trees: n,
                    ..params.clone()
                },
                &x,
                &y,
            )
        };
        let whole = part(0, 100);
        let halves = part(0, 50).merge(part(50, 50)).unwrap();
        assert_eq!(halves, whole);
        let thirds = part(0, 1)
            .merge(part(1, 33).merge(part(34, 66)).unwrap())
            .unwrap();
        assert_eq!(thirds, whole);
        assert_eq!(halves.importances(), whole.importances());
        if let Some(outputs) = whole.training_outputs() {
            assert_eq!(**outputs, y);
            // All trees share one copy of the outputs.
            let shared = halves.training_outputs().unwrap();
            assert_eq!(std::sync::Arc::strong_count(shared), 100);
        }
    }
}

/// A row of weight 0 is ignored, a row of weight 2 counts twice (without bootstrap, which draws rows).
#[test]
fn weights_are_repetitions() {
    let (x, y) = labelled(11, 60);
    let weights: Vec<f32> = (0..60).map(|i| (i % 3) as f32).collect();
    let rows: Vec<usize> = (0..60).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let params = ForestParams {
        max_depth: Some(4),
        ..ForestPreset::Cart.into()
    };
    let options = ForestOptions {
        weights: Some(&weights),
        ..ForestOptions::default()
    };
    for y in layouts(&y) {
        let weighted = params.fit_with((&x).into(), y.view(), options.clone()).unwrap();
        let repeated = params
            .fit(
                (&x.select(Axis(0), &rows)).into(),
                y.view().select_rows(&rows).view(),
            )
            .unwrap();
        let errors = weighted.predict((&x).into()).unwrap() - repeated.predict((&x).into()).unwrap();
        assert!(errors.iter().all(|e| e.abs() < 1e-6));
    }
}

#[test]
fn the_observer_hears_of_every_tree() {
    let (x, y) = labelled(12, 20);
    let count = AtomicUsize::new(0);
    let on_tree = || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let options = ForestOptions {
        observers: Observers {
            on_step: Some(&on_tree),
            stop: None,
        },
        ..ForestOptions::default()
    };
    let params = ForestParams {
        trees: 17,
        ..ForestParams::default()
    };
    params.fit_with((&x).into(), (&y).into(), options).unwrap();
    assert_eq!(count.into_inner(), 17);
}

/// Trees respect every limit.
#[test]
fn limits_are_respected() {
    let (x, y) = labelled(13, 90);
    let (x, y) = (x.into(), y.into());
    let base = || {
        projected(
            ForestParams {
                trees: 8,
                ..ForestParams::default()
            },
            gaussian(2),
        )
    };
    let check = |params: ForestParams, holds: &dyn Fn(&rpo_tree::Structure<rpo_tree::AxisRule>) -> bool| {
        let forest = fit(params, &x, &y);
        assert!(forest.trees().iter().all(|t| holds(t.tree.structure())));
    };
    check(
        ForestParams {
            max_depth: Some(2),
            ..base()
        },
        &|s| s.depth() == 2,
    );
    check(
        ForestParams {
            max_depth: Some(0),
            ..base()
        },
        &|s| s.n_leaves() == 1,
    );
    check(
        ForestParams {
            max_leaves: Some(5),
            ..base()
        },
        &|s| s.n_leaves() == 5,
    );
    check(
        ForestParams {
            min_impurity_decrease: 1e6,
            ..base()
        },
        &|s| s.n_leaves() == 1,
    );
    // A bag holds about 57 distinct rows, at most 90.
    check(
        ForestParams {
            min_samples_split: 91,
            ..base()
        },
        &|s| s.n_leaves() == 1,
    );
    check(
        ForestParams {
            min_samples_leaf: 20,
            ..base()
        },
        &|s| s.n_leaves() <= 4,
    );
    let rules = |params: ForestParams| -> Vec<rpo_tree::AxisRule> {
        let forest = fit(params, &x, &y);
        let nodes = forest.trees()[0].tree.structure().nodes().to_vec();
        nodes
            .into_iter()
            .filter_map(|node| match node {
                Node::Split { rule, .. } => Some(rule),
                Node::Leaf(_) => None,
            })
            .collect()
    };
    let cart = || ForestParams {
        seed: 1,
        ..ForestPreset::Cart.into()
    };
    assert_ne!(
        rules(ForestParams {
            splitter: Splitting::Random,
            ..cart()
        }),
        rules(cart())
    );
    assert_ne!(
        rules(ForestParams {
            max_features: MaxFeatures::Count(1),
            ..cart()
        }),
        rules(cart())
    );
    assert_ne!(
        rules(ForestParams {
            bootstrap: Some(true),
            ..cart()
        }),
        rules(cart())
    );
}

/// Importances sum to 1, and the uninformative feature has the smallest.
#[test]
fn importances_tell_signal_from_noise() {
    let (x, y) = labelled(14, 400);
    let params = ForestParams {
        trees: 30,
        max_features: MaxFeatures::All,
        max_depth: Some(4),
        ..ForestParams::default()
    };
    let forest = fit(params, &x.into(), &csr(&y).into());
    let mut importances = [0.0; 5];
    for (feature, importance) in forest.importances() {
        importances[feature as usize] = importance;
    }
    assert!((importances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(
        importances[..4].iter().all(|&v| v > 5.0 * importances[4]),
        "{importances:?}"
    );
    assert!(forest.trees().iter().all(|t| t.tree.leaves().n_outputs() == 8));
}

/// Outputs far from zero keep all digits in which they differ, projected or not.
#[test]
fn the_origin_of_outputs_does_not_matter() {
    let mut uniform = super::common::uniform(15);
    let x = Array2::from_shape_fn((60, 1), |_| uniform() as f32).into();
    // Eighths are exact when added to a million.
    let y = Array2::from_shape_fn((60, 3), |_| (8.0 * uniform()).floor() as f32 / 8.0);
    for projection in [None, gaussian(2)] {
        let structure = |offset: f32| {
            let params = projected(
                ForestParams {
                    min_samples_leaf: 3,
                    ..ForestPreset::Cart.into()
                },
                projection,
            );
            let forest = fit(params, &x, &y.mapv(|v| v + offset).into());
            forest.trees()[0].tree.structure().clone()
        };
        let near = structure(0.0);
        assert!(near.n_leaves() > 10);
        assert_eq!(structure(1e6), near);
        assert_eq!(structure(-1e6), near);
    }
}

/// For labels, Gini impurity is twice the variance, and entropy differs from both.
#[test]
fn criteria_of_labels() {
    let (x, y) = labelled(6, 80);
    let rules = |criterion, least: f64| {
        let params = ForestParams {
            trees: 5,
            criterion,
            ..ForestParams::default()
        };
        let forest = fit(
            ForestParams {
                min_impurity_decrease: least,
                ..params
            },
            &x.clone().into(),
            &csr(&y).into(),
        );
        let trees = forest.trees().iter().map(|t| t.tree.structure().clone());
        trees.collect::<Vec<_>>()
    };
    let variance = rules(CriterionKind::Variance, 0.004);
    assert_ne!(variance, rules(CriterionKind::Variance, 0.008));
    assert_eq!(variance, rules(CriterionKind::Gini, 0.008));
    assert_ne!(variance, rules(CriterionKind::Entropy, 0.004));
    for (dense, sparse) in layouts(&y).iter().zip(layouts(&y)) {
        let params = || ForestParams {
            trees: 3,
            criterion: CriterionKind::Entropy,
            ..ForestParams::default()
        };
        assert_eq!(
            fit(params(), &x.clone().into(), dense),
            fit(params(), &x.clone().into(), &sparse)
        );
    }
}

/// Trees on fractions use that many rows and features, and grow on their bags only.
#[test]
fn shares_of_rows_and_features() {
    let (x, y) = regression(7, 60);
    let params = ForestParams {
        trees: 6,
        row_share: Some(0.3),
        ..ForestParams::default()
    };
    let params = ForestParams {
        feature_share: 0.4,
        max_features: MaxFeatures::All,
        ..params
    };
    let forest = fit(params, &x.clone().into(), &y.clone().into());
    let (oob, counts) = forest.oob_predictions((&x).into()).unwrap();
    assert_eq!(counts.iter().sum::<u32>(), 6 * (60 - 18));
    assert!(
        oob.rows()
            .into_iter()
            .zip(&counts)
            .all(|(row, n)| row.iter().all(|v| v.is_finite()) == (*n > 0))
    );
    for tree in forest.trees() {
        let mut features: Vec<u32> = Vec::new();
        for node in tree.tree.structure().nodes() {
            if let Node::Split { rule, .. } = node {
                features.push(rule.test().feature);
            }
        }
        features.sort_unstable();
        features.dedup();
        // round(0.4 · 5) features.
        assert!(features.len() <= 2, "{features:?}");
        assert!(tree.tree.structure().n_leaves() <= 18);
    }
}
