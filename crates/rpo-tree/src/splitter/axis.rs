//! Splits of one feature at a threshold.
//!
//! For each candidate feature the best threshold (CART, random forests) or a random one (Extra-Trees) is scored, and
//! the best candidate wins. Among equal scores the feature drawn first wins (a random one where all are searched), and
//! inside a feature the smallest threshold. A split may gain nothing: an impure node with two distinct values is split,
//! as fully developed trees need (exclusive or, for example).

mod few;

use super::bounded::BoundedSearch;
use super::candidates::{FeatureDraw, RandomOrder};
use super::categories::{CategorySearch, CategoryTargets};
use super::collect::SparseCollector;
use super::dense::DenseSearch;
use super::lists::EntryLists;
use super::order::RankSorter;
use super::random::{self, RandomThreshold};
use super::sweep::{Entry, Feature, SplitCandidate, Threshold, is_admissible};
use super::{NodeRows, ProposedSplit, Splitter};
use crate::criterion::{Criterion, MOST_FEW};
use crate::grow::{GrowParams, Subtree};
use crate::ranks::{ColumnValues, DenseColumns, Layout, MOST_ROWS, RankedFeatures, Ranks, SparseRanks};
use crate::rule::AxisRule;
use crate::{CheckParams, TreeError};
use few::{BinaryCells, FewRows};
use rpo_core::{Domain, Mismatch, Seed, vectorized};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Choice of the threshold of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdSearch {
    /// The midpoint between neighbouring distinct values of the node that scores best.
    #[default]
    Best,
    /// A threshold drawn uniformly between the node's smallest and largest value (Geurts, Ernst, Wehenkel 2006).
    Random,
}

/// Parameters of the axis-aligned search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AxisParams {
    /// Features k drawn at each node without replacement, constant ones included; `None`, or more than there are, means
    /// all. Default all (CART); forests draw fewer to make trees differ. If all k are constant in the node, drawing
    /// continues until one is not.
    pub max_features: Option<usize>,
    /// Fewest distinct samples of a child, whatever their weight. Default 1: any split is allowed.
    pub min_samples_leaf: usize,
    /// Smallest gain of a split in the criterion's unit (|S| ΔI for variance). Default 0: any split that does not lose
    /// is allowed, even one that gains nothing.
    pub min_gain: f64,
    /// Choice of the threshold of a feature. Default best.
    pub thresholds: ThresholdSearch,
    /// Weight with which the mean of a category is shrunk towards the overall mean before [categories are
    /// ordered](crate::categories). Default 10, as in LightGBM.
    pub category_smoothing: f64,
    /// Fewest samples of the node that a category must have to be ordered; rarer ones follow missing values. Default 3:
    /// the mean of fewer is unreliable.
    pub min_category_count: usize,
}

impl Default for AxisParams {
    fn default() -> Self {
        Self {
            max_features: None,
            min_samples_leaf: 1,
            min_gain: 0.0,
            thresholds: ThresholdSearch::Best,
            category_smoothing: 10.0,
            min_category_count: 3,
        }
    }
}

impl CheckParams for AxisParams {
    type Error = TreeError;

    fn check(&self) -> Result<(), TreeError> {
        Domain::Count.check("max_features", self.max_features)?;
        Domain::Count.check("min_samples_leaf", self.min_samples_leaf)?;
        Domain::NotNegative.check("category_smoothing", self.category_smoothing)?;
        Domain::Count.check("min_category_count", self.min_category_count)?;
        Ok(Domain::NotNegative.check("min_gain", self.min_gain)?)
    }
}

/// A search along one feature: its parameters and the features to choose from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search<'a> {
    /// The parameters.
    pub params: AxisParams,
    /// The features, increasing; `None` for all.
    pub features: Option<&'a [u32]>,
}

/// Searches among all features.
impl From<AxisParams> for Search<'_> {
    fn from(params: AxisParams) -> Self {
        Self {
            params,
            features: None,
        }
    }
}

impl Search<'_> {
    /// Rejects parameters out of range, and features that are not increasing or not below `n_features`.
    pub(crate) fn check(&self, n_features: usize) -> Result<(), TreeError> {
        self.params.check()?;
        self.features
            .map_or(Ok(()), |subset| super::check_subset(subset, n_features))
    }
}

