//! Choice of the bins: ranges of neighbouring values of a feature that count as one value.

use crate::categories::most_frequent;
use crate::ranks::{from_sortable, sortable, threshold_between};
use std::cmp::Reverse;

/// The smallest and the largest value of a bin in the training set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bin {
    low: f32,
    high: f32,
}

/// A distinct value (its [sortable](crate::ranks::sortable) bits) and its number of samples.
pub(super) type Counted = (u32, u32);

/// Largest number of bins of a feature, without that of missing values: as many as a byte tells apart.
pub(super) const MOST_BINS: usize = 255;

/// The largest number of bins of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinLimit {
    /// The same for all features, 2 to 255.
    AtMost(usize),
    /// 255, but for features with more than 255 values other than 0 at most one per 16 of them, or 63 if that is more.
    /// Zeros are not counted, as a sparse matrix does not store them.
    BySamples,
}

impl From<usize> for BinLimit {
    fn from(bins: usize) -> Self {
        Self::AtMost(bins)
    }
}

impl BinLimit {
    /// The limit for a feature with `n` values other than 0.
    fn of(self, n: usize) -> usize {
        match self {
            Self::AtMost(bins) => bins,
            Self::BySamples if n <= MOST_BINS => MOST_BINS,
            Self::BySamples => (n / 16).clamp(63, MOST_BINS),
        }
    }
}

/// Returns the ends of `limit` bins of more values than that.
fn ends(distinct: &[Counted], limit: usize, total: u64) -> Vec<usize> {
    let frequent = frequent(distinct, limit, total);
    match frequent.len() + n_runs(&frequent, distinct.len()) <= limit {
        true => ends_around(distinct, &frequent, limit, total),
        false => ends_by_merging(distinct, &frequent, limit, total),
    }
}

/// Returns the ends of bins of which the frequent values have one each, and each run of other values at least one.
fn ends_around(distinct: &[Counted], frequent: &[usize], limit: usize, total: u64) -> Vec<usize> {
    let count = |i: usize| u64::from(distinct[i].1);
    let mut runs_left = n_runs(frequent, distinct.len());
    let mut bins_left = limit - frequent.len();
    let mut values_left = distinct.len() - frequent.len();
    let mut left = total - frequent.iter().map(|&i| count(i)).sum::<u64>();
    let mut ends = Vec::with_capacity(limit);
    let mut start = 0;
    for end in frequent.iter().copied().chain([distinct.len()]) {
        runs_left -= usize::from(start < end);
        let mut in_bin = 0;
        for i in start..end {
            in_bin += count(i);
            values_left -= 1;
            // A bin ends if it holds its fraction of the remaining samples, or if each remaining value can have its own
            // bin; but a bin is left for each run.
            let is_full = in_bin * bins_left as u64 >= left || values_left < bins_left;
            if i + 1 == end || is_full && bins_left > runs_left + 1 {
                ends.push(i + 1);
                left -= in_bin;
                bins_left -= 1;
                in_bin = 0;
            }
        }
        if end < distinct.len() {
            ends.push(end + 1);
        }
        start = end + 1;
    }
    ends
}

/// Returns the ends of bins that are made from more of them: the frequent values, and parts of the runs of others with as
/// many samples as a bin should have. The two neighbours with the fewest samples become one until there are few enough.
fn ends_by_merging(distinct: &[Counted], frequent: &[usize], limit: usize, total: u64) -> Vec<usize> {
    let mut bins: Vec<(usize, u64)> = Vec::new();
    let mut is_open = false;
    for (i, &(_, count)) in distinct.iter().enumerate() {
        let count = u64::from(count);
        let is_frequent = frequent.binary_search(&i).is_ok();
        match bins.last_mut() {
            Some((end, in_bin)) if is_open && !is_frequent => (*end, *in_bin) = (i + 1, *in_bin + count),
            _ => bins.push((i + 1, count)),
        }
        let in_bin = bins.last().map_or(0, |(_, in_bin)| *in_bin);
        is_open = !is_frequent && in_bin * (limit as u64) < total;
    }
    while bins.len() > limit {
        let pairs = bins.windows(2).map(|pair| pair[0].1 + pair[1].1).enumerate();
        let Some((smallest, _)) = pairs.min_by_key(|(_, in_pair)| *in_pair) else {
            break;
        };
        let (_, in_first) = bins.remove(smallest);
        bins[smallest].1 += in_first;
    }
    bins.into_iter().map(|(end, _)| end).collect()
}

