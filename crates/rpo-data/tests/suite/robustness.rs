//! Readers never panic, whatever the bytes, and read back what the writers wrote.

use ndarray::Array2;
use proptest::prelude::*;
use rpo_data::read::{
    FirstFeature, Format, LabelFile, Missing, ReadErrorKind, ReadOptions, Targets, read, read_from,
};
use rpo_data::{Dataset, Layout, Names, Task, write};
use std::io::Write as _;

const ARFF: &str = "% c\n@relation 'a b'\n@attribute x numeric\n@attribute 'it\\'s' {r,'d b'}\n@attribute y {0,1}\n@data\n\
    1.5,r,0\n?,'d b',1\n{0 2.5, 2 1}\n{}\n";
const XMLREPO: &str = "3 10 6\n0,5 0:1.711 9:0.47\n 1:2.947 3:9.95\n3,1,2\n";
const SVMLIGHT: &str = "1,3 qid:4 1:7.975 4:1.405 # tail\n 2:3.382\n# c\n1,2,3 3:4.152 5:8e-3\n";
const CSV: &str = "\"a \"\"b\"\"\",c , y\n1,\"2\",3\n4,,-6e2\n";
const XML: &str =
    "<?xml version='1.0'?>\n<labels>\n<label name=\"a&amp;b\"><label name='c'/></label><!-- x -->\n</labels>";

/// Changes at some places: a byte replaced, removed, doubled or swapped for one that means something.
fn mutated(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let special = prop::sample::select(b"{},:'\"\\?%@#&<>-+.eE \t\r\n0919\xff".to_vec());
    prop::collection::vec((any::<prop::sample::Index>(), 0_u8..4, special), 0..6).prop_map(move |changes| {
        let mut bytes = text.as_bytes().to_vec();
        for (place, kind, byte) in changes {
            let at = place.index(bytes.len().max(1));
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => bytes.insert(at.min(bytes.len()), byte),
                _ => bytes.truncate(at + 1),
            }
        }
        bytes
    })
}

/// Reads by every format and with every kind of targets; what matters is to come back, and that an error can be
/// shown.
fn read_in_every_way(bytes: &[u8]) {
    let targets = [
        Targets::None,
        Targets::Last(1),
        Targets::First(2),
        Targets::NamesIfPresent(vec!["y".into()]),
    ];
    for (format, _) in Format::NAMES {
        for targets in &targets {
            let options = ReadOptions::default().format(format).targets(targets.clone());
            match read_from(bytes, &options) {
                Ok(data) => assert_eq!(data.features().n_rows(), data.outputs().n_rows()),
                Err(e) => assert!(!e.to_string().is_empty()),
            }
        }
    }
    if let Ok(file) = LabelFile::parse(bytes) {
        assert_eq!(file.labels.len(), file.parents.len());
    }
}

fn sets() -> impl Strategy<Value = Dataset> {
    (0_usize..6, 1_usize..5, 1_usize..5, any::<bool>()).prop_flat_map(|(n, p, d, sparse)| {
        let value =
            prop_oneof![2 => Just(0.0_f32), 1 => any::<f32>().prop_filter("finite", |v| v.is_finite())];
        let label = prop_oneof![Just(0.0_f32), Just(1.0)];
        let x = prop::collection::vec(value, n * p);
        let y = prop::collection::vec(label, n * d);
        (x, y).prop_map(move |(x, y)| {
            let matrix = |columns, values| Array2::from_shape_vec((n, columns), values).unwrap();
            let data = Dataset::new(matrix(p, x).into(), matrix(d, y).into(), Task::MultiLabel).unwrap();
            let layout = if sparse { Layout::Sparse } else { Layout::Dense };
            data.with_layout(layout, usize::MAX).unwrap()
        })
    })
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_in_every_way(&bytes);
    }

    #[test]
    fn mutated_files_do_not_panic(bytes in prop_oneof![mutated(ARFF), mutated(XMLREPO), mutated(SVMLIGHT), mutated(CSV), mutated(XML)]) {
        read_in_every_way(&bytes);
    }

    #[test]
    fn what_was_written_is_read(data in sets(), first in prop::sample::select(vec![FirstFeature::Zero, FirstFeature::One])) {
        let expected = data.clone().with_layout(Layout::Sparse, 0).unwrap();
        let mut text = Vec::new();
        write::xmlrepo(&data, &mut text).unwrap();
        let options = ReadOptions::default().format(Format::XmlRepo);
        prop_assert_eq!(&read_from(&text[..], &options).unwrap(), &expected);
        text.clear();
        write::svmlight(&data, first, &mut text).unwrap();
        let options = ReadOptions::default()
            .format(Format::SvmLight)
            .first_feature(first)
            .n_features(data.n_features())
            .n_outputs(data.n_outputs());
        prop_assert_eq!(&read_from(&text[..], &options).unwrap(), &expected);
    }
}

fn kind(text: &str, options: &ReadOptions) -> ReadErrorKind {
    read_from(text.as_bytes(), options).unwrap_err().kind
}