/// Buffers of a search for a split along one feature.
#[derive(Debug, Clone)]
pub struct AxisSearch {
    draw: FeatureDraw,
    features: Vec<u32>,
    sparse: Option<SparseCollector>,
    buffers: Buffers,
    few: FewRows,
    /// The node that was searched last.
    searched: Option<usize>,
    /// The child of that node that is searched next, if any.
    rest: Option<usize>,
}

/// Buffers of the search inside one feature.
#[derive(Debug, Clone, Default)]
struct Buffers {
    sorter: RankSorter<u64>,
    random: RandomThreshold,
    /// Rows that hold a sparse feature.
    rows_held: Vec<u32>,
    dense: DenseSearch<u64>,
    narrow: DenseSearch<u32>,
    bounded: BoundedSearch,
    categories: CategorySearch,
}

impl AxisSearch {
    /// Creates the buffers for a training set and a search among all its features or an increasing subset.
    pub(crate) fn new(columns: &RankedFeatures, subset: Option<&[u32]>) -> Self {
        let all = 0..columns.n_features() as u32;
        let features = subset.map_or_else(|| all.collect(), <[u32]>::to_vec);
        Self {
            draw: FeatureDraw::new(features),
            features: Vec::new(),
            sparse: match columns.layout() {
                Layout::Dense(_) => None,
                Layout::Sparse(c) => Some(SparseCollector::new(c)),
            },
            buffers: Buffers::default(),
            few: FewRows::default(),
            searched: None,
            rest: None,
        }
    }

    /// Searches a node on which the criterion was started, and writes the child of each row (`children` is as long as
    /// `node.rows`). Returns `None` if all features are constant or no candidate leaves both children large enough.
    ///
    /// `columns` are those for which the buffers were made. Categories are ordered by the means of `targets`, or by
    /// their codes if there are none.
    pub(crate) fn search(
        &mut self,
        columns: &RankedFeatures,
        node: NodeRows<'_>,
        criterion: &mut impl Criterion,
        targets: Option<CategoryTargets<'_>>,
        params: &AxisParams,
        children: &mut [u16],
    ) -> Option<ProposedSplit<AxisRule>> {
        let is_rest = self.rest.take() == Some(node.number);
        self.searched = None;
        if node.rows.len() / 2 < params.min_samples_leaf {
            return None;
        }
        self.searched = Some(node.number);
        let has_all = self.draw_features(params, node.seed);
        let order = RandomOrder::of(node.seed);
        let mut evaluator = Evaluator {
            node,
            threshold_seed: node.seed.purpose("threshold"),
            criterion,
            targets,
            params,
            buffers: &mut self.buffers,
            ties: has_all.then_some(order),
        };
        let best = match (columns.layout(), &mut self.sparse) {
            (Layout::Dense(c), _) => match search_dense(&mut evaluator, c, &self.features) {
                SearchOutcome::AllConstant if !has_all => {
                    let further = further_order(self.draw.features(), order);
                    first_dense(&mut evaluator, c, &further)
                }
                search => search.best(),
            },
            (Layout::Sparse(c), Some(collector)) => {
                match search_sparse(&mut evaluator, c, &self.features, collector, is_rest) {
                    SearchOutcome::AllConstant if !has_all => {
                        self.features.clear();
                        let varying = first_varying(c, self.draw.features(), node.rows, order, collector);
                        self.features.extend(varying);
                        search_sparse(&mut evaluator, c, &self.features, collector, is_rest).best()
                    }
                    search => search.best(),
                }
            }
            (Layout::Sparse(_), None) => unreachable!("made for the layout of the columns"),
        };
        let (feature, candidate) = best?;
        let gain = criterion.gain(candidate.score);
        if gain < params.min_gain {
            return None;
        }
        let rule = match columns.layout() {
            Layout::Dense(c) if c.is_categorical(feature) => {
                // The positions of categories are those of the feature that was searched last.
                let (column, categories) = (c.ranks(feature), &mut self.buffers.categories);
                categories.arrange(column, node, targets, params);
                categories.rule(&column.0, feature, &candidate)
            }
            layout => {
                let threshold = candidate.threshold.value(|| match layout {
                    Layout::Dense(c) => &c.ranks(feature).0,
                    Layout::Sparse(c) => c.values(feature),
                });
                AxisRule::new(feature, threshold, candidate.missing_left)
            }
        };
        match columns.layout() {
            Layout::Dense(c) => {
                let values = c.values(feature);
                for (child, &row) in children.iter_mut().zip(node.rows) {
                    *child = rule.child_of(values[row as usize]) as u16;
                }
            }
            Layout::Sparse(c) => self.route_entries(c.values(feature), &rule, node.rows, children),
        }
        debug_assert_eq!(children.iter().filter(|c| **c == 0).count(), candidate.n_left);
        Some(ProposedSplit { rule, gain })
    }

