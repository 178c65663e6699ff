//! Benchmark data sets by name.

use crate::dataset::{Dataset, DatasetError, Task};
use crate::message::quoted;
use crate::read::{ReadError, ReadOptions, Targets, read};
use rpo_core::Mismatch;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The environment variable with the folder of [`Catalogue::from_env`].
pub const CATALOGUE_VARIABLE: &str = "RPO_DATA";

/// Name of the file that lists the sets.
const MANIFEST: &str = "manifest.json";

/// An error in loading a catalogue or one of its sets.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// The environment variable is not set, or is empty.
    #[error(
        "environment variable {CATALOGUE_VARIABLE} is not set or is empty; it names the folder that holds manifest.json"
    )]
    NoFolder,
    /// A file that cannot be read.
    #[error("{}: cannot read: {message}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message.
        message: String,
    },
    /// A manifest whose format is not that described at [`Catalogue`].
    #[error("{}: {message}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The problem of the manifest.
        message: String,
    },
    /// A name that is not in the catalogue.
    #[error("no data set {}; there are {}", quoted(name), names.join(", "))]
    UnknownName {
        /// The name.
        name: String,
        /// The names in the catalogue.
        names: Vec<String>,
    },
    /// A file whose checksum differs from the one in the manifest.
    #[error("{}: SHA-256 is {found}, but the manifest lists {expected}", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The checksum in the manifest.
        expected: String,
        /// The checksum of the file.
        found: String,
    },
    /// A set whose dimensions differ from those in the manifest.
    #[error("{} does not match the manifest: {mismatch}", path.display())]
    Count {
        /// The file.
        path: PathBuf,
        /// The number of samples, features or outputs, which differs from the manifest.
        mismatch: Mismatch,
    },
    /// A malformed data file.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Training and test sets that cannot be joined.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

/// A folder of data sets with a `manifest.json`: an object whose `datasets` lists, for each set, its `name`, `task`
/// (`multilabel` or `regression`), `files` (each a `file`, with its `sha256` if that is to be compared), counts (`n` or `n_train` and `n_test`, `p`, `d`) and, for
/// ARFF, the position of the outputs (`label_columns`).
///
/// ```no_run
/// use rpo_data::Catalogue;
/// let catalogue = Catalogue::from_env()?;
/// let emotions = catalogue.load("emotions")?;
/// println!("{} training samples", emotions.train.n_samples());
/// # Ok::<(), rpo_data::CatalogueError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    folder: PathBuf,
    /// The sets, in the order of the manifest.
    pub entries: Vec<Entry>,
}

/// A data set as described in the manifest of a [`Catalogue`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The kind of its outputs.
    #[serde(deserialize_with = "task")]
    pub task: Task,
    /// Its files.
    pub files: Vec<EntryFile>,
    /// Number of samples, if no split is published.
    #[serde(default, rename = "n")]
    pub n_samples: Option<usize>,
    /// Number of training samples of the published split.
    #[serde(default)]
    pub n_train: Option<usize>,
    /// Number of test samples of the published split.
    #[serde(default)]
    pub n_test: Option<usize>,
    /// Number of features; a nominal feature counts once.
    #[serde(rename = "p")]
    pub n_features: usize,
    /// Number of outputs.
    #[serde(rename = "d")]
    pub n_outputs: usize,
    /// Fraction of missing feature values.
    #[serde(default)]
    pub missing_share: f64,
    /// Remarks.
    #[serde(default)]
    pub notes: String,
    label_columns: LabelColumns,
}

/// A file of an [`Entry`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct EntryFile {
    /// Path relative to the folder of the catalogue.
    pub file: PathBuf,
    /// SHA-256 of its content, in hexadecimal; absent if it is not compared.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// The position of the outputs: columns of a table, or a remark if the format marks them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum LabelColumns {
    Named { named_by: String },
    Counted { position: Position, count: usize },
    Marked(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Position {
    First,
    Last,
}

fn task<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Task, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "multilabel" => Ok(Task::MultiLabel),
        "regression" => Ok(Task::Regression),
        other => Err(serde::de::Error::custom(format!(
            "unknown task {other:?}; multilabel or regression expected"
        ))),
    }
}

/// A data set with its published split, if it has one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// The training set, or all samples.
    pub train: Dataset,
    /// The test set.
    pub test: Option<Dataset>,
}

/// Joins both sets into one, training samples first.
impl TryFrom<Loaded> for Dataset {
    type Error = DatasetError;

