//! Evaluates each output separately.

use crate::align::dense_columns;
use crate::{DEFAULT_MEMORY_LIMIT, Decision, Model, ModelError};
use ndarray::{ArrayView2, Axis};
use rpo_core::{MatrixView, Predictor};
use rpo_data::{Dataset, Task};
use rpo_metrics::{
    Confusion, Curve, IntervalSums, LabelSets, MetricError, MissingTruth, OutputMetric, ProbabilityErrors,
    RegressionSums, SetComparison, SetMetric, ZeroDivision, area_per_label,
};

/// Scores of each output: names and values of the measures.
///
/// For labels: `support` (number of samples that have the label), `precision`, `recall`, `f1`, `mcc`, `g-mean` and
/// `balanced-accuracy` of the predicted labels, `auc`, `average-precision`, `log-loss`, `brier`, `ece` (NaN if scores
/// are not probabilities), and `threshold` (NaN if the model decides by expected F1). For numbers: `r2`, `mae`, `rmse`;
/// for quantiles also `pinball`, and `quantile-coverage`, the fraction of values that are at most the quantile, and for other
/// models with prediction intervals their `interval-coverage` and `interval-width`; beside labels these are NaN for
/// labels, and those of labels for numbers. NaN if undefined, as all but `support` are for a label without an observed
/// value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OutputScores {
    /// Names of the measures.
    pub measures: Vec<&'static str>,
    /// The value of each measure for each output.
    pub values: Vec<Vec<f64>>,
}

impl Model {
    /// Evaluates each output separately, on a data set whose columns are found by name. Missing outputs are left out.
    ///
    /// ```
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::prelude::*;
    ///
    /// let data = MultiLabelSet::new(300, 40, 5).generate(Seed::new(1))?;
    /// let model = Model::fit(&ForestParams::default(), &data)?;
    /// let scores = model.evaluate_outputs(&data)?;
    /// assert_eq!(scores.measures[0], "support");
    /// assert_eq!(scores.values.len(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Data that lack columns of the model, and scores larger than 4 GiB.
    pub fn evaluate_outputs(&self, data: &Dataset) -> Result<OutputScores, ModelError> {
        self.evaluate_outputs_with(data, DEFAULT_MEMORY_LIMIT)
    }

    /// Like [`evaluate_outputs`](Self::evaluate_outputs), with another limit in bytes for the scores.
    ///
    /// # Errors
    /// As [`evaluate_outputs`](Self::evaluate_outputs).
    pub fn evaluate_outputs_with(
        &self,
        data: &Dataset,
        memory_limit: usize,
    ) -> Result<OutputScores, ModelError> {
        let x = self.schema().align_features(data)?;
        let truth = self.schema().align_outputs(data)?;
        let scores = self.predict_with_limit(x.as_ref().into(), memory_limit)?;
        let truth = MatrixView::from(truth.as_ref());
        let (measures, columns) = match self.schema().task {
            Task::MultiLabel => {
                let decided = self.decide(scores.view())?;
                let thresholds = match self.thresholds() {
                    Some(thresholds) if self.decision == Decision::Threshold => thresholds.to_vec(),
                    _ => vec![self.default_threshold(); self.n_outputs()],
                };
                let columns = of_labels(
                    truth,
                    scores.view(),
                    MatrixView::Sparse(decided.view()),
                    thresholds,
                )?;
                (OF_LABELS.to_vec(), columns)
            }
            Task::Regression => {
                let (mut names, mut columns) = self.of_numbers(truth.reborrow(), scores.view())?;
                let labels = self.labels();
                if self.intervals().is_some() && self.quantile_levels().is_empty() {
                    names.extend(OF_INTERVALS);
                    columns.extend(self.of_intervals(truth.reborrow(), scores.view(), &labels)?);
                }
                if !labels.is_empty() {
                    for column in &mut columns {
                        labels.iter().for_each(|&label| column[label] = f64::NAN);
                    }
                    names.extend(OF_LABELS);
                    columns.extend(self.of_labels_beside(truth, scores.view(), &labels)?);
                }
                (names, columns)
            }
        };
        let of_output = |j: usize| columns.iter().map(|column| column[j]).collect();
        Ok(OutputScores {
            values: (0..self.n_outputs()).map(of_output).collect(),
            measures,
        })
    }
}

/// Measures of the interval of a number.
const OF_INTERVALS: [&str; 2] = ["interval-coverage", "interval-width"];

/// Measures of a label.
const OF_LABELS: [&str; 13] = [
    "support",
    "precision",
    "recall",
    "f1",
    "mcc",
    "g-mean",
    "balanced-accuracy",
    "auc",
    "average-precision",
    "log-loss",
    "brier",
    "ece",
    "threshold",
];

