//! `cargo xtask bench --instructions`: detects changes in the number of instructions of a code path.
//!
//! Seconds depend on everything else that a machine does; the number of instructions of a program that does not use the
//! clock hardly does. It still depends on the compiler, the processor's vector instructions and the counter, so counts
//! are compared on the machine where they were recorded, and recorded anew when the compiler changes.

use crate::cargo;
use crate::ci::root;
use anyhow::{Context, bail, ensure};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The code paths: a name, a program of `rpo-benches`, and its arguments.
const PATHS: [(&str, &str, &str); 13] = [
    (
        "forest-sparse-labels",
        "forest_speed",
        "--here --repeats 1 --trees 2 generated-1000",
    ),
    (
        "forest-sparse-projected",
        "forest_speed",
        "--here --repeats 1 --trees 2 generated-1000:25",
    ),
    (
        "forest-binary-labels",
        "forest_speed",
        "--here --repeats 1 --trees 10 words-1000",
    ),
    (
        "forest-dense",
        "forest_speed",
        "--here --repeats 1 --trees 2 numbers-4000",
    ),
    (
        "extra-trees-dense",
        "forest_speed",
        "--here --repeats 1 --trees 4 --extra-trees numbers-4000",
    ),
    (
        "extra-trees-sparse",
        "forest_speed",
        "--here --repeats 1 --trees 2 --extra-trees generated-1000",
    ),
    (
        "boosting-single-target",
        "boosting_speed",
        "numbers-4000 --method single-target --iterations 5",
    ),
    (
        "boosting-gbmort",
        "boosting_speed",
        "numbers-4000 --method gbmort --iterations 5",
    ),
    (
        "boosting-relabel-logistic",
        "boosting_speed",
        "generated-1000 --method gbrt-relabel-rpo --loss logistic --newton --iterations 5",
    ),
    ("craftml", "method_speed", "generated-1000 craftml --trees 10"),
    (
        "label-tree",
        "method_speed",
        "generated-1000 label-tree --trees 1",
    ),
    (
        "structured-forest",
        "method_speed",
        "words-20 structured-forest --trees 1 --thresholds none",
    ),
    ("one-vs-rest", "method_speed", "generated-1000 one-vs-rest"),
];

/// The recorded counts, relative to the root of the workspace.
const RECORDED: &str = "benches/instructions.txt";

/// Smallest relative change that is reported.
const TOLERANCE: f64 = 0.02;

/// A program that counts the instructions of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counter {
    /// The processor's own counter.
    Perf,
    /// A simulation, some 50 times slower.
    Callgrind,
}

/// No counter of instructions is available.
#[derive(Debug, PartialEq, Eq)]
struct NoCounter;

impl std::error::Error for NoCounter {}

impl std::fmt::Display for NoCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("neither `perf stat -e instructions:u` nor valgrind counts instructions here; install one of them")
    }
}

impl Counter {
    const ALL: [Self; 2] = [Self::Perf, Self::Callgrind];

    /// Returns the first counter that works on this machine.
    fn find() -> Result<Self, NoCounter> {
        let works = |counter: &Self| counter.count(Path::new("true"), "").is_ok();
        Self::ALL.into_iter().find(works).ok_or(NoCounter)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Perf => "perf",
            Self::Callgrind => "callgrind",
        }
    }

    /// Runs a program and returns the number of its instructions.
    fn count(self, program: &Path, arguments: &str) -> anyhow::Result<u64> {
        let mut command = match self {
            Self::Perf => {
                let mut command = Command::new("perf");
                command.args(["stat", "-x", ",", "-e", "instructions:u", "--"]);
                command
            }
            Self::Callgrind => {
                let mut command = Command::new("valgrind");
                command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
                command
            }
        };
        command.arg(program).args(arguments.split_whitespace());
        let output = command
            .output()
            .with_context(|| format!("{} does not run", self.name()))?;
        let report = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?} fails:\n{report}");
        self.read(&report)
            .with_context(|| format!("{command:?} reports no count:\n{report}"))
    }

    /// Parses the count from a report.
    fn read(self, report: &str) -> Option<u64> {
        let count = match self {
            Self::Perf => report
                .lines()
                .find(|line| line.contains("instructions"))?
                .split(',')
                .next()?,
            Self::Callgrind => report.lines().find_map(|line| line.split_once("Collected :"))?.1,
        };
        count.trim().parse().ok()
    }
}

