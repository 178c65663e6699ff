//! A report in Markdown, which a terminal shows as well.

use super::document::{Block, Document};
use crate::reproduce::claims::Claim;

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
            Block::Table(table) => text.push_str(&table.markdown()),
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
