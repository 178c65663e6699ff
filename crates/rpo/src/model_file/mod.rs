//! The model file: a documented, versioned, public format.
//!
//! A model file is a [safetensors](https://github.com/huggingface/safetensors) container: arrays, and in its
//! header's metadata one JSON description with the format's name and version, names of columns, parameters
//! and a checksum over the whole file. `docs/model-format.md` in the repository describes every array.
//!
//! * **Written atomically**: into a temporary file in the target's folder, flushed to the disk, then renamed. A
//!   failure leaves an earlier file as it was.
//! * **Loaded without trust**: a damaged file is found by its checksum, and whatever the file says is checked
//!   before it is used, so that a hostile one ends in a typed error. Memory stays within a small multiple of
//!   the file's size, as nothing is allocated by what the file merely promises.
//! * **Exact**: a model that was saved and loaded is equal to the original and predicts the same bits.

mod arrays;
mod boosted;
mod container;
mod craftml;
mod description;
mod error;
mod forest;
mod leaves;
mod linear;
mod matrix;
mod pipeline;
mod rules;
mod stepwise;
mod structured;
mod structures;
mod thresholds;
mod trees;

pub use description::FORMAT_VERSION;
pub use error::{ModelFileError, ModelFileErrorKind};
pub use stepwise::CraftmlFile;

use crate::model::Predictor;
use crate::training::{OutputSummary, TrainingSummary};
use crate::{FileTarget, Model, ModelError};
use arrays::{ArrayReader, ArrayWriter, check_values};
use container::Container;
use description::{Description, required};
use error::ModelFileErrorKind as Kind;
use rpo_core::MatrixView;
use rpo_data::Task;
use rpo_data::preprocess::Pipeline;
use rpo_ensemble::SingleTargetForest;
use std::path::Path;
use std::sync::Arc;

/// The description's name for forests.
const FOREST: &str = "forest";
/// The description's name for boosted models.
const BOOSTING: &str = "boosting";
/// For a forest per output.
const SINGLE_TARGET: &str = "single-target-forest";
/// For label embeddings and links.
const LABEL_EMBEDDING: &str = "label-embedding";
/// For linear models.
const LINEAR: &str = "linear";
/// For CRAFTML forests.
const CRAFTML: &str = "craftml";
/// The description's name for structured forests.
const STRUCTURED: &str = "structured-forest";
/// All names that the description can have there.
const METHODS: &str = "forest, boosting, single-target-forest, label-embedding, linear, craftml, \
                       structured-forest";

fn method(predictor: &Predictor) -> &'static str {
    match predictor {
        Predictor::Forest(_) => FOREST,
        Predictor::Boosted(_) => BOOSTING,
        Predictor::SingleTargetForest(_) => SINGLE_TARGET,
        Predictor::LabelEmbedding(_) => LABEL_EMBEDDING,
        Predictor::Linear(_) => LINEAR,
        Predictor::Craftml(_) => CRAFTML,
        Predictor::StructuredForest(_) => STRUCTURED,
    }
}

impl Model {
    /// Saves the model to a file, replacing an earlier one only when everything is on the disk. Returns the
    /// number of bytes written.
    ///
    /// # Errors
    /// [`ModelFileError`] if the file cannot be written, or the model holds what the format cannot: values
    /// that are not finite, trees that refer to different training outputs.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<u64, ModelFileError> {
        let mut target = FileTarget::new(path)?;
        let container = encode(self)?;
        let n_bytes = container.write(|bytes| target.put(bytes))?;
        target.finish()?;
        Ok(n_bytes)
    }

    /// Loads a model from a file.
    ///
    /// # Errors
    /// [`ModelFileError`] if the file cannot be read, is damaged, of another version, or not a model.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelFileError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| {
            ModelFileError::from(Kind::Read {
                kind: e.kind(),
                message: e.to_string(),
            })
            .in_file(path)
        })?;
        Self::from_bytes(&bytes).map_err(|e| e.in_file(path))
    }

    /// The bytes of the model's file.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelFileError> {
        let mut file = Vec::new();
        encode(self)?.write(|bytes| {
            file.extend_from_slice(bytes);
            Ok::<(), ModelFileError>(())
        })?;
        Ok(file)
    }

    /// A model from the bytes of its file.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelFileError> {
        Ok(decode(bytes)?)
    }
}

