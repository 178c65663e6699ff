//! Label embeddings and linear models on the command line.

mod common;

use common::{Folder, arff, csv, label_file, number};

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("train.arff", arff(300, 0))
        .write("test.arff", arff(60, 300))
        .write("l.xml", label_file())
        .write("train.csv", csv(200, 0))
        .write("test.csv", csv(40, 200));
    folder
}

const DATA: &str = "--data train.arff --labels l.xml --model m.rpo";

#[test]
fn every_mode_and_loss_learns() {
    let folder = folder();
    for (options, limit) in [
        (
            "--method label-embedding --rank 2 --features 200 --bandwidth 1.5",
            0.12,
        ),
        (
            "--method label-embedding --mode linear --rank 3 --link-loss squared",
            0.25,
        ),
        (
            "--method label-embedding --mode cs --rank 3 --features 100 --kernel student:5",
            0.15,
        ),
        ("--method label-embedding --mode cs-linear --rank 3", 0.25),
        (
            "--method label-embedding --mode kernel --features 300 --kernel cauchy-iid --withhold 0.2",
            0.12,
        ),
        ("--method ridge", 0.25),
        ("--method logistic-regression --lambda 1e-5", 0.25),
    ] {
        let report = folder.json(&format!("train {DATA} {options}"));
        assert_eq!(number(&report, "n_outputs"), 3.0);
        let scores =
            folder.json("evaluate --data test.arff --labels l.xml --model m.rpo --metrics hamming,lrap");
        assert!(number(&scores, "hamming") < limit, "{options}: {scores}");
        let about = folder.json("inspect --model m.rpo");
        let method = options.split_whitespace().nth(1).unwrap();
        assert_eq!(about["method"], method);
        assert_eq!(
            folder
                .ok("predict --data test.arff --model m.rpo")
                .lines()
                .count(),
            61
        );
    }
}

#[test]
fn decisions_follow_the_model_or_the_option() {
    let folder = folder();
    let evaluate = |more: &str| {
        let scores = folder.json(&format!(
            "evaluate --data test.arff --labels l.xml --model m.rpo --metrics macro-f1 {more}"
        ));
        number(&scores, "macro-f1")
    };
    folder.ok(&format!("train {DATA} --method ridge --lambda 1"));
    let (by_default, by_rule) = (evaluate(""), evaluate("--decide f1"));
    assert_eq!(evaluate("--decide threshold"), by_default);
    folder.ok(&format!("train {DATA} --method ridge --lambda 1 --decide f1"));
    assert_eq!(evaluate(""), by_rule);
    assert_eq!(evaluate("--decide threshold"), by_default);
    assert_ne!(by_default, by_rule);
    // All samples are decided at once.
    let message =
        folder.fail("evaluate --data test.arff --labels l.xml --model m.rpo --metrics macro-f1 --memory 0");
    assert!(
        message.contains("macro-f1 needs the scores of all samples at once"),
        "{message}"
    );
}

#[test]
fn numbers_take_the_squared_loss() {
    let folder = folder();
    let data = "--data train.csv --n-targets 2 --task regression --model m.rpo";
    folder.ok(&format!(
        "train {data} --method label-embedding --rank 2 --link-loss squared --features 300"
    ));
    let scores = folder.json("evaluate --data test.csv --n-targets 2 --model m.rpo --metrics r2");
    assert!(number(&scores, "r2") > 0.9, "{scores}");
    let message = folder.fail(&format!("train {data} --method logistic-regression"));
    assert!(message.contains("the logistic losses take 0 and 1"), "{message}");
}

#[test]
fn forests_grow_on_embeddings() {
    let folder = folder();
    let options = "--projection label-embedding --components 2 --trees 20";
    folder.ok(&format!("train {DATA} {options}"));
    let scores = folder.json("evaluate --data test.arff --labels l.xml --model m.rpo --metrics lrap");
    assert!(number(&scores, "lrap") > 0.9, "{scores}");
    let about = folder.json("inspect --model m.rpo");
    assert_eq!(about["parameters"]["projection"], "label-embedding");
    assert_eq!(about["parameters"]["projection_scope"], "shared");
    let message = folder.fail(&format!(
        "train {DATA} --method gbrt-rpo --projection label-embedding"
    ));
    assert!(message.contains("label-embedding is for forests"), "{message}");
}

#[test]
fn options_without_effect_are_refused() {
    let folder = folder();
    for (options, expected) in [
        (
            "--method label-embedding --mode linear --features 10",
            "--features has no effect with --mode linear",
        ),
        (
            "--method label-embedding --mode kernel --rank 3",
            "--rank has no effect with --mode kernel",
        ),
        (
            "--method label-embedding --link-loss squared --epochs 3",
            "--epochs has no effect with --link-loss squared",
        ),
        (
            "--method label-embedding --mode cs --embedding-passes 2",
            "--embedding-passes has no effect with --mode cs",
        ),
        ("--method ridge --epochs 3", "--epochs is no option of ridge"),
        (
            "--method label-embedding --trees 3",
            "--trees is no option of label-embedding",
        ),
        (
            "--method label-embedding --momentum 1",
            "momentum is 1; expected 0 or more, below 1",
        ),
        (
            "--method logistic-regression --lambda 0",
            "lambda is 0; expected finite, above 0",
        ),
    ] {
        let message = folder.fail(&format!("train {DATA} {options}"));
        assert!(message.contains(expected), "{options}: {message}");
    }
    assert!(!folder.files().contains(&"m.rpo".to_owned()));
}

#[test]
fn options_are_searched_like_those_of_forests() {
    let folder = folder();
    let report = folder.json(&format!(
        "tune {DATA} --method label-embedding --rank 2 --features 60 --epochs 3 --decide f1 --metric macro-f1 \
         --space bandwidth=uniform:0.2:3 --space lambda=log-uniform:1e-4:1e-1 --search random --trials 4"
    ));
    assert!(report.to_string().contains("bandwidth"), "{report}");
}
