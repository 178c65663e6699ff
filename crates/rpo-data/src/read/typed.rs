//! Tables whose columns are not all numeric.

use super::columns::{ColumnUse, parse_number};
use super::csv::{CsvReader, MissingTexts};
use super::date::{DAY, Moment};
use super::error::{ReadError, ReadErrorKind};
use super::label_lists::LabelLists;
use super::label_words::LabelWords;
use super::number::{self, NotANumber};
use super::options::{ColumnType, Missing, ReadOptions};
use super::quoted_text::utf8;
use super::row::Row;
use crate::dataset::{DateColumn, IntegerIds, IntegerTypes};
use crate::message::lossy;
use crate::text::{Counts, TextColumn, TextRows};
use rpo_core::Matrix;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

/// Maximum number of distinct values of a category: positions are stored as `f32`.
pub(super) const MOST_CATEGORIES: usize = 1 << 24;

/// A field of a table.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "arrow"),
    allow(
        dead_code,
        reason = "only columns that have types hold more than numbers and texts"
    )
)]
pub(super) enum Field<'a> {
    Missing,
    Number(f64),
    Single(f32),
    Integer(i128),
    Truth(bool),
    /// A date, optionally with a time, relative to 1970-01-01.
    Time {
        nanoseconds: i128,
        has_time: bool,
    },
    /// Text as written in the file.
    Text(&'a [u8]),
    /// A list: the items from `start` to `end`.
    List {
        items: &'a dyn Items,
        start: usize,
        end: usize,
    },
}

/// The items of the lists of a column.
pub(super) trait Items {
    /// Returns the item at an index.
    fn item(&self, index: usize) -> Field<'_>;
}

impl<'a> Field<'a> {
    /// The field in a column of numbers or dates: a text loses the blanks around it, and is missing if it is empty or
    /// `NA`.
    fn as_in_csv(self) -> Self {
        match self {
            Self::Text(text) => {
                let present = MissingTexts::default().present(text.trim_ascii());
                present.map_or(Self::Missing, Self::Text)
            }
            field => field,
        }
    }

    /// Converts the field to a finite number; NaN if it is missing.
    fn number(self) -> Result<f64, NotANumber> {
        let value = match self {
            Self::Missing => return Ok(f64::NAN),
            Self::Number(value) => value,
            Self::Single(value) => f64::from(value),
            Self::Integer(value) => value as f64,
            Self::Truth(value) => f64::from(u8::from(value)),
            Self::Text(text) => return parse_number(text),
            Self::Time { .. } | Self::List { .. } => return Err(NotANumber::Malformed),
        };
        Some(value)
            .filter(|value| value.is_finite())
            .ok_or(NotANumber::NotFinite)
    }

    /// Converts the field to a date of a column.
    fn moment(self, column: &str) -> Result<Moment, ReadErrorKind> {
        if let Self::Time {
            nanoseconds,
            has_time,
        } = self
        {
            return Moment::new(nanoseconds, has_time).ok_or_else(|| ReadErrorKind::DateOutOfRange {
                column: column.to_owned(),
                days: nanoseconds.div_euclid(DAY) as i64,
            });
        }
        let text = self.text();
        Moment::parse(&text).ok_or_else(|| ReadErrorKind::NotADate {
            column: column.to_owned(),
            text: lossy(&text),
        })
    }

    /// Converts the field to text; empty if it is missing.
    pub(super) fn text(self) -> Cow<'a, [u8]> {
        let text = match self {
            Self::Missing => String::new(),
            Self::List { .. } => unreachable!("lists are read as labels alone"),
            Self::Number(value) => value.to_string(),
            Self::Single(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Truth(value) => value.to_string(),
            Self::Time {
                nanoseconds,
                has_time,
            } => match Moment::new(nanoseconds, has_time) {
                Some(moment) => moment.to_string(),
                None => nanoseconds.to_string(),
            },
            Self::Text(text) => return Cow::Borrowed(text),
        };
        Cow::Owned(text.into_bytes())
    }
}

/// Rows of fields below column names.
pub(super) trait Fields {
    fn columns(&self) -> &[String];

    /// Number of the line or row last read.
    fn line(&self) -> u64;

    /// Reads the next row and calls `visit` with each column and its field; returns false at the end.
    fn read_fields(
        &mut self,
        visit: impl FnMut(usize, Field<'_>) -> Result<(), ReadErrorKind>,
    ) -> Result<bool, ReadError>;
}

impl<R: BufRead> Fields for CsvReader<R> {
    fn columns(&self) -> &[String] {
        self.columns()
    }

    fn line(&self) -> u64 {
        self.line()
    }

