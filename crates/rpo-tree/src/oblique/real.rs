//! The two floating-point types that solvers work in.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// `f32`, which trees grow with, or `f64`, which tests compare with.
///
/// Its functions are made of additions, multiplications and shifts alone where speed counts, so that loops over them
/// become vector code and results do not depend on a platform's mathematics library.
pub trait Real:
    Copy
    + Default
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + Sum
    + sealed::Sealed
{
    /// One.
    const ONE: Self;
    /// Rounds to this type.
    fn from_f64(value: f64) -> Self;
    /// The value.
    fn to_f64(self) -> f64;
    /// `self / (√second + epsilon)`.
    #[must_use]
    fn over_root(self, second: Self, epsilon: Self) -> Self;
    /// The logistic sigmoid 1 / (1 + e⁻ˣ): no overflow for any x.
    #[must_use]
    fn sigmoid(self) -> Self;
    /// The hyperbolic tangent.
    #[must_use]
    fn tanh(self) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Real for f64 {
    const ONE: Self = 1.0;

    #[inline]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline]
    fn over_root(self, second: Self, epsilon: Self) -> Self {
        self / (second.sqrt() + epsilon)
    }

    #[inline]
    fn sigmoid(self) -> Self {
        let e = (-self.abs()).exp();
        if self >= 0.0 {
            1.0 / (1.0 + e)
        } else {
            e / (1.0 + e)
        }
    }

    #[inline]
    fn tanh(self) -> Self {
        self.tanh()
    }
}

impl Real for f32 {
    const ONE: Self = 1.0;

    #[inline]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline]
    fn over_root(self, second: Self, epsilon: Self) -> Self {
        self / (second.sqrt() + epsilon)
    }

    #[inline]
    fn sigmoid(self) -> Self {
        1.0 / (1.0 + exp(-self))
    }

    #[inline]
    fn tanh(self) -> Self {
        2.0 * (2.0 * self).sigmoid() - 1.0
    }
}

/// e^x to a relative error of 2e-7, for |x| ≤ 87; beyond, the value there.
///
/// e^x = 2^n e^r with n = round(x / ln 2): adding 1.5·2²³ rounds to a whole number and leaves it in the lowest bits,
/// from where a shift makes it the exponent; e^r is a Taylor polynomial on |r| ≤ ln 2 / 2.
#[inline]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts: n times the first is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 87.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let p = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r / 720.0)))));
    let exponent = rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    p * f32::from_bits(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_close_everywhere() {
        for i in -86_999..=86_999 {
            let x = i as f32 * 1e-3;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) / expected - 1.0).abs() < 3e-7, "{x}");
        }
    }

    /// H-P7: φ(−z) = 1 − φ(z), and nothing overflows.
    #[test]
    fn sigmoids_are_symmetric_and_bounded() {
        for x in [0.0, 1e-3, 0.7, 5.0, 40.0, 800.0, 1e30, 1e308, f64::INFINITY] {
            assert!((x.sigmoid() + (-x).sigmoid() - 1.0).abs() < 1e-12);
            assert!((x.sigmoid() - (x / 2.0).tanh().mul_add(0.5, 0.5)).abs() < 1e-12);
            let single = x as f32;
            assert!((single.sigmoid() + (-single).sigmoid() - 1.0).abs() < 3e-7);
            assert!((f64::from(single.sigmoid()) - x.sigmoid()).abs() < 3e-7);
            assert!((f64::from(Real::tanh(single)) - x.tanh()).abs() < 1e-6);
        }
    }
}
