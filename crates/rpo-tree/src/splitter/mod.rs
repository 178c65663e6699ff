//! Splitters, which decide how nodes are split.
//!
//! A splitter holds its view of the training set (features, split targets, weights, parameters) and shares it read-only
//! between threads; its buffers are in a workspace, one per thread. Growers use only this trait, so that any kind of
//! split fits: one feature against a threshold, a hyperplane, the nearest of k centroids. A splitter draws all of its
//! random numbers from the seed of the node.

mod axis;
mod binary;
mod bounded;
pub(crate) mod candidates;
mod categories;
mod collect;
mod dense;
mod lists;
mod order;
mod random;
mod subtree;
mod sweep;

pub use axis::{AxisParams, AxisSearch, AxisSplitter, Search, ThresholdSearch};
pub use binary::{BinarySplitter, FallbackSplitter};
pub use categories::CategoryTargets;

use crate::error::TreeError;
use crate::grow::{GrowParams, Subtree};
use crate::rule::Rule;
use rpo_core::{ParameterError, Seed, TooFew};

/// The training samples of a node and its seed.
#[derive(Debug, Clone, Copy)]
pub struct NodeRows<'a> {
    /// Number of the node in its tree, or in the subtree of it that is grown separately.
    pub number: usize,
    /// Distinct rows of positive weight, increasing.
    pub rows: &'a [u32],
    /// Depth of the node; the root has depth 0.
    pub depth: u32,
    /// The seed of the node's randomness.
    pub seed: Seed,
}

/// A proposed split.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedSplit<R> {
    /// Routes any sample to a child.
    pub rule: R,
    /// Improvement of the node in the unit of the splitter; |S| ΔI for variance. Best-first growth next opens the node
    /// of the largest gain.
    pub gain: f64,
}

/// Finds the split of a node.
///
/// The result may depend on the node and the splitter only, not on earlier uses of the workspace: then trees depend
/// neither on the order in which nodes are split nor on threads.
///
/// A custom splitter that grows a k-d tree: at depth t it splits the rows at the median of feature t mod p, ignoring
/// the targets.
///
/// ```
/// use ndarray::{ArrayView2, array};
/// use rpo_tree::{Matrix, Seed};
/// use rpo_tree::splitter::{NodeRows, ProposedSplit, Splitter};
/// use rpo_tree::{AxisRule, GrowParams, LeafBuilder, LeafKind, Tree, grow};
/// use std::sync::Arc;
///
/// struct Median<'a>(ArrayView2<'a, f32>);
///
/// impl Splitter for Median<'_> {
///     type Rule = AxisRule;
///     type Workspace = Vec<f32>; // values of a node
///
///     fn n_rows(&self) -> usize {
///         self.0.nrows()
///     }
///
///     fn workspace(&self) -> Vec<f32> {
///         Vec::new()
///     }
///
///     fn split(&self, node: NodeRows<'_>, values: &mut Vec<f32>, children: &mut [u16]) -> Option<ProposedSplit<AxisRule>> {
///         let feature = node.depth as usize % self.0.ncols();
///         let value = |row: u32| self.0[[row as usize, feature]];
///         values.clear();
///         values.extend(node.rows.iter().map(|&row| value(row)));
///         values.sort_unstable_by(f32::total_cmp);
///         let middle = values.len() / 2;
///         let threshold = values[middle - 1];
///         if threshold == values[middle] {
///             return None; // Nothing would go right of it, or equal values apart.
///         }
///         for (child, &row) in children.iter_mut().zip(node.rows) {
///             *child = u16::from(value(row) > threshold);
///         }
///         let rule = AxisRule::new(feature as u32, threshold, true);
///         Some(ProposedSplit { rule, gain: node.rows.len() as f64 })
///     }
/// }
///
/// let x = array![[0.0, 5.0], [1.0, 9.0], [2.0, 1.0], [3.0, 4.0]];
/// let splitter = Median(x.view());
/// let params = GrowParams { max_depth: Some(2), ..GrowParams::default() };
/// let grown = grow(&splitter, &mut splitter.workspace(), (0..4).collect(), &params, Seed::new(0))?;
/// assert_eq!(grown.structure.n_leaves(), 4);
///
/// let y = Arc::new(Matrix::from(array![[10.0], [20.0], [30.0], [40.0]]));
/// let leaves = LeafKind::Dense.build(&grown.members, &[1.0; 4], &y)?;
/// let tree = Tree::new(grown.structure, leaves)?;
/// assert_eq!(tree.predict((&array![[0.5, 7.0], [9.0, 0.0]]).into())?, array![[20.0], [30.0]]);
/// # Ok::<(), rpo_tree::TreeError>(())
/// ```
pub trait Splitter: Sync {
    /// The kind of rule it proposes.
    type Rule: Rule;
    /// Buffers and node statistics, one per thread.
    type Workspace: Send;

