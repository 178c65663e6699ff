//! Losses of boosting on the command line: one per output, several levels, and groups of labels.

use crate::common::{Folder, number, samples};
use std::fmt::Write;

/// A table with three features, a number, a label, and three labels of which each sample has exactly one.
fn table(n: usize, first: usize, outputs: &[&str]) -> String {
    let mut text = format!("a,b,c,{}\n", outputs.join(","));
    for (x, labels) in samples(n, first) {
        let which = usize::from(labels[1]) + usize::from(labels[2]);
        write!(text, "{},{},{}", x[0], x[1], x[2]).unwrap();
        for output in outputs {
            let value = match *output {
                "price" => 100.0 * x[0] + 20.0 * x[1],
                "sold" => f32::from(u8::from(labels[0])),
                name => f32::from(u8::from(name == ["none", "one", "two"][which])),
            };
            write!(text, ",{value}").unwrap();
        }
        text.push('\n');
    }
    text
}

fn folder(outputs: &[&str]) -> Folder {
    let folder = Folder::new();
    folder
        .write("train.csv", table(300, 0, outputs))
        .write("test.csv", table(100, 300, outputs));
    folder
}

const GROUP: [&str; 3] = ["none", "one", "two"];

fn lines(text: &str) -> Vec<Vec<String>> {
    let words = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(words).collect()
}

#[test]
fn labels_and_numbers_are_learned_in_one_model() {
    let folder = folder(&["price", "sold", "none", "one", "two"]);
    for method in ["single-target-gbrt", "gbmort", "gbrt-relabel-rpo"] {
        let groups = if method == "single-target-gbrt" {
            "logistic"
        } else {
            "softmax"
        };
        for losses in [
            String::new(),
            format!("--output-losses square,logistic,{groups},{groups},{groups}"),
        ] {
            let options = format!("--method {method} --iterations 60 --n-targets 5 {losses}");
            let run = folder.run(&format!("train --data train.csv --model m.rpo {options}"));
            assert_eq!(run.code, Some(0));
            let note = r#"note: labels beside numbers: "sold", "none", "one", "two";"#;
            assert!(run.stderr.starts_with(note), "{}", run.stderr);
            let scores = folder.json("evaluate --data test.csv --model m.rpo --metrics r2");
            assert!(number(&scores, "r2") > 0.8, "{method} {losses}: {scores}");
            let predicted = lines(&folder.ok("predict --data test.csv --model m.rpo"));
            assert_eq!(predicted[0], ["price", "sold", "none", "one", "two"]);
            for row in &predicted[1..] {
                let row: Vec<f64> = row.iter().map(|v| v.parse().unwrap()).collect();
                assert!(row[1..].iter().all(|p| (0.0..=1.0).contains(p)), "{row:?}");
                let sum: f64 = row[2..].iter().sum();
                assert!((sum - 1.0).abs() < 1e-5 || !losses.contains("softmax"), "{row:?}");
            }
        }
    }
    let found = folder.fail(
        "train --data train.csv --model m.rpo --method gbmort --n-targets 5 --task regression --output-losses square,logistic",
    );
    assert!(found.contains("--output-losses"), "{found}");
}

/// A table with a number, a label and a column of three classes.
fn with_classes(n: usize, first: usize) -> String {
    let mut text = "a,b,c,price,sold,grade\n".to_owned();
    for (x, labels) in samples(n, first) {
        let price = 100.0 * x[0] + 20.0 * x[1];
        let sold = if labels[0] { "yes" } else { "no" };
        let grade = ["bronze", "gold", "silver"][usize::from(labels[1]) + usize::from(labels[2])];
        writeln!(text, "{},{},{},{price},{sold},{grade}", x[0], x[1], x[2]).unwrap();
    }
    text
}

