//! Split criteria: node statistics over the split targets.
//!
//! A criterion starts with the rows of a node; then rows are *moved* away from the rest one by one, and at any moment
//! it scores the split (moved, rest). Nothing depends on which of the two becomes the left child.
//!
//! [`Impurity`] makes the criteria of variances and entropies; [`SecondOrder`] is for the gradients and second
//! derivatives of a loss. [`Variance`] is the summed variance of all targets (Joly, Geurts, Wehenkel, ECML-PKDD 2014,
//! section 2.1, eqs. 1 and 2). With one weight c and one row z of m targets per training sample, |S| = Σ_S c and the
//! weighted mean z̄_S = Σ_S c z / |S|,
//!
//! ```text
//! Var(S) = Σ_S c ‖z − z̄_S‖² / |S|
//! ΔI     = Var(S) − |S_l|/|S| Var(S_l) − |S_r|/|S| Var(S_r)   (to be maximised)
//! ```
//!
//! The form used needs only sums: Σ_S c ‖z‖² is the same for every split, so that
//!
//! ```text
//! score   = ‖Σ_{S_l} c z‖² / |S_l| + ‖Σ_{S_r} c z‖² / |S_r|
//! |S| ΔI  = score − ‖Σ_S c z‖² / |S|
//! ```
//!
//! have their maximum together. Units: those of the targets, squared. Variances are summed over targets, not averaged.
//! For 0/1 labels Var(S) is half the Gini impurity 1 − p² − (1 − p)², summed over labels, so the trees are those of
//! Gini impurity. (The paper prints "minimizes" before eq. 1 and calls the sum the Gini index.)
//! [`Impurity::ObservedVariance`] ignores missing targets.

mod bounds;
mod dense;
mod entropy;
mod few;
mod grid;
mod impurity;
mod label_counts;
mod label_entropy;
mod label_products;
mod label_rows;
mod node_bits;
mod observed;
mod observed_sparse;
mod packed_labels;
mod penalty;
mod reach;
mod second_order;
mod side_by_side;
mod single;
mod sparse;

pub use bounds::SplitBounds;
pub use dense::Variance;
pub use entropy::XLogXTable;
pub(crate) use entropy::{Entropy, WeightedEntropy, information_gain};
pub use few::{MOST_FEW, SomeRows};
pub use grid::round_for_exact_sums;
pub use impurity::{CriterionVisitor, Impurity};
pub(crate) use label_counts::LabelCountVariance;
pub(crate) use label_entropy::LabelEntropy;
pub use label_rows::LabelRows;
pub(crate) use observed::ObservedVariance;
pub(crate) use observed_sparse::SparseObservedVariance;
pub(crate) use packed_labels::PackedLabelVariance;
pub use penalty::LeafPenalty;
pub(crate) use penalty::{quotient, square_beyond};
pub use second_order::{Curvature, SecondOrder};
pub(crate) use single::SingleVariance;
pub(crate) use sparse::SparseVariance;

/// Tie-breaking rule among equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equals {
    /// The score with the fewest rows moved wins.
    First,
    /// The score with the most rows moved wins.
    Last,
}

impl Equals {
    /// Returns true if a score is better than the best of those before it; always false for NaN.
    #[inline(always)]
    pub(crate) fn improves(self, score: f64, best: f64) -> bool {
        match self {
            Self::First => score > best,
            Self::Last => score >= best,
        }
    }
}

/// Number of rows whose targets are read before the first of them is moved.
const AHEAD: usize = 32;

