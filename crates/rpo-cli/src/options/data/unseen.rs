//! Features that are unlike those of the training: values of categories that it did not have, and columns without values.

use super::newly_missing::note_newly_missing;
use crate::error::CliError;
use crate::output::{first_of, note};
use clap::{Args, ValueEnum};
use rpo::data::Dataset;
use rpo::{Model, ModelError, Predictor};

/// The treatment of words that are unseen in training.
#[derive(Debug, Args)]
pub(crate) struct UnseenOptions {
    /// Values of categories that were not in the training data: missing treats them as missing values and reports their
    /// number, error refuses them.
    #[arg(long, value_enum, default_value_t = Unseen::Missing, help_heading = "Data")]
    unseen: Unseen,
}

/// The treatment of a category's value that is unseen in training.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Unseen {
    Missing,
    Error,
}

impl UnseenOptions {
    /// Returns true if values unseen in training are errors.
    pub(crate) fn refuses(&self) -> bool {
        self.unseen == Unseen::Error
    }

    /// Notes or refuses values unseen in training, and notes features without values and values that were never missing in
    /// training. Unseen values are refused if the model needs every feature.
    pub(crate) fn check(&self, model: &Model, data: &Dataset, name: &str) -> Result<(), CliError> {
        // A model may declare very many features.
        let features = data.features().view();
        let missing = match features.reborrow().has_missing() {
            true => features.missing_counts(None),
            false => Vec::new(),
        };
        note_empty(model, data, &missing);
        let mismatch = |source| CliError::ModelMismatch {
            data: name.to_owned(),
            source,
        };
        let unseen = model.schema().unseen_values(data).map_err(mismatch)?;
        note_newly_missing(model, data, &missing);
        let Some(first) = unseen.first() else {
            return Ok(());
        };
        if self.refuses() || !can_predict(model, data, first.sample) {
            return Err(mismatch(ModelError::UnknownValue {
                row: first.sample,
                name: first.feature.clone(),
                value: first.value.clone(),
            }));
        }
        let count: usize = unseen.iter().map(|values| values.count).sum();
        let (feature, value) = (&first.feature, &first.value);
        note(&match (count, unseen.len()) {
            (1, _) => format!(
                "the value {value:?} of {feature:?} was not in the training data and counts as missing; --unseen error \
                 refuses it"
            ),
            (_, 1) => format!(
                "{count} values of {feature:?}, {value:?} for one, were not in the training data and count as missing; \
                 --unseen error refuses them"
            ),
            (_, n) => format!(
                "{count} values of {n} features, {value:?} of {feature:?} for one, were not in the training data and \
                 count as missing; --unseen error refuses them"
            ),
        });
        Ok(())
    }
}

/// Returns true if a model predicts for a sample.
pub(super) fn can_predict(model: &Model, data: &Dataset, sample: usize) -> bool {
    let predict = || {
        let sample = data.select_samples(&[sample]).map_err(ModelError::from)?;
        model.predict(model.schema().align_features(&sample)?.as_ref().into())
    };
    predict().is_ok()
}

/// Number of samples from which on a feature without any value is no coincidence.
pub(super) const FEW: usize = 20;

/// Notes features of the model that no sample has, given how many lack each: a source of data may have failed.
fn note_empty(model: &Model, data: &Dataset, missing: &[usize]) {
    if data.n_samples() < FEW {
        return;
    }
    let is_empty = |feature: &usize| missing[*feature] == data.n_samples();
    let mut empty = (0..missing.len()).filter(is_empty).peekable();
    if empty.peek().is_none() {
        return;
    }
    let used = model.schema().feature_names.positions(data.feature_names());
    let names = empty
        .filter(|feature| used[*feature].is_some())
        .filter_map(|feature| data.feature_names().get(feature));
    if let Some(feature) = first_of(&names.collect::<Vec<_>>()) {
        note(&format!(
            "feature {feature} has no value in any of the {} samples",
            data.n_samples()
        ));
    }
}
