//! A report, before it is Markdown or HTML.

use super::table::Table;
use crate::analyse::claims::Claim;

/// A report.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// Its title.
    pub(crate) title: String,
    /// What it consists of.
    pub(crate) blocks: Vec<Block>,
}

/// A part of a report.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    /// The heading of a section.
    Heading(String),
    /// A paragraph.
    Paragraph(String),
    /// A list of sentences.
    List(Vec<String>),
    /// Claims and what became of them.
    Claims(Vec<Claim>),
    /// A table.
    Table(Table),
}
