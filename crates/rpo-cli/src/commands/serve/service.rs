//! Turns requests into responses.

use super::problem::Problem;
use super::request::{Pick, Request};
use super::rows::{Given, by_column, by_number};
use crate::predictions::json_outputs::{self, JsonOutputs, add};
use crate::predictions::model_columns;
use crate::predictions::{PredictedColumns, for_each_explanation};
use rpo::Predictor;
use rpo::core::{CsrMatrix, Matrix, MatrixView, best_first, csr_row};
use rpo::data::Task;
use rpo::data::read::{Cell, ReadOptions, read_rows};
use rpo::{BLOCK_BYTES, Intervals, Model, ModelError, Schema, for_each_block};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Limits on the sizes of requests and of their responses.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestLimits {
    /// Largest number of rows.
    pub(super) rows: usize,
    /// Largest number of predicted values.
    pub(super) values: usize,
    /// Largest number of scores that are explained.
    pub(super) explained: usize,
}

/// A model that serves requests.
#[derive(Debug)]
pub(super) struct Service {
    model: Model,
    /// The checksum of the model's file.
    checksum: String,
    columns: Columns,
    /// The names of the outputs and the bounds.
    outputs: JsonOutputs,
    /// The names of the targets and the bounds, escaped as JSON keys.
    targets: Vec<String>,
    /// The names of the features, escaped as JSON texts, and the samples that scores are compared with, if requests may
    /// ask for explanations.
    explained: Option<(Vec<String>, Matrix)>,
    limits: RequestLimits,
    refuse_unseen: bool,
    /// The description of the model for clients, as JSON, made when it is first asked for.
    description: OnceLock<String>,
}

/// How the features of rows are read.
#[derive(Debug)]
enum Columns {
    /// Features by number; omitted ones are 0.
    Numbered,
    /// Features by name; all must be present.
    Named {
        names: Vec<String>,
        options: Box<ReadOptions>,
        /// The categories of columns that read as missing values in CSV files.
        words: BTreeMap<String, Vec<String>>,
    },
}

impl Service {
    /// Serves a model, given with the checksum of its file. Its scores are explained in comparison with the background,
    /// if there is one.
    pub(super) fn new(
        (model, checksum): (Model, String),
        background: Option<Matrix>,
        limits: RequestLimits,
        refuse_unseen: bool,
    ) -> Result<Self, ModelError> {
        if let Some(background) = &background {
            // A model that cannot be explained is refused here, not at each request.
            let no_rows = background.view().select_rows(&[]);
            model.contributions(no_rows.view(), &[], background.view())?;
        }
        let names = || json_outputs::escaped(model.schema().feature_names.iter());
        let explained = background.map(|background| (names(), background));
        let schema = model.schema();
        let columns = match schema.read_options() {
            None => Columns::Numbered,
            Some(options) => {
                let options = ReadOptions {
                    missing_values: schema.missing_values.clone(),
                    ..options
                };
                Columns::Named {
                    names: options.types.keys().cloned().collect(),
                    words: words_like_missing(schema, &options),
                    options: Box::new(options),
                }
            }
        };
        let with_bounds = PredictedColumns {
            model: &model,
            intervals: true,
        };
        Ok(Self {
            explained,
            outputs: JsonOutputs::new(with_bounds.score_names()),
            targets: json_outputs::escaped(with_bounds.value_names()),
            model,
            checksum,
            columns,
            limits,
            refuse_unseen,
            description: OnceLock::new(),
        })
    }

    /// Returns the HTTP status and the response to a request: one line of JSON, whatever the request is. Explanations, which
    /// may take long, end when they are given up.
    pub(super) fn respond(&self, text: &[u8], is_given_up: &AtomicBool) -> (u16, String) {
        let is_feature = |name: &str| match &self.columns {
            Columns::Numbered => false,
            Columns::Named { options, .. } => options.types.contains_key(name),
        };
        let (id, request) = Request::parse(text, is_feature, self.limits.rows);
        match request.and_then(|request| self.predict(&request, id.as_deref(), is_given_up)) {
            Ok(response) => (200, response),
            Err(problem) => (problem.status(), problem.response(id.as_deref())),
        }
    }

