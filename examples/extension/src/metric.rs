//! A custom metric: the F1 of the worst label.

use rpo::metrics::{Evaluation, MetricError, PredictionForm, Score, SetMetric, ZeroDivision};

/// The smallest F1 of a label; NaN without labels.
#[derive(Debug, Clone, Copy)]
pub struct WorstF1;

impl Score for WorstF1 {
    fn name(&self) -> String {
        "worst-f1".to_owned()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn needs(&self) -> PredictionForm {
        PredictionForm::LabelSets
    }

    fn evaluate(&self, evaluation: &Evaluation<'_>) -> Result<f64, MetricError> {
        let labels = evaluation.sets()?.per_label.iter();
        Ok(labels
            .map(|label| label.value(SetMetric::F1(ZeroDivision::Zero)))
            .fold(f64::NAN, f64::min))
    }
}
