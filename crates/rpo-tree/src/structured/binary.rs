//! The seam of structured splits: a binary problem at a node.

use crate::TreeError;
use crate::criterion::{Criterion, Entropy};
use crate::oblique::LinearRule;
use crate::ranks::RankedFeatures;
use crate::splitter::{AxisParams, AxisSearch, AxisSplit, NodeRows, ProposedSplit, check_subset};

/// Splits a node by a 0/1 target that was made for this node.
pub trait BinarySplitter: Sync {
    /// Buffers, one per thread.
    type Workspace: Send;

    /// A workspace for a thread.
    fn workspace(&self) -> Self::Workspace;

    /// The split of a node whose rows are positive or not (as long as `node.rows`), or `None` if there is none;
    /// otherwise as [`Splitter::split`](crate::splitter::Splitter::split).
    fn split(
        &self,
        node: NodeRows<'_>,
        positive: &[bool],
        workspace: &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<LinearRule>>;
}

/// The best threshold on one feature by information gain, over all features the tree uses.
///
/// Ties: the smaller feature, then the smaller threshold. A missing value goes to the side that gained more.
#[derive(Debug, Clone)]
pub struct InformationGain<'a> {
    columns: &'a RankedFeatures,
    subset: &'a [u32],
    params: AxisParams,
}

impl<'a> InformationGain<'a> {
    /// Ranked features, those of them that the tree uses, and the fewest rows of a child.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] for a child of no rows and for features that do not increase;
    /// [`TreeError::Mismatch`] for one that does not exist.
    pub fn new(
        columns: &'a RankedFeatures,
        subset: &'a [u32],
        min_samples_leaf: usize,
    ) -> Result<Self, TreeError> {
        check_subset(subset, columns.n_features())?;
        let params = AxisParams {
            min_samples_leaf,
            ..AxisParams::default()
        };
        params.check()?;
        Ok(Self {
            columns,
            subset,
            params,
        })
    }
}

impl BinarySplitter for InformationGain<'_> {
    type Workspace = (AxisSearch, Entropy);

    fn workspace(&self) -> Self::Workspace {
        let search = AxisSearch::on(self.columns, self.subset);
        (search, Entropy::new(vec![false; self.columns.n_rows()]))
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        positive: &[bool],
        (search, entropy): &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<LinearRule>> {
        entropy.mark(node.rows, positive);
        entropy.start(node.rows);
        let AxisSplit { rule, gain } = search.search(self.columns, node, entropy, &self.params, children)?;
        Some(ProposedSplit {
            rule: LinearRule::Axis(rule),
            gain,
        })
    }
}

/// Tries a splitter, and where it finds nothing another.
#[derive(Debug, Clone)]
pub struct FallbackSplitter<A, B>(pub A, pub B);

impl<A: BinarySplitter, B: BinarySplitter> BinarySplitter for FallbackSplitter<A, B> {
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
    ) -> Option<ProposedSplit<LinearRule>> {
        let split = self.0.split(node, positive, first, children);
        split.or_else(|| self.1.split(node, positive, second, children))
    }
}
