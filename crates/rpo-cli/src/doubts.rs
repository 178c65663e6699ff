//! Notes on data for which scores or intervals may be other than they seem.

use crate::output::{first_of, note};
use rpo::data::{Dataset, LabelStatistics, Task};
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

/// Notes how many samples and labels metrics leave out, as they are undefined for them.
pub(crate) fn note_left_out(data: &Dataset, metrics: &[Metric]) {
    let statistics = data.label_statistics();
    let (n_samples, n_unlabelled) = (statistics.n_samples, statistics.n_unlabelled);
    if data.task() == Task::MultiLabel && n_unlabelled > 0 && metrics.contains(&Metric::Lrap) {
        note(&format!(
            "{n_unlabelled} of {n_samples} samples have no label: lrap leaves them out, and lrap-all counts them as 1"
        ));
    }
    let LabelStatistics { counts, missing, .. } = &statistics;
    let labels: Vec<usize> = (0..counts.len())
        .filter(|output| data.is_label(*output))
        .collect();
    let count = |is_one: &dyn Fn(usize) -> bool| labels.iter().filter(|output| is_one(**output)).count();
    let n_absent = count(&|output| counts[output] == 0);
    let n_always = count(&|output| counts[output] > 0 && counts[output] + missing[output] == n_samples);
    let of_both = |metric: &&Metric| {
        matches!(
            metric,
            Metric::MacroAuc | Metric::Mcc | Metric::GMean | Metric::BalancedAccuracy
        )
    };
    let names = |of: &dyn Fn(&&Metric) -> bool| {
        let names: Vec<String> = metrics.iter().filter(of).map(ToString::to_string).collect();
        names.join(", ")
    };
    for (n, what, names) in [
        (
            n_absent,
            "no positive",
            names(&|metric| of_both(metric) || **metric == Metric::AveragePrecision),
        ),
        (n_always, "no negative", names(&of_both)),
    ] {
        if n > 0 && !names.is_empty() {
            let all = labels.len();
            note(&format!(
                "{n} of {all} labels have {what} sample here and are left out of {names}"
            ));
        }
    }
}
