//! Named methods with parameters as data, as used by the command line, searches, experiments and bindings.
//!
//! A [`Method`] is the name of a registered method with the parameters that were set; all others have the method's
//! defaults. Parameters are plain serde structures ([`ForestParams`](rpo_ensemble::ForestParams) and similar ones)
//! whose field names are the options of the command, the keys in model files and the words of errors. Besides its own
//! parameters, every method has `seed` and those of [`FeatureParams`] and [`DecisionParams`].
//!
//! ```
//! use rpo::data::generate::MultiLabelSet;
//! use rpo::prelude::*;
//!
//! let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
//! let method = Method::named("extra-trees")?.with("trees", "20")?.with("max-features", "0.5")?;
//! let model = Model::fit(&method, &data)?;
//! assert_eq!(model.parameters["trees"], 20);
//! // The record of a model describes the method that fits it again.
//! let again = Method::try_from(&model.parameters)?;
//! assert_eq!(Model::fit(&again, &data)?, model);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod configured;
mod decision;
mod encoding_targets;
mod error;
mod estimator;
mod features;
mod needs;
mod parameter;
mod problem;
mod record;
mod registry;
mod small_weights;

pub use decision::DecisionParams;
pub use error::MethodError;
pub use estimator::{Estimator, FitContext, OnCheckpoint, StreamDestination, StreamingFit, WrapProjection};
pub use features::{FeatureParams, NominalEncoding, StandardizedBy};
pub use needs::{Needs, OutputNeed};
pub use parameter::ParameterInfo;
pub use problem::DataProblem;
pub use record::Difference;
pub use registry::{MethodEntry, Parameters, Registry};
pub use small_weights::SmallWeights;

pub(crate) use error::nearest;
pub(crate) use features::categorical;
pub(crate) use record::trees_of;
pub(crate) use registry::{ModelKind, RestoreContext, is_on};

use crate::{Decision, Model, ModelError, default_metric};
use configured::Configured;
use ndarray::Array2;
use rpo_core::Seed;
use rpo_data::preprocess::TextWeighting;
use rpo_data::{Dataset, Task};
use rpo_metrics::{Metric, Score};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::str::FromStr;
use std::sync::Arc;

/// A registered method with the parameters that were set; all others have the method's defaults.
#[derive(Debug, Clone)]
pub struct Method {
    entry: Arc<MethodEntry>,
    /// The parameters that were set, by name.
    given: Map<String, Value>,
}

impl Method {
    /// Returns a method of this workspace with its defaults.
    ///
    /// # Errors
    /// [`MethodError::UnknownMethod`].
    pub fn named(name: &str) -> Result<Self, MethodError> {
        Registry::standard().method(name)
    }

    /// The registry entry of the method.
    pub fn entry(&self) -> &MethodEntry {
        &self.entry
    }

    /// Sets a parameter to a value given as text, as on the command line. `-` in the name is read as `_`.
    ///
    /// # Errors
    /// [`MethodError`] for a parameter that does not exist or a value that is not allowed.
    pub fn with(self, name: &str, text: &str) -> Result<Self, MethodError> {
        let scalar = match serde_json::from_str(text) {
            Ok(value @ (Value::Bool(_) | Value::Number(_))) => Some(value),
            // Other forms of numbers than those of JSON, such as .5.
            _ => text
                .parse()
                .ok()
                .and_then(serde_json::Number::from_f64)
                .map(Value::Number),
        };
        let readings = scalar.into_iter().chain([Value::from(text)]);
        let mut results = readings.map(|value| self.clone().with_value(name, &value));
        // Report the error of the most likely reading.
        let first = results.next().unwrap_or_else(|| Ok(self.clone()));
        match first {
            Err(MethodError::Value { .. } | MethodError::Part { .. }) => {
                results.find(Result::is_ok).unwrap_or(first)
            }
            found => found,
        }
    }

