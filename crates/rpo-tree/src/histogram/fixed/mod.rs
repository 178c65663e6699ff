//! Targets and curvatures in fixed point.
//!
//! The unit is a power of 2, so that numbers of few binary digits are kept exactly. Three layouts:
//!
//! - packed, one integer: the number of samples in the upper bits and Σ g below, made positive by an offset per sample.
//!   Used if all curvatures h are equal, as their sum then follows from the number of samples;
//! - narrow, two integers of 32 bits: Σ g and Σ h. Used for up to 2¹⁶ samples, whose numbers need not be known;
//! - wide, two integers of 64 bits: Σ g, and the number of samples above Σ h.
//!
//! Sums of g stay below 2⁵² in magnitude, and so do those of h, so they are exact in `f64`.

mod decode;
mod extent;

pub(super) use decode::{Code, Decoded, Fixed, WeightCode};

use super::cell::Integer;
use decode::{count_bits, count_shift};
use extent::{Extent, for_tiles};

/// Fewest bits of the largest |g| in the packed layout.
const PACKED_BITS: i32 = 16;

/// Units below which |g| is coarse; if |g| of more than half of the samples is coarse, the wide layout is used. The same
/// holds for h.
pub(super) const COARSE: f64 = 64.0;

/// Most samples whose sums have 32 bits: with more, these would leave too few per sample.
pub(super) const MOST_NARROW: usize = 1 << 16;

/// g and h of all samples in fixed point.
#[derive(Debug, Clone)]
pub(super) enum FixedPoint {
    /// One integer per sample.
    Packed(Vec<i64>, Code),
    /// Two short integers per sample.
    Narrow(Vec<[i32; 2]>, Code),
    /// Two integers per sample.
    Wide(Vec<[i64; 2]>, Code),
}

/// The samples whose number in a sum can be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// None need be counted.
    None,
    /// Those with positive h, which are all that are summed.
    Observed,
    /// All, some of which have h = 0.
    All,
}

/// Returns the smallest e with `value` < 2^e, for a positive normal number.
fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52) as i32 - 1022
}

/// Returns 2^k, for k that leave the result normal.
fn power_of_2(k: i32) -> f64 {
    f64::from_bits(((k + 1023) as u64) << 52)
}

/// Returns the scale at which numbers that add up to `bound` need `bits` bits.
pub(super) fn scale(bound: f64, bits: i32) -> f64 {
    if bound > 0.0 {
        power_of_2((bits - exponent(bound)).clamp(-1000, 1000))
    } else {
        1.0
    }
}

impl FixedPoint {
    /// Codes n samples: `fill` writes g and h of consecutive samples, starting with a given one. A sample with h = 0 has
    /// no target, or is never summed: its g is ignored. Returns `None` if a number is not finite.
    pub(super) fn new(
        n: usize,
        counts: Counts,
        fill: impl Fn(usize, &mut [f64], &mut [f64]),
    ) -> Option<Self> {
        let extent = Extent::of(n, &fill)?;
        // Σ h follows from the number of samples only where those with h = 0 are not counted.
        let packed = || (counts != Counts::All).then(|| Self::packed(n, &extent, &fill))?;
        let narrow = || (counts == Counts::None).then(|| Self::narrow(n, &extent, &fill))?;
        packed()
            .or_else(narrow)
            .or_else(|| Some(Self::wide(n, &extent, &fill)))
    }

    /// Codes samples in one integer; `None` if their curvatures differ or g would be coarse.
    fn packed(n: usize, extent: &Extent, fill: &impl Fn(usize, &mut [f64], &mut [f64])) -> Option<Self> {
        let curvature = extent.common_h?;
        let shift = count_shift(n);
        let row_bits = shift as i32 - 1 - count_bits(n) as i32;
        if row_bits < PACKED_BITS {
            return None;
        }
        let offset = 1_i64 << row_bits;
        let code = Code {
            offset: offset as f64,
            curvature,
            ..Code::new(n, extent, scale(extent.largest_g, row_bits))
        };
        let (base, mut n_coarse) = ((1 << shift) + offset, 0);
        let mut cells = Vec::with_capacity(n);
        for_tiles(
            n,
            fill,
            #[inline(always)]
            |g, h| {
                n_coarse += count_coarse(g, code.scale);
                let cell = |g: f64| base + i64::nearest(g * code.scale);
                let cells_of = g.iter().zip(h);
                cells.extend(cells_of.map(|(&g, &h)| if h > 0.0 { cell(g) } else { 0 }));
            },
        );
        (2 * n_coarse <= n).then_some(Self::Packed(cells, code))
    }

