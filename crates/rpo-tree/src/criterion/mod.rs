//! What makes a good split: node statistics over the split targets.
//!
//! A criterion is told the rows of a node, then rows are *moved* away from the rest one by one, and at any
//! moment it scores the split (moved, rest). Nothing depends on which of the two becomes the left child.
//!
//! Both criteria here are the summed variance of all targets (Joly, Geurts, Wehenkel 2014, eqs. 1 and 2),
//! $$\mathrm{Var}(S) = \frac{1}{|S|} \sum_{i \in S} c_i \lVert z_i - \bar z_S \rVert^2, \qquad
//! |S| = \sum_{i \in S} c_i,$$
//! in the form that needs only sums: as $\sum_S c \lVert z \rVert^2$ is the same for every split,
//! maximising the reduction $\Delta I$ is maximising
//! $$\mathrm{score}(S_l, S_r) = \frac{\lVert \sum_{S_l} c z \rVert^2}{|S_l|} +
//! \frac{\lVert \sum_{S_r} c z \rVert^2}{|S_r|}, \qquad
//! |S| \Delta I = \mathrm{score} - \frac{\lVert \sum_S c z \rVert^2}{|S|}.$$

mod counts;
mod dense;
mod sparse;

pub use counts::LabelCounts;
pub use dense::Variance;
pub use sparse::SparseVariance;

/// Node statistics over the split targets, in `f64`.
///
/// The contract: [`start`](Criterion::start) begins a node with nothing moved; [`clear`](Criterion::clear)
/// moves everything back; [`score`](Criterion::score) is asked only while both sides hold a row.
pub trait Criterion: Clone + Send {
    /// Begins a node with these rows, in increasing order; all have positive weight.
    fn start(&mut self, rows: &[u32]);
    /// Whether the targets of the node count as equal, so that no split can gain.
    fn is_pure(&self) -> bool;
    /// Moves every moved row back.
    fn clear(&mut self);
    /// Moves a row of the node.
    fn move_row(&mut self, row: u32);
    /// The score of (moved, rest); larger is better, terms equal for every split of the node dropped.
    fn score(&self) -> f64;
    /// The weighted impurity decrease $|S| \Delta I \ge 0$ of a split with this score.
    fn gain(&self, score: f64) -> f64;
}

/// The relative variance below which a node is pure: $\mathrm{Var}(S) \le 10^{-12}$ times the mean of
/// $\lVert z \rVert^2$. Relative, so that rescaling a projection changes no tree; rounding in `f64` stays
/// far below, and two different `f32` targets of similar size above it.
const PURITY: f64 = 1e-12;

/// Weight and sums of a node, common to both layouts of the targets.
#[derive(Debug, Clone, Copy, Default)]
struct NodeSums {
    /// $|S|$.
    weight: f64,
    /// $\sum_S c \lVert z \rVert^2$.
    squares: f64,
    /// $\lVert \sum_S c z \rVert^2$.
    norm: f64,
    /// Weight of the moved rows.
    moved_weight: f64,
}

impl NodeSums {
    fn is_pure(&self) -> bool {
        self.squares - self.norm / self.weight <= PURITY * self.squares
    }

    /// The two quotients over a common denominator, as one division costs more than the rest.
    #[inline]
    fn score(&self, moved_norm: f64, rest_norm: f64) -> f64 {
        let rest_weight = self.weight - self.moved_weight;
        (moved_norm * rest_weight + rest_norm * self.moved_weight) / (self.moved_weight * rest_weight)
    }

    fn gain(&self, score: f64) -> f64 {
        (score - self.norm / self.weight).max(0.0)
    }
}