    fn read_fields(
        &mut self,
        mut visit: impl FnMut(usize, Field<'_>) -> Result<(), ReadErrorKind>,
    ) -> Result<bool, ReadError> {
        self.read_texts(|j, text| visit(j, text.map_or(Field::Missing, Field::Text)))
    }
}

/// A reader of numeric rows from columns of several types: words become positions in a growing list, dates become their
/// parts.
pub(super) struct TypedReader<S> {
    source: S,
    names: Vec<String>,
    columns: Vec<Column>,
    ids: Option<Vec<String>>,
    /// The types of integers that the identifiers may have.
    id_types: IntegerTypes,
    /// True if missing texts are refused.
    refuse_missing: bool,
}

enum Column {
    Ignored,
    Id,
    Number,
    Category(Categories),
    /// A label, whose values are words, of a model.
    Label(LabelWords),
    Date(DateColumn),
    Text(TextRows),
    Labels(LabelLists),
}

/// Data of columns that are not values of rows.
pub(super) struct Finished {
    /// The identifiers of the samples.
    pub(super) ids: Option<Vec<String>>,
    /// The type of the identifiers, if all that are not missing are integers of 64 bits.
    pub(super) integer_ids: Option<IntegerIds>,
    /// The values of each category column, by its position in the file.
    pub(super) categories: BTreeMap<usize, Categories>,
    /// The columns of dates, by their positions in the file.
    pub(super) dates: BTreeMap<usize, DateColumn>,
    /// The texts, in column order.
    pub(super) texts: Vec<(Arc<TextColumn>, Counts)>,
    /// The labels, if a column lists them.
    pub(super) labels: Option<LabelLists>,
}

impl<S: Fields> TypedReader<S> {
    pub(super) fn new(source: S, uses: &[ColumnUse], is_target: &[bool], options: &ReadOptions) -> Self {
        let text = |name: &String| {
            let fitted = options.texts.iter().find(|column| column.name == *name);
            TextRows::new(name, options.text, fitted, options.memory_limit)
        };
        let columns = uses
            .iter()
            .zip(source.columns())
            .zip(is_target)
            .map(|((column, name), is_target)| match column {
                ColumnUse::Ignored => Column::Ignored,
                ColumnUse::Id => Column::Id,
                ColumnUse::Labels => Column::Labels(LabelLists::new(options)),
                ColumnUse::Value(ColumnType::Number) => Column::Number,
                ColumnUse::Value(ColumnType::Category) if *is_target && !options.may_have_classes(name) => {
                    Column::Label(LabelWords::default())
                }
                ColumnUse::Value(ColumnType::Category) => Column::Category(Categories::default()),
                ColumnUse::Value(kind @ (ColumnType::Date | ColumnType::DateTime)) => {
                    Column::Date(DateColumn::new(name, *kind))
                }
                ColumnUse::Value(ColumnType::Text) => Column::Text(text(name)),
            });
        let columns = columns.collect();
        Self {
            names: source.columns().to_vec(),
            source,
            columns,
            refuse_missing: options.missing == Missing::Refuse,
            ids: uses.contains(&ColumnUse::Id).then(Vec::new),
            id_types: IntegerTypes::default(),
        }
    }

    /// Names of the columns of the rows: for each column of the file, none, one, or one per part of a date.
    pub(super) fn names(&self) -> Vec<Vec<String>> {
        let columns = self.names.iter().zip(&self.columns);
        let names = columns.map(|(name, column)| match column {
            Column::Ignored | Column::Id | Column::Text(_) | Column::Labels(_) => Vec::new(),
            Column::Number | Column::Category(_) | Column::Label(_) => vec![name.clone()],
            Column::Date(column) => column.feature_names().collect(),
        });
        names.collect()
    }

    /// Reads the next row; returns false at the end.
    pub(super) fn read_row(&mut self, n_values: usize, row: &mut Row) -> Result<(bool, u64), ReadError> {
        row.start_dense(n_values);
        let (names, columns, ids) = (&self.names, &mut self.columns, &mut self.ids);
        let id_types = &mut self.id_types;
        let refuse_missing = self.refuse_missing;
        let more = self.source.read_fields(|j, field| {
            let name = || names[j].as_str();
            let mut read = || {
                match (&mut columns[j], field) {
                    (Column::Ignored, _) => {}
                    (Column::Id, field) => {
                        match field {
                            Field::Missing => {}
                            Field::Integer(value) => id_types.add(Some(value)),
                            _ => id_types.add(None),
                        }
                        let id = utf8(&field.text(), 0).map_err(|(_, kind)| kind)?;
                        ids.as_mut().expect("a column is the id").push(id);
                    }
                    (Column::Labels(labels), field) => labels.push(field)?,
                    (Column::Number, field) => {
                        let value = field.as_in_csv().number();
                        row.push_dense(
                            value.map_err(|why| ReadErrorKind::number(why, name(), &field.text()))?,
                        );
                    }
                    (Column::Category(_) | Column::Label(_), Field::Missing) => row.push_dense(f64::NAN),
                    (Column::Category(categories), field) => {
                        let position = categories.position(&field.text(), name)?;
                        row.push_dense(f64::from(position));
                    }
                    (Column::Label(words), field) => {
                        let text = field.text();
                        let value = words.value(text.trim_ascii());
                        row.push_dense(value.ok_or_else(|| ReadErrorKind::TargetOfWords {
                            name: name().to_owned(),
                            text: lossy(&text),
                        })?);
                    }
                    (Column::Date(column), field) => match field.as_in_csv() {
                        Field::Missing => (0..column.n_features()).for_each(|_| row.push_dense(f64::NAN)),
                        field => {
                            let moment = field.moment(name())?;
                            moment.values(column).for_each(|value| row.push_dense(value));
                        }
                    },
                    (Column::Text(_), Field::Missing) if refuse_missing => {
                        return Err(ReadErrorKind::MissingFeature(name().to_owned()));
                    }
                    (Column::Text(texts), field) => {
                        let text = utf8(&field.text(), 0).map_err(|(_, kind)| kind)?;
                        texts.push(&text)?;
                    }
                }
                Ok(())
            };
            read().map_err(|kind: ReadErrorKind| kind.in_column(name()))
        })?;
        Ok((more, self.source.line()))
    }

