//! What a tree grows on, and its growth.

use super::choices::Algorithm;
use super::features::{Coded, Features};
use super::resolved::{Resolved, SecondOrderSplits};
use super::state::{Coefficients, LeafIndex, Outputs, Pass, Projected, State, StepUpdate};
use crate::error::EnsembleError;
use ndarray::{Array2, ArrayView2};
use rand::seq::index;
use rpo_core::Seed;
use rpo_tree::criterion::{Criterion, Curvature, LeafPenalty, SecondOrder, SingleVariance, Variance};
use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, HistogramWorkspace, SplitTargets};
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
use rpo_tree::{AxisRule, GrowParams, Grown, RankedFeatures, grow};

/// The projected residual that a tree grows on.
pub(super) enum Target {
    /// Algorithm 3 keeps `f64`, because its leaf values are means of these.
    Scalar { z: Vec<f64>, norm: f64 },
    /// Split by variance; `norm` is ‖φ‖².
    Vectors { z: Array2<f32>, norm: f64 },
    /// Split by second-order gains, projected by rows of norm 1.
    SecondOrder(SecondOrderTarget),
}

/// Negative gradients and second derivatives along components.
pub(super) struct SecondOrderTarget {
    gradients: Array2<f32>,
    /// `None` where all are 1.
    curvatures: Option<Array2<f32>>,
    /// By component.
    penalties: Vec<LeafPenalty>,
    min_child_weight: f64,
}

impl SecondOrderTarget {
    fn curvature(&self) -> Curvature<'_> {
        match &self.curvatures {
            None => Curvature::Constant,
            Some(h) => Curvature::Each(h.view()),
        }
    }
}

/// An update of the training scores.
type Update<'u> = (&'u LeafIndex, &'u StepUpdate);

impl Default for Target {
    /// That of no samples.
    fn default() -> Self {
        Self::Scalar {
            z: Vec::new(),
            norm: 1.0,
        }
    }
}

impl Target {
    /// Applies an update to the training scores, and projects their residual for the next tree; returns the training loss
    /// with it.
    pub(super) fn after(
        update: Option<Update<'_>>,
        state: &mut State<'_>,
        phi: &Coefficients,
        params: &Resolved,
        outputs: &Outputs<'_>,
    ) -> (Self, f64) {
        if let Some(splits) = params.second_order {
            return Self::second_order(update, state, phi, splits, outputs);
        }
        let (n, norm) = (outputs.n_rows(), phi.norm_squared());
        if params.algorithm == Algorithm::GbrtRpo {
            let mut z = vec![0.0; n];
            let loss = state.run(Pass {
                update,
                next: Some(Projected {
                    phi,
                    z: &mut z,
                    curvature: None,
                }),
            });
            return (Self::Scalar { z, norm }, loss);
        }
        let mut z = Array2::zeros((n, phi.n_components()));
        let loss = state.run(Pass {
            update,
            next: Some(Projected {
                phi,
                z: z.as_slice_mut().expect("made in row order"),
                curvature: None,
            }),
        });
        (Self::Vectors { z, norm }, loss)
    }

    fn second_order(
        update: Option<Update<'_>>,
        state: &mut State<'_>,
        phi: &Coefficients,
        splits: SecondOrderSplits,
        outputs: &Outputs<'_>,
    ) -> (Self, f64) {
        let (phi, magnitudes) = phi.normalized();
        let shape = (outputs.n_rows(), phi.n_components());
        let squares = phi.squared();
        let mut gradients = Array2::zeros(shape);
        let mut curvatures = (!splits.is_constant_for(outputs)).then(|| Array2::zeros(shape));
        let curvature = curvatures
            .as_mut()
            .map(|h| (&squares, h.as_slice_mut().expect("made in row order")));
        let loss = state.run::<f32>(Pass {
            update,
            next: Some(Projected {
                phi: &phi,
                z: gradients.as_slice_mut().expect("made in row order"),
                curvature,
            }),
        });
        // A value v along φ_k adds v φ_kj to output j.
        let penalties = magnitudes.iter().map(|magnitude| LeafPenalty {
            l1: magnitude * splits.penalty.l1,
            l2: splits.penalty.l2,
        });
        let target = SecondOrderTarget {
            gradients,
            curvatures,
            penalties: penalties.collect(),
            min_child_weight: splits.min_child_weight,
        };
        (Self::SecondOrder(target), loss)
    }

    /// The gain that counts as 1: ‖φ‖² of squares of projected residuals.
    pub(super) fn unit(&self) -> f64 {
        match self {
            Self::Scalar { norm, .. } | Self::Vectors { norm, .. } => *norm,
            Self::SecondOrder(_) => 1.0,
        }
    }

