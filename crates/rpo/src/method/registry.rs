//! The methods and kinds of models available to a program.

use super::Method;
use super::decision::DecisionParams;
use super::error::{MethodError, nearest};
use super::estimator::Estimator;
use super::features::{FeatureParams, NominalEncoding, StandardizedBy};
use super::parameter::{ParameterInfo, describe};
use crate::combine::{Ensemble, restore};
use crate::{Predict, Schema, TrainingSummary};
use rpo_core::store::{Reader, Restore, Sizes, StoreError};
use rpo_data::Task;
use rpo_ensemble::thresholds::ThresholdRule;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt;
use std::iter;
use std::sync::{Arc, LazyLock, OnceLock};

/// Parameters of a registered method: an [`Estimator`] that is a plain serde structure.
///
/// Implemented by every such type.
pub trait Parameters: Estimator + Serialize + DeserializeOwned + JsonSchema + 'static {}

impl<P: Estimator + Serialize + DeserializeOwned + JsonSchema + 'static> Parameters for P {}

/// A registered method: its name, its parameters with their defaults, and how to build its [`Estimator`].
#[non_exhaustive]
pub struct MethodEntry {
    /// The name of the method.
    pub name: &'static str,
    /// A one-line description of the method.
    pub summary: &'static str,
    aliases: &'static [&'static str],
    without: &'static [&'static str],
    model: Option<ModelKind>,
    nominal: NominalEncoding,
    standardized_by: StandardizedBy,
    prepares: bool,
    cleared: Vec<Cleared>,
    presets: Vec<Preset>,
    label_defaults: &'static [(&'static str, &'static str)],
    thresholds: Option<ThresholdRule>,
    defaults: Value,
    /// Descriptions of all parameters, computed once.
    described: OnceLock<Vec<ParameterInfo>>,
    schema: fn() -> Value,
    build: fn(Value) -> Result<Box<dyn Estimator>, serde_json::Error>,
}

/// Another set of defaults, selected by the parameter `preset`.
struct Preset {
    name: &'static str,
    defaults: Value,
    /// The default rule for thresholds, if it is not that of the method.
    thresholds: Option<ThresholdRule>,
}

/// Defaults that have no use with some values of another parameter.
struct Cleared {
    set: &'static str,
    values: &'static [&'static str],
    defaults: &'static [&'static str],
}

impl Cleared {
    fn applies(&self, given: &Map<String, Value>) -> bool {
        let is_one = |value: &Value| self.values.is_empty() || self.values.iter().any(|known| value == known);
        given
            .get(self.set)
            .is_some_and(|value| is_on(value) && is_one(value))
    }
}

/// Returns true for the value of a parameter that is not off, as it is in the record of a model without it.
pub(crate) fn is_on(value: &Value) -> bool {
    !value.is_null() && *value != false
}

impl MethodEntry {
    /// Creates a method whose parameters default to `defaults`.
    ///
    /// # Panics
    /// If the parameters are not a JSON object.
    pub fn new<P: Parameters>(name: &'static str, summary: &'static str, defaults: P) -> Self {
        Self {
            name,
            aliases: &[],
            summary,
            without: &[],
            model: None,
            nominal: NominalEncoding::Codes,
            standardized_by: StandardizedBy::Request,
            prepares: true,
            cleared: Vec::new(),
            presets: Vec::new(),
            label_defaults: &[],
            thresholds: None,
            defaults: object(defaults),
            described: OnceLock::new(),
            schema: schema_of::<P>,
            build: |value| Ok(Box::new(serde_json::from_value::<P>(value)?)),
        }
    }

