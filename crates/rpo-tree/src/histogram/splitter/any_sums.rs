//! The choice of the representation of targets.

use super::SplitTargets;
use crate::histogram::fixed::{Counts, FixedPoint, MOST_NARROW};
use crate::histogram::scalar::Scalar;
use crate::histogram::search::Sums;
use crate::histogram::vector::Vector;
use crate::histogram::workspace::{Common, HistogramWorkspace, Work};

/// Targets in the fastest representation for them.
#[derive(Debug, Clone)]
pub(super) enum AnySums {
    /// Targets that are not finite: no split.
    Unusable,
    Packed(Scalar<i64>),
    Narrow(Scalar<[i32; 2]>),
    Wide(Scalar<[i64; 2]>),
    Few(Vector<i32, 4>),
    Several(Vector<i32, 8>),
    Many(Vector<i32, 16>),
    Long(Vector<i64, 8>),
}

/// What is done with targets and the buffers for their representation.
pub(super) trait SumsVisitor {
    type Output;

    fn visit<S: Sums>(self, sums: &S, common: &mut Common, work: &mut Work<S>) -> Self::Output;
}

impl AnySums {
    /// Discards the nodes of an earlier tree from a workspace, before one grows on these targets.
    pub(super) fn begin(&self, workspace: &mut HistogramWorkspace) {
        workspace.packed.begin(matches!(self, Self::Packed(_)));
        workspace.narrow.begin(matches!(self, Self::Narrow(_)));
        workspace.wide.begin(matches!(self, Self::Wide(_)));
        workspace.few.begin(matches!(self, Self::Few(_)));
        workspace.several.begin(matches!(self, Self::Several(_)));
        workspace.many.begin(matches!(self, Self::Many(_)));
        workspace.long.begin(matches!(self, Self::Long(_)));
    }

    /// Calls the visitor with the targets and their buffers; returns `None` if they are unusable.
    pub(super) fn visit<V: SumsVisitor>(
        &self,
        workspace: &mut HistogramWorkspace,
        visitor: V,
    ) -> Option<V::Output> {
        let HistogramWorkspace {
            common,
            packed,
            narrow,
            wide,
            few,
            several,
            many,
            long,
        } = workspace;
        Some(match self {
            Self::Unusable => return None,
            Self::Packed(sums) => visitor.visit(sums, common, packed),
            Self::Narrow(sums) => visitor.visit(sums, common, narrow),
            Self::Wide(sums) => visitor.visit(sums, common, wide),
            Self::Few(sums) => visitor.visit(sums, common, few),
            Self::Several(sums) => visitor.visit(sums, common, several),
            Self::Many(sums) => visitor.visit(sums, common, many),
            Self::Long(sums) => visitor.visit(sums, common, long),
        })
    }

    /// Represents targets; the number of samples of a sum is known if `counts` is true. `has_unobserved` is that of the
    /// targets.
    pub(super) fn new(targets: &SplitTargets<'_>, counts: bool, has_unobserved: bool) -> Self {
        let m = targets.gradients.ncols();
        if m == 1 {
            let counts = match (counts, has_unobserved) {
                (false, _) => Counts::None,
                (true, false) => Counts::Observed,
                (true, true) => Counts::All,
            };
            return Self::one(targets, counts);
        }
        let is_short = targets.weights.len() <= MOST_NARROW;
        let short = match m {
            _ if !is_short => None,
            0..=4 => Vector::new(targets, false).map(Self::Few),
            5..=8 => Vector::new(targets, false).map(Self::Several),
            _ => Vector::new(targets, false).map(Self::Many),
        };
        let long = || Vector::new(targets, true).map_or(Self::Unusable, Self::Long);
        short.unwrap_or_else(long)
    }

    pub(super) fn one(targets: &SplitTargets<'_>, counts: Counts) -> Self {
        let (weights, curvatures) = (targets.weights, targets.curvatures());
        let gradients = targets.gradients.to_slice().expect("checked");
        let fixed = FixedPoint::new(
            weights.len(),
            counts,
            #[inline(always)]
            |first, g, h| {
                let rows = first..first + g.len();
                let samples = weights[rows.clone()].iter().zip(&gradients[rows.clone()]);
                for ((g, h), (&weight, &z)) in g.iter_mut().zip(&mut *h).zip(samples) {
                    (*g, *h) = (f64::from(weight) * f64::from(z), f64::from(weight));
                }
                if let Some(curvatures) = curvatures {
                    let of_rows = h.iter_mut().zip(&curvatures[rows]);
                    of_rows.for_each(|(h, &v)| *h *= f64::from(v));
                }
            },
        );
        let (penalty, least) = (targets.penalty(0), targets.min_child_weight);
        match fixed {
            None => Self::Unusable,
            Some(FixedPoint::Packed(cells, code)) => Self::Packed(Scalar::new(cells, code, penalty, least)),
            Some(FixedPoint::Narrow(cells, code)) => Self::Narrow(Scalar::new(cells, code, penalty, least)),
            Some(FixedPoint::Wide(cells, code)) => Self::Wide(Scalar::new(cells, code, penalty, least)),
        }
    }
}
