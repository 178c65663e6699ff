//! Probability metrics and balanced metrics of labels, against scikit-learn and against their definitions.

use ndarray::{Array2, array};
use proptest::prelude::*;
use rpo_metrics::*;

/// Computed by scikit-learn 1.9.1 (`log_loss`, `brier_score_loss`, `matthews_corrcoef`, `balanced_accuracy_score`,
/// `root_mean_squared_error`) and imbalanced-learn 0.14.2 (`geometric_mean_score`), label by label, with `p >= 0.5` as
/// the prediction. The logarithmic loss agrees with theirs to `f32` precision.
#[test]
fn values_are_those_of_scikit_learn() {
    let truth = LabelSets::from_lists(
        3,
        &[
            vec![0],
            vec![0, 1],
            vec![1],
            vec![2],
            vec![0, 2],
            vec![1],
            vec![],
            vec![0, 1],
        ],
    )
    .unwrap();
    let p = array![
        [0.875_f32, 0.25, 0.125],
        [0.625, 0.75, 0.0],
        [0.5, 0.125, 0.375],
        [0.25, 0.625, 0.75],
        [0.375, 0.0, 0.25],
        [0.0, 1.0, 0.5],
        [0.75, 0.25, 0.0625],
        [1.0, 0.5, 0.125]
    ];
    let close = |a: &[f64], b: [f64; 3], within: f64| {
        a.iter().zip(b).all(|(a, b): (&f64, f64)| (a - b).abs() < within)
    };
    let errors = ProbabilityErrors::new(&truth, p.view()).unwrap();
    let log_loss = [
        0.493_936_002_254_486_1,
        0.577_058_076_858_520_5,
        0.396_091_073_751_449_6,
    ];
    assert!(close(&errors.log_loss, log_loss, 1e-6), "{errors:?}");
    assert!(close(
        &errors.brier,
        [0.177_734_375, 0.199_218_75, 0.131_347_656_25],
        1e-15
    ));
    let decided = LabelSets::from_scores(p.view(), &Thresholds::default()).unwrap();
    let sets = SetComparison::new(&truth, &decided).unwrap();
    let of = |metric| sets.per_label.iter().map(|c| c.value(metric)).collect::<Vec<_>>();
    assert!(close(
        &of(SetMetric::Mcc),
        [0.258_198_889_747_161_1, 0.5, 1.0 / 3.0],
        1e-15
    ));
    assert!(close(
        &of(SetMetric::BalancedAccuracy),
        [0.625, 0.75, 2.0 / 3.0],
        1e-15
    ));
    let g_mean = [0.612_372_435_695_794_5, 0.75, 0.645_497_224_367_902_8];
    assert!(close(&of(SetMetric::GMean), g_mean, 1e-15));

    let y = array![[1.0, 10.0], [2.0, 20.0], [4.0, 25.0], [8.0, -5.0]];
    let predicted = array![[1.5, 12.0], [2.0, 18.0], [3.0, 30.0], [9.0, 0.0]];
    let sums = RegressionSums::new(y.view(), predicted.view(), MissingTruth::Refuse).unwrap();
    let rmse = sums.mean(OutputMetric::Rmse).unwrap().value;
    assert!((rmse - 2.278_943_276_465_977).abs() < 1e-14);
}

/// A truth of 0, 1 and NaN, and probabilities.
fn example() -> impl Strategy<Value = (Array2<f32>, Array2<f32>)> {
    (1_usize..12, 1_usize..6, 0_u8..60).prop_flat_map(|(n, d, percent)| {
        let entry = (0_u8..100, any::<bool>()).prop_map(move |(v, relevant)| {
            let missing = v < percent;
            if missing { f32::NAN } else { f32::from(relevant) }
        });
        let truth = proptest::collection::vec(entry, n * d);
        let scores = proptest::collection::vec((0_u8..=16).prop_map(|p| f32::from(p) / 16.0), n * d);
        (truth, scores).prop_map(move |(t, s)| {
            let matrix = |values| Array2::from_shape_vec((n, d), values).unwrap();
            (matrix(t), matrix(s))
        })
    })
}

