//! Targets of words: labels and classes.

use rpo_data::read::{
    ColumnType, Format, Missing, ReadError, ReadErrorKind, ReadOptions, Targets, read_from,
};
use rpo_data::split::{Split, Withheld};
use rpo_data::{ClassColumn, Dataset, Seed, Task, write};

fn targets(names: &[&str]) -> ReadOptions {
    ReadOptions {
        targets: Targets::Names(names.iter().map(|name| (*name).to_owned()).collect()),
        ..ReadOptions::default()
    }
}

fn outputs(data: &Dataset) -> Vec<Vec<f32>> {
    let mut row = vec![0.0; data.n_outputs()];
    let rows = (0..data.n_samples()).map(|sample| {
        data.outputs().view().copy_row(sample, &mut row);
        row.clone()
    });
    rows.collect()
}

fn names(data: &Dataset) -> Vec<String> {
    data.output_names().iter().map(Into::into).collect()
}

const TABLE: &str = "x,grade,churn,price\n1,silver,no,3.5\n2,gold,yes,2\n3,bronze,no,1\n4,gold,no,0\n";

#[test]
fn words_are_classes_in_their_order() {
    let data = read_from(TABLE.as_bytes(), &targets(&["grade", "churn"])).unwrap();
    assert_eq!(data.task(), Task::MultiLabel);
    assert_eq!(
        names(&data),
        ["grade=bronze", "grade=gold", "grade=silver", "churn"]
    );
    let grade = ClassColumn {
        name: "grade".to_owned(),
        first: 0,
        classes: ["bronze", "gold", "silver"].map(str::to_owned).into(),
    };
    assert_eq!(data.class_columns(), [grade]);
    assert_eq!(
        outputs(&data),
        [
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 1.0, 0.0, 1.0],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0]
        ]
    );
}

/// Folds and parts keep the frequencies of labels and classes, whether or not there are numbers beside them.
#[test]
fn frequencies_are_kept_beside_numbers() {
    let row = |i: usize| {
        let class = if i % 20 == 3 { "rare" } else { ["x", "z"][i % 2] };
        format!(
            "{i},{class},{},{}\n",
            ["no", "yes"][usize::from(i % 20 == 7)],
            i * i
        )
    };
    let table = format!("x,class,flag,price\n{}", (0..200).map(row).collect::<String>());
    let (alone, beside) = (["class", "flag"], ["class", "price", "flag"]);
    for names in [&alone[..], &beside[..]] {
        let data = read_from(table.as_bytes(), &targets(names)).unwrap();
        let seed = Seed::new(3);
        let part = Split::withholding(&data, &Withheld::Stratified, 0.2, seed).unwrap();
        let folds = Split::folds(&data, &Withheld::Stratified, 5, seed).unwrap();
        for split in folds.iter().chain([&part]) {
            let of = |rows: &[usize]| data.select_samples(rows).unwrap().label_statistics().counts;
            let (all, test) = (data.label_statistics().counts, of(&split.test));
            for (output, (n, found)) in all.iter().zip(test).enumerate() {
                let expected = *n as f64 / 5.0;
                assert!(
                    !data.is_label(output) || (found as f64 - expected).abs() <= 1.0,
                    "{output}: {found} of {n}"
                );
            }
        }
    }
}

#[test]
fn classes_stand_beside_numbers() {
    let data = read_from(TABLE.as_bytes(), &targets(&["price", "grade"])).unwrap();
    assert_eq!(data.task(), Task::Regression);
    assert_eq!(
        names(&data),
        ["grade=bronze", "grade=gold", "grade=silver", "price"]
    );
    assert_eq!(outputs(&data)[0], [0.0, 0.0, 1.0, 3.5]);
    let numbers = ReadOptions {
        task: Some(Task::Regression),
        ..targets(&["grade", "price"])
    };
    assert_eq!(
        outputs(&read_from(TABLE.as_bytes(), &numbers).unwrap()),
        outputs(&data)
    );
    let no_number = ReadOptions {
        task: Some(Task::Regression),
        ..targets(&["grade", "churn"])
    };
    let refused = read_from(TABLE.as_bytes(), &no_number).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "target \"grade\" is a column of words; regression needs numeric targets"
    );
}

