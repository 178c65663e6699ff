//! Probabilities of the classes of a column, of which every sample has one.

use crate::{Model, Stages};
use ndarray::{Array2, ArrayViewMut2, Axis, Slice};
use rpo_data::ClassColumn;

/// Largest distance of a sum of probabilities from 1 that is rounding.
const ROUNDING: f64 = 1e-5;

impl Model {
    /// Divides the scores of the classes of each column by their sum, in the samples in which all of them lie in 0 to 1.
    /// Methods that learn every class by itself predict probabilities whose sum is not 1.
    pub(crate) fn with_sums_of_one(&self, scores: Array2<f32>) -> Array2<f32> {
        with_sums_of_one(&self.schema().class_columns, scores)
    }

    /// The same for the predictions after each step.
    pub(crate) fn stages_with_sums_of_one(&self, stages: Stages) -> Stages {
        let columns = self.schema().class_columns.clone();
        Box::new(stages.map(move |scores| Ok(with_sums_of_one(&columns, scores?))))
    }
}

fn with_sums_of_one(columns: &[ClassColumn], mut scores: Array2<f32>) -> Array2<f32> {
    for column in columns.iter().map(ClassColumn::outputs) {
        divide(scores.slice_axis_mut(Axis(1), Slice::from(column)));
    }
    scores
}

fn divide(mut classes: ArrayViewMut2<'_, f32>) {
    for mut row in classes.rows_mut() {
        let sum: f64 = row.iter().map(|p| f64::from(*p)).sum();
        let are_probabilities = row.iter().all(|p| (0.0..=1.0).contains(p));
        if are_probabilities && sum > 0.0 && (sum - 1.0).abs() > ROUNDING {
            row.mapv_inplace(|p| (f64::from(p) / sum) as f32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn probabilities_are_divided_by_their_sum() {
        let mut scores = array![
            [0.5_f32, 0.25, 0.25],
            [0.5, 0.5, 1.0],
            [0.0, 0.0, 0.0],
            [-0.1, 0.6, 0.4],
            [0.1, 1.2, 0.4],
            [0.1, 0.0, 0.1],
            [f32::NAN, 0.5, 0.6]
        ];
        let unchanged = scores.clone();
        divide(scores.view_mut());
        for row in [0, 2, 3, 4] {
            assert_eq!(scores.row(row), unchanged.row(row));
        }
        assert_eq!(scores.row(1), array![0.25, 0.25, 0.5]);
        assert_eq!(scores.row(5), array![0.5, 0.0, 0.5]);
        assert!(scores[[6, 0]].is_nan() && scores[[6, 1]] == 0.5);
    }
}
