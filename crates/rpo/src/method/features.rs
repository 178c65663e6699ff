//! Prepares features before a method is fitted to them.

use super::{MethodError, parameters_of};
use rpo_core::{Domain, Matrix, ParameterError};
use rpo_data::Dataset;
use rpo_data::preprocess::{
    Encoding, FeatureWeights, Fill, Normalization, Standardize, Steps, TextWeighting,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Parameters that prepare features before a method is fitted; every method has them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureParams {
    /// Weights of the terms of texts: tf-idf, counts times inverse document frequencies, each text scaled to length 1;
    /// log-tf-idf, the same with 1 + log c for a count c; or counts, unchanged. No effect on data without texts.
    pub text_weights: TextWeighting,
    /// Replaces missing features by the typical value in training, nominal ones that trees split or that have two values
    /// by their most frequent value; indicators and means of targets have other values for missing ones. With none, the
    /// default, random forests, Extra-Trees and boosting send missing values to one side of each split, and most other
    /// methods refuse them.
    pub impute: Option<Fill>,
    /// Encoding of nominal features with three or more values: native, trees split the values into two subsets, where
    /// values beyond the 255 most frequent count as missing, for random forests, Extra-Trees and boosting on dense
    /// features; one-hot, an indicator for each value, all of them 0 for a missing one; target, means of the outputs over
    /// the samples with the value (target encoding), for features with very many values; or codes, the position of the
    /// value in the attribute's list, as a number.
    ///
    /// The default, null, is native if a method supports it, features are dense and no preset is given, one-hot for
    /// linear methods, beside texts and for sparse features, and codes otherwise. The means of target are shrunk towards
    /// the mean of all samples, more strongly for values with fewer samples; a missing value gets the mean of all. In
    /// training, the means of a sample are computed on the four fifths of the samples that do not include it.
    pub nominal: Option<NominalEncoding>,
    /// Number of columns that replace a feature with `nominal` = target: the means of this many random projections of
    /// the outputs, or of the outputs themselves if there are no more than this. Numeric outputs are standardized
    /// first. Default 16.
    #[schemars(range(min = 1))]
    pub nominal_components: Option<usize>,
    /// Scales numeric features to mean 0 and (weighted) variance 1 over the training samples; indicators and terms of
    /// texts keep their scale. This makes sparse features dense, unless some are texts or more than three in four are
    /// indicators. By default true for linear methods and craftml if there are numbers or dates beside texts or, in
    /// dense data, beside categories that become indicators; for one-vs-rest, label-tree and craftml also if more than
    /// half of the values are nonzero, and else for numbers in another unit than the features that are mostly 0 beside
    /// them, such as ages and incomes beside 0/1 columns, which alone are scaled. By default false with a preset.
    ///
    /// The latter compare directions of samples, which the features of largest scale would dominate: LRAP of
    /// one-vs-rest on emotions is .62 instead of .78, on birds .38 instead of .60; of craftml .70 instead of .79, and
    /// .38 instead of .57. Another unit: at least a quarter of the values are not 0, and their mean square is more than 4
    /// times, or less than a hundredth, of that in the usual feature with fewer such values. Data with `feature_weights`
    /// keep their scale.
    pub standardize: Option<bool>,
    /// Multiplies features by weights: idf, the logarithm of the number of samples over the number in which the feature
    /// is not 0, but at least log 2. Default none.
    ///
    /// Sparse features stay sparse. For counts and other unweighted word features.
    pub feature_weights: Option<FeatureWeights>,
    /// Scales the features of each sample, after other preparation: l2, to length 1. Default none.
    ///
    /// Methods with a parameter of this name scale samples themselves.
    pub normalize: Option<Normalization>,
}

/// When a method standardizes features by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardizedBy {
    /// Never: it looks at each feature by itself, or has units for each.
    Request,
    /// If there are numbers or dates beside texts or indicators: sparse features have one unit, and texts of length 1 or
    /// indicators would not count beside numbers of thousands.
    Mixed,
    /// Also if most values are not 0; else only [measurements](Standardize::Measurements) among sparse features. It
    /// compares directions of samples.
    Directions,
}

/// Encoding of nominal features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NominalEncoding {
    /// No encoding: trees split between subsets of the values.
    Native,
    /// An indicator for each value.
    OneHot,
    /// Means of the outputs, or of random projections of them, over the samples with the value.
    Target,
    /// The position of the value in the attribute's list, as a number.
    Codes,
}

