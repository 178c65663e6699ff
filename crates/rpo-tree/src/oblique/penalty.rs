//! A smooth absolute value, so that a penalty on the size of weights has a gradient.

use super::real::Real;
use rpo_core::math;

/// Φ(w) = (1/η) [ln(1 + e^(−ηw)) + ln(1 + e^(ηw))], the softplus form of |w|: at most 2 ln 2 / η above it.
///
/// The paper's eq. 8 prints a minus between the logarithms, which makes the expression −w, not a penalty; and its
/// exponentials overflow for |ηw| > 709. Computed as |w| + (2/η) ln(1 + e^(−η|w|)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SmoothAbs {
    /// η: sharpness of the bend at 0. The paper uses 10⁶.
    pub(crate) eta: f64,
}

impl SmoothAbs {
    /// Returns Φ(w).
    pub(crate) fn value(&self, w: f64) -> f64 {
        w.abs() + 2.0 / self.eta * math::softplus(-self.eta * w.abs())
    }

    /// Returns Φ'(w) = tanh(ηw/2).
    #[inline]
    pub(crate) fn derivative<T: Real>(&self, w: T) -> T {
        (T::from_f64(self.eta / 2.0) * w).tanh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Above the magnitude by 2 ln 2 / η at most, and even.
        #[test]
        fn close_to_the_absolute_value(w in -4.0_f64..4.0, eta in 1.0_f64..1e6) {
            let phi = SmoothAbs { eta };
            let excess = phi.value(w) - w.abs();
            prop_assert!(excess >= 0.0 && excess <= 2.0 * 2.0_f64.ln() / eta);
            prop_assert_eq!(phi.value(w), phi.value(-w));
        }

        /// Where Φ bends, its derivative equals the difference quotient.
        #[test]
        fn the_derivative_is_the_slope(t in -8.0_f64..8.0, eta in 1.0_f64..100.0) {
            let phi = SmoothAbs { eta };
            let (w, h) = (t / eta, 1e-4 / eta);
            let slope = (phi.value(w + h) - phi.value(w - h)) / (2.0 * h);
            prop_assert!((phi.derivative(w) - slope).abs() < 1e-8);
        }
    }

    #[test]
    fn no_weight_is_too_large() {
        let phi = SmoothAbs { eta: 1e6 };
        for w in [7.1e-4, 1.0, 1e300] {
            assert!((phi.value(w) - w).abs() <= 1e-9 && phi.derivative(w) == 1.0);
        }
        assert!((phi.value(0.0) - 1.386_294_361_119_890_6e-6).abs() < 1e-19);
    }
}
