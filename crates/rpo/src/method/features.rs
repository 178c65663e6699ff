//! Preparing features before a method sees them.

use super::MethodError;
use rpo_core::ParameterError;
use rpo_data::preprocess::{FeatureWeights, Fill, Normalization, Steps};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Preparation of features before a method sees them; every method has these parameters.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureParams {
    /// Replaces missing features by the typical value in training; nominal features always by their most frequent value.
    /// Without it, forests and boosting route missing values to a side of each split, and other methods refuse them.
    pub impute: Option<Fill>,
    /// Encoding of nominal features with three or more values: one-hot, an indicator for each value, or codes, the
    /// position of the value in the attribute's list.
    ///
    /// The default, null, is one-hot for linear methods and codes for others.
    pub nominal: Option<NominalEncoding>,
    /// Scales numeric features to mean 0 and variance 1 in training; the features are dense then.
    pub standardize: bool,
    /// Multiplies features by weights: idf, the logarithm of the number of samples over those in which the feature is not 0.
    ///
    /// Sparse features stay sparse. For counts and other weights of words that are not weighted yet.
    pub feature_weights: Option<FeatureWeights>,
    /// Scales the features of each sample, after other preparation: l2, to length 1. Default none.
    ///
    /// Methods with a parameter of this name scale samples themselves.
    pub normalize: Option<Normalization>,
}

/// Encoding of nominal features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NominalEncoding {
    /// An indicator for each value.
    OneHot,
    /// The position of the value in the attribute's list, as a number.
    Codes,
}

impl FeatureParams {
    /// Returns true if a parameter is one of these.
    pub(super) fn has(name: &str) -> bool {
        matches!(
            name,
            "impute" | "nominal" | "standardize" | "feature_weights" | "normalize"
        )
    }

    /// Checks that the parameters can be combined.
    pub(super) fn check(&self) -> Result<(), MethodError> {
        if self.standardize && self.feature_weights.is_some() {
            let reason = "cannot be combined with `standardize`, after which no feature is 0";
            return Err(ParameterError::conflict("feature_weights", "idf", reason).into());
        }
        Ok(())
    }

    /// The defaults of a method.
    pub(super) fn defaults(one_hot: bool) -> Self {
        let nominal = if one_hot {
            NominalEncoding::OneHot
        } else {
            NominalEncoding::Codes
        };
        Self {
            nominal: Some(nominal),
            ..Self::default()
        }
    }

    /// The steps of a method that encodes nominal features as indicators by default, or as codes.
    pub(super) fn steps(&self, one_hot: bool) -> Steps {
        let nominal = self.nominal.or(Self::defaults(one_hot).nominal);
        Steps {
            impute: self.impute,
            one_hot: nominal == Some(NominalEncoding::OneHot),
            standardize: self.standardize,
            weights: self.feature_weights,
            normalize: self.normalize,
        }
    }
}
