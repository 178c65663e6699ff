//! `rpo relabel`.

use super::out_of_bag::{check_groups, oob_score, report_oob};
use crate::error::CliError;
use crate::files;
use crate::options::{
    DataOptions, GroupOptions, SampleWeightOptions, TaskOptions, ThreadOptions, UnseenOptions,
};
use crate::output::Report;
use crate::resources::Stopwatch;
use clap::Args;
use rpo::ensemble::LeafSamples;
use rpo::ensemble::thresholds::ThresholdRule;
use rpo::{IntervalSource, Model, Predictor, ThresholdSource};
use std::path::PathBuf;

/// Make a grown forest predict other outputs.
///
/// For random-forest, extra-trees, single-target-forest, binary-relevance-forest and structured-forest. The trees stay as
/// they are; their leaves predict the mean outputs of the samples of --data that reach them, in the time of a
/// prediction: further labels, corrected ones, or numbers instead of labels. The new model predicts just the outputs of
/// --data. They are chosen as for `train`; features are found by name, and columns that the model does not need are not
/// read.
///
/// Where the outputs have the names of those of the model, in that order, the trees of single targets predict the output
/// that they grew on, and those of structured-forest keep their weights; otherwise every tree predicts all outputs alike.
///
/// With samples other than those of the training, trees are honest: no sample that chose their splits is in their
/// leaves. Branches that no sample reaches are removed.
#[derive(Debug, Args)]
pub(crate) struct Relabel {
    /// The model.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,

    /// File to save the new model to.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    out: PathBuf,

    /// The samples are those that the model was trained on, in the same order: each tree then takes only the samples that
    /// it grew on, so that the others are out of bag for it. Their number is checked, and that they reach every leaf;
    /// other samples, or another order, can pass both, and out-of-bag scores are then too good.
    #[arg(long)]
    training_samples: bool,

    /// Also score the new model on out-of-bag predictions, as `train --oob`.
    #[arg(long, requires = "training_samples")]
    oob: bool,

    /// Find the score from which each label is predicted on out-of-bag predictions, as `train --thresholds`; 0.5 by
    /// default.
    #[arg(long, value_name = "RULE", requires = "training_samples")]
    thresholds: Option<ThresholdRule>,

    /// Probability with which intervals are to cover numbers; found on out-of-bag predictions, as `train --intervals`.
    #[arg(long, value_name = "LEVEL", requires = "training_samples")]
    intervals: Option<f64>,

    #[command(flatten)]
    data: DataOptions,

    #[command(flatten)]
    weights: SampleWeightOptions,

    /// The --group of the training, if it had one: trees that did not see a sample saw others of its group, so that
    /// --oob, --thresholds and --intervals, which would not hold for new groups, are then refused.
    #[arg(long, value_name = "COLUMN", requires = "training_samples")]
    group: Option<String>,

    #[command(flatten)]
    task: TaskOptions,

    #[command(flatten)]
    unseen: UnseenOptions,

    #[command(flatten)]
    threads: ThreadOptions,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Relabel {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        let read = self.data.files().into_iter();
        let read = read.chain([("--model", Some(self.model.as_path())), self.weights.file()]);
        files::check(read, [("--out", Some(self.out.as_path()))])?;
        let groups = GroupOptions::of(self.group.clone());
        if self.oob {
            check_groups(&groups)?;
        }
        self.threads.start()?;
        let grown = Model::load(&self.model)?;
        let read = || {
            self.data
                .load_with_new_outputs(grown.schema(), &self.task, &self.weights)
        };
        let data = groups.load_by(&self.data, read)?;
        self.unseen.check(&grown, &data, self.data.name())?;
        let clock = Stopwatch::start();
        let samples = match self.training_samples {
            true => LeafSamples::Training,
            false => LeafSamples::Any,
        };
        let failed = |source| CliError::of_data(source, self.data.name());
        let mut model = grown.relabel(&data, samples).map_err(failed)?;
        if let Some(rule) = self.thresholds {
            let source = ThresholdSource::OutOfBag(rule, &data);
            model = model.with_thresholds(source).map_err(failed)?;
        }
        if let Some(level) = self.intervals {
            let source = IntervalSource::OutOfBag(level, &data);
            model = model.with_intervals(source).map_err(failed)?;
        }
        let mut report = Report::default();
        report.set("relabel_seconds", clock.wall_seconds());
        report.set("n_samples", data.n_samples());
        report.set("n_features", model.n_features());
        report.set("n_outputs", model.n_outputs());
        if self.oob {
            report_oob(oob_score(&model, &data)?, &mut report);
        }
        report.set("model_bytes", model.save(&self.out)?);
        report.print(self.json)
    }
}
