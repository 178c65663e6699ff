//! Files that are not whole yet: `.rpo-*.part` beside their place.
//!
//! Each is locked as long as it is written, so that one without a lock is what a process left that was killed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, TempPath};

const PREFIX: &str = ".rpo-";
const SUFFIX: &str = ".part";
/// Files that are begun before another process stops taking them for left behind.
const MOST_TRIES: usize = 100;

/// The files that this process writes: where they are, and what for.
static PARTS: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());

fn parts() -> MutexGuard<'static, BTreeMap<PathBuf, PathBuf>> {
    // Nothing panics while it holds the lock, and entries are whole at any time.
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is removed when dropped, unless it was given its name.
#[derive(Debug)]
pub(super) struct Part(Option<TempPath>);

impl Part {
    /// Makes a file in a folder, for what is written to `path`. Removes what killed processes left there.
    pub(super) fn create(folder: &Path, path: &Path) -> io::Result<(File, Self)> {
        remove_abandoned(folder);
        let mut builder = Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            // What creating the file directly would give; temporary files are private otherwise.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut parts = parts();
        for _ in 0..MOST_TRIES {
            let (file, temporary) = builder.tempfile_in(folder)?.into_parts();
            // Between the two another process may have found it without a lock, and removed it.
            if lock(&file) != Lock::Held && temporary.exists() {
                parts.insert(temporary.to_path_buf(), path.to_owned());
                return Ok((file, Self(Some(temporary))));
            }
        }
        Err(io::Error::from(io::ErrorKind::WouldBlock))
    }

    /// Gives the file its name.
    pub(super) fn persist(mut self, target: &Path) -> io::Result<()> {
        let mut parts = parts();
        let temporary = self.0.take().expect("taken here and on drop alone");
        parts.remove(&*temporary);
        temporary.persist(target).map_err(|e| e.error)
    }
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

/// Removes the files of this process and calls `last` with what they were for, before any other is begun or finished.
pub(super) fn abandon_all(last: impl FnOnce(&[PathBuf])) {
    let mut parts = parts();
    let mut paths = Vec::new();
    while let Some((part, path)) = parts.pop_first() {
        // What cannot be removed is so when another file is written.
        let _ = fs::remove_file(part);
        paths.push(path);
    }
    last(&paths);
}

/// Removes files of a folder that nobody holds. None of this matters to what is written: errors are ignored.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !(name.starts_with(PREFIX) && name.ends_with(SUFFIX)) {
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

/// Whether a file is locked.
#[derive(PartialEq)]
enum Lock {
    /// By this call, until the file is closed.
    Taken,
    /// By someone else.
    Held,
    /// Nobody knows: the system does not lock such files.
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