    fn predict(
        &self,
        request: &Request<'_>,
        id: Option<&str>,
        is_given_up: &AtomicBool,
    ) -> Result<String, Problem> {
        let has_numbers = self.model.schema().task == Task::Regression;
        let are_missing = match request.pick {
            Pick::All | Pick::Values => false,
            Pick::Best(_) => has_numbers,
            Pick::Decided => has_numbers && self.model.labels().is_empty(),
        };
        if are_missing {
            let message = match self.model.labels().is_empty() {
                true => "top_k and decide are for labels; the model predicts numbers",
                false => "top_k is for models of labels alone; this one predicts numbers too",
            };
            return Err(Problem::Request(message.to_owned()));
        }
        if matches!(request.pick, Pick::Decided | Pick::Values) && self.model.decision.is_joint() {
            let message = "the model decides on labels by their expected F1 over all samples at once (--decide f1), and a \
                request does not have all of them: ask for scores or top_k, or serve a model that was trained with \
                --thresholds macro-f, which decides on each sample by itself";
            return Err(Problem::Request(message.to_owned()));
        }
        if request.intervals && self.model.intervals().is_none() {
            return Err(Problem::Request(ModelError::NoIntervals.to_string()));
        }
        if request.explain.is_some() && self.explained.is_none() {
            let message =
                "the server cannot explain predictions: start it with typical samples, --background FILE";
            return Err(Problem::Request(message.to_owned()));
        }
        self.check_values(request.rows.len().saturating_mul(self.values_per_row(request)))?;
        let mut response = "{".to_owned();
        if let Some(id) = id {
            add(&mut response, format_args!("\"id\":{id},"));
        }
        response.push_str("\"predictions\":[");
        let mut n_unseen = 0;
        let mut explained = String::new();
        if !request.rows.is_empty() {
            let x = self.features(&request.rows, &mut n_unseen)?;
            let outputs = self.write(x.view(), request, &mut response)?;
            if let (Some(most), Some((names, background))) = (request.explain, &self.explained) {
                let outputs: Vec<&[u32]> = outputs.iter().map(Vec::as_slice).collect();
                let features = (names.as_slice(), background);
                self.explain(x.view(), &outputs, most, features, is_given_up, &mut explained)?;
            }
        }
        response.push(']');
        if request.explain.is_some() {
            add(&mut response, format_args!(",\"explanations\":[{explained}]"));
        }
        if n_unseen > 0 {
            add(&mut response, format_args!(",\"unseen\":{n_unseen}"));
        }
        response.push('}');
        Ok(response)
    }

    /// Refuses a response with more values than the limit.
    fn check_values(&self, values: usize) -> Result<(), Problem> {
        let limit = self.limits.values;
        if values > limit {
            return Err(Problem::TooManyValues { values, limit });
        }
        Ok(())
    }

    /// The number of values predicted for a row; 0 for labels that are decided on, which are counted then.
    fn values_per_row(&self, request: &Request<'_>) -> usize {
        let n_outputs = self.model.n_outputs();
        match request.pick {
            Pick::All if request.intervals => self.outputs.len(),
            Pick::All => n_outputs,
            Pick::Best(k) => k.min(n_outputs),
            Pick::Values if request.intervals => self.targets.len(),
            // The names of the bounds follow those of the targets, as they do those of the outputs.
            Pick::Values => self.targets.len() - (self.outputs.len() - n_outputs),
            Pick::Decided => 0,
        }
    }

    /// Appends, for each row, the explanations of some of its scores as a list.
    fn explain(
        &self,
        x: MatrixView<'_>,
        outputs: &[&[u32]],
        most: usize,
        (names, background): (&[String], &Matrix),
        is_given_up: &AtomicBool,
        to: &mut String,
    ) -> Result<(), Problem> {
        let scores: usize = outputs.iter().map(|outputs| outputs.len()).sum();
        let limit = self.limits.explained;
        if scores > limit {
            return Err(Problem::TooManyExplained { scores, limit });
        }
        self.check_values(scores.saturating_mul(most.min(names.len())))?;
        let mut of_rows = vec![String::new(); outputs.len()];
        // Enough for all threads to have work, and soon done.
        let together = 32 * rayon::current_num_threads();
        for (block, outputs) in outputs.chunks(together).enumerate() {
            if is_given_up.load(Ordering::Relaxed) {
                return Err(Problem::GivenUp);
            }
            let first = block * together;
            let rows: Vec<usize> = (first..first + outputs.len()).collect();
            for_each_explanation(
                &self.model,
                x.select_rows(&rows).view(),
                outputs,
                most,
                background.view(),
                |e| Problem::from(e.in_block(first)),
                |explanation| {
                    let of_row = &mut of_rows[first + explanation.row];
                    if !of_row.is_empty() {
                        of_row.push(',');
                    }
                    self.outputs.explained(&explanation, names, of_row);
                    Ok(())
                },
            )?;
        }
        for (row, explained) in of_rows.iter().enumerate() {
            let comma = if row > 0 { "," } else { "" };
            add(to, format_args!("{comma}[{explained}]"));
        }
        Ok(())
    }

