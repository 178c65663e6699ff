//! Nominal and missing features: what training learns about them is stored in the model and used from there.

use crate::common::{Folder, number};

/// Rooms whose colour (one of four) and width determine two outputs; optionally, some colours and widths are missing.
fn rooms(n: usize, first: usize, colours: [&str; 4], missing: bool) -> String {
    let mut text = format!("@relation rooms\n@attribute colour {{{}}}\n", colours.join(","));
    text += "@attribute width numeric\n@attribute warmth numeric\n@attribute size numeric\n@data\n";
    for i in first..first + n {
        let (colour, width) = (["red", "green", "blue", "grey"][i * 7 % 4], (i * 5 % 11) as f32);
        let warmth = match colour {
            "red" => 9.0,
            "green" => 1.0,
            "blue" => 5.0,
            _ => 3.0,
        };
        let cell = |hole: bool, text: String| if missing && hole { "?".to_owned() } else { text };
        text += &format!(
            "{},{},{warmth},{}\n",
            cell(i % 10 == 3, colour.to_owned()),
            cell(i % 9 == 4, width.to_string()),
            width * 2.0 + warmth
        );
    }
    text
}

const COLOURS: [&str; 4] = ["red", "green", "blue", "grey"];
const DATA: &str = "--data train.arff --n-targets 2";

fn folder(missing: bool) -> Folder {
    let folder = Folder::new();
    folder
        .write("train.arff", rooms(200, 0, COLOURS, missing))
        // The same colours, declared in another order.
        .write(
            "test.arff",
            rooms(50, 200, ["grey", "blue", "green", "red"], missing),
        );
    folder
}

#[test]
fn linear_models_see_a_column_for_each_value() {
    let folder = folder(false);
    let r2 = |options: &str| {
        folder.ok(&format!("train {DATA} --method {options} --model m.rpo"));
        number(&folder.json("evaluate --data test.arff --model m.rpo"), "r2")
    };
    assert!(r2("ridge --lambda 1e-6") > 0.999);
    assert!(r2("ridge --lambda 1e-6 --nominal codes") < 0.8);
    let about = folder.json("inspect --model m.rpo");
    assert_eq!(about.get("n_columns"), None);
    assert_eq!(about["parameters"]["nominal"], "codes");
    assert!(r2("label-embedding --mode kernel --link-loss squared --features 200 --standardize") > 0.95);
    let about = folder.json("inspect --model m.rpo");
    assert_eq!(
        (number(&about, "n_features"), number(&about, "n_columns")),
        (2.0, 5.0)
    );
    assert_eq!(about["parameters"]["nominal"], "one-hot");
    // Any method supports them.
    assert!(r2("random-forest --trees 20 --nominal one-hot") > 0.9);
    let about = folder.ok("inspect --model m.rpo --top-features 5");
    assert!(about.contains("importance colour=red"), "{about}");
    // Predictions need no outputs, and find columns by name.
    folder.ok(&format!(
        "train {DATA} --method ridge --lambda 1e-6 --model m.rpo"
    ));
    folder.write(
        "new.arff",
        "@relation new\n@attribute width numeric\n@attribute colour {blue,red}\n@data\n2,red\n0,blue\n",
    );
    let predicted = folder.ok("predict --data new.arff --model m.rpo");
    let mut lines = predicted.lines();
    assert_eq!(lines.next(), Some("warmth,size"));
    for (line, expected) in lines.zip([[9.0, 13.0], [5.0, 5.0]]) {
        for (value, expected) in line.split(',').zip(expected) {
            assert!((value.parse::<f32>().unwrap() - expected).abs() < 0.01, "{line}");
        }
    }
}

#[test]
fn what_a_model_does_not_know_is_refused() {
    let folder = folder(false);
    folder.ok(&format!(
        "train {DATA} --method ridge --nominal codes --model m.rpo"
    ));
    folder.write(
        "new.arff",
        rooms(8, 0, ["red", "green", "blue", "grey"], false).replace("grey", "pink"),
    );
    let message = folder.fail("predict --data new.arff --model m.rpo");
    assert!(
        message.contains("row 1 has the value \"pink\" of feature \"colour\""),
        "{message}"
    );
    // Missing values without learned replacements.
    folder.write("gaps.arff", rooms(20, 0, COLOURS, true));
    let message = folder.fail("predict --data gaps.arff --model m.rpo --out p.csv");
    assert!(
        message.contains("gaps.arff does not fit the model: row 3 lacks feature \"colour\"")
            && message.contains("--impute"),
        "{message}"
    );
}

