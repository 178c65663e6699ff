//! The estimator of a configured method: prepares features, fits, and finds thresholds.

use super::decision::{DecisionParams, WITHHELD};
use super::encoding_targets::encoding_targets;
use super::features::{FeatureParams, StandardizedBy, many_valued};
use super::{Estimator, FitContext, Needs, NominalEncoding, OnCheckpoint, StreamDestination, StreamingFit};
use crate::decision::nothing_to_find;
use crate::tune::Holdout;
use crate::{Decision, IntervalSource, Model, ModelError, ThresholdSource};
use ndarray::{Array2, ArrayView1};
use rpo_core::{DEFAULT_MEMORY_LIMIT, Matrix, ParameterError, Predictor, Seed, is_probability};
use rpo_data::preprocess::{Encoding, Pipeline, Transform};
use rpo_data::{Dataset, Task};
use rpo_ensemble::EnsembleError;
use rpo_ensemble::thresholds::ThresholdRule;
use rpo_metrics::Metric;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// An estimator with the preparation and decisions that surround every method.
#[derive(Debug)]
pub(super) struct Configured {
    pub(super) inner: Box<dyn Estimator>,
    pub(super) method: &'static str,
    /// True if thresholds were set explicitly. Default thresholds are omitted for a forest too small to have out-of-bag
    /// samples, for a single group, and for scores that take too much memory.
    pub(super) needs_thresholds: bool,
    /// All parameters, for the record of the model.
    pub(super) parameters: Map<String, Value>,
    pub(super) features: FeatureParams,
    /// The method's default encoding of nominal features.
    pub(super) default_nominal: NominalEncoding,
    /// When the method standardizes features by default.
    pub(super) standardized_by: StandardizedBy,
    /// True for a method of members, which prepare features themselves.
    pub(super) is_ensemble: bool,
    pub(super) decision: DecisionParams,
    pub(super) seed: Seed,
}

