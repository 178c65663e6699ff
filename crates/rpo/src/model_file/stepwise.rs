//! Writes model files tree by tree.

use super::ModelFileError;
use super::container::Index;
use super::description::Description;
use super::error::ModelFileErrorKind as Kind;
use crate::model::SOFTWARE;
use crate::{FileTarget, Schema, StreamDestination, TrainingSummary};
use rpo_core::store::{Array, Store, Writer};
use rpo_data::Dataset;
use rpo_ensemble::craftml::{CraftmlTree, TreeByTree};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The file of a CRAFTML model whose trees are written as they are grown, so that memory holds one tree at a time.
///
/// Trees go to an unnamed temporary file in the target's folder, which doubles the disk space needed until the model is
/// complete. The file is byte for byte the one that [`Model::save`](crate::Model::save) would have written.
#[derive(Debug)]
pub(crate) struct CraftmlFile {
    path: PathBuf,
    target: FileTarget,
    arrays: BufWriter<File>,
    index: Index,
    trees: TreeByTree,
    writer: Writer,
}

impl CraftmlFile {
    /// Prepares writing to a path; an earlier file is unchanged until [`finish`](Self::finish).
    ///
    /// # Errors
    /// [`ModelFileError`] if the path cannot be written to.
    pub(crate) fn create(path: impl AsRef<Path>) -> Result<Self, ModelFileError> {
        let path = path.as_ref().to_owned();
        let target = FileTarget::new(&path)?;
        // Devices and open files are in no folder that takes files.
        let place = FileTarget::place(&path);
        let folder = match place.as_deref().and_then(Path::parent) {
            Some(folder) => folder.to_owned(),
            None => std::env::temp_dir(),
        };
        let arrays = tempfile::tempfile_in(folder).map_err(|e| cannot("make a temporary file", &path, &e))?;
        Ok(Self {
            path,
            target,
            arrays: BufWriter::new(arrays),
            index: Index::default(),
            trees: TreeByTree::default(),
            writer: Writer::default(),
        })
    }

    /// Writes the next tree.
    ///
    /// # Errors
    /// [`ModelFileError`] if the file cannot be written, for example because the disk is full, or if the tree refers to
    /// other training outputs than the trees before it.
    pub(crate) fn push(&mut self, tree: &CraftmlTree) -> Result<(), ModelFileError> {
        self.trees.push(tree, &mut self.writer)?;
        let arrays = std::mem::take(&mut self.writer.parts);
        self.put(arrays)
    }

    /// Completes the model with its training summary, parameters and pipeline, and gives the file its final name.
    /// Returns the number of bytes written.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(crate) fn finish(
        mut self,
        training: &Dataset,
        destination: &StreamDestination<'_>,
    ) -> Result<u64, ModelFileError> {
        let mut summary = TrainingSummary::of(training);
        let mut schema = Schema::from(training);
        if let Some((pipeline, unprepared)) = destination.pipeline {
            schema = schema.with_features_of(unprepared);
            summary = summary.with_features_of(unprepared);
            pipeline.store(&mut self.writer)?;
        }
        let (trees, mut writer) = (std::mem::take(&mut self.trees), std::mem::take(&mut self.writer));
        summary.store(&mut writer)?;
        let (x, y) = (training.features().view(), training.outputs().view());
        trees.finish(x, y, &mut writer)?;
        let stored = writer.finish()?;
        self.put(stored.arrays)?;
        let mut description = Description::new(
            "craftml",
            &schema,
            &summary,
            SOFTWARE,
            destination.parameters,
            stored.fields,
        );
        description.set_decision(destination.decision);
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

    fn put(&mut self, arrays: Vec<(String, Array)>) -> Result<(), ModelFileError> {
        for (name, array) in arrays {
            self.index.push(name, &array);
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
