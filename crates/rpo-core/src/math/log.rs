//! Logarithms.

use super::{LN_2_HIGH, LN_2_LOW, exp};

/// Writes a positive number as 2ᵏ m with m in [√½, √2); returns k and m - 1.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const ONE: u64 = 1.0_f64.to_bits();
    /// The exponent of 2⁵²: an integer in the low bits below it represents 2⁵² plus that integer.
    const WHOLE: u64 = 0x4330_0000_0000_0000;
    let is_small = x < f64::MIN_POSITIVE;
    let (x, shift) = if is_small {
        (x * 18_014_398_509_481_984.0, 1077.0)
    } else {
        (x, 1023.0)
    };
    let bits = x.to_bits().wrapping_add(ONE - ROOT_HALF);
    let k = f64::from_bits(bits >> 52 | WHOLE) - 4_503_599_627_370_496.0 - shift;
    let m = f64::from_bits((bits & (u64::MAX >> 12)).wrapping_add(ROOT_HALF));
    (k, m - 1.0)
}

/// The difference between log(1 + f) and f - ½f², for 1 + f in [√½, √2).
///
/// log(1 + f) = 2 artanh(s) with s = f / (2 + f), a series in s²; the coefficients are those of FreeBSD's `log`.
#[inline(always)]
fn rest(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (0.399_999_999_994_094_2 + w * (0.222_221_984_321_497_84 + w * 0.153_138_376_992_093_73));
    let odd = z
        * (0.666_666_666_666_673_5
            + w * (0.285_714_287_436_623_9 + w * (0.181_835_721_616_180_5 + w * 0.147_981_986_051_165_86)));
    s * (0.5 * f * f + (even + odd))
}

/// Replaces `value` by the limit of the logarithm if the argument is 0, negative, infinite or NaN.
#[inline(always)]
fn limits(x: f64, value: f64) -> f64 {
    let value = if x < f64::INFINITY { value } else { x };
    let value = if x > 0.0 { value } else { f64::NAN };
    if x == 0.0 { f64::NEG_INFINITY } else { value }
}

/// The natural logarithm to 1 unit in the last place; NaN below 0, -∞ for 0.
#[inline(always)]
#[must_use]
pub fn ln(x: f64) -> f64 {
    let (k, f) = split(x);
    let value = k * LN_2_HIGH + (f - (0.5 * f * f - (rest(f) + k * LN_2_LOW)));
    limits(x, value)
}

/// The binary logarithm to 2 units in the last place; exact for powers of 2.
#[inline(always)]
#[must_use]
pub fn log2(x: f64) -> f64 {
    let (k, f) = split(x);
    let value = k + (f - (0.5 * f * f - rest(f))) * std::f64::consts::LOG2_E;
    limits(x, value)
}

/// log(1 + x) to 2 units in the last place, even if x is small compared with 1.
#[inline(always)]
#[must_use]
pub fn ln_1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    // The rounding error of the sum; nothing is added where the logarithm is infinite or NaN.
    let lost = (x - (sum - 1.0)) / sum;
    let value = ln(sum);
    if value.abs() < f64::INFINITY {
        value + lost
    } else {
        value
    }
}

/// log(1 + eˣ), without overflow.
#[inline(always)]
#[must_use]
pub fn softplus(x: f64) -> f64 {
    (if x > 0.0 { x } else { 0.0 }) + ln_1p(exp(-x.abs()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_close, numbers};
    use super::*;

    #[test]
    fn logarithms_are_close_everywhere() {
        for x in numbers() {
            check_close(ln(x), x.ln(), 1.0, x);
            check_close(log2(x), x.log2(), 2.0, x);
            check_close(ln_1p(x), x.ln_1p(), 2.0, x);
            if !x.is_nan() {
                check_close(softplus(x), x.max(0.0) + (-x.abs()).exp().ln_1p(), 3.0, x);
            }
        }
    }

    #[test]
    fn binary_logarithms_of_powers_of_two_are_exact() {
        for k in -1074..1024 {
            let x = if k < -1022 {
                f64::from_bits(1 << (k + 1074))
            } else {
                2_f64.powi(k)
            };
            assert_eq!(log2(x), f64::from(k));
        }
    }
}
