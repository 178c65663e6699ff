//! Tests of the runner from outside: what it stores, what it runs again, and how it fails.

mod boosting;
mod experiment;

use experiment::Experiment;

const DESCRIPTION: &str = r#"
name = "tiny"
title = "A tiny experiment"
table = "none"
expected = "1 s"
about = "For tests."
metrics = ["lrap", "p@1"]
repeats = 2
seed = 7
baseline = "full"

[quick]
repeats = 1

[[dataset]]
name = "generated"
train = 60
test = 40
multi-label = { features = 20, outputs = 8, cardinality = 2.0, exponent = 0.5 }

[[method]]
id = "full"
label = "full outputs"
algorithm = "random-forest"

[method.options]
trees = 5
max-features = "sqrt"

[[method]]
id = "projected"
label = "m = 2"
algorithm = "extra-trees"

[method.options]
trees = 5
max-features = "sqrt"
projection = "subsample"
components = 2

[[claim]]
says = "A forest on two outputs is not better than one on all."
at = "nowhere"
compare = { left = "full", is = "not-worse", right = "projected" }
"#;

#[test]
fn a_finished_cell_is_not_run_again() {
    let experiment = Experiment::new(DESCRIPTION);
    assert_eq!(experiment.run_well(&[]), (4, 4));
    let stored = experiment.read("cells.jsonl");
    assert_eq!(experiment.run_well(&[]), (0, 4));
    assert_eq!(experiment.read("cells.jsonl"), stored);
    assert_eq!(experiment.run_well(&["--repeats", "3"]), (2, 6));
    assert_eq!(experiment.run_well(&["--quick"]), (0, 2));
    assert_eq!(experiment.run_well(&["--fresh"]), (4, 4));
}

#[test]
fn a_changed_description_invalidates_its_own_cells_only() {
    let experiment = Experiment::new(DESCRIPTION);
    experiment.run_well(&[]);
    let scores = experiment.scores();
    experiment.describe(&DESCRIPTION.replace("components = 2", "components = 3"));
    assert_eq!(experiment.run_well(&[]), (2, 4));
    let changed = experiment.scores();
    assert_eq!(changed[0], scores[0]);
    assert_ne!(changed[1], scores[1]);
    // Changed words do not change cells, and stored results are used again.
    experiment.describe(
        &DESCRIPTION
            .replace("m = 2", "two components")
            .replace("A tiny", "The tiny"),
    );
    assert_eq!(experiment.run_well(&[]), (0, 4));
    assert_eq!(experiment.scores(), scores);
    experiment.describe(&DESCRIPTION.replace("cardinality = 2.0", "cardinality = 2.5"));
    assert_eq!(experiment.run_well(&[]), (4, 4));
}

