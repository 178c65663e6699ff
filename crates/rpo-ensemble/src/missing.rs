//! Imputation of missing outputs for methods that need a number for every output.

use rpo_core::{Matrix, MatrixView, WideSum};

/// Sums of an output over the samples in which it is stored.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ObservedSum {
    /// Weight of the samples in which it is not stored, and so is 0.
    pub(crate) absent: f64,
    /// Weight of the samples in which it is observed.
    pub(crate) weight: f64,
    /// Weighted sum of the observed values.
    pub(crate) value: f64,
}

impl ObservedSum {
    /// Returns the weighted mean of the output; NaN if it is observed in no sample of positive weight.
    pub(crate) fn mean(self) -> f64 {
        self.value / self.weight
    }
}

/// Returns the sums of each output.
pub(crate) fn observed_sums(y: MatrixView<'_>, weights: Option<&[f32]>) -> Vec<ObservedSum> {
    let mut total = WideSum::default();
    let mut sums = vec![(WideSum::default(), ObservedSum::default()); y.n_cols()];
    for row in 0..y.n_rows() {
        let weight = weights.map_or(1.0, |w| f64::from(w[row]));
        total.add(weight);
        y.for_each_in_row(row, |j, value| {
            let (stored, sum) = &mut sums[j as usize];
            stored.add(weight);
            if !value.is_nan() {
                sum.weight += weight;
                sum.value += weight * f64::from(value);
            }
        });
    }
    let complete = |(stored, sum): (WideSum, ObservedSum)| {
        let absent = total.less(stored).max(0.0);
        ObservedSum {
            absent,
            weight: sum.weight + absent,
            ..sum
        }
    };
    sums.into_iter().map(complete).collect()
}

/// Returns the weighted mean of each output over the samples in which it is observed, 0 if it is observed in no sample
/// of positive weight.
pub(crate) fn observed_means(y: MatrixView<'_>, weights: Option<&[f32]>) -> Vec<f32> {
    let mean = |sum: ObservedSum| if sum.weight > 0.0 { sum.mean() as f32 } else { 0.0 };
    observed_sums(y, weights).into_iter().map(mean).collect()
}

/// Replaces missing values by the value given for their output. Entries that are not stored stay unstored.
pub(crate) fn fill(y: &mut Matrix, values: &[f32]) {
    let put = |v: &mut f32, j: usize| {
        if v.is_nan() {
            *v = values[j];
        }
    };
    match y {
        Matrix::Dense(y) => y.indexed_iter_mut().for_each(|((_, j), v)| put(v, j)),
        Matrix::Sparse(y) => {
            let columns = y.indices().to_vec();
            let entries = y.data_mut().iter_mut().zip(columns);
            entries.for_each(|(v, j)| put(v, j as usize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Weights of very different sizes keep their digits beside the weight of a missing value.
    #[test]
    fn means_are_of_the_observed_weights() {
        let y = array![[f32::NAN, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 0.0]];
        for y in [
            Matrix::from(y.clone()),
            Matrix::from(MatrixView::from(&y).to_csr()),
        ] {
            for large in [1e14, 1e16, 1e30] {
                let means = observed_means(y.view(), Some(&[large, 0.1, 0.3, 0.7]));
                assert_eq!(means[0], 1.0);
                assert!((means[1] * large - 0.1).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn means_are_over_observed_rows() {
        const M: f32 = f32::NAN;
        let y = array![[1.0, M, M, 0.0], [3.0, 2.0, M, 0.0], [M, 0.0, M, 4.0]];
        let csr = MatrixView::from(&y).to_csr();
        for mut y in [Matrix::from(y), Matrix::from(csr)] {
            let means = observed_means(y.view(), None);
            assert_eq!(means, [2.0, 1.0, 0.0, 4.0 / 3.0]);
            assert_eq!(
                observed_means(y.view(), Some(&[1.0, 3.0, 0.0])),
                [2.5, 2.0, 0.0, 0.0]
            );
            fill(&mut y, &means);
            let expected = array![[1.0, 1.0, 0.0, 0.0], [3.0, 2.0, 0.0, 0.0], [2.0, 0.0, 0.0, 4.0]];
            assert_eq!(y.view().to_dense(usize::MAX).unwrap(), expected);
        }
    }
}
