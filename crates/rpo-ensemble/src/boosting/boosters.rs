//! The boosters of a fit: one of all outputs, or one of each.

use super::booster::{Booster, Only};
use super::features::Features;
use super::loss::Objective;
use super::resolved::Resolved;
use super::state::{Column, Outputs};
use super::units;
use crate::error::EnsembleError;
use crate::scaling::OutputScaling;
use ndarray::ArrayBase;
use rpo_core::MatrixView;

/// What the boosters of a fit have in common.
#[derive(Clone, Copy)]
pub(super) struct Boosters<'a> {
    pub(super) params: &'a Resolved,
    pub(super) objective: &'a Objective,
    pub(super) features: &'a Features<'a>,
    /// All outputs.
    pub(super) outputs: &'a Outputs<'a>,
}

/// An output by itself, with its loss.
pub(super) struct Alone<'a> {
    outputs: Outputs<'a>,
    objective: Objective,
}

impl<'a> Alone<'a> {
    /// Takes the position of an output, its column, and the weights of the samples.
    pub(super) fn new(
        output: usize,
        (y, cells): &'a Column,
        weights: &'a [f32],
        objective: &Objective,
    ) -> Self {
        Self {
            outputs: Outputs::new(MatrixView::from(y), weights, cells.as_ref().map(ArrayBase::view)),
            objective: objective.only(output),
        }
    }
}

impl<'a> Boosters<'a> {
    /// Returns the booster of all outputs, which share their trees, from their constants ρ₀.
    pub(super) fn shared(self, initial: &[f64]) -> Result<Booster<'a>, EnsembleError> {
        let Self {
            params,
            objective,
            features,
            outputs,
        } = self;
        Booster::new(params, objective, features, outputs, initial, params.seed, None)
    }

    /// Returns a booster of each output, which has its own trees, from its constant ρ₀.
    pub(super) fn apart(
        self,
        all: &'a [Alone<'a>],
        initial: &[f64],
    ) -> Result<Vec<Booster<'a>>, EnsembleError> {
        let Self { params, features, .. } = self;
        let units = units::factors(
            OutputScaling::Auto,
            params.gains_by_curvature(),
            self.objective,
            self.outputs,
            initial,
        );
        let seed = params.seed.purpose("output");
        let boosters = all.iter().zip(initial.chunks(1)).enumerate();
        boosters
            .map(|(output, (alone, initial))| {
                let (outputs, objective) = (&alone.outputs, &alone.objective);
                let gain_unit = units
                    .as_ref()
                    .map_or(1.0, |units| f64::from(units[output]).powi(2));
                let only = Only {
                    output: output as u32,
                    n_outputs: all.len(),
                    gain_unit,
                };
                let seed = seed.child(output as u64);
                Booster::new(params, objective, features, outputs, initial, seed, Some(only))
            })
            .collect()
    }
}
