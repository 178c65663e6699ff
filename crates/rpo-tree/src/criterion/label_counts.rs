//! Summed variance over 0/1 labels, by counting.
//!
//! With t the label counts of a node and m those of the moved rows, moving a row of weight c with labels L
//! adds
//!
//! ```text
//! c (2 Σ_{j∈L} m_j + c |L|)  to  Σ_j m_j²     and     c Σ_{j∈L} t_j  to  Σ_j m_j t_j.
//! ```
//!
//! Both counts of a label share a word, t in its upper half and m in its lower, so that one addition sums
//! both. All of it is whole numbers, so the scores equal those of the other criteria bit for bit.

use super::grid::are_whole;
use super::{Criterion, NodeSums};
use rpo_core::{CsrView, csr_row};
use std::borrow::Cow;

/// Summed variance over 0/1 CSR labels (n x d) with integer weights: cost O(labels of the row) per moved row,
/// O(1) per score.
#[derive(Debug, Clone)]
pub struct LabelCountVariance<'a> {
    labels: Cow<'a, [u32]>,
    /// True if the labels of each row are filled up to whole groups.
    in_groups: bool,
    rows: Vec<LabelRow>,
    sums: NodeSums,
    /// By label; behind the last one, those that fill up groups.
    counts: Vec<u64>,
    n_labels: usize,
    /// The rows whose labels are counted, and those that were taken out; not kept if there are so few labels that all counts are cleared.
    node: Vec<u32>,
    moved: Vec<u32>,
    /// A row that is moved alone, of which nothing is counted unless others follow.
    alone: Option<u32>,
    moved_weight: u64,
    moved_norm: u64,
    moved_dot_total: u64,
}

/// Where the labels of a row are, how many they are, and the row's weight.
#[derive(Debug, Clone, Copy)]
struct LabelRow {
    start: u32,
    end: u32,
    n_labels: u32,
    weight: u32,
}

/// In a word of counts: one row of the node.
const TOTAL: u64 = 1 << 32;
/// In a word of counts: the bits of the moved rows.
const MOVED: u64 = TOTAL - 1;
/// Up to this many labels all counts are cleared at once.
const FEW_LABELS: usize = 64;
/// Labels are counted in groups of this size, filled up with labels that do not exist: where a row has several,
/// how many cannot be predicted, and a loop over groups guesses its end wrong less often.
const GROUP: usize = 4;

impl<'a> LabelCountVariance<'a> {
    /// CSR labels (n x d) and one weight per row. `None` if a stored label is not 1, a weight is not a whole
    /// number from 0, or a sum could leave the integers that are exact in `f64`: use [`SparseVariance`](super::SparseVariance)
    /// then.
    ///
    /// # Panics
    /// If there are not as many rows as weights.
    pub fn new(labels: CsrView<'a>, weights: &[f32]) -> Option<Self> {
        assert_eq!(labels.rows(), weights.len(), "one weight per row of labels");
        let (_, columns, values) = labels.into_raw_storage();
        let whole = are_whole(weights);
        // With groups, at most three more per row.
        let indexable = columns.len() + GROUP * weights.len() <= u32::MAX as usize;
        if !whole || !indexable || values.iter().any(|&z| z != 1.0) {
            return None;
        }
        let in_groups = columns.len() >= 2 * weights.len();
        let mut filled = Vec::with_capacity(if in_groups {
            columns.len() + GROUP * weights.len()
        } else {
            0
        });
        let mut rows = Vec::with_capacity(weights.len());
        let (mut total_weight, mut total_labels) = (0.0, 0.0);
        let mut start = 0;
        for (row, &weight) in weights.iter().enumerate() {
            let own = csr_row(&labels, row).0;
            let mut end = start + own.len();
            if in_groups {
                end = start + own.len().next_multiple_of(GROUP);
                filled.extend_from_slice(own);
                filled.extend((labels.cols() as u32..).take(end - filled.len()));
            }
            let n_labels = own.len() as u32;
            rows.push(LabelRow {
                start: start as u32,
                end: end as u32,
                n_labels,
                weight: weight as u32,
            });
            start = end;
            total_weight += f64::from(weight);
            total_labels += f64::from(weight) * f64::from(n_labels);
        }
        // ‖t‖² is at most the largest count times the sum of all counts; weights and sums of counts stay in half a
        // word.
        let small = total_weight.max(total_labels) < TOTAL as f64
            && total_weight * total_labels < (1_u64 << 53) as f64;
        small.then(|| Self {
            labels: if in_groups { filled.into() } else { columns.into() },
            in_groups,
            rows,
            sums: NodeSums::default(),
            counts: vec![0; labels.cols() + GROUP - 1],
            n_labels: labels.cols(),
            node: Vec::new(),
            moved: Vec::new(),
            alone: None,
            moved_weight: 0,
            moved_norm: 0,
            moved_dot_total: 0,
        })
    }

