//! Types of the columns of a CSV file, declared by the caller or inferred from the values.

use super::csv::CsvReader;
use super::date::Moment;
use super::error::{ReadError, ReadErrorKind};
use super::number::{self, NotANumber};
use super::options::{ColumnType, ReadOptions, Targets};
use super::pattern::matching;
use crate::dataset::DateColumn;
use crate::message::lossy;
use crate::names::nearest;
use std::collections::BTreeMap;
use std::io::BufRead;

/// The use of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnUse {
    /// The column is ignored.
    Ignored,
    /// The column identifies the samples.
    Id,
    /// The column lists the labels of the samples.
    Labels,
    /// A feature or an output.
    Value(ColumnType),
}

/// Returns the names of the columns that are not read as they have no type.
pub(super) fn untyped(columns: &[String], uses: &[Option<ColumnUse>], options: &ReadOptions) -> Vec<String> {
    let columns = columns.iter().zip(uses);
    let untyped =
        columns.filter(|(_, column)| options.ignore_untyped && **column == Some(ColumnUse::Ignored));
    untyped.map(|(name, _)| name.clone()).collect()
}

/// Returns the use of each column according to the options; `None` if its values decide.
pub(super) fn declared(
    columns: &[String],
    is_target: &[bool],
    options: &ReadOptions,
) -> Result<Vec<Option<ColumnUse>>, ReadErrorKind> {
    let names = || columns.iter().map(String::as_str);
    let unknown = |option, name: &String| ReadErrorKind::UnknownColumn {
        option,
        name: name.clone(),
        nearest: nearest(name, names()),
    };
    let positions: BTreeMap<&str, usize> = names().zip(0..).collect();
    let position = |name: &str| positions.get(name).copied();
    let find = |option, name: &String| {
        let found = position(name).map_or_else(|| matching(name, names()), |j| vec![j]);
        match found.is_empty() {
            true => Err(unknown(option, name)),
            false => Ok(found),
        }
    };
    let is_exact = |name: &str| position(name).is_some();
    // Two exact names of a column contradict each other; an exact name takes precedence over a pattern.
    let contradiction = |j: usize, other| ReadErrorKind::TargetIsOther {
        name: columns[j].clone(),
        other,
    };
    let mut uses = vec![None; columns.len()];
    if options.ignore_untyped {
        let ignored = uses.iter_mut().zip(is_target).filter(|(_, target)| !**target);
        ignored.for_each(|(column, _)| *column = Some(ColumnUse::Ignored));
    }
    let (exact, patterns): (Vec<_>, Vec<_>) = options.types.iter().partition(|(name, _)| is_exact(name));
    for (name, &kind) in patterns.into_iter().chain(exact) {
        match find("types", name) {
            Ok(found) => found
                .into_iter()
                .for_each(|j| uses[j] = Some(ColumnUse::Value(kind))),
            // If a file was written with the features of such a column in its place, read those.
            Err(_) if options.ignore_untyped => features(name, kind, options)
                .iter()
                .filter_map(|feature| position(feature))
                .for_each(|j| uses[j] = Some(ColumnUse::Value(ColumnType::Number))),
            Err(e) => return Err(e),
        }
    }
    for name in &options.ignore {
        for j in find("ignore", name)? {
            let is_named_target = is_target[j] && is_named(&columns[j], &options.targets);
            match (is_named_target, is_exact(name)) {
                (true, true) => return Err(contradiction(j, "ignored")),
                (true, false) => {}
                (false, _) => uses[j] = Some(ColumnUse::Ignored),
            }
        }
    }
    if positions.len() < columns.len() {
        // Columns of one name are ignored together.
        for (j, name) in names().enumerate() {
            if uses[positions[name]] == Some(ColumnUse::Ignored) {
                uses[j] = Some(ColumnUse::Ignored);
            }
        }
    }
    if let Some(name) = &options.id {
        let j = position(name).ok_or_else(|| unknown("id", name))?;
        if is_target[j] && is_named(name, &options.targets) {
            return Err(contradiction(j, "the id"));
        }
        uses[j] = Some(ColumnUse::Id);
    }
    for (j, name) in names().enumerate().filter(|(j, _)| is_target[*j]) {
        if options.has_known_classes(name) {
            uses[j] = Some(ColumnUse::Value(ColumnType::Category));
        }
    }
    if let Targets::List(list) = &options.targets {
        let position = is_target.iter().position(|target| *target);
        let position = position.ok_or_else(|| unknown("targets", &list.column))?;
        if options.types.contains_key(&list.column) {
            return Err(contradiction(position, "a column of a given type"));
        }
        uses[position] = Some(ColumnUse::Labels);
    }
    Ok(uses)
}

