//! Structured forests, forests per label, and decisions by stored thresholds.

use crate::common::{Folder, arff, number};
use rpo::data::read::{ReadOptions, Targets, read};
use rpo::{FitContext, Method};

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("train.arff", arff(200, 0))
        .write("test.arff", arff(40, 300));
    folder
}

const DATA: &str = "--data train.arff --n-targets 3 --model m.rpo";

#[test]
fn every_variant_learns() {
    let folder = folder();
    for method in [
        "soshf",
        "structured-forest --variant sf",
        "structured-forest --variant sf-cs --beta 0.2 --weight-mode sqrt",
        "structured-forest --variant sf-lr --l2 0.01 --fall-back",
        "structured-forest --variant sf-lr-cs --scaling raw",
        "structured-forest --variant sf-h --rho 0.1 --descent-steps 50 --batch-size 64 --step-size 0.1 --prune 0",
        "binary-relevance-forest --row-share 0.5 --feature-share 1 --max-depth 4",
        "single-target-forest --criterion gini",
    ] {
        let report = folder.json(&format!(
            "train --method {method} {DATA} --trees 40 --oob --thresholds macro-f"
        ));
        assert!(number(&report, "oob_macro-auc") > 0.8, "{method}: {report}");
        let scores =
            folder.json("evaluate --data test.arff --n-targets 3 --model m.rpo --metrics lrap,macro-f1");
        assert!(
            number(&scores, "lrap") > 0.8 && number(&scores, "macro-f1") > 0.6,
            "{method}: {scores}"
        );
        let about = folder.json("inspect --model m.rpo");
        assert_eq!(about["has_thresholds"], true);
        assert_eq!(about["parameters"]["thresholds"], "macro-f");
        let hyperplanes = about
            .get("hyperplanes")
            .map_or(0.0, |_| number(&about, "hyperplanes"));
        let oblique = method.contains("sf-h") || method.contains("sf-lr") || method == "soshf";
        assert_eq!(hyperplanes > 0.0, oblique, "{method}: {about}");
    }
}

#[test]
fn decisions_are_those_of_the_stored_thresholds() {
    let folder = folder();
    folder.ok(&format!(
        "train --method soshf {DATA} --trees 8 --thresholds rate"
    ));
    let model = rpo::Model::load(folder.path("m.rpo")).unwrap();
    let thresholds = model.thresholds().unwrap().to_vec();
    let wide = folder.ok("predict --data test.arff --model m.rpo");
    let mut expected: Vec<(usize, usize)> = Vec::new();
    for (row, line) in wide.lines().skip(1).enumerate() {
        for (label, score) in line.split(',').enumerate() {
            // Printed scores read back exactly.
            if f64::from(score.parse::<f32>().unwrap()) >= thresholds[label] {
                expected.push((row, label));
            }
        }
    }
    folder.ok("predict --data test.arff --model m.rpo --decide --out-format xmlrepo --out d.txt");
    let mut found = Vec::new();
    for (row, line) in folder.read("d.txt").lines().skip(1).enumerate() {
        let labels = line
            .split_whitespace()
            .map(|pair| pair.split(':').next().unwrap().parse().unwrap());
        let mut labels: Vec<usize> = labels.collect();
        labels.sort_unstable();
        found.extend(labels.into_iter().map(|label| (row, label)));
    }
    assert_eq!(found, expected);
    assert!(!found.is_empty());
    let csv = folder.ok("predict --data test.arff --model m.rpo --decide");
    assert_eq!(csv.lines().count(), 1 + found.len());
    assert_eq!(csv.lines().next(), Some("row,label,score"));

    // Without stored thresholds, the threshold is 0.5.
    folder.ok(&format!("train --method random-forest {DATA} --trees 8"));
    let csv = folder.ok("predict --data test.arff --model m.rpo --decide");
    assert!(
        csv.lines()
            .skip(1)
            .all(|line| line.rsplit(',').next().unwrap().parse::<f32>().unwrap() >= 0.5)
    );
}

