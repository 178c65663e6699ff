//! The values that are summed per bin.

use super::touched::Touched;
use crate::grow::threads;
use rayon::prelude::*;
use rpo_core::vectorized;

/// Integers that are summed side by side.
pub(super) trait Cell: Copy + PartialEq + Send + Sync {
    /// The empty sum.
    const ZERO: Self;
    /// Adds another cell.
    fn add(&mut self, other: &Self);
    /// Subtracts what was added.
    fn subtract(&mut self, other: &Self);
}

/// A fixed-point integer.
pub(super) trait Integer: Cell {
    /// Number of bits of a sum, without its sign.
    const SUM_BITS: i32;
    /// Converts to `f64`, for magnitudes below 2^[`SUM_BITS`](Self::SUM_BITS).
    fn number(self) -> f64;
    /// Returns the nearest integer to a number below 2^[`SUM_BITS`](Self::SUM_BITS) in magnitude.
    fn nearest(number: f64) -> Self;
}

impl Integer for i32 {
    const SUM_BITS: i32 = 31;
    #[inline(always)]
    fn number(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn nearest(number: f64) -> Self {
        rounded(number) as Self
    }
}

impl Integer for i64 {
    const SUM_BITS: i32 = 51;
    #[inline(always)]
    fn number(self) -> f64 {
        f64::from_bits((self + ROUND.to_bits() as Self) as u64) - ROUND
    }
    #[inline(always)]
    fn nearest(number: f64) -> Self {
        rounded(number)
    }
}

/// 1.5 · 2⁵²: added to a number below 2⁵¹ in magnitude, it leaves the rounded number in the low bits. Conversions of
/// vectors of 64-bit integers thus become additions, which every processor has.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Rounds a number below 2⁵¹ in magnitude to an integer, half to even.
#[inline(always)]
fn rounded(value: f64) -> i64 {
    ((value + ROUND).to_bits() as i64) - (ROUND.to_bits() as i64)
}

macro_rules! integer_cell {
    ($($integer:ty),+) => {$(
        impl Cell for $integer {
            const ZERO: Self = 0;
            #[inline(always)]
            fn add(&mut self, other: &Self) {
                *self += other;
            }
            #[inline(always)]
            fn subtract(&mut self, other: &Self) {
                *self -= other;
            }
        }
    )+};
}

integer_cell!(i32, i64);

/// Several cells side by side.
impl<C: Cell, const W: usize> Cell for [C; W] {
    const ZERO: Self = [C::ZERO; W];
    #[inline(always)]
    fn add(&mut self, other: &Self) {
        for lane in 0..W {
            self[lane].add(&other[lane]);
        }
    }
    #[inline(always)]
    fn subtract(&mut self, other: &Self) {
        for lane in 0..W {
            self[lane].subtract(&other[lane]);
        }
    }
}

/// Bytes of cells that a thread reads in some ten times the time of handing work over.
const BYTES: usize = 1 << 17;

/// Returns how many of n cells a thread takes, at least 1, where as many threads work on them as is worth it.
pub(in crate::histogram) fn share<C>(n: usize) -> usize {
    let threads = (n * size_of::<C>() / BYTES + 1).min(threads());
    n.div_ceil(threads).max(1)
}

/// Sums cells.
pub(super) fn sum<C: Cell>(cells: &[C]) -> C {
    let added = |mut sum: C, cell: &C| {
        sum.add(cell);
        sum
    };
    let parts = cells.par_chunks(share::<C>(cells.len()));
    let sums = parts.map(|part| part.iter().fold(C::ZERO, added));
    sums.reduce(|| C::ZERO, |a, b| added(a, &b))
}

/// Returns the cells of the rows of a node, in their order: the whole slice, or a copy of those cells.
pub(super) fn gather<'g, C: Cell>(cells: &'g [C], rows: &[u32], gathered: &'g mut Vec<C>) -> &'g [C] {
    if rows.len() < cells.len() {
        let rows = rows.par_iter().with_min_len(share::<C>(rows.len()));
        gathered.clear();
        gathered.par_extend(rows.map(|&row| cells[row as usize]));
    }
    gathered_of(cells, rows, gathered)
}

/// Returns the cells that were [gathered](gather) for the rows of a node.
pub(super) fn gathered_of<'g, C>(cells: &'g [C], rows: &[u32], gathered: &'g [C]) -> &'g [C] {
    if rows.len() < cells.len() { gathered } else { cells }
}

/// Sums the cells of the rows of a node in some of the bins that they touch, one bin after the other.
pub(super) fn sum_touched<C: Cell>(touched: &Touched, bins: &[u32], cells: &[C], sums: &mut Vec<C>) {
    sums.clear();
    vectorized(
        #[inline(always)]
        || {
            sums.extend(bins.iter().map(
                #[inline(always)]
                |&bin| {
                    let mut sum = C::ZERO;
                    for &row in touched.rows(bin as usize) {
                        sum.add(&cells[row as usize]);
                    }
                    sum
                },
            ));
        },
    );
}

/// Copies the numbers at the given positions, in order.
pub(super) fn pick<T: Copy>(places: &[u32], numbers: &[T], picked: &mut Vec<T>) {
    picked.clear();
    picked.extend(places.iter().map(|&place| numbers[place as usize]));
}
