//! `rpo train --group` and `rpo combine --group`.

use crate::common::{Folder, grouped, number};

/// A table in which whoever knows a customer knows the output, and nobody knows that of new customers.
fn ready() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", format!("customer,x,y\n{}", grouped()));
    folder
}

#[test]
fn training_withholds_whole_groups() {
    let folder = ready();
    let train = "train --data t.csv --targets y --model m.rpo";
    // A part of the output that x tells for new customers too, so that some steps help them.
    let trend = |g: usize| format!("c{g},{g},{}\n", g + g * 7 % 5);
    let trend: String = (0..200).map(|i| trend(i % 20)).collect();
    folder.write("trend.csv", format!("customer,x,y\n{trend}"));
    let steps = |options: &str| {
        let train = train.replace("t.csv", "trend.csv");
        folder.ok(&format!(
            "{train} --method gbmort --iterations 400 --early-stopping 5 {options}"
        ));
        number(&folder.json("inspect --model m.rpo"), "steps")
    };
    let (torn, whole) = (steps("--ignore customer"), steps("--group customer"));
    assert!(whole < torn / 2.0, "{torn} {whole}");
    // Four of twenty customers of ten samples each, who are no feature.
    let model = folder.json("inspect --model m.rpo");
    assert_eq!(
        (number(&model, "n_train"), number(&model, "n_features")),
        (160.0, 1.0)
    );

    let score = |options: &str| {
        let report = folder.json(&format!("{train} --method auto --configurations 2 {options}"));
        number(&report, "cross_fitted_r2")
    };
    let (torn, whole) = (score("--ignore customer"), score("--group customer"));
    assert!(torn > 0.9 && whole < 0.6, "{torn} {whole}");

    let width = |options: &str| {
        folder.ok(&format!("{train} --intervals 0.5 {options}"));
        number(
            &folder.json("evaluate --data t.csv --targets y --model m.rpo --metrics interval-width"),
            "interval-width",
        )
    };
    let (torn, whole) = (width("--ignore customer"), width("--group customer"));
    assert!(whole > 4.0 * torn, "{torn} {whole}");
}

#[test]
fn groups_are_those_of_their_column_beside_identifiers() {
    let folder = ready();
    let numbered = grouped();
    let numbered = numbered
        .lines()
        .enumerate()
        .map(|(i, row)| format!("s{i},{row}\n"));
    folder.write(
        "n.csv",
        format!("sample,customer,x,y\n{}", numbered.collect::<String>()),
    );
    let model = |options: &str| {
        folder.ok(&format!(
            "train {options} --targets y --model m.rpo --group customer --intervals 0.5"
        ));
        folder.json("inspect --model m.rpo")["intervals"].clone()
    };
    assert_eq!(model("--data t.csv"), model("--data n.csv --id sample"));
}

#[test]
fn groups_that_cannot_be_withheld_are_refused() {
    let folder = ready();
    folder.write("one.csv", "customer,x,y\na,1,2\na,2,3\na,3,5\n");
    folder.write("none.csv", "customer,x,y\na,1,2\n,2,3\nb,3,5\n");
    let train = "train --targets y --model m.rpo --group";
    for (options, expected) in [
        (
            "costumer --data t.csv",
            "--group names the column \"costumer\", which does not exist",
        ),
        (
            "customer --data none.csv",
            "sample 1 (from 0) has no value of \"customer\"",
        ),
        (
            "customer --data one.csv --method gbmort --early-stopping 3",
            "all 3 samples belong to one group",
        ),
        ("customer --data t.csv --oob", "does not hold for new groups"),
    ] {
        let message = folder.fail(&format!("{train} {options}"));
        assert!(message.contains(expected), "{options}: {message}");
    }
    assert!(!folder.files().iter().any(|file| file == "m.rpo"));
}

#[test]
fn the_weights_of_models_are_scored_on_other_groups() {
    let folder = ready();
    // Samples of a customer are neighbours, so that parts of every fourth sample tear them apart.
    let other = |g: usize, i: usize| format!("s{},c{g},{g},{}\n", 10 * g + i, g + g * 7 % 5 + i % 2);
    let rows: String = (0..20).flat_map(|g| (0..10).map(move |i| other(g, i))).collect();
    folder.write("n.csv", format!("sample,customer,x,y\n{rows}"));
    for (method, model) in [("ridge", "a.rpo"), ("extra-trees --trees 3", "b.rpo")] {
        folder.ok(&format!(
            "train --data t.csv --targets y --ignore customer --method {method} --model {model}"
        ));
    }
    let combine = "combine --models a.rpo b.rpo --combine stack --out c.rpo";
    let score = |options: &str| number(&folder.json(&format!("{combine} {options}")), "cross_fitted_r2");
    let (torn, whole) = (score("--data n.csv"), score("--data n.csv --group customer"));
    assert!(whole < torn, "{whole} {torn}");
    assert_eq!(score("--data n.csv --group customer --id sample"), whole);

    for (options, expected) in [
        (
            "--data n.csv --group costumer",
            "--group names the column \"costumer\", which does not exist",
        ),
        (
            "--data n.csv --id sample --group costumer",
            "--group names the column \"costumer\", which does not exist",
        ),
        (
            "--data n.csv --id simple",
            "--id names the column \"simple\", which does not exist",
        ),
        (
            "--data n.csv --group x",
            "--group \"x\" is a feature of the model: a column is one or the other",
        ),
        (
            "--data n.csv --id sample --group x",
            "--group \"x\" is a feature of the model: a column is one or the other",
        ),
        (
            "--data n.csv --group y",
            "n.csv: \"y\" is named both as a target and as --group",
        ),
    ] {
        let message = folder.fail(&format!("{combine} {options}"));
        assert!(message.contains(expected), "{options}: {message}");
    }
    let code = |arguments: &str| folder.run(arguments).code;
    assert_eq!(code(&format!("{combine} --group customer")), Some(2));
    let weighted = "combine --models a.rpo b.rpo --out c.rpo --weights 1 2 --data n.csv --thresholds rate";
    assert_eq!(code(&format!("{weighted} --group customer")), Some(2));
}

/// With groups, forests withhold some for intervals and thresholds, as many as the option says.
#[test]
fn forests_withhold_as_many_groups_as_the_option_says() {
    let folder = Folder::new();
    let table: String = (0..200)
        .map(|i| format!("g{},{},{}\n", i % 50, i % 7, i % 7 + i % 3))
        .collect();
    folder.write("t.csv", format!("g,x,y\n{table}"));
    let train = "train --data t.csv --targets y --group g --intervals 0.9 --trees 5 --model m.rpo";
    let message = folder.fail(train);
    assert!(
        message.contains("a larger --calibration-share withholds more"),
        "{message}"
    );
    folder.ok(&format!("{train} --calibration-share 0.5"));
    let message = folder.fail(&format!(
        "{} --calibration-share 0.5",
        train.replace("--group g", "--ignore g")
    ));
    assert!(message.contains("is for samples with groups"), "{message}");
}

/// A model that is given twice counts twice.
#[test]
fn weights_of_a_file_given_twice_add_up() {
    let folder = ready();
    folder.ok("train --data t.csv --targets y --ignore customer --trees 3 --model a.rpo");
    let report = folder.json("combine --models a.rpo a.rpo --weights 1 2 --out b.rpo");
    assert_eq!(report["weights"], serde_json::json!({"a.rpo": 3.0}));
}
