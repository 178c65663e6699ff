//! Parameters of structured forests.

use crate::error::EnsembleError;
use rpo_core::{CheckParams, Domain, ForestLearner, ParameterError};
use rpo_tree::GrowParams;
use rpo_tree::oblique::{FeatureScaling, HellingerParams, ObliqueLogisticParams};
use rpo_tree::structured::{LabelClusteringParams, LabelWeighting, WeightMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Splitting method of a structured forest: the kind of rule that separates the two clusters of a node, and whether
/// rare labels weigh more in clustering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Variant {
    /// A threshold on one feature, by information gain.
    Sf,
    /// [`Sf`](Self::Sf), with rare labels weighing more.
    SfCs,
    /// A hyperplane by logistic regression.
    SfLr,
    /// [`SfLr`](Self::SfLr), with rare labels weighing more.
    SfLrCs,
    /// A sparse hyperplane of large Hellinger distance.
    SfH,
    /// [`SfH`](Self::SfH), with rare labels weighing more: SOSHF.
    #[default]
    SfHCs,
}

impl Variant {
    /// Returns true if nodes are split by hyperplanes, which need all feature values.
    pub fn is_oblique(self) -> bool {
        self.is_logistic() || self.is_hellinger()
    }

    fn is_cost_sensitive(self) -> bool {
        matches!(self, Self::SfCs | Self::SfLrCs | Self::SfHCs)
    }

    fn is_logistic(self) -> bool {
        matches!(self, Self::SfLr | Self::SfLrCs)
    }

    fn is_hellinger(self) -> bool {
        matches!(self, Self::SfH | Self::SfHCs)
    }
}

/// The method that separates the two clusters of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum NodeSplit {
    InformationGain,
    Logistic(ObliqueLogisticParams),
    Hellinger(HellingerParams),
}

/// Parameters of structured forests (Daniels and Metaxas, AAAI 2017).
///
/// The default is SF-H-CS (SOSHF) of the paper: sparse Hellinger hyperplanes, with rare labels weighing more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StructuredForestParams {
    /// Splitting method: sf (one feature, information gain), sf-lr (logistic regression), sf-h (sparse Hellinger
    /// hyperplane); the -cs variants weight rare labels more.
    pub variant: Variant,
    /// Number of trees.
    ///
    /// At least 1. Default 50, as in the paper.
    #[schemars(range(min = 1))]
    pub trees: usize,
    /// Index of the first tree. Forests grown with the same seed and successive indices can be merged.
    ///
    /// A tree depends only on the data, the seed and its index.
    pub first_tree: usize,
    /// Fraction of the samples that each tree grows on, drawn without replacement.
    ///
    /// In (0, 1]. At 1 no sample is out of bag, so there are no scores to find thresholds on.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub row_share: f64,
    /// Fraction of the features that each tree uses.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub feature_share: f64,
    /// Fraction of the labels that each tree clusters; leaves predict all labels.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub label_share: f64,
    /// Weight of a tree's predictions of the labels that it clustered, relative to its predictions of others.
    ///
    /// From 1 to 10⁹. Default 5, as in the paper.
    #[schemars(range(min = 1.0, max = 1e9))]
    pub label_weight: f64,
    /// Smallest number of samples of a leaf.
    #[schemars(range(min = 1))]
    pub min_samples_leaf: usize,
    /// Largest depth of a leaf; the root has depth 0. Without it, trees are fully grown.
    pub max_depth: Option<u32>,
    /// Number of starts of k-means at a node, of which the best is used.
    ///
    /// The paper does not state a number.
    #[schemars(range(min = 1, max = 1000))]
    pub cluster_starts: usize,
    /// Influence of label frequencies in the whole tree relative to those in the node, between 0 and 1; 0.5 by default.
    /// For the -cs variants.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub beta: Option<f64>,
    /// Use of a label's weight: it multiplies the label (scale, the default) or its squared difference (sqrt). For the -cs
    /// variants.
    pub weight_mode: Option<WeightMode>,
    /// Where no hyperplane is found for a node, splits it by one feature; false by default. For sf-lr and sf-h.
    ///
    /// Such a node is a leaf otherwise; the paper does not say.
    pub fall_back: Option<bool>,
    /// Units of features in hyperplanes: raw, standard for mean 0 and standard deviation 1 (the default of sf-lr), or
    /// by-sparsity for standard units of features that are seldom 0 and division of others by their largest magnitude
    /// (the default of sf-h). For sf-lr and sf-h.
    ///
    /// The paper uses standard units for numbers (0/1 features stay as they are); the default of sf-h departs from it
    /// for term weights. Rules are stored in raw units.
    pub scaling: Option<FeatureScaling>,
    /// Penalty of logistic regression per sample; 0.001 by default. For sf-lr.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub l2: Option<f64>,
    /// Strength of the sparsity penalty on the weights of a split: where the second stage
    /// starts, the penalty is at most this fraction of the Hellinger distance. 0.4 by default. For sf-h.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub rho: Option<f64>,
    /// Descent steps of each of the two stages; 200 by default. For sf-h.
    #[schemars(range(min = 1, max = 100_000))]
    pub descent_steps: Option<usize>,
    /// Number of samples of a mini-batch; 1000 by default. For sf-h.
    #[schemars(range(min = 2))]
    pub batch_size: Option<usize>,
    /// Step size of the descent; 0.05 by default. For sf-h.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub step_size: Option<f64>,
    /// Magnitude up to which weights are set to 0 if no sample changes sides; 0.01 by default, 0 keeps all. For sf-h.
    #[schemars(range(min = 0.0))]
    pub prune: Option<f64>,
    /// Seed of all randomness.
    pub seed: u64,
}

