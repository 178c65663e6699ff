//! The splitter that grows trees on histograms.

use super::categories::{Scratch, Scratches};
use super::features::{BinnedFeatures, Layout, Side};
use super::fixed::FixedPoint;
use super::purity::Purity;
use super::scalar::Scalar;
use super::search::{Drawn, Found, Limits, Node, Sums, best_of_all, best_offers, offer};
use super::shared_root::share_root;
use super::vector::Vector;
use super::workspace::{Common, HistogramWorkspace, Searched, TOGETHER, Work};
use crate::TreeError;
use crate::categories::CategorySet;
use crate::criterion::{Curvature, LeafPenalty};
use crate::rule::AxisRule;
use crate::splitter::candidates::RandomOrder;
use crate::splitter::{AxisParams, NodeRows, ProposedSplit, Search, Splitter, ThresholdSearch};
use ndarray::ArrayView2;
use rpo_core::{Domain, Mismatch, ParameterError};
use std::ops::Range;

/// The targets that trees grow on: negative gradients z of a loss (or any targets) and its curvatures, of m components.
#[derive(Debug, Clone, Copy)]
pub struct SplitTargets<'a> {
    /// z (n x m, contiguous rows, finite).
    pub gradients: ArrayView2<'a, f32>,
    /// Second derivatives.
    pub curvature: Curvature<'a>,
    /// One weight per sample, finite and not negative; samples of weight 0 are never used.
    pub weights: &'a [f32],
    /// Penalty of the leaf value, per component; empty for none.
    pub penalties: &'a [LeafPenalty],
    /// Smallest curvature of a child: H, averaged over the components.
    pub min_child_weight: f64,
}

/// Empty targets, to be filled in: curvature 1 and no penalties, so that splits decrease the variance.
impl Default for SplitTargets<'_> {
    fn default() -> Self {
        Self {
            gradients: ArrayView2::from_shape((0, 0), &[]).expect("nothing has this shape"),
            curvature: Curvature::Constant,
            weights: &[],
            penalties: &[],
            min_child_weight: 0.0,
        }
    }
}

impl<'a> SplitTargets<'a> {
    /// Returns the penalty of a component.
    pub(super) fn penalty(&self, component: usize) -> LeafPenalty {
        self.penalties.get(component).copied().unwrap_or_default()
    }

    /// Returns true if gains are decreases of variance.
    fn is_variance(&self) -> bool {
        let no_penalty = self.penalties.iter().all(|p| *p == LeafPenalty::default());
        matches!(self.curvature, Curvature::Constant) && no_penalty && self.min_child_weight == 0.0
    }

    fn curvatures(&self) -> Option<&'a [f32]> {
        match &self.curvature {
            Curvature::Constant => None,
            Curvature::Each(h) => Some(h.to_slice().expect("curvatures are contiguous in row order")),
        }
    }

    fn check(&self, n: usize) -> Result<(), TreeError> {
        let (rows, m) = self.gradients.dim();
        Mismatch::check("rows of gradients", n, rows)?;
        Mismatch::check("weights", n, self.weights.len())?;
        if let Curvature::Each(h) = &self.curvature {
            Mismatch::check("rows of curvatures", n, h.nrows())?;
            Mismatch::check("components of curvatures", m, h.ncols())?;
        }
        if !self.penalties.is_empty() {
            Mismatch::check("penalties", m, self.penalties.len())?;
        }
        for penalty in self.penalties {
            Domain::NotNegative.check("leaf_l2", penalty.l2)?;
            Domain::NotNegative.check("leaf_l1", penalty.l1)?;
        }
        Ok(Domain::NotNegative.check("min_child_weight", self.min_child_weight)?)
    }
}

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
/// node.
///
/// ```
/// use ndarray::Array2;
/// use rpo_core::Seed;
/// use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, SplitTargets};
/// use rpo_tree::splitter::{AxisParams, Splitter};
/// use rpo_tree::{GrowParams, grow};
///
/// let x = Array2::from_shape_fn((500, 3), |(i, j)| ((i * (7 + 6 * j)) % 500) as f32);
/// let z = Array2::from_shape_fn((500, 1), |(i, _)| if x[[i, 1]] > 250.0 { 1.0 } else { -1.0 });
/// let features = BinnedFeatures::new((&x).into(), 255, &[])?;
/// let targets = SplitTargets { gradients: z.view(), weights: &[1.0; 500], ..SplitTargets::default() };
/// let splitter = HistogramSplitter::new(&features, targets, AxisParams::default())?;
/// let grown = grow(&splitter, &mut splitter.workspace(), (0..500).collect(), &GrowParams::default(), Seed::new(0));
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
    purity: Purity<'a>,
    sums: AnySums,
}

