//! Draws the figures of a report.

use super::{critical_difference, sections};
use crate::analyse::Analysis;
use crate::analyse::results::{Results, Summary};
use crate::chart::{Chart, Mark, Point, Scale, Series};
use crate::describe::measures;

/// A drawing.
pub(super) struct Figure {
    pub(super) file_name: String,
    pub(super) title: String,
    pub(super) svg: String,
    /// An explanation, if needed.
    pub(super) note: String,
}

impl Figure {
    fn new(title: String, svg: String, note: String) -> Self {
        let words: Vec<String> = title
            .to_lowercase()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        Self {
            file_name: format!("{}.svg", words.join("-")),
            title,
            svg,
            note,
        }
    }
}

/// The figures of a report: charts, then critical-difference diagrams.
///
/// # Errors
/// If one cannot be drawn.
pub(super) fn figures(analysis: &Analysis<'_>) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for chart in charts(&analysis.results) {
        let svg = chart.svg()?;
        if !svg.is_empty() {
            figures.push(Figure::new(chart.title, svg, String::new()));
        }
    }
    for ranks in &analysis.ranks {
        let title = format!("{}, critical differences", ranks.metric);
        let svg = critical_difference::svg(ranks)?;
        figures.push(Figure::new(title, svg, sections::rank_sentence(ranks)));
    }
    Ok(figures)
}

fn charts(results: &Results<'_>) -> Vec<Chart> {
    let mut charts = Vec::new();
    for dataset in 0..results.plan.datasets.len() {
        if results.description.axis.is_some() {
            let measures = results
                .description
                .figures
                .iter()
                .map(|name| name.get_ref().as_str());
            let mut measures: Vec<&str> = measures.collect();
            if measures.is_empty() {
                measures.push(results.description.score());
            }
            charts.extend(
                measures
                    .into_iter()
                    .map(|measure| along_axis(results, dataset, measure)),
            );
        }
    }
    charts.extend(published_and_ours(results));
    if results.description.decompose.is_none() {
        charts.extend((0..results.plan.datasets.len()).map(|dataset| score_and_time(results, dataset)));
    }
    charts
}

fn point(x: f64, summary: Summary) -> Point {
    Point {
        x,
        y: summary.mean,
        spread: summary.std.unwrap_or(0.0),
    }
}

fn scale(label: impl Into<String>, log: bool) -> Scale {
    Scale {
        label: label.into(),
        log,
    }
}

/// A measure against the axis: a curve per method, a level for a method without a list, and published figures.
fn along_axis(results: &Results<'_>, dataset: usize, measure: &str) -> Chart {
    let (description, plan) = (results.description, results.plan);
    let mut series = Vec::new();
    for (colour, (method, name)) in results.curves().enumerate() {
        let columns = || (0..plan.columns.len()).filter(|&column| plan.columns[column].method == method);
        let along = |what: &dyn Fn(usize) -> Option<Summary>| {
            let points = columns().filter_map(|column| {
                Some(point(plan.position(description, dataset, column)?, what(column)?))
            });
            let mut points: Vec<Point> = points.collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            points
        };
        let ours = along(&|column| results.summary(dataset, column, measure));
        let print = along(&|column| results.published(dataset, column, measure));
        let level = columns().find(|&column| plan.columns[column].value.is_none());
        let level = level.and_then(|column| results.summary(dataset, column, measure));
        let mut add = |mark, name: &str, points: Vec<Point>| {
            if !points.is_empty() {
                series.push(Series {
                    name: name.to_owned(),
                    colour,
                    mark,
                    points,
                });
            }
        };
        if let Some(level) = level {
            // Placed at an existing point, so that the range of the axis is that of the curves.
            let at = plan
                .columns
                .iter()
                .enumerate()
                .find_map(|(c, _)| plan.position(description, dataset, c));
            add(
                Mark::Level,
                &name,
                at.map(|at| Point {
                    spread: 0.0,
                    ..point(at, level)
                })
                .into_iter()
                .collect(),
            );
        }
        add(Mark::Line, &name, ours);
        add(Mark::Published, &format!("{name}, published"), print);
    }
    Chart {
        title: format!("{} on {}", measures::label(measure), plan.datasets[dataset].name),
        x: scale(description.axis_label(), description.log_axis),
        y: scale(measures::label(measure), description.log_values),
        series,
    }
}

/// A chart of published means against ours, with the diagonal of equality.
fn published_and_ours(results: &Results<'_>) -> Option<Chart> {
    let score = results.description.score();
    let mut series = Vec::new();
    let mut ends = (f64::INFINITY, f64::NEG_INFINITY);
    for (column, method) in results.plan.columns.iter().enumerate() {
        let both = (0..results.plan.datasets.len()).filter_map(|dataset| {
            results
                .published(dataset, column, score)
                .zip(results.summary(dataset, column, score))
        });
        let points: Vec<Point> = both.map(|(print, ours)| point(print.mean, ours)).collect();
        ends = points
            .iter()
            .fold(ends, |(low, high), p| (low.min(p.x), high.max(p.x)));
        series.push(Series {
            name: method.label.clone(),
            colour: column,
            mark: Mark::Dots,
            points,
        });
    }
    let diagonal = [ends.0, ends.1]
        .map(|end| Point {
            x: end,
            y: end,
            spread: 0.0,
        })
        .to_vec();
    // A single data set is not drawn.
    (ends.1 > ends.0).then(|| {
        series.push(Series {
            name: "equal".to_owned(),
            colour: 7,
            mark: Mark::Guide,
            points: diagonal,
        });
        Chart {
            title: format!("{}, published and ours", measures::label(score)),
            x: scale("published", false),
            y: scale("ours", false),
            series,
        }
    })
}

/// A chart of score against the fit's CPU time, with a point or curve per method.
fn score_and_time(results: &Results<'_>, dataset: usize) -> Chart {
    let plan = results.plan;
    let score = results.description.score();
    let series = results.curves().enumerate().map(|(colour, (method, name))| {
        let columns = (0..plan.columns.len()).filter(|&column| plan.columns[column].method == method);
        let points = columns.filter_map(|column| {
            let time = results.summary(dataset, column, measures::FIT_CPU)?;
            Some(point(time.mean, results.summary(dataset, column, score)?))
        });
        let points: Vec<Point> = points.collect();
        let mark = if points.len() > 1 { Mark::Line } else { Mark::Dots };
        Series {
            name,
            colour,
            mark,
            points,
        }
    });
    Chart {
        title: format!(
            "{} against time on {}",
            measures::label(score),
            plan.datasets[dataset].name
        ),
        x: scale(measures::label(measures::FIT_CPU), true),
        y: scale(measures::label(score), false),
        series: series.collect(),
    }
}