    /// # Errors
    /// [`DatasetError::Incompatible`] if the two sets have different columns.
    fn try_from(Loaded { train, test }: Loaded) -> Result<Self, DatasetError> {
        match test {
            None => Ok(train),
            Some(test) => train.concat(&test),
        }
    }
}

#[derive(Deserialize)]
struct Manifest {
    datasets: Vec<Entry>,
}

impl Catalogue {
    /// Opens the catalogue in the folder given by the environment variable `RPO_DATA`.
    ///
    /// # Errors
    /// [`CatalogueError::NoFolder`] if it is not set, otherwise as for [`Catalogue::open`].
    pub fn from_env() -> Result<Self, CatalogueError> {
        let folder = std::env::var_os(CATALOGUE_VARIABLE).filter(|folder| !folder.is_empty());
        let folder = folder.ok_or(CatalogueError::NoFolder)?;
        Self::open(folder)
    }

    /// Opens the catalogue in a folder.
    ///
    /// # Errors
    /// [`CatalogueError::Io`], [`CatalogueError::Manifest`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, CatalogueError> {
        let folder = folder.as_ref();
        let path = folder.join(MANIFEST);
        let text = std::fs::read(&path).map_err(|e| io_error(&path, &e))?;
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|e| CatalogueError::Manifest {
            path,
            message: e.to_string(),
        })?;
        Ok(Self {
            folder: folder.to_owned(),
            entries: manifest.datasets,
        })
    }

    /// Returns the entry of a set.
    fn entry(&self, name: &str) -> Result<&Entry, CatalogueError> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| CatalogueError::UnknownName {
            name: name.to_owned(),
            names: self.entries.iter().map(|entry| entry.name.clone()).collect(),
        })
    }

    /// Returns the files of a set: the manifest and the files that it lists.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownName`].
    pub fn files(&self, name: &str) -> Result<Vec<PathBuf>, CatalogueError> {
        let listed = self.entry(name)?.files.iter().map(|file| file.file.as_path());
        let all = [Path::new(MANIFEST)].into_iter().chain(listed);
        Ok(all.map(|file| self.folder.join(file)).collect())
    }

    /// Compares the files of a set with the checksums of the manifest, where it has them, and returns the entry of the set.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownName`], [`CatalogueError::Io`], [`CatalogueError::Checksum`].
    pub fn verify(&self, name: &str) -> Result<&Entry, CatalogueError> {
        let entry = self.entry(name)?;
        for file in &entry.files {
            let Some(expected) = &file.sha256 else { continue };
            let path = self.folder.join(&file.file);
            let found = sha256(&path).map_err(|e| io_error(&path, &e))?;
            if !found.eq_ignore_ascii_case(expected) {
                let expected = expected.clone();
                return Err(CatalogueError::Checksum {
                    path,
                    expected,
                    found,
                });
            }
        }
        Ok(entry)
    }

    /// Reads a set and compares its files and its dimensions with the manifest.
    ///
    /// # Errors
    /// As for [`Catalogue::verify`], and [`CatalogueError::Manifest`] if the data file or the label file is not listed,
    /// [`CatalogueError::Read`], [`CatalogueError::Count`].
    pub fn load(&self, name: &str) -> Result<Loaded, CatalogueError> {
        let entry = self.verify(name)?;
        let (train, test) = match (entry.n_train, entry.n_test) {
            (Some(n_train), Some(n_test)) => {
                let test = self.load_part(entry, "-test", n_test)?;
                (self.load_part(entry, "-train", n_train)?, Some(test))
            }
            _ => {
                let n = entry
                    .n_samples
                    .ok_or_else(|| self.incomplete(entry, "does not give the number of samples"))?;
                (self.load_part(entry, "", n)?, None)
            }
        };
        Ok(Loaded { train, test })
    }

    fn load_part(&self, entry: &Entry, suffix: &str, n_samples: usize) -> Result<Dataset, CatalogueError> {
        let stem = format!("{}{suffix}", entry.name);
        let named =
            |wanted: &dyn Fn(&Path) -> bool| entry.files.iter().map(|f| f.file.as_path()).find(|f| wanted(f));
        let is_data = |file: &Path| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let extension = name.strip_prefix(&stem).and_then(|rest| rest.strip_prefix('.'));
            extension.is_some_and(|extension| extension != "xml" && !extension.is_empty())
        };
        let file = named(&is_data).ok_or_else(|| self.incomplete(entry, "lists no data file"))?;
        let targets = match &entry.label_columns {
            LabelColumns::Named { named_by } => {
                let is_label_file = |file: &Path| file.file_name().is_some_and(|n| *n == **named_by);
                let labels =
                    named(&is_label_file).ok_or_else(|| self.incomplete(entry, "lists no label file"))?;
                Targets::LabelFile(self.folder.join(labels))
            }
            LabelColumns::Counted { position, count } => match position {
                Position::First => Targets::First(*count),
                Position::Last => Targets::Last(*count),
            },
            LabelColumns::Marked(_) => Targets::None,
        };
        let path = self.folder.join(file);
        let is_counted = matches!(entry.label_columns, LabelColumns::Counted { .. });
        let options = ReadOptions {
            targets,
            task: is_counted.then_some(entry.task),
            ..ReadOptions::default()
        };
        let mut data = read(&path, &options)?;
        data.name.clone_from(&entry.name);
        for (what, expected, found) in [
            ("samples", n_samples, data.n_samples()),
            ("features", entry.n_features, data.n_features()),
            ("outputs", entry.n_outputs, data.n_outputs()),
        ] {
            if let Err(mismatch) = Mismatch::check(what, expected, found) {
                return Err(CatalogueError::Count { path, mismatch });
            }
        }
        Ok(data)
    }

    fn incomplete(&self, entry: &Entry, what: &str) -> CatalogueError {
        CatalogueError::Manifest {
            path: self.folder.join(MANIFEST),
            message: format!("data set {:?} {what}", entry.name),
        }
    }
}

