//! How much worse the score gets when the values of a column are shuffled.

use super::EvaluateOptions;
use super::cross_validation::mean_and_deviation;
use crate::{Model, ModelError};
use ndarray::s;
use rpo_core::{CsrMatrix, Domain, Matrix, MatrixView, Observers, ParameterError, Seed, TooFew, csr_row};
use rpo_data::Dataset;
use rpo_data::split::shuffled;
use rpo_ensemble::EnsembleError;
use rpo_metrics::{PredictionForm, Score};
use std::ops::Range;

/// Options of [`Model::permutation_importances`].
#[derive(Debug, Clone, Copy)]
pub struct PermutationOptions<'a> {
    /// How often the values of each column are shuffled, at least once. Default 5.
    pub repeats: usize,
    /// Seed of the shuffles. Default 0.
    pub seed: u64,
    /// Options of each evaluation.
    pub evaluate: EvaluateOptions,
    /// A step is a column.
    pub observers: Observers<'a>,
}

impl Default for PermutationOptions<'_> {
    fn default() -> Self {
        Self {
            repeats: 5,
            seed: 0,
            evaluate: EvaluateOptions::default(),
            observers: Observers::default(),
        }
    }
}

/// The importance of a column for the score on a data set.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnImportance {
    /// The name of the column.
    pub name: String,
    /// How much worse the score is with the column shuffled, the mean over the shuffles: in units of the metric, and
    /// negative where the score gets better.
    pub mean: f64,
    /// The standard deviation over the shuffles, with divisor repeats − 1; NaN for one shuffle.
    pub deviation: f64,
}

impl Model {
    /// Returns how much worse a metric gets on a data set, whose columns are found by name, when the values of a column are
    /// shuffled among the samples: its permutation importance (Breiman, *Random Forests*, 2001, section 10). One value for
    /// each column of the schema, in order; all terms of a column of texts are shuffled together, and so are the parts of
    /// a date.
    ///
    /// It is for every method. On other samples than those of the training, these are the columns that predictions of
    /// new samples need. Columns that carry the same information may each have a small importance, as the others remain. Each
    /// shuffle of a column takes as long as an evaluation; columns of equal values are not evaluated.
    ///
    /// ```
    /// use rpo::PermutationOptions;
    /// use rpo::core::ndarray::Array2;
    /// use rpo::prelude::*;
    ///
    /// // The output is the first of two features.
    /// let x = Array2::from_shape_fn((60, 2), |(i, j)| (i * (7 + 6 * j) % 60) as f32);
    /// let y = x.slice(rpo::core::ndarray::s![.., ..1]).to_owned();
    /// let data = Dataset::new(x.into(), y.into(), Task::Regression)?;
    /// let model = Model::fit(&RidgeParams::default(), &data)?;
    /// let found = model.permutation_importances(&data, &Metric::R2, PermutationOptions::default())?;
    /// assert!(found[0].mean > 1.0 && found[1].mean < 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No repeats, fewer than two samples, a metric of intervals, and a stop; otherwise as
    /// [`evaluate_with`](Self::evaluate_with).
    pub fn permutation_importances<S: Score>(
        &self,
        data: &Dataset,
        metric: &S,
        options: PermutationOptions<'_>,
    ) -> Result<Vec<ColumnImportance>, ModelError> {
        Domain::Count.check("repeats", options.repeats)?;
        // Coverage should be the level, and a width is neither good nor bad.
        let is_score = metric.needs() != PredictionForm::Intervals;
        ParameterError::unless(is_score, "metric", metric.name(), "a score of predictions")?;
        TooFew::check("samples to shuffle", 2, data.n_samples())?;
        self.with_work(data, &[metric], options.evaluate, |work, x| {
            let evaluate = |x: MatrixView<'_>| Ok::<f64, ModelError>(work.evaluate(x, &[metric])?.values[0]);
            let (n, usual) = (x.n_rows(), evaluate(x.reborrow())?);
            let varying = varying(x.reborrow());
            let seed = Seed::new(options.seed).purpose("permutation importance");
            let of_column = |(index, (features, name)): (usize, (Range<usize>, String))| {
                if options.observers.is_stopped() {
                    return Err(EnsembleError::Stopped.into());
                }
                let varies = varying[features.clone()].contains(&true);
                let worse = |repeat: u64| {
                    if !usual.is_finite() {
                        // No difference from it is known.
                        return Ok(f64::NAN);
                    }
                    if !varies {
                        // No shuffle changes anything.
                        return Ok(0.0);
                    }
                    let order = shuffled(n, seed.child(index as u64).child(repeat));
                    let changed = with_order(x.reborrow(), &features, &order);
                    let score = evaluate(changed.view())?;
                    Ok(match metric.higher_is_better() {
                        true => usual - score,
                        false => score - usual,
                    })
                };
                let repeats = 0..options.repeats as u64;
                let worse = repeats.map(worse).collect::<Result<Vec<f64>, ModelError>>()?;
                let (mean, deviation) = mean_and_deviation(&worse);
                options.observers.step();
                Ok(ColumnImportance {
                    name,
                    mean,
                    deviation,
                })
            };
            let columns = self.schema().columns().into_iter().enumerate();
            columns.map(of_column).collect::<Result<Vec<_>, ModelError>>()
        })
    }
}

