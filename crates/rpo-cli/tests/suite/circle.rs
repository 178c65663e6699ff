//! From a file to a model to predictions and scores, in every format.

use crate::common::{Folder, LABELS, arff, csv, label_file, number, svmlight, xmlrepo};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Read, Write};
use std::process::Stdio;

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Trains, evaluates and predicts; returns the test LRAP.
fn circle(folder: &Folder, train: &str, test: &str, outputs: &str) -> f64 {
    let report = folder.json(&format!(
        "train --data {train} {outputs} --model m.rpo --trees 20"
    ));
    for key in ["load_seconds", "fit_seconds"] {
        assert!(number(&report, key) >= 0.0);
    }
    assert_eq!(
        (number(&report, "n_samples"), number(&report, "n_features")),
        (300.0, 3.0)
    );
    assert_eq!(number(&report, "n_outputs"), 3.0);
    let size = std::fs::metadata(folder.path("m.rpo")).unwrap().len();
    assert_eq!(number(&report, "model_bytes"), size as f64);

    let scores = folder.json(&format!(
        "evaluate --data {test} --model m.rpo --metrics lrap,p@1,psp@3,hamming"
    ));
    assert!(number(&scores, "predict_seconds") >= 0.0);
    assert!(number(&scores, "hamming") < 0.1, "{scores}");
    // If outputs are found by name, options for their position change nothing.
    let again = folder.json(&format!(
        "evaluate --data {test} {outputs} --model m.rpo --metrics lrap"
    ));
    assert_eq!(again["lrap"], scores["lrap"]);

    let wide = folder.ok(&format!("predict --data {test} --model m.rpo"));
    assert_eq!(wide.lines().count(), 1 + 50);
    let top = folder.ok(&format!("predict --data {test} --model m.rpo --top-k 2"));
    let mut lines = top.lines();
    assert_eq!(lines.next(), Some("row,label,score"));
    let rows: Vec<usize> = lines
        .map(|l| l.split(',').next().unwrap().parse().unwrap())
        .collect();
    assert!(
        rows.is_sorted()
            && rows
                .iter()
                .all(|&row| rows.iter().filter(|r| **r == row).count() <= 2)
    );
    number(&scores, "lrap")
}

#[test]
fn arff_with_a_label_file() {
    let folder = Folder::new();
    folder
        .write("train.arff", arff(300, 0))
        .write("test.arff", arff(50, 300))
        .write("l.xml", label_file());
    let lrap = circle(&folder, "train.arff", "test.arff", "--labels l.xml");
    assert!(lrap > 0.95, "{lrap}");
    let header = folder.ok("predict --data test.arff --model m.rpo");
    assert_eq!(header.lines().next(), Some("red,\"large, heavy\",round"));
}

#[test]
fn formats_agree() {
    let folder = Folder::new();
    let same = [
        ("a.arff", arff(300, 0), "t.arff", arff(50, 300), "--n-targets 3"),
        ("a.txt", xmlrepo(300, 0), "t.txt", xmlrepo(50, 300), ""),
        ("a.svm", svmlight(300, 0), "t.svm", svmlight(50, 300), ""),
    ];
    let mut found = Vec::new();
    for (train, train_text, test, test_text, outputs) in &same {
        folder.write(train, train_text).write(test, test_text);
        found.push(circle(&folder, train, test, outputs));
        let (train, test) = (format!("{train}.gz"), format!("{test}.gz"));
        folder
            .write(&train, compressed(train_text))
            .write(&test, compressed(test_text));
        found.push(circle(&folder, &train, &test, outputs));
    }
    // The same numbers in every format and layout give the same forest.
    assert!(found.iter().all(|lrap| *lrap == found[0]), "{found:?}");
    folder.ok("train --data a.arff --n-targets 3 --model sparse.rpo --trees 20 --layout sparse");
    let other = folder.json("evaluate --data t.txt --model sparse.rpo --metrics lrap");
    assert_eq!(number(&other, "lrap"), found[0]);
}

#[test]
fn outputs_by_name_wherever_they_are() {
    let folder = Folder::new();
    folder.write("train.csv", csv(100, 0));
    folder.ok("train --data train.csv --targets volume,edge --model named.rpo --trees 3");
    folder.ok("train --data train.csv --n-targets 2 --model counted.rpo --trees 3");
    assert_eq!(
        std::fs::read(folder.path("named.rpo")).unwrap(),
        std::fs::read(folder.path("counted.rpo")).unwrap()
    );
    // In the middle, and in another order than requested: outputs keep the order of the columns.
    let moved = csv(100, 0)
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [cells[0], cells[3], cells[1], cells[4], cells[2]].join(",") + "\n"
        })
        .collect::<String>();
    folder.write("moved.csv", moved);
    folder.ok("train --data moved.csv --targets edge,volume --model moved.rpo --trees 3");
    assert_eq!(
        std::fs::read(folder.path("moved.rpo")).unwrap(),
        std::fs::read(folder.path("named.rpo")).unwrap()
    );
    let scores = folder.json("evaluate --data moved.csv --targets volume,edge --model named.rpo");
    assert_eq!(
        scores["r2"],
        folder.json("evaluate --data train.csv --model named.rpo")["r2"]
    );
}

