//! Fitting a forest.

use super::choices::CriterionKind;
use super::grow::{Training, TrainingFeatures};
use super::grower::{AxisGrower, Grower};
use super::model::{Forest, ForestTree, Importances};
use super::options::ForestOptions;
use super::params::ForestParams;
use super::targets::have_extremes;
use crate::bins::Bins;
use crate::error::EnsembleError;
use crate::inputs::{check_binary, check_complete, check_with_missing};
use crate::observers::grow_each;
use rpo_core::{CheckParams, ForestLearner, Learner, MatrixView, ParameterError};

/// Trees and the sums of their importances.
type GrownTrees<G> = (
    Vec<ForestTree<<G as Grower>::Rule, <G as Grower>::Leaves>>,
    Importances,
);

impl CheckParams for ForestParams {
    type Error = EnsembleError;

    fn check(&self) -> Result<(), EnsembleError> {
        self.check_with(None)
    }
}

/// Features may be missing (NaN). Tree j draws its bootstrap, its projection and its features from its own streams,
/// keyed by the seed and j. It is grown, and its leaf values are computed, from in-bag samples with their
/// multiplicities.
///
/// Memory beside the forest: the ranked or binned features, the outputs, and the working memory of one tree per thread,
/// which includes m values per sample with a projection. No n x d array is made from sparse outputs.
///
/// Errors beside those of data and parameters: more components than a projection allows; weights that are not finite,
/// negative, all zero, or zero for all samples that a bootstrap draws ([`EnsembleError::EmptyBag`]); leaves that refer
/// to training samples while outputs are missing.
impl Learner for ForestParams {
    type Model = Forest;
    type Options<'a> = ForestOptions<'a>;

    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: ForestOptions<'_>,
    ) -> Result<Forest, EnsembleError> {
        self.fit_by(x, y, &options, &AxisGrower, false)
    }
}

impl ForestLearner for ForestParams {
    fn tree_range(&self) -> (usize, usize) {
        (self.first_tree, self.trees)
    }

    fn tree_range_mut(&mut self) -> (&mut usize, &mut usize) {
        (&mut self.first_tree, &mut self.trees)
    }
}

impl ForestParams {
    /// Fits a forest whose trees are grown by a custom [`Grower`]. Features in bins are also ranked, for
    /// [`TreeInput::ranked_features`](super::TreeInput::ranked_features).
    ///
    /// # Errors
    /// Those of [`fit_with`](Learner::fit_with) and of the grower.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "options are made for one fit, as those of boosting"
    )]
    pub fn fit_custom<G: Grower>(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: ForestOptions<'_>,
        grower: &G,
    ) -> Result<Forest<G::Rule, G::Leaves>, EnsembleError> {
        self.fit_by(x, y, &options, grower, true)
    }

    fn fit_by<G: Grower>(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: &ForestOptions<'_>,
        grower: &G,
        also_ranked: bool,
    ) -> Result<Forest<G::Rule, G::Leaves>, EnsembleError> {
        self.check_inputs(x, y, options)?;
        self.check_bins_with(y, options)?;
        let unbinned;
        let params = if self.bins != Bins::Exact && have_extremes(y, options.weights).contains(&true) {
            unbinned = self.unbinned();
            &unbinned
        } else {
            self
        };
        let features = TrainingFeatures::new(params, x, options.categorical, also_ranked)?;
        let (trees, importances) = params.grow_trees(&features, x.n_cols(), y, options, grower)?;
        let (n, p, d) = (x.n_rows(), x.n_cols(), y.n_cols());
        Forest::from_parts(trees, importances, self.bag(n), n, p, d)
    }

    /// Grows the trees. The outputs must have been checked.
    pub(super) fn grow_trees<G: Grower>(
        &self,
        features: &TrainingFeatures<'_>,
        n_features: usize,
        y: MatrixView<'_>,
        options: &ForestOptions<'_>,
        grower: &G,
    ) -> Result<GrownTrees<G>, EnsembleError> {
        let training = Training::new(self, features, y, options)?;
        let grown = grow_each(self.indices()?, options.observers, |index| {
            training.tree(grower, index)
        })?;
        let mut importances = Importances::zero(n_features);
        let mut trees = Vec::with_capacity(grown.len());
        for (tree, part) in grown {
            importances.add(&part);
            trees.push(tree);
        }
        Ok((trees, importances))
    }

    /// Returns the parameters for outputs with extremes, beside which the fixed-point sums of bins lose the digits of the
    /// other values.
    pub(super) fn unbinned(&self) -> Self {
        Self {
            bins: Bins::Exact,
            ..self.clone()
        }
    }

    /// Refuses bins together with missing outputs, which trees of several outputs cannot leave out of their sums.
    fn check_bins_with(&self, y: MatrixView<'_>, options: &ForestOptions<'_>) -> Result<(), EnsembleError> {
        let has_missing = y.n_cols() > 1 && options.missing_outputs && y.has_missing();
        let projection = self.output_projection(options.projection.as_ref())?;
        if self.bins != Bins::Exact && has_missing && projection.is_none() {
            let reason = "cannot be combined with missing outputs, except in single-target forests or with a projection";
            return Err(ParameterError::conflict("bins", self.bins, reason).into());
        }
        Ok(())
    }

    /// Checks parameters and data.
    pub(super) fn check_inputs(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: &ForestOptions<'_>,
    ) -> Result<(), EnsembleError> {
        self.check_with(options.projection.as_ref())?;
        if options.missing_outputs {
            check_with_missing(x, y, options.weights)?;
        } else {
            check_complete(x, y, options.weights)?;
        }
        match self.criterion {
            CriterionKind::Variance => Ok(()),
            CriterionKind::Gini | CriterionKind::Entropy => check_binary(y, options.missing_outputs),
        }
    }
}
