//! What the parameters of every method, and the models of forests, have in common.

use crate::{CheckParams, MatrixView, Predictor, Seed};
use std::ops::Range;

/// The parameters of a method, which fit a model to features and outputs.
///
/// One seed, one model, bit for bit: a model is a function of the data, the parameters and the options, whatever the number
/// of threads.
///
/// Whatever a check refuses a fit refuses, with an error of the same type.
pub trait Learner: CheckParams {
    /// What a fit returns.
    type Model;

    /// What a fit can be given beside parameters and data, such as weights of samples.
    type Options<'a>: Default;

    /// Fits a model to features `x` (n x p) and outputs `y` (n x d).
    ///
    /// # Errors
    /// Parameters that [`check`](CheckParams::check) refuses or the data make impossible, sizes that do not match, values that the
    /// method does not take, and what it does not do of the options.
    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: Self::Options<'_>,
    ) -> Result<Self::Model, Self::Error>;

    /// [`fit_with`](Self::fit_with) the default options.
    ///
    /// # Errors
    /// As there.
    fn fit(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<Self::Model, Self::Error> {
        self.fit_with(x, y, Self::Options::default())
    }
}

/// The parameters of a forest. Tree j depends on the data, the seed and j alone, so that trees can be grown apart, in one
/// process or in many: the parts [merge](Merge) into exactly the whole.
pub trait ForestLearner: Learner<Model: Merge> + Clone {
    /// The index of the first tree and the number of trees, where the parameters hold them.
    fn tree_range_mut(&mut self) -> (&mut usize, &mut usize);

    /// The indices of the trees.
    fn indices(&self) -> Range<usize> {
        let mut params = self.clone();
        let (first, n) = params.tree_range_mut();
        *first..first.saturating_add(*n)
    }

    /// The parameters of some of the trees, for growing a forest in parts.
    #[must_use]
    fn of_trees(&self, trees: Range<usize>) -> Self {
        let mut params = self.clone();
        let (first, n) = params.tree_range_mut();
        (*first, *n) = (trees.start, trees.len());
        params
    }
}

/// A forest that can be put together from parts.
pub trait Merge: Predictor + Sized {
    /// The origin of the randomness of each tree, in their order: no tree may be in two parts.
    fn seeds(&self) -> Vec<Seed>;

    /// One forest of the trees of this one, then those of another.
    ///
    /// # Errors
    /// Forests that were not fitted to data of the same shape with the same options. That the data are the same cannot be
    /// seen, nor does this look for trees that are in both.
    fn merge(self, other: Self) -> Result<Self, Self::Error>;
}
