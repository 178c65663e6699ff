//! The interface of structured splits: a binary problem at a node.

use super::{NodeRows, ProposedSplit};
use crate::rule::Rule;

/// Splits a node by a 0/1 target that was made for this node.
pub trait BinarySplitter: Sync {
    /// The kind of rule it proposes, with two children.
    type Rule: Rule;
    /// Buffers, one per thread.
    type Workspace: Send;

    /// Makes a workspace for a thread.
    fn workspace(&self) -> Self::Workspace;

    /// Returns the split of a node whose rows are positive or negative (`positive` is as long as `node.rows`), or
    /// `None` to make it a leaf; otherwise like [`Splitter::split`](super::Splitter::split).
    fn split(
        &self,
        node: NodeRows<'_>,
        positive: &[bool],
        workspace: &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<Self::Rule>>;
}

/// Tries one splitter, and a second one if the first finds no split.
#[derive(Debug, Clone)]
pub struct FallbackSplitter<A, B>(pub A, pub B);

impl<A: BinarySplitter, B: BinarySplitter<Rule = A::Rule>> BinarySplitter for FallbackSplitter<A, B> {
    type Rule = A::Rule;
    type Workspace = (A::Workspace, B::Workspace);

    fn workspace(&self) -> Self::Workspace {
        (self.0.workspace(), self.1.workspace())
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        positive: &[bool],
        (first, second): &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<A::Rule>> {
        let split = self.0.split(node, positive, first, children);
        split.or_else(|| self.1.split(node, positive, second, children))
    }
}
