//! Data files: split, converted, generated, and read from standard input.

use crate::common::{Folder, LABELS, arff, csv, grouped, label_file, number, xmlrepo};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::{Read, Write};
use std::process::Stdio;

/// Visits of customers, with details that a copy must keep: quotes, line ends within them, blanks.
fn visits() -> String {
    let mut text = "customer,day,note,spent\n".to_owned();
    for i in 0..60 {
        let note = if i % 7 == 0 {
            "\"two\nlines, quoted\""
        } else {
            " plain "
        };
        text += &format!(
            "c{},2024-{:02}-{:02},{note},{}\n",
            i % 13,
            1 + i % 12,
            1 + i % 28,
            i % 4
        );
    }
    text
}

/// The rows of the file of visits, which end at line ends outside of quotes.
fn rows(text: &str) -> Vec<String> {
    let text = text.strip_prefix("customer,day,note,spent\n").unwrap();
    let mut rows = vec![String::new()];
    for line in text.lines() {
        let row = rows.last_mut().unwrap();
        row.push_str(line);
        if row.matches('"').count() % 2 == 0 {
            rows.push(String::new());
        } else {
            row.push('\n');
        }
    }
    rows.pop();
    rows
}

fn cell(row: &str, column: usize) -> String {
    row.split(',').nth(column).unwrap().to_owned()
}

#[test]
fn parts_hold_every_row_as_it_was_written() {
    let folder = Folder::new();
    folder.write("visits.csv", visits());
    for by in ["--random", "--group customer", "--time-column day"] {
        let split = format!("split --data visits.csv --test-fraction 0.3 {by} --train a.csv --test b.csv");
        let report = folder.json(&split);
        let (train, test) = (rows(&folder.read("a.csv")), rows(&folder.read("b.csv")));
        assert_eq!(
            (number(&report, "n_train"), number(&report, "n_test")),
            (train.len() as f64, test.len() as f64)
        );
        assert!((15..22).contains(&test.len()), "{by}: {}", test.len());
        let mut all = [train.clone(), test.clone()].concat();
        let mut expected = rows(&visits());
        all.sort();
        expected.sort();
        assert_eq!(all, expected, "{by}");
        let disjoint = |column| {
            let of_test: Vec<String> = test.iter().map(|row| cell(row, column)).collect();
            train.iter().all(|row| !of_test.contains(&cell(row, column)))
        };
        assert_eq!(disjoint(0), by == "--group customer", "{by}");
        let latest = train.iter().map(|row| cell(row, 1)).max();
        let earliest = test.iter().map(|row| cell(row, 1)).min();
        assert_eq!(latest < earliest, by == "--time-column day", "{by}");
        let again = folder.read("b.csv");
        folder.json(&split);
        assert_eq!(folder.read("b.csv"), again);
    }
}

#[test]
fn labels_keep_their_frequencies_in_the_format_of_the_file() {
    let folder = Folder::new();
    folder.write("labels.xml", label_file());
    folder.write("all.arff", arff(100, 0));
    folder.write("all.txt", xmlrepo(100, 0));
    folder
        .ok("split --data all.arff --labels labels.xml --test-fraction 0.5 --train a.arff --test b.arff.gz");
    let mut text = String::new();
    let file = std::fs::File::open(folder.path("b.arff.gz")).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    assert!(text.starts_with("@relation made\n"));
    let describe = |data: &str| folder.json(&format!("describe --data {data} --labels labels.xml"));
    let (a, b) = (describe("a.arff"), describe("b.arff.gz"));
    assert_eq!(number(&a, "n_samples") + number(&b, "n_samples"), 100.0);
    assert!((number(&a, "cardinality") - number(&b, "cardinality")).abs() < 0.05);
    // The header of this format has the number of samples.
    folder.ok("split --data all.txt --train a.txt --test b.txt");
    assert!(
        folder.read("b.txt").starts_with("20 3 3\n"),
        "{}",
        folder.read("b.txt")
    );
    assert_eq!(number(&folder.json("describe --data a.txt"), "n_samples"), 80.0);
}