impl Configured {
    /// Calls `fit` with the fitted pipeline, the prepared data and the matching context.
    fn prepare<T>(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        fit: impl FnOnce(&Pipeline, &Dataset, &FitContext<'_>) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        context.check(self, data)?;
        context.check_start_parameters(&self.recorded(data))?;
        let nominal = self.nominal(data);
        let targets = match nominal {
            NominalEncoding::Target if many_valued(data).next().is_some() => {
                let components = self.features.nominal_components.unwrap_or(COMPONENTS);
                let seed = self.seed.purpose("target encoding");
                Some(encoding_targets(data, components, seed)?)
            }
            _ => None,
        };
        let encoding = match (&targets, nominal) {
            (Some(targets), _) => Encoding::Target(targets),
            (None, NominalEncoding::OneHot) => Encoding::OneHot,
            (None, _) => Encoding::Positions,
        };
        let standardize = self.features.standardized(self.standardized_by, nominal, data);
        let steps = self.features.steps(encoding, standardize, self.is_ensemble);
        let (pipeline, prepared) = steps.fit_apply(data)?;
        let prepared = self.checked(prepared, nominal)?;
        if pipeline.is_identity() {
            return fit(&pipeline, &prepared, context);
        }
        let validation = context.validation.map(|data| pipeline.apply(data)).transpose()?;
        let context = FitContext {
            validation: validation.as_ref(),
            ..*context
        };
        fit(&pipeline, &prepared, &context)
    }

    /// Returns true if features may become means of targets.
    fn encodes_targets(&self) -> bool {
        self.features.nominal == Some(NominalEncoding::Target)
    }

    /// Returns true if missing categories become means or indicators, which are observed.
    fn encodes_missing_categories(&self) -> bool {
        let nominal = self.features.nominal.unwrap_or(self.default_nominal);
        matches!(nominal, NominalEncoding::OneHot | NominalEncoding::Target)
    }

    /// The encoding of nominal features. Beside texts, and for sparse features, the default is indicators, because a 0
    /// that is not stored would be a feature's first value.
    fn nominal(&self, data: &Dataset) -> NominalEncoding {
        let is_sparse = || !data.texts().is_empty() || matches!(data.features(), Matrix::Sparse(_));
        match self.features.nominal {
            Some(nominal) => nominal,
            None if !self.is_ensemble && is_sparse() => NominalEncoding::OneHot,
            None => self.default_nominal,
        }
    }

    /// The parameters recorded in a model of these data, from which an equal model can be fitted. If the data have
    /// categories, the chosen encoding is recorded, as it would differ for other columns. Numbers have no thresholds.
    fn recorded(&self, data: &Dataset) -> Map<String, Value> {
        let mut parameters = self.parameters.clone();
        if !data.has_labels()
            && let Some(thresholds) = parameters.get_mut("thresholds")
        {
            *thresholds = Value::Null;
        }
        if many_valued(data).next().is_some()
            && let Some(nominal) = parameters.get_mut("nominal")
        {
            *nominal = serde_json::json!(self.nominal(data));
        }
        parameters
    }

    /// Adapts the data to the encoding: declares nominal features numeric for codes in methods that could split them,
    /// and refuses native splits of sparse features.
    fn checked<'a>(
        &self,
        data: Cow<'a, Dataset>,
        nominal: NominalEncoding,
    ) -> Result<Cow<'a, Dataset>, ModelError> {
        let splits = self.default_nominal == NominalEncoding::Native;
        match nominal {
            NominalEncoding::Codes if splits && !data.nominal().is_empty() => {
                let numbers = data.into_owned().with_nominal(BTreeMap::new());
                Ok(Cow::Owned(numbers?))
            }
            NominalEncoding::Native if matches!(data.features(), Matrix::Sparse(_)) => {
                let reason = "needs dense features: choose one-hot, target or codes, or make features dense";
                let is_split = many_valued(&data).next().is_some();
                match is_split {
                    false => Ok(data),
                    true => Err(ParameterError::conflict("nominal", "native", reason).into()),
                }
            }
            _ => Ok(data),
        }
    }

    /// Prepares the data and calls `fit` with a completion that adds the pipeline, record and decisions to each model.
    fn fit_by<T>(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        fit: impl FnOnce(&Dataset, &FitContext<'_>, &Complete<'_>) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        let data = &*data.for_training();
        let rule = self.rule(data)?;
        let found = self.found_on_withheld(data, rule, context)?;
        let context = &match &found {
            Some(_) => half_of_the_time(context),
            None => *context,
        };
        self.prepare(data, context, |pipeline, prepared, context| {
            let complete = |model: Model| {
                let mut parameters = self.recorded(data);
                if self.decision.decide == Decision::ExpectedF1 {
                    check_probabilities(&model, prepared)?;
                }
                let model = match (self.decision.intervals, &found) {
                    (None, _) => model,
                    (Some(_), Some(found)) => {
                        let intervals = found.intervals().cloned();
                        model.with_intervals(IntervalSource::Given(intervals))?
                    }
                    (Some(level), None) => model.with_intervals(IntervalSource::OutOfBag(level, prepared))?,
                };
                let decided = match (rule, &found) {
                    (None, _) => model,
                    (Some(_), Some(found)) => {
                        model.with_thresholds(found.thresholds().map(<[f64]>::to_vec))?
                    }
                    // Uses the features of training, in which means of targets are out of fold.
                    (Some(rule), None) => match model
                        .clone()
                        .with_thresholds(ThresholdSource::OutOfBag(rule, prepared))
                    {
                        Err(ModelError::Ensemble(EnsembleError::NoBootstrap)) if !self.needs_thresholds => {
                            model
                        }
                        decided => decided?,
                    },
                };
                if decided.thresholds().is_none()
                    && let Some(thresholds) = parameters.get_mut("thresholds")
                {
                    // A fit with the record would refuse thresholds that cannot be found. `auto` finds none if the scores
                    // of the withheld samples take too much memory.
                    *thresholds = Value::Null;
                }
                let mut completed = decided.with_pipeline(pipeline.clone(), data)?;
                completed.parameters = parameters;
                completed.decision = self.decision.decide;
                Ok(completed)
            };
            fit(prepared, context, &complete)
        })
    }

    /// The rule for thresholds. Default ones are left out if all labels are classes of columns, if all samples are of one
    /// group, none of which can be withheld, or if the scores on which they are found take too much memory.
    fn rule(&self, data: &Dataset) -> Result<Option<ThresholdRule>, ModelError> {
        let Some(rule) = self.decision.thresholds else {
            return Ok(None);
        };
        let fits = self.check_scores(data);
        let has_single = !data.single_labels().is_empty();
        if self.needs_thresholds {
            if !data.class_columns().is_empty() && !has_single {
                return Err(nothing_to_find(rule).into());
            }
            fits?;
            return Ok(Some(rule));
        }
        let has_samples = data.groups().is_none() || data.n_groups() > 1;
        Ok((has_samples && has_single && fits.is_ok()).then_some(rule))
    }

    /// Checks, before there is a model, that the scores on which thresholds are found take no more memory than
    /// predictions may.
    fn check_scores(&self, data: &Dataset) -> Result<(), ModelError> {
        let share = match self.finds_out_of_bag(data) {
            true => 1.0,
            false => self.withheld_share(),
        };
        let n_scored = (data.n_samples() as f64 * share) as usize;
        ModelError::check_scores(n_scored, data.n_outputs(), DEFAULT_MEMORY_LIMIT)
    }

    /// Returns true if thresholds and intervals are found on out-of-bag predictions.
    fn finds_out_of_bag(&self, data: &Dataset) -> bool {
        self.inner.has_oob() && data.groups().is_none()
    }

    /// The fraction of the samples that are withheld to find thresholds or intervals.
    fn withheld_share(&self) -> f64 {
        self.decision.calibration_share.unwrap_or(WITHHELD)
    }

    /// A model with thresholds or intervals that is fitted to a subset of the samples, to find them on the others, for
    /// models without out-of-bag predictions and for samples of groups. An out-of-bag prediction is made by trees that
    /// saw other samples of the same group, and is too good for new groups. Bags of whole groups would be an alternative,
    /// but models draw their bags anew from the seed and the number of samples, and the forest should not depend on what
    /// is done with its predictions.
    fn found_on_withheld(
        &self,
        data: &Dataset,
        thresholds: Option<ThresholdRule>,
        context: &FitContext<'_>,
    ) -> Result<Option<Model>, ModelError> {
        let DecisionParams {
            intervals,
            calibration_share,
            ..
        } = self.decision;
        let has_oob = self.finds_out_of_bag(data);
        if let (true, Some(share)) = (has_oob, calibration_share) {
            let reason = "is for samples with groups and for methods without out-of-bag predictions";
            return Err(ParameterError::conflict("calibration_share", share, reason).into());
        }
        if thresholds.is_none() && intervals.is_none() || has_oob {
            return Ok(None);
        }
        let parts = Holdout::new(
            data,
            self.withheld_share(),
            self.seed.purpose("decision thresholds"),
        )?;
        let first = FitContext {
            on_step: None,
            on_total: None,
            on_score: None,
            start: None,
            ..half_of_the_time(context)
        };
        let mut model = self.prepare(&parts.train, &first, |pipeline, prepared, context| {
            let model = self.inner.fit(prepared, context)?;
            model.with_pipeline(pipeline.clone(), &parts.train)
        })?;
        if let Some(rule) = thresholds {
            model = model.with_thresholds(ThresholdSource::Withheld(rule, &parts.validation))?;
        }
        if let Some(level) = intervals {
            model = model.with_intervals(IntervalSource::Withheld(level, &parts.validation))?;
        }
        Ok(Some(model))
    }
}