/// Returns the indices of the frequent values, in increasing order: as long as the most frequent of the other values has
/// at least the mean number of samples of the remaining bins, it is one of them.
fn frequent(distinct: &[Counted], limit: usize, total: u64) -> Vec<usize> {
    let count = |i: usize| u64::from(distinct[i].1);
    if (0..distinct.len()).all(|i| count(i) * (limit as u64) < total) {
        return Vec::new();
    }
    let by_count = |i: &usize| (Reverse(distinct[*i].1), *i);
    let mut found: Vec<usize> = (0..distinct.len()).collect();
    found.select_nth_unstable_by_key(limit, by_count);
    found.truncate(limit);
    found.sort_unstable_by_key(by_count);
    let mut left = total;
    let bins_left = (1..=limit as u64).rev();
    let n = found.iter().zip(bins_left).take_while(|&(&i, bins_left)| {
        let is_frequent = count(i) * bins_left >= left;
        left -= count(i);
        is_frequent
    });
    let n = n.count();
    found.truncate(n);
    found.sort_unstable();
    found
}

/// Returns the number of runs of values between the frequent ones.
fn n_runs(frequent: &[usize], n_values: usize) -> usize {
    let starts = [0].into_iter().chain(frequent.iter().map(|i| i + 1));
    let ends = frequent.iter().copied().chain([n_values]);
    starts.zip(ends).filter(|(start, end)| start < end).count()
}

/// The bins of a feature, in increasing order of values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FeatureBins {
    bins: Vec<Bin>,
    pub(super) has_missing: bool,
    /// True if every bin is an unordered category.
    pub(super) is_categorical: bool,
}

impl FeatureBins {
    /// Makes one bin per value if there are at most as many values as the limit. Otherwise each value with at least as many
    /// samples as a bin should have, such as 0, has its own bin, so that the rarer values on either side can be told
    /// from it; the bins of the other values hold sample counts as equal as the values allow. Where that makes too many
    /// bins, as frequent and rare values alternate, the smallest neighbours share one.
    pub(super) fn new(distinct: &[Counted], limit: BinLimit, n_missing: usize) -> Self {
        let total: u64 = distinct.iter().map(|&(_, count)| u64::from(count)).sum();
        let zeros = distinct.binary_search_by_key(&sortable(0.0), |&(value, _)| value);
        let n_zero = zeros.map_or(0, |place| distinct[place].1 as usize);
        let limit = limit.of(total as usize - n_zero + n_missing);
        let ends = match distinct.len() <= limit {
            true => (1..=distinct.len()).collect(),
            false => ends(distinct, limit, total),
        };
        let value = |i: usize| from_sortable(distinct[i].0);
        let starts = [0].into_iter().chain(ends.iter().copied());
        let bin = |(start, &end): (usize, &usize)| Bin {
            low: value(start),
            high: value(end - 1),
        };
        Self {
            bins: starts.zip(&ends).map(bin).collect(),
            has_missing: n_missing > 0,
            is_categorical: false,
        }
    }

    /// Makes one bin per category, at most `limit`; the rarest categories beyond that count as missing.
    pub(super) fn of_categories(distinct: Vec<Counted>, limit: usize, has_missing: bool) -> Self {
        let has_rare = distinct.len() > limit;
        let bin = |(code, _)| Bin {
            low: from_sortable(code),
            high: from_sortable(code),
        };
        let bins = most_frequent(distinct, limit).into_iter().map(bin).collect();
        Self {
            bins,
            has_missing: has_missing || has_rare,
            is_categorical: true,
        }
    }

    /// Number of bins, without the bin of missing values.
    pub(super) fn len(&self) -> usize {
        self.bins.len()
    }

    /// Returns the bin of an observed value of the training set; for a rare category, the bin of missing values.
    pub(super) fn bin_of(&self, value: f32) -> usize {
        let bin = self.bins.partition_point(|bin| bin.high < value);
        match self.bins.get(bin) {
            Some(found) if self.is_categorical && found.low > value => self.len(),
            _ => bin,
        }
    }

