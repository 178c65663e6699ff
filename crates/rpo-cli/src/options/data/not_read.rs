//! Notes on columns, and on what may be a sample, that were not read.

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

/// Notes a first line that may be a sample. That of a file that is read for a model is not, as it has the model's names.
pub(super) fn note_numbers_as_names(data: &Dataset) {
    if let Some(line) = &data.notes.numbers_as_names {
        note(&format!(
            "the first line, {line:?}, was taken for the names of the columns, although they are numbers; if it is a sample, \
             write a line of names above it"
        ));
    }
}
