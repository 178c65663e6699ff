//! The nearest of several centroids.

use super::gather::{Centroid, Gather};
use super::lookup::{BitIndex, advance};
use super::weights::{MAX_TABLE, Weights};
use crate::error::TreeError;
use crate::products::first_of_largest;
use crate::rule::{Row, Rule};
use rpo_core::{Mismatch, ParameterError};

/// Sends a sample to the child with the largest score offset_c + w_c · x, the first among equal ones.
///
/// With unit vectors as weights and no offsets that is the nearest direction (largest cosine); with means as weights
/// and offsets of -‖w‖²/2, the nearest mean (smallest distance). A sample without any of the features goes to the
/// largest offset. Missing features (NaN) are not supported.
///
/// Weights are stored feature by feature. Scores are sums in `f32` in the order of the features, however the features
/// of sample and rule are matched, and so do not depend on where a sample is routed.
#[derive(Debug, Clone, PartialEq)]
pub struct CentroidRule {
    pub(super) offsets: Box<[f32]>,
    pub(super) features: Box<[u32]>,
    pub(super) weights: Weights,
    pub(super) index: Option<BitIndex>,
    pub(super) members: Box<[u16]>,
}

/// Most children of a rule.
pub(super) const MAX_CHILDREN: usize = u16::MAX as usize;

