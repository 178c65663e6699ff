//! Writes the page: a summary over all sets, and a table and a chart for each set.

use crate::contestant::{CONTESTANTS, Contestant, Of};
use crate::measure::Record;
use crate::results::{Results, Runs};
use anyhow::Context;
use rpo_experiments::chart::{Chart, Mark, Point, Scale, Series};
use std::fmt::Write;
use std::path::Path;

const INTRODUCTION: &str = "# Benchmarks

Methods of this workspace (in bold) and other libraries, measured on the same data, on the same machine, in one run. Each
fit runs in a separate process, and contestants take turns. All of them have their defaults, except that the other
libraries make 100 trees or rounds. Scores are those of predictions for the published test part, or for a third of the
samples. Times are in seconds: the processor time of all threads (the least of the runs, and the largest in brackets) and
the elapsed time (the least). Memory is the peak of the process, with the data and, for Python packages, the interpreter.
The size of a model is that of its file or pickle. LRAP counts samples without labels as 1, as scikit-learn does; r² is
the mean over the outputs.

`cargo xtask bench peers` installs the other libraries into a separate environment, from
`benches/peers/requirements.txt`, and writes this page and the records behind it, one file per set in
[benchmarks](benchmarks). `--sets`, `--only` and `--threads` measure some sets, contestants and numbers of threads again
and keep the other records.
";

/// A file in the folder of the records that says under which conditions they were made, and becomes part of the page.
const NOTES: &str = "notes.md";

/// Writes the page, and a chart for each set to the folder beside it.
pub(crate) fn write(path: &Path, results: &[Results]) -> anyhow::Result<()> {
    let folder = path.with_extension("");
    let mut page = INTRODUCTION.to_owned();
    let notes = folder.join(NOTES);
    if notes.exists() {
        page.push('\n');
        page += &std::fs::read_to_string(&notes).with_context(|| notes.display().to_string())?;
    }
    page += "\n<!-- figures: begin -->\n";
    leaders(&mut page, results)?;
    let (labels, numbers): (Vec<_>, Vec<_>) = results.iter().partition(|r| r.sizes.labels);
    regrets(&mut page, "labels, LRAP", &labels)?;
    regrets(&mut page, "numbers, r²", &numbers)?;
    for results in results {
        section(&mut page, results)?;
        let chart = chart(results).svg()?;
        if !chart.is_empty() {
            let file = folder.join(format!("{}.svg", results.set));
            std::fs::write(&file, chart).with_context(|| file.display().to_string())?;
            let folder = folder.file_name().unwrap_or_default().to_string_lossy();
            writeln!(
                page,
                "\n![Score and time of the fit]({folder}/{}.svg)",
                results.set
            )?;
        }
    }
    page += "<!-- figures: end -->\n";
    std::fs::write(path, page).with_context(|| path.display().to_string())
}

/// The best scores on each set, of this workspace and of other libraries.
fn leaders(page: &mut String, results: &[Results]) -> anyhow::Result<()> {
    writeln!(
        page,
        "\n## Who leads\n\nThe best scores of a single method of this workspace, of `auto`, and of the other libraries, with processor \
         seconds of the fit on one thread; the best of all in bold.\n"
    )?;
    writeln!(
        page,
        "| set | score | best method here | `auto` | best other library |"
    )?;
    writeln!(page, "| --- | --- | --- | --- | --- |")?;
    for results in results {
        let groups: [fn(&Contestant) -> bool; 3] = [
            |c| c.is_here() && !c.is_ensemble(),
            Contestant::is_ensemble,
            |c| !c.is_here(),
        ];
        let best = groups.map(|is_in| {
            let runs = results.runs.iter();
            let scored = runs.filter(|r| contestant(r).is_some_and(is_in));
            let scored = scored.filter_map(|r| Some((results.score(r)?, r)));
            scored.max_by(|a, b| a.0.total_cmp(&b.0))
        });
        let highest = best
            .iter()
            .flatten()
            .map(|b| b.0)
            .fold(f64::NEG_INFINITY, f64::max);
        write!(page, "| {} | {} |", results.set, results.metric())?;
        for best in best {
            match best {
                None => write!(page, " |")?,
                Some((score, runs)) => {
                    let mark = if score == highest { "**" } else { "" };
                    let time = runs.fit_cpu().map_or_else(String::new, seconds);
                    let name = match contestant(runs) {
                        Some(c) if c.is_ensemble() => String::new(),
                        _ => format!("{}, ", title(runs).replace("**", "")),
                    };
                    write!(page, " {name}{mark}{score:.4}{mark} in {time} |")?;
                }
            }
        }
        writeln!(page)?;
    }
    Ok(())
}

