//! Invariants of the metrics, and agreement with their definitions.

use crate::naive;
use ndarray::{Array2, Axis};
use proptest::prelude::*;
use rpo_metrics::*;

/// A truth of 0 and 1 and scores with many ties, 1 to 9 rows, 1 to 99 labels: fewer and more relevant scores than the
/// limit at which the counting algorithm changes.
fn example() -> impl Strategy<Value = (Array2<f32>, Array2<f32>)> {
    (1_usize..10, 1_usize..100, 1_u8..100, 1_i8..127).prop_flat_map(|(n, d, percent, spread)| {
        let truth = proptest::collection::vec(
            (0_u8..100).prop_map(move |v| f32::from(u8::from(v < percent))),
            n * d,
        );
        let scores = proptest::collection::vec((-spread..=spread).prop_map(f32::from), n * d);
        (truth, scores).prop_map(move |(t, s)| (shaped(n, d, t), shaped(n, d, s)))
    })
}

/// Like [`example`], but with scores that all differ.
fn example_without_ties() -> impl Strategy<Value = (Array2<f32>, Array2<f32>)> {
    let with_order = |(truth, _): (Array2<f32>, Array2<f32>)| {
        let (n, d) = truth.dim();
        let order: Vec<f32> = (0..n * d).map(|v| v as f32).collect();
        (
            Just(truth),
            Just(order).prop_shuffle().prop_map(move |s| shaped(n, d, s)),
        )
    };
    example().prop_flat_map(with_order)
}

fn shaped(n: usize, d: usize, values: Vec<f32>) -> Array2<f32> {
    Array2::from_shape_vec((n, d), values).unwrap()
}

fn sets(truth: &Array2<f32>) -> LabelSets<'_> {
    LabelSets::new(truth.into(), MissingTruth::Refuse).unwrap()
}

/// Equal except for the rounding of a few operations, relative to the magnitude.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(1.0) || (a.is_nan() && b.is_nan())
}

fn all_close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(*a, *b))
}

