//! Distributions of frequencies and the corresponding kernels.

use std::fmt;
use std::str::FromStr;

use ndarray::ArrayViewMut1;
use rand::RngCore;
use rpo_core::math::{self, Normals};
use rpo_core::{CheckParams, Domain, MatrixView, Seed};

use super::median_squared_distance;
use crate::ProjectionError;

/// Frequencies are clamped to this magnitude, so that no sum of products leaves the range of `f32`. A draw beyond it
/// has a probability below 1e-17.
const LARGEST: f64 = 1e18;

/// The distribution of the frequencies r of random features, at bandwidth σ.
///
/// Names: `gaussian`, `student:NU`, `cauchy-iid`. Use `gaussian` for few dimensions, `student:5` and `student:3` for
/// more, `cauchy-iid` for many (Karampatziakis, Mineiro, 2015, section 5).
///
/// ```
/// use rpo_projections::SpectralLaw;
/// assert_eq!("student:5".parse(), Ok(SpectralLaw::Student { nu: 5.0 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum SpectralLaw {
    /// r ~ N(0, σ⁻²I): the Gaussian kernel exp(-‖δ‖²/(2σ²)).
    Gaussian,
    /// Multivariate Student t, r = σ⁻¹ g √(ν/χ²), with g ~ N(0, I) and one χ² with ν degrees of freedom for all
    /// coordinates: the Matérn kernel of smoothness ν/2. ν = 1 gives the rotation invariant Cauchy distribution and the
    /// kernel exp(-‖δ‖/σ); ν = ∞ would be the Gaussian.
    Student {
        /// Degrees of freedom, finite and above 0.
        nu: f64,
    },
    /// Independent Cauchy coordinates: the product of Laplacian kernels exp(-‖δ‖₁/σ). The paper takes it to be the ν =
    /// 1 member of the Student family, which is wrong in more than one dimension; its experiments with "the Laplacian
    /// kernel" draw from this distribution.
    CauchyIid,
}

impl CheckParams for SpectralLaw {
    type Error = ProjectionError;

    fn check(&self) -> Result<(), ProjectionError> {
        match *self {
            Self::Student { nu } => Ok(Domain::Positive.check("nu", nu)?),
            Self::Gaussian | Self::CauchyIid => Ok(()),
        }
    }
}

impl SpectralLaw {
    /// Returns σ⁻¹ for inputs Z (n x k), a factor c times a typical value: c √(2/D) for the Gaussian and the Cauchy
    /// distribution, c / √D for Student's. Source: the software of the paper's authors.
    ///
    /// D is the median of the squared distances between pairs of up to
    /// [`BANDWIDTH_ROWS`](crate::RandomFeatures::BANDWIDTH_ROWS) rows of Z, drawn without replacement; the upper median
    /// for an even number of pairs. If the median is 0, because most rows are equal, the mean replaces it, or 1 if the
    /// mean is 0 too or there are no pairs.
    ///
    /// # Errors
    /// [`ProjectionError::Parameter`] for a factor that is not positive and finite, [`ProjectionError::Matrix`] for a
    /// value of Z that is not finite, [`ProjectionError::TooFewRows`] if there are no rows,
    /// [`ProjectionError::OutOfMemory`].
    pub fn inverse_bandwidth(
        self,
        factor: f64,
        z: MatrixView<'_>,
        seed: Seed,
    ) -> Result<f64, ProjectionError> {
        Domain::Positive.check("factor", factor)?;
        z.check_values(f32::is_finite)?;
        let distance = median_squared_distance(z, seed)?;
        Ok(match self {
            Self::Gaussian | Self::CauchyIid => factor * (2.0 / distance).sqrt(),
            Self::Student { .. } => factor / distance.sqrt(),
        })
    }

    /// κ(δ), the kernel at a difference of inputs; `None` if ν is not an odd integer, since the kernel then involves
    /// Bessel functions.
    #[cfg(test)]
    pub(super) fn kernel(self, delta: &[f64], inverse_bandwidth: f64) -> Option<f64> {
        let length = delta.iter().map(|v| v * v).sum::<f64>().sqrt() * inverse_bandwidth;
        match self {
            Self::Gaussian => Some(math::exp(-0.5 * length * length)),
            Self::CauchyIid => {
                let length = delta.iter().map(|v| v.abs()).sum::<f64>() * inverse_bandwidth;
                Some(math::exp(-length))
            }
            Self::Student { nu } => {
                let order = (nu - 1.0) / 2.0;
                if order.fract() != 0.0 || !(0.0..50.0).contains(&order) {
                    return None;
                }
                Some(half_integer_matern(order as u32, nu.sqrt() * length))
            }
        }
    }