/// Refuses two columns of one name, unless they are not read.
pub(super) fn check_unique(columns: &[String], uses: &[Option<ColumnUse>]) -> Result<(), ReadErrorKind> {
    let mut is_read = BTreeMap::new();
    for (name, column) in columns.iter().zip(uses) {
        let is_read_here = *column != Some(ColumnUse::Ignored);
        if let Some(is_read_before) = is_read.insert(name, is_read_here)
            && (is_read_before || is_read_here)
        {
            let (what, name) = ("column", name.clone());
            return Err(ReadErrorKind::DeclaredTwice { what, name });
        }
    }
    Ok(())
}

/// Returns the names of the features of a column of dates, or of texts that are read with the vocabulary of another
/// set.
fn features(name: &str, kind: ColumnType, options: &ReadOptions) -> Vec<String> {
    match kind {
        ColumnType::Number | ColumnType::Category => Vec::new(),
        ColumnType::Date | ColumnType::DateTime => DateColumn::new(name, kind).feature_names().collect(),
        ColumnType::Text => {
            let text = options.texts.iter().find(|column| column.name == name);
            text.map_or_else(Vec::new, |column| column.feature_names().collect())
        }
    }
}

/// Returns true if the targets name the column exactly, rather than by position or by a pattern.
fn is_named(column: &str, targets: &Targets) -> bool {
    match targets {
        Targets::None | Targets::Last(_) | Targets::First(_) => false,
        Targets::LabelFile(_) => true,
        Targets::Names(names) | Targets::NamesIfPresent(names) => names.iter().any(|name| name == column),
        Targets::List(list) => list.column == column,
    }
}

/// Infers the types of the columns that are not declared from all values of the file.
pub(super) fn infer<R: BufRead>(
    mut reader: CsvReader<R>,
    declared: &[Option<ColumnUse>],
) -> Result<Vec<ColumnUse>, ReadError> {
    if let Some(uses) = declared.iter().copied().collect() {
        return Ok(uses);
    }
    let mut seen = vec![Seen::default(); declared.len()];
    let mut next_line = reader.line() + 1;
    while reader.read_texts(|j, text| {
        if let (None, Some(text)) = (declared[j], text) {
            seen[j].add(text, next_line);
        }
        Ok(())
    })? {
        next_line = reader.line() + 1;
    }
    let columns = declared.iter().zip(seen).zip(reader.columns());
    let types = columns.map(|((declared, seen), name)| match declared {
        Some(given) => Ok(*given),
        None => seen.decide(name).map(ColumnUse::Value),
    });
    types.collect()
}

/// Statistics of the values of a column.
#[derive(Debug, Clone, Default)]
struct Seen {
    numbers: usize,
    dates: usize,
    times: usize,
    words: usize,
    /// The first value that is not a number, and its line.
    not_a_number: Option<(String, u64)>,
    /// The first value that is not a date, and its line.
    not_a_date: Option<(String, u64)>,
    /// The first number with a decimal comma or with separators of thousands, and its line.
    decimal_comma: Option<(String, u64)>,
}

