//! `--method craftml`: from a file to a model to predictions.

use crate::common::{Folder, number, xmlrepo};

fn ready() -> Folder {
    let folder = Folder::new();
    folder
        .write("train.txt", xmlrepo(300, 0))
        .write("test.txt", xmlrepo(50, 300));
    folder
}

const TRAIN: &str = "train --data train.txt --method craftml --clusters 4 --trees 6 --min-samples-split 5";

#[test]
fn from_a_file_to_scores_and_best_labels() {
    let folder = ready();
    let report = folder.json(&format!("{TRAIN} --model m.rpo"));
    assert_eq!(number(&report, "n_outputs"), 3.0);
    let scores = folder.json("evaluate --data test.txt --model m.rpo --metrics p@1,psp@3,lrap");
    assert!(number(&scores, "lrap") > 0.9, "{scores}");
    let told = folder.json("predict --data test.txt --model m.rpo --top-k 2 --out best.csv");
    for key in ["rows_per_second", "latency_milliseconds"] {
        assert!(number(&told, key) > 0.0, "{told}");
    }
    assert!(folder.read("best.csv").starts_with("row,label,score\n"));
    let inspected = folder.json("inspect --model m.rpo");
    assert_eq!(inspected["method"], "craftml");
    assert_eq!(number(&inspected, "trees"), 6.0);
    assert_eq!(inspected["parameters"]["clusters"], 4);
    assert_eq!(inspected["parameters"]["variant"], "original");
    assert!(inspected["parameters"]["preset"].is_null());
}

#[test]
fn one_tree_at_a_time_or_in_parts_is_the_same_file() {
    let folder = ready();
    for options in ["--decide f1", ""] {
        folder.ok(&format!("{TRAIN} {options} --model whole.rpo"));
        folder.ok(&format!(
            "{TRAIN} {options} --model single.rpo --low-memory --threads 2"
        ));
        let bytes = |name| std::fs::read(folder.path(name)).unwrap();
        assert!(bytes("whole.rpo") == bytes("single.rpo"), "{options}");
    }
    let part = "train --data train.txt --method craftml --clusters 4 --min-samples-split 5 --trees 3";
    folder.ok(&format!("{part} --model a.rpo"));
    folder.ok(&format!("{part} --first-tree 3 --model b.rpo"));
    folder.ok("merge --models a.rpo b.rpo --out merged.rpo");
    let trees = |name: &str| folder.json(&format!("evaluate --data test.txt --model {name} --metrics lrap"));
    assert_eq!(trees("merged.rpo")["lrap"], trees("whole.rpo")["lrap"]);
}

#[test]
fn presets_and_their_options() {
    let folder = ready();
    for preset in ["report", "report-quirks"] {
        let options = "--feature-width 0.9 --label-width 2 --node-sample 0.5 --passes 7 --starts 2";
        folder.ok(&format!(
            "train --data train.txt --method craftml --preset {preset} {options} --centroid-entries 2 --model r.rpo"
        ));
        let inspected = folder.json("inspect --model r.rpo");
        let parameters = &inspected["parameters"];
        assert_eq!(parameters["preset"], preset);
        assert_eq!(parameters["variant"], preset);
        assert_eq!(parameters["passes"], 7);
        assert_eq!(parameters["centroid_entries"], 2);
    }
}

#[test]
fn centroids_are_kept_as_rows_or_as_values() {
    let folder = ready();
    for (kind, model) in [("rows", "r.rpo"), ("values", "v.rpo")] {
        let trained = folder.json(&format!("{TRAIN} --centroids {kind} --model {model}"));
        let size = std::fs::metadata(folder.path(model)).unwrap().len();
        assert_eq!(number(&trained, "model_bytes"), size as f64);
        assert_eq!(
            folder.json(&format!("inspect --model {model}"))["parameters"]["centroids"],
            kind
        );
        folder.ok(&format!(
            "predict --data test.txt --model {model} --out {kind}.csv"
        ));
    }
    assert_eq!(folder.read("rows.csv"), folder.read("values.csv"));
    let message = folder.fail(&format!("{TRAIN} --preset report --centroids rows --model x.rpo"));
    assert!(
        message.contains("--centroids = rows cannot be combined"),
        "{message}"
    );
}

