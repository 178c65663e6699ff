//! Means, deviations, published figures and claims, for programs.

use crate::analyse::Analysis;
use crate::analyse::results::Summary;
use crate::describe::Paper;
use serde_json::{Value, json};

pub(super) fn render(analysis: &Analysis<'_>) -> anyhow::Result<String> {
    let results = &analysis.results;
    let plan = results.plan;
    let mut rows = Vec::new();
    for (dataset, set) in plan.datasets.iter().enumerate() {
        for (column, method) in plan.columns.iter().enumerate() {
            for measure in results.measures() {
                let Some(ours) = results.summary(dataset, column, &measure) else {
                    continue;
                };
                let published = results.published(dataset, column, &measure);
                rows.push(json!({
                    "dataset": set.name,
                    "method": method.id,
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
    }
    let claims = analysis.claims.iter().map(|claim| {
        json!({ "says": claim.says, "at": claim.at, "finding": claim.finding.words(), "why": claim.why })
    });
    let description = results.description;
    let report = json!({
        "experiment": description.name,
        "paper": description.paper.map(Paper::citation),
        "table": description.table,
        "version": env!("CARGO_PKG_VERSION"),
        "results": rows,
        "claims": claims.collect::<Vec<_>>(),
        "not_run": plan.not_run.iter().map(|(name, why)| json!({ "name": name, "why": why })).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn figure(summary: Summary) -> Value {
    json!({ "mean": summary.mean, "std": summary.std })
}
