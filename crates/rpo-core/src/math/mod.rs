//! Elementary functions that give the same bits on every processor.
//!
//! The standard library takes `exp`, `ln` and related functions from the C library. Its variants with and without fused
//! multiply-add differ in the last bit, as do those of different systems, so that a fitted model would depend on the
//! machine. The functions here consist of additions, subtractions, multiplications, divisions and square roots, which
//! IEEE 754 rounds alike everywhere, and of bit operations. A lint refuses the standard library's functions in all
//! crates.
//!
//! `exp`, `ln` and the functions built on them have no branches, so that loops over slices become vector code. The less
//! frequent functions come from the crate `libm`.

mod exp;
mod log;
mod median;
mod normal;
mod single;

pub use libm::{expm1 as exp_m1, hypot, pow as powf, sin, tanh};
pub use log::{ln, ln_1p, log2, softplus};
pub use median::median;
pub use normal::Normals;
pub use single::cos;

/// The number types that [`exp`] and [`sigmoid`] support: `f32` and `f64`.
pub trait Real: Sized {
    /// See [`exp`].
    #[must_use]
    fn exp(self) -> Self;

    /// See [`sigmoid`].
    #[must_use]
    fn sigmoid(self) -> Self;
}

/// Accurate to 1 unit in the last place; 0 below the range of `f64`, infinite above.
impl Real for f64 {
    #[inline(always)]
    fn exp(self) -> Self {
        exp::exp(self)
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        exp::sigmoid(self)
    }
}

/// Accurate to a relative error of 2e-7, or 3e-7 for the sigmoid, for |x| ≤ 87; beyond, the value at the bound.
impl Real for f32 {
    #[inline(always)]
    fn exp(self) -> Self {
        single::exp(self)
    }

    #[inline(always)]
    fn sigmoid(self) -> Self {
        single::sigmoid(self)
    }
}

/// eˣ, with the accuracy that [`Real`] gives for the type.
#[inline(always)]
#[must_use]
pub fn exp<T: Real>(x: T) -> T {
    Real::exp(x)
}

/// The logistic sigmoid 1 / (1 + e⁻ˣ), without overflow.
#[inline(always)]
#[must_use]
pub fn sigmoid<T: Real>(x: T) -> T {
    Real::sigmoid(x)
}

/// 1.5 · 2⁵²: adding it rounds to an integer, which is then in the low bits. The compiler vectorizes the addition, but
/// not `round` unless newer instructions are enabled.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts: the product of an integer below 2²⁰ and the first part is exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// xⁿ by repeated squaring. The result of `f64::powi` depends on the system, except for n = 2.
pub fn powi(x: f64, n: u32) -> f64 {
    let (mut power, mut square, mut rest) = (1.0, x, n);
    while rest > 0 {
        if rest & 1 == 1 {
            power *= square;
        }
        square *= square;
        rest >>= 1;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the difference from the expected value is at most `ulps` units in the last place.
    #[track_caller]
    pub(super) fn check_close(found: f64, expected: f64, ulps: f64, at: f64) {
        if expected.is_nan() || expected.is_infinite() || expected == 0.0 {
            assert!(
                found == expected || (found.is_nan() && expected.is_nan()),
                "{at:e}: {found:e} {expected:e}"
            );
            return;
        }
        let ulp = f64::from_bits(expected.abs().to_bits() + 1) - expected.abs();
        assert!(
            (found - expected).abs() <= ulps * ulp,
            "{at:e}: {found:e} {expected:e}"
        );
    }

    /// Numbers of every magnitude and sign, and special values.
    pub(super) fn numbers() -> impl Iterator<Item = f64> {
        let special = [
            0.0,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MIN_POSITIVE,
            5e-324,
            1e-310,
            f64::MAX,
            -f64::MAX,
            1.0,
            -1.0,
            709.782_712_893_384,
            709.782_712_893_385,
            -708.4,
            -744.9,
            -745.2,
        ];
        let seed = crate::Seed::new(1);
        let drawn = (0..400_000_u64).flat_map(move |i| {
            let fraction = seed.hash(i) as f64 / 2_f64.powi(64);
            [
                (fraction - 0.5) * 1500.0,
                (fraction - 0.5) * 2.0,
                f64::from_bits(seed.hash(i)),
                1.0 + (fraction - 0.5) * 1e-3,
            ]
        });
        special.into_iter().chain(drawn)
    }

    /// Expected values to 17 digits, computed in a longer arithmetic: Python's decimal module with 40 digits.
    #[test]
    fn values_are_those_of_a_longer_arithmetic() {
        for (found, expected) in [
            (exp(1.0), std::f64::consts::E),
            (exp(-0.1), 0.904_837_418_035_959_5),
            (exp(10.5), 36_315.502_674_246_636),
            (exp(-700.25), 7.678_723_813_110_872e-305),
            (ln(2.0), std::f64::consts::LN_2),
            (ln(0.1), -2.302_585_092_994_045_5),
            (ln(1.0001), 9.999_500_033_329_732e-5),
            (ln(3e200), 461.615_630_887_477_27),
            (ln_1p(1e-10), 9.999_999_999_500_001e-11),
            (ln_1p(-0.3), -0.356_674_943_938_732_34),
            (log2(3.0), 1.584_962_500_721_156),
            (softplus(-2.0), 0.126_928_011_042_972_5),
            (sigmoid(0.5), 0.622_459_331_201_854_6),
        ] {
            check_close(found, expected, 2.0, expected);
        }
    }

    #[test]
    fn powers_are_products() {
        for (x, n) in [(1.1, 0), (1.1, 1), (-3.0, 5), (0.999, 1000), (2.0, 1023)] {
            assert!((powi(x, n) / x.powi(n as i32) - 1.0).abs() < 1e-12, "{x} {n}");
        }
        assert_eq!(powi(0.999, u32::MAX), 0.0);
    }
}
