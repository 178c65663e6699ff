//! Limits the range of the members' predictions.

use crate::Model;
use ndarray::Array2;
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_core::{MatrixView, Predictor};
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

/// The two smallest and the two largest observed values of an output, so that the range without one of its values is
/// known.
#[derive(Clone)]
struct Extremes {
    low: [f32; 2],
    high: [f32; 2],
}

impl Extremes {
    const NONE: Self = Self {
        low: [f32::INFINITY; 2],
        high: [f32::NEG_INFINITY; 2],
    };

    fn add(&mut self, value: f32) {
        let [low, next_low] = self.low;
        self.low = [low.min(value), next_low.min(low.max(value))];
        let [high, next_high] = self.high;
        self.high = [high.max(value), next_high.max(high.min(value))];
    }

    /// The range of the values, of all but one if that is given and observed; everything if there are none.
    fn range(&self, without: Option<f32>) -> (f32, f32) {
        let is_left_out = |value: f32| without == Some(value);
        let low = self.low[usize::from(is_left_out(self.low[0]))];
        let high = self.high[usize::from(is_left_out(self.high[0]))];
        match low <= high {
            true => (low, high),
            false => (f32::MIN, f32::MAX),
        }
    }
}

/// The extreme values of each output among these samples.
fn extremes(outputs: MatrixView<'_>, samples: impl IntoIterator<Item = usize>) -> Vec<Extremes> {
    let mut extremes = vec![Extremes::NONE; outputs.n_cols()];
    let mut row = vec![0.0; outputs.n_cols()];
    for sample in samples {
        outputs.copy_row(sample, &mut row);
        let observed = extremes.iter_mut().zip(&row).filter(|(_, value)| !value.is_nan());
        observed.for_each(|(of_output, &value)| of_output.add(value));
    }
    extremes
}

/// Names of the arrays that store the ranges.
const LOW: &str = "limit.low";
const HIGH: &str = "limit.high";

impl Limits {
    /// The limits of a training set; an output without observed values is not limited.
    pub(super) fn of(training: &Dataset) -> Self {
        Self::of_samples(training, 0..training.n_samples())
    }

    /// The limits of a training set that consists of some of the samples.
    pub(super) fn of_samples(data: &Dataset, samples: impl IntoIterator<Item = usize>) -> Self {
        match data.task() {
            Task::MultiLabel => Self::Probability,
            Task::Regression => {
                let extremes = extremes(data.outputs().view(), samples);
                Self::Ranges(extremes.iter().map(|of_output| of_output.range(None)).collect())
            }
        }
    }

    /// Limits predictions of these samples, one row each, that were made from all other samples: the range of the others.
    /// A prediction beyond the range of all would become the truth of the sample that has the largest value.
    pub(super) fn apply_to_left_out(
        data: &Dataset,
        samples: &[usize],
        mut scores: Array2<f32>,
    ) -> Array2<f32> {
        if data.task() == Task::MultiLabel {
            return Self::Probability.apply(scores);
        }
        let outputs = data.outputs().view();
        let extremes = extremes(outputs.reborrow(), 0..data.n_samples());
        let mut truth = vec![0.0; outputs.n_cols()];
        for (mut row, &sample) in scores.rows_mut().into_iter().zip(samples) {
            outputs.copy_row(sample, &mut truth);
            for ((score, of_output), &truth) in row.iter_mut().zip(&extremes).zip(&truth) {
                let (low, high) = of_output.range(Some(truth));
                *score = score.clamp(low, high);
            }
        }
        scores
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
    fn the_value_of_a_sample_does_not_limit_its_own_prediction() {
        let y = array![[1.0, 4.0], [9.0, 4.0], [2.0, f32::NAN], [9.0, f32::NAN]];
        let data = Dataset::with_missing(Array2::zeros((4, 1)).into(), y.into(), Task::Regression).unwrap();
        let of = |samples: &[usize], score: f32| {
            Limits::apply_to_left_out(&data, samples, Array2::from_elem((samples.len(), 2), score))
        };
        assert_eq!(of(&[0, 2], -50.0), array![[2.0, 4.0], [1.0, 4.0]]);
        // Another sample has the largest value, too.
        assert_eq!(of(&[1], 50.0), array![[9.0, 4.0]]);
        let first = data.select_samples(&[0, 2]).unwrap();
        let alone = Limits::apply_to_left_out(&first, &[0], array![[50.0, 50.0]]);
        assert_eq!(
            alone,
            array![[2.0, 50.0]],
            "no other sample has the second output"
        );
        assert_eq!(
            Limits::of_samples(&data, [0, 2]),
            Limits::Ranges(vec![(1.0, 2.0), (4.0, 4.0)])
        );
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
