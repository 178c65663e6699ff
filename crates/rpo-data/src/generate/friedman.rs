//! Friedman's first function, with many outputs.

use super::{GenerateError, Generator, check_memory, dense_bytes};
use crate::dataset::{Dataset, Task};
use ndarray::Array2;
use rand::Rng;
use rand::seq::SliceRandom;
#[allow(
    clippy::disallowed_types,
    reason = "experiments are recorded on the sets that it draws; no model depends on it"
)]
use rand_distr::StandardNormal;
use rayon::prelude::*;
use rpo_core::math;
use rpo_core::{Domain, Matrix, ParameterError, Seed};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// The dependence between the outputs of a [`Friedman`] problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FriedmanKind {
    /// y1 = f(x) + e1, yj = y(j-1) + ej: the noise variance of output j is j. 5 inputs.
    Chain,
    /// yj = f(x) + ej: one function, observed once per output. 5 inputs.
    Group,
    /// yj = f(inputs 5(j-1)+1 to 5j) + ej: unrelated functions. 5 inputs per output.
    Independent,
}

/// The synthetic regression problems of Joly, Wehenkel and Geurts (2019), section 4.2.1:
/// f(x) = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5, e ~ N(0, 1) drawn for every sample and output.
///
/// Departures from the paper: inputs are uniform on [0, 1), for which f is defined and which alone explains the
/// published scores (the paper states normal); the inputs of output j of the independent problem are 5(j-1)+1 to 5j
/// (the printed slice runs past the last input).
///
/// ```
/// use rpo_data::Seed;
/// use rpo_data::generate::{Friedman, FriedmanKind, Generator};
/// let problem = Friedman::from(FriedmanKind::Independent);
/// let train = problem.generate(Seed::new(1).child(0))?;
/// let test = Friedman { n_samples: 4000, ..problem }.generate(Seed::new(1).child(1))?;
/// assert_eq!((train.n_samples(), train.n_features(), train.n_outputs()), (300, 80, 16));
/// assert_eq!(test.n_samples(), 4000);
/// # Ok::<(), rpo_data::generate::GenerateError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Friedman {
    /// The dependence between the outputs.
    pub kind: FriedmanKind,
    /// Number of samples.
    pub n_samples: usize,
    /// Number of outputs, not counting permuted ones.
    pub n_outputs: usize,
    /// Number of uniform inputs that no output depends on, placed after the others. Common generators of friedman1 have
    /// 5, and with 5 the scores on the group problem match the published ones.
    pub n_irrelevant: usize,
    /// Starts the chain from an already noisy target, y1 = f(x) + e0 + e1. Like irrelevant inputs, this brings scores on
    /// the chain problem to the level of the published ones, which the problem as described exceeds.
    pub chain_base_noise: bool,
    /// Appends, for each output, its values in a random order over the samples: pure noise of the same distribution
    /// (section 4.2.3, table 6).
    pub permuted_outputs: bool,
}

/// Creates a problem of the paper's size, 300 samples (its training sets) and 16 outputs, without additions.
impl From<FriedmanKind> for Friedman {
    fn from(kind: FriedmanKind) -> Self {
        Self {
            kind,
            n_samples: 300,
            n_outputs: 16,
            n_irrelevant: 0,
            chain_base_noise: false,
            permuted_outputs: false,
        }
    }
}