    /// Sets a parameter to a value as in parameter files; null resets one that may be absent.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    pub fn with_value(mut self, name: &str, value: &Value) -> Result<Self, MethodError> {
        let name = name.replace('-', "_");
        let known = || self.entry.parameters().iter().map(|info| info.name.as_str());
        if !known().any(|known| known == name) {
            return Err(MethodError::UnknownParameter {
                method: self.entry.name.to_owned(),
                nearest: nearest(&name, known()),
                known: known().map(str::to_owned).collect(),
                name,
            });
        }
        self.given.insert(name.clone(), value.clone());
        self.entry.defaults(&self.given, None)?;
        // The other values were read before, so a failure is due to this one.
        let Err(problem) = self.read(None) else {
            return Ok(self);
        };
        if value == "none" {
            let without = self.clone().with_value(&name, &Value::Null);
            if without.is_ok() {
                return without;
            }
        }
        Err(self.refused(name, shown(value), problem.to_string()))
    }

    /// The error for a value of a parameter that cannot be read.
    fn refused(&self, name: String, given: String, problem: String) -> MethodError {
        let info = self.entry.parameters().iter().find(|info| info.name == name);
        let info = info.expect("only parameters of the method are set");
        // A list does not know which parameter it is of.
        let about = |subject: &str| subject == "`list`" || subject == format!("`{name}`");
        let known = match (problem.rsplit_once("expected "), problem.split_once(" must be ")) {
            _ if info.is_switch => "true or false",
            _ if !info.choices.is_empty() => {
                let expected = format!("one of {}", info.choices.join(", "));
                return MethodError::Value {
                    name,
                    given,
                    expected,
                };
            }
            (Some((_, "usize" | "u64" | "u32")), _) => "a whole number",
            (Some((_, "f64" | "f32")), _) => "a number",
            (Some((_, text)), _) => text,
            (None, Some((subject, rest))) if about(subject) => {
                rest.rsplit_once(", got").map_or(rest, |(expected, _)| expected)
            }
            _ => return MethodError::Part { name, given, problem },
        };
        let expected = match info.range.as_str() {
            "" => known.to_owned(),
            range => format!("{known}, {range}"),
        };
        MethodError::Value {
            name,
            given,
            expected,
        }
    }

    /// Resets a parameter to its default.
    pub(crate) fn reset(&mut self, name: &str) {
        self.given.remove(&name.replace('-', "_"));
    }

    /// The value that was set for a parameter, if any.
    pub fn given(&self, name: &str) -> Option<&Value> {
        self.given.get(&name.replace('-', "_"))
    }

    /// Returns true if a parameter is given and switches something on: its value is neither null nor false.
    pub fn is_set(&self, name: &str) -> bool {
        self.given(name).is_some_and(is_on)
    }

    /// Returns the method with another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.given.insert("seed".to_owned(), seed.into());
        self
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.given.get("seed").and_then(Value::as_u64).unwrap_or(0)
    }

    /// Builds the estimator that the parameters describe, for outputs of a task.
    ///
    /// # Errors
    /// Parameters that are out of range or contradict each other.
    pub fn estimator(&self, task: Task) -> Result<Box<dyn Estimator>, ModelError> {
        let Parts {
            own,
            mut features,
            mut decision,
        } = self
            .read(Some(task))
            .map_err(|e| ModelError::Custom(e.to_string()))?;
        own.check()?;
        if self.keeps_scale() {
            features.standardize = Some(false);
        }
        features.check(self.entry.nominal())?;
        let mut parameters = self.parameter_values(Some(task));
        if self.given("thresholds").is_none()
            && let Some(rule) = self.entry.default_thresholds(&self.given)
        {
            // Default thresholds apply only to the scores of a whole forest.
            let is_whole = own.parameters().get("first_tree").is_none_or(|first| *first == 0);
            let applies = is_whole && own.has_oob() && decision.decide == Decision::Threshold;
            decision.thresholds = applies.then_some(rule);
            parameters.insert("thresholds".to_owned(), serde_json::json!(decision.thresholds));
        }
        decision.check()?;
        if self.entry.is_ensemble() {
            // Members weight the terms of texts themselves.
            features.text_weights = TextWeighting::Counts;
        }
        Ok(Box::new(Configured {
            inner: own,
            method: self.entry.name,
            needs_thresholds: self.given("thresholds").is_some(),
            parameters,
            features,
            default_nominal: self.default_nominal(),
            standardized_by: self.entry.standardized_by(),
            is_ensemble: self.entry.is_ensemble(),
            decision,
            seed: Seed::new(self.seed()),
        }))
    }

    /// All parameters by name with their values, defaults included. Defaults may depend on the task.
    fn parameter_values(&self, task: Option<Task>) -> Map<String, Value> {
        let mut all = Map::new();
        all.insert("method".to_owned(), self.entry.name.into());
        let infos = self.entry.parameters().iter();
        all.extend(infos.map(|p| (p.name.clone(), p.default.clone())));
        let own = self.own_defaults(task).into_iter();
        all.extend(own.filter(|(name, _)| !self.entry.hides(name)));
        all.extend(self.given.clone());
        if self.keeps_scale() {
            all.insert("standardize".to_owned(), false.into());
        }
        all
    }

    /// Returns true if features keep their scale because a preset is given. Presets follow their papers, even for
    /// methods that may standardize features by default.
    fn keeps_scale(&self) -> bool {
        let may_change = self.entry.standardized_by() != StandardizedBy::Request;
        may_change && self.is_set("preset") && self.given("standardize").is_none()
    }

    /// The default encoding of nominal features. Splits between subsets of their values are in no paper.
    pub(crate) fn default_nominal(&self) -> NominalEncoding {
        match self.entry.nominal() {
            NominalEncoding::Native if self.is_set("preset") => NominalEncoding::Codes,
            nominal => nominal,
        }
    }

    fn own_defaults(&self, task: Option<Task>) -> Map<String, Value> {
        let defaults = self.entry.defaults(&self.given, task);
        defaults.expect("a preset is checked when it is set")
    }

    /// Reads the parameters into their structures.
    fn read(&self, task: Option<Task>) -> Result<Parts, serde_json::Error> {
        let mut own = self.own_defaults(task);
        let (mut features, mut decision) = (Map::new(), Map::new());
        for (name, value) in &self.given {
            // A method may have its own version of a common parameter.
            let group = if own.contains_key(name) {
                &mut own
            } else if FeatureParams::has(name) {
                &mut features
            } else if DecisionParams::has(name) {
                &mut decision
            } else {
                // A preset is already in the defaults. Thresholds may need the seed of a method without randomness.
                if name == "seed" {
                    u64::deserialize(value)?;
                }
                continue;
            };
            group.insert(name.clone(), value.clone());
        }
        Ok(Parts {
            own: self.entry.build(own)?,
            features: serde_json::from_value(Value::Object(features))?,
            decision: serde_json::from_value(Value::Object(decision))?,
        })
    }
}

