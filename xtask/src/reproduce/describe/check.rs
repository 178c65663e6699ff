//! What the types of a description do not say.

use super::read::Source;
use super::{Axis, DatasetText, DescribeError, Description, Features, MethodText, PublishedName, Values};
use super::{ComponentRule, Relation};
use crate::reproduce::measures;
use rpo::metrics::Metric;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;
use toml::Spanned;

pub(super) fn check(description: &Description, file: &Source<'_>) -> Result<(), DescribeError> {
    if description.repeats == 0 {
        return Err(file.error(0..0, "repeats is 0; at least 1 expected"));
    }
    if description.decompose.is_some() != description.metrics.is_empty() {
        return Err(file.error(0..0, "either metrics or decompose expected"));
    }
    let mut measures = measures::names(description.decompose.is_some());
    for metric in &description.metrics {
        parse::<Metric>(metric, file)?;
        measures.push(metric.get_ref().clone());
    }
    for measure in &description.figures {
        one_of(measure, &measures, "measure", file)?;
    }
    let datasets = check_datasets(description, file)?;
    for name in description.quick.datasets.iter().flatten() {
        one_of(name, &datasets, "data set", file)?;
    }
    let columns = check_methods(description, file)?;
    if let Some(baseline) = &description.baseline {
        one_of(baseline, &columns, "column", file)?;
    }
    check_claims(description, &columns, &measures, file)
}

fn check_datasets(description: &Description, file: &Source<'_>) -> Result<Vec<String>, DescribeError> {
    let mut names = BTreeSet::new();
    for data in &description.datasets {
        let wrong = |message: &str| Err(file.error(data.name.span(), message));
        if !names.insert(data.name.get_ref().clone()) {
            return wrong("the same name as a data set before");
        }
        if data.train == 0 || data.test == 0 || data.repeats == Some(0) {
            return wrong("at least 1 training sample, test sample and repetition expected");
        }
        let generated = data.multi_label.is_some() || data.friedman.is_some();
        if generated && (data.one_hot || !data.without.is_empty()) {
            return wrong("one-hot and without have no effect on a generated set");
        }
        if data.multi_label.is_some() && data.friedman.is_some() {
            return wrong("multi-label or friedman expected, both given");
        }
        if description.decompose.is_some() && !decomposable(data) {
            return wrong("a decomposition needs to know the true function: friedman independent or group");
        }
    }
    Ok(names.into_iter().collect())
}

fn decomposable(data: &DatasetText) -> bool {
    use rpo::data::generate::FriedmanKind;
    let kind = data.friedman.as_ref().map(|f| f.kind);
    matches!(kind, Some(FriedmanKind::Independent | FriedmanKind::Group))
}

/// The columns that the methods make.
fn check_methods(description: &Description, file: &Source<'_>) -> Result<Vec<String>, DescribeError> {
    let mut columns = Vec::new();
    let mut ids = BTreeSet::new();
    for method in &description.methods {
        if !ids.insert(method.id.get_ref()) {
            return Err(file.error(method.id.span(), "the same id as a method before"));
        }
        parse_values::<usize>(&method.trees, file)?;
        parse_values::<FeatureRule>(&method.max_features, file)?;
        match (&method.projection, &method.components) {
            (Some(_), Some(components)) => parse_values::<ComponentRule>(components, file)?,
            (None, None) => {}
            _ => {
                let message = "projection and components expected together";
                return Err(file.error(method.id.span(), message));
            }
        }
        for (axis, values) in method.parameters() {
            if matches!(values.get_ref(), Values::Many(_)) && Some(axis) != description.axis {
                let message = format!("a list, but the axis is not {}", axis.label());
                return Err(file.error(values.span(), message));
            }
        }
        columns.extend(method.columns().into_iter().map(|(id, _)| id));
        if let PublishedName::ByValue(names) = &method.published {
            let known: Vec<String> = method
                .columns()
                .into_iter()
                .filter_map(|(_, value)| value)
                .collect();
            if let Some(value) = names.keys().find(|value| !known.contains(value)) {
                let message = format!(
                    "published has the value {value:?}, the axis has {}",
                    known.join(", ")
                );
                return Err(file.error(method.id.span(), message));
            }
        }
    }
    Ok(columns)
}

