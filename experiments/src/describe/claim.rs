//! What an experiment is to show.

use serde::Deserialize;
use toml::Spanned;

/// A sentence of the paper and the check that decides whether it holds here: exactly one of `compare`, `reaches`,
/// `significant`, `published`, `verdicts` and `ranks`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ClaimText {
    /// The sentence.
    pub(crate) says: String,
    /// Where the paper says it.
    pub(crate) at: String,
    /// What is known about why it holds or does not, shown with the figures.
    pub(crate) remark: Option<String>,
    /// The data sets it speaks of; all if not given.
    pub(crate) on: Option<Vec<Spanned<String>>>,
    /// Compares two columns.
    pub(crate) compare: Option<Compare>,
    /// Compares what two curves need for a score.
    pub(crate) reaches: Option<Reaches>,
    /// Tests columns pair by pair.
    pub(crate) significant: Option<Significant>,
    /// Compares with the published figures.
    pub(crate) published: Option<WithinPublished>,
    /// Compares verdicts of the paper's rule with those of its own figures.
    pub(crate) verdicts: Option<SameVerdicts>,
    /// Compares mean ranks over the data sets.
    pub(crate) ranks: Option<Ahead>,
}

/// How a column relates to another on each data set. "Differs" is the rule of Table 1: by more than the larger
/// of the two standard deviations. A method with values along the axis stands for its best column.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Compare {
    /// A column.
    pub(crate) left: Spanned<String>,
    /// The relation.
    #[serde(rename = "is")]
    pub(crate) relation: Relation,
    /// Another column.
    pub(crate) right: Spanned<String>,
    /// The measure; the score if not given.
    pub(crate) of: Option<Spanned<String>>,
    /// Share of the data sets on which it must hold; 1 if not given.
    pub(crate) share: Option<f64>,
}

/// A curve reaches the best score of another at a fraction of the cost that the other has there.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Reaches {
    /// A method with values along the axis.
    pub(crate) curve: Spanned<String>,
    /// Another.
    pub(crate) best_of: Spanned<String>,
    /// The measure of the cost.
    pub(crate) of: Spanned<String>,
    /// How many times less it must cost at least.
    pub(crate) times: f64,
    /// Share of the data sets on which it must hold; 1 if not given.
    pub(crate) share: Option<f64>,
}

/// Of the pairs of some columns, exactly some differ by the t test paired by repetition, two-sided at 0.05.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Significant {
    /// The columns.
    pub(crate) among: Vec<Spanned<String>>,
    /// The pairs that differ, the better one first.
    pub(crate) pairs: Vec<[Spanned<String>; 2]>,
    /// The metric; the score if not given.
    pub(crate) of: Option<Spanned<String>>,
    /// Share of all pairs of which this must be right; 1 if not given.
    pub(crate) share: Option<f64>,
}

/// A relation between two columns.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Relation {
    /// Better, and different.
    Better,
    /// Worse, and different.
    Worse,
    /// Not different.
    Same,
    /// Better or not different.
    NotWorse,
    /// Left mean over right mean within these bounds.
    Ratio(f64, f64),
}

/// Each of some columns has a better mean rank over the data sets than each of some others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Ahead {
    /// Columns with the better mean ranks.
    pub(crate) ahead: Vec<Spanned<String>>,
    /// Columns with the worse ones.
    pub(crate) behind: Vec<Spanned<String>>,
    /// The metric; the score if not given.
    pub(crate) of: Option<Spanned<String>>,
}

/// Our means lie within the published standard deviation, widened by a slack, of the published means, or are better where that
/// counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct WithinPublished {
    /// The metric; the score if not given.
    pub(crate) of: Option<Spanned<String>>,
    /// The columns; all that have published figures if not given.
    pub(crate) columns: Option<Vec<Spanned<String>>>,
    /// Added to the published standard deviation.
    pub(crate) slack: f64,
    /// Better means count as well, however far they are.
    #[serde(default)]
    pub(crate) or_better: bool,
    /// Share of the cells that must.
    pub(crate) share: f64,
}

/// A column differs from the baseline here exactly where it does in print.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SameVerdicts {
    /// The column.
    pub(crate) column: Spanned<String>,
    /// Share of the data sets on which it must.
    pub(crate) share: f64,
}
