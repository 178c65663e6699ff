//! A note on columns that were not read.

use crate::output::note;
use rpo::data::Dataset;

/// Notes the columns that hold the index of a data frame.
pub(super) fn note_index(data: &Dataset) {
    let columns = &data.index_columns;
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
