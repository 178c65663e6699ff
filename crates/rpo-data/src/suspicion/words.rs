//! Words that stand for missing values, dates or numbers.

use super::{Suspicion, is_stored_as_text};
use crate::dataset::Dataset;
use crate::read::Time;
use std::collections::BTreeMap;
use std::fmt;

/// A kind of values that is written in a form that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Dates in a form that is not read, like 31/01/2024 or 2024-01.
    Date,
    /// Times of day without a date, or durations, like 23:30 or 11:30 pm.
    Time,
    /// Numbers with a currency, a percent sign, a unit, parentheses, or separators of thousands, like $1000, 45%, 84 kg,
    /// (757) or 1'000.
    Number,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Date => "dates; dates are read in the forms 2024-01-31, 2024/01/31 and 31.01.2024",
            Self::Time => "times; times are read as numbers, such as of minutes, or with a date, 2024-01-31T18:30",
            Self::Number => {
                "numbers; numbers are read without currencies, percent signs, units, parentheses and separators of thousands"
            }
        })
    }
}

/// Words that usually stand for a missing value, in lower case.
const MISSING: [&str; 12] = [
    "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", ".", "missing",
];

fn is_missing(word: &str) -> bool {
    MISSING
        .iter()
        .any(|missing| word.trim().eq_ignore_ascii_case(missing))
}

/// Returns the categories with values that usually stand for a missing one.
pub(super) fn missing(data: &Dataset) -> Vec<Suspicion> {
    let found = data.nominal().iter().filter_map(|(&feature, values)| {
        let words = values.iter().filter(|value| is_missing(value));
        let words: Vec<String> = words.cloned().collect();
        let feature = data.feature_names().get(feature)?.into_owned();
        let is_suspicious = !words.is_empty() && !is_stored_as_text(data, &feature);
        is_suspicious.then_some(Suspicion::MissingWords { feature, words })
    });
    found.collect()
}

impl Form {
    /// Returns the form in which nearly all of some values, at least two, are written, if it is not read. Beside
    /// numbers in such a form, plain ones count too.
    pub fn of(values: &[String]) -> Option<Self> {
        let present: Vec<&str> = values.iter().map(|value| value.trim()).collect();
        let present: Vec<&str> = present.into_iter().filter(|value| !is_missing(value)).collect();
        let unit = common_unit(&present);
        let is_other_number = |text: &str| is_number(text) || unit.is_some() && unit_of(text) == unit;
        let is_plain = |text: &str| Time::parse(text).is_some_and(|time| matches!(time, Time::Number(_)));
        let count = |is: &dyn Fn(&str) -> bool| present.iter().filter(|text| is(text)).count();
        let are_nearly_all =
            |found: usize, beside: usize| found >= 2 && 10 * (found + beside) >= 9 * present.len();
        if are_nearly_all(count(&is_date), 0) {
            Some(Form::Date)
        } else if are_nearly_all(count(&is_time), 0) {
            Some(Form::Time)
        } else if are_nearly_all(count(&is_other_number), count(&is_plain)) {
            Some(Form::Number)
        } else {
            None
        }
    }
}

/// Returns the first value of a category that does not stand for a missing one and that cannot be read as it is: a date
/// beside values such as 2000-13-01 has the very form that is asked for.
pub(super) fn example(values: &[String]) -> Option<&String> {
    let is_read = |value: &String| Time::parse(value).is_some();
    values.iter().find(|value| !is_missing(value) && !is_read(value))
}

/// Returns true for a date of numbers or with the name of a month, optionally with a time.
fn is_date(text: &str) -> bool {
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let has_time = time.contains(':');
    is_date_of_numbers(if has_time { date } else { text }) || is_date_of_words(text)
}

