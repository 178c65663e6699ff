//! Thresholds of methods without out-of-bag predictions.

use crate::common::{Folder, arff};
use rpo::Model;
use rpo::Predictor;

const DATA: &str = "--data train.arff --n-targets 3 --model m.rpo";

/// Methods without out-of-bag predictions withhold samples, find thresholds on them, and are then fitted to all.
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
        let decided = train("--thresholds macro-f --threshold-share 0.3");
        assert_eq!(decided.predictor(), half.predictor(), "{method}");
        let thresholds = decided.thresholds().unwrap();
        assert_eq!(thresholds.len(), decided.n_outputs(), "{method}");
        assert!(thresholds.iter().any(|&t| t != 0.5), "{method}: {thresholds:?}");
        assert_eq!(decided.parameters["threshold_share"], 0.3, "{method}");
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
