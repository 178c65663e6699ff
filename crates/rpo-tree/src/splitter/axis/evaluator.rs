//! The best split of one feature, and the best of several.

use super::params::{AxisParams, ThresholdSearch};
use crate::criterion::Criterion;
use crate::ranks::{ColumnValues, DenseColumns, MOST_ROWS, Ranks, SparseRanks, threshold_between};
use crate::splitter::NodeRows;
use crate::splitter::bounded::BoundedSearch;
use crate::splitter::candidates::RandomOrder;
use crate::splitter::categories::{CategorySearch, CategoryTargets};
use crate::splitter::dense::DenseSearch;
use crate::splitter::order::RankSorter;
use crate::splitter::random::{self, RandomThreshold};
use crate::splitter::sweep::{Entry, Feature, SplitCandidate, Threshold, is_admissible};
use rpo_core::{Seed, vectorized};

/// Buffers of the search inside one feature.
#[derive(Debug, Clone, Default)]
pub(super) struct Buffers {
    sorter: RankSorter<u64>,
    random: RandomThreshold,
    /// Rows that hold a sparse feature.
    rows_held: Vec<u32>,
    dense: DenseSearch<u64>,
    narrow: DenseSearch<u32>,
    bounded: BoundedSearch,
    /// The candidates of features, in order.
    pub(super) scored: Vec<Option<Option<SplitCandidate>>>,
    pub(super) categories: CategorySearch,
}

/// A feature and a candidate split of it.
type Scored<'c> = (u32, &'c SplitCandidate);

/// Outcome of scoring several features.
pub(super) enum SearchOutcome {
    AllConstant,
    /// The best candidate: its feature and split; `None` if no split is admissible.
    Best(Option<(u32, SplitCandidate)>),
}

impl SearchOutcome {
    pub(super) fn best(self) -> Option<(u32, SplitCandidate)> {
        match self {
            Self::AllConstant => None,
            Self::Best(best) => best,
        }
    }

    /// The best score so far, if there is one.
    pub(super) fn score(&self) -> Option<f64> {
        match self {
            Self::Best(Some((_, best))) => Some(best.score),
            _ => None,
        }
    }

