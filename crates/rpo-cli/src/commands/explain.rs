//! `rpo explain`.

use crate::csv_file;
use crate::error::CliError;
use crate::files;
use crate::options::{InputOptions, List, ThreadOptions, UnseenOptions, all, parse_count};
use crate::output::Output;
use crate::predictions::{Explanation, for_each_explanation};
use clap::Args;
use rpo::core::text::did_you_mean;
use rpo::core::{MatrixView, csr_row};
use rpo::data::Dataset;
use rpo::data::Task;
use rpo::{Model, ModelError, Predictor};
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The columns beside that of the samples.
const COLUMNS: [&str; 5] = ["output", "score", "base", "feature", "contribution"];

/// Say what each feature contributes to predictions.
///
/// For random-forest, extra-trees, single-target-forest, binary-relevance-forest, boosting, ridge, logistic-regression
/// and one-vs-rest, and for ensembles of these whose scores are predictions (numbers; or labels by forests and ridge).
/// Writes CSV: a line row,output,score,base,feature,contribution for each feature that contributes to an output of a
/// sample, the largest contributions first, whatever their sign. The base is the mean score of the output for the
/// background samples, and the score of a sample is the base plus the contributions of all features. A contribution is
/// the feature's Shapley value: the mean change of the score when the feature is added, over all orders in which
/// features can be added. Trees have path-dependent values: at a split on a feature not yet added, a sample goes down
/// all branches, in proportion to the background samples that reach them. For linear models that scale samples to
/// length 1 (l2), contributions are those of the scaled features.
///
/// Scores are predictions, except for labels that boosting or a linear model other than ridge predicts: there they are
/// log-odds (activations for classes that boosting learns by the loss softmax). Classes that a method learns one by one
/// are explained before their scores are divided by their sum. For the losses poisson and tweedie they are logarithms
/// of predictions. Quantiles of several levels are explained as the model's trees give them: predictions sort them
/// where they cross. Predictions of auto and blend are also limited to the range of the training values, and scores are
/// not. Numbered features count from 0, also those of svmlight files.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The model.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,

    /// Typical samples to compare with, such as those of the training: a file in the same format as the data, or @NAME for
    /// the training samples of a set of the catalogue. By default the data, which must then have more than one sample.
    #[arg(long, value_name = "FILE|@NAME")]
    background: Option<String>,

    /// Only these outputs, by name. A name with a comma stands in double quotes: '"depth, m",width'.
    #[arg(long, value_name = "NAME,...", conflicts_with = "top_k")]
    outputs: Vec<List<String>>,

    /// Only the best K labels of each sample.
    #[arg(long, value_name = "K", value_parser = parse_count)]
    top_k: Option<NonZeroUsize>,

    /// Only the N features that contribute most to each score.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    features: Option<NonZeroUsize>,

    /// File to write, which appears when it is complete; standard output by default. Tabs separate columns in files
    /// named .tsv; .gz at the end compresses.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    out: Option<PathBuf>,

    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    unseen: UnseenOptions,

    #[command(flatten)]
    threads: ThreadOptions,
}

