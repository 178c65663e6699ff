//! Declarations of ARFF: labels in other words than 0 and 1, and attributes that are left out.

use proptest::prelude::*;
use rpo_core::Matrix;
use rpo_data::Dataset;
use rpo_data::read::{ReadError, ReadErrorKind, ReadOptions, Targets, read_from};

fn labels(n: usize) -> ReadOptions {
    ReadOptions {
        targets: Targets::Last(n),
        ..ReadOptions::default()
    }
}

fn dense(data: &Dataset) -> Vec<Vec<f32>> {
    let rows = data.outputs().view().to_dense(usize::MAX).unwrap();
    rows.rows().into_iter().map(|row| row.to_vec()).collect()
}

/// A file whose labels are declared with the given values.
fn file(declarations: &[[&str; 2]], rows: &str) -> String {
    let mut text = "@relation r\n@attribute x numeric\n".to_owned();
    for (j, [first, second]) in declarations.iter().enumerate() {
        text += &format!("@attribute y{j} {{{first},{second}}}\n");
    }
    text + "@data\n" + rows
}

#[test]
fn labels_are_declared_in_any_order_and_in_words() {
    let pairs = [
        ["0", "1"],
        ["false", "TRUE"],
        ["No", "Yes"],
        ["n", "y"],
        ["F", "T"],
    ];
    for [no, yes] in pairs {
        for declared in [[no, yes], [yes, no]] {
            let text = file(&[declared, ["0", "1"]], &format!("1,{yes},0\n2,{no},1\n"));
            let data = read_from(text.as_bytes(), &labels(2)).unwrap();
            assert_eq!(dense(&data), [[1.0, 0.0], [0.0, 1.0]], "{declared:?}");
        }
    }
    for declared in [["0", "2"], ["yes", "1"], ["yes", "maybe"]] {
        let text = file(&[declared], "");
        let data = read_from(text.as_bytes(), &labels(1)).unwrap();
        assert_eq!(data.class_columns()[0].classes, declared);
        // A target that is known to have no classes is a label.
        let known = ReadOptions {
            class_columns: Some(Vec::new()),
            ..labels(1)
        };
        let e = read_from(text.as_bytes(), &known).unwrap_err();
        assert!(matches!(e.kind, ReadErrorKind::WrongTarget { .. }), "{e}");
    }
    // A missing label stays missing.
    let text = file(&[["1", "0"]], "1,?\n2,1\n");
    let keep = ReadOptions {
        missing_outputs: Some(rpo_data::read::Missing::Keep),
        ..labels(1)
    };
    let data = read_from(text.as_bytes(), &keep).unwrap();
    assert!(dense(&data)[0][0].is_nan() && dense(&data)[1][0] == 1.0);
}

proptest! {
    /// What a sparse row omits is the value that is declared first, whatever it means.
    #[test]
    fn sparse_rows_are_the_same_labels(rows in prop::collection::vec((any::<bool>(), any::<bool>(), any::<bool>()), 1..8)) {
        let declarations = [["yes", "no"], ["0", "1"], ["true", "false"]];
        let (mut full, mut sparse) = (String::new(), String::new());
        for (i, &(a, b, c)) in rows.iter().enumerate() {
            let seconds = [!a, b, !c];
            let words = [0, 1, 2].map(|j| declarations[j][usize::from(seconds[j])]);
            full += &format!("{i},{}\n", words.join(","));
            let stored = (0..3).filter(|&j| seconds[j]).map(|j| format!(",{} {}", j + 1, words[j]));
            sparse += &format!("{{0 {i}{}}}\n", stored.collect::<String>());
        }
        let read = |rows: &str| read_from(file(&declarations, rows).as_bytes(), &labels(3)).unwrap();
        let expected: Vec<Vec<f32>> = rows
            .iter()
            .map(|&(a, b, c)| [a, b, c].map(|y| f32::from(u8::from(y))).to_vec())
            .collect();
        prop_assert_eq!(&dense(&read(&full)), &expected);
        prop_assert_eq!(&dense(&read(&sparse)), &expected);
    }
}

const WITH_TEXTS: &str = "\
@relation r
@attribute id string
@attribute x numeric
@attribute since DATE \"yyyy-MM-dd HH:mm\"
@attribute kind {a,b}
@attribute y {0,1}
@data
'it, is', 1.5, '2024-01-31 12:00', b, 1
?,2,?,a,0
{0 'x y', 2 \"2024-02-01\", 4 1}
";

#[test]
fn texts_and_dates_can_be_left_out() {
    let read = |ignore: &[&str], ignore_untyped: bool| {
        let options = ReadOptions {
            ignore: ignore.iter().map(|name| (*name).to_owned()).collect(),
            ignore_untyped,
            ..labels(1)
        };
        read_from(WITH_TEXTS.as_bytes(), &options)
    };
    let check = |data: Result<Dataset, ReadError>| {
        let data = data.unwrap();
        assert_eq!(data.feature_names().iter().collect::<Vec<_>>(), ["x", "kind"]);
        let Matrix::Sparse(_) = data.features() else {
            panic!("a row is sparse")
        };
        let x = data.features().view().to_dense(usize::MAX).unwrap();
        assert_eq!(
            x.rows().into_iter().map(|row| row.to_vec()).collect::<Vec<_>>(),
            [[1.5, 1.0], [2.0, 0.0], [0.0, 0.0]]
        );
        assert_eq!(data.nominal().keys().copied().collect::<Vec<_>>(), [1]);
        assert_eq!(dense(&data), [[1.0], [0.0], [1.0]]);
    };
    check(read(&["id", "since"], false));
    // A file for a model may have more columns than the model needs.
    check(read(&[], true));
    let refused = |ignore: &[&str], line: u64| {
        let e = read(ignore, false).unwrap_err();
        assert!(matches!(e.kind, ReadErrorKind::UnsupportedType { .. }), "{e}");
        assert_eq!(e.line, Some(line));
    };
    refused(&[], 2);
    refused(&["i*"], 4);
    let without = read(&["id", "since", "x", "kind"], false).unwrap();
    assert_eq!((without.n_samples(), without.n_features()), (3, 0));
    let unknown = read(&["nothing"], false).unwrap_err();
    assert!(
        matches!(unknown.kind, ReadErrorKind::UnknownColumn { .. }),
        "{unknown}"
    );
}