#[test]
fn the_identity_has_all_outputs_for_components() {
    let folder = Folder::new();
    folder.write("train.csv", csv(100, 0));
    let train = "train --data train.csv --n-targets 2 --seed 1";
    for method in ["random-forest --trees 3", "gbrt-relabel-rpo --iterations 3"] {
        folder.ok(&format!(
            "{train} --method {method} --projection identity --model i.rpo"
        ));
        let about = folder.json("inspect --model i.rpo");
        let projected = folder.ok("predict --data train.csv --model i.rpo");
        folder.ok(&format!(
            "{train} --method {method} --projection identity --components d --model d.rpo"
        ));
        assert_eq!(projected, folder.ok("predict --data train.csv --model d.rpo"));
        assert_eq!(about["parameters"]["components"], serde_json::Value::Null);
    }
}

#[test]
fn csv_regression() {
    let folder = Folder::new();
    folder
        .write("train.csv", csv(300, 0))
        .write("test.csv", csv(50, 300));
    let train = "train --data train.csv --n-targets 2 --model m.rpo --method extra-trees --trees 30";
    assert_eq!(number(&folder.json(train), "n_outputs"), 2.0);
    let scores = folder.json("evaluate --data test.csv --model m.rpo");
    let keys: Vec<&str> = scores.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "r2",
            "arrmse",
            "mse",
            "mae",
            "n_samples",
            "load_seconds",
            "predict_seconds"
        ]
    );
    assert!(
        number(&scores, "r2") > 0.8 && number(&scores, "arrmse") < 0.5,
        "{scores}"
    );
    assert_eq!(
        folder.ok("predict --data test.csv --model m.rpo").lines().next(),
        Some("volume,edge")
    );
    assert!(
        folder
            .fail("predict --data test.csv --model m.rpo --top-k 3")
            .contains("numbers")
    );
    let bagged = folder.json("train --data train.csv --n-targets 2 --model b.rpo --oob");
    assert!(
        number(&bagged, "oob_r2") > 0.8 && number(&bagged, "oob_samples") == 300.0,
        "{bagged}"
    );
}

#[test]
fn predictions_need_the_features_alone_and_by_name() {
    let folder = Folder::new();
    folder.write("train.csv", csv(300, 0));
    folder.ok("train --data train.csv --n-targets 2 --model m.rpo --trees 5");
    let expected = folder
        .write("q.csv", "width,height,the depth\n0.5,0.25,0.125\n")
        .ok("predict --data q.csv --model m.rpo");
    // Another order, columns that the model lacks, and missing outputs.
    folder.write("q.csv", "id,volume,the depth,height,width\n7,,0.125,0.25,0.5\n");
    assert_eq!(folder.ok("predict --data q.csv --model m.rpo"), expected);
    folder.write("q.csv", "the depth,height\n0.125,0.25\n");
    let message = folder.fail("predict --data q.csv --model m.rpo");
    assert!(
        message.contains("q.csv does not fit the model: the data has no feature \"width\""),
        "{message}"
    );
    // Numbered formats may omit the last features and labels.
    folder.write("a.svm", svmlight(300, 0));
    folder.ok("train --data a.svm --model n.rpo --trees 5");
    assert_eq!(
        folder
            .write("q.svm", " 1:0.5\n")
            .ok("predict --data q.svm --model n.rpo")
            .lines()
            .count(),
        2
    );
    folder.write("q.svm", " 1:0.5\n\n 1:0.5\n");
    let run = folder.run("predict --data q.svm --model n.rpo");
    assert!(run.stderr.starts_with("note: line 2 is empty"), "{}", run.stderr);
    folder.write("q.svm", "0 4:0.5\n");
    let run = folder.run("predict --data q.svm --model n.rpo");
    assert!(run.stderr.starts_with("note: feature \"4\""), "{}", run.stderr);
    folder.write("q.txt", "1 2 3\n0 1:0.5\n");
    let run = folder.run("predict --data q.txt --model n.rpo");
    let note = "note: the file declares 2 features and 3 labels in place of ";
    assert!(run.stderr.starts_with(note), "{}", run.stderr);
}

