//! Predictions of leaves, in the original output space.
//!
//! A leaf predicts the weighted mean of the outputs of its training samples, in all d outputs, whatever targets the
//! tree was grown on:
//!
//! ```text
//! ŷ_leaf = Σ_{i in leaf} c_i y_i / Σ_{i in leaf} c_i
//! ```
//!
//! Source: Joly, Geurts, Wehenkel, ECML-PKDD 2014, section 3.1. Its algorithms 1 and 2 read as if all samples label
//! every tree; here only the samples that the tree was grown on do, with their weights c, so that a bootstrap counts as
//! in Breiman's forests and in the authors' released code.
//!
//! The mean is stored as a dense vector, as a sparse vector, or not at all: leaves then refer to the training samples,
//! whose outputs are stored once for the whole ensemble. Labelling then costs nothing, the size of a tree does not
//! depend on the number of outputs, and any relabelling is free.
//!
//! If outputs may be missing, means are over the samples in which an output is observed ([`Leaves::label_observed`]).
//! Such leaves are dense or sparse: the weight of a sample in a prediction differs from output to output.

mod counted;
mod dense;
mod means;
mod observed;
mod samples;
mod sparse;

pub use dense::DenseLeaves;
pub use samples::SampleLeaves;
pub use sparse::SparseLeaves;

use crate::error::TreeError;
use crate::rule::Rule;
use crate::structure::Structure;
use means::Means;
use rpo_core::{Matrix, MatrixView, Mismatch, ParameterError, TooFew, WeightError};
use serde::{Deserialize, Serialize};
use std::ops::Index;
use std::sync::Arc;

/// The training samples of each leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeafMembers {
    rows: Vec<u32>,
    start: Vec<u32>,
}

impl LeafMembers {
    pub(crate) fn new(rows: Vec<u32>, start: Vec<u32>) -> Self {
        Self { rows, start }
    }

    /// Sorts samples into leaves: `leaf_of[i]` is the leaf of sample i.
    ///
    /// # Errors
    /// [`TreeError::TooFew`] for a leaf that does not exist, [`TreeError::TooLarge`] for more than 2^31 samples or
    /// leaves.
    pub fn from_assignment(leaf_of: &[u32], n_leaves: usize) -> Result<Self, TreeError> {
        Self::of_leaves(|| (0..).zip(leaf_of.iter().copied()), n_leaves)
    }

    /// Sorts some samples, given by increasing row with their leaves, into leaves. The samples are listed twice.
    pub(crate) fn of_leaves<I: Iterator<Item = (u32, u32)>>(
        placed: impl Fn() -> I,
        n_leaves: usize,
    ) -> Result<Self, TreeError> {
        check_sizes(0, n_leaves)?;
        let mut start = vec![0_u32; n_leaves + 1];
        for (_, leaf) in placed() {
            let Some(count) = start.get_mut(leaf as usize + 1) else {
                return Err(TooFew {
                    what: "leaves",
                    needed: leaf as usize + 1,
                    given: n_leaves,
                }
                .into());
            };
            *count += 1;
        }
        for leaf in 0..n_leaves {
            start[leaf + 1] += start[leaf];
        }
        let mut next = start.clone();
        let mut rows = vec![0; start[n_leaves] as usize];
        for (row, leaf) in placed() {
            rows[next[leaf as usize] as usize] = row;
            next[leaf as usize] += 1;
        }
        Ok(Self { rows, start })
    }

    /// Creates leaf members from stored parts: the samples leaf by leaf, increasing inside a leaf, and the number of
    /// samples of each leaf.
    ///
    /// # Errors
    /// [`TreeError::Mismatch`] if the sizes do not add up to the number of samples, [`TreeError::Parameter`] for a
    /// sample that is out of order, not below `n_rows`, or in two leaves.
    pub(crate) fn from_parts(rows: Vec<u32>, sizes: &[u32], n_rows: usize) -> Result<Self, TreeError> {
        let total: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        Mismatch::check("rows in leaves", total as usize, rows.len())?;
        let mut start = Vec::with_capacity(sizes.len() + 1);
        start.push(0);
        let mut seen = vec![false; n_rows];
        for &size in sizes {
            let first = start[start.len() - 1];
            let of_leaf = &rows[first as usize..][..size as usize];
            let mut last = None;
            for &row in of_leaf {
                let is_new = seen
                    .get_mut(row as usize)
                    .is_some_and(|seen| !std::mem::replace(seen, true));
                if !is_new || last > Some(row) {
                    let expected = "samples of the training set, increasing inside a leaf, each in one leaf";
                    return Err(ParameterError::out_of_range("rows", row, expected).into());
                }
                last = Some(row);
            }
            start.push(first + size);
        }
        Ok(Self { rows, start })
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.start.len() - 1
    }

