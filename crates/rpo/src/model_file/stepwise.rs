//! Model files that are written tree by tree.

use super::container::{Index, Named};
use super::description::Description;
use super::error::ModelFileErrorKind as Kind;
use super::leaves::{keep_outputs, write_outputs};
use super::{CRAFTML, ModelFileError, craftml, of_training};
use crate::model::SOFTWARE;
use crate::{FileTarget, Schema, TrainingSummary};
use rpo_core::Matrix;
use rpo_data::Dataset;
use rpo_ensemble::craftml::CraftmlTree;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file of a CRAFTML model whose trees are written as they are grown: memory holds one of them at a time.
///
/// Trees go to an unnamed temporary file beside the model's place, which takes as much room on the disk again until
/// the model is whole. The file is the same, byte for byte, that [`Model::save`](crate::Model::save) would have written.
#[derive(Debug)]
pub struct CraftmlFile {
    path: PathBuf,
    target: FileTarget,
    arrays: BufWriter<File>,
    index: Index,
    n_trees: usize,
    /// Whether a tree refers to training rows.
    has_records: bool,
    outputs: Option<Arc<Matrix>>,
}

impl CraftmlFile {
    /// Makes ready to write to a path; an earlier file stays as it is until [`finish`](Self::finish).
    ///
    /// # Errors
    /// [`ModelFileError`] if the path cannot be written to.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, ModelFileError> {
        let path = path.as_ref().to_owned();
        let target = FileTarget::new(&path)?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let arrays = tempfile::tempfile_in(folder).map_err(|e| cannot("make a temporary file", &path, &e))?;
        Ok(Self {
            path,
            target,
            arrays: BufWriter::new(arrays),
            index: Index::default(),
            n_trees: 0,
            has_records: false,
            outputs: None,
        })
    }

    /// Writes the next tree.
    ///
    /// # Errors
    /// [`ModelFileError`] if the disk is full and the like, or the tree refers to other training outputs than those
    /// before it.
    pub fn push(&mut self, tree: &CraftmlTree) -> Result<(), ModelFileError> {
        let (part, outputs) = craftml::write_tree(self.n_trees, tree)?;
        keep_outputs(&mut self.outputs, outputs.as_ref(), self.n_trees)?;
        self.has_records |= tree.record().is_some();
        self.put(part.finish_part(self.n_trees))?;
        self.n_trees += 1;
        Ok(())
    }

    /// Completes the model with its training set, or what is known of it, and the parameters it was trained with, and gives
    /// the file its name. Returns the number of bytes written.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish(
        mut self,
        training: &Dataset,
        parameters: &Map<String, Value>,
    ) -> Result<u64, ModelFileError> {
        let (schema, summary) = (Schema::of(training), TrainingSummary::of(training));
        let mut shared = of_training(&summary);
        if self.has_records {
            craftml::write_inputs(training.features().view(), &mut shared)?;
            keep_outputs(
                &mut self.outputs,
                Some(&Arc::new(training.outputs().view().to_owned())),
                self.n_trees,
            )?;
        }
        if let Some(outputs) = self.outputs.take() {
            write_outputs(&outputs, &mut shared)?;
        }
        self.put(shared.finish())?;
        let mut description = Description::new(CRAFTML, &schema, &summary, SOFTWARE, parameters);
        description.n_trees = Some(self.n_trees);
        let Self {
            path,
            mut target,
            arrays,
            index,
            ..
        } = self;
        let n_bytes = index.n_bytes();
        let header = index.header(&description)?;
        target.put(&header)?;
        let failed = |e: &io::Error| cannot("read back the temporary file", &path, e);
        let mut arrays = arrays
            .into_inner()
            .map_err(|e| cannot("write", &path, e.error()))?;
        arrays.rewind().map_err(|e| failed(&e))?;
        let mut buffer = vec![0; 1 << 20];
        loop {
            match arrays.read(&mut buffer).map_err(|e| failed(&e))? {
                0 => break,
                n => target.put(&buffer[..n])?,
            }
        }
        target.finish()?;
        Ok((header.len() + n_bytes) as u64)
    }

    fn put(&mut self, arrays: Vec<Named>) -> Result<(), ModelFileError> {
        for (name, array) in arrays {
            self.index.push(name.into_owned(), &array);
            self.arrays
                .write_all(&array.bytes)
                .map_err(|e| cannot("write", &self.path, &e))?;
        }
        Ok(())
    }
}

fn cannot(action: &'static str, path: &Path, e: &io::Error) -> Kind {
    Kind::Write(crate::TargetError::Io {
        path: path.to_owned(),
        action,
        kind: e.kind(),
        message: e.to_string(),
    })
}
