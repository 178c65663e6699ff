//! Papers and their figures, as stored in `published.json`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A paper.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paper {
    /// Authors and year.
    pub(crate) short: String,
    /// How to cite it.
    pub(crate) citation: String,
}

/// A published figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    pub(crate) paper: String,
    /// The table or section.
    pub(crate) table: String,
    /// The data set, as spelled in the paper.
    pub(crate) dataset: String,
    /// The method, in words.
    pub(crate) method: String,
    /// The measure, by its name in this project.
    pub(crate) measure: String,
    pub(crate) mean: f64,
    /// Standard deviation, if printed.
    pub(crate) std: Option<f64>,
    /// A remark for readers.
    #[serde(default)]
    #[allow(dead_code, reason = "for the readers of the file")]
    pub(crate) note: String,
}

/// All published figures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    /// Papers by their names in descriptions.
    pub(crate) papers: BTreeMap<String, Paper>,
    figures: Vec<Figure>,
}

impl Published {
    /// Returns the contents of the file, which is part of the program.
    ///
    /// # Panics
    /// If the file is malformed, which a test would have shown.
    pub(crate) fn get() -> &'static Self {
        static PUBLISHED: LazyLock<Published> = LazyLock::new(|| {
            serde_json::from_str(include_str!("../../published.json")).expect("published.json is well-formed")
        });
        &PUBLISHED
    }

    /// Returns the figure of a method on a data set, from one table or from any of the paper's tables.
    pub(crate) fn find(
        &self,
        paper: &str,
        table: Option<&str>,
        dataset: &str,
        method: &str,
        measure: &str,
    ) -> Option<&Figure> {
        self.figures.iter().find(|figure| {
            figure.paper == paper
                && table.is_none_or(|table| figure.table == table)
                && figure.dataset == dataset
                && figure.method == method
                && figure.measure == measure
        })
    }

    /// All figures of a table.
    #[cfg(test)]
    pub(crate) fn table(&self, paper: &str, table: &str) -> impl Iterator<Item = &Figure> {
        self.figures
            .iter()
            .filter(move |figure| figure.paper == paper && figure.table == table)
    }
}
