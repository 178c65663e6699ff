//! Value stability: for given options and seed, the command predicts the same as when the table
//! `tests/golden/value_stability.txt` was recorded. The head of the table explains how to read it and how to record it
//! anew.
//!
//! The test only uses the command line, so that it survives any change of the library, and reads no model file.

pub(crate) mod data;

use crate::common::{Folder, folder_of};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A line of the table: hashes, a data set, and a command.
struct Case {
    hashes: Hashes,
    set: String,
    command: String,
}

/// Hashes of predictions.
#[derive(PartialEq, Debug)]
struct Hashes {
    /// All scores.
    scores: String,
    /// The best labels of each sample, then the predicted labels; [`NONE`] in regression.
    labels: String,
}

/// Placeholder for a hash that does not exist or is not recorded yet.
const NONE: &str = "-";

impl Case {
    /// Parses a line of the table; empty lines and comments are not cases.
    fn parse(line: &str) -> Option<Self> {
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let mut word = || words.next().unwrap_or_else(|| panic!("too few columns: {line}"));
        let hashes = Hashes {
            scores: word(),
            labels: word(),
        };
        Some(Self {
            hashes,
            set: word(),
            command: words.collect::<Vec<_>>().join(" "),
        })
    }

    fn line(&self, hashes: &Hashes) -> String {
        let Hashes { scores, labels } = hashes;
        format!("{scores:16} {labels:16} {:17} {}", self.set, self.command)
    }

    /// The method and the data set.
    fn kind(&self) -> (Option<&str>, &str) {
        let mut words = self.command.split_whitespace();
        (
            words.find(|word| *word == "--method").and(words.next()),
            &self.set,
        )
    }

    /// Trains and predicts with the given number of threads.
    fn run(&self, folder: &Folder, model: &str, threads: usize) -> Result<Hashes, String> {
        let (train, test) = data::options(&self.set);
        let run = |arguments: String| {
            let run = folder.run(&arguments);
            match run.code {
                Some(0) => Ok(run.stdout),
                _ => Err(format!("rpo {arguments}: {}", run.stderr.trim_end())),
            }
        };
        let command = &self.command;
        run(format!("{command} {train} --model {model} --threads {threads}"))?;
        let predict = format!("predict {test} --model {model} --threads {threads}");
        let scores = run(predict.clone())?;
        let labels = if self.set.starts_with("numbers") || self.set == "labels-as-numbers" {
            NONE.to_owned()
        } else {
            let best = run(format!("{predict} --top-k 3"))?;
            hash(&(best + &run(format!("{predict} --decide"))?))
        };
        let scores = hash(&scores);
        fs::remove_file(folder.path(model)).map_err(|e| e.to_string())?;
        Ok(Hashes { scores, labels })
    }
}

/// 64-bit FNV-1a hash.
fn hash(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/value_stability.txt")
}

/// Returns true if the table applies to this machine: matrix products round differently on processors without fused
/// multiply-add.
fn is_recorded_here() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma") && std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// Runs every case with one thread, and the marked cases also with three.
fn run_all(folder: &Folder, cases: &[(&Case, bool)]) -> Vec<Result<Hashes, String>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some((case, with_threads)) = cases.get(i) else {
                return found;
            };
            let mut outcome = case.run(folder, &format!("{i}.rpo"), 1);
            if let (Ok(one), true) = (&outcome, with_threads) {
                match case.run(folder, &format!("{i}.rpo"), 3) {
                    Ok(three) if three == *one => {}
                    Ok(three) => outcome = Err(format!("with one thread {one:?}, with three {three:?}")),
                    failed => outcome = failed,
                }
            }
            found.push((i, outcome));
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(8);
    let mut found = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let found = workers.into_iter().flat_map(|worker| worker.join().unwrap());
        found.collect::<Vec<_>>()
    });
    found.sort_by_key(|(i, _)| *i);
    found.into_iter().map(|(_, outcome)| outcome).collect()
}

#[test]
fn predictions_are_those_recorded() {
    if !is_recorded_here() {
        eprintln!("the recorded predictions hold on AArch64 and on x86-64 with fused multiply-add only");
        return;
    }
    let text = fs::read_to_string(table()).unwrap();
    let has_sets = folder_of("RPO_DATA").is_some();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let parsed: Vec<(usize, Case)> = (0..lines.len())
        .filter_map(|i| Some((i, Case::parse(&lines[i])?)))
        .filter(|(_, case)| has_sets || !case.set.starts_with('@'))
        .collect();
    let cases: Vec<(&Case, bool)> = (0..parsed.len())
        .map(|i| {
            let case = &parsed[i].1;
            let is_first = parsed[..i].iter().all(|(_, other)| other.kind() != case.kind());
            (case, is_first)
        })
        .collect();
    let folder = Folder::new();
    data::write(&folder);
    let found = run_all(&folder, &cases);
    if std::env::var_os("RPO_BLESS").is_some() {
        for ((i, case), found) in parsed.iter().zip(found) {
            lines[*i] = case.line(&found.unwrap());
        }
        fs::write(table(), lines.join("\n") + "\n").unwrap();
        return;
    }
    let differing: String = parsed
        .iter()
        .zip(found)
        .filter_map(|((i, case), found)| match found {
            Ok(found) if found == case.hashes => None,
            Ok(found) => Some(format!(
                "line {}: {}\n     now: {}\n",
                i + 1,
                case.line(&case.hashes),
                case.line(&found)
            )),
            Err(problem) => Some(format!("line {}: {}\n     now: {problem}\n", i + 1, case.command)),
        })
        .collect();
    assert!(
        differing.is_empty(),
        "Predictions differ from those recorded in tests/golden/value_stability.txt:\n{differing}\
         A change of what a seed gives must be listed as value-breaking in CHANGELOG.md; the head of the table says \
         how to record it anew."
    );
}