    /// Appends predictions; returns the outputs of each row whose scores they are, if these are to be explained.
    fn write(
        &self,
        x: MatrixView<'_>,
        request: &Request<'_>,
        to: &mut String,
    ) -> Result<Vec<Vec<u32>>, Problem> {
        let n = x.n_rows();
        let mut written = Vec::with_capacity(n);
        let columns = PredictedColumns {
            model: &self.model,
            intervals: request.intervals,
        };
        let separate = |row: usize, to: &mut String| {
            if row > 0 {
                to.push(',');
            }
        };
        let mut n_decided = 0;
        match request.pick {
            Pick::All => {
                for (row, scores) in columns.scores(x)?.rows().into_iter().enumerate() {
                    separate(row, to);
                    self.outputs.all(scores, to);
                }
                if request.explain.is_some() {
                    written = vec![(0..self.model.n_outputs() as u32).collect(); n];
                }
            }
            Pick::Best(k) => {
                let top = self.model.predict_top_k(x, k.min(self.model.n_outputs()))?;
                let top = top.view();
                for row in 0..x.n_rows() {
                    let (labels, scores) = csr_row(&top, row);
                    let picked = labels.iter().copied().zip(scores.iter().copied());
                    separate(row, to);
                    written.push(self.picked(picked, to));
                }
            }
            Pick::Values => {
                for (row, values) in columns.values(x)?.iter().enumerate() {
                    separate(row, to);
                    json_outputs::values(&self.targets, values, to);
                }
            }
            // Few of the scores are kept, so that they are computed for some rows at a time.
            Pick::Decided => for_each_block(x, self.model.n_outputs(), BLOCK_BYTES, |rows, block| {
                let scores = self.model.predict(block).map_err(|e| e.in_block(rows.start))?;
                let decided = self.model.decide(scores.view())?;
                let decided = decided.view();
                n_decided += decided.nnz();
                self.check_values(n_decided)?;
                for (i, row) in rows.enumerate() {
                    let labels = csr_row(&decided, i).0.iter();
                    let picked = labels.map(|&j| (j, scores[[i, j as usize]]));
                    separate(row, to);
                    written.push(self.picked(picked, to));
                }
                Ok::<(), Problem>(())
            })?,
        }
        Ok(written)
    }

    /// Appends picked labels, best first; returns them in this order.
    fn picked(&self, picked: impl Iterator<Item = (u32, f32)>, to: &mut String) -> Vec<u32> {
        let mut picked: Vec<(u32, f32)> = picked.collect();
        picked.sort_unstable_by(best_first);
        self.outputs.picked(&picked, to);
        picked.into_iter().map(|(label, _)| label).collect()
    }

    /// Returns the features of rows in the order of the model, and counts values of categories that are unseen in
    /// training.
    fn features(&self, rows: &[&RawValue], n_unseen: &mut usize) -> Result<Matrix, Problem> {
        let Columns::Named {
            names,
            options,
            words,
        } = &self.columns
        else {
            return self.numbered(rows);
        };
        let given = rows.iter().enumerate();
        let given = given.map(|(row, text)| by_column(row, text, &options.types, words));
        let given: Vec<Vec<Given<'_>>> = given.collect::<Result<_, _>>()?;
        let cells = given.iter().map(|row| row.iter().map(Given::cell).collect());
        let cells: Vec<Vec<Cell<'_>>> = cells.collect();
        let data = read_rows(names, &cells, options)?;
        let schema = self.model.schema();
        for unseen in schema.unseen_values(&data)? {
            if self.refuse_unseen {
                return Err(Problem::from(ModelError::UnknownValue {
                    row: unseen.sample,
                    name: unseen.feature,
                    value: unseen.value,
                }));
            }
            *n_unseen += unseen.count;
        }
        Ok(schema.align_features(&data)?.into_owned())
    }

    fn numbered(&self, rows: &[&RawValue]) -> Result<Matrix, Problem> {
        let names = &self.model.schema().feature_names;
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (row, text) in rows.iter().enumerate() {
            for (column, value) in by_number(row, text, names)? {
                columns.push(column);
                values.push(value);
            }
            starts.push(columns.len());
        }
        let shape = (rows.len(), names.iter().len());
        Ok(Matrix::from(CsrMatrix::new(shape, starts, columns, values)))
    }

    /// Reports that the server works, and with which model.
    pub(super) fn health(&self) -> Value {
        json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "model": self.identity()})
    }

    /// Identifies the model: the checksum of its file, the software that made it, and its number of training samples.
    fn identity(&self) -> Value {
        json!({
            "checksum": self.checksum,
            "software": self.model.software,
            "n_train": self.model.training().n_samples,
        })
    }

    /// Describes the model for clients, as JSON.
    pub(super) fn schema(&self) -> &str {
        self.description.get_or_init(|| self.describe().to_string())
    }

    fn describe(&self) -> Value {
        let schema = self.model.schema();
        let outputs: Vec<Cow<'_, str>> = schema.output_names.iter().collect();
        json!({
            "task": schema.task,
            "method": self.model.parameters.get("method"),
            "features": model_columns::features(&self.model),
            "outputs": outputs,
            "targets": model_columns::targets(&self.model),
            "intervals": self.model.intervals().map(Intervals::level),
            "explains": self.explained.is_some(),
            "max_rows": self.limits.rows,
            "max_values": self.limits.values,
            "max_explained": self.explained.as_ref().map(|_| self.limits.explained),
            "version": env!("CARGO_PKG_VERSION"),
            "model": self.identity(),
        })
    }
}

/// The categories of each column that would read as missing values: training had them as words.
fn words_like_missing(schema: &Schema, options: &ReadOptions) -> BTreeMap<String, Vec<String>> {
    let words = schema.nominal.iter().filter_map(|(&feature, words)| {
        let words = words.iter().filter(|word| options.reads_as_missing(word));
        let words: Vec<String> = words.cloned().collect();
        let name = schema.feature_names.get(feature)?;
        (!words.is_empty()).then(|| (name.into_owned(), words))
    });
    words.collect()
}
