//! Notes on targets that are classes.

use crate::output::note;
use rpo::data::{ClassColumn, Dataset};

/// Number of classes that a note names.
const NAMED: usize = 5;
/// Number of samples from which on many classes are no coincidence.
const FEW: usize = 20;

/// Notes each target of words, and what it may be instead of classes.
pub(super) fn note_classes(data: &Dataset) {
    for ClassColumn { name, classes, .. } in data.class_columns() {
        let named: Vec<String> = classes
            .iter()
            .take(NAMED)
            .map(|class| format!("{class:?}"))
            .collect();
        let more = if classes.len() > NAMED { ", ..." } else { "" };
        let n_lists = classes.iter().filter(|class| class.contains([';', ','])).count();
        let doubt = if 2 * n_lists > classes.len() {
            "; --label-list reads lists of labels such as red;round"
        } else if data.n_samples() >= FEW && 2 * classes.len() > data.n_samples() {
            "; few samples share a class"
        } else {
            ""
        };
        note(&format!(
            "target {name:?} has {} classes, each of which is an output: {}{more}{doubt}",
            classes.len(),
            named.join(", ")
        ));
    }
}