/// Parses a method of this workspace from its name and options as on the command line:
/// `ridge --standardize --lambda variance:3`.
///
/// ```
/// use rpo::Method;
/// let method: Method = "extra-trees --trees 20 --max-features=0.5".parse()?;
/// assert_eq!(method.given("trees"), Some(&20.into()));
/// # Ok::<(), rpo::MethodError>(())
/// ```
impl FromStr for Method {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        Registry::standard().parse(text)
    }
}

impl Registry {
    /// Returns a method of the registry by its name and options as on the command line, such as `ridge --standardize`. A
    /// text without a registry, as of the members of [`blend`](crate::blend), names methods of this workspace.
    ///
    /// # Errors
    /// [`MethodError`] for a method or parameters that do not exist or are repeated, and values that are not allowed.
    pub fn parse(&self, text: &str) -> Result<Method, MethodError> {
        let mut words = text.split_whitespace().peekable();
        let mut method = self.method(words.next().unwrap_or_default())?;
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix("--") else {
                return Err(MethodError::Text {
                    text: text.to_owned(),
                });
            };
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, value),
                // A switch has no value.
                None => (
                    option,
                    words.next_if(|next| !next.starts_with("--")).unwrap_or("true"),
                ),
            };
            if method.given(name).is_some() {
                return Err(MethodError::Repeated {
                    name: name.replace('-', "_"),
                    text: text.to_owned(),
                });
            }
            method = method.with(name, value)?;
        }
        Ok(method)
    }
}

/// Builds a method of this workspace from parameters that name it under `method`, as recorded in models
/// ([`Model::parameters`]) and parameter files.
impl TryFrom<&Map<String, Value>> for Method {
    type Error = MethodError;

    /// # Errors
    /// [`MethodError`] for a method or parameters that do not exist, or values that are not allowed.
    fn try_from(parameters: &Map<String, Value>) -> Result<Self, MethodError> {
        Registry::standard().method_of(parameters)
    }
}

/// The parameters of a method, read into their structures.
struct Parts {
    own: Box<dyn Estimator>,
    features: FeatureParams,
    decision: DecisionParams,
}

/// Returns the fields of a structure of parameters by name.
///
/// # Panics
/// If the structure has no named fields.
pub fn parameters_of(parameters: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(parameters) {
        Ok(Value::Object(fields)) => fields,
        _ => panic!("parameters are a structure with named fields"),
    }
}

/// Formats a JSON value as a user writes it.
fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), |text| format!("{text:?}"))
}

/// A method is fitted as the estimator that it describes for the task of the data. Its
/// [`parameters`](Estimator::parameters) are all parameters by name, defaults included; those of [`Method::estimator`]
/// use the defaults for the task.
impl Estimator for Method {
    fn method(&self) -> &str {
        self.entry.name
    }

    fn parameters(&self) -> Map<String, Value> {
        self.parameter_values(None)
    }

    fn check(&self) -> Result<(), ModelError> {
        self.estimator_for_any_task().map(drop)
    }

    /// No requirements without data, as they depend on the kind of outputs.
    fn needs(&self) -> Needs {
        Needs {
            equal_outputs: false,
            ..Needs::FEW
        }
    }

    fn check_samples(&self, data: &Dataset) -> Result<(), ModelError> {
        self.checked(data).map(drop)
    }

