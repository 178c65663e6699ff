//! A report as one HTML page that needs nothing else: figures are SVG, and it is dark where the reader's is.

use super::chart::{Chart, Mark};
use super::document::{Block, Document};
use super::ranks::Ranks;
use super::table::Table;
use crate::reproduce::claims::{Claim, Finding};

/// # Errors
/// If a figure cannot be drawn.
pub(super) fn render(document: &Document, charts: &[Chart], ranks: &[Ranks]) -> anyhow::Result<String> {
    let title = escaped(&document.title);
    let style = include_str!("style.css");
    let mut body = format!("<h1>{title}</h1>\n");
    let mut drawn = figures(charts, ranks)?;
    for block in &document.blocks {
        // Figures come before the first table: what was found, then how it looks, then the numbers.
        if matches!(block, Block::Heading(text) if text != "Claims") && !drawn.is_empty() {
            body.push_str(&std::mem::take(&mut drawn));
        }
        body.push_str(&element(block));
    }
    body.push_str(&drawn);
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{style}</style>\n<main>\n{body}</main>\n</html>\n"
    ))
}

/// Text that is not markup.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn element(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("<h2>{}</h2>\n", escaped(text)),
        Block::Paragraph(text) => format!("<p>{}</p>\n", prose(text)),
        Block::List(items) => {
            let items: String = items
                .iter()
                .map(|item| format!("<li>{}</li>\n", prose(item)))
                .collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Claims(claims) => {
            let items: String = claims.iter().map(claim).collect();
            format!("<ul class=\"claims\">\n{items}</ul>\n")
        }
        Block::Table(table) => format!("<div class=\"scroll\">\n{}</div>\n", table_element(table)),
    }
}

/// Text in which backticks mark code, as in Markdown.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(i, part)| match i % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    });
    parts.collect()
}

fn claim(claim: &Claim) -> String {
    let class = match claim.finding {
        Finding::Supported => "yes",
        Finding::NotSupported => "no",
        Finding::NotRun => "open",
    };
    format!(
        "<li><span class=\"finding {class}\">{}</span> {} <span class=\"where\">{}</span><br><span class=\"why\">{}</span></li>\n",
        claim.finding.words(),
        escaped(&claim.says),
        escaped(&claim.at),
        escaped(&claim.why)
    )
}

fn table_element(table: &Table) -> String {
    let class = |column: usize| {
        if table.is_numeric(column) {
            " class=\"figure\""
        } else {
            ""
        }
    };
    let cells = |line: &[String], tag: &str| -> String {
        let cell =
            |(column, text): (usize, &String)| format!("<{tag}{}>{}</{tag}>", class(column), escaped(text));
        line.iter().enumerate().map(cell).collect()
    };
    let rows: String = table
        .rows()
        .iter()
        .map(|row| format!("<tr>{}</tr>\n", cells(row, "td")))
        .collect();
    let head = cells(table.head(), "th");
    format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
}

fn figures(charts: &[Chart], ranks: &[Ranks]) -> anyhow::Result<String> {
    let mut figures = String::new();
    for chart in charts {
        let svg = chart.svg()?;
        if !svg.is_empty() {
            let caption = escaped(&chart.title);
            figures.push_str(&format!(
                "<figure>\n<figcaption>{caption}</figcaption>\n{svg}{}</figure>\n",
                legend(chart)
            ));
        }
    }
    for ranks in ranks {
        let (svg, sentence) = (ranks.svg()?, escaped(&ranks.sentence()));
        figures.push_str(&format!(
            "<figure>\n<figcaption>{}, critical differences</figcaption>\n{svg}<p class=\"why\">{sentence}</p></figure>\n",
            escaped(ranks.metric())
        ));
    }
    if figures.is_empty() {
        return Ok(figures);
    }
    Ok(format!(
        "<h2>Figures</h2>\n<div class=\"figures\">\n{figures}</div>\n"
    ))
}

fn legend(chart: &Chart) -> String {
    let items: String = chart
        .series
        .iter()
        .filter(|series| !series.points.is_empty())
        .map(|series| {
            let mark = match series.mark {
                Mark::Line => "line",
                Mark::Dots => "dots",
                Mark::Level | Mark::Guide => "dashed",
                Mark::Published => "published",
            };
            let number = series.colour % super::chart::N_COLOURS;
            let name = escaped(&series.name);
            format!("<li style=\"--mark: var(--series-{number})\"><i class=\"{mark}\"></i>{name}</li>\n")
        })
        .collect();
    format!("<ul class=\"legend\">\n{items}</ul>\n")
}