    /// Writes the bins of values given as [sortable](crate::ranks::sortable) bits, including missing values.
    pub(super) fn code_all(&self, keys: &[u32], codes: &mut [u8]) {
        let pairs = codes.iter_mut().zip(keys);
        if self.is_categorical {
            let bin_of = |key: u32| match key {
                u32::MAX => self.len(),
                key => self.bin_of(from_sortable(key)),
            };
            return pairs.for_each(|(code, &key)| *code = bin_of(key) as u8);
        }
        let mut highs = [u32::MAX; 256];
        for (high, bin) in highs.iter_mut().zip(&self.bins) {
            *high = sortable(bin.high);
        }
        // Branch-free search, as no branch could be predicted.
        for (code, &key) in pairs {
            let mut bin = 0;
            for step in [128, 64, 32, 16, 8, 4, 2, 1] {
                bin += usize::from(highs[(bin + step - 1) & 255] < key) * step;
            }
            *code = bin as u8;
        }
    }

    /// Returns the number of bins whose values a threshold sends all left, and the bin it divides, if any.
    pub(super) fn cut_at(&self, threshold: f32) -> (usize, Option<usize>) {
        let n_left = self.bins.partition_point(|bin| bin.high <= threshold);
        let is_torn = self.bins.get(n_left).is_some_and(|bin| bin.low <= threshold);
        (n_left, is_torn.then_some(n_left))
    }

    /// Returns the category code of a bin.
    pub(super) fn code(&self, bin: u16) -> u32 {
        self.bins[usize::from(bin)].low as u32
    }

    /// Returns the bin of zero, if zero lies in one.
    pub(super) fn zero(&self) -> Option<usize> {
        let bin = self.bin_of(0.0);
        self.bins.get(bin).is_some_and(|b| b.low <= 0.0).then_some(bin)
    }

