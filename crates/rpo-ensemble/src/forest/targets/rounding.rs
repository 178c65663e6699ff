//! When targets are rounded so that their sums are exact.

use ndarray::Array2;
use rpo_core::{Matrix, MatrixView, vectorized};
use rpo_tree::criterion::round_for_exact_sums;

/// Largest step to which targets are rounded, relative to the spread of an output.
const LARGEST_STEP: f64 = 1.0 / (1 << 16) as f64;

/// Size of the sums of steps that are exact, 2⁵⁰ steps.
const SUMS: f64 = (1_u64 << 50) as f64;

/// Most rows from which the spread of an output is estimated.
const MOST_ROWS: usize = 1 << 12;

/// Rounds targets, if the weights are whole numbers, as sums are not exact otherwise.
#[derive(Debug, Clone, Copy)]
pub(in crate::forest) struct Rounding {
    /// An upper bound of the sum of the weights of a bag; `None` if weights are not whole.
    most_weight: Option<f64>,
}

impl Rounding {
    pub(super) fn new(n_samples: usize, weights: Option<&[f32]>) -> Self {
        let weights = weights.unwrap_or(&[1.0]);
        let largest = f64::from(super::largest(weights));
        Self {
            most_weight: weights
                .iter()
                .all(|w| w.fract() == 0.0)
                .then_some(n_samples as f64 * largest),
        }
    }

    /// Rounds targets if they may be rounded. Expects 0 in samples of weight 0.
    pub(super) fn round(self, targets: &mut Matrix, weights: Option<&[f32]>) {
        if let Some(weight) = self.of(targets.view(), weights) {
            match targets {
                Matrix::Dense(y) => round_for_exact_sums(y.as_slice_mut().expect(super::CONTIGUOUS), weight),
                Matrix::Sparse(y) => round_for_exact_sums(y.data_mut(), weight),
            }
        }
    }

    /// Rounds dense targets if they may be rounded. Expects 0 in samples of weight 0.
    pub(super) fn round_dense(self, targets: &mut Array2<f32>, weights: Option<&[f32]>) {
        if let Some(weight) = self.of((&*targets).into(), weights) {
            round_for_exact_sums(targets.as_slice_mut().expect(super::CONTIGUOUS), weight);
        }
    }

    /// Returns the largest weight of a bag if targets may be rounded.
    fn of(self, targets: MatrixView<'_>, weights: Option<&[f32]>) -> Option<f64> {
        let weight = self.most_weight?;
        let columns = columns(targets, weights);
        let largest = columns.iter().map(Column::largest).fold(0.0, f64::max);
        let mut spreads = columns.iter().filter_map(Column::middle);
        spreads
            .all(|(_, spread)| keeps_digits(largest, weight, spread))
            .then_some(weight)
    }
}

/// Returns true for each output with a value so extreme that the others would become equal in steps that make sums of
/// the output over all samples exact.
pub(in crate::forest) fn have_extremes(y: MatrixView<'_>, weights: Option<&[f32]>) -> Vec<bool> {
    let is_extreme = |column: &Column| {
        column.middle().is_some_and(|(median, spread)| {
            let farthest = (column.most - median).max(median - column.least);
            !keeps_digits(f64::from(farthest), y.n_rows() as f64, spread)
        })
    };
    columns(y, weights).iter().map(is_extreme).collect()
}

/// Returns true if steps relative to the largest target, such that sums over samples of a total weight are exact, are
/// small against the spread of an output.
fn keeps_digits(largest: f64, weight: f64, spread: f64) -> bool {
    // A step is at most the left side (`round_for_exact_sums`).
    largest * weight / SUMS <= LARGEST_STEP * spread
}

/// The observed values of an output in samples of positive weight, those that are stored if it is sparse.
struct Column {
    least: f32,
    most: f32,
    /// The values of some rows.
    sample: Vec<f32>,
}

fn columns(targets: MatrixView<'_>, weights: Option<&[f32]>) -> Vec<Column> {
    let counts = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
    let rows = (0..targets.n_rows()).filter(counts);
    let stride = rows.clone().count().div_ceil(MOST_ROWS).max(1);
    let sampled = rows.clone().step_by(stride);
    let (mut least, mut most) = (
        vec![f32::INFINITY; targets.n_cols()],
        vec![f32::NEG_INFINITY; targets.n_cols()],
    );
    let mut samples = vec![Vec::new(); targets.n_cols()];
    if let MatrixView::Dense(y) = &targets
        && let Some(y) = y.as_slice()
    {
        let n_columns = least.len();
        vectorized(
            #[inline(always)]
            || {
                for row in rows {
                    let row = &y[row * n_columns..][..n_columns];
                    // Comparisons with NaN are false.
                    for ((least, most), &value) in least.iter_mut().zip(&mut most).zip(row) {
                        *least = if value < *least { value } else { *least };
                        *most = if value > *most { value } else { *most };
                    }
                }
            },
        );
    } else {
        for row in rows {
            targets.for_each_in_row(row, |j, value| {
                least[j as usize] = least[j as usize].min(value);
                most[j as usize] = most[j as usize].max(value);
            });
        }
    }
    for row in sampled {
        targets.for_each_in_row(row, |j, value| {
            if !value.is_nan() {
                samples[j as usize].push(value);
            }
        });
    }
    let columns = least.into_iter().zip(most).zip(samples);
    let columns = columns.map(|((least, most), sample)| Column { least, most, sample });
    columns.collect()
}

