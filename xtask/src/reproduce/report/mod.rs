//! Writes results down: for a terminal, in Markdown, CSV and JSON, and as one HTML page with figures.

mod axis;
mod chart;
mod csv;
mod document;
mod figures;
mod html;
mod json;
mod markdown;
mod numbers;
mod ranks;
mod sections;
mod sets;
mod table;

use crate::reproduce::claims;
use crate::reproduce::describe::Description;
use crate::reproduce::published::Paper;
use crate::reproduce::results::Results;
use anyhow::Context;
pub(crate) use ranks::Ranks;
use std::path::Path;
use table::Table;

/// Prints the report and writes it into a folder, in every form.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write(results: &Results<'_>, folder: &Path) -> anyhow::Result<()> {
    let claims = claims::check(results);
    let ranks = Ranks::all(results);
    let document = sections::document(results, &claims, &ranks);
    let markdown = markdown::render(&document);
    print!("{markdown}");
    let page = html::render(&document, &figures::charts(results), &ranks)?;
    let forms = [
        ("report.html", page),
        ("report.md", markdown),
        ("cells.csv", csv::render(results)),
        ("results.json", json::render(results, &claims)?),
    ];
    for (name, text) in forms {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The experiments there are, as a table.
pub(crate) fn listing(descriptions: &[Description]) -> String {
    let mut table = Table::new(["experiment", "paper", "table", "time on 2 cores", "what"]);
    for description in descriptions {
        let paper = description.paper.map_or("", Paper::short);
        table.row([
            description.name.as_str(),
            paper,
            &description.table,
            &description.expected,
            &description.title,
        ]);
    }
    table.markdown()
}