    /// Returns the remaining data of the columns after the last row.
    pub(super) fn finish(self, options: &ReadOptions) -> Result<Finished, ReadErrorKind> {
        let (mut categories, mut dates) = (BTreeMap::new(), BTreeMap::new());
        let (mut texts, mut labels) = (Vec::new(), None);
        for (j, column) in self.columns.into_iter().enumerate() {
            match column {
                Column::Category(values) => {
                    categories.insert(j, values);
                }
                Column::Date(column) => {
                    dates.insert(j, column);
                }
                Column::Text(rows) => texts.push(rows.finish().ok_or_else(|| ReadErrorKind::NoTerms {
                    column: self.names[j].clone(),
                    min_samples: options.text.min_samples,
                })?),
                Column::Labels(lists) => labels = Some(lists),
                Column::Ignored | Column::Id | Column::Number | Column::Label(_) => {}
            }
        }
        Ok(Finished {
            integer_ids: self.ids.as_ref().and_then(|_| self.id_types.common()),
            ids: self.ids,
            categories,
            dates,
            texts,
            labels,
        })
    }
}

/// Returns true or false in lower case for these words in any case, as programs write booleans differently.
fn truth(text: &[u8]) -> Option<&'static [u8]> {
    let words: [&[u8]; 2] = [b"false", b"true"];
    words.into_iter().find(|word| text.eq_ignore_ascii_case(word))
}

/// Returns true for the text of a number, a date or a boolean.
pub(crate) fn is_typed(text: &str) -> bool {
    let text = text.trim_ascii().as_bytes();
    parse_number(text).is_ok() || Moment::parse(text).is_some()
}

/// The distinct values of a column, in order of first appearance. Booleans are one value, whatever their spelling.
#[derive(Default)]
pub(super) struct Categories {
    positions: BTreeMap<String, u32>,
}

impl Categories {
    fn position<'a>(&mut self, text: &[u8], column: impl Fn() -> &'a str) -> Result<u32, ReadErrorKind> {
        let text = truth(text).unwrap_or(text);
        // Usually the value is already in the list, so that no new string is needed.
        let known = std::str::from_utf8(text)
            .ok()
            .and_then(|text| self.positions.get(text));
        if let Some(&position) = known {
            return Ok(position);
        }
        let text = utf8(text, 0).map_err(|(_, kind)| kind)?;
        let position = self.positions.len();
        if position == MOST_CATEGORIES {
            let (column, limit) = (column().to_owned(), MOST_CATEGORIES);
            return Err(ReadErrorKind::TooManyCategories { column, limit });
        }
        self.positions.insert(text, position as u32);
        Ok(position as u32)
    }

    /// The values, by their positions.
    pub(super) fn words(self) -> Vec<String> {
        let mut words = vec![String::new(); self.positions.len()];
        for (word, position) in self.positions {
            words[position as usize] = word;
        }
        words
    }

    /// Sorts the values and updates their positions in a dense column of features.
    pub(super) fn sort(self, features: &mut Matrix, feature: usize) -> Arc<[String]> {
        let words = self.words();
        let places = order_of_words(&words);
        if let Matrix::Dense(x) = features {
            let values = x.column_mut(feature).into_iter();
            values
                .filter(|value| !value.is_nan())
                .for_each(|value| *value = places[*value as usize] as f32);
        }
        let mut sorted = vec![String::new(); words.len()];
        for (word, place) in words.into_iter().zip(places) {
            sorted[place as usize] = word;
        }
        sorted.into()
    }
}

/// Returns the place of each of several distinct words in their order: numerical if all are numbers, otherwise
/// alphabetical.
pub(super) fn order_of_words(words: &[String]) -> Vec<u32> {
    let mut sorted: Vec<usize> = (0..words.len()).collect();
    sorted.sort_by(|&a, &b| words[a].cmp(&words[b]));
    let numbers = words.iter().map(|word| number::parse(word.as_bytes()).ok());
    if let Some(numbers) = numbers.collect::<Option<Vec<f64>>>() {
        sorted.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    }
    let mut places = vec![0; words.len()];
    for (place, word) in (0..).zip(sorted) {
        places[word] = place;
    }
    places
}
