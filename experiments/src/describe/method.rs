//! The methods of an experiment.

use super::{DatasetText, Values};
use anyhow::bail;
use rpo::Method;
use rpo::metrics::{Metric, Score};
use rpo::tune::{SearchLimit, SearchOrder, Tuning};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::Spanned;

/// A method: a column of a table, or a curve if one of its parameters is a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct MethodText {
    /// The name in claims and on the command line.
    pub(crate) id: Spanned<String>,
    /// An earlier method, whose options and search it uses unless it sets its own.
    pub(crate) like: Option<Spanned<String>>,
    /// The label in tables; `{}` is replaced by the value along the axis.
    pub(crate) label: String,
    /// The fitted method, by its name on the command line.
    pub(crate) algorithm: Spanned<String>,
    /// Options by their names on the command line; the option of the axis may be a list.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, Spanned<Values>>,
    /// The data sets on which it is run; all if not given.
    pub(crate) on: Option<Vec<Spanned<String>>>,
    /// A search for further options on a subset of the training samples.
    pub(crate) search: Option<Search>,
    /// The targets to which it is fitted on a data set, if not the outputs as they are.
    #[serde(default)]
    pub(crate) targets: BTreeMap<Spanned<String>, Targets>,
    /// Its name in the published figures: a single name, or one for each published value along the axis.
    #[serde(default)]
    pub(crate) published: PublishedName,
}

/// The targets of a method that knows the dependence between the outputs of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Targets {
    /// The first output; its prediction is used for all.
    First,
    /// The mean of the outputs; its prediction is used for all.
    Mean,
    /// Every output separately, each with its own search.
    Each,
}

/// The name of a method in the published figures.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(untagged)]
pub(crate) enum PublishedName {
    /// The method is not published.
    #[default]
    None,
    /// A method with a single column.
    One(String),
    /// Names by value along the axis.
    ByValue(BTreeMap<String, String>),
}

impl PublishedName {
    /// The names.
    #[cfg(test)]
    pub(crate) fn names(&self) -> Vec<&String> {
        match self {
            Self::None => Vec::new(),
            Self::One(name) => vec![name],
            Self::ByValue(names) => names.values().collect(),
        }
    }
}

impl MethodText {
    /// Returns true if it is run on a data set.
    pub(crate) fn is_on(&self, dataset: &DatasetText) -> bool {
        let name = dataset.name.get_ref();
        let mut named = self.on.iter().flatten();
        self.on.is_none() || named.any(|on| on.get_ref() == name)
    }

    /// The label of its curve: the label without the value along the axis and its separator.
    pub(crate) fn curve_label(&self) -> String {
        let label = self.label.split("{}").next().unwrap_or_default();
        let label = label.trim_end_matches(|c: char| c == '=' || c.is_whitespace());
        // "Gaussian, m" becomes "Gaussian".
        label
            .rsplit_once(',')
            .filter(|_| self.label.contains("{}"))
            .map_or(label, |(name, _)| name)
            .to_owned()
    }
}

impl MethodText {
    /// The method of a column, without a seed.
    pub(crate) fn job(&self, value: Option<&str>) -> MethodJob {
        let options = self.options.iter().map(|(name, values)| {
            let value = match values.get_ref() {
                Values::One(one) => one.clone(),
                Values::Many(_) => value.unwrap_or_default().to_owned(),
            };
            (name.clone(), value)
        });
        MethodJob {
            algorithm: self.algorithm.get_ref().clone(),
            options: options.collect(),
            search: self.search.clone(),
            targets: None,
            time_budget: None,
            seed: 0,
        }
    }

    /// The columns of a method: its id, or `id@value` for each value along the axis.
    pub(crate) fn columns(&self) -> Vec<(String, Option<String>)> {
        let id = self.id.get_ref();
        let along = self.options.values().find_map(|values| match values.get_ref() {
            Values::Many(values) => Some(values),
            Values::One(_) => None,
        });
        match along {
            None => vec![(id.clone(), None)],
            Some(values) => values
                .iter()
                .map(|value| (format!("{id}@{value}"), Some(value.clone())))
                .collect(),
        }
    }
}

/// A search for options on a subset of the training samples, as in `rpo tune`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Search {
    /// Options with their values or distributions: `NAME=V1,V2` or `NAME=DISTRIBUTION:LOW:HIGH`.
    pub(crate) space: Vec<String>,
    /// Number of random settings to try; all combinations if not given.
    pub(crate) trials: Option<usize>,
    /// Largest number of steps (trees or iterations) of all trials together; settings are then drawn at random.
    pub(crate) steps: Option<u64>,
    /// Metric to optimize; the score if not given.
    pub(crate) metric: Option<String>,
    /// Fraction of the training samples on which settings are scored.
    pub(crate) validation: f64,
    /// Fits the winner to all training samples in the end.
    #[serde(default)]
    pub(crate) refit: bool,
}

impl Search {
    /// The search for a method's options.
    pub(crate) fn tuning(&self, method: Method, seed: u64, score: Option<&str>) -> anyhow::Result<Tuning> {
        let metric = self.metric.as_deref().or(score);
        let (order, limit) = match (self.trials, self.steps) {
            (None, None) => (SearchOrder::Grid, SearchLimit::Everything),
            (Some(trials), None) => (SearchOrder::Random, SearchLimit::Trials(trials)),
            (None, Some(steps)) => (SearchOrder::Random, SearchLimit::Steps(steps)),
            (Some(_), Some(_)) => bail!("trials or steps expected, both given"),
        };
        Ok(Tuning {
            order,
            limit,
            metric: metric.map(named_metric).transpose()?,
            validation: self.validation,
            ..Tuning::new(method, &self.space, seed)
        })
    }
}

fn named_metric(name: &str) -> anyhow::Result<Arc<dyn Score>> {
    Ok(Arc::new(name.parse::<Metric>()?))
}

/// A method with a value for every option that is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MethodJob {
    /// The fitted method.
    pub(crate) algorithm: String,
    /// Options by their names on the command line.
    pub(crate) options: BTreeMap<String, String>,
    /// A search for further options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) search: Option<Search>,
    /// The targets to which it is fitted, if not the outputs as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) targets: Option<Targets>,
    /// Time limit of a fit, as a multiple of one step of gbmort with stumps and the square loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time_budget: Option<u32>,
    /// The master seed.
    pub(crate) seed: u64,
}

impl MethodJob {
    /// The method with its options.
    pub(crate) fn method_options(&self) -> anyhow::Result<Method> {
        let mut options = Method::named(&self.algorithm)?;
        for (name, value) in &self.options {
            options = options.with(name, value)?;
        }
        Ok(options)
    }

    /// The value of a numeric option.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.options.get(name).and_then(|value| value.parse().ok())
    }
}