#[test]
fn a_killed_run_continues() {
    let experiment = Experiment::new(DESCRIPTION);
    experiment.run_well(&["--threads", "1"]);
    let (stored, scores) = (experiment.read("cells.jsonl"), experiment.scores());
    // Two cells, and half a line of the third.
    let end = stored.match_indices('\n').nth(1).unwrap().0;
    std::fs::write(experiment.store(), &stored[..end + 100]).unwrap();
    let output = experiment.run(&[]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 unreadable"));
    assert_eq!(experiment.scores(), scores);
    assert_eq!(experiment.run_well(&[]), (0, 4));
}

#[test]
fn any_number_of_cells_at_once_gives_the_same_scores() {
    let (one, many) = (Experiment::new(DESCRIPTION), Experiment::new(DESCRIPTION));
    one.run_well(&["--threads", "1"]);
    // With this little memory, every cell runs alone.
    many.run_well(&["--threads", "4", "--memory", "0.001"]);
    assert_eq!(one.scores(), many.scores());
}

#[test]
fn a_cell_that_fails_costs_no_other() {
    let experiment = Experiment::new(&DESCRIPTION.replace("components = 2", "components = 9"));
    let output = experiment.run(&[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(
        said.contains("2 of 4 cells failed") && said.contains("generated projected"),
        "{said}"
    );
    assert_eq!(experiment.scores().len(), 1);
    assert!(experiment.read("report.md").contains("nothing of it was run"));
}

#[test]
fn the_report_comes_in_every_form() {
    let experiment = Experiment::new(DESCRIPTION);
    let output = experiment.run(&[]);
    assert!(output.status.success());
    let markdown = experiment.read("report.md");
    assert_eq!(String::from_utf8_lossy(&output.stdout), markdown);
    assert!(
        markdown.contains("| generated |") && markdown.contains("A forest on two outputs"),
        "{markdown}"
    );
    let csv = experiment.read("cells.csv");
    assert_eq!(
        csv.lines()
            .filter(|line| line.starts_with("generated,full,") && line.contains(",lrap,"))
            .count(),
        2
    );
    let page = experiment.read("report.html");
    assert!(page.contains("<svg role=\"img\"") && page.contains("prefers-color-scheme: dark"));
    let tables = experiment.read("tables.tex");
    assert!(tables.contains("\\caption{LRAP}\n\\begin{tabular}{l"), "{tables}");
    // Every figure is also a file, with the same drawing as on the page.
    let drawing = experiment.read("figures/lrap-against-time-on-generated.svg");
    assert!(page.contains(&drawing) && drawing.contains("full outputs"));
    // The page is self-contained and fetches nothing.
    assert!(!page.contains("src=") && !page.contains("href=") && !page.contains("url("));
}

#[test]
fn values_along_an_axis_make_a_curve() {
    let curve = DESCRIPTION
        .replace("components = 2", "components = [\"d\", 1, \"ln\"]")
        .replace("label = \"m = 2\"", "label = \"projected, m = {}\"")
        .replace("right = \"projected\"", "right = \"projected@d\"")
        .replace("baseline =", "axis = \"components\"\nlog-axis = true\nbaseline =");
    let experiment = Experiment::new(&curve);
    assert_eq!(experiment.run_well(&[]), (8, 8));
    let markdown = experiment.read("report.md");
    let rows: Vec<&str> = markdown
        .lines()
        .skip_while(|line| !line.starts_with("| components m"))
        .skip(2)
        .map_while(|line| line.split('|').nth(1).map(str::trim))
        .collect();
    // In the order of the axis, then the method without an axis.
    assert_eq!(rows, ["1", "2 (ln)", "8 (d)", "-"]);
    let page = experiment.read("report.html");
    assert!(page.contains("<polyline") && page.contains("LRAP on generated</figcaption>"));
}

#[test]
fn what_is_not_at_hand_is_listed_and_not_run() {
    let elsewhere =
        "\n[[dataset]]\nname = \"emotions\"\ntrain = 391\ntest = 202\n\n[[method]]\nid = \"full\"";
    let experiment = Experiment::new(&DESCRIPTION.replacen("\n[[method]]\nid = \"full\"", elsewhere, 1));
    assert_eq!(experiment.run_well(&[]), (4, 4));
    assert!(
        experiment
            .read("report.md")
            .contains("* emotions: environment variable RPO_DATA is not set")
    );
}

#[test]
fn a_wrong_description_or_selection_is_named() {
    let experiment = Experiment::new(&DESCRIPTION.replace("components = 2", "components = \"few\""));
    let before = &DESCRIPTION[..DESCRIPTION.find("components =").unwrap()];
    let line = before.lines().count() + 1;
    let output = experiment.run(&[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = format!("tiny.toml:{line}: method.options.components:");
    assert!(!output.status.success() && said.contains(&expected), "{said}");
    let experiment = Experiment::new(DESCRIPTION);
    let said = |options: &[&str]| String::from_utf8_lossy(&experiment.run(options).stderr).into_owned();
    assert!(
        said(&["--datasets", "none"])
            .contains("no data set \"none\" in this experiment; there are generated")
    );
    assert!(said(&["--methods", "none"]).contains("there are full, projected"));
    assert!(said(&["--memory", "nan"]).contains("a positive number expected"));
}