#[test]
fn headers_that_lie_cost_nothing() {
    let auto = ReadOptions::default();
    let huge = 1_000_000_000_000_000_000_u64;
    let expected = ReadErrorKind::RowCount {
        promised: huge,
        found: 1,
    };
    assert_eq!(kind(&format!("{huge} 10 6\n0 1:2\n"), &auto), expected);
    let expected = ReadErrorKind::TooManyColumns {
        what: "feature",
        count: huge,
    };
    assert_eq!(kind(&format!("1 {huge} 6\n0 1:2\n"), &auto), expected);
    // As many columns as can be indexed are no reason to allocate any.
    let data = read_from(&b"1 4294967295 4294967295\n4294967294 4294967294:1\n"[..], &auto).unwrap();
    assert_eq!(data.feature_names(), &Names::Numbered(4_294_967_295));
    let sparse = ReadOptions::default().format(Format::SvmLight);
    assert_eq!(
        read_from(&b"0 4294967295:1\n"[..], &sparse).unwrap().n_features(),
        4_294_967_295
    );
    assert!(matches!(
        kind("0 4294967296:1\n", &sparse),
        ReadErrorKind::IndexOutOfRange { .. }
    ));
}

#[test]
fn a_csv_file_without_names_does_not_lose_its_first_row() {
    let csv = ReadOptions::default().format(Format::Csv);
    for text in ["1.5,2,3", "-1,2,3", "1,2,1", "0,,1e3", "NA,0.5,2", "1,0,0,\"1\""] {
        let expected = ReadErrorKind::NoNames {
            text: text.to_owned(),
        };
        assert_eq!(kind(&format!("{text}\n4,5,6\n"), &csv), expected);
    }
    // Column numbers are names, as programs write them; so is anything that is not a number.
    for text in ["0,1,2", "7,3,12", ",0,1", "x,1.5,2", "a,,"] {
        let duplicate = text == "a,,";
        let read = read_from(format!("{text}\n4,5,6\n").as_bytes(), &csv);
        assert_eq!(read.is_err(), duplicate, "{text}: {read:?}");
    }
}

#[test]
fn columns_separated_by_something_else_are_told() {
    let csv = ReadOptions::default().format(Format::Csv);
    for (text, found) in [("a;b;y", ';'), ("a\tb\ty", '\t'), ("1;2", ';')] {
        let expected = ReadErrorKind::Separator {
            text: text.to_owned(),
            found,
        };
        assert_eq!(kind(&format!("{text}\n1;2;3\n"), &csv), expected);
    }
    let quoted = read_from(&b"\"a;b\"\n1\n"[..], &csv).unwrap();
    assert_eq!(quoted.feature_names().get(0).as_deref(), Some("a;b"));
    assert_eq!(read_from(&b"a;b,c\n1,2\n"[..], &csv).unwrap().n_features(), 2);
}

#[test]
fn gzip_is_recognised_by_content() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(CSV.as_bytes()).unwrap();
    let mut compressed = encoder.finish().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    std::fs::write(&path, &compressed).unwrap();
    let data = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(
        (data.name(), data.n_samples(), data.n_features()),
        ("table", 2, 3)
    );
    compressed.truncate(compressed.len() - 9);
    std::fs::write(&path, &compressed).unwrap();
    let e = read(&path, &ReadOptions::default()).unwrap_err();
    assert!(
        matches!(
            e.kind,
            ReadErrorKind::Io {
                kind: std::io::ErrorKind::UnexpectedEof,
                ..
            }
        ),
        "{e}"
    );
    assert_eq!(e.path.as_deref(), Some(&*path));
    let e = read(folder.path().join("absent.arff"), &ReadOptions::default()).unwrap_err();
    assert!(
        matches!(
            e.kind,
            ReadErrorKind::Io {
                kind: std::io::ErrorKind::NotFound,
                ..
            }
        ),
        "{e}"
    );
}

