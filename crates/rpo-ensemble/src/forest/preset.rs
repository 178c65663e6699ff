//! Published methods as parameters of forests.

use super::choices::{CriterionKind, Splitting};
use super::params::ForestParams;
use crate::sampling::max_features::MaxFeatures;

/// A published method with the settings of the experiments named below, as a starting point for [`ForestParams`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForestPreset {
    /// Breiman's random forest (2001): bootstrap, best thresholds, ⌊√p⌋ features per node, fully grown trees; 100 trees, no
    /// projection. The protocol of Joly, Geurts, Wehenkel, ECML-PKDD 2014, section 4.
    #[default]
    RandomForest,
    /// Extra-Trees (Geurts, Ernst, Wehenkel 2006): no bootstrap, one random threshold per drawn feature
    /// ([`ThresholdSearch::Random`](rpo_tree::splitter::ThresholdSearch::Random)), otherwise like the random forest: ⌊√p⌋
    /// features also for numbers, for which the paper of 2006 has all.
    ExtraTrees,
    /// One fully grown CART tree (Breiman, Friedman, Olshen, Stone 1984, without pruning): no bootstrap, best thresholds,
    /// all features.
    Cart,
    /// The baseline rf-cost of Daniels and Metaxas (*Addressing Imbalance in Multi-Label Classification Using
    /// Structured Hellinger Forests*, AAAI 2017, *Experiments and Results*), for
    /// [single targets](crate::SingleTargetParams): 50 trees grown by entropy on 75 % of the samples and features, all of
    /// these features searched at each node, leaves of at least 3 samples. It is made cost-sensitive by its decision
    /// thresholds: [`thresholds`](crate::thresholds) on out-of-bag scores.
    RfCost,
}

impl From<ForestPreset> for ForestParams {
    fn from(preset: ForestPreset) -> Self {
        let base = Self::default();
        match preset {
            ForestPreset::RandomForest => base,
            ForestPreset::ExtraTrees => Self {
                bootstrap: Some(false),
                splitter: Splitting::Random,
                ..base
            },
            ForestPreset::Cart => Self {
                trees: 1,
                bootstrap: Some(false),
                max_features: MaxFeatures::All,
                ..base
            },
            ForestPreset::RfCost => Self {
                trees: 50,
                row_share: Some(0.75),
                feature_share: 0.75,
                criterion: CriterionKind::Entropy,
                max_features: MaxFeatures::All,
                min_samples_leaf: 3,
                ..base
            },
        }
    }
}
