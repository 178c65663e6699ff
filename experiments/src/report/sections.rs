//! The sections of a report.

use super::document::{Block, Document};
use super::numbers::{Significant, show};
use super::sets::set_section;
use super::table::Table;
use crate::analyse::Analysis;
use crate::analyse::claims::{Claim, Finding};
use crate::analyse::ranks::{ALPHA, Ranks};
use crate::analyse::results::{Results, Summary};
use crate::describe::measures::{self, p_relation, p_value};

pub(super) fn document(analysis: &Analysis<'_>) -> Document {
    let results = &analysis.results;
    let description = results.description;
    let mut blocks = Vec::new();
    let from = description
        .paper()
        .map(|paper| format!("{}. {}.", paper.citation, description.table));
    blocks.extend(from.map(Block::Paragraph));
    blocks.extend(
        description
            .about
            .trim()
            .split("\n\n")
            .map(|p| Block::Paragraph(p.trim().to_owned())),
    );
    blocks.extend(results.plan.time_budget.map(|times| {
        Block::Paragraph(format!(
            "**Limited by time:** a fit of boosting ends after {times} times the time of one step of gbmort with stumps and \
             the square loss on the same samples, not after a number of steps. What is below depends on the machine and on what \
             ran beside it."
        ))
    }));
    blocks.extend(claim_section(&analysis.claims));
    let metrics = description.metrics.iter().map(|metric| metric.get_ref().as_str());
    let mut scores: Vec<&str> = metrics.collect();
    if scores.is_empty() {
        scores.push(description.score());
    }
    blocks.extend(scores.iter().flat_map(|score| score_section(results, score)));
    blocks.extend(interval_section(results));
    blocks.extend(analysis.ranks.iter().flat_map(rank_section));
    blocks.extend(published_section(results));
    blocks.extend(cost_section(results));
    blocks.extend(set_section(results));
    Document {
        title: description.title.clone(),
        blocks,
    }
}

/// A section; empty if its table is empty.
pub(super) fn section(heading: &str, explained: &str, table: Table) -> Vec<Block> {
    if table.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading(heading.to_owned())];
    if !explained.is_empty() {
        blocks.push(Block::Paragraph(explained.to_owned()));
    }
    blocks.push(Block::Table(table));
    blocks
}

fn claim_section(claims: &[Claim]) -> Vec<Block> {
    if claims.is_empty() {
        return Vec::new();
    }
    let count = |finding| claims.iter().filter(|claim| claim.finding == finding).count();
    let counts = format!(
        "{} supported, {} not supported, {} not run. Two means differ if they are further apart than the larger of their \
         standard deviations, the paper's own rule. The p-values are of the t test paired by repetition. Where \
         repetitions are splits of one data set they overlap, and the test is too ready to find a difference: the corrected \
         resampled t test of Nadeau and Bengio (2003) stands beside it, and decides.",
        count(Finding::Supported),
        count(Finding::NotSupported),
        count(Finding::NotRun)
    );
    vec![
        Block::Heading("Claims".to_owned()),
        Block::Paragraph(counts),
        Block::Claims(claims.to_vec()),
    ]
}

/// Intervals of the metrics, together with published values.
fn interval_section(results: &Results<'_>) -> Vec<Block> {
    let mut table = Table::new([
        "data set",
        "method",
        "metric",
        "value",
        "90 % interval",
        "published",
    ]);
    for place in results.places() {
        for metric in &results.description.metrics {
            let metric = metric.get_ref();
            let summary = |measure: &str| results.summary(place.dataset, place.column, measure);
            let mean = |measure: &str| summary(measure).map(|s| s.mean);
            let bounds = mean(&measures::low(metric)).zip(mean(&measures::high(metric)));
            let (Some(value), Some((low, high))) = (mean(metric), bounds) else {
                continue;
            };
            let interval = |low: f64, high: f64| format!("[{low:.4}, {high:.4}]");
            let published = results.published(place.dataset, place.column, metric);
            let published = published.map_or_else(String::new, |p| match p.std.map(|std| NORMAL_95 * std) {
                Some(half) => interval(p.mean - half, p.mean + half),
                None => p.mean.to_string(),
            });
            table.row([
                place.set.name.clone(),
                place.method.label.clone(),
                metric.clone(),
                format!("{value:.4}"),
                interval(low, high),
                published,
            ]);
        }
    }
    let explained = "Percentile intervals of the bootstrap over test samples, means over repetitions. Published intervals are \
                     of the same kind.";
    section("Intervals", explained, table)
}

