//! Targets of words: classes in training, prediction and serving.

use crate::common::Folder;
use rpo::Model;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

/// Rows whose grade, sale and price depend on one number.
fn table(n: usize) -> String {
    let mut text = "name,x,y,grade,sold,price\n".to_owned();
    for i in 0..n {
        let x = i * 37 % 60;
        let (grade, sold) = (["silver", "very good", "gold"][x / 20], ["no", "yes"][x / 30]);
        writeln!(text, "s{i},{x},{},{grade},{sold},{}", i % 7, 2 * x).unwrap();
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("train.csv", table(180)).write("test.csv", table(60));
    folder
}

/// The grades and sales of the test table, as values of predictions.
fn truth() -> Vec<String> {
    let table = table(60);
    let rows = table.lines().skip(1).map(|row| {
        let row: Vec<&str> = row.split(',').collect();
        format!("{},{},{}", row[0], row[3], u8::from(row[4] == "yes"))
    });
    rows.collect()
}

/// Trains on all columns but those that are left out.
fn train(folder: &Folder, method: &str, targets: &str, ignored: &str) {
    let data = "--data train.csv --id name --model m.rpo";
    let run = folder.run(&format!(
        "train --method {method} {data} --targets {targets} {ignored}"
    ));
    assert_eq!(run.code, Some(0), "{method}: {}", run.stderr);
    let note = "note: target \"grade\" has 3 classes, each of which is an output: \"gold\", \"silver\", \"very good\"";
    assert!(run.stderr.contains(note), "{}", run.stderr);
}

#[test]
fn classes_are_learned_and_predicted_by_every_method() {
    let folder = folder();
    let truth = truth();
    for (method, least) in [
        ("random-forest --trees 20", 50),
        ("gbmort --iterations 30", 50),
        ("gbmort --preset paper --iterations 30", 50),
        ("gbrt-relabel-rpo --iterations 30", 50),
        ("single-target-gbrt --iterations 30", 50),
        ("structured-forest --trees 10", 50),
        ("random-forest --trees 20 --decide f1", 50),
        ("extra-trees --trees 3 --max-depth 1 --decide f1", 0),
        ("craftml --trees 20", 0),
        ("logistic-regression", 0),
        ("blend --members gbmort;extra-trees", 50),
    ] {
        train(&folder, method, "grade,sold", "--ignore price");
        let text = folder.ok("predict --data test.csv --id name --model m.rpo --values");
        let found: Vec<&str> = text.lines().collect();
        assert_eq!((found[0], found.len()), ("name,grade,sold", 61), "{method}");
        let n_right = truth
            .iter()
            .zip(&found[1..])
            .filter(|(truth, found)| truth == found)
            .count();
        assert!(n_right >= least, "{method}: {n_right}");
        let evaluate = "evaluate --data test.csv --id name --model m.rpo --metrics subset-accuracy";
        assert_eq!(
            folder.json(evaluate)["subset-accuracy"],
            n_right as f64 / 60.0,
            "{method}"
        );
    }
    let model = Model::load(folder.path("m.rpo")).unwrap();
    assert_eq!(model.schema().class_columns[0].name, "grade");
    assert_eq!(model.groups(), std::slice::from_ref(&(0..3)));
}

#[test]
fn values_have_the_form_of_the_table() {
    let folder = folder();
    train(&folder, "gbmort --iterations 30", "price,grade,sold", "");
    folder.ok("predict --data test.csv --model m.rpo --values --out v.jsonl");
    folder.ok("predict --data test.csv --id name --model m.rpo --values --out v.csv");
    let lines = folder.read("v.jsonl");
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let prediction = &first["prediction"];
    assert_eq!(
        (&prediction["grade"], &prediction["sold"]),
        (&json!("silver"), &json!(0))
    );
    let price = prediction["price"].as_f64().unwrap();
    assert!(price.abs() < 40.0, "{price}");
}

/// A yes/no target beside a number is a label, whatever the method.
#[test]
fn labels_and_classes_stand_beside_numbers_in_every_method() {
    let folder = folder();
    let truth: Vec<String> = truth().into_iter().map(|row| row + ",").collect();
    for method in [
        "random-forest --trees 20",
        "ridge",
        "gbmort --iterations 30",
        "blend",
    ] {
        train(&folder, method, "price,grade,sold", "");
        let text = folder.ok("predict --data test.csv --id name --model m.rpo --values");
        let found = text.lines().skip(1);
        let n_right = truth
            .iter()
            .zip(found)
            .filter(|(truth, found)| found.starts_with(*truth))
            .count();
        folder.ok("evaluate --data test.csv --id name --model m.rpo");
        let exact = folder.json("evaluate --data test.csv --id name --model m.rpo --metrics subset-accuracy");
        assert_eq!(exact["subset-accuracy"], n_right as f64 / 60.0, "{method}");
        folder.ok("evaluate --data test.csv --id name --model m.rpo --metrics r2 --per-output o.csv");
        let outputs = folder.read("o.csv");
        let rows: Vec<Vec<&str>> = outputs.lines().map(|row| row.split(',').collect()).collect();
        let column = |name: &str| rows[0].iter().position(|&column| column == name).unwrap();
        let (r2, f1) = (column("r2"), column("f1"));
        for row in &rows[1..] {
            assert_eq!(
                (row[r2].is_empty(), row[f1].is_empty()),
                (row[0] != "price", row[0] == "price"),
                "{row:?}"
            );
        }
    }
    let run = folder.run("tune --data train.csv --id name --targets price,grade --ignore sold --trees 5 --space min-samples-leaf=1,9");
    assert!(
        run.stderr
            .contains("--metric macro-auc and the like score labels and classes"),
        "{}",
        run.stderr
    );
    let run = folder.run(
        "train --method gbmort --output-losses quantile,square --quantile 0.9 --data train.csv --id name --targets price,sold \
         --task regression --ignore grade --model q.rpo",
    );
    let reason = "has quantiles beside other losses";
    assert!(
        run.code == Some(1) && run.stderr.contains(reason),
        "{}",
        run.stderr
    );
    for levels in ["0.9", "0.1,0.9"] {
        let quantiles =
            format!("--method gbmort --loss quantile --quantile {levels} --data train.csv --id name");
        let run = folder.run(&format!(
            "train {quantiles} --targets price,grade --ignore sold --model q.rpo"
        ));
        let reason = "predicts quantiles of numbers, but some targets are classes";
        assert!(
            run.code == Some(1) && run.stderr.contains(reason),
            "{}",
            run.stderr
        );
    }
}

/// The classes of a column exclude each other, whether or not a method learns each by itself, in every form of prediction.
#[test]
fn probabilities_of_the_classes_of_a_column_sum_to_one() {
    let folder = folder();
    for method in [
        "logistic-regression",
        "one-vs-rest",
        "single-target-gbrt --iterations 10",
        "structured-forest --trees 10",
        "blend --members gbmort;logistic-regression",
    ] {
        train(&folder, method, "grade,sold", "--ignore price");
        let text = folder.ok("predict --data test.csv --id name --model m.rpo");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "name,grade=gold,grade=silver,grade=very good,sold");
        let best = folder.ok("predict --data test.csv --id name --model m.rpo --top-k 4");
        for line in &lines[1..] {
            let row: Vec<&str> = line.split(',').collect();
            let sum: f64 = row[1..4].iter().map(|p| p.parse::<f64>().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{method}: {line}");
            let gold = best
                .lines()
                .find(|best| best.starts_with(&format!("{},grade=gold,", row[0])));
            // Scores of 0 are no best ones.
            let gold = gold.map_or("0", |best| best.rsplit(',').next().unwrap());
            assert_eq!(gold, row[1], "{method}");
        }
    }
}

/// One class of a column is predicted in any case, so that a threshold of each would be one for nothing.
#[test]
fn rules_find_thresholds_of_labels_alone() {
    let folder = folder();
    train(
        &folder,
        "random-forest --trees 9 --thresholds rate",
        "grade,sold",
        "--ignore price",
    );
    folder.ok("evaluate --data test.csv --id name --model m.rpo --metrics lrap --per-output o.csv");
    for row in folder.read("o.csv").lines().skip(1) {
        let threshold = row.rsplit(',').next().unwrap();
        assert_eq!(threshold == "0.5", row.starts_with("grade="), "{row}");
    }
    let of_classes = "train --data train.csv --id name --targets grade --ignore price,sold --model m.rpo";
    let run = folder.run(&format!("{of_classes} --method auto --configurations 1"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(folder.json("inspect --model m.rpo")["has_thresholds"], false);
    let run = folder.run(&format!("{of_classes} --thresholds rate"));
    assert_eq!(run.code, Some(1));
    let reason = "is for labels; of the classes of a column the one of the largest score is predicted";
    assert!(run.stderr.contains(reason), "{}", run.stderr);
}

/// Numbers and the labels beside them are combined by weights for either, and thresholds are those of the labels.
#[test]
fn labels_beside_numbers_have_weights_and_thresholds() {
    let folder = folder();
    train(
        &folder,
        "random-forest --trees 20 --thresholds rate",
        "price,grade,sold",
        "",
    );
    assert_eq!(folder.json("inspect --model m.rpo")["has_thresholds"], true);
    train(&folder, "ridge", "price,grade,sold", "");
    folder.run("train --data train.csv --id name --targets price,grade,sold --method extra-trees --trees 9 --model e.rpo");
    let both = "combine --models m.rpo e.rpo --data test.csv --id name --out both.rpo";
    let found = folder.json(&format!("{both} --combine stack"));
    let has_all = |key: &str| ["m.rpo", "e.rpo"].iter().all(|file| found[key][file].is_number());
    assert!(has_all("weights") && has_all("label_weights"), "{found}");
    assert_ne!(found["weights"], found["label_weights"]);
    folder.json(&format!("{both} --thresholds macro-f"));
    assert_eq!(folder.json("inspect --model both.rpo")["has_thresholds"], true);
    folder.ok("evaluate --data test.csv --id name --model both.rpo --metrics r2 --per-output o.csv");
    for row in folder.read("o.csv").lines().skip(1) {
        let threshold = row.rsplit(',').next().unwrap();
        assert_eq!(threshold.is_empty(), row.starts_with("price,"), "{row}");
    }
    let run = folder.run(
        "train --data train.csv --id name --targets price --ignore grade,sold --thresholds rate --model n.rpo",
    );
    assert!(
        run.stderr.contains("--thresholds, which is for labels"),
        "{}",
        run.stderr
    );
}

#[test]
fn other_files_may_have_other_classes_and_columns() {
    let folder = folder();
    train(
        &folder,
        "random-forest --trees 20",
        "grade,sold",
        "--ignore price",
    );
    let evaluate = "evaluate --data other.csv --id name --model m.rpo --metrics subset-accuracy";
    // A class that the model lacks is never predicted.
    folder.write("other.csv", table(60).replace("gold", "platinum"));
    let run = folder.run(&format!("{evaluate} --json"));
    assert!(
        run.stderr
            .contains("label \"grade=platinum\", which occurs 20 times"),
        "{}",
        run.stderr
    );
    let scores: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(scores["subset-accuracy"].as_f64().unwrap() <= 40.0 / 60.0);
    // Classes may have columns of their own.
    let mut text = "name,x,y,grade=silver,grade=gold,grade=very good,sold\n".to_owned();
    for i in 0..60 {
        let x = i * 37 % 60;
        let is = |class| u8::from(x / 20 == class);
        writeln!(
            text,
            "s{i},{x},{},{},{},{},{}",
            i % 7,
            is(0),
            is(2),
            is(1),
            x / 30
        )
        .unwrap();
    }
    folder.write("other.csv", text);
    let exact = folder.json(evaluate)["subset-accuracy"].as_f64();
    folder.write("other.csv", table(60));
    assert_eq!(exact, folder.json(evaluate)["subset-accuracy"].as_f64());
    // A label of the model may not have other words.
    folder.write("other.csv", table(60).replace("yes", "perhaps"));
    let message = folder.fail(evaluate);
    assert!(
        message.contains("target \"sold\" holds the word \"perhaps\"")
            && message.contains("help: words are classes where"),
        "{message}"
    );
}

#[test]
fn classes_are_described_converted_and_served() {
    let folder = folder();
    let data = "--data train.csv --id name --targets grade,sold --ignore price";
    let described = folder.run(&format!("describe {data} --json"));
    let described: Value = serde_json::from_str(&described.stdout).unwrap();
    let grade = json!({"name": "grade", "classes": ["gold", "silver", "very good"]});
    assert_eq!(described["class_columns"], json!([grade]));
    let converted = folder.run(&format!("convert {data} --out c.arff"));
    assert_eq!(converted.code, Some(0), "{}", converted.stderr);
    assert!(
        folder
            .read("c.arff")
            .contains("@attribute grade {gold,silver,'very good'}")
    );
    let names = folder.run(&format!("convert {data} --out d.arff --label-file d.xml"));
    assert!(
        names.stderr.contains("column \"grade\" holds classes"),
        "{}",
        names.stderr
    );
    train(
        &folder,
        "random-forest --trees 20",
        "grade,sold",
        "--ignore price",
    );
    let mut server = folder.command("serve --model m.rpo");
    let mut server = server
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({"rows": [{"x": 1, "y": 0}, {"x": 59, "y": 3}], "values": true});
    writeln!(server.stdin.take().unwrap(), "{request}").unwrap();
    let output = server.wait_with_output().unwrap();
    let response: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!([{"grade": "silver", "sold": 0}, {"grade": "gold", "sold": 1}]);
    assert_eq!(response["predictions"], expected);
}

#[test]
fn an_identifier_is_no_column_of_predictions() {
    let folder = folder();
    train(
        &folder,
        "random-forest --trees 20",
        "grade,sold",
        "--ignore price",
    );
    for (id, options) in [
        ("grade", "--values"),
        ("score", "--top-k 2"),
        ("label", "--decide"),
        ("grade=gold", ""),
        ("prediction", "--out-format jsonl"),
    ] {
        folder.write("p.csv", format!("{id},x,y\na,1,2\n"));
        let message = folder.fail(&format!("predict --data p.csv --id {id} --model m.rpo {options}"));
        assert!(
            message.contains("is also the name of a column of predictions"),
            "{message}"
        );
    }
}

/// Amounts, and words that --task regression does not turn into numbers.
#[test]
fn targets_that_were_meant_to_be_numbers() {
    let folder = Folder::new();
    let row = |i: usize| format!("{i},\"${},200\",{}\n", 1 + i % 3, ["yes", "no"][i % 2]);
    folder.write(
        "d.csv",
        format!("x,y,sold\n{}", (0..40).map(row).collect::<String>()),
    );
    let train = "train --data d.csv --method random-forest --trees 2 --model m.rpo";
    let run = folder.run(&format!("{train} --targets y --ignore sold"));
    let note = "they look like numbers; numbers are read without currencies";
    assert!(run.code == Some(0) && run.stderr.contains(note), "{}", run.stderr);
    let run = folder.run(&format!("{train} --targets x,sold --ignore y --task regression"));
    assert!(!run.stderr.contains("--task regression"), "{}", run.stderr);
    let run = folder.run(&format!("{train} --targets x,sold --task regression"));
    let note = "labels beside numbers: \"sold\"; their values are words";
    assert!(run.code == Some(0) && run.stderr.contains(note), "{}", run.stderr);
}
