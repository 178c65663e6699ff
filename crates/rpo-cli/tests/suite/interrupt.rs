//! Processes that are stopped or killed leave complete models.
#![cfg(unix)]

use crate::common::{Folder, send, xmlrepo};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Trains for longer than any test waits; trees are written to files as they grow.
const ENDLESS: &str = "train --data d.txt --method craftml --trees 1000000 --low-memory --threads 1 --model";

fn ready() -> Folder {
    let folder = Folder::new();
    folder.write("d.txt", xmlrepo(300, 0));
    folder.ok("train --data d.txt --trees 1 --model m.rpo");
    folder
}

fn n_parts(folder: &Folder) -> usize {
    let files = folder.files();
    files.iter().filter(|name| name.ends_with(".part")).count()
}

/// Starts a training and waits until its file exists.
fn begun(folder: &Folder, model: &str) -> Child {
    let mut command = folder.command(&format!("{ENDLESS} {model}"));
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let clock = Instant::now();
    // The first file is that of the check before the data is read.
    while n_parts(folder) == 0 {
        assert!(
            clock.elapsed() < Duration::from_secs(60),
            "training does not begin"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn a_signal_removes_what_is_not_whole() {
    let folder = ready();
    let (files, model) = (folder.files(), std::fs::read(folder.path("m.rpo")).unwrap());
    for (signal, number, name, outcome) in [
        ("-INT", 2, "m.rpo", "m.rpo is as it was"),
        ("-TERM", 15, "n.rpo", "n.rpo was not written"),
    ] {
        let child = begun(&folder, name);
        std::thread::sleep(Duration::from_millis(200));
        send(signal, child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(number), "{output:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(message, format!("interrupted\n  {outcome}\n"));
        assert_eq!(folder.files(), files);
    }
    assert_eq!(std::fs::read(folder.path("m.rpo")).unwrap(), model);
}

/// The first signal ends a search with its best result so far.
#[test]
fn a_search_that_is_interrupted_saves_the_best_so_far() {
    let folder = Folder::new();
    folder.write("d.txt", xmlrepo(300, 0));
    let forests = [("random-forest --trees 2", 1), ("extra-trees --trees 1000000", 1)];
    let list: Vec<_> = forests
        .iter()
        .map(|(method, cost)| serde_json::json!({"method": method, "cost": cost}))
        .collect();
    folder.write(
        "p.json",
        serde_json::json!({"labels": list, "numbers": list}).to_string(),
    );
    let train = "train --data d.txt --method auto --configurations 2 --portfolio p.json --threads 1 --model m.rpo --json";
    let ended_by = |signal: &str| {
        let mut command = folder.command(train);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The first configuration is fast, the second never ends.
        std::thread::sleep(Duration::from_secs(3));
        send(signal, child.id());
        child.wait_with_output().unwrap()
    };
    let output = ended_by("-INT");
    assert!(output.status.success(), "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["interrupted"], true);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("finishing with the best result so far"),
        "{message}"
    );
    assert!(message.contains("stopped by the user"), "{message}");
    let inspected = folder.json("inspect --model m.rpo");
    assert_eq!(inspected["members"][0]["method"], "random-forest");

    // A deadline is no reason to replace a model by an unfinished one.
    let model = std::fs::read(folder.path("m.rpo")).unwrap();
    let output = ended_by("-TERM");
    assert_eq!(output.status.signal(), Some(15), "{output:?}");
    assert_eq!(output.stdout, b"");
    assert_eq!(std::fs::read(folder.path("m.rpo")).unwrap(), model);
}

#[test]
fn what_a_killed_process_left_goes_with_the_next_write() {
    let folder = ready();
    let (files, model) = (folder.files(), std::fs::read(folder.path("m.rpo")).unwrap());
    let mut child = begun(&folder, "m.rpo");
    std::thread::sleep(Duration::from_millis(200));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(n_parts(&folder), 1);
    assert_eq!(std::fs::read(folder.path("m.rpo")).unwrap(), model);
    folder.ok("train --data d.txt --trees 1 --model m.rpo");
    assert_eq!(folder.files(), files);
    assert_eq!(
        std::fs::read(folder.path("m.rpo")).unwrap(),
        model,
        "the same seed"
    );
}

/// Kills trainings at random moments. Takes minutes: `cargo test -p rpo-learn-cli --release -- --ignored kills`.
#[test]
#[ignore = "a chore: 1,000 kills"]
fn a_thousand_kills_leave_the_old_model_or_the_new_one() {
    let folder = ready();
    let train = |trees: u32| format!("train --data d.txt --trees {trees} --threads 1 --model");
    let [old, new] = [20, 21].map(|trees| {
        folder.ok(&format!("{} reference.rpo", train(trees)));
        let bytes = std::fs::read(folder.path("reference.rpo")).unwrap();
        std::fs::remove_file(folder.path("reference.rpo")).unwrap();
        bytes
    });
    let clock = Instant::now();
    folder.ok(&format!("{} m.rpo", train(21)));
    let whole = clock.elapsed();
    let files = folder.files();
    let (mut n_old, mut n_new, mut n_left, mut random) = (0, 0, 0, 12345_u64);
    for _ in 0..1000 {
        std::fs::write(folder.path("m.rpo"), &old).unwrap();
        let mut command = folder.command(&format!("{} m.rpo", train(21)));
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A linear congruential generator: moments from the start to a little after the end.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let moment = f64::from((random >> 40) as u32) / f64::from(1 << 24);
        std::thread::sleep(whole.mul_f64(1.1 * moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = std::fs::read(folder.path("m.rpo")).unwrap();
        assert!(found == old || found == new, "a model that is neither");
        n_old += u32::from(found == old);
        n_new += u32::from(found == new);
        n_left += n_parts(&folder);
        assert!(n_parts(&folder) <= 1, "each run removes what the one before left");
    }
    folder.ok(&format!("{} m.rpo", train(21)));
    assert_eq!(folder.files(), files);
    println!("{n_old} times the old model, {n_new} times the new one, {n_left} parts left and removed");
    assert!(n_old > 0 && n_new > 0);
}

/// Starts a command whose first work takes long, and waits until it has begun.
fn interrupted(folder: &Folder, arguments: &str, seconds: u64) -> std::process::Output {
    let mut command = folder.command(arguments);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(seconds));
    assert!(child.try_wait().unwrap().is_none(), "{arguments} ended by itself");
    send("-INT", child.id());
    child.wait_with_output().unwrap()
}

#[test]
fn a_search_that_is_interrupted_before_it_has_a_result_is_no_failure_of_settings() {
    let folder = ready();
    let list = serde_json::json!([{"method": "extra-trees --trees 1000000", "cost": 1}]);
    folder.write(
        "p.json",
        serde_json::json!({"labels": list, "numbers": list}).to_string(),
    );
    for arguments in [
        "tune --data d.txt --method craftml --space trees=1000000,2000000 --threads 1 --model t.rpo",
        "train --data d.txt --method auto --configurations 1 --portfolio p.json --threads 1 --model t.rpo",
    ] {
        let output = interrupted(&folder, arguments, 2);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{errors}");
        assert!(
            errors.ends_with("error: interrupted before there was a result\n"),
            "{errors}"
        );
        assert!(!folder.files().contains(&"t.rpo".to_owned()));
    }
}

/// The history has every trial that ended, also of a process that is killed.
#[test]
fn a_history_grows_with_the_search() {
    let folder = ready();
    for name in ["h.csv", "h.csv.gz"] {
        let mut command = folder.command(&format!(
            "tune --data d.txt --method craftml --space trees=1,2,1000000 --threads 1 --history {name}"
        ));
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(3));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut text = String::new();
        let bytes = std::fs::read(folder.path(name)).unwrap();
        // A compressed file is cut off behind its last line.
        let _ = match name.ends_with("gz") {
            true => flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text),
            false => (&bytes[..]).read_to_string(&mut text),
        };
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "index,score,steps,seconds,status,error,trees");
        assert_eq!(lines.len(), 3, "{text}");
        assert!(
            lines[1].ends_with(",scored,,1") && lines[2].ends_with(",scored,,2"),
            "{text}"
        );
    }
}

#[test]
fn an_interrupted_cross_validation_prints_the_finished_folds() {
    let folder = ready();
    let cv = "cv --data d.txt --folds 300 --trees 300 --threads 1 --metrics p@1";
    for options in ["", "--json"] {
        let output = interrupted(&folder, &format!("{cv} {options}"), 3);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{errors}");
        assert!(errors.contains("of 300 folds are finished"), "{errors}");
        let text = String::from_utf8(output.stdout).unwrap();
        match options {
            "" => assert!(text.starts_with("metric ") && text.contains("p@1"), "{text}"),
            _ => {
                let found: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(found["interrupted"], true);
                let values = found["p@1"]["values"].as_array().unwrap().len();
                assert!(values > 0 && found["folds"] == values, "{text}");
            }
        }
    }
}

/// Ctrl-C ends a search with the best setting so far.
#[test]
fn an_interrupted_search_keeps_what_it_found() {
    let folder = ready();
    let mut command = folder.command(
        "tune --data d.txt --method craftml --space trees=1,2,3,1000000 --threads 1 --model t.rpo --history h.csv",
    );
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Until the short trials are over; the last one never ends by itself.
    std::thread::sleep(Duration::from_secs(4));
    assert!(child.try_wait().unwrap().is_none(), "the search ended by itself");
    send("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(
        errors.contains("finishing with the best result so far"),
        "{errors}"
    );
    let history = folder.read("h.csv");
    assert_eq!(history.matches("scored").count(), 3, "{history}");
    assert_eq!(history.matches("interrupted").count(), 1, "{history}");
    assert!(folder.files().contains(&"t.rpo".to_owned()));
}
