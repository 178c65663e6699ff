//! Boosting on the command line: from a file to a model to scores, early stopping, and refused options.

use crate::common::{FEATURES, Folder, LABELS, arff, csv, label_file, number};

const METHODS: [&str; 4] = ["single-target-gbrt", "gbmort", "gbrt-rpo", "gbrt-relabel-rpo"];

fn labels() -> Folder {
    let folder = Folder::new();
    folder
        .write("train.arff", arff(300, 0))
        .write("test.arff", arff(100, 300))
        .write("l.xml", label_file());
    folder
}

#[test]
fn every_method_learns_labels() {
    let folder = labels();
    for method in METHODS {
        for loss in [
            "",
            "--loss square",
            "--loss absolute",
            "--loss logistic --line-search newton",
        ] {
            folder.json(&format!(
                "train --data train.arff --labels l.xml --model m.rpo --method {method} {loss} --iterations 40 \
                 --learning-rate 0.3 --max-leaves 4"
            ));
            let scores = folder.json("evaluate --data test.arff --model m.rpo --metrics lrap,hamming");
            // Rare labels are not ranked well by models of absolute residuals.
            let enough = if loss.contains("absolute") { 0.7 } else { 0.95 };
            assert!(number(&scores, "lrap") > enough, "{method} {loss}: {scores}");
            assert!(
                loss.contains("absolute") || number(&scores, "hamming") < 0.1,
                "{method} {loss}: {scores}"
            );
        }
        let about = folder.json("inspect --model m.rpo");
        assert_eq!(about["parameters"]["method"], method);
        assert_eq!(about["parameters"]["loss"], "logistic");
        let wide = folder.ok("predict --data test.arff --model m.rpo --top-k 2");
        assert!(wide.lines().count() > 1 + LABELS.len(), "{wide}");
    }
}

#[test]
fn a_model_is_continued() {
    let folder = labels();
    let options = "--data train.arff --labels l.xml";
    for method in METHODS {
        let train = |model: &str, steps: usize, more: &str| {
            folder.ok(&format!(
                "train {options} --method {method} --model {model} --iterations {steps} {more}"
            ))
        };
        train("once.rpo", 30, "");
        train("first.rpo", 12, "");
        train("whole.rpo", 30, "--continue first.rpo --thresholds rate");
        let about = folder.json("inspect --model whole.rpo");
        assert_eq!(
            (&about["steps"], &about["parameters"]["iterations"]),
            (&30.into(), &30.into())
        );
        let score = |model| {
            number(
                &folder.json(&format!(
                    "evaluate --data test.arff --model {model} --metrics lrap"
                )),
                "lrap",
            )
        };
        assert!((score("once.rpo") - score("whole.rpo")).abs() < 1e-3, "{method}");
    }
    let refused = [
        (
            "--method gbrt-relabel-rpo --iterations 12 --continue first.rpo",
            "does not exceed the number of steps",
        ),
        (
            "--method random-forest --continue first.rpo",
            "--continue is for boosting",
        ),
        (
            "--method gbrt-relabel-rpo --iterations 40 --find-iterations --continue first.rpo",
            "fitted to all samples",
        ),
        (
            "--method gbmort --iterations 40 --continue forest.rpo",
            "`method` is random-forest there and gbmort here",
        ),
        (
            "--method gbrt-rpo --iterations 40 --continue first.rpo",
            "`method` is gbrt-relabel-rpo there and gbrt-rpo here",
        ),
        (
            "--method gbrt-relabel-rpo --iterations 40 --learning-rate 0.9 --seed 8 --continue first.rpo",
            "--learning-rate is 0.1 there and 0.9 here",
        ),
        (
            "--method gbrt-relabel-rpo --iterations 40 --impute mean --continue first.rpo",
            "--impute is none there and mean here",
        ),
        ("--method gbmort --iterations 40 --continue no.rpo", "no.rpo"),
    ];
    folder.ok(&format!("train {options} --trees 2 --model forest.rpo"));
    for (given, expected) in refused {
        let found = folder.fail(&format!("train {options} --model m.rpo {given}"));
        assert!(found.contains(expected), "{given}: {found}");
    }
    folder.write("other.arff", arff(300, 0).replace(FEATURES[0], "other"));
    let found = folder.fail(
        "train --data other.arff --labels l.xml --model m.rpo --method gbmort --iterations 40 --continue first.rpo",
    );
    assert!(found.contains("the features or outputs differ"), "{found}");
    // The same number of samples, one of which differs.
    folder.write("other.arff", arff(300, 1));
    let found = folder.fail(
        "train --data other.arff --labels l.xml --model m.rpo --method gbrt-relabel-rpo --iterations 40 --continue first.rpo",
    );
    assert!(found.contains("the samples or their outputs differ"), "{found}");
}