    /// Returns all samples, leaf by leaf.
    pub fn all_rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the start of the rows of a leaf among [all](Self::all_rows); for the number of leaves, the end of the
    /// last leaf.
    pub(crate) fn start_of(&self, leaf: usize) -> usize {
        self.start[leaf] as usize
    }
}

/// Returns the samples of a leaf, increasing.
impl Index<usize> for LeafMembers {
    type Output = [u32];

    fn index(&self, leaf: usize) -> &[u32] {
        &self.rows[self.start[leaf] as usize..self.start[leaf + 1] as usize]
    }
}

/// Predictions of the leaves of a tree. The three storages here implement this trait, and custom models may: a
/// [`Tree`](crate::Tree) takes any.
///
/// Example: a custom model in which every leaf predicts the median of one output over its training samples:
///
/// ```
/// use ndarray::array;
/// use rpo_tree::{Matrix, MatrixView, Seed};
/// use rpo_tree::criterion::Variance;
/// use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
/// use rpo_tree::{GrowParams, LeafBuilder, LeafMembers, LeafModel, RankedFeatures, Tree, TreeError, grow};
/// use std::sync::Arc;
///
/// #[derive(Debug, Clone, PartialEq)]
/// struct Medians(Vec<f32>);
///
/// impl LeafModel for Medians {
///     fn n_leaves(&self) -> usize {
///         self.0.len()
///     }
///     fn n_outputs(&self) -> usize {
///         1
///     }
///     fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
///         f(0, self.0[leaf as usize].into());
///     }
/// }
///
/// /// Makes leaves of medians, whatever the weights.
/// struct Median;
///
/// impl LeafBuilder for Median {
///     type Leaves = Medians;
///
///     fn build(&self, members: &LeafMembers, _: &[f32], outputs: &Arc<Matrix>) -> Result<Medians, TreeError> {
///         let median = |leaf| {
///             let mut values = Vec::new();
///             for &row in &members[leaf] {
///                 outputs.view().for_each_in_row(row as usize, |_, value| values.push(value));
///             }
///             values.sort_unstable_by(f32::total_cmp);
///             values[values.len() / 2]
///         };
///         Ok(Medians((0..members.n_leaves()).map(median).collect()))
///     }
/// }
///
/// let x = array![[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]];
/// let y = array![[1.0], [2.0], [90.0], [500.0], [501.0], [502.0]];
/// let columns = RankedFeatures::new((&x).into(), &[])?;
/// let splitter = AxisSplitter::new(&columns, Variance::new(y.view(), &[1.0; 6]), AxisParams::default())?;
/// let stump = GrowParams { max_depth: Some(1), ..GrowParams::default() };
/// let grown = grow(&splitter, &mut splitter.workspace(), (0..6).collect(), &stump, Seed::new(0))?;
///
/// let outputs = Arc::new(Matrix::from(y));
/// let leaves = Median.build(&grown.members, &[1.0; 6], &outputs)?;
/// let tree = Tree::new(grown.structure, leaves)?;
/// assert_eq!(tree.predict((&array![[1.0], [4.0]]).into())?, array![[2.0], [501.0]]);
/// # Ok::<(), TreeError>(())
/// ```
pub trait LeafModel: Send + Sync {
    /// Number of leaves.
    fn n_leaves(&self) -> usize;
    /// Number of outputs.
    fn n_outputs(&self) -> usize;
    /// Calls `f(output, value)` for terms whose sum per output is the prediction of a leaf; an output that is not
    /// passed is 0, and terms of an output that is passed more than once are added.
    fn for_each(&self, leaf: u32, f: impl FnMut(u32, f64));
    /// Returns the leaves if they refer to training samples. Default: `None`.
    fn as_samples(&self) -> Option<&SampleLeaves> {
        None
    }
    /// Replaces the training outputs that leaves refer to by equal ones, so that trees share them. By default leaves
    /// refer to none and are returned unchanged.
    ///
    /// # Errors
    /// [`TreeError::Mismatch`] for outputs of another shape.
    fn with_shared_outputs(self, outputs: &Arc<Matrix>) -> Result<Self, TreeError>
    where
        Self: Sized,
    {
        let _ = outputs;
        Ok(self)
    }
}