/// Node statistics over the split targets, in `f64`.
///
/// The contract: [`start`](Criterion::start) starts a node with nothing moved; [`clear`](Criterion::clear) moves
/// everything back; [`score`](Criterion::score) is called only while both sides hold a row, and does not depend on
/// which of the two sides is the moved one. A clone is a separate workspace over the same targets.
///
/// Example: a custom criterion for one target of counts. The Poisson deviance of a node of n rows whose counts sum to s
/// is 2 Σ y ln y − 2 s ln(s/n) plus terms that cancel, so a split is better if the sum of s ln(s/n) over its sides is
/// larger:
///
/// ```
/// use ndarray::{Array2, array};
/// use rpo_tree::{Matrix, Seed};
/// use rpo_tree::RankedFeatures;
/// use rpo_tree::criterion::Criterion;
/// use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
/// use rpo_tree::{GrowParams, LeafBuilder, LeafKind, Tree, grow};
/// use std::sync::Arc;
///
/// /// Rows and their sum of counts.
/// type Side = (f64, f64);
///
/// #[derive(Clone)]
/// struct Poisson<'a> {
///     counts: &'a [f64],
///     all: Side,
///     moved: Side,
///     pure: bool,
/// }
///
/// fn term((n, s): Side) -> f64 {
///     if s > 0.0 { s * (s / n).ln() } else { 0.0 }
/// }
///
/// impl Criterion for Poisson<'_> {
///     fn start(&mut self, rows: &[u32]) {
///         let count = |&row: &u32| self.counts[row as usize];
///         self.all = (rows.len() as f64, rows.iter().map(count).sum());
///         self.pure = rows.iter().all(|row| count(row) == count(&rows[0]));
///         self.clear();
///     }
///     fn is_pure(&self) -> bool {
///         self.pure
///     }
///     fn clear(&mut self) {
///         self.moved = (0.0, 0.0);
///     }
///     fn move_row(&mut self, row: u32) {
///         self.moved.0 += 1.0;
///         self.moved.1 += self.counts[row as usize];
///     }
///     fn score(&self) -> f64 {
///         term(self.moved) + term((self.all.0 - self.moved.0, self.all.1 - self.moved.1))
///     }
///     fn gain(&self, score: f64) -> f64 {
///         (score - term(self.all)).max(0.0)
///     }
/// }
///
/// let x = array![[0.0], [1.0], [2.0], [3.0], [4.0]];
/// let counts = [0.0, 0.0, 1.0, 50.0, 70.0];
/// let criterion = Poisson { counts: &counts, all: (0.0, 0.0), moved: (0.0, 0.0), pure: false };
/// let columns = RankedFeatures::new((&x).into(), &[])?;
/// let splitter = AxisSplitter::new(&columns, criterion, AxisParams::default())?;
/// let stump = GrowParams { max_depth: Some(1), ..GrowParams::default() };
/// let grown = grow(&splitter, &mut splitter.workspace(), (0..5).collect(), &stump, Seed::new(0))?;
///
/// let y = Array2::from_shape_fn((5, 1), |(i, _)| counts[i] as f32);
/// let leaves = LeafKind::Dense.build(&grown.members, &[1.0; 5], &Arc::new(Matrix::from(y)))?;
/// let tree = Tree::new(grown.structure, leaves)?;
/// assert_eq!(tree.predict((&array![[1.0], [3.5]]).into())?, array![[1.0 / 3.0], [60.0]]);
/// # Ok::<(), rpo_tree::TreeError>(())
/// ```
pub trait Criterion: Clone + Send {
    /// Starts a node with these rows, in increasing order; all have positive weight.
    fn start(&mut self, rows: &[u32]);
    /// Removes increasing rows from the node started last, so that the remaining rows are the node. Returns false and
    /// changes nothing if that would not give the sums of [`start`](Criterion::start) on the remaining rows bit for
    /// bit, which is the default.
    fn take_out(&mut self, _rows: &[u32]) -> bool {
        false
    }
    /// Returns a criterion over copies of these rows' targets, numbered from 0, with the same sums; `None` if that is
    /// not possible, which is the default.
    fn of_rows(&self, _rows: &[u32]) -> Option<Self> {
        None
    }
    /// Starts a subtree of at most [`MOST_FEW`] rows: until [`start`](Criterion::start) is called, each node consists
    /// of [some](SomeRows) of them. Does nothing by default.
    fn enter(&mut self, _rows: &[u32]) {}
    /// Like [`start`](Criterion::start), but with some rows of the subtree.
    fn start_some(&mut self, rows: SomeRows<'_>) {
        self.start(rows.list(&mut [0; MOST_FEW]));
    }
    /// Like [`take_out`](Criterion::take_out), but with some rows of the subtree.
    fn take_out_some(&mut self, rows: SomeRows<'_>) -> bool {
        self.take_out(rows.list(&mut [0; MOST_FEW]))
    }
    /// Returns the score of moving these rows of the subtree and no others.
    #[inline(always)]
    fn score_some(&mut self, rows: SomeRows<'_>) -> f64 {
        self.clear();
        self.move_rows(rows.into_iter());
        self.score()
    }
    /// Returns true if the targets of the node count as equal, so that no split can gain.
    fn is_pure(&self) -> bool;
    /// Moves every moved row back.
    fn clear(&mut self);
    /// Reads the data that moving these rows, which may be moved next, will need, without changing anything. If the
    /// data lie far apart in memory, reading them together overlaps the waits. Does nothing by default.
    fn read_ahead(&self, _rows: impl Iterator<Item = u32>) {}
    /// Moves a row of the node that is not moved yet.
    fn move_row(&mut self, row: u32);
    /// Moves rows one after the other, with no score in between; an override must give the same sums, bit for bit.
    fn move_rows(&mut self, rows: impl ExactSizeIterator<Item = u32>) {
        rows.for_each(|row| self.move_row(row));
    }
    /// Moves the marked rows among `rows`, which are increasing rows of the node: bit i of word w marks row 64 w + i,
    /// and bits beyond the last row are 0. Returns false and moves nothing if moving the rows one by one takes no
    /// longer, which is the default.
    fn move_marked(&mut self, _rows: &[u32], _marks: &[u64]) -> bool {
        false
    }
    /// Returns true if a split's score is the same, bit for bit, in whatever order rows are moved and whichever side is
    /// moved; false if sums are rounded, which is the default.
    fn is_exact(&self) -> bool {
        false
    }
    /// Moves `n` rows one after the other and scores after some of them; returns the best score and the number of rows
    /// moved for it, if there is one. `row(i)` is the i-th row, and true if its move is followed by a score. An
    /// override must give the same result, bit for bit, but may leave other rows moved.
    #[inline(always)]
    fn best_of(
        &mut self,
        n: usize,
        row: impl Fn(usize) -> (u32, bool),
        equals: Equals,
    ) -> Option<(f64, usize)> {
        let (mut best, mut best_n) = (f64::NEG_INFINITY, 0);
        for i in 0..n {
            // With few rows the processor overlaps the reads by itself.
            if n > AHEAD && i % AHEAD == 0 {
                self.read_ahead((i..n.min(i + AHEAD)).map(|i| row(i).0));
            }
            let (row, is_scored) = row(i);
            self.move_row(row);
            if is_scored {
                let score = self.score();
                if equals.improves(score, best) {
                    (best, best_n) = (score, i + 1);
                }
            }
        }
        (best_n > 0).then_some((best, best_n))
    }
    /// Returns true if no split that moves some of these rows of the node, and no others, scores `score` or more; false
    /// if one might, which is the default.
    fn cannot_reach(&self, _score: f64, _rows: impl Iterator<Item = u32>) -> bool {
        false
    }
    /// Computes bounds on the scores of the node's splits along features whose values are binned; `bins` holds one
    /// slice of bins by row for each feature. The bins used are these values shifted to the right by `shift`. Returns
    /// false if the criterion has no bounds, which is the default. Only for criteria that are
    /// [exact](Criterion::is_exact), and only of this crate, as bounds cannot be written elsewhere.
    #[doc(hidden)]
    fn bound(&mut self, _rows: &[u32], _bins: &[&[u8]], _shift: u32, _bounds: &mut [SplitBounds]) -> bool {
        false
    }
    /// Moves the rows of all bins before the given one, and no others; asked of criteria that have bounds.
    #[doc(hidden)]
    fn move_before(&mut self, _bounds: &SplitBounds, _bin: usize) {
        unreachable!("only criteria that have bounds are asked")
    }
    /// Returns the score of (moved, rest); larger is better. Terms equal for every split of the node are dropped.
    fn score(&self) -> f64;
    /// Returns the weighted impurity decrease |S| ΔI of a split of the node with this score. A split with a negative
    /// gain is not made.
    fn gain(&self, score: f64) -> f64;
}

