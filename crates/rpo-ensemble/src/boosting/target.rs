//! The targets on which trees grow.

use super::choices::Algorithm;
use super::loss::{Objective, Penalties};
use super::resolved::{Resolved, SecondOrderSplits};
use super::state::{Coefficients, LeafIndex, Outputs, Pass, Projected, State, StepUpdate};
use ndarray::Array2;
use rayon::prelude::*;
use rpo_tree::criterion::{Curvature, LeafPenalty};
use std::borrow::Cow;

/// The projected residual that a tree grows on.
pub(super) enum Target {
    /// Split by variance.
    Variance {
        z: Array2<f32>,
        /// `z` in `f64` for Algorithm 3, whose leaf values are computed from these numbers.
        wide: Vec<f64>,
        /// ‖φ‖².
        norm: f64,
        /// The observed weight h of each number, with which it counts; `None` if all are 1.
        observed: Option<Array2<f32>>,
    },
    /// Split by second-order gains, projected by rows of norm 1 before outputs are scaled.
    SecondOrder(SecondOrderTarget),
}

/// Negative gradients and second derivatives along components.
pub(super) struct SecondOrderTarget {
    pub(super) gradients: Array2<f32>,
    /// `None` if all are 1.
    curvatures: Option<Array2<f32>>,
    /// Penalties by component.
    pub(super) penalties: Vec<LeafPenalty>,
    pub(super) min_child_weight: f64,
}

impl SecondOrderTarget {
    pub(super) fn curvature(&self) -> Curvature<'_> {
        match &self.curvatures {
            None => Curvature::Constant,
            Some(h) => Curvature::Each(h.view()),
        }
    }
}

/// The projections of residuals: coefficients for each target, and the factors by which outputs are scaled first, if
/// any.
#[derive(Clone, Copy)]
pub(super) struct ProjectedBy<'p> {
    pub(super) phis: &'p [Coefficients],
    pub(super) scales: Option<&'p [f32]>,
}

/// An update of the training scores.
type Update<'u> = (&'u LeafIndex, &'u StepUpdate);

impl Default for Target {
    /// The target of no samples.
    fn default() -> Self {
        Self::Variance {
            z: Array2::zeros((0, 1)),
            wide: Vec::new(),
            norm: 1.0,
            observed: None,
        }
    }
}

impl Target {
    /// Applies an update to the training scores and projects the scaled residual for the next trees. Returns their
    /// targets and the training loss; the arrays of the targets in `room` are reused.
    pub(super) fn after(
        room: Vec<Self>,
        update: Option<Update<'_>>,
        state: &mut State<'_>,
        ProjectedBy { phis, scales }: ProjectedBy<'_>,
        params: &Resolved,
        objective: &Objective,
        outputs: &Outputs<'_>,
    ) -> (Vec<Self>, f64) {
        let mut room = room.into_iter();
        let plans = phis.iter().map(|phi| {
            let room = room.next().unwrap_or_default();
            match params.second_order {
                Some(splits) => Plan::of_second_order(phi, scales, room, splits, objective, outputs),
                None => Plan::of_variance(phi, scales, room, params.algorithm == Algorithm::GbrtRpo, outputs),
            }
        });
        let mut plans: Vec<Plan<'_>> = plans.collect();
        let loss = match params.algorithm {
            Algorithm::GbrtRpo => state.run(Pass {
                update,
                next: plans.iter_mut().map(Plan::wide).collect(),
            }),
            _ => state.run(Pass {
                update,
                next: plans.iter_mut().map(Plan::narrow).collect(),
            }),
        };
        (plans.into_iter().map(Plan::into_target).collect(), loss)
    }

    /// Returns the arrays of this target, to be reused for the gradients and curvatures of the next tree.
    fn into_room(self, shape: (usize, usize)) -> (Array2<f32>, Option<Array2<f32>>) {
        let (gradients, curvatures) = match self {
            Self::Variance { z, observed, .. } => (z, observed),
            Self::SecondOrder(target) => (target.gradients, target.curvatures),
        };
        (fitting(Some(gradients), shape), curvatures)
    }