    /// Draws one frequency.
    pub(super) fn fill(self, inverse_bandwidth: f64, mut r: ArrayViewMut1<'_, f32>, rng: &mut impl RngCore) {
        let mut normals = Normals::new(rng);
        let scale = match self {
            Self::Gaussian | Self::CauchyIid => inverse_bandwidth,
            // χ² with ν degrees of freedom is twice a Gamma variable of shape ν/2.
            Self::Student { nu } => inverse_bandwidth * (0.5 * nu / gamma(0.5 * nu, &mut normals)).sqrt(),
        };
        r.map_inplace(|r| {
            let draw = match self {
                Self::Gaussian | Self::Student { .. } => normals.draw(),
                // The quotient of two normal numbers has a Cauchy distribution.
                Self::CauchyIid => normals.draw() / normals.draw(),
            };
            *r = (scale * draw).clamp(-LARGEST, LARGEST) as f32;
        });
    }
}

/// Draws the logarithm of a uniform number in (0, 1] as -(z₁² + z₂²)/2 from two normal numbers, so that only normal
/// numbers are drawn.
fn log_uniform(normals: &mut Normals<'_, impl RngCore>) -> f64 {
    let (a, b) = (normals.draw(), normals.draw());
    -0.5 * (a * a + b * b)
}

/// Draws a Gamma variable with shape a > 0 and scale 1, by rejection from the cube of a normal one (Marsaglia, Tsang: A
/// simple method for generating gamma variables, 2000). For a < 1, returns a variable of shape a + 1 times U^(1/a).
fn gamma(shape: f64, normals: &mut Normals<'_, impl RngCore>) -> f64 {
    if shape < 1.0 {
        let power = math::exp(log_uniform(normals) / shape);
        // Kept above 0, as the caller divides by it.
        return (gamma(shape + 1.0, normals) * power).max(f64::MIN_POSITIVE);
    }
    let d = shape - 1.0 / 3.0;
    loop {
        let x = normals.draw();
        let root = 1.0 + x / (9.0 * d).sqrt();
        let v = root * root * root;
        if v > 0.0 && log_uniform(normals) < 0.5 * x * x + d - d * v + d * math::ln(v) {
            return d * v;
        }
    }
}

/// The Matérn kernel of smoothness p + 1/2 at a = √(2p+1) ‖δ‖/σ:
/// e⁻ᵃ p!/(2p)! Σᵢ (p+i)!/(i!(p-i)!) (2a)ᵖ⁻ⁱ.
#[cfg(test)]
fn half_integer_matern(p: u32, a: f64) -> f64 {
    // The term for i = p is (2p)!/p!, which the factor in front makes 1; each other term follows from the next one.
    let (mut term, mut sum) = (1.0, 1.0);
    for i in (0..p).rev() {
        let (p, i) = (f64::from(p), f64::from(i));
        term *= 2.0 * a * (i + 1.0) / ((p + i + 1.0) * (p - i));
        sum += term;
    }
    sum * math::exp(-a)
}

impl fmt::Display for SpectralLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian => f.write_str("gaussian"),
            Self::Student { nu } => write!(f, "student:{nu}"),
            Self::CauchyIid => f.write_str("cauchy-iid"),
        }
    }
}

impl FromStr for SpectralLaw {
    type Err = ProjectionError;

    fn from_str(text: &str) -> Result<Self, ProjectionError> {
        let unknown = || ProjectionError::UnknownLaw(text.to_owned());
        let law = match (text, text.strip_prefix("student:")) {
            ("gaussian", _) => Self::Gaussian,
            ("cauchy-iid", _) => Self::CauchyIid,
            (_, Some(nu)) => Self::Student {
                nu: nu.parse().map_err(|_| unknown())?,
            },
            _ => return Err(unknown()),
        };
        law.check()?;
        Ok(law)
    }
}

rpo_core::impl_text_serde!(SpectralLaw, ["string"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_integer_kernels_are_those_printed() {
        for a in [0.0_f64, 0.3, 2.0, 7.5] {
            let decay = (-a).exp();
            for (p, expected) in [
                (0, decay),
                (1, (1.0 + a) * decay),
                (2, (1.0 + a + a * a / 3.0) * decay),
            ] {
                assert!((half_integer_matern(p, a) - expected).abs() < 1e-15);
            }
        }
        assert_eq!(SpectralLaw::Student { nu: 2.0 }.kernel(&[1.0], 1.0), None);
    }

    #[test]
    fn names_round_trip() {
        for law in [
            SpectralLaw::Gaussian,
            SpectralLaw::Student { nu: 2.5 },
            SpectralLaw::CauchyIid,
        ] {
            assert_eq!(law.to_string().parse(), Ok(law));
        }
        for text in ["", "student", "student:", "student:x", "cauchy"] {
            assert_eq!(
                text.parse::<SpectralLaw>(),
                Err(ProjectionError::UnknownLaw(text.to_owned()))
            );
        }
        for text in ["student:0", "student:-1", "student:NaN", "student:inf"] {
            assert!(matches!(
                text.parse::<SpectralLaw>(),
                Err(ProjectionError::Parameter(_))
            ));
        }
    }
}