/// The context of one of two fits that share a time limit.
fn half_of_the_time<'a>(context: &FitContext<'a>) -> FitContext<'a> {
    FitContext {
        time_share: Some(context.share_of(0.5)),
        ..*context
    }
}

/// Number of training samples whose scores tell whether they are probabilities.
const CHECKED: usize = 256;

/// Refuses decisions by expected F1 for a model whose scores of labels are not probabilities, which the first samples
/// show.
fn check_probabilities(model: &Model, data: &Dataset) -> Result<(), ModelError> {
    let refuse = |reason| Err(ParameterError::conflict("decide", "f1", reason).into());
    let labels = model.labels();
    if labels.is_empty() {
        return refuse("decides on labels, but the outputs are numbers");
    }
    let first: Vec<usize> = (0..data.n_samples().min(CHECKED)).collect();
    let scores = model.predict(data.features().view().select_rows(&first).view())?;
    let is_probable =
        |row: ArrayView1<'_, f32>| labels.iter().all(|&label| is_probability(row[label].into()));
    match scores.rows().into_iter().all(is_probable) {
        true => Ok(()),
        false => refuse("needs probabilities, but scores of the method lie outside of 0 to 1"),
    }
}

/// Default number of columns that target encoding makes of a feature.
const COMPONENTS: usize = 16;