/// A value without an indicator has the effect of none.
#[test]
fn unknown_categories_have_no_indicator() {
    let folder = folder(false);
    folder.ok(&format!("train {DATA} --method ridge --model m.rpo"));
    let new = rooms(8, 0, ["red", "green", "blue", "grey"], false);
    let mut predictions = Vec::new();
    for (file, value) in [("new.arff", "pink"), ("gaps.arff", "?")] {
        folder.write(
            file,
            new.replace(",grey}", ",pink}")
                .replace("grey,", &format!("{value},")),
        );
        let run = folder.run(&format!("predict --data {file} --model m.rpo"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stderr.starts_with("note: "), "{}", run.stderr);
        predictions.push(run.stdout);
    }
    assert_eq!(predictions[0], predictions[1]);
    let message = folder.fail("predict --data new.arff --model m.rpo --unseen error");
    assert!(message.contains("\"pink\""), "{message}");
}

#[test]
fn missing_features_are_filled_in() {
    let folder = folder(true);
    let message = folder.fail(&format!("train {DATA} --method ridge --model m.rpo"));
    assert!(
        message.contains("ridge does not take missing features") && message.contains("--impute"),
        "{message}"
    );
    for (impute, limit) in [("mean", 0.6), ("median", 0.6), ("most-frequent", 0.55)] {
        folder.ok(&format!(
            "train {DATA} --method ridge --lambda 1e-6 --impute {impute} --model m.rpo"
        ));
        let scores = folder.json("evaluate --data test.arff --model m.rpo");
        assert!(number(&scores, "r2") > limit, "{impute}: {scores}");
        let about = folder.json("inspect --model m.rpo");
        assert_eq!(about["parameters"]["impute"], impute);
    }
    for method in ["extra-trees", "gbmort", "craftml"] {
        let run = folder.run(&format!(
            "train {DATA} --method {method} --impute median --model m.rpo"
        ));
        // CRAFTML is for labels; its error here is not about features.
        assert!(run.code == Some(0) || method == "craftml", "{}", run.stderr);
        assert!(!run.stderr.contains("features"), "{}", run.stderr);
    }
    let bytes = |options: &str| {
        folder.run(&format!(
            "train {DATA} --method craftml --impute median {options} --model m.rpo"
        ));
        std::fs::read(folder.path("m.rpo")).unwrap()
    };
    assert!(
        bytes("--low-memory") == bytes(""),
        "a model written tree by tree keeps its pipeline"
    );
}

#[test]
fn columns_without_any_value_are_named() {
    let folder = Folder::new();
    let rows: String = (0..30).map(|i| format!("{i},,NA,{}\n", 2 * i + 1)).collect();
    folder.write("empty.csv", format!("a,b,c,y\n{rows}"));
    let train = "train --data empty.csv --targets y --method ridge --model m.rpo";
    let run = folder.run(&format!("{train} --impute mean"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.contains("\"b\" (and 1 other) has no value"),
        "{}",
        run.stderr
    );
    folder.write("new.csv", "a,b,c\n3,,5\n");
    let predicted = folder.ok("predict --data new.csv --model m.rpo");
    assert!(predicted.starts_with("y\n"), "{predicted}");
    // No imputation is a value like the others.
    let run = folder.run(&format!("{train} --impute none"));
    assert!(
        run.code == Some(1) && run.stderr.contains("ridge does not take missing features"),
        "{}",
        run.stderr
    );
}

/// Preparation steps are searched like other parameters; the winner is the model that training would have made.
#[test]
fn steps_are_searched() {
    let folder = folder(true);
    let report = folder.json(&format!(
        "tune {DATA} --method ridge --space impute=mean,median --space standardize=true,false \
         --space nominal=codes,one-hot --model tuned.rpo --refit"
    ));
    let best =
        report["trials"].as_array().unwrap()[report["best"]["index"].as_u64().unwrap() as usize].clone();
    assert_eq!(best["parameters"]["nominal"], "one-hot", "{report}");
    let options: Vec<String> = best["parameters"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("--{name}={text}")
        })
        .collect();
    folder.ok(&format!(
        "train {DATA} --method ridge {} --model trained.rpo",
        options.join(" ")
    ));
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(bytes("tuned.rpo") == bytes("trained.rpo"));
}

/// Early stopping and thresholds use samples that are prepared like those of training.
#[test]
fn samples_withheld_are_prepared_too() {
    let folder = Folder::new();
    let labels = |first: usize| {
        let numbers = rooms(150, first, COLOURS, true);
        let (head, rows) = numbers.split_once("@data\n").unwrap();
        let rows = rows.lines().map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            let (warm, large) = (
                cells[2].parse::<f32>().unwrap() > 4.0,
                cells[3].parse::<f32>().unwrap() > 12.0,
            );
            cells[2] = if warm { "1" } else { "0" };
            cells[3] = if large { "1" } else { "0" };
            cells.join(",") + "\n"
        });
        format!("{head}@data\n{}", rows.collect::<String>())
    };
    folder
        .write("train.arff", labels(0))
        .write("test.arff", labels(150));
    for options in [
        "logistic-regression --thresholds macro-f",
        "random-forest --trees 20 --nominal one-hot --thresholds macro-f --oob",
        "gbmort --loss logistic --iterations 40 --early-stopping 5 --validation 0.2 --nominal one-hot --standardize",
    ] {
        folder.ok(&format!(
            "train {DATA} --task multi-label --impute median --method {options} --model m.rpo"
        ));
        let scores = folder.json("evaluate --data test.arff --model m.rpo --metrics macro-f1,lrap");
        assert!(number(&scores, "macro-f1") > 0.8, "{options}: {scores}");
    }
    // Hyperplanes cannot place missing values on a side; thresholds can.
    let structured = "--task multi-label --method structured-forest --trees 5 --model m.rpo";
    let message = folder.fail(&format!("train {DATA} {structured}"));
    assert!(
        message.contains("structured-forest does not take missing features") && message.contains("--impute"),
        "{message}"
    );
    folder.ok(&format!("train {DATA} {structured} --variant sf"));
    folder.ok(&format!("train {DATA} {structured} --impute median"));
    let tune =
        "--method gbmort --loss logistic --iterations 20 --early-stopping 5 --impute mean --nominal one-hot";
    folder.ok(&format!(
        "tune {DATA} --task multi-label {tune} --space learning-rate=0.1,0.3 --stop-early --model t.rpo"
    ));
}