/// Every metric that depends only on the order of the scores.
fn rank_metrics(truth: &Array2<f32>, scores: &Array2<f32>) -> Vec<f64> {
    let metrics = [
        Metric::Lrap,
        Metric::LrapAll,
        Metric::Coverage,
        Metric::RankingLoss,
        Metric::OneError,
        Metric::PrecisionAt(1),
        Metric::PrecisionAt(3),
        Metric::NdcgAt(3),
        Metric::MacroAuc,
        Metric::MicroAuc,
        Metric::AveragePrecision,
    ];
    Evaluation::new(truth.into(), scores.view(), EvaluationOptions::default())
        .evaluate(&metrics)
        .unwrap()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

proptest! {
    #[test]
    fn row_metrics_are_their_definitions((truth, scores) in example(), k in 1_usize..50) {
        let (t, s) = (sets(&truth), scores.view());
        let mean = |value: naive::Value| naive::row_mean(&truth, &scores, value);
        let found = ranking(&t, s, Ranking::Lrap(EmptySamples::Skip)).unwrap();
        prop_assert!(close(found.value, mean(naive::average_precision)));
        prop_assert_eq!(found.n_skipped, (0..t.n_samples()).filter(|&i| t.labels(i).is_empty()).count());
        prop_assert!(close(ranking(&t, s, Ranking::Coverage).unwrap().value, mean(naive::coverage)));
        prop_assert!(close(ranking(&t, s, Ranking::Loss).unwrap().value, mean(naive::ranking_loss)));
        let top = TopK::from_scores(s, k).unwrap();
        let precision = naive::row_mean(&truth, &scores, |t, s| naive::precision(t, s, k));
        prop_assert!(close(gain_at_k(&t, &top, Gain::Precision, k).unwrap(), precision));
        let ndcg = naive::row_mean(&truth, &scores, |t, s| naive::ndcg(t, s, k));
        prop_assert!(close(gain_at_k(&t, &top, Gain::Ndcg, k).unwrap(), ndcg));
        let error = naive::row_mean(&truth, &scores, |t, s| 1.0 - naive::precision(t, s, 1));
        prop_assert!(close(one_error(&t, &top, EmptySamples::One).unwrap().value, error));
    }

    #[test]
    fn label_metrics_are_their_definitions((truth, scores) in example()) {
        let (t, s) = (sets(&truth), scores.view());
        let columns = |value: naive::Value| -> Vec<f64> {
            (0..truth.ncols()).map(|j| value(truth.column(j), scores.column(j))).collect()
        };
        prop_assert!(all_close(&area_per_label(&t, s, Curve::Roc).unwrap(), &columns(naive::roc_auc)));
        prop_assert!(all_close(&area_per_label(&t, s, Curve::PrecisionRecall).unwrap(), &columns(naive::average_precision)));
        let (flat_truth, flat_scores) = (naive::flat(&truth), naive::flat(&scores));
        let auc = naive::roc_auc(flat_truth.view(), flat_scores.view());
        prop_assert!(close(micro_area(&t, s, Curve::Roc).unwrap(), auc));
        let precision = naive::average_precision(flat_truth.view(), flat_scores.view());
        prop_assert!(close(micro_area(&t, s, Curve::PrecisionRecall).unwrap(), precision));
    }

    /// For the macro AUC and all other metrics that depend on the order alone.
    #[test]
    fn increasing_transforms_change_nothing((truth, scores) in example()) {
        // For small integers these maps are exact, and one of them is far from linear.
        let expected = bits(&rank_metrics(&truth, &scores));
        for transform in [|s: f32| 0.25 * s - 3.0, |s: f32| s * s * s, |s: f32| s.exp2()] {
            prop_assert_eq!(&bits(&rank_metrics(&truth, &scores.mapv(transform))), &expected);
        }
    }

    #[test]
    fn zeros_of_either_sign_are_equal((truth, scores) in example()) {
        let mut signed = scores.clone();
        signed.iter_mut().step_by(2).filter(|s| **s == 0.0).for_each(|s| *s = -0.0);
        prop_assert_eq!(bits(&rank_metrics(&truth, &signed)), bits(&rank_metrics(&truth, &scores)));
    }

    #[test]
    fn order_of_rows_and_labels_is_irrelevant((truth, scores) in example_without_ties(), shift in 0_usize..50) {
        let expected = rank_metrics(&truth, &scores);
        let turned = |n: usize| (0..n).map(|i| (n - 1 - i + shift) % n).collect::<Vec<_>>();
        for axis in [Axis(0), Axis(1)] {
            let order = turned(truth.len_of(axis));
            let found = rank_metrics(&truth.select(axis, &order), &scores.select(axis, &order));
            prop_assert!(all_close(&found, &expected), "{found:?} {expected:?}");
        }
    }

    #[test]
    fn narrow_and_wide_scores_agree((truth, scores) in example()) {
        let (t, wide) = (sets(&truth), scores.mapv(f64::from));
        prop_assert_eq!(
            bits(&area_per_label(&t, wide.view(), Curve::Roc).unwrap()),
            bits(&area_per_label(&t, scores.view(), Curve::Roc).unwrap())
        );
        let skip = EmptySamples::Skip;
        let narrow = ranking(&t, scores.view(), Ranking::Lrap(skip)).unwrap().value;
        prop_assert!(close(ranking(&t, wide.view(), Ranking::Lrap(skip)).unwrap().value, narrow));
    }

    #[test]
    fn lrap_lies_between_its_worst_and_one((truth, scores) in example_without_ties()) {
        let t = sets(&truth);
        let d = truth.ncols() as f64;
        let found = ranking(&t, scores.view(), Ranking::Lrap(EmptySamples::Skip)).unwrap();
        prop_assert!(found.n_used == 0 || found.value <= 1.0);
        // The worst ranking: all relevant labels last.
        let worst = scores.clone() - truth.mapv(|v| 1e6 * v);
        let worst = ranking(&t, worst.view(), Ranking::Lrap(EmptySamples::Skip)).unwrap().value;
        let bounds = (0..t.n_samples()).map(|i| t.labels(i).len()).filter(|r| *r > 0).map(|r| {
            let terms = (1..=r).map(|i| i as f64 / (d - r as f64 + i as f64));
            terms.sum::<f64>() / r as f64
        });
        prop_assert!(close(worst, Mean::from_iter(bounds).value));
        prop_assert!(found.n_used == 0 || found.value >= worst - 1e-12);
        // The best ranking: all relevant labels first. A tie of all labels gives the fraction of relevant ones.
        let best = scores.clone() + truth.mapv(|v| 1e6 * v);
        let best = ranking(&t, best.view(), Ranking::Lrap(EmptySamples::One)).unwrap().value;
        prop_assert_eq!(best, 1.0);
        let tied = ranking(&t, Array2::<f32>::zeros(scores.dim()).view(), Ranking::Lrap(EmptySamples::Skip)).unwrap().value;
        let shares = (0..t.n_samples()).map(|i| t.labels(i).len() as f64 / d).filter(|s| *s > 0.0);
        prop_assert!(close(tied, Mean::from_iter(shares).value));
    }

    #[test]
    fn more_predictions_hit_more((truth, scores) in example()) {
        let t = sets(&truth);
        let d = truth.ncols();
        let top = TopK::from_scores(scores.view(), d + 3).unwrap();
        let hits: Vec<f64> = (1..=d + 3).map(|k| k as f64 * gain_at_k(&t, &top, Gain::Precision, k).unwrap()).collect();
        prop_assert!(hits.windows(2).all(|w| w[0] <= w[1] + 1e-12));
        prop_assert!(close(hits[d - 1], t.label_counts().iter().sum::<usize>() as f64 / t.n_samples() as f64));
        prop_assert!(close(hits[d + 2], hits[d - 1]));
        // Selecting fewer labels gives the same values.
        for k in [1, d.div_ceil(2), d] {
            let cut = TopK::from_scores(scores.view(), k).unwrap();
            prop_assert_eq!(gain_at_k(&t, &cut, Gain::Precision, k).unwrap().to_bits(), gain_at_k(&t, &top, Gain::Precision, k).unwrap().to_bits());
            prop_assert_eq!(gain_at_k(&t, &cut, Gain::Ndcg, k).unwrap().to_bits(), gain_at_k(&t, &top, Gain::Ndcg, k).unwrap().to_bits());
        }
    }

    #[test]
    fn sets_of_the_best_labels_are_counts((truth, scores) in example(), k in 1_usize..9) {
        let t = sets(&truth);
        let top = TopK::from_scores(scores.view(), k).unwrap();
        let found = sets_at_k(&t, &top, k).unwrap();
        let chosen: Vec<Vec<usize>> = scores.rows().into_iter()
            .map(|row| naive::ranking(row).into_iter().take(k).collect())
            .collect();
        for (label, counts) in found.per_label.iter().enumerate() {
            let count = |relevant: bool, predicted: bool| (0..truth.nrows())
                .filter(|&i| (truth[[i, label]] == 1.0) == relevant && chosen[i].contains(&label) == predicted)
                .count() as u64;
            prop_assert_eq!(counts.true_positives, count(true, true));
            prop_assert_eq!(counts.false_positives, count(false, true));
            prop_assert_eq!(counts.false_negatives, count(true, false));
            prop_assert_eq!(counts.true_negatives, count(false, false));
        }
        // If k labels are listed, the sum of hits is that of the precision at k.
        let hits: u64 = found.per_label.iter().map(|label| label.true_positives).sum();
        let hits = hits as f64 / (k * truth.nrows()) as f64;
        prop_assert!(close(hits, gain_at_k(&t, &top, Gain::Precision, k).unwrap()));
    }

    #[test]
    fn equal_propensities_are_none((truth, scores) in example(), k in 1_usize..9) {
        let t = sets(&truth);
        let top = TopK::from_scores(scores.view(), k).unwrap();
        let scored = |gain, inverse: &[f64]| propensity_scored_at_k(&t, &top, gain, inverse, k).unwrap();
        let psp = scored(Gain::Precision, &vec![1.0; truth.ncols()]);
        prop_assert!(close(psp.unnormalised, gain_at_k(&t, &top, Gain::Precision, k).unwrap()));
        let psndcg = scored(Gain::Ndcg, &vec![2.0; truth.ncols()]);
        prop_assert!(close(psndcg.unnormalised, 2.0 * gain_at_k(&t, &top, Gain::Ndcg, k).unwrap()));
        let inverse = Propensity::default().inverse(&t.label_counts(), t.n_samples() + 2).unwrap();
        for value in [Gain::Precision, Gain::Ndcg].map(|gain| scored(gain, &inverse).value) {
            prop_assert!(value.is_nan() == (t.label_counts().iter().sum::<usize>() == 0) && (value.is_nan() || (0.0..=1.0 + 1e-12).contains(&value)));
        }
    }

    #[test]
    fn set_metrics_are_counts((truth, scores) in example(), threshold in -3_i8..4) {
        let t = sets(&truth);
        let predicted = LabelSets::from_scores(scores.view(), &Thresholds::One(threshold.into())).unwrap();
        let compared = SetComparison::new(&t, &predicted).unwrap();
        let chosen = scores.mapv(|s| f32::from(u8::from(s >= f32::from(threshold))));
        prop_assert_eq!(&sets(&chosen), &predicted);
        let wrong = truth.iter().zip(&chosen).filter(|(t, c)| t != c).count();
        prop_assert!(close(compared.average(Average::Micro, SetMetric::ErrorRate), wrong as f64 / truth.len() as f64));
        let exact = truth.rows().into_iter().zip(chosen.rows()).filter(|(t, c)| t == c).count();
        prop_assert!(close(compared.average(Average::Samples, SetMetric::Exact), exact as f64 / truth.nrows() as f64));
        for (j, counts) in compared.per_label.iter().enumerate() {
            let both = truth.column(j).iter().zip(chosen.column(j)).map(|(t, c)| t * c).sum::<f32>();
            prop_assert_eq!(counts.true_positives, both as u64);
            prop_assert_eq!(counts.false_positives, (chosen.column(j).sum() - both) as u64);
            prop_assert_eq!(counts.false_negatives, (truth.column(j).sum() - both) as u64);
        }
        // Exchanging truth and prediction exchanges precision and recall; the other metrics stay the same.
        let exchanged = SetComparison::new(&predicted, &t).unwrap();
        for average in [Average::Micro, Average::Macro, Average::Samples] {
            for zero in [ZeroDivision::Zero, ZeroDivision::One] {
                let [before, after] = [&compared, &exchanged]
                    .map(|sets| |metric: fn(ZeroDivision) -> SetMetric| sets.average(average, metric(zero)));
                prop_assert_eq!(after(SetMetric::Precision), before(SetMetric::Recall));
                prop_assert_eq!(after(SetMetric::F1), before(SetMetric::F1));
                let (jaccard, f1) = (before(SetMetric::Jaccard), before(SetMetric::F1));
                prop_assert!((0.0..=1.0).contains(&f1) && jaccard <= f1);
            }
        }
        // The best d labels are all labels, so that the top-k form loses nothing.
        let top = TopK::from_scores(scores.view(), truth.ncols()).unwrap();
        let options = || EvaluationOptions { thresholds: Thresholds::One(threshold.into()), ..EvaluationOptions::default() };
        let from_top = Evaluation::new((&truth).into(), &top, options());
        prop_assert_eq!(from_top.sets().unwrap(), &compared);
    }

    /// Compares with the definition; the contributions of the groups sum to the precision.
    #[test]
    fn recall_by_frequency(
        (truth, scores) in example(),
        seeds in proptest::collection::vec(0_usize..30, 99),
        n_groups in 1_usize..12,
        k in 1_usize..8,
    ) {
        let (n, d) = truth.dim();
        let (counts, n_groups) = (&seeds[..d], n_groups.min(d));
        let groups = FrequencyGroups::new(counts, n_groups).unwrap();
        let mut labels: Vec<u32> = groups.into_iter().flatten().copied().collect();
        let count = |&label: &u32| counts[label as usize];
        prop_assert!(labels.is_sorted_by_key(|label| std::cmp::Reverse(count(label))));
        let (total, most) = (counts.iter().sum::<usize>() as f64, counts.iter().max().map_or(0.0, |&c| c as f64));
        for group in &groups {
            let positives = group.iter().map(count).sum::<usize>() as f64;
            prop_assert!((positives - total / n_groups as f64).abs() <= most + 1e-9);
        }
        labels.sort_unstable();
        prop_assert!(labels.into_iter().eq(0..d as u32));
        let top = TopK::from_scores(scores.view(), k).unwrap();
        let found = by_frequency_at_k(&sets(&truth), &top, &groups, k).unwrap();
        for (group, found) in groups.into_iter().zip(&found) {
            let pairs = || (0..n).flat_map(|i| group.iter().map(move |&l| (i, l as usize))).filter(|&p| truth[p] == 1.0);
            let hits = pairs().filter(|&(i, l)| naive::ranking(scores.row(i)).iter().take(k).any(|&j| j == l)).count();
            prop_assert!(close(found.recall, hits as f64 / pairs().count() as f64));
        }
        let precision: f64 = found.iter().map(|group| group.precision).sum();
        prop_assert!(close(precision, gain_at_k(&sets(&truth), &top, Gain::Precision, k).unwrap()));
    }

    /// Its macro R² is 0 on the data that it is the mean of; that of the truth is 1.
    #[test]
    fn constant_mean_explains_nothing(values in proptest::collection::vec(-1e3_f64..1e3, 12), offset in -1e6_f64..1e6) {
        let truth = Array2::from_shape_vec((4, 3), values).unwrap() + offset;
        let mean = truth.mean_axis(Axis(0)).unwrap();
        let constant = mean.broadcast((4, 3)).unwrap();
        let sums = RegressionSums::new(truth.view(), constant, MissingTruth::Refuse).unwrap();
        let r2 = sums.per_output(OutputMetric::R2).unwrap();
        prop_assert!(r2.iter().all(|r2| r2.abs() < 1e-12), "{:?}", r2);
        let relative = sums.mean(OutputMetric::RelativeRmse(Baseline::TestMean)).unwrap();
        prop_assert!((relative.value - 1.0).abs() < 1e-12);
        let perfect = RegressionSums::new(truth.view(), truth.view(), MissingTruth::Refuse).unwrap();
        let found = [OutputMetric::R2, OutputMetric::Mse, OutputMetric::Mae].map(|m| perfect.mean(m).unwrap().value);
        prop_assert_eq!(found, [1.0, 0.0, 0.0]);
    }

    #[test]
    fn relative_errors_have_no_units(
        values in proptest::collection::vec((-8_i8..9, -8_i8..9), 10),
        scale in prop_oneof![Just(0.25_f64), Just(-4.0)],
    ) {
        let (truth, predicted): (Vec<f64>, Vec<f64>) = values.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).unzip();
        let shape = |v: &[f64]| Array2::from_shape_vec((5, 2), v.to_vec()).unwrap();
        let (truth, predicted) = (shape(&truth), shape(&predicted));
        let plain = RegressionSums::new(truth.view(), predicted.view(), MissingTruth::Refuse).unwrap();
        let (truth, predicted) = (truth * scale + 3.0, predicted * scale + 3.0);
        let scaled = RegressionSums::new(truth.view(), predicted.view(), MissingTruth::Refuse).unwrap();
        let r2 = |sums: &RegressionSums| sums.per_output(OutputMetric::R2).unwrap();
        prop_assert!(all_close(&r2(&scaled), &r2(&plain)));
        for (metric, factor) in [(OutputMetric::Mse, scale * scale), (OutputMetric::Rmse, scale.abs())] {
            let [scaled, plain] = [&scaled, &plain].map(|sums| sums.mean(metric).unwrap().value);
            prop_assert!(close(scaled, factor * plain));
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (n, d) = (203, 57);
    let mixed = |i: usize, j: usize, m: usize| ((i * 7919 + j * 104_729) * 2_654_435_761 % m) as f32;
    let truth = Array2::from_shape_fn((n, d), |(i, j)| f32::from(u8::from(mixed(i, j, 11) < 2.0)));
    // Above 0, which deviances need.
    let scores = Array2::from_shape_fn((n, d), |(i, j)| (1.0 + mixed(j, i, 1009)) / 1010.0);
    let inverse = vec![1.7; d];
    let bounds = Array2::from_shape_fn((n, 2 * d), |(i, j)| mixed(j, i, 1009) / 1009.0 + (j % 2) as f32);
    let metrics = Metric::names().map(|name| name.replace('K', "5").parse().unwrap());
    let metrics: Vec<Metric> = metrics.collect();
    let evaluate = || {
        let options = EvaluationOptions {
            inverse_propensities: Some(&inverse),
            intervals: Some(bounds.view()),
            ..EvaluationOptions::default()
        };
        let evaluation = Evaluation::new((&truth).into(), scores.view(), options);
        bits(&evaluation.evaluate(&metrics).unwrap())
    };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(evaluate)
    };
    let expected = on(1);
    assert_eq!(on(2), expected);
    assert_eq!(on(8), expected);
}
