//! Counts of the samples and labels for which a metric is undefined, and which its mean leaves out.

use crate::output::Report;
use rpo::data::{Dataset, Task};
use rpo::metrics::Metric;

/// Adds the counts that are not 0 for the metrics of a report.
pub(super) fn report(data: &Dataset, metrics: &[Metric], report: &mut Report) {
    let statistics = data.label_statistics();
    let mut add = |name: &str, count: usize, is_used: bool| {
        if is_used && count > 0 {
            report.set(name, count);
        }
    };
    let is_ranked = data.task() == Task::MultiLabel && metrics.contains(&Metric::Lrap);
    add("n_unlabelled", statistics.n_unlabelled, is_ranked);
    let needs_both = |metric: &Metric| {
        matches!(
            metric,
            Metric::MacroAuc | Metric::Mcc | Metric::GMean | Metric::BalancedAccuracy
        )
    };
    let needs_both = metrics.iter().any(needs_both);
    let needs_positives = needs_both || metrics.contains(&Metric::AveragePrecision);
    let (counts, missing) = (&statistics.counts, &statistics.missing);
    let labels = (0..counts.len()).filter(|output| data.is_label(*output));
    let never = |output: &usize| counts[*output] == 0;
    let always =
        |output: &usize| counts[*output] > 0 && counts[*output] + missing[*output] == statistics.n_samples;
    let (n_never, n_always) = (
        labels.clone().filter(never).count(),
        labels.filter(always).count(),
    );
    add("n_labels_without_positives", n_never, needs_positives);
    add("n_labels_without_negatives", n_always, needs_both);
}
