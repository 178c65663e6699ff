//! Evaluates models of which some outputs are labels and others numbers.

use super::{EvaluateOptions, Evaluated, compares};
use crate::{Model, ModelError};
use ndarray::{ArrayView2, Axis};
use rpo_core::{Matrix, MatrixView, Predictor};
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
    let clock = Instant::now();
    let scores = model.predict_with_limit(x, options.memory_limit)?;
    let predict_seconds = clock.elapsed().as_secs_f64();
    let truth = truth.to_dense(usize::MAX).expect("as large as the scores");
    // Labels are in increasing order.
    let is_number = |j: &usize| labels.len() == model.n_outputs() || labels.binary_search(j).is_err();
    let numbers: Vec<usize> = (0..model.n_outputs()).filter(is_number).collect();
    let means = model.training().output_means();
    let means: Vec<f64> = numbers.iter().map(|&j| means[j]).collect();
    let part = |outputs: &[usize]| {
        let of = |values: ArrayView2<'_, f32>| values.select(Axis(1), outputs);
        (of(truth.view()), of(scores.view()))
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
    if compares(metrics) && !model.groups().is_empty() {
        let all = Matrix::from(model.decide(scores.view())?);
        let all = all.view().to_dense(usize::MAX).expect("as large as the scores");
        decided = all.select(Axis(1), labels);
        sets = LabelSets::new((&decided).into(), MissingTruth::Refuse)?;
        options_of_labels.label_sets = Some(&sets);
    }
    let bounds;
    let mut options = options;
    if model.intervals().is_some() {
        bounds = model.bounds_of_outputs(scores.view())?;
        options.intervals = Some(bounds.view());
    }
    let labels = Evaluation::new((&of_labels.0).into(), of_labels.1.view(), options_of_labels);
    let numbers = Evaluation::new((&of_numbers.0).into(), of_numbers.1.view(), options);
    let value = |metric: &S| match metric.needs() {
        Needs::Regression => metric.evaluate(&numbers),
        _ => metric.evaluate(&labels),
    };
    Ok(Evaluated {
        values: metrics.iter().map(value).collect::<Result<_, _>>()?,
        predict_seconds,
    })
}