    /// Draws the features that a node searches; returns true if these are all.
    fn draw_features(&mut self, params: &AxisParams, node: Seed) -> bool {
        let n_features = self.draw.features().len();
        let k = params.max_features.unwrap_or(usize::MAX).min(n_features);
        self.draw.draw(k, node.purpose("features"), &mut self.features);
        k == n_features
    }

    /// Notes that a node was split, and that the child that excludes these rows may be searched next.
    fn opened(&mut self, parent: usize, others: &[u32], rest: usize) {
        if self.searched == Some(parent)
            && let Some(collector) = &mut self.sparse
        {
            collector.take_out(others);
            self.rest = Some(rest);
        }
    }

    /// Writes the child of each row for a sparse feature: first the side of zero for all rows, then the side of each
    /// entry.
    fn route_entries(&mut self, values: &ColumnValues, rule: &AxisRule, rows: &[u32], children: &mut [u16]) {
        let place = self.features.iter().position(|&f| f == rule.feature());
        let collector = self.sparse.as_mut().expect("made for the layout of the columns");
        let entries = collector.entries_mut(rule.feature(), place.expect("the feature was searched"));
        let first_right = values.values.partition_point(|&v| v <= rule.threshold()) as u32;
        let right = |entry: u64| {
            let rank = entry.rank();
            if rank == values.missing_rank() {
                !rule.missing_left()
            } else {
                rank >= first_right
            }
        };
        let zero_right = 0.0 > rule.threshold();
        children.fill(u16::from(zero_right));
        // Entries come rank by rank, in row order within a rank.
        let (mut place, mut previous) = (0, 0);
        for &entry in entries.iter().filter(|&&entry| right(entry) != zero_right) {
            let row = entry.row();
            if row < previous {
                place = 0;
            }
            previous = row;
            place += gallop(&rows[place..], row);
            children[place] = u16::from(!zero_right);
        }
    }
}

/// Returns the position of a row among increasing rows that contain it, searching from the front.
fn gallop(rows: &[u32], row: u32) -> usize {
    let mut step = 1;
    while step < rows.len() && rows[step] <= row {
        step *= 2;
    }
    let low = step / 2;
    low + rows[low..rows.len().min(step)].partition_point(|&r| r < row)
}

/// Outcome of scoring several features.
enum SearchOutcome {
    AllConstant,
    /// The best candidate: its feature and split; `None` if no split is admissible.
    Best(Option<(u32, SplitCandidate)>),
}

impl SearchOutcome {
    fn best(self) -> Option<(u32, SplitCandidate)> {
        match self {
            Self::AllConstant => None,
            Self::Best(best) => best,
        }
    }

    /// Offers one more feature.
    fn offer(&mut self, feature: u32, candidate: Option<SplitCandidate>, wins_tie: impl Fn(u32) -> bool) {
        let best = match self {
            Self::Best(Some((held, best))) => {
                candidate.filter(|c| c.score > best.score || (c.score == best.score && wins_tie(*held)))
            }
            _ => candidate,
        };
        match (best, &self) {
            (Some(candidate), _) => *self = Self::Best(Some((feature, candidate))),
            (None, Self::AllConstant) => *self = Self::Best(None),
            (None, Self::Best(_)) => {}
        }
    }
}

/// Scores a feature of a node: `None` if it is constant, `Some(None)` if no candidate leaves both children large
/// enough.
struct Evaluator<'a, 't, C> {
    node: NodeRows<'a>,
    /// Seed of random thresholds.
    threshold_seed: Seed,
    criterion: &'a mut C,
    targets: Option<CategoryTargets<'t>>,
    params: &'a AxisParams,
    buffers: &'a mut Buffers,
    /// Order in which features win among equal scores; `None` for the order in which they are offered.
    ties: Option<RandomOrder>,
}

