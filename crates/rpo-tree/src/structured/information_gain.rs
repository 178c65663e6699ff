//! Splits of a binary problem along one feature.

use crate::criterion::{Criterion, Entropy};
use crate::oblique::LinearRule;
use crate::ranks::RankedFeatures;
use crate::splitter::{AxisParams, AxisSearch, BinarySplitter, NodeRows, ProposedSplit, check_subset};
use crate::{CheckParams, TreeError};

/// Finds the best threshold on one feature by information gain, over all features that the tree uses.
///
/// Ties: a random feature, then the smaller threshold. Missing values go to the side with the larger gain.
#[derive(Debug, Clone)]
pub struct InformationGain<'a> {
    columns: &'a RankedFeatures,
    subset: &'a [u32],
    params: AxisParams,
}

impl<'a> InformationGain<'a> {
    /// Takes ranked features, the subset that the tree uses, and the fewest samples of a child.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] if a child may have no samples and for features that are not increasing;
    /// [`TreeError::TooFew`] for a feature that does not exist.
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

/// Buffers, one per thread.
#[derive(Debug)]
pub struct InformationGainWorkspace {
    search: AxisSearch,
    entropy: Entropy,
}

impl BinarySplitter for InformationGain<'_> {
    type Rule = LinearRule;
    type Workspace = InformationGainWorkspace;

    fn workspace(&self) -> Self::Workspace {
        InformationGainWorkspace {
            search: AxisSearch::new(self.columns, Some(self.subset)),
            entropy: Entropy::new(vec![false; self.columns.n_rows()]),
        }
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        positive: &[bool],
        InformationGainWorkspace { search, entropy }: &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<LinearRule>> {
        entropy.mark(node.rows, positive);
        entropy.start(node.rows);
        let ProposedSplit { rule, gain } =
            search.search(self.columns, node, entropy, None, &self.params, children)?;
        Some(ProposedSplit {
            rule: LinearRule::Axis(rule),
            gain,
        })
    }
}
