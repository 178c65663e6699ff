//! Columns that list the labels of samples.

use rpo_data::read::{Format, LabelList, ReadErrorKind, ReadOptions, Targets, read_from};
use rpo_data::{Dataset, Task};

/// A column of labels separated by semicolons.
fn of(column: &str) -> LabelList {
    let column = column.to_owned();
    LabelList {
        column,
        ..LabelList::default()
    }
}

fn options(list: LabelList) -> ReadOptions {
    ReadOptions {
        format: Format::Csv,
        targets: Targets::List(list),
        ..ReadOptions::default()
    }
}

fn labels(data: &Dataset) -> Vec<Vec<String>> {
    let outputs = data.outputs().view();
    let names = |row: usize| {
        let mut names = Vec::new();
        outputs.for_each_in_row(row, |j, v| {
            assert_eq!(v, 1.0);
            names.push(data.output_names().get(j as usize).unwrap().into_owned());
        });
        names
    };
    (0..data.n_samples()).map(names).collect()
}

const CSV: &str = "x,tags,kind\n1, red;  round ;red;,a\n2,,b\n3,NA,a\n4,\"big, blue\",a\n5,round,b\n6,;;,c\n";

#[test]
fn labels_are_those_of_the_lists() {
    let data = read_from(CSV.as_bytes(), &options(of("tags"))).unwrap();
    assert_eq!(data.task(), Task::MultiLabel);
    assert_eq!(
        data.output_names().iter().collect::<Vec<_>>(),
        ["big, blue", "red", "round"]
    );
    let expected: [&[&str]; 6] = [&["red", "round"], &[], &[], &["big, blue"], &["round"], &[]];
    assert_eq!(labels(&data), expected);
    assert_eq!(
        (
            data.n_features(),
            data.nominal().len(),
            data.notes.other_labels.count
        ),
        (2, 1, 0)
    );
    let commas = LabelList {
        separator: ',',
        ..of("tags")
    };
    let data = read_from(CSV.as_bytes(), &options(commas)).unwrap();
    assert_eq!(labels(&data)[3], ["big", "blue"]);
    // Numbers are also names.
    let data = read_from(&b"t,x\n10;9,1\n9,2\n"[..], &options(of("t"))).unwrap();
    assert_eq!(labels(&data), [vec!["10", "9"], vec!["9"]]);
}

#[test]
fn others_than_the_labels_there_are_are_counted() {
    let given = LabelList {
        labels: Some(["round", "green", "red"].map(String::from).to_vec()),
        ..of("tags")
    };
    let data = read_from(CSV.as_bytes(), &options(given)).unwrap();
    assert_eq!(
        data.output_names().iter().collect::<Vec<_>>(),
        ["round", "green", "red"]
    );
    assert_eq!(labels(&data)[0], ["round", "red"]);
    assert_eq!(
        (data.notes.other_labels.count, data.label_statistics().counts),
        (1, vec![2, 0, 1])
    );
}

#[test]
fn what_is_no_list_is_refused() {
    let refused = |text: &str, options: &ReadOptions| read_from(text.as_bytes(), options).unwrap_err().kind;
    let unknown = refused(CSV, &options(of("tag")));
    assert!(
        matches!(&unknown, ReadErrorKind::UnknownTarget { nearest: Some(near), .. } if &**near == "tags"),
        "{unknown}"
    );
    let numbers = ReadOptions {
        task: Some(Task::Regression),
        ..options(of("tags"))
    };
    assert!(matches!(
        refused(CSV, &numbers),
        ReadErrorKind::WrongTarget { .. }
    ));
    for (format, text) in [
        (Format::Arff, "@relation r\n@attribute tags {a}\n@data\na\n"),
        (Format::SvmLight, "1 1:2\n"),
    ] {
        let e = refused(
            text,
            &ReadOptions {
                format,
                ..options(of("tags"))
            },
        );
        assert!(matches!(e, ReadErrorKind::Option { .. }), "{e}");
    }
    let more = ReadOptions {
        n_outputs: Some(2),
        ..options(of("tags"))
    };
    assert!(matches!(refused(CSV, &more), ReadErrorKind::Mismatch(_)));
}

#[cfg(feature = "arrow")]
#[test]
fn lists_of_parquet_and_arrow_are_lists() {
    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{Float32Array, RecordBatch};
    use std::sync::Arc;
    let mut tags = ListBuilder::new(StringBuilder::new());
    tags.append_value([Some("red"), None, Some(" round"), Some("red")]);
    tags.append_null();
    tags.append_value([Some("a;b")]);
    tags.append_value(Vec::<Option<&str>>::new());
    let x = Float32Array::from(vec![1.0, 2.0, 3.0, 4.0]);
    let batch = RecordBatch::try_from_iter([
        ("x", Arc::new(x) as arrow_array::ArrayRef),
        ("tags", Arc::new(tags.finish())),
    ])
    .unwrap();
    let mut parquet = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    parquet.write(&batch).unwrap();
    let mut arrow = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    arrow.write(&batch).unwrap();
    let files = [
        (Format::Parquet, parquet.into_inner().unwrap()),
        (Format::Arrow, arrow.into_inner().unwrap()),
    ];
    for (format, file) in files {
        let options = ReadOptions {
            format,
            ..options(of("tags"))
        };
        let data = read_from(file.as_slice(), &options).unwrap();
        let expected: [&[&str]; 4] = [&["red", "round"], &[], &["a;b"], &[]];
        assert_eq!(labels(&data), expected, "{format}");
        // Reading a list as a feature is refused, naming the column.
        let e = read_from(
            file.as_slice(),
            &ReadOptions {
                format,
                ..ReadOptions::default()
            },
        )
        .unwrap_err();
        assert!(matches!(e.kind, ReadErrorKind::UnsupportedColumn { .. }), "{e}");
    }
}
