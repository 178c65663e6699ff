//! ISO 8601 dates and times.

use super::number;
use super::options::ColumnType;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use std::fmt;

/// The features of a date, in order; the last one applies only to dates with times.
const PARTS: [&str; 4] = ["days", "month", "weekday", "hour"];

/// Nanoseconds of a day.
pub(super) const DAY: i128 = 86_400_000_000_000;

/// Returns the names of the parts as which a column of dates is read.
pub(super) fn parts(kind: ColumnType) -> &'static [&'static str] {
    match kind {
        ColumnType::Number | ColumnType::Category | ColumnType::Text => &[],
        ColumnType::Date => &PARTS[..3],
        ColumnType::DateTime => &PARTS,
    }
}

/// Returns the name of the feature for a part of a column of dates.
pub(super) fn part_name(column: &str, part: &str) -> String {
    format!("{column}[{part}]")
}

/// A date, possibly with a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment {
    time: DateTime,
    pub(super) has_time: bool,
}

impl Moment {
    /// Creates the moment this number of nanoseconds after 1970-01-01; `None` outside the years -9999 to 9999.
    pub(super) fn new(nanoseconds: i128, has_time: bool) -> Option<Self> {
        let timestamp = Timestamp::from_nanosecond(nanoseconds).ok()?;
        let time = timestamp.to_zoned(TimeZone::UTC).datetime();
        Some(Self { time, has_time })
    }

    /// Parses `YYYY-MM-DD`, optionally with a time, which may have an offset from UTC; `None` for anything else.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        // The library accepts more forms than the usual one, including forms of numbers.
        let [_, _, _, _, b'-', _, _, b'-', _, _, rest @ ..] = text else {
            return None;
        };
        let text = std::str::from_utf8(text).ok()?;
        if rest.is_empty() {
            let date: Date = text.parse().ok()?;
            let time = date.at(0, 0, 0, 0);
            return Some(Self {
                time,
                has_time: false,
            });
        }
        let has_offset = rest.iter().any(|b| matches!(b, b'Z' | b'z' | b'+' | b'-'));
        let time = if has_offset {
            let timestamp: Timestamp = text.parse().ok()?;
            timestamp.to_zoned(TimeZone::UTC).datetime()
        } else {
            text.parse().ok()?
        };
        Some(Self { time, has_time: true })
    }

    /// Returns the value of each part.
    pub(super) fn values(self, kind: ColumnType) -> impl Iterator<Item = f64> {
        const DAY: f64 = 86_400.0;
        let since = self
            .time
            .duration_since(Date::constant(1970, 1, 1).at(0, 0, 0, 0));
        let midnight = self.time.date().at(0, 0, 0, 0);
        let hours = self.time.duration_since(midnight).as_secs_f64() / 3_600.0;
        let days = since.as_secs_f64() / DAY;
        let days = if kind == ColumnType::Date {
            days.floor()
        } else {
            days
        };
        let (month, weekday) = (self.time.month(), self.time.weekday().to_monday_one_offset());
        let values = [days, f64::from(month), f64::from(weekday), hours];
        values.into_iter().take(parts(kind).len())
    }
}

/// Formats the moment as text that parses to the same moment.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.has_time {
            true => self.time.fmt(f),
            false => self.time.date().fmt(f),
        }
    }
}

/// Converts an ISO 8601 date, with or without a time, to days since 1970-01-01, and returns a number unchanged; `None`
/// for any other text.
///
/// ```
/// use rpo_data::read::time_of;
/// assert_eq!(time_of("1970-01-02T12:00:00"), Some(1.5));
/// assert_eq!((time_of("2024"), time_of("soon")), (Some(2024.0), None));
/// ```
pub fn time_of(text: &str) -> Option<f64> {
    match Moment::parse(text.as_bytes()) {
        Some(moment) => moment.values(ColumnType::DateTime).next(),
        None => number::parse(text.as_bytes()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, kind: ColumnType) -> Vec<f64> {
        Moment::parse(text.as_bytes()).unwrap().values(kind).collect()
    }

    #[test]
    fn dates_and_times_have_parts() {
        // 2024-01-31 was a Wednesday.
        assert_eq!(values("2024-01-31", ColumnType::Date), [19_753.0, 1.0, 3.0]);
        assert_eq!(values("1969-12-31", ColumnType::DateTime), [-1.0, 12.0, 3.0, 0.0]);
        for text in [
            "2024-01-31T18:30",
            "2024-01-31 18:30:00",
            "2024-01-31T20:30:00+02:00",
            "2024-01-31T18:30:00.000Z",
        ] {
            assert_eq!(
                values(text, ColumnType::DateTime),
                [19_753.0 + 18.5 / 24.0, 1.0, 3.0, 18.5],
                "{text}"
            );
            assert_eq!(values(text, ColumnType::Date)[0], 19_753.0);
        }
    }

    #[test]
    fn other_texts_are_not_dates() {
        for text in [
            "20240131",
            "2024-02-30",
            "2024-1-31",
            "31-01-2024",
            "2024-01-31 ",
            "2024-01-31x",
            "2024-01",
            "1e-5",
        ] {
            assert_eq!(Moment::parse(text.as_bytes()), None, "{text}");
        }
    }
}