    /// Grows a tree; returns true with it if that was on a subsample.
    pub(super) fn grow(
        &self,
        params: &Resolved,
        features: &Features<'_>,
        weights: &[f32],
        seed: Seed,
        workspace: &mut Option<HistogramWorkspace>,
    ) -> Result<(Grown<AxisRule>, bool), EnsembleError> {
        let mut rows: Vec<u32> = (0..weights.len() as u32)
            .filter(|&i| weights[i as usize] > 0.0)
            .collect();
        let is_subsample = params.subsample < 1.0;
        if is_subsample {
            let amount = ((params.subsample * rows.len() as f64) as usize).max(1);
            let mut places =
                index::sample(&mut seed.purpose("subsample").rng(), rows.len(), amount).into_vec();
            places.sort_unstable();
            rows = places.into_iter().map(|i| rows[i]).collect();
        }
        let growth = Growth {
            axis: AxisParams {
                max_features: Some(params.max_features.resolve(features.x().n_cols())),
                min_samples_leaf: params.min_samples_leaf,
                min_gain: params.min_split_gain * self.unit(),
                ..AxisParams::default()
            },
            params: &params.grow,
            rows,
            seed: seed.purpose("grow"),
        };
        let grown = match &features.coded {
            Coded::Ranked(columns) => self.grow_on_values(growth, columns, weights),
            Coded::Binned(columns) => self.grow_on_bins(growth, columns, weights, workspace),
        }?;
        Ok((grown, is_subsample))
    }

    fn grow_on_values(
        &self,
        growth: Growth<'_>,
        columns: &RankedFeatures,
        weights: &[f32],
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        match self {
            Self::Scalar { z, .. } => {
                let z = z.iter().map(|&z| z as f32);
                growth.on_values(columns, SingleVariance::new(z, weights))
            }
            Self::Vectors { z, .. } if z.ncols() == 1 => {
                growth.on_values(columns, SingleVariance::new(z.iter().copied(), weights))
            }
            Self::Vectors { z, .. } => growth.on_values(columns, Variance::new(z.view(), weights)),
            Self::SecondOrder(target) => {
                let criterion = SecondOrder::new(
                    target.gradients.view(),
                    target.curvature(),
                    weights,
                    target.penalties.clone(),
                    target.min_child_weight,
                );
                growth.on_values(columns, criterion)
            }
        }
    }

    fn grow_on_bins(
        &self,
        growth: Growth<'_>,
        columns: &BinnedFeatures,
        weights: &[f32],
        workspace: &mut Option<HistogramWorkspace>,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        match self {
            Self::Scalar { z, .. } => {
                let z: Vec<f32> = z.iter().map(|&z| z as f32).collect();
                let column = ArrayView2::from_shape((z.len(), 1), &z).expect("as many rows as numbers");
                growth.on_bins(columns, SplitTargets::variance(column, weights), workspace)
            }
            Self::Vectors { z, .. } => {
                growth.on_bins(columns, SplitTargets::variance(z.view(), weights), workspace)
            }
            Self::SecondOrder(target) => {
                let targets = SplitTargets {
                    gradients: target.gradients.view(),
                    curvature: target.curvature(),
                    weights,
                    penalties: &target.penalties,
                    min_child_weight: target.min_child_weight,
                };
                growth.on_bins(columns, targets, workspace)
            }
        }
    }

    /// The weighted means of the projected residual over the leaves: the values of a tree of Algorithm 3.
    pub(super) fn leaf_means(&self, leaves: &LeafIndex, weights: &[f32]) -> Vec<f64> {
        let Self::Scalar { z, .. } = self else {
            unreachable!("Algorithm 3 grows on one number per row")
        };
        let mut sums = vec![(0.0, 0.0); leaves.n_leaves];
        for (i, &leaf) in leaves.of_row.iter().enumerate() {
            let (sum, total) = &mut sums[leaf as usize];
            let weight = f64::from(weights[i]);
            *sum += weight * z[i];
            *total += weight;
        }
        let mean = |(sum, total): (f64, f64)| if total > 0.0 { sum / total } else { 0.0 };
        sums.into_iter().map(mean).collect()
    }
}

/// The growth of a tree, whatever the criterion.
struct Growth<'a> {
    axis: AxisParams,
    params: &'a GrowParams,
    rows: Vec<u32>,
    seed: Seed,
}

impl Growth<'_> {
    fn on_values<C: Criterion + Sync>(
        self,
        columns: &RankedFeatures,
        criterion: C,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        let splitter = AxisSplitter::new(columns, criterion, self.axis)?;
        let mut workspace = splitter.workspace();
        Ok(grow(&splitter, &mut workspace, self.rows, self.params, self.seed))
    }

    fn on_bins<'t>(
        self,
        columns: &'t BinnedFeatures,
        targets: SplitTargets<'t>,
        workspace: &mut Option<HistogramWorkspace>,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        let splitter = HistogramSplitter::new(columns, targets, self.axis)?;
        let workspace = workspace.get_or_insert_with(|| splitter.workspace());
        Ok(grow(&splitter, workspace, self.rows, self.params, self.seed))
    }
}