    fn quantile_levels(&self) -> Vec<f64> {
        self.described()
            .map_or_else(Vec::new, |own| own.quantile_levels())
    }

    fn default_metric(&self, task: Task, n_outputs: usize) -> Metric {
        match self.described() {
            Some(own) => own.default_metric(task, n_outputs),
            None => default_metric(task, n_outputs, &[]),
        }
    }

    fn n_steps(&self) -> usize {
        self.described().map_or(1, |own| own.n_steps())
    }

    fn has_oob(&self) -> bool {
        self.described().is_some_and(|own| own.has_oob())
    }

    fn has_unit_of_weights(&self) -> bool {
        self.described().is_some_and(|own| own.has_unit_of_weights())
    }

    fn keeps_best(&self) -> bool {
        self.described().is_some_and(|own| own.keeps_best())
    }

    fn continues(&self) -> bool {
        self.described().is_some_and(|own| own.continues())
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        self.checked(data)?.fit(data, context)
    }

    fn fit_leaving_one_out(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        samples: &[usize],
    ) -> Result<Option<(Model, Array2<f32>)>, ModelError> {
        self.checked(data)?.fit_leaving_one_out(data, context, samples)
    }

    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        on_checkpoint: &mut OnCheckpoint<'_>,
    ) -> Result<Model, ModelError> {
        self.checked(data)?
            .fit_in_parts(data, context, steps, on_checkpoint)
    }

    fn streaming(&self) -> Option<&dyn StreamingFit> {
        self.described()?.streaming().is_some().then_some(self)
    }
}

impl StreamingFit for Method {
    fn fit_to_file(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        destination: &StreamDestination<'_>,
    ) -> Result<u64, ModelError> {
        let own = self.checked(data)?;
        let Some(streaming) = own.streaming() else {
            return Err(MethodError::data(self.entry.name, DataProblem::NotStreamed).into());
        };
        streaming.fit_to_file(data, context, destination)
    }
}

impl Method {
    /// Builds the estimator for labels or, where the parameters are for numbers alone, that for numbers: for questions
    /// that do not depend on the kind of outputs, before there are data.
    ///
    /// # Errors
    /// Parameters that are out of range or contradict each other for labels as for numbers.
    pub fn estimator_for_any_task(&self) -> Result<Box<dyn Estimator>, ModelError> {
        let for_labels = self.estimator(Task::MultiLabel);
        for_labels.or_else(|e| self.estimator(Task::Regression).map_err(|_| e))
    }

    fn described(&self) -> Option<Box<dyn Estimator>> {
        self.estimator_for_any_task().ok()
    }

    /// The estimator for the task of the data, which meet its requirements.
    fn checked(&self, data: &Dataset) -> Result<Box<dyn Estimator>, ModelError> {
        let estimator = self.estimator(data.task())?;
        self.check_data(estimator.as_ref(), data)?;
        Ok(estimator)
    }

    /// Checks that models of the method have what metrics need.
    ///
    /// # Errors
    /// [`ModelError::NoIntervals`].
    pub fn check_metrics<S: Score>(&self, metrics: &[S]) -> Result<(), ModelError> {
        match metrics
            .iter()
            .any(|metric| metric.needs() == rpo_metrics::PredictionForm::Intervals)
        {
            true if !self.is_set("intervals") => Err(ModelError::NoIntervals),
            _ => Ok(()),
        }
    }

    /// Checks that the data meet the requirements of the method.
    ///
    /// # Errors
    /// [`MethodError::Data`] for missing values where the method needs all, and for numbers where the method or its
    /// parameters require labels.
    pub fn check_data(&self, estimator: &dyn Estimator, data: &Dataset) -> Result<(), MethodError> {
        // Compare with the defaults, as the record of a model includes them too; that of a model of numbers has no
        // thresholds, whatever the default.
        let is_changed = |name: &str| {
            let mut infos = self.entry.parameters().iter();
            let default = infos.find(|info| info.name == name).map(|info| &info.default);
            self.is_set(name) && (name == "thresholds" || self.given(name) != default)
        };
        let refused = match data.task() {
            Task::MultiLabel => [("intervals", "numbers", "the outputs are labels")].as_slice(),
            Task::Regression if data.has_declared_labels() => {
                &[("decide", "labels alone", "some outputs are numbers")]
            }
            Task::Regression => &[
                ("decide", "labels", "the outputs are numbers"),
                ("thresholds", "labels", "the outputs are numbers"),
            ],
        };
        if let Some(&(parameter, kind, outputs)) = refused.iter().find(|(name, ..)| is_changed(name)) {
            let problem = DataProblem::Parameter {
                parameter,
                kind,
                outputs,
            };
            return Err(MethodError::data(self.entry.name, problem));
        }
        estimator.needs().check(self.entry.name, data)
    }
}