fn check_claims(
    description: &Description,
    columns: &[String],
    measures: &[String],
    file: &Source<'_>,
) -> Result<(), DescribeError> {
    for claim in &description.claims {
        let tests = [
            claim.compare.is_some(),
            claim.published.is_some(),
            claim.verdicts.is_some(),
        ];
        if tests.into_iter().filter(|&t| t).count() != 1 {
            let at = file.text.find(&claim.says).unwrap_or(0);
            return Err(file.error(at..at, "exactly one of compare, published and verdicts expected"));
        }
        let mut shares = Vec::new();
        if let Some(compare) = &claim.compare {
            one_of(&compare.left, columns, "column", file)?;
            one_of(&compare.right, columns, "column", file)?;
            if let Some(of) = &compare.of {
                one_of(of, measures, "measure", file)?;
            }
            if let Relation::Ratio(low, high) = compare.relation
                && (low > high || low.is_nan() || high.is_nan())
            {
                return Err(file.error(compare.left.span(), format!("no ratio is in {low} to {high}")));
            }
            shares.extend(compare.share);
        }
        if let Some(verdicts) = &claim.verdicts {
            one_of(&verdicts.column, columns, "column", file)?;
            shares.push(verdicts.share);
            if description.baseline.is_none() {
                return Err(file.error(verdicts.column.span(), "verdicts need a baseline"));
            }
        }
        shares.extend(claim.published.as_ref().map(|p| p.share));
        if let Some(share) = shares.into_iter().find(|share| !(0.0..=1.0).contains(share)) {
            let at = file.text.find(&claim.says).unwrap_or(0);
            return Err(file.error(at..at, format!("share is {share}; 0 to 1 expected")));
        }
    }
    Ok(())
}

impl MethodText {
    /// The parameters that may vary.
    fn parameters(&self) -> Vec<(Axis, &Spanned<Values>)> {
        let mut parameters = vec![
            (Axis::Trees, &self.trees),
            (Axis::MaxFeatures, &self.max_features),
        ];
        parameters.extend(self.components.as_ref().map(|c| (Axis::Components, c)));
        parameters
    }

    /// The columns of a method: its id, or `id@value` for each value along the axis.
    pub(crate) fn columns(&self) -> Vec<(String, Option<String>)> {
        let id = self.id.get_ref();
        let along = self
            .parameters()
            .into_iter()
            .find_map(|(_, values)| match values.get_ref() {
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

/// [`Features`] from text.
struct FeatureRule;

impl FromStr for FeatureRule {
    type Err = rpo::ensemble::EnsembleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Features::try_from(text.to_owned()).map(|_| Self)
    }
}

fn parse<T: FromStr<Err: Display>>(text: &Spanned<String>, file: &Source<'_>) -> Result<T, DescribeError> {
    let parsed = text.get_ref().parse::<T>();
    parsed.map_err(|e| file.error(text.span(), e.to_string()))
}

fn parse_values<T: FromStr<Err: Display>>(
    values: &Spanned<Values>,
    file: &Source<'_>,
) -> Result<(), DescribeError> {
    let texts = values.get_ref().as_slice();
    if texts.is_empty() {
        return Err(file.error(values.span(), "an empty list"));
    }
    let found = texts
        .iter()
        .find_map(|text| text.parse::<T>().err().map(|e| (text, e)));
    match found {
        Some((text, e)) => Err(file.error(values.span(), format!("{text:?}: {e}"))),
        None => Ok(()),
    }
}

fn one_of(
    name: &Spanned<String>,
    known: &[String],
    what: &str,
    file: &Source<'_>,
) -> Result<(), DescribeError> {
    if known.contains(name.get_ref()) {
        return Ok(());
    }
    let message = format!("no {what} {:?}; there are {}", name.get_ref(), known.join(", "));
    Err(file.error(name.span(), message))
}
