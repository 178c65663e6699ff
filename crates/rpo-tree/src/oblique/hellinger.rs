//! Parameters of hyperplanes with large Hellinger distance.

use crate::{CheckParams, TreeError};
use rpo_core::{Domain, ParameterError, math};
use serde::{Deserialize, Serialize};

/// Increase of the sharpness α of the soft assignment with the steps: `start · growth^⌊step/every⌋`, at most `end`.
///
/// With a small α every sample affects the hyperplane; with a large one only samples near it do. Default 0.1,
/// multiplied by 1.5 every 10 steps up to 4 (the paper, below its eq. 4).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sharpness {
    /// α of the first steps, positive.
    pub start: f64,
    /// Factor by which α grows, at least 1.
    pub growth: f64,
    /// Number of steps between two increases, at least 1.
    pub every: usize,
    /// Largest α, at least `start`; used in the second stage.
    pub end: f64,
}

impl Default for Sharpness {
    fn default() -> Self {
        Self {
            start: 0.1,
            growth: 1.5,
            every: 10,
            end: 4.0,
        }
    }
}

impl Sharpness {
    /// Returns α at a step, counted from 0.
    pub(crate) fn at(&self, step: usize) -> f64 {
        let times = u32::try_from(step / self.every).unwrap_or(u32::MAX);
        (self.start * math::powi(self.growth, times)).min(self.end)
    }
}

/// Parameters of hyperplanes with large Hellinger distance. Defaults are the paper's where it gives them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HellingerParams {
    /// ADAM steps of each stage, from 1 to 100,000. Default 200 (not in the paper): α reaches 4 after 100.
    pub descent_steps: usize,
    /// Samples in a mini-batch, at least 2. Default 1000.
    pub batch_size: usize,
    /// ADAM's learning rate, positive. Default 0.05.
    pub step_size: f64,
    /// Growth of α in the first stage.
    pub sharpness: Sharpness,
    /// Largest ρ, in [0, 1): γ = ρ d² / ‖w‖₁ with ρ = min(ln(1 + features/samples), `rho`), so that the penalty starts
    /// at a fraction ρ of the distance (eq. 10). Default 0.4; 0 means no penalty.
    pub rho: f64,
    /// η of the penalty's smooth absolute value, positive. Default 10⁶.
    pub eta: f64,
    /// Penalises the bias with the other weights, as eq. 8 prints. Default true.
    pub penalize_bias: bool,
    /// λ of the least-squares start, relative to the mean diagonal of AᵀA; positive. Default 1e-6; the paper has none,
    /// but its system is singular if a node has fewer samples than features.
    pub ridge: f64,
    /// Magnitude up to which weights (of standardised features) are set to 0 afterwards, if that moves no training
    /// sample of the node to the other side; otherwise half of it is tried, a few times over. Not negative; 0 keeps all
    /// weights. Default 0.01: ADAM at a fixed rate oscillates about 0 by as much and never reaches it, so that without
    /// pruning no hyperplane is sparse.
    pub prune: f64,
}

impl Default for HellingerParams {
    fn default() -> Self {
        Self {
            descent_steps: 200,
            batch_size: 1000,
            step_size: 0.05,
            sharpness: Sharpness::default(),
            rho: 0.4,
            eta: 1e6,
            penalize_bias: true,
            ridge: 1e-6,
            prune: 0.01,
        }
    }
}

impl CheckParams for HellingerParams {
    type Error = TreeError;

    fn check(&self) -> Result<(), TreeError> {
        let Sharpness {
            start,
            growth,
            every,
            end,
        } = self.sharpness;
        // A node is not interrupted.
        let steps = self.descent_steps;
        ParameterError::unless(
            (1..=100_000).contains(&steps),
            "descent_steps",
            steps,
            "from 1 to 100000",
        )?;
        ParameterError::unless(self.batch_size > 1, "batch_size", self.batch_size, "at least 2")?;
        Domain::Positive.check("step_size", self.step_size)?;
        Domain::Positive.check("sharpness.start", start)?;
        let grows = (1.0..f64::INFINITY).contains(&growth);
        ParameterError::unless(grows, "sharpness.growth", growth, "finite, at least 1")?;
        Domain::Count.check("sharpness.every", every)?;
        let follows = (start..f64::INFINITY).contains(&end);
        ParameterError::unless(follows, "sharpness.end", end, "finite, at least the first alpha")?;
        Domain::BelowOne.check("rho", self.rho)?;
        Domain::Positive.check("eta", self.eta)?;
        Domain::Positive.check("ridge", self.ridge)?;
        Ok(Domain::NotNegative.check("prune", self.prune)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schedule of the paper.
    #[test]
    fn alpha_grows_by_half_every_ten_steps_up_to_four() {
        let sharpness = Sharpness::default();
        let listed = [
            0.1,
            0.15,
            0.225,
            0.3375,
            0.50625,
            0.759375,
            1.1390625,
            1.70859375,
            2.562890625,
            3.8443359375,
        ];
        for step in 0..100 {
            assert!(
                (sharpness.at(step) / listed[step / 10] - 1.0).abs() < 1e-12,
                "{step}"
            );
        }
        assert!(
            (100..300)
                .chain([usize::MAX])
                .all(|step| sharpness.at(step) == 4.0)
        );
    }

    #[test]
    fn parameters_are_checked_at_their_bounds() {
        let name = |change: fn(&mut HellingerParams)| {
            let mut params = HellingerParams::default();
            change(&mut params);
            match params.check() {
                Err(TreeError::Parameter(ParameterError::OutOfRange { name, .. })) => name,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(HellingerParams::default().check(), Ok(()));
        assert_eq!(name(|p| p.descent_steps = 0), "descent_steps");
        assert_eq!(name(|p| p.descent_steps = 100_001), "descent_steps");
        assert_eq!(name(|p| p.batch_size = 1), "batch_size");
        assert_eq!(name(|p| p.step_size = f64::NAN), "step_size");
        assert_eq!(name(|p| p.sharpness.start = 0.0), "sharpness.start");
        assert_eq!(name(|p| p.sharpness.start = f64::NAN), "sharpness.start");
        assert_eq!(name(|p| p.sharpness.growth = 0.99), "sharpness.growth");
        assert_eq!(name(|p| p.sharpness.every = 0), "sharpness.every");
        assert_eq!(name(|p| p.sharpness.end = 0.05), "sharpness.end");
        assert_eq!(name(|p| p.rho = 1.0), "rho");
        assert_eq!(name(|p| p.rho = -0.1), "rho");
        assert_eq!(name(|p| p.eta = f64::INFINITY), "eta");
        assert_eq!(name(|p| p.ridge = 0.0), "ridge");
        assert_eq!(name(|p| p.prune = -1e-9), "prune");
    }
}
