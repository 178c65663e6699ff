//! `rpo predict`.

#[cfg(feature = "arrow")]
mod columns;
mod values;

use crate::csv_file;
use crate::error::CliError;
use crate::files;
use crate::options::{BeamOptions, InputOptions, RerankOptions, ThreadOptions, UnseenOptions, parse_count};
use crate::output::{Output, Report};
use crate::predictions::PredictedColumns;
use crate::predictions::json_outputs::JsonOutputs;
use crate::resources::Stopwatch;
use clap::{Args, ValueEnum};
use ndarray::ArrayView1;
use rpo::core::{MatrixView, Propensity, best_first, csr_row};
use rpo::data::Task;
use rpo::data::preprocess::Pipeline;
use rpo::data::read::Format;
#[cfg(feature = "arrow")]
use rpo::data::write::ColumnContent;
use rpo::data::write::CsvField;
use rpo::{BLOCK_BYTES, Model, ModelError, Predictor, for_each_block};
use serde_json::json;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Predict for the samples of a file.
///
/// The outputs may be absent from the file. Features are found by their names if the file has names (a model with
/// numbered features uses the names 0, 1, ...), otherwise by their numbers. Writes CSV: with --top-k or --decide a line
/// row,label,score for each picked label (rows from 0, labels by name, best first; labels of score 0 are left out,
/// unless a label of the sample has a negative score), otherwise a column for each output. With --id, identifiers come
/// first, instead of rows.
#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// The model.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,

    /// Only the best K labels of each sample. Holds the scores of only a few samples at a time.
    #[arg(long, value_name = "K", value_parser = parse_count)]
    top_k: Option<NonZeroUsize>,

    #[command(flatten)]
    ranking: RerankOptions,

    #[command(flatten)]
    beam: BeamOptions,

    /// Only the labels that the model predicts: those whose score reaches the threshold stored in the model, or 0.5
    /// without one; in groups of mutually exclusive labels, the one whose score exceeds its threshold most, or the most
    /// probable one without thresholds. A model trained with --decide f1 decides on all rows of the data together, so
    /// the labels of a row depend on the others: predict all rows at once.
    #[arg(long, conflicts_with = "top_k")]
    decide: bool,

    /// The values of targets instead of scores, one row per sample: the predicted class of a column of classes, 1 or 0 for
    /// a label, the labels of a column that lists them, and the prediction of a number. Labels and classes are
    /// decided as by --decide.
    #[arg(long, conflicts_with_all = ["top_k", "decide"])]
    values: bool,

    /// Also the bounds of prediction intervals, as columns NAME@lower and NAME@upper for each target that is a number; for
    /// a model trained with --intervals.
    #[arg(long, conflicts_with_all = ["top_k", "decide"])]
    intervals: bool,

    /// File to write, which appears when it is complete; standard output by default.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    out: Option<PathBuf>,

    /// Format, by default that of the extension of --out (.csv, .tsv, .jsonl, .parquet, .arrow; compressed by gzip if
    /// .gz follows), otherwise CSV: csv, with tabs in files named .tsv; parquet or arrow, with the columns of CSV, in
    /// which identifiers are integers if they are in the data; jsonl, for each sample a line {"row", "prediction"} of
    /// JSON, with predictions as in `rpo serve`; or xmlrepo, the Extreme Classification Repository's score format (a
    /// line "samples labels", then label:score pairs for each sample, labels by number, best first).
    #[arg(long, value_enum, value_name = "FORMAT")]
    out_format: Option<OutFormat>,

    /// Print one JSON object: n_samples, load_seconds, predict_seconds (writing included), rows_per_second, and
    /// latency_milliseconds, the median time of predicting a single row, over up to 100 rows.
    #[arg(long, requires = "out")]
    json: bool,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    unseen: UnseenOptions,

    #[command(flatten)]
    threads: ThreadOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum OutFormat {
    Csv,
    Jsonl,
    Xmlrepo,
    #[cfg(feature = "arrow")]
    Parquet,
    #[cfg(feature = "arrow")]
    Arrow,
}

impl Predict {
    /// The format; refuses the name of one in which predictions are not written.
    fn format(&self) -> Result<OutFormat, CliError> {
        let (None, Some(path)) = (self.out_format, self.out.as_deref()) else {
            return Ok(self.out_format.unwrap_or(OutFormat::Csv));
        };
        match Format::of_name(path) {
            #[cfg(feature = "arrow")]
            Some(Format::Parquet) => Ok(OutFormat::Parquet),
            #[cfg(feature = "arrow")]
            Some(Format::Arrow) => Ok(OutFormat::Arrow),
            _ if Format::extension_of_name(path).as_deref() == Some("jsonl") => Ok(OutFormat::Jsonl),
            _ if csv_file::is_other(path) => Err(CliError::Usage(format!(
                "--out {}: predictions are not written in the format of this name; choose one with --out-format",
                path.display()
            ))),
            _ => Ok(OutFormat::Csv),
        }
    }

