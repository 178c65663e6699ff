//! Sums as numbers.

use super::extent::Extent;
use super::scale;
use crate::histogram::cell::{Cell, Integer};

/// Bits of a sum that `f64` holds exactly.
const EXACT: u32 = 52;

/// Decoded sums of a node or of a side of a split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::histogram) struct Decoded {
    /// Σ g in units of 1 / [`Code::scale`].
    pub(in crate::histogram) g: f64,
    /// Σ h.
    pub(in crate::histogram) h: f64,
    /// Number of samples; 0 if cells do not [count](Fixed::COUNTS) them.
    pub(in crate::histogram) n: f64,
}

/// A cell whose sums can be decoded to numbers.
pub(in crate::histogram) trait Fixed: Cell {
    /// Whether the number of samples can be decoded.
    const COUNTS: bool;
    /// Decodes sums; loops over slices are vectorized.
    fn decode(self, code: &Code) -> Decoded;
}

/// Encoding of the number of samples in the bits above Σ h.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::histogram) struct WeightCode {
    shift: u32,
    scale: f64,
}

impl WeightCode {
    /// Returns an encoding for sums over n samples with Σ h = `sum`.
    pub(in crate::histogram) fn new(n: usize, sum: f64) -> Self {
        let shift = count_shift(n);
        Self {
            shift,
            scale: scale(sum, shift as i32 - 1),
        }
    }

    /// Encodes one sample.
    #[inline(always)]
    pub(in crate::histogram) fn encode(&self, h: f64) -> i64 {
        (1 << self.shift) + i64::nearest(h * self.scale)
    }

    /// Returns the number of samples and Σ h.
    #[inline(always)]
    pub(in crate::histogram) fn decode(&self, sums: i64) -> (f64, f64) {
        let n = small(sums as u64 >> self.shift);
        let h = small(sums as u64 & ((1 << self.shift) - 1));
        (n, h * self.scale.recip())
    }
}

/// Returns the number of bits below the count of up to n samples.
pub(super) fn count_shift(n: usize) -> u32 {
    EXACT.min(63 - count_bits(n))
}

pub(super) fn count_bits(n: usize) -> u32 {
    usize::BITS - n.leading_zeros()
}

/// Parameters for decoding cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::histogram) struct Code {
    /// Bits below the number of samples.
    pub(super) shift: u32,
    /// Added to g of each sample, in units.
    pub(super) offset: f64,
    /// Curvature of each sample (packed).
    pub(super) curvature: f64,
    /// Encoding of the second integer (wide).
    pub(super) weights: WeightCode,
    /// Unit of h (narrow).
    pub(in crate::histogram) curvature_unit: f64,
    /// Units per 1 of g, a power of 2.
    pub(in crate::histogram) scale: f64,
}

impl Code {
    /// Returns the parameters of samples with a scale of g, where those of the packed and narrow layouts have no effect.
    pub(super) fn new(n: usize, extent: &Extent, scale: f64) -> Self {
        Self {
            shift: count_shift(n),
            offset: 0.0,
            curvature: 0.0,
            weights: WeightCode::new(n, extent.sum_h),
            curvature_unit: 1.0,
            scale,
        }
    }
}

/// Converts the integer in the low bits, below 2⁵², to a number.
#[inline(always)]
fn small(bits: u64) -> f64 {
    const MAGIC: u64 = 0x4330_0000_0000_0000;
    f64::from_bits(bits | MAGIC) - f64::from_bits(MAGIC)
}

impl Fixed for i64 {
    const COUNTS: bool = true;
    #[inline(always)]
    fn decode(self, code: &Code) -> Decoded {
        let n = small(self as u64 >> code.shift);
        let g = small(self as u64 & ((1 << code.shift) - 1));
        Decoded {
            g: g - n * code.offset,
            h: n * code.curvature,
            n,
        }
    }
}

impl Fixed for [i32; 2] {
    const COUNTS: bool = false;
    #[inline(always)]
    fn decode(self, code: &Code) -> Decoded {
        Decoded {
            g: self[0].number(),
            h: self[1].number() * code.curvature_unit,
            n: 0.0,
        }
    }
}

impl Fixed for [i64; 2] {
    const COUNTS: bool = true;
    #[inline(always)]
    fn decode(self, code: &Code) -> Decoded {
        let (n, h) = code.weights.decode(self[1]);
        Decoded {
            g: self[0].number(),
            h,
            n,
        }
    }
}
