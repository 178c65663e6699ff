//! Paths that lead to open files of the process, such as `/dev/stdout`.
//!
//! The system resolves such a path to the file that was opened, as by `>> FILE` in a shell. Replacing that file would
//! lose what is in it, so it is written at the position of the open file.

use super::{MOST_LINKS, folder_of};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Folders of the process's open files.
const FOLDERS: [&str; 3] = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];
const OUTPUT: u32 = 1;
const ERROR: u32 = 2;

/// The number of an open file.
#[derive(Clone, Copy)]
pub(super) struct Descriptor(u32);

impl Descriptor {
    /// Follows the links of a path to an open file of the process.
    pub(super) fn find(path: &Path) -> Option<Self> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            if let Some(number) = number(&path) {
                return Some(Self(number));
            }
            path = folder_of(&path).join(fs::read_link(&path).ok()?);
        }
        None
    }

    pub(super) fn is_standard_output(self) -> bool {
        self.0 == OUTPUT
    }

    /// Duplicates the open file: both have one position.
    pub(super) fn open(self) -> io::Result<File> {
        let file = duplicate(self.0)?;
        check_writable(&file)?;
        Ok(file)
    }
}

fn number(path: &Path) -> Option<u32> {
    // These names mean the standard streams also where the system has no such files.
    match path.to_str()? {
        "/dev/stdout" => return Some(OUTPUT),
        "/dev/stderr" => return Some(ERROR),
        _ => {}
    }
    let name = path.file_name()?.to_str()?;
    if !name.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = name.parse().ok()?;
    let folder = fs::canonicalize(folder_of(path)).ok()?;
    let is_folder = |of_files: &&str| fs::canonicalize(of_files).is_ok_and(|of_files| of_files == folder);
    FOLDERS.iter().any(is_folder).then_some(number)
}

#[cfg(unix)]
fn duplicate(number: u32) -> io::Result<File> {
    use std::os::fd::AsFd;
    match number {
        OUTPUT => Ok(io::stdout().as_fd().try_clone_to_owned()?.into()),
        ERROR => Ok(io::stderr().as_fd().try_clone_to_owned()?.into()),
        // Linux opens the file anew, at its beginning, and macOS duplicates the open file.
        _ => shared(number).or_else(|_| {
            let path = Path::new(FOLDERS[0]).join(number.to_string());
            File::options().append(true).open(path)
        }),
    }
}

/// Duplicates an open file that has no owner in Rust.
#[cfg(target_os = "linux")]
fn shared(number: u32) -> io::Result<File> {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    let number = number.try_into().map_err(|_| io::ErrorKind::InvalidInput)?;
    let process = pidfd_open(getpid(), PidfdFlags::empty())?;
    Ok(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?.into())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn shared(_: u32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(windows)]
fn duplicate(number: u32) -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    match number {
        OUTPUT => Ok(io::stdout().as_handle().try_clone_to_owned()?.into()),
        ERROR => Ok(io::stderr().as_handle().try_clone_to_owned()?.into()),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Refuses a file that is open for reading alone, before anything is computed.
#[cfg(unix)]
fn check_writable(file: &File) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl};
    match fcntl_getfl(file)? & OFlags::RWMODE {
        OFlags::RDONLY => Err(rustix::io::Errno::BADF.into()),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_writable(_: &File) -> io::Result<()> {
    Ok(())
}
