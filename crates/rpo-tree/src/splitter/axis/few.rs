//! Growth of subtrees with few rows, whose binary features are stored as bits.
//!
//! Half of all nodes of a fully grown tree have a handful of rows, and nearly all have few. If each feature has one
//! value besides zero, the rows of such a node that hold a feature fit into one word: a candidate costs a few
//! instructions, and splitting a node is splitting a word.

use super::params::AxisParams;
use super::search::AxisSearch;
use super::varying::is_among;
use crate::criterion::{Criterion, MOST_FEW, SomeRows};
use crate::grow::{GrowParams, Subtree};
use crate::ranks::{SparseRanks, bits, threshold_between};
use crate::rule::AxisRule;
use crate::splitter::NodeRows;
use crate::splitter::candidates::RandomOrder;
use crate::splitter::sweep::is_admissible;
use rpo_core::{Seed, vectorized};

/// Features that each have one value besides zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct BinaryCells<'a> {
    columns: &'a SparseRanks,
    /// The values.
    values: &'a [f32],
}

impl<'a> BinaryCells<'a> {
    /// Returns `None` if features have several values, or too few cells are nonzero for bits to pay off.
    pub(super) fn of(columns: &'a SparseRanks) -> Option<Self> {
        let values = columns.only_values()?;
        columns.holding().is_some().then_some(Self { columns, values })
    }
}

/// The rows of a subtree and the features they hold.
#[derive(Debug, Clone, Default)]
pub(super) struct FewRows {
    rows: Vec<u32>,
    /// Per feature: the rows that hold it.
    holding: Vec<u64>,
    /// Candidates that vary, each with the rows that hold it.
    candidates: Vec<(u32, u64)>,
    waiting: Vec<Waiting>,
}

/// A node waiting to be split.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    number: usize,
    rows: u64,
    depth: u32,
    seed: Seed,
}

/// The split of a node.
struct FewSplit {
    rule: AxisRule,
    gain: f64,
    left: u64,
}

impl FewRows {
    /// Starts a subtree.
    fn enter(&mut self, columns: &SparseRanks, rows: &[u32]) {
        /// Number of words that are set to 0 together in the time of setting a single one.
        const TOGETHER: usize = 8;
        let former = self.rows.len() * columns.n_entries() / columns.n_rows();
        if self.holding.len() <= TOGETHER * former {
            self.holding.fill(0);
        } else {
            for &row in &self.rows {
                for &feature in columns.features_of(row) {
                    self.holding[feature as usize] = 0;
                }
            }
        }
        self.holding.resize(columns.n_features(), 0);
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        for (i, &row) in rows.iter().enumerate() {
            for &feature in columns.features_of(row) {
                self.holding[feature as usize] |= 1 << i;
            }
        }
    }

    /// Keeps the features that vary in a node as candidates.
    fn keep_varying(&mut self, features: &[u32], node: u64) {
        // Branch-free, as which features vary cannot be predicted.
        self.candidates.resize(features.len(), (0, 0));
        let mut n = 0;
        for &feature in features {
            let rows = self.holding[feature as usize] & node;
            self.candidates[n] = (feature, rows);
            n += usize::from((rows != 0) & (rows != node));
        }
        self.candidates.truncate(n);
    }

    /// Returns the first feature in this order that varies in a node, among an increasing subset.
    fn first_varying(
        &self,
        columns: &SparseRanks,
        features: &[u32],
        node: u64,
        order: RandomOrder,
    ) -> Option<u32> {
        let mut found: Option<(u64, u32)> = None;
        bits::for_each_of(node, |i| {
            for &feature in columns.features_of(self.rows[i]) {
                let rows = self.holding[feature as usize] & node;
                // Each feature is visited in the first row that holds it.
                if rows != node && rows.trailing_zeros() as usize == i {
                    let rank = order.rank(feature);
                    if found.is_none_or(|first| rank < first) && is_among(features, columns, feature) {
                        found = Some(rank);
                    }
                }
            }
        });
        found.map(|(_, feature)| feature)
    }

    fn some(&self, which: u64) -> SomeRows<'_> {
        SomeRows {
            all: &self.rows,
            which,
        }
    }
}