impl Default for StructuredForestParams {
    fn default() -> Self {
        Self {
            variant: Variant::SfHCs,
            trees: 50,
            first_tree: 0,
            row_share: 0.75,
            feature_share: 0.75,
            label_share: 0.75,
            label_weight: 5.0,
            min_samples_leaf: 3,
            max_depth: None,
            cluster_starts: 5,
            beta: None,
            weight_mode: None,
            fall_back: None,
            scaling: None,
            l2: None,
            rho: None,
            descent_steps: None,
            batch_size: None,
            step_size: None,
            prune: None,
            seed: 0,
        }
    }
}

impl StructuredForestParams {
    /// The settings of the paper: SF-H-CS with numeric features in standard units, and hyperplanes as the descent leaves them.
    /// Its thresholds are those of [`ThresholdRule::LabelF`](crate::thresholds::ThresholdRule::LabelF). The numbers that the
    /// paper does not state (starts of k-means, descent steps) are the defaults.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            scaling: Some(FeatureScaling::Standard),
            prune: Some(0.0),
            ..Self::default()
        }
    }
}

impl CheckParams for StructuredForestParams {
    type Error = EnsembleError;

    fn check(&self) -> Result<(), EnsembleError> {
        self.indices()?;
        Domain::Fraction.check("row_share", self.row_share)?;
        Domain::Fraction.check("feature_share", self.feature_share)?;
        Domain::Fraction.check("label_share", self.label_share)?;
        check_label_weight(self.label_weight)?;
        Domain::Count.check("min_samples_leaf", self.min_samples_leaf)?;
        self.check_use()?;
        self.clustering().check()?;
        match self.split() {
            NodeSplit::InformationGain => {}
            NodeSplit::Logistic(params) => params.check()?,
            NodeSplit::Hellinger(params) => params.check()?,
        }
        Ok(())
    }
}

impl StructuredForestParams {
    /// Refuses parameters that the variant does not use.
    fn check_use(&self) -> Result<(), ParameterError> {
        let variant = self.variant;
        let (weighted, oblique, logistic, hellinger) = (
            variant.is_cost_sensitive(),
            variant.is_oblique(),
            variant.is_logistic(),
            variant.is_hellinger(),
        );
        let given = |value: Option<f64>| value.map(|value| value.to_string());
        let count = |value: Option<usize>| value.map(|value| value.to_string());
        let (cs, hyperplanes) = ("is for the -cs variants only", "is for sf-lr and sf-h only");
        for (name, given, is_used, reason) in [
            ("beta", given(self.beta), weighted, cs),
            (
                "weight_mode",
                self.weight_mode.map(|mode| mode.to_string()),
                weighted,
                cs,
            ),
            (
                "fall_back",
                self.fall_back.map(|value| value.to_string()),
                oblique,
                hyperplanes,
            ),
            (
                "scaling",
                self.scaling.map(|scaling| scaling.to_string()),
                oblique,
                hyperplanes,
            ),
            ("l2", given(self.l2), logistic, "is for sf-lr only"),
            ("rho", given(self.rho), hellinger, "is for sf-h only"),
            (
                "descent_steps",
                count(self.descent_steps),
                hellinger,
                "is for sf-h only",
            ),
            (
                "batch_size",
                count(self.batch_size),
                hellinger,
                "is for sf-h only",
            ),
            ("step_size", given(self.step_size), hellinger, "is for sf-h only"),
            ("prune", given(self.prune), hellinger, "is for sf-h only"),
        ] {
            if let (Some(given), false) = (given, is_used) {
                return Err(ParameterError::conflict(name, given, reason));
            }
        }
        Ok(())
    }

