//! `rpo train --group`.

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
        folder.ok(&format!("{train} --intervals 0.8 {options}"));
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
            "train {options} --targets y --model m.rpo --group customer --intervals 0.8"
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
            "all 3 samples are of one group",
        ),
        ("customer --data t.csv --oob", "does not hold for new groups"),
    ] {
        let message = folder.fail(&format!("{train} {options}"));
        assert!(message.contains(expected), "{options}: {message}");
    }
    assert!(!folder.files().iter().any(|file| file == "m.rpo"));
}
