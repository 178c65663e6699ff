//! Notes on labels and features that were left out.

use crate::output::note;
use rpo::data::{Dataset, LeftOut};

/// The owner of the columns, as named in notes.
pub(super) const THE_MODEL: &str = "the model's";

/// Notes labels and features of samples that are not among these columns.
pub(super) fn note_left_out(data: &Dataset, owner: &str) {
    let notes = &data.notes;
    if let Some((n_features, n_labels)) = notes.declared {
        note(&format!(
            "the file declares {n_features} features and {n_labels} labels in place of {} and {}: columns are taken in order",
            data.n_features(),
            data.n_outputs()
        ));
    }
    for (what, others) in [("label", &notes.other_labels), ("feature", &notes.other_features)] {
        let LeftOut {
            count,
            n_samples,
            first,
            ..
        } = others;
        let Some(first) = first else { continue };
        let times = match (count, n_samples) {
            (1, _) => "once".to_owned(),
            (n, 1) => format!("{n} times in 1 sample"),
            (n, n_samples) => format!("{n} times in {n_samples} samples"),
        };
        let (left_out, them) = match others.n_distinct() {
            1 => (
                format!(
                    "{what} {first:?}, which occurs {times}, is not among {owner} {what}s: it is left out"
                ),
                "it",
            ),
            n => (
                format!(
                    "{n} {what}s, which occur {times} (the first is {first:?}), are not among {owner} {what}s: they are left out"
                ),
                "them",
            ),
        };
        // A model cannot find such labels, but no metric counts them as missed.
        let effect = match what {
            "label" => {
                format!(", as if no sample had {them}; scores that count {them} as missed would be worse")
            }
            _ => String::new(),
        };
        note(&format!("{left_out}{effect}"));
    }
}