/// A loss of numbers is not that of labels and classes beside them, losses are given by target, and the number of steps is
/// that of all outputs.
#[test]
fn losses_of_numbers_leave_labels_and_classes_their_own() {
    let folder = Folder::new();
    folder
        .write("train.csv", with_classes(300, 0))
        .write("test.csv", with_classes(100, 300));
    let train = |options: &str| {
        let run = folder.run(&format!(
            "train --data train.csv --targets price,sold,grade --iterations 60 --model m.rpo {options}"
        ));
        assert_eq!(run.code, Some(0), "{options}: {}", run.stderr);
    };
    let probable = |options: &str| {
        let predicted = lines(&folder.ok("predict --data test.csv --model m.rpo"));
        assert_eq!(predicted[0][1], "sold", "{options}");
        for row in &predicted[1..] {
            let row: Vec<f64> = row.iter().map(|v| v.parse().unwrap()).collect();
            let sum: f64 = row[2..].iter().sum();
            assert!(
                row[1..].iter().all(|p| (0.0..=1.0).contains(p)),
                "{options}: {row:?}"
            );
            assert!((sum - 1.0).abs() < 1e-5, "{options}: {row:?}");
        }
    };
    for loss in ["absolute", "huber", "square", "poisson"] {
        for method in ["gbmort", "single-target-gbrt"] {
            let options = format!("--method {method} --loss {loss}");
            train(&options);
            probable(&options);
        }
    }
    for losses in ["poisson,logistic,softmax", "square,logistic,logistic"] {
        let options = format!("--method gbmort --output-losses {losses}");
        train(&options);
        probable(&options);
    }
    let found = folder.fail(
        "train --data train.csv --targets price,sold,grade --method gbmort --output-losses huber,logistic,softmax --model m.rpo",
    );
    assert!(
        found.contains("the logistic loss learns each class by itself"),
        "{found}"
    );

    // A number that nothing predicts says nothing about the steps of a label.
    let noise = |text: String| {
        let rows = text.lines().enumerate().map(|(i, line)| match i {
            0 => "noise,a,b,c,price,sold,grade\n".to_owned(),
            i => format!("{},{line}\n", i * 7919 % 101),
        });
        rows.collect::<String>()
    };
    folder.write("noise.csv", noise(with_classes(300, 0)));
    let steps = |targets: &str| {
        let run = folder.run(&format!(
            "train --data noise.csv --targets {targets} --ignore price --method gbmort --early-stopping 10 --model m.rpo"
        ));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        folder.json("inspect --model m.rpo")["steps"].as_u64().unwrap()
    };
    let (alone, beside) = (steps("sold,grade"), steps("noise,sold,grade"));
    assert!(3 * beside >= alone, "{beside} and {alone}");
}

#[test]
fn levels_of_a_target_are_outputs_in_order() {
    let folder = folder(&["price", "sold"]);
    let train = "train --data train.csv --targets price,sold --task regression --loss quantile --quantile 0.1,0.5,0.9 --model m.rpo";
    for method in ["single-target-gbrt", "gbmort", "gbrt-rpo", "gbrt-relabel-rpo"] {
        folder.json(&format!("{train} --method {method} --iterations 80"));
        let predicted = lines(&folder.ok("predict --data test.csv --model m.rpo"));
        let names = [
            "price@0.1",
            "price@0.5",
            "price@0.9",
            "sold@0.1",
            "sold@0.5",
            "sold@0.9",
        ];
        assert_eq!(predicted[0], names);
        for row in &predicted[1..] {
            let row: Vec<f64> = row.iter().map(|v| v.parse().unwrap()).collect();
            assert!(row[..3].is_sorted() && row[3..].is_sorted(), "{row:?}");
        }
        // Scores compare with the single column of each target, whatever the order of columns.
        let scores = folder.json("evaluate --data test.csv --model m.rpo --metrics mae --per-output p.csv");
        assert!(number(&scores, "mae") < 30.0, "{method}: {scores}");
        let by_output = lines(&folder.read("p.csv"));
        assert_eq!((by_output.len(), by_output[1][0].as_str()), (7, "price@0.1"));
    }
    // For quantiles, squared errors are uninformative, whichever model predicts them.
    folder.ok("combine --models m.rpo m.rpo --out both.rpo");
    let data = "--data train.csv --targets price,sold --task regression --method gbmort --iterations 5 --loss quantile --quantile 0.1,0.9";
    for scores in [
        folder.json("evaluate --data test.csv --model both.rpo"),
        folder.json(&format!("cv {data} --folds 2")),
    ] {
        assert!(
            scores.get("pinball").is_some() && scores.get("r2").is_none(),
            "{scores}"
        );
    }
    let tuned = folder.json(&format!(
        "tune {data} --space learning-rate=0.1,0.3 --model t.rpo"
    ));
    assert_eq!(tuned["metric"], "pinball");
    let message = folder.fail(&format!("tune {data} --space quantile=0.1,0.9"));
    assert!(
        message.contains("quantile=0.1,0.9: settings would predict different quantiles"),
        "{message}"
    );
    // The number of steps is chosen by the loss itself.
    folder.json(&format!("{train} --method gbmort --find-iterations"));
    let about = folder.json("inspect --model m.rpo");
    assert_eq!(about["n_train"], 300);
    assert!(number(&about, "steps") > 1.0, "{about}");
    let cv =
        "cv --data train.csv --targets price --folds 3 --method gbmort --loss quantile --quantile 0.1,0.9";
    folder.json(&format!("{cv} --iterations 10 --predictions out.csv"));
    let out = lines(&folder.read("out.csv"));
    assert_eq!(
        (out.len(), &out[0][..]),
        (301, &["price@0.1".to_owned(), "price@0.9".to_owned()][..])
    );
}

