//! The parameters of the search along one feature.

use crate::splitter::check_subset;
use crate::{CheckParams, TreeError};
use rpo_core::Domain;
use serde::{Deserialize, Serialize};

/// Choice of the threshold of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdSearch {
    /// The midpoint between neighbouring distinct values of the node that scores best.
    #[default]
    Best,
    /// A threshold drawn uniformly between the node's smallest and largest value (Geurts, Ernst, Wehenkel 2006). It
    /// departs from the paper for a feature that is 0 or one other value in the training set: its threshold is always
    /// their midpoint. Any threshold between the two gives the same tree on the training set, and equal thresholds make
    /// models smaller and predictions faster.
    Random,
}

/// Parameters of the axis-aligned search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AxisParams {
    /// Features k drawn at each node without replacement, constant ones included; `None`, or more than there are, means
    /// all. Default all (CART); forests draw fewer to make trees differ. If all k are constant in the node, drawing
    /// continues until one is not.
    pub max_features: Option<usize>,
    /// Fewest distinct samples of a child, whatever their weight. Default 1: any split is allowed.
    pub min_samples_leaf: usize,
    /// Smallest gain of a split in the criterion's unit (|S| ΔI for variance). Default 0: any split that does not lose
    /// is allowed, even one that gains nothing.
    pub min_gain: f64,
    /// Choice of the threshold of a feature. Default best.
    pub thresholds: ThresholdSearch,
    /// Weight with which the mean of a category is shrunk towards the overall mean before [categories are
    /// ordered](crate::categories). Default 10, as in LightGBM.
    pub category_smoothing: f64,
    /// Fewest samples of the node that a category must have to be ordered; rarer ones follow missing values. Default 3:
    /// the mean of fewer is unreliable.
    pub min_category_count: usize,
}

impl Default for AxisParams {
    fn default() -> Self {
        Self {
            max_features: None,
            min_samples_leaf: 1,
            min_gain: 0.0,
            thresholds: ThresholdSearch::Best,
            category_smoothing: 10.0,
            min_category_count: 3,
        }
    }
}

impl CheckParams for AxisParams {
    type Error = TreeError;

    fn check(&self) -> Result<(), TreeError> {
        Domain::Count.check("max_features", self.max_features)?;
        Domain::Count.check("min_samples_leaf", self.min_samples_leaf)?;
        Domain::NotNegative.check("category_smoothing", self.category_smoothing)?;
        Domain::Count.check("min_category_count", self.min_category_count)?;
        Ok(Domain::NotNegative.check("min_gain", self.min_gain)?)
    }
}

/// A search along one feature: its parameters and the features to choose from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search<'a> {
    /// The parameters.
    pub params: AxisParams,
    /// The features, increasing; `None` for all.
    pub features: Option<&'a [u32]>,
}

/// Searches among all features.
impl From<AxisParams> for Search<'_> {
    fn from(params: AxisParams) -> Self {
        Self {
            params,
            features: None,
        }
    }
}

impl Search<'_> {
    /// Rejects parameters out of range, and features that are not increasing or not below `n_features`.
    pub(crate) fn check(&self, n_features: usize) -> Result<(), TreeError> {
        self.params.check()?;
        self.features
            .map_or(Ok(()), |subset| check_subset(subset, n_features))
    }
}
