//! Predictions step by step: each stage adds the trees of one step to the scores of the last.

use super::model::Boosted;
use super::predict::check_row;
use super::routing::apply;
use crate::error::{EnsembleError, mismatch};
use crate::inference::mean::zeros;
use ndarray::{Array2, ArrayView2};
use rpo_core::{DEFAULT_MEMORY_LIMIT, MatrixView, Predictor, check_dense};
use std::ops::ControlFlow;

/// The scores f (n x d) of samples after the first steps of a model, to which [`Boosted::advance`] adds the next step.
///
/// All steps together cost as much as one prediction by the whole model, and d conversions of scores per step and sample.
/// The predictions after m steps are those of the model [truncated](Boosted::truncate) at m, bit for bit.
///
/// ```
/// use ndarray::Array2;
/// use rpo_core::{Learner, MatrixView, Predictor};
/// use rpo_ensemble::boosting::{Algorithm, BoostingParams};
///
/// let x = Array2::from_shape_fn((50, 2), |(i, j)| ((i * (3 + j)) % 17) as f32);
/// let y = Array2::from_shape_fn((50, 3), |(i, j)| x[[i, 0]] * (j + 1) as f32);
/// let (x, y) = (MatrixView::from(&x), MatrixView::from(&y));
/// let model = BoostingParams { iterations: 5, ..BoostingParams::new(Algorithm::Gbmort) }.fit(x, y)?;
/// let mut stage = model.stage(50)?;
/// while model.advance(&mut stage, x)? {
///     assert_eq!(model.predict_stage(&stage)?, model.clone().truncate(stage.n_steps()).predict(x)?);
/// }
/// assert_eq!(stage.n_steps(), 5);
/// # Ok::<(), rpo_ensemble::EnsembleError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Stage {
    scores: Array2<f64>,
    n_steps: usize,
}

impl Stage {
    /// Number of steps m that the scores hold.
    pub fn n_steps(&self) -> usize {
        self.n_steps
    }
}

impl Boosted {
    /// The stage before the first step, of a number of samples: all have the constant.
    ///
    /// # Errors
    /// [`EnsembleError::Predictions`] for scores, which are `f64`, of more than 4 GiB.
    pub fn stage(&self, n_samples: usize) -> Result<Stage, EnsembleError> {
        let bytes = size_of::<f64>();
        check_dense(n_samples, self.n_outputs(), bytes, DEFAULT_MEMORY_LIMIT)
            .map_err(EnsembleError::Predictions)?;
        let scores = self.initial_scores(n_samples);
        Ok(Stage { scores, n_steps: 0 })
    }

    /// Adds the next step to the scores of samples x (n x p), the same at every stage; returns false, and adds nothing, after
    /// the last step.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features or samples.
    pub fn advance(&self, stage: &mut Stage, x: MatrixView<'_>) -> Result<bool, EnsembleError> {
        self.check_features(x)?;
        if x.n_rows() != stage.scores.nrows() {
            return mismatch("samples of the stage", stage.scores.nrows(), x.n_rows());
        }
        if stage.n_steps == self.n_steps() {
            return Ok(false);
        }
        let first = stage.n_steps * self.trees_per_step();
        for tree in &self.trees()[first..first + self.trees_per_step()] {
            tree.add(&apply(&tree.structure, x), &mut stage.scores);
        }
        stage.n_steps += 1;
        Ok(true)
    }

    /// The predictions (n x d) at a stage.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_stage(&self, stage: &Stage) -> Result<Array2<f32>, EnsembleError> {
        let mut out = zeros(stage.scores.nrows(), self.n_outputs(), DEFAULT_MEMORY_LIMIT)?;
        self.predictions_into(&stage.scores, &mut out);
        let mut rows = out.rows().into_iter().enumerate();
        rows.try_for_each(|(row, values)| check_row(row, (0..).zip(values.iter().copied())))?;
        Ok(out)
    }

    /// Calls `see` with the predictions (n x d) of the constant, then of the model truncated after each step, until it
    /// breaks.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), for the memory of the scores, which are `f64`.
    pub fn staged(
        &self,
        x: MatrixView<'_>,
        mut see: impl FnMut(usize, ArrayView2<'_, f32>) -> ControlFlow<()>,
    ) -> Result<(), EnsembleError> {
        self.check_features(x)?;
        let mut stage = self.stage(x.n_rows())?;
        loop {
            let seen = see(stage.n_steps, self.predict_stage(&stage)?.view());
            if seen.is_break() || !self.advance(&mut stage, x)? {
                return Ok(());
            }
        }
    }
}
