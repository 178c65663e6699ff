//! The centroids of a node, merged feature by feature.

use super::sparse_accumulator::SparseAccumulator;
use super::weights::Weights;
use crate::TreeError;

/// The scoring of samples by a child: offset + weights · x.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Centroid {
    /// Added to the product.
    pub(super) offset: f32,
    /// The features with a weight, increasing.
    pub(super) features: Vec<u32>,
    /// Their weights.
    pub(super) weights: Vec<f32>,
}

impl Centroid {
    /// Returns the centroid without weights of 0.
    pub(super) fn without_zeros(&self) -> Self {
        let entries = self.features.iter().zip(&self.weights);
        let (features, weights) = entries.filter(|(_, weight)| **weight != 0.0).unzip();
        Self {
            offset: self.offset,
            features,
            weights,
        }
    }
}

/// Rejects more entries of centroids than 32 bits can count.
pub(super) fn check_entries(given: usize) -> Result<(), TreeError> {
    let (what, limit) = ("the number of entries of centroids", u32::MAX as usize);
    if given > limit {
        return Err(TreeError::TooLarge { what, given, limit });
    }
    Ok(())
}

/// Merges centroids; holds the buffers.
#[derive(Debug)]
pub(super) struct Gather {
    /// Per feature, the number of its entries.
    counts: SparseAccumulator<u32>,
    /// The features of any centroid, increasing, and the number of centroids that have each.
    features: Vec<u32>,
    n_entries: Vec<u32>,
    /// Per feature, the position of its next entry; undefined for features that no centroid has.
    places: Vec<u32>,
}

impl Gather {
    pub(super) fn new(n_features: usize) -> Self {
        Self {
            counts: SparseAccumulator::new(n_features),
            features: Vec::new(),
            n_entries: Vec::new(),
            places: vec![0; n_features],
        }
    }

    /// Returns the features of the centroids, increasing, and the weights by feature: counts the entries of each
    /// feature, then puts each entry in place. There are at most as many entries as [`check_entries`] accepts.
    pub(super) fn merge<'a>(
        &mut self,
        centroids: impl ExactSizeIterator<Item = &'a Centroid> + Clone,
    ) -> (Box<[u32]>, Weights) {
        let (arity, n_entries) = (centroids.len(), centroids.clone().map(|c| c.features.len()).sum());
        self.counts.begin(n_entries);
        for centroid in centroids.clone() {
            self.counts
                .update(&centroid.features, &centroid.features, |count, _| *count += 1);
        }
        self.counts.drain(&mut self.features, &mut self.n_entries);
        let mut start = Vec::with_capacity(self.features.len() + 1);
        let mut end = 0;
        for (&feature, count) in self.features.iter().zip(&self.n_entries) {
            start.push(end);
            self.places[feature as usize] = end;
            end += count;
        }
        start.push(end);
        let mut children = vec![0; n_entries];
        let mut weights = vec![0.0; n_entries];
        for (child, centroid) in centroids.enumerate() {
            for (&feature, &weight) in centroid.features.iter().zip(&centroid.weights) {
                let place = &mut self.places[feature as usize];
                children[*place as usize] = child as u16;
                weights[*place as usize] = weight;
                *place += 1;
            }
        }
        (
            self.features.as_slice().into(),
            Weights::new(arity, start, children, weights),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_entries_than_can_be_counted_are_refused() {
        let limit = u32::MAX as usize;
        assert_eq!(check_entries(limit), Ok(()));
        let what = "the number of entries of centroids";
        let given = limit + 1;
        assert_eq!(
            check_entries(given),
            Err(TreeError::TooLarge { what, given, limit })
        );
    }
}
