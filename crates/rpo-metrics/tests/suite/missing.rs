//! Missing entries of the truth are ignored: removing them by hand gives the same values.

use crate::naive;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use proptest::prelude::*;
use rpo_core::{Matrix, MatrixView};
use rpo_metrics::*;

/// A truth of 0, 1 and NaN, and scores with ties; some rows and labels are entirely missing.
fn example() -> impl Strategy<Value = (Array2<f32>, Array2<f32>)> {
    (1_usize..9, 1_usize..40, 0_u8..100).prop_flat_map(|(n, d, percent)| {
        let entry = (0_u8..100, any::<bool>()).prop_map(move |(v, relevant)| {
            let missing = v < percent;
            if missing { f32::NAN } else { f32::from(relevant) }
        });
        let truth = proptest::collection::vec(entry, n * d);
        let scores = proptest::collection::vec((-9_i8..10).prop_map(f32::from), n * d);
        (truth, scores, 0..2 * n, 0..2 * d).prop_map(move |(t, s, row, column)| {
            let mut truth = Array2::from_shape_vec((n, d), t).unwrap();
            if row < n {
                truth.row_mut(row).fill(f32::NAN);
            }
            if column < d {
                truth.column_mut(column).fill(f32::NAN);
            }
            (truth, Array2::from_shape_vec((n, d), s).unwrap())
        })
    })
}

type Pair = (Array1<f32>, Array1<f32>);

/// Returns the observed entries of some values and the scores that belong to them.
fn known<'a>(truth: impl IntoIterator<Item = &'a f32>, scores: impl IntoIterator<Item = &'a f32>) -> Pair {
    let pairs = truth.into_iter().zip(scores).filter(|(t, _)| !t.is_nan());
    let (truth, scores): (Vec<f32>, Vec<f32>) = pairs.map(|(t, s)| (*t, *s)).unzip();
    (truth.into(), scores.into())
}

/// Returns the rows or columns with observed entries, without missing entries.
fn lanes(axis: Axis, truth: &Array2<f32>, scores: &Array2<f32>) -> Vec<Pair> {
    let lanes = truth.axis_iter(axis).zip(scores.axis_iter(axis));
    let pairs = lanes.map(|(t, s)| known(t, s));
    pairs.filter(|(t, _)| !t.is_empty()).collect()
}

/// Returns the mean of a value over lanes; lanes without a value are left out.
fn mean(lanes: &[Pair], value: impl Fn(ArrayView1<'_, f32>, ArrayView1<'_, f32>) -> f64) -> f64 {
    Mean::from_iter(lanes.iter().map(|(t, s)| value(t.view(), s.view()))).value
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12 || (a.is_nan() && b.is_nan())
}

/// F1 of 0/1 vectors by its definition, with 0/0 = 0.
fn f1(truth: ArrayView1<'_, f32>, scores: ArrayView1<'_, f32>) -> f64 {
    let chosen = |s: f32| s >= 0.5;
    let pairs = || truth.iter().zip(scores);
    let hits = pairs().filter(|&(&t, &s)| t == 1.0 && chosen(s)).count();
    let wrong = pairs().filter(|&(&t, &s)| (t == 1.0) != chosen(s)).count();
    if hits + wrong == 0 {
        0.0
    } else {
        2.0 * hits as f64 / (2 * hits + wrong) as f64
    }
}

/// The fraction of wrong entries.
fn hamming(truth: ArrayView1<'_, f32>, scores: ArrayView1<'_, f32>) -> f64 {
    let wrong = truth
        .iter()
        .zip(scores)
        .filter(|&(&t, &s)| (t == 1.0) != (s >= 0.5));
    wrong.count() as f64 / truth.len() as f64
}

const METRICS: [&str; 19] = [
    "lrap",
    "coverage",
    "ranking-loss",
    "one-error",
    "p@1",
    "p@3",
    "ndcg@3",
    "psp@2",
    "macro-auc",
    "micro-auc",
    "average-precision",
    "hamming",
    "subset-accuracy",
    "macro-f1",
    "micro-f1",
    "example-f1",
    "mse",
    "r2",
    "lrap-all",
];

fn evaluate(truth: &Matrix, scores: &Array2<f32>, missing: MissingTruth) -> Result<Vec<f64>, MetricError> {
    let metrics = METRICS.map(|name| name.parse::<Metric>().unwrap());
    let inverse = vec![2.0; truth.n_cols()];
    let options = EvaluationOptions {
        missing,
        inverse_propensities: Some(&inverse),
        ..EvaluationOptions::default()
    };
    Evaluation::new(truth.view(), scores.view(), options).evaluate(&metrics)
}

