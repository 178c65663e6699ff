//! Preparing features before a method sees them.

use rpo_data::preprocess::{Fill, Steps};
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
        matches!(name, "impute" | "nominal" | "standardize")
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
        }
    }
}
