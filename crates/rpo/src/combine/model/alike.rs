//! Which models can be combined: those fitted to the same data.

use crate::{Model, ModelError, Schema, TrainingSummary};
use rpo_core::{ParameterError, Predictor};
use std::borrow::Cow;

/// Returns the training summary of some models. All must have the number of samples, the distribution of outputs, the
/// columns and the quantiles of the first; the order of samples and their weights may differ.
pub(super) fn of_same_training<'a>(
    models: impl IntoIterator<Item = &'a Model>,
) -> Result<TrainingSummary, ModelError> {
    let mut models = models.into_iter();
    let Some(first) = models.next() else {
        return Err(ParameterError::out_of_range("members", "none", "at least one").into());
    };
    for (member, model) in (1..).zip(models) {
        let (own, other) = (model.training().n_samples, first.training().n_samples);
        if own != other {
            return Err(different(member, in_place_of("samples", own, other)));
        }
        check_columns(first, member, model)?;
        if !model.training().is_like(first.training()) {
            return Err(different(member, "other values of the outputs".to_owned()));
        }
    }
    Ok(first.training().clone())
}

/// Refuses a member with other columns or quantiles than the first.
pub(super) fn check_columns(first: &Model, member: usize, model: &Model) -> Result<(), ModelError> {
    ModelError::check_levels(first.quantile_levels(), model.quantile_levels())?;
    for (what, own, other) in [
        ("features", model.n_features(), first.n_features()),
        ("outputs", model.n_outputs(), first.n_outputs()),
    ] {
        if own != other {
            return Err(different(member, in_place_of(what, own, other)));
        }
    }
    let (own, of_first) = (model.schema(), first.schema());
    if own == of_first {
        return Ok(());
    }
    let is_reordered =
        own.feature_names != of_first.feature_names && sorted_features(own) == sorted_features(of_first);
    let difference = match is_reordered {
        true => "the features in another order: fit all members to files with the columns in one order",
        false => "other columns or kinds of columns",
    };
    Err(different(member, difference.to_owned()))
}

fn sorted_features(schema: &Schema) -> Vec<Cow<'_, str>> {
    let mut names: Vec<_> = schema.feature_names.iter().collect();
    names.sort_unstable();
    names
}

fn in_place_of(what: &str, own: usize, other: usize) -> String {
    format!("{own} {what} in place of {other}")
}

fn different(member: usize, difference: String) -> ModelError {
    ModelError::Combine { member, difference }
}
