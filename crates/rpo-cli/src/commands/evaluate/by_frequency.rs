//! Scores of groups of labels by frequency.

use crate::output::figure;
use rpo::FrequencyScores;
use rpo::metrics::{Metric, Score};
use serde_json::{Map, Value};
use std::fmt::Write;

/// The K of each metric at K; those of the default metrics if there are none.
pub(super) fn ks(metrics: &[Metric]) -> Vec<usize> {
    let at = metrics.iter().map(|metric| metric.needs().top_k());
    let mut ks: Vec<usize> = at.flatten().collect();
    if ks.is_empty() {
        ks = vec![1, 3, 5];
    }
    ks.sort_unstable();
    ks.dedup();
    ks
}

/// Returns the groups as JSON objects.
pub(super) fn json(groups: &[FrequencyScores], ks: &[usize]) -> Value {
    let object = |group: &FrequencyScores| {
        let ends = group.frequencies.as_ref();
        let mut object = Map::new();
        object.insert("labels".to_owned(), group.n_labels.into());
        object.insert("least_frequent".to_owned(), ends.map(|ends| *ends.start()).into());
        object.insert("most_frequent".to_owned(), ends.map(|ends| *ends.end()).into());
        object.insert("positives".to_owned(), group.positives.into());
        for (k, at_k) in ks.iter().zip(&group.at_k) {
            object.insert(format!("r@{k}"), at_k.recall.into());
            object.insert(format!("p@{k}"), at_k.precision.into());
        }
        Value::Object(object)
    };
    groups.iter().map(object).collect()
}

/// Returns a table with a line for each group.
pub(super) fn table(groups: &[FrequencyScores], ks: &[usize]) -> String {
    let mut text = format!("\n{:>8} {:>15} {:>9}", "labels", "frequency", "positives");
    for name in ["r", "p"] {
        ks.iter()
            .for_each(|k| text += &format!(" {:>7}", format!("{name}@{k}")));
    }
    text.push('\n');
    for group in groups {
        let frequency = match &group.frequencies {
            Some(ends) => format!("{} to {}", ends.start(), ends.end()),
            None => "none".to_owned(),
        };
        let _ = write!(
            text,
            "{:>8} {frequency:>15} {:>9}",
            group.n_labels, group.positives
        );
        let recalls = group.at_k.iter().map(|at_k| at_k.recall);
        for value in recalls.chain(group.at_k.iter().map(|at_k| at_k.precision)) {
            let _ = write!(text, " {:>7}", figure(value));
        }
        text.push('\n');
    }
    text
}
