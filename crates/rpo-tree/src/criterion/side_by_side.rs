//! Scoring several splits of one sweep side by side.

use super::{AHEAD, Criterion, Equals, NodeSums};

/// Number of splits scored side by side.
const TOGETHER: usize = 4;

/// A criterion whose splits are scored side by side.
pub(super) trait SideBySide: Criterion {
    /// The number type of its sums.
    type Number: Copy + Default + Into<f64>;

    /// Moves a row and returns, if the split is scored, the weight of the moved rows, and the squared norms of the sums
    /// of the moved rows and of the other rows.
    fn move_and_sum(&mut self, row: u32, is_scored: bool) -> [Self::Number; 3];
}

/// Branch-free [`Criterion::best_of`], as which score is the best so far cannot be predicted.
#[inline(always)]
pub(super) fn best_of<C: SideBySide>(
    criterion: &mut C,
    sums: NodeSums,
    n: usize,
    row: impl Fn(usize) -> (u32, bool),
    equals: Equals,
) -> Option<(f64, usize)> {
    let mut best = Best::new(equals);
    for first in (0..n).step_by(TOGETHER) {
        if n > AHEAD && first % AHEAD == 0 {
            criterion.read_ahead((first..n.min(first + AHEAD)).map(|i| row(i).0));
        }
        let [mut weights, mut moved, mut rest] = [[C::Number::default(); TOGETHER]; 3];
        let mut scored = [false; TOGETHER];
        for lane in 0..TOGETHER.min(n - first) {
            let (row, is_scored) = row(first + lane);
            [weights[lane], moved[lane], rest[lane]] = criterion.move_and_sum(row, is_scored);
            scored[lane] = is_scored;
        }
        let scores = std::array::from_fn(|lane| {
            let sums = NodeSums {
                moved_weight: weights[lane].into(),
                ..sums
            };
            sums.score(moved[lane].into(), rest[lane].into())
        });
        best.offer(scores, scored, first);
    }
    best.best()
}

/// The best of the scores of each lane.
struct Best {
    equals: Equals,
    scores: [f64; TOGETHER],
    n: [u64; TOGETHER],
}

impl Best {
    fn new(equals: Equals) -> Self {
        Self {
            equals,
            scores: [f64::NEG_INFINITY; TOGETHER],
            n: [0; TOGETHER],
        }
    }

    /// Offers the scores after 1, 2, ... more rows than `n_before`; only marked ones count.
    #[inline(always)]
    fn offer(&mut self, scores: [f64; TOGETHER], is_scored: [bool; TOGETHER], n_before: usize) {
        for lane in 0..TOGETHER {
            // Setting all bits gives NaN.
            let unscored = u64::from(is_scored[lane]).wrapping_sub(1);
            let score = f64::from_bits(scores[lane].to_bits() | unscored);
            let is_better = self.equals.improves(score, self.scores[lane]);
            let n = (n_before + lane + 1) as u64;
            self.scores[lane] = if is_better { score } else { self.scores[lane] };
            self.n[lane] = if is_better { n } else { self.n[lane] };
        }
    }

    /// Returns the best score and the number of rows after which it occurred, if there is one.
    #[inline(always)]
    fn best(self) -> Option<(f64, usize)> {
        let score = self.scores.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let lanes = self.scores.into_iter().zip(self.n);
        let n = match self.equals {
            Equals::First => lanes.fold(u64::MAX, |first, (s, n)| {
                first.min(if s == score { n } else { u64::MAX })
            }),
            Equals::Last => lanes.fold(0, |last, (s, n)| last.max(if s == score { n } else { 0 })),
        };
        (n > 0).then_some((score, n as usize))
    }
}
