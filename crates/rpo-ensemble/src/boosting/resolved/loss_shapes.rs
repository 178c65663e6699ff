//! The numeric parameters of losses.

use crate::boosting::loss::{LossKind, LossShape};
use crate::boosting::params::BoostingParams;
use crate::list::List;
use rpo_core::{Domain, ParameterError};

/// Returns the numeric parameters of losses for each level of quantiles. Refuses parameters of losses that are not
/// used.
pub(super) fn loss_shapes(
    params: &BoostingParams,
    kinds: &[LossKind],
) -> Result<Vec<LossShape>, ParameterError> {
    let levels = params.quantile.as_deref().unwrap_or(&[0.5]);
    for &level in levels {
        Domain::Level.check("quantile", level)?;
    }
    if levels.is_empty() || levels.windows(2).any(|pair| pair[0] >= pair[1]) {
        let given = List::<f64>::from(levels.to_vec());
        return Err(ParameterError::out_of_range(
            "quantile",
            given,
            "levels in increasing order",
        ));
    }
    Domain::Positive.check("huber_delta", params.huber_delta)?;
    let power = params.tweedie_power.unwrap_or(1.5);
    ParameterError::unless(
        power > 1.0 && power < 2.0,
        "tweedie_power",
        power,
        "between 1 and 2",
    )?;
    let quantile = params.quantile.as_ref().map(ToString::to_string);
    for (name, given, kind, reason) in [
        (
            "huber_delta",
            params.huber_delta.map(|v| v.to_string()),
            LossKind::Huber,
            "is for the huber loss only",
        ),
        (
            "quantile",
            quantile,
            LossKind::Quantile,
            "is for the quantile loss only",
        ),
        (
            "tweedie_power",
            params.tweedie_power.map(|v| v.to_string()),
            LossKind::Tweedie,
            "is for the tweedie loss only",
        ),
    ] {
        if let Some(given) = given.filter(|_| !kinds.contains(&kind)) {
            return Err(ParameterError::conflict(name, given, reason));
        }
    }
    let shape = |&quantile: &f64| LossShape {
        huber_delta: params.huber_delta.unwrap_or(1.0),
        quantile,
        tweedie_power: power,
    };
    Ok(levels.iter().map(shape).collect())
}