#[test]
fn one_label_of_each_group_is_decided_for() {
    let folder = folder(&GROUP);
    for groups in ["", "--groups 3"] {
        let train = "train --data train.csv --n-targets 3 --model m.rpo --method gbmort --loss softmax --iterations 60";
        folder.json(&format!("{train} {groups}"));
        let scores =
            folder.json("evaluate --data test.csv --model m.rpo --metrics p@1,subset-accuracy,micro-f1");
        assert!(number(&scores, "p@1") > 0.9, "{scores}");
        let decided = lines(&folder.ok("predict --data test.csv --model m.rpo --decide"));
        assert_eq!(decided.len(), 101);
        // Each sample has one label and is predicted one.
        let right = number(&scores, "p@1");
        assert!(
            (number(&scores, "subset-accuracy") - right).abs() < 1e-9,
            "{scores}"
        );
        assert!((number(&scores, "micro-f1") - right).abs() < 1e-9, "{scores}");
    }
    for (options, said) in [
        ("gbmort --loss softmax --groups 2", "--groups = 2 must add up"),
        (
            "gbmort --loss logistic --groups 3",
            "--groups = 3 is for the softmax loss only",
        ),
        (
            "gbmort --loss softmax --preset paper",
            "--line-search = exact cannot be combined with the softmax loss",
        ),
        (
            "single-target-gbrt --loss softmax",
            "--loss = softmax couples outputs",
        ),
        ("gbmort --loss softmax --groups a", "--groups must be"),
        (
            "gbmort --quantile 0.9,0.1 --loss quantile",
            "levels in increasing order",
        ),
    ] {
        let found = folder.fail(&format!(
            "train --data train.csv --n-targets 3 --model n.rpo --method {options}"
        ));
        assert!(found.contains(said), "{options}: {found}");
    }
}

#[test]
fn models_of_one_quantile_combine_by_its_loss() {
    let folder = folder(&["price"]);
    let train = |method: &str, model: &str| {
        let train = "train --data train.csv --targets price";
        folder.json(&format!("{train} --method {method} --model {model}"));
    };
    train("gbmort --loss quantile --quantile 0.9 --iterations 60", "a.rpo");
    train("gbmort --loss quantile --quantile 0.9 --iterations 3", "b.rpo");
    train("gbmort --loss quantile --quantile 0.1 --iterations 60", "low.rpo");
    train("ridge", "means.rpo");
    let data = "--data test.csv";
    let loss = |model: &str| {
        let scores = folder.json(&format!("evaluate {data} --model {model}"));
        number(&scores, "pinball")
    };
    for rule in ["greedy", "greedy-mean", "mean"] {
        let found = folder.json(&format!(
            "combine --models a.rpo b.rpo {data} --combine {rule} --out all.rpo"
        ));
        assert!(found["cross_fitted_pinball"].is_number(), "{found}");
        let combined = loss("all.rpo");
        let best = loss("a.rpo").min(loss("b.rpo"));
        assert!(rule != "greedy" || combined <= best, "{rule}: {combined} {best}");
    }
    let refused =
        |models: &str, rest: &str| folder.fail(&format!("combine --models {models} {rest} --out x.rpo"));
    for rule in ["nnls", "stack"] {
        let message = refused("a.rpo b.rpo", &format!("{data} --combine {rule}"));
        assert!(
            message.contains(&format!("--combine = {rule} minimizes squared errors")),
            "{message}"
        );
    }
    for (models, levels) in [
        (
            "a.rpo low.rpo",
            "one predicts the quantile 0.9, another the quantile 0.1",
        ),
        (
            "means.rpo a.rpo",
            "one predicts no quantile, another the quantile 0.9",
        ),
    ] {
        for rest in ["", data] {
            let message = refused(models, rest);
            assert!(
                message.contains(&format!("the models cannot be combined: {levels}")),
                "{message}"
            );
        }
    }
}

