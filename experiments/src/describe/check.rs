//! Checks of a description beyond those of its types.

use super::check_claims::{Known, check_claims};
use super::read::Source;
use super::{
    DatasetText, DescribeError, Description, MethodText, Published, PublishedName, SplitText, Values,
    measures,
};
use rpo::Estimator;
use rpo::metrics::Metric;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;
use toml::Spanned;

pub(super) fn check(description: &Description, file: &Source<'_>) -> Result<(), DescribeError> {
    if let Some(paper) = &description.paper {
        let papers: Vec<String> = Published::get().papers.keys().cloned().collect();
        one_of(paper, &papers, "paper", file)?;
    }
    if description.repeats == 0 {
        return Err(file.error(0..0, "repeats is 0; at least 1 expected"));
    }
    if description.decompose.is_some() != description.metrics.is_empty() {
        return Err(file.error(0..0, "either metrics or decompose expected"));
    }
    if description
        .bootstrap
        .is_some_and(|n| n < 2 || description.decompose.is_some())
    {
        return Err(file.error(0..0, "bootstrap takes 2 resamples or more, of metrics"));
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
    let columns = check_methods(description, &datasets, file)?;
    if let Some(baseline) = &description.baseline {
        one_of(baseline, &columns, "column", file)?;
    }
    let curves = description
        .methods
        .iter()
        .filter(|method| method.columns().len() > 1);
    let curves: Vec<String> = curves.map(|method| method.id.get_ref().clone()).collect();
    let known = Known {
        datasets: &datasets,
        columns: &columns,
        curves: &curves,
        measures: &measures,
    };
    check_claims(description, &known, file)
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
        if generated && data.split == SplitText::Given {
            return wrong("a generated set has no parts");
        }
        if description.decompose.is_some() && !decomposable(data) {
            return wrong("a decomposition needs to know the true function: friedman independent or group");
        }
    }
    Ok(names.into_iter().collect())
}

fn decomposable(data: &DatasetText) -> bool {
    use rpo::data::generate::FriedmanKind;
    let kind = data.friedman.as_ref().filter(|f| !f.permuted).map(|f| f.kind);
    matches!(kind, Some(FriedmanKind::Independent | FriedmanKind::Group))
}

/// Checks the methods and returns their columns.
fn check_methods(
    description: &Description,
    datasets: &[String],
    file: &Source<'_>,
) -> Result<Vec<String>, DescribeError> {
    let mut columns = Vec::new();
    let mut ids = BTreeSet::new();
    for method in &description.methods {
        if !ids.insert(method.id.get_ref()) {
            return Err(file.error(method.id.span(), "the same id as a method before"));
        }
        for (name, values) in &method.options {
            let along = description.axis.as_ref() == Some(name);
            if matches!(values.get_ref(), Values::Many(_)) && !along {
                return Err(file.error(values.span(), "a list, but this is not the axis"));
            }
            if values.get_ref().as_slice().is_empty() {
                return Err(file.error(values.span(), "an empty list"));
            }
        }
        for name in method.on.iter().flatten() {
            one_of(name, datasets, "data set", file)?;
        }
        for name in method.targets.keys() {
            one_of(name, datasets, "data set", file)?;
            if description.bootstrap.is_some() || description.decompose.is_some() {
                return Err(file.error(name.span(), "targets go with neither bootstrap nor decompose"));
            }
        }
        check_options(method, file)?;
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

/// Checks that the options of every column belong to the method and have allowed values.
fn check_options(method: &MethodText, file: &Source<'_>) -> Result<(), DescribeError> {
    for (_, value) in method.columns() {
        let made = method.job(value.as_deref()).method_options().and_then(|options| {
            options.check()?;
            Ok(options)
        });
        let options = made.map_err(|e| {
            let message = e.to_string();
            // Report at the option that the message names first, if it names one.
            let named = |name: &str| message.find(&format!("`{}`", name.replace('-', "_")));
            let options = method.options.iter();
            let option = options
                .filter_map(|(name, values)| Some((named(name)?, values)))
                .min_by_key(|(at, _)| *at);
            let place = option.map_or(method.algorithm.span(), |(_, values)| values.span());
            file.error(place, message)
        })?;
        if let Some(search) = &method.search {
            let tuning = search.tuning(options, 0, None);
            let checked = tuning.and_then(|tuning| Ok(tuning.space()?));
            checked.map_err(|e| file.error(method.algorithm.span(), e.to_string()))?;
        }
    }
    Ok(())
}

fn parse<T: FromStr<Err: Display>>(text: &Spanned<String>, file: &Source<'_>) -> Result<T, DescribeError> {
    let parsed = text.get_ref().parse::<T>();
    parsed.map_err(|e| file.error(text.span(), e.to_string()))
}

pub(super) fn one_of(
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
