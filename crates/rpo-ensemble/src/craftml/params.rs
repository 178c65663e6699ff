//! Parameters of CRAFTML.

use crate::error::EnsembleError;
use crate::inputs::check_indices;
use rpo_core::{ParameterError, Seed, check_count};
use rpo_tree::centroid::{CentroidParams, NodeSample};
use rpo_tree::cluster::KMeansParams;
use rpo_tree::{GrowParams, LeafKind};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::ParseFloatError;
use std::str::FromStr;

/// Whose version of the method; see the [presets](CraftmlParams).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CraftmlPreset {
    /// The authors' (ICML 2018, and what their released code adds).
    Original,
    /// A student report's, with its defects mended.
    Report,
    /// The report's with the two defects of its code, to compare with its printed figures: the first rows of a node
    /// teach and not a sample, and predictions are routed by distance to the means of the children's features while
    /// training rows are routed in a projected space.
    ReportQuirks,
}

const PRESETS: [(&str, CraftmlPreset); 3] = [
    ("original", CraftmlPreset::Original),
    ("report", CraftmlPreset::Report),
    ("report-quirks", CraftmlPreset::ReportQuirks),
];

impl fmt::Display for CraftmlPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = PRESETS.iter().find(|(_, preset)| preset == self);
        f.write_str(name.expect("every preset has a name").0)
    }
}

impl FromStr for CraftmlPreset {
    type Err = EnsembleError;

    fn from_str(text: &str) -> Result<Self, EnsembleError> {
        let found = PRESETS.iter().find(|(name, _)| *name == text);
        found.map(|(_, preset)| *preset).ok_or_else(|| {
            ParameterError::out_of_range("preset", text, "original, report or report-quirks").into()
        })
    }
}

/// How a forest keeps its centroids where memory is not at hand: in its file.
///
/// As text: `rows` or `values`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CentroidKind {
    /// As the training rows whose means they are; the training rows are kept once. Centroids and leaves are made again from
    /// them when the forest is loaded, bit for bit. A byte per row, level and tree, whatever the number of features and
    /// labels.
    Rows,
    /// As they are: several bytes per entry. For forests of few trees, and those that must not hold their training rows
    /// (with [`LeafKind::Sparse`] leaves).
    Values,
}

const CENTROID_KINDS: [(&str, CentroidKind); 2] =
    [("rows", CentroidKind::Rows), ("values", CentroidKind::Values)];

impl FromStr for CentroidKind {
    type Err = EnsembleError;

    fn from_str(text: &str) -> Result<Self, EnsembleError> {
        let found = CENTROID_KINDS.iter().find(|(name, _)| *name == text);
        found
            .map(|(_, kind)| *kind)
            .ok_or_else(|| ParameterError::out_of_range("centroids", text, "rows or values").into())
    }
}

/// How many components rows are projected to.
///
/// As text: a number, or shares such as `0.7,0.6`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Width {
    /// This many, whatever the number of columns.
    Fixed(usize),
    /// ⌊share · columns⌋ but at least 1, with the shares, each in (0, 1], taken by the trees in turn.
    Shares(Vec<f64>),
}

impl Width {
    /// The width for a tree and a number of columns.
    pub fn resolve(&self, tree: usize, n_columns: usize) -> usize {
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
            Self::Shares(shares) if shares.is_empty() => fail("no share".to_owned(), "at least one share"),
            Self::Shares(shares) => match shares.iter().find(|s| !(**s > 0.0 && **s <= 1.0)) {
                Some(bad) => fail(bad.to_string(), "shares in (0, 1]"),
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
                // Always with a point, so that a share of 1 does not read as one component.
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
        let expected = "a number of components, or shares in (0, 1] such as 0.7,0.6";
        let width =
            width.map_err(|_: ParseFloatError| ParameterError::out_of_range("width", text, expected))?;
        width.check("width")?;
        Ok(width)
    }
}

/// Largest fixed width: a thread works with k numbers per component.
const MAX_WIDTH: usize = 1 << 24;

/// Parameters of CRAFTML. Start from [`original`](Self::original) or [`report`](Self::report), set what differs, then
/// [`check`](Self::check) and fit. Serialised for the record of what was fitted, without the seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CraftmlParams {
    pub(super) preset: CraftmlPreset,
    #[serde(rename = "trees")]
    pub(super) n_trees: usize,
    pub(super) first_tree: usize,
    pub(super) feature_width: Width,
    pub(super) label_width: Width,
    #[serde(flatten)]
    pub(super) nodes: CentroidParams,
    #[serde(flatten)]
    pub(super) grow: GrowParams,
    pub(super) leaves: Option<LeafKind>,
    pub(super) centroids: CentroidKind,
    #[serde(skip)]
    pub(super) seed: Seed,
}