impl FeatureParams {
    /// Returns true for the name of one of these parameters.
    pub(super) fn has(name: &str) -> bool {
        static NAMES: LazyLock<Map<String, Value>> =
            LazyLock::new(|| parameters_of(&FeatureParams::default()));
        NAMES.contains_key(name)
    }

    /// Checks that the parameters are compatible, for a method with this default encoding of nominal features.
    pub(super) fn check(&self, default: NominalEncoding) -> Result<(), MethodError> {
        if self.nominal == Some(NominalEncoding::Native) && default != NominalEncoding::Native {
            let reason = "is for random forests, Extra-Trees and boosting; one-hot, target and codes are for all methods";
            return Err(ParameterError::conflict("nominal", "native", reason).into());
        }
        if let Some(components) = self.nominal_components {
            Domain::Count.check("nominal_components", components)?;
            if self.nominal != Some(NominalEncoding::Target) {
                let reason = "needs `nominal` = target";
                return Err(ParameterError::conflict("nominal_components", components, reason).into());
            }
        }
        if self.standardize == Some(true) && self.feature_weights.is_some() {
            let reason = "cannot be combined with `standardize`, after which no feature is 0";
            return Err(ParameterError::conflict("feature_weights", "idf", reason).into());
        }
        Ok(())
    }

    /// The defaults for a method with this default encoding of nominal features.
    pub(super) fn defaults(nominal: NominalEncoding) -> Self {
        Self {
            nominal: Some(nominal),
            ..Self::default()
        }
    }

    /// The features that are standardized, given the default of the method and the encoding of nominal features.
    pub(super) fn standardized(
        &self,
        by_default: StandardizedBy,
        nominal: NominalEncoding,
        data: &Dataset,
    ) -> Standardize {
        match self.standardize {
            Some(true) => return Standardize::All,
            Some(false) => return Standardize::None,
            // Zeros must stay zeros.
            None if self.feature_weights.is_some() => return Standardize::None,
            None => {}
        }
        // Sparse features would become dense.
        let has_indicators = nominal == NominalEncoding::OneHot
            && matches!(data.features(), Matrix::Dense(_))
            && many_valued(data).next().is_some();
        let is_mixed = (has_indicators || !data.texts().is_empty()) && has_numbers(data);
        match by_default {
            StandardizedBy::Request => Standardize::None,
            StandardizedBy::Mixed | StandardizedBy::Directions if is_mixed => Standardize::All,
            StandardizedBy::Mixed => Standardize::None,
            StandardizedBy::Directions if !data.texts().is_empty() => Standardize::None,
            StandardizedBy::Directions if data.feature_density() > 0.5 => Standardize::All,
            StandardizedBy::Directions => Standardize::Measurements,
        }
    }

    /// The preparation steps for an encoding of nominal features.
    pub(super) fn steps<'t>(
        &self,
        nominal: Encoding<'t>,
        standardize: Standardize,
        is_ensemble: bool,
    ) -> Steps<'t> {
        Steps {
            texts: self.text_weights,
            impute: self.impute,
            nominal,
            standardize,
            weights: self.feature_weights,
            normalize: self.normalize,
            // Members of ensembles do so themselves, after their own steps.
            leave_out_absent: !is_ensemble,
        }
    }
}

/// Returns true if features are numbers, such as those of dates, and not all terms of texts or nominal.
fn has_numbers(data: &Dataset) -> bool {
    let terms: usize = data.texts().values().map(|column| column.n_features()).sum();
    terms + data.nominal().len() < data.n_features()
}

/// The features of a data set that trees split as categories: dense nominal features with three or more values.
pub(crate) fn categorical(data: &Dataset) -> Vec<u32> {
    match data.features() {
        Matrix::Sparse(_) => Vec::new(),
        Matrix::Dense(_) => many_valued(data).map(|j| j as u32).collect(),
    }
}

/// The nominal features with three or more values, increasing.
pub(super) fn many_valued(data: &Dataset) -> impl Iterator<Item = usize> + '_ {
    let many = data.nominal().iter().filter(|(_, values)| values.len() > 2);
    many.map(|(&feature, _)| feature)
}
