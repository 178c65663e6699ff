//! `rpo tune`: what it tries, prints, saves and refuses.

use crate::common::{Folder, arff, csv, grouped, number};
use serde_json::Value;

fn ready() -> Folder {
    let folder = Folder::new();
    folder.write("a.arff", arff(200, 0)).write("a.csv", csv(200, 0));
    folder
}

const TUNE: &str = "tune --data a.arff --n-targets 3 --trees 8 --seed 3";

fn settings(found: &Value) -> Vec<String> {
    let setting = |trial: &Value| {
        let parameters = trial["parameters"].as_object().unwrap();
        let pairs: Vec<String> = parameters
            .iter()
            .map(|(name, value)| format!("{name}={}", value.to_string().trim_matches('"')))
            .collect();
        pairs.join(" ")
    };
    found["trials"].as_array().unwrap().iter().map(setting).collect()
}

/// Trials and winner without times.
fn timeless(mut found: Value) -> Value {
    found.as_object_mut().unwrap().remove("search_seconds");
    for trial in found["trials"].as_array_mut().unwrap() {
        trial.as_object_mut().unwrap().remove("seconds");
    }
    found
}

#[test]
fn a_grid_is_tried_in_order_and_the_winner_is_the_model_that_train_makes() {
    let folder = ready();
    let space = "--space components=1,ln --space projection=none,gaussian --space min-samples-leaf=40,1";
    let found = folder.json(&format!("{TUNE} {space} --model m.rpo --history h.csv --refit"));
    // Components vary fastest, and are omitted without a projection.
    let expected = [
        "projection=none min_samples_leaf=40",
        "projection=none min_samples_leaf=1",
        "projection=gaussian min_samples_leaf=40 components=1",
        "projection=gaussian min_samples_leaf=40 components=ln",
        "projection=gaussian min_samples_leaf=1 components=1",
        "projection=gaussian min_samples_leaf=1 components=ln",
    ];
    assert_eq!(settings(&found), expected);
    assert_eq!(
        (number(&found, "n_train"), number(&found, "n_validation")),
        (160.0, 40.0)
    );
    let trials = found["trials"].as_array().unwrap();
    let best = trials
        .iter()
        .map(|trial| number(trial, "score"))
        .fold(0.0, f64::max);
    assert_eq!(number(&found["best"], "score"), best);
    assert!(trials.iter().all(|t| t["steps"] == 8 && t["status"] == "scored"));

    // They are parameters as in a file of them.
    let parameters = &found["best"]["parameters"];
    assert!(parameters["min_samples_leaf"].is_number() && parameters["projection"].is_string());
    folder.write("best.json", parameters.to_string());
    let train = TUNE.replace("tune", "train");
    folder.ok(&format!("{train} --params best.json --model t.rpo"));
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_eq!(bytes("m.rpo"), bytes("t.rpo"));

    let history = folder.read("h.csv");
    let lines: Vec<&str> = history.lines().collect();
    assert_eq!(
        lines[0],
        "index,score,steps,seconds,status,error,projection,min_samples_leaf,components"
    );
    assert_eq!(lines.len(), 7);
    assert!(lines[1].starts_with("0,") && lines[1].ends_with(",scored,,none,40,"));
    assert!(lines[6].starts_with("5,") && lines[6].ends_with(",scored,,gaussian,1,ln"));
}

#[test]
fn random_search_is_the_same_on_any_number_of_threads_and_can_be_extended() {
    let folder = ready();
    let space = "--search random --space max-features=uniform:0.1:1 --space min-samples-leaf=integers:1:9";
    let run = |rest: &str| timeless(folder.json(&format!("{TUNE} {space} {rest}")));
    let one = run("--trials 6 --stop-early --threads 1");
    assert_eq!(run("--trials 6 --stop-early --threads 4"), one);
    let (short, long) = (run("--trials 6"), run("--trials 10"));
    assert_eq!(settings(&long)[..6], settings(&short)[..]);
    assert_eq!(settings(&run("--steps 17")), settings(&short)[..3]);
    // A forest that is scored in parts equals the whole forest.
    assert_eq!(
        one["trials"], short["trials"],
        "in one round there is nothing to be compared with"
    );
    assert_eq!(settings(&run("")).len(), 20);
}

