//! Claims that an experiment checks.

use serde::Deserialize;
use toml::Spanned;

/// A statement of the paper and the check that decides whether it holds here: exactly one of `compare`, `reaches`,
/// `significant`, `published`, `verdicts` and `ranks`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ClaimText {
    /// The statement.
    pub(crate) says: String,
    /// The place in the paper.
    pub(crate) at: String,
    /// A known reason why it holds or does not, shown with the figures.
    pub(crate) remark: Option<String>,
    /// The data sets to which it applies; all if not given.
    pub(crate) on: Option<Vec<Spanned<String>>>,
    /// Compares two columns.
    pub(crate) compare: Option<Compare>,
    /// Compares the costs at which two curves reach a score.
    pub(crate) reaches: Option<Reaches>,
    /// Tests columns pair by pair.
    pub(crate) significant: Option<Significant>,
    /// Compares with the published figures.
    pub(crate) published: Option<WithinPublished>,
    /// Compares the verdicts of the paper's rule here with those on its own figures.
    pub(crate) verdicts: Option<SameVerdicts>,
    /// Compares mean ranks over the data sets.
    pub(crate) ranks: Option<Ahead>,
}

/// Relation of one column to another on each data set. "Differs" is the rule of Table 1: by more than the larger of the
/// two standard deviations. A method with values along the axis is represented by its best column.
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
    /// Fraction of the data sets on which it must hold; 1 if not given.
    pub(crate) share: Option<f64>,
}

/// A curve reaches the best score of another curve at a fraction of the cost of the other there.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Reaches {
    /// A method with values along the axis.
    pub(crate) curve: Spanned<String>,
    /// Another method with values along the axis.
    pub(crate) best_of: Spanned<String>,
    /// The measure of the cost.
    pub(crate) of: Spanned<String>,
    /// The smallest factor by which it must cost less.
    pub(crate) times: f64,
    /// Fraction of the data sets on which it must hold; 1 if not given.
    pub(crate) share: Option<f64>,
}

/// Exactly the given pairs of columns differ by the t test paired by repetition, two-sided at 0.05.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Significant {
    /// The columns.
    pub(crate) among: Vec<Spanned<String>>,
    /// The pairs that differ, the better one first.
    pub(crate) pairs: Vec<[Spanned<String>; 2]>,
    /// The metric; the score if not given.
    pub(crate) of: Option<Spanned<String>>,
    /// Fraction of all pairs for which this must be right; 1 if not given.
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
    /// The ratio of the left mean to the right mean is within these bounds.
    Ratio(f64, f64),
}

/// Each of some columns has a better mean rank over the data sets than each of some others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Ahead {
    /// Columns with the better mean ranks.
    pub(crate) ahead: Vec<Spanned<String>>,
    /// Columns with the worse mean ranks.
    pub(crate) behind: Vec<Spanned<String>>,
    /// The metric; the score if not given.
    pub(crate) of: Option<Spanned<String>>,
}

/// Our means are within the published standard deviation, plus a slack, of the published means, or are better, if that
/// counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct WithinPublished {
    /// The metric; the score if not given.
    pub(crate) of: Option<Spanned<String>>,
    /// The columns; if not given, all with published figures.
    pub(crate) columns: Option<Vec<Spanned<String>>>,
    /// Added to the published standard deviation.
    pub(crate) slack: f64,
    /// Accepts any better mean as well.
    #[serde(default)]
    pub(crate) or_better: bool,
    /// Fraction of the cells for which it must hold.
    pub(crate) share: f64,
}

/// A column differs from the baseline on the same data sets here as in print.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SameVerdicts {
    /// The column.
    pub(crate) column: Spanned<String>,
    /// Fraction of the data sets for which it must hold.
    pub(crate) share: f64,
}