#[test]
fn cross_validation_keeps_groups_together() {
    let folder = Folder::new();
    let rows = grouped();
    folder.write("t.csv", format!("customer,x,y\n{rows}"));
    let cv = "cv --data t.csv --targets y --trees 20";
    let r2 = |options: &str| {
        let report = folder.json(&format!("{cv} {options}"));
        report["r2"]["mean"].as_f64().unwrap()
    };
    let (apart, together) = (
        r2("--ignore customer"),
        r2("--group customer --predictions p.csv"),
    );
    assert!(apart > 0.9 && together < 0.5, "{apart} {together}");
    let written = folder.read("p.csv");
    assert!(written.starts_with("customer,y\n") && written.lines().count() == 201);
    for (options, expected) in [
        ("--group costumer", "\"costumer\", which does not exist"),
        ("--group customer --folds 21", "from 2 to the number of groups"),
    ] {
        let message = folder.fail(&format!("{cv} {options}"));
        assert!(message.contains(expected), "{message}");
    }
    // The same groups with identifiers: the same predictions, with another first column.
    let without_first = |name: &str| {
        let text = folder.read(name);
        let cells = text
            .lines()
            .map(|line| line.split_once(',').unwrap().1.to_owned());
        cells.collect::<Vec<_>>()
    };
    let numbered = rows.lines().enumerate().map(|(i, row)| format!("s{i},{row}\n"));
    folder.write(
        "n.csv",
        format!("sample,customer,x,y\n{}", numbered.collect::<String>()),
    );
    let both = "cv --data n.csv --targets y --trees 20 --id sample --group";
    folder.ok(&format!("{both} customer --predictions n.out"));
    assert_eq!(without_first("n.out"), without_first("p.csv"));
    assert!(folder.read("n.out").starts_with("sample,y\n"));
    assert!(
        folder
            .read("n.out")
            .lines()
            .nth(200)
            .unwrap()
            .starts_with("s199,")
    );
    let message = folder.fail(&format!("{both} costumer"));
    assert!(
        message.contains("--group names the column \"costumer\""),
        "{message}"
    );
    folder.ok(&format!(
        "{cv} --group customer --id customer --predictions q.csv"
    ));
    assert_eq!(folder.read("q.csv"), folder.read("p.csv"));
    folder.ok("tune --data n.csv --targets y --space trees=1,2 --id sample --group customer");
    folder.write("t.csv", format!("customer,x,y\n,1,1\n{rows}"));
    let message = folder.fail(&format!("{cv} --group customer"));
    assert!(
        message.contains("sample 0 (from 0) has no value of \"customer\""),
        "{message}"
    );
}

