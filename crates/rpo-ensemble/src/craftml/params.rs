//! Parameters of CRAFTML.

use crate::error::EnsembleError;
use crate::forest::LeafChoice;
use rpo_core::{CheckParams, ForestLearner, ParameterError};
use rpo_tree::GrowParams;
use rpo_tree::centroid::{CentroidParams, NodeSample};
use rpo_tree::cluster::{Geometry, KMeansParams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::ParseFloatError;
use std::str::FromStr;

/// Version of the algorithm; see [`CraftmlParams`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum CraftmlVariant {
    /// The method as published (ICML 2018) and, where the paper is silent, as its authors released it: 50 trees, k =
    /// 10, hashing to 10,000 components of features (per tree) and labels (per node), 20,000 samples clustered at a
    /// node by 5 passes of spherical k-means, centroids of 1000 entries, leaves below 10 samples, depth of at most 800.
    #[default]
    Original,
    /// The re-implementation of a student report, with its defects corrected: 4 trees, k = 9, sparse Rademacher
    /// projections of features and labels to 70 % and 60 % of their number in turn, both drawn anew at every node, 60 %
    /// of a node's samples clustered by Euclidean k-means (10 starts, at most 300 passes), routing by distance in the
    /// projected space, leaves below 200 samples, whole centroids.
    Report,
    /// The report's re-implementation with the two defects of its code, for comparison with its printed figures: the
    /// first samples of a node are clustered instead of a random sample, and predictions are routed by distance to the
    /// means of the children's features although training samples are routed in a projected space.
    ReportQuirks,
}

/// Storage of centroids in a model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum CentroidKind {
    /// The training samples whose means the centroids are; the file holds the training samples once. The
    /// leaves are recomputed when the forest is loaded, and the centroids of a node when samples reach it, both bit for
    /// bit. Takes a byte per sample, level and tree, whatever
    /// the number of features and labels.
    Rows,
    /// The centroids themselves, several bytes per entry: for forests of few trees, and for files that must not hold the
    /// training samples (with [`LeafChoice::Sparse`]).
    Values,
}

/// Largest number of entries of a centroid.
///
/// As text: `all`, or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CentroidEntries {
    /// No limit.
    All,
    /// At most this many entries, at least 1; those largest in magnitude are kept.
    Most(usize),
}

impl CentroidEntries {
    fn limit(self) -> Option<usize> {
        match self {
            Self::All => None,
            Self::Most(entries) => Some(entries),
        }
    }
}

impl fmt::Display for CentroidEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Most(entries) => write!(f, "{entries}"),
        }
    }
}

impl FromStr for CentroidEntries {
    type Err = EnsembleError;

    fn from_str(text: &str) -> Result<Self, EnsembleError> {
        match text.parse() {
            _ if text == "all" => Ok(Self::All),
            Ok(entries) if entries > 0 => Ok(Self::Most(entries)),
            _ => {
                let expected = "all, or a number of at least 1";
                Err(ParameterError::out_of_range("centroid_entries", text, expected).into())
            }
        }
    }
}

rpo_core::impl_text_serde!(CentroidEntries, ["integer", "string"]);

/// Number of components of a projection of features or labels.
///
/// As text: a number, or fractions of the number of columns such as `0.7,0.6`.
#[derive(Debug, Clone, PartialEq)]
pub enum Width {
    /// A fixed number, whatever the number of columns.
    Fixed(usize),
    /// ⌊fraction · columns⌋, but at least 1. Trees use the fractions, each in (0, 1], in turn.
    Shares(Vec<f64>),
}

impl Width {
    /// Returns the width for a tree and a number of columns.
    pub(super) fn resolve(&self, tree: usize, n_columns: usize) -> usize {
        match self {
            Self::Fixed(width) => *width,
            Self::Shares(shares) => ((shares[tree % shares.len()] * n_columns as f64) as usize).max(1),
        }
    }

