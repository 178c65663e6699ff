//! The search of a node over its features.

use super::evaluator::{Buffers, Evaluator, SearchOutcome};
use super::few::FewRows;
use super::params::{AxisParams, ThresholdSearch};
use super::varying::{first_varying, further_order};
use crate::criterion::Criterion;
use crate::ranks::{DenseColumns, Layout, RankedFeatures, SparseRanks};
use crate::rule::AxisRule;
use crate::splitter::candidates::{FeatureDraw, RandomOrder};
use crate::splitter::categories::CategoryTargets;
use crate::splitter::collect::SparseCollector;
use crate::splitter::sweep::{Entry, SplitCandidate};
use crate::splitter::{NodeRows, ProposedSplit};
use rpo_core::Seed;

/// Buffers of a search for a split along one feature.
#[derive(Debug, Clone)]
pub struct AxisSearch {
    pub(super) draw: FeatureDraw,
    pub(super) features: Vec<u32>,
    sparse: Option<SparseCollector>,
    buffers: Buffers,
    pub(super) few: FewRows,
    /// The node that was searched last.
    pub(super) searched: Option<usize>,
    /// The child of that node that is searched next, if any.
    rest: Option<usize>,
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

    /// Forgets the nodes of an earlier tree.
    pub(super) fn begin(&mut self) {
        (self.searched, self.rest) = (None, None);
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
            Layout::Sparse(c) => {
                let (threshold, values) = (candidate.threshold, c.values(feature));
                self.route_entries(
                    threshold.first_right(values),
                    values.missing_rank(),
                    &rule,
                    node.rows,
                    children,
                );
            }
        }
        debug_assert_eq!(children.iter().filter(|c| **c == 0).count(), candidate.n_left);
        Some(ProposedSplit { rule, gain })
    }

    /// Draws the features that a node searches; returns true if these are all.
    pub(super) fn draw_features(&mut self, params: &AxisParams, node: Seed) -> bool {
        let n_features = self.draw.features().len();
        let k = params.max_features.unwrap_or(usize::MAX).min(n_features);
        self.draw.draw(k, node.purpose("features"), &mut self.features);
        k == n_features
    }

    /// Notes that a node was split, and that the child that excludes these rows may be searched next.
    pub(super) fn opened(&mut self, parent: usize, others: &[u32], rest: usize) {
        if self.searched == Some(parent)
            && let Some(collector) = &mut self.sparse
        {
            collector.take_out(others);
            self.rest = Some(rest);
        }
    }

    /// Writes the child of each row for a sparse feature: first the side of zero for all rows, then the side of each
    /// entry. Observed values go right from the rank `first_right`.
    fn route_entries(
        &mut self,
        first_right: u32,
        missing_rank: u32,
        rule: &AxisRule,
        rows: &[u32],
        children: &mut [u16],
    ) {
        let place = self.features.iter().position(|&f| f == rule.feature());
        let collector = self.sparse.as_mut().expect("made for the layout of the columns");
        let entries = collector.entries_mut(rule.feature(), place.expect("the feature was searched"));
        let right = |entry: u64| {
            let rank = entry.rank();
            if rank == missing_rank {
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

/// Scores all features.
fn search_dense<C: Criterion>(
    evaluator: &mut Evaluator<'_, '_, C>,
    columns: &DenseColumns,
    features: &[u32],
) -> SearchOutcome {
    let mut search = SearchOutcome::AllConstant;
    match evaluator.params.thresholds {
        ThresholdSearch::Best => evaluator.bound(columns, features),
        // Compared only when all are scored: which one is better cannot be predicted, and no score waits for that.
        ThresholdSearch::Random if evaluator.node.rows.len() > 2 => {
            let mut scored = std::mem::take(&mut evaluator.buffers.scored);
            scored.clear();
            scored.extend(features.iter().map(|&feature| evaluator.dense(columns, feature)));
            let search = evaluator.best_of(features, &scored);
            evaluator.buffers.scored = scored;
            return search;
        }
        ThresholdSearch::Random => {}
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
            let entries = collector.entries_mut(feature, place);
            let candidate = evaluator.sparse(columns, feature, entries, search.score());
            evaluator.offer(&mut search, feature, candidate);
        }
    }
    search
}
