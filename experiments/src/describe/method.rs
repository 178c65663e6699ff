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

/// A method: a column of a table, or a curve where one of its parameters is a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct MethodText {
    /// What claims and the command line call it.
    pub(crate) id: Spanned<String>,
    /// A method before it, whose options and search it takes where it gives none of its own.
    pub(crate) like: Option<Spanned<String>>,
    /// What tables call it; `{}` stands for the value along the axis.
    pub(crate) label: String,
    /// What is fitted, by its name on the command line.
    pub(crate) algorithm: Spanned<String>,
    /// Options by their names on the command line; that of the axis may be a list.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, Spanned<Values>>,
    /// The data sets it is run on; all if not given.
    pub(crate) on: Option<Vec<Spanned<String>>>,
    /// A search of further options on a part of the training samples.
    pub(crate) search: Option<Search>,
    /// What it is fitted to on a data set, where that is not the outputs as they are.
    #[serde(default)]
    pub(crate) targets: BTreeMap<Spanned<String>, Targets>,
    /// Its name in the published figures: one, or one for each value along the axis that has some.
    #[serde(default)]
    pub(crate) published: PublishedName,
}

/// What a method is fitted to that knows how the outputs of a data set hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Targets {
    /// The first output; its prediction is that of all.
    First,
    /// The mean of the outputs; its prediction is that of all.
    Mean,
    /// Every output by itself, each with its own search.
    Each,
}

/// What the published figures call a method.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(untagged)]
pub(crate) enum PublishedName {
    /// They do not have it.
    #[default]
    None,
    /// A method that is one column.
    One(String),
    /// By value along the axis.
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
    /// Whether it is run on a data set.
    pub(crate) fn is_on(&self, dataset: &DatasetText) -> bool {
        let name = dataset.name.get_ref();
        let mut named = self.on.iter().flatten();
        self.on.is_none() || named.any(|on| on.get_ref() == name)
    }

    /// What its curve is called: the label without the value along the axis and what binds it.
    pub(crate) fn curve_label(&self) -> String {
        let label = self.label.split("{}").next().unwrap_or_default();
        let label = label.trim_end_matches(|c: char| c == '=' || c.is_whitespace());
        // "Gaussian, m" is about "Gaussian".
        label
            .rsplit_once(',')
            .filter(|_| self.label.contains("{}"))
            .map_or(label, |(name, _)| name)
            .to_owned()
    }
}

impl MethodText {
    /// The method of a column, without a seed yet.
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

/// A search of options on a part of the training samples, as `rpo tune` does it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Search {
    /// Options with their values or laws: `NAME=V1,V2` or `NAME=LAW:LOW:HIGH`.
    pub(crate) space: Vec<String>,
    /// Random settings to try; all combinations if not given.
    pub(crate) trials: Option<usize>,
    /// Steps (trees or iterations) that the trials may take together; settings are then drawn at random.
    pub(crate) steps: Option<u64>,
    /// Metric to choose by; the score if not given.
    pub(crate) metric: Option<String>,
    /// Share of the training samples that settings are scored on.
    pub(crate) validation: f64,
    /// Whether the winner is fitted to all training samples in the end.
    #[serde(default)]
    pub(crate) refit: bool,
}

impl Search {
    /// The search of a method's options.
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

/// A method with a value for every option that is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MethodJob {
    /// What is fitted.
    pub(crate) algorithm: String,
    /// Options by their names on the command line.
    pub(crate) options: BTreeMap<String, String>,
    /// A search of further options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) search: Option<Search>,
    /// What it is fitted to, where that is not the outputs as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) targets: Option<Targets>,
    /// The time that a fit may take, times that of one step of gbmort with stumps and the square loss.
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

    /// The value of an option that is a number.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.options.get(name).and_then(|value| value.parse().ok())
    }
}