impl Seen {
    fn add(&mut self, text: &[u8], line: u64) {
        let text = text.trim_ascii();
        let value = || (lossy(text), line);
        if parse_number(text).is_ok() {
            self.numbers += 1;
            self.not_a_date.get_or_insert_with(value);
            return;
        }
        match Moment::parse(text) {
            Some(moment) if moment.has_time => self.times += 1,
            Some(_) => self.dates += 1,
            None => {
                self.words += 1;
                self.not_a_date.get_or_insert_with(value);
            }
        }
        self.not_a_number.get_or_insert_with(value);
        if self.decimal_comma.is_none() && has_comma(text) {
            self.decimal_comma = Some(value());
        }
    }

    fn decide(self, column: &str) -> Result<ColumnType, ReadError> {
        let column = || column.to_owned();
        let dates = self.dates + self.times;
        let total = self.numbers + dates + self.words;
        if let (Some((text, line)), true) = (self.decimal_comma, dates == 0) {
            let column = column();
            let kind = match text.matches([',', '.']).count() {
                1 => ReadErrorKind::DecimalComma { column, text },
                _ => ReadErrorKind::Thousands { column, text },
            };
            return Err(kind.at(line));
        }
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        match (self.not_a_number, self.not_a_date) {
            (None, _) => Ok(ColumnType::Number),
            (Some((text, line)), _) if 2 * self.numbers > total => {
                let (column, others, total) = (column(), count(total - self.numbers), count(total));
                let kind = ReadErrorKind::MixedColumn {
                    column,
                    text,
                    others,
                    total,
                };
                Err(kind.at(line))
            }
            (_, None) if self.times == 0 => Ok(ColumnType::Date),
            (_, None) => Ok(ColumnType::DateTime),
            (_, Some((text, line))) if 2 * dates > total => {
                let (column, others, total) = (column(), count(total - dates), count(total));
                let kind = ReadErrorKind::MixedDates {
                    column,
                    text,
                    others,
                    total,
                };
                Err(kind.at(line))
            }
            _ => Ok(ColumnType::Category),
        }
    }
}

/// Parses a number, or true or false in any case.
pub(super) fn parse_number(text: &[u8]) -> Result<f64, NotANumber> {
    match number::parse(text) {
        Err(NotANumber::Malformed) if text.eq_ignore_ascii_case(b"true") => Ok(1.0),
        Err(NotANumber::Malformed) if text.eq_ignore_ascii_case(b"false") => Ok(0.0),
        parsed => parsed,
    }
}

/// Returns true for a number with a comma: between digits, or beside other separators of thousands.
fn has_comma(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let is_separator = |b: &u8| matches!(b, b',' | b'.');
    let parts: Vec<&[u8]> = text.split(is_separator).collect();
    let are_digits = |part: &&[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let is_comma = text.contains(&b',') && parts.iter().all(are_digits);
    let [first, inner @ .., last] = parts.as_slice() else {
        return false;
    };
    // In 1,000,000 and 1,000.5 and 1.000,5 all groups but the first and that after the decimal point have three digits.
    let has_point = text.iter().filter(|b| is_separator(b)).any(|b| *b == b'.');
    let are_groups = first.len() <= 3 && inner.iter().all(|part| part.len() == 3);
    is_comma && (inner.is_empty() || are_groups && (has_point || last.len() == 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_are_those_of_numbers() {
        for text in ["1,5", "-10,25", "1,000", "1,000,000", "-12,345.5", "1.234,5"] {
            assert!(has_comma(text.as_bytes()), "{text}");
        }
        for text in [
            "1",
            "1.5",
            "1.2.3",
            "a,5",
            ",5",
            "1,",
            "1,,5",
            "1,2,3",
            "1,000,50",
            "1234,567,890",
            "",
        ] {
            assert!(!has_comma(text.as_bytes()), "{text}");
        }
    }
}
