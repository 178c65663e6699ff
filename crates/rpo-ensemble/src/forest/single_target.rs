//! Single-target forests: one forest per output.

use super::choices::LeafChoice;
use super::grow::TrainingFeatures;
use super::grower::AxisGrower;
use super::model::{Forest, ForestTree, Importances};
use super::options::SingleTargetOptions;
use super::params::ForestParams;
use super::targets::have_extremes;
use crate::bins::Bins;
use crate::error::EnsembleError;
use crate::inference::mean::{check_features, spans, zeros};
use crate::inference::traversal::TraversalScratch;
use crate::inputs::check_some_outputs;
use crate::projection::ProjectionChoice;
use crate::sampling::bag::{OutOfBag, OutOfBagPredictor};
use ndarray::{Array2, ArrayViewMut2, Axis};
use rayon::prelude::*;
use rpo_core::{
    Apply, CheckParams, CsrMatrix, DEFAULT_MEMORY_LIMIT, Domain, FeatureImportances, ForestLearner, Learner,
    Matrix, MatrixView, Merge, Mismatch, ParameterError, Predictor, Seed, TreeEnsemble, csr_of_rows, top_of,
};
use rpo_tree::LeafModel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::ops::Range;

/// One forest per output, each grown on that output alone: single-target forests, called binary relevance for labels
/// (st-rf and br-rf of Joly, Wehenkel, Geurts 2019; rf-cost of Daniels and Metaxas 2017). They are a common baseline.
/// They cost d times the work of one forest, and cannot exploit relations between outputs.
///
/// All trees are stored in one forest with a single output, the t trees of output 0 first; each leaf stores one number.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleTargetForest {
    pub(crate) forest: Forest,
    n_outputs: usize,
}

/// Parameters of the forest of each output.
///
/// ```
/// # use ndarray::array;
/// use rpo_ensemble::{ForestParams, ForestPreset, Learner, Predictor, SingleTargetParams};
/// # let x = array![[0.0], [1.0], [2.0], [3.0]];
/// # let y = array![[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]];
/// let params = SingleTargetParams(ForestParams { trees: 5, ..ForestPreset::ExtraTrees.into() });
/// let forests = params.fit((&x).into(), (&y).into())?;
/// assert_eq!(forests.predict((&x).into())?, y);
/// # Ok::<(), rpo_ensemble::EnsembleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SingleTargetParams(pub ForestParams);

impl ForestLearner for SingleTargetParams {
    fn tree_range(&self) -> (usize, usize) {
        self.0.tree_range()
    }

    fn tree_range_mut(&mut self) -> (&mut usize, &mut usize) {
        self.0.tree_range_mut()
    }
}

impl CheckParams for SingleTargetParams {
    type Error = EnsembleError;

    fn check(&self) -> Result<(), EnsembleError> {
        self.0.check()
    }
}

/// The forest of output j is the one that [`ForestParams`] grow on column j with the same seed and the same ranked
/// features. The t-th trees of all outputs have the same bag, so a sample is out of bag for all of them or for none. A
/// missing output (see [`SingleTargetOptions::missing_outputs`]) is left out of its forest; if an output is observed nowhere in
/// a bag, leaves predict its mean over all samples in which it is observed.
///
/// A projection, which a single output does not need, and leaves other than dense ones are refused with an
/// [`EnsembleError::Parameter`].
impl Learner for SingleTargetParams {
    type Model = SingleTargetForest;
    type Options<'a> = SingleTargetOptions<'a>;

    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: SingleTargetOptions<'_>,
    ) -> Result<SingleTargetForest, EnsembleError> {
        let params = &self.0;
        let reason = "cannot be combined with single-target trees";
        let conflict = |name, given: &dyn Display| Err(ParameterError::conflict(name, given, reason).into());
        if params.projection != ProjectionChoice::None {
            return conflict("projection", &params.projection);
        }
        match params.leaves {
            LeafChoice::Auto | LeafChoice::Dense => {}
            LeafChoice::Sparse => return conflict("leaves", &"sparse"),
            LeafChoice::Samples => return conflict("leaves", &"samples"),
        }
        let options = options.of_each();
        params.check_inputs(x, y, &options)?;
        let of_one = ForestParams {
            leaves: LeafChoice::Dense,
            ..params.clone()
        };
        let features_of =
            |params: &ForestParams| TrainingFeatures::new(params, x, options.categorical, false);
        let features = features_of(&of_one)?;
        // Outputs with extremes grow on exact thresholds, as in a forest of their own.
        let unbinned = of_one.unbinned();
        let extremes = match of_one.bins {
            Bins::Exact => vec![false; y.n_cols()],
            Bins::Auto | Bins::AtMost(_) => have_extremes(y, options.weights),
        };
        let ranked = extremes
            .contains(&true)
            .then(|| features_of(&unbinned))
            .transpose()?;
        let column = columns(y);
        let forests: Vec<(Vec<ForestTree>, Importances)> = (0..y.n_cols())
            .into_par_iter()
            .map(|j| {
                let (params, features) = match &ranked {
                    Some(ranked) if extremes[j] => (&unbinned, ranked),
                    _ => (&of_one, &features),
                };
                params.grow_trees(features, x.n_cols(), column(j).view(), &options, &AxisGrower)
            })
            .collect::<Result<_, _>>()?;
        let mut importances = Importances::zero(x.n_cols());
        let mut trees = Vec::with_capacity(y.n_cols() * params.trees);
        for (of_output, part) in forests {
            trees.extend(of_output);
            importances.add(&part);
        }
        let (n, p) = (x.n_rows(), x.n_cols());
        let forest = Forest::from_parts(trees, importances, params.bag(n), n, p, 1)?;
        SingleTargetForest::from_forest(forest, y.n_cols())
    }
}

