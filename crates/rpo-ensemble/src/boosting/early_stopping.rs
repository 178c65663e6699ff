//! Early stopping: the best number of steps on a validation set.

use super::model::Boosted;
use super::options::Validation;
use super::routing::apply;
use super::step::BoostingStep;
use crate::error::EnsembleError;
use ndarray::Array2;
use rpo_core::{MemoryLimit, Predictor, TreeEnsemble};
use rpo_tree::AxisRule;

/// The scores of a validation set, and the best step on it.
pub(super) struct EarlyStopping<'a> {
    validation: Validation<'a>,
    scores: Array2<f64>,
    predictions: Array2<f32>,
    /// Number of steps and the metric after them.
    best: Option<(usize, f64)>,
    first: usize,
}

impl<'a> EarlyStopping<'a> {
    /// Creates the state before the first step, with the scores of a model, whose memory is limited.
    pub(super) fn new(
        validation: Validation<'a>,
        model: &Boosted,
        memory_limit: usize,
    ) -> Result<Self, EnsembleError> {
        let (n, d) = (validation.x.n_rows(), model.n_outputs());
        let bytes = n
            .saturating_mul(d)
            .saturating_mul(size_of::<f64>() + size_of::<f32>());
        let what = || format!("the scores of {n} validation samples and {d} outputs");
        MemoryLimit::check(bytes, memory_limit, what)?;
        let predictions = Array2::zeros((n, d));
        let mut scores = model.initial_scores(n);
        for tree in model.trees() {
            tree.add(&apply(&tree.structure, validation.x), &mut scores);
        }
        Ok(Self {
            validation,
            scores,
            predictions,
            best: None,
            first: model.n_steps(),
        })
    }

    pub(super) fn every(&self) -> usize {
        self.validation.every
    }

    /// Adds the trees of a step.
    pub(super) fn add(&mut self, trees: &[BoostingStep<AxisRule>]) {
        for tree in trees {
            tree.add(&apply(&tree.structure, self.validation.x), &mut self.scores);
        }
    }

    /// Evaluates the metric, and returns it with the number of steps.
    pub(super) fn evaluate(&mut self, model: &Boosted, n_steps: usize) -> (usize, f64) {
        model.predictions_into(&self.scores, &mut self.predictions);
        let value = (self.validation.metric)(self.predictions.view());
        if self
            .best
            .is_none_or(|(_, best)| value > best || (best.is_nan() && !value.is_nan()))
        {
            self.best = Some((n_steps, value));
        }
        (n_steps, value)
    }

    /// Returns true if the number of steps since the best one has reached the patience.
    pub(super) fn is_over(&self, n_steps: usize) -> bool {
        let since = n_steps - self.best.map_or(self.first, |(step, _)| step);
        self.validation.patience.is_some_and(|patience| since >= patience)
    }

    /// Returns the number of steps after which the metric was best, or `None` if the metric was always NaN.
    pub(super) fn best(&self) -> Option<usize> {
        self.best
            .filter(|(_, value)| !value.is_nan())
            .map(|(step, _)| step)
    }
}