impl Explain {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        let background = self.background.as_deref().map(|file| self.input.beside(file));
        let read = self
            .input
            .files()
            .chain([("--model", Some(self.model.as_path()))]);
        let of_background = background.iter().flat_map(InputOptions::files);
        let of_background = of_background.map(|(_, file)| ("--background", file));
        let out = ("--out", self.out.as_deref());
        files::check(read.chain(of_background), [out])?;
        csv_file::check(out)?;
        self.input
            .check_written_id("explanations", |id| COLUMNS.contains(&id))?;
        self.threads.start()?;
        let model = Model::load(&self.model)?;
        let data = self.input.load_features(model.schema())?;
        self.unseen.check(&model, &data, self.input.name())?;
        let x = self.input.align(model.schema(), &data)?;
        let x = MatrixView::from(x.as_ref());
        let (loaded, aligned);
        let usual = match &background {
            Some(input) => {
                loaded = input.load_background(model.schema())?;
                aligned = input.align(model.schema(), &loaded)?;
                MatrixView::from(aligned.as_ref())
            }
            None if x.n_rows() == 1 => {
                let message =
                    "one sample cannot be compared with itself: give typical samples with --background FILE";
                return Err(CliError::Usage(message.to_owned()));
            }
            None => x,
        };
        let outputs = self.outputs(&model, x)?;
        let outputs: Vec<&[u32]> = outputs.iter().map(Vec::as_slice).collect();
        let of_background = background
            .as_ref()
            .map_or_else(|| self.input.name(), InputOptions::name);
        let refuse = |e: ModelError| match e {
            ModelError::Unexplained { .. } => e.into(),
            ModelError::Background(e) => CliError::of_prediction(*e, of_background),
            e => CliError::of_prediction(e, self.input.name()),
        };
        let mut out = Output::new(self.out.as_deref())?;
        let names = Names {
            model: &model,
            data: &data,
            id: self.input.id(),
            delimiter: csv_file::delimiter(self.out.as_deref()),
        };
        // Written once the first scores are explained.
        let mut header = Some(names.header());
        let most = self.features.map_or(usize::MAX, NonZeroUsize::get);
        for_each_explanation(&model, x, &outputs, most, usual, refuse, |explanation| {
            out.put(header.take().unwrap_or_default().as_bytes())?;
            out.put(names.lines(&explanation).as_bytes())
        })?;
        out.put(header.unwrap_or_default().as_bytes())?;
        out.finish()
    }

    /// The outputs of each sample whose scores are explained.
    fn outputs(&self, model: &Model, x: MatrixView<'_>) -> Result<Vec<Vec<u32>>, CliError> {
        if let Some(k) = self.top_k {
            if model.schema().task == Task::Regression {
                let message = if model.labels().is_empty() {
                    "--top-k is for labels; the model predicts numbers"
                } else {
                    "--top-k ranks all outputs; the model predicts numbers beside labels: name outputs by --outputs"
                };
                return Err(CliError::Usage(message.to_owned()));
            }
            let best = model.predict_top_k(x, k.get());
            let best = best.map_err(|e| CliError::of_prediction(e, self.input.name()))?;
            let best = best.view();
            return Ok((0..x.n_rows())
                .map(|row| csr_row(&best, row).0.to_vec())
                .collect());
        }
        let names = &model.schema().output_names;
        let named = |name: &String| match names.position(name) {
            Some(output) => Ok(output as u32),
            None => {
                let nearest = did_you_mean(names.nearest(name).map(|name| format!("{name:?}")));
                Err(CliError::Usage(format!(
                    "--outputs: the model has no output {name:?}{nearest}"
                )))
            }
        };
        let chosen = match self.outputs.is_empty() {
            true => (0..names.iter().len() as u32).collect(),
            false => all(&self.outputs)
                .iter()
                .map(named)
                .collect::<Result<Vec<u32>, _>>()?,
        };
        Ok(vec![chosen; x.n_rows()])
    }
}

/// The names in the lines.
struct Names<'a> {
    model: &'a Model,
    data: &'a Dataset,
    id: Option<&'a str>,
    delimiter: char,
}

impl Names<'_> {
    fn header(&self) -> String {
        let text = self.id.unwrap_or("row");
        let columns = std::iter::once(self.field(text)).chain(COLUMNS.map(str::to_owned));
        csv_file::line(columns, self.delimiter)
    }

    /// The lines of a score.
    fn lines(&self, explanation: &Explanation) -> String {
        let Explanation {
            row,
            output,
            score,
            base,
            features,
        } = explanation;
        let schema = self.model.schema();
        let number = || row.to_string();
        let id = self
            .id
            .and(self.data.ids())
            .map_or_else(number, |ids| self.field(&ids[*row]));
        let output = self.field(&schema.output_names.get(*output as usize).unwrap_or_default());
        let (mut lines, d) = (String::new(), self.delimiter);
        for (feature, contribution) in features {
            let feature = self.field(&schema.feature_names.get(*feature as usize).unwrap_or_default());
            writeln!(
                lines,
                "{id}{d}{output}{d}{score}{d}{base}{d}{feature}{d}{contribution}"
            )
            .expect("writing to memory does not fail");
        }
        lines
    }

    fn field(&self, text: &str) -> String {
        csv_file::field(text, self.delimiter)
    }
}
