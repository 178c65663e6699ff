//! Splits of one feature at a threshold.
//!
//! For each candidate feature the best threshold (CART, random forests) or a random one (Extra-Trees) is scored, and the
//! best candidate wins; of equal scores the feature drawn first, a random one where all are searched, and inside a feature
//! the smallest threshold. A split may
//! gain nothing: an impure node with two distinct values is split, as fully developed trees need (exclusive or, for
//! example).

use super::candidates::{FeatureDraw, RandomOrder};
use super::collect::{SparseCollector, dense_entries};
use super::order::RankSorter;
use super::sweep::{Feature, SplitCandidate, rank_of, row_of};
use super::{NodeRows, ProposedSplit, Splitter};
use crate::TreeError;
use crate::criterion::Criterion;
use crate::ranks::{ColumnValues, DenseRanks, Layout, RankedFeatures, SparseRanks};
use crate::rule::AxisRule;
use rpo_core::{check_count, check_not_negative};
use serde::{Deserialize, Serialize};

/// Choice of the threshold of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdSearch {
    /// The midpoint between neighbouring distinct values of the node that scores best.
    #[default]
    Best,
    /// One that is uniform between the node's smallest and largest value (Geurts, Ernst, Wehenkel 2006).
    Random,
}

/// Parameters of the axis-aligned search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AxisParams {
    /// Features k drawn at each node without replacement, constant ones included; `None`, or more than there
    /// are, means all. Default all (CART); forests draw fewer to make trees differ. If all k
    /// are constant in the node, it goes on until it meets one that is not.
    pub max_features: Option<usize>,
    /// Fewest distinct samples of a child, whatever their weight. Default 1: any split is allowed.
    pub min_samples_leaf: usize,
    /// Smallest gain of a split, for variance |S| ΔI, in the criterion's unit. Default 0: any split is allowed, also one
    /// that gains nothing, but none that loses.
    pub min_gain: f64,
    /// Choice of the threshold of a feature. Default best.
    pub thresholds: ThresholdSearch,
}

impl Default for AxisParams {
    fn default() -> Self {
        Self {
            max_features: None,
            min_samples_leaf: 1,
            min_gain: 0.0,
            thresholds: ThresholdSearch::Best,
        }
    }
}

impl AxisParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] with the first parameter out of range.
    pub fn check(&self) -> Result<(), TreeError> {
        check_count("max_features", self.max_features)?;
        check_count("min_samples_leaf", self.min_samples_leaf)?;
        Ok(check_not_negative("min_gain", self.min_gain)?)
    }
}

/// The search for a split along one feature, with its buffers; combines with any [`Criterion`], also one whose targets
/// change from node to node.
#[derive(Debug, Clone)]
pub struct AxisSearch {
    draw: FeatureDraw,
    features: Vec<u32>,
    sparse: Option<SparseCollector>,
    sorter: RankSorter,
    /// Entries of the current and the best candidate of dense features.
    dense: [Vec<u64>; 2],
    /// Per training row: its child, 0 between calls.
    child_of_row: Vec<u8>,
}

impl AxisSearch {
    /// Buffers for a training set, and a search among all its features or among some, increasing.
    pub fn new(columns: &RankedFeatures, subset: Option<&[u32]>) -> Self {
        let all = 0..columns.n_features() as u32;
        let features = subset.map_or_else(|| all.collect(), <[u32]>::to_vec);
        Self {
            draw: FeatureDraw::new(features),
            features: Vec::new(),
            sparse: match columns.layout() {
                Layout::Dense(_) => None,
                Layout::Sparse(c) => Some(SparseCollector::new(c)),
            },
            sorter: RankSorter::default(),
            dense: Default::default(),
            child_of_row: vec![0; columns.n_rows()],
        }
    }

