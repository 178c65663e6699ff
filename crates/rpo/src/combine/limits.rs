//! Limits the range of the members' predictions.

use crate::Model;
use ndarray::Array2;
use rpo_core::Predictor;
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_data::{Dataset, Task};

/// Range to which members' predictions are clamped before they are combined. A linear member may be far off on an
/// unusual sample, whereas trees predict means of training outputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Limits {
    /// Labels: 0 to 1.
    Probability,
    /// Numbers: the minimum and maximum training value of each output; labels beside numbers: 0 to 1.
    Ranges(Vec<(f32, f32)>),
    /// Numbers whose training values are not available.
    None,
}

/// Names of the arrays that store the ranges.
const LOW: &str = "limit.low";
const HIGH: &str = "limit.high";

impl Limits {
    /// The limits of a training set; an output without observed values is not limited.
    pub(super) fn of(training: &Dataset) -> Self {
        if training.task() == Task::MultiLabel {
            return Self::Probability;
        }
        let outputs = training.outputs().view();
        let unseen = (f32::INFINITY, f32::NEG_INFINITY);
        let mut ranges = vec![unseen; outputs.n_cols()];
        let mut row = vec![0.0; outputs.n_cols()];
        for sample in 0..outputs.n_rows() {
            outputs.copy_row(sample, &mut row);
            for ((low, high), &value) in ranges.iter_mut().zip(&row).filter(|(_, value)| !value.is_nan()) {
                (*low, *high) = (low.min(value), high.max(value));
            }
        }
        let anything = (f32::MIN, f32::MAX);
        let ranges = ranges.into_iter();
        Self::Ranges(
            ranges
                .map(|range| if range == unseen { anything } else { range })
                .collect(),
        )
    }

    /// The limits for models like this one, whose training set is not available.
    pub(super) fn of_model(model: &Model) -> Self {
        let labels = model.labels();
        if model.schema().task == Task::MultiLabel {
            return Self::Probability;
        }
        if labels.is_empty() {
            return Self::None;
        }
        let mut ranges = vec![(f32::MIN, f32::MAX); model.n_outputs()];
        labels.into_iter().for_each(|label| ranges[label] = (0.0, 1.0));
        Self::Ranges(ranges)
    }

    pub(super) fn apply(&self, mut scores: Array2<f32>) -> Array2<f32> {
        match self {
            Self::Probability => scores.mapv_inplace(|score| score.clamp(0.0, 1.0)),
            Self::Ranges(ranges) => {
                for mut row in scores.rows_mut() {
                    let pairs = row.iter_mut().zip(ranges);
                    pairs.for_each(|(score, (low, high))| *score = score.clamp(*low, *high));
                }
            }
            Self::None => {}
        }
        scores
    }

    pub(super) fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        let Self::Ranges(ranges) = self else {
            return Ok(());
        };
        let (low, high): (Vec<f32>, Vec<f32>) = ranges.iter().copied().unzip();
        out.table(LOW, &low, low.len())?;
        out.table(HIGH, &high, high.len())
    }

    pub(super) fn restore(from: &mut Reader<'_>, task: Task, n_outputs: usize) -> Result<Self, StoreError> {
        if !from.has(LOW) {
            return Ok(match task {
                Task::MultiLabel => Self::Probability,
                Task::Regression => Self::None,
            });
        }
        let low = from.table(LOW, n_outputs)?.of_length(n_outputs)?;
        let high = from.table(HIGH, n_outputs)?.of_length(n_outputs)?;
        let ranges: Vec<(f32, f32)> = low.zip(high).collect();
        match ranges.iter().position(|(low, high)| low > high) {
            Some(output) => Err(StoreError::array(HIGH, format!("is below {LOW} at {output}"))),
            None if task == Task::MultiLabel => {
                Err(StoreError::array(LOW, "limits numbers; here are labels"))
            }
            None => Ok(Self::Ranges(ranges)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn numbers() -> Dataset {
        let nan = f32::NAN;
        let y = array![[1.0, -5.0, nan], [3.0, nan, nan], [2.0, -7.0, nan]];
        Dataset::with_missing(Array2::zeros((3, 1)).into(), y.into(), Task::Regression).unwrap()
    }

    #[test]
    fn predictions_stay_within_what_training_has_seen() {
        let limits = Limits::of(&numbers());
        let scores = array![[0.0, 0.0, 1e9], [9.0, -6.0, -1e9]];
        let limited = array![[1.0, -5.0, 1e9], [3.0, -6.0, -1e9]];
        assert_eq!(limits.apply(scores.clone()), limited);
        assert_eq!(Limits::None.apply(scores.clone()), scores);
        let labels = Limits::Probability.apply(scores);
        assert_eq!(labels, array![[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]);
    }

    #[test]
    fn ranges_come_back_and_those_that_are_none_are_refused() {
        let stored = |limits: &Limits| {
            let mut out = Writer::default();
            limits.store(&mut out).unwrap();
            out.finish().unwrap()
        };
        for limits in [Limits::of(&numbers()), Limits::None] {
            let file = stored(&limits);
            assert_eq!(
                Limits::restore(&mut file.reader(), Task::Regression, 3),
                Ok(limits)
            );
        }
        let file = stored(&Limits::of(&numbers()));
        assert!(Limits::restore(&mut file.reader(), Task::Regression, 2).is_err());
        assert!(Limits::restore(&mut file.reader(), Task::MultiLabel, 3).is_err());
        let file = stored(&Limits::Ranges(vec![(0.0, 1.0), (2.0, 1.0)]));
        let refused = Limits::restore(&mut file.reader(), Task::Regression, 2).unwrap_err();
        assert!(
            refused.to_string().contains("is below limit.low at 1"),
            "{refused}"
        );
    }
}