impl CraftmlParams {
    /// The method as published, and where the paper is silent as its authors released it: 50 trees, k = 10, hashing to
    /// 10,000 components of features (per tree) and labels (per node), 20,000 rows clustered at a node by 5 passes of
    /// spherical k-means, centroids of 1000 entries, leaves below 10 rows, depth of at most 800; seed 0.
    pub fn original() -> Self {
        Self {
            preset: CraftmlPreset::Original,
            n_trees: 50,
            first_tree: 0,
            feature_width: Width::Fixed(10_000),
            label_width: Width::Fixed(10_000),
            nodes: CentroidParams::craftml(),
            grow: GrowParams {
                max_depth: Some(800),
                min_samples_split: 10,
                max_leaves: None,
            },
            leaves: None,
            centroids: CentroidKind::Rows,
            seed: Seed::new(0),
        }
    }

    /// The student report's re-implementation: 4 trees, k = 9, sparse Rademacher projections of features and labels to
    /// 70 % and 60 % of their number in turn, both anew at every node, 60 % of a node's rows clustered by Euclidean
    /// k-means (10 starts, at most 300 passes), routing by distance in the projected space, leaves below 200 rows, whole
    /// centroids; seed 0.
    pub fn report() -> Self {
        Self {
            preset: CraftmlPreset::Report,
            n_trees: 4,
            first_tree: 0,
            feature_width: Width::Shares(vec![0.7, 0.6]),
            label_width: Width::Shares(vec![0.7, 0.6]),
            nodes: CentroidParams {
                kmeans: KMeansParams::euclidean(9),
                node_sample: NodeSample::Share(0.6),
                centroid_entries: None,
                attempts: 5,
            },
            grow: GrowParams {
                max_depth: None,
                min_samples_split: 200,
                max_leaves: None,
            },
            centroids: CentroidKind::Values,
            ..Self::original()
        }
    }

    /// [`report`](Self::report) with the two defects of its code; see [`CraftmlPreset::ReportQuirks`].
    pub fn report_quirks() -> Self {
        let mut params = Self::report();
        params.preset = CraftmlPreset::ReportQuirks;
        params.nodes.node_sample = NodeSample::FirstShare(0.6);
        params
    }

    /// The parameters of a preset.
    pub fn preset(preset: CraftmlPreset) -> Self {
        match preset {
            CraftmlPreset::Original => Self::original(),
            CraftmlPreset::Report => Self::report(),
            CraftmlPreset::ReportQuirks => Self::report_quirks(),
        }
    }

    /// Number of trees, at least 1. Default 50 (report: 4).
    #[must_use]
    pub fn n_trees(self, n_trees: usize) -> Self {
        Self { n_trees, ..self }
    }

    /// Index of the first tree. Default 0. A tree depends on the seed and its index alone, so a forest can be grown in
    /// parts, anywhere, and merged.
    #[must_use]
    pub fn first_tree(self, first_tree: usize) -> Self {
        Self { first_tree, ..self }
    }

    /// The indices of the trees.
    pub fn indices(&self) -> std::ops::Range<usize> {
        self.first_tree..self.first_tree.saturating_add(self.n_trees)
    }

    /// Largest number of children of a node k, 1 (a tree is one leaf) to 65,535. Default 10 (report: 9).
    #[must_use]
    pub fn n_clusters(mut self, k: usize) -> Self {
        self.nodes.kmeans.clusters = k;
        self
    }

    /// Components p' of the projected features. Default 10,000 (report: 70 % and 60 % in turn). More than p is legal
    /// and harmless: hashing is then nearly the identity.
    #[must_use]
    pub fn feature_width(self, feature_width: Width) -> Self {
        Self {
            feature_width,
            ..self
        }
    }

    /// Components d' of the projected labels. Default 10,000 (report: 70 % and 60 % in turn).
    #[must_use]
    pub fn label_width(self, label_width: Width) -> Self {
        Self { label_width, ..self }
    }

    /// Which rows of a node are clustered. Default at most 20,000 (report: 60 %).
    #[must_use]
    pub fn sample(mut self, sample: NodeSample) -> Self {
        self.nodes.node_sample = sample;
        self
    }

    /// Largest number of passes of k-means, at least 1. Default 5 (report: 300).
    #[must_use]
    pub fn max_passes(mut self, max_passes: usize) -> Self {
        self.nodes.kmeans.passes = max_passes;
        self
    }

    /// Number of starts of k-means, at least 1. Default 1 (report: 10).
    #[must_use]
    pub fn n_starts(mut self, n_starts: usize) -> Self {
        self.nodes.kmeans.starts = n_starts;
        self
    }

    /// Largest number of entries of a centroid, at least 1; the largest in size are kept. Default 1000, as in the
    /// released code (report: all). Fewer make a smaller and faster model.
    #[must_use]
    pub fn centroid_entries(mut self, max_entries: Option<usize>) -> Self {
        self.nodes.centroid_entries = max_entries;
        self
    }

