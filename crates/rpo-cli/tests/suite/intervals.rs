//! Prediction intervals: training, prediction, serving and scores.

use crate::common::{Folder, number};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

/// Rows whose price depends on a number, and whose sale is a label.
fn table(samples: std::ops::Range<usize>) -> String {
    let mut text = "name,x,z,price,sold\n".to_owned();
    for i in samples {
        let random = |purpose: usize| ((i * 7 + purpose) * 2_654_435_761 % 4_294_967_296) >> 16;
        let (x, noise) = (random(1) % 60, (random(2) % 41) as f64 / 4.0);
        let (price, sold) = (2.0 * x as f64 + noise, ["no", "yes"][x / 30]);
        writeln!(text, "s{i},{x},{},{price},{sold}", i % 7).unwrap();
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("train.csv", table(0..300))
        .write("test.csv", table(1000..1090));
    folder
}

#[test]
fn bounds_are_written_served_and_scored() {
    let folder = folder();
    let prices = "--ignore name,sold --targets price";
    for method in [
        "extra-trees --trees 20",
        "gbmort --iterations 20 --loss quantile --quantile 0.1,0.9",
    ] {
        folder.json(&format!(
            "train --method {method} --intervals 0.8 --data train.csv {prices} --model m.rpo"
        ));
        let report = folder.json("inspect --model m.rpo");
        assert_eq!(report["interval_level"], 0.8);
        let report = folder.json("evaluate --model m.rpo --data test.csv");
        let (coverage, width) = (
            number(&report, "interval-coverage"),
            number(&report, "interval-width"),
        );
        assert!(
            (0.65..=1.0).contains(&coverage) && width > 5.0,
            "{method}: {report}"
        );
        let predict = "predict --model m.rpo --data test.csv --intervals";
        let written = folder.ok(&format!("{predict} --id name"));
        let (table, mut lines) = (table(1000..1090), written.lines());
        assert!(lines.next().unwrap().ends_with(",price@lower,price@upper"));
        let covered = lines.zip(table.lines().skip(1)).filter(|(line, row)| {
            let cell = |text: &str, from_end: usize| -> f64 {
                text.rsplit(',').nth(from_end).unwrap().parse().unwrap()
            };
            (cell(line, 1)..=cell(line, 0)).contains(&cell(row, 1))
        });
        assert_eq!(covered.count(), (coverage * 90.0).round() as usize, "{method}");
        for name in ["p.jsonl", "p.parquet"] {
            folder.ok(&format!("{predict} --out {name}"));
        }
        let first = folder.read("p.jsonl");
        assert!(
            first.lines().next().unwrap().contains("\"price@upper\":"),
            "{first}"
        );
        let as_csv = folder.ok("convert --data p.parquet --out q.csv");
        assert!(folder.read("q.csv").contains("price@lower"), "{as_csv}");
        let wrong = folder.run(&format!("{predict} --top-k 1"));
        assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    }
    let report = folder.json(&format!(
        "cv --folds 3 --method ridge --intervals 0.8 --data train.csv {prices}"
    ));
    let coverage = report["interval-coverage"]["mean"].as_f64().unwrap();
    assert!((0.65..=1.0).contains(&coverage), "{report}");
}

#[test]
fn labels_beside_numbers_have_no_bounds() {
    let folder = folder();
    let run = folder.run(
        "train --method gbmort --iterations 20 --intervals 0.8 --data train.csv --ignore name --targets price,sold --model m.rpo",
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let written = folder.ok("predict --model m.rpo --data test.csv --values --intervals");
    assert!(
        written.starts_with("price,sold,price@lower,price@upper\n"),
        "{written}"
    );
    let mut child = folder
        .command("serve --model m.rpo")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let requests = "{\"rows\":[{\"x\":3,\"z\":1}],\"intervals\":true}\n\
        {\"rows\":[{\"x\":3,\"z\":1}],\"intervals\":true,\"values\":true}\n\
        {\"rows\":[{\"x\":3,\"z\":1}],\"intervals\":true,\"top_k\":1}\n\
        {\"x\":3,\"z\":1}\n";
    child
        .stdin
        .take()
        .unwrap()
        .write_all(requests.as_bytes())
        .unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let responses: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [scores, values, refused, plain] = &responses[..] else {
        panic!("{output}");
    };
    for response in [scores, values] {
        let prediction = &response["predictions"][0];
        let of = |name: &str| prediction[name].as_f64().unwrap();
        assert!(
            of("price@lower") < of("price") && of("price") < of("price@upper"),
            "{output}"
        );
        assert_eq!(prediction.as_object().unwrap().len(), 4, "{output}");
    }
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("intervals"),
        "{output}"
    );
    assert_eq!(plain["predictions"][0].as_object().unwrap().len(), 2, "{output}");
}

#[test]
fn metrics_of_intervals_need_intervals() {
    let folder = folder();
    let ridge = "--method ridge --data train.csv --ignore name --targets price";
    for command in [
        "cv --metrics interval-width",
        "tune --space lambda=1,2 --metric interval-width",
        "tune --space lambda=1,2 --space intervals=0.8,0.9 --metric interval-width",
    ] {
        let message = folder.fail(&format!("{command} {ridge}"));
        assert!(message.contains("no prediction intervals"), "{message}");
    }
    let tune = format!("tune --space lambda=1,2 {ridge} --intervals 0.8 --metric");
    let message = folder.fail(&format!("{tune} interval-coverage"));
    assert!(message.contains("choose interval-width"), "{message}");
    folder.ok(&format!("{tune} interval-width"));
}

#[test]
fn models_without_intervals_have_no_bounds() {
    let folder = folder();
    let train = "train --data train.csv --ignore name --model m.rpo";
    folder.json(&format!("{train} --ignore sold --targets price --trees 5"));
    let message = folder.fail("predict --model m.rpo --data test.csv --intervals");
    assert!(message.contains("no prediction intervals"), "{message}");
    let message = folder.fail("evaluate --model m.rpo --data test.csv --metrics interval-width");
    assert!(message.contains("no prediction intervals"), "{message}");
    let message = folder.fail(&format!("{train} --targets sold --ignore price --intervals 0.9"));
    assert!(message.contains("--intervals, which is for numbers"), "{message}");
    let message = folder.fail(
        "train --method craftml --low-memory --intervals 0.9 --data train.csv --targets sold --model n.rpo",
    );
    assert!(message.contains("--intervals needs the whole model"), "{message}");
    folder.json(&format!(
        "{train} --ignore sold --targets price --trees 5 --intervals 0.9"
    ));
    let run = folder.run("combine --models m.rpo m.rpo --out c.rpo");
    assert!(
        run.stderr.contains("m.rpo has prediction intervals"),
        "{}",
        run.stderr
    );
}

/// With groups, intervals are for samples of new groups: few groups are not many samples.
#[test]
fn groups_count_alike_for_intervals() {
    let folder = Folder::new();
    let mut text = "x,g,price\n".to_owned();
    for i in 0..2_000_usize {
        // Half of the samples are of one group, whose prices are all alike.
        let group = if i % 2 == 0 { 0 } else { 1 + i / 2 % 200 };
        let level = group * 7_919 % 101;
        writeln!(
            text,
            "{},g{group},{}",
            i * 5 % 11,
            if group == 0 { 50 } else { level }
        )
        .unwrap();
    }
    folder.write("many.csv", &text);
    let few: String = text
        .lines()
        .filter(|line| line.starts_with("x,") || line.contains(",g0,") || line.contains(",g1,"))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("few.csv", few);
    let train = "train --method baseline --targets price --group g --intervals 0.8 --model m.rpo --data";
    let message = folder.fail(&format!("{train} few.csv"));
    assert!(
        message.contains("need at least 9 groups") && message.contains("observed in 1"),
        "{message}"
    );
    assert_eq!(folder.run(&format!("{train} many.csv")).code, Some(0));
    // By samples, half of them without an error, the interval would be a point.
    let report = folder.json("evaluate --model m.rpo --data many.csv --metrics interval-width");
    assert!(number(&report, "interval-width") > 60.0, "{report}");
}

#[test]
fn an_output_named_like_a_bound_is_refused() {
    let folder = Folder::new();
    let rows = (0..60).map(|i| format!("{i},{},{}\n", i % 7, i % 5));
    let text = "x,p,p@lower\n".to_owned() + &rows.collect::<String>();
    folder.write("t.csv", text);
    let message = folder.fail("train --data t.csv --targets p,p@lower --intervals 0.8 --model m.rpo");
    assert!(
        message.contains("\"p@lower\" has the name of a bound"),
        "{message}"
    );
}
