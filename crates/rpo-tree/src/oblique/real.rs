//! The floating-point types of the solvers.

use rpo_core::math;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// `f32`, with which trees grow, or `f64`, with which tests compare.
///
/// Its functions are those of [`rpo_core::math`]: loops over them are vectorized, and every processor rounds them
/// alike.
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
    /// Converts to `f64`.
    fn to_f64(self) -> f64;
    /// Returns `self / (√second + epsilon)`.
    #[must_use]
    fn over_root(self, second: Self, epsilon: Self) -> Self;
    /// Returns the logistic sigmoid 1 / (1 + e⁻ˣ), without overflow for any x.
    #[must_use]
    fn sigmoid(self) -> Self;
    /// Returns the hyperbolic tangent.
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
        math::sigmoid(self)
    }

    #[inline]
    fn tanh(self) -> Self {
        math::tanh(self)
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
        math::sigmoid(self)
    }

    #[inline]
    fn tanh(self) -> Self {
        2.0 * (2.0 * self).sigmoid() - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// φ(−z) = 1 − φ(z), and nothing overflows.
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
