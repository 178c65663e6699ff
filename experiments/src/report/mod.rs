//! Writes reports: Markdown (also printed), LaTeX tables, CSV, JSON, figures as SVG files, and one HTML page.

mod critical_difference;
mod csv;
mod document;
mod figures;
mod html;
mod json;
mod latex;
mod markdown;
mod numbers;
mod sections;
mod sets;
mod table;

pub(crate) use html::escaped;

use crate::analyse::Analysis;
use crate::describe::Description;
use anyhow::Context;
use std::path::Path;
use table::Table;

/// Prints the report and writes it to a folder in every format.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write(analysis: &Analysis<'_>, folder: &Path) -> anyhow::Result<()> {
    let document = sections::document(analysis);
    let figures = figures::figures(analysis)?;
    let markdown = markdown::render(&document);
    print!("{markdown}");
    let drawings = folder.join("figures");
    if drawings.exists() {
        std::fs::remove_dir_all(&drawings).with_context(|| drawings.display().to_string())?;
    }
    std::fs::create_dir(&drawings).with_context(|| drawings.display().to_string())?;
    let mut files = vec![
        (folder.join("report.html"), html::render(&document, &figures)),
        (folder.join("report.md"), markdown),
        (folder.join("tables.tex"), latex::render(&document)),
        (folder.join("cells.csv"), csv::render(&analysis.results)?),
        (folder.join("results.json"), json::render(analysis)?),
    ];
    for figure in figures {
        files.push((drawings.join(&figure.file_name), figure.svg));
    }
    for (path, text) in files {
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Lists the available experiments as a table.
pub(crate) fn listing(descriptions: &[Description]) -> String {
    let mut table = Table::new(["experiment", "paper", "table", "time on 2 cores", "what"]);
    for description in descriptions {
        let paper = description.paper().map_or("", |paper| &paper.short);
        table.row([
            description.name.as_str(),
            paper,
            &description.table,
            &description.expected,
            &description.title,
        ]);
    }
    markdown::table(&table)
}
