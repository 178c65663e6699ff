//! Functions on `f32`.

/// eˣ to a relative error of 2e-7, for |x| ≤ 87; beyond, the value at the bound.
///
/// eˣ = 2ᵏ eʳ with k = round(x / ln 2): adding 1.5·2²³ rounds to an integer and leaves it in the lowest bits, from
/// where a shift moves it into the exponent; eʳ is a Taylor polynomial on |r| ≤ ½ ln 2.
#[inline(always)]
#[must_use]
pub(super) fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts: k times the first part is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = if x > 87.0 { 87.0 } else { x };
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let series =
        1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r / 720.0)))));
    let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    series * f32::from_bits(exponent)
}

/// The logistic sigmoid 1 / (1 + e⁻ˣ) to a relative error of 3e-7 for x ≥ -87, without overflow for any x.
#[inline(always)]
#[must_use]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// cos(x) of an `f32`, within 2e-7 for |x| below 10⁶: drops the whole turns in `f64`, then evaluates a polynomial.
#[inline]
#[must_use]
pub fn cos(x: f32) -> f32 {
    let turns = f64::from(x) * std::f64::consts::TAU.recip();
    let part = turns - ((turns + super::ROUND) - super::ROUND);
    // cos(2πr) = -sin(2π(|r| - 1/4)), where the argument of the sine is within a quarter turn. Numbers so large that
    // rounding fails are clamped.
    let angle = (part.abs().min(0.5) - 0.25) * std::f64::consts::TAU;
    let a = angle as f32;
    let square = a * a;
    let terms = [
        -2.505_210_8e-8_f32,
        2.755_731_9e-6,
        -1.984_127e-4,
        8.333_333e-3,
        -0.166_666_67,
        1.0,
    ];
    let sine = a * terms
        .into_iter()
        .fold(1.605_904_4e-10, |sum, term| sum * square + term);
    (-sine).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_and_the_sigmoid_are_close_everywhere() {
        for i in -86_999..=86_999 {
            let x = i as f32 * 1e-3;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) / expected - 1.0).abs() < 3e-7, "{x}");
            let expected = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(sigmoid(x)) / expected - 1.0).abs() < 3e-7, "{x}");
        }
        assert!(sigmoid(f32::INFINITY) == 1.0 && sigmoid(f32::NEG_INFINITY) < 1e-37);
        assert!(exp(f32::NAN).is_nan() && sigmoid(f32::NAN).is_nan());
    }

    #[test]
    fn the_cosine_is_close_everywhere() {
        let mut worst = 0.0_f64;
        for i in -400_000..400_000 {
            for x in [i as f32 * 1e-4, i as f32 * 1.7] {
                worst = worst.max((f64::from(cos(x)) - f64::from(x).cos()).abs());
            }
        }
        assert!(worst < 2e-7, "{worst:e}");
        for x in [1e10, 1e16, 1e30, f32::MAX, -f32::MAX] {
            assert!((-1.0..=1.0).contains(&cos(x)), "{x}");
        }
    }
}
