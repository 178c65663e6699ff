//! A CSV file of permutation importances.

use crate::csv_file;
use crate::error::CliError;
use crate::output::Output;
use rpo::ColumnImportance;
use std::path::Path;

/// Writes a line for each column, the most important first; undefined values are empty cells, at the end.
pub(super) fn write(mut columns: Vec<ColumnImportance>, path: &Path) -> Result<(), CliError> {
    let order = |column: &ColumnImportance| match column.mean {
        mean if mean.is_nan() => f64::NEG_INFINITY,
        mean => mean,
    };
    columns.sort_by(|a, b| order(b).total_cmp(&order(a)));
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
        let line = [
            csv_file::field(name, delimiter),
            csv_file::number(*mean),
            csv_file::number(*deviation),
        ];
        out.put(csv_file::line(line, delimiter).as_bytes())?;
    }
    out.finish()
}
