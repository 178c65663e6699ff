//! Every value of the multi-label and regression reference vectors.

use crate::vectors::{Check, cases, counts, fixture, matrix, number, numbers};
use ndarray::Array2;
use rpo_metrics::{
    Average, Baseline, Confusion, EmptySamples, LabelSets, Metric, MissingTruth, Propensity, Real,
    RegressionSums, SetComparison, TopK, UndefinedLabels, ZeroDivision, *,
};

const ZERO: ZeroDivision = ZeroDivision::Zero;

fn ranking<S: Real>(truth: &LabelSets<'_>, scores: &Array2<S>, check: &Check<'_>) {
    let scores = scores.view();
    let top = TopK::from_scores(scores, 1).unwrap();
    check.one(
        "lrap_dropping_empty",
        lrap(truth, scores, EmptySamples::Skip).unwrap().value,
    );
    check.one(
        "lrap_including_empty",
        lrap(truth, scores, EmptySamples::One).unwrap().value,
    );
    check.one("coverage_error", coverage_error(truth, scores).unwrap());
    check.one("label_ranking_loss", ranking_loss(truth, scores).unwrap());
    check.one(
        "one_error_dropping_empty",
        one_error(truth, &top, EmptySamples::Skip).unwrap().value,
    );
    check.one(
        "one_error_including_empty",
        one_error(truth, &top, EmptySamples::One).unwrap().value,
    );
    check.all("roc_auc_per_label", &roc_auc_per_label(truth, scores).unwrap());
    check.one("roc_auc_macro_skip", macro_roc_auc(truth, scores).unwrap().value);
    check.one(
        "roc_auc_weighted_skip",
        weighted_roc_auc(truth, scores).unwrap().value,
    );
    check.one("roc_auc_micro", micro_roc_auc(truth, scores).unwrap());
    check.all(
        "average_precision_per_label",
        &average_precision_per_label(truth, scores).unwrap(),
    );
    let macro_precision = |undefined| macro_average_precision(truth, scores, undefined).unwrap().value;
    check.one(
        "average_precision_macro_skip",
        macro_precision(UndefinedLabels::Skip),
    );
    check.one(
        "average_precision_macro_zero",
        macro_precision(UndefinedLabels::Zero),
    );
    check.one(
        "average_precision_micro",
        micro_average_precision(truth, scores).unwrap(),
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
    check.all(
        "precision_at_k",
        &each(&|k| precision_at_k(truth, &top, k).unwrap()),
    );
    check.all("ndcg_at_k", &each(&|k| ndcg_at_k(truth, &top, k).unwrap()));
    check.all(
        "psp_at_k",
        &each(&|k| psp_at_k(truth, &top, inverse, k).unwrap().value),
    );
    check.all(
        "psp_at_k_unnormalised",
        &each(&|k| psp_at_k(truth, &top, inverse, k).unwrap().unnormalised),
    );
    check.all(
        "psndcg_at_k",
        &each(&|k| psndcg_at_k(truth, &top, inverse, k).unwrap().value),
    );
    let unnormalised = each(&|k| psndcg_at_k(truth, &top, inverse, k).unwrap().unnormalised);
    check.all("psndcg_at_k_unnormalised", &unnormalised);
}

fn sets(sets: &SetComparison, check: &Check<'_>) {
    check.one("hamming_loss", sets.hamming_loss());
    check.one("subset_accuracy", sets.subset_accuracy());
    check.one("zero_one_loss", sets.zero_one_loss());
    let averages = [
        ("micro", Average::Micro),
        ("macro", Average::Macro),
        ("samples", Average::Samples),
    ];
    for (name, average) in averages {
        check.one(&format!("precision_{name}"), sets.precision(average, ZERO));
        check.one(&format!("recall_{name}"), sets.recall(average, ZERO));
        check.one(&format!("f1_{name}"), sets.f1(average, ZERO));
        check.one(&format!("jaccard_{name}"), sets.jaccard(average, ZERO));
    }
    let per_label =
        |value: &dyn Fn(&Confusion) -> f64| sets.per_label().iter().map(value).collect::<Vec<_>>();
    check.all("precision_per_label", &per_label(&|c| c.precision(ZERO)));
    check.all("recall_per_label", &per_label(&|c| c.recall(ZERO)));
    check.all("f1_per_label", &per_label(&|c| c.f1(ZERO)));
}

/// The same numbers by name, from `f32` scores.
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
    let evaluation = Evaluation::with_options(truth.into(), Scores::Dense(scores.view()), options);
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
        ranking(&truth, &scores, &check);
        at_k(&truth, &scores, &ks, &inverse, &check);
        sets(&SetComparison::new(&truth, &predicted).unwrap(), &check);
        // Columns first in memory: the same values from rows that are not contiguous.
        let by_columns = scores.t().as_standard_layout().to_owned();
        let by_columns = by_columns.t().to_owned();
        assert!(!by_columns.is_standard_layout() || by_columns.nrows() == 1 || by_columns.ncols() == 1);
        ranking(&truth, &by_columns, &check);

        let csr = truth.to_csr();
        assert_eq!(
            LabelSets::new(MatrixView::Sparse(csr.view()), MissingTruth::Refuse).unwrap(),
            truth
        );
        // Scores that are 32-bit floats to begin with give the same values as such.
        let narrow = scores.mapv(|v| v as f32);
        if narrow.mapv(f64::from) == scores {
            ranking(&truth, &narrow, &check);
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
            check.all("r2_per_output", &sums.r2());
            check.all("r2_per_output_not_forced_finite", &sums.raw_r2());
            check.one("r2_macro", sums.macro_r2());
            check.one("r2_macro_skip_constant", sums.macro_r2_skip_constant().value);
            check.one("r2_variance_weighted", sums.variance_weighted_r2());
            check.all("mse_per_output", &sums.mse_per_output());
            check.one("mse", sums.mse());
            check.all("mae_per_output", &sums.mae_per_output());
            check.one("mae", sums.mae());
            check.all("rmse_per_output", &sums.rmse_per_output());
            check.one("rmse_mean_of_outputs", sums.mean_rmse());
            check.one("rmse_pooled", sums.pooled_rmse());
            let baselines = [
                ("test_mean", Baseline::TestMean),
                ("train_mean", Baseline::Given(&means)),
            ];
            for (name, baseline) in baselines {
                let per_output = sums.relative_rmse(baseline).unwrap();
                check.all(&format!("rrmse_per_output_{name}"), &per_output);
                check.one(&format!("arrmse_{name}"), sums.arrmse(baseline).unwrap().value);
            }
        }
    }
}