/// Counts, indexed by counter and path.
type Counts = BTreeMap<(String, String), u64>;

/// Parses lines of a counter, a path and a count.
fn parse(text: &str) -> anyhow::Result<Counts> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [counter, path, count] => Ok(((counter.to_owned(), path.to_owned()), count.parse()?)),
        _ => bail!("{RECORDED}: \"{line}\" is not a counter, a path and a count"),
    };
    lines.map(entry).collect()
}

/// Relative change from the recorded count.
fn change(recorded: u64, now: u64) -> f64 {
    (now as f64 - recorded as f64) / recorded as f64
}

/// Counts the instructions of every path and compares them with the recorded counts, or records them.
///
/// # Errors
/// [`NoCounter`]; programs that fail; a path that takes more than 2 % more instructions than recorded.
pub(crate) fn run(record: bool) -> anyhow::Result<()> {
    let counter = Counter::find()?;
    // Set explicitly, because counts depend on these options and the environment may have others.
    let build = [
        "build",
        "--release",
        "--config=profile.release.lto=false",
        "--config=profile.release.codegen-units=16",
        "--quiet",
        "--package",
        "rpo-benches",
        "--bins",
    ];
    let status = cargo(&build)
        .current_dir(root())
        .status()
        .context("cargo does not run")?;
    ensure!(status.success(), "the benchmarks do not build");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let mut recorded = match std::fs::read_to_string(root().join(RECORDED)) {
        Ok(text) => parse(&text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Counts::new(),
        Err(error) => return Err(error).context(RECORDED),
    };
    let mut grown = Vec::new();
    for (path, program, arguments) in PATHS {
        let now = counter.count(&target.join("release").join(program), arguments)?;
        let key = (counter.name().to_owned(), path.to_owned());
        match recorded.insert(key, now) {
            None => println!("{path:28} {now:15} not recorded"),
            Some(before) => {
                let change = change(before, now);
                let mark = if change.abs() > TOLERANCE { " changed" } else { "" };
                println!("{path:28} {now:15} {:+7.2} %{mark}", 100.0 * change);
                if change > TOLERANCE {
                    grown.push(path);
                }
            }
        }
    }
    if record {
        return Ok(std::fs::write(root().join(RECORDED), render(&recorded))?);
    }
    ensure!(
        grown.is_empty(),
        "more instructions than recorded in {RECORDED}: {}",
        grown.join(", ")
    );
    Ok(())
}

fn render(counts: &Counts) -> String {
    let mut text =
        "# Instructions of whole programs; written by `cargo xtask bench --instructions --record`.\n"
            .to_owned();
    for ((counter, path), count) in counts {
        writeln!(text, "{counter} {path} {count}").expect("text grows");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_reports() {
        let perf = "1234567,,instructions:u,98,100.00,,\n";
        assert_eq!(Counter::Perf.read(perf), Some(1_234_567));
        assert_eq!(
            Counter::Perf.read("<not supported>,,instructions:u,0,100.00,,\n"),
            None
        );
        let callgrind = "==7== Events    : Ir\n==7== Collected : 89012\n==7==\n";
        assert_eq!(Counter::Callgrind.read(callgrind), Some(89_012));
        assert_eq!(Counter::Callgrind.read("valgrind: not found"), None);
    }

    #[test]
    fn recorded_counts_are_read_as_they_are_written() {
        let counts = Counts::from([
            (("callgrind".to_owned(), "a".to_owned()), 5),
            (("perf".to_owned(), "a".to_owned()), 7),
        ]);
        assert_eq!(parse(&render(&counts)).unwrap(), counts);
        assert!(parse("perf a").is_err() && parse("perf a b").is_err());
        assert!(
            change(100, 102) <= TOLERANCE && change(1000, 1021) > TOLERANCE && change(1000, 979) < -TOLERANCE
        );
    }
}
