//! The interface of a fitted predictor, whatever its method.

mod classes;
mod rerank;

pub(crate) use rerank::BY_PROPENSITY;

use crate::blocks::best_by_blocks;
use crate::{ModelError, TreeSize};
use ndarray::Array2;
use rpo_core::store::Store;
use rpo_core::{Contributions, CsrMatrix, Domain, Matrix, MatrixView, best_first, best_of, csr_of_rows};
use rpo_ensemble::RelabelOptions;
use serde_json::Value;
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A fitted, immutable predictor: the part of a [`Model`](crate::Model) that depends on the method.
///
/// Implement it for a custom method, together with [`Restore`](rpo_core::store::Restore), which loads what its
/// [`Store`] implementation wrote, and register both with the method
/// ([`MethodEntry::model`](crate::MethodEntry::model)).
pub trait Predict: Store + fmt::Debug + Any + Send + Sync {
    /// The name of the kind of model, as stored in model files.
    fn kind(&self) -> &'static str;

    /// Number of features p.
    fn n_features(&self) -> usize;

    /// Number of outputs d.
    fn n_outputs(&self) -> usize;

    /// Number of training samples n.
    fn n_train(&self) -> usize;

    /// Predicts the outputs (samples x d), in at most `memory_limit` bytes. The natural threshold of labels is 0.5.
    ///
    /// # Errors
    /// A different number of features, features that the method does not support, and results above the limit.
    fn predict_with_limit(&self, x: MatrixView<'_>, memory_limit: usize) -> Result<Array2<f32>, ModelError>;

    /// The k largest predictions of each sample, as CSR (samples x d). Default: selected from all predictions of some
    /// samples at a time, without zeros unless one is negative.
    ///
    /// # Errors
    /// As [`predict_with_limit`](Self::predict_with_limit), and k = 0.
    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, ModelError> {
        let predict = |x: MatrixView<'_>| self.predict_with_limit(x, usize::MAX);
        top_by_blocks(x, k, self.n_outputs(), predict)
    }

    /// Groups of labels whose predictions are probabilities, such that every sample has exactly one label of a group.
    /// Default: none.
    fn groups(&self) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// Outputs whose predictions are probabilities of labels, by the loss of each output. Default: none.
    fn probabilities(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Outputs that cannot be negative, as their predictions are exponentials by the loss of each output. Default: none.
    fn not_negative(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Predicts each training sample with the parts of the model that did not see it, and counts these parts. Predictions
    /// of samples that every part saw are not used. Default: none.
    ///
    /// # Errors
    /// Another number of samples than in the training set.
    fn oob_predictions(&self, x: MatrixView<'_>) -> Result<Option<OobPredictions>, ModelError> {
        let _ = x;
        Ok(None)
    }

    /// The leaf that each sample reaches in each tree (n x trees). Default: none.
    ///
    /// # Errors
    /// As [`predict_with_limit`](Self::predict_with_limit).
    fn apply(&self, x: MatrixView<'_>) -> Result<Option<Array2<u32>>, ModelError> {
        let _ = x;
        Ok(None)
    }

    /// What each feature contributes to some scores of each sample, relative to background samples; see
    /// [`Explain`](rpo_core::Explain). Default: none.
    ///
    /// # Errors
    /// As [`predict_with_limit`](Self::predict_with_limit), for both sets of samples; an output that does not exist, and
    /// no background sample.
    fn contributions(
        &self,
        x: MatrixView<'_>,
        outputs: &[&[u32]],
        background: MatrixView<'_>,
    ) -> Result<Option<Contributions>, ModelError> {
        let _ = (x, outputs, background);
        Ok(None)
    }

    /// The same trees with new leaves, made from other outputs; see [`Forest::relabel`](rpo_ensemble::Forest::relabel).
    /// Default: none.
    ///
    /// # Errors
    /// Those of [`Forest::relabel`](rpo_ensemble::Forest::relabel).
    fn relabel(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: &RelabelOptions<'_>,
    ) -> Result<Option<Arc<dyn Predict>>, ModelError> {
        let _ = (x, y, options);
        Ok(None)
    }

    /// The predictions for samples (n x d) after each step of an additive method such as boosting; the last are those
    /// of the whole predictor. Default: none.
    ///
    /// # Errors
    /// As [`predict_with_limit`](Self::predict_with_limit).
    fn stages(self: Arc<Self>, x: Matrix) -> Result<Option<Stages>, ModelError> {
        let _ = x;
        Ok(None)
    }

    /// Merges this predictor with another, for forests grown in parts. Trees are moved unless they are shared. Default:
    /// an error.
    ///
    /// # Errors
    /// Predictors that cannot be merged.
    fn merge(self: Arc<Self>, other: Arc<dyn Predict>) -> Result<Arc<dyn Predict>, ModelError> {
        let _ = other;
        Err(ModelError::Merge("only forests of one method can be merged"))
    }

    /// The sizes of the trees, in their order; empty if there are none.
    fn tree_sizes(&self) -> Vec<TreeSize> {
        Vec::new()
    }

    /// Features with positive importance, most important first; the importances sum to 1. Empty if the method has none.
    fn importances(&self) -> Vec<(u32, f64)> {
        Vec::new()
    }

    /// Further entries of a report on the model, by name.
    fn summary(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Returns true if another predictor is of the same kind and equal.
    fn equals(&self, other: &dyn Predict) -> bool;
}

impl dyn Predict {
    /// Returns the predictor as type `P` if it is of that type.
    pub fn downcast_ref<P: Predict>(&self) -> Option<&P> {
        (self as &dyn Any).downcast_ref()
    }
}

impl PartialEq for dyn Predict {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

/// Selects the k largest predictions of each sample ([`best_of`]) from all predictions of some samples at a time.
pub(crate) fn top_by_blocks(
    x: MatrixView<'_>,
    k: usize,
    n_outputs: usize,
    predict: impl Fn(MatrixView<'_>) -> Result<Array2<f32>, ModelError>,
) -> Result<CsrMatrix, ModelError> {
    Domain::Count.check("k", k)?;
    let best = best_by_blocks(x, n_outputs, predict, |_, scores| Ok(best_of(scores, k)))?;
    Ok(csr_of_rows(best.iter(), (x.n_rows(), n_outputs)))
}

/// Out-of-bag predictions for the training samples (n x d), and for each sample the number of trees that made them.
pub type OobPredictions = (Array2<f32>, Vec<u32>);

/// Predictions (n x d) after each step, computed as they are consumed.
pub type Stages = Box<dyn Iterator<Item = Result<Array2<f32>, ModelError>> + Send>;

/// Sorts features by importance, most important first; ties are in order of the features.
pub(crate) fn ranked(mut ranked: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    ranked.sort_unstable_by(best_first);
    ranked
}
