//! Sums per feature that come out in the order of the features.

use super::lookup::BitIndex;
use super::rule::{Centroid, CentroidRule};
use rpo_core::IndexSet;

/// A dense array that knows which of its elements were touched.
#[derive(Debug)]
pub(super) struct Touched<T> {
    values: Vec<T>,
    touched: IndexSet,
}

impl<T: Copy + Default> Touched<T> {
    pub(super) fn new(n: usize) -> Self {
        Self {
            values: vec![T::default(); n],
            touched: IndexSet::new(n),
        }
    }

    /// The element of a feature, to be changed.
    #[inline]
    pub(super) fn touch(&mut self, feature: u32) -> &mut T {
        self.touched.insert(feature);
        &mut self.values[feature as usize]
    }

    /// Forgets which features were touched, handing them out in increasing order with their elements, to be left at their
    /// default by the next time.
    #[inline]
    pub(super) fn drain(&mut self, mut f: impl FnMut(u32, &mut T)) {
        self.touched
            .drain(|feature| f(feature, &mut self.values[feature as usize]));
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
        let (mut features, mut start, mut end) = (Vec::<u32>::new(), vec![0], 0);
        scratch.drain(|feature, place| {
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
                let place = &mut scratch.values[feature as usize];
                children[*place as usize] = child as u16;
                weights[*place as usize] = weight;
                *place += 1;
            }
        }
        features.iter().for_each(|&f| scratch.values[f as usize] = 0);
        Self {
            offsets: centroids.map(|c| c.offset).collect(),
            index: BitIndex::new(&features),
            features: features.into(),
            start: start.into(),
            children: children.into(),
            weights: weights.into(),
            teachers: Box::default(),
        }
    }
}