/// Makes the leaves of trees from their training samples; see the example of [`LeafModel`]. [`LeafKind`] makes
/// [`Leaves`] that store means.
pub trait LeafBuilder: Sync {
    /// The leaf model that it makes.
    type Leaves: LeafModel;

    /// Makes leaves with these members, given a weight and the outputs of every training sample.
    ///
    /// # Errors
    /// [`TreeError`] for members, weights and outputs from which leaves cannot be made; [`TreeError::Custom`] for what
    /// only the builder knows.
    fn build(
        &self,
        members: &LeafMembers,
        weights: &[f32],
        outputs: &Arc<Matrix>,
    ) -> Result<Self::Leaves, TreeError>;
}

/// Makes leaves that predict the weighted means of the outputs (n x d, dense or CSR, finite) over their members, given
/// one weight per row of outputs. Means are summed in `f64`; [`Dense`](LeafKind::Dense) and
/// [`Sparse`](LeafKind::Sparse) store them as `f32`.
///
/// A leaf whose members have no weight, which can occur when relabelling with other samples, predicts the weighted mean
/// of all members. With [`Samples`](LeafKind::Samples) it refers to all of them: if many leaves do, the other storages
/// take far less memory.
///
/// Errors are [`TreeError::NotCsr`] if the outputs are sparse by columns, [`TreeError::Mismatch`] if there is not one
/// weight per row of outputs, [`TreeError::TooFew`] if a member has no row, [`TreeError::Weight`] for a weight that is
/// negative or not finite, or if no member has weight, and [`TreeError::TooLarge`] for leaves that refer to 2^32 rows or
/// more.
impl LeafBuilder for LeafKind {
    type Leaves = Leaves;

    fn build(
        &self,
        members: &LeafMembers,
        weights: &[f32],
        outputs: &Arc<Matrix>,
    ) -> Result<Leaves, TreeError> {
        check(members, weights, outputs)?;
        let means = || Means::new(members, weights, outputs);
        Ok(match self {
            Self::Samples => Leaves::Samples(SampleLeaves::new(members, weights, Arc::clone(outputs))?),
            Self::Dense => Leaves::Dense(DenseLeaves::from_model(&means()?)),
            Self::Sparse => {
                let counted = match outputs.view() {
                    MatrixView::Sparse(labels) => SparseLeaves::of_labels(members, weights, labels),
                    MatrixView::Dense(_) => None,
                };
                Leaves::Sparse(match counted {
                    Some(leaves) => leaves,
                    None => SparseLeaves::from_model(&means()?),
                })
            }
        })
    }
}

/// The storage of leaves. All give the same predictions; memory and speed differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeafKind {
    /// One value per leaf and output: for few outputs, or leaves of many samples with dense outputs.
    Dense,
    /// The non-zero values of each leaf: for large leaves with sparse outputs.
    Sparse,
    /// The training samples of each leaf: for leaves of few samples, whose means are hardly smaller than the samples
    /// themselves.
    Samples,
}

/// The leaves of a tree in one of the storages.
#[derive(Debug, Clone, PartialEq)]
pub enum Leaves {
    /// One value per leaf and output.
    Dense(DenseLeaves),
    /// The non-zero values of each leaf.
    Sparse(SparseLeaves),
    /// The training samples of each leaf.
    Samples(SampleLeaves),
}