    /// Searches a node on which the criterion was started, and writes the child of each row (`children` is as
    /// long as `node.rows`). `None` if all features are constant or no candidate leaves both children large enough.
    ///
    /// `columns` are those the buffers were made for.
    pub fn search(
        &mut self,
        columns: &RankedFeatures,
        node: NodeRows<'_>,
        criterion: &mut impl Criterion,
        params: &AxisParams,
        children: &mut [u16],
    ) -> Option<ProposedSplit<AxisRule>> {
        if node.rows.len() / 2 < params.min_samples_leaf {
            return None;
        }
        let n_features = self.draw.features().len();
        let k = params.max_features.unwrap_or(usize::MAX).min(n_features);
        self.draw
            .draw(k, node.seed.purpose("features"), &mut self.features);
        let order = RandomOrder::of(node.seed);
        let mut evaluator = Evaluator {
            columns,
            node,
            criterion,
            params,
            sorter: &mut self.sorter,
            ties: (k == n_features).then_some(order),
        };
        let best = match (columns.layout(), &mut self.sparse) {
            (Layout::Dense(c), _) => match search_dense(&mut evaluator, c, &self.features, &mut self.dense) {
                SearchOutcome::AllConstant if k < n_features => {
                    let further = further_order(self.draw.features(), order);
                    first_dense(&mut evaluator, c, &further, &mut self.dense)
                }
                search => search.best(),
            },
            (Layout::Sparse(c), Some(collector)) => {
                match search_sparse(&mut evaluator, c, &self.features, collector) {
                    SearchOutcome::AllConstant if k < n_features => {
                        self.features.clear();
                        self.features
                            .extend(first_varying(c, self.draw.features(), node.rows, order));
                        search_sparse(&mut evaluator, c, &self.features, collector).best()
                    }
                    search => search.best(),
                }
            }
            (Layout::Sparse(_), None) => unreachable!("made for the layout of the columns"),
        };
        let (feature, candidate, place) = best?;
        let gain = criterion.gain(candidate.score);
        if gain < params.min_gain {
            return None;
        }
        self.route(columns.values(feature), &candidate, place, node.rows, children);
        Some(ProposedSplit {
            rule: AxisRule::new(feature, candidate.threshold, candidate.missing_left),
            gain,
        })
    }

    /// Writes the child of each row: first the side of zero for all, then that of the entries.
    fn route(
        &mut self,
        values: &ColumnValues,
        candidate: &SplitCandidate,
        place: usize,
        rows: &[u32],
        children: &mut [u16],
    ) {
        let first_right = values.values.partition_point(|&v| v <= candidate.threshold) as u32;
        let right = |entry: u64| {
            let rank = rank_of(entry);
            if rank == values.missing_rank() {
                !candidate.missing_left
            } else {
                rank >= first_right
            }
        };
        let zero_right = 0.0 > candidate.threshold;
        let entries = match &mut self.sparse {
            Some(collector) => collector.entries_mut(place),
            None => &mut self.dense[place],
        };
        for &entry in entries.iter() {
            self.child_of_row[row_of(entry) as usize] = u8::from(right(entry) != zero_right);
        }
        for (child, &row) in children.iter_mut().zip(rows) {
            *child = u16::from((self.child_of_row[row as usize] != 0) != zero_right);
        }
        for &entry in entries.iter() {
            self.child_of_row[row_of(entry) as usize] = 0;
        }
        debug_assert_eq!(children.iter().filter(|c| **c == 0).count(), candidate.n_left);
    }
}

/// The outcome of scoring several features.
enum SearchOutcome {
    AllConstant,
    /// The best candidate: its feature, split and place in the buffers; `None` if no split is admissible.
    Best(Option<(u32, SplitCandidate, usize)>),
}

impl SearchOutcome {
    fn best(self) -> Option<(u32, SplitCandidate, usize)> {
        match self {
            Self::AllConstant => None,
            Self::Best(best) => best,
        }
    }

    /// Takes in one more feature; whether it is the best so far.
    fn offer(
        &mut self,
        feature: u32,
        candidate: Option<SplitCandidate>,
        place: usize,
        wins_tie: impl Fn(u32) -> bool,
    ) -> bool {
        let best = match self {
            Self::Best(Some((held, best, _))) => {
                candidate.filter(|c| c.score > best.score || (c.score == best.score && wins_tie(*held)))
            }
            _ => candidate,
        };
        match (best, &self) {
            (Some(candidate), _) => *self = Self::Best(Some((feature, candidate, place))),
            (None, Self::AllConstant) => *self = Self::Best(None),
            (None, Self::Best(_)) => {}
        }
        best.is_some()
    }
}

/// Scores a feature of a node by its entries.
struct Evaluator<'a, C> {
    columns: &'a RankedFeatures,
    node: NodeRows<'a>,
    criterion: &'a mut C,
    params: &'a AxisParams,
    sorter: &'a mut RankSorter,
    /// The order in which features win among equal scores; `None` if it is that in which they come.
    ties: Option<RandomOrder>,
}