    /// Returns the threshold between the values of two bins.
    pub(super) fn threshold(&self, low: usize, high: usize) -> f32 {
        threshold_between(self.bins[low].high, self.bins[high].low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::categories::count_distinct;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn counted(values: &[f32]) -> Vec<Counted> {
        let mut bits: Vec<u32> = values.iter().map(|&v| sortable(v)).collect();
        bits.sort_unstable();
        count_distinct(bits)
    }

    #[test]
    fn few_values_have_a_bin_each() {
        let bins = FeatureBins::new(&counted(&[0.5, -1.0, 0.0, 0.5, 3.0]), 4.into(), 0);
        assert_eq!(bins.len(), 4);
        assert_eq!([-1.0, 0.0, 0.5, 3.0].map(|v| bins.bin_of(v)), [0, 1, 2, 3]);
        assert_eq!((bins.zero(), bins.threshold(0, 2)), (Some(1), -0.25));
        assert_eq!(FeatureBins::new(&[], 4.into(), 1).len(), 0);
    }

    proptest! {
        #[test]
        fn bins_cover_the_values_in_order(
            values in prop::collection::vec(-40_i32..40, 1..200),
            limit in 2_usize..20,
        ) {
            let values: Vec<f32> = values.iter().map(|&v| v as f32 / 4.0).collect();
            let distinct = counted(&values);
            let bins = FeatureBins::new(&distinct, limit.into(), 0);
            prop_assert_eq!(bins.len(), limit.min(distinct.len()));
            let mut seen = vec![0; bins.len()];
            for &v in &values {
                let bin = bins.bin_of(v);
                prop_assert!(bins.bins[bin].low <= v && v <= bins.bins[bin].high);
                seen[bin] += 1;
            }
            prop_assert!(seen.iter().all(|&n| n > 0));
            let mut keys: Vec<u32> = values.iter().map(|&v| sortable(v)).collect();
            keys.push(u32::MAX);
            let mut codes = vec![0; keys.len()];
            bins.code_all(&keys, &mut codes);
            let expected = values.iter().map(|&v| bins.bin_of(v)).chain([bins.len()]);
            prop_assert!(expected.eq(codes.iter().map(|&code| usize::from(code))));
            for pair in 1..bins.len() {
                let threshold = bins.threshold(pair - 1, pair);
                prop_assert!(bins.bins[pair - 1].high <= threshold && threshold < bins.bins[pair].low);
            }
            prop_assert_eq!(bins.zero(), bins.bins.iter().position(|b| b.low <= 0.0 && 0.0 <= b.high));
        }
    }

    proptest! {
        #[test]
        fn frequent_values_are_told_from_their_neighbours(
            values in prop::collection::vec((-30_i32..30, 1_u32..4), 10..60),
            heavy in prop::collection::vec((-30_i32..30, 50_u32..90), 1..4),
        ) {
            let mut counts = BTreeMap::new();
            for (value, count) in values.into_iter().chain(heavy.iter().copied()) {
                *counts.entry(value).or_insert(0) += count;
            }
            let of = |sign: i32| -> Vec<Counted> {
                let mut distinct: Vec<Counted> = counts.iter().map(|(v, n)| (sortable((sign * v) as f32), *n)).collect();
                distinct.sort_unstable();
                distinct
            };
            let limit = 9;
            prop_assume!(limit < counts.len());
            for sign in [1, -1] {
                let bins = FeatureBins::new(&of(sign), limit.into(), 0);
                prop_assert_eq!(bins.len(), limit);
                for (value, _) in &heavy {
                    let value = (sign * value) as f32;
                    let bin = bins.bins[bins.bin_of(value)];
                    prop_assert_eq!((bin.low, bin.high), (value, value));
                }
            }
        }
    }

    #[test]
    fn a_rare_value_below_a_frequent_one_has_a_bin() {
        // 40 samples of a value for "unknown", 7000 zeros, and 2960 amounts.
        let mut distinct = vec![(sortable(-1.0), 40), (sortable(0.0), 7000)];
        distinct.extend((1..=2960).map(|i| (sortable(i as f32), 1)));
        let bins = FeatureBins::new(&distinct, BinLimit::BySamples, 0);
        assert_eq!(bins.len(), 3000 / 16);
        assert_eq!([-1.0, 0.0, 1.0].map(|value| bins.bin_of(value)), [0, 1, 2]);
        let size = |bin: &Bin| bin.high - bin.low + 1.0;
        assert!(bins.bins[2..].iter().map(size).all(|size| size <= 17.0));
    }

    /// The number of samples in the largest bin.
    fn largest(distinct: &[Counted], max_bins: usize) -> u32 {
        let bins = FeatureBins::new(distinct, max_bins.into(), 0);
        let mut sizes = vec![0; bins.len()];
        for &(value, count) in distinct {
            sizes[bins.bin_of(from_sortable(value))] += count;
        }
        sizes.into_iter().max().unwrap_or(0)
    }

    #[test]
    fn frequent_values_that_alternate_with_rare_ones_share_bins_with_them() {
        let of = |counts: &mut dyn Iterator<Item = u32>| -> Vec<Counted> {
            counts
                .enumerate()
                .map(|(i, count)| (sortable(i as f32), count))
                .collect()
        };
        // Each of 15 pairs has a bin, and the other values have one each.
        let alternating = of(&mut (0..40).map(|i| 1 + 20 * (i % 2)));
        assert_eq!(largest(&alternating, 25), 22);
        // Prices, of which whole numbers are frequent, and a long tail of rare ones.
        let prices = (0..480).map(|i| if i % 3 == 0 { 25 } else { 3 });
        let with_tail = of(&mut prices.chain((0..4000).map(|_| 1)));
        let total: u32 = with_tail.iter().map(|(_, count)| count).sum();
        assert!(largest(&with_tail, 255) <= 2 * total / 255);
        assert_eq!(largest(&of(&mut [5, 70, 25].into_iter()), 2), 75);
    }

    #[test]
    fn many_values_have_bins_of_equal_size() {
        let values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let bins = FeatureBins::new(&counted(&values), 10.into(), 0);
        let sizes: Vec<usize> = (0..10)
            .map(|b| values.iter().filter(|v| bins.bin_of(**v) == b).count())
            .collect();
        assert_eq!(sizes, [100; 10]);
        let limits = [255, 256, 1600, 1 << 20].map(|n| BinLimit::BySamples.of(n));
        assert_eq!(limits, [255, 63, 100, 255]);
    }
}