/// Returns for each feature whether some samples have different values.
fn varying(x: MatrixView<'_>) -> Vec<bool> {
    let (n, p) = (x.n_rows(), x.n_cols());
    let (mut counts, mut first, mut differ) = (vec![0; p], vec![0.0_f32; p], vec![false; p]);
    for row in 0..n {
        x.for_each_in_row(row, |feature, value| {
            let feature = feature as usize;
            if counts[feature] == 0 {
                first[feature] = value;
            }
            differ[feature] |= value.to_bits() != first[feature].to_bits();
            counts[feature] += 1;
        });
    }
    // Values that are not stored are 0.
    let has_zeros = counts.iter().map(|count| *count < n);
    let varies = differ.iter().zip(first.iter().zip(has_zeros));
    varies
        .map(|(differ, (first, has_zeros))| *differ || has_zeros && *first != 0.0)
        .collect()
}

/// Returns the samples with the features of a range taken from samples in another order.
fn with_order(x: MatrixView<'_>, features: &Range<usize>, order: &[usize]) -> Matrix {
    match x {
        MatrixView::Dense(x) => {
            let mut changed = x.to_owned();
            for (row, &from) in order.iter().enumerate() {
                let values = x.slice(s![from, features.clone()]);
                changed.slice_mut(s![row, features.clone()]).assign(&values);
            }
            Matrix::Dense(changed)
        }
        MatrixView::Sparse(x) => {
            let (mut indptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for (row, &from) in order.iter().enumerate() {
                let (own, other) = (csr_row(&x, row), csr_row(&x, from));
                let range = |of: &[u32]| {
                    let before = |feature: usize| of.partition_point(|column| (*column as usize) < feature);
                    before(features.start)..before(features.end)
                };
                let (left_out, taken) = (range(own.0), range(other.0));
                let parts = [
                    (own, 0..left_out.start),
                    (other, taken),
                    (own, left_out.end..own.0.len()),
                ];
                for ((of, stored), part) in parts {
                    columns.extend_from_slice(&of[part.clone()]);
                    values.extend_from_slice(&stored[part]);
                }
                indptr.push(columns.len());
            }
            Matrix::Sparse(CsrMatrix::new((x.rows(), x.cols()), indptr, columns, values))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_data::{Layout, Task};
    use rpo_linear::{Penalty, RidgeParams};
    use rpo_metrics::Metric;

    proptest! {
        #[test]
        fn the_features_of_the_range_move_together_and_no_others(
            cells in prop::collection::vec(prop_oneof![Just(0.0_f32), Just(f32::NAN), -3.0..3.0_f32], 30),
            order in Just((0..5).collect::<Vec<usize>>()).prop_shuffle(),
            (start, end) in (0..6_usize, 0..=6_usize).prop_map(|(a, b)| (a.min(b), a.max(b))),
        ) {
            let x = Array2::from_shape_vec((5, 6), cells).unwrap();
            let expected = Array2::from_shape_fn((5, 6), |(i, j)| match (start..end).contains(&j) {
                true => x[[order[i], j]],
                false => x[[i, j]],
            });
            let y = Array2::zeros((5, 1)).into();
            let data = Dataset::new(x.into(), y, Task::Regression).unwrap();
            for layout in [Layout::Dense, Layout::Sparse] {
                let data = data.clone().with_layout(layout, usize::MAX).unwrap();
                let changed = with_order(data.features().view(), &(start..end), &order);
                let varies: Vec<bool> = expected.columns().into_iter().map(|column| {
                    column.iter().any(|v| v.to_bits() != column[0].to_bits())
                }).collect();
                prop_assert_eq!(varying(data.features().view()), varies);
                prop_assert_eq!(matches!(changed, Matrix::Sparse(_)), layout == Layout::Sparse);
                for (row, expected) in expected.outer_iter().enumerate() {
                    let found = changed.view().select_rows(&[row]).view().to_dense(usize::MAX).unwrap();
                    let bits = |v: &f32| if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() };
                    prop_assert!(found.iter().map(bits).eq(expected.iter().map(bits)));
                }
            }
        }
    }

    /// The output is the first feature; the second one has no part in it.
    fn copied(n: usize) -> Dataset {
        let x = Array2::from_shape_fn((n, 2), |(i, j)| ((i * [7, 11][j]) % n) as f32);
        let y = x.slice(s![.., ..1]).to_owned();
        Dataset::new(x.into(), y.into(), Task::Regression).unwrap()
    }

    #[test]
    fn the_importance_of_a_copied_column_is_the_error_of_its_shuffles() {
        let data = copied(50);
        let ridge = RidgeParams {
            lambda: Some(Penalty::Variance(1e-7)),
        };
        let model = Model::fit(&ridge, &data).unwrap();
        let options = PermutationOptions {
            repeats: 3,
            seed: 4,
            ..PermutationOptions::default()
        };
        let found = |metric, options| model.permutation_importances(&data, &metric, options).unwrap();
        let importances = found(Metric::Mse, options);
        let column = data.outputs().view().to_dense(usize::MAX).unwrap();
        let seed = Seed::new(4).purpose("permutation importance").child(0);
        let errors = (0..3).map(|repeat| {
            let order = shuffled(50, seed.child(repeat));
            let squares = (0..50).map(|i| f64::from(column[[i, 0]] - column[[order[i], 0]]).powi(2));
            squares.sum::<f64>() / 50.0
        });
        let (mean, deviation) = mean_and_deviation(&errors.collect::<Vec<_>>());
        let [first, second] = importances.as_slice() else {
            panic!("{importances:?}")
        };
        assert!((first.mean / mean - 1.0).abs() < 1e-3, "{first:?} {mean}");
        assert!(
            (first.deviation / deviation - 1.0).abs() < 1e-2,
            "{first:?} {deviation}"
        );
        assert!(second.mean.abs() < 1e-3 * mean, "{second:?}");
        // A smaller R² is worse, as a larger error is.
        assert!(found(Metric::R2, options)[0].mean > 1.0);
        let once = PermutationOptions {
            repeats: 1,
            ..options
        };
        assert!(found(Metric::Mse, once)[0].deviation.is_nan());
        let none = PermutationOptions {
            repeats: 0,
            ..options
        };
        let refused = model
            .permutation_importances(&data, &Metric::Mse, none)
            .unwrap_err();
        assert!(matches!(refused, ModelError::Parameter(_)), "{refused:?}");
        let one = data.select_samples(&[3]).unwrap();
        let refused =
            |data: &Dataset, metric| model.permutation_importances(data, &metric, options).unwrap_err();
        assert!(matches!(refused(&one, Metric::Mse), ModelError::TooFew(_)));
        assert!(matches!(
            refused(&data, Metric::IntervalWidth),
            ModelError::Parameter(_)
        ));
    }
}
