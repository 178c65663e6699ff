//! The splitter that grows trees on histograms.

mod any_sums;
mod route;
mod search;
mod siblings;
mod targets;

pub use targets::SplitTargets;

use super::WORTH_IT;
use super::features::{BinnedFeatures, Layout};
use super::purity::Purity;
use super::search::{Limits, Sums};
use super::shared_root::share_root;
use super::workspace::{Common, HistogramWorkspace, Whole, Work};
use crate::TreeError;
use crate::rule::AxisRule;
use crate::splitter::{AxisParams, NodeRows, ProposedSplit, Search, Splitter, ThresholdSearch};
use any_sums::{AnySums, SumsVisitor};
use rpo_core::ParameterError;

/// Splits one feature against a threshold: the best one by the [gain](crate::histogram) of sums per bin.
///
/// Rules, missing values, drawn features and ties are as in [`AxisSplitter`](crate::splitter::AxisSplitter): among
/// equal scores the feature drawn first wins (a random one where all are searched), then the smaller threshold, then
/// missing values right; each threshold is tried with missing values on both sides. Without penalties and curvatures a
/// split may have a gain of 0; otherwise its gain must be positive. Nodes are leaves if their targets are equal or they
/// have fewer than 2 `min_samples_leaf` samples.
///
/// Cost of a node and its sibling: one addition per feature and sample of the smaller node (for sparse features: per
/// stored value), and a score per bin. If fewer than half of dense features are drawn, only those are summed, at every
/// node. A node whose rows touch few bins of sparse features sums and scores only those, of the drawn features: an
/// addition per stored value of both siblings, whatever the number of bins.
///
/// Memory: that of the sums of several nodes, m + 1 numbers per stored bin and node, but at most 256 MiB for all trees on
/// the same features together. Nodes for which no room is left, and all below them, are searched feature by feature, or a
/// block of features at a time, which takes more additions; the trees are the same. Threads that sum a node together take
/// such sums once more each, and nodes that list what their rows touch 4 bytes per stored value.
///
/// ```
/// use ndarray::Array2;
/// use rpo_tree::Seed;
/// use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, SplitTargets};
/// use rpo_tree::splitter::{AxisParams, Splitter};
/// use rpo_tree::{GrowParams, grow};
///
/// let x = Array2::from_shape_fn((500, 3), |(i, j)| ((i * (7 + 6 * j)) % 500) as f32);
/// let z = Array2::from_shape_fn((500, 1), |(i, _)| if x[[i, 1]] > 250.0 { 1.0 } else { -1.0 });
/// let features = BinnedFeatures::new((&x).into(), 255, &[])?;
/// let targets = SplitTargets { gradients: z.view(), weights: &[1.0; 500], ..SplitTargets::default() };
/// let splitter = HistogramSplitter::new(&features, targets, AxisParams::default())?;
/// let grown = grow(&splitter, &mut splitter.workspace(), (0..500).collect(), &GrowParams::default(), Seed::new(0))?;
/// let (_, rule) = grown.structure.splits().next().expect("the root is split");
/// assert_eq!(rule.test().feature, 1);
/// # Ok::<(), rpo_tree::TreeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct HistogramSplitter<'a> {
    features: &'a BinnedFeatures,
    /// The features to choose from, if not all.
    subset: Option<&'a [u32]>,
    params: AxisParams,
    may_gain_nothing: bool,
    /// See [`SplitTargets::has_unobserved`].
    has_unobserved: bool,
    purity: Purity<'a>,
    n_targets: usize,
    sums: AnySums,
}

/// Work on the children of a small node, in units of what is worth a second thread.
const SMALL: usize = 64;

impl<'a> HistogramSplitter<'a> {
    /// Creates a splitter from binned features (n x p), targets of the same n samples, and parameters or a [`Search`]
    /// among some features. Values are not checked here: non-finite values make the root a leaf.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] with the first parameter out of range, for random thresholds (which lie between
    /// values), and for features that are not increasing; [`TreeError::TooFew`] for a feature that does not exist,
    /// and if the number of gradients, curvatures, weights or penalties differs.
    ///
    /// # Panics
    /// If gradients or curvatures are not contiguous in row order.
    pub fn new(
        features: &'a BinnedFeatures,
        targets: SplitTargets<'a>,
        search: impl Into<Search<'a>>,
    ) -> Result<Self, TreeError> {
        let search = search.into();
        search.check(features.n_features())?;
        let params = search.params;
        if params.thresholds == ThresholdSearch::Random {
            let reason = "cannot be combined with random thresholds, which are drawn between values";
            let bins = BinnedFeatures::MOST_BINS;
            return Err(ParameterError::conflict("bins", bins, reason).into());
        }
        targets.check(features.n_rows())?;
        let has_unobserved = targets.has_unobserved();
        Ok(Self {
            features,
            subset: search.features,
            params,
            may_gain_nothing: targets.is_variance(),
            purity: Purity::new(&targets),
            n_targets: targets.gradients.ncols(),
            sums: AnySums::new(
                &targets,
                params.min_samples_leaf > 1 || features.any_categorical(),
                has_unobserved,
            ),
            has_unobserved,
        })
    }