impl<C: Criterion> Evaluator<'_, '_, C> {
    /// Returns true if a feature wins against one of the same score that came before it.
    fn wins_tie(&self, feature: u32, held: u32) -> bool {
        self.ties
            .is_some_and(|order| order.rank(feature) < order.rank(held))
    }

    /// Returns true if a feature cannot be the best: two rows can be separated in only one way, so all scores are
    /// equal.
    fn is_beaten(&self, feature: u32, search: &SearchOutcome) -> bool {
        match search {
            SearchOutcome::Best(Some((held, _))) => {
                self.node.rows.len() == 2 && !self.wins_tie(feature, *held)
            }
            _ => false,
        }
    }

    /// Offers a feature that is not [beaten](Self::is_beaten), unless it is constant.
    fn offer(&self, search: &mut SearchOutcome, feature: u32, candidate: Option<Option<SplitCandidate>>) {
        let Some(candidate) = candidate else { return };
        // Two rows tie regardless of rounding in the scores.
        if self.node.rows.len() == 2 && candidate.is_some() {
            *search = SearchOutcome::AllConstant;
        }
        search.offer(feature, candidate, |held| self.wins_tie(feature, held));
    }

    fn dense(&mut self, columns: &DenseColumns, feature: u32) -> Option<Option<SplitCandidate>> {
        let rows = self.node.rows;
        if columns.is_categorical(feature) {
            return self.categories(columns.ranks(feature), feature);
        }
        match self.params.thresholds {
            ThresholdSearch::Best => {
                let min_leaf = self.params.min_samples_leaf;
                let Buffers { dense, narrow, .. } = &mut self.buffers;
                if columns.n_rows() <= MOST_ROWS {
                    narrow.best_split(columns, feature, rows, min_leaf, self.criterion)
                } else {
                    dense.best_split(columns, feature, rows, min_leaf, self.criterion)
                }
            }
            ThresholdSearch::Random => {
                let values = columns.values(feature);
                let values = rows.iter().map(|&row| values[row as usize]);
                let uniform = uniform(self.threshold_seed, feature);
                let sizes = (rows.len(), self.params.min_samples_leaf);
                let random = &mut self.buffers.random;
                random.split((rows, values), sizes, uniform, self.criterion)
            }
        }
    }

    /// Computes bounds on the splits along features that are searched for their best thresholds.
    fn bound(&mut self, columns: &DenseColumns, features: &[u32]) {
        let (rows, min_leaf) = (self.node.rows, self.params.min_samples_leaf);
        let bounded = &mut self.buffers.bounded;
        bounded.start(columns, features, rows, min_leaf, self.criterion);
    }

    /// Like [`dense`](Self::dense), but uses bounds where there are some.
    fn bounded(&mut self, columns: &DenseColumns, feature: u32) -> Option<Option<SplitCandidate>> {
        let Buffers {
            bounded,
            dense,
            narrow,
            ..
        } = &mut self.buffers;
        let Some(place) = bounded.place_of(feature) else {
            return self.dense(columns, feature);
        };
        let (rows, min_leaf) = (self.node.rows, self.params.min_samples_leaf);
        Some(if columns.n_rows() <= MOST_ROWS {
            let buffers = (&mut narrow.entries, &mut narrow.sorter);
            bounded.best_split(columns, place, rows, min_leaf, self.criterion, buffers)
        } else {
            let buffers = (&mut dense.entries, &mut dense.sorter);
            bounded.best_split(columns, place, rows, min_leaf, self.criterion, buffers)
        })
    }

    fn categories(&mut self, column: &(ColumnValues, Ranks), feature: u32) -> Option<Option<SplitCandidate>> {
        let (rows, min_leaf) = (self.node.rows, self.params.min_samples_leaf);
        let Buffers {
            dense,
            random,
            categories,
            ..
        } = &mut self.buffers;
        if !categories.arrange(column, self.node, self.targets, self.params) {
            return None;
        }
        match self.params.thresholds {
            ThresholdSearch::Best => {
                categories.entries(&column.1, rows, &mut dense.entries);
                dense.sorter.sort(&mut dense.entries);
                Some(categories.best_split(&dense.entries, rows.len(), min_leaf, self.criterion))
            }
            ThresholdSearch::Random => {
                let places = categories.places(&column.1, rows);
                let uniform = uniform(self.threshold_seed, feature);
                random.split((rows, places), (rows.len(), min_leaf), uniform, self.criterion)
            }
        }
    }

