//! Lists of labels in files of predictions.

use crate::common::Folder;

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

const TRAIN: &str = "train --data t.csv --label-list tags --label-separator | --method extra-trees --trees 10 --model m.rpo";

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
