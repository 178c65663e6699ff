//! Writes a file atomically: the whole file or nothing.

mod descriptor;
mod part;

use descriptor::Descriptor;
use part::Part;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const BUFFER: usize = 1 << 20;
/// Largest number of symbolic links followed to a file that does not exist yet, as in the system.
const MOST_LINKS: usize = 40;

/// Reason why a file could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The path of the file is a folder.
    #[error("{}: cannot write: it is a folder", path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The system returned an error, for instance because the disk is full.
    #[error("{}: cannot {action}: {message}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The failed action, such as "write".
        action: &'static str,
        /// The kind of error.
        kind: io::ErrorKind,
        /// The message of the system.
        message: String,
    },
    /// The finished file could neither be renamed to its path nor written into the file there.
    #[error(
        "{}: cannot rename the finished file: {message}; it is {}",
        path.display(),
        kept.display()
    )]
    Kept {
        /// The path that the file was to have.
        path: PathBuf,
        /// The path that it has.
        kept: PathBuf,
        /// The kind of error.
        kind: io::ErrorKind,
        /// The message of the system.
        message: String,
    },
}

/// A file that appears under its name only when it is complete.
///
/// The file is written in its final folder, flushed to the disk and renamed by [`finish`](Self::finish). Until then,
/// and if anything fails or the target is dropped, an earlier file is unchanged. If the path is a symbolic link, the
/// file it leads to is replaced, or created if the link dangles. Devices, pipes and the open files of the process, such
/// as `/dev/stdout` and `/dev/fd/3`, are written to directly. [`check`](Self::check) tests before a long computation
/// that a path can be written to.
///
/// Where the system does not rename over the earlier file (one that is mounted by itself, or belongs to another user
/// in a sticky folder), the content is written into it; if that fails too, the finished file stays under another name
/// ([`TargetError::Kept`]).
///
/// Unfinished files of killed processes, `.rpo-*.part`, are removed when another file is written to that folder (if the
/// system locks files: not on Windows). [`abandon_all`](Self::abandon_all) is for a process that is about to end.
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
    /// The unfinished file, and its final path; `None` for devices, pipes and open files.
    rename: Option<(Part, PathBuf)>,
}

impl FileTarget {
    /// Prepares writing to a path.
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

    /// Checks that a file could be written to a path, without creating it.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn check(path: impl AsRef<Path>) -> Result<(), TargetError> {
        // Opening and closing a named pipe would signal its end to the reader.
        match fs::metadata(path.as_ref()) {
            Ok(metadata)
                if !metadata.is_dir() && !metadata.is_file() && Descriptor::find(path.as_ref()).is_none() =>
            {
                Ok(())
            }
            _ => Self::new(path).map(drop),
        }
    }

    /// Returns true for a path that leads to standard output, such as `/dev/stdout`.
    pub fn is_standard_output(path: impl AsRef<Path>) -> bool {
        Descriptor::find(path.as_ref()).is_some_and(Descriptor::is_standard_output)
    }

    /// Resolves the symbolic links of a path, whether the file exists or not, so that all paths to a file have the same
    /// place. `None` for devices, pipes and open files, which are not replaced, and if the folder does not exist.
    pub fn place(path: impl AsRef<Path>) -> Option<PathBuf> {
        let path = path.as_ref();
        if Descriptor::find(path).is_some() {
            return None;
        }
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

    /// Removes the unfinished files of this process and calls `last` with their intended paths. All other targets wait
    /// meanwhile, and `last` is expected to end the process; signal handlers call this.
    pub fn abandon_all(last: impl FnOnce(&[PathBuf])) {
        part::abandon_all(last);
    }

    /// Flushes everything to the disk and gives the file its name.
    ///
    /// # Errors
    /// [`TargetError::Io`], or [`TargetError::Kept`] if the file is complete under another name.
    pub fn finish(self) -> Result<(), TargetError> {
        let Self { path, out, rename } = self;
        let error = |action, e: &io::Error| io_error(&path, action, e);
        let file = out.into_inner().map_err(|e| error("write", e.error()))?;
        if let Some((part, target)) = rename {
            file.sync_all().map_err(|e| error("flush to the disk", &e))?;
            part.persist(&file, &target).map_err(|(e, kept)| match kept {
                Some(kept) => TargetError::Kept {
                    path: path.clone(),
                    kept,
                    kind: e.kind(),
                    message: message(&e),
                },
                None => error("rename the finished file", &e),
            })?;
            // Closing the file releases the lock that kept other processes from removing the part.
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
            TargetError::Io { kind, .. } | TargetError::Kept { kind, .. } => *kind,
        };
        Self::new(kind, e)
    }
}

fn open(path: &Path) -> Result<(File, Option<(Part, PathBuf)>), TargetError> {
    let error = |action, e: &io::Error| io_error(path, action, e);
    if let Some(descriptor) = Descriptor::find(path) {
        return Ok((descriptor.open().map_err(|e| error("write", &e))?, None));
    }
    let earlier = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let path = path.to_owned();
            return Err(TargetError::IsFolder { path });
        }
        Ok(metadata) if !metadata.is_file() => {
            let stream = OpenOptions::new().write(true).open(path);
            return Ok((stream.map_err(|e| error("write", &e))?, None));
        }
        Ok(metadata) => Some(metadata),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(error("write", &e)),
    };
    let target = match &earlier {
        Some(_) => fs::canonicalize(path).map_err(|e| error("write", &e))?,
        None => end_of_links(path),
    };
    // Whoever could not read the earlier file must not be able to open this one, not even before its permissions are set.
    let (file, part) = Part::create(folder_of(&target), path, earlier.is_some())
        .map_err(|e| error("write into its folder", &e))?;
    if let Some(earlier) = earlier {
        let kept = keep_access(&file, &earlier);
        kept.map_err(|e| error("keep the permissions of the earlier file", &e))?;
    }
    Ok((file, Some((part, target))))
}

/// Gives a file the owner, the group and the permissions of the earlier one, so that who could read that can read it, as
/// far as the system allows this process to.
#[cfg(unix)]
fn keep_access(file: &File, earlier: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    // Only privileged processes give files away; others may give them to a group that they are in.
    let is_of_group = fchown(file, Some(earlier.uid()), Some(earlier.gid())).is_ok()
        || fchown(file, None, Some(earlier.gid())).is_ok();
    let mut permissions = earlier.permissions();
    if !is_of_group {
        // Those of another group are not for this one.
        permissions.set_mode(permissions.mode() & !0o070);
    }
    file.set_permissions(permissions)
}

#[cfg(not(unix))]
fn keep_access(file: &File, earlier: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(earlier.permissions())
}

/// The end of a chain of symbolic links to a file that does not exist; the path itself if it is not a link.
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
        message: message(e),
    }
}

/// The message of the system. The wrapper of its error adds the path of the temporary file, which is of no interest to
/// users.
fn message(e: &io::Error) -> String {
    let text = e.to_string();
    match text.split_once(" at path ") {
        Some((of_system, _)) => of_system.to_owned(),
        None => text,
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes a renaming durable, if the system supports flushing folders and this process may read the folder: the file is
/// complete without it.
fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    if cfg!(unix) {
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            Err(e) if matches!(e.kind(), InvalidInput | PermissionDenied | Unsupported) => {}
            flushed => flushed?,
        }
    }
    Ok(())
}
