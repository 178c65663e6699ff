//! Files without rows, columns that are named otherwise, and names of files in formats that are not written.

use crate::common::{Folder, csv};
use std::process::Stdio;

fn ready() -> Folder {
    let folder = Folder::new();
    let table = csv(40, 0);
    let header = table.lines().next().unwrap().to_owned() + "\n";
    folder.write("t.csv", &table).write("empty.csv", header);
    folder.ok("train --data t.csv --n-targets 2 --trees 2 --model m.rpo");
    folder
}

#[test]
fn nothing_is_predicted_for_no_rows() {
    let folder = ready();
    let predict = "predict --data empty.csv --model m.rpo";
    assert_eq!(folder.ok(predict), "volume,edge\n");
    assert_eq!(folder.ok(&format!("{predict} --values")), "volume,edge\n");
    assert_eq!(folder.ok(&format!("{predict} --out-format jsonl")), "");
    assert_eq!(folder.json(&format!("{predict} --out p.csv"))["n_samples"], 0);
    assert_eq!(folder.read("p.csv"), "volume,edge\n");
    folder.ok("convert --data empty.csv --n-targets 2 --out c.csv");
    assert_eq!(folder.read("c.csv"), folder.read("empty.csv"));
    #[cfg(feature = "arrow")]
    {
        folder.ok(&format!("{predict} --out p.parquet"));
        folder.ok("convert --data p.parquet --out from_parquet.csv");
        assert_eq!(folder.read("from_parquet.csv"), "volume,edge\n");
    }
    // There is nothing to learn from them.
    let train = "train --data - --n-targets 2 --model n.rpo";
    let run = folder
        .command(train)
        .stdin(Stdio::from(
            std::fs::File::open(folder.path("empty.csv")).unwrap(),
        ))
        .output();
    assert_eq!(
        String::from_utf8(run.unwrap().stderr).unwrap(),
        "error: standard input: the set is empty: it has no samples\n"
    );
}

#[test]
fn columns_that_may_be_meant_are_named() {
    let folder = ready();
    folder.write(
        "other.csv",
        csv(5, 0).replace("height", "hight").replace("width", "WIDTH"),
    );
    assert_eq!(
        folder.fail("predict --data other.csv --model m.rpo"),
        "error: other.csv does not fit the model: the data has no feature \"width\" (it has \"WIDTH\"), \"height\" (it \
         has \"hight\"), which the model needs\n"
    );
}

#[test]
fn names_of_formats_that_are_not_written_are_refused() {
    let folder = ready();
    for name in ["p.csv.zst", "p.csv.bz2", "p.xlsx", "p.XZ"] {
        let message = folder.fail(&format!("predict --data t.csv --model m.rpo --out {name}"));
        assert!(
            message.contains("are not written in the format of this name"),
            "{message}"
        );
    }
    #[cfg(feature = "arrow")]
    for name in ["p.pq", "p.parq"] {
        folder.ok(&format!("predict --data t.csv --model m.rpo --out {name}"));
        assert!(std::fs::read(folder.path(name)).unwrap().starts_with(b"PAR1"));
    }
}

#[test]
fn headers_that_declare_billions_of_labels_are_refused() {
    let folder = Folder::new();
    folder.write("huge.txt", "2 4 4000000000\n0,1 0:1 3:1\n1 1:1\n");
    for command in ["describe", "split --train a.txt --test b.txt"] {
        let message = folder.fail(&format!("{command} --data huge.txt"));
        assert!(
            message.contains("4000000000 labels are too many; a set may have at most 134217728"),
            "{message}"
        );
    }
}

/// The decoder panics on some damaged files, which is an error of the file alone.
#[test]
#[cfg(feature = "arrow")]
fn damaged_files_print_their_error_alone() {
    let folder = ready();
    folder.ok("convert --data t.csv --n-targets 2 --out t.arrow");
    let whole = std::fs::read(folder.path("t.arrow")).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        folder.write("damaged.arrow", damaged);
        let run = folder.run("predict --data damaged.arrow --model m.rpo");
        assert!(!run.stderr.contains("panicked"), "byte {at}: {}", run.stderr);
    }
}
