//! Notes on targets that are classes, or labels beside numbers.

use crate::output::note;
use rpo::data::{ClassColumn, Dataset, Task};

/// Number of classes, or labels, that a note names.
const NAMED: usize = 5;
/// Number of samples from which on many classes are no coincidence.
const FEW: usize = 20;
/// Numbers that stand for the classes of other programs; 0 and 1 are labels unless the task is given.
const CODES: [[f32; 2]; 2] = [[-1.0, 1.0], [1.0, 2.0]];

/// Notes each target of words, and what it may be instead of classes, the labels beside numbers, and numbers that may be
/// labels.
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
    for (name, [low, high]) in of_two_values(data) {
        note(&format!(
            "target {name:?} is a number with no other values than {low} and {high}; --categorical makes them classes"
        ));
    }
}

/// The numbers with two values that usually stand for classes, with these values.
fn of_two_values(data: &Dataset) -> Vec<(String, [f32; 2])> {
    if data.task() == Task::MultiLabel || data.n_samples() < FEW {
        return Vec::new();
    }
    let mut values = vec![Vec::with_capacity(3); data.n_outputs()];
    let outputs = data.outputs().view();
    for row in 0..data.n_samples() {
        outputs.for_each_in_row(row, |output, value| {
            let values: &mut Vec<f32> = &mut values[output as usize];
            if values.len() < 3 && !value.is_nan() && !values.contains(&value) {
                values.push(value);
            }
        });
    }
    let found = values.into_iter().enumerate().filter_map(|(output, mut values)| {
        values.sort_unstable_by(f32::total_cmp);
        let values: [f32; 2] = values.try_into().ok()?;
        let name = data.output_names().get(output)?.into_owned();
        (CODES.contains(&values) && !data.is_label(output)).then_some((name, values))
    });
    found.collect()
}

/// The first names of a list.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = if names.len() > NAMED { ", ..." } else { "" };
    let named: Vec<String> = names.take(NAMED).map(|name| format!("{name:?}")).collect();
    named.join(", ") + more
}
