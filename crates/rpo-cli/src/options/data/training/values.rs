//! Notes on columns from whose values nothing is learned.

use crate::output::{first_of, note};
use rpo::data::Dataset;

/// Notes features without any value, labels that are present wherever they are given, and outputs all of which have one
/// value.
pub(super) fn note_values(data: &Dataset) {
    let features = data.features().view();
    if features.reborrow().has_missing() {
        let missing = features.missing_counts(None).into_iter().enumerate();
        let empty = missing.filter(|(_, n_missing)| *n_missing == data.n_samples());
        let names = empty.filter_map(|(feature, _)| data.feature_names().get(feature));
        if let Some(feature) = first_of(&names.collect::<Vec<_>>()) {
            note(&format!(
                "feature {feature} has no value in any sample, so that nothing is learned of it"
            ));
        }
    }
    let ranges = ranges(data);
    let is_constant = |range: &Range| range.least >= range.largest;
    if data.n_outputs() > 0 && data.n_samples() > 1 && ranges.iter().all(is_constant) {
        note("every output has the same value in all samples, so that there is nothing to learn");
    }
    let one_sided = ranges.iter().enumerate().filter(|(output, range)| {
        range.has_missing && data.is_label(*output) && (range.least, range.largest) == (1.0, 1.0)
    });
    let names = one_sided.filter_map(|(output, _)| data.output_names().get(output));
    if let Some(output) = first_of(&names.collect::<Vec<_>>()) {
        note(&format!(
            "label {output} is present wherever it is given: if a blank stands for no, write 0 in its place"
        ));
    }
}

/// The observed values of an output.
#[derive(Clone, Copy)]
struct Range {
    least: f32,
    largest: f32,
    has_missing: bool,
}

impl Range {
    const EMPTY: Self = Self {
        least: f32::INFINITY,
        largest: f32::NEG_INFINITY,
        has_missing: false,
    };

    fn add(&mut self, value: f32) {
        // Neither end takes NaN.
        (self.least, self.largest) = (self.least.min(value), self.largest.max(value));
        self.has_missing |= value.is_nan();
    }
}

fn ranges(data: &Dataset) -> Vec<Range> {
    let outputs = data.outputs().view();
    let mut ranges = vec![Range::EMPTY; outputs.n_cols()];
    let mut n_stored = vec![0; outputs.n_cols()];
    for row in 0..outputs.n_rows() {
        outputs.for_each_in_row(row, |output, value| {
            n_stored[output as usize] += 1;
            ranges[output as usize].add(value);
        });
    }
    // Entries that are not stored are 0.
    for (range, n) in ranges.iter_mut().zip(n_stored) {
        if n < outputs.n_rows() {
            range.add(0.0);
        }
    }
    ranges
}
