//! Notes on columns that were not read.

use crate::output::note;
use rpo::data::Dataset;

/// Notes the columns that hold the index of a data frame.
pub(super) fn note_index(data: &Dataset) {
    let columns = &data.notes.index_columns;
    let Some(first) = columns.first() else { return };
    let names: Vec<String> = columns.iter().map(|name| format!("{name:?}")).collect();
    let (holds, is) = match names.len() {
        1 => ("holds", "is"),
        _ => ("hold", "are"),
    };
    note(&format!(
        "{} {holds} the index of a pandas data frame and {is} not read; --types {first}=number reads it as a feature, \
         --id as identifiers",
        names.join(", ")
    ));
}

/// Notes columns without names and values.
pub(super) fn note_blank(data: &Dataset) {
    match data.notes.n_blank_columns {
        0 => {}
        1 => note("a column has neither a name nor a value: it is not read"),
        n => note(&format!(
            "{n} columns have neither a name nor a value: they are not read"
        )),
    }
}
