//! Evaluates each output separately.

use crate::{DEFAULT_MEMORY_LIMIT, Model, ModelError};
use ndarray::{ArrayView2, Axis};
use rpo_core::MatrixView;
use rpo_core::Predictor;
use rpo_data::{Dataset, Task};
use rpo_metrics::{
    Curve, LabelSets, MetricError, MissingTruth, OutputMetric, ProbabilityErrors, RegressionSums,
    SetComparison, SetMetric, ZeroDivision, area_per_label,
};

/// Scores of each output: names and values of the measures.
///
/// For labels: `support` (number of samples that have the label), `precision`, `recall`, `f1`, `mcc`, `g-mean` and
/// `balanced-accuracy` of the predicted labels, `auc`, `average-precision`, `log-loss`, `brier`, `ece` (NaN if scores
/// are not probabilities), and `threshold`. For numbers: `r2`, `mae`, `rmse`; for quantiles also `pinball`,
/// and `coverage`, the fraction of values that are at most the quantile; for labels beside numbers also `auc`,
/// `average-precision`, `log-loss` and `brier`, which are NaN for numbers. NaN if undefined.
#[derive(Debug, Clone, PartialEq)]
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
        let x = self.schema().align_features(data)?;
        let truth = self.schema().align_outputs(data)?;
        let scores = self.predict_with_limit(x.as_ref().into(), DEFAULT_MEMORY_LIMIT)?;
        let (measures, columns) = match self.schema().task {
            Task::MultiLabel => {
                let truth = LabelSets::new(truth.as_ref().into(), MissingTruth::Skip)?;
                let decided = self.decide(scores.view())?;
                let decided = LabelSets::new(MatrixView::Sparse(decided.view()), MissingTruth::Refuse)?;
                let compared = SetComparison::new(&truth, &decided)?;
                let of_sets = |metric| {
                    let labels = compared.per_label.iter();
                    labels.map(|label| label.value(metric)).collect()
                };
                let zero = ZeroDivision::Zero;
                let [log_loss, brier, calibration] = match ProbabilityErrors::new(&truth, scores.view()) {
                    Ok(errors) => [errors.log_loss, errors.brier, errors.calibration],
                    Err(MetricError::NotAProbability { .. }) => {
                        std::array::from_fn(|_| vec![f64::NAN; self.n_outputs()])
                    }
                    Err(e) => return Err(e.into()),
                };
                let support = truth.label_counts().into_iter().map(|count| count as f64);
                let thresholds = match self.thresholds() {
                    Some(thresholds) => thresholds.to_vec(),
                    None => vec![0.5; self.n_outputs()],
                };
                let columns: Vec<Vec<f64>> = vec![
                    support.collect(),
                    of_sets(SetMetric::Precision(zero)),
                    of_sets(SetMetric::Recall(zero)),
                    of_sets(SetMetric::F1(zero)),
                    of_sets(SetMetric::Mcc),
                    of_sets(SetMetric::GMean),
                    of_sets(SetMetric::BalancedAccuracy),
                    area_per_label(&truth, scores.view(), Curve::Roc)?,
                    area_per_label(&truth, scores.view(), Curve::PrecisionRecall)?,
                    log_loss,
                    brier,
                    calibration,
                    thresholds,
                ];
                let measures = [
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
                (measures.to_vec(), columns)
            }
            Task::Regression => {
                let sums = RegressionSums::of(truth.as_ref().into(), scores.view(), MissingTruth::Skip)?;
                let levels = self.quantile_levels();
                let mut metrics = vec![
                    ("r2", OutputMetric::R2),
                    ("mae", OutputMetric::Mae),
                    ("rmse", OutputMetric::Rmse),
                ];
                if !levels.is_empty() {
                    metrics.push(("pinball", OutputMetric::Pinball(&levels)));
                    metrics.push(("coverage", OutputMetric::Coverage));
                }
                let columns = metrics.iter().map(|(_, metric)| sums.per_output(*metric));
                let mut columns: Vec<Vec<f64>> = columns.collect::<Result<_, _>>()?;
                let mut names: Vec<&str> = metrics.iter().map(|(name, _)| *name).collect();
                let labels = self.labels();
                if !labels.is_empty() {
                    names.extend(["auc", "average-precision", "log-loss", "brier"]);
                    columns.extend(of_labels(truth.as_ref().into(), scores.view(), &labels)?);
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

/// Areas and errors of the probabilities of labels beside numbers, NaN for the latter.
fn of_labels(
    truth: MatrixView<'_>,
    scores: ArrayView2<'_, f32>,
    labels: &[usize],
) -> Result<[Vec<f64>; 4], ModelError> {
    let truth = truth.to_dense(usize::MAX).expect("as large as the scores");
    let truth = truth.select(Axis(1), labels);
    let truth = LabelSets::new((&truth).into(), MissingTruth::Skip)?;
    let of_labels = scores.select(Axis(1), labels);
    let errors = ProbabilityErrors::new(&truth, of_labels.view())?;
    let found = [
        area_per_label(&truth, of_labels.view(), Curve::Roc)?,
        area_per_label(&truth, of_labels.view(), Curve::PrecisionRecall)?,
        errors.log_loss,
        errors.brier,
    ];
    Ok(found.map(|values| {
        let mut of_all = vec![f64::NAN; scores.ncols()];
        for (&label, value) in labels.iter().zip(values) {
            of_all[label] = value;
        }
        of_all
    }))
}
