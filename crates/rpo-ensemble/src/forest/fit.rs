//! Fitting a forest.

use super::grow::{Training, TrainingFeatures};
use super::model::{Forest, ForestTree, Importances};
use super::options::FitOptions;
use super::params::{CriterionKind, ForestParams, ValidForestParams};
use crate::error::EnsembleError;
use crate::inputs::{check, check_binary, check_partial};
use rayon::prelude::*;
use rpo_core::MatrixView;

impl ValidForestParams {
    /// Fits a forest to features `x` (n x p, NaN for missing) and outputs `y` (n x d).
    ///
    /// Trees grow in parallel on the current rayon pool; the result does not depend on its size. Tree j draws its
    /// bootstrap, its projection and its features from streams of their own, keyed by the seed and j. In-bag rows
    /// with their multiplicities grow the tree and label its leaves.
    ///
    /// Memory beside the forest: the coded features, the outputs, and per thread what one tree needs, m values
    /// per row with a projection. Nothing of n x d is made from sparse outputs.
    ///
    /// # Errors
    /// [`EnsembleError`] for shapes that do not fit, values that are not finite, or parameters that the data
    /// make impossible (more components than a projection allows).
    pub fn fit(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<Forest, EnsembleError> {
        self.fit_with(x, y, FitOptions::default())
    }

    /// [`fit`](Self::fit) with weights or an observer.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and for weights that are not finite, negative, or all zero, or zero for all that
    /// a bootstrap draws ([`EnsembleError::EmptyBag`]), and for leaves that refer to training rows where outputs are
    /// missing.
    pub fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: FitOptions<'_>,
    ) -> Result<Forest, EnsembleError> {
        check_inputs(&self.0, x, y, options)?;
        let features = TrainingFeatures::new(&self.0, x)?;
        let (trees, importances) = self.fit_on(&features, y, options)?;
        let (n, p, d) = (x.n_rows(), x.n_cols(), y.n_cols());
        Forest::from_parts(trees, importances, self.0.rows.resolve(n), n, p, d)
    }

    /// Fits to coded features, and outputs that were checked.
    pub(crate) fn fit_on(
        &self,
        features: &TrainingFeatures,
        y: MatrixView<'_>,
        options: FitOptions<'_>,
    ) -> Result<(Vec<ForestTree>, Importances), EnsembleError> {
        let params = &self.0;
        let training = Training::new(params, features, y, options)?;
        let grown: Vec<(ForestTree, Importances)> = params
            .indices()
            .into_par_iter()
            .map(|index| {
                let tree = training.tree(index);
                if let Some(on_tree) = options.on_tree {
                    on_tree();
                }
                tree
            })
            .collect::<Result<_, EnsembleError>>()?;
        let mut importances = Importances::zero(features.columns().n_features());
        let mut trees = Vec::with_capacity(grown.len());
        for (tree, part) in grown {
            importances.add(&part);
            trees.push(tree);
        }
        Ok((trees, importances))
    }
}

/// Checks what a forest is fitted to.
pub(super) fn check_inputs(
    params: &ForestParams,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    options: FitOptions<'_>,
) -> Result<(), EnsembleError> {
    if options.missing_outputs {
        check_partial(x, y, options.weights)?;
    } else {
        check(x, y, options.weights)?;
    }
    match params.criterion {
        CriterionKind::Variance => Ok(()),
        CriterionKind::Gini | CriterionKind::Entropy => check_binary(y, options.missing_outputs),
    }
}
