//! Columns of dates, whose parts are features.

use super::Dataset;
use crate::read::ColumnType;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The parts of a date, in the order of their features; the last one applies only to dates with times.
const PARTS: [&str; 4] = ["days", "month", "weekday", "hour"];

/// A column of dates in a table. It is represented by one feature per part of a date, `since[days]`, as
/// [`ColumnType::Date`] and [`ColumnType::DateTime`] describe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateColumn {
    /// Its name.
    pub name: String,
    /// True if its dates have a time, whose hours are one more part.
    pub has_time: bool,
}

impl DateColumn {
    /// Creates a column of dates, or of dates with times.
    pub(crate) fn new(name: &str, kind: ColumnType) -> Self {
        let (name, has_time) = (name.to_owned(), kind == ColumnType::DateTime);
        Self { name, has_time }
    }

    /// Its type.
    pub fn kind(&self) -> ColumnType {
        match self.has_time {
            true => ColumnType::DateTime,
            false => ColumnType::Date,
        }
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        PARTS.len() - usize::from(!self.has_time)
    }

    /// Names of the features, in order.
    pub fn feature_names(&self) -> impl Iterator<Item = String> + '_ {
        let parts = PARTS[..self.n_features()].iter();
        parts.map(|part| format!("{}[{part}]", self.name))
    }
}

impl Dataset {
    /// The columns of dates, by their first feature; those of the other parts follow.
    pub fn dates(&self) -> &BTreeMap<usize, DateColumn> {
        &self.dates
    }

    /// Sets the columns of dates, which are trusted to be those of the features.
    pub(crate) fn with_dates(self, dates: BTreeMap<usize, DateColumn>) -> Self {
        Self { dates, ..self }
    }
}

#[cfg(test)]
mod tests {
    use crate::dataset::{Columns, Dataset};
    use crate::read::{ColumnType, Format, ReadOptions, read_from};

    const CSV: &str =
        "x,at,note,since\n1,2024-01-31T06:00,good day,2024-01-31\n2,2024-02-01T18:00,day,2024-02-01\n";

    fn read() -> Dataset {
        let options = ReadOptions {
            format: Format::Csv,
            types: [("note".to_owned(), ColumnType::Text)].into(),
            text: crate::text::TextOptions {
                min_samples: 1,
                ..Default::default()
            },
            ..ReadOptions::default()
        };
        read_from(CSV.as_bytes(), &options).unwrap()
    }

    /// The columns of several features, with their first ones.
    fn columns(data: &Dataset) -> Vec<(usize, &str)> {
        let dates = data.dates().iter().map(|(&first, column)| (first, &*column.name));
        let texts = data.texts().iter().map(|(&first, column)| (first, &*column.name));
        dates.chain(texts).collect()
    }

    #[test]
    fn dates_go_with_their_features() {
        let data = read();
        assert_eq!(columns(&data), [(1, "at"), (5, "since"), (8, "note")]);
        let has_time: Vec<bool> = data.dates().values().map(|column| column.has_time).collect();
        assert_eq!(has_time, [true, false]);
        for (&first, column) in data.dates() {
            let names = data.feature_names().iter().skip(first).take(column.n_features());
            assert!(names.eq(column.feature_names()));
        }
        let kept = data.select_features(&[2, 3, 4, 5, 6, 7]).unwrap();
        assert_eq!(columns(&kept), [(3, "since")]);
        assert_eq!(columns(&data.select_samples(&[1]).unwrap()), columns(&data));
        assert_eq!(columns(&data.concat(&data).unwrap()), columns(&data));
    }

    #[test]
    fn features_with_other_names_are_numbers() {
        let data = read();
        let names: Vec<String> = data.feature_names().iter().map(Into::into).collect();
        let renamed = |old: &str| {
            let names = names.iter();
            let names = names.map(|name| {
                if name == old {
                    "new".to_owned()
                } else {
                    name.clone()
                }
            });
            data.clone()
                .with_names(Columns::Features, names.collect())
                .unwrap()
        };
        assert_eq!(columns(&renamed("x")), columns(&data));
        assert_eq!(columns(&renamed("at[hour]")), [(5, "since"), (8, "note")]);
        assert_eq!(columns(&renamed("note[good]")), [(1, "at"), (5, "since")]);
    }
}
