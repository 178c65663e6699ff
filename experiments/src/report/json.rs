//! Writes means, deviations, published figures and claims as JSON.

use crate::analyse::Analysis;
use crate::analyse::results::Summary;
use serde_json::{Value, json};

pub(super) fn render(analysis: &Analysis<'_>) -> anyhow::Result<String> {
    let results = &analysis.results;
    let mut rows = Vec::new();
    for place in results.places() {
        for measure in results.measures() {
            let Some(ours) = results.summary(place.dataset, place.column, &measure) else {
                continue;
            };
            let published = results.published(place.dataset, place.column, &measure);
            rows.push(json!({
                "dataset": place.set.name,
                "method": place.method.id,
                "measure": measure,
                "n": ours.n,
                "mean": ours.mean,
                "std": ours.std,
                "published": published.map(figure),
                "difference": published.map(|p| ours.against(p).difference),
                "difference_in_std": published.and_then(|p| ours.against(p).in_deviations),
            }));
        }
    }
    let claims = analysis.claims.iter().map(|claim| {
        json!({ "says": claim.says, "at": claim.at, "finding": claim.finding.words(), "why": claim.why })
    });
    let description = results.description;
    let report = json!({
        "experiment": description.name,
        "paper": description.paper().map(|paper| &paper.citation),
        "table": description.table,
        "version": env!("CARGO_PKG_VERSION"),
        "results": rows,
        "claims": claims.collect::<Vec<_>>(),
        "not_run": results.plan.not_run.iter().map(|(name, why)| json!({ "name": name, "why": why })).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn figure(summary: Summary) -> Value {
    json!({ "mean": summary.mean, "std": summary.std })
}