/// Returns true for numbers of a day, a month and a year, or of a month and a year, between equal separators.
fn is_date_of_numbers(text: &str) -> bool {
    let Some(separator) = text.chars().find(|c| matches!(c, '/' | '-' | '.')) else {
        return false;
    };
    let parts: Vec<&str> = text.split(separator).collect();
    let are_digits = |part: &&str| part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
    if !parts.iter().all(are_digits) {
        return false;
    }
    let within =
        |part: &str, most: u8| part.len() <= 2 && part.parse().is_ok_and(|n: u8| (1..=most).contains(&n));
    let (day, month) = (|part| within(part, 31), |part| within(part, 12));
    let year = |part: &str| part.len() == 4;
    let is_day = |a, b| month(a) && day(b) || day(a) && month(b);
    match *parts {
        [a, b, c] if year(a) => is_day(b, c),
        [a, b, c] => is_day(a, b) && matches!(c.len(), 2 | 4),
        [a, b] if separator != '.' => year(a) && month(b) || month(a) && year(b),
        _ => false,
    }
}

/// Returns true for the name of a month beside one or two numbers.
fn is_date_of_words(text: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let parts = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty());
    let (mut n_months, mut n_numbers) = (0, 0);
    for part in parts {
        let word = part.to_ascii_lowercase();
        let number = ["st", "nd", "rd", "th"]
            .iter()
            .find_map(|end| word.strip_suffix(end));
        let number = number.unwrap_or(&word);
        if MONTHS.iter().any(|month| word == *month || word == month[..3]) {
            n_months += 1;
        } else if number.len() <= 4 && number.bytes().all(|b| b.is_ascii_digit()) {
            n_numbers += 1;
        } else {
            return false;
        }
    }
    n_months == 1 && matches!(n_numbers, 1 | 2)
}

/// Returns true for hours and minutes, optionally with seconds or a half of the day, and for an hour with one.
fn is_time(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let half = ["am", "pm", "a.m.", "p.m."]
        .iter()
        .find_map(|half| lower.strip_suffix(half));
    let parts: Vec<&str> = half.unwrap_or(&lower).trim_end().split(':').collect();
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_sixtieth = |part: &str| part.len() == 2 && are_digits(part) && part < "60";
    let is_second = |part: &str| match part.split_once('.') {
        Some((whole, fraction)) => is_sixtieth(whole) && are_digits(fraction),
        None => is_sixtieth(part),
    };
    match *parts {
        [hour] => half.is_some() && are_digits(hour) && hour.len() <= 2,
        [hour, minute] => are_digits(hour) && is_sixtieth(minute),
        [hour, minute, second] => are_digits(hour) && is_sixtieth(minute) && is_second(second),
        _ => false,
    }
}

/// Returns the text of a number without its sign.
fn unsigned(text: &str) -> &str {
    text.trim().trim_start_matches(['-', '+']).trim()
}

/// Returns the most frequent unit of several values; of equally frequent ones, the first in the alphabet.
fn common_unit<'a>(values: &[&'a str]) -> Option<&'a str> {
    let mut counts = BTreeMap::new();
    for unit in values.iter().filter_map(|value| unit_of(value)) {
        *counts.entry(unit).or_insert(0_usize) += 1;
    }
    let most = counts.values().max().copied()?;
    counts
        .into_iter()
        .find(|(_, count)| *count == most)
        .map(|(unit, _)| unit)
}

/// Returns the unit behind a number: letters and signs such as in km/h, m² and °C.
fn unit_of(text: &str) -> Option<&str> {
    const LONGEST: usize = 10;
    let text = unsigned(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','))?;
    let (number, unit) = (&text[..end], text[end..].trim_start());
    let begins = |c: char| c.is_alphabetic() || c == '°';
    let goes_on = |c: char| begins(c) || matches!(c, '/' | '^' | '·' | '²' | '³' | '2' | '3');
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    let is_unit = unit.starts_with(begins) && unit.chars().all(goes_on) && unit.chars().count() <= LONGEST;
    (is_number && is_unit).then_some(unit)
}

/// Returns true for a number with a currency or a percent sign, in parentheses, or with separators of thousands.
fn is_number(text: &str) -> bool {
    const SIGNS: [&str; 11] = ["$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY", "%"];
    let inside = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let text = unsigned(inside.unwrap_or(text));
    let without = SIGNS.iter().find_map(|sign| {
        let rest = text.strip_prefix(sign).or_else(|| text.strip_suffix(sign));
        rest.map(unsigned)
    });
    let number = without.unwrap_or(text);
    let is_number = number.starts_with(|c: char| c.is_ascii_digit())
        && number
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ',') || BETWEEN_THOUSANDS.contains(&c));
    is_number && (without.is_some() || inside.is_some() || has_thousands(number))
}

