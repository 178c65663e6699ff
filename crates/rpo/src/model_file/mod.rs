//! The model file: a documented, versioned, public format.
//!
//! A model file is a [safetensors](https://github.com/huggingface/safetensors) container of arrays. The metadata of its
//! header has a JSON description with the format's name and version, names of columns, parameters and a checksum of the
//! whole file. `docs/model-format.md` in the repository describes every array.
//!
//! * **Written atomically**: into a temporary file in the target's folder, flushed to the disk, then renamed. After a
//!   failure, an earlier file is unchanged.
//! * **Loaded without trust**: the checksum detects damage, and everything in the file is checked before it is used, so
//!   that a hostile file ends in a typed error. Memory stays within a small multiple of the file's size, because
//!   nothing is allocated for sizes that the file merely declares, except the names of hashed terms, which have a limit
//!   of 4 GiB.
//! * **Exact**: a model that was saved and loaded equals the original and predicts the same bits.

mod container;
mod description;
mod error;
mod stepwise;

pub use description::FORMAT_VERSION;
pub use error::{ModelFileError, ModelFileErrorKind};
pub(crate) use stepwise::CraftmlFile;

use crate::method::RestoreContext;
use crate::{FileTarget, IntervalSource, Intervals, Model, ModelError, Registry, TrainingSummary};
use container::Container;
use description::Description;
use error::ModelFileErrorKind as Kind;
use rpo_core::Mismatch;
use rpo_core::store::{Sizes, Store, Writer};
use rpo_data::preprocess::Pipeline;
use std::fs::File;
use std::path::Path;

/// Name of the array of decision thresholds.
const THRESHOLDS: &str = "decision.threshold";
const INTERVALS: &str = "intervals.offset";

impl Model {
    /// Saves the model to a file, replacing an earlier one only when everything is on the disk. Returns the number of
    /// bytes written.
    ///
    /// # Errors
    /// [`ModelFileError`] if the file cannot be written, or the model contains something that the format cannot store:
    /// values that are not finite, or trees that refer to different training outputs.
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
        Self::load_with(path, Registry::standard())
    }

    /// Loads a model of any kind in a registry from a file, for models of custom methods.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with(path: impl AsRef<Path>, registry: &Registry) -> Result<Self, ModelFileError> {
        Ok(Self::read(path.as_ref(), registry)?.0)
    }

    /// Loads a model from a file, with the checksum in the file, which identifies it: eight hexadecimal digits.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with_checksum(path: impl AsRef<Path>) -> Result<(Self, String), ModelFileError> {
        Self::read(path.as_ref(), Registry::standard())
    }

    fn read(path: &Path, registry: &Registry) -> Result<(Self, String), ModelFileError> {
        let file = File::open(path).map_err(|e| Kind::read(&e));
        let bytes = file.and_then(container::read);
        let bytes = bytes.map_err(|e| ModelFileError::from(e).in_file(path))?;
        let model = Self::from_bytes_with(&bytes, registry).map_err(|e| e.in_file(path))?;
        Ok((model, container::checksum(&bytes)))
    }

    /// Returns the contents of the model's file.
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

    /// Loads a model from the contents of its file.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelFileError> {
        Self::from_bytes_with(bytes, Registry::standard())
    }

    /// Loads a model of any kind in a registry from the contents of its file, for models of custom methods.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_bytes_with(bytes: &[u8], registry: &Registry) -> Result<Self, ModelFileError> {
        Ok(decode(bytes, registry)?)
    }
}

fn encode(model: &Model) -> Result<Container, Kind> {
    let mut out = Writer::default();
    model.training().store(&mut out)?;
    if let Some(thresholds) = model.thresholds() {
        out.array(THRESHOLDS, thresholds)?;
    }
    if let Some(intervals) = model.intervals() {
        out.array(INTERVALS, intervals.offsets().as_flattened())?;
    }
    if let Some(pipeline) = model.pipeline() {
        pipeline.store(&mut out)?;
    }
    let predictor = model.predictor();
    predictor.store(&mut out)?;
    let stored = out.finish()?;
    let mut description = Description::new(
        predictor.kind(),
        model.schema(),
        model.training(),
        &model.software,
        &model.parameters,
        stored.fields,
    );
    description.interval_level = model.intervals().map(Intervals::level);
    description.set_decision(model.decision);
    Container::new(&description, stored.arrays)
}