/// The measures of labels, one column each.
fn of_labels(
    truth: MatrixView<'_>,
    scores: ArrayView2<'_, f32>,
    decided: MatrixView<'_>,
    thresholds: Vec<f64>,
) -> Result<Vec<Vec<f64>>, ModelError> {
    let truth = LabelSets::new(truth, MissingTruth::Skip)?;
    let decided = LabelSets::new(decided, MissingTruth::Refuse)?;
    let compared = SetComparison::new(&truth, &decided)?;
    let of_sets = |metric| {
        let of_label = |label: &Confusion| match *label == Confusion::default() {
            // Not the 0 of 0/0, which is for labels that no observed sample has.
            true => f64::NAN,
            false => label.value(metric),
        };
        compared.per_label.iter().map(of_label).collect()
    };
    let zero = ZeroDivision::Zero;
    let [log_loss, brier, calibration] = match ProbabilityErrors::new(&truth, scores) {
        Ok(errors) => [errors.log_loss, errors.brier, errors.calibration],
        Err(MetricError::NotAProbability { .. }) => std::array::from_fn(|_| vec![f64::NAN; scores.ncols()]),
        Err(e) => return Err(e.into()),
    };
    let support = truth.label_counts().into_iter().map(|count| count as f64);
    let columns: [Vec<f64>; OF_LABELS.len()] = [
        support.collect(),
        of_sets(SetMetric::Precision(zero)),
        of_sets(SetMetric::Recall(zero)),
        of_sets(SetMetric::F1(zero)),
        of_sets(SetMetric::Mcc),
        of_sets(SetMetric::GMean),
        of_sets(SetMetric::BalancedAccuracy),
        area_per_label(&truth, scores, Curve::Roc)?,
        area_per_label(&truth, scores, Curve::PrecisionRecall)?,
        log_loss,
        brier,
        calibration,
        thresholds,
    ];
    Ok(columns.into())
}

impl Model {
    /// The threshold of a label for which the model has none; NaN if the decision uses none.
    fn default_threshold(&self) -> f64 {
        match self.decision {
            Decision::Threshold => 0.5,
            Decision::ExpectedF1 => f64::NAN,
        }
    }

    /// The measures of numbers: names and columns.
    fn of_numbers(
        &self,
        truth: MatrixView<'_>,
        scores: ArrayView2<'_, f32>,
    ) -> Result<(Vec<&'static str>, Vec<Vec<f64>>), ModelError> {
        let sums = RegressionSums::of(truth, scores, MissingTruth::Skip)?;
        let levels = self.quantile_levels();
        let mut metrics = vec![
            ("r2", OutputMetric::R2),
            ("mae", OutputMetric::Mae),
            ("rmse", OutputMetric::Rmse),
        ];
        if !levels.is_empty() {
            metrics.push(("pinball", OutputMetric::Pinball(levels)));
            metrics.push(("quantile-coverage", OutputMetric::QuantileCoverage));
        }
        let columns = metrics.iter().map(|(_, metric)| sums.per_output(*metric));
        let columns = columns.collect::<Result<_, _>>()?;
        Ok((metrics.iter().map(|(name, _)| *name).collect(), columns))
    }

    /// The measures of labels beside numbers, which have NaN.
    fn of_labels_beside(
        &self,
        truth: MatrixView<'_>,
        scores: ArrayView2<'_, f32>,
        labels: &[usize],
    ) -> Result<Vec<Vec<f64>>, ModelError> {
        let decided = self.decide(scores)?;
        let (truth, decided) = (
            dense_columns(truth, labels),
            dense_columns((&decided).into(), labels),
        );
        let scores = scores.select(Axis(1), labels);
        let thresholds = self.thresholds().filter(|_| self.decision == Decision::Threshold);
        let threshold = |&label: &usize| thresholds.map_or(self.default_threshold(), |found| found[label]);
        let thresholds = labels.iter().map(threshold).collect();
        let columns = of_labels((&truth).into(), scores.view(), (&decided).into(), thresholds)?;
        let columns = columns.into_iter();
        Ok(columns.map(|values| self.among_all(labels, values)).collect())
    }

    /// The measures of the intervals of numbers; labels have NaN.
    fn of_intervals(
        &self,
        truth: MatrixView<'_>,
        scores: ArrayView2<'_, f32>,
        labels: &[usize],
    ) -> Result<[Vec<f64>; OF_INTERVALS.len()], ModelError> {
        let is_number = |output: &usize| labels.binary_search(output).is_err();
        let numbers: Vec<usize> = (0..self.n_outputs()).filter(is_number).collect();
        let (truth, bounds) = (dense_columns(truth, &numbers), self.bounds(scores)?);
        let sums = IntervalSums::new((&truth).into(), bounds.view(), MissingTruth::Skip)?;
        Ok([sums.coverage(), sums.width()].map(|values| self.among_all(&numbers, values)))
    }

    /// Values of some outputs, with NaN for the others.
    fn among_all(&self, outputs: &[usize], values: Vec<f64>) -> Vec<f64> {
        let mut all = vec![f64::NAN; self.n_outputs()];
        let pairs = outputs.iter().zip(values);
        pairs.for_each(|(&output, value)| all[output] = value);
        all
    }
}