#[test]
fn poor_settings_are_given_up() {
    let folder = ready();
    // The first round of eight is completed; after it, a forest of stumps is worse than the median.
    let space = "--space min-samples-leaf=1,2,3,4,5,6,7,8,70";
    let found = folder.json(&format!("{TUNE} {space} --stop-early"));
    let last = &found["trials"][8];
    assert_eq!((&last["status"], &last["steps"]), (&"stopped".into(), &2.into()));
    let text = folder.ok(&format!("{TUNE} {space} --stop-early"));
    assert!(text.contains("min_samples_leaf=70 (stopped early)"), "{text}");
    let best = text.lines().nth(1).unwrap().split_whitespace().next_back();
    assert!(
        text.ends_with(&format!("best: {}\n", best.unwrap())),
        "best first: {text}"
    );
}

#[test]
fn numbers_are_tuned_by_r2_and_losses_downwards() {
    let folder = ready();
    let tune = "tune --data a.csv --n-targets 2 --trees 8 --space min-samples-leaf=1,60";
    let found = folder.json(tune);
    assert_eq!(
        (&found["metric"], &found["best"]["index"]),
        (&"r2".into(), &0.into())
    );
    let found = folder.json(&format!("{tune} --metric mse --model m.rpo"));
    assert_eq!(
        (&found["metric"], &found["best"]["index"]),
        (&"mse".into(), &0.into())
    );
    // Without --refit, the model has not seen the validation samples.
    let model = folder.json("inspect --model m.rpo");
    assert_eq!(model["n_train"], found["n_train"]);
}

