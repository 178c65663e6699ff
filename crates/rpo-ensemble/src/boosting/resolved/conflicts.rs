//! Parameters that cannot be combined.

use super::Resolved;
use super::losses::LossChoice;
use crate::boosting::choices::{Algorithm, LineSearch, StepScope, TrainingForm};
use crate::boosting::loss::LossKind;
use crate::boosting::params::BoostingParams;
use rpo_core::{Domain, ParameterError};

impl Resolved {
    /// Refuses steps and sizes of leaves that the algorithm does not support.
    pub(super) fn check_leaves(&self) -> Result<(), ParameterError> {
        if self.step_scope == StepScope::Leaf && self.algorithm == Algorithm::GbrtRpo {
            let reason = "cannot be combined with gbrt-rpo, whose trees are shared by all outputs";
            return Err(ParameterError::conflict("step_scope", "leaf", reason));
        }
        let Some(k) = self.leaf_values else {
            return Ok(());
        };
        Domain::Count.check("leaf_values", k)?;
        if matches!(self.algorithm, Algorithm::SingleTarget | Algorithm::GbrtRpo) {
            let reason = "is for gbmort and gbrt-relabel-rpo, whose leaves hold a value for every output";
            return Err(ParameterError::conflict("leaf_values", k, reason));
        }
        Ok(())
    }

    /// Refuses trees ahead of the steps of single targets, which do not wait for each other, and more than 64, as each has
    /// a target.
    pub(super) fn check_ahead(&self) -> Result<(), ParameterError> {
        match self.trees_ahead {
            Some(n @ 1..) if self.algorithm == Algorithm::SingleTarget => {
                let reason = "is for trees that are shared by all outputs";
                Err(ParameterError::conflict("trees_ahead", n, reason))
            }
            Some(n) => ParameterError::unless(n <= 64, "trees_ahead", n, "at most 64"),
            None => Ok(()),
        }
    }

    /// Refuses a form of training that the loss, the steps or the algorithm do not support.
    pub(super) fn check_form(&self) -> Result<(), ParameterError> {
        let reason = match self.training_form {
            TrainingForm::Factored if !self.loss.is(LossKind::Square) => "needs the square loss",
            TrainingForm::Odds if !self.loss.is(LossKind::Logistic) => "needs the logistic loss",
            TrainingForm::Odds
                if self.step_scope == StepScope::Leaf && self.line_search == LineSearch::Exact =>
            {
                "needs `line_search` = newton if `step_scope` is leaf"
            }
            TrainingForm::Factored | TrainingForm::Odds if self.algorithm == Algorithm::SingleTarget => {
                "cannot be combined with single targets"
            }
            _ => return Ok(()),
        };
        let given = match self.training_form {
            TrainingForm::Factored => "factored",
            _ => "odds",
        };
        Err(ParameterError::conflict("training_form", given, reason))
    }
}

/// Refuses parameters that the softmax loss, which couples outputs, does not support, and `groups` for other losses.
pub(super) fn check_softmax(
    params: &BoostingParams,
    loss: &LossChoice,
    line_search: LineSearch,
) -> Result<(), ParameterError> {
    if !loss.has(LossKind::Softmax) {
        return match &params.groups {
            Some(groups) => Err(ParameterError::conflict(
                "groups",
                groups,
                "is for the softmax loss only",
            )),
            None => Ok(()),
        };
    }
    if params.groups.as_ref().is_some_and(|groups| groups.contains(&0)) {
        return Err(ParameterError::out_of_range("groups", 0, "numbers of at least 1"));
    }
    if params.algorithm == Algorithm::SingleTarget {
        let reason =
            "couples outputs and cannot be combined with single targets, each of which is boosted separately";
        return Err(ParameterError::conflict("loss", LossKind::Softmax, reason));
    }
    if line_search == LineSearch::Exact && params.line_search.is_none() {
        let reason = "needs losses with a curvature for the other outputs: square, logistic, poisson or tweedie; the logistic \
             loss learns each class by itself";
        return Err(ParameterError::conflict(
            "output_losses",
            LossKind::Softmax,
            reason,
        ));
    }
    if line_search == LineSearch::Exact {
        let reason = "cannot be combined with the softmax loss, which couples outputs; set it to newton";
        return Err(ParameterError::conflict("line_search", "exact", reason));
    }
    Ok(())
}
