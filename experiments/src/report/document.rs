//! The contents of a report, independent of Markdown or HTML.

use super::table::Table;
use crate::analyse::claims::Claim;

/// A report.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

/// A part of a report.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Heading(String),
    Paragraph(String),
    List(Vec<String>),
    Claims(Vec<Claim>),
    Table(Table),
}