impl CentroidRule {
    /// Creates a rule from centroids without weights of 0, which have at most as many entries as
    /// [`check_entries`](super::gather::check_entries) accepts.
    pub(super) fn gather<'a>(
        centroids: impl ExactSizeIterator<Item = &'a Centroid> + Clone,
        buffers: &mut Gather,
    ) -> Self {
        let offsets = centroids.clone().map(|c| c.offset).collect();
        let (features, weights) = buffers.merge(centroids);
        Self {
            offsets,
            index: BitIndex::new(&features),
            features,
            weights,
            members: Box::default(),
        }
    }

    /// Creates a rule with `arity` children, whose centroids have no weights.
    pub(super) fn without_weights(arity: usize) -> Self {
        Self {
            offsets: vec![0.0; arity].into(),
            features: Box::default(),
            weights: Weights::new(arity, vec![0], Vec::new(), Vec::new()),
            index: None,
            members: Box::default(),
        }
    }

    /// Creates a rule from stored parts: an offset per child; the features of any centroid, increasing; per feature the
    /// number of its entries; per entry the child, increasing inside a feature, and the weight.
    ///
    /// # Errors
    /// [`TreeError::Mismatch`] or [`TreeError::Parameter`] for parts that do not fit together.
    pub(crate) fn from_parts(
        offsets: Vec<f32>,
        features: Vec<u32>,
        counts: &[u16],
        children: Vec<u16>,
        weights: Vec<f32>,
    ) -> Result<Self, TreeError> {
        let wrong =
            |name, given: String, expected| Err(ParameterError::out_of_range(name, given, expected).into());
        if !(1..=MAX_CHILDREN).contains(&offsets.len()) {
            return wrong("children", offsets.len().to_string(), "1 to 65535");
        }
        Mismatch::check("counts for the features of a node", features.len(), counts.len())?;
        Mismatch::check("weights for the entries of a node", children.len(), weights.len())?;
        if let Some(pair) = features.windows(2).find(|w| w[0] >= w[1]) {
            return wrong("features", pair[1].to_string(), "increasing");
        }
        if let Some(bad) = offsets.iter().find(|v| !v.is_finite()) {
            return wrong("offsets", bad.to_string(), "finite");
        }
        if let Some(bad) = weights.iter().find(|v| !v.is_finite() || **v == 0.0) {
            return wrong("weights", bad.to_string(), "finite and not 0");
        }
        let mut start = Vec::with_capacity(counts.len() + 1);
        let mut end = 0_usize;
        start.push(0);
        for &count in counts {
            let range = end..end + usize::from(count);
            end = range.end;
            let Some(of_feature) = children.get(range) else {
                break;
            };
            if count == 0 || of_feature.windows(2).any(|w| w[0] >= w[1]) {
                return wrong(
                    "children",
                    format!("{of_feature:?}"),
                    "one or more per feature, increasing",
                );
            }
            start.push(end as u32);
        }
        Mismatch::check("entries of a node", end, children.len())?;
        if let Some(child) = children.iter().find(|c| usize::from(**c) >= offsets.len()) {
            return wrong("children", child.to_string(), "below the number of children");
        }
        Ok(Self {
            index: BitIndex::new(&features),
            features: features.into(),
            weights: Weights::new(offsets.len(), start, children, weights),
            offsets: offsets.into(),
            members: Box::default(),
        })
    }

    /// Returns the offset of each child.
    pub(crate) fn offsets(&self) -> &[f32] {
        &self.offsets
    }

    /// Returns for each training row of the node, in increasing order, 1 + the child whose centroid averages it, or 0
    /// if none does. Empty unless the splitter stores [members](super::StoredCentroids::Members).
    pub(crate) fn members(&self) -> &[u16] {
        &self.members
    }

    /// Returns the features with a weight in any centroid, increasing.
    pub(crate) fn features(&self) -> &[u32] {
        &self.features
    }

    /// Returns the children in whose centroids the i-th of the [`features`](Self::features) has a non-zero weight,
    /// increasing, and those weights.
    pub(crate) fn entries_of(&self, i: usize) -> impl Iterator<Item = (u16, f32)> + '_ {
        self.weights.of(i)
    }

    /// Returns the non-zero weights of the centroids: the feature, the child, and the weight, by feature, then child.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u16, f32)> + '_ {
        let numbered = self.features.iter().enumerate();
        numbered.flat_map(|(i, &feature)| {
            self.entries_of(i)
                .map(move |(child, weight)| (feature, child, weight))
        })
    }

    /// Returns the [child](Rule::child) of a sparse sample, given by its features, increasing, and their values.
    pub fn nearest(&self, features: &[u32], values: &[f32]) -> usize {
        self.largest_score(|scores| {
            if self.is_looked_up(features.len()) {
                self.look_up(features, values.iter().copied(), scores);
            } else {
                let mut at = 0;
                let value = |feature| advance(features, &mut at, feature).then(|| values[at]);
                self.read(value, scores);
            }
        })
    }

    /// Returns true if the features that a row stores should be looked up among those of the node, false for the
    /// opposite: the smaller set is looked up.
    fn is_looked_up(&self, n_stored: usize) -> bool {
        match self.index {
            Some(_) => n_stored < 2 * self.features.len(),
            None => 4 * n_stored < self.features.len(),
        }
    }

    /// Adds the products of a row that stores these features to the scores.
    fn look_up(&self, features: &[u32], values: impl Iterator<Item = f32>, scores: &mut [f32]) {
        let entries = features.iter().zip(values);
        match &self.index {
            Some(index) => self.add(entries.map(|(&f, value)| (index.position(f), value)), scores),
            None => {
                let mut at = 0;
                let mut place = |feature| advance(&self.features, &mut at, feature).then_some(at as u32);
                self.add(entries.map(|(&f, value)| (place(f), value)), scores);
            }
        }
    }

    /// Adds the products of a row to the scores; `value` returns the row's value of a feature if it is not 0.
    fn read(&self, mut value: impl FnMut(u32) -> Option<f32>, scores: &mut [f32]) {
        let features = self.features.iter().zip(0..);
        let entry = |(&feature, place): (&u32, u32)| {
            let value = value(feature);
            (value.map(|_| place), value.unwrap_or(0.0))
        };
        self.add(features.map(entry), scores);
    }

    /// Adds values × weights to the scores, for values with the positions of their features, if they have one.
    #[inline]
    fn add(&self, entries: impl Iterator<Item = (Option<u32>, f32)>, scores: &mut [f32]) {
        /// Number of entries collected at a time, on the stack.
        const CHUNK: usize = 64;
        let (mut places, mut values, mut n) = ([0; CHUNK], [0.0; CHUNK], 0);
        for (place, value) in entries {
            // Always written, and kept only if it counts: which entries do cannot be predicted.
            (places[n], values[n]) = (place.unwrap_or(0), value);
            n += usize::from(place.is_some());
            if n == CHUNK {
                self.weights.add(&places, &values, scores);
                n = 0;
            }
        }
        self.weights.add(&places[..n], &values[..n], scores);
    }

    /// Returns the child with the largest score; `add` adds to the offsets.
    #[inline]
    fn largest_score(&self, add: impl FnOnce(&mut [f32])) -> usize {
        let arity = self.offsets.len();
        let (mut few, mut many);
        let scores = if arity <= MAX_TABLE {
            few = [0.0; MAX_TABLE];
            &mut few[..]
        } else {
            many = vec![0.0; arity];
            &mut many[..]
        };
        scores[..arity].copy_from_slice(&self.offsets);
        add(scores);
        largest(&scores[..arity])
    }
}

impl Rule for CentroidRule {
    fn arity(&self) -> usize {
        self.offsets.len()
    }

    fn child(&self, row: Row<'_>) -> usize {
        let value = |feature: u32| row.values[feature as usize];
        self.largest_score(|scores| match row.stored {
            Some(stored) if self.is_looked_up(stored.len()) => {
                self.look_up(stored, stored.iter().map(|&f| value(f)), scores);
            }
            _ => self.read(|feature| Some(value(feature)).filter(|v| *v != 0.0), scores),
        })
    }