    /// Fewest rows of a node that is split. Default 10 (report: 200).
    #[must_use]
    pub fn min_samples_split(mut self, min_samples_split: usize) -> Self {
        self.grow.min_samples_split = min_samples_split;
        self
    }

    /// Largest depth of a leaf; the root has depth 0. Default 800 (report: none).
    #[must_use]
    pub fn max_depth(mut self, max_depth: Option<u32>) -> Self {
        self.grow.max_depth = max_depth;
        self
    }

    /// How leaves are stored. `None`, the default, refers to training rows in trees whose leaves hold few and keeps
    /// sparse means in the others.
    #[must_use]
    pub fn leaves(self, leaves: Option<LeafKind>) -> Self {
        Self { leaves, ..self }
    }

    /// How centroids are kept in a file; no prediction depends on it. Default as training rows (report: as values, and
    /// nothing else is possible there, as its nodes see features each in another projection).
    #[must_use]
    pub fn centroids(self, centroids: CentroidKind) -> Self {
        Self { centroids, ..self }
    }

    /// The master seed, from which the streams of all trees derive. Default 0.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self {
            seed: Seed::new(seed),
            ..self
        }
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`EnsembleError::Parameter`] or [`EnsembleError::Tree`] with the first parameter out of range.
    pub fn check(self) -> Result<ValidCraftmlParams, EnsembleError> {
        check_count("n_trees", self.n_trees)?;
        check_indices(self.first_tree, self.n_trees)?;
        if self.preset != CraftmlPreset::Original && self.centroids == CentroidKind::Rows {
            let expected = "values, as the preset's nodes see features each in another projection";
            return Err(ParameterError::out_of_range("centroids", "rows", expected).into());
        }
        self.feature_width.check("feature_width")?;
        self.label_width.check("label_width")?;
        self.nodes.check()?;
        self.grow.check()?;
        Ok(ValidCraftmlParams(self))
    }
}

/// Checked [`CraftmlParams`], ready to [`fit`](Self::fit).
#[derive(Debug, Clone, PartialEq)]
pub struct ValidCraftmlParams(pub(super) CraftmlParams);

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_tree::TreeError;

    #[test]
    fn presets_read_what_they_write() {
        for (name, preset) in PRESETS {
            assert_eq!(name.parse(), Ok(preset));
            assert_eq!(preset.to_string(), name);
            assert_eq!(CraftmlParams::preset(preset).preset, preset);
        }
        assert!("Original".parse::<CraftmlPreset>().is_err());
    }

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
    fn parameters_are_checked_at_their_bounds() {
        let name = |params: CraftmlParams| match params.check() {
            Err(
                EnsembleError::Parameter(ParameterError::OutOfRange { name, .. })
                | EnsembleError::Tree(TreeError::Parameter(ParameterError::OutOfRange { name, .. })),
            ) => name,
            other => panic!("{other:?}"),
        };
        let base = CraftmlParams::original;
        assert_eq!(name(base().n_trees(0)), "n_trees");
        assert_eq!(name(base().first_tree(usize::MAX)), "first_tree");
        assert_eq!(name(base().n_clusters(0)), "clusters");
        assert_eq!(name(base().n_clusters(65_536)), "clusters");
        assert_eq!(name(base().feature_width(Width::Fixed(0))), "feature_width");
        assert_eq!(
            name(base().feature_width(Width::Fixed(MAX_WIDTH + 1))),
            "feature_width"
        );
        for bad in [0.0, 1.0 + f64::EPSILON, f64::NAN] {
            let shares = Width::Shares(vec![0.5, bad]);
            assert_eq!(name(base().label_width(shares)), "label_width");
            assert_eq!(name(base().sample(NodeSample::Share(bad))), "sample");
        }
        assert_eq!(name(base().label_width(Width::Shares(vec![]))), "label_width");
        assert_eq!(name(base().sample(NodeSample::Count(0))), "sample");
        assert_eq!(name(base().max_passes(0)), "passes");
        assert_eq!(name(base().n_starts(0)), "starts");
        assert_eq!(name(base().centroid_entries(Some(0))), "max_entries");
        assert!("row".parse::<CentroidKind>().is_err());
        for (text, kind) in CENTROID_KINDS {
            assert_eq!(text.parse(), Ok(kind));
            assert!(base().centroids(kind).check().is_ok());
            let report = CraftmlParams::report().centroids(kind).check();
            assert_eq!(report.is_ok(), kind == CentroidKind::Values);
        }
        let bounds = base()
            .n_trees(1)
            .n_clusters(65_535)
            .feature_width(Width::Fixed(1))
            .sample(NodeSample::Share(1.0))
            .centroid_entries(None);
        assert!(bounds.check().is_ok());
        for preset in [CraftmlPreset::Report, CraftmlPreset::ReportQuirks] {
            assert!(CraftmlParams::preset(preset).check().is_ok());
        }
    }
}