#[test]
fn predictions_are_written_in_both_formats() {
    let folder = Folder::new();
    folder.write("a.arff", arff(300, 0)).write("q.arff", arff(4, 300));
    folder.ok("train --data a.arff --n-targets 3 --model m.rpo --trees 7");
    let report = folder.json("predict --data q.arff --model m.rpo --top-k 2 --out p.csv");
    assert_eq!(number(&report, "n_samples"), 4.0);
    assert_eq!(
        folder.read("p.csv"),
        folder.ok("predict --data q.arff --model m.rpo --top-k 2")
    );
    folder.ok("predict --data q.arff --model m.rpo --top-k 2 --out p.txt --out-format xmlrepo");
    let text = folder.read("p.txt");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("4 3"));
    // The same labels and scores, by number and by name.
    let mut expected = "row,label,score\n".to_owned();
    for (row, line) in lines.enumerate() {
        let mut last = f32::INFINITY;
        for pair in line.split_whitespace() {
            let (label, score) = pair.split_once(':').unwrap();
            let name = LABELS[label.parse::<usize>().unwrap()];
            let name = if name.contains(',') {
                format!("\"{name}\"")
            } else {
                name.to_owned()
            };
            expected += &format!("{row},{name},{score}\n");
            assert!(score.parse::<f32>().unwrap() <= last, "best first");
            last = score.parse().unwrap();
        }
    }
    assert_eq!(folder.read("p.csv"), expected);
    assert_eq!(folder.files().iter().filter(|f| f.starts_with(".rpo")).count(), 0);
}

#[test]
fn one_seed_gives_one_file_whatever_the_threads_and_parts_merge_into_the_whole() {
    let folder = Folder::new();
    folder.write("a.arff", arff(300, 0));
    let train = "train --data a.arff --n-targets 3 --seed 5 --projection gaussian --components 2";
    for (name, rest) in [
        ("whole", "--trees 10 --threads 1"),
        ("again", "--trees 10 --threads 4"),
        ("first", "--trees 4"),
        ("second", "--trees 5 --first-tree 4"),
        ("third", "--trees 1 --first-tree 9"),
    ] {
        folder.ok(&format!("{train} {rest} --model {name}"));
    }
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_eq!(bytes("whole"), bytes("again"));
    let report = folder.json("merge --models first second third --out merged");
    assert_eq!(number(&report, "trees"), 10.0);
    assert_eq!(bytes("merged"), bytes("whole"));
    folder.ok("merge --models third first second --out again");
    assert_eq!(bytes("again"), bytes("whole"));
    folder.ok(&format!(
        "{train} --trees 5 --first-tree 4 --max-depth 3 --model shallow"
    ));
    folder.ok(&format!("{train} --trees 3 --first-tree 3 --model overlap"));
    for (models, words) in [
        (
            "first shallow",
            "error: shallow: the models cannot be merged: --max-depth is none in one and 3 in the other",
        ),
        ("third first", "the trees 4 to 8 between them are missing"),
        ("first overlap", "both hold the same tree"),
    ] {
        let message = folder.fail(&format!("merge --models {models} --out again"));
        assert!(message.contains(words), "{message}");
    }
    let message = folder.fail("merge --models first first --out merged");
    assert!(
        message.contains("error: first: the models cannot be merged"),
        "{message}"
    );
    assert_eq!(bytes("merged"), bytes("whole"));
}

#[test]
fn inspection_tells_what_was_trained() {
    let folder = Folder::new();
    folder.write("a.arff", arff(300, 0));
    folder.ok("train --data a.arff --n-targets 3 --model m.rpo --trees 3 --max-depth 2 --method extra-trees --seed 9");
    let found = folder.json("inspect --model m.rpo --top-features 2");
    assert_eq!(found["method"], "extra-trees");
    assert_eq!(found["parameters"]["seed"], 9);
    assert_eq!(found["parameters"]["bootstrap"], false);
    assert_eq!((number(&found, "trees"), number(&found, "n_train")), (3.0, 300.0));
    assert_eq!(found["depth"]["max"], 2);
    let nodes = number(&found, "nodes");
    assert_eq!(2.0 * number(&found, "leaves") - 3.0, nodes, "binary trees");
    assert_eq!(found["top_features"].as_array().unwrap().len(), 2);
    assert_eq!(
        number(&found, "n_features"),
        found["features"].as_array().unwrap().len() as f64
    );
    assert!(found["features"][0]["type"].is_string() && found["targets"][2]["name"].is_string());
    let text = folder.ok("inspect --model m.rpo");
    assert!(
        text.contains("extra-trees") && text.contains("parameter max_depth") && text.contains(" (number)"),
        "{text}"
    );
}

