//! Parameters that are out of range, under the names of the options that set them.

use super::Method;
use crate::error::CliError;
use rpo::core::ParameterError;
use rpo::ensemble::EnsembleError;
use rpo::linear::LinearError;
use rpo::projections::ProjectionError;
use rpo::tree::TreeError;

/// Parameters of the library whose options have other names; with two, a method has one of them.
const RENAMED: [(&str, &str); 14] = [
    ("n_trees", "trees"),
    ("iterations", "descent-steps"),
    ("learning_rate", "step-size"),
    ("max_rho", "rho"),
    ("n_starts", "cluster-starts"),
    ("n_starts", "starts"),
    ("n_clusters", "clusters"),
    ("max_passes", "passes"),
    ("max_entries", "centroid-entries"),
    ("sample", "node-sample"),
    ("leaf_storage", "leaf-values"),
    ("bandwidth_factor", "bandwidth"),
    ("n_features", "features"),
    ("validation", "withhold"),
];

/// The error with the name of an option in place of a parameter's, if it is about one.
pub(super) fn of_option(method: Method, error: CliError) -> CliError {
    let Some(ParameterError::OutOfRange {
        name,
        given,
        expected,
    }) = parameter(&error)
    else {
        return error;
    };
    let options = method.option_names();
    let renamed = RENAMED
        .iter()
        .filter(|(parameter, _)| parameter == name)
        .map(|(_, option)| (*option).to_owned());
    let mut candidates = std::iter::once(name.replace('_', "-")).chain(renamed);
    match candidates.find(|candidate| options.contains(candidate)) {
        Some(option) => CliError::Usage(format!("--{option} is {given}; expected {expected}")),
        None => error,
    }
}

/// The parameter that an error is about.
fn parameter(error: &CliError) -> Option<&ParameterError> {
    match error {
        CliError::Ensemble(
            EnsembleError::Parameter(parameter)
            | EnsembleError::Tree(TreeError::Parameter(parameter))
            | EnsembleError::Projection(ProjectionError::Parameter(parameter)),
        )
        | CliError::Linear(
            LinearError::Parameter(parameter)
            | LinearError::Projection(ProjectionError::Parameter(parameter)),
        ) => Some(parameter),
        _ => None,
    }
}
