//! Every registered method works with every command, and its parameters have the same names everywhere.

use crate::common::{Folder, arff, csv, label_file};
use serde_json::{Map, Value};

const SMALL: &str = "--trees 3 --iterations 3 --epochs 2 --features 20 --configurations 3";

/// The options in [`SMALL`] that a method has.
fn small(method: &rpo::Method) -> String {
    let options: Vec<&str> = SMALL.split_whitespace().collect();
    let pairs = options.chunks(2);
    let infos = method.entry().parameters();
    let taken = pairs.filter(|pair| infos.iter().any(|info| info.name == pair[0][2..]));
    taken.map(|pair| pair.join(" ")).collect::<Vec<_>>().join(" ")
}

fn methods() -> impl Iterator<Item = rpo::Method> {
    let names = rpo::Registry::standard().into_iter().map(|entry| entry.name);
    names.map(|name| rpo::Method::named(name).unwrap())
}

#[test]
fn every_method_trains_predicts_evaluates_tunes_and_explains_itself() {
    let folder = Folder::new();
    folder
        .write("a.arff", arff(80, 0))
        .write("b.arff", arff(40, 80))
        .write("l.xml", label_file());
    let data = "--data a.arff --labels l.xml";
    for method in methods() {
        let name = method.entry().name;
        let options = small(&method);
        let trained = folder.json(&format!("train {data} --method {name} {options} --model m.rpo"));
        assert_eq!(trained["n_samples"], 80, "{name}");
        let scores = folder.json("evaluate --model m.rpo --data b.arff --metrics lrap,hamming");
        assert!(scores["lrap"].as_f64().unwrap() > 0.3, "{name}: {scores}");
        let predicted = folder.ok("predict --model m.rpo --data b.arff");
        assert_eq!(predicted.lines().count(), 41, "{name}");
        let inspected = folder.json("inspect --model m.rpo");
        assert_eq!(inspected["method"], name);
        let tuned = folder.json(&format!(
            "tune {data} --method {name} {options} --space {}",
            // Members of an ensemble prepare the features themselves.
            if ["auto", "blend"].contains(&name) {
                "combine=greedy,mean"
            } else {
                "impute=none,median"
            }
        ));
        assert_eq!(tuned["trials"].as_array().unwrap().len(), 2, "{name}");
        let page = folder.ok(&format!("help {name}"));
        for parameter in method.entry().parameters().iter().filter(|p| p.name != "seed") {
            let option = format!("--{}", parameter.name.replace('_', "-"));
            assert!(page.contains(&option), "rpo help {name} should list {option}");
            assert!(!parameter.help.is_empty(), "{name}: {option} has no help");
        }
    }
}

#[test]
fn parameters_of_a_model_train_the_same_model_again() {
    let folder = Folder::new();
    folder.write("a.arff", arff(80, 0)).write("l.xml", label_file());
    let data = "--data a.arff --labels l.xml";
    for method in methods() {
        let (name, options) = (method.entry().name, small(&method));
        folder.ok(&format!(
            "train {data} --method {name} {options} --seed 3 --model m.rpo"
        ));
        let parameters = folder.ok("inspect --model m.rpo --params");
        let record: Map<String, Value> = serde_json::from_str(&parameters).unwrap();
        let infos = method.entry().parameters().iter();
        let mut expected: Vec<&str> = infos.map(|info| info.name.as_str()).collect();
        expected.push("method");
        expected.sort();
        let mut recorded: Vec<&str> = record.keys().map(String::as_str).collect();
        recorded.sort();
        assert_eq!(
            recorded, expected,
            "{name} records each of its parameters under its name"
        );
        folder.write("p.json", &parameters);
        folder.ok(&format!("train {data} --params p.json --model again.rpo"));
        let bytes = |file: &str| std::fs::read(folder.path(file)).unwrap();
        assert!(bytes("m.rpo") == bytes("again.rpo"), "{name}");
    }
}

#[test]
fn parameters_are_read_from_toml_and_options_replace_them() {
    let folder = Folder::new();
    folder.write("a.arff", arff(80, 0)).write("l.xml", label_file());
    let data = "--data a.arff --labels l.xml";
    folder.write(
        "p.toml",
        "method = \"extra-trees\"\ntrees = 4\nmax_features = 0.5\nseed = 9\n",
    );
    folder.ok(&format!(
        "train {data} --params p.toml --min-samples-leaf 2 --model m.rpo"
    ));
    let record: Value = serde_json::from_str(&folder.ok("inspect --model m.rpo --params")).unwrap();
    for (name, value) in [
        ("method", Value::from("extra-trees")),
        ("trees", 4.into()),
        ("max_features", 0.5.into()),
        ("min_samples_leaf", 2.into()),
        ("seed", 9.into()),
    ] {
        assert_eq!(record[name], value, "{name}");
    }
    let message = folder.fail(&format!(
        "train {data} --params p.toml --method craftml --model m.rpo"
    ));
    assert!(
        message.contains("--method craftml contradicts p.toml"),
        "{message}"
    );
    folder.write("bad.toml", "method = \"extra-trees\"\ntres = 4\n");
    let message = folder.fail(&format!("train {data} --params bad.toml --model m.rpo"));
    assert!(message.contains("did you mean trees?"), "{message}");
}

