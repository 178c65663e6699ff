//! Writes predictions as values of the targets.

#[cfg(feature = "arrow")]
use super::columns;
use super::{IdColumn, Ids, OutFormat, bytes_to_decide, header, json_line, width};
use crate::csv_file;
use crate::error::CliError;
use crate::output::Output;
use crate::predictions::PredictedColumns;
use crate::predictions::json_outputs;
use rpo::core::{MatrixView, Predictor};
use rpo::data::LabelColumn;
#[cfg(feature = "arrow")]
use rpo::data::read::Format;
use rpo::data::write::CsvField;
use rpo::{Model, TargetValue, for_each_block};

/// Refuses labels and classes of a model that would be read as others in files of this format.
pub(super) fn check(model: &Model, format: OutFormat) -> Result<(), CliError> {
    let schema = model.schema();
    if format == OutFormat::Jsonl {
        return Ok(());
    }
    let check_present = |column: &str, text: &str| {
        let delimiter = ',';
        match format {
            OutFormat::Csv => CsvField { text, delimiter }.check_present(column),
            _ => Ok(()),
        }
    };
    for column in &schema.class_columns {
        let mut classes = column.classes.iter();
        classes.try_for_each(|class| check_present(&column.name, class))?;
    }
    let Some(LabelColumn { name, separator }) = &schema.label_column else {
        return Ok(());
    };
    for label in schema.output_names.iter() {
        if label.contains(*separator) {
            return Err(CliError::Usage(format!(
                "--values separates the labels of {name:?} by {separator:?}, which the label {label:?} contains; --out-format \
                 jsonl writes labels as lists"
            )));
        }
        check_present(name, &label)?;
    }
    Ok(())
}

/// Writes one row per sample.
pub(super) fn write(
    columns: PredictedColumns<'_>,
    x: MatrixView<'_>,
    ids: Ids<'_>,
    format: OutFormat,
    delimiter: char,
    out: &mut Output,
) -> Result<(), CliError> {
    match format {
        OutFormat::Csv | OutFormat::Xmlrepo => csv(columns, x, ids, delimiter, out),
        OutFormat::Jsonl => {
            let names = json_outputs::escaped(columns.value_names());
            for_each_row(columns, x, |sample, values| {
                json_line(ids, sample, out, |to| json_outputs::values(&names, values, to))
            })
        }
        #[cfg(feature = "arrow")]
        OutFormat::Parquet => columns::write_values(columns, x, ids, Format::Parquet, out),
        #[cfg(feature = "arrow")]
        OutFormat::Arrow => columns::write_values(columns, x, ids, Format::Arrow, out),
    }
}

fn csv(
    columns: PredictedColumns<'_>,
    x: MatrixView<'_>,
    ids: Ids<'_>,
    delimiter: char,
    out: &mut Output,
) -> Result<(), CliError> {
    let field = |text: &str| csv_file::field(text, delimiter);
    let mut line = header(ids, columns.value_names().into_iter(), delimiter);
    // The header is written with the first line, so that nothing is written if prediction fails.
    for_each_row(columns, x, |sample, values| {
        let id = ids.map(|IdColumn { ids, .. }| field(&ids[sample]));
        let values = values.iter().map(|value| match value {
            TargetValue::Number(value) => value.to_string(),
            TargetValue::Label(value) => u8::from(*value).to_string(),
            TargetValue::Class(class) => field(class),
            TargetValue::Labels(labels) if labels.is_empty() => String::new(),
            TargetValue::Labels(labels) => field(&joined(columns.model, labels)),
        });
        line += &csv_file::line(id.into_iter().chain(values), delimiter);
        out.put(line.as_bytes())?;
        line.clear();
        Ok(())
    })?;
    out.put(line.as_bytes())
}

/// The labels of a sample, as a column lists them.
pub(super) fn joined<S: AsRef<str>>(model: &Model, labels: &[S]) -> String {
    let column = model.schema().label_column.as_ref();
    let separator = column.map_or(';', |column| column.separator).to_string();
    let labels: Vec<&str> = labels.iter().map(AsRef::as_ref).collect();
    labels.join(&separator)
}

/// Calls `write` with each row and its values.
pub(super) fn for_each_row(
    columns: PredictedColumns<'_>,
    x: MatrixView<'_>,
    mut write: impl FnMut(usize, &[TargetValue<'_>]) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let model = columns.model;
    let bytes = bytes_to_decide(model);
    for_each_block(x, width(model, model.n_outputs()), bytes, |rows, block| {
        let values = columns.values(block).map_err(|e| e.in_block(rows.start))?;
        rows.zip(&values).try_for_each(|(row, values)| write(row, values))
    })
}