/// Relative variance up to which a node is pure: Var(S) at most 1e-12 times the mean of ‖z‖².
///
/// It is relative so that rescaling a projection changes no tree; rounding in `f64` stays far below it. Targets that
/// differ by less than about a millionth of their size count as equal, so targets far from zero are better centred
/// first.
const PURITY: f64 = 1e-12;

/// Returns true if the targets (m per row) of these rows count as equal.
pub(crate) fn is_pure(targets: &[f32], m: usize, weights: &[f32], rows: &[u32]) -> bool {
    let mut sums = NodeSums::default();
    let mut total = vec![0.0; m];
    for &row in rows {
        let weight = f64::from(weights[row as usize]);
        sums.weight += weight;
        for (total, &z) in total.iter_mut().zip(&targets[row as usize * m..][..m]) {
            let z = f64::from(z);
            *total += weight * z;
            sums.squares += weight * (z * z);
        }
    }
    sums.norm = total.iter().map(|t| t * t).sum();
    sums.is_pure()
}

/// Weight and sums of a node, common to both layouts of the targets.
#[derive(Debug, Clone, Copy, Default)]
struct NodeSums {
    /// |S|.
    weight: f64,
    /// Σ_S c ‖z‖².
    squares: f64,
    /// ‖Σ_S c z‖².
    norm: f64,
    /// Weight of the moved rows.
    moved_weight: f64,
}

impl NodeSums {
    fn is_pure(&self) -> bool {
        self.squares - self.norm / self.weight <= PURITY * self.squares
    }

    /// Computes the score: adds its two quotients over a common denominator, as one division costs more than the rest.
    #[inline(always)]
    fn score(&self, moved_norm: f64, rest_norm: f64) -> f64 {
        let rest_weight = self.weight - self.moved_weight;
        (moved_norm * rest_weight + rest_norm * self.moved_weight) / (self.moved_weight * rest_weight)
    }

    fn gain(&self, score: f64) -> f64 {
        (score - self.norm / self.weight).max(0.0)
    }
}
