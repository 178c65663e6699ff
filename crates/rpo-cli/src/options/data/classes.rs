//! Notes on targets that are classes, or labels beside numbers.

use crate::output::note;
use rpo::data::{ClassColumn, Dataset};

/// Number of classes, or labels, that a note names.
const NAMED: usize = 5;
/// Number of samples from which on many classes are no coincidence.
const FEW: usize = 20;

/// Notes each target of words, and what it may be instead of classes, and the labels beside numbers.
pub(super) fn note_classes(data: &Dataset) {
    for ClassColumn { name, classes, .. } in data.class_columns() {
        let n_lists = classes.iter().filter(|class| class.contains([';', ','])).count();
        let doubt = if 2 * n_lists > classes.len() {
            "; --label-list reads lists of labels such as red;round"
        } else if data.n_samples() >= FEW && 2 * classes.len() > data.n_samples() {
            "; few samples share a class"
        } else {
            ""
        };
        note(&format!(
            "target {name:?} has {} classes, each of which is an output: {}{doubt}",
            classes.len(),
            listed(classes.iter().cloned())
        ));
    }
    let labels = data.labels_beside_numbers();
    if !labels.is_empty() {
        let name = |label: &usize| data.output_names().get(*label).unwrap_or_default().into_owned();
        note(&format!(
            "labels beside numbers: {}; --task regression makes numbers of those that are 0 and 1",
            listed(labels.iter().map(name))
        ));
    }
}

/// The first names of a list.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = if names.len() > NAMED { ", ..." } else { "" };
    let named: Vec<String> = names.take(NAMED).map(|name| format!("{name:?}")).collect();
    named.join(", ") + more
}
