//! The names of output files choose what is written.

use crate::common::{Folder, arff, csv};
use flate2::read::GzDecoder;
use std::io::Read;

/// A folder with data a.csv, samples q.csv and the model m.rpo.
fn ready() -> Folder {
    let folder = Folder::new();
    folder.write("a.csv", csv(60, 0)).write("q.csv", csv(4, 60));
    folder.ok("train --data a.csv --n-targets 2 --model m.rpo --trees 3");
    folder
}

fn decompressed(folder: &Folder, name: &str) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(folder.path(name)).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn predictions_have_the_format_of_their_name() {
    let folder = ready();
    let predict = "predict --data q.csv --model m.rpo";
    let text = folder.ok(predict);
    let lines = folder.ok(&format!("{predict} --out-format jsonl"));
    for name in ["p.jsonl", "p.csv", "p.tsv", "p.txt", "p"] {
        folder.ok(&format!("{predict} --out {name}"));
        folder.ok(&format!("{predict} --out {name}.gz"));
        assert_eq!(decompressed(&folder, &format!("{name}.gz")), folder.read(name));
        match name {
            "p.jsonl" => assert_eq!(folder.read(name), lines),
            "p.tsv" => assert_eq!(folder.read(name), text.replace(',', "\t")),
            _ => assert_eq!(folder.read(name), text),
        }
    }
    for name in ["p.arff", "p.json", "p.svm", "p.arff.gz"] {
        let message = folder.fail(&format!("{predict} --out {name}"));
        assert!(
            message.contains(name) && message.contains("--out-format"),
            "{message}"
        );
        folder.ok(&format!("{predict} --out {name} --out-format csv"));
    }
    folder.write("b.arff", arff(60, 0));
    folder.ok("train --data b.arff --n-targets 3 --model l.rpo --trees 3");
    let best = "predict --data b.arff --model l.rpo --top-k 2";
    folder.ok(&format!("{best} --out best.tsv"));
    assert!(folder.read("best.tsv").starts_with("row\tlabel\tscore\n0\t"));
}

#[test]
fn reports_are_csv_or_refuse_the_name() {
    let folder = ready();
    let commands = [
        "cv --data a.csv --n-targets 2 --trees 3 --folds 2 --predictions",
        "evaluate --data a.csv --model m.rpo --per-output",
        "tune --data a.csv --n-targets 2 --space trees=1,2 --history",
    ];
    for command in commands {
        folder.ok(&format!("{command} r.csv"));
        folder.ok(&format!("{command} r.tsv.gz"));
        let (expected, found) = (folder.read("r.csv"), decompressed(&folder, "r.tsv.gz"));
        let header = |text: &str| text.lines().next().unwrap().to_owned();
        assert_eq!(header(&found), header(&expected).replace(',', "\t"), "{command}");
        assert_eq!(found.lines().count(), expected.lines().count(), "{command}");
        for name in ["r.parquet", "r.arff", "r.json", "r.jsonl.gz"] {
            let message = folder.fail(&format!("{command} {name}"));
            assert!(
                message.contains(name) && message.contains("the file is CSV"),
                "{message}"
            );
        }
    }
}

#[test]
fn parts_keep_the_format_of_the_data() {
    let folder = ready();
    let split = "split --data a.csv --random";
    let message = folder.fail(&format!("{split} --train q1.csv.gz --test q2.parquet"));
    assert!(
        message.contains("--test q2.parquet: both parts have the format of the data, csv"),
        "{message}"
    );
    assert!(!folder.files().iter().any(|name| name.starts_with("q2")));
    folder.ok(&format!("{split} --train q1.csv.gz --test q2.txt"));
}

/// An svmlight file says neither how many features nor how many labels there are.
#[test]
fn sizes_that_an_svmlight_file_does_not_show_are_noted() {
    let folder = Folder::new();
    folder.write("z.txt", "3 6 5\n0 0:1\n1 1:2\n2 2:1\n");
    let run = folder.run("convert --data z.txt --out z.svm");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.contains("--n-features 6 --n-labels 5"),
        "{}",
        run.stderr
    );
    folder.ok("train --data z.svm --n-features 6 --n-labels 5 --trees 2 --model m.rpo");
    folder.ok("predict --data z.txt --model m.rpo");
    folder.write("full.txt", "2 2 2\n0,1 0:1\n1 1:2\n");
    folder.ok("convert --data full.txt --out full.svm");
}