    /// Number of rows of the training set.
    fn n_rows(&self) -> usize;

    /// Makes a workspace for a thread.
    fn workspace(&self) -> Self::Workspace;

    /// Makes a workspace for a further thread that splits nodes of the same tree. It may share what is kept of a node
    /// for the search of its children. By default it shares nothing.
    fn beside(&self, _workspace: &Self::Workspace) -> Self::Workspace {
        self.workspace()
    }

    /// Forgets the nodes of an earlier tree, whose numbers will be used again. Called before the first node of a tree,
    /// and of a part of it that is grown separately. Does nothing by default.
    fn begin(&self, _workspace: &mut Self::Workspace) {}

    /// The most rows of a node that is not worth dividing among threads: in a [`Team`](crate::Team) each thread splits
    /// other small nodes, and larger ones one after the other, if this splitter divides their search. By default all
    /// nodes are small.
    fn small_node(&self) -> usize {
        usize::MAX
    }

    /// Returns the split of a node, or `None` to make it a leaf.
    ///
    /// Writes the child of each row into `children` (as long as `node.rows`), consistent with the rule's
    /// routing, every child receiving at least one row. Called for nodes of at least two rows.
    fn split(
        &self,
        node: NodeRows<'_>,
        workspace: &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<Self::Rule>>;

    /// Called after the split proposed for node `parent` is made, with its children and, for each, whether it will be
    /// searched for a split. Splitters that derive the statistics of one child from those of the parent and the other
    /// child do so here. Does nothing by default.
    fn opened(&self, _parent: usize, _children: &[(NodeRows<'_>, bool)], _workspace: &mut Self::Workspace) {}

    /// Grows the whole subtree below a node, as far as the limits allow, exactly as [`grow`](crate::grow()) does node
    /// by node with this splitter. Returns false and changes nothing if that would not be faster, which is the default.
    ///
    /// Most nodes of a tree have few rows, for which a splitter may have a faster representation.
    fn grow_below(
        &self,
        _root: NodeRows<'_>,
        _limits: &GrowParams,
        _workspace: &mut Self::Workspace,
        _subtree: &mut Subtree<Self::Rule>,
    ) -> bool {
        false
    }

    /// Returns a splitter on a copy of the data of a node's rows, numbered from 0, that splits the nodes below exactly
    /// as this splitter does. Returns `None` if that would not be faster, which is the default.
    ///
    /// Rows of a small node lie far apart in a large training set, so that each access waits for memory; once copied,
    /// they stay in a core's cache for all nodes of the subtree.
    fn of_subtree(&self, _rows: &[u32]) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Rejects a selection of columns that is not increasing or is out of range.
pub(crate) fn check_subset(subset: &[u32], n_columns: usize) -> Result<(), TreeError> {
    check_increasing("subset", subset)?;
    Ok(TooFew::check_indices("columns", subset, n_columns)?)
}

/// Rejects indices that are not increasing, naming them as `name`.
pub(crate) fn check_increasing(name: &'static str, indices: &[u32]) -> Result<(), TreeError> {
    match indices.windows(2).find(|w| w[0] >= w[1]) {
        None => Ok(()),
        Some(pair) => {
            let given = format!("{} before {}", pair[0], pair[1]);
            Err(ParameterError::out_of_range(name, given, "increasing").into())
        }
    }
}
