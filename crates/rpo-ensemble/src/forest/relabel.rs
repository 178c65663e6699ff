//! New labels for a grown forest.

use super::choices::LeafChoice;
use super::grow::leaf_kind;
use super::model::{Forest, ForestTree};
use super::single_target::{SingleTargetForest, columns};
use super::weights::GivenWeights;
use crate::error::EnsembleError;
use crate::inference::mean::check_features;
use crate::inputs::{check_complete, check_with_missing};
use crate::missing;
use crate::sampling::bag::Bag;
use rayon::prelude::*;
use rpo_core::{Matrix, MatrixView, Mismatch, ParameterError, Predictor, TreeEnsemble};
use rpo_tree::{LeafBuilder, LeafKind, LeafModel, Leaves, Rule, Tree};
use std::sync::Arc;

/// The largest mean number of samples of the leaves that refer to their samples.
const FEW: usize = 8;

/// The samples from which the leaves of a grown forest get new values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LeafSamples {
    /// Any samples; all of them reach every tree. Leaves that none reaches are
    /// [removed](rpo_tree::Structure::occupied). If the forest did not grow on these samples, its trees are honest: the
    /// values of leaves do not depend on the samples that chose the splits (Wager and Athey 2018).
    #[default]
    Any,
    /// The samples of the training, in their order, with other outputs. The leaves of a tree get their values from the
    /// samples in its bag, so that the predictions of the other samples are out of bag as before. With the outputs and
    /// weights of the training, the forest is the same, up to the storage of leaves. Others, or the same in another order,
    /// are noticed only by their number, or by a leaf that none reaches.
    Training,
}

/// How [`Forest::relabel`] makes leaves.
#[derive(Debug, Clone, Default)]
pub struct RelabelOptions<'a> {
    /// The samples.
    pub samples: LeafSamples,
    /// One weight per sample, finite and not negative; `None` means 1.
    pub weights: Option<&'a [f32]>,
    /// The outputs are those of the forest, in their order, perhaps corrected: the trees of a
    /// [`StructuredForest`](crate::structured::StructuredForest) keep their weights. By default every tree predicts all
    /// outputs alike, as the trees of other forests always do; those of single targets have
    /// [`relabel_each`](crate::SingleTargetForest::relabel_each) for the same outputs.
    pub same_outputs: bool,
    /// Allows missing outputs, as [`ForestOptions::missing_outputs`](crate::ForestOptions::missing_outputs).
    pub missing_outputs: bool,
    /// The storage of leaves. By default they refer to their samples if they have at most 8 on average, or if those of the
    /// forest refer to the same samples, and outputs are not missing or very sparse.
    pub leaves: LeafChoice,
}

impl<R: Rule, L: LeafModel> Forest<R, L> {
    /// Returns the forest with the same splits and new leaves: means of other outputs `y` (n x d), made from samples `x`
    /// (n x p) that are sent through its trees. The number of outputs is that of `y`.
    ///
    /// The structures of trees do not depend on what leaves predict, so that outputs can be added to a forest, or
    /// corrected, in the time of a prediction. How good they are depends on how far they are related to the outputs that
    /// the trees grew on. Importances of features remain those of the growth.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use rpo_ensemble::{ForestParams, LeafSamples, Learner, Predictor, RelabelOptions};
    ///
    /// let x = Array2::from_shape_fn((60, 2), |(i, j)| ((i * (3 + 4 * j)) % 60) as f32);
    /// let y = x.map(|v| f32::from(u8::from(*v > 20.0)));
    /// let forest = ForestParams { trees: 10, ..ForestParams::default() }.fit((&x).into(), (&y).into())?;
    /// let options = RelabelOptions { samples: LeafSamples::Training, ..RelabelOptions::default() };
    /// assert_eq!(forest.relabel((&x).into(), (&y).into(), &options)?, forest);
    /// let opposite = y.map(|v| 1.0 - v);
    /// let opposite = forest.relabel((&x).into(), (&opposite).into(), &options)?;
    /// let both = forest.predict((&x).into())? + opposite.predict((&x).into())?;
    /// assert!(both.iter().all(|sum| (sum - 1.0).abs() < 1e-6));
    /// # Ok::<(), rpo_ensemble::EnsembleError>(())
    /// ```
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features, or with [`LeafSamples::Training`] of samples;
    /// [`EnsembleError::NotTrainingSamples`] if a leaf receives none of them; outputs and weights as for a
    /// [fit](crate::ForestParams), and [`EnsembleError::EmptyBag`] if a tree has only samples of weight 0.
    pub fn relabel(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: &RelabelOptions<'_>,
    ) -> Result<Forest<R>, EnsembleError> {
        check_inputs(self.n_features, x, y, options)?;
        let labelling = Labelling::new(self, x, y, options)?;
        let trees = labelling.trees(self.trees(), 0)?;
        let importances = self.importance_sums().clone();
        let (n, p, d) = (x.n_rows(), self.n_features, y.n_cols());
        Forest::from_parts(trees, importances, labelling.bag, n, p, d)
    }
}

impl SingleTargetForest {
    /// Returns the trees of all outputs as one forest, of which each tree predicts all new outputs; see
    /// [`Forest::relabel`]. [`relabel_each`](Self::relabel_each) is for the [same](RelabelOptions::same_outputs) outputs.
    ///
    /// # Errors
    /// As for [`Forest::relabel`]; [`EnsembleError::Parameter`] if outputs are said to be the same.
    pub fn relabel(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: &RelabelOptions<'_>,
    ) -> Result<Forest, EnsembleError> {
        if options.same_outputs {
            let reason = "is for `relabel_each`, by which the trees of an output keep to it";
            return Err(ParameterError::conflict("same_outputs", true, reason).into());
        }
        self.forest.relabel(x, y, options)
    }

