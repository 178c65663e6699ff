//! The cosine of many numbers.

use ndarray::{Array1, ArrayViewMut1, Zip};

/// 1.5 · 2^52: adding and subtracting it rounds to a whole number, which the compiler vectorises, as it does not
/// `round` without newer instruction sets.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// Replaces x by cos(x + phase).
pub(super) fn add_phases_and_cosine(row: &mut ArrayViewMut1<'_, f32>, phases: &Array1<f32>) {
    Zip::from(row)
        .and(phases)
        .for_each(|x, &phase| *x = cosine(*x + phase));
}

/// cos(x), within 2e-7 for |x| below 10⁶: turns, of which the whole part is dropped in `f64`, then a polynomial. The
/// same bits on every machine, which the cosine of the standard library does not promise.
fn cosine(x: f32) -> f32 {
    let turns = f64::from(x) * std::f64::consts::TAU.recip();
    let part = turns - ((turns + ROUNDER) - ROUNDER);
    // cos(2πr) = -sin(2π(|r| - 1/4)), where the argument is within a quarter turn. Numbers so large that rounding
    // fails are kept in range.
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
    use super::cosine;

    #[test]
    fn agrees_with_the_standard_library() {
        let mut worst = 0.0_f64;
        for i in -400_000..400_000 {
            for x in [i as f32 * 1e-4, i as f32 * 1.7] {
                worst = worst.max((f64::from(cosine(x)) - f64::from(x).cos()).abs());
            }
        }
        assert!(worst < 2e-7, "{worst:e}");
        for x in [1e10, 1e16, 1e30, f32::MAX, -f32::MAX] {
            assert!((-1.0..=1.0).contains(&cosine(x)), "{x}");
        }
    }
}
