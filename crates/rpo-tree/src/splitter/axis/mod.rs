//! Splits of one feature at a threshold.
//!
//! For each candidate feature the best threshold (CART, random forests) or a random one (Extra-Trees) is scored, and
//! the best candidate wins. Among equal scores the feature drawn first wins (a random one where all are searched), and
//! inside a feature the smallest threshold. A split may gain nothing: an impure node with two distinct values is split,
//! as fully developed trees need (exclusive or, for example).

mod evaluator;
mod few;
mod params;
mod search;
mod varying;

pub use params::{AxisParams, Search, ThresholdSearch};
pub use search::AxisSearch;

use super::categories::CategoryTargets;
use super::{NodeRows, ProposedSplit, Splitter};
use crate::TreeError;
use crate::criterion::{Criterion, MOST_FEW};
use crate::grow::{GrowParams, Subtree};
use crate::ranks::{Layout, RankedFeatures};
use crate::rule::AxisRule;
use few::BinaryCells;
use rpo_core::Mismatch;
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Numbers of rows of a node whose subtree is worth copying: few enough for their data to fit into a core's cache.
const COPIED: RangeInclusive<usize> = 1_024..=16_384;
/// Fewest rows of a training set in which the rows of such a node lie far apart. A copy has fewer rows, so nothing is
/// copied twice.
const SCATTERED: usize = 65_536;
/// Largest ratio of all features (which are copied) to those searched at a node (which every level of the subtree
/// reads).
const COPIED_PER_SEARCHED: usize = 32;

/// Splits one feature against a threshold: among the features drawn, the one whose best (CART, random forests) or
/// random (Extra-Trees: Geurts, Ernst, Wehenkel, Machine Learning 63, 2006, table 1) threshold scores highest.
///
/// Observed values up to the threshold go left. A best threshold is the midpoint of two neighbouring values of the
/// node. With missing values (NaN), each threshold is tried with all of them left and all of them right, and best
/// thresholds also against "observed left, missing right". If a node has no missing value, missing values will follow
/// the child with more samples. Ties: among equal scores the feature drawn first wins (a random one where all are
/// searched), then the smaller threshold, then missing values right. Nodes are leaves if they are pure or have fewer
/// than `2 min_samples_leaf` samples. Categorical features are split into [subsets](crate::categories) of their
/// categories: the best prefix of the ordered categories, or a random one in Extra-Trees.
///
/// Cost per node of n samples and k features, where m is the cost of moving a sample: O(k n (m + log n)); for a sparse
/// feature only samples with a stored value count. Dense and sparse features give the same tree.
#[derive(Debug, Clone)]
pub struct AxisSplitter<'a, C> {
    columns: Cow<'a, RankedFeatures>,
    /// The features to choose from, if not all.
    subset: Option<&'a [u32]>,
    criterion: C,
    targets: Option<CategoryTargets<'a>>,
    params: AxisParams,
}

impl<'a, C: Criterion + Sync> AxisSplitter<'a, C> {
    /// Creates a splitter from ranked features (n x p), a criterion over the same n samples, and parameters or a
    /// [`Search`] among some features.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] with the first parameter out of range and for features that are not increasing,
    /// [`TreeError::TooFew`] for a feature that does not exist.
    pub fn new(
        columns: &'a RankedFeatures,
        criterion: C,
        search: impl Into<Search<'a>>,
    ) -> Result<Self, TreeError> {
        let search = search.into();
        search.check(columns.n_features())?;
        Ok(Self {
            columns: Cow::Borrowed(columns),
            subset: search.features,
            criterion,
            targets: None,
            params: search.params,
        })
    }

    /// Orders categories by the means of these targets, which are those of the criterion for the same n samples;
    /// without them, categories keep the order of their codes.
    ///
    /// # Errors
    /// [`TreeError::Mismatch`] if the number of targets, weights or curvatures differs.
    pub fn with_category_targets(self, targets: CategoryTargets<'a>) -> Result<Self, TreeError> {
        let (n, m) = (targets.targets.n_rows(), targets.targets.n_cols());
        Mismatch::check("rows of targets", self.columns.n_rows(), n)?;
        Mismatch::check("weights", n, targets.weights.len())?;
        Mismatch::check(
            "curvatures",
            n * m,
            targets.curvatures.map_or(n * m, <[f32]>::len),
        )?;
        Ok(Self {
            targets: Some(targets),
            ..self
        })
    }
}

impl<C> AxisSplitter<'_, C> {
    /// Returns the cells if a node has few rows and its subtree can be grown as [`FewRows`].
    fn cells_of_few(&self, rows: &[u32]) -> Option<BinaryCells<'_>> {
        match self.columns.layout() {
            Layout::Sparse(columns) if rows.len() <= MOST_FEW => BinaryCells::of(columns),
            _ => None,
        }
    }
}

impl<C: Criterion + Sync> Splitter for AxisSplitter<'_, C> {
    type Rule = AxisRule;
    /// The search, the criterion, and the node on which the criterion was started.
    type Workspace = (AxisSearch, C, Option<usize>);

    fn n_rows(&self) -> usize {
        self.columns.n_rows()
    }

    fn workspace(&self) -> Self::Workspace {
        let search = AxisSearch::new(&self.columns, self.subset);
        (search, self.criterion.clone(), None)
    }

    fn begin(&self, (search, _, begun): &mut Self::Workspace) {
        search.begin();
        *begun = None;
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        (search, criterion, begun): &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<AxisRule>> {
        if node.rows.len() / 2 < self.params.min_samples_leaf {
            return None;
        }
        if *begun != Some(node.number) {
            criterion.start(node.rows);
            *begun = Some(node.number);
        }
        if criterion.is_pure() {
            return None;
        }
        search.search(
            &self.columns,
            node,
            criterion,
            self.targets,
            &self.params,
            children,
        )
    }

    fn opened(
        &self,
        parent: usize,
        children: &[(NodeRows<'_>, bool)],
        (search, criterion, begun): &mut Self::Workspace,
    ) {
        let [(left, left_searched), (right, right_searched)] = children else {
            return;
        };
        let (others, rest, is_searched) = if left.rows.len() < right.rows.len() {
            (left, right, right_searched)
        } else {
            (right, left, left_searched)
        };
        if *is_searched && self.cells_of_few(rest.rows).is_none() {
            if *begun == Some(parent) && criterion.take_out(others.rows) {
                *begun = Some(rest.number);
            }
            search.opened(parent, others.rows, rest.number);
        }
    }

    fn grow_below(
        &self,
        root: NodeRows<'_>,
        limits: &GrowParams,
        (search, criterion, begun): &mut Self::Workspace,
        subtree: &mut Subtree<AxisRule>,
    ) -> bool {
        let Some(cells) = self.cells_of_few(root.rows) else {
            return false;
        };
        *begun = None;
        search.searched = None;
        search.grow_few(cells, root, criterion, (&self.params, limits), subtree);
        true
    }

    fn of_subtree(&self, rows: &[u32]) -> Option<Self> {
        let k = self.params.max_features.unwrap_or(usize::MAX);
        let is_scattered = self.columns.n_rows() >= SCATTERED;
        let is_worth_it =
            COPIED.contains(&rows.len()) && self.columns.n_features() / COPIED_PER_SEARCHED <= k;
        if !(is_scattered && is_worth_it) {
            return None;
        }
        Some(Self {
            criterion: self.criterion.of_rows(rows)?,
            columns: Cow::Owned(self.columns.of_rows(rows)?),
            subset: self.subset,
            // Targets are used for categories only, of which there are none.
            targets: None,
            params: self.params,
        })
    }
}