    /// Returns true if all gradients and second derivatives are finite; those of a custom loss may not be.
    pub(super) fn is_finite(&self) -> bool {
        // Without short-circuiting, so that the comparison is vectorized.
        let all = |values: &Array2<f32>| values.iter().fold(true, |all, v| all & v.is_finite());
        match self {
            Self::Variance { z, .. } => all(z),
            Self::SecondOrder(target) => all(&target.gradients) && target.curvatures.as_ref().is_none_or(all),
        }
    }

    /// Returns the unit of gains: ‖φ‖² for squares of projected residuals, 1 for second-order gains.
    pub(super) fn unit(&self) -> f64 {
        match self {
            Self::Variance { norm, .. } => *norm,
            Self::SecondOrder(_) => 1.0,
        }
    }

    /// Returns the values of the leaves of a tree of Algorithm 3, Σ c z / √(Σ c w Σ c h), where w is the mean weight of the
    /// outputs of a sample (nothing if all are 1): the weighted means of the projected residual where all are observed,
    /// and h and w are 1.
    ///
    /// Elsewhere Σ c z / Σ c h is the value with the smallest error; but it is so large in a leaf without the outputs of
    /// large φ, where h is far less than w, that this leaf alone would decide the steps of the outputs. The variance of z
    /// is proportional to h: divided by its root, the values of all leaves are alike in size.
    pub(super) fn leaf_values(&self, leaves: &LeafIndex, weights: &[f32], mean_weights: &[f32]) -> Vec<f64> {
        let Self::Variance { wide, observed, .. } = self else {
            unreachable!("Algorithm 3 splits by variance")
        };
        let mut sums = vec![[0.0; 3]; leaves.n_leaves];
        for (i, &leaf) in leaves.of_row.iter().enumerate() {
            let [sum, total, seen] = &mut sums[leaf as usize];
            let weight = f64::from(weights[i]);
            *sum += weight * wide[i];
            *total += weight * mean_weights.get(i).map_or(1.0, |&w| f64::from(w));
            *seen += weight * observed.as_ref().map_or(1.0, |h| f64::from(h[[i, 0]]));
        }
        let value = |[sum, total, seen]: [f64; 3]| match seen > 0.0 {
            true => sum / (total * seen).sqrt(),
            false => 0.0,
        };
        sums.into_iter().map(value).collect()
    }
}

/// A target whose numbers are still to be computed.
struct Plan<'p> {
    /// The coefficients of the residuals.
    phi: Cow<'p, Coefficients>,
    /// Their squares, for second derivatives.
    squares: Option<Coefficients>,
    target: Target,
}

impl<'p> Plan<'p> {
    fn of_variance(
        phi: &'p Coefficients,
        scales: Option<&[f32]>,
        room: Target,
        is_wide: bool,
        outputs: &Outputs<'_>,
    ) -> Self {
        let (z, room) = room.into_room((outputs.n_rows(), phi.n_components()));
        let target = Target::Variance {
            wide: vec![0.0; if is_wide { z.len() } else { 0 }],
            observed: observed(phi, outputs, room),
            z,
            norm: phi.norm_squared(),
        };
        Self {
            phi: scales.map_or(Cow::Borrowed(phi), |scales| Cow::Owned(phi.scaled(scales))),
            squares: None,
            target,
        }
    }

    fn of_second_order(
        phi: &'p Coefficients,
        scales: Option<&[f32]>,
        room: Target,
        splits: SecondOrderSplits,
        objective: &Objective,
        outputs: &Outputs<'_>,
    ) -> Self {
        let mut unit = phi.normalized();
        let squares = match scales {
            None => unit.squared(),
            Some(scales) => {
                // Those of the square loss are 1 in any unit, and those of counts are as large as the counts.
                let factor = |(output, &scale)| match objective.of(output).is_quadratic() {
                    true => 1.0,
                    false => scale,
                };
                let factors: Vec<f32> = scales.iter().enumerate().map(factor).collect();
                let squares = unit.scaled(&factors).normalized().squared();
                unit = unit.scaled(scales);
                squares
            }
        };
        let penalties = along(&unit, &squares, splits.penalties, objective);
        let shape = (outputs.n_rows(), unit.n_components());
        let (gradients, room) = room.into_room(shape);
        let scale = objective.common_scale().unwrap_or(1.0);
        let target = SecondOrderTarget {
            gradients,
            curvatures: (!splits.is_constant_for(outputs)).then(|| fitting(room, shape)),
            penalties,
            min_child_weight: scale * scale * splits.min_child_weight,
        };
        Self {
            phi: Cow::Owned(unit),
            squares: Some(squares),
            target: Target::SecondOrder(target),
        }
    }

