//! The features that the trees of a model grow on.

use super::routing::apply;
use crate::bins::Bins;
use rpo_core::MatrixView;
use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, HistogramWorkspace};
use rpo_tree::splitter::Splitter;
use rpo_tree::{AxisRule, RankedFeatures, Structure, TreeError};
use std::sync::{Mutex, MutexGuard};

/// The given features and their coded form.
pub(super) struct Features<'a> {
    x: MatrixView<'a>,
    pub(super) coded: Coded,
    /// Unused buffers for trees on bins, one per thread that grows a tree; in total as many as trees were ever grown at
    /// once.
    free: Mutex<Vec<Vec<HistogramWorkspace>>>,
}

/// Features as ranks or bins, coded once for all trees.
pub(super) enum Coded {
    Ranked(RankedFeatures),
    Binned(BinnedFeatures),
}

impl<'a> Features<'a> {
    pub(super) fn new(x: MatrixView<'a>, bins: Bins, categorical: &[u32]) -> Result<Self, TreeError> {
        let coded = match bins {
            Bins::Exact => Coded::Ranked(RankedFeatures::new(x.reborrow(), categorical)?),
            Bins::AtMost(bins) => Coded::Binned(BinnedFeatures::new(x.reborrow(), bins, categorical)?),
        };
        let free = Mutex::default();
        Ok(Self { x, coded, free })
    }

    pub(super) fn x(&self) -> MatrixView<'_> {
        self.x.reborrow()
    }

    /// Returns the leaf of each sample in a tree that was grown on these features.
    pub(super) fn leaves(&self, tree: &Structure<AxisRule>) -> Vec<u32> {
        let by_bins = match &self.coded {
            Coded::Ranked(_) => None,
            Coded::Binned(columns) => columns.leaves(tree, self.x()),
        };
        by_bins.unwrap_or_else(|| apply(tree, self.x()))
    }

    /// Calls `grow` with buffers of some threads for a tree on bins.
    pub(super) fn with_workspaces<T>(
        &self,
        n_threads: usize,
        splitter: &HistogramSplitter<'_>,
        grow: impl FnOnce(&mut [HistogramWorkspace]) -> T,
    ) -> T {
        let taken = self.free().pop();
        let mut workspaces = taken.unwrap_or_else(|| vec![splitter.workspace()]);
        while workspaces.len() < n_threads {
            workspaces.push(workspaces[0].beside());
        }
        let grown = grow(&mut workspaces[..n_threads]);
        self.free().push(workspaces);
        grown
    }

    fn free(&self) -> MutexGuard<'_, Vec<Vec<HistogramWorkspace>>> {
        self.free
            .lock()
            .expect("no thread panics while it holds the list")
    }
}
