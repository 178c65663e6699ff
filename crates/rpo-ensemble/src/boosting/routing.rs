//! Routing samples to leaves for any number of features.

use crate::inference::traversal::{Traversal, TraversalScratch};
use rayon::prelude::*;
use rpo_core::{CsrView, MatrixView, csr_row};
use rpo_tree::{AxisRule, Structure};
use std::ops::Range;

/// With more features than this, values are looked up among the stored values of a sparse sample. With fewer, samples
/// are made dense or turned into bits, which takes memory for every feature.
pub(super) const WIDE: usize = 1 << 20;

/// Largest number of samples that are routed together.
const MOST_SAMPLES: usize = 256;

/// Consecutive samples, ready to be routed through trees.
pub(super) enum Samples<'x> {
    Spread(TraversalScratch<'x>),
    Stored(CsrView<'x>, Range<usize>),
}

impl<'x> Samples<'x> {
    pub(super) fn new(x: MatrixView<'x>) -> Self {
        match x {
            MatrixView::Sparse(x) if x.cols() > WIDE => Self::Stored(x, 0..0),
            x => Self::Spread(TraversalScratch::new(x)),
        }
    }

    /// Returns the number of samples that are best routed together.
    pub(super) fn good_size(traversal: &Traversal, x: MatrixView<'_>) -> usize {
        match x {
            MatrixView::Sparse(x) if x.cols() > WIDE => MOST_SAMPLES,
            x => traversal.block_size(x).min(MOST_SAMPLES),
        }
    }

    /// Loads the samples in a range.
    pub(super) fn load(&mut self, traversal: &Traversal, range: Range<usize>) {
        match self {
            Self::Spread(scratch) => scratch.load(traversal, range),
            Self::Stored(_, samples) => *samples = range,
        }
    }

    /// Writes the leaves of the samples in some trees, by tree, then sample. `structure` returns the structure of a
    /// tree of the traversal.
    pub(super) fn leaves<'t>(
        &self,
        traversal: &Traversal,
        structure: impl Fn(usize) -> &'t Structure<AxisRule>,
        trees: Range<usize>,
        leaves: &mut [u32],
    ) {
        match self {
            Self::Spread(scratch) => scratch.leaves(traversal, structure, trees, leaves),
            Self::Stored(x, range) => {
                let leaves = leaves.chunks_mut(range.len().max(1));
                for (tree, leaves) in trees.map(structure).zip(leaves) {
                    for (leaf, sample) in leaves.iter_mut().zip(range.clone()) {
                        let (features, values) = csr_row(x, sample);
                        *leaf = tree.leaf_of_stored(features, values);
                    }
                }
            }
        }
    }
}

/// Returns the leaf of each sample in a tree.
pub(super) fn apply(tree: &Structure<AxisRule>, x: MatrixView<'_>) -> Vec<u32> {
    let traversal = &Traversal::Rules;
    let mut leaves = vec![0; x.n_rows()];
    let size = Samples::good_size(traversal, x.reborrow());
    leaves.par_chunks_mut(size).enumerate().for_each_init(
        || Samples::new(x.reborrow()),
        |samples, (i, leaves)| {
            samples.load(traversal, i * size..i * size + leaves.len());
            samples.leaves(traversal, |_| tree, 0..1, leaves);
        },
    );
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_core::CsrMatrix;
    use rpo_tree::Node;

    #[test]
    fn features_without_number_are_looked_up() {
        let split = |feature, threshold, first_child| Node::Split {
            rule: AxisRule::new(feature, threshold, true),
            first_child,
        };
        let nodes = vec![
            split(7, 0.5, 1),
            split(2, -1.0, 3),
            Node::Leaf(2),
            Node::Leaf(0),
            Node::Leaf(1),
        ];
        let tree = Structure::try_from(nodes).unwrap();
        let rows = |p| {
            CsrMatrix::new(
                (4, p),
                vec![0, 1, 2, 3, 3],
                vec![7, 2, 7],
                vec![1.0, -2.0, f32::NAN],
            )
        };
        for p in [8, WIDE + 1, u32::MAX as usize] {
            let x = rows(p);
            assert_eq!(apply(&tree, MatrixView::Sparse(x.view())), [2, 0, 1, 1], "{p}");
        }
    }
}