    pub(super) fn split(&self) -> NodeSplit {
        if self.variant.is_logistic() {
            let default = ObliqueLogisticParams::default();
            NodeSplit::Logistic(ObliqueLogisticParams {
                l2: self.l2.unwrap_or(default.l2),
            })
        } else if self.variant.is_hellinger() {
            let default = HellingerParams::default();
            NodeSplit::Hellinger(HellingerParams {
                rho: self.rho.unwrap_or(default.rho),
                descent_steps: self.descent_steps.unwrap_or(default.descent_steps),
                batch_size: self.batch_size.unwrap_or(default.batch_size),
                step_size: self.step_size.unwrap_or(default.step_size),
                prune: self.prune.unwrap_or(default.prune),
                ..default
            })
        } else {
            NodeSplit::InformationGain
        }
    }

    /// Returns the units in which hyperplanes are learned, or `None` without hyperplanes.
    pub(super) fn units(&self) -> Option<FeatureScaling> {
        let default = match self.split() {
            NodeSplit::InformationGain => return None,
            NodeSplit::Logistic(_) => FeatureScaling::Standard,
            NodeSplit::Hellinger(_) => FeatureScaling::BySparsity,
        };
        Some(self.scaling.unwrap_or(default))
    }

    pub(super) fn falls_back(&self) -> bool {
        self.fall_back.unwrap_or(false)
    }

    pub(super) fn clustering(&self) -> LabelClusteringParams {
        let default = LabelWeighting::default();
        LabelClusteringParams {
            weighting: self.variant.is_cost_sensitive().then(|| LabelWeighting {
                beta: self.beta.unwrap_or(default.beta),
                mode: self.weight_mode.unwrap_or(default.mode),
            }),
            cluster_starts: self.cluster_starts,
            ..LabelClusteringParams::default()
        }
    }

    pub(super) fn grow_params(&self) -> GrowParams {
        GrowParams {
            max_depth: self.max_depth,
            min_samples_split: self.min_samples_leaf.saturating_mul(2),
            max_leaves: None,
        }
    }
}

/// Refuses a weight below 1, or one so large that predictions of weight 1 would be lost in sums over trees.
pub(super) fn check_label_weight(weight: f64) -> Result<(), ParameterError> {
    let fits = (1.0..=1e9).contains(&weight);
    ParameterError::unless(fits, "label_weight", weight, "from 1 to 1e9")
}

#[cfg(test)]
mod tests {
    use super::*;

    use rpo_tree::TreeError;

    type Params = StructuredForestParams;

