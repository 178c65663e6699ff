//! Metrics of predictions.

use crate::error::value_error;
use crate::matrix::Borrowed;
use crate::threads;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rpo::core::MatrixView;
use rpo::metrics::{
    Average, Baseline, Confusion, Curve, Deviance, EmptySamples, Evaluation, EvaluationOptions, LabelSets,
    Mean, Metric, MetricError, MissingTruth, OutputMetric, Predictions, Propensity, RegressionSums,
    SetComparison, SetMetric, TweediePower, ZeroDivision, area_per_label, micro_area,
};

/// Runs a computation on the threads of this process, with the interpreter's lock released.
fn compute<T: Send>(py: Python<'_>, f: impl FnOnce() -> Result<T, MetricError> + Send) -> PyResult<T> {
    let pool = threads::pool(0)?;
    py.detach(|| pool.install(f)).map_err(value_error)
}

/// Returns the choice with the given name.
fn choose<T: Copy>(what: &str, given: &str, choices: &[(&str, T)]) -> PyResult<T> {
    let found = choices.iter().find(|(name, _)| *name == given);
    found.map(|&(_, choice)| choice).ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        PyValueError::new_err(format!(
            "{what} must be one of {}, got {given:?}",
            names.join(", ")
        ))
    })
}

fn zero(given: f64) -> PyResult<ZeroDivision> {
    match given {
        0.0 => Ok(ZeroDivision::Zero),
        1.0 => Ok(ZeroDivision::One),
        other => Err(PyValueError::new_err(format!(
            "zero_division must be 0 or 1, got {other}"
        ))),
    }
}

fn empty(given: &str) -> PyResult<EmptySamples> {
    let choices = [("skip", EmptySamples::Skip), ("one", EmptySamples::One)];
    choose("empty_samples", given, &choices)
}

/// The names of all metrics, with `K` as the placeholder for a number.
#[pyfunction]
pub(crate) fn metrics() -> Vec<String> {
    Metric::names().collect()
}

/// Computes metrics; predictions are dense scores, or CSR scores of the best labels.
#[pyfunction]
#[pyo3(signature = (names, truth, scores, *, inverse_propensities=None, train_means=None, empty_samples="skip", zero_division=0.0))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn evaluate(
    py: Python<'_>,
    names: Vec<String>,
    truth: Borrowed<'_>,
    scores: Borrowed<'_>,
    inverse_propensities: Option<Vec<f64>>,
    train_means: Option<Vec<f64>>,
    empty_samples: &str,
    zero_division: f64,
) -> PyResult<Vec<f64>> {
    let parsed: Result<Vec<Metric>, _> = names.iter().map(|name| name.parse()).collect();
    let metrics = parsed.map_err(value_error)?;
    let options = EvaluationOptions {
        missing: MissingTruth::Skip,
        inverse_propensities: inverse_propensities.as_deref(),
        train_means: train_means.as_deref(),
        empty_samples: empty(empty_samples)?,
        zero_division: zero(zero_division)?,
        ..EvaluationOptions::default()
    };
    let (truth, scores) = (truth.view()?, scores.view()?);
    let scores = match scores {
        MatrixView::Dense(scores) => Predictions::Dense(scores),
        MatrixView::Sparse(scores) => Predictions::Sparse(scores),
    };
    compute(py, || Evaluation::new(truth, scores, options).evaluate(&metrics))
}

/// Computes a score for each label, or one for all labels, from dense scores.
#[pyfunction]
pub(crate) fn label_scores<'py>(
    py: Python<'py>,
    what: &str,
    truth: Borrowed<'py>,
    scores: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (truth, scores) = (truth.view()?, scores.as_array());
    let values = compute(py, || {
        let truth = LabelSets::new(truth, MissingTruth::Skip)?;
        Ok(match what {
            "roc-auc" => area_per_label(&truth, scores, Curve::Roc)?,
            "average-precision" => area_per_label(&truth, scores, Curve::PrecisionRecall)?,
            "micro-roc-auc" => vec![micro_area(&truth, scores, Curve::Roc)?],
            "weighted-roc-auc" => {
                let areas = area_per_label(&truth, scores, Curve::Roc)?;
                let counts = truth.label_counts().into_iter().map(|count| count as f64);
                vec![Mean::from_iter(areas.into_iter().zip(counts)).value]
            }
            "micro-average-precision" => vec![micro_area(&truth, scores, Curve::PrecisionRecall)?],
            name => return Err(unknown(name)),
        })
    })?;
    Ok(values.into_pyarray(py))
}

