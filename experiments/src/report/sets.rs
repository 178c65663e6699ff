//! The sections of a report on data sets.

use super::document::Block;
use super::sections::section;
use super::table::Table;
use crate::analyse::results::Results;
use crate::plan::data::Filtered;
use rpo::data::Imbalance;

/// The data sets, their sizes after filtering, and those that were not run.
pub(super) fn set_section(results: &Results<'_>) -> Vec<Block> {
    let mut table = Table::new([
        "data set",
        "in the paper",
        "train",
        "test",
        "features",
        "outputs",
        "note",
    ]);
    for set in &results.plan.datasets {
        let note = set.note.clone().unwrap_or_default();
        table.row([
            set.name.clone(),
            set.published.clone().unwrap_or_else(|| "-".to_owned()),
            set.train.to_string(),
            set.test.to_string(),
            set.n_features.to_string(),
            set.n_outputs.to_string(),
            note,
        ]);
    }
    let mut blocks = section("Data sets", "", table);
    blocks.extend(filtered_section(results));
    if !results.plan.not_run.is_empty() {
        blocks.push(Block::Paragraph("Not run:".to_owned()));
        let items = results
            .plan
            .not_run
            .iter()
            .map(|(name, why)| format!("{name}: {why}"));
        blocks.push(Block::List(items.collect()));
    }
    blocks
}

/// The data sets after filtering, if any are filtered.
fn filtered_section(results: &Results<'_>) -> Vec<Block> {
    let mut table = Table::new([
        "data set",
        "samples",
        "features",
        "labels",
        "density",
        "distinct sets",
        "least imbalance",
        "largest",
        "mean",
    ]);
    let mut any = false;
    for set in &results.plan.datasets {
        let Some(Filtered {
            n_features,
            labels,
            n_distinct,
        }) = &set.filtered
        else {
            continue;
        };
        any = true;
        let ratios = labels.imbalance_ratios(Imbalance::Samples);
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = ratios.iter().copied().fold(0.0, f64::max);
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        table.row([
            set.name.clone(),
            labels.n_samples.to_string(),
            n_features.to_string(),
            ratios.len().to_string(),
            format!("{:.2}", labels.density),
            format!("{:.2}", *n_distinct as f64 / labels.n_samples as f64),
            format!("{least:.2}"),
            format!("{largest:.2}"),
            format!("{mean:.2}"),
        ]);
    }
    let explained = "All samples, after labels and features were left out. Density: the mean fraction of the labels that a sample has. Distinct sets: number of different label sets over the number of samples. Imbalance: the larger over \
                     the smaller of the numbers of samples with and without a label.";
    if any {
        section("Data sets as filtered", explained, table)
    } else {
        Vec::new()
    }
}
