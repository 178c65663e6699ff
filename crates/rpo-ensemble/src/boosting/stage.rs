//! Staged predictions: each stage adds the trees of one step to the scores of the previous stage.

use super::model::Boosted;
use super::predict::check_row;
use super::routing::apply;
use crate::error::EnsembleError;
use crate::inference::mean::zeros;
use ndarray::Array2;
use rpo_core::{DEFAULT_MEMORY_LIMIT, Matrix, Predictor, TreeEnsemble, check_dense};
use std::borrow::Borrow;

/// Iterator over the predictions (n x d) for samples after the first step of a model, after its second, and so on.
///
/// All stages together cost as much as one prediction by the whole model, plus d conversions of scores per step and
/// sample. The predictions after m steps are those of the model [truncated](Boosted::truncate) at m, bit for bit.
///
/// ```
/// use ndarray::Array2;
/// use rpo_ensemble::{Learner, Matrix, Predictor};
/// use rpo_ensemble::boosting::{Algorithm, BoostingParams, Stages};
///
/// let x = Array2::from_shape_fn((50, 2), |(i, j)| ((i * (3 + j)) % 17) as f32);
/// let y = Array2::from_shape_fn((50, 3), |(i, j)| x[[i, 0]] * (j + 1) as f32);
/// let x = Matrix::from(x);
/// let model = BoostingParams { iterations: 5, ..BoostingParams::from(Algorithm::Gbmort) }.fit(x.view(), (&y).into())?;
/// for (step, predictions) in (1..).zip(Stages::new(&model, &x)?) {
///     assert_eq!(predictions?, model.clone().truncate(step).predict(x.view())?);
/// }
/// # Ok::<(), rpo_ensemble::EnsembleError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Stages<M, X> {
    model: M,
    x: X,
    scores: Array2<f64>,
    n_steps: usize,
}

impl<M: Borrow<Boosted>, X: Borrow<Matrix>> Stages<M, X> {
    /// Creates the stages of a model for samples x (n x p); both may be owned or borrowed.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features; [`EnsembleError::Predictions`] if the scores, which
    /// are `f64`, would take more than 4 GiB.
    pub fn new(model: M, x: X) -> Result<Self, EnsembleError> {
        let (boosted, n_samples) = (model.borrow(), x.borrow().n_rows());
        boosted.check_features(x.borrow().view())?;
        check_dense(
            n_samples,
            boosted.n_outputs(),
            size_of::<f64>(),
            DEFAULT_MEMORY_LIMIT,
        )
        .map_err(EnsembleError::Predictions)?;
        let scores = boosted.initial_scores(n_samples);
        Ok(Self {
            model,
            x,
            scores,
            n_steps: 0,
        })
    }
}

/// The errors are those of [`predict`](Predictor::predict).
impl<M: Borrow<Boosted>, X: Borrow<Matrix>> Iterator for Stages<M, X> {
    type Item = Result<Array2<f32>, EnsembleError>;

    fn next(&mut self) -> Option<Self::Item> {
        let model = self.model.borrow();
        let first = self.n_steps * model.trees_per_step();
        let trees = model.trees().get(first..first + model.trees_per_step())?;
        for tree in trees {
            tree.add(&apply(&tree.structure, self.x.borrow().view()), &mut self.scores);
        }
        self.n_steps += 1;
        Some(predictions(model, &self.scores))
    }
}

/// Returns the predictions for scores.
fn predictions(model: &Boosted, scores: &Array2<f64>) -> Result<Array2<f32>, EnsembleError> {
    let mut out = zeros(scores.nrows(), model.n_outputs(), DEFAULT_MEMORY_LIMIT)?;
    model.predictions_into(scores, &mut out);
    let mut rows = out.rows().into_iter().enumerate();
    rows.try_for_each(|(row, values)| check_row(row, (0..).zip(values.iter().copied())))?;
    Ok(out)
}
