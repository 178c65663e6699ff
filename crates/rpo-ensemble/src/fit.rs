//! Fitting a forest.

use crate::EnsembleError;
use crate::forest::{Forest, ForestTree, Importances};
use crate::inputs::check_inputs;
use crate::params::ValidForestParams;
use crate::training::{Coded, Training};
use rayon::prelude::*;
use rpo_core::MatrixView;

/// What a fit may be given beside features and outputs. Default neither.
#[derive(Clone, Copy, Default)]
pub struct FitOptions<'a> {
    /// One weight per row, finite and not negative; `None` means 1. A bootstrap draws rows whatever their
    /// weight and multiplies its counts by it.
    pub weights: Option<&'a [f32]>,
    /// Called whenever a tree is finished, from any thread.
    pub on_tree: Option<&'a (dyn Fn() + Sync)>,
    /// Whether outputs may be missing: NaN, in CSR a stored NaN, as what is not stored is a known 0. Otherwise, the
    /// default, they are refused: NaN by mistake would change silently what is learnt.
    ///
    /// A missing output takes no part in its row: splits are scored by, and leaves answer with, the rows that know
    /// an output ([`MaskedVariance`](rpo_tree::criterion::MaskedVariance),
    /// [`Leaves::label_known`](rpo_tree::Leaves::label_known)). With a projection z = Φy, which needs every entry,
    /// trees grow on z with missing outputs at their mean over the rows that know them: if outputs are missing at
    /// random that leaves the mean of z as it would be, and as a constant has no variance to be explained, a
    /// missing entry pulls a split to no side; leaves are labelled with what is known. Leaves then keep means:
    /// they cannot refer to training rows.
    pub missing_outputs: bool,
}

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
        let coded = Coded::new(&self.0, x)?;
        let (trees, importances) = self.fit_on(&coded, y, options)?;
        let (n, p, d) = (x.n_rows(), x.n_cols(), y.n_cols());
        Forest::from_parts(trees, importances, self.0.rows.resolve(n), n, p, d)
    }

    /// Fits to coded features, and outputs that were checked.
    pub(crate) fn fit_on(
        &self,
        coded: &Coded,
        y: MatrixView<'_>,
        options: FitOptions<'_>,
    ) -> Result<(Vec<ForestTree>, Importances), EnsembleError> {
        let params = &self.0;
        let training = Training::new(params, coded, y, options)?;
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
        let mut importances = Importances::zero(coded.columns().n_features());
        let mut trees = Vec::with_capacity(grown.len());
        for (tree, part) in grown {
            importances.add(&part);
            trees.push(tree);
        }
        Ok((trees, importances))
    }
}
