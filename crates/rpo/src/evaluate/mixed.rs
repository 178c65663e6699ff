//! Evaluates models of which some outputs are labels and others numbers.

use super::{EvaluateOptions, Evaluated, OutputKinds, compares};
use crate::align::dense_columns;
use crate::blocks::dense_bytes;
use crate::{Model, ModelError};
use ndarray::Array2;
use rpo_core::{MatrixView, MemoryLimit, Predictor};
use rpo_metrics::{Evaluation, EvaluationOptions, LabelSets, MissingTruth, Needs, Score};
use std::time::Instant;

/// Computes metrics of labels from the labels, and metrics of numbers from the other outputs, or from all if every
/// output is a label.
pub(super) fn evaluate<S: Score>(
    model: &Model,
    x: MatrixView<'_>,
    truth: MatrixView<'_>,
    metrics: &[S],
    options: EvaluateOptions,
    labels: &[usize],
) -> Result<Evaluated, ModelError> {
    let (d, numbers) = (model.n_outputs(), OutputKinds::of_model(model).numbers());
    // All scores, and the scores and outputs of each part.
    let columns = d + 2 * (labels.len() + numbers.len());
    let bytes = dense_bytes(x.n_rows(), columns);
    MemoryLimit::check(bytes, options.memory_limit, || {
        format!("the evaluation of {} samples by labels and numbers", x.n_rows())
    })?;
    let clock = Instant::now();
    let scores = model.predict_with_limit(x, options.memory_limit)?;
    let predict_seconds = clock.elapsed().as_secs_f64();
    let means = model.training().output_means();
    let means: Vec<f64> = numbers.iter().map(|&j| means[j]).collect();
    let part = |outputs: &[usize]| {
        (
            dense_columns(truth, outputs),
            dense_columns((&scores).into(), outputs),
        )
    };
    let (of_labels, of_numbers) = (part(labels), part(&numbers));
    let options = EvaluationOptions {
        train_means: Some(&means),
        missing: MissingTruth::Skip,
        ..EvaluationOptions::default()
    };
    let decided;
    let sets;
    let mut options_of_labels = options.clone();
    if compares(metrics) {
        let all = model.decide(scores.view())?;
        decided = dense_columns((&all).into(), labels);
        sets = LabelSets::new((&decided).into(), MissingTruth::Refuse)?;
        options_of_labels.label_sets = Some(&sets);
    }
    let bounds = model.bounds_of_outputs(scores.view())?;
    let options = EvaluationOptions {
        intervals: bounds.as_ref().map(Array2::view),
        ..options
    };
    let labels = Evaluation::new((&of_labels.0).into(), of_labels.1.view(), options_of_labels);
    let numbers = Evaluation::new((&of_numbers.0).into(), of_numbers.1.view(), options);
    let value = |metric: &S| match metric.needs() {
        Needs::Regression | Needs::Intervals => metric.evaluate(&numbers),
        _ => metric.evaluate(&labels),
    };
    Ok(Evaluated {
        values: metrics.iter().map(value).collect::<Result<_, _>>()?,
        predict_seconds,
    })
}
