//! The types of columns.

use super::TrainingOptions;
use crate::error::CliError;
use crate::options::names::List;
use rpo::core::text::UnknownName;
use rpo::data::read::{ColumnType, ReadError, ReadErrorKind};
use std::collections::BTreeMap;
use std::str::FromStr;

impl TrainingOptions {
    /// The options that set types of columns, with the names of the columns and the types.
    fn typed(&self) -> impl Iterator<Item = (&'static str, &String, ColumnType)> {
        let of = |option, kind| move |name| (option, name, kind);
        let categorical = self.categorical.iter().flat_map(|List(names)| names);
        let categorical = categorical.map(of("--categorical", ColumnType::Category));
        let dates = self.dates.iter().flat_map(|List(names)| names);
        let dates = dates.map(of("--dates", ColumnType::Date));
        let texts = self.texts.columns().map(of("--text", ColumnType::Text));
        let types = self.types.iter().flat_map(|List(types)| types);
        let types = types.map(|Typed { name, kind }| ("--types", name, *kind));
        categorical.chain(dates).chain(texts).chain(types)
    }

    /// The types of columns, one per column.
    pub(super) fn types(&self) -> Result<BTreeMap<String, ColumnType>, CliError> {
        let mut types = BTreeMap::new();
        for (option, name, kind) in self.typed() {
            match types.insert(name.clone(), (option, kind)) {
                Some((other, earlier)) if earlier != kind => {
                    return Err(CliError::Usage(format!(
                        "{other} reads {name:?} as {earlier}, but {option} as {kind}: a column has one type, so drop one of the options"
                    )));
                }
                _ => {}
            }
        }
        Ok(types.into_iter().map(|(name, (_, kind))| (name, kind)).collect())
    }

    /// Adds the option that named a column to an error.
    pub(super) fn with_option(&self, mut e: ReadError) -> ReadError {
        let input = &self.data.input;
        if let ReadErrorKind::UnknownColumn { option, name, .. } = &mut e.kind {
            *option = match *option {
                "types" => self
                    .typed()
                    .find(|(_, named, _)| *named == name)
                    .map_or("--types", |(option, ..)| option),
                "ignore" => match input.second_column() {
                    Some((option, column)) if column == name => option,
                    _ => "--ignore",
                },
                other => other,
            };
        }
        e
    }
}

/// The name of a column and its type.
#[derive(Debug, Clone)]
pub(super) struct Typed {
    name: String,
    kind: ColumnType,
}

impl FromStr for Typed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, kind) = text.rsplit_once('=').ok_or("NAME=TYPE is expected")?;
        let kind = kind.parse().map_err(|e: UnknownName| e.to_string())?;
        let name = name.to_owned();
        Ok(Self { name, kind })
    }
}
