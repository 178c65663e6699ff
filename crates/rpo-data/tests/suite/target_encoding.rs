//! Target encoding against a naive twin, and the properties that make it safe for training.

use ndarray::{Array2, Axis};
use proptest::prelude::*;
use rpo_core::{MatrixView, Mismatch, ParameterError, Seed, finite_or_missing};
use rpo_data::preprocess::{Encoding, EncodingTargets, Pipeline, PreprocessError, Steps, Transform};
use rpo_data::split::{Split, Withheld};
use rpo_data::{Dataset, DatasetError, Layout, Task};
use std::collections::BTreeMap;

/// A numeric feature and features of two, four and nine values; some values are missing.
fn data(n: usize, seed: u64, layout: Layout) -> Dataset {
    let n_values = [0, 2, 4, 9];
    let x = Array2::from_shape_fn((n, 4), |(i, j)| {
        match Seed::new(seed).child(i as u64).hash(j as u64) {
            v if v % 10 == 9 => f32::NAN,
            v if j == 0 => (v % 100) as f32 / 10.0,
            v => (v / 10 % n_values[j]) as f32,
        }
    });
    let list = |n: u64| (0..n).map(|v| format!("v{v}")).collect();
    Dataset::new(x.into(), Array2::zeros((n, 1)).into(), Task::Regression)
        .and_then(|data| data.with_nominal((1..4).map(|j| (j, list(n_values[j]))).collect()))
        .and_then(|data| data.with_layout(layout, usize::MAX))
        .unwrap()
}

/// Targets that depend on the last feature; some are missing.
fn targets(data: &Dataset, seed: u64) -> Array2<f32> {
    let x = dense(data);
    Array2::from_shape_fn((data.n_samples(), 3), |(i, t)| {
        match Seed::new(seed ^ 7).child(i as u64).hash(t as u64) {
            v if v % 8 == 7 => f32::NAN,
            v => (v % 100) as f32 / 25.0 + if x[[i, 3]] > 4.0 { t as f32 } else { 0.0 },
        }
    })
}

fn named(values: Array2<f32>, seed: u64) -> EncodingTargets {
    let names = (0..values.ncols()).map(|t| format!("t{t}")).collect();
    EncodingTargets::new(values, names, Seed::new(seed)).unwrap()
}

fn fit_apply(data: &Dataset, targets: &EncodingTargets) -> Result<(Pipeline, Dataset), PreprocessError> {
    let nominal = Encoding::Target(targets);
    let steps = Steps {
        nominal,
        ..Steps::default()
    };
    let (pipeline, training) = steps.fit_apply(data)?;
    Ok((pipeline, training.into_owned()))
}