#[test]
fn quantiles_are_scored_by_output() {
    let folder = Folder::new();
    let rows: String = (0..200)
        .map(|i| format!("{},{}\n", i % 10, (i * 37) % 101))
        .collect();
    folder.write("t.csv", format!("x,y\n{rows}"));
    folder.ok(
        "train --data t.csv --targets y --method gbmort --loss quantile --quantile 0.1,0.9 --model q.rpo",
    );
    folder.ok("evaluate --data t.csv --model q.rpo --per-output q.csv");
    let table = folder.read("q.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        rows[0],
        ["output", "r2", "mae", "rmse", "pinball", "quantile-coverage"]
    );
    let coverage = |row: usize| rows[row][5].parse::<f64>().unwrap();
    assert!(
        (0.02..0.3).contains(&coverage(1)) && (0.7..0.98).contains(&coverage(2)),
        "{table}"
    );
}

#[test]
fn what_was_not_given_is_not_named() {
    let folder = Folder::new();
    let rows = (0..20).map(|i| format!("{i},{},{}\n", 5 - i, i * i));
    folder.write("t.csv", "x,debt,square\n".to_owned() + &rows.collect::<String>());
    let train = "train --data t.csv --targets debt,square --model m.rpo --method";
    let message = folder.fail(&format!("{train} gbrt-rpo --projection identity"));
    let expected = "--projection = identity cannot be combined with gbrt-rpo";
    assert!(message.contains(expected), "{message}");
    // By the name of the column, not by its number among the targets.
    let message = folder.fail(&format!("{train} gbmort --loss poisson"));
    let expected = "the target \"debt\" is -1 in sample 6 (from 0) of the fit; the loss needs at least 0";
    assert!(message.contains(expected), "{message}");
}

/// A method that knows nothing of counts may predict numbers below 0.
#[test]
fn a_deviance_that_is_infinite_does_not_end_the_command() {
    let folder = Folder::new();
    let text: String = (0..40_u32)
        .map(|i| format!("{i},{}\n", 7 * i.saturating_sub(20)))
        .collect();
    folder.write("counts.csv", format!("x,count\n{text}"));
    folder.ok("train --data counts.csv --targets count --model m.rpo --method ridge");
    let evaluate = "--metrics r2,poisson-deviance";
    let run = folder.run(&format!(
        "evaluate --data counts.csv --model m.rpo {evaluate} --json"
    ));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("\"poisson-deviance\":null"), "{}", run.stdout);
    let why = "infinite: a number is predicted to be below 0, or 0 where it is not";
    assert!(run.stderr.contains(why), "{}", run.stderr);
    let cv = "cv --data counts.csv --targets count --method ridge --folds 2 --seed 1";
    let run = folder.run(&format!("{cv} {evaluate}"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.contains("poisson-deviance is infinite on "),
        "{}",
        run.stderr
    );
    // An error of a fold names the sample of the file.
    folder.write("counts.csv", format!("x,count\n{text}40,-1\n"));
    let found = folder.fail(&format!("{cv} {evaluate}"));
    assert!(found.contains("sample 40"), "{found}");
}