/// The 95 % quantile of the normal distribution, by which published intervals were converted to deviations.
const NORMAL_95: f64 = 1.645;

/// Mean ranks, and tests of the pairs of methods.
fn rank_section(ranks: &Ranks) -> Vec<Block> {
    let explained = "Wilcoxon's signed-rank test on the means per data set: on how many sets the first method has the larger or \
                     the smaller one, exact two-sided p-values, and those corrected by Holm for all pairs.";
    let mut table = Table::new(["first", "second", "larger on", "smaller on", "p", "p, Holm"]);
    for pair in ranks.pairs() {
        table.row([
            ranks.names[pair.first].clone(),
            ranks.names[pair.second].clone(),
            pair.larger.to_string(),
            pair.smaller.to_string(),
            p_value(pair.p),
            p_value(pair.corrected),
        ]);
    }
    vec![
        Block::Heading(format!("{}, ranks", ranks.metric)),
        Block::Paragraph(rank_sentence(ranks)),
        Block::Paragraph(explained.to_owned()),
        Block::Table(table),
    ]
}

/// A sentence on the tests of mean ranks.
pub(super) fn rank_sentence(ranks: &Ranks) -> String {
    let test = ranks.friedman.tie_corrected;
    let means = ranks.names.iter().zip(ranks.average_ranks());
    let means: Vec<String> = means.map(|(name, rank)| format!("{name} {rank:.2}")).collect();
    format!(
        "Mean ranks over {} data sets: {}. Friedman's test with the correction of Iman and Davenport: F = {:.2}, p {}; \
         by Nemenyi's test at {ALPHA} methods differ if their mean ranks are at least {:.2} apart. A bar joins methods \
         that do not differ.",
        ranks.n_datasets(),
        means.join(", "),
        test.f,
        p_relation(test.f_p),
        ranks.critical_difference,
    )
}

/// A score, with methods as columns. Rows are data sets, or, if there is an axis, its values.
fn score_section(results: &Results<'_>, score: &str) -> Vec<Block> {
    let heading = measures::label(score);
    if results.description.axis.is_none() {
        let labels = results.plan.columns.iter().map(|column| column.label.clone());
        let mut table = Table::new(std::iter::once("data set".to_owned()).chain(labels));
        for (dataset, set) in results.plan.datasets.iter().enumerate() {
            let cells = (0..results.plan.columns.len()).map(|column| {
                let mark = if results.verdicts(dataset, column, score).0 == Some(true) {
                    " *"
                } else {
                    ""
                };
                results
                    .summary(dataset, column, score)
                    .map_or_else(String::new, |s| show(s) + mark)
            });
            table.row(std::iter::once(set.name.clone()).chain(cells));
        }
        let explained = match results.baseline() {
            Some(baseline) => format!(
                "Mean ± standard deviation over repetitions. * differs from {:?} by more than the larger of the two \
                 deviations.",
                results.plan.columns[baseline].label
            ),
            None => "Mean ± standard deviation over repetitions.".to_owned(),
        };
        return section(&heading, &explained, table);
    }
    let mut blocks = Vec::new();
    for (dataset, set) in results.plan.datasets.iter().enumerate() {
        let heading = format!("{heading} on {}", set.name);
        blocks.extend(section(&heading, "", along_axis(results, dataset, score)));
    }
    blocks
}

