//! Incomplete files: `.rpo-*.part` in the folder of the final file.
//!
//! Each is locked while it is written, so an unlocked one was left by a killed process.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, TempPath};

const PREFIX: &str = ".rpo-";
const SUFFIX: &str = ".part";
/// Largest number of attempts to create a file while other processes remove it as abandoned.
const MOST_TRIES: usize = 100;

/// The incomplete files of this process, with the paths they are for.
static PARTS: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());

fn parts() -> MutexGuard<'static, BTreeMap<PathBuf, PathBuf>> {
    // No code panics while it holds the lock, and entries are always complete.
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is removed when dropped, unless it was given its final name.
#[derive(Debug)]
pub(super) struct Part(Option<TempPath>);

impl Part {
    /// Creates a file in a folder, to be renamed to `path`, which only its owner can open if it is private. Removes the
    /// files that killed processes left there.
    pub(super) fn create(folder: &Path, path: &Path, is_private: bool) -> io::Result<(File, Self)> {
        remove_abandoned(folder);
        let mut builder = Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            // Otherwise it has the permissions of a file created directly.
            use std::os::unix::fs::PermissionsExt;
            let mode = if is_private { 0o600 } else { 0o666 };
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        let mut parts = parts();
        for _ in 0..MOST_TRIES {
            let (file, temporary) = builder.tempfile_in(folder)?.into_parts();
            // Before it was locked, another process may have found and removed it.
            if lock(&file) != Lock::Held && temporary.exists() {
                parts.insert(temporary.to_path_buf(), path.to_owned());
                return Ok((file, Self(Some(temporary))));
            }
        }
        Err(io::Error::from(io::ErrorKind::WouldBlock))
    }

    /// Gives the file its final name, or writes its content into the file of that name if the system does not rename
    /// over that. If neither succeeds, returns the error of renaming and the name under which the file is kept, if it
    /// still has one.
    pub(super) fn persist(mut self, file: &File, target: &Path) -> Result<(), (io::Error, Option<PathBuf>)> {
        // Held until the end: a signal must not end the process while it writes over the earlier file.
        let mut parts = parts();
        let temporary = self.0.take().expect("taken here and on drop alone");
        parts.remove(&*temporary);
        let Err(failed) = temporary.persist(target) else {
            return Ok(());
        };
        match write_into(target, file) {
            Ok(()) => Ok(()),
            Err(_) => Err((failed.error, keep(failed.path, target))),
        }
    }
}

/// Writes the content of a finished file over that of another.
fn write_into(target: &Path, mut file: &File) -> io::Result<()> {
    file.rewind()?;
    let mut earlier = File::options().write(true).truncate(true).open(target)?;
    io::copy(&mut file, &mut earlier)?;
    earlier.sync_all()
}

/// Gives a finished file a visible name beside its target that no file has: hidden ones are removed as abandoned.
fn keep(mut temporary: TempPath, target: &Path) -> Option<PathBuf> {
    for i in 0..MOST_TRIES {
        let mut name = target.file_name()?.to_owned();
        name.push(match i {
            0 => ".complete".to_owned(),
            i => format!(".complete-{i}"),
        });
        let name = target.with_file_name(name);
        temporary = match temporary.persist_noclobber(&name) {
            Ok(()) => return Some(name),
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => e.path,
            // The folder may have become read-only: then other processes do not remove the file from it either.
            Err(e) => return e.path.keep().ok().filter(|path| path.exists()),
        };
    }
    temporary.keep().ok()
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(temporary) = self.0.take() {
            let mut parts = parts();
            parts.remove(&*temporary);
            drop(temporary);
        }
    }
}

/// Removes the files of this process and calls `last` with their intended paths, before another file can be created or
/// finished.
pub(super) fn abandon_all(last: impl FnOnce(&[PathBuf])) {
    let mut parts = parts();
    let mut paths = Vec::new();
    while let Some((part, path)) = parts.pop_first() {
        // A file that cannot be removed now is removed when another file is written.
        let _ = fs::remove_file(part);
        paths.push(path);
    }
    last(&paths);
}

/// Removes files of a folder that no process holds. Errors are ignored, as they do not affect the file to be written.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with(PREFIX) && name.ends_with(SUFFIX)) {
            continue;
        }
        // To open a pipe waits for whoever reads it.
        if !entry.file_type().is_ok_and(|of| of.is_file()) {
            continue;
        }
        let path = entry.path();
        if let Ok(file) = File::options().write(true).open(&path)
            && lock(&file) == Lock::Taken
        {
            let _ = fs::remove_file(&path);
        }
    }
}

/// The state of a file's lock.
#[derive(PartialEq)]
enum Lock {
    /// This call took the lock, until the file is closed.
    Taken,
    /// Another process holds the lock.
    Held,
    /// The state is unknown: the system does not lock such files.
    Unknown,
}

#[cfg(unix)]
fn lock(file: &File) -> Lock {
    use rustix::fs::{FlockOperation, flock};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Lock::Taken,
        Err(rustix::io::Errno::WOULDBLOCK) => Lock::Held,
        Err(_) => Lock::Unknown,
    }
}

#[cfg(not(unix))]
fn lock(_: &File) -> Lock {
    Lock::Unknown
}