    /// Sums the roots of trees for different targets on the same features at once, for trees that all grow on these
    /// samples. The trees are unchanged.
    pub fn share_root(splitters: &mut [Self], rows: &[u32]) {
        let Some(features) = splitters.first().map(|s| s.features) else {
            return;
        };
        let is_shared = |s: &&mut Self| std::ptr::eq(s.features, features) && s.is_summed_whole(rows);
        let (mut packed, mut narrow, mut wide) = (Vec::new(), Vec::new(), Vec::new());
        for splitter in splitters.iter_mut().filter(is_shared) {
            match &mut splitter.sums {
                AnySums::Packed(sums) => packed.push(sums),
                AnySums::Narrow(sums) => narrow.push(sums),
                AnySums::Wide(sums) => wide.push(sums),
                AnySums::Unusable
                | AnySums::Few(_)
                | AnySums::Several(_)
                | AnySums::Many(_)
                | AnySums::Long(_) => {}
            }
        }
        share_root::<_, 8>(features, rows, &mut packed);
        share_root::<_, 8>(features, rows, &mut narrow);
        share_root::<_, 4>(features, rows, &mut wide);
    }

    /// Returns true if a node is large enough to be split, and its targets are not all equal.
    fn may_split(&self, rows: &[u32]) -> bool {
        rows.len() / 2 >= self.params.min_samples_leaf && !self.purity.is_pure(rows)
    }

    /// Approximate number of bins of a feature.
    fn n_bins(&self) -> usize {
        self.features.n_cells() / self.features.n_features()
    }

    /// Number of features drawn, if not all are searched.
    fn n_drawn(&self) -> Option<usize> {
        let n = self.subset.map_or(self.features.n_features(), <[u32]>::len);
        let k = self.params.max_features.unwrap_or(usize::MAX).min(n);
        (k < self.features.n_features()).then_some(k)
    }

    /// Returns true if all features of a node are summed, so that sums of one child follow from those of the other.
    fn is_summed_whole(&self, rows: &[u32]) -> bool {
        match &self.features.layout {
            Layout::Dense(_) => !self.sums_drawn_only(),
            Layout::Sparse(bins) => bins.n_entries(rows) >= self.fewest_entries(),
        }
    }

    /// Returns the fewest stored values of the rows of a node that fill the bins of sparse features: a quarter of the
    /// number of bins for one output; that number for up to 16 outputs, twice that number for up to 32, three times for up
    /// to 48, and four times for more.
    /// With fewer, listing the bins that are [touched](crate::histogram) takes less time than clearing, subtracting and
    /// scoring all. Listing takes as long for many outputs as for one; the factors are those at which single trees of the
    /// benchmark data grew fastest.
    fn fewest_entries(&self) -> usize {
        let n_bins = self.features.n_cells();
        match self.n_targets {
            1 => n_bins / 4,
            m => n_bins * m.div_ceil(16).min(4),
        }
    }

    /// Returns true if only the drawn features are summed, so that no sums are kept from node to node.
    fn sums_drawn_only(&self) -> bool {
        let is_dense = matches!(self.features.layout, Layout::Dense(_));
        is_dense && self.n_drawn().is_some_and(|k| 2 * k < self.features.n_features())
    }
}