    fn n_features(&self) -> usize {
        self.features.last().map_or(0, |&last| last as usize + 1)
    }
}

/// Returns the index of the first of the largest scores.
#[inline]
pub(super) fn largest(scores: &[f32]) -> usize {
    first_of_largest(scores, |largest| largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rpo_core::Seed;

    /// Centroids of small whole numbers, so that ties happen and sums are exact.
    fn centroids(seed: u64, n: usize, n_features: u32, one_in: u64) -> Vec<Centroid> {
        (0..n as u64)
            .map(|c| {
                let seed = Seed::new(seed).child(c);
                let has = |f: &u32| seed.hash((*f).into()).is_multiple_of(one_in);
                let features: Vec<u32> = (0..n_features).filter(has).collect();
                let weight = |f: &u32| (seed.child(1).hash((*f).into()) % 5) as f32 - 2.0;
                Centroid {
                    offset: (seed.child(2).value() % 3) as f32,
                    weights: features.iter().map(weight).collect(),
                    features,
                }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn routes_as_defined_for_dense_and_sparse_rows(seed in 0_u64..1 << 32, n in 1_usize..20, one_in in 1_u64..40, row_one_in in 1_u64..40) {
            let p = 200;
            let centroids = centroids(seed, n, p, one_in);
            let kept: Vec<Centroid> = centroids.iter().map(Centroid::without_zeros).collect();
            let rule = CentroidRule::gather(kept.iter(), &mut Gather::new(p as usize));
            let key = Seed::new(seed).purpose("row");
            let values: Vec<f32> = (0..p).map(|f| if key.hash(f.into()).is_multiple_of(row_one_in) { (key.child(1).hash(f.into()) % 7) as f32 - 3.0 } else { 0.0 }).collect();
            let stored: Vec<u32> = (0..p).filter(|f| values[*f as usize] != 0.0).collect();
            let scores: Vec<f32> = centroids.iter().map(|c| c.offset + c.features.iter().zip(&c.weights).map(|(&f, w)| w * values[f as usize]).sum::<f32>()).collect();
            let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let expected = scores.iter().position(|s| *s == best).unwrap();
            prop_assert_eq!(rule.child(Row { values: &values, stored: None }), expected);
            prop_assert_eq!(rule.child(Row { values: &values, stored: Some(&stored) }), expected);
            let of_stored: Vec<f32> = stored.iter().map(|f| values[*f as usize]).collect();
            prop_assert_eq!(rule.nearest(&stored, &of_stored), expected);
            // The rule restored from its parts is the same.
            let n = rule.features().len();
            let counts: Vec<u16> = (0..n).map(|i| rule.entries_of(i).count() as u16).collect();
            let (children, weights) = (0..n).flat_map(|i| rule.entries_of(i)).unzip();
            let again = CentroidRule::from_parts(rule.offsets().to_vec(), rule.features().to_vec(), &counts, children, weights);
            prop_assert_eq!(again.unwrap(), rule);
        }
    }

    #[test]
    fn a_row_without_direction_goes_to_the_first() {
        let none = [Centroid::default(), Centroid::default()];
        let rule = CentroidRule::gather(none.iter(), &mut Gather::new(2));
        assert_eq!(
            rule.child(Row {
                values: &[0.0, 1.0],
                stored: None
            }),
            0
        );
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let good = (
            vec![0.0, 0.0],
            vec![3, 7],
            vec![2, 1],
            vec![0, 1, 1],
            vec![1.0, 2.0, 3.0],
        );
        type Parts = (Vec<f32>, Vec<u32>, Vec<u16>, Vec<u16>, Vec<f32>);
        let build = |p: Parts| CentroidRule::from_parts(p.0, p.1, &p.2, p.3, p.4);
        assert!(build(good.clone()).is_ok());
        let changes: [fn(&mut Parts); 11] = [
            |p| p.0.clear(),
            |p| p.0[0] = f32::NAN,
            |p| p.4[0] = f32::INFINITY,
            |p| p.4[1] = 0.0,
            |p| p.1[1] = 3,
            |p| p.1.push(9),
            |p| p.2[0] = 1,
            |p| p.2[1] = 9,
            |p| p.3[2] = 2,
            |p| p.3[1] = 0,
            |p| p.4.push(1.0),
        ];
        for (i, change) in changes.iter().enumerate() {
            let mut parts = good.clone();
            change(&mut parts);
            assert!(build(parts).is_err(), "change {i}");
        }
    }
}
