//! Notes on targets that are classes, or labels beside numbers.

use crate::output::note;
use rpo::data::{ClassColumn, Dataset, Form, Task};

/// Number of classes, or labels, that a note names.
const NAMED: usize = 5;
/// Number of samples from which on many classes are no coincidence.
const FEW: usize = 20;
/// Largest number of whole numbers that a note takes for the codes of classes, and how many samples each of them needs.
const MOST_CODES: usize = 5;
const SAMPLES_PER_CODE: usize = 20;

/// Notes each target of words, and what it may be instead of classes, the labels beside numbers, and numbers that may be
/// labels.
pub(super) fn note_classes(data: &Dataset, is_task_given: bool) {
    for ClassColumn { name, classes, .. } in data.class_columns() {
        let n_lists = classes.iter().filter(|class| class.contains([';', ','])).count();
        let doubt = if let Some(form) = Form::of(classes) {
            &format!("; they look like {form}")
        } else if 2 * n_lists > classes.len() {
            "; --label-list reads lists of labels such as red;round"
        } else if data.n_samples() >= FEW && 2 * classes.len() > data.n_samples() {
            "; few samples share a class"
        } else {
            ""
        };
        let counted = match classes.len() {
            1 => "one class, which is an output".to_owned(),
            n => format!("{n} classes, each of which is an output"),
        };
        note(&format!(
            "target {name:?} has {counted}: {}{doubt}",
            listed(classes.iter().cloned())
        ));
    }
    if let Some(column) = data.label_column()
        && data.output_names().position("NA").is_some()
    {
        note(&format!(
            "NA is a label of {:?} in lists of several, but alone it is a missing value: such samples have no labels",
            column.name
        ));
    }
    let labels = data.labels_beside_numbers();
    if !labels.is_empty() {
        let name = |label: &usize| data.output_names().get(*label).unwrap_or_default().into_owned();
        let others = match (is_task_given, data.label_column()) {
            (true, Some(_)) => "",
            (true, None) => "; their values are words",
            (false, _) => "; --task regression makes numbers of those that are 0 and 1",
        };
        note(&format!(
            "labels beside numbers: {}{others}",
            listed(labels.iter().map(name))
        ));
    }
    let codes = like_codes(data);
    if let Some((name, values)) = codes.first() {
        let values: Vec<String> = values.iter().map(f32::to_string).collect();
        let (last, others) = values.split_last().expect("two values or more");
        let likewise = match codes.len() {
            1 => String::new(),
            n => format!(", as {} other targets are with theirs", n - 1),
        };
        note(&format!(
            "target {name:?} is a number with no other values than {} and {last}{likewise}; --categorical makes classes of \
             such values",
            others.join(", ")
        ));
    }
}

/// The numbers with few values that often stand for classes, -1 and 1 or the first whole numbers: their names and values.
/// 0 and 1 alone are labels, or numbers because the task is given.
fn like_codes(data: &Dataset) -> Vec<(String, Vec<f32>)> {
    if data.task() == Task::MultiLabel {
        return Vec::new();
    }
    // As many samples as make it no coincidence.
    let most = MOST_CODES.min(data.n_samples() / SAMPLES_PER_CODE);
    let mut values: Vec<Vec<f32>> = vec![Vec::new(); data.n_outputs()];
    // Entries that are not stored are 0.
    let mut stored = vec![0; data.n_outputs()];
    let outputs = data.outputs().view();
    for row in 0..data.n_samples() {
        outputs.for_each_in_row(row, |output, value| {
            let values = &mut values[output as usize];
            stored[output as usize] += 1;
            if values.len() <= most && !value.is_nan() && !values.contains(&value) {
                values.push(value);
            }
        });
    }
    let found = values.into_iter().zip(stored).enumerate();
    let found = found.filter_map(|(output, (mut values, stored))| {
        if stored < data.n_samples() && !values.contains(&0.0) {
            values.push(0.0);
        }
        values.sort_unstable_by(f32::total_cmp);
        let are_first = |start: f32| {
            values
                .iter()
                .zip(0_u8..)
                .all(|(value, i)| *value == start + f32::from(i))
        };
        let are_codes = (2..=most).contains(&values.len())
            && (values == [-1.0, 1.0] || are_first(0.0) || are_first(1.0))
            && values != [0.0, 1.0]
            && !data.is_label(output);
        let name = data.output_names().get(output).unwrap_or_default().into_owned();
        are_codes.then_some((name, values))
    });
    found.collect()
}

/// The first names of a list.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = if names.len() > NAMED { ", ..." } else { "" };
    let named: Vec<String> = names.take(NAMED).map(|name| format!("{name:?}")).collect();
    named.join(", ") + more
}