/// Characters that separate thousands and nothing else: blanks and apostrophes.
const BETWEEN_THOUSANDS: [char; 5] = [' ', '\u{a0}', '\u{202f}', '\'', '’'];

/// Returns true for a number whose digits before the decimal point or comma are in groups of three. Points are
/// separators of thousands only if there are several: 1.000 is 1.
fn has_thousands(number: &str) -> bool {
    let separators = BETWEEN_THOUSANDS.into_iter().zip(std::iter::repeat(1));
    let mut separators = separators.chain([(',', 1), ('.', 2)]);
    separators.any(|(separator, least)| {
        let is_decimal = |c| matches!(c, '.' | ',') && c != separator;
        let whole = number.split(is_decimal).next().unwrap_or_default();
        let groups: Vec<&str> = whole.split(separator).collect();
        let are_digits = groups
            .iter()
            .all(|group| group.bytes().all(|b| b.is_ascii_digit()));
        let (first, others) = (groups[0], &groups[1..]);
        let are_thousands = (1..=3).contains(&first.len()) && others.iter().all(|group| group.len() == 3);
        number.matches(is_decimal).count() <= 1 && are_digits && are_thousands && others.len() >= least
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form_of(values: &[&str]) -> Option<Form> {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        Form::of(&values)
    }

    #[test]
    fn the_example_is_not_in_the_form_that_is_asked_for() {
        let values = ["2000-12-01", "2000-13-01", "n/a"].map(str::to_owned);
        assert_eq!(Form::of(&values), Some(Form::Date));
        assert_eq!(example(&values), Some(&values[1]));
        assert_eq!(example(&values[..1]), None);
    }

    #[test]
    fn forms_are_recognized() {
        for date in [
            "31/01/2024",
            "1/31/24",
            "2024/1/31",
            "2024-01",
            "01/2024",
            "31.1.24",
            "31-01-2024 18:30",
            "Jan 31, 2024",
            "31st January 2024",
            "31-Jan-24",
            "Mar 2024",
        ] {
            assert_eq!(form_of(&[date, date, "n/a"]), Some(Form::Date), "{date}");
        }
        for time in ["23:30", "7:05", "100:15:30.5", "11:30 PM", "7 a.m."] {
            assert_eq!(form_of(&[time, time, "-"]), Some(Form::Time), "{time}");
        }
        for number in [
            "$1000",
            "-$1,000.50",
            "1000 €",
            "CHF 12.50",
            "45%",
            "- 1 000 000",
            "1 234,5",
            "1'000",
            "12’345’678.50",
            "1\u{202f}000",
            "1.000.000",
            "-1.234.567,89",
            "1,000",
            "1,234.5",
            "84 kg",
            "-5.5 °C",
            "120km/h",
            "35 m²",
            "(757)",
            "($1,250.00)",
        ] {
            assert_eq!(form_of(&[number, number, "NULL"]), Some(Form::Number), "{number}");
        }
        for word in [
            "red",
            "1.2.3",
            "10.20",
            "2024-13",
            "99/99/2024",
            "1-2-3-4",
            "may",
            "May",
            "Route 66",
            "12 34",
            "12'34",
            "1.000",
            "1,5",
            "1.000.00",
            "1000'000",
            "1'000.5.5",
            "$",
            "%",
            "",
            "-",
            "192.168.0.1",
            "3/4",
            "3:2",
            "23:99",
            "10:20:30:40",
            "()",
            "(a)",
            "7 dwarfs and more",
            "4x4",
            "January 1 2 3",
        ] {
            assert_eq!(form_of(&[word, word]), None, "{word}");
        }
        // Numbers that are written plainly are no others, and units are equal.
        assert_eq!(form_of(&["(757)", "812", "(3)", "0"]), Some(Form::Number));
        assert_eq!(form_of(&["84 kg", "85", "86 kg"]), Some(Form::Number));
        assert_eq!(form_of(&["757", "812", "3"]), None);
        assert_eq!(form_of(&["7a", "7b", "8a", "8b"]), None);
        // Nearly all, and more than one.
        assert_eq!(form_of(&["$1"]), None);
        assert_eq!(form_of(&["$1", "$2", "free"]), None);
    }
}