/// Settings and numbers of steps are chosen on the same samples.
#[test]
fn steps_of_boosting_are_scored_on_what_is_held_out() {
    let folder = ready();
    let tune = "tune --data a.csv --n-targets 2 --method gbmort --preset paper --iterations 400 --early-stopping 5 --max-leaves 4 \
                --space learning-rate=0.3,0.8 --model m.rpo";
    let run = |options: &str| {
        let found = folder.json(&format!("{tune} {options}"));
        let about = folder.json("inspect --model m.rpo");
        let steps = about["steps"].as_u64().unwrap();
        (found, about["n_train"].clone(), steps)
    };
    let (found, n_train, steps) = run("");
    assert_eq!(n_train, found["n_train"]);
    assert!(steps < 400, "{steps}");
    // Fitted again to all samples, with the number of steps found.
    let (again, n_all, same) = run("--refit");
    assert_eq!((&again["best"], same), (&found["best"], steps));
    assert_eq!(
        n_all.as_u64().unwrap(),
        found["n_train"].as_u64().unwrap() + found["n_validation"].as_u64().unwrap()
    );
    // The limit counts the steps actually made; the largest number that one setting may make equals the limit.
    let fast = tune.replace("0.3,0.8", "0.8,0.9");
    let limited = folder.json(&format!("{fast} --steps 400"));
    let made: Vec<f64> = limited["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| number(trial, "steps"))
        .collect();
    assert!(made.len() == 2 && made.iter().all(|&n| n < 400.0), "{made:?}");
    let message = folder.fail(&format!("{tune} --validation 0.3"));
    assert!(
        message.contains("--validation must be 0.2, the fraction that the search withholds, got 0.3"),
        "{message}"
    );
}

#[test]
fn a_setting_that_fails_is_told_and_does_not_end_the_search() {
    let folder = ready();
    // There are only three labels to draw components from without replacement.
    let space = "--projection subsample --space components=2,9";
    let found = folder.json(&format!("{TUNE} {space}"));
    assert_eq!(found["best"]["index"], 0);
    assert_eq!(found["trials"][1]["status"], "failed");
    assert!(found["trials"][1]["score"].is_null());
    assert!(
        found["trials"][1]["error"].as_str().unwrap().contains('9'),
        "{found}"
    );
    let message = folder.fail(&format!("{TUNE} --projection subsample --space components=8,9"));
    assert!(
        message.contains("all 2 settings failed; the first, components=8"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_tuned_is_refused_before_anything_is_written() {
    let folder = ready();
    let files = folder.files();
    for (arguments, words) in [
        (
            "--space depth=1,2",
            "`depth` is not a parameter of random-forest; its parameters are trees, first_tree",
        ),
        (
            "--space bootstrap=true,maybe",
            "--bootstrap must be true or false, got \"maybe\"",
        ),
        ("--space first-tree=1", "first-tree=1: it does not affect"),
        ("--space seed=1,2", "seed=1,2: it does not affect"),
        (
            "--space min-samples-leaf=1,two",
            "--min-samples-leaf must be a whole number, at least 1, got \"two\"",
        ),
        (
            "--space min-samples-leaf=1,0",
            "--min-samples-leaf must be at least 1, got 0",
        ),
        ("--space max-features=sqrt,1.5", "1.5"),
        ("--space max-features", "expected NAME=VALUES"),
        ("--space max-features=", "max_features=: a value is missing"),
        ("--space trees=5,5", "the value 5 is given twice"),
        (
            "--space trees=5 --space trees=6",
            "the parameter trees is given twice",
        ),
        ("--space trees=integers:5:1", "integers from 5 to 1"),
        (
            "--space max-features=uniform:0:1",
            "max_features has a continuous",
        ),
        (
            "--space components=1,2",
            "--components = 1 cannot be combined with --projection = none",
        ),
        ("--space trees=5 --time=-1", "--time -1"),
        ("--space max-depth=5 --trials 0", "no setting was tried"),
        ("--space trees=5 --hold-out 1", "got 1"),
        ("--space max-depth=5 --model no/m.rpo", "no/m.rpo"),
    ] {
        let message = folder.fail(&format!("{TUNE} {arguments} --history h.csv"));
        assert!(
            message.contains(words),
            "{arguments}: {message:?} should say {words:?}"
        );
        assert_eq!(folder.files(), files, "{arguments}");
    }
    for arguments in [
        "",
        "--space trees=5 --metric best",
        "--space trees=5 --refit",
        "--space trees=5 --time 1 --trials 2",
    ] {
        assert_eq!(
            folder.run(&format!("{TUNE} {arguments}")).code,
            Some(2),
            "{arguments}"
        );
    }
}

#[test]
fn groups_are_withheld_together() {
    let folder = Folder::new();
    folder.write("t.csv", format!("customer,x,y\n{}", grouped()));
    let tune = "tune --data t.csv --targets y --space trees=10,20";
    let best = |options: &str| {
        folder.json(&format!("{tune} {options}"))["trials"][0]["score"]
            .as_f64()
            .unwrap()
    };
    let apart = best("--ignore customer");
    let together = best("--group customer --refit --model m.rpo");
    assert!(apart > 0.9 && together < 0.7, "{apart} {together}");
    // Methods that withhold samples themselves withhold the same groups in the last fit, but not the latest samples.
    let trend = |g: usize| format!("{g},{g},{}\n", g + g * 7 % 5);
    let trend: String = (0..200).map(|i| trend(i % 20)).collect();
    folder.write("d.csv", format!("day,x,y\n{trend}"));
    for (space, stops) in [
        ("learning-rate=0.1,0.3", "--early-stopping 5"),
        ("learning-rate=0.1,0.3", "--find-iterations"),
        ("find-iterations=true,false", ""),
    ] {
        let options = format!("--space {space} {stops} --refit --model m.rpo --targets y --method gbrt-rpo");
        let tune = format!("tune --data d.csv --group day {options}");
        let steps = |tune: &str| {
            folder.json(tune);
            let model = folder.json("inspect --model m.rpo");
            (model["steps"].clone(), number(&model, "n_train"))
        };
        let (found, n_train) = steps(&tune.replace(" --refit", ""));
        assert!(n_train < 200.0);
        assert_eq!(steps(&tune), (found, 200.0), "{space} {stops}");
        let message = folder.fail(&format!("tune --data d.csv --time-column day {options}"));
        assert!(
            message.contains("if the latest samples are withheld"),
            "{message}"
        );
    }
}