    /// Refuses an identifier with the name of another column that is written.
    fn check_id(&self, model: &Model, format: OutFormat) -> Result<(), CliError> {
        self.input.check_written_id("predictions", |id| match format {
            OutFormat::Xmlrepo => false,
            OutFormat::Jsonl => id == PREDICTION,
            _ if self.values => self.columns(model).value_names().iter().any(|name| name == id),
            _ if self.decide || self.top_k.is_some() => LONG[1..].contains(&id),
            _ => self.columns(model).score_names().iter().any(|name| name == id),
        })
    }

    fn columns<'m>(&self, model: &'m Model) -> PredictedColumns<'m> {
        PredictedColumns {
            model,
            intervals: self.intervals,
        }
    }

    pub(crate) fn run(&self) -> Result<(), CliError> {
        let model = ("--model", Some(self.model.as_path()));
        let read = self.input.files().chain([model]);
        files::check(read, [("--out", self.out.as_deref())])?;
        self.threads.start()?;
        let clock = Stopwatch::start();
        let model = self.beam.apply(Model::load(&self.model)?)?;
        let format = self.format()?;
        let ranks = self.top_k.is_some() || self.decide || format == OutFormat::Xmlrepo;
        let has_numbers = model.schema().task == Task::Regression;
        if ranks && has_numbers && (!self.decide || model.labels().is_empty()) {
            let message = if model.labels().is_empty() {
                "--top-k, --decide and --out-format xmlrepo are for labels; the model predicts numbers"
            } else {
                "--top-k and --out-format xmlrepo rank all outputs; the model predicts numbers beside labels, for which \
                 there is --decide"
            };
            return Err(CliError::Usage(message.to_owned()));
        }
        if self.values && format == OutFormat::Xmlrepo {
            let message = "--out-format xmlrepo has scores of labels, not --values";
            return Err(CliError::Usage(message.to_owned()));
        }
        if self.intervals && model.intervals().is_none() {
            return Err(ModelError::NoIntervals.into());
        }
        self.ranking.check_effect(&[])?;
        let rerank = self.ranking.model();
        if rerank.is_some() && (self.decide || !ranks) {
            let message = "--rerank is for --top-k and, without --decide, --out-format xmlrepo";
            return Err(CliError::Usage(message.to_owned()));
        }
        self.check_id(&model, format)?;
        if self.values {
            values::check(&model, format)?;
        }
        let mut out = Output::new(self.out.as_deref())?;
        let data = self.input.load_features(model.schema())?;
        self.unseen.check(&model, &data, self.input.name())?;
        let x = self.input.align(model.schema(), &data)?;
        let ids = self.input.id().zip(data.ids()).map(|(name, ids)| IdColumn {
            name,
            ids,
            #[cfg(feature = "arrow")]
            content: ColumnContent::of_ids(&data),
        });
        let x = MatrixView::from(x.as_ref());
        let load_seconds = clock.wall_seconds();

        let clock = Stopwatch::start();
        let delimiter = csv_file::delimiter(self.out.as_deref());
        let best = |k| Pick::Best { k, rerank };
        let pick = match self.top_k.map(NonZeroUsize::get) {
            _ if self.decide => Some(Pick::Decided),
            k => k.map(best),
        };
        let columns = self.columns(&model);
        let written = match (pick, format) {
            _ if self.values => values::write(columns, x, ids, format, delimiter, &mut out),
            (None, OutFormat::Csv) => wide_csv(columns, x, ids, delimiter, &mut out),
            (Some(pick), OutFormat::Csv) => long_csv(&model, x, ids, pick, delimiter, &mut out),
            (pick, OutFormat::Jsonl) => jsonl(columns, x, ids, pick, &mut out),
            (pick, OutFormat::Xmlrepo) => xmlrepo(
                &model,
                x,
                pick.unwrap_or_else(|| best(model.n_outputs())),
                &mut out,
            ),
            #[cfg(feature = "arrow")]
            (pick, OutFormat::Parquet) => columns::write(columns, x, ids, pick, Format::Parquet, &mut out),
            #[cfg(feature = "arrow")]
            (pick, OutFormat::Arrow) => columns::write(columns, x, ids, pick, Format::Arrow, &mut out),
        };
        written.map_err(|e| match e {
            CliError::Model(source) => CliError::of_prediction(source, self.input.name()),
            e => e,
        })?;
        out.finish()?;
        let predict_seconds = clock.wall_seconds();
        if self.out.is_some() {
            let mut report = Report::default();
            report.set("n_samples", x.n_rows());
            report.set("load_seconds", load_seconds);
            report.set("predict_seconds", predict_seconds);
            report.set("rows_per_second", x.n_rows() as f64 / predict_seconds);
            if self.json {
                report.set_known("latency_milliseconds", latency(&model, x, pick)?);
            }
            report.print(self.json)?;
        }
        Ok(())
    }
}

