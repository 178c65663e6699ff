//! Sorting the entries of a node by rank, then row.

use super::sweep::rank_of;

/// Sorts entries that are in row order.
///
/// Ranks of a node spread over about as many values as it has rows, so a counting sort brings them into about as many
/// buckets; the entries of a bucket are sorted after that. Few entries are sorted directly.
#[derive(Debug, Clone, Default)]
pub(super) struct RankSorter {
    bucket_end: Vec<u32>,
    sorted: Vec<u64>,
}

impl RankSorter {
    /// Fewer entries are sorted by comparison (measured crossover near 40).
    const FEW: usize = 40;

    /// Entries of a bucket that are still put in order one by one.
    const FULL: u32 = 16;

    pub(super) fn sort(&mut self, entries: &mut [u64]) {
        if entries.is_sorted() {
            return;
        }
        if entries.len() < Self::FEW {
            entries.sort_unstable();
            return;
        }
        let (low, high) = entries.iter().fold((u32::MAX, 0), |(low, high), &e| {
            let rank = rank_of(e);
            (low.min(rank), high.max(rank))
        });
        // The finest power of two that needs at most about twice as many buckets as there are entries.
        let width = (high - low) as usize / (2 * entries.len()) + 1;
        let shift = width.next_power_of_two().trailing_zeros();
        let bucket = |entry: u64| ((rank_of(entry) - low) >> shift) as usize;
        self.bucket_end.clear();
        self.bucket_end.resize(((high - low) >> shift) as usize + 1, 0);
        for &entry in entries.iter() {
            self.bucket_end[bucket(entry)] += 1;
        }
        let (mut end, mut fullest) = (0, 0);
        for count in &mut self.bucket_end {
            fullest = fullest.max(*count);
            end += std::mem::replace(count, end);
        }
        self.sorted.resize(entries.len(), 0);
        for &entry in entries.iter() {
            let place = &mut self.bucket_end[bucket(entry)];
            self.sorted[*place as usize] = entry;
            *place += 1;
        }
        if shift > 0 && fullest <= Self::FULL {
            insertion_sort(&mut self.sorted);
        } else if shift > 0 {
            self.sorted.sort_unstable();
        }
        entries.copy_from_slice(&self.sorted);
    }
}

/// For entries that are nearly in order: each moves down past the few larger ones before it.
fn insertion_sort(entries: &mut [u64]) {
    for i in 1..entries.len() {
        let entry = entries[i];
        let mut place = i;
        while place > 0 && entries[place - 1] > entry {
            entries[place] = entries[place - 1];
            place -= 1;
        }
        entries[place] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::super::sweep::entry;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_like_the_standard_library(
            ranks in proptest::collection::vec(prop_oneof![0_u32..5, 0_u32..100, 0_u32..1_000_000], 0..300),
        ) {
            let mut entries: Vec<u64> = ranks.iter().zip(0..).map(|(&rank, row)| entry(rank, row)).collect();
            let mut expected = entries.clone();
            expected.sort_unstable();
            RankSorter::default().sort(&mut entries);
            prop_assert_eq!(entries, expected);
        }
    }
}