    pub(super) fn check(&self, name: &'static str) -> Result<(), ParameterError> {
        let fail = |given: String, expected| Err(ParameterError::out_of_range(name, given, expected));
        match self {
            Self::Fixed(width) if !(1..=MAX_WIDTH).contains(width) => {
                fail(width.to_string(), "1 to 16777216 components")
            }
            Self::Shares(shares) if shares.is_empty() => fail("none".to_owned(), "at least one fraction"),
            Self::Shares(shares) => match shares.iter().find(|s| !(**s > 0.0 && **s <= 1.0)) {
                Some(bad) => fail(bad.to_string(), "fractions in (0, 1]"),
                None => Ok(()),
            },
            Self::Fixed(_) => Ok(()),
        }
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(width) => write!(f, "{width}"),
            Self::Shares(shares) => {
                // Always with a decimal point, so that a fraction of 1 is not read as one component.
                let texts: Vec<String> = shares.iter().map(|share| format!("{share:?}")).collect();
                f.write_str(&texts.join(","))
            }
        }
    }
}

impl FromStr for Width {
    type Err = EnsembleError;

    fn from_str(text: &str) -> Result<Self, EnsembleError> {
        let shares = || text.split(',').map(str::parse).collect::<Result<_, _>>();
        let parsed = text.parse().map(Self::Fixed);
        let width = parsed.or_else(|_| shares().map(Self::Shares));
        let expected = "a number of components, or fractions in (0, 1] such as 0.7,0.6";
        let width =
            width.map_err(|_: ParseFloatError| ParameterError::out_of_range("width", text, expected))?;
        width.check("width")?;
        Ok(width)
    }
}

rpo_core::impl_text_serde!(Width, ["integer", "number", "string"]);

/// Largest number of labels for which nodes have 5 children by default.
const FEW_LABELS: usize = 100;

/// Largest fixed width. A thread needs k numbers per component.
const MAX_WIDTH: usize = 1 << 24;

/// Parameters of CRAFTML.
///
/// Start from the [`default`](Self::default) or a [`CraftmlVariant`], and change fields. The field `variant` alone
/// selects the version of the algorithm; the other fields hold its numeric settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CraftmlParams {
    /// Version of the algorithm: original (the paper's), report (a student report's), or report-quirks (the same with the
    /// defects of its code). The presets of these names set it with the settings that belong to it.
    pub variant: CraftmlVariant,
    /// Number of trees.
    ///
    /// At least 1.
    #[schemars(range(min = 1))]
    pub trees: usize,
    /// Index of the first tree. Forests grown with the same seed and successive indices can be merged.
    ///
    /// A tree depends only on the data, the seed and its index.
    pub first_tree: usize,
    /// Largest depth of a leaf; the root has depth 0.
    pub max_depth: Option<u32>,
    /// Smallest number of samples that a node must have to be split.
    pub min_samples_split: usize,
    /// Storage of leaves. auto refers to training samples in trees whose leaves hold few samples, and stores sparse
    /// means in others.
    pub leaves: LeafChoice,
    /// Largest number of children of a node; 5 by default for up to 100 labels and 10 for more.
    ///
    /// 1 (a tree is one leaf) to 65,535. The paper uses 10, on data sets with hundreds of labels and more. With few
    /// labels, most nodes do not have 10 kinds of label sets to separate, and trees with 5 children score better
    /// (docs/defaults.md).
    #[schemars(range(min = 1, max = 65535))]
    pub clusters: Option<usize>,
    /// Number of components to which features are projected: a number, or fractions of the number of features, such as
    /// 0.7,0.6, which trees use in turn.
    ///
    /// More components than features are allowed and harmless: hashing is then nearly the identity.
    pub feature_width: Width,
    /// Number of components to which labels are projected: a number, or fractions of the number of labels.
    pub label_width: Width,
    /// Samples of a node that are clustered: a number, or a fraction such as 0.6. With first:0.6 they are the first
    /// samples of the node instead of random ones.
    pub node_sample: NodeSample,
    /// Largest number of passes of k-means.
    #[schemars(range(min = 1))]
    pub passes: usize,
    /// Number of starts of k-means, of which the best is used.
    #[schemars(range(min = 1, max = 1000))]
    pub starts: usize,
    /// Largest number of entries of a centroid, or all.
    ///
    /// The entries largest in magnitude are kept. Default 1000, as in the released code; fewer make a smaller and faster
    /// model.
    pub centroid_entries: CentroidEntries,
    /// Storage of centroids in the model file: rows for the training samples whose means they are (small, with the
    /// training samples in the file), or values for the centroids themselves.
    ///
    /// Predictions do not depend on it, but their time does: with rows, the centroids of small nodes are computed when
    /// samples reach them. On 80,000 texts, a sample that is predicted alone takes 1 to 9 milliseconds per tree, and
    /// some hundredths of a millisecond with values. Use values for a service that predicts single samples; the file is
    /// then 7 to 50 times larger (docs/performance.md). The report's variants allow only values, because each of their
    /// nodes uses another projection of the features.
    pub centroids: CentroidKind,
    /// Seed of all randomness.
    pub seed: u64,
}