#[test]
fn targets_are_found_and_their_task() {
    let with = |targets| ReadOptions::default().targets(targets);
    let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
    let data = read_from(ARFF.as_bytes(), &with(Targets::Last(1))).unwrap();
    assert_eq!(
        (data.task(), data.label_statistics().counts),
        (Task::MultiLabel, vec![2])
    );
    assert_eq!(
        read_from(ARFF.as_bytes(), &with(Targets::Last(1)).task(Task::Regression))
            .unwrap()
            .task(),
        Task::Regression
    );
    let text = "a,b,y\n1,2,0\n3,4,1\n";
    let task = |text: &str, options: &ReadOptions| read_from(text.as_bytes(), options).unwrap().task();
    assert_eq!(task(text, &with(Targets::Last(1))), Task::MultiLabel);
    assert_eq!(task(text, &with(Targets::First(1))), Task::Regression);
    let by_name = read_from(text.as_bytes(), &with(Targets::Names(names(&["b"])))).unwrap();
    assert_eq!(by_name.feature_names(), &["a", "y"].into_iter().collect());
    let if_present = read_from(
        text.as_bytes(),
        &with(Targets::NamesIfPresent(names(&["y", "z"]))),
    )
    .unwrap();
    assert_eq!(if_present.output_names(), &["y"].into_iter().collect());

    let unknown = kind(text, &with(Targets::Names(names(&["z"]))));
    assert_eq!(unknown, ReadErrorKind::UnknownTarget { name: "z".into() });
    let many = kind(text, &with(Targets::First(4)));
    assert_eq!(many, ReadErrorKind::TooManyTargets { asked: 4, columns: 3 });
    let not_01 = kind(text, &with(Targets::First(1)).task(Task::MultiLabel));
    assert_eq!(
        not_01,
        ReadErrorKind::NotALabel {
            name: "a".into(),
            value: 3.0
        }
    );
    let mixed = kind(
        "@relation r\n@attribute x real\n@attribute y {0,1}\n@data\n",
        &with(Targets::First(2)),
    );
    assert_eq!(
        mixed,
        ReadErrorKind::MixedTargets {
            label: "y".into(),
            number: "x".into()
        }
    );
    let nominal = kind(
        "@relation r\n@attribute y {1,0}\n@data\n",
        &with(Targets::First(1)),
    );
    assert_eq!(
        nominal,
        ReadErrorKind::NotALabelColumn {
            name: "y".into(),
            found: "{1,0}".into()
        }
    );
    let missing = kind("a,y\n1,\n", &with(Targets::Last(1)));
    assert_eq!(missing, ReadErrorKind::MissingTarget { name: "y".into() });
    let missing = kind("a,y\n1,NA\n", &with(Targets::Last(1)));
    assert_eq!(missing, ReadErrorKind::MissingTarget { name: "y".into() });
    let refused = kind("a,y\n,1\n", &ReadOptions::default().missing(Missing::Refuse));
    assert_eq!(refused, ReadErrorKind::MissingFeature { name: "a".into() });
}

#[test]
fn missing_targets_are_kept_where_asked() {
    let keep = |targets| {
        ReadOptions::default()
            .targets(targets)
            .missing_targets(Missing::Keep)
    };
    let header = "@relation r\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n";
    let dense = format!("{header}1,?,1\n?,0,?\n");
    let sparse = format!("{header}{{0 1, 1 ?, 2 1}}\n{{0 ?, 2 ?}}\n");
    let csv = "x,a,b\n1,,1\n,0,NA\n".to_owned();
    for text in [dense, sparse, csv] {
        let data = read_from(text.as_bytes(), &keep(Targets::Last(2))).unwrap();
        assert_eq!(data.task(), Task::MultiLabel, "{text}");
        let y = data.outputs().view().to_dense(usize::MAX).unwrap();
        assert!(y[[0, 0]].is_nan() && y[[1, 1]].is_nan(), "{text}");
        assert_eq!((y[[0, 1]], y[[1, 0]]), (1.0, 0.0));
        assert_eq!((data.n_missing(), data.n_missing_outputs()), (1, 2));
        assert_eq!(data.label_statistics().counts, [0, 1]);
    }
    let numbers = read_from(&b"x,y\n1,NA\n2,0.5\n"[..], &keep(Targets::Last(1))).unwrap();
    assert_eq!(
        (numbers.task(), numbers.n_missing_outputs()),
        (Task::Regression, 1)
    );
    // NaN written out is still no number, nor is a value that is too large a missing one.
    let options = keep(Targets::Last(1));
    assert!(matches!(
        kind("x,y\n1,nan\n", &options),
        ReadErrorKind::NotFinite { .. }
    ));
    assert!(matches!(
        kind("x,y\n1,1e39\n", &options),
        ReadErrorKind::TooLarge { .. }
    ));
}

#[test]
fn dimensions_and_options_are_checked() {
    let demand = ReadOptions::default().n_features(3);
    let dimension = |what, expected, found| ReadErrorKind::Dimension {
        what,
        expected,
        found,
    };
    assert_eq!(kind("a,b\n1,2\n", &demand), dimension("feature", 3, 2));
    assert_eq!(kind("1 2 3\n0 1:1\n", &demand), dimension("feature", 3, 2));
    let demand = ReadOptions::default().format(Format::SvmLight).n_outputs(2);
    let out = ReadErrorKind::IndexOutOfRange {
        what: "label",
        index: 2,
        count: 2,
    };
    assert_eq!(kind("2 1:1\n", &demand), out);
    let option = |option, format| ReadErrorKind::Option { option, format };
    let targets = ReadOptions::default().targets(Targets::Last(1));
    assert_eq!(kind(XMLREPO, &targets), option("targets", Format::XmlRepo));
    let first = ReadOptions::default().first_feature(FirstFeature::Zero);
    assert_eq!(kind(CSV, &first), option("first_feature", Format::Csv));
    let missing = ReadOptions::default().missing_targets(Missing::Keep);
    assert_eq!(
        kind(XMLREPO, &missing),
        option("missing_targets", Format::XmlRepo)
    );
    let too_large = kind("a,b\n1,1e39\n", &ReadOptions::default());
    assert!(matches!(too_large, ReadErrorKind::TooLarge { bits: 32, .. }));
}
