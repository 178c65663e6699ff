//! The sessions in the README: their commands are run, and print what is shown there.
#![cfg(unix)]

use crate::common::{Folder, folder_of};
use std::path::Path;
use std::process::Command;

/// Results that differ from run to run.
const MEASURED: [&str; 5] = [
    "load_seconds",
    "fit_seconds",
    "cpu_seconds",
    "predict_seconds",
    "peak_memory_bytes",
];

/// The commands of a session, each with the lines that are shown below it.
fn commands(session: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in session.lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, Vec::new())),
            (None, Some((_, shown))) => shown.push(line),
            (None, None) => panic!("{line:?} does not follow a command"),
        }
    }
    commands
}

/// A line with single blanks, and without what was measured.
fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [name, _] if MEASURED.contains(name) => (*name).to_owned(),
        words => words.join(" "),
    }
}

/// Returns true if the lines are those shown, of which `...` stands for any number.
fn are_shown(shown: &[String], lines: &[String]) -> bool {
    match shown {
        [] => lines.is_empty(),
        [dots, rest @ ..] if dots == "..." => (0..=lines.len()).any(|n| are_shown(rest, &lines[n..])),
        [first, rest @ ..] => lines.first() == Some(first) && are_shown(rest, &lines[1..]),
    }
}

#[test]
fn sessions_in_the_readme_print_what_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let folder = Folder::new();
    let data = folder_of("RPO_DATA").map(|data| data.join("emotions"));
    for name in ["emotions-train.arff", "emotions-test.arff", "emotions.xml"] {
        if let Some(data) = &data {
            std::fs::copy(data.join(name), folder.path(name)).unwrap();
        }
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_rpo")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut n_compared = 0;
    for session in readme.split("```console\n").skip(1) {
        let session = session.split("```").next().unwrap();
        if data.is_none() && session.contains("emotions") {
            continue;
        }
        for (command, shown) in commands(session) {
            if let Some(name) = command.strip_prefix("cat ") {
                folder.write(name, shown.join("\n") + "\n");
                continue;
            }
            // Not whole, or for a server that does not end.
            if ["...", "--http", "curl"]
                .iter()
                .any(|word| command.contains(word))
            {
                continue;
            }
            let mut shell = Command::new("sh");
            shell
                .arg("-c")
                .arg(command)
                .current_dir(folder.path(""))
                .env("PATH", &path);
            let output = shell.output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{command}: {errors}");
            let shown: Vec<String> = shown.into_iter().map(line).collect();
            let printed: Vec<String> = text.lines().map(line).collect();
            let is_right = shown.is_empty() || are_shown(&shown, &printed);
            assert!(
                is_right,
                "README.md shows for {command}\n{shown:#?}\nand it prints\n{text}"
            );
            n_compared += usize::from(!shown.is_empty());
        }
    }
    assert!(n_compared >= 3, "{n_compared} commands are compared");
}