    /// Returns what is to be computed.
    fn narrow(&mut self) -> Projected<'_, f32> {
        let flat = "made in row order";
        let (z, curvatures) = match &mut self.target {
            Target::Variance { z, .. } => (z, None),
            Target::SecondOrder(target) => (&mut target.gradients, target.curvatures.as_mut()),
        };
        let curvatures = curvatures.map(|h| h.as_slice_mut().expect(flat));
        Projected {
            phi: &self.phi,
            z: z.as_slice_mut().expect(flat),
            curvature: self.squares.as_ref().zip(curvatures),
        }
    }

    /// Returns what is to be computed in `f64`, for Algorithm 3.
    fn wide(&mut self) -> Projected<'_, f64> {
        let Target::Variance { wide, .. } = &mut self.target else {
            unreachable!("Algorithm 3 splits by variance")
        };
        Projected {
            phi: &self.phi,
            z: wide,
            curvature: None,
        }
    }

    /// Returns the target once its numbers are computed.
    fn into_target(mut self) -> Target {
        if let Target::Variance { z, wide, .. } = &mut self.target {
            z.iter_mut().zip(wide).for_each(|(z, wide)| *z = *wide as f32);
        }
        self.target
    }
}

/// Returns the observed weights of projected residuals z_ik = Σ_j φ_kj u_ij r_ij, unless all are 1: h_ik = Σ_j φ_kj² u_ij
/// / ‖φ_k‖².
///
/// With weights c, the value g along φ_k with the smallest error Σ_i c_i Σ_j u_ij (r_ij − g φ_kj)² over a set of samples
/// is Σ c z / (‖φ_k‖² Σ c h), and the error decreases by (Σ c z)² / (‖φ_k‖² Σ c h). What is missing neither counts as a
/// residual of 0 nor as a sample.
fn observed(phi: &Coefficients, outputs: &Outputs<'_>, room: Option<Array2<f32>>) -> Option<Array2<f32>> {
    const TOGETHER: usize = 64;
    if outputs.counts_all() {
        return None;
    }
    let (n, d, q) = (outputs.n_rows(), outputs.n_outputs(), phi.n_components());
    let squares = phi.normalized().squared();
    let mut h = fitting(room, (n, q));
    let parts = h.as_slice_mut().expect("made in row order");
    let parts = parts.par_chunks_mut(TOGETHER * q).enumerate();
    parts.for_each(|(part, h)| {
        let first = part * TOGETHER;
        let rows = first..first + h.len() / q;
        let (mut y, mut cells) = (vec![0.0; rows.len() * d], vec![0.0; rows.len() * d]);
        outputs.copy_rows(rows, &mut y, &mut cells);
        squares.project_rows(&cells, d, h);
    });
    Some(h)
}

/// Returns the given array if it has the given shape, with unspecified contents, or a new array.
fn fitting(array: Option<Array2<f32>>, shape: (usize, usize)) -> Array2<f32> {
    let fits = array.filter(|array| array.dim() == shape);
    fits.unwrap_or_else(|| Array2::zeros(shape))
}

/// Returns the penalties of values along components, where a value v along φ_k adds v φ_kj to output j.
fn along(
    unit: &Coefficients,
    squares: &Coefficients,
    penalties: Penalties,
    objective: &Objective,
) -> Vec<LeafPenalty> {
    let rules = objective.rules(penalties);
    let common = rules[0].penalty;
    let components: Vec<_> = if rules.iter().all(|rule| rule.penalty == common) {
        unit.magnitudes()
            .into_iter()
            .map(|m| (m * common.l1, common.l2))
            .collect()
    } else {
        let l1: Vec<f32> = rules.iter().map(|rule| rule.penalty.l1 as f32).collect();
        let l2: Vec<f64> = rules.iter().map(|rule| rule.penalty.l2).collect();
        let mut sums = vec![0.0; unit.n_components()];
        squares.project(&l2, &mut sums);
        unit.scaled(&l1).magnitudes().into_iter().zip(sums).collect()
    };
    let penalty = |(l1, l2)| LeafPenalty { l1, l2 };
    components.into_iter().map(penalty).collect()
}