fn dense(data: &Dataset) -> Array2<f32> {
    data.features().view().to_dense(usize::MAX).unwrap()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Computes the encoding of a value, or of a missing one, from the definition.
fn twin(x: &Array2<f32>, y: &Array2<f32>, rows: &[usize], feature: usize, target: usize, value: f32) -> f64 {
    let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for &i in rows {
        if !x[[i, feature]].is_nan() && !y[[i, target]].is_nan() {
            let group = groups.entry(x[[i, feature]] as u32).or_default();
            group.push(y[[i, target]].into());
        }
    }
    let all: Vec<f64> = groups.values().flatten().copied().collect();
    if all.is_empty() {
        return 0.0;
    }
    let (n, c) = (all.len() as f64, groups.len() as f64);
    let overall = mean(&all);
    let Some(group) = groups.get(&(value as u32)).filter(|_| !value.is_nan()) else {
        return overall;
    };
    let squares = |group: &Vec<f64>| group.iter().map(|y| (y - mean(group)).powi(2)).sum::<f64>();
    let within = groups.values().map(squares).sum::<f64>() / (n - c);
    let between = groups
        .values()
        .map(|g| g.len() as f64 * (mean(g) - overall).powi(2));
    let between = between.sum::<f64>() / (c - 1.0);
    let sizes: f64 = groups.values().map(|g| (g.len() * g.len()) as f64).sum();
    let between = (between - within) / ((n - sizes / n) / (c - 1.0));
    if between.is_nan() || between <= 0.0 {
        return overall;
    }
    let weight = group.len() as f64 * between / (group.len() as f64 * between + within);
    weight * mean(group) + (1.0 - weight) * overall
}

/// Each encoded feature, and the first of its three columns in the result.
const ENCODED: [(usize, usize); 2] = [(2, 2), (3, 5)];

fn check_twin(found: &Array2<f32>, x: &Array2<f32>, y: &Array2<f32>, test: &[usize], rows: &[usize]) {
    for &i in test {
        for (feature, first) in ENCODED {
            for target in 0..3 {
                let expected = twin(x, y, rows, feature, target, x[[i, feature]]);
                let found = f64::from(found[[i, first + target]]);
                assert!((found - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
    }
}

proptest! {
    #[test]
    fn means_are_those_of_a_naive_twin(n in 1_usize..60, seed in any::<u64>(), sparse in any::<bool>()) {
        let data = data(n, seed, if sparse { Layout::Sparse } else { Layout::Dense });
        let (x, y) = (dense(&data), targets(&data, seed));
        let (encoding, training) = fit_apply(&data, &named(y.clone(), seed)).unwrap();
        let applied = encoding.apply(&data).unwrap();
        let names = ["0", "1", "mean(t0|2)", "mean(t1|2)", "mean(t2|2)", "mean(t0|3)", "mean(t1|3)", "mean(t2|3)"];
        for made in [&applied, &training] {
            prop_assert_eq!(made.feature_names(), &names.into_iter().collect());
            prop_assert_eq!(made.nominal().keys().collect::<Vec<_>>(), [&1]);
            let kept = |x: &Array2<f32>| x.select(Axis(1), &[0, 1]).mapv(f32::to_bits);
            prop_assert_eq!(kept(&dense(made)), kept(&x));
        }
        let all: Vec<usize> = (0..n).collect();
        check_twin(&dense(&applied), &x, &y, &all, &all);
        if n > 1 {
            for fold in Split::folds(&data, &Withheld::Stratified, n.min(5), Seed::new(seed)).unwrap() {
                check_twin(&dense(&training), &x, &y, &fold.test, &fold.train);
            }
        }
    }

    /// Whatever the weights, a shrunken mean is between means of targets.
    #[test]
    fn weighted_means_stay_among_the_targets(n in 2_usize..60, seed in any::<u64>()) {
        let data = data(n, seed, Layout::Dense);
        let weight = |i: usize| match Seed::new(seed).child(i as u64).hash(9) % 8 {
            0 => 40.0,
            v => v as f32 / 8.0,
        };
        let data = data.with_weights((0..n).map(weight).collect::<Vec<_>>()).unwrap();
        let y = targets(&data, seed);
        let (encoding, training) = fit_apply(&data, &named(y.clone(), seed)).unwrap();
        for made in [&training, &encoding.apply(&data).unwrap()] {
            for (_, first) in ENCODED {
                for target in 0..3 {
                    // 0 is the encoding of a target that was not observed.
                    let observed = y.column(target).iter().copied().filter(|y| !y.is_nan()).collect::<Vec<_>>();
                    let most = observed.iter().copied().fold(0.0, f32::max) + 1e-4;
                    let least = observed.iter().copied().fold(0.0, f32::min) - 1e-4;
                    for value in dense(made).column(first + target) {
                        prop_assert!((least..=most).contains(value), "{value} is not from {least} to {most}");
                    }
                }
            }
        }
    }

    /// If the targets of a fold change, the encoding of its samples stays the same, to the last bit.
    #[test]
    fn no_sample_sees_the_targets_of_its_fold(n in 2_usize..60, seed in any::<u64>(), fold in 0_usize..5) {
        let data = data(n, seed, Layout::Dense);
        let y = targets(&data, seed);
        let folds = Split::folds(&data, &Withheld::Stratified, n.min(5), Seed::new(seed)).unwrap();
        let own = &folds[fold % folds.len()].test;
        let mut changed = y.clone();
        for &i in own {
            changed.row_mut(i).mapv_inplace(|y| if y.is_nan() { 1e6 } else { -1e3 * y });
        }
        let bits = |y: &Array2<f32>| {
            let (_, training) = fit_apply(&data, &named(y.clone(), seed)).unwrap();
            dense(&training).select(Axis(0), own).mapv(f32::to_bits)
        };
        prop_assert_eq!(bits(&y), bits(&changed));
    }

    /// If the targets of a group change, the encoding of its samples stays the same, to the last bit.
    #[test]
    fn no_sample_sees_the_targets_of_its_group(n in 2_usize..60, seed in any::<u64>(), n_groups in 1_u32..9) {
        let data = data(n, seed, Layout::Dense);
        let groups: Vec<u32> = (0..n as u64).map(|i| (Seed::new(seed).hash(i) % u64::from(n_groups)) as u32).collect();
        let own: Vec<usize> = (0..n).filter(|&i| groups[i] == groups[0]).collect();
        let data = data.with_groups(groups).unwrap();
        prop_assume!(data.n_groups() >= 2);
        let y = targets(&data, seed);
        let mut changed = y.clone();
        for &i in &own {
            changed.row_mut(i).mapv_inplace(|y| if y.is_nan() { 1e6 } else { -1e3 * y });
        }
        let bits = |y: &Array2<f32>| {
            let (_, training) = fit_apply(&data, &named(y.clone(), seed)).unwrap();
            dense(&training).select(Axis(0), &own).mapv(f32::to_bits)
        };
        prop_assert_eq!(bits(&y), bits(&changed));
    }
}

#[test]
fn weights_decide_between_samples_that_contradict_each_other() {
    let x = Array2::from_shape_fn((60, 1), |(i, _)| (i % 3) as f32);
    let y = Array2::from_shape_fn((60, 1), |(i, _)| if i / 3 % 2 == 0 { 10.0 } else { 0.0 });
    let list = ["a", "b", "c"].map(str::to_owned).into();
    let data = Dataset::new(x.into(), y.clone().into(), Task::Regression)
        .and_then(|data| data.with_nominal([(0, list)].into()))
        .unwrap();
    let encoded = |weights: Option<Vec<f32>>| {
        let data = match weights {
            Some(weights) => data.clone().with_weights(weights).unwrap(),
            None => data.clone(),
        };
        let (encoding, _) = fit_apply(&data, &named(y.clone(), 1)).unwrap();
        let applied = dense(&encoding.apply(&data).unwrap());
        [0, 1, 2].map(|i| applied[[i, 0]])
    };
    assert_eq!(encoded(None), [5.0; 3]);
    // Those of 10 count most for the first value, those of 0 for the second.
    let weight = |i: usize, scale: f32| match (i % 3, i / 3 % 2) {
        (0, 0) | (1, 1) => 9.0 * scale,
        _ => scale,
    };
    let weighted = |scale: f32| encoded(Some((0..60).map(|i| weight(i, scale)).collect()));
    let [a, b, c] = weighted(1.0);
    assert!(a > 8.0 && b < 2.0 && (c - 5.0).abs() < 0.1, "{a} {b} {c}");
    assert_eq!(weighted(0.25), [a, b, c]);
}

#[test]
fn samples_of_one_group_have_no_means_of_others() {
    let data = data(20, 3, Layout::Dense).with_groups(vec![4; 20]).unwrap();
    let refused = fit_apply(&data, &named(targets(&data, 3), 3)).unwrap_err();
    assert!(refused.to_string().contains("two groups"), "{refused}");
}

/// Four hundred random words, on samples whose targets are noise: most words occur five times or less.
fn noise() -> (Dataset, EncodingTargets) {
    let (n, n_words) = (2000, 400);
    let unit = |i: usize, j: u64| (Seed::new(5).child(i as u64).hash(j) >> 40) as f32 / (1 << 24) as f32;
    let x = Array2::from_shape_fn((n, 1), |(i, _)| (unit(i, 0) * n_words as f32).floor());
    let y = Array2::from_shape_fn((n, 1), |(i, _)| unit(i, 1) + unit(i, 2) + unit(i, 3) - 1.5);
    let words = (0..n_words).map(|w| format!("w{w}")).collect();
    let data = Dataset::new(x.into(), y.clone().into(), Task::Regression);
    let data = data.unwrap().with_nominal([(0, words)].into()).unwrap();
    (data, named(y, 3))
}

/// Returns the correlation of a column with the target of the set.
fn correlation(encoded: &Dataset) -> f64 {
    let (x, y) = (
        dense(encoded),
        encoded.outputs().view().to_dense(usize::MAX).unwrap(),
    );
    let of = |a: &Array2<f32>| a.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
    let (x, y) = (of(&x), of(&y));
    let product = |a: &[f64], b: &[f64]| {
        let pairs = a.iter().zip(b);
        pairs.map(|(u, v)| (u - mean(a)) * (v - mean(b))).sum::<f64>()
    };
    product(&x, &y) / (product(&x, &x) * product(&y, &y)).sqrt().max(f64::MIN_POSITIVE)
}

#[test]
fn words_without_meaning_have_none_for_training() {
    let (data, targets) = noise();
    let (_, training) = fit_apply(&data, &targets).unwrap();
    // The correlation of two thousand independent pairs of numbers is within three standard deviations of 0.
    let found = correlation(&training);
    assert!(found.abs() < 3.0 / 2000.0_f64.sqrt(), "{found}");
    // Means of words that include the target of the sample seem informative: the effect to guard against.
    let x = dense(&data);
    let mut sums = BTreeMap::<u32, (f32, f32)>::new();
    let y = data.outputs().view().to_dense(usize::MAX).unwrap();
    for (x, y) in x.iter().zip(&y) {
        let sum = sums.entry(*x as u32).or_default();
        *sum = (sum.0 + y, sum.1 + 1.0);
    }
    let leaky = x.mapv(|x| sums[&(x as u32)].0 / sums[&(x as u32)].1);
    let leaky = Dataset::new(leaky.into(), y.into(), Task::Regression).unwrap();
    assert!(correlation(&leaky) > 0.3);
}

#[test]
fn threads_change_nothing() {
    let data = data(500, 11, Layout::Dense);
    let targets = named(targets(&data, 11), 2);
    let fit = || fit_apply(&data, &targets).unwrap();
    let bits = |data: &Dataset| dense(data).mapv(f32::to_bits);
    let (encoding, training) = fit();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let (again, training_again) = pool.install(fit);
        assert_eq!(encoding, again);
        assert_eq!(bits(&training), bits(&training_again));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let data = data(20, 1, Layout::Dense);
    let y = |n: usize, k: usize| Array2::<f32>::zeros((n, k));
    let names = |k: usize| (0..k).map(|t| t.to_string()).collect::<Vec<_>>();
    let new = |y: Array2<f32>, k| EncodingTargets::new(y, names(k), Seed::new(0));
    let expected = ParameterError::out_of_range("targets", 0, "at least 1");
    assert_eq!(new(y(20, 0), 0), Err(expected.into()));
    assert!(matches!(new(y(20, 2), 1), Err(PreprocessError::Mismatch(_))));
    let infinite = y(20, 1) + f32::INFINITY;
    let problem = MatrixView::from(&infinite)
        .check_values(finite_or_missing)
        .unwrap_err();
    assert_eq!(new(infinite, 1), Err(DatasetError::Output(problem).into()));
    let few = new(y(19, 1), 1).unwrap();
    let what = "samples of the targets";
    let (expected, given) = (20, 19);
    let mismatch = Mismatch {
        what,
        expected,
        given,
    };
    assert_eq!(fit_apply(&data, &few), Err(mismatch.into()));
    let nothing = data.select_samples(&[]).unwrap();
    let none = new(y(0, 1), 1).unwrap();
    assert_eq!(fit_apply(&nothing, &none), Err(PreprocessError::NoSamples));

    let (encoding, _) = fit_apply(&data, &new(y(20, 1), 1).unwrap()).unwrap();
    let fewer = data.select_features(&[0, 2, 3]).unwrap();
    assert!(matches!(
        encoding.apply(&fewer),
        Err(PreprocessError::Mismatch(_))
    ));
    let numbers = data.clone().with_nominal(BTreeMap::new()).unwrap();
    assert_eq!(encoding.apply(&numbers), Err(PreprocessError::Kind(1)));
}