    /// Codes samples in two integers of 32 bits; `None` if there are too many, or g or h would be coarse.
    fn narrow(n: usize, extent: &Extent, fill: &impl Fn(usize, &mut [f64], &mut [f64])) -> Option<Self> {
        if n > MOST_NARROW {
            return None;
        }
        // Rounding adds up to half a unit of g, and one of h, per sample.
        let bits = i32::SUM_BITS - 1;
        let h_scale = scale(extent.sum_h, bits);
        let code = Code {
            curvature_unit: h_scale.recip(),
            ..Code::new(n, extent, scale(extent.sum_g, bits))
        };
        let mut n_coarse = [0; 2];
        let mut cells = Vec::with_capacity(n);
        for_tiles(
            n,
            fill,
            #[inline(always)]
            |g, h| {
                n_coarse[0] += count_coarse(g, code.scale);
                n_coarse[1] += count_coarse(h, h_scale);
                // h of a sample that is summed is at least one unit, so that only a sum of no samples is 0.
                let units = |h: f64| i32::nearest(h * h_scale).max(i32::from(h > 0.0));
                let cell = |(g, &h): (&f64, &f64)| [i32::nearest(g * code.scale), units(h)];
                cells.extend(g.iter().zip(h).map(cell));
            },
        );
        let is_fine = n_coarse.iter().all(|n_coarse| 2 * n_coarse <= n);
        is_fine.then_some(Self::Narrow(cells, code))
    }

    /// Codes samples in two integers of 64 bits.
    fn wide(n: usize, extent: &Extent, fill: &impl Fn(usize, &mut [f64], &mut [f64])) -> Self {
        let code = Code::new(n, extent, scale(extent.sum_g, i64::SUM_BITS - 1));
        let mut cells = Vec::with_capacity(n);
        for_tiles(
            n,
            fill,
            #[inline(always)]
            |g, h| {
                let cell = |(g, &h)| [i64::nearest(g * code.scale), code.weights.encode(h)];
                cells.extend(g.iter().zip(h).map(cell));
            },
        );
        Self::Wide(cells, code)
    }
}

/// Returns how many numbers are not 0 and coarse in units of 1 / `scale`.
#[inline(always)]
fn count_coarse(numbers: &[f64], scale: f64) -> usize {
    let is_coarse = |&number: &f64| usize::from((number != 0.0) & ((number * scale).abs() < COARSE));
    numbers.iter().map(is_coarse).sum()
}

