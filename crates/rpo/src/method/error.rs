//! Errors of named methods and their parameters.

use super::DataProblem;
use crate::ModelError;
use rpo_core::ParameterError;
use rpo_core::text::did_you_mean;
use rpo_data::Names;
use std::borrow::Cow;

/// A method or parameter that cannot be used as given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MethodError {
    /// A method that is not registered.
    #[error("{name:?} is not a method{}; the methods are {}", did_you_mean(.nearest.as_ref()), .known.join(", "))]
    UnknownMethod {
        /// The name given.
        name: String,
        /// The most similar name, if any is similar.
        nearest: Option<String>,
        /// The names of all methods.
        known: Vec<String>,
    },
    /// A parameter that the method does not have.
    #[error("`{name}` is not a parameter of {method}{}; its parameters are {}", did_you_mean(.nearest.as_ref()), .known.join(", "))]
    UnknownParameter {
        /// The method.
        method: String,
        /// The name given.
        name: String,
        /// The most similar name, if any is similar.
        nearest: Option<String>,
        /// The names of all parameters.
        known: Vec<String>,
    },
    /// A value that a parameter cannot have.
    #[error("`{name}` must be {expected}, got {given}")]
    Value {
        /// The parameter.
        name: String,
        /// The value given.
        given: String,
        /// The allowed values.
        expected: String,
    },
    /// A value of which a part is not allowed, such as the k of a metric.
    #[error("`{name}` = {given}: {problem}")]
    Part {
        /// The parameter.
        name: String,
        /// The value given.
        given: String,
        /// The part that is not allowed, and why.
        problem: String,
    },
    /// A method that is a member of an ensemble and cannot be used as given.
    #[error("`{parameter}`: in {member:?}, {problem}")]
    Member {
        /// The parameter of the ensemble.
        parameter: &'static str,
        /// The member.
        member: String,
        /// Why it is refused.
        problem: Box<ModelError>,
    },
    /// A text that is not a method with options.
    #[error("a method with options such as `extra-trees --trees 5` is expected, got {text:?}")]
    Text {
        /// The text.
        text: String,
    },
    /// A text that sets a parameter twice.
    #[error("`{name}` is given twice in {text:?}")]
    Repeated {
        /// The parameter.
        name: String,
        /// The text.
        text: String,
    },
    /// Parameters that are not an object of names and values.
    #[error("the parameters of a method must be a table of names and values with a `method`, got {given}")]
    NotATable {
        /// What was given.
        given: String,
    },
    /// A parameter out of range or in conflict with another.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Data that the method cannot use.
    #[error("{method} {problem}")]
    Data {
        /// The method.
        method: String,
        /// The requirement that the data do not meet.
        problem: DataProblem,
    },
}

impl MethodError {
    /// The error of data that a method cannot use.
    pub(crate) fn data(method: &str, problem: DataProblem) -> Self {
        let method = method.to_owned();
        Self::Data { method, problem }
    }
}

/// The known name most similar to a misspelt one.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Names = known.into_iter().collect();
    known.nearest(name).map(Cow::into_owned)
}
