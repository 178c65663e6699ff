//! A note on numbers that were rounded.

use crate::output::note;
use rpo::data::{Dataset, Rounded, Rounding};

/// Maximum number of columns that a note lists.
const MOST: usize = 8;

/// Notes the columns with numbers that were rounded, in one note for each way in which they changed.
pub(super) fn note_rounded(data: &Dataset) {
    for rounding in [Rounding::Large, Rounding::Differences, Rounding::Zero] {
        let columns = data.notes.rounded.iter();
        let columns = columns.filter(|rounded| rounded.rounding == rounding);
        note_columns(rounding, &columns.collect::<Vec<_>>());
    }
}

fn note_columns(rounding: Rounding, columns: &[&Rounded]) {
    let Some(first) = columns.first() else { return };
    let (limit, help) = match rounding {
        Rounding::Large => (
            "about seven digits are stored",
            "subtract a constant from them, or, of a table, read identifiers as words by --categorical or leave them out \
             by --ignore",
        ),
        Rounding::Differences => ("about seven digits are stored", "subtract a constant from them"),
        Rounding::Zero => ("smaller ones are not stored", "multiply them by a constant"),
    };
    let names = columns.iter().take(MOST);
    let names: Vec<String> = names.map(|rounded| format!("{:?}", rounded.column)).collect();
    let more = match columns.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more columns"),
    };
    note(&format!(
        "{rounding} in {}{more}, as {limit}: {} becomes {}; {help}",
        names.join(", "),
        shown(first.value),
        shown(first.stored.into()),
    ));
}

/// Formats a number with all its digits, if these are exact.
fn shown(value: f64) -> String {
    match value == 0.0 || (1e-5..1e15).contains(&value.abs()) {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}