/// The median time of predicting a single row, in milliseconds, over the rows that a second suffices for, up to a hundred;
/// `None` without rows.
fn latency(model: &Model, x: MatrixView<'_>, pick: Option<Pick>) -> Result<Option<f64>, CliError> {
    let (mut times, all) = (Vec::new(), Stopwatch::start());
    for row in 0..x.n_rows().min(100) {
        if all.wall_seconds() > 1.0 {
            break;
        }
        let row = x.select_rows(&[row]);
        let clock = Stopwatch::start();
        match pick {
            Some(Pick::Best { k, rerank }) => drop(model.predict_top_k_ranked(row.view(), k, rerank)?),
            _ => drop(model.predict(row.view())?),
        }
        times.push(1e3 * clock.wall_seconds());
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied())
}

/// Number of values held per row: the scores, or the features of the pipeline if there are more.
fn width(model: &Model, n_scores: usize) -> usize {
    model.pipeline().map_or(0, Pipeline::n_columns).max(n_scores)
}

/// Size in bytes of the dense scores that are decided at a time. A joint rule needs all samples at once.
fn bytes_to_decide(model: &Model) -> usize {
    match model.decision.is_joint() {
        true => usize::MAX,
        false => BLOCK_BYTES,
    }
}

/// Adds text to a buffer; writing to memory does not fail.
macro_rules! add {
    ($buffer:expr, $($text:tt)*) => {
        write!($buffer, $($text)*).expect("writing to memory does not fail")
    };
}

/// The column of identifiers.
#[derive(Clone, Copy)]
struct IdColumn<'a> {
    name: &'a str,
    /// The identifiers of the samples.
    ids: &'a [String],
    #[cfg(feature = "arrow")]
    content: ColumnContent,
}

type Ids<'a> = Option<IdColumn<'a>>;

/// The line of the names of columns, after that of the identifiers.
fn header<S: AsRef<str>>(ids: Ids<'_>, names: impl Iterator<Item = S>, delimiter: char) -> String {
    let names = names.map(|name| csv_file::field(name.as_ref(), delimiter));
    let id = ids.map(|id| csv_file::field(id.name, delimiter));
    csv_file::line(id.into_iter().chain(names), delimiter)
}

fn wide_csv(
    columns: PredictedColumns<'_>,
    x: MatrixView<'_>,
    ids: Ids<'_>,
    delimiter: char,
    out: &mut Output,
) -> Result<(), CliError> {
    let mut line = header(ids, columns.score_names().into_iter(), delimiter).into_bytes();
    // The header is written with the first line, so that nothing is written if prediction fails.
    for_all_scores(columns, x, |sample, scores| {
        if let Some(IdColumn { ids, .. }) = ids {
            let text = &ids[sample];
            add!(line, "{}{delimiter}", CsvField { text, delimiter });
        }
        for (j, score) in scores.iter().enumerate() {
            if j > 0 {
                add!(line, "{delimiter}");
            }
            add!(line, "{score}");
        }
        line.push(b'\n');
        out.put(&line)?;
        line.clear();
        Ok(())
    })?;
    // The header alone, if there is no line.
    out.put(&line)
}

/// Calls `write` with each row and the scores of all columns.
fn for_all_scores(
    columns: PredictedColumns<'_>,
    x: MatrixView<'_>,
    mut write: impl FnMut(usize, ArrayView1<'_, f32>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    for_each_block(
        x,
        width(columns.model, columns.model.n_outputs()),
        BLOCK_BYTES,
        |samples, block| {
            let scores = columns.scores(block);
            let scores = scores.map_err(|e| e.in_block(samples.start))?;
            samples
                .zip(scores.rows())
                .try_for_each(|(sample, scores)| write(sample, scores))
        },
    )
}

/// Writes a line of JSON for each sample.
fn jsonl(
    columns: PredictedColumns<'_>,
    x: MatrixView<'_>,
    ids: Ids<'_>,
    pick: Option<Pick>,
    out: &mut Output,
) -> Result<(), CliError> {
    let outputs = JsonOutputs::new(columns.score_names());
    match pick {
        None => for_all_scores(columns, x, |sample, scores| {
            json_line(ids, sample, out, |to| outputs.all(scores, to))
        }),
        Some(pick) => for_each_row(columns.model, x, pick, |sample, best| {
            json_line(ids, sample, out, |to| outputs.picked(best, to))
        }),
    }
}

