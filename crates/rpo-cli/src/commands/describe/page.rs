//! The HTML page of a data set: its figures and charts.

use crate::output::Report;
use crate::predictions::json_outputs::add;
use plotters::prelude::*;
use rpo::core::MatrixView;
use rpo::data::{Dataset, LabelStatistics, Names, Task};

/// Largest number of bars in a chart; the others are left out.
const MOST_BARS: usize = 40;
/// Number of intervals for the values of an output.
const INTERVALS: usize = 30;
/// Largest number of outputs with a histogram.
const MOST_OUTPUTS: usize = 12;
/// Size of a chart in pixels.
const SIZE: (u32, u32) = (720, 260);

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222}\
    table{border-collapse:collapse}td{padding:.1rem 1rem .1rem 0}td+td{text-align:right}\
    .bars td{font-size:13px;white-space:nowrap}.bars td+td+td{text-align:left;width:100%}\
    .bars i{display:block;height:.9em;background:#3568a8}svg{width:100%;height:auto}";

/// Builds the page, which needs no other files.
pub(super) fn html(data: &Dataset, statistics: &LabelStatistics, report: &Report) -> String {
    let title = escaped(if data.name.is_empty() { "data" } else { &data.name });
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style><h1>{title}</h1>"
    );
    add(&mut page, format_args!("<table>"));
    for (key, value) in report.rows() {
        add(
            &mut page,
            format_args!("<tr><td>{}</td><td>{}</td></tr>", escaped(key), escaped(&value)),
        );
    }
    add(&mut page, format_args!("</table>"));
    let outputs = data.outputs().view();
    match data.task() {
        Task::MultiLabel => {
            bars(
                &mut page,
                "Samples of each label",
                data.output_names(),
                &statistics.counts,
            );
            let mut per_sample = vec![0; data.n_samples()];
            for (sample, count) in per_sample.iter_mut().enumerate() {
                outputs.for_each_in_row(sample, |_, v| *count += usize::from(v == 1.0));
            }
            let most = per_sample.iter().copied().max().unwrap_or(0);
            let mut counts = vec![0; most + 1];
            per_sample.iter().for_each(|&n| counts[n] += 1);
            let edges: Vec<f64> = (0..=counts.len()).map(|n| n as f64 - 0.5).collect();
            picture(&mut page, "Samples by their number of labels", &edges, &counts);
        }
        Task::Regression => {
            for (j, name) in data.output_names().iter().enumerate().take(MOST_OUTPUTS) {
                let (edges, counts) = intervals(&column(outputs, j));
                picture(&mut page, &format!("Values of {name}"), &edges, &counts);
            }
        }
    }
    for (title, names, moments) in [
        (
            "Missing values of features",
            data.feature_names(),
            data.feature_moments(),
        ),
        (
            "Missing values of outputs",
            data.output_names(),
            data.output_moments(),
        ),
    ] {
        let missing: Vec<usize> = moments.iter().map(|moments| moments.missing).collect();
        if missing.iter().any(|&n| n > 0) {
            bars(&mut page, title, names, &missing);
        }
    }
    page + "</html>\n"
}

/// The observed values of a column.
fn column(matrix: MatrixView<'_>, column: usize) -> Vec<f64> {
    let mut row = vec![0.0; matrix.n_cols()];
    let values = (0..matrix.n_rows()).map(|sample| {
        matrix.copy_row(sample, &mut row);
        f64::from(row[column])
    });
    values.filter(|value| !value.is_nan()).collect()
}

/// Returns the edges of intervals of equal width and the number of values in each.
fn intervals(values: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low >= high || values.is_empty() {
        let only = values.first().copied().unwrap_or(0.0);
        return (vec![only - 0.5, only + 0.5], vec![values.len()]);
    }
    let width = (high - low) / INTERVALS as f64;
    let mut counts = vec![0; INTERVALS];
    for value in values {
        counts[(((value - low) / width) as usize).min(INTERVALS - 1)] += 1;
    }
    ((0..=INTERVALS).map(|i| low + i as f64 * width).collect(), counts)
}

/// Draws the largest counts as bars beside their names.
fn bars(page: &mut String, title: &str, names: &Names, counts: &[usize]) {
    let mut order: Vec<usize> = (0..counts.len()).filter(|&j| counts[j] > 0).collect();
    order.sort_by_key(|&j| std::cmp::Reverse(counts[j]));
    let left_out = order.len().saturating_sub(MOST_BARS);
    let most = order.first().map_or(1, |&j| counts[j]);
    add(
        page,
        format_args!("<h2>{}</h2><table class=\"bars\">", escaped(title)),
    );
    for &j in order.iter().take(MOST_BARS) {
        let name = names.get(j).unwrap_or_default();
        let width = 100.0 * counts[j] as f64 / most as f64;
        add(
            page,
            format_args!(
                "<tr><td>{}</td><td>{}</td><td><i style=\"width:{width:.1}%\"></i></td></tr>",
                escaped(&name),
                counts[j]
            ),
        );
    }
    add(page, format_args!("</table>"));
    if left_out > 0 {
        add(page, format_args!("<p>{left_out} smaller ones are left out.</p>"));
    }
}

/// Draws a histogram.
fn picture(page: &mut String, title: &str, edges: &[f64], counts: &[usize]) {
    let mut svg = String::new();
    // Drawing into memory does not fail; if it did, the chart would be left out.
    if draw(&mut svg, edges, counts).is_ok() {
        add(page, format_args!("<h2>{}</h2>{svg}", escaped(title)));
    }
}

fn draw(
    svg: &mut String,
    edges: &[f64],
    counts: &[usize],
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let (low, high) = (edges[0], edges[edges.len() - 1]);
    let mut chart = ChartBuilder::on(&area)
        .margin(8)
        .x_label_area_size(30)
        .y_label_area_size(60)
        .build_cartesian_2d(low..high, 0.0..1.05 * most as f64)?;
    chart.configure_mesh().disable_x_mesh().y_desc("samples").draw()?;
    let colour = RGBColor(53, 104, 168).filled();
    let bar =
        |(pair, &count): (&[f64], &usize)| Rectangle::new([(pair[0], 0.0), (pair[1], count as f64)], colour);
    chart.draw_series(edges.windows(2).zip(counts).map(bar))?;
    area.present()
}

/// Escapes a text for HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::intervals;

    #[test]
    fn every_value_is_in_an_interval() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i * i)).collect();
        let (edges, counts) = intervals(&values);
        assert_eq!(
            (edges.len(), counts.iter().sum::<usize>()),
            (counts.len() + 1, 1000)
        );
        let within = |i: usize| {
            values
                .iter()
                .filter(|v| **v >= edges[i] && **v < edges[i + 1])
                .count()
        };
        assert_eq!(within(3), counts[3]);
        assert_eq!(intervals(&[2.0, 2.0]), (vec![1.5, 2.5], vec![2]));
        assert_eq!(intervals(&[]).1, [0]);
    }
}
