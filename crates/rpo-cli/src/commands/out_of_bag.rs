//! The score of out-of-bag predictions, for the commands that report it.

use crate::error::CliError;
use crate::options::GroupOptions;
use crate::output::{Report, note};
use rpo::data::Dataset;
use rpo::metrics::Metric;
use rpo::{Model, OobScore};

/// Refuses out-of-bag scores of samples in groups.
pub(super) fn check_groups(groups: &GroupOptions) -> Result<(), CliError> {
    if groups.are_given() {
        let message = "--oob scores a sample by trees that did not see it but others of its --group, so that the score does not \
            hold for new groups: `rpo cv --group` scores those";
        return Err(CliError::Usage(message.to_owned()));
    }
    Ok(())
}

/// Scores out-of-bag predictions by the default metric of the model.
pub(super) fn oob_score(model: &Model, data: &Dataset) -> Result<(Metric, OobScore), CliError> {
    let metric = model.default_metric();
    let score = model.oob_score(data, metric)?;
    if score.n_scored < score.n_samples {
        note(&format!(
            "{} of {} samples are in every tree's bag and have no out-of-bag prediction",
            score.n_samples - score.n_scored,
            score.n_samples
        ));
    }
    Ok((metric, score))
}

/// Adds a score to a report.
pub(super) fn report_oob((metric, score): (Metric, OobScore), report: &mut Report) {
    report.set(format!("oob_{metric}"), score.value);
    report.set("oob_samples", score.n_scored);
}
