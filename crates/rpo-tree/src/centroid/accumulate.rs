//! Sums per feature that come out in the order of the features.

use super::lookup::BitIndex;
use super::rule::{Centroid, CentroidRule};
use super::weights::Weights;
use rpo_core::IndexSet;

/// A dense array that knows which of its elements were touched.
///
/// Where nearly all are expected to be, nothing is noted and all are looked at in the end: that is faster both ways.
#[derive(Debug)]
pub(super) struct Touched<T> {
    values: Vec<T>,
    touched: IndexSet,
    many: bool,
}

impl<T: Copy + Default + PartialEq> Touched<T> {
    pub(super) fn new(n: usize) -> Self {
        Self {
            values: vec![T::default(); n],
            touched: IndexSet::new(n),
            many: false,
        }
    }

    /// Begins; how often elements will be touched decides how.
    pub(super) fn begin(&mut self, n_touches: usize) {
        /// Looking at an element costs so much less than noting one (measured crossover near 2).
        const RATIO: usize = 2;
        self.many = n_touches >= self.values.len() / RATIO;
    }

    /// Changes the elements of some features, each by the operand given with it.
    #[inline]
    pub(super) fn touch<U: Copy>(&mut self, features: &[u32], operands: &[U], change: impl Fn(&mut T, U)) {
        if !self.many {
            features.iter().for_each(|&f| self.touched.insert(f));
        }
        for (&feature, &operand) in features.iter().zip(operands) {
            change(&mut self.values[feature as usize], operand);
        }
    }

    /// Replaces `features` by those whose elements differ from the default, increasing, and `values` by these elements,
    /// which become the default again.
    pub(super) fn drain(&mut self, features: &mut Vec<u32>, values: &mut Vec<T>) {
        let all = &mut self.values;
        if self.many {
            // Written in any case and kept only if it counts: which ones do cannot be predicted.
            features.resize(all.len(), 0);
            values.resize(all.len(), T::default());
            let mut n = 0;
            for (feature, value) in all.iter_mut().enumerate() {
                let value = std::mem::take(value);
                (features[n], values[n]) = (feature as u32, value);
                n += usize::from(value != T::default());
            }
            features.truncate(n);
            values.truncate(n);
        } else {
            features.clear();
            values.clear();
            self.touched.drain(|feature| {
                let value = std::mem::take(&mut all[feature as usize]);
                if value != T::default() {
                    features.push(feature);
                    values.push(value);
                }
            });
        }
    }
}

/// What [`CentroidRule::gather`] works in.
#[derive(Debug)]
pub(super) struct Gather {
    /// Per feature the number of its entries, then the place of the next.
    places: Touched<u32>,
    features: Vec<u32>,
    counts: Vec<u32>,
}

impl Gather {
    pub(super) fn new(n_features: usize) -> Self {
        Self {
            places: Touched::new(n_features),
            features: Vec::new(),
            counts: Vec::new(),
        }
    }
}

impl CentroidRule {
    /// Brings centroids together, feature by feature: counts the entries of each feature, then puts each in place.
    pub(super) fn gather<'a>(
        centroids: impl Iterator<Item = &'a Centroid> + Clone,
        scratch: &mut Gather,
    ) -> Self {
        let Gather {
            places,
            features,
            counts,
        } = scratch;
        let n_entries = centroids.clone().map(|c| c.features.len()).sum();
        places.begin(n_entries);
        for centroid in centroids.clone() {
            places.touch(&centroid.features, &centroid.features, |count, _| *count += 1);
        }
        places.drain(features, counts);
        let mut start = Vec::with_capacity(features.len() + 1);
        let mut end = 0;
        for (&feature, count) in features.iter().zip(&*counts) {
            start.push(end);
            places.values[feature as usize] = end;
            end += count;
        }
        start.push(end);
        let mut children = vec![0; n_entries];
        let mut weights = vec![0.0; n_entries];
        for (child, centroid) in centroids.clone().enumerate() {
            for (&feature, &weight) in centroid.features.iter().zip(&centroid.weights) {
                let place = &mut places.values[feature as usize];
                children[*place as usize] = child as u16;
                weights[*place as usize] = weight;
                *place += 1;
            }
        }
        features.iter().for_each(|&f| places.values[f as usize] = 0);
        let offsets: Box<[f32]> = centroids.map(|c| c.offset).collect();
        Self {
            weights: Weights::new(offsets.len(), start, children, weights),
            offsets,
            index: BitIndex::new(features),
            features: features.as_slice().into(),
            teachers: Box::default(),
        }
    }
}
