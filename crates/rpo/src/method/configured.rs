//! The estimator of a method as configured: it prepares features, fits, and finds thresholds.

use super::decision::{DecisionParams, WITHHELD};
use super::features::many_valued;
use super::{Estimator, FitContext, Needs, NominalEncoding, OnCheckpoint, StreamDestination, StreamingFit};
use crate::tune::Holdout;
use crate::{Model, ModelError};
use ndarray::Array2;
use rpo_core::{Matrix, ParameterError, Seed};
use rpo_data::Dataset;
use rpo_data::preprocess::{Pipeline, Steps, Transform};
use rpo_ensemble::EnsembleError;
use rpo_ensemble::thresholds::ThresholdRule;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// An estimator with what surrounds it in every method.
#[derive(Debug)]
pub(super) struct Configured {
    pub(super) inner: Box<dyn Estimator>,
    pub(super) method: &'static str,
    /// Thresholds were asked for: where they are a default, a forest too small to have samples out of bag does without.
    pub(super) needs_oob: bool,
    /// All parameters, for the record.
    pub(super) parameters: Map<String, Value>,
    pub(super) steps: Steps,
    /// The encoding of nominal features that was asked for, of a method that splits them natively.
    pub(super) nominal: Option<NominalEncoding>,
    /// No encoding was asked for: beside texts nominal features become indicators, as terms are.
    pub(super) default_nominal: bool,
    pub(super) decision: DecisionParams,
    pub(super) seed: Seed,
}

impl Configured {
    /// Calls `fit` with the pipeline fitted to the data, the prepared data and the matching context.
    fn prepare<T>(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        fit: impl FnOnce(&Pipeline, &Dataset, &FitContext<'_>) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        context.check_start(self, data)?;
        let steps = Steps {
            one_hot: self.steps.one_hot || (self.default_nominal && !data.texts().is_empty()),
            ..self.steps
        };
        let pipeline = steps.fit(data)?;
        if pipeline.is_identity() {
            return fit(&pipeline, &*self.encoded(data)?, context);
        }
        let prepared = pipeline.apply(data)?;
        let prepared = self.encoded(&prepared)?;
        let validation = context.validation.map(|data| pipeline.apply(data)).transpose()?;
        let context = FitContext {
            validation: validation.as_ref(),
            ..*context
        };
        fit(&pipeline, &prepared, &context)
    }

    /// The data with nominal features as they are, for methods to split or to take as numbers, or declared to be numbers.
    fn encoded<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, Dataset>, ModelError> {
        match self.nominal {
            Some(NominalEncoding::Codes) if !data.nominal().is_empty() => {
                let numbers = data.clone().with_nominal(BTreeMap::new());
                Ok(Cow::Owned(numbers?))
            }
            Some(NominalEncoding::Native) if matches!(data.features(), Matrix::Sparse(_)) => {
                let reason = "needs dense features: choose one-hot or codes, or make features dense";
                match many_valued(data).next() {
                    None => Ok(Cow::Borrowed(data)),
                    Some(_) => Err(ParameterError::conflict("nominal", "native", reason).into()),
                }
            }
            _ => Ok(Cow::Borrowed(data)),
        }
    }

    /// Fits by a function of the prepared data and a completion that gives models their pipeline, record and decisions.
    fn fit_by<T>(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        fit: impl FnOnce(&Dataset, &FitContext<'_>, &Complete<'_>) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        let found = match self.decision.thresholds {
            Some(rule) if !self.has_oob() => Some(self.withheld_thresholds(rule, data, context)?),
            _ => None,
        };
        self.prepare(data, context, |pipeline, prepared, context| {
            let complete = |model: Model| {
                let model = model.with_pipeline(pipeline.clone(), data)?;
                let model = model
                    .with_parameters(self.parameters.clone())
                    .with_decision(self.decision.decide);
                match (self.decision.thresholds, &found) {
                    (None, _) => Ok(model),
                    (Some(_), Some(found)) => model.with_thresholds(Some(found.clone())),
                    (Some(rule), None) => match model.clone().with_oob_thresholds(rule, data) {
                        Err(ModelError::Ensemble(EnsembleError::NoBootstrap)) if !self.needs_oob => Ok(model),
                        decided => decided,
                    },
                }
            };
            fit(prepared, context, &complete)
        })
    }

    /// Thresholds by a first fit to a part of the samples, where the model has no out-of-bag predictions.
    fn withheld_thresholds(
        &self,
        rule: ThresholdRule,
        data: &Dataset,
        context: &FitContext<'_>,
    ) -> Result<Vec<f64>, ModelError> {
        let fraction = self.decision.threshold_share.unwrap_or(WITHHELD);
        let parts = Holdout::new(data, fraction, self.seed.purpose("decision thresholds"))?;
        let first = FitContext {
            on_step: None,
            start: None,
            ..*context
        };
        let model = self.prepare(&parts.train, &first, |pipeline, prepared, context| {
            let model = self.inner.fit(prepared, context)?;
            model.with_pipeline(pipeline.clone(), &parts.train)
        })?;
        let withheld = &parts.validation;
        let decided =
            model.with_withheld_thresholds(rule, withheld.features().view(), withheld.outputs().view())?;
        Ok(decided.thresholds().expect("they were just set").to_vec())
    }
}

/// Completes a model of the inner estimator.
type Complete<'a> = dyn Fn(Model) -> Result<Model, ModelError> + 'a;

impl Estimator for Configured {
    fn method(&self) -> &str {
        self.method
    }