    /// Adds `step`, which may be the complement of what is subtracted, to the counts of a row's labels; returns their sum
    /// before.
    #[inline]
    fn add(&mut self, row: LabelRow, step: u64) -> u64 {
        let labels = &self.labels[row.start as usize..row.end as usize];
        let mut sum = 0;
        let mut add = |j: u32| {
            let count = &mut self.counts[j as usize];
            sum += *count;
            *count = count.wrapping_add(step);
        };
        if self.in_groups {
            labels.chunks_exact(GROUP).flatten().for_each(|&j| add(j));
            if let Some(filling) = self.counts.last_chunk_mut::<{ GROUP - 1 }>() {
                *filling = [0; GROUP - 1];
            }
        } else {
            labels.iter().for_each(|&j| add(j));
        }
        sum
    }

    /// Counts a row as moved; returns the sum of the counts of its labels before.
    #[inline]
    fn count(&mut self, row: u32) -> u64 {
        let labels = self.rows[row as usize];
        if self.n_labels > FEW_LABELS {
            self.moved.push(row);
        }
        self.add(labels, labels.weight.into())
    }

    /// Takes a row that is moved into the sums, given the sum of the counts of its labels before.
    #[inline]
    fn sum_moved(&mut self, row: LabelRow, sum: u64) {
        let (weight, n_labels) = (u64::from(row.weight), u64::from(row.n_labels));
        self.moved_norm += weight * (2 * (sum & MOVED) + weight * n_labels);
        self.moved_dot_total += weight * (sum / TOTAL);
        self.moved_weight += weight;
    }

    /// Keeps of each count that these rows went into only the bits of `mask`.
    fn mask(&mut self, which: fn(&mut Self) -> &mut Vec<u32>, mask: u64) {
        if self.n_labels <= FEW_LABELS {
            self.counts.iter_mut().for_each(|c| *c &= mask);
            return;
        }
        let mut rows = std::mem::take(which(self));
        for row in rows.drain(..) {
            let LabelRow { start, end, .. } = self.rows[row as usize];
            for &j in &self.labels[start as usize..end as usize] {
                self.counts[j as usize] &= mask;
            }
        }
        *which(self) = rows;
    }
}

impl Criterion for LabelCountVariance<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.clear();
        self.mask(|c| &mut c.node, MOVED);
        if self.n_labels > FEW_LABELS {
            self.node.extend_from_slice(rows);
        }
        let (mut weights, mut norm, mut squares) = (0, 0, 0);
        for &row in rows {
            let row = self.rows[row as usize];
            let (weight, n_labels) = (u64::from(row.weight), u64::from(row.n_labels));
            let sum = self.add(row, weight * TOTAL);
            norm += weight * (2 * (sum / TOTAL) + weight * n_labels);
            squares += weight * n_labels;
            weights += weight;
        }
        self.sums = NodeSums {
            weight: weights as f64,
            squares: squares as f64,
            norm: norm as f64,
            moved_weight: 0.0,
        };
    }

    fn take_out(&mut self, rows: &[u32]) -> bool {
        self.clear();
        let (mut weights, mut norm, mut squares) = (0, 0, 0);
        for &row in rows {
            let row = self.rows[row as usize];
            let (weight, n_labels) = (u64::from(row.weight), u64::from(row.n_labels));
            let sum = self.add(row, (weight * TOTAL).wrapping_neg());
            norm += weight * (2 * (sum / TOTAL) - weight * n_labels);
            squares += weight * n_labels;
            weights += weight;
        }
        self.sums.weight -= weights as f64;
        self.sums.squares -= squares as f64;
        self.sums.norm -= norm as f64;
        true
    }

    fn is_pure(&self) -> bool {
        self.sums.is_pure()
    }

    fn clear(&mut self) {
        self.alone = None;
        self.mask(|c| &mut c.moved, !MOVED);
        (self.moved_weight, self.moved_norm, self.moved_dot_total) = (0, 0, 0);
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        if let Some(alone) = self.alone.take() {
            self.count(alone);
        }
        let sum = self.count(row);
        self.sum_moved(self.rows[row as usize], sum);
    }

    #[inline]
    fn move_rows(&mut self, mut rows: impl ExactSizeIterator<Item = u32>) {
        // Most features of small nodes are those of one row, whose counts would be cleared at once.
        if rows.len() == 1 && self.moved_weight == 0 {
            self.alone = rows.next();
            if let Some(row) = self.alone {
                let row = self.rows[row as usize];
                let labels = &self.labels[row.start as usize..row.end as usize];
                let sum = labels.iter().map(|&j| self.counts[j as usize]).sum();
                self.sum_moved(row, sum);
            }
        } else {
            rows.for_each(|row| self.move_row(row));
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
