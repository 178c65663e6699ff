//! Sums of one target per bin, and their scores.

use super::cell::{Cell, sum};
use super::features::{BinnedFeatures, Layout, Place, Rows};
use super::fixed::{Code, Decoded, Fixed};
use super::search::{Limits, Scanned, Split, Sums};
use super::sparse::zero_sums;
use crate::histogram::SplitPenalty;

/// Most bins of a feature, and scores that are computed side by side.
const MOST: usize = 256;

/// One target in fixed point.
#[derive(Debug, Clone)]
pub(super) struct Scalar<C> {
    /// By row.
    pub(super) cells: Vec<C>,
    pub(super) code: Code,
    pub(super) penalty: SplitPenalty,
}

/// The sides of splits of a feature: the sums of all bins up to one, and what they stand for.
#[derive(Debug)]
pub(super) struct ScanBuffer<C> {
    prefix: [C; MOST],
    bin: [u16; MOST],
    g: [f64; MOST],
    h: [f64; MOST],
    n: [f64; MOST],
    score: [f64; MOST],
}

impl<C: Cell> Default for ScanBuffer<C> {
    fn default() -> Self {
        Self {
            prefix: [C::default(); MOST],
            bin: [0; MOST],
            g: [0.0; MOST],
            h: [0.0; MOST],
            n: [0.0; MOST],
            score: [0.0; MOST],
        }
    }
}

impl<C: Cell> ScanBuffer<C> {
    /// Adds up the bins that hold a sample, and returns their number.
    fn add_up<'c>(&mut self, bins: impl Iterator<Item = &'c C>) -> usize
    where
        C: 'c,
    {
        let (mut sums, mut k) = (C::default(), 0);
        for (bin, cell) in bins.enumerate() {
            sums.add(cell);
            self.prefix[k & (MOST - 1)] = sums;
            self.bin[k & (MOST - 1)] = bin as u16;
            k += usize::from(*cell != C::default());
        }
        k
    }
}

impl<C: Fixed> Scalar<C> {
    /// The largest score of the first k sides, with `extra` added to each, and where it is first reached.
    fn best(
        &self,
        buffer: &mut ScanBuffer<C>,
        k: usize,
        extra: &C,
        total: &Decoded,
        limits: &Limits,
    ) -> Option<(f64, usize)> {
        let ScanBuffer {
            prefix, g, h, n, score, ..
        } = buffer;
        for i in 0..k {
            let mut side = prefix[i];
            side.add(extra);
            let side = side.decode(&self.code);
            (g[i], h[i], n[i]) = (side.g, side.h, side.n);
        }
        self.score(&g[..k], &h[..k], &n[..k], total, limits, &mut score[..k]);
        best_of(&score[..k])
    }

    /// The score of each split into a side and the rest, −∞ where it is not admissible.
    fn score(&self, g: &[f64], h: &[f64], n: &[f64], total: &Decoded, limits: &Limits, out: &mut [f64]) {
        let (l1, l2) = (self.penalty.l1 * self.code.scale, self.penalty.l2);
        let (fewest, least) = (limits.min_samples_leaf as f64, self.penalty.min_child_weight);
        let square = |g: f64| {
            let t = g.abs() - l1;
            let t = if t > 0.0 { t } else { 0.0 };
            t * t
        };
        for ((out, &g), (&h, &n)) in out.iter_mut().zip(g).zip(h.iter().zip(n)) {
            let (rest_h, rest_n) = (total.h - h, total.n - n);
            let (side, rest) = (square(g), square(total.g - g));
            let (side_h, all_h) = (h + l2, rest_h + l2);
            // Two quotients over a common denominator, as one division costs more than the rest.
            let score = (side * all_h + rest * side_h) / (side_h * all_h);
            let admissible =
                (n >= fewest) & (rest_n >= fewest) & (h >= least) & (rest_h >= least) & (score < f64::INFINITY);
            *out = if admissible { score } else { f64::NEG_INFINITY };
        }
    }
}

/// The largest score and where it is first reached; `None` if all are −∞.
fn best_of(scores: &[f64]) -> Option<(f64, usize)> {
    const LANES: usize = 8;
    let max = |a: f64, b: f64| if b > a { b } else { a };
    let mut lanes = [f64::NEG_INFINITY; LANES];
    let (chunks, rest) = scores.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = max(lanes[lane], chunk[lane]);
        }
    }
    let top = lanes.iter().chain(rest).copied().fold(f64::NEG_INFINITY, max);
    if top == f64::NEG_INFINITY {
        return None;
    }
    let place = scores.iter().position(|&score| score == top)?;
    Some((top, place))
}

impl<C: Fixed> Sums for Scalar<C> {
    type Histogram = Vec<C>;
    type Total = C;
    type Gathered = Vec<C>;
    type Buffer = ScanBuffer<C>;