/// The output follows the time: a forest, which cannot extrapolate, predicts the past but not the future.
#[test]
fn cross_validation_tests_on_what_is_later() {
    let folder = Folder::new();
    let row = |i: usize| {
        let (day, x) = (format!("2024-{:02}-{:02}", 1 + i / 28, 1 + i % 28), i + i * 7 % 5);
        format!("v{i},{day},{x},{}\n", 3 * i)
    };
    // The order of the file is not that of time.
    let rows: String = (0..280).map(|i| row(i * 3 % 280)).collect();
    folder.write("t.csv", format!("visit,day,x,y\n{rows}"));
    let cv = "cv --data t.csv --targets y --trees 20 --ignore visit";
    let r2 = |options: &str| {
        let report = folder.json(&format!("{cv} {options}"));
        report["r2"]["mean"].as_f64().unwrap()
    };
    let (within, later) = (r2(""), r2("--folds 4 --time-column day --predictions p.csv"));
    assert!(within > 0.9 && later < 0.0, "{within} {later}");
    // The first fifth is in no fold: the first 56 days.
    let written = folder.read("p.csv");
    assert!(written.starts_with("day,y\n"), "{written}");
    for line in written.lines().skip(1) {
        let (day, prediction) = line.split_once(',').unwrap();
        assert_eq!(prediction.is_empty(), day < "2024-03-01", "{line}");
    }
    folder.ok("cv --data t.csv --targets y --trees 2 --id visit --time-column day --predictions q.csv");
    assert!(folder.read("q.csv").contains("v279,"));
    let message = folder.fail(&format!("{cv} --time-column visit"));
    assert!(message.contains("is neither a number nor a date"), "{message}");
    folder.write("u.csv", "day,x,y\n2024,1,1\n2024-03-01,2,2\n2025,3,3\n2026,3,4\n");
    let message = folder.fail("cv --folds 2 --data u.csv --targets y --time-column day");
    let expected =
        "\"2024-03-01\" in \"day\" of sample 1 (from 0) is a date, that of sample 0 a number, \"2024\"";
    assert!(message.contains(expected), "{message}");
    let message = folder.fail(&format!("{cv} --time-column y"));
    assert!(
        message.contains("both as a target and as --time-column"),
        "{message}"
    );
    folder.write("u.csv", "day,x,y\n2024,1,1\n2024,2,2\n2024,3,3\n2024,3,4\n");
    let message = folder.fail("tune --space trees=1,2 --data u.csv --targets y --time-column day");
    assert!(message.contains("all 4 samples have the same time"), "{message}");
    let message = folder.fail("cv --data t.csv --targets y --id visit --time-column dya");
    assert!(
        message.contains("--time-column names the column \"dya\""),
        "{message}"
    );
    let message = folder.fail("cv --data @yeast --time-column day");
    assert!(message.contains("--time-column are for files"), "{message}");
    let score = |options: &str| {
        let tune = "tune --data t.csv --targets y --ignore visit --space trees=5";
        folder.json(&format!("{tune} {options}"))["trials"][0]["score"]
            .as_f64()
            .unwrap()
    };
    assert!(score("") > 0.9 && score("--time-column day") < 0.0);
}

#[test]
fn splits_that_cannot_be_are_refused() {
    let folder = Folder::new();
    folder.write("visits.csv", visits().replace("c5,", ","));
    folder.write("all.arff", arff(20, 0));
    for (options, expected) in [
        (
            "--data visits.csv --group customer",
            "sample 5 (from 0) has no value of \"customer\"",
        ),
        (
            "--data visits.csv --group costumer",
            "\"costumer\", which does not exist",
        ),
        (
            "--data visits.csv --time-column note",
            "is neither a number nor a date",
        ),
        ("--data visits.csv --test-fraction 1", "in (0, 1)"),
        (
            "--data all.arff --time-column width",
            "--group and --time-column name a column of a CSV, Parquet or Arrow file",
        ),
    ] {
        let message = folder.fail(&format!("split {options} --train a.csv --test b.csv"));
        assert!(message.contains(expected), "{message}");
    }
    let left: Vec<String> = folder.files();
    assert_eq!(left, ["all.arff", "visits.csv"]);
}

#[test]
fn converted_files_train_the_same_model() {
    let folder = Folder::new();
    folder.write("labels.xml", label_file());
    folder.write("all.arff", arff(60, 0));
    let train = |options: &str| {
        folder.ok(&format!("train {options} --trees 5 --seed 3 --model m.rpo"));
        let predict = "predict --data all.arff --model m.rpo";
        folder.ok(predict)
    };
    let expected = train("--data all.arff --labels labels.xml");
    folder.ok("convert --data all.arff --labels labels.xml --out all.csv.gz");
    folder.ok("convert --data all.csv.gz --n-targets 3 --out again.arff --label-file again.xml");
    assert_eq!(train("--data all.csv.gz --n-targets 3"), expected);
    assert_eq!(train("--data again.arff --labels again.xml"), expected);
    // Numbers instead of names.
    folder.ok("convert --data all.arff --labels labels.xml --out all.svm");
    folder.ok("convert --data all.svm --out all.txt --to xmlrepo");
    folder.ok("train --data all.txt --trees 5 --seed 3 --model numbered.rpo");
    let numbered = folder.ok("predict --data all.svm --model numbered.rpo");
    assert_eq!(
        numbered.lines().skip(1).collect::<Vec<_>>(),
        expected.lines().skip(1).collect::<Vec<_>>()
    );
    assert!(expected.lines().next().unwrap().contains(LABELS[0]));
}

