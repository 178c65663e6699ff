//! Sums per feature that come out in the order of the features.

use super::lookup::BitIndex;
use super::rule::{Centroid, CentroidRule};

/// A dense array that knows, as bits, which of its elements were touched: emptying it costs those.
#[derive(Debug)]
pub(super) struct Touched<T> {
    values: Vec<T>,
    words: Vec<u64>,
}

impl<T: Copy + Default> Touched<T> {
    pub(super) fn new(n: usize) -> Self {
        Self {
            values: vec![T::default(); n],
            words: vec![0; n.div_ceil(64)],
        }
    }

    /// The element of a feature, to be changed.
    #[inline]
    pub(super) fn touch(&mut self, feature: u32) -> &mut T {
        self.words[feature as usize / 64] |= 1 << (feature % 64);
        &mut self.values[feature as usize]
    }

    /// Hands out the touched features in increasing order, with their elements.
    pub(super) fn for_each(&mut self, mut f: impl FnMut(u32, &mut T)) {
        for (i, &word) in self.words.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                let feature = i as u32 * 64 + left.trailing_zeros();
                f(feature, &mut self.values[feature as usize]);
                left &= left - 1;
            }
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        for (i, word) in self.words.iter_mut().enumerate() {
            let mut left = std::mem::take(word);
            while left != 0 {
                self.values[i * 64 + left.trailing_zeros() as usize] = T::default();
                left &= left - 1;
            }
        }
    }
}

impl CentroidRule {
    /// Brings centroids together, feature by feature: counts the entries of each feature, then puts each in place.
    pub(super) fn gather<'a>(
        centroids: impl Iterator<Item = &'a Centroid> + Clone,
        scratch: &mut Touched<u32>,
    ) -> Self {
        for centroid in centroids.clone() {
            centroid.features.iter().for_each(|&f| *scratch.touch(f) += 1);
        }
        let (mut features, mut start, mut end) = (Vec::new(), vec![0], 0);
        scratch.for_each(|feature, place| {
            let first = end;
            end += *place;
            *place = first;
            features.push(feature);
            start.push(end);
        });
        let mut children = vec![0; end as usize];
        let mut weights = vec![0.0; end as usize];
        for (child, centroid) in centroids.clone().enumerate() {
            for (&feature, &weight) in centroid.features.iter().zip(&centroid.weights) {
                let place = scratch.touch(feature);
                children[*place as usize] = child as u16;
                weights[*place as usize] = weight;
                *place += 1;
            }
        }
        scratch.clear();
        Self {
            offsets: centroids.map(|c| c.offset).collect(),
            index: BitIndex::new(&features),
            features: features.into(),
            start: start.into(),
            children: children.into(),
            weights: weights.into(),
        }
    }
}
