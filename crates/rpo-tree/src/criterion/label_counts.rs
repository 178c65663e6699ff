//! Summed variance over 0/1 labels, by counting.
//!
//! With t the label counts of a node and m those of the moved rows, moving a row of weight c with labels L
//! adds
//!
//! ```text
//! c (2 Σ_{j∈L} m_j + c |L|)  to  Σ_j m_j²     and     c Σ_{j∈L} t_j  to  Σ_j m_j t_j.
//! ```
//!
//! Most candidates move few rows, so resetting their counts would cost as much as counting them. The counts m are
//! therefore stored above a floor, which rises past all of them when rows are moved back. All numbers are whole, so the
//! scores equal those of the other criteria bit for bit.

use super::grid::are_whole;
use super::label_products::{LabelProducts, ProductSums};
use super::label_rows::{GROUP, LabelRow, LabelRows};
use super::{AHEAD, Criterion, MOST_FEW, NodeSums, SomeRows};
use rpo_core::CsrView;
use std::sync::Arc;

/// Summed variance over 0/1 labels (n x d) with integer weights: cost O(labels of the row) per moved row, O(1) per
/// score.
#[derive(Debug, Clone)]
pub(crate) struct LabelCountVariance {
    labels: Arc<LabelRows>,
    rows: Arc<[WeightedRow]>,
    sums: NodeSums,
    /// By label: the weight of the node's rows that have it; padding labels follow the last one.
    total: Vec<u32>,
    /// By label: the floor plus the weight of the moved rows that have it; at most the floor if none has it.
    moved: Vec<u32>,
    floor: u32,
    /// The rows of the node started last, some of which may have been removed since.
    node: Vec<u32>,
    moved_weight: u64,
    moved_norm: u64,
    moved_dot_total: u64,
    few: LabelProducts,
    /// True if `few` holds the rows of the subtree.
    in_few: bool,
}

/// The labels of a row, and its weight.
#[derive(Debug, Clone, Copy)]
struct WeightedRow {
    labels: LabelRow,
    weight: u32,
}

/// Smallest number of labels for which reading ahead helps: fewer fit into a core's cache.
const LARGE: usize = 1 << 17;

impl LabelCountVariance {
    /// Lays the labels out; `None` also if they are not [labels](LabelRows::new).
    pub(crate) fn of(labels: CsrView<'_>, weights: &[f32]) -> Option<Self> {
        LabelRows::new(labels).and_then(|labels| Self::new(Arc::new(labels), weights))
    }

    /// Takes labels and one weight per row. Returns `None` if a weight is not a whole number from 0, or a sum could
    /// leave the integers that are exact in `f64`; [`SparseVariance`](super::SparseVariance) is used then.
    ///
    /// # Panics
    /// If the number of rows differs from that of weights.
    pub(crate) fn new(labels: Arc<LabelRows>, weights: &[f32]) -> Option<Self> {
        assert_eq!(labels.rows().len(), weights.len(), "one weight per row of labels");
        if !are_whole(weights) {
            return None;
        }
        let (mut total_weight, mut total_labels) = (0.0, 0.0);
        let weighted = |(&labels, &weight): (&LabelRow, &f32)| {
            total_weight += f64::from(weight);
            total_labels += f64::from(weight) * f64::from(labels.n_labels);
            let weight = weight as u32;
            WeightedRow { labels, weight }
        };
        let rows: Arc<[WeightedRow]> = labels.rows().iter().zip(weights).map(weighted).collect();
        // ‖t‖² is at most the largest count times the sum of all counts.
        let small = total_weight < f64::from(u32::MAX) && total_weight * total_labels < (1_u64 << 53) as f64;
        let n_counts = labels.n_labels() + GROUP - 1;
        small.then(|| Self {
            labels,
            rows,
            sums: NodeSums::default(),
            total: vec![0; n_counts],
            moved: vec![0; n_counts],
            floor: 0,
            node: Vec::new(),
            moved_weight: 0,
            moved_norm: 0,
            moved_dot_total: 0,
            few: LabelProducts::new(),
            in_few: false,
        })
    }

