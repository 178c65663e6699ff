//! Buffers that nodes and trees share.

use super::categories::Scratches;
use super::room::{Held, Room};
use super::scalar::Scalar;
use super::search::{Found, Offered, Sums};
use super::sparse::SparseBins;
use super::touched::Touched;
use super::vector::Vector;
use crate::splitter::candidates::FeatureDraw;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Buffers of a [`HistogramSplitter`](super::HistogramSplitter), one per thread. Any splitter on the same features may
/// reuse them, so that a tree of a boosted model allocates nothing that depends on the features.
#[derive(Debug)]
pub struct HistogramWorkspace {
    pub(super) common: Common,
    pub(super) packed: Work<Scalar<i64>>,
    pub(super) narrow: Work<Scalar<[i32; 2]>>,
    pub(super) wide: Work<Scalar<[i64; 2]>>,
    pub(super) few: Work<Vector<i32, 4>>,
    pub(super) several: Work<Vector<i32, 8>>,
    pub(super) many: Work<Vector<i32, 16>>,
    pub(super) long: Work<Vector<i64, 8>>,
}

/// Buffers that do not depend on the targets.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) draw: FeatureDraw,
    /// The drawn features of nodes that are searched together.
    pub(super) drawn: [Vec<u32>; TOGETHER],
    /// One mark per training row; 0 between calls.
    pub(super) marks: Vec<u8>,
    /// What nodes of sparse features that are searched together touch.
    pub(super) touched: TouchedLists,
}

/// Buffers for nodes of sparse features that are searched [without a histogram](super::touched).
#[derive(Debug, Default)]
pub(super) struct TouchedLists {
    pub(super) of_nodes: [Touched; TOGETHER],
    /// The features to search.
    pub(super) searched: [Vec<Offered>; TOGETHER],
    /// A number per stored bin; 0 between calls.
    pub(super) counts: Vec<u32>,
    /// By feature, 1 plus its position in the draw of a node; 0 between calls.
    pub(super) places: Vec<u32>,
}

impl TouchedLists {
    /// Lists what the rows of nodes touch, and which of those features are searched: all, or those drawn.
    pub(super) fn list<'r>(
        &mut self,
        bins: &SparseBins,
        nodes: impl Iterator<Item = &'r [u32]>,
        drawn: Option<&[Vec<u32>]>,
    ) {
        self.places.resize(bins.n_features(), 0);
        for (i, rows) in nodes.enumerate() {
            let (touched, searched) = (&mut self.of_nodes[i], &mut self.searched[i]);
            touched.list(bins, rows, &mut self.counts);
            let of = |touched, drawn| Offered { touched, drawn };
            searched.clear();
            let Some(drawn) = drawn.map(|drawn| &drawn[i]) else {
                searched.extend((0..touched.len() as u32).map(|i| of(i, 0)));
                continue;
            };
            let places = &mut self.places;
            for (place, &feature) in (1..).zip(drawn) {
                places[feature as usize] = place;
            }
            searched.extend((0..touched.len()).filter_map(|i| {
                let place = places[touched.feature(i) as usize];
                Some(of(i as u32, place.checked_sub(1)?))
            }));
            drawn.iter().for_each(|&feature| places[feature as usize] = 0);
        }
    }
}

/// Most nodes that are searched together: the children of one node.
pub(super) const TOGETHER: usize = 2;

/// Results of searched nodes, and buffers.
pub(super) struct Work<S: Sums> {
    /// Targets of nodes that are searched together.
    pub(super) gathered: [S::Gathered; TOGETHER],
    pub(super) scratches: Scratches<S>,
    kept: Arc<Mutex<Kept<S>>>,
}

/// What the threads that grow a tree share.
struct Kept<S: Sums> {
    free: Vec<Held<S::Histogram>>,
    searched: BTreeMap<usize, Searched<S>>,
}

/// A node that was searched.
pub(super) struct Searched<S: Sums> {
    /// Its best split and the gain of that split, if one is good enough.
    pub(super) best: Option<(Found, f64)>,
    /// Its sums, if they cover all features and are kept.
    pub(super) sums: Option<Whole<S>>,
}

/// Sums of a node over all features, per bin and in total.
pub(super) type Whole<S> = (Held<<S as Sums>::Histogram>, <S as Sums>::Total);

impl<S: Sums> Default for Work<S> {
    fn default() -> Self {
        Self {
            gathered: Default::default(),
            scratches: Scratches::default(),
            kept: Arc::new(Mutex::new(Kept {
                free: Vec::new(),
                searched: BTreeMap::new(),
            })),
        }
    }
}

impl<S: Sums> std::fmt::Debug for Work<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.kept();
        let (free, searched) = (kept.free.len(), kept.searched.len());
        write!(f, "Work {{ {free} histograms free, {searched} nodes searched }}")
    }
}

impl HistogramWorkspace {
    pub(super) fn new(features: Vec<u32>) -> Self {
        Self {
            common: Common::new(FeatureDraw::new(features)),
            packed: Work::default(),
            narrow: Work::default(),
            wide: Work::default(),
            few: Work::default(),
            several: Work::default(),
            many: Work::default(),
            long: Work::default(),
        }
    }

    /// Returns buffers for another thread that grows the same trees.
    pub(super) fn beside(&self) -> Self {
        Self {
            common: Common::new(self.common.draw.clone()),
            packed: self.packed.beside(),
            narrow: self.narrow.beside(),
            wide: self.wide.beside(),
            few: self.few.beside(),
            several: self.several.beside(),
            many: self.many.beside(),
            long: self.long.beside(),
        }
    }
}

impl Common {
    fn new(draw: FeatureDraw) -> Self {
        Self {
            draw,
            drawn: Default::default(),
            marks: Vec::new(),
            touched: TouchedLists::default(),
        }
    }
}

impl<S: Sums> Work<S> {
    /// Returns buffers for another thread that grows the same trees.
    fn beside(&self) -> Self {
        Self {
            kept: Arc::clone(&self.kept),
            ..Self::default()
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept<S>> {
        self.kept
            .lock()
            .expect("no thread panics while it holds the nodes")
    }

    /// Discards the nodes of an earlier tree, and unused histograms unless the next tree uses this representation of
    /// targets: others may need the room.
    pub(super) fn begin(&mut self, is_used: bool) {
        let Kept { free, searched } = &mut *self.kept();
        let left = std::mem::take(searched).into_values();
        free.extend(left.filter_map(|searched| Some(searched.sums?.0)));
        if !is_used {
            free.clear();
        }
    }

    /// Returns a histogram to be filled, of some bytes, if there is room for it.
    pub(super) fn take_free(&mut self, bytes: usize, room: &Arc<Room>) -> Option<Held<S::Histogram>> {
        let mut kept = self.kept();
        while let Some(held) = kept.free.pop() {
            // Others are dropped: they are too small for the targets of this tree.
            if held.has(bytes) {
                return Some(held);
            }
        }
        room.take(bytes)
    }

    /// Returns the histogram of a node that no longer needs it, if it has one, to the free list.
    pub(super) fn give_back(&mut self, sums: Option<Whole<S>>) {
        if let Some((histogram, _)) = sums {
            self.kept().free.push(histogram);
        }
    }

    /// Removes and returns the result of a node, if it was searched and kept.
    pub(super) fn take(&mut self, node: usize) -> Option<Searched<S>> {
        self.kept().searched.remove(&node)
    }

    /// Keeps the result of a node.
    pub(super) fn keep(&mut self, node: usize, searched: Searched<S>) {
        self.kept().searched.insert(node, searched);
    }
}
