//! Writing a file where it belongs, all of it or nothing.

mod part;

use part::Part;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const BUFFER: usize = 1 << 20;
/// Symbolic links that are followed to a file that does not exist yet; the system follows as many.
const MOST_LINKS: usize = 40;

/// Why a file could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// A folder where a file is to be written.
    #[error("{}: cannot write: it is a folder", path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The system refuses, for instance because the disk is full.
    #[error("{}: cannot {action}: {message}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// "write" and the like.
        action: &'static str,
        /// The kind of error.
        kind: io::ErrorKind,
        /// What the system says.
        message: String,
    },
}

/// A file that appears under its name only when it is whole.
///
/// It is written beside its place, flushed to the disk and renamed by [`finish`](Self::finish); until then, and
/// if anything fails or the target is dropped, an earlier file stays as it was. Behind a symbolic link the file
/// it leads to is replaced, or made if the link dangles; devices and pipes are written to directly.
/// [`check`](Self::check) finds out before a long computation whether the place can be written to.
///
/// What a process that was killed left of its file, `.rpo-*.part`, is removed when another file is written to that
/// folder (where the system locks files: not on Windows). [`abandon_all`](Self::abandon_all) is for a process that is
/// about to end.
///
/// ```
/// use rpo::FileTarget;
/// use std::io::Write;
/// let folder = std::env::temp_dir();
/// let path = folder.join(format!("rpo-target-{}", std::process::id()));
/// let mut target = FileTarget::new(&path)?;
/// target.write_all(b"content")?;
/// assert!(!path.exists());
/// target.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"content");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileTarget {
    path: PathBuf,
    out: BufWriter<File>,
    /// Where the file is until it is finished, and where it goes; `None` for devices and pipes.
    rename: Option<(Part, PathBuf)>,
}

impl FileTarget {
    /// Makes ready to write to a path.
    ///
    /// # Errors
    /// [`TargetError`] if the path is a folder, or its folder does not exist or cannot be written to.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, TargetError> {
        let path = path.as_ref().to_owned();
        let (file, rename) = open(&path)?;
        Ok(Self {
            path,
            out: BufWriter::with_capacity(BUFFER, file),
            rename,
        })
    }

    /// Finds out whether a file could be written to a path, and leaves nothing there.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn check(path: impl AsRef<Path>) -> Result<(), TargetError> {
        // Opening and closing a pipe would tell its reader that this was all.
        match fs::metadata(path.as_ref()) {
            Ok(metadata) if !metadata.is_dir() && !metadata.is_file() => Ok(()),
            _ => Self::new(path).map(drop),
        }
    }

    /// Where a path leads once symbolic links are followed, be a file there or not: paths of one file have one place. `None`
    /// for devices and pipes, which nothing replaces, and where there is no such folder.
    pub fn place(path: impl AsRef<Path>) -> Option<PathBuf> {
        let path = path.as_ref();
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() || metadata.is_dir() => fs::canonicalize(path).ok(),
            Ok(_) => None,
            Err(_) => {
                let end = end_of_links(path);
                let folder = fs::canonicalize(folder_of(&end)).ok()?;
                Some(folder.join(end.file_name()?))
            }
        }
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// [`TargetError::Io`].
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), TargetError> {
        self.out
            .write_all(bytes)
            .map_err(|e| io_error(&self.path, "write", &e))
    }

    /// Removes the unfinished files of this process and calls `last` with the paths that they were for. Every other
    /// target waits meanwhile, and `last` is expected to end the process: what handles a signal calls this.
    pub fn abandon_all(last: impl FnOnce(&[PathBuf])) {
        part::abandon_all(last);
    }

    /// Brings everything to the disk and gives the file its name.
    ///
    /// # Errors
    /// [`TargetError::Io`].
    pub fn finish(self) -> Result<(), TargetError> {
        let Self { path, out, rename } = self;
        let error = |action, e: &io::Error| io_error(&path, action, e);
        let file = out.into_inner().map_err(|e| error("write", e.error()))?;
        if let Some((part, target)) = rename {
            file.sync_all().map_err(|e| error("flush to the disk", &e))?;
            part.persist(&target)
                .map_err(|e| error("rename the finished file", &e))?;
            // Its lock, which keeps other processes from removing the part, goes with it.
            drop(file);
            sync_folder(folder_of(&target)).map_err(|e| error("flush the folder to the disk", &e))?;
        }
        Ok(())
    }
}

impl Write for FileTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes).map_err(io::Error::from)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        flushed.map_err(|e| io_error(&self.path, "write", &e).into())
    }
}

impl From<TargetError> for io::Error {
    fn from(e: TargetError) -> Self {
        let kind = match &e {
            TargetError::IsFolder { .. } => io::ErrorKind::IsADirectory,
            TargetError::Io { kind, .. } => *kind,
        };
        Self::new(kind, e)
    }
}

fn open(path: &Path) -> Result<(File, Option<(Part, PathBuf)>), TargetError> {
    let error = |action, e: &io::Error| io_error(path, action, e);
    let earlier = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let path = path.to_owned();
            return Err(TargetError::IsFolder { path });
        }
        Ok(metadata) if !metadata.is_file() => {
            let stream = OpenOptions::new().write(true).open(path);
            return Ok((stream.map_err(|e| error("write", &e))?, None));
        }
        Ok(metadata) => Some(metadata.permissions()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(error("write", &e)),
    };
    let target = match &earlier {
        Some(_) => fs::canonicalize(path).map_err(|e| error("write", &e))?,
        None => end_of_links(path),
    };
    let (file, part) =
        Part::create(folder_of(&target), path).map_err(|e| error("write into its folder", &e))?;
    if let Some(permissions) = earlier {
        let kept = file.set_permissions(permissions);
        kept.map_err(|e| error("keep the permissions of the earlier file", &e))?;
    }
    Ok((file, Some((part, target))))
}

/// Where symbolic links lead that end at nothing: the path itself if it is none.
fn end_of_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => break,
        }
    }
    path
}

fn io_error(path: &Path, action: &'static str, e: &io::Error) -> TargetError {
    TargetError::Io {
        path: path.to_owned(),
        action,
        kind: e.kind(),
        // What wraps the system's own error names the temporary file, which is nobody's concern.
        message: match e.raw_os_error() {
            Some(_) => e.to_string(),
            None => e.kind().to_string(),
        },
    }
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
