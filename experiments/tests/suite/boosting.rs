//! The runner with boosting: fits that serve several cells, targets made of outputs, and time limits.

use super::experiment::Experiment;
use serde_json::Value;

const DESCRIPTION: &str = r#"
name = "tiny"
title = "Boosting"
table = "none"
expected = "1 s"
about = "For tests."
metrics = ["r2", "half-r2"]
repeats = 3
seed = 7
axis = "iterations"
time-budget = 50

[[dataset]]
name = "group"
train = 60
test = 200
friedman = { kind = "group", outputs = 4, permuted = true }

[[method]]
id = "st"
label = "single targets, {} steps"
algorithm = "single-target-gbrt"

[method.options]
max-leaves = 2
iterations = [30, 2, 10]

[[method]]
id = "mort"
label = "gbmort, {} steps"
algorithm = "gbmort"

[method.options]
max-leaves = 2
max-features = 1
iterations = [2, 10, 30]

[[claim]]
says = "gbmort needs fewer trees."
at = "nowhere"
reaches = { curve = "mort", best-of = "mort", of = "trees", times = 1.0 }

[[claim]]
says = "One step is worse than the best number of steps."
at = "nowhere"
on = ["group"]
compare = { left = "mort", is = "better", right = "mort@2" }

[[claim]]
says = "And by a test."
at = "nowhere"
significant = { among = ["mort@2", "mort@10"], pairs = [["mort@10", "mort@2"]] }
"#;

#[test]
fn one_fit_serves_all_numbers_of_steps() {
    let together = Experiment::new(DESCRIPTION);
    assert_eq!(together.run_well(&[]), (18, 18));
    // With a single number of steps at a time, each needs its own fit.
    let apart = Experiment::new(DESCRIPTION);
    for steps in ["30", "10", "2"] {
        let kept = format!("[{steps}]");
        let one = DESCRIPTION
            .replace("[30, 2, 10]", &kept)
            .replace("[2, 10, 30]", &kept);
        let end = one.find("[[claim]]").unwrap();
        apart.describe(&one[..end]);
        assert_eq!(apart.run_well(&[]), (6, 6));
    }
    apart.describe(DESCRIPTION);
    assert_eq!(apart.run_well(&[]), (0, 18));
    for measure in ["r2", "half-r2", "trees", "nodes"] {
        assert_eq!(together.means(measure), apart.means(measure));
    }
    // A step is one tree for each of the 8 outputs, or one tree for all.
    let trees = together.means("trees");
    let trees: Vec<(&str, f64)> = trees.iter().map(|(id, n)| (id.as_str(), *n)).collect();
    assert_eq!(trees[..3], [("st@30", 240.0), ("st@2", 16.0), ("st@10", 80.0)]);
    assert_eq!(
        trees[3..],
        [("mort@2", 2.0), ("mort@10", 10.0), ("mort@30", 30.0)]
    );
    let time: Vec<f64> = together.means("fit-cpu").iter().map(|(_, t)| *t).collect();
    assert!(time[3] < time[4] && time[4] < time[5], "{time:?}");

    let results: Value = serde_json::from_str(&together.read("results.json")).unwrap();
    let findings: Vec<&Value> = results["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["finding"])
        .collect();
    assert_eq!(findings, ["supported"; 3], "{}", together.read("report.md"));
    // Half of the outputs are noise.
    let scores = together.means("r2").into_iter().zip(together.means("half-r2"));
    scores.for_each(|((id, all), (_, half))| assert!(half > all, "{id}"));
}

#[test]
fn targets_are_made_of_the_outputs() {
    let method = "\n[[method]]\nid = \"known\"\nlabel = \"known\"\nalgorithm = \"gbmort\"\ntargets = { group = \"TARGETS\" }\n\
                  [method.options]\niterations = 20\nsubsample = 1.0\nleaf-l2 = 1.0\n";
    let end = DESCRIPTION.find("[[method]]").unwrap();
    let head = DESCRIPTION[..end]
        .replace("axis = \"iterations\"\n", "")
        .replace(", permuted = true", "");
    let run = |targets: &str| {
        let experiment = Experiment::new(&(head.clone() + &method.replace("TARGETS", targets)));
        assert_eq!(experiment.run_well(&[]), (3, 3));
        let of = |measure| experiment.means(measure)[0].1;
        (of("r2"), of("trees"))
    };
    let ((first, one), (mean, also_one), (each, four)) = (run("first"), run("mean"), run("each"));
    assert_eq!((one, also_one, four), (20.0, 20.0, 80.0));
    // Four noisy observations of one function are better than one.
    assert!(mean > first && mean > each, "{first} {mean} {each}");
}

#[test]
fn a_budget_of_time_is_another_experiment() {
    let end = DESCRIPTION.find("[[claim]]").unwrap();
    let one = DESCRIPTION[..end]
        .replace("[30, 2, 10]", "2")
        .replace("[2, 10, 30]", "2");
    let experiment = Experiment::new(&one);
    assert_eq!(experiment.run_well(&[]), (6, 6));
    assert_eq!(experiment.run_well(&["--time-budget"]), (6, 6));
    assert!(
        experiment
            .read("report.md")
            .contains("50 times the time of one step of gbmort")
    );
    let trees = experiment.means("trees");
    assert!(
        trees.iter().all(|(_, n)| *n >= 1.0) && trees[1].1 != 2.0,
        "{trees:?}"
    );
    assert_eq!(experiment.run_well(&[]), (0, 6));
    experiment.describe(&one.replace("time-budget = 50\n", ""));
    let output = experiment.run(&["--time-budget"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("has no time-budget"));
}

#[test]
fn what_claims_and_methods_name_must_be_there() {
    for (old, new, said) in [
        (
            "best-of = \"mort\"",
            "best-of = \"mort@2\"",
            "no curve \"mort@2\"; there are st, mort",
        ),
        (
            "times = 1.0",
            "times = 0.0",
            "times is 0; a positive number expected",
        ),
        ("on = [\"group\"]", "on = [\"chain\"]", "no data set \"chain\""),
        (
            "compare = { left = \"mort\", is = \"better\", right = \"mort@2\" }",
            "ranks = { ahead = [\"mort@10\"], behind = [\"mort@2\"] }",
            "mean ranks are over all data sets",
        ),
        (
            "pairs = [[\"mort@10\", \"mort@2\"]]",
            "pairs = [[\"mort@10\", \"st@2\"]]",
            "no column among those compared, \"st@2\"",
        ),
        (
            "algorithm = \"gbmort\"",
            "algorithm = \"gbmort\"\non = [\"chain\"]",
            "no data set \"chain\"",
        ),
        (
            "algorithm = \"gbmort\"",
            "algorithm = \"gbmort\"\ntargets = { group = \"median\" }",
            "unknown variant `median`",
        ),
    ] {
        assert!(DESCRIPTION.contains(old), "{old}");
        let experiment = Experiment::new(&DESCRIPTION.replacen(old, new, 1));
        let output = experiment.run(&[]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && message.contains(said),
            "{new}: {message}"
        );
    }
}