    /// Entries are in row order or in rank order.
    fn sparse(
        &mut self,
        columns: &SparseRanks,
        feature: u32,
        entries: &mut [u64],
    ) -> Option<Option<SplitCandidate>> {
        if let Some(rank) = columns.only_rank(feature) {
            let threshold = match self.params.thresholds {
                // Of the two ranks, the other one is that of zero.
                ThresholdSearch::Best => Threshold::Between(0, 1),
                ThresholdSearch::Random => {
                    let value = columns.values(feature).value(rank);
                    Threshold::At(drawn_beside_zero(self.threshold_seed, feature, value))
                }
            };
            return self.binary(rank == 0, threshold, entries);
        }
        match self.params.thresholds {
            ThresholdSearch::Best => {
                self.buffers.sorter.sort(entries);
                let (n_rows, min_leaf) = (self.node.rows.len(), self.params.min_samples_leaf);
                let feature = Feature::new(entries, columns.values(feature), n_rows, min_leaf);
                (!feature.is_constant()).then(|| feature.best_split(self.criterion))
            }
            ThresholdSearch::Random => {
                if !entries.is_sorted_by_key(|&entry| entry.row()) {
                    entries.sort_unstable_by_key(|&entry| entry.row());
                }
                let Buffers {
                    rows_held, random, ..
                } = &mut self.buffers;
                rows_held.clear();
                rows_held.extend(entries.iter().map(|entry| entry.row()));
                let values = columns.values(feature);
                let values = entries.iter().map(|entry| values.value(entry.rank()));
                let uniform = uniform(self.threshold_seed, feature);
                let sizes = (self.node.rows.len(), self.params.min_samples_leaf);
                random.split((rows_held, values), sizes, uniform, self.criterion)
            }
        }
    }

    /// Returns the split of a feature whose entries all have one value, which separates them from zeros.
    fn binary(
        &mut self,
        is_negative: bool,
        threshold: Threshold,
        entries: &[u64],
    ) -> Option<Option<SplitCandidate>> {
        let (n_held, n_rows) = (entries.len(), self.node.rows.len());
        if n_held == n_rows {
            return None;
        }
        if !is_admissible(n_held, n_rows, self.params.min_samples_leaf) {
            return Some(None);
        }
        let score = vectorized(
            #[inline(always)]
            || {
                self.criterion.clear();
                self.criterion.move_rows(entries.iter().map(|entry| entry.row()));
                self.criterion.score()
            },
        );
        let n_left = if is_negative { n_held } else { n_rows - n_held };
        let candidate = SplitCandidate::new(score, threshold, None, n_left, n_rows);
        Some(score.is_finite().then_some(candidate))
    }
}

