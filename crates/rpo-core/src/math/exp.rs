//! The exponential and the logistic sigmoid.

use super::{LN_2_HIGH, LN_2_LOW, ROUND};

/// eˣ to 1 unit in the last place; 0 below the range of `f64`, infinite above.
///
/// eˣ = 2ᵏ eʳ with k = round(x / ln 2); the Taylor series of eʳ up to r¹³ on |r| ≤ ½ ln 2 leaves an error of 4·10⁻¹⁸.
#[inline(always)]
#[must_use]
pub(super) fn exp(x: f64) -> f64 {
    // Beyond these bounds the result is infinite or 0. The comparisons leave NaN as it is.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let k = (x * std::f64::consts::LOG2_E + ROUND) - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    // 1 + r + r² (c₂ + c₃ r + ...), in an order with short dependency chains.
    let (r2, r4) = (r * r, (r * r) * (r * r));
    let first = (0.5 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
    let second = (1.0 / 720.0 + r * (1.0 / 5_040.0)) + r2 * (1.0 / 40_320.0 + r * (1.0 / 362_880.0));
    let third = (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0))
        + r2 * (1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0));
    let power = 1.0 + (r + r2 * (first + r4 * (second + r4 * third)));
    // 2ᵏ as two factors: 2ᵏ may be out of range where the product is not.
    let half = k * 0.5 + ROUND;
    let other = (k - (half - ROUND)) + ROUND;
    power * power_of_two(half) * power_of_two(other)
}

/// 2ᵏ, given k + [`ROUND`].
#[inline(always)]
fn power_of_two(shifted: f64) -> f64 {
    f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// The logistic sigmoid 1 / (1 + e⁻ˣ).
#[inline(always)]
#[must_use]
pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_close, numbers};
    use super::*;

    #[test]
    fn the_exponential_is_close_everywhere() {
        for x in numbers() {
            check_close(exp(x), x.exp(), 1.0, x);
        }
    }

    #[test]
    fn sigmoids_are_symmetric_and_bounded() {
        for x in numbers().filter(|x| !x.is_nan()) {
            let (p, q) = (sigmoid(x), sigmoid(-x));
            assert!((0.0..=1.0).contains(&p) && (p + q - 1.0).abs() < 1e-15, "{x}");
            if x > -700.0 {
                check_close(p, 1.0 / (1.0 + (-x).exp()), 2.0, x);
            }
        }
    }
}