/// Compares predicted with true label sets: a mean over labels or samples, or counts for each label.
#[pyfunction]
#[pyo3(signature = (what, truth, predicted, *, average="micro", zero_division=0.0))]
pub(crate) fn set_scores<'py>(
    py: Python<'py>,
    what: &str,
    truth: Borrowed<'py>,
    predicted: Borrowed<'py>,
    average: &str,
    zero_division: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let averages = [
        ("micro", Some(Average::Micro)),
        ("macro", Some(Average::Macro)),
        ("samples", Some(Average::Samples)),
        ("none", None),
    ];
    let (average, zero) = (choose("average", average, &averages)?, zero(zero_division)?);
    let (truth, predicted) = (truth.view()?, predicted.view()?);
    let values = compute(py, || {
        let truth = LabelSets::new(truth, MissingTruth::Skip)?;
        let sets = SetComparison::new(&truth, &LabelSets::new(predicted, MissingTruth::Refuse)?)?;
        let each = |of: &dyn Fn(&Confusion) -> f64| sets.per_label.iter().map(of).collect();
        let value = |metric| match average {
            Some(average) => vec![sets.average(average, metric)],
            None => each(&|label| label.value(metric)),
        };
        Ok(match what {
            "precision" => value(SetMetric::Precision(zero)),
            "recall" => value(SetMetric::Recall(zero)),
            "f1" => value(SetMetric::F1(zero)),
            "jaccard" => value(SetMetric::Jaccard(zero)),
            "hamming" => vec![sets.average(Average::Micro, SetMetric::ErrorRate)],
            "subset-accuracy" => vec![sets.average(Average::Samples, SetMetric::Exact)],
            "true-positives" => each(&|label| label.true_positives as f64),
            "false-positives" => each(&|label| label.false_positives as f64),
            "false-negatives" => each(&|label| label.false_negatives as f64),
            name => return Err(unknown(name)),
        })
    })?;
    Ok(values.into_pyarray(py))
}

fn unknown(name: &str) -> MetricError {
    let name = name.to_owned();
    MetricError::UnknownMetric { name }
}

/// Computes a metric of numbers, for each output or over all outputs.
#[pyfunction]
#[pyo3(signature = (what, truth, predicted, *, baseline=None, levels=None, power=None))]
pub(crate) fn regression_scores<'py>(
    py: Python<'py>,
    what: &str,
    truth: PyReadonlyArray2<'py, f64>,
    predicted: PyReadonlyArray2<'py, f64>,
    baseline: Option<Vec<f64>>,
    levels: Option<Vec<f64>>,
    power: Option<f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (truth, predicted) = (truth.as_array(), predicted.as_array());
    let levels = levels.unwrap_or_default();
    let values = compute(py, || {
        let (name, per_output) = match what.strip_suffix("-per-output") {
            Some(name) => (name, true),
            None => (what, false),
        };
        let deviance = match name {
            "poisson-deviance" => Some(Deviance::Poisson),
            "tweedie-deviance" => {
                let power = power.map_or(Ok(TweediePower::default()), TweediePower::new)?;
                Some(Deviance::Tweedie(power))
            }
            _ => None,
        };
        if let Some(deviance) = deviance {
            let values = deviance.per_output(truth, predicted, MissingTruth::Skip)?;
            return Ok(match per_output {
                true => values,
                false => vec![Mean::from_iter(values).value],
            });
        }
        let sums = RegressionSums::new(truth, predicted, MissingTruth::Skip)?;
        let baseline = baseline.as_deref().map_or(Baseline::TestMean, Baseline::Given);
        let metric = match name {
            "r2" => OutputMetric::R2,
            "half-r2" => return Ok(vec![sums.half_r2()]),
            "weighted-r2" => return Ok(vec![sums.variance_weighted_r2()]),
            "pooled-rmse" => return Ok(vec![sums.pooled_rmse()]),
            "arrmse" | "relative-rmse" => OutputMetric::RelativeRmse(baseline),
            "mse" => OutputMetric::Mse,
            "mae" => OutputMetric::Mae,
            "pinball" => OutputMetric::Pinball(&levels),
            "rmse" => OutputMetric::Rmse,
            name => return Err(unknown(name)),
        };
        Ok(match per_output {
            true => sums.per_output(metric)?,
            false => vec![sums.mean(metric)?.value],
        })
    })?;
    Ok(values.into_pyarray(py))
}

/// 1/p for each label from its count in the training set.
#[pyfunction]
pub(crate) fn inverse_propensities<'py>(
    py: Python<'py>,
    label_counts: Vec<usize>,
    n_train: usize,
    a: f64,
    b: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let inverse = Propensity { a, b }.inverse(&label_counts, n_train);
    Ok(inverse.map_err(value_error)?.into_pyarray(py))
}