impl<C: Criterion> Evaluator<'_, C> {
    /// Returns true if a feature wins against one of the same score that came before it.
    fn wins_tie(&self, feature: u32, held: u32) -> bool {
        self.ties
            .is_some_and(|order| order.rank(feature) < order.rank(held))
    }

    /// Returns true if a feature cannot be the best: two rows are separated in one way only, so that all scores are equal.
    fn is_beaten(&self, feature: u32, search: &SearchOutcome) -> bool {
        match search {
            SearchOutcome::Best(Some((held, ..))) => {
                self.node.rows.len() == 2 && !self.wins_tie(feature, *held)
            }
            _ => false,
        }
    }

    /// Takes in a feature with these entries; whether it is the best so far.
    fn offer(
        &mut self,
        search: &mut SearchOutcome,
        feature: u32,
        entries: &mut Vec<u64>,
        place: usize,
    ) -> bool {
        let Some(candidate) = self.candidate(feature, entries) else {
            return false;
        };
        if self.node.rows.len() == 2 && candidate.is_some() {
            *search = SearchOutcome::AllConstant;
        }
        search.offer(feature, candidate, place, |held| self.wins_tie(feature, held))
    }

    /// `None` if the feature is constant, `Some(None)` if no candidate leaves both children large enough.
    fn candidate(&mut self, feature: u32, entries: &mut Vec<u64>) -> Option<Option<SplitCandidate>> {
        if entries.is_empty() {
            return None;
        }
        let values = self.columns.values(feature);
        let (n_rows, min_leaf) = (self.node.rows.len(), self.params.min_samples_leaf);
        let sorted = match self.columns.layout() {
            Layout::Sparse(columns) if columns.only_rank(feature).is_some() => {
                Feature::binary(entries, values, n_rows, min_leaf)
            }
            _ => {
                self.sorter.sort(entries);
                Feature::new(entries, values, n_rows, min_leaf)
            }
        };
        if sorted.is_constant() {
            return None;
        }
        Some(match self.params.thresholds {
            ThresholdSearch::Best => sorted.best_split(self.criterion),
            ThresholdSearch::Random => {
                let bits = self.node.seed.purpose("threshold").hash(u64::from(feature)) >> 11;
                sorted.random_split(self.criterion, bits as f64 / (1_u64 << 53) as f64)
            }
        })
    }
}

/// Scores all features; the entries of the best end in the second buffer.
fn search_dense<C: Criterion>(
    evaluator: &mut Evaluator<'_, C>,
    columns: &DenseRanks,
    features: &[u32],
    buffers: &mut [Vec<u64>; 2],
) -> SearchOutcome {
    let mut search = SearchOutcome::AllConstant;
    for &feature in features {
        if evaluator.is_beaten(feature, &search) {
            continue;
        }
        dense_entries(columns, feature, evaluator.node.rows, &mut buffers[0]);
        if evaluator.offer(&mut search, feature, &mut buffers[0], 1) {
            buffers.swap(0, 1);
        }
    }
    search
}

/// Scores the first feature that varies; its entries end in the first buffer.
fn first_dense<C: Criterion>(
    evaluator: &mut Evaluator<'_, C>,
    columns: &DenseRanks,
    features: &[u32],
    buffers: &mut [Vec<u64>; 2],
) -> Option<(u32, SplitCandidate, usize)> {
    features.iter().find_map(|&feature| {
        dense_entries(columns, feature, evaluator.node.rows, &mut buffers[0]);
        evaluator
            .candidate(feature, &mut buffers[0])
            .map(|candidate| candidate.map(|candidate| (feature, candidate, 0)))
    })?
}

/// Scores all features, whose entries stay in the collector.
fn search_sparse<C: Criterion>(
    evaluator: &mut Evaluator<'_, C>,
    columns: &SparseRanks,
    features: &[u32],
    collector: &mut SparseCollector,
) -> SearchOutcome {
    collector.collect(columns, features, evaluator.node.rows);
    let mut search = SearchOutcome::AllConstant;
    for i in 0..collector.held().len() {
        let place = collector.held()[i] as usize;
        let feature = features[place];
        if !evaluator.is_beaten(feature, &search) {
            evaluator.offer(&mut search, feature, collector.entries_mut(place), place);
        }
    }
    search
}