/// Rows along the axis and a column for each method; methods without a list have their own row.
fn along_axis(results: &Results<'_>, dataset: usize, score: &str) -> Table {
    let (description, plan) = (results.description, results.plan);
    let axis = description.axis_label();
    let cell = |column: usize| {
        results
            .summary(dataset, column, score)
            .map_or_else(String::new, show)
    };
    let mut table =
        Table::new(std::iter::once(axis.to_owned()).chain(results.curves().map(|(_, name)| name)));
    let mut values: Vec<(f64, &str)> = Vec::new();
    for (column, planned) in plan.columns.iter().enumerate() {
        let place = plan.position(description, dataset, column);
        if let Some((place, value)) = place.zip(planned.value.as_deref())
            && !values.iter().any(|(_, known)| *known == value)
        {
            values.push((place, value));
        }
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (place, value) in values {
        let name = if place.to_string() == value {
            value.to_owned()
        } else {
            format!("{place} ({value})")
        };
        let cells = results.curves().map(|(method, _)| {
            let column = plan
                .columns
                .iter()
                .position(|c| c.method == method && c.value.as_deref() == Some(value));
            column.map_or_else(String::new, cell)
        });
        table.row(std::iter::once(name).chain(cells));
    }
    let levels: Vec<String> = results
        .curves()
        .map(|(method, _)| {
            let column = plan
                .columns
                .iter()
                .position(|c| c.method == method && c.value.is_none());
            column.map_or_else(String::new, cell)
        })
        .collect();
    if levels.iter().any(|level| !level.is_empty()) {
        table.row(std::iter::once("-".to_owned()).chain(levels));
    }
    table
}

fn published_section(results: &Results<'_>) -> Vec<Block> {
    let head = [
        "data set",
        "method",
        "measure",
        "published",
        "ours",
        "runs",
        "difference",
        "in std",
        "verdict",
    ];
    let with_rule = results.baseline().is_some();
    let rule = ["differs in print", "differs here"]
        .into_iter()
        .filter(|_| with_rule);
    let mut table = Table::new(head.into_iter().chain(rule));
    for place in results.places() {
        for measure in results.measures() {
            let ours = results.summary(place.dataset, place.column, &measure);
            let print = results.published(place.dataset, place.column, &measure);
            let Some((ours, print)) = ours.zip(print) else {
                continue;
            };
            let against = ours.against(print);
            let is_score = results.description.is_metric(&measure);
            let verdict = match (is_score, ours.agrees(print, SLACK)) {
                (false, _) => "",
                (true, true) => "agrees",
                (true, false) => "differs",
            };
            let in_std = against.in_deviations;
            let mut cells = vec![
                place.set.name.clone(),
                place.method.label.clone(),
                measures::label(&measure),
                show(print),
                show(ours),
                ours.n.to_string(),
                format!("{:+}", Significant(against.difference)),
                in_std.map_or_else(String::new, |z| format!("{z:+.1}")),
                verdict.to_owned(),
            ];
            if with_rule {
                let (here, print) = results.verdicts(place.dataset, place.column, &measure);
                let word = |differs: Option<bool>| match differs.filter(|_| is_score) {
                    None => "",
                    Some(true) => "yes",
                    Some(false) => "no",
                };
                cells.extend([word(print).to_owned(), word(here).to_owned()]);
            }
            table.row(cells);
        }
    }
    let explained = format!(
        "\"in std\" is the difference over √(s² + s'²), s and s' the two standard deviations; a score agrees if it lies \
         within the published standard deviation + {SLACK}. A method differs if its mean lies further from the \
         baseline's than the larger of their standard deviations, the rule by which the paper underlines."
    );
    section("Published figures", &explained, table)
}

/// Added to the published deviation: two studies draw different splits, and their means have errors too.
const SLACK: f64 = 0.01;

fn cost_section(results: &Results<'_>) -> Vec<Block> {
    let shown: Vec<String> = if results.description.decompose.is_some() {
        results.measures()
    } else {
        let costs = [
            measures::FIT_CPU,
            measures::PROJECTION,
            measures::PREDICT_CPU,
            measures::MODEL_BYTES,
            measures::PEAK_MEMORY,
        ];
        costs.map(str::to_owned).to_vec()
    };
    let head = ["data set", "method"].map(str::to_owned).into_iter();
    let mut table = Table::new(head.chain(shown.iter().map(|measure| measures::label(measure))));
    for place in results.places() {
        let cell = |measure: &String| {
            let summary = results.summary(place.dataset, place.column, measure);
            summary.map_or_else(String::new, |s| amount(measure, s))
        };
        let cells: Vec<String> = shown.iter().map(cell).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            let names = [place.set.name.clone(), place.method.label.clone()];
            table.row(names.into_iter().chain(cells));
        }
    }
    if results.description.decompose.is_some() {
        return section(
            "Terms of the error",
            "Mean ± standard deviation over repetitions of the whole Monte Carlo.",
            table,
        );
    }
    let explained = "Means over repetitions. Each cell runs on one thread in its own process. Projections: the time of the fit in which \
                     they are drawn and applied. Model file: the file that `rpo` saves.";
    section("Cost", explained, table)
}

fn amount(measure: &str, summary: Summary) -> String {
    match measure {
        measures::MODEL_BYTES | measures::PEAK_MEMORY => format!("{:.1} MB", summary.mean / 1e6),
        measures::FIT_CPU | measures::PREDICT_CPU | measures::PROJECTION => {
            Significant(summary.mean).to_string()
        }
        _ => show(summary),
    }
}