    /// Adds `weight`, which may be the complement of a weight to subtract, to the totals of a row's labels; returns
    /// their sum before the addition.
    #[inline]
    fn add(&mut self, row: LabelRow, weight: u32) -> u64 {
        let total = &mut self.total;
        let mut sum = 0;
        for &j in self.labels.padded(row) {
            let total = &mut total[j as usize];
            sum += u64::from(*total);
            *total = total.wrapping_add(weight);
        }
        clear_filling(total);
        sum
    }

    /// Counts a row as moved.
    #[inline]
    fn count(&mut self, row: u32) {
        let WeightedRow { labels: row, weight } = self.rows[row as usize];
        let labels = self.labels.padded(row);
        let (moved, floor) = (&mut self.moved, self.floor);
        let total = &self.total[..moved.len()];
        let (mut sum_moved, mut sum_total) = (0, 0);
        let mut count = |j: u32| {
            let before = moved[j as usize].max(floor);
            moved[j as usize] = before + weight;
            sum_moved += u64::from(before);
            sum_total += u64::from(total[j as usize]);
        };
        if self.labels.in_groups() {
            labels
                .as_chunks::<GROUP>()
                .0
                .iter()
                .flatten()
                .for_each(|&j| count(j));
            clear_filling(moved);
        } else {
            labels.iter().for_each(|&j| count(j));
        }
        sum_moved -= u64::from(floor) * labels.len() as u64;
        let (weight, n_labels) = (u64::from(weight), u64::from(row.n_labels));
        self.moved_norm += weight * (2 * sum_moved + weight * n_labels);
        self.moved_dot_total += weight * sum_total;
        self.moved_weight += weight;
    }

    /// Computes Σ c ‖z‖² over some rows.
    fn squares(&self, rows: SomeRows<'_>) -> u64 {
        let square = |row: u32| {
            let row = self.rows[row as usize];
            u64::from(row.weight) * u64::from(row.labels.n_labels)
        };
        rows.into_iter().map(square).sum()
    }

    /// Reads the first and last labels of rows without changing anything: the labels lie far apart in memory, and
    /// reading them together overlaps the waits.
    fn read_labels(&self, rows: &[u32]) {
        let mut bits = 0;
        for &row in rows {
            let labels = self.labels.padded(self.rows[row as usize].labels);
            bits |= labels.first().unwrap_or(&0) | labels.last().unwrap_or(&0);
        }
        // Keeps the reads from being optimized away although their result is not used.
        std::hint::black_box(bits);
    }

    /// Sets the totals of the node started last to 0, one by one or all at once.
    fn clear_node(&mut self) {
        /// Number of totals that are set to 0 together in the time of setting a single one.
        const TOGETHER: usize = 16;
        if self.labels.n_labels() <= TOGETHER * self.node.len() {
            self.total.fill(0);
        } else {
            for &row in &self.node {
                for &j in self.labels.padded(self.rows[row as usize].labels) {
                    self.total[j as usize] = 0;
                }
            }
        }
        self.node.clear();
    }
}

/// Resets the counts of the padding labels.
fn clear_filling(counts: &mut [u32]) {
    if let Some(filling) = counts.last_chunk_mut::<{ GROUP - 1 }>() {
        *filling = [0; GROUP - 1];
    }
}

impl Criterion for LabelCountVariance {
    fn start(&mut self, rows: &[u32]) {
        self.clear_node();
        self.node.extend_from_slice(rows);
        let (mut weights, mut norm, mut squares) = (0, 0, 0);
        for &row in rows {
            let WeightedRow { labels, weight } = self.rows[row as usize];
            let sum = self.add(labels, weight);
            let (weight, n_labels) = (u64::from(weight), u64::from(labels.n_labels));
            norm += weight * (2 * sum + weight * n_labels);
            squares += weight * n_labels;
            weights += weight;
        }
        self.sums = NodeSums {
            weight: weights as f64,
            squares: squares as f64,
            norm: norm as f64,
            moved_weight: 0.0,
        };
        self.clear();
    }

    fn take_out(&mut self, rows: &[u32]) -> bool {
        self.clear();
        let (mut weights, mut norm, mut squares) = (0, 0, 0);
        for &row in rows {
            let WeightedRow { labels, weight } = self.rows[row as usize];
            let sum = self.add(labels, weight.wrapping_neg());
            let (weight, n_labels) = (u64::from(weight), u64::from(labels.n_labels));
            norm += weight * (2 * sum - weight * n_labels);
            squares += weight * n_labels;
            weights += weight;
        }
        self.sums.weight -= weights as f64;
        self.sums.squares -= squares as f64;
        self.sums.norm -= norm as f64;
        true
    }

