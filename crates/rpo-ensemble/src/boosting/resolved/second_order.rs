//! Second-order steps and splits: their penalties and gains.

use super::losses::LossChoice;
use crate::boosting::choices::Algorithm;
use crate::boosting::loss::Penalties;
use crate::boosting::params::BoostingParams;
use crate::boosting::state::Outputs;
use rpo_core::ParameterError;
use rpo_tree::criterion::LeafPenalty;

/// Settings of second-order gains, for scores in their natural unit.
#[derive(Debug, Clone, Copy)]
pub(in crate::boosting) struct SecondOrderSplits {
    pub(in crate::boosting) penalties: Penalties,
    pub(in crate::boosting) min_child_weight: f64,
    /// True if second derivatives are 1 unless cells have weights.
    pub(in crate::boosting) is_constant: bool,
}

impl SecondOrderSplits {
    /// Returns the settings of second-order gains; `None` with constant curvature and without penalties, where gains
    /// equal those of variance, which is computed faster if outputs are complete.
    pub(super) fn unless_variance(
        loss: &LossChoice,
        penalties: Penalties,
        min_child_weight: f64,
    ) -> Option<Self> {
        let is_constant = loss.is_quadratic();
        let is_variance =
            is_constant && penalties.quadratic == LeafPenalty::default() && min_child_weight == 0.0;
        (!is_variance).then_some(Self {
            penalties,
            min_child_weight,
            is_constant,
        })
    }

    /// Returns true if second derivatives along every component of unit norm are 1.
    pub(in crate::boosting) fn is_constant_for(&self, outputs: &Outputs<'_>) -> bool {
        self.is_constant && outputs.is_complete()
    }
}

/// Returns the penalties of leaf values; by default those of Newton steps per leaf, and none for other steps.
pub(super) fn penalties(params: &BoostingParams, is_newton: bool, are_few_labels: bool) -> Penalties {
    let penalty = |of_newton| LeafPenalty {
        l1: params.leaf_l1,
        l2: params.leaf_l2.unwrap_or(if is_newton { of_newton } else { 0.0 }),
    };
    Penalties {
        quadratic: penalty(5.0),
        others: penalty(if are_few_labels { 5.0 } else { 1.0 }),
    }
}

/// Refuses penalties of second-order steps, for other kinds of steps.
pub(super) fn check_no_penalty(params: &BoostingParams) -> Result<(), ParameterError> {
    let reason = if params.algorithm == Algorithm::GbrtRpo {
        "cannot be combined with gbrt-rpo, whose trees are shared by all outputs"
    } else {
        "needs Newton steps of leaves: `line_search` = newton and `step_scope` = leaf, and a loss with a curvature"
    };
    let penalties = [
        ("leaf_l2", params.leaf_l2.unwrap_or(0.0)),
        ("leaf_l1", params.leaf_l1),
        ("min_child_weight", params.min_child_weight),
    ];
    match penalties.into_iter().find(|(_, value)| *value > 0.0) {
        None => Ok(()),
        Some((name, value)) => Err(ParameterError::conflict(name, value, reason)),
    }
}
