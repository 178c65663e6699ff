//! Lists of labels in files of predictions.

use crate::common::Folder;
use rpo::data::read::{LabelList, ReadOptions, Targets, read_from};
use rpo::{Method, Model};

/// A table whose labels are functions of its feature: none, one, or both.
fn tagged(labels: [&str; 2]) -> String {
    let row = |i: usize| {
        let x = i % 9;
        let tags = [(x > 2, labels[0]), (x > 5, labels[1])];
        let tags: Vec<&str> = tags.into_iter().filter(|tag| tag.0).map(|tag| tag.1).collect();
        format!("{x},{}\n", tags.join("|"))
    };
    "x,tags\n".to_owned() + &(0..90).map(row).collect::<String>()
}

const TRAIN: &str =
    "train --data t.csv --label-list tags --label-separator | --method extra-trees --trees 10 --model m.rpo";

#[test]
fn samples_without_labels_keep_their_rows() {
    let folder = Folder::new();
    folder
        .write("t.csv", tagged(["a", "b"]))
        .write("q.csv", "key,x\n5,1\n6,8\n7,2\n");
    folder.ok(TRAIN);
    let values = folder.ok("predict --data q.csv --model m.rpo --values");
    assert_eq!(values, "tags\n\"\"\na|b\n\"\"\n");
    let with_ids = folder.ok("predict --data q.csv --model m.rpo --values --id key");
    assert_eq!(with_ids, "key,tags\n5,\n6,a|b\n7,\n");
}

/// Other formats have one column per label.
#[test]
fn labels_of_a_list_are_found_in_a_file_of_a_format_without_lists() {
    let folder = Folder::new();
    folder.write("t.csv", tagged(["a", "b"]));
    folder.ok(TRAIN);
    folder.ok("convert --data t.csv --label-list tags --label-separator | --out t.arff");
    let scores = folder.json("evaluate --model m.rpo --data t.arff");
    assert_eq!(scores["micro-f1"], 1.0);
    folder.write(
        "few.arff",
        folder.read("t.arff").replace("attribute b ", "attribute c "),
    );
    let message = folder.fail("evaluate --model m.rpo --data few.arff");
    assert!(message.contains("target \"b\" is not a column"), "{message}");
}

#[test]
fn lists_are_separated_as_in_training_unless_an_option_says_otherwise() {
    let folder = Folder::new();
    folder
        .write("t.csv", tagged(["a", "b"]))
        .write("plus.csv", tagged(["a", "b"]).replace('|', "+"))
        .write("renamed.csv", tagged(["a", "b"]).replace("tags", "words"));
    folder.ok(TRAIN);
    let evaluate =
        |options: &str| folder.json(&format!("evaluate --model m.rpo {options}"))["micro-f1"].clone();
    let expected = evaluate("--data t.csv");
    assert_eq!(expected, 1.0);
    assert_eq!(evaluate("--data plus.csv --label-separator +"), expected);
    assert_eq!(evaluate("--data renamed.csv --label-list words"), expected);
    let message = folder.fail("train --data t.csv --label-separator | --model n.rpo");
    assert!(message.contains("name it by --label-list"), "{message}");
    folder.write("n.csv", "x,y\n1,2\n2,3\n3,5\n");
    folder.ok("train --data n.csv --targets y --model n.rpo --trees 2");
    let message = folder.fail("evaluate --data t.csv --label-separator | --model n.rpo");
    assert!(message.contains("not trained on a column of lists"), "{message}");
}

#[test]
fn labels_that_would_be_read_as_missing_are_refused() {
    let folder = Folder::new();
    folder
        .write("t.csv", tagged(["a", "NA"]))
        .write("q.csv", "x\n1\n8\n");
    let trained = folder.run(TRAIN);
    let noted = "note: NA is a label of \"tags\" in lists of several, but alone it is a missing value";
    assert!(
        trained.code == Some(0) && trained.stderr.starts_with(noted),
        "{}",
        trained.stderr
    );
    let predict = "predict --data q.csv --model m.rpo --values";
    let message = folder.fail(predict);
    assert_eq!(
        message,
        "error: the value \"NA\" of column \"tags\" reads as a missing value in CSV\n  help: parquet and arrow can store \
         it, and so can jsonl with predictions\n"
    );
    let lists = folder.ok(&format!("{predict} --out-format jsonl"));
    assert!(lists.contains("[\"NA\",\"a\"]"), "{lists}");
    folder.ok(&format!("{predict} --out p.parquet"));
    folder.ok("predict --data q.csv --model m.rpo --decide");
}