    fn enter(&mut self, rows: &[u32]) {
        let labelled = |&row: &u32| {
            let WeightedRow { labels, weight } = self.rows[row as usize];
            (self.labels.of(labels), weight)
        };
        self.in_few = self.few.enter(self.labels.n_labels(), rows.iter().map(labelled));
    }

    fn start_some(&mut self, rows: SomeRows<'_>) {
        if !self.in_few {
            self.start(rows.list(&mut [0; MOST_FEW]));
            return;
        }
        let node = self.few.start(rows.which);
        self.sums = NodeSums {
            weight: f64::from(node.weight),
            squares: self.squares(rows) as f64,
            norm: f64::from(node.norm),
            moved_weight: 0.0,
        };
    }

    fn take_out_some(&mut self, rows: SomeRows<'_>) -> bool {
        if !self.in_few {
            return self.take_out(rows.list(&mut [0; MOST_FEW]));
        }
        let ProductSums {
            weight,
            norm,
            with_node,
        } = self.few.sums(rows.which);
        self.few.take_out(rows.which);
        self.sums.weight -= f64::from(weight);
        self.sums.squares -= self.squares(rows) as f64;
        // ‖t − m‖² = ‖t‖² − 2 m·t + ‖m‖².
        self.sums.norm += f64::from(norm) - 2.0 * f64::from(with_node);
        true
    }

    #[inline(always)]
    fn score_some(&mut self, rows: SomeRows<'_>) -> f64 {
        if !self.in_few {
            self.clear();
            self.move_rows(rows.into_iter());
            return self.score();
        }
        let ProductSums {
            weight,
            norm,
            with_node,
        } = self.few.sums(rows.which);
        let rest_norm = self.sums.norm - 2.0 * f64::from(with_node) + f64::from(norm);
        NodeSums {
            moved_weight: f64::from(weight),
            ..self.sums
        }
        .score(f64::from(norm), rest_norm)
    }

    fn is_pure(&self) -> bool {
        self.sums.is_pure()
    }

    fn cannot_reach(&self, score: f64, rows: impl Iterator<Item = u32>) -> bool {
        let weight_and_square = |row: u32| {
            let row = self.rows[row as usize];
            (f64::from(row.weight), f64::from(row.labels.n_labels))
        };
        self.sums.cannot_reach(score, rows.map(weight_and_square))
    }

    #[inline]
    fn clear(&mut self) {
        // No count exceeds the weight of all moved rows, and no later count exceeds the weight of the node.
        let floor = u64::from(self.floor) + self.moved_weight;
        if floor as f64 + self.sums.weight > f64::from(u32::MAX) {
            self.moved.fill(0);
            self.floor = 0;
        } else {
            self.floor = floor as u32;
        }
        (self.moved_weight, self.moved_norm, self.moved_dot_total) = (0, 0, 0);
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        self.count(row);
    }

    #[inline]
    fn move_rows(&mut self, mut rows: impl ExactSizeIterator<Item = u32>) {
        if self.labels.len() < LARGE {
            rows.for_each(|row| self.count(row));
            return;
        }
        let mut next = [0; AHEAD];
        while rows.len() > 0 {
            let n = rows.len().min(AHEAD);
            let next = &mut next[..n];
            next.iter_mut().zip(&mut rows).for_each(|(next, row)| *next = row);
            self.read_labels(next);
            next.iter().for_each(|&row| self.count(row));
        }
    }

    #[inline]
    fn score(&self) -> f64 {
        let moved_norm = self.moved_norm as i64 as f64;
        let rest_norm = self.sums.norm - 2.0 * (self.moved_dot_total as i64 as f64) + moved_norm;
        let moved_weight = self.moved_weight as i64 as f64;
        NodeSums {
            moved_weight,
            ..self.sums
        }
        .score(moved_norm, rest_norm)
    }

    fn gain(&self, score: f64) -> f64 {
        self.sums.gain(score)
    }
}