/// Returns a function that copies one column of the outputs.
pub(super) fn columns(y: MatrixView<'_>) -> impl Fn(usize) -> Matrix + Sync {
    let by_output = match y {
        MatrixView::Dense(_) => None,
        MatrixView::Sparse(y) => Some(y.transpose_view().to_csr()),
    };
    move |j: usize| match (y, &by_output) {
        (MatrixView::Dense(y), _) => Matrix::Dense(y.column(j).insert_axis(Axis(1)).to_owned()),
        (MatrixView::Sparse(_), Some(by_output)) => {
            Matrix::from(by_output.slice_outer(j..j + 1).transpose_view().to_csr())
        }
        (MatrixView::Sparse(_), None) => unreachable!("transposed above"),
    }
}

impl SingleTargetForest {
    /// Creates the forests from one forest that holds the trees of all outputs, the same number for each output, those
    /// of output 0 first.
    ///
    /// # Errors
    /// [`EnsembleError::NoOutputs`]; [`EnsembleError::Mismatch`] if the trees do not have exactly one output, or outputs
    /// do not have the same number of trees.
    pub(crate) fn from_forest(forest: Forest, n_outputs: usize) -> Result<Self, EnsembleError> {
        check_some_outputs(n_outputs)?;
        Mismatch::check("outputs of a tree of a single target", 1, forest.n_outputs())?;
        let n_trees = forest.trees().len();
        let per_output = (n_trees / n_outputs).max(1);
        Mismatch::check("trees of single targets", per_output * n_outputs, n_trees)?;
        Ok(Self { forest, n_outputs })
    }

    /// Returns the number of trees of each output.
    pub(crate) fn trees_per_output(&self) -> usize {
        self.forest.trees().len() / self.n_outputs
    }

    /// Writes, for every row, the mean of the admitted trees of each output, or NaN if no tree is admitted.
    fn predict_rows(
        &self,
        x: MatrixView<'_>,
        out: &mut Array2<f32>,
        admit: impl Fn(usize, usize) -> bool + Sync,
    ) {
        let (_, block) = spans(&self.forest, x);
        let blocks = out
            .axis_chunks_iter_mut(Axis(0), block)
            .into_par_iter()
            .enumerate();
        blocks.for_each(|(i, out)| {
            let start = i * block;
            self.predict_block(x, start..start + out.nrows(), out, &admit);
        });
    }