impl Generator for Friedman {
    fn generate(&self, seed: Seed) -> Result<Dataset, GenerateError> {
        let n = self.n_samples;
        Domain::Count.check("n_outputs", self.n_outputs)?;
        if self.chain_base_noise && self.kind != FriedmanKind::Chain {
            let reason = "has an effect on the chain problem only";
            return Err(ParameterError::conflict("chain_base_noise", true, reason).into());
        }
        let n_relevant = match self.kind {
            FriedmanKind::Chain | FriedmanKind::Group => 5,
            FriedmanKind::Independent => self.n_outputs.saturating_mul(5),
        };
        let p = n_relevant.saturating_add(self.n_irrelevant);
        let d = self
            .n_outputs
            .saturating_mul(if self.permuted_outputs { 2 } else { 1 });
        check_memory(dense_bytes(n.max(1), p) + dense_bytes(n.max(1), d))?;
        let mut x = vec![0.0; n * p];
        let mut y = vec![0.0; n * d];
        let rows = seed.purpose("friedman1");
        x.par_chunks_mut(p)
            .zip(y.par_chunks_mut(d))
            .enumerate()
            .for_each(|(row, (x, y))| self.draw_row(rows.child(row as u64), x, &mut y[..self.n_outputs]));
        if self.permuted_outputs {
            permute_outputs(&mut y, d, seed.purpose("permuted outputs"));
        }
        let mut data = Dataset::new(matrix(n, p, x), matrix(n, d, y), Task::Regression)?;
        data.name = match self.kind {
            FriedmanKind::Chain => "friedman1-chain",
            FriedmanKind::Group => "friedman1-group",
            FriedmanKind::Independent => "friedman1-ind",
        }
        .to_owned();
        Ok(data)
    }
}