/// Returns g of a sample that may be summed, 0 for others.
#[inline(always)]
pub(super) fn used(g: f64, h: f64) -> f64 {
    if h > 0.0 { g } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::cell::sum;
    use super::*;
    use proptest::prelude::*;

    fn coded(n: usize, g: impl Fn(usize) -> f64, h: impl Fn(usize) -> f64) -> Option<FixedPoint> {
        coded_with(n, Counts::Observed, g, h)
    }

    fn coded_with(
        n: usize,
        counts: Counts,
        g: impl Fn(usize) -> f64,
        h: impl Fn(usize) -> f64,
    ) -> Option<FixedPoint> {
        FixedPoint::new(n, counts, |first, of_g, of_h| {
            for (i, (of_g, of_h)) in of_g.iter_mut().zip(of_h).enumerate() {
                (*of_g, *of_h) = (g(first + i), h(first + i));
            }
        })
    }

    fn decoded(fixed: &FixedPoint) -> (Decoded, f64) {
        match fixed {
            FixedPoint::Packed(cells, code) => (sum(cells).decode(code), code.scale),
            FixedPoint::Narrow(cells, code) => (sum(cells).decode(code), code.scale),
            FixedPoint::Wide(cells, code) => (sum(cells).decode(code), code.scale),
        }
    }

    #[test]
    fn layouts_follow_from_the_data() {
        let check = |g: &[f64], h: &[f64], packed: bool| {
            let fixed = coded(g.len(), |i| g[i], |i| h[i]).unwrap();
            assert_eq!(matches!(fixed, FixedPoint::Packed(..)), packed, "{g:?} {h:?}");
            let (sums, scale) = decoded(&fixed);
            assert_eq!(sums.g / scale, g.iter().sum::<f64>());
            assert_eq!((sums.h, sums.n), (h.iter().sum(), g.len() as f64));
        };
        check(&[1.0, -2.5, 0.0], &[1.0; 3], true);
        check(&[-3.0, -3.0, -3.0], &[0.25; 3], true);
        check(&[0.0; 3], &[1.0; 3], true);
        check(&[1.0, -2.5, 0.0], &[1.0, 2.0, 1.0], false);
    }

    #[test]
    fn cells_that_need_not_count_are_narrow() {
        let (n, g, h) = (
            3000,
            |i: usize| i as f64 - 1500.25,
            |i: usize| 0.25 + i as f64 * 1e-4,
        );
        let Some(FixedPoint::Narrow(cells, code)) = coded_with(n, Counts::None, g, h) else {
            panic!("narrow")
        };
        let sums = sum(&cells).decode(&code);
        assert!((sums.g / code.scale + 2250.0).abs() < 1e-2, "{sums:?}");
        assert!((sums.h - 1199.85).abs() < 1e-5, "{sums:?}");
        let is_wide = |fixed| matches!(fixed, Some(FixedPoint::Wide(..)));
        assert!(is_wide(coded_with(n, Counts::Observed, g, h)));
        assert!(is_wide(coded_with(MOST_NARROW + 1, Counts::None, g, h)));
        // More than half would lose their digits beside one large g, or h.
        let outlier = |i: usize| if i == 7 { 1e9 } else { 1.0 };
        assert!(is_wide(coded_with(n, Counts::None, |i| 1e-3 * outlier(i), h)));
        assert!(is_wide(coded_with(n, Counts::None, g, outlier)));
    }

    #[test]
    fn no_sample_is_lost_in_narrow_cells() {
        // Curvatures below half a unit, of a sixth of the samples.
        let h = |i: usize| if i.is_multiple_of(6) { 1e-12 } else { 1.0 };
        let Some(FixedPoint::Narrow(cells, code)) = coded_with(60, Counts::None, |i| i as f64, h) else {
            panic!("narrow")
        };
        assert!(
            cells
                .iter()
                .all(|cell| cell.decode(&code).h >= code.curvature_unit)
        );
        let Some(FixedPoint::Narrow(cells, _)) = coded_with(60, Counts::None, |_| 1.0, |i| (i % 6) as f64)
        else {
            panic!("narrow")
        };
        assert!((0..60).all(|i| (cells[i] == [0; 2]) == i.is_multiple_of(6)));
    }

    #[test]
    fn an_outlier_leaves_the_others_their_digits() {
        let n = 1 << 16;
        let g = |i: usize| if i == 0 { 1e9 } else { 1e-3 };
        let fixed = coded(n, g, |_| 1.0).unwrap();
        let FixedPoint::Wide(cells, code) = &fixed else {
            panic!("wide")
        };
        let rest = sum(&cells[1..]).decode(code);
        assert!((rest.g / code.scale - 65.535).abs() < 65.535 * 1e-3, "{rest:?}");
    }

    #[test]
    fn extremes_do_not_overflow() {
        let largest = f64::from(f32::MAX) * f64::from(f32::MAX);
        let smallest = f64::from(f32::from_bits(1)) * f64::from(f32::from_bits(1));
        for n in [1, 7, 1 << 20] {
            for g in [largest, -largest, smallest, -smallest] {
                for h in [1.0, largest, smallest] {
                    // First all curvatures are equal, then one differs: all layouts.
                    for (other, counts) in [(1.0, Counts::Observed), (0.5, Counts::All), (0.5, Counts::None)]
                    {
                        let of = |i: usize| if i == 0 { h * other } else { h };
                        let fixed = coded_with(n, counts, |_| g, of).unwrap();
                        let (sums, scale) = decoded(&fixed);
                        let n = n as f64;
                        assert!(
                            (sums.g / scale / (n * g) - 1.0).abs() < 1e-4,
                            "{n} {g} {h} {sums:?}"
                        );
                        let h = h * (n - 1.0 + other);
                        assert!((sums.h / h - 1.0).abs() < 1e-4, "{n} {g} {h} {sums:?}");
                        let is_narrow = matches!(fixed, FixedPoint::Narrow(..));
                        assert_eq!(sums.n, if is_narrow { 0.0 } else { n });
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(coded(3, |i| if i == 1 { bad } else { 0.0 }, |_| 1.0).is_none());
            assert!(coded(3, |_| 1.0, |i| if i == 2 { bad } else { 1.0 }).is_none());
            // A sample that is never summed may hold any value.
            let h = |i| if i == 1 { 0.0 } else { 1.0 };
            assert!(coded(3, |i| if i == 1 { bad } else { 0.0 }, h).is_some());
        }
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_numbers(
            cells in prop::collection::vec((-1e3_f64..1e3, 0.01_f64..10.0), 1..60),
            equal in any::<bool>(),
            counts in prop::sample::select(vec![Counts::None, Counts::Observed, Counts::All]),
            unobserved in any::<bool>(),
        ) {
            let (g, mut h): (Vec<f64>, Vec<f64>) = cells.into_iter().unzip();
            if equal {
                let first = h[0];
                h.fill(first);
            }
            if unobserved {
                h.iter_mut().step_by(3).for_each(|h| *h = 0.0);
            }
            let g: Vec<f64> = g.iter().zip(&h).map(|(&g, &h)| used(g, h)).collect();
            let fixed = coded_with(g.len(), counts, |i| g[i], |i| h[i]).unwrap();
            let (sums, scale) = decoded(&fixed);
            let sum_of = |number: fn(f64) -> f64| g.iter().copied().map(number).sum::<f64>();
            let expected = match counts {
                _ if matches!(fixed, FixedPoint::Narrow(..)) => 0,
                Counts::All => h.len(),
                Counts::None | Counts::Observed if matches!(fixed, FixedPoint::Packed(..)) => h.iter().filter(|h| **h > 0.0).count(),
                Counts::None | Counts::Observed => h.len(),
            };
            prop_assert_eq!(sums.n, expected as f64);
            // Narrow sums have 30 bits, and each of up to 60 samples is rounded.
            let is_narrow = matches!(fixed, FixedPoint::Narrow(..));
            let units = |of: f64, wide: f64| if is_narrow { of * 60.0 / 2_f64.powi(30) } else { wide };
            let h = h.iter().sum::<f64>();
            prop_assert!((sums.g / scale - sum_of(|g| g)).abs() <= units(sum_of(f64::abs), 1e-6));
            prop_assert!((sums.h - h).abs() <= units(h, 1e-9));
        }
    }
}
