//! Choice of the bins: ranges of neighbouring values of a feature that count as one value.

use crate::categories::most_frequent;
use crate::ranks::{from_sortable, sortable, threshold_between};

/// The smallest and the largest value of a bin in the training set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bin {
    low: f32,
    high: f32,
}

/// A distinct value (its [sortable](crate::ranks::sortable) bits) and its number of samples.
pub(super) type Counted = (u32, u32);

/// Number of coded values up to which each may have its own bin.
const FEW: usize = 255;

/// Smallest limit on the bins of a feature with more values.
const FEWEST: usize = 63;

/// Fewest samples per bin on average, beyond [`FEWEST`] bins.
const SAMPLES_PER_BIN: usize = 16;

/// Returns the largest number of bins of a feature with `n` values other than 0. Zeros are not counted, as a sparse matrix
/// does not store them.
fn limit(max_bins: usize, n: usize) -> usize {
    if n <= FEW {
        return max_bins;
    }
    max_bins.min((n / SAMPLES_PER_BIN).max(FEWEST))
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
    /// Makes one bin per value if there are at most as many values as bins, which are `max_bins` or fewer for few
    /// samples. Otherwise the bins hold sample counts as equal as the values allow, and a value with more samples has
    /// its own bin.
    pub(super) fn new(distinct: &[Counted], max_bins: usize, n_missing: usize) -> Self {
        let mut left: u64 = distinct.iter().map(|&(_, count)| u64::from(count)).sum();
        let zeros = distinct.binary_search_by_key(&sortable(0.0), |&(value, _)| value);
        let n_zero = zeros.map_or(0, |place| distinct[place].1 as usize);
        let limit = limit(max_bins, left as usize - n_zero + n_missing);
        let mut bins = Vec::with_capacity(limit.min(distinct.len()));
        let (mut first, mut in_bin) = (0, 0);
        for (i, &(_, count)) in distinct.iter().enumerate() {
            in_bin += u64::from(count);
            let bins_left = (limit - bins.len()) as u64;
            let values_left = (distinct.len() - 1 - i) as u64;
            // A bin ends if it holds its fraction of the remaining samples, or if each remaining value can have its own
            // bin.
            let is_full = bins_left > 1 && (in_bin * bins_left >= left || values_left < bins_left);
            if is_full || values_left == 0 {
                let value = |i: usize| from_sortable(distinct[i].0);
                bins.push(Bin {
                    low: value(first),
                    high: value(i),
                });
                left -= in_bin;
                (first, in_bin) = (i + 1, 0);
            }
        }
        Self {
            bins,
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

    fn counted(values: &[f32]) -> Vec<Counted> {
        let mut bits: Vec<u32> = values.iter().map(|&v| sortable(v)).collect();
        bits.sort_unstable();
        count_distinct(bits)
    }

    #[test]
    fn few_values_have_a_bin_each() {
        let bins = FeatureBins::new(&counted(&[0.5, -1.0, 0.0, 0.5, 3.0]), 4, 0);
        assert_eq!(bins.len(), 4);
        assert_eq!([-1.0, 0.0, 0.5, 3.0].map(|v| bins.bin_of(v)), [0, 1, 2, 3]);
        assert_eq!((bins.zero(), bins.threshold(0, 2)), (Some(1), -0.25));
        assert_eq!(FeatureBins::new(&[], 4, 1).len(), 0);
    }

    proptest! {
        #[test]
        fn bins_cover_the_values_in_order(
            values in prop::collection::vec(-40_i32..40, 1..200),
            limit in 2_usize..20,
        ) {
            let values: Vec<f32> = values.iter().map(|&v| v as f32 / 4.0).collect();
            let distinct = counted(&values);
            let bins = FeatureBins::new(&distinct, limit, 0);
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

    #[test]
    fn many_values_have_bins_of_equal_size() {
        let values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let bins = FeatureBins::new(&counted(&values), 10, 0);
        let sizes: Vec<usize> = (0..10)
            .map(|b| values.iter().filter(|v| bins.bin_of(**v) == b).count())
            .collect();
        assert_eq!(sizes, [100; 10]);
        assert_eq!(
            [
                limit(255, 255),
                limit(255, 256),
                limit(255, 1600),
                limit(255, 1 << 20),
                limit(8, 1 << 20)
            ],
            [255, 63, 100, 255, 8]
        );
    }
}
