//! The distributions behind the tests, as tail probabilities and quantiles.
//!
//! Normal, χ², t and F come from `statrs` (incomplete gamma and beta functions); the studentized range, which it
//! does not have, is integrated here. Arguments outside a distribution's domain (no degrees of freedom, infinitely many
//! of χ² and F, a probability outside the unit interval) give NaN.

use statrs::function::{beta, erf, gamma};
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// P(Z ≤ z) of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erf::erfc(-z * FRAC_1_SQRT_2)
}

/// The z with P(Z ≤ z) = p.
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    -SQRT_2 * erf::erfc_inv(2.0 * p)
}

/// P(X > x) of the χ² distribution with `df` degrees of freedom.
pub fn chi2_survival(x: f64, df: f64) -> f64 {
    if x.is_nan() || !is_positive(df) {
        return f64::NAN;
    }
    if x <= 0.0 {
        1.0
    } else if x.is_infinite() {
        0.0
    } else {
        gamma::gamma_ur(df / 2.0, x / 2.0)
    }
}

/// P(|T| > |t|) of Student's t distribution with `df` degrees of freedom; infinitely many make it the normal one.
pub fn t_two_sided(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if t.is_infinite() {
        return 0.0;
    }
    if df.is_infinite() {
        return 2.0 * normal_cdf(-t.abs());
    }
    beta::beta_reg(df / 2.0, 0.5, df / (df + t * t))
}

/// P(X > f) of the F distribution with `df1` and `df2` degrees of freedom.
pub fn f_survival(f: f64, df1: f64, df2: f64) -> f64 {
    if !(is_positive(df1) && is_positive(df2)) || f.is_nan() {
        return f64::NAN;
    }
    if f <= 0.0 {
        return 1.0;
    }
    if f.is_infinite() {
        return 0.0;
    }
    beta::beta_reg(df2 / 2.0, df1 / 2.0, df2 / (df2 + df1 * f))
}

/// Whether a number of degrees of freedom is one.
fn is_positive(df: f64) -> bool {
    df > 0.0 && df.is_finite()
}

/// The t > 0 with P(|T| > t) = p, by bisection of [`t_two_sided`].
pub fn t_two_sided_quantile(p: f64, df: f64) -> f64 {
    bisect(p, |t| t_two_sided(t, df))
}

/// P(Q > q) of the studentized range of `k` standard normal variables (infinite degrees of freedom).
///
/// $1 - k \int \varphi(z) [\Phi(z) - \Phi(z - q)]^{k-1} dz$, with the 1 drawn into the integral as
/// $k \int \varphi \Phi^{k-1}$ so that small probabilities keep their relative accuracy. The integrand is analytic and
/// falls off like φ at both ends, so that the trapezoidal rule converges faster than any power of its step.
pub fn studentized_range_survival(q: f64, k: usize) -> f64 {
    if k < 2 || q.is_nan() {
        return f64::NAN;
    }
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
            let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
            // all^(k-1) - (all - below)^(k-1), without cancellation.
            density * all.powf(others) * -(others * (-below / all).ln_1p()).exp_m1()
        })
        .sum();
    (k as f64 * STEP * sum).min(1.0)
}

/// The q with P(Q > q) = p of the studentized range of `k` standard normal variables.
pub fn studentized_range_quantile(p: f64, k: usize) -> f64 {
    bisect(p, |q| studentized_range_survival(q, k))
}

/// Where a decreasing survival function on the positive numbers crosses p, to the last bits.
fn bisect(p: f64, survival: impl Fn(f64) -> f64) -> f64 {
    if !(p > 0.0 && p < 1.0) || survival(1.0).is_nan() {
        return f64::NAN;
    }
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

    #[test]
    fn two_variables_have_a_normal_range() {
        // The range of two is |Z1 - Z2|, sqrt(2) times a folded normal.
        for q in [1e-3, 0.5, 2.0, 5.0, 12.0, 30.0] {
            let exact = 2.0 * normal_cdf(-q / SQRT_2);
            let found = studentized_range_survival(q, 2);
            assert!((found / exact - 1.0).abs() < 1e-10, "q = {q}: {found} {exact}");
        }
    }

    #[test]
    fn quantiles_invert() {
        for k in [2, 3, 10, 100] {
            for p in [1e-6, 0.05, 0.5, 0.99] {
                let q = studentized_range_quantile(p, k);
                assert!((studentized_range_survival(q, k) / p - 1.0).abs() < 1e-12);
            }
        }
        for df in [1.0, 3.0, 50.0] {
            assert!((t_two_sided(t_two_sided_quantile(0.05, df), df) / 0.05 - 1.0).abs() < 1e-12);
        }
        // Cauchy: P(|T| > 1) = 1/2.
        assert!((t_two_sided_quantile(0.5, 1.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn outside_the_domain() {
        assert!(normal_quantile(1.5).is_nan() && chi2_survival(1.0, 0.0).is_nan());
        assert!(t_two_sided(f64::NAN, 2.0).is_nan() && f_survival(1.0, 1.0, -1.0).is_nan());
        assert!(studentized_range_survival(1.0, 1).is_nan() && studentized_range_quantile(0.0, 3).is_nan());
        assert_eq!(
            (normal_cdf(f64::NEG_INFINITY), normal_cdf(f64::INFINITY)),
            (0.0, 1.0)
        );
        assert_eq!(
            (
                t_two_sided(f64::INFINITY, 3.0),
                f_survival(f64::INFINITY, 1.0, 2.0)
            ),
            (0.0, 0.0)
        );
        assert_eq!(
            (chi2_survival(-1.0, 2.0), studentized_range_survival(0.0, 3)),
            (1.0, 1.0)
        );
    }

    #[test]
    fn infinite_arguments() {
        let inf = f64::INFINITY;
        assert_eq!((chi2_survival(inf, 2.0), chi2_survival(-inf, 2.0)), (0.0, 1.0));
        assert!(chi2_survival(1.0, inf).is_nan());
        // Student's distribution with infinite degrees of freedom is the normal one.
        assert_eq!(t_two_sided(1.5, inf), 2.0 * normal_cdf(-1.5));
        assert!((t_two_sided_quantile(0.05, inf) - normal_quantile(0.975)).abs() < 1e-9);
        assert!(f_survival(1.0, inf, 2.0).is_nan() && f_survival(1.0, 2.0, inf).is_nan());
        assert_eq!(studentized_range_survival(inf, 3), 0.0);
    }
}