/// The number of steps may come from a search; the model of all samples then equals one fitted with that number.
#[test]
fn a_model_of_levels_and_one_of_a_search_are_continued() {
    let folder = labels();
    folder.write("numbers.csv", csv(200, 0));
    let train = "train --data numbers.csv --n-targets 2 --method gbmort --loss quantile";
    let levels = "--quantile 0.1,0.9";
    folder.ok(&format!("{train} {levels} --iterations 4 --model first.rpo"));
    folder.ok(&format!(
        "{train} {levels} --iterations 6 --model whole.rpo --continue first.rpo"
    ));
    let found = folder.fail(&format!(
        "{train} --quantile 0.2,0.9 --iterations 6 --model whole.rpo --continue first.rpo"
    ));
    assert!(
        found.contains("--quantile is 0.1,0.9 there and 0.2,0.9 here"),
        "{found}"
    );
    let train = "train --data train.arff --labels l.xml --method gbmort --iterations";
    folder.ok(&format!(
        "{train} 20 --validation 0.2 --refit-all --model first.rpo"
    ));
    folder.ok(&format!("{train} 40 --model whole.rpo --continue first.rpo"));
    folder.ok(&format!("{train} 20 --validation 0.2 --model part.rpo"));
    let found = folder.fail(&format!("{train} 40 --model m.rpo --continue part.rpo"));
    assert!(found.contains("some were withheld from this one"), "{found}");
}

#[test]
fn outputs_of_samples_are_weighed() {
    let folder = labels();
    let options = "--data train.arff --labels l.xml --method gbmort --iterations 20";
    // Columns in another order than the outputs; the last label has weight 0 in half of the samples.
    let mut weights = format!("{:?},{:?},{:?}\n", LABELS[2], LABELS[0], LABELS[1]);
    let mut labels = arff(300, 0);
    for i in 0..300 {
        weights += if i % 2 == 0 { "1,1,1\n" } else { "0,1,1\n" };
    }
    folder
        .write("w.csv", &weights)
        .write("ones.csv", weights.replace('0', "1"));
    folder.ok(&format!("train {options} --model plain.rpo"));
    folder.ok(&format!(
        "train {options} --model ones.rpo --output-weights ones.csv"
    ));
    folder.ok(&format!(
        "train {options} --model some.rpo --output-weights w.csv"
    ));
    let predict = |model: &str| folder.ok(&format!("predict --data test.arff --model {model}"));
    // Without weights of outputs, odds are kept in single precision.
    let numbers = |text: &str| -> Vec<f64> {
        let rows = text.lines().skip(1);
        rows.flat_map(|row| row.split(','))
            .map(|v| v.parse().unwrap())
            .collect()
    };
    let (plain, ones) = (predict("plain.rpo"), predict("ones.rpo"));
    let mut pairs = numbers(&plain).into_iter().zip(numbers(&ones));
    assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-5), "{plain}\n{ones}");
    // An output of weight 0 counts as missing.
    let (head, rows) = labels.split_once("@data\n").unwrap();
    let rows = rows.lines().enumerate().map(|(i, row)| match i % 2 {
        0 => format!("{row}\n"),
        _ => format!("{}?\n", &row[..row.len() - 1]),
    });
    labels = format!("{head}@data\n{}", rows.collect::<String>());
    folder.write("missing.arff", labels);
    folder.ok(&format!(
        "train {} --missing-outputs --model missing.rpo",
        options.replace("train.arff", "missing.arff")
    ));
    assert_eq!(predict("some.rpo"), predict("missing.rpo"));
    assert_ne!(predict("some.rpo"), predict("plain.rpo"));
    let mut different = vec![predict("plain.rpo")];
    for weights in [
        "balanced",
        "propensity",
        "propensity --propensity-a 0.3",
        "propensity-unbiased",
        "propensity-unbiased --propensity-b 4",
    ] {
        folder.ok(&format!(
            "train {options} --model w.rpo --output-weights {weights}"
        ));
        let predicted = predict("w.rpo");
        assert!(!different.contains(&predicted), "{weights}");
        different.push(predicted);
    }
    let found = folder.fail("train --data train.arff --labels l.xml --model m.rpo --output-weights w.csv");
    assert!(
        found.contains("does not take weights of single outputs"),
        "{found}"
    );
    folder.write("short.csv", "a,b\n1,1\n");
    let found = folder.fail(&format!(
        "train {options} --model m.rpo --output-weights short.csv"
    ));
    assert!(
        found.contains("short.csv") && found.contains(LABELS[0]),
        "{found}"
    );
}

