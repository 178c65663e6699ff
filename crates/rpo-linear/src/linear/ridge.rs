//! Regularized least squares for each output.

use ndarray::Array2;
use rpo_core::{CheckParams, Domain, InverseLink, Learner, MatrixView, Predictor};
use rpo_projections::Penalty;
use rpo_projections::least_squares::{Design, LANES, Lanes, Ridge, RidgeSolver};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinearModel;
use super::panels::{PanelOutputs, fit_panels};
use crate::checks::{check_data, check_weights};
use crate::scores::check_finite;
use crate::{LinearError, RegressionOptions};

/// Largest leverage for which the prediction of a sample is corrected for its influence on the fit: 1 / (1 − h)
/// magnifies the rounding errors of `f32`.
const MOST_LEVERAGE: f64 = 0.999;

/// Parameters of ridge regression for every output: W = argmin Σᵢ ωᵢ ‖yᵢ - Wᵀxᵢ - b‖² + Σⱼ λⱼ ‖wⱼ‖², where b is not
/// penalized and the sample weights ωᵢ are 1 unless given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RidgeParams {
    /// Penalty on the weights: variance:ALPHA, in units of the variance of the features, or a number, in units of their
    /// mean square.
    ///
    /// Not negative. Default `variance:0.3`: within a few percent of the best Hamming loss on held-out training
    /// samples, on data sets of 6 to 983 labels, dense and sparse.
    pub lambda: Penalty,
}

impl Default for RidgeParams {
    fn default() -> Self {
        Self {
            lambda: Penalty::Variance(0.3),
        }
    }
}

impl CheckParams for RidgeParams {
    type Error = LinearError;

    fn check(&self) -> Result<(), LinearError> {
        Ok(Domain::NotNegative.check("lambda", self.lambda.strength())?)
    }
}

impl Learner for RidgeParams {
    type Model = LinearModel;
    type Options<'a> = RegressionOptions<'a>;

    /// Memory: W (p x d). Fails for weights above the memory limit.
    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: RegressionOptions<'_>,
    ) -> Result<LinearModel, LinearError> {
        check_weights(options.weights, x.n_rows())?;
        let roots = options.weights.map(roots);
        let ridge = self.equations(&x, y, options.weights, roots.as_deref())?;
        solve(&ridge, x, y, roots.as_deref(), options)
    }
}

impl RidgeParams {
    /// Returns the model, and the predictions for each sample of a model fitted to all other samples, at the cost of
    /// one fit. `samples` lists the samples to predict (rows of the result, m x d).
    ///
    /// With the leverage hᵢ of sample i ([`Ridge::leverages`]), its prediction is (ŷᵢ − hᵢ yᵢ) / (1 − hᵢ), where ŷᵢ is
    /// that of the model. This is exact for given penalties, which are those for all samples: in units of the variance or the
    /// mean square of the features, they would differ slightly without the sample.
    ///
    /// Returns `None`, before the fit, if the normal equations are not factored, as with 2000 features and more, or if
    /// a leverage is so close to 1 that the sample alone determines its prediction.
    ///
    /// Source: Allen, Technometrics 16, 1974.
    ///
    /// # Errors
    /// As for [`fit`](Learner::fit), and predictions above the memory limit or beyond the range of `f32`.
    ///
    /// # Panics
    /// If a sample index is out of range.
    pub fn fit_leaving_one_out(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        samples: &[usize],
        options: RegressionOptions<'_>,
    ) -> Result<Option<(LinearModel, Array2<f32>)>, LinearError> {
        check_weights(options.weights, x.n_rows())?;
        let roots = options.weights.map(roots);
        let ridge = self.equations(&x, y, options.weights, roots.as_deref())?;
        let leverages = ridge.leverages(samples)?;
        let Some(leverages) = leverages.filter(|all| all.iter().all(|h| *h <= MOST_LEVERAGE)) else {
            return Ok(None);
        };
        let model = solve(&ridge, x, y, roots.as_deref(), options)?;
        let mut scores = model.predict(x.select_rows(samples).view())?;
        let mut outputs = vec![0.0; y.n_cols()];
        for ((scores, h), &sample) in scores.rows_mut().into_iter().zip(leverages).zip(samples) {
            y.copy_row(sample, &mut outputs);
            for (score, &y) in scores.into_iter().zip(&outputs) {
                let y = f64::from(y);
                // (ŷ − hy) / (1 − h), without cancellation.
                *score = (y + (f64::from(*score) - y) / (1.0 - h)) as f32;
            }
        }
        check_finite(scores.view(), 0)?;
        Ok(Some((model, scores)))
    }

    /// Returns the normal equations, after checking the data.
    fn equations<'a, 'x>(
        &self,
        x: &'a MatrixView<'x>,
        y: MatrixView<'_>,
        weights: Option<&[f32]>,
        roots: Option<&'a [f64]>,
    ) -> Result<Ridge<'a, MatrixView<'x>>, LinearError> {
        self.check()?;
        check_data(*x, y, InverseLink::Identity)?;
        let design = Design {
            rows: x,
            intercept: true,
            factors: roots,
        };
        Ok(Ridge::new(design, self.lambda.on(x, weights), RidgeSolver::Auto)?)
    }
}

/// Returns the factors of rows for weighted least squares: the square roots of the weights.
fn roots(weights: &[f32]) -> Vec<f64> {
    weights.iter().map(|w| f64::from(*w).sqrt()).collect()
}

fn solve(
    ridge: &Ridge<'_, MatrixView<'_>>,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    factors: Option<&[f64]>,
    options: RegressionOptions<'_>,
) -> Result<LinearModel, LinearError> {
    let identity: [Lanes; LANES] =
        std::array::from_fn(|j| std::array::from_fn(|lane| if j == lane { 1.0 } else { 0.0 }));
    fit_panels(x, y.n_cols(), InverseLink::Identity, options, |first| {
        Ok(ridge.solve_panel(&PanelOutputs { y, first, factors }, &identity)?)
    })
}
