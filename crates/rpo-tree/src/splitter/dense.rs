//! The search for the best threshold of a dense feature: its entries are gathered, sorted and swept.

use super::collect::dense_entries;
use super::order::RankSorter;
use super::sweep::{Entry, Feature, SplitCandidate};
use crate::criterion::Criterion;
use crate::ranks::DenseColumns;
use rpo_core::vectorized;

/// Buffers of the search.
#[derive(Debug, Clone, Default)]
pub(super) struct DenseSearch<E> {
    pub(super) entries: Vec<E>,
    pub(super) sorter: RankSorter<E>,
    bits: Vec<u64>,
}

/// Largest ratio of all rows to those of a node for which the rows are sorted by [the order of
/// all](crate::ranks::Order).
const PER_ROW: usize = 32;

impl<E: Entry> DenseSearch<E> {
    /// Returns the best split of a node's rows along a feature that is not categorical: `None` if it is constant,
    /// `Some(None)` if no threshold leaves `min_leaf` rows on both sides.
    pub(super) fn best_split(
        &mut self,
        columns: &DenseColumns,
        feature: u32,
        rows: &[u32],
        min_leaf: usize,
        criterion: &mut impl Criterion,
    ) -> Option<Option<SplitCandidate>> {
        let (values, ranks) = columns.ranks(feature);
        let order = columns.order(feature);
        let order = order.filter(|_| rows.len() * PER_ROW >= columns.n_rows());
        let entries = &mut self.entries;
        vectorized(
            #[inline(always)]
            || {
                if let Some(order) = order {
                    order.sort(rows, E::new, &mut self.bits, entries);
                } else {
                    dense_entries(values, ranks, rows, entries);
                    self.sorter.sort(entries);
                }
                let is_whole = order.is_some() || !values.has_zero;
                let feature = if is_whole && criterion.is_exact() {
                    Feature::in_one_sweep(entries, values.bounds(), min_leaf)
                } else {
                    if let (Some(_), Some(zero)) = (order, values.zero_rank()) {
                        let zeros = |e: &E| e.rank() < zero;
                        let first = entries.partition_point(zeros);
                        let end = entries.partition_point(|e| e.rank() <= zero);
                        entries.drain(first..end);
                    }
                    Feature::new(entries, values.bounds(), rows.len(), min_leaf)
                };
                (!feature.is_constant()).then(|| feature.sweep_all(criterion))
            },
        )
    }
}
