//! Limits on memory and on the number of threads.

use std::borrow::Cow;

/// A memory limit that would be exceeded, reported before anything is allocated. Every crate's error has a variant for
/// it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} would take {bytes} bytes of memory; the limit is {limit}")]
pub struct MemoryLimit {
    /// The object that would take the memory, with its size.
    pub what: Cow<'static, str>,
    /// The memory it would take, in bytes; `usize::MAX` if the number is larger than that.
    pub bytes: usize,
    /// The memory limit, in bytes.
    pub limit: usize,
}

impl MemoryLimit {
    /// Returns an error if `bytes` exceeds the limit; `what` is only called for an error.
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

/// Returns the number of threads to start for a request of `wanted`, where 0 stands for one per processor. The limit is
/// four per processor, but at least sixteen: more would only wait for each other, and no result depends on their
/// number.
pub fn useful_threads(wanted: usize) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    wanted.min(4 * processors.max(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_threads_are_as_wanted_and_many_are_not() {
        assert_eq!([0, 1, 16].map(useful_threads), [0, 1, 16]);
        let most = useful_threads(usize::MAX);
        assert!((16..100_000).contains(&most), "{most}");
    }
}