    fn parameters(&self) -> Map<String, Value> {
        self.parameters.clone()
    }

    fn check(&self) -> Result<(), ModelError> {
        self.inner.check()
    }

    fn needs(&self) -> Needs {
        let needs = self.inner.needs();
        Needs {
            observed_features: needs.observed_features && self.steps.impute.is_none(),
            ..needs
        }
    }

    fn n_steps(&self) -> usize {
        self.inner.n_steps()
    }

    fn has_oob(&self) -> bool {
        self.inner.has_oob()
    }

    fn keeps_best(&self) -> bool {
        self.inner.keeps_best()
    }

    fn continues(&self) -> bool {
        self.inner.continues()
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        self.fit_by(data, context, |prepared, context, complete| {
            complete(self.inner.fit(prepared, context)?)
        })
    }

    fn fit_leaving_one_out(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        samples: &[usize],
    ) -> Result<Option<(Model, Array2<f32>)>, ModelError> {
        self.fit_by(data, context, |prepared, context, complete| {
            let fitted = self.inner.fit_leaving_one_out(prepared, context, samples)?;
            let completed = fitted.map(|(model, scores)| Ok((complete(model)?, scores)));
            completed.transpose()
        })
    }

    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        on_checkpoint: &mut OnCheckpoint<'_>,
    ) -> Result<Model, ModelError> {
        self.fit_by(data, context, |prepared, context, complete| {
            let mut on_complete = |step: usize, model: &Model| on_checkpoint(step, &complete(model.clone())?);
            let model = self
                .inner
                .fit_in_parts(prepared, context, steps, &mut on_complete)?;
            complete(model)
        })
    }

    fn streaming(&self) -> Option<&dyn StreamingFit> {
        let streams = self.decision == DecisionParams::default() && self.inner.streaming().is_some();
        streams.then_some(self)
    }
}

impl StreamingFit for Configured {
    fn fit_to_file(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        destination: &StreamDestination<'_>,
    ) -> Result<u64, ModelError> {
        let inner = self
            .inner
            .streaming()
            .expect("only methods that stream are asked to");
        self.prepare(data, context, |pipeline, prepared, context| {
            let destination = StreamDestination {
                pipeline: Some((pipeline, data)).filter(|(pipeline, _)| !pipeline.is_identity()),
                ..*destination
            };
            inner.fit_to_file(prepared, context, &destination)
        })
    }
}
