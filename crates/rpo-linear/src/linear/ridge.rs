//! Regularized least squares for each output.

use ndarray::Array2;
use rpo_core::{CheckParams, Domain, InverseLink, Learner, MatrixView, Predictor};
use rpo_projections::Penalty;
use rpo_projections::least_squares::{Design, Ridge, RidgeSolver, identity_panel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LinearModel;
use super::observed::fit_observed;
use super::panels::{PanelOutputs, fit_panels};
use super::penalty_choice::found_alpha;
use crate::checks::{check_data, check_weights};
use crate::scores::check_finite;
use crate::{LinearError, RegressionOptions};

/// Largest leverage for which the prediction of a sample is corrected for its influence on the fit: 1 / (1 − h)
/// magnifies rounding errors.
const MOST_LEVERAGE: f64 = 0.999;

/// Parameters of ridge regression for every output: W = argmin Σᵢ ωᵢ ‖yᵢ - Wᵀxᵢ - b‖² + Σⱼ λⱼ ‖wⱼ‖², where b is not
/// penalized and the sample weights ωᵢ are 1 unless given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RidgeParams {
    /// Penalty on the weights: variance:ALPHA, in units of the variance of the features, or a number, in units of their
    /// mean square.
    ///
    /// Not negative. Default null, found by leaving out one sample at a time, of variance:0.00003 to variance:3000 in
    /// steps of about √10: from variance:0.3 on in the direction in which the squared error falls by 0.3 % or more,
    /// relative to the variance of each output, in the mean over the outputs. At most 5000 samples are fitted for this,
    /// and at most 1000 of them left out. It is variance:0.3 for 2000 features and more, and for samples of groups.
    pub lambda: Option<Penalty>,
}

impl CheckParams for RidgeParams {
    type Error = LinearError;

    fn check(&self) -> Result<(), LinearError> {
        let strength = self.lambda.map(Penalty::strength);
        Ok(Domain::NotNegative.check("lambda", strength)?)
    }
}

impl Learner for RidgeParams {
    type Model = LinearModel;
    type Options<'a> = RegressionOptions<'a>;

    /// Memory: W (p x d), and with missing outputs a copy of X. Fails for weights above the memory limit.
    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: RegressionOptions<'_>,
    ) -> Result<LinearModel, LinearError> {
        self.check()?;
        fit_observed(x, y, options, |x, y, options| {
            let penalty = self.penalty(x, y, options)?;
            let roots = options.weights.map(roots);
            let ridge = equations(&x, penalty, options.weights, roots.as_deref())?;
            solve(&ridge, penalty, (x, y), roots.as_deref(), options)
        })
    }
}

impl RidgeParams {
    /// Returns the model, and the predictions for each sample of a model fitted to all other samples, at the cost of
    /// one fit. `samples` lists the samples to predict (rows of the result, m x d).
    ///
    /// With the leverage hᵢ of sample i ([`Ridge::leverages`]), its prediction is (ŷᵢ − hᵢ yᵢ) / (1 − hᵢ), where ŷᵢ is
    /// that of the model. This is exact for given penalties, which are those for all samples: found ones, or in units of the
    /// variance or the mean square of the features, they would differ slightly without the sample.
    ///
    /// Returns `None`, before the fit, if the normal equations are not factored, as with 2000 features and more, if
    /// outputs are missing, or if a leverage is so close to 1 that the sample alone determines its prediction.
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
        self.check()?;
        if options.missing_outputs && y.reborrow().has_missing() {
            return Ok(None);
        }
        let penalty = self.penalty(x, y, options)?;
        let roots = options.weights.map(roots);
        let ridge = equations(&x, penalty, options.weights, roots.as_deref())?;
        let Some(leverages) = usable_leverages(&ridge, samples)? else {
            return Ok(None);
        };
        let model = solve(&ridge, penalty, (x, y), roots.as_deref(), options)?;
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

    /// Returns the penalty, given or found, after checking the data.
    fn penalty(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: RegressionOptions<'_>,
    ) -> Result<Penalty, LinearError> {
        check_weights(options.weights, x.n_rows())?;
        check_data(x, y, InverseLink::Identity)?;
        match self.lambda {
            Some(penalty) => Ok(penalty),
            None => Ok(Penalty::Variance(found_alpha(x, y, options)?)),
        }
    }
}

/// Returns the normal equations.
pub(super) fn equations<'a, 'x>(
    x: &'a MatrixView<'x>,
    penalty: Penalty,
    weights: Option<&[f32]>,
    factors: Option<&'a [f64]>,
) -> Result<Ridge<'a, MatrixView<'x>>, LinearError> {
    let design = Design {
        rows: x,
        intercept: true,
        factors,
    };
    Ok(Ridge::new(design, penalty.on(x, weights), RidgeSolver::Auto)?)
}

/// Returns the leverages of samples; `None` if they are not known, or if one is so close to 1 that the sample alone
/// determines its prediction.
pub(super) fn usable_leverages(
    ridge: &Ridge<'_, MatrixView<'_>>,
    samples: &[usize],
) -> Result<Option<Vec<f64>>, LinearError> {
    let leverages = ridge.leverages(samples)?;
    Ok(leverages.filter(|all| all.iter().all(|h| *h <= MOST_LEVERAGE)))
}

/// Returns the factors of rows for weighted least squares: the square roots of the weights.
pub(super) fn roots(weights: &[f32]) -> Vec<f64> {
    weights.iter().map(|w| f64::from(*w).sqrt()).collect()
}

fn solve(
    ridge: &Ridge<'_, MatrixView<'_>>,
    penalty: Penalty,
    (x, y): (MatrixView<'_>, MatrixView<'_>),
    factors: Option<&[f64]>,
    options: RegressionOptions<'_>,
) -> Result<LinearModel, LinearError> {
    let model = fit_panels(x, y.n_cols(), InverseLink::Identity, options, |first| {
        Ok(ridge.solve_panel(&PanelOutputs { y, first, factors }, &identity_panel())?)
    })?;
    Ok(LinearModel {
        penalty: Some(penalty),
        ..model
    })
}
