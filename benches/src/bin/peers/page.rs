//! The page with a table and a chart for each set.

use crate::contestant::Of;
use crate::export::Exported;
use crate::measure::{Record, Runs};
use anyhow::Context;
use rpo_experiments::chart::{Chart, Mark, Point, Scale, Series};
use std::fmt::Write;
use std::path::Path;

const INTRODUCTION: &str = "# Benchmarks

Methods of this workspace beside other libraries: same data, same machine, same run. Every fit runs in a separate
process; contestants take turns. All have their defaults, but for 100 trees or rounds of the other libraries; predictions are scored
on the published test part, or a third of the samples. Times are seconds: processor time of all threads, the least of the
runs with the largest in brackets, and elapsed time, the least. Memory is the most the process held, data and interpreter
included; a model is the size of its file or pickle. LRAP counts samples without labels as 1, as scikit-learn does; r² is
the mean over the outputs.

`cargo xtask bench peers` writes this page: it installs the other libraries into a separate environment, from
`benches/peers/requirements.txt`.
";

/// Writes the page, and a chart for each set into the folder beside it.
pub(crate) fn write(path: &Path, threads: &[usize], results: &[(Exported, Vec<Runs>)]) -> anyhow::Result<()> {
    let folder = path.with_extension("");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut page = INTRODUCTION.to_owned();
    page += "\n<!-- figures: begin -->\n";
    for (data, runs) in results {
        section(&mut page, threads, data, runs)?;
        let chart = chart(data, runs, threads[0]).svg()?;
        if !chart.is_empty() {
            let file = folder.join(format!("{}.svg", data.name));
            std::fs::write(&file, chart).with_context(|| file.display().to_string())?;
            let folder = folder.file_name().unwrap_or_default().to_string_lossy();
            writeln!(page, "\n![Score and time of the fit]({folder}/{}.svg)", data.name)?;
        }
    }
    page += "<!-- figures: end -->\n";
    std::fs::write(path, page).with_context(|| path.display().to_string())
}

fn section(page: &mut String, threads: &[usize], data: &Exported, runs: &[Runs]) -> anyhow::Result<()> {
    let Exported {
        name,
        n_train,
        n_test,
        n_features,
        n_outputs,
        ..
    } = data;
    let kind = if data.labels { "labels" } else { "outputs" };
    writeln!(
        page,
        "\n## {name}\n\n{n_train} samples to fit, {n_test} to score, {n_features} features, {n_outputs} {kind}.\n"
    )?;
    let scores: &[&str] = if data.labels { &["lrap", "p@1"] } else { &["r2"] };
    write!(page, "| |")?;
    scores.iter().try_for_each(|score| write!(page, " {score} |"))?;
    for n in threads {
        write!(page, " fit, {n} thr., CPU | elapsed |")?;
    }
    writeln!(page, " predict, CPU | memory | model |")?;
    writeln!(
        page,
        "| --- |{}",
        " ---: |".repeat(scores.len() + 2 * threads.len() + 3)
    )?;
    for runs in runs {
        let Some(first) = runs.first() else {
            let failure = runs.failure.as_deref().unwrap_or("not run");
            writeln!(
                page,
                "| {} | {failure} |{}",
                title(runs),
                " |".repeat(scores.len() + 2 * threads.len() + 2)
            )?;
            continue;
        };
        write!(page, "| {} |", title(runs))?;
        for score in scores {
            write!(
                page,
                " {:.4} |",
                first.scores.get(*score).copied().unwrap_or(f64::NAN)
            )?;
        }
        for &n in threads {
            match least(runs.with_threads(n), |r| r.fit_cpu) {
                None => write!(page, " {} | |", runs.failure.as_deref().unwrap_or_default())?,
                Some(cpu) => {
                    let most = runs.with_threads(n).map(|r| r.fit_cpu).fold(0.0, f64::max);
                    let wall = least(runs.with_threads(n), |r| r.fit_wall).unwrap_or(f64::NAN);
                    write!(
                        page,
                        " {} ({}) | {} |",
                        seconds(cpu),
                        seconds(most),
                        seconds(wall)
                    )?;
                }
            }
        }
        let predict = least(runs.with_threads(threads[0]), |r| r.predict_cpu).unwrap_or(f64::NAN);
        writeln!(
            page,
            " {} | {:.0} MB | {:.1} MB |",
            seconds(predict),
            first.peak_bytes / 1e6,
            first.model_bytes / 1e6
        )?;
    }
    Ok(())
}

/// The name in a table, with the version of another library.
fn title(runs: &Runs) -> String {
    let name = runs.contestant.name;
    match (&runs.contestant.of, runs.first()) {
        (Of::Python, Some(record)) => format!("{name} {}", record.version),
        (Of::Python, None) => name.to_owned(),
        (Of::Here(..), _) => format!("**{name}**"),
    }
}

fn least<'a>(records: impl Iterator<Item = &'a Record>, of: impl Fn(&Record) -> f64) -> Option<f64> {
    records.map(of).min_by(f64::total_cmp)
}

/// Three digits that mean something.
fn seconds(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

/// Score against the time of the fit: a dot for each of this workspace, a triangle for each other library.
fn chart(data: &Exported, runs: &[Runs], threads: usize) -> Chart {
    let score = if data.labels { "lrap" } else { "r2" };
    let series = runs.iter().enumerate().filter_map(|(colour, runs)| {
        let x = least(runs.with_threads(threads), |r| r.fit_cpu)?;
        let y = *runs.first()?.scores.get(score)?;
        let mark = match runs.contestant.of {
            Of::Here(..) => Mark::Dots,
            Of::Python => Mark::Published,
        };
        Some(Series {
            name: runs.contestant.name.to_owned(),
            colour,
            mark,
            points: vec![Point { x, y, spread: 0.0 }],
        })
    });
    Chart {
        title: data.name.clone(),
        x: Scale {
            label: "fit, CPU seconds".to_owned(),
            log: true,
        },
        y: Scale {
            label: score.to_owned(),
            log: false,
        },
        series: series.collect(),
    }
}