    /// Hides fields of the parameters that the method does not use: they keep their defaults and are not options.
    #[must_use]
    pub fn without(self, without: &'static [&'static str]) -> Self {
        Self { without, ..self }
    }

    /// Sets the type of the fitted model, and the name of its kind in model files.
    #[must_use]
    pub fn model<M: Predict + Restore>(self, kind: &'static str) -> Self {
        Self {
            model: Some(ModelKind::of::<M>(kind)),
            ..self
        }
    }

    /// Marks the method as an ensemble of members, which prepare features themselves.
    #[must_use]
    pub(crate) fn ensemble(self) -> Self {
        Self {
            prepares: false,
            model: Some(ModelKind {
                name: Ensemble::KIND,
                restore: |from, sizes, context| Ok(Arc::new(restore(from, sizes, context)?)),
            }),
            ..self
        }
    }

    /// Returns true for an ensemble of members.
    pub(crate) fn is_ensemble(&self) -> bool {
        self.model.is_some_and(|model| model.name == Ensemble::KIND)
    }

    /// Adds other names of the method.
    #[must_use]
    pub fn alias(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Encodes nominal features as indicators by default, as linear methods need.
    #[must_use]
    pub fn one_hot(self) -> Self {
        Self {
            nominal: NominalEncoding::OneHot,
            ..self
        }
    }

    /// Standardizes features by default in some cases.
    #[must_use]
    pub fn standardized(self, standardized_by: StandardizedBy) -> Self {
        Self {
            standardized_by,
            ..self
        }
    }

    /// Splits nominal features between subsets of their values by default.
    #[must_use]
    pub fn native_categories(self) -> Self {
        Self {
            nominal: NominalEncoding::Native,
            ..self
        }
    }

    /// Clears the defaults of other parameters when the parameter `set` is set to one of the values, or to any if none is
    /// given.
    #[must_use]
    pub(crate) fn clearing(
        mut self,
        set: &'static str,
        values: &'static [&'static str],
        defaults: &'static [&'static str],
    ) -> Self {
        self.cleared.push(Cleared {
            set,
            values,
            defaults,
        });
        self
    }

    /// Adds another set of defaults, selected by the parameter `preset`.
    #[must_use]
    pub fn preset<P: Parameters>(mut self, name: &'static str, defaults: P) -> Self {
        self.presets.push(Preset {
            name,
            defaults: object(defaults),
            thresholds: None,
        });
        self
    }

    /// Sets another default rule for thresholds with each preset added so far.
    #[must_use]
    pub(crate) fn presets_deciding(mut self, rule: ThresholdRule) -> Self {
        for preset in &mut self.presets {
            preset.thresholds = Some(rule);
        }
        self
    }

    /// Sets different defaults of parameters for labels.
    #[must_use]
    pub(crate) fn label_defaults(self, label_defaults: &'static [(&'static str, &'static str)]) -> Self {
        Self {
            label_defaults,
            ..self
        }
    }

    /// Sets a default rule for thresholds, for whole forests that have out-of-bag predictions.
    #[must_use]
    pub fn deciding(self, rule: ThresholdRule) -> Self {
        Self {
            thresholds: Some(rule),
            ..self
        }
    }

    /// The default rule for thresholds, if any, given the parameters that were set.
    pub(super) fn default_thresholds(&self, given: &Map<String, Value>) -> Option<ThresholdRule> {
        let preset = given.get("preset").and_then(|given| self.find_preset(given));
        preset.and_then(|preset| preset.thresholds).or(self.thresholds)
    }

    fn find_preset(&self, name: &Value) -> Option<&Preset> {
        self.presets.iter().find(|preset| name == preset.name)
    }

    /// The default encoding of nominal features.
    pub(super) fn nominal(&self) -> NominalEncoding {
        self.nominal
    }

    /// When features are standardized by default.
    pub(super) fn standardized_by(&self) -> StandardizedBy {
        self.standardized_by
    }

    /// All fields of the parameters with their defaults, given the parameters that were set: those of the preset, if
    /// one was set, and of the task.
    pub(super) fn defaults(
        &self,
        given: &Map<String, Value>,
        task: Option<Task>,
    ) -> Result<Map<String, Value>, MethodError> {
        let mut defaults = match given.get("preset") {
            None | Some(Value::Null) => &self.defaults,
            Some(given) => {
                let known = || self.presets.iter().map(|preset| preset.name).collect::<Vec<_>>();
                let unknown = || MethodError::Value {
                    name: "preset".to_owned(),
                    given: given.to_string(),
                    expected: format!("one of {}", known().join(", ")),
                };
                &self.find_preset(given).ok_or_else(unknown)?.defaults
            }
        }
        .as_object()
        .cloned()
        .unwrap_or_default();
        if task == Some(Task::MultiLabel) {
            let replaced = self.label_defaults.iter();
            defaults.extend(replaced.map(|(name, value)| ((*name).to_owned(), Value::from(*value))));
        }
        for cleared in self.cleared.iter().filter(|cleared| cleared.applies(given)) {
            let nulls = cleared.defaults.iter();
            defaults.extend(nulls.map(|name| ((*name).to_owned(), Value::Null)));
        }
        Ok(defaults)
    }

    /// Returns true if a field of the parameters is hidden from the options of the method.
    pub(super) fn hides(&self, field: &str) -> bool {
        self.without.contains(&field)
    }

    pub(super) fn build(
        &self,
        parameters: Map<String, Value>,
    ) -> Result<Box<dyn Estimator>, serde_json::Error> {
        (self.build)(Value::Object(parameters))
    }

    /// All parameters with their documentation: those of the method in the order of its structure, then the seed and
    /// the parameters that all methods have.
    pub fn parameters(&self) -> &[ParameterInfo] {
        self.described.get_or_init(|| {
            let mut all = described(&(self.schema)(), &self.defaults);
            all.retain(|p| !self.hides(&p.name) && p.name != "seed");
            for parameter in &mut all {
                let of_labels = self
                    .label_defaults
                    .iter()
                    .find(|(name, _)| parameter.name == *name);
                parameter.label_default = of_labels.map(|(_, value)| *value);
            }
            if !self.presets.is_empty() {
                all.push(ParameterInfo::preset(
                    self.presets.iter().map(|preset| preset.name),
                ));
            }
            let features = self
                .prepares
                .then(|| infos_of(&FeatureParams::defaults(self.nominal)));
            let decision = infos_of(&DecisionParams {
                thresholds: self.thresholds,
                ..DecisionParams::default()
            });
            let common = iter::once(ParameterInfo::seed()).chain(features.into_iter().flatten());
            // A method may have its own version of a common parameter.
            let is_new =
                |common: &ParameterInfo| all.iter().all(|own: &ParameterInfo| own.name != common.name);
            let has_use = |common: &ParameterInfo| !self.hides(&common.name);
            let common: Vec<ParameterInfo> = common.chain(decision).filter(is_new).filter(has_use).collect();
            all.extend(common.into_iter().map(|p| ParameterInfo { is_common: true, ..p }));
            all
        })
    }
}