/// Targets in the fastest representation for them.
#[derive(Debug, Clone)]
enum AnySums {
    /// Targets that are not finite: no split.
    Unusable,
    Packed(Scalar<i64>),
    Wide(Scalar<[i64; 2]>),
    Few(Vector<i32, 4>),
    Many(Vector<i32, 16>),
    Long(Vector<i64, 8>),
}

impl AnySums {
    fn new(targets: &SplitTargets<'_>) -> Self {
        let m = targets.gradients.ncols();
        if m == 1 {
            return Self::one(targets);
        }
        // Sums of 32 bits leave too few bits per sample if there are very many samples.
        let is_short = targets.weights.len() <= 1 << 16;
        let few = (is_short && m <= 4)
            .then(|| Vector::new(targets, false))
            .flatten();
        let many = || (is_short && m > 4).then(|| Vector::new(targets, false)).flatten();
        if let Some(sums) = few {
            Self::Few(sums)
        } else if let Some(sums) = many() {
            Self::Many(sums)
        } else {
            Vector::new(targets, true).map_or(Self::Unusable, Self::Long)
        }
    }

    fn one(targets: &SplitTargets<'_>) -> Self {
        let (weights, curvatures) = (targets.weights, targets.curvatures());
        let gradients = targets.gradients.to_slice().expect("checked");
        let fixed = FixedPoint::new(
            weights.len(),
            #[inline(always)]
            |first, g, h| {
                let rows = first..first + g.len();
                let samples = weights[rows.clone()].iter().zip(&gradients[rows.clone()]);
                for ((g, h), (&weight, &z)) in g.iter_mut().zip(&mut *h).zip(samples) {
                    (*g, *h) = (f64::from(weight) * f64::from(z), f64::from(weight));
                }
                if let Some(curvatures) = curvatures {
                    let of_rows = h.iter_mut().zip(&curvatures[rows]);
                    of_rows.for_each(|(h, &v)| *h *= f64::from(v));
                }
            },
        );
        let (penalty, least) = (targets.penalty(0), targets.min_child_weight);
        match fixed {
            None => Self::Unusable,
            Some(FixedPoint::Packed(cells, code)) => Self::Packed(Scalar::new(cells, code, penalty, least)),
            Some(FixedPoint::Wide(cells, code)) => Self::Wide(Scalar::new(cells, code, penalty, least)),
        }
    }
}

impl<'a> HistogramSplitter<'a> {
    /// Creates a splitter from binned features (n x p), targets of the same n samples, and parameters or a [`Search`]
    /// among some features. Values are not checked here: non-finite values make the root a leaf.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] with the first parameter out of range, for random thresholds (which lie between
    /// values), and for features that are not increasing; [`TreeError::Mismatch`] for a feature that does not exist,
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
        Ok(Self {
            features,
            subset: search.features,
            params,
            may_gain_nothing: targets.is_variance(),
            purity: Purity::new(&targets),
            sums: AnySums::new(&targets),
        })
    }

    /// Sums the roots of trees for different targets on the same features at once, for trees that all grow on these
    /// samples. The trees are unchanged.
    pub fn share_root(splitters: &mut [Self], rows: &[u32]) {
        let Some(features) = splitters.first().map(|s| s.features) else {
            return;
        };
        let is_shared = |s: &&mut Self| std::ptr::eq(s.features, features) && !s.sums_drawn_only();
        let (mut packed, mut wide) = (Vec::new(), Vec::new());
        for splitter in splitters.iter_mut().filter(is_shared) {
            match &mut splitter.sums {
                AnySums::Packed(sums) => packed.push(sums),
                AnySums::Wide(sums) => wide.push(sums),
                _ => {}
            }
        }
        share_root::<_, 8>(features, rows, &mut packed);
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

    /// Returns true if only the drawn features are summed, so that no sums are kept from node to node.
    fn sums_drawn_only(&self) -> bool {
        let is_dense = matches!(self.features.layout, Layout::Dense(_));
        is_dense && self.n_drawn().is_some_and(|k| 2 * k < self.features.n_features())
    }
}