fn io_error(path: &Path, e: &io::Error) -> CatalogueError {
    CatalogueError::Io {
        path: path.to_owned(),
        message: e.to_string(),
    }
}

/// Computes the SHA-256 of a file, in hexadecimal.
fn sha256(path: &Path) -> io::Result<String> {
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut hasher = Sha256::new();
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            break;
        }
        hasher.update(block);
        let length = block.len();
        reader.consume(length);
    }
    Ok(hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(manifest: &str, data: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("manifest.json"), manifest).unwrap();
        std::fs::write(folder.path().join("tiny.arff"), data).unwrap();
        folder
    }

    const LISTED: &str = r#"{"datasets": [{"name": "tiny", "task": "regression", "n": 2, "p": 1, "d": 1,
        "files": [{"file": "tiny.arff"}], "label_columns": {"position": "last", "count": 1}}]}"#;

    #[test]
    fn dimensions_and_checksums_are_compared() {
        let header = "@relation t\n@attribute x real\n@attribute y real\n@data\n1,2\n";
        let folder = folder(LISTED, header);
        let catalogue = Catalogue::open(folder.path()).unwrap();
        let path = folder.path().join("tiny.arff");
        assert_eq!(
            catalogue.files("tiny"),
            Ok(vec![folder.path().join("manifest.json"), path.clone()])
        );
        assert_eq!(
            catalogue.load("tiny"),
            Err(CatalogueError::Count {
                path: path.clone(),
                mismatch: Mismatch {
                    what: "samples",
                    expected: 2,
                    given: 1
                }
            })
        );
        std::fs::write(&path, "abc").unwrap();
        assert!(catalogue.verify("tiny").is_ok(), "no checksum is listed");
        let with_checksum = LISTED.replace("\"tiny.arff\"", "\"tiny.arff\", \"sha256\": \"0000\"");
        std::fs::write(folder.path().join(MANIFEST), with_checksum).unwrap();
        let catalogue = Catalogue::open(folder.path()).unwrap();
        // The test vector "abc" of FIPS 180-2.
        let found = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned();
        let expected = "0000".to_owned();
        let e = CatalogueError::Checksum {
            path,
            expected,
            found,
        };
        assert_eq!(catalogue.verify("tiny"), Err(e.clone()));
        assert_eq!(catalogue.load("tiny"), Err(e));
        assert_eq!(
            catalogue.entry("huge").unwrap_err(),
            CatalogueError::UnknownName {
                name: "huge".into(),
                names: vec!["tiny".into()]
            }
        );
    }

    #[test]
    fn a_broken_manifest_is_named() {
        let folder = folder(&LISTED.replace("regression", "clustering"), "");
        let e = Catalogue::open(folder.path()).unwrap_err();
        assert!(
            matches!(&e, CatalogueError::Manifest { message, .. } if message.contains("clustering")),
            "{e}"
        );
        assert!(matches!(
            Catalogue::open("/nonexistent"),
            Err(CatalogueError::Io { .. })
        ));
    }
}
