//! Methods as members of an ensemble.

use crate::ModelError;
use crate::method::{Estimator, Method, MethodError};
use rpo_core::ParameterError;

/// Parses a method with options that a parameter of an ensemble lists.
///
/// # Errors
/// Methods and options that do not exist or contradict each other, ensembles, and what is found beside a model, of which
/// an ensemble has its own.
pub(super) fn parse_member(parameter: &'static str, text: &str) -> Result<Method, MethodError> {
    let refused = |problem: ModelError| MethodError::Member {
        parameter,
        member: text.to_owned(),
        problem: Box::new(problem),
    };
    let method: Method = text.parse().map_err(|e: MethodError| refused(e.into()))?;
    method.check().map_err(refused)?;
    if method.entry().is_ensemble() {
        let expected = "methods other than ensembles";
        return Err(ParameterError::out_of_range(parameter, text, expected).into());
    }
    // That thresholds decide is the default.
    let decides = |name: &&str| method.is_set(name) && method.given(name) != Some(&"threshold".into());
    if ["decide", "thresholds", "intervals"].iter().any(decides) {
        let reason = "sets `thresholds`, `decide` or `intervals`, which the ensemble would ignore: set them for the ensemble instead";
        return Err(ParameterError::conflict(parameter, text, reason).into());
    }
    Ok(method)
}