fn decode(bytes: &[u8], registry: &Registry) -> Result<Model, Kind> {
    let (mut description, mut from) = container::open(bytes)?;
    let mut sizes = Sizes {
        n_train: description.n_train,
        n_features: description.n_features,
        n_outputs: description.n_outputs,
    };
    check_size("n_train", sizes.n_train)?;
    check_size("n_features", sizes.n_features)?;
    check_size("n_outputs", sizes.n_outputs)?;
    let schema = description.schema()?;
    let pipeline = Pipeline::restore(&mut from, sizes.n_features, &schema.nominal, &schema.texts)?;
    sizes.n_features = pipeline.n_columns();
    check_size("number of features after the pipeline", sizes.n_features)?;
    let training = TrainingSummary::restore(&mut from, schema.task, sizes)?;
    let schema = description.with_levels(schema)?;
    let mut thresholds = None;
    if from.has(THRESHOLDS) {
        thresholds = Some(from.array::<f64>(THRESHOLDS)?.to_vec());
    }
    let intervals = match description.interval_level {
        None => None,
        Some(level) => {
            let offsets = from.array::<f64>(INTERVALS)?.to_vec();
            let (pairs, rest) = offsets.as_chunks::<2>();
            Mismatch::check(
                "offsets of intervals",
                2 * pairs.len(),
                2 * pairs.len() + rest.len(),
            )
            .map_err(ModelError::from)?;
            Some(Intervals::new(level, pairs.to_vec())?)
        }
    };
    let Some(kind) = registry.kinds().find(|kind| kind.name == description.kind) else {
        let mut supported: Vec<&str> = registry.kinds().map(|kind| kind.name).collect();
        supported.sort_unstable();
        supported.dedup();
        return Err(Kind::UnknownKind {
            found: description.kind,
            supported: supported.join(", "),
        });
    };
    let context = RestoreContext {
        schema: &schema,
        training: &training,
        registry,
    };
    let predictor = (kind.restore)(&mut from, sizes, &context)?;
    from.finish()?;
    let pipeline = Some(pipeline).filter(|pipeline| !pipeline.is_identity());
    let mut model = Model::from_parts(predictor, schema, pipeline, training, description.software)?
        .with_thresholds(thresholds)?;
    model.parameters = description.parameters;
    let mut model = model.with_intervals(IntervalSource::Given(intervals))?;
    model.decision = description.decision.unwrap_or_default();
    Ok(model)
}

/// Refuses sizes that exceed 32 bits.
fn check_size(what: &str, n: usize) -> Result<(), Kind> {
    if u32::try_from(n).is_ok() {
        return Ok(());
    }
    let message = format!("{what} is {n}; at most {} expected", u32::MAX);
    Err(Kind::Description { message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;
    use std::collections::BTreeSet;
    use std::fs;

    /// The values of a key on the page of the format: the texts in quotes in the second cell of its row. `None` outside the
    /// repository, as in a published package.
    fn documented(key: &str) -> Option<BTreeSet<String>> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
        if !crates.join("rpo-core").exists() {
            return None;
        }
        let page = fs::read_to_string(crates.join("../docs/model-format.md")).unwrap();
        let mut rows = page.lines().map(|line| line.split('|').collect::<Vec<_>>());
        let is_of_key =
            |cells: &Vec<&str>| cells.get(1).is_some_and(|cell| cell.trim() == format!("`{key}`"));
        let row = rows.find(is_of_key).unwrap();
        Some(row[2].split('"').skip(1).step_by(2).map(str::to_owned).collect())
    }

    #[test]
    fn the_page_of_the_format_has_the_kinds_that_can_be_loaded() {
        let kinds = Registry::standard().kinds();
        let kinds: BTreeSet<String> = kinds.map(|kind| kind.name.to_owned()).collect();
        assert!(documented("kind").is_none_or(|documented| documented == kinds));
    }

    #[test]
    fn the_page_of_the_format_has_the_decisions_that_are_stored() {
        let stored = serde_json::to_value(Decision::ExpectedF1).unwrap();
        let stored = [stored.as_str().unwrap().to_owned()].into();
        assert!(documented("decision").is_none_or(|documented| documented == stored));
    }
}
