//! The first feature that varies in a node whose drawn features are all constant.

use crate::ranks::SparseRanks;
use crate::splitter::candidates::RandomOrder;
use crate::splitter::collect::SparseCollector;
use crate::splitter::lists::EntryLists;
use crate::splitter::sweep::Entry;

/// Returns the features in the order in which a node continues after its k draws.
pub(super) fn further_order(features: &[u32], order: RandomOrder) -> Vec<u32> {
    let mut features = features.to_vec();
    features.sort_unstable_by_key(|&f| order.rank(f));
    features
}

/// Returns the first feature of [`further_order`] that varies in the node, found from the rows' entries.
pub(super) fn first_varying(
    columns: &SparseRanks,
    features: &[u32],
    rows: &[u32],
    order: RandomOrder,
    collector: &mut SparseCollector,
) -> Option<u32> {
    match collector.lists_mut() {
        Some(lists) => first_varying_list(lists, columns, features, rows.len(), order),
        None => first_varying_entry(columns, features, rows, order),
    }
}

/// Returns true if a feature is among these increasing features.
pub(super) fn is_among(features: &[u32], columns: &SparseRanks, feature: u32) -> bool {
    features.len() == columns.n_features() || features.binary_search(&feature).is_ok()
}

/// Like [`first_varying`], but uses lists.
fn first_varying_list(
    lists: &mut EntryLists,
    columns: &SparseRanks,
    features: &[u32],
    n_rows: usize,
    order: RandomOrder,
) -> Option<u32> {
    let mut found: Option<(u64, u32)> = None;
    for i in 0..lists.held().len() {
        let feature = lists.held()[i];
        let rank = order.rank(feature);
        if found.is_none_or(|f| rank < f) && is_among(features, columns, feature) {
            let list = lists.cut(feature);
            let is_constant = match list.split_first() {
                None => true,
                Some((first, others)) => {
                    list.len() == n_rows && others.iter().all(|e| e.rank() == first.rank())
                }
            };
            if !is_constant {
                found = Some(rank);
            }
        }
    }
    found.map(|(_, feature)| feature)
}

/// Like [`first_varying`], but uses the entries of the rows.
fn first_varying_entry(
    columns: &SparseRanks,
    features: &[u32],
    rows: &[u32],
    order: RandomOrder,
) -> Option<u32> {
    // A feature that some row holds is constant only if all rows hold it with the same rank, and then it is among the
    // entries of the first row. So the entries of the first row are checked against the other rows; all other features
    // vary.
    let (first, others) = rows.split_first()?;
    let first: Vec<(u32, u32)> = columns.entries_of(*first).collect();
    let mut same: Vec<bool> = vec![true; first.len()];
    let mut found: Option<(u64, u32)> = None;
    let mut consider = |feature| {
        let rank = order.rank(feature);
        if found.is_none_or(|f| rank < f) && is_among(features, columns, feature) {
            found = Some(rank);
        }
    };
    for &row in others {
        // Both rows are in feature order.
        let mut mine = first.iter().zip(&mut same).peekable();
        for (feature, rank) in columns.entries_of(row) {
            while let Some((_, same)) = mine.next_if(|(held, _)| held.0 < feature) {
                *same = false;
            }
            match mine.next_if(|(held, _)| held.0 == feature) {
                Some((held, same)) => *same &= held.1 == rank,
                None => consider(feature),
            }
        }
        mine.for_each(|(_, same)| *same = false);
    }
    first
        .iter()
        .zip(&same)
        .filter(|(_, same)| !**same)
        .for_each(|((feature, _), _)| consider(*feature));
    found.map(|(_, feature)| feature)
}
