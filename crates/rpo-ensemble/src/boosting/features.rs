//! The features that the trees of a model grow on.

use crate::bins::Bins;
use rpo_core::MatrixView;
use rpo_tree::histogram::BinnedFeatures;
use rpo_tree::{RankedFeatures, TreeError};

/// Features as given and as growers need them.
pub(super) struct Features<'a> {
    x: MatrixView<'a>,
    pub(super) coded: Coded,
}

/// Features coded once for all trees.
pub(super) enum Coded {
    Ranked(RankedFeatures),
    Binned(BinnedFeatures),
}

impl<'a> Features<'a> {
    pub(super) fn new(x: MatrixView<'a>, bins: Bins) -> Result<Self, TreeError> {
        let coded = match bins {
            Bins::Exact => Coded::Ranked(RankedFeatures::new(x.reborrow())?),
            Bins::AtMost(bins) => Coded::Binned(BinnedFeatures::new(x.reborrow(), bins)?),
        };
        Ok(Self { x, coded })
    }

    pub(super) fn x(&self) -> MatrixView<'_> {
        self.x.reborrow()
    }
}