#[test]
fn a_list_is_nothing_else_and_its_labels_have_numbers_of_their_own() {
    let folder = Folder::new();
    folder.write("t.csv", tagged(["a", "b"]));
    let refused = folder.fail("train --data t.csv --label-list tags --text tags --model n.rpo");
    assert!(
        refused.contains("\"tags\" is named both as a target and as a column of a given type"),
        "{refused}"
    );
    // The numbers of labels are those of a file.
    let converted = folder.run("convert --data t.csv --label-list tags --label-separator | --out t.svm");
    assert!(
        converted.code == Some(0) && converted.stderr.contains("numbered as they occur in this file"),
        "{}",
        converted.stderr
    );
}

#[test]
fn labels_that_contain_the_separator_are_refused() {
    let folder = Folder::new();
    let labels = ["a", "b;c"].map(String::from).to_vec();
    let column = "tags".to_owned();
    let list = LabelList {
        column,
        labels: Some(labels),
        ..LabelList::default()
    };
    let options = ReadOptions {
        targets: Targets::List(list),
        ..ReadOptions::default()
    };
    let data = read_from("x,tags\n1,a\n2,\n3,a\n4,\n".as_bytes(), &options).unwrap();
    let model = Model::fit(&Method::named("extra-trees").unwrap(), &data).unwrap();
    model.save(folder.path("m.rpo")).unwrap();
    folder.write("q.csv", "x\n1\n8\n");
    let predict = "predict --data q.csv --model m.rpo --values";
    for out in ["", "--out p.parquet"] {
        let message = folder.fail(&format!("{predict} {out}"));
        assert!(
            message.contains("which the label \"b;c\" contains; --out-format jsonl"),
            "{message}"
        );
    }
    folder.ok(&format!("{predict} --out-format jsonl"));
}

#[test]
fn labels_that_look_like_lists_are_noted() {
    let folder = Folder::new();
    let rows = (0..30).map(|i| format!("{},{}\n", i % 7, ["a", "b", "a|b"][i % 3]));
    folder.write("t.csv", "x,tags\n".to_owned() + &rows.collect::<String>());
    let train = "train --label-list tags --method extra-trees --trees 2 --model m.rpo --data";
    let noted = folder.run(&format!("{train} t.csv"));
    assert_eq!(noted.code, Some(0), "{}", noted.stderr);
    let expected = "no sample has two labels separated by ';' in \"tags\", but labels such as \"a|b\" (1 of 3) look like \
        lists separated by '|': set the separator with --label-separator";
    assert!(noted.stderr.contains(expected), "{}", noted.stderr);
    // Lists as Python prints them.
    let rows = (0..30).map(|i| format!("{},\"{}\"\n", i % 7, ["['a']", "['a', 'b']", "[]"][i % 3]));
    folder.write("p.csv", "x,tags\n".to_owned() + &rows.collect::<String>());
    let noted = folder.run(&format!("{train} p.csv"));
    let expected = "labels such as \"['a', 'b']\" in \"tags\" look like lists in brackets";
    assert!(noted.stderr.contains(expected), "{}", noted.stderr);
    // Names with a slash, and lists that are separated as they should be.
    folder
        .write(
            "music.csv",
            tagged(["R&B/Soul", "Folk/Country"]).replace('|', ";"),
        )
        .write(
            "one.csv",
            tagged(["R&B/Soul", "R&B/Soul"]).replace("R&B/Soul|R&B/Soul", "Rock"),
        );
    folder.ok(&format!("{train} music.csv"));
    folder.ok(&format!("{train} one.csv"));
}
