//! Label embeddings and linear models on the command line.

use crate::common::{Folder, arff, csv, label_file, number};

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
    let train = format!("train {DATA} --trees 5 --max-depth 1");
    folder.ok(&train);
    let (by_default, by_rule) = (evaluate(""), evaluate("--decide f1"));
    assert_eq!(evaluate("--decide threshold"), by_default);
    folder.ok(&format!("{train} --decide f1"));
    assert_eq!(evaluate(""), by_rule);
    assert_eq!(evaluate("--decide threshold"), by_default);
    assert_ne!(by_default, by_rule);
    // All samples are decided jointly.
    let message =
        folder.fail("evaluate --data test.arff --labels l.xml --model m.rpo --metrics macro-f1 --memory 0");
    assert!(
        message.contains("macro-f1, which needs the scores of all samples at once"),
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
    assert!(message.contains("logistic-regression is for labels"), "{message}");
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
    let message = folder.fail(&format!(
        "train {DATA} --method gbmort --projection label-embedding"
    ));
    assert!(
        message.contains("--projection is not a parameter of gbmort"),
        "{message}"
    );
}

#[test]
fn options_without_effect_are_refused() {
    let folder = folder();
    for (options, expected) in [
        (
            "--method label-embedding --mode linear --features 10",
            "--features = 10 has no effect with --mode = linear",
        ),
        (
            "--method label-embedding --mode kernel --rank 3",
            "--rank = 3 has no effect with --mode = kernel",
        ),
        (
            "--method label-embedding --link-loss squared --epochs 3",
            "--epochs = 3 has no effect with --link-loss = squared",
        ),
        (
            "--method label-embedding --mode cs --embedding-passes 2",
            "--embedding-passes = 2 has no effect with --mode = cs",
        ),
        (
            "--method ridge --epochs 3",
            "--epochs is not a parameter of ridge",
        ),
        (
            "--method label-embedding --trees 3",
            "--trees is not a parameter of label-embedding",
        ),
        (
            "--method label-embedding --momentum 1",
            "--momentum must be in [0, 1), got 1",
        ),
        (
            "--method logistic-regression --lambda 0",
            "--lambda must be positive and finite, got 0",
        ),
    ] {
        let message = folder.fail(&format!("train {DATA} {options}"));
        assert!(message.contains(expected), "{options}: {message}");
    }
    for (options, expected) in [
        ("--method ridge --lambda variance:-1", "--lambda must be"),
        ("--method ridge --lambda rows:1", "--lambda must be"),
        ("--method label-embedding --rank 0", "--rank must be"),
    ] {
        let message = folder.fail(&format!("train {DATA} {options}"));
        assert!(message.contains(expected), "{options}: {message}");
    }
    assert!(!folder.files().contains(&"m.rpo".to_owned()));
}

