//! Figures of every output or feature.

use crate::output::shown;
use rpo::data::{Dataset, Imbalance, LabelStatistics, Moments, Task};
use serde_json::{Map, Value};

/// A table of columns of a data set.
pub(super) struct List {
    /// Names of the figures. The first is that of the column.
    keys: Vec<&'static str>,
    rows: Vec<Vec<Value>>,
}

impl List {
    /// Returns an object for each column, without the figures that it does not have.
    pub(super) fn into_json(self) -> Value {
        let object = |row: Vec<Value>| {
            let cells = self.keys.iter().map(|key| (*key).to_owned()).zip(row);
            Value::Object(cells.filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>())
        };
        self.rows.into_iter().map(object).collect()
    }

    /// Returns a line for each column; its name comes last, as it may be long.
    pub(super) fn into_text(self) -> String {
        let header = self.keys[1..].iter().map(|key| (*key).to_owned());
        let mut text = line(header, self.keys[0]);
        for row in &self.rows {
            text += &line(row[1..].iter().map(cell), &row[0].to_string());
        }
        text
    }
}

fn line(figures: impl Iterator<Item = String>, name: &str) -> String {
    // A figure that is too wide moves those after it, but is not joined to them.
    let right = |figure: String| format!("{figure:>12}");
    format!("{}  {name}\n", figures.map(right).collect::<Vec<_>>().join(" "))
}

/// Formats a figure, in about twelve characters if it is a number.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        value => match value.as_f64() {
            Some(number) if value.is_f64() && number.abs() >= 1e7 => format!("{number:.3e}"),
            _ => shown(value),
        },
    }
}

/// Lists the outputs.
pub(super) fn outputs(data: &Dataset, statistics: &LabelStatistics) -> List {
    let names = data.output_names();
    let name = |j: usize| Value::from(names.get(j).unwrap_or_default());
    match data.task() {
        Task::MultiLabel => {
            let ratios = statistics.imbalance_ratios(Imbalance::Labels);
            let label = |(j, (&count, ir)): (usize, (&usize, f64))| {
                let observed = statistics.n_samples - statistics.missing[j];
                let frequency = count as f64 / observed.max(1) as f64;
                vec![name(j), count.into(), frequency.into(), ir.into()]
            };
            List {
                keys: vec!["name", "count", "frequency", "ir"],
                rows: statistics
                    .counts
                    .iter()
                    .zip(ratios)
                    .enumerate()
                    .map(label)
                    .collect(),
            }
        }
        Task::Regression => {
            let moments = data.output_moments();
            let row = |(j, moments): (usize, &Moments)| [vec![name(j)], figures(moments)].concat();
            List {
                keys: [&["name"], &FIGURES[..]].concat(),
                rows: moments.iter().enumerate().map(row).collect(),
            }
        }
    }
}

/// Lists the features.
pub(super) fn features(data: &Dataset) -> List {
    let names = data.feature_names();
    let mut is_term = vec![false; data.n_features()];
    for (&first, column) in data.texts() {
        is_term[first..first + column.n_features()].fill(true);
    }
    let row = |(j, moments): (usize, &Moments)| {
        let name = Value::from(names.get(j).unwrap_or_default());
        let categories = data.nominal().get(&j).map(|values| values.len());
        let mut figures = figures(moments);
        if categories.is_some() {
            figures[..FIGURES.len() - 1].fill(Value::Null);
        }
        let kind = match (categories, is_term[j]) {
            (Some(_), _) => "category",
            (None, true) => "term",
            (None, false) => "number",
        };
        [vec![name, kind.into(), categories.into()], figures].concat()
    };
    List {
        keys: [&["name", "kind", "categories"], &FIGURES[..]].concat(),
        rows: data.feature_moments().iter().enumerate().map(row).collect(),
    }
}

/// Figures of a column of numbers.
const FIGURES: [&str; 5] = ["mean", "deviation", "least", "largest", "missing"];

fn figures(moments: &Moments) -> Vec<Value> {
    let numbers = [moments.mean, moments.deviation, moments.least, moments.largest];
    let numbers = numbers.map(Value::from).into_iter();
    numbers.chain([moments.missing.into()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_figures_are_separate() {
        let figures = [-9_999_999.5, -1_234_567.25, 1e300].map(Value::from);
        let list = List {
            keys: vec!["name", "least", "mean", "largest"],
            rows: vec![[&["x".into()], &figures[..]].concat()],
        };
        let text = list.into_text();
        let row: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row, ["-9999999.5000", "-1234567.2500", "1.000e300", "\"x\""]);
    }
}