    #[test]
    fn parameters_are_checked_at_their_bounds() {
        let name = |params: Params| match params.check() {
            Err(EnsembleError::Parameter(error) | EnsembleError::Tree(TreeError::Parameter(error))) => {
                error.name()
            }
            other => panic!("{other:?}"),
        };
        let base = Params::default;
        assert!(base().check().is_ok());
        let bounds = Params {
            row_share: 1.0,
            label_weight: 1.0,
            min_samples_leaf: 1,
            beta: Some(1.0),
            rho: Some(0.0),
            batch_size: Some(2),
            prune: Some(0.0),
            ..base()
        };
        assert!(bounds.check().is_ok());
        assert_eq!(name(Params { trees: 0, ..base() }), "trees");
        let first_tree = usize::MAX;
        assert_eq!(name(Params { first_tree, ..base() }), "first_tree");
        for bad in [0.0, -0.1, 1.0 + f64::EPSILON, f64::NAN] {
            assert_eq!(
                name(Params {
                    row_share: bad,
                    ..base()
                }),
                "row_share"
            );
            assert_eq!(
                name(Params {
                    feature_share: bad,
                    ..base()
                }),
                "feature_share"
            );
            assert_eq!(
                name(Params {
                    label_share: bad,
                    ..base()
                }),
                "label_share"
            );
        }
        for label_weight in [0.99, 1.1e9, 1e308, f64::NAN, f64::INFINITY] {
            assert_eq!(
                name(Params {
                    label_weight,
                    ..base()
                }),
                "label_weight"
            );
        }
        assert_eq!(
            name(Params {
                min_samples_leaf: 0,
                ..base()
            }),
            "min_samples_leaf"
        );
        assert_eq!(
            name(Params {
                cluster_starts: 0,
                ..base()
            }),
            "cluster_starts"
        );
        for beta in [-0.1, 1.1, f64::NAN].map(Some) {
            assert_eq!(name(Params { beta, ..base() }), "beta");
        }
        let (l2, variant) = (Some(0.0), Variant::SfLr);
        assert_eq!(
            name(Params {
                l2,
                variant,
                ..base()
            }),
            "l2"
        );
        assert_eq!(
            name(Params {
                rho: Some(1.0),
                ..base()
            }),
            "rho"
        );
        assert_eq!(
            name(Params {
                descent_steps: Some(0),
                ..base()
            }),
            "descent_steps"
        );
        assert_eq!(
            name(Params {
                batch_size: Some(1),
                ..base()
            }),
            "batch_size"
        );
        assert_eq!(
            name(Params {
                step_size: Some(0.0),
                ..base()
            }),
            "step_size"
        );
        assert_eq!(
            name(Params {
                prune: Some(-0.1),
                ..base()
            }),
            "prune"
        );
    }

    #[test]
    fn parameters_are_for_their_variants() {
        let refused = |params: Params| {
            matches!(
                params.check(),
                Err(EnsembleError::Parameter(ParameterError::Conflict { .. }))
            )
        };
        use Variant::{Sf, SfCs, SfH, SfHCs, SfLr, SfLrCs};
        for variant in [Sf, SfCs, SfLr, SfLrCs, SfH, SfHCs] {
            let base = || Params {
                variant,
                ..Params::default()
            };
            assert!(base().check().is_ok());
            let weighted = variant.is_cost_sensitive();
            assert_eq!(
                refused(Params {
                    beta: Some(0.1),
                    ..base()
                }),
                !weighted
            );
            assert_eq!(
                refused(Params {
                    weight_mode: Some(WeightMode::Sqrt),
                    ..base()
                }),
                !weighted
            );
            let oblique = variant.is_oblique();
            assert_eq!(
                refused(Params {
                    fall_back: Some(false),
                    ..base()
                }),
                !oblique
            );
            assert_eq!(
                refused(Params {
                    scaling: Some(FeatureScaling::Raw),
                    ..base()
                }),
                !oblique
            );
            assert_eq!(
                refused(Params {
                    l2: Some(0.1),
                    ..base()
                }),
                !variant.is_logistic()
            );
            let hellinger = variant.is_hellinger();
            assert_eq!(
                refused(Params {
                    rho: Some(0.1),
                    ..base()
                }),
                !hellinger
            );
            assert_eq!(
                refused(Params {
                    descent_steps: Some(9),
                    ..base()
                }),
                !hellinger
            );
            assert_eq!(
                refused(Params {
                    batch_size: Some(9),
                    ..base()
                }),
                !hellinger
            );
            assert_eq!(
                refused(Params {
                    step_size: Some(0.1),
                    ..base()
                }),
                !hellinger
            );
            assert_eq!(
                refused(Params {
                    prune: Some(0.1),
                    ..base()
                }),
                !hellinger
            );
            let json = serde_json::to_string(&base()).unwrap();
            assert_eq!(serde_json::from_str::<Params>(&json).unwrap(), base(), "{json}");
        }
        let (variant, scaling) = (Sf, Some(FeatureScaling::BySparsity));
        let refused = Params {
            variant,
            scaling,
            ..Params::default()
        };
        assert_eq!(
            refused.check().unwrap_err().to_string(),
            "`scaling` = by-sparsity is for sf-lr and sf-h only"
        );
    }
}