impl Leaves {
    /// Labels leaves with means of outputs that may be missing: NaN, in a sparse matrix a stored NaN.
    ///
    /// Output j of a leaf is the weighted mean Σ c_i y_ij / Σ c_i over the members i with y_ij observed. If it is
    /// observed in no member of positive weight, the mean of the nearest ancestor in `structure` that has such a member
    /// is used, or `fallback` (one value per output) if there is none in the tree. Without missing outputs, leaves
    /// whose members have weight predict the same as those of [`LeafKind`], up to rounding.
    ///
    /// # Errors
    /// Those of [`LeafKind`]; [`TreeError::Parameter`] for [`Samples`](LeafKind::Samples), which cannot store such
    /// means; [`TreeError::Mismatch`] for members of another structure, or if the number of fallbacks differs from that
    /// of outputs.
    pub fn label_observed<R: Rule>(
        kind: LeafKind,
        structure: &Structure<R>,
        members: &LeafMembers,
        weights: &[f32],
        outputs: &Matrix,
        fallback: &[f32],
    ) -> Result<Self, TreeError> {
        check(members, weights, outputs)?;
        Mismatch::check(
            "leaves of the structure",
            structure.n_leaves(),
            members.n_leaves(),
        )?;
        Mismatch::check("fallbacks for the outputs", outputs.n_cols(), fallback.len())?;
        if kind == LeafKind::Samples {
            let reason = "cannot be combined with missing outputs; use dense or sparse leaves";
            return Err(ParameterError::conflict("leaves", "samples", reason).into());
        }
        if members.rows.iter().all(|&row| weights[row as usize] == 0.0) {
            return Err(WeightError::AllZero.into());
        }
        let means = observed::observed_means(structure, members, weights, outputs.view(), fallback);
        let sparse = SparseLeaves::new(means);
        Ok(match kind {
            LeafKind::Dense => Self::Dense(DenseLeaves::from_model(&sparse)),
            _ => Self::Sparse(sparse),
        })
    }

    /// Returns the storage in use.
    pub fn kind(&self) -> LeafKind {
        match self {
            Self::Dense(_) => LeafKind::Dense,
            Self::Sparse(_) => LeafKind::Sparse,
            Self::Samples(_) => LeafKind::Samples,
        }
    }
}

/// Checks the numbers of samples and leaves. A tree is grown on at most as many samples, and has no more leaves.
fn check_sizes(n_samples: usize, n_leaves: usize) -> Result<(), TreeError> {
    let limit = 1 << 31;
    let sizes = [
        ("the number of samples", n_samples),
        ("the number of leaves", n_leaves),
    ];
    match sizes.into_iter().find(|(_, given)| *given > limit) {
        Some((what, given)) => Err(TreeError::TooLarge { what, given, limit }),
        None => Ok(()),
    }
}

/// Checks the inputs of labelling.
fn check(members: &LeafMembers, weights: &[f32], outputs: &Matrix) -> Result<(), TreeError> {
    outputs.view().check_csr("outputs")?;
    let n_rows = outputs.n_rows();
    Mismatch::check("weights for the rows of outputs", n_rows, weights.len())?;
    TooFew::check_indices("rows of outputs for the members of leaves", &members.rows, n_rows)?;
    match WeightError::check(weights.iter().copied()) {
        Ok(()) | Err(WeightError::AllZero) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl LeafModel for Leaves {
    fn n_leaves(&self) -> usize {
        match self {
            Self::Dense(l) => l.n_leaves(),
            Self::Sparse(l) => l.n_leaves(),
            Self::Samples(l) => l.n_leaves(),
        }
    }

    fn n_outputs(&self) -> usize {
        match self {
            Self::Dense(l) => l.n_outputs(),
            Self::Sparse(l) => l.n_outputs(),
            Self::Samples(l) => l.n_outputs(),
        }
    }

    #[inline]
    fn as_samples(&self) -> Option<&SampleLeaves> {
        match self {
            Self::Samples(leaves) => Some(leaves),
            Self::Dense(_) | Self::Sparse(_) => None,
        }
    }

    fn with_shared_outputs(self, outputs: &Arc<Matrix>) -> Result<Self, TreeError> {
        match self {
            Self::Samples(leaves) => Ok(Self::Samples(leaves.with_outputs(Arc::clone(outputs))?)),
            leaves => Ok(leaves),
        }
    }

    #[inline]
    fn for_each(&self, leaf: u32, f: impl FnMut(u32, f64)) {
        match self {
            Self::Dense(l) => l.for_each(leaf, f),
            Self::Sparse(l) => l.for_each(leaf, f),
            Self::Samples(l) => l.for_each(leaf, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_a_tree() {
        let limit = 1 << 31;
        assert_eq!(check_sizes(limit, limit), Ok(()));
        for (sizes, what) in [
            ((limit + 1, 1), "the number of samples"),
            ((1, limit + 1), "the number of leaves"),
        ] {
            let given = limit + 1;
            let refused = Err(TreeError::TooLarge { what, given, limit });
            assert_eq!(check_sizes(sizes.0, sizes.1), refused);
        }
    }
}
