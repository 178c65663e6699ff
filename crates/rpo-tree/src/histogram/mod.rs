//! Histogram-based splits: features are coded once into at most 255 bins, and targets are summed per bin.
//!
//! A node costs one addition per sample and feature instead of a sort, and a score per bin instead of one per sample.
//! Of two siblings only the smaller is summed; the sums of the other are those of the parent minus the smaller one. If
//! no feature has more distinct values than bins, the trees are those of
//! [`AxisSplitter`](crate::splitter::AxisSplitter); otherwise thresholds lie between bins, still at the midpoint of two
//! neighbouring values of the training set.
//!
//! With g = c z and h = c v of a sample of weight c, target z (the negative gradient of a loss) and curvature v, a
//! split of the sums G and H into left and right has the score
//!
//! ```text
//! score = T(G_l)² / (H_l + λ) + T(G_r)² / (H_r + λ),   T(G) = sign(G) max(|G| − α, 0)
//! gain  = score − T(G)² / (H + λ)
//! ```
//!
//! summed over the targets. With v = 1 and λ = α = 0 the gain is the decrease |S| ΔI of the
//! [variance](crate::criterion). Source: Chen and Guestrin, *XGBoost: a scalable tree boosting system* (KDD 2016), eqs. 6
//! and 7 (their gain has a factor ½), and section 3.2 for splits between quantiles; siblings by subtraction: Ke et al.,
//! *LightGBM* (NIPS 2017).
//!
//! Sums over all features are kept for open nodes, so that larger siblings follow by subtraction, as long as they fit
//! into 256 MiB for all trees on the same features. Without them the rows of a node are summed feature by feature, or a
//! block of sparse bins at a time, each scored before the next. So are, whatever the memory, the rows of nodes that touch
//! few of the bins of sparse features: the 101 outputs of rcv1 and their curvatures would take 250 MB in its 270,000 bins,
//! of which a node of 50 samples touches one in seventy.
//!
//! Sums are integers: targets are coded in units of a power of 2, chosen such that no sum over the training set
//! overflows. Integer sums do not depend on their order, so neither subtraction nor the number of threads changes a
//! tree by a bit.

mod bins;
mod categories;
mod cell;
mod dense;
mod descent;
mod features;
mod fixed;
mod lines;
mod occupied;
mod purity;
mod room;
mod row_cells;
mod scalar;
mod scores;
mod search;
mod shared_root;
mod sparse;
mod splitter;
mod touched;
mod vector;
mod workspace;

pub use bins::BinLimit;
pub use features::BinnedFeatures;
pub use splitter::{HistogramSplitter, SplitTargets};
pub use workspace::HistogramWorkspace;

/// Smallest amount of work, in additions to sums or numbers used by scores, that is worth a second thread: some ten
/// microseconds, where a hand-over takes five.
const WORTH_IT: usize = 1 << 13;
