//! Writing a model where it belongs, all of it or nothing.

use super::encode;
use super::error::{ModelFileError, ModelFileErrorKind as Kind};
use crate::Model;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

const BUFFER: usize = 1 << 20;

/// A place that a model will be saved to.
///
/// Making one before a long training finds out early whether the place can be written to; nothing is at the
/// place, and an earlier file stays, until [`save`](Self::save) succeeds.
#[derive(Debug)]
pub struct ModelTarget {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A file: written beside `target` and renamed.
    File {
        temporary: NamedTempFile,
        target: PathBuf,
    },
    /// A device or a pipe, which renaming would replace: written directly.
    Stream(File),
}

impl ModelTarget {
    /// Makes ready to save to a path.
    ///
    /// # Errors
    /// [`ModelFileError`] if the path is a folder, or its folder does not exist or cannot be written to.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, ModelFileError> {
        let path = path.as_ref().to_owned();
        let place = prepare(&path).map_err(|kind| ModelFileError::from(kind).in_file(&path))?;
        Ok(Self { path, place })
    }

    /// Saves a model and returns the number of bytes written.
    ///
    /// # Errors
    /// As [`Model::save`].
    pub fn save(self, model: &Model) -> Result<u64, ModelFileError> {
        let Self { path, place } = self;
        save(place, model).map_err(|kind| ModelFileError::from(kind).in_file(&path))
    }
}

fn prepare(path: &Path) -> Result<Place, Kind> {
    let earlier = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(Kind::IsFolder),
        Ok(metadata) if !metadata.is_file() => {
            let stream = OpenOptions::new().write(true).open(path);
            return Ok(Place::Stream(
                stream.map_err(|e| Kind::io("open for writing", &e))?,
            ));
        }
        Ok(metadata) => Some(metadata.permissions()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(Kind::io("write", &e)),
    };
    // Behind a link, the file it leads to is the one to replace.
    let target = match &earlier {
        Some(_) => fs::canonicalize(path).map_err(|e| Kind::io("resolve", &e))?,
        None => path.to_owned(),
    };
    let folder = folder_of(&target);
    let mut builder = Builder::new();
    builder.prefix(".rpo-").suffix(".part");
    #[cfg(unix)]
    {
        // What creating the file directly would give; temporary files are private otherwise.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let temporary = builder
        .tempfile_in(folder)
        .map_err(|e| Kind::io("create a file in its folder", &e))?;
    if let Some(permissions) = earlier {
        let file = temporary.as_file();
        file.set_permissions(permissions)
            .map_err(|e| Kind::io("keep the permissions of the earlier file", &e))?;
    }
    Ok(Place::File { temporary, target })
}

fn save(place: Place, model: &Model) -> Result<u64, Kind> {
    let container = encode(model)?;
    let write = |file: &File| {
        let mut out = BufWriter::with_capacity(BUFFER, file);
        container.write(&mut out)?;
        out.flush()
    };
    match place {
        Place::Stream(file) => write(&file).map_err(|e| Kind::io("write", &e))?,
        Place::File { temporary, target } => {
            write(temporary.as_file()).map_err(|e| Kind::io("write", &e))?;
            temporary
                .as_file()
                .sync_all()
                .map_err(|e| Kind::io("flush to the disk", &e))?;
            temporary
                .persist(&target)
                .map_err(|e| Kind::io("rename the finished file", &e.error))?;
            sync_folder(folder_of(&target)).map_err(|e| Kind::io("flush the folder to the disk", &e))?;
        }
    }
    Ok(container.n_bytes())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes a renaming last, where the system lets folders be flushed.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
