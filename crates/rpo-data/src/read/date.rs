//! Dates and times: those of ISO 8601, and days, months and years whose order the form shows.

use super::number;
use crate::dataset::DateColumn;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;

/// Nanoseconds of a day.
pub(super) const DAY: i128 = 86_400_000_000_000;

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

    /// Parses `YYYY-MM-DD`, `YYYY/MM/DD` or `DD.MM.YYYY`, optionally with a time, which may have an offset from UTC; `None`
    /// for anything else.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let text = in_iso_form(text)?;
        let rest = &text.as_bytes()[10..];
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

    /// Returns the days since 1970-01-01.
    fn days(self) -> f64 {
        const DAY: f64 = 86_400.0;
        let start = Date::constant(1970, 1, 1).at(0, 0, 0, 0);
        self.time.duration_since(start).as_secs_f64() / DAY
    }

    /// Returns the value of each feature of a column.
    pub(super) fn values(self, column: &DateColumn) -> impl Iterator<Item = f64> {
        let midnight = self.time.date().at(0, 0, 0, 0);
        let hours = self.time.duration_since(midnight).as_secs_f64() / 3_600.0;
        let days = match column.has_time {
            true => self.days(),
            false => self.days().floor(),
        };
        let (month, weekday) = (self.time.month(), self.time.weekday().to_monday_one_offset());
        let values = [days, f64::from(month), f64::from(weekday), hours];
        values.into_iter().take(column.n_features())
    }
}

/// Returns the text of a date, and what follows it, with the date as `YYYY-MM-DD`; `None` for other texts. Days, months and
/// years between points come in this order wherever points separate them, and a year that comes first is followed by
/// the month; between slashes, day and month come in either order.
fn in_iso_form(text: &[u8]) -> Option<Cow<'_, str>> {
    // The library accepts more forms than these, including forms of numbers.
    if let [_, _, _, _, b'-', _, _, b'-', _, _, ..] = text {
        return std::str::from_utf8(text).ok().map(Cow::Borrowed);
    }
    let text = std::str::from_utf8(text).ok()?;
    let is_number = |part: &str, lengths: RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
    };
    if let Some((year, rest)) = text
        .split_at_checked(4)
        .filter(|(year, _)| is_number(year, 4..=4))
    {
        let (month, rest) = rest.strip_prefix('/')?.split_once('/')?;
        let (day, rest) = rest.split_at_checked(2)?;
        let is_date = is_number(month, 2..=2) && is_number(day, 2..=2);
        return is_date.then(|| format!("{year}-{month}-{day}{rest}").into());
    }
    let (day, rest) = text.split_once('.')?;
    let (month, rest) = rest.split_once('.')?;
    let (year, rest) = rest.split_at_checked(4)?;
    let is_date = is_number(day, 1..=2) && is_number(month, 1..=2) && is_number(year, 4..=4);
    is_date.then(|| format!("{year}-{month:0>2}-{day:0>2}{rest}").into())
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

/// A point in time, as a column gives it. Times of different kinds have no order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Time {
    /// Days since 1970-01-01, of a date with or without a time.
    Days(f64),
    /// A number, such as a year.
    Number(f64),
}

impl Time {
    /// Returns the time in a text, without the blanks around it; `None` if it is neither a date nor a number.
    ///
    /// ```
    /// use rpo_data::read::Time;
    /// assert_eq!(Time::parse("1970-01-02T12:00:00"), Some(Time::Days(1.5)));
    /// assert_eq!((Time::parse(" 2024"), Time::parse("soon")), (Some(Time::Number(2024.0)), None));
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_ascii().as_bytes();
        match Moment::parse(text) {
            Some(moment) => Some(Self::Days(moment.days())),
            None => number::parse(text).ok().map(Self::Number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, has_time: bool) -> Vec<f64> {
        let name = String::new();
        let moment = Moment::parse(text.as_bytes()).unwrap();
        moment.values(&DateColumn { name, has_time }).collect()
    }

    #[test]
    fn dates_and_times_have_parts() {
        // 2024-01-31 was a Wednesday.
        assert_eq!(values("2024-01-31", false), [19_753.0, 1.0, 3.0]);
        assert_eq!(values("1969-12-31", true), [-1.0, 12.0, 3.0, 0.0]);
        for text in ["31.01.2024", "31.1.2024", "2024/01/31"] {
            assert_eq!(values(text, false), [19_753.0, 1.0, 3.0], "{text}");
        }
        for text in [
            "2024-01-31T18:30",
            "2024-01-31 18:30:00",
            "2024-01-31T20:30:00+02:00",
            "2024-01-31T18:30:00.000Z",
            "2024/01/31 18:30",
            "31.01.2024 18:30",
            "31.1.2024T18:30:00",
        ] {
            assert_eq!(
                values(text, true),
                [19_753.0 + 18.5 / 24.0, 1.0, 3.0, 18.5],
                "{text}"
            );
            assert_eq!(values(text, false)[0], 19_753.0);
        }
    }

    #[test]
    fn other_texts_are_not_dates() {
        for text in [
            "20240131",
            "2024-02-30",
            "2024-1-31",
            "31-01-2024",
            "31/01/2024",
            "01.31.2024",
            "31.02.2024",
            "31.01.24",
            "31.01.20245",
            "1.234.5678",
            "2024/1/31",
            "2024/31/01",
            "+1.01.2024",
            "31.01.2024 x",
            "2024-01-31 ",
            "2024-01-31x",
            "2024-01",
            "1e-5",
        ] {
            assert_eq!(Moment::parse(text.as_bytes()), None, "{text}");
        }
    }
}
