//! Scores of the sides of splits for one plane of targets, lane by lane.

use super::terms::Terms;
use crate::criterion::{LeafPenalty, quotient, square_beyond};
use crate::histogram::cell::{Cell, Integer};

/// Conversion of the integers of a plane of gradients, and of those of its curvatures, to numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes<const W: usize> {
    pub(super) unit: [f64; W],
    pub(super) curvature_unit: [f64; W],
    pub(super) l1: [f64; W],
    pub(super) l2: [f64; W],
}

impl<const W: usize> Lanes<W> {
    /// Returns the penalty of the target in a lane.
    #[inline(always)]
    pub(super) fn penalty(&self, lane: usize) -> LeafPenalty {
        let (l1, l2) = (self.l1[lane], self.l2[lane]);
        LeafPenalty { l1, l2 }
    }

    /// Returns true if any penalty shrinks gradients.
    pub(super) fn shrinks(&self) -> bool {
        self.l1.iter().any(|l1| *l1 != 0.0)
    }

    /// Adds the squares of the sums of sides, with `extra` added to each, and of the rest. `SHRINKS` is false only if no
    /// penalty [shrinks](Self::shrinks) gradients.
    #[inline(always)]
    pub(super) fn add_squares<T: Integer, const SHRINKS: bool>(
        &self,
        sides: &[[T; W]],
        extra: &[T; W],
        all: &[f64; W],
        terms: &mut Terms,
    ) {
        // Copies, as the compiler cannot tell that they and the terms are apart, and would read them again and again.
        let (Self { unit, l1, .. }, all) = (*self, *all);
        let out = terms.side.iter_mut().zip(&mut terms.rest);
        for (side, (sum, rest_sum)) in sides.iter().zip(out) {
            let mut side = *side;
            side.add(extra);
            let (mut squares, mut rest) = ([0.0; W], [0.0; W]);
            for lane in 0..W {
                let g = side[lane].number();
                squares[lane] = square_beyond::<SHRINKS>(g * unit[lane], l1[lane]);
                rest[lane] = square_beyond::<SHRINKS>((all[lane] - g) * unit[lane], l1[lane]);
            }
            *sum += joined(&squares);
            *rest_sum += joined(&rest);
        }
    }

    /// Returns the curvatures of a side and of the rest.
    #[inline(always)]
    pub(super) fn curvatures<T: Integer>(&self, side: &[T; W], all: &[f64; W]) -> ([f64; W], [f64; W]) {
        let (mut h, mut rest) = ([0.0; W], [0.0; W]);
        for lane in 0..W {
            let (number, unit) = (side[lane].number(), self.curvature_unit[lane]);
            h[lane] = number * unit;
            rest[lane] = (all[lane] - number) * unit;
        }
        (h, rest)
    }

    /// Adds the scores of sides, with `extra` added to each, and the curvatures of both sides, given by lane. `SHRINKS` is
    /// as above.
    #[inline(always)]
    pub(super) fn add_scores<T: Integer, const SHRINKS: bool>(
        &self,
        sides: &[[T; W]],
        extra: &[T; W],
        all: &[f64; W],
        curvatures: impl Fn(usize) -> ([f64; W], [f64; W]),
        terms: &mut Terms,
    ) {
        let (Self { unit, l1, l2, .. }, all) = (*self, *all);
        for (i, side) in sides.iter().enumerate() {
            let mut side = *side;
            side.add(extra);
            let (h, rest_h) = curvatures(i);
            let mut scores = [0.0; W];
            for lane in 0..W {
                let g = side[lane].number();
                let of_side = square_beyond::<SHRINKS>(g * unit[lane], l1[lane]);
                let of_rest = square_beyond::<SHRINKS>((all[lane] - g) * unit[lane], l1[lane]);
                scores[lane] =
                    quotient(of_side, h[lane] + l2[lane]) + quotient(of_rest, rest_h[lane] + l2[lane]);
            }
            // Lane after lane: the order of these sums affects the result for a given seed.
            let sum = |values: &[f64; W]| values.iter().fold(0.0, |sum, v| sum + v);
            terms.side[i] += sum(&scores);
            terms.curvature[i] += sum(&h);
            terms.rest_curvature[i] += sum(&rest_h);
        }
    }
}

/// Sums lanes by halves, a form that can be vectorized.
#[inline(always)]
fn joined<const W: usize>(lanes: &[f64; W]) -> f64 {
    let mut sums = [0.0; 4];
    for chunk in lanes.chunks_exact(4) {
        for lane in 0..4 {
            sums[lane] += chunk[lane];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}
