//! Renders a report in Markdown that is also readable in a terminal.

use super::document::{Block, Document};
use super::table::Table;
use crate::analyse::claims::Claim;

pub(super) fn render(document: &Document) -> String {
    let mut text = format!("# {}\n", document.title);
    for block in &document.blocks {
        text.push('\n');
        match block {
            Block::Heading(heading) => text.push_str(&format!("## {heading}\n")),
            Block::Paragraph(paragraph) => text.push_str(&format!("{paragraph}\n")),
            Block::List(items) => items
                .iter()
                .for_each(|item| text.push_str(&format!("* {item}\n"))),
            Block::Claims(claims) => claims.iter().for_each(|claim| text.push_str(&sentence(claim))),
            Block::Table(table) => text.push_str(&self::table(table)),
        }
    }
    text
}

fn sentence(claim: &Claim) -> String {
    let Claim {
        says,
        at,
        finding,
        why,
    } = claim;
    format!("* **{}**: {says} ({at})\n  Here: {why}.\n", finding.words())
}

/// Renders a table in Markdown, padded to be readable in a terminal.
pub(super) fn table(table: &Table) -> String {
    let escape = |cell: &String| cell.replace('|', "\\|");
    let lines: Vec<Vec<String>> = std::iter::once(&table.head)
        .chain(&table.rows)
        .map(|line| line.iter().map(escape).collect())
        .collect();
    let widths: Vec<usize> = (0..table.head.len())
        .map(|column| {
            lines
                .iter()
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or(0)
                .max(3)
        })
        .collect();
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            let padded = if table.is_numeric(column) && number > 0 {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            };
            text.push_str(&format!("| {padded} "));
        }
        text.push_str("|\n");
        if number == 0 {
            for (column, &width) in widths.iter().enumerate() {
                let end = if table.is_numeric(column) { ':' } else { '-' };
                text.push_str(&format!("| {}{end} ", "-".repeat(width - 1)));
            }
            text.push_str("|\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_right_and_bars_are_escaped() {
        let mut table = Table::new(["a|b", "score"]);
        table.row(["x", "0.5"]);
        table.row(["yy", "-10"]);
        let expected = "| a\\|b | score |\n| ---- | ----: |\n| x    |   0.5 |\n| yy   |   -10 |\n";
        assert_eq!(super::table(&table), expected);
    }
}