impl Splitter for HistogramSplitter<'_> {
    type Rule = AxisRule;
    type Workspace = HistogramWorkspace;

    fn n_rows(&self) -> usize {
        self.features.n_rows()
    }

    fn workspace(&self) -> HistogramWorkspace {
        let all = 0..self.features.n_features() as u32;
        HistogramWorkspace::new(self.subset.map_or_else(|| all.collect(), <[u32]>::to_vec))
    }

    fn beside(&self, workspace: &HistogramWorkspace) -> HistogramWorkspace {
        workspace.beside()
    }

    fn begin(&self, workspace: &mut HistogramWorkspace) {
        self.sums.begin(workspace);
    }

    /// One whose children one thread searches in about the time of fifty hand-overs of work to others.
    fn small_node(&self) -> usize {
        let p = self.features.n_features().max(1);
        let summed = match self.sums_drawn_only() {
            true => self.n_drawn().unwrap_or(p),
            false => p,
        };
        let of_row = self.features.per_row() * summed * self.n_targets / p;
        let of_children = 2 * self.n_bins() * self.n_drawn().unwrap_or(p) * self.n_targets;
        let small = (SMALL * WORTH_IT).saturating_sub(of_children) / of_row.max(1);
        match &self.features.layout {
            Layout::Dense(_) => small,
            // Where few bins are touched, sums and scores take as long as there are values.
            Layout::Sparse(bins) => {
                let per_row = bins.per_row().max(1);
                let of_row = 2 * per_row * self.n_targets;
                small.max((SMALL * WORTH_IT / of_row.max(1)).min(self.fewest_entries() / per_row))
            }
        }
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        workspace: &mut HistogramWorkspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<AxisRule>> {
        let search = SplitNode {
            splitter: self,
            node,
            children,
        };
        self.sums.visit(workspace, search)?
    }

    fn opened(&self, parent: usize, children: &[(NodeRows<'_>, bool)], workspace: &mut HistogramWorkspace) {
        let search = SearchChildren {
            splitter: self,
            parent,
            children,
        };
        self.sums.visit(workspace, search);
    }
}

/// The split of a node.
struct SplitNode<'s, 'n> {
    splitter: &'s HistogramSplitter<'s>,
    node: NodeRows<'n>,
    children: &'n mut [u16],
}

impl SumsVisitor for SplitNode<'_, '_> {
    type Output = Option<ProposedSplit<AxisRule>>;

    fn visit<S: Sums>(self, sums: &S, common: &mut Common, work: &mut Work<S>) -> Self::Output {
        self.splitter
            .split_by(sums, self.node, common, work, self.children)
    }
}

/// The search of the children of a node.
struct SearchChildren<'s, 'n> {
    splitter: &'s HistogramSplitter<'s>,
    parent: usize,
    children: &'n [(NodeRows<'n>, bool)],
}

impl SumsVisitor for SearchChildren<'_, '_> {
    type Output = ();

    fn visit<S: Sums>(self, sums: &S, common: &mut Common, work: &mut Work<S>) {
        self.splitter
            .opened_by(sums, self.parent, self.children, common, work);
    }
}

impl HistogramSplitter<'_> {
    fn split_by<S: Sums>(
        &self,
        sums: &S,
        node: NodeRows<'_>,
        common: &mut Common,
        work: &mut Work<S>,
        children: &mut [u16],
    ) -> Option<ProposedSplit<AxisRule>> {
        let searched = match work.take(node.number) {
            Some(searched) => searched,
            None if self.may_split(node.rows) => {
                let is_whole = self.is_summed_whole(node.rows);
                let of_all = is_whole.then(|| self.sum_whole(sums, node.rows, work)).flatten();
                self.search(sums, vec![(node, of_all)], common, work).pop()?
            }
            None => return None,
        };
        let Some((found, gain)) = searched.best else {
            work.give_back(searched.sums);
            return None;
        };
        let histogram = searched.sums.as_ref().map(|(histogram, _)| &**histogram);
        let rule = self.route(sums, &found, node.rows, histogram, (common, work), children);
        work.keep(node.number, searched);
        Some(ProposedSplit { rule, gain })
    }

    /// Sums the rows of a node over all features, if there is room.
    fn sum_whole<S: Sums>(&self, sums: &S, rows: &[u32], work: &mut Work<S>) -> Option<Whole<S>> {
        let bytes = self.features.n_cells().saturating_mul(sums.cell_bytes());
        let mut histogram = work.take_free(bytes, &self.features.room)?;
        let total = sums.accumulate(self.features, rows, &mut work.gathered[0], &mut histogram);
        Some((histogram, total))
    }

    fn limits(&self) -> Limits {
        Limits {
            min_samples_leaf: self.params.min_samples_leaf,
            category_smoothing: self.params.category_smoothing,
            min_category_count: self.params.min_category_count,
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/histogram_splitter.rs"]
mod tests;
