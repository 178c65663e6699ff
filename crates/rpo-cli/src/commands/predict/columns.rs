//! Writes predictions as Parquet and Arrow IPC.

use super::{IdColumn, Ids, LONG, Pick, for_all_scores, for_each_row, values};
use crate::data_file::DataFile;
use crate::error::CliError;
use crate::output::Output;
use crate::predictions::PredictedColumns;
use ndarray::Array2;
use rpo::core::MatrixView;
use rpo::data::read::{Cell, Format};
use rpo::data::write::{ColumnContent, ColumnWriter};
use rpo::{Predictor, TargetValue};
use std::iter;

/// Writes the same columns as CSV: a score for each output, or the sample, the label and its score for picked labels.
pub(super) fn write(
    columns: PredictedColumns<'_>,
    x: MatrixView<'_>,
    ids: Ids<'_>,
    pick: Option<Pick>,
    format: Format,
    out: &mut Output,
) -> Result<(), CliError> {
    let file = file_of(out, format)?;
    let id = ids.map(|id| (id.name.to_owned(), id.content));
    let names = &columns.model.schema().output_names;
    match pick {
        None => {
            let names = columns.score_names().into_iter();
            let scores = names.map(|name| (name, ColumnContent::Number));
            let mut writer = ColumnWriter::new(format, id.into_iter().chain(scores), file)?;
            for_all_scores(columns, x, |sample, scores| {
                if let Some(IdColumn { ids, .. }) = ids {
                    writer.push_id(&ids[sample])?;
                }
                for &score in scores {
                    writer.push(Cell::Number(score.into()))?;
                }
                Ok(())
            })?;
            writer.finish()?;
        }
        Some(pick) => {
            let contents = [
                id.unwrap_or_else(|| (LONG[0].to_owned(), ColumnContent::Count)),
                (LONG[1].to_owned(), ColumnContent::Text),
                (LONG[2].to_owned(), ColumnContent::Number),
            ];
            let mut writer = ColumnWriter::new(format, contents, file)?;
            for_each_row(columns.model, x, pick, |row, best| {
                for &(label, score) in best {
                    match ids {
                        Some(IdColumn { ids, .. }) => writer.push_id(&ids[row])?,
                        None => writer.push(Cell::Number(row as f64))?,
                    }
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

/// Writes the values of the targets.
pub(super) fn write_values(
    columns: PredictedColumns<'_>,
    x: MatrixView<'_>,
    ids: Ids<'_>,
    format: Format,
    out: &mut Output,
) -> Result<(), CliError> {
    let file = file_of(out, format)?;
    // Any scores tell what the columns hold.
    let scores = Array2::zeros((1, columns.model.n_outputs()));
    let model = columns.model;
    let any = model.target_values(scores.view())?.into_iter().flatten();
    let contents = any.map(|value| match value {
        TargetValue::Number(_) => ColumnContent::Number,
        TargetValue::Label(_) => ColumnContent::Label,
        TargetValue::Class(_) | TargetValue::Labels(_) => ColumnContent::Text,
    });
    let contents = contents.chain(iter::repeat(ColumnContent::Number));
    let id = ids.map(|id| (id.name.to_owned(), id.content));
    let contents = id
        .into_iter()
        .chain(columns.value_names().into_iter().zip(contents));
    let mut writer = ColumnWriter::new(format, contents, file)?;
    values::for_each_row(columns, x, |sample, values| {
        if let Some(IdColumn { ids, .. }) = ids {
            writer.push_id(&ids[sample])?;
        }
        for value in values {
            match value {
                TargetValue::Number(value) => writer.push(Cell::Number((*value).into()))?,
                TargetValue::Label(value) => writer.push(Cell::Number(u8::from(*value).into()))?,
                TargetValue::Class(class) => writer.push(Cell::Text(class))?,
                TargetValue::Labels(labels) => writer.push(Cell::Text(&values::joined(model, labels)))?,
            }
        }
        Ok(())
    })?;
    writer.finish()?;
    Ok(())
}

/// The file that is written, as these formats need one.
fn file_of(out: &mut Output, format: Format) -> Result<&mut DataFile, CliError> {
    match out {
        Output::File(file) => Ok(file),
        _ => Err(CliError::Usage(format!(
            "{format} output needs a file: give its name with --out"
        ))),
    }
}
