//! A written file may be standard output.

use crate::common::{Folder, csv};
use std::fs::{self, File};
use std::process::{Output, Stdio};

const TRAIN: &str = "train --data t.csv --n-targets 2 --trees 2";

fn ready() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", csv(40, 0));
    folder.ok(&format!("{TRAIN} --model m.rpo"));
    folder
}

/// Standard output and standard error as texts.
fn texts(output: Output) -> (String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    assert!(output.status.success(), "{}", text(output.stderr));
    (text(output.stdout), text(output.stderr))
}

#[test]
fn a_file_that_is_standard_output_is_continued() {
    let folder = ready();
    let predict = "predict --data t.csv --model m.rpo";
    let lines = folder.ok(predict);
    for name in ["/dev/stdout", "-"] {
        folder.write("all.csv", "earlier\n");
        let all = File::options().append(true).open(folder.path("all.csv")).unwrap();
        let mut command = folder.command(&format!("{predict} --out {name}"));
        let run = command.stdout(Stdio::from(all)).output().unwrap();
        let (_, report) = texts(run);
        assert_eq!(folder.read("all.csv"), format!("earlier\n{lines}"));
        assert!(report.contains("n_samples"), "{report}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn other_open_files_are_continued_too() {
    use std::process::Command;
    let folder = ready();
    let lines = folder.ok("predict --data t.csv --model m.rpo");
    let rpo = env!("CARGO_BIN_EXE_rpo");
    for name in ["/dev/fd/3", "/proc/self/fd/3"] {
        let script = format!(
            "exec 3>all.csv; echo first >&3; {rpo} predict --data t.csv --model m.rpo --out {name}; echo last >&3"
        );
        let mut shell = Command::new("sh");
        let folder_of_run = folder.path("");
        texts(
            shell
                .args(["-c", &script])
                .current_dir(folder_of_run)
                .output()
                .unwrap(),
        );
        assert_eq!(folder.read("all.csv"), format!("first\n{lines}last\n"));
    }
    // A file that is open for reading alone is refused before anything is computed.
    let script = format!("exec 3<t.csv; exec {rpo} {TRAIN} --model /dev/fd/3");
    let mut shell = Command::new("sh");
    let run = shell.args(["-c", &script]).current_dir(folder.path("")).output();
    let message = String::from_utf8(run.unwrap().stderr).unwrap();
    assert_eq!(
        message,
        "error: /dev/fd/3: cannot write: Bad file descriptor (os error 9)\n"
    );
}

/// Reports of the command are no part of a file.
#[test]
fn reports_are_apart_from_data() {
    let folder = ready();
    folder.ok("convert --data t.csv --n-targets 2 --out expected.csv");
    folder.ok("generate friedman-chain --samples 20 --seed 3 --out made.csv");
    for (arguments, expected) in [
        (
            "convert --data t.csv --n-targets 2 --to csv --out -",
            "expected.csv",
        ),
        (
            "generate friedman-chain --samples 20 --seed 3 --to csv --out /dev/stdout",
            "made.csv",
        ),
        (&format!("{TRAIN} --model -"), "m.rpo"),
    ] {
        let run = folder.command(arguments).output().unwrap();
        assert!(run.status.success());
        assert_eq!(
            run.stdout,
            fs::read(folder.path(expected)).unwrap(),
            "{arguments}"
        );
        let report = String::from_utf8(run.stderr).unwrap();
        assert!(report.contains("n_samples"), "{report}");
    }
    let (_, report) = texts(
        folder
            .command("convert --data t.csv --n-targets 2 --to csv --out - --json")
            .output()
            .unwrap(),
    );
    assert!(report.starts_with("{\"n_samples\":40,"), "{report}");
}

#[test]
fn standard_output_is_one_file() {
    let folder = ready();
    assert_eq!(
        folder.fail("split --data t.csv --train - --test /dev/stdout"),
        "error: --train and --test are both standard output; name a file for one of them\n"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_failed_write_is_named_once() {
    let folder = ready();
    let message = "error: /dev/full: cannot write: No space left on device (os error 28)\n";
    for arguments in [
        "convert --data t.csv --n-targets 2 --to csv --out /dev/full",
        "predict --data t.csv --model m.rpo --out /dev/full",
        "generate friedman-chain --samples 20 --to arff --out /dev/full",
        "generate friedman-chain --samples 20 --to parquet --out /dev/full",
    ] {
        assert_eq!(folder.fail(arguments), message, "{arguments}");
    }
}
