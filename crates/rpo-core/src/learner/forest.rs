//! The interfaces shared by the parameters of forests, and by their models.

use super::Learner;
use crate::{CheckParams, Domain, Mismatch, ParameterError, Predictor, Seed};
use std::ops::Range;

/// The parameters of a forest. Tree j depends only on the data, the seed and j, so that trees can be grown separately,
/// in one process or in many; [merging](Merge) the parts gives exactly the whole forest.
pub trait ForestLearner: Learner<Model: Merge> + CheckParams<Error: From<ParameterError>> + Clone {
    /// Returns the index of the first tree and the number of trees, as stored in the parameters.
    fn tree_range(&self) -> (usize, usize);

    /// Returns both, to change them.
    fn tree_range_mut(&mut self) -> (&mut usize, &mut usize);

    /// Returns the indices of the trees.
    ///
    /// # Errors
    /// A number of trees of 0, and trees whose indices do not fit in a `usize`; a [check](CheckParams::check) of the
    /// parameters refuses both.
    fn indices(&self) -> Result<Range<usize>, Self::Error> {
        let (first, n) = self.tree_range();
        Domain::Count.check("trees", n)?;
        let reason = "is too large: `first_tree` + `trees` must fit in a usize";
        match first.checked_add(n) {
            Some(end) => Ok(first..end),
            None => Err(ParameterError::conflict("first_tree", first, reason).into()),
        }
    }

    /// Returns the parameters for some of the trees, to grow a forest in parts.
    #[must_use]
    fn of_trees(&self, trees: Range<usize>) -> Self {
        let mut params = self.clone();
        let (first, n) = params.tree_range_mut();
        (*first, *n) = (trees.start, trees.len());
        params
    }
}

/// A forest that can be merged with others.
pub trait Merge: Predictor + Sized {
    /// Returns the seed of each tree, in order. No tree may be in two merged forests.
    fn seeds(&self) -> Vec<Seed>;

    /// Checks that another forest was fitted to data of the same shape, as forests that are merged are.
    ///
    /// # Errors
    /// The first number that differs: of features, outputs or training samples.
    fn check_shape(&self, other: &Self) -> Result<(), Mismatch> {
        let same = |what: &'static str, of: fn(&Self) -> usize| Mismatch::check(what, of(self), of(other));
        same("features of the other forest", Self::n_features)?;
        same("outputs of the other forest", Self::n_outputs)?;
        same("training samples of the other forest", Self::n_train)
    }

    /// Merges two forests: the trees of this one, then those of the other.
    ///
    /// # Errors
    /// Forests that were not fitted to data of the same shape with the same options. Whether the data themselves are
    /// the same cannot be checked, and trees that are in both forests are not looked for.
    fn merge(self, other: Self) -> Result<Self, Self::Error>;
}
