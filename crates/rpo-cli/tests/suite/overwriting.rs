//! No file is written over another file of the same command, or over one that the command reads.

use crate::common::{Folder, arff, label_file};
use std::fs;

/// A folder with data, its labels, parameters, weights and a model.
fn ready() -> Folder {
    let folder = Folder::new();
    folder
        .write("a.arff", arff(60, 0))
        .write("l.xml", label_file())
        .write("p.json", r#"{"method":"random-forest","trees":2}"#)
        .write("w.txt", "1\n".repeat(60));
    folder.ok("train --data a.arff --labels l.xml --model m.rpo --trees 2");
    folder.ok("train --data a.arff --labels l.xml --model n.rpo --trees 2 --seed 1");
    folder
}

#[test]
fn what_would_be_overwritten_is_named_and_stays() {
    let folder = ready();
    fs::create_dir(folder.path("sub")).unwrap();
    let content = |folder: &Folder| -> Vec<_> {
        let names = folder.files().into_iter().filter(|name| name != "sub");
        names
            .map(|name| (name.clone(), fs::read(folder.path(&name)).unwrap()))
            .collect()
    };
    let before = content(&folder);
    for (arguments, option, other) in [
        (
            "split --data a.arff --train o.arff --test ./o.arff",
            "--test",
            "--train",
        ),
        (
            "split --data a.arff --train a.arff --test o.arff",
            "--train",
            "--data",
        ),
        (
            "split --data a.arff --lists w.txt w.txt --train w.txt --test o.arff",
            "--train",
            "--lists",
        ),
        (
            "train --data a.arff --labels l.xml --model sub/../a.arff",
            "--model",
            "--data",
        ),
        (
            "train --data a.arff --labels l.xml --model l.xml",
            "--model",
            "--labels",
        ),
        (
            "train --data a.arff --labels l.xml --params p.json --model p.json",
            "--model",
            "--params",
        ),
        (
            "train --data a.arff --labels l.xml --sample-weights w.txt --model w.txt",
            "--model",
            "--sample-weights",
        ),
        (
            "tune --data a.arff --labels l.xml --space trees=1,2 --model o.rpo --history o.rpo",
            "--history",
            "--model",
        ),
        (
            "predict --data a.arff --model m.rpo --out m.rpo",
            "--out",
            "--model",
        ),
        (
            "predict --data a.arff --model m.rpo --out a.arff",
            "--out",
            "--data",
        ),
        (
            "evaluate --data a.arff --model m.rpo --per-output m.rpo",
            "--per-output",
            "--model",
        ),
        (
            "cv --data a.arff --labels l.xml --predictions a.arff",
            "--predictions",
            "--data",
        ),
        (
            "describe --data a.arff --labels l.xml --test m.rpo --html m.rpo",
            "--html",
            "--test",
        ),
        (
            "convert --data a.arff --labels l.xml --out a.arff",
            "--out",
            "--data",
        ),
        (
            "convert --data a.arff --labels l.xml --out o.arff --label-file o.arff",
            "--label-file",
            "--out",
        ),
        ("merge --models m.rpo n.rpo --out n.rpo", "--out", "--models"),
        ("combine --models m.rpo n.rpo --out m.rpo", "--out", "--models"),
    ] {
        let message = folder.fail(arguments);
        assert!(message.starts_with(&format!("error: {option} ")), "{message}");
        assert!(
            message.contains(&format!("would overwrite the file of {other}")),
            "{message}"
        );
        assert_eq!(content(&folder), before, "rpo {arguments}");
    }
}

#[test]
fn sets_of_the_catalogue_are_files_too() {
    let folder = Folder::new();
    let manifest = r#"{"datasets": [{"name": "made", "task": "multilabel", "n": 60, "p": 3, "d": 3,
        "files": [{"file": "made.arff"}], "label_columns": {"position": "last", "count": 3}}]}"#;
    folder
        .write("made.arff", arff(60, 0))
        .write("manifest.json", manifest)
        .write("a.arff", arff(60, 0));
    let run = |arguments: &str| {
        let mut command = folder.command(arguments);
        command.env("RPO_DATA", folder.path("")).output().unwrap()
    };
    assert!(run("train --data @made --trees 1 --model m.rpo").status.success());
    for (arguments, option) in [
        ("train --data @made --trees 1 --model made.arff", "--data"),
        ("train --data @made --trees 1 --model manifest.json", "--data"),
        ("predict --data @made --model m.rpo --out made.arff", "--data"),
        (
            "describe --data a.arff --n-targets 3 --test @made --html made.arff",
            "--test",
        ),
    ] {
        let message = String::from_utf8(run(arguments).stderr).unwrap();
        assert!(
            message.contains(&format!("would overwrite the file of {option}")),
            "rpo {arguments}: {message}"
        );
    }
    assert_eq!(folder.read("made.arff"), arff(60, 0));
}

#[test]
fn a_model_that_is_continued_may_be_replaced() {
    let folder = Folder::new();
    folder.write("a.arff", arff(60, 0)).write("l.xml", label_file());
    let train = "train --data a.arff --labels l.xml --method gbmort --model m.rpo --iterations";
    folder.ok(&format!("{train} 2"));
    folder.ok(&format!("{train} 4 --continue m.rpo"));
    assert_eq!(folder.json("inspect --model m.rpo")["trees"], 4);
}

#[cfg(unix)]
#[test]
fn links_lead_to_one_file_and_devices_take_everything() {
    let folder = ready();
    let link = |from: &str, to: &str| std::os::unix::fs::symlink(to, folder.path(from)).unwrap();
    link("link.arff", "a.arff");
    link("here.arff", "there.arff");
    for arguments in [
        "predict --data a.arff --model m.rpo --out link.arff",
        // Neither link leads to an existing file.
        "split --data a.arff --train here.arff --test there.arff",
    ] {
        assert!(
            folder.fail(arguments).contains("would overwrite"),
            "rpo {arguments}"
        );
    }
    folder.ok("split --data a.arff --train /dev/null --test /dev/null");
}
