//! Random Fourier features: a random map under which inner products approximate a kernel.

mod law;

use std::f32::consts::TAU;

use ndarray::{Array1, Array2, ArrayViewMut2, Zip};
use rand::Rng;
use rand::seq::index;
use rpo_core::{CheckParams, Domain, MatrixView, Mismatch, ParameterError, Seed, math, product_into};

use crate::{ProjectionError, memory};

pub use law::SpectralLaw;

/// Random features φ(a)ₜ = cos(rₜᵀa + bₜ), t = 1..s, for a in R^k, with frequencies rₜ from a [`SpectralLaw`] and
/// phases bₜ uniform on [0, 2π). The expectation of (2/s) φ(u)ᵀφ(v) is κ(u - v), the kernel of the distribution; the
/// error is about 1/√s.
///
/// Source: Rahimi, Recht, *Random features for large-scale kernel machines*, NIPS 2007; Karampatziakis, Mineiro, 2015,
/// section 5 and Algorithm 3, lines 12 and 13. Phases on any interval whose length is a multiple of π give the same
/// kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomFeatures {
    /// The frequencies as columns, k x s.
    pub frequencies: Array2<f32>,
    /// The phases, s.
    pub phases: Array1<f32>,
}

impl RandomFeatures {
    /// Draws `n_features` features of k inputs; `inverse_bandwidth`, σ⁻¹, scales the frequencies.
    ///
    /// Feature t draws from its own stream, so that drawing more features leaves the first ones unchanged.
    ///
    /// # Errors
    /// [`ProjectionError::Parameter`] for a number of inputs or features (1 to 2^32 - 2), a bandwidth or a law out of
    /// range, [`ProjectionError::OutOfMemory`].
    pub fn draw(
        law: SpectralLaw,
        inverse_bandwidth: f64,
        n_inputs: usize,
        n_features: usize,
        seed: Seed,
    ) -> Result<Self, ProjectionError> {
        for (name, size) in [("n_inputs", n_inputs), ("n_features", n_features)] {
            let fits = (1..u64::from(u32::MAX)).contains(&(size as u64));
            ParameterError::unless(fits, name, size, "from 1 to 4294967294")?;
        }
        law.check()?;
        Domain::Positive.check("inverse_bandwidth", inverse_bandwidth)?;
        let mut frequencies = memory::zeros(n_inputs, n_features)?;
        let mut phases = Array1::zeros(n_features);
        let seed = seed.purpose("random features");
        for (t, (column, phase)) in frequencies.columns_mut().into_iter().zip(&mut phases).enumerate() {
            let mut rng = seed.child(t as u64).stream();
            *phase = TAU * rng.r#gen::<f32>();
            law.fill(inverse_bandwidth, column, &mut rng);
        }
        Ok(Self { frequencies, phases })
    }

    /// Writes the features of rows (h x k, sparse or dense) to `out` (h x s). Cost: s times the number of stored
    /// values.
    ///
    /// For phases beyond about 10⁷ the cosine is meaningless in `f32`; the features stay within [-1, 1].
    ///
    /// # Errors
    /// [`ProjectionError::Mismatch`] if the length of the rows is not k or the number of phases is not s,
    /// [`ProjectionError::TargetShape`].
    pub fn apply_into(
        &self,
        rows: MatrixView<'_>,
        mut out: ArrayViewMut2<'_, f32>,
    ) -> Result<(), ProjectionError> {
        let (inputs, features) = self.frequencies.dim();
        Mismatch::check("phases of the random features", features, self.phases.len())?;
        Mismatch::check("inputs of the random features", inputs, rows.n_cols())?;
        let (expected, found) = ((rows.n_rows(), features), out.dim());
        if expected != found {
            return Err(ProjectionError::TargetShape { expected, found });
        }
        match rows {
            MatrixView::Dense(rows) => product_into(rows, self.frequencies.view(), out.view_mut()),
            MatrixView::Sparse(_) => {
                out.fill(0.0);
                for (i, mut out) in out.rows_mut().into_iter().enumerate() {
                    rows.for_each_in_row(i, |j, v| out.scaled_add(v, &self.frequencies.row(j as usize)));
                }
            }
        }
        for mut row in out.rows_mut() {
            Zip::from(&mut row)
                .and(&self.phases)
                .for_each(|x, &phase| *x = math::cos(*x + phase));
        }
        Ok(())
    }

    /// Maximum number of input rows that determine a [bandwidth](SpectralLaw::inverse_bandwidth).
    pub const BANDWIDTH_ROWS: usize = 1000;
}

/// Computes D of [`SpectralLaw::inverse_bandwidth`], in squared units of Z.
fn median_squared_distance(z: MatrixView<'_>, seed: Seed) -> Result<f64, ProjectionError> {
    let n = z.n_rows();
    if n == 0 {
        return Err(ProjectionError::TooFewRows {
            family: "a bandwidth",
            found: 0,
            required: 1,
        });
    }
    let mut rng = seed.purpose("bandwidth").rng();
    let rows = index::sample(&mut rng, n, n.min(RandomFeatures::BANDWIDTH_ROWS)).into_vec();
    let mut distances: Vec<f64> = Vec::with_capacity(rows.len() * rows.len() / 2);
    let mut a = memory::filled(0.0_f64, z.n_cols(), 1)?;
    for (i, &row) in rows.iter().enumerate() {
        let mut length = 0.0;
        z.for_each_in_row(row, |j, v| {
            a[j as usize] = v.into();
            length += f64::from(v).powi(2);
        });
        for &other in &rows[i + 1..] {
            // ‖a - b‖² = ‖a‖² + Σ b (b - 2a), which is 0 to the last bit for equal rows.
            let mut rest = 0.0;
            z.for_each_in_row(other, |j, v| {
                rest += f64::from(v) * (f64::from(v) - 2.0 * a[j as usize]);
            });
            distances.push((length + rest).max(0.0));
        }
        z.for_each_in_row(row, |j, _| a[j as usize] = 0.0);
    }
    if distances.is_empty() {
        return Ok(1.0);
    }
    let middle = distances.len() / 2;
    let median = *distances.select_nth_unstable_by(middle, f64::total_cmp).1;
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    Ok([median, mean].into_iter().find(|v| *v > 0.0).unwrap_or(1.0))
}

#[cfg(test)]
#[path = "../../tests/suite/fourier.rs"]
mod tests;
