//! Standard normal random numbers.

use super::{ROUND, ln};
use rand::RngCore;

/// Number of words drawn at a time, each of which gives two numbers.
const WORDS: usize = 16;

/// An endless iterator of independent draws from N(0, 1).
///
/// Uses the Box-Muller transform: √(-2 ln u) times the cosine and sine of 2πv, where u and v are the halves of one
/// 64-bit word; this limits the tails to 6.7. Words are drawn 16 at a time.
///
/// ```
/// use rpo_core::{Seed, math::Normals};
/// let drawn: Vec<f64> = Normals::new(&mut Seed::new(1).stream()).take(10_000).collect();
/// let mean = drawn.iter().sum::<f64>() / 10_000.0;
/// assert!(mean.abs() < 0.03);
/// ```
#[derive(Debug)]
pub struct Normals<'a, R> {
    rng: &'a mut R,
    drawn: [f64; 2 * WORDS],
    next: usize,
}

impl<'a, R: RngCore> Normals<'a, R> {
    /// Creates an iterator that draws from `rng`. The generator continues after the last block drawn.
    pub fn new(rng: &'a mut R) -> Self {
        Self {
            rng,
            drawn: [0.0; 2 * WORDS],
            next: 2 * WORDS,
        }
    }

    /// Returns the next number.
    #[inline]
    pub fn draw(&mut self) -> f64 {
        if self.next == self.drawn.len() {
            let words = std::array::from_fn(|_| self.rng.next_u64());
            fill(&words, &mut self.drawn);
            self.next = 0;
        }
        self.next += 1;
        self.drawn[self.next - 1]
    }

    /// Writes the numbers that a new iterator would draw first. For a few numbers it draws fewer words, which leaves
    /// the generator elsewhere.
    ///
    /// ```
    /// use rpo_core::{Seed, math::Normals};
    /// let mut first = [0.0; 3];
    /// Normals::write_first(&mut Seed::new(1).stream(), &mut first);
    /// let drawn: Vec<f64> = Normals::new(&mut Seed::new(1).stream()).take(3).collect();
    /// assert_eq!(first.map(f64::from), [0, 1, 2].map(|k| f64::from(drawn[k] as f32)));
    /// ```
    pub fn write_first(rng: &'a mut R, out: &mut [f32]) {
        if out.len() <= WORDS {
            out.iter_mut().for_each(|x| *x = pair(rng.next_u64()).0 as f32);
        } else {
            out.iter_mut()
                .zip(Self::new(rng))
                .for_each(|(x, v)| *x = v as f32);
        }
    }
}

impl<R: RngCore> Iterator for Normals<'_, R> {
    type Item = f64;

    #[inline]
    fn next(&mut self) -> Option<f64> {
        Some(self.draw())
    }
}

fn fill(words: &[u64; WORDS], out: &mut [f64; 2 * WORDS]) {
    let (first, second) = out.split_at_mut(WORDS);
    for ((&word, a), b) in words.iter().zip(first).zip(second) {
        (*a, *b) = pair(word);
    }
}

/// The two numbers of a word.
#[inline]
fn pair(word: u64) -> (f64, f64) {
    let (sine, cosine) = sine_and_cosine_of_turns(uniform(word & 0xffff_ffff));
    let radius = (-2.0 * ln(uniform(word >> 32))).sqrt();
    (radius * cosine, radius * sine)
}

/// (w + ½) / 2³² for a 32-bit word: never 0, and neither the sine nor the cosine is ever 0.
#[inline]
fn uniform(word: u64) -> f64 {
    // The word is placed in the low bits below the exponent of 2⁵², so that no conversion is needed.
    let whole = f64::from_bits(word | 0x4330_0000_0000_0000) - 4_503_599_627_370_496.0;
    (whole + 0.5) / 4_294_967_296.0
}

/// sin 2πt and cos 2πt for t in [0, 1]: Taylor series of the rest after removing quarter turns, at most an eighth of a
/// turn.
#[inline]
fn sine_and_cosine_of_turns(t: f64) -> (f64, f64) {
    let shifted = 4.0 * t + ROUND;
    let quarters = shifted.to_bits();
    let a = (t - 0.25 * (shifted - ROUND)) * std::f64::consts::TAU;
    let z = a * a;
    let sine = a
        * (1.0
            + z * (-1.0 / 6.0
                + z * (1.0 / 120.0
                    + z * (-1.0 / 5_040.0
                        + z * (1.0 / 362_880.0
                            + z * (-1.0 / 39_916_800.0
                                + z * (1.0 / 6_227_020_800.0 - z / 1_307_674_368_000.0)))))));
    let cosine = 1.0
        + z * (-0.5
            + z * (1.0 / 24.0
                + z * (-1.0 / 720.0
                    + z * (1.0 / 40_320.0
                        + z * (-1.0 / 3_628_800.0
                            + z * (1.0 / 479_001_600.0
                                - z * (1.0 / 87_178_291_200.0 - z / 20_922_789_888_000.0)))))));
    // A quarter turn swaps sine and cosine, half a turn changes their signs.
    let is_odd = quarters & 1 == 1;
    let (s, c) = if is_odd { (cosine, sine) } else { (sine, cosine) };
    let sign_of_sine = (quarters & 2) << 62;
    let sign_of_cosine = (quarters.wrapping_add(1) & 2) << 62;
    (
        f64::from_bits(s.to_bits() ^ sign_of_sine),
        f64::from_bits(c.to_bits() ^ sign_of_cosine),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn sines_and_cosines_are_those_of_the_library() {
        for i in 0..=100_000 {
            let t = f64::from(i) / 100_000.0;
            let (sine, cosine) = sine_and_cosine_of_turns(t);
            let angle = t * std::f64::consts::TAU;
            assert!(
                (sine - angle.sin()).abs() < 1e-15 && (cosine - angle.cos()).abs() < 1e-15,
                "{t}"
            );
        }
    }

    /// The empirical distribution of 200,000 draws is within 1.63 / √n of the normal one (Kolmogorov's test at 1 %),
    /// and both neighbours and the two numbers of a word are uncorrelated.
    #[test]
    fn the_law_is_the_normal_one() {
        let n = 200_000;
        let mut rng = Seed::new(7).stream();
        let drawn: Vec<f64> = Normals::new(&mut rng).take(n).collect();
        for lag in [1, WORDS] {
            let products: f64 = drawn.iter().zip(&drawn[lag..]).map(|(a, b)| a * b).sum();
            assert!((products / (n as f64).sqrt()).abs() < 3.0, "{lag}: {products}");
        }
        let mut sorted = drawn;
        sorted.sort_by(f64::total_cmp);
        let mut furthest = 0.0_f64;
        for (i, &z) in sorted.iter().enumerate() {
            let law = 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
            furthest = furthest.max((law - (i as f64 + 0.5) / n as f64).abs());
        }
        assert!(furthest < 1.63 / (n as f64).sqrt(), "{furthest}");
        assert!(sorted[0] > -6.7 && sorted[n - 1] < 6.7);
    }

    #[test]
    fn draws_are_value_stable() {
        let mut rng = Seed::new(1).stream();
        let drawn: Vec<f64> = Normals::new(&mut rng).take(2).collect();
        assert_eq!(drawn, [-1.040_037_775_493_210_9, -0.610_216_101_481_285_4]);
    }
}
