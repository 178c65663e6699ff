//! Regularized least squares, output by output.

use rpo_core::{InverseLink, MatrixView, check_not_negative};
use rpo_projections::Penalty;
use rpo_projections::least_squares::{LANES, Lanes, Ridge, RidgeSolver};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinearModel;
use super::panels::{PanelOutputs, fit_panels};
use crate::checks::check_data;
use crate::{FitOptions, LinearError};

/// Parameters of ridge regression for every output: W = argmin ‖Y - XW - 1bᵀ‖² + Σⱼ λⱼ ‖wⱼ‖², b free of penalty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RidgeParams {
    /// Penalty on the weights: variance:ALPHA, in units of the variance of the features, or a number, in units of their
    /// mean square.
    ///
    /// Not negative. Default `variance:0.3`: within a few percent of the best Hamming loss, on held-out training samples,
    /// of sets of 6 to 983 labels, dense and sparse.
    pub lambda: Penalty,
}

impl Default for RidgeParams {
    fn default() -> Self {
        Self {
            lambda: Penalty::Variance(0.3),
        }
    }
}

impl RidgeParams {
    /// Checks the parameters, as [`fit`](Self::fit) does.
    ///
    /// # Errors
    /// [`LinearError::Parameter`].
    pub fn check(&self) -> Result<(), LinearError> {
        Ok(check_not_negative("lambda", self.lambda.strength())?)
    }

    /// Fits a model to features `x` (n x p) and outputs `y` (n x d). Memory: W (p x d).
    ///
    /// # Errors
    /// [`LinearError`] for a parameter out of range, sizes that do not match, values that are not finite, or weights above
    /// the memory limit.
    pub fn fit(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<LinearModel, LinearError> {
        self.fit_with(x, y, FitOptions::default())
    }

    /// [`fit`](Self::fit) with options.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: FitOptions<'_>,
    ) -> Result<LinearModel, LinearError> {
        self.check()?;
        check_data(x, y, InverseLink::Identity)?;
        let ridge = Ridge::new(&x, self.lambda.on(&x), true, RidgeSolver::Auto)?;
        let identity: [Lanes; LANES] =
            std::array::from_fn(|j| std::array::from_fn(|lane| if j == lane { 1.0 } else { 0.0 }));
        let shape = (x.n_cols(), y.n_cols());
        fit_panels(shape, InverseLink::Identity, x.n_rows(), options, |first| {
            Ok(ridge.solve_panel(&PanelOutputs { y, first }, &identity)?)
        })
    }
}