impl Friedman {
    fn draw_row(&self, seed: Seed, x: &mut [f32], y: &mut [f32]) {
        let mut rng = seed.stream();
        // Rounded to f32 from the start, so that the outputs match the stored inputs.
        x.iter_mut().for_each(|x| *x = rng.r#gen());
        let mut noise = || rng.sample::<f64, _>(StandardNormal);
        let mut chain = f(x) + if self.chain_base_noise { noise() } else { 0.0 };
        for (j, y) in y.iter_mut().enumerate() {
            *y = match self.kind {
                FriedmanKind::Chain => {
                    chain += noise();
                    chain
                }
                FriedmanKind::Group => f(x) + noise(),
                FriedmanKind::Independent => f(&x[5 * j..]) + noise(),
            } as f32;
        }
    }
}

fn matrix(rows: usize, columns: usize, values: Vec<f32>) -> Matrix {
    Array2::from_shape_vec((rows, columns), values)
        .expect("as many values as were allocated for this shape")
        .into()
}

/// Computes Friedman's first function of the first five inputs.
fn f(x: &[f32]) -> f64 {
    let x = |i: usize| f64::from(x[i]);
    10.0 * math::sin(PI * x(0) * x(1)) + 20.0 * (x(2) - 0.5).powi(2) + 10.0 * x(3) + 5.0 * x(4)
}

/// Fills the second half of each row's outputs with the first-half outputs of other rows, output by output.
fn permute_outputs(y: &mut [f32], d: usize, seed: Seed) {
    let n = y.len() / d;
    for j in 0..d / 2 {
        let mut column: Vec<f32> = (0..n).map(|row| y[row * d + j]).collect();
        column.shuffle(&mut seed.child(j as u64).rng());
        column
            .into_iter()
            .enumerate()
            .for_each(|(row, v)| y[row * d + d / 2 + j] = v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(a: &Matrix) -> &Array2<f32> {
        match a {
            Matrix::Dense(a) => a,
            Matrix::Sparse(_) => panic!("dense"),
        }
    }

    fn variance(values: impl Iterator<Item = f64> + Clone) -> f64 {
        let n = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / n;
        values.map(|v| (v - mean).powi(2)).sum::<f64>() / n
    }

    /// Returns the residuals y - f(x) of output j; `first` is the first of its inputs.
    fn residuals(data: &Dataset, j: usize, first: usize) -> Vec<f64> {
        let (x, y) = (dense(data.features()), dense(data.outputs()));
        let rows = x.rows().into_iter().zip(y.column(j));
        rows.map(|(x, &y)| f64::from(y) - f(&x.to_vec()[first..]))
            .collect()
    }

    #[test]
    fn noise_is_as_each_kind_says() {
        // 4 standard errors of the variance of n normal draws: 4 sqrt(2 / n) times the variance.
        let n = 20_000;
        let tolerance = 4.0 * (2.0 / n as f64).sqrt();
        let check = |problem: &Friedman, j: usize, first: usize, expected: f64| {
            let sized = Friedman {
                n_samples: n,
                n_outputs: 4,
                ..problem.clone()
            };
            let data = sized.generate(Seed::new(3)).unwrap();
            let found = variance(residuals(&data, j, first).into_iter());
            assert!(
                (found / expected - 1.0).abs() < tolerance,
                "{problem:?} {j}: {found}, expected {expected}"
            );
        };
        let chain = Friedman::from(FriedmanKind::Chain);
        let with_base = Friedman {
            chain_base_noise: true,
            ..chain.clone()
        };
        for j in 0..4 {
            check(&chain, j, 0, (j + 1) as f64);
            check(&with_base, j, 0, (j + 2) as f64);
            check(&Friedman::from(FriedmanKind::Group), j, 0, 1.0);
            check(
                &Friedman {
                    n_irrelevant: 5,
                    ..Friedman::from(FriedmanKind::Independent)
                },
                j,
                5 * j,
                1.0,
            );
        }
        // Var f = 23.82 for uniform inputs.
        let group = Friedman {
            n_samples: n,
            ..Friedman::from(FriedmanKind::Group)
        };
        let data = group.generate(Seed::new(3)).unwrap();
        let signal = variance(dense(data.features()).rows().into_iter().map(|x| f(&x.to_vec())));
        assert!((signal / 23.82 - 1.0).abs() < 0.03, "{signal}");
    }

    #[test]
    fn permuted_outputs_hold_the_same_values_elsewhere() {
        let permuted = Friedman {
            permuted_outputs: true,
            ..Friedman::from(FriedmanKind::Chain)
        };
        let data = permuted.generate(Seed::new(1)).unwrap();
        let y = dense(data.outputs());
        assert_eq!(y.ncols(), 32);
        let mut orders = Vec::new();
        for j in 0..16 {
            let (original, permuted) = (y.column(j).to_vec(), y.column(16 + j).to_vec());
            assert_ne!(original, permuted);
            let place = |v: &f32| original.iter().position(|o| o == v).unwrap();
            orders.push(permuted.iter().map(place).collect::<Vec<_>>());
            let mut sorted = orders[j].clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..300).collect::<Vec<_>>());
        }
        orders.sort();
        orders.dedup();
        assert_eq!(orders.len(), 16);
    }

    #[test]
    fn sets_are_stable_and_begin_alike() {
        let problem = |n_samples| {
            let group = Friedman {
                n_samples,
                n_outputs: 2,
                ..Friedman::from(FriedmanKind::Group)
            };
            group.generate(Seed::new(1)).unwrap()
        };
        let (short, long) = (problem(5), problem(50));
        assert_eq!(short, long.select_samples(&[0, 1, 2, 3, 4]).unwrap());
        // Changing these values changes every experiment on generated data.
        let first = dense(short.features())[[0, 0]];
        assert_eq!((first, dense(short.outputs())[[0, 0]]), (0.60567796, 17.768015));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let group = || Friedman::from(FriedmanKind::Group);
        let error = |problem: Friedman| problem.generate(Seed::new(0)).unwrap_err().to_string();
        let found = error(Friedman {
            n_outputs: 0,
            ..group()
        });
        assert_eq!(found, "`n_outputs` must be at least 1, got 0");
        let found = error(Friedman {
            chain_base_noise: true,
            ..group()
        });
        assert_eq!(
            found,
            "`chain_base_noise` = true has an effect on the chain problem only"
        );
        for n in [usize::MAX, 1 << 28] {
            for large in [
                Friedman {
                    n_samples: n,
                    ..group()
                },
                Friedman {
                    n_irrelevant: n,
                    n_samples: 10,
                    ..group()
                },
                Friedman {
                    n_outputs: n,
                    n_samples: 0,
                    ..Friedman::from(FriedmanKind::Independent)
                },
            ] {
                assert!(error(large).starts_with("the set would take "));
            }
        }
        let empty = Friedman {
            n_samples: 0,
            ..group()
        };
        assert_eq!(empty.generate(Seed::new(0)).unwrap().n_samples(), 0);
    }
}
