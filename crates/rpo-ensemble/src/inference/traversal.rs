//! Routing blocks of rows through the trees of a forest.
//!
//! Bench: `cargo bench -p rpo-benches --bench forest -- predict`; the figures of each layout are in
//! `docs/performance.md`.

use super::bits::BitsetTraversal;
use super::values::BranchlessTraversal;
use rpo_core::MatrixView;
use rpo_tree::{RowBlock, Rule, Structure};
use std::ops::Range;
use std::sync::OnceLock;

/// Compact node layouts that make prediction faster.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Traversal {
    /// Used if each feature has at most one threshold.
    Bitset(BitsetTraversal),
    /// Used otherwise.
    Branchless(BranchlessTraversal),
    /// No compact layout: rules use several features, or trees are too large.
    Rules,
}

impl Traversal {
    pub(crate) fn new(structures: &[&Structure<impl Rule>]) -> Self {
        match BitsetTraversal::new(structures) {
            Some(bits) => Self::Bitset(bits),
            None => BranchlessTraversal::new(structures).map_or(Self::Rules, Self::Branchless),
        }
    }

    /// Returns a suitable number of rows per block.
    pub(crate) fn block_size(&self, x: MatrixView<'_>) -> usize {
        /// Rows of a block if a row needs hardly any memory. With fewer rows, all trees are read from memory more
        /// often.
        const MOST_ROWS: usize = 1024;
        match self {
            Self::Bitset(_) => MOST_ROWS,
            Self::Branchless(_) | Self::Rules => RowBlock::good_size(x),
        }
    }
}

/// The traversal of a model whose trees may still change, made when it is first used.
#[derive(Debug, Clone, Default)]
pub(crate) struct LazyTraversal(OnceLock<Traversal>);

impl LazyTraversal {
    /// Returns the traversal, which `make` makes if it does not exist yet.
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> Traversal) -> &Traversal {
        self.0.get_or_init(make)
    }
}

/// The traversal follows from the trees, so it makes no difference between models.
impl PartialEq for LazyTraversal {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The node layout used for the rows of a block.
#[derive(Clone, Copy, PartialEq)]
enum NodeLayout {
    /// The nodes of the trees themselves.
    Rules,
    /// The layout on bits.
    Bitset,
    /// The layout on values, none of which is missing.
    Branchless,
}

/// Working memory for the rows of a block: their values, or bits if these suffice.
pub(crate) struct TraversalScratch<'x> {
    x: MatrixView<'x>,
    block: RowBlock<'x>,
    bits: Vec<u64>,
    layout: NodeLayout,
}

impl<'x> TraversalScratch<'x> {
    pub(crate) fn new(x: MatrixView<'x>) -> Self {
        Self {
            x,
            block: RowBlock::new(x),
            bits: Vec::new(),
            layout: NodeLayout::Rules,
        }
    }

    /// Loads some rows for routing.
    pub(crate) fn load(&mut self, traversal: &Traversal, rows: Range<usize>) {
        self.layout = match traversal {
            Traversal::Bitset(bits) if bits.load(self.x, rows.clone(), &mut self.bits) => NodeLayout::Bitset,
            Traversal::Branchless(_) if BranchlessTraversal::fits(self.x, rows.clone()) => {
                NodeLayout::Branchless
            }
            _ => NodeLayout::Rules,
        };
        if self.layout != NodeLayout::Bitset {
            self.block.load(rows);
        }
    }

    /// Writes the leaves of the rows in some trees, by tree, then row. `structure` returns the structure of a tree.
    pub(crate) fn leaves<'f, R: Rule + 'f>(
        &self,
        traversal: &Traversal,
        structure: impl Fn(usize) -> &'f Structure<R>,
        trees: Range<usize>,
        leaves: &mut [u32],
    ) {
        let n_rows = leaves.len() / trees.len();
        match (traversal, self.layout) {
            (Traversal::Bitset(bits), NodeLayout::Bitset) => {
                let chunks = leaves.chunks_mut(n_rows);
                trees
                    .zip(chunks)
                    .for_each(|(tree, leaves)| bits.leaves(tree, &self.bits, leaves));
            }
            (Traversal::Branchless(values), NodeLayout::Branchless) => {
                let chunks = leaves.chunks_mut(n_rows);
                trees
                    .zip(chunks)
                    .for_each(|(tree, leaves)| values.leaves(tree, &self.block, leaves));
            }
            _ => route_block(trees.map(structure), &self.block, leaves),
        }
    }
}

/// Writes the leaves of a block of rows, by tree, then row.
pub(crate) fn route_block<'f, R: Rule + 'f>(
    structures: impl Iterator<Item = &'f Structure<R>>,
    block: &RowBlock<'_>,
    leaves: &mut [u32],
) {
    let rows = block.rows();
    if !rows.is_empty() {
        for (structure, leaves) in structures.zip(leaves.chunks_mut(rows.len())) {
            structure.leaves(&rows, leaves);
        }
    }
}
