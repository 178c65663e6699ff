//! Tail probabilities and quantiles of the distributions used by the tests.
//!
//! The normal, χ², Student's t and F distributions come from `statrs`; the studentized range, which `statrs` lacks, is
//! integrated here. The probability of a NaN statistic is NaN.

use rpo_core::math;
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, Normal, StudentsT};
use std::f64::consts::PI;

const DEGREES: &str = "degrees of freedom are positive";

/// Returns P(Z ≤ z) of the standard normal distribution.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// Returns the z with P(Z ≤ z) = p, for p in (0, 1).
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// Returns P(X > x) of the χ² distribution.
pub(crate) fn chi2_survival(x: f64, df: usize) -> f64 {
    unless_nan(x, |x| ChiSquared::new(df as f64).expect(DEGREES).sf(x))
}

/// Returns P(X > f) of the F distribution.
pub(crate) fn f_survival(f: f64, (df1, df2): (usize, usize)) -> f64 {
    unless_nan(f, |f| {
        FisherSnedecor::new(df1 as f64, df2 as f64).expect(DEGREES).sf(f)
    })
}

/// Returns P(|T| > |t|) of Student's t distribution.
pub(crate) fn t_two_sided(t: f64, df: usize) -> f64 {
    unless_nan(t, |t| {
        2.0 * StudentsT::new(0.0, 1.0, df as f64).expect(DEGREES).sf(t.abs())
    })
}

/// Returns the t > 0 with P(|T| > t) = p, for p in (0, 1).
pub(crate) fn t_two_sided_quantile(p: f64, df: usize) -> f64 {
    bisect(p, |t| t_two_sided(t, df))
}

fn unless_nan(x: f64, survival: impl Fn(f64) -> f64) -> f64 {
    if x.is_nan() { x } else { survival(x) }
}

/// Returns P(Q > q) of the studentized range of `k` ≥ 2 standard normal variables (infinite degrees of freedom).
///
/// $1 - k \int \varphi(z) [\Phi(z) - \Phi(z - q)]^{k-1} dz$, with the 1 written as the integral $k \int \varphi
/// \Phi^{k-1}$ so that small probabilities keep their relative accuracy. The integrand is analytic and falls off like φ
/// at both ends, so that the trapezoidal rule converges faster than any power of its step.
pub(crate) fn studentized_range_survival(q: f64, k: usize) -> f64 {
    if q <= 0.0 {
        return 1.0;
    }
    // Below -40 and above 40 the normal density is 0 in f64.
    const STEP: f64 = 1.0 / 16.0;
    const STEPS: i32 = 40 * 16;
    let others = (k - 1) as f64;
    let sum: f64 = (-STEPS..=STEPS)
        .map(|i| {
            let z = f64::from(i) * STEP;
            let (all, below) = (normal_cdf(z), normal_cdf(z - q));
            if all == 0.0 {
                return 0.0;
            }
            let density = math::exp(-0.5 * z * z) / (2.0 * PI).sqrt();
            // all^(k-1) - (all - below)^(k-1), without cancellation.
            density * math::powf(all, others) * -math::exp_m1(others * math::ln_1p(-below / all))
        })
        .sum();
    (k as f64 * STEP * sum).min(1.0)
}

/// Returns the q with P(Q > q) = p of the studentized range of `k` standard normal variables, for p in (0, 1).
pub(crate) fn studentized_range_quantile(p: f64, k: usize) -> f64 {
    bisect(p, |q| studentized_range_survival(q, k))
}

/// Returns the point where a decreasing survival function on the positive numbers crosses p, to the last bits.
fn bisect(p: f64, survival: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while survival(high) > p {
        (low, high) = (high, 2.0 * high);
    }
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if survival(middle) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::SQRT_2;

    #[test]
    fn two_variables_have_a_normal_range() {
        // The range of two is |Z1 - Z2|, sqrt(2) times a folded normal.
        for q in [1e-3, 0.5, 2.0, 5.0, 12.0, 30.0] {
            let exact = 2.0 * normal_cdf(-q / SQRT_2);
            let found = studentized_range_survival(q, 2);
            assert!((found / exact - 1.0).abs() < 1e-10, "q = {q}: {found} {exact}");
        }
        assert_eq!(studentized_range_survival(f64::INFINITY, 3), 0.0);
    }

    #[test]
    fn quantiles_invert() {
        for k in [2, 3, 10, 100] {
            for p in [1e-6, 0.05, 0.5, 0.99] {
                let q = studentized_range_quantile(p, k);
                assert!((studentized_range_survival(q, k) / p - 1.0).abs() < 1e-12);
            }
        }
        for df in [1, 3, 50] {
            assert!((t_two_sided(t_two_sided_quantile(0.05, df), df) / 0.05 - 1.0).abs() < 1e-12);
        }
        // Cauchy: P(|T| > 1) = 1/2.
        assert!((t_two_sided_quantile(0.5, 1) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn infinite_and_undefined_statistics() {
        let inf = f64::INFINITY;
        assert_eq!((normal_cdf(-inf), normal_cdf(inf)), (0.0, 1.0));
        assert_eq!((t_two_sided(inf, 3), f_survival(inf, (1, 2))), (0.0, 0.0));
        assert_eq!((chi2_survival(inf, 2), chi2_survival(0.0, 2)), (0.0, 1.0));
        let undefined = [
            t_two_sided(f64::NAN, 2),
            f_survival(f64::NAN, (1, 2)),
            chi2_survival(f64::NAN, 2),
        ];
        assert!(undefined.iter().all(|p| p.is_nan()));
    }
}
