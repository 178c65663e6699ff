//! A CSV file of permutation importances.

use crate::csv_file;
use crate::error::CliError;
use crate::output::Output;
use rpo::ColumnImportance;
use std::path::Path;

/// Writes a line for each column, the most important first; undefined values are empty cells, at the end.
pub(super) fn write(mut columns: Vec<ColumnImportance>, path: &Path) -> Result<(), CliError> {
    let key = |column: &ColumnImportance| (column.mean.is_nan(), column.mean);
    columns.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(b.1.total_cmp(&a.1))
    });
    let delimiter = csv_file::delimiter(Some(path));
    let mut out = Output::new(Some(path))?;
    let header = ["column", "importance", "deviation"].map(str::to_owned);
    out.put(csv_file::line(header, delimiter).as_bytes())?;
    for ColumnImportance {
        name,
        mean,
        deviation,
        ..
    } in &columns
    {
        let number = |value: &f64| {
            if value.is_nan() {
                String::new()
            } else {
                value.to_string()
            }
        };
        let line = [csv_file::field(name, delimiter), number(mean), number(deviation)];
        out.put(csv_file::line(line, delimiter).as_bytes())?;
    }
    out.finish()
}
