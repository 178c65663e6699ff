//! Means and variances of columns.

use super::Rows;
use rpo_core::Spread;

/// Means and variances of the columns of a matrix, in `f64`. The layout of the matrix changes no bit.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Mean of each column.
    pub means: Vec<f64>,
    /// Mean squared distance of the values of each column to their mean; exactly 0 if they are equal.
    pub variances: Vec<f64>,
    /// Sum of the weights of the rows.
    pub weight: f64,
    /// Fraction of the values of each column, by weight, that are not 0; 0 without rows of positive weight.
    pub shares: Vec<f64>,
}

impl Moments {
    /// Computes the moments of x, whose rows have weights, not negative: one of weight 2 counts as if it occurred twice.
    pub fn of(x: &impl Rows, weight_of: impl Fn(usize) -> f64) -> Self {
        let (n, p) = (x.row_count(), x.column_count());
        let each = |f: &mut dyn FnMut(usize, f64, f64)| {
            for i in 0..n {
                let weight = weight_of(i);
                x.for_each_stored(i, |j, v| {
                    if v != 0.0 && weight > 0.0 {
                        f(j, v, weight);
                    }
                });
            }
        };
        let (mut means, mut present) = (vec![0.0; p], vec![0.0; p]);
        let (mut lowest, mut highest) = (vec![f64::INFINITY; p], vec![f64::NEG_INFINITY; p]);
        each(&mut |j, v, weight| {
            means[j] += weight * v;
            present[j] += weight;
            lowest[j] = v.min(lowest[j]);
            highest[j] = v.max(highest[j]);
        });
        let weight: f64 = (0..n).map(&weight_of).sum();
        let rows = if weight > 0.0 { weight } else { 1.0 };
        means.iter_mut().for_each(|mean| *mean /= rows);
        // Σ (v - mean)² without cancellation: stored values one by one, all zeros of a column at once.
        let mut variances: Vec<f64> = present
            .iter()
            .zip(&means)
            .map(|(&present, mean)| (weight - present) * mean * mean)
            .collect();
        each(&mut |j, v, weight| variances[j] += weight * (v - means[j]).powi(2));
        for (j, variance) in variances.iter_mut().enumerate() {
            *variance /= rows;
            // The mean of equal values may be rounded, which is not a variance.
            if present[j] >= weight && lowest[j] == highest[j] {
                (means[j], *variance) = (lowest[j], 0.0);
            }
        }
        present.iter_mut().for_each(|present| *present /= rows);
        Self {
            shares: present,
            means,
            variances,
            weight,
        }
    }

    /// What shows the unit of each column.
    pub(super) fn spreads(&self) -> Vec<Spread> {
        let columns = self.means.iter().zip(&self.variances).zip(&self.shares);
        let spread = |((&mean, &variance), &share)| Spread {
            mean,
            variance,
            share,
        };
        columns.map(spread).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use rpo_core::MatrixView;

    #[test]
    fn moments_are_those_of_repeated_rows_in_any_layout() {
        let x = array![
            [1.0, 0.0, 0.1],
            [3.0, -2.0, 0.1],
            [5.0, 0.0, 0.1],
            [9.0, 9.0, 9.0]
        ];
        let weights = [1.0, 2.0, 1.0, 0.0];
        let found = Moments::of(&MatrixView::from(&x), |i| weights[i]);
        let repeated = array![
            [1.0, 0.0, 0.1],
            [3.0, -2.0, 0.1],
            [3.0, -2.0, 0.1],
            [5.0, 0.0, 0.1]
        ];
        assert_eq!(found, Moments::of(&MatrixView::from(&repeated), |_| 1.0));
        let sparse = MatrixView::from(&x).to_csr();
        assert_eq!(
            found,
            Moments::of(&MatrixView::Sparse(sparse.view()), |i| weights[i])
        );
        assert_eq!(found.means, [3.0, -1.0, f64::from(0.1_f32)]);
        assert_eq!(found.variances, [2.0, 1.0, 0.0]);
        assert_eq!((found.weight, found.shares), (4.0, vec![1.0, 0.5, 1.0]));
    }

    /// A spread of a millionth of the mean is not lost to cancellation, and one of rounding errors is none.
    #[test]
    fn large_means_are_not_variances() {
        let near = array![[16_777_214.0], [16_777_216.0]];
        assert_eq!(Moments::of(&MatrixView::from(&near), |_| 1.0).variances, [1.0]);
        let equal = ndarray::Array2::from_elem((1000, 1), 0.1_f32);
        assert_eq!(Moments::of(&MatrixView::from(&equal), |_| 1.0).variances, [0.0]);
    }

    #[test]
    fn a_matrix_without_values_has_no_spread() {
        for (n, p) in [(0, 2), (3, 0)] {
            let found = Moments::of(&MatrixView::from(&ndarray::Array2::zeros((n, p))), |_| 1.0);
            assert_eq!((found.variances, found.shares), (vec![0.0; p], vec![0.0; p]));
        }
    }
}