/// Truth and probability of a sample.
type Pair = (f64, f64);

/// Returns the observed pairs of a label.
fn pairs(truth: &Array2<f32>, scores: &Array2<f32>, label: usize) -> Vec<Pair> {
    let pairs = truth.column(label).into_iter().zip(scores.column(label));
    pairs
        .filter(|(t, _)| !t.is_nan())
        .map(|(&t, &s)| (t.into(), s.into()))
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    Mean::from_iter(values).value
}

/// Pearson's correlation of truth and decision: NaN if the truth is constant, 0 if only the decision is.
fn correlation(pairs: &[Pair]) -> f64 {
    let pairs = || pairs.iter().map(|&(t, s)| (t, f64::from(u8::from(s >= 0.5))));
    let (mt, md) = (mean(pairs().map(|p| p.0)), mean(pairs().map(|p| p.1)));
    let covariance: f64 = pairs().map(|(t, d)| (t - mt) * (d - md)).sum();
    let (vt, vd): (f64, f64) = (
        pairs().map(|(t, _)| (t - mt).powi(2)).sum(),
        pairs().map(|(_, d)| (d - md).powi(2)).sum(),
    );
    if vt > 0.0 && vd == 0.0 {
        0.0
    } else {
        covariance / (vt * vd).sqrt()
    }
}

/// Fraction of correct decisions among the pairs with the given truth; NaN if there are none.
fn rate(pairs: &[Pair], truth: f64) -> f64 {
    let of_truth = pairs.iter().filter(|(t, _)| *t == truth);
    mean(of_truth.map(|(t, s)| f64::from(u8::from((*s >= 0.5) == (*t == 1.0)))))
}

fn calibration(pairs: &[Pair]) -> f64 {
    let n = pairs.len() as f64;
    let of_bin = |b: usize| {
        let (low, high) = (b as f64 / 15.0, (b as f64 + 1.0) / 15.0);
        let inside = pairs.iter().filter(|(_, p)| *p >= low && (*p < high || b == 14));
        inside.map(|(t, p)| t - p).sum::<f64>().abs()
    };
    (0..15).map(of_bin).sum::<f64>() / n
}

proptest! {
    #[test]
    fn values_are_means_of_what_the_labels_have((truth, scores) in example()) {
        let labels: Vec<_> = (0..truth.ncols()).map(|j| pairs(&truth, &scores, j)).collect();
        let over = |value: &dyn Fn(&[Pair]) -> f64| mean(labels.iter().map(|l| value(l)));
        let expected = [
            over(&|l| mean(l.iter().map(|(t, p)| -(if *t == 1.0 { *p } else { 1.0 - p }).max(f64::from(f32::EPSILON)).ln()))),
            over(&|l| mean(l.iter().map(|(t, p)| (t - p).powi(2)))),
            over(&calibration),
            over(&correlation),
            over(&|l| (rate(l, 1.0) * rate(l, 0.0)).sqrt()),
            over(&|l| (rate(l, 1.0) + rate(l, 0.0)) / 2.0),
        ];
        let names = ["log-loss", "brier", "ece", "mcc", "g-mean", "balanced-accuracy"];
        let metrics = names.map(|name| name.parse::<Metric>().unwrap());
        let options = EvaluationOptions { missing: MissingTruth::Skip, ..EvaluationOptions::default() };
        let csr = MatrixView::from(&truth).to_csr();
        for view in [MatrixView::from(&truth), MatrixView::Sparse(csr.view())] {
            let evaluation = Evaluation::new(view, scores.view(), options.clone());
            let found = evaluation.evaluate(&metrics).unwrap();
            for ((name, found), expected) in names.iter().zip(found).zip(expected) {
                let same = (found - expected).abs() < 1e-12 || found.is_nan() && expected.is_nan();
                prop_assert!(same, "{} {} {}", name, found, expected);
            }
        }
    }
}
