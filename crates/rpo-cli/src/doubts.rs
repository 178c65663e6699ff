//! Notes on data for which scores or intervals may be other than they seem.

use crate::output::{first_of, note};
use rpo::data::Dataset;
use rpo::metrics::Metric;

/// Number of samples from which on copies are counted, and one in how many may be a copy without a note: samples of few
/// categories or small counts are equal by chance.
const MANY_SAMPLES: usize = 1000;
const MOST_COPIES: usize = 10;
/// Largest part of the values of a number that may be the same without a note where intervals are found. Small counts have
/// fewer equal values.
const MOST_EQUAL: f64 = 0.3;

/// Notes that samples repeat earlier ones, where scores or intervals are found on withheld samples.
pub(crate) fn note_copies(data: &Dataset) {
    let n = data.n_samples();
    // Groups keep copies together.
    if n < MANY_SAMPLES || data.groups().is_some() {
        return;
    }
    let n_copies = data.n_duplicates();
    if n_copies > n / MOST_COPIES {
        note(&format!(
            "{n_copies} of {n} samples equal earlier ones: if these are copies, scores and intervals that are found on \
             withheld samples are too good; leave copies out, or give them one --group"
        ));
    }
}

/// Notes numbers whose values are often the same, where intervals are found.
pub(crate) fn note_equal_values(data: &Dataset) {
    let outputs = data.outputs().view();
    let mut values: Vec<Vec<f32>> = vec![Vec::new(); data.n_outputs()];
    for row in 0..data.n_samples() {
        outputs.for_each_in_row(row, |output, value| values[output as usize].push(value));
    }
    let mut often = Vec::new();
    for (output, mut values) in values.into_iter().enumerate() {
        if data.is_label(output) {
            continue;
        }
        // Entries that are not stored are 0.
        values.resize(data.n_samples(), 0.0);
        values.retain(|value| !value.is_nan());
        values.sort_unstable_by(f32::total_cmp);
        let runs = values.chunk_by(|a, b| a == b);
        let longest = runs.max_by_key(|run| run.len()).unwrap_or_default();
        let part = longest.len() as f64 / values.len() as f64;
        if part > MOST_EQUAL {
            often.push((
                data.output_names().get(output).unwrap_or_default(),
                part,
                longest[0],
            ));
        }
    }
    let names: Vec<_> = often.iter().map(|(name, ..)| name).collect();
    if let (Some(name), Some((_, part, value))) = (first_of(&names), often.first()) {
        note(&format!(
            "{:.0} % of the values of {name} are {value}, which an interval includes or excludes all at once: intervals \
             may cover far more or fewer values than their level",
            100.0 * part
        ));
    }
}

/// Notes labels with fewer positives than there are folds, where means over labels are computed in each fold.
pub(crate) fn note_rare_labels(data: &Dataset, folds: usize, metrics: &[Metric]) {
    let is_mean = |metric: &&Metric| {
        matches!(
            metric,
            Metric::MacroAuc
                | Metric::AveragePrecision
                | Metric::MacroF1
                | Metric::Mcc
                | Metric::GMean
                | Metric::BalancedAccuracy
                | Metric::MacroPrecisionAt(_)
                | Metric::MacroRecallAt(_)
                | Metric::MacroF1At(_)
        )
    };
    let Some(first) = metrics.iter().find(is_mean) else {
        return;
    };
    let counts = data.label_statistics().counts.into_iter().enumerate();
    let labels = counts.filter(|(output, _)| data.is_label(*output));
    let counts: Vec<usize> = labels.map(|(_, count)| count).collect();
    let n_rare = counts.iter().filter(|count| (1..folds).contains(*count)).count();
    if n_rare > 0 {
        note(&format!(
            "{n_rare} of {} labels have fewer positives than there are folds: where a fold has none, means over labels \
             such as {first} leave the label out or count it as 0",
            counts.len()
        ));
    }
}