/// The key of a prediction in a line of JSON.
const PREDICTION: &str = "prediction";

/// Writes the prediction of a sample as a line of JSON.
fn json_line(
    ids: Ids<'_>,
    sample: usize,
    out: &mut Output,
    prediction: impl FnOnce(&mut String),
) -> Result<(), CliError> {
    let mut text = match ids {
        Some(IdColumn { name, ids, .. }) => format!("{{{}:{}", json!(name), json!(ids[sample])),
        None => format!("{{\"row\":{sample}"),
    };
    text.push_str(&format!(",\"{PREDICTION}\":"));
    prediction(&mut text);
    text.push_str("}\n");
    out.put(text.as_bytes())
}

/// The labels of a sample that are written.
#[derive(Clone, Copy)]
enum Pick {
    /// The best k, by score, or by score divided by propensity.
    Best { k: usize, rerank: Option<Propensity> },
    /// The labels that the model predicts.
    Decided,
}

/// The columns of picked labels.
const LONG: [&str; 3] = ["row", "label", "score"];

fn long_csv(
    model: &Model,
    x: MatrixView<'_>,
    ids: Ids<'_>,
    pick: Pick,
    delimiter: char,
    out: &mut Output,
) -> Result<(), CliError> {
    let text = ids.map_or(LONG[0], |id| id.name);
    let id = CsvField { text, delimiter };
    let names = &model.schema().output_names;
    let [_, label, score] = LONG;
    let mut lines = format!("{id}{delimiter}{label}{delimiter}{score}\n").into_bytes();
    for_each_row(model, x, pick, |row, best| {
        for &(label, score) in best {
            match ids {
                Some(IdColumn { ids, .. }) => {
                    let text = &ids[row];
                    add!(lines, "{}", CsvField { text, delimiter });
                }
                None => add!(lines, "{row}"),
            }
            let text = &names.get(label as usize).unwrap_or_default();
            let name = CsvField { text, delimiter };
            add!(lines, "{delimiter}{name}{delimiter}{score}\n");
        }
        out.put(&lines)?;
        lines.clear();
        Ok(())
    })?;
    out.put(&lines)
}

fn xmlrepo(model: &Model, x: MatrixView<'_>, pick: Pick, out: &mut Output) -> Result<(), CliError> {
    let mut line = format!("{} {}\n", x.n_rows(), model.n_outputs()).into_bytes();
    for_each_row(model, x, pick, |_, best| {
        for (i, (label, score)) in best.iter().enumerate() {
            let space = if i > 0 { " " } else { "" };
            add!(line, "{space}{label}:{score}");
        }
        line.push(b'\n');
        out.put(&line)?;
        line.clear();
        Ok(())
    })?;
    out.put(&line)
}

/// Calls `write` with each row and its labels, best first.
fn for_each_row(
    model: &Model,
    x: MatrixView<'_>,
    pick: Pick,
    mut write: impl FnMut(usize, &[(u32, f32)]) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut put = |row: usize, best: &mut Vec<(u32, f32)>| {
        best.sort_unstable_by(best_first);
        write(row, best)?;
        best.clear();
        Ok::<(), CliError>(())
    };
    let mut best: Vec<(u32, f32)> = Vec::new();
    match pick {
        Pick::Best { k, rerank } => for_each_block(
            x,
            width(model, k.min(model.n_outputs())),
            BLOCK_BYTES,
            |rows, block| {
                let top = model.predict_top_k_ranked(block, k, rerank);
                let top = top.map_err(|e| e.in_block(rows.start))?;
                let view = top.view();
                for (i, row) in rows.enumerate() {
                    let (labels, scores) = csr_row(&view, i);
                    best.extend(labels.iter().copied().zip(scores.iter().copied()));
                    put(row, &mut best)?;
                }
                Ok(())
            },
        ),
        Pick::Decided => {
            let bytes = bytes_to_decide(model);
            for_each_block(x, width(model, model.n_outputs()), bytes, |rows, block| {
                let scores = model.predict_with_limit(block, usize::MAX);
                let scores = scores.map_err(|e| e.in_block(rows.start))?;
                let decided = model.decide(scores.view())?;
                let view = decided.view();
                for (i, row) in rows.enumerate() {
                    let labels = csr_row(&view, i).0;
                    best.extend(labels.iter().map(|&j| (j, scores[[i, j as usize]])));
                    put(row, &mut best)?;
                }
                Ok(())
            })
        }
    }
}
