//! Notes on features that are probably none, with the options that change it.

use crate::output::note;
use rpo::core::text::quoted;
use rpo::data::{Dataset, StoredAsText, Suspicion, suspicious_features};

/// Notes features that tell outputs or samples apart, or are read as something else than they are.
pub(super) fn note_suspicions(data: &Dataset) {
    for suspicion in suspicious_features(data) {
        match advice(&suspicion) {
            Some(advice) => note(&format!("{suspicion}; {advice}")),
            None => note(&suspicion.to_string()),
        }
    }
}

fn advice(suspicion: &Suspicion) -> Option<String> {
    Some(match suspicion {
        Suspicion::DistinctValues { .. } => "name it by --id or --ignore if it is one".to_owned(),
        Suspicion::Texts { .. } => "--text makes features of their words".to_owned(),
        Suspicion::MissingWords { words, .. } => format!(
            "where that stands for a missing value in CSV, --missing-values '{}' reads it as one",
            words.join(",")
        ),
        Suspicion::StoredAsText(stored) => typed(stored),
        Suspicion::Code(_) => "--categorical reads them as words".to_owned(),
        _ => return None,
    })
}

/// The type to give to a column, quoted for a shell where its name needs it.
fn typed(stored: &StoredAsText) -> String {
    let (column, kind) = (&stored.column, stored.kind);
    let is_plain = column
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let quote = if is_plain { "" } else { "'" };
    let advice = format!("--types {quote}{column}={kind}{quote} reads them as such");
    match &stored.other {
        Some(other) => format!("{advice}, where the file has null in place of {}", quoted(other)),
        None => advice,
    }
}
