//! `rpo predict`.

use crate::blocks::for_each_block;
use crate::error::CliError;
use crate::options::{InputOptions, ThreadOptions};
use crate::output::{Output, Report, quoted};
use crate::resources::Stopwatch;
use clap::{Args, ValueEnum};
use rpo::Model;
use rpo::core::{CsrMatrix, MatrixView, csr_row};
use rpo::data::Task;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Bytes of dense scores that are held at a time.
const BLOCK_BYTES: usize = 64 << 20;

/// Predict for the samples of a file.
///
/// The file may have the outputs or not. Features are found by their names where both the model and the file
/// have names, else by their numbers. Writes CSV: with --top-k a line row,label,score for each of the best
/// labels (rows from 0, labels by name, best first, scores of 0 left out), else a column for each output.
#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// The model.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,

    /// Only the best K labels of each sample. Never holds more than the scores of a few samples.
    #[arg(long, value_name = "K")]
    top_k: Option<NonZeroUsize>,

    /// File to write, which appears when it is whole; standard output by default.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// What to write: CSV, or the Extreme Classification Repository's score format (a line "samples labels",
    /// then label:score pairs for each sample, labels by number, best first).
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OutFormat::Csv)]
    out_format: OutFormat,

    /// Print one JSON object: n_samples, load_seconds, predict_seconds (writing included), rows_per_second, and
    /// latency_milliseconds, the median time of predicting one row alone, over up to 100 rows.
    #[arg(long, requires = "out")]
    json: bool,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    threads: ThreadOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum OutFormat {
    Csv,
    Xmlrepo,
}

impl Predict {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        self.threads.start()?;
        let clock = Stopwatch::start();
        let model = Model::load(&self.model)?;
        let ranks = self.top_k.is_some() || self.out_format == OutFormat::Xmlrepo;
        if ranks && model.schema().task() == Task::Regression {
            let message = "--top-k and --out-format xmlrepo are for labels; the model predicts numbers";
            return Err(CliError::Usage(message.to_owned()));
        }
        let mut out = Output::new(self.out.as_deref())?;
        let data = self.input.load_features(model.schema())?;
        let x = self.input.align(model.schema(), &data)?;
        let x = MatrixView::from(x.as_ref());
        let load_seconds = clock.wall_seconds();

        let clock = Stopwatch::start();
        match (self.top_k, self.out_format) {
            (None, OutFormat::Csv) => wide_csv(&model, x, &mut out)?,
            (Some(k), OutFormat::Csv) => top_csv(&model, x, k.get(), &mut out)?,
            (k, OutFormat::Xmlrepo) => {
                let k = k.map_or(model.n_outputs(), NonZeroUsize::get);
                xmlrepo(&model, x, k, &mut out)?;
            }
        }
        out.finish()?;
        let predict_seconds = clock.wall_seconds();
        if self.out.is_some() {
            let mut report = Report::default();
            report.set("n_samples", x.n_rows());
            report.set("load_seconds", load_seconds);
            report.set("predict_seconds", predict_seconds);
            report.set("rows_per_second", x.n_rows() as f64 / predict_seconds);
            if self.json {
                report.set_known("latency_milliseconds", latency(&model, x, self.top_k)?);
            }
            report.print(self.json)?;
        }
        Ok(())
    }
}

/// The median time of predicting one row alone, in milliseconds, over up to a hundred rows; `None` without rows.
fn latency(model: &Model, x: MatrixView<'_>, top_k: Option<NonZeroUsize>) -> Result<Option<f64>, CliError> {
    let mut times = Vec::new();
    for row in 0..x.n_rows().min(100) {
        let row = x.select_rows(&[row]);
        let clock = Stopwatch::start();
        match top_k {
            Some(k) => drop(model.predict_top_k(row.view(), k.get())?),
            None => drop(model.predict(row.view())?),
        }
        times.push(1e3 * clock.wall_seconds());
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied())
}

/// Adds text to a buffer; writing to memory does not fail.
macro_rules! add {
    ($buffer:expr, $($text:tt)*) => {
        write!($buffer, $($text)*).expect("writing to memory does not fail")
    };
}

fn wide_csv(model: &Model, x: MatrixView<'_>, out: &mut Output) -> Result<(), CliError> {
    let names = model.schema().output_names();
    let header: Vec<String> = names.iter().map(|name| quoted(&name).into_owned()).collect();
    out.put(header.join(",").as_bytes())?;
    out.put(b"\n")?;
    let mut line = Vec::new();
    for_each_block(x, model.n_outputs(), BLOCK_BYTES, |_, block| {
        let scores = model.predict_within(block, usize::MAX)?;
        for row in scores.rows() {
            line.clear();
            for (j, score) in row.iter().enumerate() {
                if j > 0 {
                    line.push(b',');
                }
                add!(line, "{score}");
            }
            line.push(b'\n');
            out.put(&line)?;
        }
        Ok(())
    })
}

fn top_csv(model: &Model, x: MatrixView<'_>, k: usize, out: &mut Output) -> Result<(), CliError> {
    out.put(b"row,label,score\n")?;
    let names = model.schema().output_names();
    for_each_top(model, x, k, out, |line, row, best| {
        for &(label, score) in best {
            let name = names.get(label as usize).unwrap_or_default();
            add!(line, "{row},{},{score}\n", quoted(&name));
        }
    })
}

fn xmlrepo(model: &Model, x: MatrixView<'_>, k: usize, out: &mut Output) -> Result<(), CliError> {
    out.put(format!("{} {}\n", x.n_rows(), model.n_outputs()).as_bytes())?;
    for_each_top(model, x, k, out, |line, _, best| {
        for (i, (label, score)) in best.iter().enumerate() {
            let space = if i > 0 { " " } else { "" };
            add!(line, "{space}{label}:{score}");
        }
        line.push(b'\n');
    })
}

/// Writes what `write` makes of each row and its best labels, best first.
fn for_each_top(
    model: &Model,
    x: MatrixView<'_>,
    k: usize,
    out: &mut Output,
    write: impl Fn(&mut Vec<u8>, usize, &[(u32, f32)]),
) -> Result<(), CliError> {
    let mut text = Vec::new();
    for_each_block(x, k.min(model.n_outputs()), BLOCK_BYTES, |rows, block| {
        let top: CsrMatrix = model.predict_top_k(block, k)?;
        let view = top.view();
        for (i, row) in rows.enumerate() {
            let (labels, scores) = csr_row(&view, i);
            let mut best: Vec<(u32, f32)> = labels.iter().copied().zip(scores.iter().copied()).collect();
            best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            text.clear();
            write(&mut text, row, &best);
            out.put(&text)?;
        }
        Ok(())
    })
}