    /// Offers one more feature.
    pub(super) fn offer(
        &mut self,
        feature: u32,
        candidate: Option<SplitCandidate>,
        beats: impl Fn(Scored<'_>, Scored<'_>) -> bool,
    ) {
        let best = match self {
            Self::Best(Some((held, best))) => {
                candidate.filter(|candidate| beats((feature, candidate), (*held, best)))
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
/// enough, or none can be the best.
pub(super) struct Evaluator<'a, 't, C> {
    pub(super) node: NodeRows<'a>,
    /// Seed of random thresholds.
    pub(super) threshold_seed: Seed,
    pub(super) criterion: &'a mut C,
    pub(super) targets: Option<CategoryTargets<'t>>,
    pub(super) params: &'a AxisParams,
    pub(super) buffers: &'a mut Buffers,
    /// Order in which features win among equal scores; `None` for the order in which they are offered.
    pub(super) ties: Option<RandomOrder>,
}

impl<C: Criterion> Evaluator<'_, '_, C> {
    /// Returns true if a feature wins against one of the same score that came before it.
    fn wins_tie(&self, feature: u32, held: u32) -> bool {
        self.ties
            .is_some_and(|order| order.rank(feature) < order.rank(held))
    }

    /// Returns true if a candidate is better than one that came before it.
    fn beats(&self, (feature, new): Scored<'_>, (before, held): Scored<'_>) -> bool {
        new.score > held.score || (new.score == held.score && self.wins_tie(feature, before))
    }

    /// Returns true if a feature cannot be the best: two rows can be separated in only one way, so all scores are
    /// equal.
    pub(super) fn is_beaten(&self, feature: u32, search: &SearchOutcome) -> bool {
        match search {
            SearchOutcome::Best(Some((held, _))) => {
                self.node.rows.len() == 2 && !self.wins_tie(feature, *held)
            }
            _ => false,
        }
    }

    /// Offers a feature that is not [beaten](Self::is_beaten), unless it is constant.
    pub(super) fn offer(
        &self,
        search: &mut SearchOutcome,
        feature: u32,
        candidate: Option<Option<SplitCandidate>>,
    ) {
        let Some(candidate) = candidate else { return };
        // Two rows tie regardless of rounding in the scores.
        if self.node.rows.len() == 2 && candidate.is_some() {
            *search = SearchOutcome::AllConstant;
        }
        search.offer(feature, candidate, |new, held| self.beats(new, held));
    }

    /// Returns the outcome of offering these candidates one after the other, for nodes of more than two rows.
    pub(super) fn best_of(
        &self,
        features: &[u32],
        candidates: &[Option<Option<SplitCandidate>>],
    ) -> SearchOutcome {
        let admissible = features
            .iter()
            .zip(candidates)
            .filter_map(|(&feature, candidate)| Some((feature, candidate.as_ref()?.as_ref()?)));
        let best = admissible.reduce(|held, new| if self.beats(new, held) { new } else { held });
        match best {
            Some((feature, &candidate)) => SearchOutcome::Best(Some((feature, candidate))),
            None if candidates.iter().any(Option::is_some) => SearchOutcome::Best(None),
            None => SearchOutcome::AllConstant,
        }
    }

    pub(super) fn dense(&mut self, columns: &DenseColumns, feature: u32) -> Option<Option<SplitCandidate>> {
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
                // A feature that is binary in the training set has the same threshold in every node.
                if columns.is_binary(feature) {
                    random.split((rows, values), sizes, threshold_between, self.criterion)
                } else {
                    random.split((rows, values), sizes, drawn(uniform), self.criterion)
                }
            }
        }
    }

    /// Computes bounds on the splits along features that are searched for their best thresholds.
    pub(super) fn bound(&mut self, columns: &DenseColumns, features: &[u32]) {
        let (rows, min_leaf) = (self.node.rows, self.params.min_samples_leaf);
        let bounded = &mut self.buffers.bounded;
        bounded.start(columns, features, rows, min_leaf, self.criterion);
    }

    /// Like [`dense`](Self::dense), but uses bounds where there are some.
    pub(super) fn bounded(&mut self, columns: &DenseColumns, feature: u32) -> Option<Option<SplitCandidate>> {
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
                random.split(
                    (rows, places),
                    (rows.len(), min_leaf),
                    drawn(uniform),
                    self.criterion,
                )
            }
        }
    }

    /// Entries are in row order or in rank order; `to_reach` is the best score of the other features so far.
    pub(super) fn sparse(
        &mut self,
        columns: &SparseRanks,
        feature: u32,
        entries: &mut [u64],
        to_reach: Option<f64>,
    ) -> Option<Option<SplitCandidate>> {
        let outline = columns.outline(feature);
        if let Some(rank) = outline.only_rank {
            // Of the two ranks, the other one is that of zero.
            let threshold = Threshold::Between(0, 1);
            return self.binary(rank == 0, threshold, entries);
        }
        let rows = entries.iter().map(|entry| entry.row());
        if to_reach.is_some_and(|score| self.criterion.cannot_reach(score, rows)) {
            return Some(None);
        }
        match self.params.thresholds {
            ThresholdSearch::Best => {
                self.buffers.sorter.sort(entries);
                let (n_rows, min_leaf) = (self.node.rows.len(), self.params.min_samples_leaf);
                let feature = Feature::new(entries, outline.bounds, n_rows, min_leaf);
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
                random.split((rows_held, values), sizes, drawn(uniform), self.criterion)
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

/// Returns the function that draws a threshold between a node's smallest and largest value.
fn drawn(uniform: f64) -> impl Fn(f32, f32) -> f32 {
    move |low, high| random::draw(low, high, uniform)
}