    fn accumulate(
        &self,
        features: &BinnedFeatures,
        rows: &[u32],
        gathered: &mut Vec<C>,
        histogram: &mut Vec<C>,
    ) -> C {
        let (rows, cells) = self.gather(features, rows, gathered);
        match &features.layout {
            Layout::Dense(c) => c.accumulate(rows, cells, histogram),
            Layout::Sparse(c) => c.accumulate(rows, cells, histogram),
        }
        sum(cells)
    }

    fn total(&self, features: &BinnedFeatures, rows: &[u32], gathered: &mut Vec<C>) -> C {
        sum(self.gather(features, rows, gathered).1)
    }

    fn accumulate_one(
        &self,
        features: &BinnedFeatures,
        feature: u32,
        rows: &[u32],
        gathered: &Vec<C>,
        histogram: &mut Vec<C>,
    ) {
        let rows = features.rows_of(rows);
        let cells = match rows {
            Rows::All => &self.cells,
            Rows::Listed(_) => gathered,
        };
        match &features.layout {
            Layout::Dense(c) => c.accumulate_one(feature, rows, cells, histogram),
            Layout::Sparse(_) => unreachable!("sums of single features are those of dense ones"),
        }
    }

    fn subtract(&self, features: &BinnedFeatures, parent: (&mut Vec<C>, &mut C), child: (&Vec<C>, &C)) {
        parent.1.subtract(child.1);
        features.for_each_range(|range| {
            let (parent, child) = (&mut parent.0[range.clone()], &child.0[range]);
            parent.iter_mut().zip(child).for_each(|(sum, cell)| sum.subtract(cell));
        });
    }

    fn scan(
        &self,
        place: Place,
        histogram: &Vec<C>,
        total: &C,
        limits: &Limits,
        buffer: &mut ScanBuffer<C>,
    ) -> Scanned {
        let stored = &histogram[place.start..][..place.n_stored()];
        let (observed, missing) = stored.split_at(stored.len() - usize::from(place.has_missing));
        let missing = missing.first().copied().unwrap_or_default();
        let k = match place.zero {
            None => buffer.add_up(observed.iter()),
            Some(zero) => {
                let zero_sums = zero_sums(stored, *total);
                let (below, above) = observed.split_at(zero);
                buffer.add_up(below.iter().chain(std::iter::once(&zero_sums)).chain(above))
            }
        };
        let any_missing = missing != C::default();
        if k == 0 || (k == 1 && !any_missing) {
            return Scanned::Constant;
        }
        let all = total.decode(&self.code);
        // Missing values on the right: also against all observed ones.
        let right = self.best(buffer, if any_missing { k } else { k - 1 }, &C::default(), &all, limits);
        let left = if any_missing {
            self.best(buffer, k - 1, &missing, &all, limits)
        } else {
            None
        };
        // Of equal scores the smaller threshold, then missing values on the right.
        let left_wins = match (right, left) {
            (Some((r, i)), Some((l, j))) => l > r || (l == r && j < i),
            (right, _) => right.is_none(),
        };
        let Some((score, i)) = (if left_wins { left } else { right }) else {
            return Scanned::NoSplit;
        };
        let mut side = buffer.prefix[i];
        if left_wins {
            side.add(&missing);
        }
        let n_left = side.decode(&self.code).n;
        Scanned::Split(Split {
            score,
            last: usize::from(buffer.bin[i]),
            next: (i + 1 < k).then(|| usize::from(buffer.bin[i + 1])),
            missing_left: if any_missing { left_wins } else { 2.0 * n_left > all.n },
        })
    }

    fn best_single(
        &self,
        singles: std::ops::Range<usize>,
        histogram: &Vec<C>,
        total: &C,
        limits: &Limits,
        buffer: &mut ScanBuffer<C>,
    ) -> Option<(f64, usize)> {
        let total = total.decode(&self.code);
        let mut best: Option<(f64, usize)> = None;
        for start in singles.clone().step_by(MOST) {
            let cells = &histogram[start..singles.end.min(start + MOST)];
            buffer.prefix[..cells.len()].copy_from_slice(cells);
            if let Some((score, i)) = self.best(buffer, cells.len(), &C::default(), &total, limits)
                && best.is_none_or(|(b, _)| score > b)
            {
                best = Some((score, start + i));
            }
        }
        best
    }

    fn gain(&self, score: f64, total: &C) -> f64 {
        let total = total.decode(&self.code);
        let scale = self.code.scale;
        let penalty = SplitPenalty {
            l1: self.penalty.l1 * scale,
            ..self.penalty
        };
        (score - penalty.value(total.g, total.h)) / (scale * scale)
    }
}

impl<C: Fixed> Scalar<C> {
    /// The cells of the rows of a node, in their order.
    fn gather<'g, 'r>(
        &'g self,
        features: &BinnedFeatures,
        rows: &'r [u32],
        gathered: &'g mut Vec<C>,
    ) -> (Rows<'r>, &'g [C]) {
        let rows = features.rows_of(rows);
        match rows {
            Rows::All => (rows, &self.cells),
            Rows::Listed(list) => {
                gathered.clear();
                gathered.extend(list.iter().map(|&row| self.cells[row as usize]));
                (rows, gathered)
            }
        }
    }
}
