//! Notes on labels and features that were left out.

use crate::output::note;
use rpo::data::{Dataset, LeftOut};

/// The owner of the columns, as named in notes.
pub(super) const THE_MODEL: &str = "the model's";

/// Notes labels and features of samples that are not among these columns.
pub(super) fn note_left_out(data: &Dataset, owner: &str) {
    let notes = &data.notes;
    for (what, others) in [("label", &notes.other_labels), ("feature", &notes.other_features)] {
        let LeftOut { count, first, .. } = others;
        let Some(first) = first else { continue };
        let times = match count {
            1 => "once".to_owned(),
            n => format!("{n} times"),
        };
        note(&match others.n_distinct() {
            1 => format!(
                "{what} {first:?}, which occurs {times}, is not among {owner} {what}s: it is left out"
            ),
            n => format!(
                "{n} {what}s, which occur {times} (the first is {first:?}), are not among {owner} {what}s: they are left out"
            ),
        });
    }
}
