//! Notes on lists of labels that another character seems to separate.

use crate::output::note;
use rpo::data::Dataset;
use std::collections::BTreeMap;

/// Characters that separate labels in many files.
const USUAL: [char; 4] = [';', ',', '|', '/'];

/// Notes labels of training data that look like lists: no sample has two labels, and most labels that contain another
/// usual separator consist of parts that other labels have too.
pub(super) fn note_unseparated(data: &Dataset) {
    let Some(column) = data.label_column() else { return };
    let outputs = data.outputs().view();
    let has_two = |row: usize| {
        let mut n = 0;
        outputs.for_each_in_row(row, |_, _| n += 1);
        n > 1
    };
    if (0..data.n_samples()).any(has_two) {
        return;
    }
    let names: Vec<String> = data.output_names().iter().map(Into::into).collect();
    let is_bracketed = |name: &&String| name.starts_with('[') && name.ends_with(']');
    let bracketed: Vec<&String> = names.iter().filter(is_bracketed).collect();
    if let Some(first) = bracketed.first()
        && 2 * bracketed.len() > names.len()
    {
        note(&format!(
            "labels such as {first:?} in {:?} look like lists in brackets, whose brackets and quotes become part of the labels: \
             write the labels of a sample without them, separated by {:?}, or the lists to a Parquet file",
            column.name, column.separator,
        ));
        return;
    }
    let others = USUAL.into_iter().filter(|other| *other != column.separator);
    let found = others.filter_map(|other| Some((lists(&names, other)?, other)));
    if let Some(((n, first), other)) = found.max_by_key(|((n, _), _)| *n) {
        note(&format!(
            "no sample has two labels separated by {:?} in {:?}, but labels such as {first:?} ({n} of {}) look like lists \
             separated by {other:?}: set the separator with --label-separator",
            column.separator,
            column.name,
            names.len()
        ));
    }
}

/// The number of labels that consist of several parts, all of which other labels have too, and the first of these labels;
/// `None` if they are fewer than half of the labels of several parts.
fn lists(labels: &[String], separator: char) -> Option<(usize, &str)> {
    let parts = |label: &'_ str| -> Vec<String> {
        label
            .split(separator)
            .map(|part| part.trim().to_owned())
            .collect()
    };
    let mut n_labels: BTreeMap<String, usize> = BTreeMap::new();
    for part in labels.iter().flat_map(|label| parts(label)) {
        *n_labels.entry(part).or_default() += 1;
    }
    let several: Vec<&String> = labels.iter().filter(|label| label.contains(separator)).collect();
    let is_list = |label: &&&String| parts(label).iter().all(|part| n_labels[part] > 1);
    let (n, first) = (
        several.iter().filter(is_list).count(),
        several.iter().find(is_list)?,
    );
    (2 * n >= several.len()).then_some((n, first.as_str()))
}