/// Where features and outputs are numbered, files with names call the outputs `output 0`, ...
#[test]
fn a_model_of_numbered_columns_is_evaluated_on_converted_files() {
    let folder = Folder::new();
    let lines = (0..60).map(|i| format!("{},{} 0:{} 1:{}\n", i % 2, 2 + i % 3, i % 2, i % 3 + 1));
    folder.write("t.svm", lines.collect::<String>());
    folder.ok("train --data t.svm --first-feature 0 --method extra-trees --trees 5 --model m.rpo");
    let scores = |data: &str| folder.json(&format!("evaluate --model m.rpo --data {data}"));
    let expected = scores("t.svm");
    for name in ["t.csv", "t.arff", "t.parquet"] {
        folder.ok(&format!("convert --data t.svm --first-feature 0 --out {name}"));
        assert_eq!(scores(name)["lrap"], expected["lrap"], "{name}");
    }
    let combined = folder.run("combine --models m.rpo --data t.csv --out c.rpo");
    assert_eq!(combined.code, Some(0));
    let noted = combined.stderr;
    assert!(
        noted.contains("m.rpo: fitted to the outputs of this data"),
        "{noted}"
    );
    let message = folder.fail("evaluate --model m.rpo --data t.csv --targets 0");
    assert!(
        message.contains("\"0\" is a target here, but a feature of the model"),
        "{message}"
    );
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let folder = Folder::new();
    folder.write("numbers.csv", csv(10, 0));
    let message = folder.fail("convert --data numbers.csv --n-targets 2 --out numbers.svm");
    assert!(
        message.contains("the outputs are numbers") && message.contains("help: arff, csv, parquet and arrow"),
        "{message}"
    );
    folder.write("holes.csv", "a,the b,y\n1,2,0\n3,,1\n");
    let message = folder.fail("convert --data holes.csv --targets y --out holes.svm");
    assert!(
        message.contains("the feature \"the b\" of sample 1 (from 0) is missing")
            && message.contains("help: arff, csv, parquet and arrow")
            && !message.contains("impute"),
        "{message}"
    );
    let message = folder.fail("convert --data numbers.csv --n-targets 2 --out numbers.txt");
    assert!(message.contains("choose it with --to"), "{message}");
    assert_eq!(folder.files(), ["holes.csv", "numbers.csv"]);
}

#[test]
fn generated_sets_depend_on_the_seed_alone() {
    let folder = Folder::new();
    let generate = |out: &str, options: &str| {
        folder.ok(&format!("generate {options} --samples 50 --out {out}"));
        folder.read(out)
    };
    let text = generate("a.svm", "multi-label --features 40 --outputs 10 --seed 1");
    assert_eq!(
        generate("b.svm", "multi-label --features 40 --outputs 10 --seed 1"),
        text
    );
    assert_ne!(
        generate("b.svm", "multi-label --features 40 --outputs 10 --seed 2"),
        text
    );
    generate("f.csv", "friedman-group --outputs 4 --irrelevant 2");
    let described = folder.json("describe --data f.csv --targets *output*");
    assert_eq!(
        (number(&described, "n_features"), number(&described, "n_outputs")),
        (7.0, 4.0)
    );
    let message = folder.fail("generate friedman-chain --cardinality 2 --out c.csv");
    assert!(
        message.contains("--cardinality is for multi-label sets"),
        "{message}"
    );
    let message = folder.fail("generate multi-label --cardinality 0.5 --out c.svm");
    assert!(message.contains("cardinality"), "{message}");
}

