//! The error of memory that nobody meant to ask for.

use std::borrow::Cow;

/// Memory beyond a limit, refused before anything is allocated: every crate's error has a variant for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} would take {bytes} bytes of memory; the limit is {limit}")]
pub struct MemoryLimit {
    /// What would take the memory, with its size.
    pub what: Cow<'static, str>,
    /// The memory it would take, in bytes; `usize::MAX` for more than that.
    pub bytes: usize,
    /// The memory it may take, in bytes.
    pub limit: usize,
}

impl MemoryLimit {
    /// Returns an error unless `bytes` are within the limit; `what` is only called for an error.
    ///
    /// # Errors
    /// [`MemoryLimit`].
    pub fn check<W: Into<Cow<'static, str>>>(
        bytes: usize,
        limit: usize,
        what: impl FnOnce() -> W,
    ) -> Result<(), Self> {
        if bytes <= limit {
            return Ok(());
        }
        let what = what().into();
        Err(Self { what, bytes, limit })
    }
}