impl Default for CraftmlParams {
    /// The settings of [`CraftmlVariant::Original`] with a number of clusters that depends on the number of labels.
    fn default() -> Self {
        Self {
            clusters: None,
            ..CraftmlVariant::Original.into()
        }
    }
}

impl From<CraftmlVariant> for CraftmlParams {
    fn from(variant: CraftmlVariant) -> Self {
        match variant {
            CraftmlVariant::Original => Self {
                variant: CraftmlVariant::Original,
                trees: 50,
                first_tree: 0,
                max_depth: Some(800),
                min_samples_split: 10,
                leaves: LeafChoice::Auto,
                clusters: Some(10),
                feature_width: Width::Fixed(10_000),
                label_width: Width::Fixed(10_000),
                node_sample: NodeSample::Count(20_000),
                passes: 5,
                starts: 1,
                centroid_entries: CentroidEntries::Most(1000),
                centroids: CentroidKind::Rows,
                seed: 0,
            },
            CraftmlVariant::Report => Self {
                variant: CraftmlVariant::Report,
                trees: 4,
                max_depth: None,
                min_samples_split: 200,
                clusters: Some(9),
                feature_width: Width::Shares(vec![0.7, 0.6]),
                label_width: Width::Shares(vec![0.7, 0.6]),
                node_sample: NodeSample::Share(0.6),
                passes: 300,
                starts: 10,
                centroid_entries: CentroidEntries::All,
                centroids: CentroidKind::Values,
                ..CraftmlVariant::Original.into()
            },
            CraftmlVariant::ReportQuirks => Self {
                variant: CraftmlVariant::ReportQuirks,
                node_sample: NodeSample::FirstShare(0.6),
                ..CraftmlVariant::Report.into()
            },
        }
    }
}

impl CheckParams for CraftmlParams {
    type Error = EnsembleError;

    fn check(&self) -> Result<(), EnsembleError> {
        self.indices()?;
        if self.variant != CraftmlVariant::Original && self.centroids == CentroidKind::Rows {
            let reason = "cannot be combined with this `variant`, which projects the features differently at every node";
            return Err(ParameterError::conflict("centroids", "rows", reason).into());
        }
        self.feature_width.check("feature_width")?;
        self.label_width.check("label_width")?;
        self.centroid_params(1).check()?;
        Ok(())
    }
}

impl CraftmlParams {
    pub(super) fn grow_params(&self) -> GrowParams {
        GrowParams {
            max_depth: self.max_depth,
            min_samples_split: self.min_samples_split,
            max_leaves: None,
        }
    }

