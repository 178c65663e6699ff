//! Files with some missing outputs, from training to scores.

use crate::common::{Folder, arff, number};

/// The table of an ARFF file as CSV.
fn csv(n: usize, first: usize) -> String {
    let arff = arff(n, first);
    let (head, rows) = arff.split_once("@data\n").unwrap();
    let names: Vec<String> = head
        .lines()
        .filter_map(|line| line.strip_prefix("@attribute '"))
        .map(|line| format!("\"{}\"", line.split('\'').next().unwrap()))
        .collect();
    format!("{}\n{rows}", names.join(","))
}

/// Removes one output from every row of a table whose last three columns are labels; the first line is unchanged.
fn with_holes(text: &str, hole: &str) -> String {
    let mut lines = text.lines();
    let mut out = format!("{}\n", lines.next().unwrap());
    for (i, line) in lines.enumerate() {
        let mut cells: Vec<&str> = line.split(',').collect();
        let output = cells.len() - 3 + i % 3;
        cells[output] = hole;
        out += &cells.join(",");
        out.push('\n');
    }
    out
}

/// Like [`with_holes`], for the data of an ARFF file.
fn arff_with_holes(text: &str) -> String {
    let at = text.find("@data").unwrap();
    let rows = with_holes(&text[at..], "?");
    format!("{}{rows}", &text[..at])
}

const METRICS: &str = "lrap,p@1,p@2,ndcg@2,hamming,micro-f1,macro-f1,macro-auc,ranking-loss,one-error";

#[test]
fn what_is_missing_is_kept_out() {
    let folder = Folder::new();
    let (train, test) = (csv(300, 0), csv(60, 300));
    folder
        .write("train.csv", with_holes(&train, ""))
        .write("test.csv", with_holes(&test, "NA"))
        .write("whole.csv", &test)
        .write("train.arff", arff_with_holes(&arff(300, 0)));
    let message = folder.fail("train --data train.csv --n-targets 3 --model m.rpo");
    assert!(
        message.contains("train.csv: line 2") && message.contains("missing"),
        "{message}"
    );
    for data in ["train.csv", "train.arff"] {
        let options = "--n-targets 3 --missing-outputs --trees 20 --oob";
        let report = folder.json(&format!("train --data {data} {options} --model m.rpo"));
        assert!(number(&report, "oob_macro-auc") > 0.9, "{report}");
        let scores = folder.json(&format!(
            "evaluate --data test.csv --missing-outputs --model m.rpo --metrics {METRICS}"
        ));
        assert!(
            number(&scores, "lrap") > 0.9 && number(&scores, "hamming") < 0.1,
            "{scores}"
        );
        // The scores are the same in blocks of rows, and from the best labels only.
        let small = folder.json(
            "evaluate --data test.csv --missing-outputs --model m.rpo --memory 0 \
             --metrics lrap,ranking-loss,hamming,p@1,p@2",
        );
        let top = folder
            .json("evaluate --data test.csv --missing-outputs --model m.rpo --metrics p@1,p@2,one-error");
        for key in ["lrap", "ranking-loss", "hamming", "p@1", "p@2"] {
            assert!(
                (number(&small, key) - number(&scores, key)).abs() < 1e-12,
                "{key}"
            );
        }
        for key in ["p@1", "p@2", "one-error"] {
            assert_eq!(number(&top, key), number(&scores, key), "{key}");
        }
        // Observed outputs are scored with and without the option, with the same result.
        let plain = folder.json("evaluate --data whole.csv --model m.rpo --metrics lrap,hamming");
        let allowed =
            folder.json("evaluate --data whole.csv --missing-outputs --model m.rpo --metrics lrap,hamming");
        assert_eq!(
            (&plain["lrap"], &plain["hamming"]),
            (&allowed["lrap"], &allowed["hamming"])
        );
        folder.fail("evaluate --data test.csv --model m.rpo");
    }
}

#[test]
fn projections_numbers_and_searches_cope() {
    let folder = Folder::new();
    // Two outputs that are numbers, with missing values.
    let mut text = String::from("a,b,y,z\n");
    for i in 0..120 {
        let (a, b) = (f64::from(i) / 120.0, f64::from(i * 7 % 120) / 120.0);
        let y = if i % 4 == 0 {
            String::new()
        } else {
            format!("{}", 10.0 + a)
        };
        let z = if i % 5 == 0 {
            "NA".to_owned()
        } else {
            format!("{}", b - a)
        };
        text += &format!("{a},{b},{y},{z}\n");
    }
    folder.write("d.csv", text);
    let data = "--data d.csv --n-targets 2 --missing-outputs";
    for projection in ["none", "gaussian"] {
        folder.ok(&format!(
            "train {data} --trees 20 --projection {projection} --model m.rpo"
        ));
        let scores = folder.json(&format!("evaluate {data} --model m.rpo"));
        assert!(
            number(&scores, "r2") > 0.7 && number(&scores, "mse") < 0.05,
            "{scores}"
        );
        assert!(number(&scores, "arrmse") < 0.6, "{scores}");
    }
    folder.write("l.csv", with_holes(&csv(150, 0), ""));
    folder.ok("tune --data l.csv --n-targets 3 --missing-outputs --trees 5 --space min-samples-leaf=1,5 --model t.rpo");
}

#[test]
fn where_nothing_can_be_missing_the_option_is_refused() {
    let folder = Folder::new();
    folder
        .write("d.csv", with_holes(&csv(30, 0), ""))
        .write("d.txt", crate::common::xmlrepo(30, 0));
    let message = folder.fail("train --data d.txt --missing-outputs --model m.rpo");
    assert!(message.contains("missing_outputs"), "{message}");
    let message = folder
        .fail("train --data d.csv --n-targets 3 --missing-outputs --leaves samples --trees 2 --model m.rpo");
    assert!(
        message.contains("leaves") && message.contains("missing"),
        "{message}"
    );
}

#[test]
fn an_output_that_is_missing_throughout_is_named() {
    let folder = Folder::new();
    folder.write("n.csv", "a,b,y,z\n1,2,3,\n2,3,4,\n3,1,7,\n4,5,9,\n");
    for method in ["random-forest", "single-target-forest", "gbmort", "baseline"] {
        let message = folder.fail(&format!(
            "train --data n.csv --targets y,z --missing-outputs --method {method} --model n.rpo"
        ));
        assert!(
            message.contains("n.csv") && message.contains("observed") && message.contains("\"z\""),
            "{message}"
        );
    }
    folder.ok("train --data n.csv --targets y --ignore z --method gbmort --iterations 2 --model n.rpo");
}
