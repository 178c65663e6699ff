//! Features that are missing in some samples and never were in training.

use super::unseen::can_predict;
use crate::output::{first_of, note};
use rpo::data::Dataset;
use rpo::{Model, UnseenValues};

/// Notes features that were never missing in training and are missing here in some samples: the model did not learn what
/// to predict then. The unseen values of categories, which count as missing, are noted as such.
pub(super) fn note_newly_missing(model: &Model, data: &Dataset, unseen: &[UnseenValues]) {
    let Some(known) = &model.training().missing_features else {
        return;
    };
    let (x, names) = (data.features().view(), data.feature_names());
    let mut counts = x.missing_counts(None);
    for values in unseen {
        if let Some(feature) = names.position(&values.feature) {
            counts[feature] = counts[feature].saturating_sub(values.count);
        }
    }
    let is_partly_missing = |feature: &usize| (1..data.n_samples()).contains(&counts[*feature]);
    let mut new: Vec<usize> = (0..counts.len()).filter(is_partly_missing).collect();
    if new.is_empty() {
        return;
    }
    let used = model.schema().feature_names.positions(names);
    new.retain(|feature| used[*feature].is_some_and(|used| known.binary_search(&(used as u32)).is_err()));
    let Some(first) = new.first() else {
        return;
    };
    let lacks_first = |sample: &usize| {
        let mut is_missing = false;
        x.for_each_in_row(*sample, |feature, value| {
            is_missing |= feature as usize == *first && value.is_nan();
        });
        is_missing
    };
    // A model that needs every value refuses such samples, with an error that says so.
    let sample = (0..data.n_samples()).find(lacks_first);
    if !sample.is_some_and(|sample| can_predict(model, data, sample)) {
        return;
    }
    let new: Vec<_> = new.iter().filter_map(|feature| names.get(*feature)).collect();
    if let Some(name) = first_of(&new) {
        note(&format!(
            "feature {name} is missing in {} of {} samples and was in none of the training: what is predicted for them \
             may be far off",
            counts[*first],
            data.n_samples()
        ));
    }
}
