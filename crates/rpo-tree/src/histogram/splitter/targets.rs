//! The targets that trees grow on.

use crate::TreeError;
use crate::criterion::{Curvature, LeafPenalty};
use ndarray::ArrayView2;
use rpo_core::{Domain, Mismatch};

/// The targets that trees grow on: negative gradients z of a loss (or any targets) and its curvatures, of m components.
#[derive(Debug, Clone, Copy)]
pub struct SplitTargets<'a> {
    /// z (n x m, contiguous rows, finite).
    pub gradients: ArrayView2<'a, f32>,
    /// Second derivatives.
    pub curvature: Curvature<'a>,
    /// One weight per sample, finite and not negative; samples of weight 0 are never used.
    pub weights: &'a [f32],
    /// Penalty of the leaf value, per component; empty for none.
    pub penalties: &'a [LeafPenalty],
    /// Smallest curvature of a child: H, averaged over the components.
    pub min_child_weight: f64,
}

/// Empty targets, to be filled in: curvature 1 and no penalties, so that splits decrease the variance.
impl Default for SplitTargets<'_> {
    fn default() -> Self {
        Self {
            gradients: ArrayView2::from_shape((0, 0), &[]).expect("nothing has this shape"),
            curvature: Curvature::Constant,
            weights: &[],
            penalties: &[],
            min_child_weight: 0.0,
        }
    }
}

impl<'a> SplitTargets<'a> {
    /// Returns the penalty of a component.
    pub(in crate::histogram) fn penalty(&self, component: usize) -> LeafPenalty {
        self.penalties.get(component).copied().unwrap_or_default()
    }

    /// Returns true if gains are decreases of variance.
    pub(super) fn is_variance(&self) -> bool {
        let no_penalty = self.penalties.iter().all(|p| *p == LeafPenalty::default());
        matches!(self.curvature, Curvature::Constant) && no_penalty && self.min_child_weight == 0.0
    }

    pub(super) fn curvatures(&self) -> Option<&'a [f32]> {
        match &self.curvature {
            Curvature::Constant => None,
            Curvature::Each(h) => Some(h.to_slice().expect("curvatures are contiguous in row order")),
        }
    }

    /// Returns true if trees grow on samples of which no component is observed: all their curvatures are 0.
    pub(super) fn has_unobserved(&self) -> bool {
        let Some(curvatures) = self.curvatures() else {
            return false;
        };
        let of_sample = curvatures.chunks(self.gradients.ncols().max(1));
        let mut samples = of_sample.zip(self.weights);
        samples.any(|(h, &weight)| weight > 0.0 && h.iter().all(|h| *h == 0.0))
    }

    pub(super) fn check(&self, n: usize) -> Result<(), TreeError> {
        let (rows, m) = self.gradients.dim();
        Mismatch::check("rows of gradients", n, rows)?;
        Mismatch::check("weights", n, self.weights.len())?;
        if let Curvature::Each(h) = &self.curvature {
            Mismatch::check("rows of curvatures", n, h.nrows())?;
            Mismatch::check("components of curvatures", m, h.ncols())?;
        }
        if !self.penalties.is_empty() {
            Mismatch::check("penalties", m, self.penalties.len())?;
        }
        for penalty in self.penalties {
            Domain::NotNegative.check("leaf_l2", penalty.l2)?;
            Domain::NotNegative.check("leaf_l1", penalty.l1)?;
        }
        Ok(Domain::NotNegative.check("min_child_weight", self.min_child_weight)?)
    }
}