#[test]
fn wrong_methods_options_and_values_are_named() {
    let folder = Folder::new();
    folder.write("a.arff", arff(80, 0)).write("l.xml", label_file());
    for (options, words) in [
        ("--method basline", "did you mean baseline?"),
        (
            "--method baseline --statistic mode",
            "--statistic must be one of mean, median, got \"mode\"",
        ),
        (
            "--method baseline --trees 3",
            "--trees is not a parameter of baseline",
        ),
        ("--trees 0", "--trees must be at least 1, got 0"),
        ("--trees=-1", "--trees must be a whole number, at least 1, got -1"),
    ] {
        let message = folder.fail(&format!(
            "train --data a.arff --labels l.xml {options} --model m.rpo"
        ));
        assert!(message.contains(words), "{options}: {message}");
    }
}

#[test]
fn the_baseline_predicts_frequencies_means_and_medians() {
    let folder = Folder::new();
    folder
        .write("a.arff", arff(80, 0))
        .write("l.xml", label_file())
        .write("n.csv", csv(5, 0));
    folder.ok("train --data a.arff --labels l.xml --method baseline --model m.rpo");
    let predicted = folder.ok("predict --model m.rpo --data a.arff");
    let lines: Vec<&str> = predicted.lines().skip(1).collect();
    assert!(lines.iter().all(|line| *line == lines[0]), "{predicted}");
    let number = |text: &str| text.split(',').next_back().unwrap().parse::<f64>().unwrap();
    for (statistic, expected) in [("mean", mean as fn(&[f64]) -> f64), ("median", median)] {
        folder.ok(&format!(
            "train --data n.csv --targets edge --method baseline --statistic {statistic} --model n.rpo"
        ));
        let edges: Vec<f64> = folder.read("n.csv").lines().skip(1).map(number).collect();
        let predicted = folder.ok("predict --model n.rpo --data n.csv");
        let value: f64 = predicted.lines().nth(1).unwrap().parse().unwrap();
        assert!(
            (value - expected(&edges)).abs() < 1e-6,
            "{statistic}: {value}, {edges:?}"
        );
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median of an odd number of values.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The settings of a paper that an option has no use for are left out with it.
#[test]
fn presets_suit_the_variants_of_a_method() {
    let folder = Folder::new();
    folder.write("a.arff", arff(40, 0)).write("l.xml", label_file());
    let settings = |options: &str, names: &[&str]| {
        folder.ok(&format!(
            "train --data a.arff --labels l.xml --model m.rpo --method {options}"
        ));
        let parameters = folder.json("inspect --model m.rpo")["parameters"].clone();
        names
            .iter()
            .map(|name| parameters[name].clone())
            .collect::<Vec<_>>()
    };
    let of_forest = |options: &str| {
        let options = format!("structured-forest --trees 20 {options}");
        settings(&options, &["thresholds", "scaling", "prune"])
    };
    let null = Value::Null;
    assert_eq!(of_forest(""), ["macro-f".into(), null.clone(), null.clone()]);
    assert_eq!(
        of_forest("--preset paper"),
        [Value::from("label-f"), "standard".into(), 0.0.into()]
    );
    let of_logistic = of_forest("--preset paper --variant sf-lr");
    assert_eq!(of_logistic, ["label-f".into(), "standard".into(), null.clone()]);
    let of_features = of_forest("--preset paper --variant sf --thresholds rate");
    assert_eq!(of_features, ["rate".into(), null.clone(), null.clone()]);

    let of_embedding = |options: &str| {
        let options = format!("label-embedding --preset paper {options}");
        settings(&options, &["rank", "embedding_lambda", "embedding_passes"])
    };
    let rank = Value::from("labels:0.9");
    let lambda = Value::from(0.0001);
    assert_eq!(of_embedding(""), [rank.clone(), lambda.clone(), 2.into()]);
    assert_eq!(
        of_embedding("--mode cs-linear --link-loss squared"),
        [rank, lambda, null.clone()]
    );
    assert_eq!(of_embedding("--mode kernel"), [null.clone(), null.clone(), null]);
}

/// The settings of a paper are selected by one option, and changed by individual options.
#[test]
fn presets_are_defaults() {
    let folder = Folder::new();
    folder.write("a.arff", arff(40, 0)).write("l.xml", label_file());
    let parameters = |options: &str| {
        folder.json(&format!(
            "train --data a.arff --labels l.xml --model m.rpo {options}"
        ));
        folder.json("inspect --model m.rpo")["parameters"].clone()
    };
    let default = parameters("--method gbmort --iterations 3");
    assert_eq!(default["preset"], Value::Null);
    assert_eq!(default["scale_outputs"], "auto");
    let paper = parameters("--method gbmort --preset paper --max-leaves 4");
    assert_eq!(paper["scale_outputs"], "auto");
    assert_eq!(
        (&paper["preset"], &paper["iterations"]),
        (&"paper".into(), &100.into())
    );
    assert_eq!(
        (&paper["line_search"], &paper["step_scope"]),
        (&"exact".into(), &"output".into())
    );
    assert_eq!(
        (&paper["max_leaves"], &paper["loss"]),
        (&4.into(), &"logistic".into())
    );
    let forest = parameters("--method random-forest --preset paper --trees 2");
    assert_eq!(forest["scale_outputs"], "none");
    let clusters = ["", "--preset paper"].map(|preset| {
        let parameters = parameters(&format!("--method craftml --trees 1 {preset}"));
        (parameters["variant"].clone(), parameters["clusters"].clone())
    });
    let original = Value::from("original");
    assert_eq!(clusters, [(original.clone(), Value::Null), (original, 10.into())]);
    let refused =
        folder.fail("train --data a.arff --labels l.xml --model x.rpo --method gbmort --preset original");
    assert!(
        refused.contains("--preset") && refused.contains("paper"),
        "{refused}"
    );
}
