//! Compares with every value of the multi-label and regression reference vectors.

use crate::vectors::{Check, cases, counts, fixture, matrix, number, numbers};
use ndarray::Array2;
use rpo_metrics::{
    Average, Baseline, EmptySamples, LabelSets, Metric, MissingTruth, Propensity, Real, RegressionSums,
    SetComparison, SetMetric, TopK, ZeroDivision, *,
};

const ZERO: ZeroDivision = ZeroDivision::Zero;

fn of_scores<S: Real>(truth: &LabelSets<'_>, scores: &Array2<S>, check: &Check<'_>) {
    let scores = scores.view();
    let top = TopK::from_scores(scores, 1).unwrap();
    check.one(
        "lrap_dropping_empty",
        ranking(truth, scores, Ranking::Lrap(EmptySamples::Skip))
            .unwrap()
            .value,
    );
    check.one(
        "lrap_including_empty",
        ranking(truth, scores, Ranking::Lrap(EmptySamples::One))
            .unwrap()
            .value,
    );
    check.one(
        "coverage_error",
        ranking(truth, scores, Ranking::Coverage).unwrap().value,
    );
    check.one(
        "label_ranking_loss",
        ranking(truth, scores, Ranking::Loss).unwrap().value,
    );
    check.one(
        "one_error_dropping_empty",
        one_error(truth, &top, EmptySamples::Skip).unwrap().value,
    );
    check.one(
        "one_error_including_empty",
        one_error(truth, &top, EmptySamples::One).unwrap().value,
    );
    let areas = area_per_label(truth, scores, Curve::Roc).unwrap();
    let each = || areas.iter().copied();
    check.all("roc_auc_per_label", &areas);
    check.one("roc_auc_macro_skip", Mean::from_iter(each()).value);
    let counts = truth.label_counts().into_iter().map(|count| count as f64);
    check.one("roc_auc_weighted_skip", Mean::from_iter(each().zip(counts)).value);
    check.one("roc_auc_micro", micro_area(truth, scores, Curve::Roc).unwrap());
    let areas = area_per_label(truth, scores, Curve::PrecisionRecall).unwrap();
    let each = || areas.iter().copied();
    check.all("average_precision_per_label", &areas);
    check.one("average_precision_macro_skip", Mean::from_iter(each()).value);
    let or_zero = each().map(|area| if area.is_nan() { 0.0 } else { area });
    check.one("average_precision_macro_zero", Mean::from_iter(or_zero).value);
    check.one(
        "average_precision_micro",
        micro_area(truth, scores, Curve::PrecisionRecall).unwrap(),
    );
}

fn at_k<S: Real>(
    truth: &LabelSets<'_>,
    scores: &Array2<S>,
    ks: &[usize],
    inverse: &[f64],
    check: &Check<'_>,
) {
    let largest = ks.iter().copied().max().unwrap();
    let top = TopK::from_scores(scores.view(), largest).unwrap();
    let each = |value: &dyn Fn(usize) -> f64| ks.iter().map(|&k| value(k)).collect::<Vec<_>>();
    let names = [
        (Gain::Precision, "precision", "psp"),
        (Gain::Ndcg, "ndcg", "psndcg"),
    ];
    for (gain, plain, scored) in names {
        let values = each(&|k| gain_at_k(truth, &top, gain, k).unwrap());
        check.all(&format!("{plain}_at_k"), &values);
        let value = |k| propensity_scored_at_k(truth, &top, gain, inverse, k).unwrap();
        check.all(&format!("{scored}_at_k"), &each(&|k| value(k).value));
        check.all(
            &format!("{scored}_at_k_unnormalised"),
            &each(&|k| value(k).unnormalised),
        );
    }
}

fn sets(sets: &SetComparison, check: &Check<'_>) {
    check.one("hamming_loss", sets.average(Average::Micro, SetMetric::ErrorRate));
    check.one(
        "subset_accuracy",
        sets.average(Average::Samples, SetMetric::Exact),
    );
    check.one(
        "zero_one_loss",
        1.0 - sets.average(Average::Samples, SetMetric::Exact),
    );
    let averages = [
        ("micro", Average::Micro),
        ("macro", Average::Macro),
        ("samples", Average::Samples),
    ];
    let metrics = [
        ("precision", SetMetric::Precision(ZERO)),
        ("recall", SetMetric::Recall(ZERO)),
        ("f1", SetMetric::F1(ZERO)),
        ("jaccard", SetMetric::Jaccard(ZERO)),
    ];
    for (metric, value) in metrics {
        for (name, average) in averages {
            check.one(&format!("{metric}_{name}"), sets.average(average, value));
        }
        if metric != "jaccard" {
            let per_label: Vec<f64> = sets.per_label.iter().map(|label| label.value(value)).collect();
            check.all(&format!("{metric}_per_label"), &per_label);
        }
    }
}