impl Splitter for HistogramSplitter<'_> {
    type Rule = AxisRule;
    type Workspace = HistogramWorkspace;

    fn workspace(&self) -> HistogramWorkspace {
        let all = 0..self.features.n_features() as u32;
        HistogramWorkspace::new(self.subset.map_or_else(|| all.collect(), <[u32]>::to_vec))
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        workspace: &mut HistogramWorkspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<AxisRule>> {
        let HistogramWorkspace {
            common,
            packed,
            wide,
            few,
            many,
            long,
        } = workspace;
        match &self.sums {
            AnySums::Unusable => None,
            AnySums::Packed(sums) => self.split_by(sums, node, common, packed, children),
            AnySums::Wide(sums) => self.split_by(sums, node, common, wide, children),
            AnySums::Few(sums) => self.split_by(sums, node, common, few, children),
            AnySums::Many(sums) => self.split_by(sums, node, common, many, children),
            AnySums::Long(sums) => self.split_by(sums, node, common, long, children),
        }
    }

    fn opened(&self, parent: usize, children: &[(NodeRows<'_>, bool)], workspace: &mut HistogramWorkspace) {
        let HistogramWorkspace {
            common,
            packed,
            wide,
            few,
            many,
            long,
        } = workspace;
        match &self.sums {
            AnySums::Unusable => {}
            AnySums::Packed(sums) => self.opened_by(sums, parent, children, common, packed),
            AnySums::Wide(sums) => self.opened_by(sums, parent, children, common, wide),
            AnySums::Few(sums) => self.opened_by(sums, parent, children, common, few),
            AnySums::Many(sums) => self.opened_by(sums, parent, children, common, many),
            AnySums::Long(sums) => self.opened_by(sums, parent, children, common, long),
        }
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
        if node.number == 0 {
            work.begin();
        }
        let searched = match work.take(node.number) {
            Some(searched) => searched,
            None if self.may_split(node.rows) => {
                let of_all = (!self.sums_drawn_only()).then(|| {
                    let mut histogram = work.take_free();
                    let gathered = &mut work.gathered[0];
                    let total = sums.accumulate(self.features, node.rows, gathered, &mut histogram);
                    (histogram, total)
                });
                self.search(sums, vec![(node, of_all)], common, work).pop()?
            }
            None => return None,
        };
        let Some((found, gain)) = searched.best else {
            work.give_back(searched.sums);
            return None;
        };
        let histogram = searched.sums.as_ref().map(|(histogram, _)| histogram);
        let rule = self.route(sums, &found, node.rows, histogram, (common, work), children);
        work.keep(node.number, searched);
        Some(ProposedSplit { rule, gain })
    }

    /// Routes the rows of a node by a split, given the sums of all features if available; returns the rule.
    fn route<S: Sums>(
        &self,
        sums: &S,
        found: &Found,
        rows: &[u32],
        histogram: Option<&S::Histogram>,
        (common, work): (&mut Common, &mut Work<S>),
        children: &mut [u16],
    ) -> AxisRule {
        if self.features.bins(found.feature).is_categorical {
            self.route_categories(sums, found, rows, histogram, work, children)
        } else {
            self.route_numbers(found, rows, &mut common.marks, children)
        }
    }

    /// Routes the rows of a node by a split of a numeric feature; returns the rule.
    fn route_numbers(
        &self,
        found: &Found,
        rows: &[u32],
        marks: &mut Vec<u8>,
        children: &mut [u16],
    ) -> AxisRule {
        let Found { feature, split, .. } = *found;
        let bins = self.features.bins(feature);
        let threshold = split
            .next
            .map_or(f32::INFINITY, |next| bins.threshold(split.last, next));
        let side = Side {
            last: split.last,
            missing_left: split.missing_left,
        };
        self.features.route(feature, side, rows, marks, children);
        AxisRule::new(feature, threshold, split.missing_left)
    }

    /// Routes the rows of a node by a split of categories, which are ordered once more; returns the rule.
    fn route_categories<S: Sums>(
        &self,
        sums: &S,
        found: &Found,
        rows: &[u32],
        histogram: Option<&S::Histogram>,
        work: &mut Work<S>,
        children: &mut [u16],
    ) -> AxisRule {
        let Found { feature, split, .. } = *found;
        let (place, limits) = (self.features.place(feature), self.limits());
        let (scratch, gathered) = (work.scratches.one(), &mut work.gathered[0]);
        let order = if let Some(histogram) = histogram {
            scratch.order(sums, (place, histogram), &limits)
        } else {
            sums.total(rows, gathered);
            let alone = scratch.sum_alone(sums, self.features, feature, (rows, gathered));
            scratch.order(sums, (place.alone(), &alone), &limits)
        };
        let (left, right) = order.split_at(split.last + 1);
        let listed = if split.missing_left { right } else { left };
        self.features
            .route_categories(feature, listed, split.missing_left, rows, children);
        let bins = self.features.bins(feature);
        let codes = CategorySet::from_iter(listed.iter().map(|&bin| bins.code(bin)));
        AxisRule::of_categories(feature, codes, split.missing_left)
    }

    /// Returns the gain of a split, if it is large enough.
    fn gain<S: Sums>(&self, sums: &S, found: &Found, total: &S::Total) -> Option<f64> {
        let gain = sums.gain(found.split.score, total);
        let is_enough = self.may_gain_nothing || gain > 0.0;
        let gain = gain.max(0.0);
        (is_enough && gain >= self.params.min_gain).then_some(gain)
    }

    fn limits(&self) -> Limits {
        Limits {
            min_samples_leaf: self.params.min_samples_leaf,
            category_smoothing: self.params.category_smoothing,
            min_category_count: self.params.min_category_count,
        }
    }

    /// Searches some nodes, at most [`TOGETHER`], given the sums of all features where available.
    fn search<S: Sums>(
        &self,
        sums: &S,
        nodes: Vec<ToSearch<'_, S>>,
        common: &mut Common,
        work: &mut Work<S>,
    ) -> Vec<Searched<S>> {
        let Common { draw, drawn, .. } = common;
        if let Some(k) = self.n_drawn() {
            for ((node, _), drawn) in nodes.iter().zip(&mut *drawn) {
                draw.draw(k, node.seed.purpose("features"), drawn);
            }
        }
        let all = draw.features();
        let searched = |(of_all, best): (Option<_>, Option<(Found, f64)>)| Searched { best, sums: of_all };
        if self.sums_drawn_only() {
            let totals = nodes.iter().zip(&mut work.gathered);
            let totals: Vec<_> = totals
                .map(|((node, _), gathered)| sums.total(node.rows, gathered))
                .collect();
            let found = self.search_drawn(sums, &nodes, &totals, (drawn, all), work);
            let best = found
                .into_iter()
                .zip(&totals)
                .map(|(found, total)| self.with_gain(sums, found, total));
            return best.map(|best| searched((None, best))).collect();
        }
        let to_search = nodes.iter().filter_map(|(node, of_all)| {
            let (histogram, total) = of_all.as_ref()?;
            Some(Node {
                features: self.features,
                sums,
                histogram,
                total,
                limits: self.limits(),
                order: RandomOrder::of(node.seed),
            })
        });
        let to_search: Vec<_> = to_search.collect();
        let found = self.search_all(&to_search, &nodes, (drawn, all), &mut work.scratches);
        let best = found.into_iter().zip(&to_search);
        let best: Vec<_> = best
            .map(|(found, node)| self.with_gain(sums, found, node.total))
            .collect();
        let of_all = nodes.into_iter().map(|(_, of_all)| of_all);
        of_all.zip(best).map(searched).collect()
    }

    /// Returns a split with its gain, if the gain is large enough.
    fn with_gain<S: Sums>(&self, sums: &S, found: Option<Found>, total: &S::Total) -> Option<(Found, f64)> {
        found.and_then(|found| Some((found, self.gain(sums, &found, total)?)))
    }

    /// Returns the best splits of nodes from the sums of all features, given the drawn features and all features.
    fn search_all<S: Sums>(
        &self,
        to_search: &[Node<'_, S>],
        nodes: &[ToSearch<'_, S>],
        (drawn, all): (&[Vec<u32>], &[u32]),
        scratches: &mut Scratches<S>,
    ) -> Vec<Option<Found>> {
        let Some(k) = self.n_drawn() else {
            return best_of_all(self.features, to_search, scratches);
        };
        let is_random = k < all.len();
        let of_node = |(node, features): (&Node<'_, S>, _)| Drawn {
            features,
            order: (!is_random).then_some(node.order),
            work: self.n_bins() * k * S::WIDTH,
        };
        let features = drawn.iter().map(Vec::as_slice);
        let drawn: Vec<_> = to_search.iter().zip(features).map(of_node).collect();
        let of_range =
            |i: usize, range, scratch: &mut Scratch<S>| to_search[i].best_of_drawn(&drawn[i], range, scratch);
        let found = best_offers(&drawn, scratches, of_range);
        let each = found.into_iter().zip(to_search).zip(nodes);
        each.map(|((found, search), (node, _))| match found {
            Some(best) => best,
            None if is_random => search.first_of(further(all, *node), scratches.one()),
            None => None,
        })
        .collect()
    }

    /// Returns the best splits of nodes among the drawn features, the only ones that are summed, given the drawn
    /// features and all features.
    fn search_drawn<S: Sums>(
        &self,
        sums: &S,
        nodes: &[ToSearch<'_, S>],
        totals: &[S::Total],
        (drawn, all): (&[Vec<u32>], &[u32]),
        work: &mut Work<S>,
    ) -> Vec<Option<Found>> {
        let Work {
            scratches, gathered, ..
        } = work;
        let limits = self.limits();
        let scan = |i: usize, feature, scratch: &mut Scratch<S>| {
            let rows = (nodes[i].0.rows, &gathered[i]);
            scratch.scan_alone(sums, self.features, feature, rows, &totals[i], &limits)
        };
        let is_random = drawn[0].len() < all.len();
        let of_nodes = nodes.iter().zip(drawn).map(|((node, _), features)| Drawn {
            features,
            order: (!is_random).then(|| RandomOrder::of(node.seed)),
            work: (node.rows.len() + self.n_bins()) * features.len() * S::WIDTH,
        });
        let of_nodes: Vec<_> = of_nodes.collect();
        let of_range = |i: usize, range: Range<usize>, scratch: &mut Scratch<S>| {
            let node = &of_nodes[i];
            range.fold(None, |best, place| {
                let feature = node.features[place];
                offer(best, feature, node.rank(place), scan(i, feature, scratch))
            })
        };
        let found = best_offers(&of_nodes, scratches, of_range);
        let each = found.into_iter().zip(nodes).enumerate();
        each.map(|(i, (found, (node, _)))| match found {
            Some(best) => best,
            None if is_random => further(all, *node)
                .find_map(|feature| offer(None, feature, 0, scan(i, feature, scratches.one())))?,
            None => None,
        })
        .collect()
    }

    /// Searches the children that may be split and computes their sums: those of the smaller child from its rows, those
    /// of the larger from the parent's sums.
    fn opened_by<S: Sums>(
        &self,
        sums: &S,
        parent: usize,
        children: &[(NodeRows<'_>, bool)],
        common: &mut Common,
        work: &mut Work<S>,
    ) {
        let (Some(parent), [left, right]) = (work.take(parent), children) else {
            return;
        };
        let (small, large) = if left.0.rows.len() <= right.0.rows.len() {
            (left, right)
        } else {
            (right, left)
        };
        let wanted = |child: &(NodeRows<'_>, bool)| child.1 && self.may_split(child.0.rows);
        let (small_wanted, large_wanted) = (wanted(small), wanted(large));
        if !(small_wanted || large_wanted) || (parent.sums.is_some() && !work.has_room()) {
            return work.give_back(parent.sums);
        }
        let (mut of_small, mut of_large) = (None, None);
        if let Some((mut histogram, mut total)) = parent.sums {
            let (mut small_histogram, gathered) = (work.take_free(), &mut work.gathered[0]);
            let small_total = sums.accumulate(self.features, small.0.rows, gathered, &mut small_histogram);
            if large_wanted {
                let of_parent = (&mut histogram, &mut total);
                sums.subtract(self.features, of_parent, (&small_histogram, &small_total));
            }
            (of_small, of_large) = (Some((small_histogram, small_total)), Some((histogram, total)));
        }
        let mut nodes = Vec::with_capacity(TOGETHER);
        for (node, sums, is_wanted) in [
            (small.0, of_small, small_wanted),
            (large.0, of_large, large_wanted),
        ] {
            if is_wanted {
                nodes.push((node, sums));
            } else {
                work.give_back(sums);
            }
        }
        let numbers: Vec<_> = nodes.iter().map(|(node, _)| node.number).collect();
        let searched = self.search(sums, nodes, common, work);
        for (number, searched) in numbers.into_iter().zip(searched) {
            work.keep(number, searched);
        }
    }
}

/// A node to search, and its sums if they cover all features.
type ToSearch<'n, S> = (NodeRows<'n>, Option<(<S as Sums>::Histogram, <S as Sums>::Total)>);

/// Returns the features in the order in which a node continues after its draws.
fn further(features: &[u32], node: NodeRows<'_>) -> impl Iterator<Item = u32> {
    let (mut features, order) = (features.to_vec(), RandomOrder::of(node.seed));
    features.sort_unstable_by_key(|&f| order.rank(f));
    features.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GrowParams, grow};
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::Seed;

    proptest! {
        #[test]
        fn a_shared_root_changes_no_tree(
            cells in prop::collection::vec((-3_i8..4, -9.0_f32..9.0), 40 * 12),
            sparse in any::<bool>(),
            weighted in any::<bool>(),
            halved in any::<bool>(),
        ) {
            let x = Array2::from_shape_fn((40, 11), |(i, j)| f32::from(cells[i * 12 + j].0));
            let z = Array2::from_shape_fn((12, 40), |(j, i)| cells[i * 12 + j].1);
            let weights: Vec<f32> = (0..40).map(|i| if weighted { 1.0 + (i % 3) as f32 } else { 1.0 }).collect();
            let csr = rpo_core::MatrixView::from(&x).to_csr();
            let x = if sparse { rpo_core::MatrixView::Sparse(csr.view()) } else { (&x).into() };
            let features = BinnedFeatures::new(x, 255, &[]).unwrap();
            let targets = z.rows().into_iter().map(|z| z.insert_axis(ndarray::Axis(1)));
            let targets: Vec<_> = targets.map(|z| SplitTargets { gradients: z, weights: &weights, ..SplitTargets::default() }).collect();
            let splitter = |targets| HistogramSplitter::new(&features, targets, AxisParams::default()).unwrap();
            let alone: Vec<_> = targets.into_iter().map(splitter).collect();
            let rows: Vec<u32> = (0..40).filter(|i| !halved || i % 2 == 0).collect();
            let mut shared = alone.clone();
            HistogramSplitter::share_root(&mut shared, &rows);
            for (alone, shared) in alone.iter().zip(&shared) {
                let grow = |s: &HistogramSplitter<'_>, n: usize| {
                    grow(s, &mut s.workspace(), rows[..n].to_vec(), &GrowParams::default(), Seed::new(0))
                };
                prop_assert_eq!(grow(alone, rows.len()), grow(shared, rows.len()));
                prop_assert_eq!(grow(alone, rows.len() - 5), grow(shared, rows.len() - 5));
            }
        }

        /// Sums of whole-number targets are exact in every layout.
        #[test]
        fn layouts_of_sums_give_the_same_tree(
            m in 1_usize..7,
            cells in prop::collection::vec((-3_i8..4, -3_i8..4), 40 * 6),
            weights in prop::collection::vec(0_u8..3, 40),
        ) {
            let x = Array2::from_shape_fn((40, 5), |(i, j)| f32::from(cells[i * 6 + j].0));
            let z = Array2::from_shape_fn((40, m), |(i, j)| f32::from(cells[i * 6 + j].1));
            let weights: Vec<f32> = weights.into_iter().map(|w| f32::from(w) + 1.0).collect();
            let features = BinnedFeatures::new((&x).into(), 255, &[]).unwrap();
            let targets = SplitTargets { gradients: z.view(), weights: &weights, ..SplitTargets::default() };
            let mut splitter = HistogramSplitter::new(&features, targets, AxisParams::default()).unwrap();
            let grown = |splitter: &HistogramSplitter<'_>| {
                let rows = (0..40).collect();
                grow(splitter, &mut splitter.workspace(), rows, &GrowParams::default(), Seed::new(0))
            };
            let expected = grown(&splitter);
            let mut others = vec![
                AnySums::Many(Vector::new(&targets, true).unwrap()),
                AnySums::Long(Vector::new(&targets, true).unwrap()),
                AnySums::Few(Vector::new(&targets, true).unwrap()),
            ];
            if m == 1 {
                others.push(AnySums::one(&targets));
            }
            for sums in others {
                splitter.sums = sums;
                prop_assert_eq!(&grown(&splitter), &expected);
            }
        }
    }
}
