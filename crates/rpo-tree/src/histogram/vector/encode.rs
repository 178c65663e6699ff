//! Codes targets in fixed point, plane by plane.

use super::Vector;
use super::lanes::Lanes;
use crate::criterion::{Curvature, LeafPenalty};
use crate::histogram::cell::{Integer, share};
use crate::histogram::fixed::{COARSE, WeightCode, scale, used};
use crate::histogram::splitter::SplitTargets;
use rayon::prelude::*;
use rpo_core::vectorized;

impl<T: Integer, const W: usize> Vector<T, W> {
    /// Codes targets; returns `None` if one is not finite, or if more than half of them are coarse in `T` and
    /// `may_be_coarse` is false.
    pub(in crate::histogram) fn new(targets: &SplitTargets<'_>, may_be_coarse: bool) -> Option<Self> {
        let (n, m) = targets.gradients.dim();
        let weights = targets.weights;
        let gradients = targets.gradients.to_slice()?;
        let curvatures = match &targets.curvature {
            Curvature::Constant => None,
            Curvature::Each(h) => Some(h.to_slice()?),
        };
        let sum_of_weights: f64 = weights.iter().map(|&c| f64::from(c)).sum();
        let code = WeightCode::new(n, sum_of_weights);
        let blocks = (0..m).into_par_iter().step_by(W);
        let planes_of = |values: Option<&[f32]>| -> Option<Vec<Plane<T, W>>> {
            let plane = |values, first| Plane::new(values, m, first, weights);
            values.map_or(Some(Vec::new()), |values| {
                blocks.clone().map(|first| plane(values, first)).collect()
            })
        };
        let mut planes = planes_of(Some(gradients))?;
        let mut of_curvatures = planes_of(curvatures)?;
        let all = || planes.iter().chain(&of_curvatures);
        let n_coarse: usize = all().map(|plane| plane.n_coarse).sum();
        let n_numbers: usize = all().map(|plane| plane.n_numbers).sum();
        if 2 * n_coarse > n_numbers && !may_be_coarse {
            return None;
        }
        let lanes = planes.iter().enumerate().map(|(block, plane)| {
            let mut of = Lanes {
                unit: [0.0; W],
                curvature_unit: [0.0; W],
                l1: [0.0; W],
                l2: [0.0; W],
            };
            for (lane, target) in (block * W..m.min((block + 1) * W)).enumerate() {
                let LeafPenalty { l1, l2 } = targets.penalty(target);
                of.unit[lane] = plane.scale[lane].recip();
                of.curvature_unit[lane] = of_curvatures.get(block).map_or(1.0, |h| h.scale[lane].recip());
                (of.l1[lane], of.l2[lane]) = (l1, l2);
            }
            of
        });
        let lanes = lanes.collect();
        planes.append(&mut of_curvatures);
        let l2 = targets.penalty(0).l2;
        let is_common = curvatures.is_none() && (0..m).all(|target| targets.penalty(target).l2 == l2);
        Some(Self {
            counts: weights.iter().map(|&c| code.encode(f64::from(c))).collect(),
            code,
            planes: planes.into_iter().map(|plane| plane.cells).collect(),
            lanes,
            has_curvatures: curvatures.is_some(),
            common_l2: is_common.then_some(l2),
            least_curvature: targets.min_child_weight * if curvatures.is_some() { m as f64 } else { 1.0 },
        })
    }
}

/// Weights of some samples, and their values.
type Samples<'s> = (&'s [f32], &'s [f32]);

/// Number of samples that are coded together.
const PART: usize = 256;

/// A block of targets, or of their curvatures, in fixed point.
struct Plane<T, const W: usize> {
    cells: Vec<[T; W]>,
    /// Units per 1 of each target, such that no sum overflows.
    scale: [f64; W],
    /// Number of nonzero values, and number of those that are coarse.
    n_numbers: usize,
    n_coarse: usize,
}

impl<T: Integer, const W: usize> Plane<T, W> {
    /// Codes W targets, starting with `first`, of rows of m values; returns `None` if a number is not finite.
    fn new(values: &[f32], m: usize, first: usize, weights: &[f32]) -> Option<Self> {
        let parts = weights.par_chunks(PART).zip(values.par_chunks(PART * m));
        let parts = parts.with_min_len(share::<[f64; W]>(weights.len()).div_ceil(PART));
        let sums_of_part = |(weights, values): Samples<'_>| {
            let mut sums = [0.0; W];
            vectorized(
                #[inline(always)]
                || {
                    for (weight, row) in rows_of::<W>(weights, values, m, first) {
                        for lane in 0..W {
                            sums[lane] += used(weight * f64::from(row[lane]).abs(), weight);
                        }
                    }
                },
            );
            sums
        };
        // Added in order, so that they do not depend on the number of threads.
        let mut sums = [0.0; W];
        for part in parts.clone().map(sums_of_part).collect::<Vec<_>>() {
            (0..W).for_each(|lane| sums[lane] += part[lane]);
        }
        if !sums.iter().all(|sum| sum.is_finite()) {
            return None;
        }
        // Rounding adds up to half a unit per row.
        let scale = sums.map(|sum| scale(sum, T::SUM_BITS - 1));
        let mut cells = vec![[T::ZERO; W]; weights.len()];
        let code_part = |(cells, (weights, values)): (&mut [[T; W]], Samples<'_>)| {
            let (mut n_numbers, mut n_coarse) = ([0_u64; W], [0_u64; W]);
            vectorized(
                #[inline(always)]
                || {
                    let rows = rows_of::<W>(weights, values, m, first);
                    for ((weight, row), cell) in rows.zip(cells) {
                        for lane in 0..W {
                            let number = used(weight * f64::from(row[lane]), weight) * scale[lane];
                            n_numbers[lane] += u64::from(number != 0.0);
                            n_coarse[lane] += u64::from((number != 0.0) & (number.abs() < COARSE));
                            cell[lane] = T::nearest(number);
                        }
                    }
                },
            );
            (n_numbers.iter().sum::<u64>(), n_coarse.iter().sum::<u64>())
        };
        let counts = cells.par_chunks_mut(PART).zip(parts).map(code_part);
        let (n_numbers, n_coarse) = counts.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        Some(Self {
            cells,
            scale,
            n_numbers: n_numbers as usize,
            n_coarse: n_coarse as usize,
        })
    }
}

/// Returns the weights of rows of m values and the values starting with `first`.
#[inline(always)]
fn rows_of<'r, const W: usize>(
    weights: &'r [f32],
    values: &'r [f32],
    m: usize,
    first: usize,
) -> impl Iterator<Item = (f64, [f32; W])> {
    weights.iter().zip(values.chunks_exact(m)).map(
        #[inline(always)]
        move |(&weight, row)| (f64::from(weight), block_of::<W>(row, first)),
    )
}

/// Returns the values of a row starting with `first`, padded with zeros beyond its end.
#[inline(always)]
fn block_of<const W: usize>(row: &[f32], first: usize) -> [f32; W] {
    let rest = &row[first..];
    rest.first_chunk().copied().unwrap_or_else(|| {
        let mut block = [0.0; W];
        block[..rest.len()].copy_from_slice(rest);
        block
    })
}
