//! Writes every value of every finished cell, one per line.

use crate::analyse::results::Results;

/// # Errors
/// None in practice, as it writes into memory.
pub(super) fn render(results: &Results<'_>) -> anyhow::Result<String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["dataset", "method", "repetition", "measure", "value"])?;
    for place in results.places() {
        for measure in results.measures() {
            let values = results.values(place.dataset, place.column, &measure);
            for (repetition, value) in values.iter().enumerate() {
                let (repetition, value) = (repetition.to_string(), value.to_string());
                let (set, method) = (&place.set.name, &place.method.id);
                table.write_record([set, method, &repetition, &measure, &value])?;
            }
        }
    }
    Ok(String::from_utf8(table.into_inner()?)?)
}