impl fmt::Debug for MethodEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MethodEntry")
            .field("name", &self.name)
            .field("defaults", &self.defaults)
            .finish_non_exhaustive()
    }
}

/// A kind of model: its name in model files and how it is restored.
#[derive(Clone, Copy)]
pub(crate) struct ModelKind {
    pub(crate) name: &'static str,
    pub(crate) restore: RestoreFn,
}

type RestoreFn = fn(&mut Reader<'_>, Sizes, &RestoreContext<'_>) -> Result<Arc<dyn Predict>, StoreError>;

/// The parts of a model file beside the predictor, for predictors that are made of whole models.
#[derive(Debug)]
pub(crate) struct RestoreContext<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) training: &'a TrainingSummary,
    pub(crate) registry: &'a Registry,
}

impl ModelKind {
    fn of<M: Predict + Restore>(name: &'static str) -> Self {
        Self {
            name,
            restore: |from, sizes, _| Ok(Arc::new(M::restore(from, sizes)?)),
        }
    }
}

fn object<P: Serialize>(parameters: P) -> Value {
    Value::Object(super::parameters_of(&parameters))
}

fn schema_of<P: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<P>().to_value()
}

/// Describes the fields of a structure of parameters.
fn infos_of<P: Serialize + JsonSchema>(defaults: &P) -> Vec<ParameterInfo> {
    described(&schema_of::<P>(), &object(defaults))
}

fn described(schema: &Value, defaults: &Value) -> Vec<ParameterInfo> {
    let defaults = defaults.as_object().into_iter().flatten();
    defaults
        .map(|(name, default)| describe(schema, name, default))
        .collect()
}

/// The methods and kinds of models available to a program, by name.
#[derive(Clone)]
pub struct Registry {
    methods: Vec<Arc<MethodEntry>>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.methods.iter().map(|entry| entry.name))
            .finish()
    }
}

impl Registry {
    /// The methods of this workspace.
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<Registry> = LazyLock::new(|| Registry {
            methods: crate::methods::all().into_iter().map(Arc::new).collect(),
        });
        &STANDARD
    }

    /// Adds a method, which replaces any method with that name.
    #[must_use]
    pub fn with(mut self, entry: MethodEntry) -> Self {
        self.methods.retain(|known| known.name != entry.name);
        self.methods.push(Arc::new(entry));
        self
    }

    /// Names of the methods that support sample weights.
    pub fn taking_weights(&self) -> impl Iterator<Item = &'static str> {
        let takes = |entry: &&Arc<MethodEntry>| {
            let built = (entry.build)(entry.defaults.clone());
            built.is_ok_and(|estimator| !estimator.needs().equal_weights)
        };
        self.methods.iter().filter(takes).map(|entry| entry.name)
    }

    /// The kinds of models, starting with those of the methods added last.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = ModelKind> {
        self.methods.iter().rev().filter_map(|entry| entry.model)
    }

    /// Returns the method with a name or alias, with its defaults.
    ///
    /// # Errors
    /// [`MethodError::UnknownMethod`].
    pub fn method(&self, name: &str) -> Result<Method, MethodError> {
        let is_it = |entry: &&Arc<MethodEntry>| entry.name == name || entry.aliases.contains(&name);
        let entry = self.methods.iter().find(is_it).ok_or_else(|| {
            let names = || self.methods.iter().map(|entry| entry.name);
            MethodError::UnknownMethod {
                name: name.to_owned(),
                nearest: nearest(name, names()),
                known: names().map(str::to_owned).collect(),
            }
        })?;
        Ok(Method {
            entry: Arc::clone(entry),
            given: Map::new(),
        })
    }

    /// Returns the method that the parameters name under `method`, with those parameters.
    ///
    /// # Errors
    /// [`MethodError`] for a method or parameters that do not exist, or values that are not allowed.
    pub fn method_of(&self, parameters: &Map<String, Value>) -> Result<Method, MethodError> {
        let name = parameters.get("method").and_then(Value::as_str);
        let name = name.ok_or_else(|| MethodError::NotATable {
            given: Value::Object(parameters.clone()).to_string(),
        })?;
        let mut method = self.method(name)?;
        for (name, value) in parameters.iter().filter(|(name, _)| *name != "method") {
            method = method.with_value(name, value)?;
        }
        Ok(method)
    }
}

/// Iterates over all methods.
impl<'a> IntoIterator for &'a Registry {
    type Item = &'a Arc<MethodEntry>;
    type IntoIter = std::slice::Iter<'a, Arc<MethodEntry>>;

    fn into_iter(self) -> Self::IntoIter {
        self.methods.iter()
    }
}
