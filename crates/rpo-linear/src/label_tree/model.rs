//! Fitted label trees.

use ndarray::Array2;
use rpo_core::{CsrMatrix, Domain, MatrixView, Merge, Predictor, Seed, TreeEnsemble, check_dense, csr_row};

use super::structure::Structure;
use crate::checks::check_features;
use crate::dual::SparseWeights;
use crate::linear::Calibration;
use crate::{LinearError, RowNorm};

/// A tree of linear classifiers over the labels.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelTree {
    /// Number of nodes.
    pub n_nodes: usize,
    /// Number of leaves.
    pub n_leaves: usize,
    /// Depth of the deepest leaf; the root has depth 0.
    pub depth: usize,
    /// Number of weights that were kept.
    pub n_weights: usize,
    pub(super) structure: Structure,
    /// The classifiers of each node.
    pub(super) weights: Vec<SparseWeights>,
    pub(super) seed: Seed,
}

impl LabelTree {
    pub(super) fn new(structure: Structure, weights: Vec<SparseWeights>, seed: Seed) -> Self {
        Self {
            n_nodes: structure.nodes.len(),
            n_leaves: structure.n_leaves(),
            depth: structure.levels().count() - 1,
            n_weights: weights.iter().map(|weights| weights.values.len()).sum(),
            structure,
            weights,
            seed,
        }
    }
}

/// Trees of linear classifiers over the labels. The score of a label is the mean of its probabilities. Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelForest {
    /// The cost C of a label with the mean number of samples, given or found; `None` in files of versions that did not
    /// store it.
    pub cost: Option<f64>,
    pub(super) trees: Vec<LabelTree>,
    /// From the scores of classifiers to log-odds.
    pub(super) calibration: Calibration,
    pub(super) normalize: RowNorm,
    pub(super) beam: usize,
    n_train: usize,
    n_features: usize,
    n_outputs: usize,
}

impl LabelForest {
    /// Combines trees; the shape is that of the training set: samples, features, labels.
    pub(super) fn new(
        trees: Vec<LabelTree>,
        calibration: Calibration,
        normalize: RowNorm,
        beam: usize,
        cost: Option<f64>,
        (n_train, n_features, n_outputs): (usize, usize, usize),
    ) -> Self {
        Self {
            trees,
            calibration,
            normalize,
            beam,
            cost,
            n_train,
            n_features,
            n_outputs,
        }
    }

    /// Returns the forest with another number of nodes that a prediction follows at each depth.
    ///
    /// # Errors
    /// [`LinearError::Parameter`] for no node.
    pub fn with_beam(self, beam: usize) -> Result<Self, LinearError> {
        Domain::Count.check("beam", beam)?;
        Ok(Self { beam, ..self })
    }
}

impl TreeEnsemble for LabelForest {
    type Tree = LabelTree;

    fn trees(&self) -> &[LabelTree] {
        &self.trees
    }
}

impl Merge for LabelForest {
    fn seeds(&self) -> Vec<Seed> {
        self.trees.iter().map(|tree| tree.seed).collect()
    }

    /// [`LinearError::Mismatch`] or [`LinearError::Merge`] unless the shapes of the data, the probabilities of scores, the
    /// cost, the scaling and the beam are the same.
    fn merge(mut self, other: Self) -> Result<Self, LinearError> {
        self.check_shape(&other)?;
        let options = |model: &Self| (model.calibration, model.normalize, model.beam, model.cost);
        if options(&self) != options(&other) {
            let why = "they differ in their probabilities of scores, their cost, their scaling of samples or their beam";
            return Err(LinearError::Merge(why));
        }
        self.trees.extend(other.trees);
        Ok(self)
    }
}

/// Predictions are the scores, in [0, 1]; 0 for labels that the search does not reach. Features that are not finite are
/// errors ([`LinearError::Features`]).
impl Predictor for LabelForest {
    type Error = LinearError;

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_train(&self) -> usize {
        self.n_train
    }

    fn predict_with_limit(&self, x: MatrixView<'_>, limit: usize) -> Result<Array2<f32>, LinearError> {
        let shape = (x.n_rows(), self.n_outputs);
        check_dense(shape.0, shape.1, size_of::<f32>(), limit).map_err(LinearError::Predictions)?;
        let scores = self.predict_top_k(x, self.n_outputs)?;
        let mut out = Array2::zeros(shape);
        for (row, mut out) in out.rows_mut().into_iter().enumerate() {
            let (labels, scores) = csr_row(&scores.view(), row);
            labels
                .iter()
                .zip(scores)
                .for_each(|(&l, &score)| out[l as usize] = score);
        }
        Ok(out)
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, LinearError> {
        check_features(self.n_features, x)?;
        Domain::Count.check("k", k)?;
        Ok(self.search(x, k))
    }
}