#[test]
fn numbers_are_predicted() {
    let folder = Folder::new();
    folder
        .write("train.csv", csv(300, 0))
        .write("test.csv", csv(50, 300));
    for method in METHODS {
        folder.json(&format!(
            "train --data train.csv --n-targets 2 --model m.rpo --method {method} --max-leaves 6"
        ));
        let scores = folder.json("evaluate --data test.csv --model m.rpo --metrics r2");
        assert!(number(&scores, "r2") > 0.7, "{method}: {scores}");
    }
}

/// Boosting on the directions of the labels that features predict, found once; and its most important features.
#[test]
fn boosting_grows_on_a_label_embedding() {
    let folder = labels();
    let train = "train --data train.arff --labels l.xml --model m.rpo --method gbrt-relabel-rpo --iterations 40 --projection label-embedding";
    folder.json(train);
    let scores = folder.json("evaluate --data test.arff --model m.rpo --metrics lrap");
    assert!(number(&scores, "lrap") > 0.9, "{scores}");
    let about = folder.json("inspect --model m.rpo --top-features 2");
    assert_eq!(about["parameters"]["projection"], "label-embedding");
    assert_eq!(number(&about, "steps"), 40.0);
    let features = about["top_features"].as_array().unwrap();
    let weights: Vec<f64> = features.iter().map(|f| number(f, "importance")).collect();
    assert!(
        weights.len() == 2 && weights[0] >= weights[1] && weights[1] > 0.0,
        "{about}"
    );
    folder.json(&format!("{train} --projection-scope tree --components 2"));
    folder.fail(&train.replace("gbrt-relabel-rpo", "gbrt-rpo"));
}

#[test]
fn forests_of_single_targets_learn() {
    let folder = labels();
    let train =
        "train --data train.arff --labels l.xml --model m.rpo --method single-target-forest --trees 20";
    folder.json(train);
    let scores = folder.json("evaluate --data test.arff --model m.rpo --metrics lrap");
    assert!(number(&scores, "lrap") > 0.95, "{scores}");
    assert_eq!(
        folder.json("inspect --model m.rpo")["parameters"]["method"],
        "single-target-forest"
    );
    for option in [
        "--projection gaussian",
        "--leaves sparse",
        "--bootstrap=false --oob",
    ] {
        folder.fail(&format!("{train} {option}"));
    }
}

#[test]
fn early_stopping_ends_with_the_best_step() {
    let folder = labels();
    let train = "train --data train.arff --labels l.xml --method gbrt-relabel-rpo --learning-rate 0.5 --iterations 200";
    let fit = |options: &str| {
        let report = folder.json(&format!("{train} --model m.rpo {options}"));
        let about = folder.json("inspect --model m.rpo");
        (
            number(&report, "n_samples"),
            about["steps"].as_u64().unwrap(),
            about,
        )
    };
    let (_, whole, about) = fit("");
    assert_eq!((whole, about["n_train"].as_u64()), (200, Some(300)));
    let (_, stopped, about) = fit("--early-stopping 5 --validation 0.3 --validation-metric lrap");
    assert!(stopped < 200, "{stopped}");
    assert!(about["n_train"].as_u64().unwrap() < 300);
    let (_, again, about) = fit("--early-stopping 5 --validation 0.3 --validation-metric lrap --refit-all");
    assert_eq!((again, about["n_train"].as_u64()), (stopped, Some(300)));
}

