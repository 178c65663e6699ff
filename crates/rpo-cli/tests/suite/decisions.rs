//! Thresholds of methods without out-of-bag predictions.

use crate::common::{Folder, arff};
use rpo::Model;
use rpo::Predictor;

const DATA: &str = "--data train.arff --n-targets 3 --model m.rpo";

/// Methods without out-of-bag predictions withhold samples, find thresholds on them, and are then fitted to all
/// samples.
#[test]
fn thresholds_of_any_method_change_nothing_but_decisions() {
    let folder = Folder::new();
    folder.write("train.arff", arff(200, 0));
    for method in [
        "extra-trees --trees 10 --max-depth 2",
        "soshf --row-share 1 --trees 4",
        "gbrt-relabel-rpo --iterations 10 --validation 0.3",
        "craftml --trees 5",
        "ridge",
        "logistic-regression",
        "label-embedding --rank 2",
    ] {
        let train = |options: &str| {
            folder.ok(&format!("train --method {method} {DATA} {options}"));
            Model::load(folder.path("m.rpo")).unwrap()
        };
        let half = train("");
        let decided = train("--thresholds macro-f --calibration-share 0.3");
        assert_eq!(decided.predictor(), half.predictor(), "{method}");
        let thresholds = decided.thresholds().unwrap();
        assert_eq!(thresholds.len(), decided.n_outputs(), "{method}");
        assert!(thresholds.iter().any(|&t| t != 0.5), "{method}: {thresholds:?}");
        assert_eq!(decided.parameters["calibration_share"], 0.3, "{method}");
        let other = train("--thresholds macro-f --seed 1");
        assert_ne!(other.thresholds().unwrap(), thresholds, "{method}");
    }
}

#[test]
fn thresholds_are_for_labels() {
    let folder = Folder::new();
    folder.write("numbers.csv", "a,b\n1,0.5\n2,1.5\n3,2.5\n4,3.5\n");
    for method in ["random-forest", "gbmort"] {
        let train = format!("train --method {method} --data numbers.csv --n-targets 1 --model m.rpo");
        let message = folder.fail(&format!("{train} --thresholds macro-f"));
        assert!(
            message.contains("cannot use --thresholds, which is for labels"),
            "{message}"
        );
    }
}

/// Decisions by expected F1 need probabilities, which training tells.
#[test]
fn joint_decisions_are_for_probabilities() {
    let folder = Folder::new();
    folder.write("train.arff", arff(200, 0));
    for (method, is_probable) in [
        ("ridge", false),
        ("gbmort --loss square --iterations 30 --learning-rate 1", false),
        ("gbmort --iterations 30", true),
        ("extra-trees --trees 5", true),
        ("logistic-regression", true),
    ] {
        let train = format!("train --method {method} {DATA} --decide f1");
        if is_probable {
            folder.ok(&train);
        } else {
            let message = folder.fail(&train);
            assert!(message.contains("needs probabilities"), "{method}: {message}");
        }
    }
}

/// Thresholds apply to the scores of one model only.
#[test]
fn an_ensemble_has_no_thresholds_of_its_members() {
    let folder = Folder::new();
    folder
        .write("train.arff", arff(200, 0))
        .write("withheld.arff", arff(100, 200))
        .write("numbers.csv", "a,b\n1,0.5\n2,1.5\n3,2.5\n4,3.5\n");
    let train = |options: &str, model: &str| {
        folder.ok(&format!(
            "train --data train.arff --n-targets 3 --trees 5 --max-depth 2 {options} --model {model}"
        ))
    };
    train("--thresholds macro-f", "a.rpo");
    train("--seed 1 --decide f1", "b.rpo");
    train("--seed 2", "c.rpo");
    let combine = |rest: &str| folder.run(&format!("combine {rest} --out all.rpo"));
    let thresholds = || {
        let model = Model::load(folder.path("all.rpo")).unwrap();
        model.thresholds().map(<[f64]>::to_vec)
    };
    for (rest, who) in [
        ("--models c.rpo a.rpo", "a.rpo decides"),
        ("--models a.rpo b.rpo c.rpo", "a.rpo and 1 more decide"),
        ("--models c.rpo b.rpo --data withheld.arff", "b.rpo decides"),
    ] {
        let run = combine(rest);
        assert_eq!((run.code, thresholds()), (Some(0), None), "{}", run.stderr);
        assert!(
            run.stderr
                .starts_with(&format!("note: {who} on labels by a rule"))
                && run
                    .stderr
                    .contains("--thresholds finds thresholds for the ensemble on --data"),
            "{}",
            run.stderr
        );
    }
    assert_eq!(combine("--models c.rpo").stderr, "");
    let run = combine("--models a.rpo b.rpo --data withheld.arff --thresholds macro-f");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let found = thresholds().unwrap();
    assert!(found.len() == 3 && found.iter().any(|&t| t != 0.5), "{found:?}");
    // Weights may be given, and only thresholds found.
    let weighted = "--models a.rpo b.rpo --weights 1 1 --data withheld.arff";
    let run = combine(&format!("{weighted} --thresholds macro-f"));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let model = Model::load(folder.path("all.rpo")).unwrap();
    assert_eq!(combine("--models a.rpo b.rpo --weights 1 1").code, Some(0));
    let unset = Model::load(folder.path("all.rpo")).unwrap();
    assert_eq!(model.clone().with_thresholds(None).unwrap(), unset);
    let found = model.thresholds().unwrap();
    assert!(found.len() == 3 && found.iter().any(|&t| t != 0.5), "{found:?}");
    let message = folder.fail(&format!("combine {weighted} --out all.rpo"));
    assert!(
        message.contains("unless --thresholds needs the data"),
        "{message}"
    );
    assert_eq!(
        combine(&format!("{weighted} --combine nnls --thresholds rate")).code,
        Some(2)
    );
    assert_eq!(combine("--models a.rpo --thresholds rate").code, Some(2));
    folder.ok("train --data numbers.csv --n-targets 1 --trees 2 --model n.rpo");
    let message = folder.fail("combine --models n.rpo --data numbers.csv --thresholds rate --out all.rpo");
    assert!(message.contains("--thresholds is for labels"), "{message}");
}