    /// Writes the predictions of a few rows. `admit` takes the index of a tree among those of an output, and a row.
    fn predict_block(
        &self,
        x: MatrixView<'_>,
        range: Range<usize>,
        mut out: ArrayViewMut2<'_, f32>,
        admit: &impl Fn(usize, usize) -> bool,
    ) {
        let (n_rows, per_output) = (range.len(), self.trees_per_output());
        let mut scratch = TraversalScratch::new(x);
        scratch.load(self.forest.traversal(), range.clone());
        let counts: Vec<f64> = range
            .clone()
            .map(|row| (0..per_output).filter(|&tree| admit(tree, row)).count() as f64)
            .collect();
        let (mut leaves, mut sums) = (vec![0; n_rows * per_output], vec![0.0; n_rows]);
        for (j, mut out) in out.columns_mut().into_iter().enumerate() {
            let trees = j * per_output..(j + 1) * per_output;
            self.forest.write_leaves(&scratch, trees.clone(), &mut leaves);
            sums.fill(0.0);
            for (tree, leaves) in leaves.chunks(n_rows).enumerate() {
                let answers = self.forest.trees()[trees.start + tree].tree.leaves();
                for ((row, sum), &leaf) in range.clone().zip(&mut sums).zip(leaves) {
                    if admit(tree, row) {
                        answers.for_each(leaf, |_, value| *sum += value);
                    }
                }
            }
            for ((out, sum), count) in out.iter_mut().zip(&sums).zip(&counts) {
                *out = (sum / count) as f32;
            }
        }
    }
}

/// The trees of output 0 come first; all outputs have the same number of trees.
impl TreeEnsemble for SingleTargetForest {
    type Tree = ForestTree;

    fn trees(&self) -> &[ForestTree] {
        self.forest.trees()
    }
}

/// Means over the trees of all outputs.
impl FeatureImportances for SingleTargetForest {
    fn importances(&self) -> Vec<(u32, f64)> {
        self.forest.importances()
    }
}

/// Columns are the trees of output 0, then those of output 1, and so on.
impl Apply for SingleTargetForest {
    fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, EnsembleError> {
        self.forest.apply(x)
    }
}

/// The merged model has, output by output, the trees of both models in order.
impl Merge for SingleTargetForest {
    fn seeds(&self) -> Vec<Seed> {
        self.forest.seeds()
    }

    fn merge(self, other: Self) -> Result<Self, EnsembleError> {
        let n_outputs = self.n_outputs;
        Mismatch::check("outputs of the other forests", n_outputs, other.n_outputs)?;
        let forest = self.forest.merge_groups(other.forest, n_outputs)?;
        Ok(Self { forest, n_outputs })
    }
}

/// The returned numbers of trees are per output.
impl OutOfBagPredictor for SingleTargetForest {
    fn oob_predictions(&self, x: MatrixView<'_>) -> Result<(Array2<f32>, Vec<u32>), EnsembleError> {
        check_features(x, self.n_features())?;
        let of_one_output = &self.forest.trees()[..self.trees_per_output()];
        let seeds = of_one_output.iter().map(|t| t.seed);
        let out_of_bag = OutOfBag::new(self.forest.bag(), seeds, self.n_train(), x.n_rows())?;
        let mut out = zeros(x.n_rows(), self.n_outputs, DEFAULT_MEMORY_LIMIT)?;
        self.predict_rows(x, &mut out, |tree, row| out_of_bag.admits(tree, row));
        Ok((out, out_of_bag.counts))
    }
}

/// Predictions of an output are means over its trees. The largest predictions are found in blocks of a few samples.
impl Predictor for SingleTargetForest {
    type Error = EnsembleError;

    fn n_features(&self) -> usize {
        self.forest.n_features()
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_train(&self) -> usize {
        self.forest.n_train()
    }

    fn predict_with_limit(
        &self,
        x: MatrixView<'_>,
        memory_limit: usize,
    ) -> Result<Array2<f32>, EnsembleError> {
        check_features(x, self.n_features())?;
        let mut out = zeros(x.n_rows(), self.n_outputs, memory_limit)?;
        self.predict_rows(x, &mut out, |_, _| true);
        Ok(out)
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
        check_features(x, self.n_features())?;
        Domain::Count.check("k", k)?;
        let (n, (_, block)) = (x.n_rows(), spans(&self.forest, x));
        let blocks: Vec<Vec<Vec<(u32, f32)>>> = (0..n.div_ceil(block))
            .into_par_iter()
            .map(|i| {
                let rows = i * block..((i + 1) * block).min(n);
                let mut predictions = Array2::zeros((rows.len(), self.n_outputs));
                self.predict_block(x, rows, predictions.view_mut(), &|_, _| true);
                predictions.rows().into_iter().map(|row| top_of(row, k)).collect()
            })
            .collect();
        Ok(csr_of_rows(blocks.iter().flatten(), (n, self.n_outputs)))
    }
}