    /// Returns the parameters of nodes for a number of labels.
    pub(super) fn centroid_params(&self, n_labels: usize) -> CentroidParams {
        let default = if n_labels <= FEW_LABELS { 5 } else { 10 };
        let clusters = self.clusters.unwrap_or(default);
        let geometry = match self.variant {
            CraftmlVariant::Original => Geometry::Spherical,
            CraftmlVariant::Report | CraftmlVariant::ReportQuirks => Geometry::Euclidean,
        };
        CentroidParams {
            kmeans: KMeansParams {
                passes: self.passes,
                starts: self.starts,
                ..KMeansParams::new(geometry, clusters)
            },
            node_sample: self.node_sample,
            centroid_entries: self.centroid_entries.limit(),
            ..CentroidParams::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use rpo_tree::TreeError;

    #[test]
    fn widths() {
        let shares = Width::Shares(vec![0.7, 0.6]);
        assert_eq!(
            [0, 1, 2].map(|tree| shares.resolve(tree, 1836)),
            [1285, 1101, 1285]
        );
        assert_eq!(shares.resolve(0, 1), 1);
        assert_eq!(Width::Fixed(5).resolve(3, 1836), 5);
        for (text, width) in [
            ("12", Width::Fixed(12)),
            ("0.7,0.6", shares),
            ("1.0", Width::Shares(vec![1.0])),
        ] {
            assert_eq!(text.parse(), Ok(width.clone()));
            assert_eq!(width.to_string(), text);
        }
        for bad in ["0", "", "0.5,", "1.5", "nan", "-1"] {
            assert!(bad.parse::<Width>().is_err(), "{bad}");
        }
    }

    #[test]
    fn variants_read_what_they_write() {
        for variant in [
            CraftmlVariant::Original,
            CraftmlVariant::Report,
            CraftmlVariant::ReportQuirks,
        ] {
            let params = CraftmlParams::from(variant);
            assert_eq!(params.variant, variant);
            assert!(params.check().is_ok());
            let json = serde_json::to_string(&params).unwrap();
            assert_eq!(
                serde_json::from_str::<CraftmlParams>(&json).unwrap(),
                params,
                "{json}"
            );
        }
        let given: CraftmlParams = serde_json::from_str(
            r#"{"variant": "report-quirks", "centroid_entries": 7, "node_sample": 0.5, "label_width": "0.5,1.0"}"#,
        )
        .unwrap();
        assert_eq!(given.centroid_entries, CentroidEntries::Most(7));
        assert_eq!(given.node_sample, NodeSample::Share(0.5));
        assert_eq!(given.label_width, Width::Shares(vec![0.5, 1.0]));
        assert!("0".parse::<CentroidEntries>().is_err());
    }

    #[test]
    fn parameters_are_checked_at_their_bounds() {
        let name = |params: CraftmlParams| match params.check() {
            Err(EnsembleError::Parameter(error) | EnsembleError::Tree(TreeError::Parameter(error))) => {
                error.name()
            }
            other => panic!("{other:?}"),
        };
        let base = || CraftmlParams::from(CraftmlVariant::Original);
        assert_eq!(name(CraftmlParams { trees: 0, ..base() }), "trees");
        let first_tree = usize::MAX;
        assert_eq!(name(CraftmlParams { first_tree, ..base() }), "first_tree");
        for clusters in [0, 65_536] {
            assert_eq!(
                name(CraftmlParams {
                    clusters: Some(clusters),
                    ..base()
                }),
                "clusters"
            );
        }
        for width in [0, MAX_WIDTH + 1] {
            let feature_width = Width::Fixed(width);
            assert_eq!(
                name(CraftmlParams {
                    feature_width,
                    ..base()
                }),
                "feature_width"
            );
        }
        for bad in [0.0, 1.0 + f64::EPSILON, f64::NAN] {
            let label_width = Width::Shares(vec![0.5, bad]);
            assert_eq!(
                name(CraftmlParams {
                    label_width,
                    ..base()
                }),
                "label_width"
            );
            let node_sample = NodeSample::Share(bad);
            assert_eq!(
                name(CraftmlParams {
                    node_sample,
                    ..base()
                }),
                "node_sample"
            );
        }
        let label_width = Width::Shares(vec![]);
        assert_eq!(
            name(CraftmlParams {
                label_width,
                ..base()
            }),
            "label_width"
        );
        let node_sample = NodeSample::Count(0);
        assert_eq!(
            name(CraftmlParams {
                node_sample,
                ..base()
            }),
            "node_sample"
        );
        assert_eq!(name(CraftmlParams { passes: 0, ..base() }), "passes");
        for starts in [0, 1001] {
            assert_eq!(name(CraftmlParams { starts, ..base() }), "starts");
        }
        let centroid_entries = CentroidEntries::Most(0);
        assert_eq!(
            name(CraftmlParams {
                centroid_entries,
                ..base()
            }),
            "centroid_entries"
        );
        for centroids in [CentroidKind::Rows, CentroidKind::Values] {
            assert!(CraftmlParams { centroids, ..base() }.check().is_ok());
            let report = CraftmlParams {
                centroids,
                ..CraftmlVariant::Report.into()
            };
            assert_eq!(report.check().is_ok(), centroids == CentroidKind::Values);
        }
        let bounds = CraftmlParams {
            trees: 1,
            clusters: Some(65_535),
            feature_width: Width::Fixed(1),
            node_sample: NodeSample::Share(1.0),
            centroid_entries: CentroidEntries::All,
            ..base()
        };
        assert!(bounds.check().is_ok());
    }
}
