//! Imputation of missing outputs for methods that need a number for every output.

use rpo_core::{Matrix, MatrixView};

/// Returns the weighted mean of each output over the samples in which it is observed, 0 if it is observed in no sample
/// of positive weight.
pub(crate) fn known_means(y: MatrixView<'_>, weights: Option<&[f32]>) -> Vec<f32> {
    let mut total = 0.0;
    let (mut sums, mut missing) = (vec![0.0; y.n_cols()], vec![0.0; y.n_cols()]);
    for row in 0..y.n_rows() {
        let weight = weights.map_or(1.0, |w| f64::from(w[row]));
        total += weight;
        y.for_each_in_row(row, |j, value| {
            if value.is_nan() {
                missing[j as usize] += weight;
            } else {
                sums[j as usize] += weight * f64::from(value);
            }
        });
    }
    let mean = |(sum, missing): (f64, f64)| {
        // Rounding may leave a trace of weight for an output that is never observed.
        let known = total - missing;
        if known > 1e-12 * total {
            (sum / known) as f32
        } else {
            0.0
        }
    };
    sums.into_iter().zip(missing).map(mean).collect()
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

    #[test]
    fn means_are_over_known_rows() {
        const M: f32 = f32::NAN;
        let y = array![[1.0, M, M, 0.0], [3.0, 2.0, M, 0.0], [M, 0.0, M, 4.0]];
        let csr = MatrixView::from(&y).to_csr();
        for mut y in [Matrix::from(y), Matrix::from(csr)] {
            let means = known_means(y.view(), None);
            assert_eq!(means, [2.0, 1.0, 0.0, 4.0 / 3.0]);
            assert_eq!(
                known_means(y.view(), Some(&[1.0, 3.0, 0.0])),
                [2.5, 2.0, 0.0, 0.0]
            );
            fill(&mut y, &means);
            let expected = array![[1.0, 1.0, 0.0, 0.0], [3.0, 2.0, 0.0, 0.0], [2.0, 0.0, 0.0, 4.0]];
            assert_eq!(y.view().to_dense(usize::MAX).unwrap(), expected);
        }
    }
}
