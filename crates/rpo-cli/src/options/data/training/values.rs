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
    let is_constant = |(least, largest): &(f32, f32)| least >= largest;
    if data.n_outputs() > 0 && data.n_samples() > 1 && ranges.iter().all(is_constant) {
        note("every output has the same value in all samples, so that there is nothing to learn");
    }
    let missing = data.label_statistics().missing.into_iter().enumerate();
    let one_sided = missing.filter(|(output, n_missing)| {
        *n_missing > 0 && data.is_label(*output) && ranges[*output] == (1.0, 1.0)
    });
    let names = one_sided.filter_map(|(output, _)| data.output_names().get(output));
    if let Some(output) = first_of(&names.collect::<Vec<_>>()) {
        note(&format!(
            "label {output} is present wherever it is given: if a blank stands for no, write 0 in its place"
        ));
    }
}

/// The least and the largest observed value of each output.
fn ranges(data: &Dataset) -> Vec<(f32, f32)> {
    let outputs = data.outputs().view();
    let mut ranges = vec![(f32::INFINITY, f32::NEG_INFINITY); outputs.n_cols()];
    let mut n_stored = vec![0; outputs.n_cols()];
    let widen = |(least, largest): &mut (f32, f32), value: f32| {
        // Neither takes NaN.
        (*least, *largest) = (least.min(value), largest.max(value));
    };
    for row in 0..outputs.n_rows() {
        outputs.for_each_in_row(row, |output, value| {
            n_stored[output as usize] += 1;
            widen(&mut ranges[output as usize], value);
        });
    }
    // Entries that are not stored are 0.
    for (range, n) in ranges.iter_mut().zip(n_stored) {
        if n < outputs.n_rows() {
            widen(range, 0.0);
        }
    }
    ranges
}
