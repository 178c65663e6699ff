//! What commands say about options, models and their contents.

use crate::common::{Folder, arff, csv, label_file};

/// A folder with 60 samples in `a.arff`, and all but the last ten of them in `b.arff`.
fn ready() -> Folder {
    let folder = Folder::new();
    folder
        .write("a.arff", arff(60, 0))
        .write("b.arff", arff(50, 0))
        .write("l.xml", label_file());
    folder
}

/// The line of an option in a help text.
fn option<'a>(help: &'a str, name: &str) -> &'a str {
    let (_, rest) = help.split_once(&format!("      {name} <")).unwrap();
    rest.split("\n      --").next().unwrap()
}

/// The commands take every method: they do not state one method's defaults.
#[test]
fn help_of_commands_states_no_default_of_one_method() {
    let folder = Folder::new();
    for command in ["train", "tune", "cv"] {
        let help = folder.ok(&format!("{command} --help"));
        for name in [
            "--trees",
            "--max-features",
            "--max-depth",
            "--min-samples-leaf",
            "--iterations",
            "--thresholds",
            "--loss",
        ] {
            let text = option(&help, name);
            assert!(
                text.contains("default: see `rpo help METHOD`"),
                "{command} {name}: {text}"
            );
        }
        assert!(
            option(&help, "--loss").contains(", squared-hinge; "),
            "boosting and one-vs-rest have it"
        );
        assert!(
            option(&help, "--learning-rate").contains("default 0.1"),
            "all methods have the same"
        );
    }
    assert!(folder.ok("help label-tree").contains("default 3]"));
}

#[test]
fn the_built_in_portfolio_is_printed_as_it_can_be_given() {
    let folder = ready();
    let help = folder.ok("help auto");
    let (_, portfolio) = help.split_once("The built-in portfolio:\n").unwrap();
    folder.write("portfolio.json", portfolio);
    let train = "train --data a.arff --labels l.xml --method auto --configurations 2 --model";
    folder.ok(&format!("{train} given.rpo --portfolio portfolio.json"));
    folder.ok(&format!("{train} built-in.rpo"));
    let lines = |name: &str| {
        let text = folder.ok(&format!("inspect --model {name}"));
        let lines = text.lines().filter(|line| line.starts_with("selection "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines("given.rpo"), lines("built-in.rpo"));
}

#[test]
fn parameters_without_a_value_have_their_default() {
    let folder = ready();
    folder.ok("train --data a.arff --labels l.xml --method one-vs-rest --model m.rpo");
    let text = folder.ok("inspect --model m.rpo");
    let of = |name: &str| {
        let found = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("parameter {name} ")));
        found.unwrap().trim().to_owned()
    };
    assert_eq!([of("normalize"), of("standardize")], ["default", "default"]);
    assert!(folder.json("inspect --model m.rpo")["parameters"]["normalize"].is_null());
}

/// On few samples a configuration is fitted with several seeds.
#[test]
fn configurations_and_their_models_are_counted() {
    let folder = ready();
    let trained =
        folder.json("train --data a.arff --labels l.xml --method auto --configurations 5 --model m.rpo");
    let inspected = folder.json("inspect --model m.rpo");
    let candidates = inspected["selection"]["candidates"].as_array().unwrap();
    let weighted = candidates
        .iter()
        .filter(|candidate| !candidate["weight"].is_null());
    assert_eq!(trained["configurations"], weighted.count());
    assert_eq!(trained["models"], inspected["members"].as_array().unwrap().len());
    for candidate in candidates {
        assert_ne!(
            candidate["weight"].is_null(),
            candidate["skipped"].is_null(),
            "{candidate}"
        );
    }
}

#[test]
fn models_of_different_data_are_named() {
    let folder = ready();
    folder.ok("train --data a.arff --labels l.xml --trees 2 --model a.rpo");
    folder.ok("train --data b.arff --labels l.xml --trees 2 --model b.rpo");
    for data in ["", "--data a.arff --labels l.xml"] {
        let message = folder.fail(&format!("combine --models a.rpo b.rpo --out c.rpo {data}"));
        assert!(
            message.starts_with(
                "error: b.rpo: cannot be combined with a.rpo, as it was fitted to different data: 50 samples in place of 60"
            ),
            "{message}"
        );
    }
}

/// The advice of a member's refusal is about the member, as the ensemble has no such option.
#[test]
fn advice_on_missing_features_can_be_typed() {
    let folder = Folder::new();
    let rows: Vec<String> = csv(60, 0)
        .lines()
        .enumerate()
        .map(|(i, row)| match (i, row.split_once(',')) {
            (5, Some((_, rest))) => format!(",{rest}"),
            _ => row.to_owned(),
        })
        .collect();
    folder.write("t.csv", rows.join("\n") + "\n");
    let train = "train --data t.csv --n-targets 2 --model m.rpo --method";
    let message = folder.fail(&format!("{train} ridge"));
    assert!(
        message.contains("set --impute median to fill them in"),
        "{message}"
    );
    folder.ok(&format!("{train} ridge --impute median"));
    folder.write(
        "members.toml",
        "method = \"blend\"\nmembers = \"ridge; extra-trees --trees 5\"\n",
    );
    let message = folder.fail(&format!("{train} blend --params members.toml"));
    let advice = "set --members \"ridge --impute median; extra-trees --trees 5\" to fill them in";
    assert!(message.contains(advice), "{message}");
}
