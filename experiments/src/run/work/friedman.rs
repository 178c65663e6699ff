//! The true functions of the friedman1 problems, for comparison in a decomposition.

use ndarray::{Array2, ArrayView2};
use rpo::data::generate::FriedmanKind;
use std::f64::consts::PI;

/// Friedman's first function of five inputs.
fn friedman1(x: [f64; 5]) -> f64 {
    10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4]
}

/// E{Y | x} of every output (n x d): output j of the independent problem depends on inputs 5(j-1)+1 to 5j, all outputs
/// of the group problem on the same five inputs.
pub(super) fn bayes(kind: FriedmanKind, x: ArrayView2<'_, f32>, n_outputs: usize) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), n_outputs), |(i, j)| {
        let first = if kind == FriedmanKind::Independent {
            5 * j
        } else {
            0
        };
        friedman1(std::array::from_fn(|k| f64::from(x[[i, first + k]])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo::core::{Matrix, Seed};
    use rpo::data::generate::{Friedman, Generator};

    #[test]
    fn what_is_left_of_the_outputs_is_unit_noise() {
        for kind in [FriedmanKind::Independent, FriedmanKind::Group] {
            let problem = Friedman {
                n_samples: 20_000,
                n_outputs: 3,
                ..Friedman::from(kind)
            };
            let data = problem.generate(Seed::new(1)).unwrap();
            let (Matrix::Dense(x), Matrix::Dense(y)) = (data.features(), data.outputs()) else {
                panic!("dense");
            };
            let noise = y.mapv(f64::from) - bayes(kind, x.view(), 3);
            for column in noise.columns() {
                // Standard errors of mean and variance are 0.007 and 0.01.
                assert!(column.mean().unwrap().abs() < 0.03, "{kind:?}");
                assert!((column.var(1.0) - 1.0).abs() < 0.04, "{kind:?}");
            }
        }
    }
}
