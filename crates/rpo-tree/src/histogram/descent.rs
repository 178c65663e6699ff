//! Finds the leaves of training samples from their bins.
//!
//! Many samples pass one split before any passes the next: bytes are compared for 32 samples at a time, and the few
//! columns that a small tree reads stay in the cache. Following one sample after the other through the tree costs many
//! times as much, mostly for branches that no processor can predict.

use super::dense::DenseBins;
use super::features::{BinnedFeatures, Layout, Side};
use super::sparse::SparseBins;
use crate::rule::AxisRule;
use crate::structure::{Node, Structure};
use ndarray::ArrayView2;
use rayon::prelude::*;
use rpo_core::{CsrView, MatrixView, csr_row, vectorized};

/// Number of samples in a block, whose nodes stay in the first-level cache.
const BLOCK: usize = 1 << 13;

/// Number of samples checked together for one that lies in a bin with values on both sides.
const GROUP: usize = 128;

/// Most nodes of a tree: node numbers are bytes.
const MOST_NODES: usize = 1 << 8;

/// A split of training samples.
#[derive(Debug, Clone, Copy)]
struct Split<'t> {
    node: u8,
    first_child: u8,
    rule: &'t AxisRule,
    side: Side,
    /// The bin with values on both sides, which holds no sample that the tree grew on.
    torn: Option<usize>,
}

impl Split<'_> {
    fn child(&self, value: f32) -> u8 {
        self.first_child + self.rule.child_of(value) as u8
    }
}

impl BinnedFeatures {
    /// Returns the leaf of each training sample in a tree that was grown on these features, with values x. Returns
    /// `None` if the bins do not determine the leaves, and samples have to be [followed](Structure::leaves) one by one:
    /// in trees of more than 256 nodes, with splits of categories, or with thresholds between values that share the bin
    /// of zero.
    ///
    /// # Panics
    /// If the shape or layout of the matrix differs from that of the coded one.
    ///
    /// ```
    /// use ndarray::{Array2, array};
    /// use rpo_tree::histogram::BinnedFeatures;
    /// use rpo_tree::{AxisRule, Node, Structure};
    ///
    /// let x = array![[1.0_f32], [2.0], [3.0]];
    /// let features = BinnedFeatures::new((&x).into(), 255, &[])?;
    /// let root = Node::Split { rule: AxisRule::new(0, 1.5, false), first_child: 1 };
    /// let tree = Structure::try_from(vec![root, Node::Leaf(0), Node::Leaf(1)])?;
    /// assert_eq!(features.leaves(&tree, (&x).into()), Some(vec![0, 1, 1]));
    /// # Ok::<(), rpo_tree::TreeError>(())
    /// ```
    pub fn leaves(&self, tree: &Structure<AxisRule>, x: MatrixView<'_>) -> Option<Vec<u32>> {
        assert_eq!(
            (x.n_rows(), x.n_cols()),
            (self.n_rows(), self.n_features()),
            "the values coded"
        );
        let nodes = tree.nodes();
        if nodes.len() > MOST_NODES {
            return None;
        }
        let (mut splits, mut leaf_of_node) = (Vec::new(), [0; MOST_NODES]);
        for (node, kind) in nodes.iter().enumerate() {
            match kind {
                Node::Leaf(leaf) => leaf_of_node[node] = *leaf,
                Node::Split { rule, first_child } => {
                    let (side, torn) = self.side(rule)?;
                    splits.push(Split {
                        node: node as u8,
                        first_child: *first_child as u8,
                        rule,
                        side,
                        torn,
                    });
                }
            }
        }
        let leaf = |&node: &u8| leaf_of_node[usize::from(node)];
        Some(match (&self.layout, x) {
            (Layout::Dense(bins), MatrixView::Dense(x)) => {
                let mut leaves = vec![0; self.n_rows()];
                let blocks = leaves.par_chunks_mut(BLOCK).enumerate();
                blocks.for_each(|(i, leaves)| {
                    let mut nodes = [0; BLOCK];
                    let nodes = &mut nodes[..leaves.len()];
                    for split in &splits {
                        bins.descend(split, x, i * BLOCK, nodes);
                    }
                    leaves
                        .iter_mut()
                        .zip(&*nodes)
                        .for_each(|(out, node)| *out = leaf(node));
                });
                leaves
            }
            (Layout::Sparse(bins), MatrixView::Sparse(x)) => {
                let mut nodes = vec![0; self.n_rows()];
                for split in &splits {
                    bins.descend(split, &x, &mut nodes);
                }
                nodes.iter().map(leaf).collect()
            }
            _ => unreachable!("bins have the layout of their values"),
        })
    }

    /// Returns the bins that a rule sends left, and the bin that its threshold divides.
    fn side(&self, rule: &AxisRule) -> Option<(Side, Option<usize>)> {
        let feature = rule.feature();
        if rule.categories().is_some() || feature as usize >= self.n_features() {
            return None;
        }
        let (n_left, torn) = self.bins(feature).cut_at(rule.threshold());
        if torn.is_some() && torn == self.place(feature).zero {
            return None;
        }
        let side = Side {
            last: n_left.checked_sub(1)?,
            missing_left: rule.missing_left(),
        };
        Some((side, torn))
    }
}