#[test]
fn numbers_may_be_classes_and_classes_missing() {
    let text = "x,kind\n1,10\n2,9\n3,\n4,10\n5,8.5\n";
    let options = ReadOptions {
        types: [("kind".to_owned(), ColumnType::Category)].into(),
        missing_outputs: Some(Missing::Keep),
        ..targets(&["kind"])
    };
    let data = read_from(text.as_bytes(), &options).unwrap();
    assert_eq!(names(&data), ["kind=8.5", "kind=9", "kind=10"]);
    assert!(outputs(&data)[2].iter().all(|value| value.is_nan()));
    assert_eq!(outputs(&data)[4], [1.0, 0.0, 0.0]);
    let refused = ReadOptions {
        missing_outputs: None,
        ..options
    };
    let refused = read_from(text.as_bytes(), &refused).unwrap_err();
    assert_eq!(
        (refused.line, refused.kind),
        (Some(4), ReadErrorKind::MissingOutput("kind".to_owned()))
    );
}

#[test]
fn known_classes_are_those_of_another_set() {
    let train = read_from(TABLE.as_bytes(), &targets(&["grade", "churn"])).unwrap();
    let options = ReadOptions {
        class_columns: Some(train.class_columns().to_vec()),
        task: Some(Task::MultiLabel),
        ..targets(&["grade", "churn"])
    };
    // One class is unknown, others are absent; a label may be written otherwise.
    let data = read_from("x,grade,churn\n1,gold,1\n2,copper,0\n".as_bytes(), &options).unwrap();
    assert_eq!(data.output_names(), train.output_names());
    assert_eq!(data.class_columns(), train.class_columns());
    assert_eq!(outputs(&data), [[0.0, 1.0, 0.0, 1.0], [0.0; 4]]);
    assert_eq!(
        (
            data.notes.other_labels.count,
            data.notes.other_labels.first.as_deref()
        ),
        (1, Some("grade=copper"))
    );
    let arff = "@relation r\n@attribute x numeric\n@attribute grade {gold,copper}\n@attribute churn {0,1}\n@data\n\
                1,gold,1\n2,copper,0\n";
    assert_eq!(
        outputs(&read_from(arff.as_bytes(), &options).unwrap()),
        outputs(&data)
    );
}