/// They are refused, as by the metrics of probabilities.
#[test]
fn scores_that_are_no_probabilities_are_not_decided_by_f1() {
    let folder = folder();
    folder
        .write("near.csv", "x,a,b\n0,0,1\n1,1,0\n0,0,1\n1,1,0\n")
        .write("far.csv", "x,a,b\n0,0,1\n40,1,0\n");
    folder.ok("train --data near.csv --n-targets 2 --method ridge --decide f1 --model m.rpo");
    let on = "--data far.csv --model m.rpo";
    for command in [
        format!("evaluate {on} --metrics macro-f1"),
        format!("evaluate {on} --metrics macro-f1 --decide f1"),
        format!("predict {on} --decide"),
    ] {
        let run = folder.run(&command);
        let message = run.stderr;
        assert_eq!(run.code, Some(1), "{command}");
        assert!(
            message.contains("must be a probability")
                && message.contains("help: ")
                && message.contains("--decide f1"),
            "{command}: {message}"
        );
    }
    folder.ok(&format!("evaluate {on} --metrics macro-f1 --decide threshold"));
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

/// A link on top of the scores of another model, given as features.
#[test]
fn scores_of_any_model_take_a_link() {
    let folder = folder();
    let labels = |i: usize| {
        let (a, b) = (i * 37 % 101, i * 53 % 97);
        let labels = [a > 50, a + b > 99, a.abs_diff(b) < 30].map(u8::from);
        (format!("{a},{b}"), labels.map(|v| v.to_string()).join(","))
    };
    let write = |file: &str, header: &str, rows: &[(String, String)]| {
        let lines = rows
            .iter()
            .map(|(features, labels)| format!("{features},{labels}\n"));
        folder.write(file, format!("{header},p,q,r\n") + &lines.collect::<String>());
    };
    let options = "--n-targets 3 --task multi-label";
    for (part, rows) in [("train", 0..200), ("test", 200..260)] {
        let rows: Vec<_> = rows.map(labels).collect();
        write(&format!("{part}.csv"), "a,b", &rows);
        if part == "train" {
            folder.ok(&format!(
                "train --data train.csv {options} --model forest.rpo --method random-forest --trees 10"
            ));
        }
        let scores = folder.ok(&format!("predict --data {part}.csv --model forest.rpo"));
        let scores = scores.lines().skip(1).map(str::to_owned);
        let joined: Vec<_> = scores.zip(rows.into_iter().map(|(_, labels)| labels)).collect();
        write(&format!("scores-{part}.csv"), "score p,score q,score r", &joined);
    }
    folder.ok(&format!(
        "train --data scores-train.csv {options} --model link.rpo --method label-embedding --mode kernel --features 50"
    ));
    let report =
        folder.json("evaluate --data scores-test.csv --n-targets 3 --model link.rpo --metrics hamming");
    assert!(number(&report, "hamming") < 0.25, "{report}");
}

/// Constant columns, rows of zeros, a label that no row has and one that all have; and data that allow no model.
#[test]
fn degenerate_data_give_models_or_errors() {
    let folder = folder();
    let rows = (0..40).map(|i| {
        let v = if i % 4 == 0 { 0.0 } else { f64::from(i % 7) };
        let both = i % 4 != 0;
        format!("{v},{},0,1,{}\n", if both { 5 } else { 0 }, i32::from(v > 3.0))
    });
    let header = "x,constant,never,always,some\n".to_owned();
    folder.write("few.csv", rows.fold(header, |text, row| text + &row));
    let data = "--data few.csv --n-targets 3 --task multi-label --model few.rpo";
    for options in [
        "--method label-embedding",
        "--method label-embedding --mode linear --link-loss squared --rank 3",
        "--method label-embedding --mode cs --rank 3",
        "--method label-embedding --mode kernel",
        "--method label-embedding --decide f1",
        "--method ridge",
        "--method ridge --lambda 0",
        "--method logistic-regression",
    ] {
        folder.ok(&format!("train {data} {options}"));
        let scores = folder.ok("predict --data few.csv --model few.rpo");
        for line in scores.lines().skip(1) {
            let scores: Vec<f64> = line.split(',').map(|v| v.parse().unwrap()).collect();
            assert!(scores.iter().all(|v| v.is_finite()), "{options}: {line}");
            assert!(scores[0] < 0.5 && scores[1] >= 0.5, "{options}: {line}");
        }
    }
    folder.write("nan.csv", "x,a,b\n1,0,1\nNaN,1,0\n2,1,1\n");
    for (data, options, expected) in [
        ("few.csv --n-targets 3", "--rank 4", "at most 3"),
        (
            "few.csv --n-targets 3",
            "--features 0",
            "--features must be at least 1, got 0",
        ),
        ("nan.csv --n-targets 2", "", "is not a finite number"),
    ] {
        let message = folder.fail(&format!(
            "train --data {data} --task multi-label --model no.rpo --method label-embedding {options}"
        ));
        assert!(message.contains(expected), "{options}: {message}");
    }
}
