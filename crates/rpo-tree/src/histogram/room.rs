//! The memory of histograms.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Most bytes of the histograms that all trees on the same features keep together, including those that are being filled
/// and those that wait for use, but not what threads that fill one together sum apart: 256 MiB. Some hundred nodes of 100
/// features with 255 bins and ten outputs fit into it, more than the leaves of a boosted tree. A node for which no room is
/// left is searched without a histogram, so that the limit changes no tree.
pub(super) const MOST_BYTES: usize = 256 << 20;

/// Bytes that histograms may take.
#[derive(Debug)]
pub(super) struct Room {
    most: usize,
    taken: AtomicUsize,
}

impl Room {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            taken: AtomicUsize::new(0),
        })
    }

    /// Returns the bytes that histograms take now.
    #[cfg(test)]
    pub(super) fn taken(&self) -> usize {
        self.taken.load(Relaxed)
    }

    /// Returns the most bytes that histograms may take.
    #[cfg(test)]
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Returns an empty histogram that may grow to some bytes, if there is room for it.
    pub(super) fn take<H: Default>(self: &Arc<Self>, bytes: usize) -> Option<Held<H>> {
        let with = |taken: usize| taken.checked_add(bytes).filter(|taken| *taken <= self.most);
        self.taken.fetch_update(Relaxed, Relaxed, with).ok()?;
        Some(Held {
            histogram: H::default(),
            bytes,
            room: Arc::clone(self),
        })
    }
}

/// A histogram whose bytes are counted as long as it exists.
#[derive(Debug)]
pub(super) struct Held<H> {
    histogram: H,
    bytes: usize,
    room: Arc<Room>,
}

impl<H> Held<H> {
    /// Returns true if the histogram may grow to some bytes.
    pub(super) fn has(&self, bytes: usize) -> bool {
        bytes <= self.bytes
    }
}

impl<H> Drop for Held<H> {
    fn drop(&mut self) {
        self.room.taken.fetch_sub(self.bytes, Relaxed);
    }
}

impl<H> Deref for Held<H> {
    type Target = H;

    fn deref(&self) -> &H {
        &self.histogram
    }
}

impl<H> DerefMut for Held<H> {
    fn deref_mut(&mut self) -> &mut H {
        &mut self.histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exists_is_counted() {
        let room = Room::new(100);
        let first = room.take::<Vec<u8>>(60).unwrap();
        assert!(room.take::<Vec<u8>>(41).is_none());
        assert!(room.take::<Vec<u8>>(usize::MAX).is_none());
        let second = room.take::<Vec<u8>>(40).unwrap();
        assert_eq!((room.taken(), first.has(60), first.has(61)), (100, true, false));
        drop(first);
        assert_eq!(room.taken(), 40);
        drop(second);
        assert!(room.take::<Vec<u8>>(100).is_some());
    }
}