fn encode(model: &Model) -> Result<Container, Kind> {
    let mut arrays = of_training(model.training());
    if let Some(thresholds) = model.thresholds() {
        arrays.doubles("decision.threshold", thresholds);
    }
    if let Some(pipeline) = model.pipeline() {
        pipeline::write(pipeline, &mut arrays);
    }
    let mut parts = Vec::new();
    let mut description = Description::of(model, method(model.predictor()));
    match model.predictor() {
        Predictor::Forest(forest) => forest::write(forest, &mut arrays, &mut description)?,
        Predictor::Boosted(boosted) => boosted::write(boosted, &mut arrays, &mut description)?,
        Predictor::SingleTargetForest(forests) => {
            forest::write(forests.forest(), &mut arrays, &mut description)?;
        }
        Predictor::LabelEmbedding(link) => {
            description.response = Some(link.response());
            linear::write_link(link, &mut arrays)?;
        }
        Predictor::Linear(linear) => {
            description.response = Some(linear.response());
            linear::write_linear(linear, &mut arrays)?;
        }
        Predictor::Craftml(forest) => {
            description.n_trees = Some(forest.trees().len());
            let mut outputs = None;
            if let Some(training) = forest.training() {
                craftml::write_inputs(MatrixView::Sparse(training.features()), &mut arrays)?;
                outputs = Some(Arc::clone(training.outputs()));
            }
            for (i, tree) in forest.trees().iter().enumerate() {
                let (part, of_tree) = craftml::write_tree(i, tree)?;
                parts.extend(part.finish_part(i));
                leaves::keep_outputs(&mut outputs, of_tree.as_ref(), i)?;
            }
            if let Some(outputs) = outputs {
                leaves::write_outputs(&outputs, &mut arrays)?;
            }
        }
        Predictor::StructuredForest(forest) => structured::write(forest, &mut arrays, &mut description)?,
    }
    parts.extend(arrays.finish());
    Container::new(&description, parts)
}

/// What is kept of the training set, whatever the method.
fn of_training(training: &TrainingSummary) -> ArrayWriter {
    let mut arrays = ArrayWriter::default();
    match training.outputs() {
        OutputSummary::LabelCounts(counts) => {
            let counts: Vec<u32> = counts.iter().map(|&count| count as u32).collect();
            arrays.integers("train.label_counts", &counts);
        }
        OutputSummary::Means(means) => arrays.doubles("train.means", means),
    }
    arrays
}

fn decode(bytes: &[u8]) -> Result<Model, Kind> {
    let (mut description, mut arrays) = container::open(bytes)?;
    let (n_train, n_features, n_outputs) =
        (description.n_train, description.n_features, description.n_outputs);
    for (what, n) in [
        ("n_train", n_train),
        ("n_features", n_features),
        ("n_outputs", n_outputs),
    ] {
        check_size(what, n)?;
    }
    let schema = description.schema()?;
    let pipeline = pipeline::read(&mut arrays, &schema, description.one_hot)?;
    // Those that the predictor sees.
    let n_features = pipeline.as_ref().map_or(n_features, Pipeline::n_columns);
    check_size("number of features after the pipeline", n_features)?;
    let training = read_training(&mut arrays, description.task(), n_train, n_outputs)?;
    let thresholds = if arrays.has("decision.threshold") {
        Some(arrays.doubles("decision.threshold")?)
    } else {
        None
    };
    let predictor = match description.method.as_str() {
        FOREST => Predictor::from(forest::read(&mut arrays, &description, n_features, n_outputs)?),
        SINGLE_TARGET => {
            let trees = forest::read(&mut arrays, &description, n_features, 1)?;
            Predictor::from(SingleTargetForest::from_forest(trees, n_outputs).map_err(ModelError::from)?)
        }
        BOOSTING => Predictor::from(boosted::read(&mut arrays, &description, n_features)?),
        LABEL_EMBEDDING => {
            let response = required("response", description.response)?;
            let sizes = (n_train, n_features, n_outputs);
            Predictor::from(linear::read_link(&mut arrays, response, sizes)?)
        }
        LINEAR => {
            let response = required("response", description.response)?;
            let sizes = (n_train, n_features, n_outputs);
            Predictor::from(linear::read_linear(&mut arrays, response, sizes)?)
        }
        CRAFTML => {
            let n_trees = required("n_trees", description.n_trees)?;
            Predictor::from(craftml::read(
                &mut arrays,
                n_trees,
                n_train,
                n_features,
                n_outputs,
            )?)
        }
        STRUCTURED => Predictor::from(structured::read(&mut arrays, &description, n_features)?),
        _ => {
            return Err(Kind::Method {
                found: description.method,
                supported: METHODS,
            });
        }
    };
    arrays.finish()?;
    let decision = description.decision.unwrap_or_default();
    let model = Model::from_parts(predictor, schema, pipeline, training, description.software)?
        .with_parameters(description.parameters)
        .with_decision(decision)
        .with_thresholds(thresholds)?;
    Ok(model)
}

/// Refuses what 32 bits cannot count.
fn check_size(what: &str, n: usize) -> Result<(), Kind> {
    if u32::try_from(n).is_ok() {
        return Ok(());
    }
    let message = format!("{what} is {n}; at most {} expected", u32::MAX);
    Err(Kind::Description { message })
}

fn read_training(
    arrays: &mut ArrayReader<'_>,
    task: Task,
    n_train: usize,
    n_outputs: usize,
) -> Result<TrainingSummary, Kind> {
    let (name, outputs) = match task {
        Task::MultiLabel => {
            let counts = arrays.integers("train.label_counts")?;
            let counts = counts.into_iter().map(|count| count as usize).collect();
            ("train.label_counts", OutputSummary::LabelCounts(counts))
        }
        Task::Regression => {
            let means = arrays.doubles("train.means")?;
            check_values("train.means", &means, "a finite number", f64::is_finite)?;
            ("train.means", OutputSummary::Means(means))
        }
    };
    let training = TrainingSummary::new(n_train, outputs)?;
    if training.n_outputs() != n_outputs {
        let problem = format!("has {} entries; expected {n_outputs}", training.n_outputs());
        return Err(Kind::array(name, problem));
    }
    Ok(training)
}
