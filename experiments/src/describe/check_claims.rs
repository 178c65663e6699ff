//! Checks that claims refer to existing data sets, columns and measures.

use super::check::one_of;
use super::read::Source;
use super::{ClaimText, DescribeError, Description, Relation};
use toml::Spanned;

/// The names that claims may refer to.
pub(super) struct Known<'a> {
    pub(super) datasets: &'a [String],
    pub(super) columns: &'a [String],
    /// Methods with values along the axis.
    pub(super) curves: &'a [String],
    pub(super) measures: &'a [String],
}

pub(super) fn check_claims(
    description: &Description,
    known: &Known<'_>,
    file: &Source<'_>,
) -> Result<(), DescribeError> {
    for claim in &description.claims {
        let at = file.text.find(&claim.says).unwrap_or(0);
        if claim.n_checks() != 1 {
            return Err(file.error(
                at..at,
                "exactly one of compare, reaches, significant, published, verdicts and ranks expected",
            ));
        }
        if let Some(verdicts) = claim.verdicts.as_ref().filter(|_| description.baseline.is_none()) {
            return Err(file.error(verdicts.column.span(), "verdicts need a baseline"));
        }
        if claim.ranks.is_some() && claim.on.is_some() {
            return Err(file.error(at..at, "mean ranks are over all data sets; they go with no on"));
        }
        check_names(claim, known, file)?;
        check_numbers(claim, at, file)?;
    }
    Ok(())
}

impl ClaimText {
    fn n_checks(&self) -> usize {
        let checks = [
            self.compare.is_some(),
            self.reaches.is_some(),
            self.significant.is_some(),
            self.published.is_some(),
            self.verdicts.is_some(),
            self.ranks.is_some(),
        ];
        checks.into_iter().filter(|&check| check).count()
    }
}

fn check_names(claim: &ClaimText, known: &Known<'_>, file: &Source<'_>) -> Result<(), DescribeError> {
    let all = |names: &mut dyn Iterator<Item = &Spanned<String>>, of: &[String], what| {
        for name in names {
            one_of(name, of, what, file)?;
        }
        Ok(())
    };
    all(&mut claim.on.iter().flatten(), known.datasets, "data set")?;
    let columns_or_curves = [known.columns, known.curves].concat();
    let mut measures = Vec::new();
    if let Some(compare) = &claim.compare {
        let both = [&compare.left, &compare.right];
        all(&mut both.into_iter(), &columns_or_curves, "column")?;
        measures.extend(&compare.of);
    }
    if let Some(reaches) = &claim.reaches {
        let both = [&reaches.curve, &reaches.best_of];
        all(&mut both.into_iter(), known.curves, "curve")?;
        measures.push(&reaches.of);
    }
    if let Some(significant) = &claim.significant {
        all(&mut significant.among.iter(), known.columns, "column")?;
        let among: Vec<String> = significant.among.iter().map(|c| c.get_ref().clone()).collect();
        all(
            &mut significant.pairs.iter().flatten(),
            &among,
            "column among those compared,",
        )?;
        measures.extend(&significant.of);
    }
    if let Some(verdicts) = &claim.verdicts {
        one_of(&verdicts.column, known.columns, "column", file)?;
    }
    if let Some(within) = &claim.published {
        all(&mut within.columns.iter().flatten(), known.columns, "column")?;
        measures.extend(&within.of);
    }
    if let Some(ranks) = &claim.ranks {
        all(
            &mut ranks.ahead.iter().chain(&ranks.behind),
            known.columns,
            "column",
        )?;
        measures.extend(&ranks.of);
    }
    all(&mut measures.into_iter(), known.measures, "measure")
}

fn check_numbers(claim: &ClaimText, at: usize, file: &Source<'_>) -> Result<(), DescribeError> {
    if let Some(compare) = &claim.compare
        && let Relation::Ratio(low, high) = compare.relation
        && (low > high || low.is_nan() || high.is_nan())
    {
        return Err(file.error(compare.left.span(), format!("no ratio is in {low} to {high}")));
    }
    if let Some(reaches) = claim
        .reaches
        .as_ref()
        .filter(|r| !(r.times > 0.0 && r.times.is_finite()))
    {
        let message = format!("times is {}; a positive number expected", reaches.times);
        return Err(file.error(reaches.curve.span(), message));
    }
    let shares = [
        claim.compare.as_ref().and_then(|c| c.share),
        claim.reaches.as_ref().and_then(|r| r.share),
        claim.significant.as_ref().and_then(|s| s.share),
        claim.verdicts.as_ref().map(|v| v.share),
        claim.published.as_ref().map(|p| p.share),
    ];
    match shares
        .into_iter()
        .flatten()
        .find(|share| !(0.0..=1.0).contains(share))
    {
        Some(share) => Err(file.error(at..at, format!("share must be in [0, 1], got {share}"))),
        None => Ok(()),
    }
}
