//! Writes predictions as Parquet and Arrow IPC.

use super::{Ids, Pick, for_all_scores, for_each_row};
use crate::error::CliError;
use crate::output::Output;
use rpo::Model;
use rpo::core::MatrixView;
use rpo::data::read::{Cell, Format};
use rpo::data::write::{ColumnContent, ColumnWriter};

/// Writes the same columns as CSV: a score for each output, or the sample, the label and its score for picked labels.
pub(super) fn write(
    model: &Model,
    x: MatrixView<'_>,
    ids: Ids<'_>,
    pick: Option<Pick>,
    format: Format,
    out: &mut Output,
) -> Result<(), CliError> {
    let Output::File(file) = out else {
        let message = format!("{format} output needs a file: give its name with --out");
        return Err(CliError::Usage(message));
    };
    let id = ids.map(|(name, _)| (name.to_owned(), ColumnContent::Text));
    let names = &model.schema().output_names;
    match pick {
        None => {
            let scores = names
                .iter()
                .map(|name| (name.into_owned(), ColumnContent::Number));
            let mut writer = ColumnWriter::new(format, id.into_iter().chain(scores), file)?;
            for_all_scores(model, x, |sample, scores| {
                if let Some((_, ids)) = ids {
                    writer.push(Cell::Text(&ids[sample]))?;
                }
                for &score in scores {
                    writer.push(Cell::Number(score.into()))?;
                }
                Ok(())
            })?;
            writer.finish()?;
        }
        Some(pick) => {
            let columns = [
                id.unwrap_or_else(|| ("row".to_owned(), ColumnContent::Count)),
                ("label".to_owned(), ColumnContent::Text),
                ("score".to_owned(), ColumnContent::Number),
            ];
            let mut writer = ColumnWriter::new(format, columns, file)?;
            for_each_row(model, x, pick, |row, best| {
                for &(label, score) in best {
                    writer.push(match ids {
                        Some((_, ids)) => Cell::Text(&ids[row]),
                        None => Cell::Number(row as f64),
                    })?;
                    writer.push(Cell::Text(&names.get(label as usize).unwrap_or_default()))?;
                    writer.push(Cell::Number(score.into()))?;
                }
                Ok(())
            })?;
            writer.finish()?;
        }
    }
    Ok(())
}