#[test]
fn files_that_break_off_or_contradict_themselves_are_refused_with_the_line() {
    let folder = ready();
    for (text, words) in [
        ("2 5 3\n0 1:1\n1 2:x\n", ["line 3", "x"]),
        ("2 5 3\n0 1:1\n1 2:nan\n", ["line 3", "nan"]),
        ("2 5 3\n0 1:1\n1 2:1e400\n", ["line 3", "1e400"]),
        ("2 5 3\n0 1:1\n1 2:1 2:1\n", ["line 3", "2"]),
        ("2 5 3\n0,0 1:1\n1 2:1\n", ["line 2", "0"]),
        ("2 5 3\n0 1:1\n3 2:1\n", ["line 3", "label index 3"]),
        ("2 5 3\n0 5:1\n1 2:1\n", ["line 2", "feature index 5"]),
        ("2 5 3\n0 1:1\n1 2:1\n1 3:1\n", ["line 4", "2 samples"]),
        ("3 5 3\n0 1:1\n1 2:1\n", ["line 3", "3 samples"]),
        ("2 5 3\n0 1:1\n1 2:", ["line 3", "2"]),
    ] {
        folder.write("bad.txt", text);
        for arguments in [
            "train --data bad.txt --method craftml --model x.rpo",
            "train --data bad.txt --method craftml --model x.rpo --low-memory",
        ] {
            let message = folder.fail(arguments);
            assert!(message.contains("bad.txt"), "{message}");
            for word in words {
                assert!(
                    message.contains(word),
                    "{text:?}: {message:?} should say {word:?}"
                );
            }
        }
    }
}

#[test]
fn tuned_as_any_method() {
    let folder = ready();
    let tuned = folder.json(
        "tune --data train.txt --method craftml --trees 4 --space clusters=2,4 --space min-samples-split=5,40 --model t.rpo",
    );
    assert_eq!(tuned["trials"].as_array().unwrap().len(), 4);
    let inspected = folder.json("inspect --model t.rpo");
    assert_eq!(number(&inspected, "trees"), 4.0);
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = ready();
    let check = |options: &str, words: &[&str]| {
        let message = folder.fail(&format!("train --data train.txt --model m.rpo {options}"));
        for word in words {
            assert!(
                message.contains(word),
                "{options}: {message:?} should say {word:?}"
            );
        }
    };
    check("--method craftml --clusters 0", &["--clusters must be"]);
    check("--method craftml --node-sample 1.5", &["sample", "1.5"]);
    check(
        "--method craftml --max-features sqrt",
        &["--max-features is not a parameter of craftml"],
    );
    check(
        "--method random-forest --clusters 3",
        &["--clusters is not a parameter of random-forest"],
    );
    check("--low-memory", &["--low-memory", "random-forest"]);
    folder.write("gap.csv", "a,b,y\n1,,0\n2,3,1\n");
    let message =
        folder.fail("train --data gap.csv --n-targets 1 --task multi-label --model m.rpo --method craftml");
    assert!(message.contains("\"b\" of sample 0"), "{message}");
}

/// Positive numbers of one target have one direction, so that there is nothing to cluster.
#[test]
fn constant_predictions_are_noted() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("{i},{}\n", 1 + i % 7)).collect();
    folder.write("d.csv", format!("x,y\n{rows}"));
    let run = folder.run("train --data d.csv --targets y --method craftml --trees 3 --model m.rpo");
    assert!(
        run.code == Some(0) && run.stderr.contains("note: no tree has a split"),
        "{}",
        run.stderr
    );
}
