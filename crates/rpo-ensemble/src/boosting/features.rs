//! The features that the trees of a model grow on.

use super::routing::apply;
use rpo_core::MatrixView;
use rpo_tree::histogram::{BinLimit, BinnedFeatures, HistogramWorkspace};
use rpo_tree::{AxisRule, RankedFeatures, Structure, Team, TreeError};
use std::sync::{Mutex, MutexGuard};

/// The given features and their coded form.
pub(super) struct Features<'a> {
    x: MatrixView<'a>,
    pub(super) coded: Coded,
    /// Unused teams for trees on bins, with their buffers and the thread that used them last: in total as many as trees
    /// were ever grown at once.
    free: Mutex<Vec<(Option<usize>, Team<HistogramWorkspace>)>>,
}

/// Features as ranks or bins, coded once for all trees.
pub(super) enum Coded {
    Ranked(RankedFeatures),
    Binned(BinnedFeatures),
}

impl<'a> Features<'a> {
    /// Codes features in bins, or as ranks without a limit of bins.
    pub(super) fn new(
        x: MatrixView<'a>,
        bins: Option<BinLimit>,
        categorical: &[u32],
    ) -> Result<Self, TreeError> {
        let coded = match bins {
            None => Coded::Ranked(RankedFeatures::new(x.reborrow(), categorical)?),
            Some(limit) => Coded::Binned(BinnedFeatures::new(x.reborrow(), limit, categorical)?),
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

    /// Calls `grow` with a team that grew trees before, on this thread if there is one, whose buffers are in its cache; or
    /// else with a new one.
    pub(super) fn with_team<T>(
        &self,
        new: impl FnOnce() -> Team<HistogramWorkspace>,
        grow: impl FnOnce(&mut Team<HistogramWorkspace>) -> T,
    ) -> T {
        let thread = rayon::current_thread_index();
        let mut team = self.free_team(thread).unwrap_or_else(new);
        let grown = grow(&mut team);
        self.free().push((thread, team));
        grown
    }

    fn free_team(&self, thread: Option<usize>) -> Option<Team<HistogramWorkspace>> {
        let mut free = self.free();
        let own = free.iter().rposition(|(of, _)| *of == thread);
        let place = own.or(free.len().checked_sub(1))?;
        Some(free.swap_remove(place).1)
    }

    fn free(&self) -> MutexGuard<'_, Vec<(Option<usize>, Team<HistogramWorkspace>)>> {
        self.free
            .lock()
            .expect("no thread panics while it holds the list")
    }
}