/// The features in the order in which a node goes on past its draws.
fn further_order(features: &[u32], order: RandomOrder) -> Vec<u32> {
    let mut features = features.to_vec();
    features.sort_unstable_by_key(|&f| order.rank(f));
    features
}

/// The first feature of [`further_order`] that varies in the node, found from the rows' entries.
fn first_varying(columns: &SparseRanks, features: &[u32], rows: &[u32], order: RandomOrder) -> Option<u32> {
    // A feature that some row holds is constant only if all rows hold it with one rank: then it is among the
    // entries of the first row. So those are checked against the other rows, and all others vary.
    let (first, others) = rows.split_first()?;
    let first = columns.row(*first);
    let mut same: Vec<bool> = vec![true; first.len()];
    let mut found: Option<(u64, u32)> = None;
    let all = features.len() == columns.n_features();
    let mut consider = |feature| {
        let rank = order.rank(feature);
        if found.is_none_or(|f| rank < f) && (all || features.binary_search(&feature).is_ok()) {
            found = Some(rank);
        }
    };
    for &row in others {
        // Both rows are in feature order.
        let mut mine = first.iter().zip(&mut same).peekable();
        for entry in columns.row(row) {
            while let Some((_, same)) = mine.next_if(|(e, _)| e.feature < entry.feature) {
                *same = false;
            }
            match mine.next_if(|(e, _)| e.feature == entry.feature) {
                Some((e, same)) => *same &= e.rank == entry.rank,
                None => consider(entry.feature),
            }
        }
        mine.for_each(|(_, same)| *same = false);
    }
    first
        .iter()
        .zip(&same)
        .filter(|(_, same)| !**same)
        .for_each(|(e, _)| consider(e.feature));
    found.map(|(_, feature)| feature)
}

/// Splits one feature against a threshold: of the features drawn, the one whose best (CART, random forests) or
/// random (Extra-Trees: Geurts, Ernst, Wehenkel, Machine Learning 63, 2006, table 1) threshold scores highest.
///
/// Observed values up to the threshold go left. A best threshold is the midpoint of two neighbouring values of the
/// node. With missing values (NaN) each threshold is tried with all of them left and all of them right, and best
/// thresholds also against "observed left, missing right". Where a node has no missing value, missing values will follow
/// the child of more rows. Ties: of equal scores the feature drawn first (where all are searched, a random one), then
/// the smaller threshold, then missing values right. Nodes are leaves if they are pure or have fewer than `2 min_samples_leaf` rows.
///
/// Cost per node of n rows and k features, m being the cost of moving a row: O(k n (m + log n)); of a sparse
/// feature only the rows with a stored value count. Dense and sparse features give the same tree.
#[derive(Debug, Clone)]
pub struct AxisSplitter<'a, C> {
    columns: &'a RankedFeatures,
    /// The features to choose from, if not all.
    subset: Option<&'a [u32]>,
    criterion: C,
    params: AxisParams,
}

impl<'a, C: Criterion + Sync> AxisSplitter<'a, C> {
    /// Ranked features (n x p), a criterion over the same n rows, and parameters.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] with the first parameter out of range.
    pub fn new(columns: &'a RankedFeatures, criterion: C, params: AxisParams) -> Result<Self, TreeError> {
        params.check()?;
        Ok(Self {
            columns,
            subset: None,
            criterion,
            params,
        })
    }

    /// Restricts the search to some features, increasing.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] for features that do not increase, [`TreeError::Mismatch`] for one that does not exist.
    pub fn on(self, subset: &'a [u32]) -> Result<Self, TreeError> {
        super::check_subset(subset, self.columns.n_features())?;
        Ok(Self {
            subset: Some(subset),
            ..self
        })
    }
}

impl<C: Criterion + Sync> Splitter for AxisSplitter<'_, C> {
    type Rule = AxisRule;
    type Workspace = (AxisSearch, C);

    fn workspace(&self) -> Self::Workspace {
        (AxisSearch::new(self.columns, self.subset), self.criterion.clone())
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        (search, criterion): &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<AxisRule>> {
        if node.rows.len() / 2 < self.params.min_samples_leaf {
            return None;
        }
        criterion.start(node.rows);
        if criterion.is_pure() {
            return None;
        }
        search.search(self.columns, node, criterion, &self.params, children)
    }
}