/// Whole forests use out-of-bag thresholds, and parts of them a threshold of 0.5.
#[test]
fn labels_are_decided_by_thresholds_unless_told_otherwise() {
    let folder = folder();
    for (options, has) in [
        ("", true),
        ("--thresholds rate", true),
        ("--thresholds none", false),
        ("--decide f1", false),
        ("--row-share 1", false),
        ("--first-tree 8", false),
        ("--method random-forest", false),
    ] {
        let method = if options.contains("method") {
            ""
        } else {
            "--method structured-forest"
        };
        folder.ok(&format!("train {DATA} --trees 8 {method} {options}"));
        let about = folder.json("inspect --model m.rpo");
        assert_eq!(about["has_thresholds"], has, "{options}");
        assert_eq!(about["parameters"]["thresholds"].is_string(), has, "{options}");
    }
    let part = |options: &str| {
        folder.ok(&format!(
            "train {DATA} --trees 4 --method structured-forest {options}"
        ))
    };
    part("");
    std::fs::rename(folder.path("m.rpo"), folder.path("first.rpo")).unwrap();
    part("--first-tree 4");
    let refused = folder.fail("merge --models first.rpo m.rpo --out both.rpo");
    assert!(
        refused.contains("set --thresholds none to train its parts"),
        "{refused}"
    );
    let train = format!("train {DATA} --trees 4 --method structured-forest --first-tree 4 --thresholds rate");
    let noted = folder.run(&train).stderr;
    assert!(
        noted.contains("--thresholds none trains parts without"),
        "{noted}"
    );
}

/// Parts of a forest are merged, and thresholds are found for the grown trees; the whole equals a single fit.
#[test]
fn forests_grow_in_parts() {
    let folder = folder();
    let options = ReadOptions {
        targets: Targets::Last(3),
        ..ReadOptions::default()
    };
    let data = read(folder.path("train.arff"), &options).unwrap();
    for name in [
        "structured-forest",
        "binary-relevance-forest",
        "single-target-forest",
        "random-forest",
    ] {
        let method = Method::named(name).unwrap().with("trees", "5").unwrap();
        let method = method.with("thresholds", "macro-f").unwrap().with_seed(3);
        let estimator = method.estimator(data.task()).unwrap();
        let context = FitContext::default();
        let mut shown = Vec::new();
        let whole = estimator.fit_in_parts(&data, &context, &[1, 3], &mut |step, model| {
            assert!(model.thresholds().is_some());
            shown.push(step);
            Ok(std::ops::ControlFlow::Continue(()))
        });
        let whole = whole.unwrap();
        assert_eq!(shown, [1, 3, 5]);
        assert_eq!(whole, estimator.fit(&data, &context).unwrap());
    }
}

#[test]
fn options_without_effect_are_refused() {
    let folder = folder();
    let refused = |options: &str| folder.fail(&format!("train {DATA} --method {options}"));
    for (options, named) in [
        (
            "soshf --variant sf-h --beta 0.5",
            "--beta = 0.5 is for the -cs variants only",
        ),
        ("soshf --variant sf --rho 0.1", "--rho = 0.1"),
        ("soshf --l2 0.1", "--l2 = 0.1"),
        ("soshf --beta 1.5", "--beta must be"),
        ("soshf --row-share 0", "--row-share must be in (0, 1], got 0"),
        (
            "soshf --max-features all",
            "--max-features is not a parameter of structured-forest",
        ),
        (
            "binary-relevance-forest --leaves dense",
            "--leaves is not a parameter of binary-relevance-forest",
        ),
        (
            "random-forest --bootstrap --row-share 0.5",
            "--row-share, which draws samples without replacement",
        ),
        (
            "random-forest --projection gaussian --criterion gini",
            "--criterion = gini",
        ),
        (
            "soshf --calibration-share 0.3 --thresholds rate",
            "--calibration-share = 0.3 is for samples with groups and for methods without out-of-bag predictions",
        ),
        (
            "gbmort --thresholds rate --calibration-share 1",
            "--calibration-share must be in (0, 1), got 1",
        ),
        (
            "gbmort --calibration-share 0.5",
            "--calibration-share = 0.5 needs --thresholds or --intervals",
        ),
        (
            "label-embedding --decide f1 --thresholds macro-f",
            "--decide = f1 decides without thresholds",
        ),
        (
            "craftml --low-memory --thresholds macro-f",
            "--thresholds needs the whole model",
        ),
    ] {
        let message = refused(options);
        assert!(message.contains(named), "{options}: {message}");
    }
    assert_eq!(folder.files(), ["test.arff", "train.arff"]);
    folder.ok(&format!("train {DATA}"));
    assert!(
        folder
            .run("predict --data test.arff --model m.rpo --decide --top-k 2")
            .code
            != Some(0)
    );
}
