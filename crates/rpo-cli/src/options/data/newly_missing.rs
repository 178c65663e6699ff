//! Features that are missing in some samples and never were in training.

use super::unseen::{FEW, can_predict};
use crate::output::{first_of, note};
use rpo::Model;
use rpo::data::Dataset;
use rpo::data::preprocess::Pipeline;

/// Notes features that were never missing in training and are missing here in some samples, given how many lack each: the
/// model did not learn what to predict then.
pub(super) fn note_newly_missing(model: &Model, data: &Dataset, missing: &[usize]) {
    let Some(known) = &model.training().missing_features else {
        return;
    };
    let (x, names) = (data.features().view(), data.feature_names());
    // Of many samples, another note names the features that none has.
    let most = if data.n_samples() < FEW {
        FEW
    } else {
        data.n_samples()
    };
    let is_missing = |feature: &usize| (1..most).contains(&missing[*feature]);
    let mut new: Vec<usize> = (0..missing.len()).filter(is_missing).collect();
    if new.is_empty() {
        return;
    }
    let used = model.schema().feature_names.positions(names);
    // Those have a mean of the targets in any case.
    let encoded: Vec<usize> = model
        .pipeline()
        .into_iter()
        .flat_map(Pipeline::target_encoded)
        .collect();
    let is_known = |used: usize| known.binary_search(&(used as u32)).is_ok() || encoded.contains(&used);
    new.retain(|feature| used[*feature].is_some_and(|used| !is_known(used)));
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
            missing[*first],
            data.n_samples()
        ));
    }
}