#[test]
fn nominal_targets_of_arff_are_classes_as_declared() {
    let text = "@relation r\n@attribute x numeric\n@attribute g {small,big,\"very big\"}\n@attribute l {no,yes}\n@data\n\
                1,big,yes\n{0 2}\n{0 3,1 \"very big\"}\n";
    let read = |names: &[&str]| -> Result<Dataset, ReadError> { read_from(text.as_bytes(), &targets(names)) };
    let data = read(&["g", "l"]).unwrap();
    assert_eq!(names(&data), ["g=small", "g=big", "g=very big", "l"]);
    assert_eq!(
        outputs(&data),
        [[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    );
    // Classes may stand beside numbers; of labels, the file does not say that they are no numbers.
    assert_eq!(read(&["x", "g"]).unwrap().task(), Task::Regression);
    assert!(matches!(
        read(&["x", "l"]).unwrap_err().kind,
        ReadErrorKind::MixedTargets { .. }
    ));
    let too_many = ReadOptions {
        n_outputs: Some(2),
        ..targets(&["g", "l"])
    };
    assert!(read_from(text.as_bytes(), &too_many).is_err());
}

#[test]
fn classes_are_written_as_they_are_read() {
    for names in [&["grade", "churn"][..], &["grade", "price"]] {
        let data = read_from(TABLE.as_bytes(), &targets(names)).unwrap();
        let all = ReadOptions {
            task: Some(data.task()),
            ..targets(names)
        };
        for format in [
            Format::Csv,
            Format::Arff,
            #[cfg(feature = "arrow")]
            Format::Parquet,
        ] {
            let mut file = Vec::new();
            write::write(&data, format, &mut file).unwrap();
            let read = read_from(&*file, &all).unwrap();
            assert_eq!(read.class_columns(), data.class_columns(), "{format}");
            assert_eq!(outputs(&read), outputs(&data), "{format}");
        }
        assert!(matches!(
            write::label_file(&data, Vec::new()),
            Err(write::WriteError::ClassesInLabelFile(_))
        ));
    }
    let data = read_from("x,a\n1,NA.\n2,b\n".as_bytes(), &targets(&["a"])).unwrap();
    let column = ClassColumn {
        classes: vec!["NA".to_owned(), "b".to_owned()],
        ..data.class_columns()[0].clone()
    };
    let data = data.with_class_columns(vec![column]).unwrap();
    let refused = write::write(&data, Format::Csv, Vec::new()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the value \"NA\" of column \"a\" reads as a missing value in CSV"
    );
}

#[test]
fn labels_of_words_stand_beside_numbers() {
    let data = read_from(TABLE.as_bytes(), &targets(&["churn", "grade", "price"])).unwrap();
    assert_eq!(names(&data)[3..], ["churn", "price"]);
    assert_eq!(data.labels_beside_numbers(), [3]);
    assert_eq!(data.select_outputs(&[3, 4]).unwrap().labels_beside_numbers(), [0]);
    assert_eq!(data.select_outputs(&[4]).unwrap().labels_beside_numbers(), [0; 0]);
    // Among labels all outputs are labels.
    let labels = read_from(TABLE.as_bytes(), &targets(&["churn", "grade"])).unwrap();
    assert!(labels.labels_beside_numbers().is_empty());
}

/// Numbers that are 0 and 1 are labels as words are, unless the task says that they are numbers.
#[test]
fn labels_of_digits_stand_beside_numbers() {
    let digits = TABLE.replace("yes", "1").replace("no", "0");
    let beside = |table: &str, names: &[&str], task| {
        let options = ReadOptions {
            task,
            ..targets(names)
        };
        let data = read_from(table.as_bytes(), &options).unwrap();
        data.labels_beside_numbers().to_vec()
    };
    assert_eq!(beside(&digits, &["churn", "price"], None), [0]);
    assert_eq!(beside(&digits, &["churn", "grade", "price"], None), [3]);
    let numbers = Some(Task::Regression);
    assert!(beside(&digits, &["churn", "price"], numbers).is_empty());
    assert_eq!(
        beside(TABLE, &["churn", "grade", "price"], numbers),
        [3],
        "words are no numbers"
    );
    // A column of one value, or with others, is a number.
    let constant = "x,a,b,c,d\n1,0,1,0,0\n2,0,1,2,1\n3,0,1,1,\n4,0,1,0,0.5\n";
    let options = ReadOptions {
        missing_outputs: Some(Missing::Keep),
        ..targets(&["a", "b", "c", "d"])
    };
    let data = read_from(constant.as_bytes(), &options).unwrap();
    assert!(data.labels_beside_numbers().is_empty());
    let gap = constant.replace("0.5", "1");
    let data = read_from(gap.as_bytes(), &options).unwrap();
    assert_eq!(data.labels_beside_numbers(), [3]);
}

#[test]
fn known_numbers_are_classes_by_value() {
    let options = ReadOptions {
        types: [("k".to_owned(), ColumnType::Category)].into(),
        ..targets(&["k"])
    };
    let train = read_from("x,k\n1,1\n2,2\n3,10\n".as_bytes(), &options).unwrap();
    let known = ReadOptions {
        class_columns: Some(train.class_columns().to_vec()),
        ..targets(&["k"])
    };
    let data = read_from("x,k\n1,10.0\n2,1e0\n3,3\n".as_bytes(), &known).unwrap();
    assert_eq!(outputs(&data), [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0; 3]]);
    assert_eq!(data.notes.other_labels.first.as_deref(), Some("k=3"));
}