#[test]
fn scores_in_blocks_equal_scores_at_once() {
    let folder = Folder::new();
    // A dense matrix of 1500 x 200 scores takes more than one MiB.
    let line = |i: usize| format!("{},{} {}:1 {}:0.5\n", i % 100, 100 + i % 97, i % 20, 20 + i % 7);
    let text = |n: usize| format!("{n} 27 200\n{}", (0..n).map(line).collect::<String>());
    folder.write("a.txt", text(400)).write("t.txt", text(1500));
    folder.ok("train --data a.txt --model m.rpo --trees 10");
    let metrics = "lrap,lrap-all,coverage,ranking-loss,p@3,one-error,micro-f1,hamming,psp@5";
    let evaluate = format!("evaluate --data t.txt --model m.rpo --metrics {metrics}");
    let (whole, blocks) = (
        folder.json(&evaluate),
        folder.json(&format!("{evaluate} --memory 1")),
    );
    for metric in metrics.split(',') {
        let difference = number(&whole, metric) - number(&blocks, metric);
        assert!(difference.abs() < 1e-12, "{metric}: {whole} {blocks}");
    }
    let message = folder.fail("evaluate --data t.txt --model m.rpo --metrics lrap,macro-auc --memory 1");
    assert!(
        message
            .contains("macro-auc, which needs the scores of all samples at once, would take 1200000 bytes"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn data_may_come_through_a_pipe() {
    let folder = Folder::new();
    folder
        .write("a.txt", xmlrepo(300, 0))
        .write("q.arff", arff(2, 300));
    folder.ok("train --data a.txt --model m.rpo --trees 3");
    let piped = |arguments: &str, text: String| {
        let mut command = folder.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    let query = xmlrepo(2, 300);
    let expected = folder
        .write("q.txt", &query)
        .ok("predict --data q.txt --model m.rpo");
    assert_eq!(
        piped("predict --data /dev/stdin --format xmlrepo --model m.rpo", query),
        expected
    );
    let report = piped(
        "train --data /dev/stdin --format arff --n-targets 3 --model n.rpo --json",
        arff(30, 0),
    );
    assert!(report.contains("\"n_samples\":30"), "{report}");
}

/// Means leave out the samples and labels for which a metric is undefined; the report counts them.
#[test]
fn what_a_mean_leaves_out_is_counted() {
    let folder = Folder::new();
    let rows: String = (0..40)
        .map(|i| format!("{i},{},{}\n", i % 2, u8::from(i < 15)))
        .collect();
    folder
        .write("train.csv", "x,odd,low\n".to_owned() + &rows)
        .write("never.csv", "x,odd,low\n1,1,0\n2,1,0\n3,0,0\n")
        .write("always.csv", "x,odd,low\n1,1,0\n2,1,1\n");
    folder.ok("train --data train.csv --targets odd,low --method random-forest --trees 2 --model m.rpo");
    let counts = |data: &str, metrics: &str| {
        let found = folder.json(&format!(
            "evaluate --data {data} --model m.rpo --metrics {metrics}"
        ));
        let keys = [
            "n_unlabelled",
            "n_labels_without_positives",
            "n_labels_without_negatives",
        ];
        keys.map(|key| found.get(key).map_or(0, |count| count.as_u64().unwrap()))
    };
    assert_eq!(counts("never.csv", "lrap,average-precision"), [1, 1, 0]);
    assert_eq!(counts("never.csv", "lrap-all,macro-f1"), [0, 0, 0]);
    assert_eq!(counts("always.csv", "lrap,macro-auc"), [0, 0, 1]);
    assert_eq!(counts("always.csv", "average-precision,lrap"), [0, 0, 0]);
}

#[test]
fn what_is_undefined_is_null_with_a_note() {
    let folder = Folder::new();
    folder.write("a.arff", arff(300, 0)).write("one.arff", arff(1, 0));
    folder.ok("train --data a.arff --n-targets 3 --model m.rpo --trees 3");
    let run = folder.run("evaluate --data one.arff --model m.rpo --metrics macro-auc,p@1 --json");
    assert_eq!(run.code, Some(0));
    assert_eq!(run.stderr, "note: macro-auc is undefined on this data\n");
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(
        found["macro-auc"].is_null() && found["p@1"].is_number(),
        "{found}"
    );
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = Folder::new();
    folder
        .write("a.arff", arff(300, 0))
        .write("q.arff", arff(20_000, 0));
    folder.ok("train --data a.arff --n-targets 3 --model m.rpo --trees 1");
    let mut command = folder.command("predict --data q.arff --model m.rpo");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 3];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"red");
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &b""[..])
    );
}
