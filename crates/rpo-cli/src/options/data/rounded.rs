//! A note on numbers that were rounded.

use crate::output::note;
use rpo::data::Dataset;

/// Maximum number of columns that a note lists.
const MOST: usize = 8;

/// Notes the columns with numbers that were rounded, in one note.
pub(super) fn note_rounded(data: &Dataset) {
    let Some(first) = data.rounded.first() else { return };
    let names = data.rounded.iter().take(MOST);
    let names: Vec<String> = names.map(|rounded| format!("{:?}", rounded.column)).collect();
    let more = match data.rounded.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more columns"),
    };
    note(&format!(
        "numbers beyond 2^24 are rounded in {}{more}, as about seven digits are stored: {} becomes {}; subtract a \
         constant from them, or, of a table, read identifiers as words by --categorical or leave them out by --ignore",
        names.join(", "),
        shown(first.value),
        shown(first.stored.into()),
    ));
}

/// Formats a number with all its digits, if these are exact.
fn shown(value: f64) -> String {
    match value.abs() < 1e15 {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}