/// The losses of each contestant against the best of all, over the sets of a kind.
fn regrets(page: &mut String, kind: &str, results: &[&Results]) -> anyhow::Result<()> {
    if results.is_empty() {
        return Ok(());
    }
    writeln!(
        page,
        "\n## Defaults over all sets: {kind}\n\n*Regret* is the best score on a set minus that of the contestant. Its mean is over the \
         sets that the contestant finished; their number is in the last column.\n"
    )?;
    write!(page, "| |")?;
    results.iter().try_for_each(|r| write!(page, " {} |", r.set))?;
    writeln!(page, " mean regret | sets |")?;
    writeln!(page, "| --- |{}", " ---: |".repeat(results.len() + 2))?;
    let scores = |name: &str| -> Vec<Option<f64>> {
        let of = |r: &Results| r.score(r.runs.iter().find(|runs| runs.contestant == name)?);
        results.iter().copied().map(of).collect()
    };
    let best = |r: &Results| {
        r.runs
            .iter()
            .filter_map(|runs| r.score(runs))
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let best: Vec<f64> = results.iter().copied().map(best).collect();
    for contestant in CONTESTANTS {
        let scores = scores(contestant.name);
        let lost: Vec<f64> = scores
            .iter()
            .zip(&best)
            .filter_map(|(s, best)| Some(best - (*s)?))
            .collect();
        if lost.is_empty() {
            continue;
        }
        let mark = if contestant.is_here() { "**" } else { "" };
        write!(page, "| {mark}{}{mark} |", contestant.name)?;
        for score in &scores {
            match score {
                Some(score) => write!(page, " {score:.3} |")?,
                None => write!(page, " |")?,
            }
        }
        let mean = lost.iter().sum::<f64>() / lost.len() as f64;
        writeln!(page, " {mean:.3} | {} |", lost.len())?;
    }
    Ok(())
}

fn contestant(runs: &Runs) -> Option<&'static Contestant> {
    CONTESTANTS.iter().find(|c| c.name == runs.contestant)
}

fn section(page: &mut String, results: &Results) -> anyhow::Result<()> {
    let sizes = &results.sizes;
    let kind = if sizes.labels { "labels" } else { "outputs" };
    let threads = results.threads();
    writeln!(
        page,
        "\n## {}\n\n{} samples to fit, {} to score, {} features, {} {kind}. {}.\n",
        results.set,
        sizes.n_train,
        sizes.n_test,
        sizes.n_features,
        sizes.n_outputs,
        processors(results)
    )?;
    let scores: &[&str] = if sizes.labels { &["lrap", "p@1"] } else { &["r2"] };
    write!(page, "| |")?;
    scores.iter().try_for_each(|score| write!(page, " {score} |"))?;
    for n in &threads {
        write!(page, " fit, {n} thr., CPU | elapsed |")?;
    }
    writeln!(page, " predict, CPU | memory | model |")?;
    writeln!(
        page,
        "| --- |{}",
        " ---: |".repeat(scores.len() + 2 * threads.len() + 3)
    )?;
    for runs in &results.runs {
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
        for &n in &threads {
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
        writeln!(
            page,
            " {} | {:.0} MB | {:.1} MB |",
            seconds(least(runs.records.iter().map(|(_, r)| r), |r| r.predict_cpu).unwrap_or(f64::NAN)),
            first.peak_bytes / 1e6,
            first.model_bytes / 1e6
        )?;
    }
    Ok(())
}

/// The processors on which a set was measured; if there are several, with the contestants measured on each.
fn processors(results: &Results) -> String {
    let mut names: Vec<&str> = results.runs.iter().map(|r| r.processor.as_str()).collect();
    names.dedup();
    match names[..] {
        [name] => name.to_owned(),
        _ => {
            let of = |r: &Runs| format!("{} on {}", r.contestant, r.processor);
            results.runs.iter().map(of).collect::<Vec<_>>().join("; ")
        }
    }
}

/// The name of a contestant in a table, with the version if it is another library.
fn title(runs: &Runs) -> String {
    let name = &runs.contestant;
    match (contestant(runs).map(|c| &c.of), runs.first()) {
        (Some(Of::Here(..)), _) => format!("**{name}**"),
        (_, Some(record)) => format!("{name} {}", record.version),
        (_, None) => name.clone(),
    }
}

fn least<'a>(records: impl Iterator<Item = &'a Record>, of: impl Fn(&Record) -> f64) -> Option<f64> {
    records.map(of).min_by(f64::total_cmp)
}

/// Formats seconds with three significant digits.
fn seconds(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

/// A chart of score against fit time: dots for methods of this workspace, triangles for other libraries.
fn chart(results: &Results) -> Chart {
    let series = results.runs.iter().enumerate().filter_map(|(colour, runs)| {
        let mark = match contestant(runs)?.of {
            Of::Here(..) => Mark::Dots,
            Of::Python => Mark::Published,
        };
        Some(Series {
            name: runs.contestant.clone(),
            colour,
            mark,
            points: vec![Point {
                x: runs.fit_cpu()?,
                y: results.score(runs)?,
                spread: 0.0,
            }],
        })
    });
    Chart {
        title: results.set.clone(),
        x: Scale {
            label: "fit, CPU seconds".to_owned(),
            log: true,
        },
        y: Scale {
            label: results.metric().to_owned(),
            log: false,
        },
        series: series.collect(),
    }
}
