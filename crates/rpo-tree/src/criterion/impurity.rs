//! Criteria of the usual impurities, each in the form that is fastest for its targets.

use super::{
    Criterion, Entropy, LabelCountVariance, LabelEntropy, LabelRows, ObservedVariance, PackedLabelVariance,
    SingleVariance, SparseObservedVariance, SparseVariance, Variance, WeightedEntropy, XLogXTable,
};
use rpo_core::{CsrView, MatrixView};
use std::sync::Arc;

/// An impurity of targets, one row per training sample. It has several criterion implementations: all grow the same
/// trees, and which one is fastest depends on the targets.
#[derive(Debug, Clone, Copy)]
pub enum Impurity<'a> {
    /// Summed variance of targets (n x m, dense with contiguous rows or CSR, finite), half of Gini's impurity for
    /// labels. The cost per moved sample and score is O(m) for dense targets, and the stored entries of the sample for
    /// sparse ones; 0/1 labels are counted.
    Variance(MatrixView<'a>),
    /// The same of 0/1 labels (n x d, CSR), with their layout for counting, which trees of different weights share.
    LabelVariance(CsrView<'a>, &'a Arc<LabelRows>),
    /// Variance of one target; a missing value counts as 0.
    OneVariance(&'a [f32]),
    /// Summed variance of targets some of which are missing (NaN; in CSR a stored NaN): each target is summed over the
    /// samples in which it is observed,
    ///
    /// ```text
    /// |S| ΔI = Σ_j (|S_j| Var_j(S) − |S_lj| Var_j(S_l) − |S_rj| Var_j(S_r)),      S_j: the samples of S with z_j observed
    /// ```
    ObservedVariance(MatrixView<'a>),
    /// Entropy of one label in bits: with samples of weight n, k of which have the label,
    ///
    /// ```text
    /// n H = n log₂ n − k log₂ k − (n−k) log₂ (n−k),      gain = n H − n_l H_l − n_r H_r = |S| · (information gain)
    /// ```
    Entropy(&'a [f32], &'a XLogXTable),
    /// Entropy of several labels (n x d) in bits, summed over them. Cost: O(labels of the sample) per moved sample,
    /// O(d) per node.
    LabelEntropy(CsrView<'a>, &'a XLogXTable),
}

/// The operation to run with a criterion, whatever its implementation, for example growing a tree.
pub trait CriterionVisitor {
    /// Result of the operation.
    type Output;

    /// Runs the operation with the criterion.
    fn visit<C: Criterion + Sync>(self, criterion: C) -> Self::Output;
}

impl Impurity<'_> {
    /// Passes the fastest implementation of the criterion to a visitor, given one weight per sample (finite, not
    /// negative). Samples of weight 0 are never used. Values are not checked here: non-finite values make scores NaN,
    /// and no split is made.
    ///
    /// ```
    /// use ndarray::array;
    /// use rpo_tree::Seed;
    /// use rpo_tree::criterion::{Criterion, CriterionVisitor, Impurity};
    /// use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
    /// use rpo_tree::{AxisRule, GrowParams, Grown, RankedFeatures, TreeError, grow};
    ///
    /// struct Grow<'a>(&'a RankedFeatures);
    ///
    /// impl CriterionVisitor for Grow<'_> {
    ///     type Output = Result<Grown<AxisRule>, TreeError>;
    ///
    ///     fn visit<C: Criterion + Sync>(self, criterion: C) -> Self::Output {
    ///         let splitter = AxisSplitter::new(self.0, criterion, AxisParams::default())?;
    ///         let rows = (0..4).collect();
    ///         grow(&splitter, &mut splitter.workspace(), rows, &GrowParams::default(), Seed::new(0))
    ///     }
    /// }
    ///
    /// let x = array![[0.0], [1.0], [2.0], [3.0]];
    /// let columns = RankedFeatures::new((&x).into(), &[])?;
    /// let grown = Impurity::OneVariance(&[0.0, 0.0, 1.0, 1.0]).visit(&[1.0; 4], Grow(&columns))?;
    /// assert_eq!(grown.structure.n_leaves(), 2);
    /// # Ok::<(), TreeError>(())
    /// ```
    ///
    /// # Panics
    /// If the number of weights differs from that of samples, or rows of dense targets are not contiguous.
    pub fn visit<V: CriterionVisitor>(self, weights: &[f32], visitor: V) -> V::Output {
        match self {
            Self::Variance(MatrixView::Dense(y)) if y.ncols() == 1 => {
                visitor.visit(SingleVariance::new(y.iter().copied(), weights))
            }
            Self::Variance(MatrixView::Dense(y)) => visitor.visit(Variance::new(y.view(), weights)),
            Self::Variance(MatrixView::Sparse(y)) => visit_sparse(y, None, weights, visitor),
            Self::LabelVariance(y, labels) => visit_sparse(y, Some(labels), weights, visitor),
            Self::OneVariance(target) => {
                let values = target.iter().map(|&v| if v.is_nan() { 0.0 } else { v });
                visitor.visit(SingleVariance::new(values, weights))
            }
            Self::ObservedVariance(MatrixView::Dense(y)) => {
                visitor.visit(ObservedVariance::new(y.view(), weights))
            }
            Self::ObservedVariance(MatrixView::Sparse(y)) => {
                visitor.visit(SparseObservedVariance::new(y, weights))
            }
            Self::Entropy(target, table) => {
                let positive = target.iter().map(|&v| v == 1.0);
                match Entropy::weighted(positive.clone(), weights, table.clone()) {
                    Some(entropy) => visitor.visit(entropy),
                    None => visitor.visit(WeightedEntropy::new(positive, weights)),
                }
            }
            Self::LabelEntropy(y, table) => visitor.visit(LabelEntropy::new(y, weights, table.clone())),
        }
    }
}

/// Passes the fastest criterion of the summed variance of sparse targets to a visitor, given their layout for counting,
/// if there is one.
fn visit_sparse<V: CriterionVisitor>(
    y: CsrView<'_>,
    labels: Option<&Arc<LabelRows>>,
    weights: &[f32],
    visitor: V,
) -> V::Output {
    let counts = || match labels {
        Some(labels) => LabelCountVariance::new(Arc::clone(labels), weights),
        None => LabelCountVariance::of(y, weights),
    };
    if let Some(packed) = PackedLabelVariance::<1>::new(y, weights) {
        visitor.visit(packed)
    } else if let Some(packed) = PackedLabelVariance::<2>::new(y, weights) {
        visitor.visit(packed)
    } else if let Some(packed) = PackedLabelVariance::<4>::new(y, weights) {
        visitor.visit(packed)
    } else if let Some(counts) = counts() {
        visitor.visit(counts)
    } else {
        visitor.visit(SparseVariance::new(y, weights))
    }
}