/// Returns the number in [0, 1) that draws the threshold of a feature.
fn uniform(seed: Seed, feature: u32) -> f64 {
    (seed.hash(u64::from(feature)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns the random threshold of a feature that has one value besides zero.
fn drawn_beside_zero(seed: Seed, feature: u32, value: f32) -> f32 {
    random::draw(value.min(0.0), value.max(0.0), uniform(seed, feature))
}

/// Scores all features.
fn search_dense<C: Criterion>(
    evaluator: &mut Evaluator<'_, '_, C>,
    columns: &DenseColumns,
    features: &[u32],
) -> SearchOutcome {
    let mut search = SearchOutcome::AllConstant;
    if evaluator.params.thresholds == ThresholdSearch::Best {
        evaluator.bound(columns, features);
    }
    for &feature in features {
        if !evaluator.is_beaten(feature, &search) {
            let candidate = evaluator.bounded(columns, feature);
            evaluator.offer(&mut search, feature, candidate);
        }
    }
    search
}

/// Scores the first feature that varies.
fn first_dense<C: Criterion>(
    evaluator: &mut Evaluator<'_, '_, C>,
    columns: &DenseColumns,
    features: &[u32],
) -> Option<(u32, SplitCandidate)> {
    features.iter().find_map(|&feature| {
        let candidate = evaluator.dense(columns, feature)?;
        Some(candidate.map(|candidate| (feature, candidate)))
    })?
}

/// Scores all features; their entries stay in the collector.
fn search_sparse<C: Criterion>(
    evaluator: &mut Evaluator<'_, '_, C>,
    columns: &SparseRanks,
    features: &[u32],
    collector: &mut SparseCollector,
    is_rest: bool,
) -> SearchOutcome {
    collector.collect(columns, features, evaluator.node.rows, is_rest);
    let mut search = SearchOutcome::AllConstant;
    for i in 0..collector.held().len() {
        let place = collector.held()[i] as usize;
        let feature = features[place];
        if !evaluator.is_beaten(feature, &search) {
            let candidate = evaluator.sparse(columns, feature, collector.entries_mut(feature, place));
            evaluator.offer(&mut search, feature, candidate);
        }
    }
    search
}

/// Returns the features in the order in which a node continues after its k draws.
fn further_order(features: &[u32], order: RandomOrder) -> Vec<u32> {
    let mut features = features.to_vec();
    features.sort_unstable_by_key(|&f| order.rank(f));
    features
}

/// Returns the first feature of [`further_order`] that varies in the node, found from the rows' entries.
fn first_varying(
    columns: &SparseRanks,
    features: &[u32],
    rows: &[u32],
    order: RandomOrder,
    collector: &mut SparseCollector,
) -> Option<u32> {
    match collector.lists_mut() {
        Some(lists) => first_varying_list(lists, columns, features, rows.len(), order),
        None => first_varying_entry(columns, features, rows, order),
    }
}

/// Returns true if a feature is among these increasing features.
fn is_among(features: &[u32], columns: &SparseRanks, feature: u32) -> bool {
    features.len() == columns.n_features() || features.binary_search(&feature).is_ok()
}

/// Like [`first_varying`], but uses lists.
fn first_varying_list(
    lists: &mut EntryLists,
    columns: &SparseRanks,
    features: &[u32],
    n_rows: usize,
    order: RandomOrder,
) -> Option<u32> {
    let mut found: Option<(u64, u32)> = None;
    for i in 0..lists.held().len() {
        let feature = lists.held()[i];
        let rank = order.rank(feature);
        if found.is_none_or(|f| rank < f) && is_among(features, columns, feature) {
            let list = lists.cut(feature);
            let is_constant = match list.split_first() {
                None => true,
                Some((first, others)) => {
                    list.len() == n_rows && others.iter().all(|e| e.rank() == first.rank())
                }
            };
            if !is_constant {
                found = Some(rank);
            }
        }
    }
    found.map(|(_, feature)| feature)
}

/// Like [`first_varying`], but uses the entries of the rows.
fn first_varying_entry(
    columns: &SparseRanks,
    features: &[u32],
    rows: &[u32],
    order: RandomOrder,
) -> Option<u32> {
    // A feature that some row holds is constant only if all rows hold it with the same rank, and then it is among the
    // entries of the first row. So the entries of the first row are checked against the other rows; all other features
    // vary.
    let (first, others) = rows.split_first()?;
    let first: Vec<(u32, u32)> = columns.entries_of(*first).collect();
    let mut same: Vec<bool> = vec![true; first.len()];
    let mut found: Option<(u64, u32)> = None;
    let mut consider = |feature| {
        let rank = order.rank(feature);
        if found.is_none_or(|f| rank < f) && is_among(features, columns, feature) {
            found = Some(rank);
        }
    };
    for &row in others {
        // Both rows are in feature order.
        let mut mine = first.iter().zip(&mut same).peekable();
        for (feature, rank) in columns.entries_of(row) {
            while let Some((_, same)) = mine.next_if(|(held, _)| held.0 < feature) {
                *same = false;
            }
            match mine.next_if(|(held, _)| held.0 == feature) {
                Some((held, same)) => *same &= held.1 == rank,
                None => consider(feature),
            }
        }
        mine.for_each(|(_, same)| *same = false);
    }
    first
        .iter()
        .zip(&same)
        .filter(|(_, same)| !**same)
        .for_each(|((feature, _), _)| consider(*feature));
    found.map(|(_, feature)| feature)
}

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
    /// [`TreeError::Mismatch`] for a feature that does not exist.
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

    fn workspace(&self) -> Self::Workspace {
        let search = AxisSearch::new(&self.columns, self.subset);
        (search, self.criterion.clone(), None)
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
        // The first node of a tree has the same number as that of an earlier tree.
        if node.number == 0 || *begun != Some(node.number) {
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