#[test]
fn data_come_from_standard_input_in_any_format() {
    let folder = Folder::new();
    let pipe = |arguments: &str, text: &str| {
        let mut command = folder.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    folder
        .write("numbers.csv", csv(30, 0))
        .write("labels.txt", xmlrepo(30, 0));
    for (data, options, text) in [
        ("numbers.csv", "--n-targets 2", csv(30, 0)),
        ("labels.txt", "", xmlrepo(30, 0)),
    ] {
        folder.ok(&format!(
            "train --data {data} {options} --trees 3 --model file.rpo"
        ));
        let trained = pipe(
            &format!("train --data - {options} --trees 3 --model pipe.rpo"),
            &text,
        );
        assert_eq!(trained.0, Some(0), "{}", trained.2);
        let expected = folder.ok(&format!("predict --data {data} --model file.rpo"));
        assert_eq!(pipe("predict --data - --model pipe.rpo", &text).1, expected);
        let scored = pipe("evaluate --data - --model pipe.rpo", &text);
        assert_eq!(scored.0, Some(0), "{}", scored.2);
    }
    let (code, _, message) = pipe("train --data - --n-targets 1 --model m.rpo", "a,b\n1,2\n1,2,3\n");
    assert_eq!(code, Some(1));
    assert!(message.starts_with("error: standard input: line 3"), "{message}");
}

#[test]
fn numbered_columns_get_names_from_files() {
    let folder = Folder::new();
    folder.write("all.txt", xmlrepo(40, 0));
    folder.write("features.txt", "width\nheight\nthe depth\n\n");
    folder.write("labels.txt", "red\r\nlarge, heavy\r\nround\r\n");
    let names = "--feature-names features.txt --label-names labels.txt";
    folder.ok(&format!(
        "train --data all.txt {names} --trees 5 --model named.rpo"
    ));
    folder.ok("train --data all.txt --trees 5 --model numbered.rpo");
    let named = folder.ok("predict --data all.txt --model named.rpo");
    let numbered = folder.ok("predict --data all.txt --model numbered.rpo");
    assert!(named.starts_with("red,\"large, heavy\",round\n"), "{named}");
    assert!(named.lines().skip(1).eq(numbered.lines().skip(1)));
    assert_eq!(
        folder.json("evaluate --data all.txt --model named.rpo")["lrap"],
        folder.json("evaluate --data all.txt --model numbered.rpo")["lrap"]
    );
    folder
        .write("few.txt", "a\nb\n")
        .write("blank.txt", "a\n\nb\n")
        .write("numbers.csv", csv(5, 0));
    for (options, message) in [
        ("--data all.txt --label-names few.txt", "few.txt: "),
        (
            "--data all.txt --label-names blank.txt",
            "blank.txt: line 2: the line is blank",
        ),
        (
            "--data numbers.csv --n-targets 1 --feature-names few.txt",
            "is for formats that number their columns",
        ),
    ] {
        let found = folder.fail(&format!("describe {options}"));
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn a_set_is_described_beside_another_and_on_a_page() {
    let folder = Folder::new();
    folder.write("train.csv", "x,city,a,b\n1,Bern,1,0\n2,Oslo,0,0\n,Oslo,1,0\n");
    folder.write(
        "test.csv",
        "city,a,b,x\nOslo,0,1,2\nBern,1,0,2\nRome,0,0,5\nOslo,1,1,\n",
    );
    let found = folder.json("describe --data train.csv --targets a,b --test test.csv --html page.html");
    assert_eq!(
        ["n_test", "shared", "unlearnable"].map(|key| number(&found, key)),
        [4.0, 2.0, 1.0]
    );
    let page = folder.read("page.html");
    for part in [
        "<svg",
        "Samples of each label",
        "Missing values of features",
        "<td>scumble</td>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    folder.write("values.csv", "x,<y>\n1,2\n2,3\n3,7.5\n");
    folder.ok("describe --data values.csv --n-targets 1 --html page.html");
    let page = folder.read("page.html");
    assert!(
        page.contains("Values of &lt;y&gt;") && !page.contains("<y>"),
        "{page}"
    );
    let message = folder.fail("describe --data train.csv --targets a,b --test values.csv");
    assert!(message.contains("values.csv"), "{message}");
}

#[test]
fn misspelt_names_get_the_most_similar() {
    let folder = Folder::new();
    folder.write("numbers.csv", csv(20, 0));
    for (options, nearest) in [
        ("--targets volum", "(did you mean \"volume\"?)"),
        ("--targets volume --ignore hight", "(did you mean \"height\"?)"),
        ("--targets volume --id egde", "(did you mean \"edge\"?)"),
    ] {
        let message = folder.fail(&format!("describe --data numbers.csv {options}"));
        assert!(message.contains(nearest), "{message}");
    }
    for (metric, nearest) in [
        ("rmsee", "rmse?"),
        ("ngcg@5", "ndcg@5?"),
        ("mikro-f1", "micro-f1?"),
    ] {
        let run = folder.run(&format!(
            "evaluate --data numbers.csv --model m.rpo --metrics {metric}"
        ));
        assert_eq!(run.code, Some(2));
        assert!(
            run.stderr.contains(&format!("(did you mean {nearest})")),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn shells_and_manuals_learn_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.ok(&format!("completions {shell}"));
        assert!(
            script.contains("generate") && script.contains("sample-weights"),
            "{shell}"
        );
    }
    folder.ok("man .");
    let files = folder.files();
    assert!(
        ["rpo.1", "rpo-train.1", "rpo-cv.1", "rpo-help.1"]
            .iter()
            .all(|f| files.contains(&f.to_string()))
    );
    assert!(
        folder.read("rpo-serve.1").contains(".TH RPO-SERVE"),
        "{}",
        folder.read("rpo-serve.1")
    );
    folder.ok("man new/folder");
    assert!(folder.path("new/folder/rpo.1").exists());
}

/// Labels and features unseen in training are left out of files with numbered columns, as the largest index may differ
/// between files.
#[test]
fn labels_and_features_that_training_has_not_are_left_out_of_svmlight_files() {
    let folder = Folder::new();
    folder
        .write("train.svm", "0,2 1:0.5 3:1\n1 2:1\n".repeat(10))
        .write("test.svm", "0,4,7 1:1\n1,4 2:1 9:4 12:1\n2 3:1\n")
        .write("same.svm", "0 1:1\n1 2:1\n2 3:1\n");
    folder.ok("train --data train.svm --trees 5 --model m.rpo");
    let scores = |data: &str| {
        let run = folder.run(&format!(
            "evaluate --data {data} --model m.rpo --metrics lrap,p@1,micro-f1"
        ));
        let values = run.stdout.lines().filter(|line| !line.contains("seconds"));
        (values.map(str::to_owned).collect::<Vec<_>>(), run.stderr)
    };
    let (same, silent) = scores("same.svm");
    let (found, notes) = scores("test.svm");
    assert_eq!((&found, silent.as_str()), (&same, ""));
    assert_eq!(
        notes,
        "note: 2 labels, which occur 3 times in 2 samples (the first is \"4\"), are not among the model's labels: they are \
         left out, as if no sample had them; scores that count them as missed would be worse\n\
         note: 2 features, which occur 2 times in 1 sample (the first is \"9\"), are not among the model's features: they \
         are left out\n"
    );
    let predicted = folder.run("predict --data test.svm --model m.rpo");
    assert!(
        predicted.stderr.starts_with("note: 2 features"),
        "{}",
        predicted.stderr
    );
    assert_eq!(
        predicted.stdout,
        folder.ok("predict --data same.svm --model m.rpo")
    );
    let described = folder.run("describe --data train.svm --test test.svm --json");
    let described: Value = serde_json::from_str(&described.stdout).unwrap();
    assert_eq!(
        ["n_test", "unlearnable"].map(|key| number(&described, key)),
        [3.0, 2.0]
    );
    // A header with other numbers may be that of other data.
    folder.write("test.txt", "1 12 3\n0 0:1 11:2\n");
    let run = folder.run("evaluate --data test.txt --model m.rpo");
    let notes = "note: the file declares 12 features and 3 labels in place of 3 and 3: columns are taken in order\n\
                 note: feature \"11\"";
    assert!(run.stderr.starts_with(notes), "{}", run.stderr);
}

/// A model remembers whether the features of its training file count from 0.
#[test]
fn the_first_feature_of_svmlight_files_is_that_of_training() {
    let folder = Folder::new();
    let rows = "0 0:1 1:0.5\n1 1:1\n".repeat(10);
    folder
        .write("zero.svm", &rows)
        .write("one.svm", "0 1:1 2:0.5\n1 2:1\n".repeat(10));
    folder.ok("train --data zero.svm --first-feature 0 --trees 5 --model zero.rpo");
    folder.ok("train --data one.svm --trees 5 --model one.rpo");
    let scores = |data: &str, model: &str| folder.ok(&format!("predict --data {data} --model {model}"));
    let expected = scores("one.svm", "one.rpo");
    assert_eq!(scores("zero.svm", "zero.rpo"), expected);
    assert_eq!(scores("zero.svm --first-feature 0", "zero.rpo"), expected);
    let message = folder.fail("evaluate --data zero.svm --model zero.rpo --first-feature 1");
    assert!(message.contains("count from 0"), "{message}");
    let message = folder.fail("evaluate --data one.svm --model one.rpo --first-feature 0");
    assert!(message.contains("count from 1"), "{message}");
    // A model of another format says nothing about it.
    folder.write("train.txt", format!("20 2 2\n{rows}"));
    folder.ok("train --data train.txt --trees 5 --model other.rpo");
    assert_eq!(scores("zero.svm --first-feature 0", "other.rpo"), expected);
    assert_eq!(scores("train.txt", "zero.rpo"), expected);
}

/// The classes of svmlight are no labels.
#[test]
fn signed_classes_are_no_labels() {
    let folder = Folder::new();
    folder.write("train.svm", "+1 1:1\n-1 2:1\n");
    let message = folder.fail("train --data train.svm --model m.rpo");
    assert!(
        message.contains("\"+1\"") && message.contains("column of a CSV file"),
        "{message}"
    );
}

/// The weight of each model that is combined is printed, also where none is kept.
#[test]
fn weights_of_combined_models_are_those_of_files() {
    let folder = Folder::new();
    folder.write("train.svm", "0,2 1:0.5 3:1\n1 2:1\n".repeat(20));
    folder.ok("train --data train.svm --trees 5 --model good.rpo");
    folder.ok("train --data train.svm --method baseline --model bad.rpo");
    let both = "combine --models bad.rpo good.rpo --out both.rpo";
    folder.write("withheld.svm", "0,2 1:0.5 3:1\n1 2:1\n".repeat(10));
    let found = folder.json(&format!("{both} --data withheld.svm"));
    assert_eq!(
        found["weights"],
        serde_json::json!({"bad.rpo": 0.0, "good.rpo": 1.0})
    );
    let given = folder.json(&format!("{both} --weights 1,3"));
    assert_eq!(
        given["weights"],
        serde_json::json!({"bad.rpo": 1.0, "good.rpo": 3.0})
    );
    let printed = folder.ok(&format!("{both} --weights 1,3"));
    assert!(printed.contains("bad.rpo 1.0000, good.rpo 3.0000"), "{printed}");
}

#[test]
fn help_takes_the_word_that_follows_a_command() {
    let folder = Folder::new();
    let help = folder.ok("help generate multi-label");
    assert_eq!(help, folder.ok("generate multi-label --help"));
    assert!(folder.fail("help generate nothing").contains("\"nothing\""));
    assert!(folder.fail("help craftml more").contains("\"more\""));
}

#[test]
fn svmlight_files_have_as_many_columns_as_they_are_said_to_have() {
    let folder = Folder::new();
    folder.write("train.svm", "0,2 1:0.5 3:1\n1 2:1\n".repeat(10));
    let sizes = |found: &Value| ["n_features", "n_outputs"].map(|key| number(found, key));
    let wide = folder.json("train --data train.svm --n-features 12 --n-labels 8 --trees 2 --model m.rpo");
    assert_eq!(sizes(&wide), [12.0, 8.0]);
    folder.write("test.svm", "7 12:1\n");
    folder.ok("evaluate --data test.svm --model m.rpo --metrics p@1");
    let small = folder.fail("train --data train.svm --n-labels 2 --trees 2 --model m.rpo");
    assert!(small.contains("label index 2 is out of range"), "{small}");
    folder.write("far.svm", "0 300000000:1\n");
    let far = folder.fail("train --data far.svm --model m.rpo");
    assert!(far.contains("help: ") && far.contains("--n-features"), "{far}");
}
