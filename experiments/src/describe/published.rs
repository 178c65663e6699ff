//! The published figures, as the project keeps them in `published.json`.

use anyhow::Context;
use serde::Deserialize;

/// A paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Paper {
    /// The forest paper.
    Forests,
    /// The boosting paper.
    Boosting,
    /// The Hellinger paper.
    Hellinger,
    /// The CRAFTML report.
    Craftml,
    /// The embedding paper.
    Embedding,
}

impl Paper {
    /// Authors and year.
    pub(crate) fn short(self) -> &'static str {
        match self {
            Self::Forests => "Joly et al. 2014",
            Self::Boosting => "Joly et al. 2019",
            Self::Hellinger => "Daniels & Metaxas 2017",
            Self::Craftml => "CRAFTML report",
            Self::Embedding => "Karampatziakis & Mineiro 2015",
        }
    }

    /// How to cite it.
    pub(crate) fn citation(self) -> &'static str {
        match self {
            Self::Forests => {
                "A. Joly, P. Geurts, L. Wehenkel: Random forests with random projections of the output space for \
                 high dimensional multi-label classification. ECML PKDD 2014"
            }
            Self::Boosting => {
                "A. Joly, L. Wehenkel, P. Geurts: Gradient tree boosting with random output projections for multi-label \
                 classification and multi-output regression. 2019"
            }
            Self::Hellinger => {
                "Z. A. Daniels, D. N. Metaxas: Addressing imbalance in multi-label classification using structured \
                 Hellinger forests. AAAI 2017"
            }
            Self::Craftml => {
                "Project report: Implementation and analysis of CRAFTML, an efficient clustering-based random forest for \
                 extreme multi-label learning; the method is that of W. Siblini, P. Kuntz, F. Meyer, ICML 2018"
            }
            Self::Embedding => {
                "N. Karampatziakis, P. Mineiro: Scalable multilabel prediction via randomized methods. 2015"
            }
        }
    }
}

/// A published figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// The paper.
    pub(crate) paper: Paper,
    /// Its table or section.
    pub(crate) table: String,
    /// Data set, in the paper's spelling.
    pub(crate) dataset: String,
    /// Method, in words.
    pub(crate) method: String,
    /// What was measured, by this project's name.
    pub(crate) measure: String,
    /// Mean.
    pub(crate) mean: f64,
    /// Standard deviation, where one is printed.
    pub(crate) std: Option<f64>,
    /// What is worth knowing about it.
    #[serde(default)]
    #[allow(dead_code, reason = "for the readers of the file")]
    pub(crate) note: String,
}

/// All published figures.
pub(crate) struct Published(Vec<Figure>);

impl Published {
    /// Reads the file that is part of the program.
    ///
    /// # Errors
    /// If the file is malformed.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let figures = serde_json::from_str(include_str!("../../published.json"));
        Ok(Self(figures.context("experiments/published.json")?))
    }

    /// The figure of a method on a data set, from one table, or from any of the paper's tables.
    pub(crate) fn get(
        &self,
        paper: Paper,
        table: Option<&str>,
        dataset: &str,
        method: &str,
        measure: &str,
    ) -> Option<&Figure> {
        self.0.iter().find(|figure| {
            figure.paper == paper
                && table.is_none_or(|table| figure.table == table)
                && figure.dataset == dataset
                && figure.method == method
                && figure.measure == measure
        })
    }

    /// All figures of a table.
    #[cfg(test)]
    pub(crate) fn table(&self, paper: Paper, table: &str) -> impl Iterator<Item = &Figure> {
        self.0
            .iter()
            .filter(move |figure| figure.paper == paper && figure.table == table)
    }
}