/// Computes the same numbers by name, from `f32` scores.
fn by_name(
    truth: &Array2<f32>,
    scores: &Array2<f32>,
    predicted: &LabelSets<'_>,
    ks: &[usize],
    inverse: &[f64],
    check: &Check<'_>,
) {
    let options = EvaluationOptions {
        label_sets: Some(predicted),
        inverse_propensities: Some(inverse),
        ..EvaluationOptions::default()
    };
    let evaluation = Evaluation::new(truth.into(), scores.view(), options);
    let names = [
        ("lrap", "lrap_dropping_empty"),
        ("coverage", "coverage_error"),
        ("ranking-loss", "label_ranking_loss"),
        ("one-error", "one_error_dropping_empty"),
        ("hamming", "hamming_loss"),
        ("subset-accuracy", "subset_accuracy"),
        ("jaccard", "jaccard_samples"),
        ("micro-f1", "f1_micro"),
        ("macro-f1", "f1_macro"),
        ("example-f1", "f1_samples"),
        ("macro-auc", "roc_auc_macro_skip"),
        ("micro-auc", "roc_auc_micro"),
        ("average-precision", "average_precision_macro_skip"),
    ];
    let metrics = names.map(|(name, _)| name.parse::<Metric>().unwrap());
    for ((_, field), value) in names.iter().zip(evaluation.evaluate(&metrics).unwrap()) {
        check.one(field, value);
    }
    for (prefix, field) in [
        ("p", "precision_at_k"),
        ("ndcg", "ndcg_at_k"),
        ("psp", "psp_at_k"),
        ("psndcg", "psndcg_at_k"),
    ] {
        let metrics: Vec<Metric> = ks
            .iter()
            .map(|k| format!("{prefix}@{k}").parse().unwrap())
            .collect();
        check.all(field, &evaluation.evaluate(&metrics).unwrap());
    }
}

#[test]
fn multi_label_vectors() {
    let Some(file) = fixture("metrics_multilabel.json") else {
        return;
    };
    for case in cases(&file, "cases") {
        let check = Check {
            case: case["name"].as_str().unwrap(),
            expected: &case["expected"],
            absolute: 1e-10,
            relative: 1e-10,
        };
        let labels = |field: &str| matrix(&case[field]).mapv(|v| v as f32);
        let (y_true, y_pred, scores) = (labels("y_true"), labels("y_pred"), matrix(&case["scores"]));
        let truth = LabelSets::new((&y_true).into(), MissingTruth::Refuse).unwrap();
        let predicted = LabelSets::new((&y_pred).into(), MissingTruth::Refuse).unwrap();
        let propensity = &case["propensity"];
        let model = Propensity {
            a: number(&propensity["A"]),
            b: number(&propensity["B"]),
        };
        let label_counts = counts(&propensity["label_counts"]);
        let inverse = model
            .inverse(&label_counts, number(&propensity["n_train"]) as usize)
            .unwrap();
        check.all("inverse_propensity", &inverse);

        let ks = counts(&case["k"]);
        of_scores(&truth, &scores, &check);
        at_k(&truth, &scores, &ks, &inverse, &check);
        sets(&SetComparison::new(&truth, &predicted).unwrap(), &check);
        // Column-major storage: the same values from rows that are not contiguous.
        let by_columns = scores.t().as_standard_layout().to_owned();
        let by_columns = by_columns.t().to_owned();
        assert!(!by_columns.is_standard_layout() || by_columns.nrows() == 1 || by_columns.ncols() == 1);
        of_scores(&truth, &by_columns, &check);

        let csr = rpo_core::CsrMatrix::from(&truth);
        assert_eq!(
            LabelSets::new(MatrixView::Sparse(csr.view()), MissingTruth::Refuse).unwrap(),
            truth
        );
        // Scores that are exact in `f32` give the same values as `f32`.
        let narrow = scores.mapv(|v| v as f32);
        if narrow.mapv(f64::from) == scores {
            of_scores(&truth, &narrow, &check);
            at_k(&truth, &narrow, &ks, &inverse, &check);
            by_name(&y_true, &narrow, &predicted, &ks, &inverse, &check);
        }
    }
}

#[test]
fn regression_vectors() {
    let Some(file) = fixture("metrics_regression.json") else {
        return;
    };
    for case in cases(&file, "cases") {
        let check = Check {
            case: case["name"].as_str().unwrap(),
            expected: &case["expected"],
            absolute: 1e-11,
            relative: 1e-9,
        };
        let (truth, predicted) = (matrix(&case["y_true"]), matrix(&case["y_pred"]));
        let means = numbers(&case["y_train_mean"]);
        for missing in [MissingTruth::Refuse, MissingTruth::Skip] {
            let sums = RegressionSums::new(truth.view(), predicted.view(), missing).unwrap();
            let each = |metric| sums.per_output(metric).unwrap();
            let mean = |metric| sums.mean(metric).unwrap().value;
            check.all("r2_per_output", &each(OutputMetric::R2));
            let raw = each(OutputMetric::RawR2);
            check.all("r2_per_output_not_forced_finite", &raw);
            check.one("r2_macro", mean(OutputMetric::R2));
            let varying = raw.into_iter().filter(|r2| r2.is_finite());
            check.one("r2_macro_skip_constant", Mean::from_iter(varying).value);
            check.one("r2_variance_weighted", sums.variance_weighted_r2());
            for (name, metric) in [("mse", OutputMetric::Mse), ("mae", OutputMetric::Mae)] {
                check.all(&format!("{name}_per_output"), &each(metric));
                check.one(name, mean(metric));
            }
            check.all("rmse_per_output", &each(OutputMetric::Rmse));
            check.one("rmse_mean_of_outputs", mean(OutputMetric::Rmse));
            check.one("rmse_pooled", mean(OutputMetric::Mse).sqrt());
            let baselines = [
                ("test_mean", Baseline::TestMean),
                ("train_mean", Baseline::Given(&means)),
            ];
            for (name, baseline) in baselines {
                let metric = OutputMetric::RelativeRmse(baseline);
                check.all(&format!("rrmse_per_output_{name}"), &each(metric));
                check.one(&format!("arrmse_{name}"), mean(metric));
            }
        }
    }
}