impl Column {
    /// Returns the largest magnitude; not a positive number if there are no values.
    fn largest(&self) -> f64 {
        f64::from(self.most.max(-self.least))
    }

    /// Returns the median of the sample, and the median distance from it among the values that differ from it: those that
    /// are not 0, for an output that is mostly 0. `None` if no value differs. An eighth of the sample suffices if enough
    /// of its values differ.
    fn middle(&self) -> Option<(f32, f64)> {
        /// Fewest values whose median distance is taken for that of all.
        const ENOUGH: usize = 64;
        let some = self.sample.iter().step_by(8).copied().collect();
        let all = || middle_of(self.sample.clone());
        middle_of(some)
            .filter(|found| found.n >= ENOUGH)
            .or_else(all)
            .map(|found| (found.median, found.spread))
    }
}

/// The middle of some values.
struct Middle {
    median: f32,
    /// The median distance from the median among the values that differ from it.
    spread: f64,
    /// The number of values that differ.
    n: usize,
}

fn middle_of(mut values: Vec<f32>) -> Option<Middle> {
    let centre = median(&mut values)?;
    values.retain_mut(|value| {
        *value = (*value - centre).abs();
        *value > 0.0
    });
    let spread = f64::from(median(&mut values)?);
    Some(Middle {
        median: centre,
        spread,
        n: values.len(),
    })
}

fn median(values: &mut [f32]) -> Option<f32> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f32::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn one_extreme_target_is_told_from_many_digits() {
        let ordinary = Array2::from_shape_fn((5000, 2), |(i, j)| ((i * 37 + j) % 1001) as f32);
        let is_rounded = |y: MatrixView<'_>| Rounding::new(5000, None).of(y, None).is_some();
        assert!(is_rounded((&ordinary).into()));
        for (extreme, expected) in [(1e5, false), (1e10, true), (-1e20, true), (f32::MAX, true)] {
            let mut y = ordinary.clone();
            y[[77, 1]] = extreme;
            let csr = MatrixView::from(&y).to_csr();
            for y in [MatrixView::from(&y), MatrixView::Sparse(csr.view())] {
                assert_eq!(is_rounded(y), !expected, "{extreme}");
                assert_eq!(have_extremes(y, None), [false, expected]);
                // Without weight, it is nobody's extreme.
                let mut weights = vec![1.0; 5000];
                weights[77] = 0.0;
                assert!(
                    Rounding::new(5000, Some(&weights))
                        .of(y, Some(&weights))
                        .is_some()
                );
                assert_eq!(have_extremes(y, Some(&weights)), [false; 2]);
            }
        }
        // What is far from zero is centred.
        assert_eq!(have_extremes((&(ordinary + 1e8)).into(), None), [false; 2]);
    }

    #[test]
    fn the_spread_is_that_of_values_that_differ() {
        let middle = |values: &[f32]| {
            let y = Array2::from_shape_vec((values.len(), 1), values.to_vec()).unwrap();
            columns((&y).into(), None)[0].middle()
        };
        assert_eq!(middle(&[]), None);
        assert_eq!(middle(&[7.0; 3]), None);
        assert_eq!(
            middle(&[f32::NAN, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0, 1e9]),
            Some((0.0, 3.0))
        );
        assert_eq!(
            middle(&[1e6, 1e6 + 1.0, 1e6 - 1.0, 1e6 + 2.0, 1e20]),
            Some((1e6 + 1.0, 2.0))
        );
    }

    #[test]
    fn only_sums_of_whole_weights_are_made_exact() {
        let (given, tiny) = (array![[1.0_f32], [1e-20], [3.0]], 1e-20);
        for (weights, expected) in [
            (None, 0.0),
            (Some(&[1.0, 2.0, 1.0][..]), 0.0),
            (Some(&[1.0, 0.5, 1.0]), tiny),
        ] {
            let mut y = given.clone();
            Rounding::new(3, weights).round_dense(&mut y, weights);
            assert_eq!(y[[1, 0]], expected);
        }
    }
}