proptest! {
    #[test]
    fn missing_entries_are_as_good_as_removed((truth, scores) in example()) {
        let rows = lanes(Axis(0), &truth, &scores);
        let columns = lanes(Axis(1), &truth, &scores);
        let all = [known(&truth, &scores)];
        let relevant = |t: ArrayView1<'_, f32>| t.iter().any(|&t| t == 1.0);
        let r2 = columns.iter().map(|(t, s)| {
            let (t, s) = (t.view().insert_axis(Axis(1)), s.view().insert_axis(Axis(1)));
            RegressionSums::new(t, s, MissingTruth::Refuse).unwrap().mean(OutputMetric::R2).unwrap().value
        });
        let labelled: Vec<Pair> = rows.iter().filter(|(t, _)| relevant(t.view())).cloned().collect();
        let precision = |k| move |t: ArrayView1<'_, f32>, s: ArrayView1<'_, f32>| naive::precision(t, s, k);
        let expected = [
            mean(&rows, naive::average_precision),
            mean(&rows, naive::coverage),
            mean(&rows, naive::ranking_loss),
            mean(&labelled, |t, s| 1.0 - naive::precision(t, s, 1)),
            mean(&rows, precision(1)),
            mean(&rows, precision(3)),
            mean(&rows, |t, s| naive::ndcg(t, s, 3)),
            // Propensities that are all equal cancel out.
            mean(&rows, precision(2)) / mean(&rows, |t, _| naive::precision(t, t, 2)),
            mean(&columns, naive::roc_auc),
            mean(&all, naive::roc_auc),
            mean(&columns, naive::average_precision),
            mean(&all, hamming),
            mean(&rows, |t, s| f64::from(u8::from(hamming(t, s) == 0.0))),
            mean(&columns, f1),
            mean(&all, f1),
            mean(&rows, f1),
            mean(&columns, |t, s| {
                let errors = t.iter().zip(s).map(|(t, s)| f64::from(t - s).powi(2));
                errors.sum::<f64>() / t.len() as f64
            }),
            Mean::from_iter(r2).value,
            mean(&rows, |t, s| if relevant(t) { naive::average_precision(t, s) } else { 1.0 }),
        ];
        let csr = MatrixView::from(&truth).to_csr();
        for truth in [Matrix::from(truth.clone()), Matrix::from(csr)] {
            let found = evaluate(&truth, &scores, MissingTruth::Skip).unwrap();
            for ((name, found), expected) in METRICS.iter().zip(&found).zip(&expected) {
                // If nothing is observed, the micro F1 is 0/0 = 0, whereas the mean of nothing is undefined.
                let blank = all[0].0.is_empty() && *name == "micro-f1";
                prop_assert!(blank || close(*found, *expected), "{} {} {}", name, found, expected);
            }
        }
        let counts = SetComparison::new(
            &LabelSets::new((&truth).into(), MissingTruth::Skip).unwrap(),
            &LabelSets::from_scores(scores.view(), &Thresholds::default()).unwrap(),
        ).unwrap();
        prop_assert!(close(counts.average(Average::Samples, SetMetric::Exact), expected[12]));
    }

    #[test]
    fn allowing_what_is_not_there_changes_no_bit((truth, scores) in example()) {
        let present = Matrix::from(truth.mapv(|t| if t.is_nan() { 1.0 } else { t }));
        let bits = |missing| {
            let found = evaluate(&present, &scores, missing).unwrap();
            found.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        prop_assert_eq!(bits(MissingTruth::Skip), bits(MissingTruth::Refuse));
        let refused = evaluate(&truth.clone().into(), &scores, MissingTruth::Refuse);
        prop_assert_eq!(refused.is_err(), truth.iter().any(|t| t.is_nan()));
    }
}

/// The same entries in other memory layouts give the same values, or an error if a layout is refused, but never a
/// panic.
#[test]
fn any_layout_gives_the_same_values() {
    let n = f32::NAN;
    let truth = ndarray::array![[1.0_f32, 0.0, 1.0, n], [0.0, 1.0, 0.0, 1.0], [n, 0.0, 1.0, 1.0]];
    let scores = ndarray::array![
        [0.9_f32, 0.2, 0.6, 0.1],
        [0.4, 0.3, 0.1, 0.8],
        [0.7, 0.6, 0.5, 0.4]
    ];
    let skip = MissingTruth::Skip;
    let expected = evaluate(&Matrix::from(truth.clone()), &scores, skip).unwrap();
    let same = |truth: MatrixView<'_>, scores: ArrayView2<'_, f32>| {
        let metrics = METRICS.map(|name| name.parse::<Metric>().unwrap());
        let inverse = vec![2.0; 4];
        let options = EvaluationOptions {
            missing: skip,
            inverse_propensities: Some(&inverse),
            ..EvaluationOptions::default()
        };
        let (truth, scores) = (truth.reborrow(), Predictions::Dense(scores.reborrow()));
        Evaluation::new(truth, scores, options).evaluate(&metrics)
    };
    let all_same = |found: Vec<f64>| found.iter().zip(&expected).all(|(&a, &b)| close(a, b));
    // Column-major storage, and the rows in the middle of a larger matrix, backwards in memory.
    let by_columns = (
        truth.t().as_standard_layout().into_owned(),
        scores.t().as_standard_layout().into_owned(),
    );
    assert!(all_same(
        same((by_columns.0.t()).into(), by_columns.1.t()).unwrap()
    ));
    let mut backwards = (truth.clone(), scores.clone());
    backwards.0.invert_axis(Axis(1));
    backwards.1.invert_axis(Axis(1));
    let (t, s) = (
        backwards.0.as_standard_layout().into_owned(),
        backwards.1.as_standard_layout().into_owned(),
    );
    let (mut t, mut s) = (t.view(), s.view());
    t.invert_axis(Axis(1));
    s.invert_axis(Axis(1));
    assert!(all_same(same(t.into(), s).unwrap()));
    // Compressed by rows, whole or as a slice of more rows; a matrix compressed by columns is refused.
    let sparse = MatrixView::from(&truth).to_csr();
    assert!(all_same(
        same(MatrixView::Sparse(sparse.view()), scores.view()).unwrap()
    ));
    let twice = ndarray::concatenate![Axis(0), truth, truth];
    let twice = MatrixView::from(&twice).to_csr();
    let slice = twice.slice_outer(3..6);
    assert!(all_same(
        same(MatrixView::Sparse(slice.view()), scores.view()).unwrap()
    ));
    let by_columns = sparse.to_other_storage();
    assert_eq!(
        same(MatrixView::Sparse(by_columns.view()), scores.view()),
        Err(rpo_core::NotCsr { what: "labels" }.into())
    );
}
