//! Runs the command in its own folder; small data sets in every format.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Sends a signal, such as -TERM, to a process.
#[cfg(unix)]
pub(crate) fn send(signal: &str, process: u32) {
    let status = Command::new("kill").args([signal, &process.to_string()]).status();
    assert!(status.unwrap().success());
}

/// A folder to run the command in.
pub(crate) struct Folder(TempDir);

/// The result of a run of the command.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        fs::write(self.path(name), content).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rpo"));
        command
            .current_dir(self.0.path())
            .args(arguments.split_whitespace());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Run {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run {
            code: status.code(),
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }

    /// Runs a command that must succeed and write nothing to standard error.
    pub(crate) fn ok(&self, arguments: &str) -> String {
        let run = self.run(arguments);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "rpo {arguments}");
        run.stdout
    }

    /// Runs a command that must print exactly one JSON object.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        let text = self.ok(&format!("{arguments} --json"));
        assert_eq!(text.lines().count(), 1, "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value.is_object());
        value
    }

    /// Runs a command that must fail, and returns its message.
    pub(crate) fn fail(&self, arguments: &str) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, Some(1), "rpo {arguments}: {}{}", run.stdout, run.stderr);
        assert_eq!(run.stdout, "", "rpo {arguments}");
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
        run.stderr
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

pub(crate) const FEATURES: [&str; 3] = ["width", "height", "the depth"];
pub(crate) const LABELS: [&str; 3] = ["red", "large, heavy", "round"];

/// Samples with three features in steps of 1/8, and three labels that are functions of them.
pub(crate) fn samples(n: usize, first: usize) -> Vec<([f32; 3], [bool; 3])> {
    let sample = |i: usize| {
        let x = [0, 1, 2].map(|j| ((i * (5 + 2 * j) + i / 8 + j) % 8) as f32 / 8.0);
        (x, [x[0] > 0.4, x[1] + x[2] > 0.7, x[2] < 0.3])
    };
    (first..first + n).map(sample).collect()
}

/// Rows of a table with the columns customer, x and y. A sample's customer tells its output, which a model learns only
/// if others of the customer are in training.
pub(crate) fn grouped() -> String {
    let row = |i: usize| format!("c{},{},{}\n", i % 20, i % 20, (i % 20) * 7 % 20);
    (0..200).map(row).collect()
}

pub(crate) fn arff(n: usize, first: usize) -> String {
    let mut text = "@relation made\n".to_owned();
    FEATURES
        .iter()
        .for_each(|f| text += &format!("@attribute '{f}' numeric\n"));
    LABELS
        .iter()
        .for_each(|l| text += &format!("@attribute '{l}' {{0,1}}\n"));
    text += "@data\n";
    for (x, y) in samples(n, first) {
        let y = y.map(u8::from);
        text += &format!("{},{},{},{},{},{}\n", x[0], x[1], x[2], y[0], y[1], y[2]);
    }
    text
}

pub(crate) fn label_file() -> String {
    let labels: String = LABELS
        .iter()
        .map(|l| format!("<label name=\"{l}\"></label>"))
        .collect();
    format!("<labels xmlns=\"http://mulan.sourceforge.net/labels\">{labels}</labels>")
}

/// Lines of labels and pairs, features counted from `base`.
fn pairs(n: usize, first: usize, base: usize) -> String {
    let mut text = String::new();
    for (x, y) in samples(n, first) {
        let labels: Vec<String> = (0..3).filter(|&j| y[j]).map(|j| j.to_string()).collect();
        text += &labels.join(",");
        for (j, value) in x.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            text += &format!(" {}:{value}", j + base);
        }
        text.push('\n');
    }
    text
}

pub(crate) fn xmlrepo(n: usize, first: usize) -> String {
    format!("{n} 3 3\n{}", pairs(n, first, 0))
}

pub(crate) fn svmlight(n: usize, first: usize) -> String {
    pairs(n, first, 1)
}

/// Two outputs that are functions of three features.
pub(crate) fn csv(n: usize, first: usize) -> String {
    let mut text = "width,height,the depth,volume,edge\n".to_owned();
    for (x, _) in samples(n, first) {
        let [a, b, c] = x;
        text += &format!("{a},{b},{c},{},{}\n", a * b * c, 4.0 * (a + b + c));
    }
    text
}

/// Rows of a CSV text, without the quotes of its fields.
pub(crate) fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}

/// The folder named by an environment variable; if there is none, reports that the test does nothing.
pub(crate) fn folder_of(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        eprintln!("{variable} is not set: nothing to test on");
    }
    folder.filter(|f| Path::is_dir(f))
}