/// Completes a model of the inner estimator.
type Complete<'a> = dyn Fn(Model) -> Result<Model, ModelError> + Sync + 'a;

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
            observed_features: needs.observed_features && self.features.impute.is_none(),
            missing_categories: self.encodes_missing_categories(),
            ..needs
        }
    }

    fn quantile_levels(&self) -> Vec<f64> {
        self.inner.quantile_levels()
    }

    fn default_metric(&self, task: Task, n_outputs: usize) -> Metric {
        self.inner.default_metric(task, n_outputs)
    }

    fn n_steps(&self) -> usize {
        self.inner.n_steps()
    }

    /// No out-of-bag predictions under target encoding: the features of a sample would contain its own targets.
    fn has_oob(&self) -> bool {
        self.inner.has_oob() && !self.encodes_targets()
    }

    fn has_unit_of_weights(&self) -> bool {
        self.inner.has_unit_of_weights()
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
        if self.encodes_targets() {
            return Ok(None);
        }
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
            let n_steps = self.n_steps();
            // The model of the last checkpoint, as completing it again could take as long as the fit. Earlier ones are not
            // kept: a forest that shares its trees with another model copies them to grow.
            let mut last = None;
            let mut on_complete = |step: usize, model: &Model| {
                let completed = complete(model.clone())?;
                let flow = on_checkpoint(step, &completed)?;
                last = (step >= n_steps || flow.is_break()).then_some(completed);
                Ok(flow)
            };
            let model = self
                .inner
                .fit_in_parts(prepared, context, steps, &mut on_complete)?;
            last.map_or_else(|| complete(model), Ok)
        })
    }

    fn streaming(&self) -> Option<&dyn StreamingFit> {
        // Thresholds and intervals are found on predictions of the whole model.
        let finds = self.decision.thresholds.is_some() || self.decision.intervals.is_some();
        (!finds && self.inner.streaming().is_some()).then_some(self)
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
        let data = &*data.for_training();
        let parameters = &self.recorded(data);
        self.prepare(data, context, |pipeline, prepared, context| {
            let destination = StreamDestination {
                parameters,
                pipeline: Some((pipeline, data)).filter(|(pipeline, _)| !pipeline.is_identity()),
                decision: self.decision.decide,
                ..*destination
            };
            inner.fit_to_file(prepared, context, &destination)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;
    use rpo_data::generate::{Generator, MultiLabelSet};

    #[test]
    fn two_fits_share_a_time_limit() {
        let whole = FitContext::default();
        let half = half_of_the_time(&whole);
        let quarter = half_of_the_time(&half);
        let parts = [whole, half, quarter].map(|context| context.share_of(10.0));
        assert_eq!(parts, [10.0, 5.0, 2.5]);
    }

    #[test]
    fn shares_of_time_are_fractions() {
        let data = MultiLabelSet::new(20, 5, 3).generate(Seed::new(1)).unwrap();
        let method: Method = "random-forest --trees 2".parse().unwrap();
        let fits = |time_share| {
            let context = FitContext {
                time_share: Some(time_share),
                ..FitContext::default()
            };
            Model::fit_with(&method, &data, &context).is_ok()
        };
        assert_eq!(
            [0.5, 1.0, 0.0, 1.5, f64::NAN].map(fits),
            [true, true, false, false, false]
        );
    }
}
