//! Boosting fits with their history, for the tests of boosting.

use ndarray::{Array2, ArrayView2};
use rpo_core::{Learner, MatrixView};
use rpo_ensemble::EnsembleError;
use rpo_ensemble::boosting::{
    Boosted, BoostingOptions, BoostingParams, History, LossKind, TrainingForm, Validation,
};
use rpo_projections::{Components, Projection};
use std::sync::Arc;

/// The losses of the paper.
pub(crate) const PAPER_LOSSES: [LossKind; 3] = [LossKind::Square, LossKind::Absolute, LossKind::Logistic];

/// Parameters with the custom parts of a fit.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) params: BoostingParams,
    form: TrainingForm,
    projection: Option<Arc<dyn Projection>>,
}

impl From<BoostingParams> for Setup {
    fn from(params: BoostingParams) -> Self {
        Self {
            params,
            form: TrainingForm::Auto,
            projection: None,
        }
    }
}

/// A model and the history of its fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fitted {
    pub(crate) model: Boosted,
    pub(crate) history: History,
}

impl Setup {
    pub(crate) fn form(self, form: TrainingForm) -> Self {
        Self { form, ..self }
    }

    pub(crate) fn projection(mut self, family: Arc<dyn Projection>, components: usize) -> Self {
        self.params.components = Some(Components::Exact(components));
        Self {
            projection: Some(family),
            ..self
        }
    }

    pub(crate) fn fit(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<Fitted, EnsembleError> {
        self.fit_with(x, y, BoostingOptions::default())
    }

    #[expect(clippy::needless_pass_by_value, reason = "called as the library's function")]
    pub(crate) fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: BoostingOptions<'_>,
    ) -> Result<Fitted, EnsembleError> {
        let mut history = History::default();
        // The lifetimes of views are not shortened implicitly.
        let BoostingOptions {
            weights,
            cell_weights,
            missing_outputs,
            validation,
            start,
            ..
        } = options;
        let validation = validation.as_ref().map(|v| Validation {
            x: v.x.reborrow(),
            metric: v.metric,
            ..*v
        });
        let options = BoostingOptions {
            weights,
            cell_weights: cell_weights.as_ref().map(ArrayView2::view),
            missing_outputs,
            validation,
            start,
            training_form: self.form,
            projection: self.projection.clone(),
            history: Some(&mut history),
            ..Default::default()
        };
        let model = self.params.fit_with(x, y, options)?;
        Ok(Fitted { model, history })
    }
}

/// Fits a model to dense data.
pub(crate) fn try_fit(
    setup: impl Into<Setup>,
    x: &Array2<f32>,
    y: &Array2<f32>,
) -> Result<Boosted, EnsembleError> {
    Ok(setup.into().fit(x.into(), y.into())?.model)
}
