//! The task that targets declare.

use crate::dataset::Task;
use crate::read::arff::{Attribute, AttributeKind};
use crate::read::error::ReadErrorKind;
use crate::read::label_words::PAIRS;
use crate::read::options::{ReadOptions, Targets};

/// Returns the task of the options or, if it is not given, that of the declarations of the targets, each of which comes
/// with true if its values are words.
pub(super) fn decide_task<'a, I: Iterator<Item = (&'a Attribute, &'a bool)>>(
    targets: impl Fn() -> I,
    typed: bool,
    options: &ReadOptions,
) -> Result<Option<Task>, ReadErrorKind> {
    let (words, values) = (
        || {
            targets()
                .filter(|(_, is_words)| **is_words)
                .map(|(column, _)| column)
        },
        || {
            targets()
                .filter(|(_, is_words)| !**is_words)
                .map(|(column, _)| column)
        },
    );
    let is_number = |c: &&Attribute| matches!(c.kind, AttributeKind::Numeric);
    let neither = values().find(|c| !is_label(c) && !is_number(c));
    let task = match (options.task, &options.targets) {
        (None, Targets::LabelFile(_)) => Some(Task::MultiLabel),
        (task, _) => task,
    };
    match (task, neither) {
        (Some(Task::Regression), Some(column)) => return Err(wrong_target(column, NUMBER)),
        (_, Some(column)) => return Err(wrong_target(column, LABEL)),
        // Beside numbers, classes may be learned too.
        (Some(Task::Regression), None) if !values().any(|c| is_number(&c)) => {
            if let Some(column) = words().next() {
                return Err(wrong_target(column, NUMBER));
            }
        }
        _ => {}
    }
    if task.is_some() || !typed {
        return Ok(task);
    }
    let has_words = words().next().is_some();
    match (values().find(|c| is_label(c)), values().find(is_number)) {
        (_, Some(_)) if has_words => Ok(Some(Task::Regression)),
        (Some(label), Some(number)) => Err(ReadErrorKind::MixedTargets {
            label: label.name.clone(),
            number: number.name.clone(),
        }),
        (None, Some(_)) => Ok(Some(Task::Regression)),
        (_, None) => Ok(Some(Task::MultiLabel)),
    }
}

/// What regression needs.
pub(super) const NUMBER: &str = "regression needs numeric targets";

/// The declaration that a label needs.
pub(super) const LABEL: &str = "a label is declared {0,1}, {false,true}, {no,yes}, {n,y} or {f,t}";

/// Creates the error for a target whose declaration does not fit the task.
pub(super) fn wrong_target(column: &Attribute, expected: &'static str) -> ReadErrorKind {
    let found = match column.kind {
        AttributeKind::Numeric => "a column of words".to_owned(),
        _ => format!("declared {}", column.declaration()),
    };
    ReadErrorKind::WrongTarget {
        name: column.name.clone(),
        found,
        expected,
    }
}

/// Returns true for a column that is declared with the two values of a label.
pub(super) fn is_label(column: &Attribute) -> bool {
    positive(column).is_some()
}

/// Returns the position, in the declaration of a label, of the value that means 1.
pub(super) fn positive(column: &Attribute) -> Option<usize> {
    let AttributeKind::Nominal(values) = &column.kind else {
        return None;
    };
    let [first, second] = &**values else {
        return None;
    };
    let is = |values: [&String; 2], pair: [&str; 2]| {
        let mut both = values.into_iter().zip(pair);
        both.all(|(value, word)| value.eq_ignore_ascii_case(word))
    };
    PAIRS.iter().find_map(|&pair| match () {
        () if is([first, second], pair) => Some(1),
        () if is([second, first], pair) => Some(0),
        () => None,
    })
}