impl DenseBins {
    /// Moves those of some consecutive samples that are at the node of a split to its children.
    fn descend(&self, split: &Split<'_>, x: ArrayView2<'_, f32>, first: usize, nodes: &mut [u8]) {
        let feature = split.rule.feature();
        let column = &self.column(feature)[first..first + nodes.len()];
        let (node, child, last) = (split.node, split.first_child, split.side.last as u8);
        // Missing values lie in a bin after all others.
        let missing = if split.side.missing_left {
            self.bins(feature).len() as u8
        } else {
            last
        };
        // Moved into the closure, as numbers behind references would be reloaded at every step.
        let (at_node, bins) = (&mut *nodes, column);
        vectorized(
            #[inline(always)]
            move || {
                for (at, &bin) in at_node.iter_mut().zip(bins) {
                    let right = u8::from((bin > last) & (bin != missing));
                    *at = select(*at == node, child.wrapping_add(right), *at);
                }
            },
        );
        if let Some(torn) = split.torn {
            let (torn, went_right) = (torn as u8, child + 1);
            let is_torn = |(at, bin): (&u8, &u8)| (*at == went_right) & (*bin == torn);
            let groups = nodes.chunks_mut(GROUP).zip(column.chunks(GROUP)).enumerate();
            for (group, (nodes, bins)) in groups {
                // Only few samples are: checking a whole group takes a few instructions.
                let any = vectorized(
                    #[inline(always)]
                    || {
                        nodes
                            .iter()
                            .zip(bins)
                            .fold(false, |any, both| any | is_torn(both))
                    },
                );
                if !any {
                    continue;
                }
                for (i, (at, bin)) in nodes.iter_mut().zip(bins).enumerate() {
                    if is_torn((at, bin)) {
                        *at = split.child(x[[first + group * GROUP + i, feature as usize]]);
                    }
                }
            }
        }
    }
}

impl SparseBins {
    /// Moves the samples that are at the node of a split to its children.
    fn descend(&self, split: &Split<'_>, x: &CsrView<'_>, nodes: &mut [u8]) {
        let feature = split.rule.feature();
        let (zero_left, moved) = self.moved(feature, split.side);
        let of_zero = split.first_child + u8::from(!zero_left);
        let other = split.first_child + u8::from(zero_left);
        let (at_node, node) = (&mut *nodes, split.node);
        vectorized(
            #[inline(always)]
            move || {
                for at in at_node {
                    *at = select(*at == node, of_zero, *at);
                }
            },
        );
        // Samples that are at a child now came from this node.
        for &row in moved.into_iter().flatten() {
            let at = &mut nodes[row as usize];
            *at = select(*at == of_zero, other, *at);
        }
        for &row in split
            .torn
            .into_iter()
            .flat_map(|bin| self.rows_of_bin(feature, bin))
        {
            let at = &mut nodes[row as usize];
            // These samples went right.
            if *at == split.first_child + 1 {
                let (features, values) = csr_row(x, row as usize);
                let place = features
                    .binary_search(&feature)
                    .expect("stored, as not in the bin of zero");
                *at = split.child(values[place]);
            }
        }
    }
}

/// Selects one of two bytes by a mask: a conditional store prevents loops from being vectorized.
#[inline(always)]
fn select(condition: bool, yes: u8, no: u8) -> u8 {
    let mask = u8::from(condition).wrapping_neg();
    (yes & mask) | (no & !mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::{HistogramSplitter, SplitTargets};
    use crate::splitter::{AxisParams, Splitter};
    use crate::{GrowParams, grow};
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::{MatrixView, Seed};

    proptest! {
        #[test]
        fn leaves_are_those_of_samples_followed_one_by_one(
            values in prop::collection::vec(prop_oneof![4 => -9_i8..9, 2 => Just(0), 1 => Just(i8::MAX)], 3 * 60),
            seed in any::<u64>(),
            max_bins in 2_usize..12,
            max_leaves in 1_usize..20,
            is_sparse in any::<bool>(),
        ) {
            let x = Array2::from_shape_fn((60, 3), |(i, j)| match values[3 * i + j] {
                i8::MAX => f32::NAN,
                value => f32::from(value) / 2.0,
            });
            let z = Array2::from_shape_fn((60, 1), |(i, _)| ((i * 37) % 11) as f32);
            let csr = MatrixView::from(&x).to_csr();
            let view = if is_sparse { MatrixView::Sparse(csr.view()) } else { (&x).into() };
            let features = BinnedFeatures::new(view, max_bins, &[]).unwrap();
            let targets = SplitTargets { gradients: z.view(), weights: &[1.0; 60], ..SplitTargets::default() };
            let splitter = HistogramSplitter::new(&features, targets, AxisParams::default()).unwrap();
            let params = GrowParams { max_leaves: Some(max_leaves), ..GrowParams::default() };
            // Some of the samples are left out.
            let rows = (0..60).filter(|i| i % 3 > 0).collect();
            let tree = grow(&splitter, &mut splitter.workspace(), rows, &params, Seed::new(seed)).unwrap().structure;
            match features.leaves(&tree, view) {
                Some(leaves) => {
                    prop_assert_eq!(leaves, tree.apply((&x).into()).unwrap());
                }
                None => prop_assert!(is_sparse),
            }
        }
    }

    #[test]
    fn what_bins_do_not_tell_is_refused() {
        let x = Array2::from_shape_fn((40, 1), |(i, _)| i as f32);
        let features = BinnedFeatures::new((&x).into(), 4, &[]).unwrap();
        let of = |feature, threshold| {
            let rule = AxisRule::new(feature, threshold, false);
            let root = Node::Split { rule, first_child: 1 };
            let tree = Structure::try_from(vec![root, Node::Leaf(0), Node::Leaf(1)]).unwrap();
            features.leaves(&tree, (&x).into())
        };
        let n_left = |threshold| of(0, threshold).map(|l| l.iter().filter(|l| **l == 0).count());
        assert_eq!(
            (n_left(9.5), n_left(13.5), n_left(99.0)),
            (Some(10), Some(14), Some(40))
        );
        assert_eq!((of(0, -1.0), of(1, 9.5)), (None, None));
    }
}