impl AxisSearch {
    /// Grows the whole subtree below a node of few rows.
    pub(super) fn grow_few(
        &mut self,
        cells: BinaryCells<'_>,
        root: NodeRows<'_>,
        criterion: &mut impl Criterion,
        (params, limits): (&AxisParams, &GrowParams),
        subtree: &mut Subtree<AxisRule>,
    ) {
        self.few.enter(cells.columns, root.rows);
        criterion.enter(root.rows);
        let mut begun = None;
        let mut next = Some(Waiting {
            number: 0,
            rows: u64::MAX >> (MOST_FEW - root.rows.len()),
            depth: root.depth,
            seed: root.seed,
        });
        while let Some(node) = next {
            match self.split_few(cells, node, &mut begun, criterion, (params, limits)) {
                None => {
                    subtree.close(node.number, self.few.some(node.rows));
                    next = self.few.waiting.pop();
                }
                Some(FewSplit { rule, gain, left }) => {
                    let first = subtree.split(node.number, rule, gain);
                    let child = |i: usize, rows: u64| Waiting {
                        number: first + i,
                        rows,
                        depth: node.depth + 1,
                        seed: node.seed.child(i as u64),
                    };
                    let (left, right) = (child(0, left), child(1, node.rows & !left));
                    // The larger child comes next, as its sums may be computed as those of the node minus those of the
                    // other child.
                    let (rest, other) = if right.rows.count_ones() > left.rows.count_ones() {
                        (right, left)
                    } else {
                        (left, right)
                    };
                    if rest.rows.count_ones() > 1 && criterion.take_out_some(self.few.some(other.rows)) {
                        begun = Some(rest.number);
                    }
                    self.few.waiting.push(other);
                    next = Some(rest);
                }
            }
        }
    }

    /// Returns the split of a node, if it has one; `begun` is the node on which the criterion was started.
    fn split_few(
        &mut self,
        BinaryCells { columns, values }: BinaryCells<'_>,
        node: Waiting,
        begun: &mut Option<usize>,
        criterion: &mut impl Criterion,
        (params, limits): (&AxisParams, &GrowParams),
    ) -> Option<FewSplit> {
        let n = node.rows.count_ones() as usize;
        if !limits.allow(n, node.depth) || n / 2 < params.min_samples_leaf {
            return None;
        }
        if *begun != Some(node.number) {
            criterion.start_some(self.few.some(node.rows));
            *begun = Some(node.number);
        }
        if criterion.is_pure() {
            return None;
        }
        let has_all = self.draw_features(params, node.seed);
        let order = RandomOrder::of(node.seed);
        let few = &mut self.few;
        few.keep_varying(&self.features, node.rows);
        if few.candidates.is_empty() && !has_all {
            let feature = few.first_varying(columns, self.draw.features(), node.rows, order)?;
            few.keep_varying(&[feature], node.rows);
        }
        if has_all {
            // Among equal scores the first in this order wins.
            few.candidates
                .sort_unstable_by_key(|&(feature, _)| order.rank(feature));
        }
        if n == 2 {
            // Two rows can be separated in only one way, so all scores are equal.
            few.candidates.truncate(1);
        }
        let (score, feature, holding) = vectorized(
            #[inline(always)]
            || few.best(n, params.min_samples_leaf, criterion),
        )?;
        let gain = criterion.gain(score);
        if gain < params.min_gain {
            return None;
        }
        let value = values[feature as usize];
        let threshold = threshold_between(value.min(0.0), value.max(0.0));
        let left = if value < 0.0 {
            holding
        } else {
            node.rows & !holding
        };
        Some(FewSplit {
            rule: AxisRule::new(feature, threshold, 2 * left.count_ones() as usize > n),
            gain,
            left,
        })
    }
}

impl FewRows {
    /// Returns the best candidate, the first among equal ones: its score, feature, and the rows that hold it.
    #[inline(always)]
    fn best(&self, n: usize, min_leaf: usize, criterion: &mut impl Criterion) -> Option<(f64, u32, u64)> {
        let mut best: Option<(f64, u32, u64)> = None;
        for &(feature, rows) in &self.candidates {
            if is_admissible(rows.count_ones() as usize, n, min_leaf) {
                let score = criterion.score_some(self.some(rows));
                if score.is_finite() && best.is_none_or(|(best, ..)| score > best) {
                    best = Some((score, feature, rows));
                }
            }
        }
        best
    }
}