#[test]
fn a_time_limit_leaves_a_model() {
    let folder = labels();
    let train = "train --data train.arff --labels l.xml --method gbmort --iterations 500 --model m.rpo";
    let steps = |options: &str| {
        folder.json(&format!("{train} {options}"));
        folder.json("inspect --model m.rpo")["steps"].as_u64()
    };
    assert_eq!(steps("--time-limit 1e-9"), Some(1));
    assert_eq!(steps("--time-limit 600"), Some(500));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = labels();
    let refusal = |options: &str| {
        folder.fail(&format!(
            "train --data train.arff --labels l.xml --model m.rpo {options}"
        ))
    };
    for (options, said) in [
        (
            "--method gbmort --iterations 0",
            "--iterations must be at least 1, got 0",
        ),
        (
            "--method gbmort --learning-rate 1.5",
            "--learning-rate must be in (0, 1], got 1.5",
        ),
        (
            "--method gbmort --learning-rate NaN",
            "--learning-rate must be a number, above 0 and at most 1, got \"NaN\"",
        ),
        (
            "--method gbmort --projection gaussian",
            "--projection is not a parameter of gbmort",
        ),
        (
            "--method gbrt-rpo --components 3",
            "--components = 3 cannot be combined with gbrt-rpo",
        ),
        ("--method gbrt-rpo --projection none", "--projection"),
        (
            "--method gbrt-rpo --projection-scope shared",
            "--projection-scope = shared cannot be combined with gbrt-rpo",
        ),
        (
            "--method gbmort --loss absolute --line-search newton",
            "--line-search = newton needs a loss with a curvature",
        ),
        (
            "--method gbmort --validation 1",
            "--validation must be in (0, 1), got 1",
        ),
        (
            "--method gbmort --early-stopping 0",
            "--early-stopping must be at least 1, got 0",
        ),
        (
            "--method gbmort --time-limit 0",
            "--time-limit must be positive and finite, got 0",
        ),
        (
            "--method random-forest --time-limit 1",
            "--time-limit is not a parameter of random-forest",
        ),
        (
            "--method gbrt-rpo --projection label-embedding",
            "--projection = label-embedding",
        ),
        (
            "--method gbrt-rpo --leaf-values 2",
            "--leaf-values is not a parameter of gbrt-rpo",
        ),
        (
            "--method gbmort --refit-all",
            "--refit-all = true needs samples withheld by --validation",
        ),
        (
            "--method gbmort --trees 5",
            "--trees is not a parameter of gbmort",
        ),
        (
            "--method random-forest --loss square",
            "--loss is not a parameter of random-forest",
        ),
        ("--method gbmort --oob", "--oob needs"),
    ] {
        let found = refusal(options);
        assert!(found.contains(said), "{options}: {found}");
    }
    assert!(!folder.files().contains(&"m.rpo".to_owned()));
}

/// A single label has no rank among others: it is scored by the area under its ROC curve.
#[test]
fn a_single_label_is_searched_and_stopped_by_its_area() {
    let folder = Folder::new();
    let draw = |i: usize| (i * 7919) % 100;
    let rows: String = (0..300)
        .map(|i| format!("{},{},{}\n", draw(i), i % 7, u8::from(draw(i) > 60)))
        .collect();
    folder.write("one.csv", format!("a,b,y\n{rows}"));
    let data = "--data one.csv --targets y";
    for options in ["--early-stopping 5", "--find-iterations", "--validation 0.2"] {
        folder.json(&format!(
            "train --method gbrt-rpo {data} {options} --iterations 30 --model m.rpo"
        ));
        let inspected = folder.json("inspect --model m.rpo");
        assert!(number(&inspected, "steps") > 0.0, "{options}: {inspected}");
    }
    let scores = folder.json("evaluate --data one.csv --model m.rpo");
    assert!(
        number(&scores, "macro-auc") > 0.99 && scores.get("lrap").is_none(),
        "{scores}"
    );
    let tuned = folder.json(&format!("tune {data} --trees 10 --space min-samples-leaf=100,2"));
    assert_eq!(
        (&tuned["metric"], &tuned["best"]["parameters"]["min_samples_leaf"]),
        (&"macro-auc".into(), &2.into())
    );
    let trained = folder.json(&format!("train {data} --trees 30 --oob --model f.rpo"));
    assert!(number(&trained, "oob_macro-auc") > 0.99, "{trained}");
    // No sample that is withheld has the label.
    let rows: String = (0..60).map(|i| format!("{},0\n", draw(i))).collect();
    folder.write("rare.csv", format!("a,y\n{rows}"));
    let train = "train --method gbrt-rpo --data rare.csv --task multi-label --targets y --early-stopping 5 --validation 0.05 --validation-metric macro-auc";
    let run = folder.run(&format!("{train} --model m.rpo"));
    assert!(
        run.code == Some(1) && run.stderr.contains("withhold more samples"),
        "{}",
        run.stderr
    );
}
