//! Renders a report as one self-contained HTML page: figures are inline SVG, and the page follows the reader's dark
//! mode.

use super::document::{Block, Document};
use super::figures::Figure;
use super::table::Table;
use crate::analyse::claims::{Claim, Finding};

pub(super) fn render(document: &Document, figures: &[Figure]) -> String {
    let title = escaped(&document.title);
    let style = include_str!("style.css");
    let mut body = format!("<h1>{title}</h1>\n");
    let mut drawn = figure_section(figures);
    for block in &document.blocks {
        // Figures come before the first table: claims, then figures, then numbers.
        if matches!(block, Block::Heading(text) if text != "Claims") {
            body.push_str(&std::mem::take(&mut drawn));
        }
        body.push_str(&element(block));
    }
    body.push_str(&drawn);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{style}</style>\n<main>\n{body}</main>\n</html>\n"
    )
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
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

/// Renders text in which backticks mark code, as in Markdown.
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
        .rows
        .iter()
        .map(|row| format!("<tr>{}</tr>\n", cells(row, "td")))
        .collect();
    let head = cells(&table.head, "th");
    format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
}

fn figure_section(figures: &[Figure]) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let figures: String = figures
        .iter()
        .map(|figure| {
            let (title, note) = (escaped(&figure.title), escaped(&figure.note));
            let svg = &figure.svg;
            format!("<figure>\n<figcaption>{title}</figcaption>\n{svg}<p class=\"why\">{note}</p></figure>\n")
        })
        .collect();
    format!("<h2>Figures</h2>\n<div class=\"figures\">\n{figures}</div>\n")
}
