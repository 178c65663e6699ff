//! What the steps of a pipeline know of the features they are applied to.

use super::expansion::kept;
use super::step::Step;
use super::{Nominal, PreprocessError};
use crate::dataset::Dataset;
use crate::text::Texts;
use rpo_core::Mismatch;
use std::collections::BTreeMap;

/// The number of features, and which of them are nominal or terms of texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kinds {
    pub(super) n_features: usize,
    pub(super) nominal: Nominal,
    pub(super) texts: Texts,
    /// True if a step has replaced nominal features.
    pub(super) encoded: bool,
}

impl Kinds {
    /// Creates the kinds of features that no step has changed, of which `nominal` have lists of values.
    pub(super) fn new(n_features: usize, nominal: Nominal, texts: Texts) -> Result<Self, PreprocessError> {
        match nominal.last_key_value() {
            Some((&feature, _)) if feature >= n_features => Err(PreprocessError::Kind(feature)),
            _ => Ok(Self {
                n_features,
                nominal,
                texts,
                encoded: false,
            }),
        }
    }

    /// Returns the kinds of the features of a set.
    pub(super) fn of(data: &Dataset) -> Self {
        Self {
            n_features: data.n_features(),
            nominal: data.nominal().clone(),
            texts: data.texts().clone(),
            encoded: false,
        }
    }

    /// Refuses a set with other features: positions would mean other values.
    pub(super) fn check(&self, data: &Dataset) -> Result<(), PreprocessError> {
        Mismatch::check("features", self.n_features, data.n_features())?;
        let texts = differing(&self.texts, data.texts());
        let differing = texts.or_else(|| differing(&self.nominal, data.nominal()));
        differing.map_or(Ok(()), |feature| Err(PreprocessError::Kind(feature)))
    }

    /// Returns the kinds of the features after a step.
    pub(super) fn after(self, step: &dyn Step) -> Self {
        let nominal = step.nominal(self.nominal);
        match step.columns() {
            None => Self { nominal, ..self },
            Some(columns) => Self {
                n_features: columns.n_columns(),
                nominal,
                texts: kept(columns, &self.texts),
                encoded: true,
            },
        }
    }
}

/// Returns the first feature that only one of two maps has, or for which they differ.
fn differing<K: PartialEq>(expected: &BTreeMap<usize, K>, found: &BTreeMap<usize, K>) -> Option<usize> {
    let features = expected.keys().chain(found.keys());
    features
        .filter(|feature| expected.get(feature) != found.get(feature))
        .min()
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Task;
    use ndarray::array;

    #[test]
    fn other_features_are_refused() {
        let x = array![[0.0, 1.0], [1.0, 0.0]];
        let data = Dataset::new(x.into(), array![[0.0], [1.0]].into(), Task::Regression).unwrap();
        let values = |last: &str| ["a", last].map(String::from).into();
        let nominal = data.clone().with_nominal([(1, values("b"))].into()).unwrap();
        let kinds = Kinds::of(&nominal);
        assert_eq!(kinds.check(&nominal), Ok(()));
        assert_eq!(kinds.check(&data), Err(PreprocessError::Kind(1)));
        let other = data.clone().with_nominal([(1, values("c"))].into()).unwrap();
        assert_eq!(kinds.check(&other), Err(PreprocessError::Kind(1)));
        let fewer = nominal.select_features(&[0]).unwrap();
        assert!(matches!(kinds.check(&fewer), Err(PreprocessError::Mismatch(_))));
        let beyond = Kinds::new(1, nominal.nominal().clone(), Texts::new());
        assert_eq!(beyond, Err(PreprocessError::Kind(1)));
    }
}
