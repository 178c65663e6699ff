//! Bounds on the scores of the splits of a feature, from sums over the bins of its values.
//!
//! Summing the rows of a node by bin takes one pass in the order of the rows. It gives the score of every split between
//! two bins, and a bound on the splits inside a bin, so that few bins have to be searched value by value.
//!
//! Let the rows before a bin have the weight a and those up to its end the weight b; W is the weight of the node and G
//! the gain of a split. The bin's own rows have the weight w = b − a, the weighted sum D of targets and the scatter C =
//! Σ c ‖z‖² − ‖D‖² / w. The first rows of the bin, of weight k, have the sum (k / w) D + d, where by the Cauchy-Schwarz
//! inequality, applied from either end of the bin,
//!
//! ```text
//! ‖d‖² ≤ k (w − k) / w · C ≤ w C / 4.
//! ```
//!
//! Without d the gain, which is convex in sums and weights together, is at most the larger of the gains at the bin's
//! two ends. As G is the squared norm of a vector that is linear in the sums at a given weight,
//!
//! ```text
//! √G ≤ √max(G_a, G_b) + √E,   E = min(C, w C / 4a) + min(C, w C / 4(W − b)).
//! ```

use super::NodeSums;

/// Sums are accumulated in blocks of this many numbers.
pub(super) const LANES: usize = 4;

/// Number of sums besides those of the targets: weights and squared norms.
const BESIDE: usize = 2;

/// Fraction of a bin's squared norms by which rounding may make its scatter too small, and fraction of a score by which
/// it may make a bound too small.
const ROUNDING: f64 = 1e-10;

/// Bins of one feature in a node: the scores of splits between bins, and bounds on those of splits inside a bin.
#[derive(Debug, Clone, Default)]
pub struct SplitBounds {
    n_targets: usize,
    /// Numbers stored per bin: sums of targets, weight, squared norms, and zeros.
    stride: usize,
    /// Per bin: the sums of all rows up to its end.
    sums: Vec<f64>,
    /// Per bin: number of rows up to its end.
    counts: Vec<u32>,
    /// Per bin: the score of the split at its end.
    scores: Vec<f64>,
    /// Per bin: a bound on the scores of splits inside it.
    inside: Vec<f64>,
}

/// Returns the numbers stored per bin for this many targets.
pub(super) fn stride(n_targets: usize) -> usize {
    (n_targets + BESIDE).next_multiple_of(LANES)
}

/// Writes the terms that a row adds to the sums.
#[inline(always)]
pub(super) fn write_row(out: &mut [f64], targets: &[f32], weight: f64, square: f64) {
    for (out, &z) in out.iter_mut().zip(targets) {
        *out = weight * f64::from(z);
    }
    out[targets.len()] = weight;
    out[targets.len() + 1] = weight * square;
}

impl SplitBounds {
    pub(super) fn start(&mut self, n_targets: usize, n_bins: usize) {
        (self.n_targets, self.stride) = (n_targets, stride(n_targets));
        self.sums.clear();
        self.sums.resize(n_bins * self.stride, 0.0);
        self.counts.clear();
        self.counts.resize(n_bins, 0);
    }

    /// Adds rows, each [written](write_row) in a block, to their bins.
    #[inline(always)]
    pub(super) fn add(&mut self, bins: impl Iterator<Item = usize>, block: &[f64]) {
        for (bin, row) in bins.zip(block.chunks_exact(self.stride)) {
            let sums = &mut self.sums[bin * self.stride..][..self.stride];
            let (sums, _) = sums.as_chunks_mut::<LANES>();
            let (row, _) = row.as_chunks::<LANES>();
            for (sums, row) in sums.iter_mut().zip(row) {
                for (sum, z) in sums.iter_mut().zip(row) {
                    *sum += z;
                }
            }
            self.counts[bin] += 1;
        }
    }

    /// Computes the scores and bounds once all rows are added, for a node with these sums and the sum `total` of its
    /// targets.
    #[inline(always)]
    pub(super) fn finish(&mut self, node: NodeSums, total: &[f64]) {
        let n_bins = self.counts.len();
        self.scores.clear();
        self.inside.clear();
        let (m, stride) = (self.n_targets, self.stride);
        let least = node.norm / node.weight;
        let slack = ROUNDING * node.squares;
        let (mut before, mut n_before, mut score_before) = (0, 0, least);
        for bin in 0..n_bins {
            let (earlier, own) = self.sums.split_at_mut(bin * stride);
            let own = &mut own[..stride];
            let count = self.counts[bin];
            let (weight, squares) = (own[m], own[m + 1]);
            let norm: f64 = own[..m].iter().map(|d| d * d).sum();
            if bin > 0 {
                for (own, before) in own.iter_mut().zip(&earlier[before..]) {
                    *own += before;
                }
            }
            let weight_before = if bin > 0 { earlier[before + m] } else { 0.0 };
            before = bin * stride;
            n_before += count;
            self.counts[bin] = n_before;
            if count == 0 {
                self.scores.push(score_before);
                self.inside.push(f64::NEG_INFINITY);
                continue;
            }
            let weight_behind = node.weight - own[m];
            let score = if weight_behind > 0.0 {
                let (moved, rest) = super::dense::norms(&own[..m], total);
                let moved_weight = own[m];
                NodeSums { moved_weight, ..node }.score(moved, rest)
            } else {
                least
            };
            let scatter = (squares - norm / weight).max(0.0) + ROUNDING * squares;
            let part = weight * scatter / 4.0;
            let excess = scatter.min(part / weight_before) + scatter.min(part / weight_behind);
            let gain = (score.max(score_before) - least).max(0.0);
            let root = gain.sqrt() + excess.sqrt();
            let inside = if count > 1 {
                least + root * root + slack
            } else {
                f64::NEG_INFINITY
            };
            self.scores.push(score);
            self.inside.push(inside);
            score_before = score;
        }
    }

    /// Returns the sums of the targets of all rows before a bin, and their weight.
    pub(super) fn before(&self, bin: usize) -> Option<(&[f64], f64)> {
        let sums = &self.sums[bin.checked_sub(1)? * self.stride..];
        Some((&sums[..self.n_targets], sums[self.n_targets]))
    }

    /// Returns the number of rows of the bins up to and including this one.
    pub(crate) fn n_rows(&self, bin: usize) -> usize {
        self.counts[bin] as usize
    }

    /// Returns the number of rows of the bins before this one.
    pub(crate) fn n_rows_before(&self, bin: usize) -> usize {
        bin.checked_sub(1).map_or(0, |bin| self.n_rows(bin))
    }

    /// Returns the score of the split at the end of each bin, regardless of the number of rows on each side.
    pub(crate) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Returns a bound on the scores of splits inside each bin.
    pub(crate) fn inside(&self) -> &[f64] {
        &self.inside
    }
}