    /// Returns the forests with new values of the same outputs: the trees of an output predict that output. By default
    /// leaves are dense, as those of a fit.
    ///
    /// # Errors
    /// As for [`Forest::relabel`]; [`EnsembleError::Mismatch`] for another number of outputs.
    pub fn relabel_each(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: &RelabelOptions<'_>,
    ) -> Result<Self, EnsembleError> {
        let (n, p, d) = (x.n_rows(), self.forest.n_features, self.n_outputs());
        Mismatch::check("outputs", d, y.n_cols())?;
        check_inputs(p, x, y, options)?;
        let leaves = match options.leaves {
            LeafChoice::Auto => LeafChoice::Dense,
            given => given,
        };
        let options = RelabelOptions {
            leaves,
            ..options.clone()
        };
        let (column, per_output) = (columns(y), self.trees_per_output());
        let relabel = |(j, trees): (usize, &[ForestTree])| {
            let labelling = Labelling::new(&self.forest, x, column(j).view(), &options)?;
            labelling.trees(trees, j * per_output)
        };
        let parts = self.trees().par_chunks(per_output).enumerate().map(relabel);
        let parts: Vec<Vec<ForestTree>> = parts.collect::<Result<_, _>>()?;
        let bag = bag_of(&self.forest, options.samples);
        let importances = self.forest.importance_sums().clone();
        let forest = Forest::from_parts(parts.into_iter().flatten().collect(), importances, bag, n, p, 1)?;
        Self::from_forest(forest, d)
    }
}

fn check_inputs(
    n_features: usize,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    options: &RelabelOptions<'_>,
) -> Result<(), EnsembleError> {
    check_features(x, n_features)?;
    match options.missing_outputs {
        true => check_with_missing(x, y, options.weights),
        false => check_complete(x, y, options.weights),
    }
}

/// The samples from which each tree gets its values.
fn bag_of<R: Rule, L: LeafModel>(forest: &Forest<R, L>, samples: LeafSamples) -> Bag {
    match samples {
        LeafSamples::Any => Bag::All,
        LeafSamples::Training => forest.bag(),
    }
}

/// The data shared by all trees.
struct Labelling<'a, 'x> {
    x: MatrixView<'x>,
    outputs: Arc<Matrix>,
    given: GivenWeights<'a>,
    bag: Bag,
    samples: LeafSamples,
    kind: LeafKind,
    /// The mean of each output over the samples in which it is observed, if outputs are missing.
    observed_means: Option<Vec<f32>>,
}

impl<'a, 'x> Labelling<'a, 'x> {
    fn new<R: Rule, L: LeafModel>(
        forest: &Forest<R, L>,
        x: MatrixView<'x>,
        y: MatrixView<'_>,
        options: &RelabelOptions<'a>,
    ) -> Result<Self, EnsembleError> {
        let n = x.n_rows();
        if options.samples == LeafSamples::Training {
            Mismatch::check("training samples", forest.n_train, n)?;
        }
        let has_missing = options.missing_outputs && y.has_missing();
        let are_small = || {
            let trees = forest.trees();
            let n_leaves: usize = trees.iter().map(|t| t.tree.structure().n_leaves()).sum();
            // Leaves that refer to their samples were small when the trees grew on the same samples.
            let refer = options.samples == LeafSamples::Training && forest.training_outputs().is_some();
            refer || n * trees.len() <= FEW * n_leaves
        };
        Ok(Self {
            x,
            outputs: Arc::new(y.to_owned()),
            given: GivenWeights::new(options.weights),
            bag: bag_of(forest, options.samples),
            samples: options.samples,
            kind: leaf_kind(
                options.leaves,
                y,
                has_missing,
                options.leaves == LeafChoice::Auto && are_small(),
            )?,
            observed_means: has_missing.then(|| missing::observed_means(y, options.weights)),
        })
    }

    /// Labels trees, of which the first has the given index.
    fn trees<R: Rule, L: LeafModel>(
        &self,
        trees: &[ForestTree<R, L>],
        first: usize,
    ) -> Result<Vec<ForestTree<R>>, EnsembleError> {
        let trees = trees.par_iter().enumerate();
        trees
            .map(|(index, tree)| self.tree(first + index, tree))
            .collect()
    }

    fn tree<R: Rule>(
        &self,
        index: usize,
        old: &ForestTree<R, impl LeafModel>,
    ) -> Result<ForestTree<R>, EnsembleError> {
        let (seed, grown) = (old.seed, old.tree.structure());
        let weights = self.given.in_bag(self.bag, seed, self.x.n_rows());
        if weights.iter().all(|w| *w == 0.0) {
            return Err(EnsembleError::EmptyBag { tree: index });
        }
        let (structure, members) = grown.occupied(self.x.reborrow(), &weights)?;
        if self.samples == LeafSamples::Training && structure.n_leaves() < grown.n_leaves() {
            return Err(EnsembleError::NotTrainingSamples { tree: index });
        }
        let leaves = match &self.observed_means {
            None => self.kind.build(&members, &weights, &self.outputs),
            Some(means) => {
                Leaves::label_observed(self.kind, &structure, &members, &weights, &self.outputs, means)
            }
        }?;
        let tree = Tree::new(structure, leaves)?;
        Ok(ForestTree { tree, seed })
    }
}
