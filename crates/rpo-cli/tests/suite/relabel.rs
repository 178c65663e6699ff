//! New labels for grown forests.

use crate::common::Folder;
use serde_json::Value;
use std::fmt::Write as _;

/// Rows with a feature that decides two labels and a number; `z` is another feature, which words may fill.
fn table(rows: std::ops::Range<usize>) -> String {
    let mut text = "x,z,low,high,price,grade\n".to_owned();
    for i in rows {
        let x = i * 7 % 40;
        let (low, high) = (u8::from(x < 15), u8::from(x > 30));
        let grade = ["bronze", "silver", "gold"][x / 14];
        writeln!(text, "{x},{},{low},{high},{},{grade}", ["a", "b"][i % 2], 3 * x).unwrap();
    }
    text
}

fn ready() -> Folder {
    let folder = Folder::new();
    folder
        .write("train.csv", table(0..80))
        .write("other.csv", table(80..200));
    folder.ok(
        "train --data train.csv --targets low --ignore high,price,grade --method random-forest --trees 20 --model m.rpo",
    );
    folder
}

/// Columns that the model does not need are not read, whichever outputs are chosen.
#[test]
fn a_forest_predicts_any_outputs() {
    let folder = ready();
    for (targets, header) in [
        ("low,high", "low,high"),
        ("price", "price"),
        ("grade", "grade"),
        ("high --task regression", "high"),
    ] {
        for (data, options) in [("train.csv", "--training-samples --oob"), ("other.csv", "")] {
            let relabel =
                format!("relabel --model m.rpo --data {data} --targets {targets} {options} --out new.rpo");
            let run = folder.run(&format!("{relabel} --json"));
            assert_eq!(
                run.stderr.contains("has 3 classes"),
                header == "grade",
                "{}",
                run.stderr
            );
            let report: Value = serde_json::from_str(&run.stdout).unwrap();
            assert_eq!(report["n_samples"], if data == "train.csv" { 80 } else { 120 });
            assert_eq!(report["n_features"], 2);
            assert_eq!(report.get("oob_samples").is_some(), !options.is_empty());
            let values = if header == "grade" { "--values" } else { "" };
            let predicted = folder.ok(&format!("predict --model new.rpo --data other.csv {values}"));
            assert_eq!(predicted.lines().next().unwrap(), header);
        }
    }
    folder.ok("relabel --model m.rpo --data other.csv --targets low,high --out new.rpo");
    let scores = folder.json("evaluate --model new.rpo --data train.csv --metrics macro-auc");
    assert!(scores["macro-auc"].as_f64().unwrap() > 0.8, "{scores}");
    folder.ok("relabel --model m.rpo --data train.csv --targets low --training-samples --out same.rpo");
    let predict = |model| folder.ok(&format!("predict --model {model} --data other.csv"));
    assert_eq!(predict("same.rpo"), predict("m.rpo"));
}

#[test]
fn thresholds_and_intervals_are_found_out_of_bag() {
    let folder = ready();
    let relabel = "relabel --model m.rpo --data train.csv --training-samples --out new.rpo --targets";
    folder.ok(&format!("{relabel} low,high --thresholds macro-f"));
    assert!(folder.ok("inspect --model new.rpo").contains("threshold"));
    folder.ok(&format!("{relabel} price --intervals 0.8"));
    let scores = folder.json("evaluate --model new.rpo --data other.csv --metrics interval-coverage");
    assert!(scores["interval-coverage"].as_f64().unwrap() > 0.5, "{scores}");
}

#[test]
fn mistakes_are_named() {
    let folder = ready();
    let fail = |options: &str| folder.fail(&format!("relabel --model m.rpo --out new.rpo {options}"));
    let message = fail("--data train.csv");
    assert!(message.contains("there are no outputs"), "{message}");
    let message = fail("--data other.csv --targets high --training-samples");
    assert!(message.contains("training samples"), "{message}");
    folder.write("shuffled.csv", table(3..83));
    folder.ok("train --data train.csv --targets price --ignore low,high,grade --method random-forest --trees 20 --model m.rpo");
    let message = fail("--data shuffled.csv --targets high --training-samples");
    assert!(
        message.contains("pass the training samples, in their original order"),
        "{message}"
    );
    let message = fail("--data other.csv --targets colour");
    assert!(message.contains("colour"), "{message}");
    folder.write("narrow.csv", "x,high\n1,0\n2,1\n");
    let message = fail("--data narrow.csv --targets high");
    assert!(message.contains("\"z\""), "{message}");
    folder.ok("train --data train.csv --targets low --ignore high,price,grade --method ridge --model m.rpo");
    let message = fail("--data other.csv --targets high");
    assert!(
        message.contains("cannot relabel: the model is not a forest"),
        "{message}"
    );
    assert!(!folder.path("new.rpo").exists());
}

/// Files that number their columns have the model's features and labels of their own.
#[test]
fn numbered_files_have_other_labels() {
    let folder = Folder::new();
    let mut text = String::new();
    for i in 0..60 {
        writeln!(text, "{} 1:{} 2:{}", i % 2, i % 2, i % 3).unwrap();
    }
    folder.write("few.svm", &text);
    let more: String = text.lines().map(|line| format!("4,{line}\n")).collect();
    folder.write("more.svm", more);
    folder.ok("train --data few.svm --method extra-trees --trees 5 --model m.rpo");
    let report = folder.json("relabel --model m.rpo --data more.svm --training-samples --out new.rpo");
    assert_eq!(report["n_outputs"], 5);
    let predicted = folder.ok("predict --model new.rpo --data few.svm");
    assert!(predicted.lines().nth(1).unwrap().ends_with(",1"), "{predicted}");
}

/// Weights and groups of the training are given again.
#[test]
fn weights_and_groups_are_those_of_the_training() {
    let folder = Folder::new();
    let mut text = "x,z,w,g,price\n".to_owned();
    for i in 0..90 {
        let (x, weight) = (i * 7 % 40, [0.0, 1.0, 20.0][i % 3]);
        writeln!(text, "{x},{},{weight},g{},{}", i % 5, i % 9, 3 * x + i % 11).unwrap();
    }
    folder.write("t.csv", &text);
    let weights: Vec<&str> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(2).unwrap())
        .collect();
    folder.write("w.txt", weights.join("\n") + "\n");
    folder.write("w", "a file with the name of the column, which comes first\n");
    let data = "--data t.csv --targets price";
    let predicted = |model: &str| folder.ok(&format!("predict --model {model} --data t.csv"));
    folder.ok(&format!(
        "train {data} --sample-weights w --ignore g --trees 10 --min-samples-leaf 4 --model m.rpo"
    ));
    for weights in ["w", "w.txt"] {
        let relabel = format!("relabel --model m.rpo {data} --training-samples --sample-weights {weights}");
        folder.ok(&format!("{relabel} --out new.rpo"));
        assert_eq!(predicted("new.rpo"), predicted("m.rpo"), "{weights}");
    }
    folder.ok(&format!(
        "train {data} --group g --ignore w --trees 10 --model m.rpo"
    ));
    let relabel = format!("relabel --model m.rpo {data} --training-samples --group g --out new.rpo");
    for option in ["--oob", "--intervals 0.5"] {
        let message = folder.fail(&format!("{relabel} {option}"));
        assert!(message.contains("group"), "{message}");
    }
    folder.ok(&relabel);
    assert_eq!(predicted("new.rpo"), predicted("m.rpo"));
}
