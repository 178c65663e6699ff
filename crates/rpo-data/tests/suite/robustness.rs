//! Readers never panic, for any bytes, and read back the output of the writers.

use ndarray::Array2;
use proptest::prelude::*;
use rpo_core::Mismatch;
use rpo_data::read::{
    ColumnType, FirstFeature, Format, LabelFile, Missing, ReadErrorKind, ReadOptions, Targets, read,
    read_from,
};
use rpo_data::write::{WriteOptions, write};
use rpo_data::{Dataset, Layout, Names, Task};
use std::io::Write as _;

const ARFF: &str = "% c\n@relation 'a b'\n@attribute x numeric\n@attribute 'it\\'s' {r,'d b'}\n@attribute y {0,1}\n@data\n\
    1.5,r,0\n?,'d b',1\n{0 2.5, 2 1}\n{}\n";
const XMLREPO: &str = "3 10 6\n0,5 0:1.711 9:0.47\n 1:2.947 3:9.95\n3,1,2\n";
const SVMLIGHT: &str = "1,3 qid:4 1:7.975 4:1.405 # tail\n 2:3.382\n# c\n1,2,3 3:4.152 5:8e-3\n";
const CSV: &str = "\"a \"\"b\"\"\",c , y\n1,\"2\",3\n4,,-6e2\n";
const XML: &str =
    "<?xml version='1.0'?>\n<labels>\n<label name=\"a&amp;b\"><label name='c'/></label><!-- x -->\n</labels>";

/// Changes a text in some places: a byte is replaced, removed, doubled or swapped for one with a special meaning.
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

/// Reads with every format and every kind of targets. The call must return, and errors must be printable.
fn read_in_every_way(bytes: &[u8]) {
    let targets = [
        Targets::None,
        Targets::Last(1),
        Targets::First(2),
        Targets::NamesIfPresent(vec!["y".into()]),
    ];
    for name in Format::names() {
        let format: Format = name.parse().unwrap();
        for targets in &targets {
            let options = ReadOptions {
                format,
                targets: targets.clone(),
                ..ReadOptions::default()
            };
            match read_from(bytes, &options) {
                Ok(data) => assert_eq!(data.features().n_rows(), data.outputs().n_rows()),
                Err(e) => assert!(!e.to_string().is_empty()),
            }
        }
    }
    if let Ok(file) = LabelFile::try_from(bytes) {
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
        let mut expected = data.clone().with_layout(Layout::Sparse, 0).unwrap();
        let mut text = Vec::new();
        write(&data, Format::XmlRepo, &mut text).unwrap();
        let options = ReadOptions { format: Format::XmlRepo, ..ReadOptions::default() };
        prop_assert_eq!(&read_from(&text[..], &options).unwrap(), &expected);
        text.clear();
        write(&data, WriteOptions { first_feature: Some(first), ..Format::SvmLight.into() }, &mut text).unwrap();
        let options = ReadOptions { format: Format::SvmLight, first_feature: Some(first), n_features: Some(data.n_features()), n_outputs: Some(data.n_outputs()), ..ReadOptions::default() };
        expected.first_feature = Some(first);
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
    let expected = ReadErrorKind::SampleCount {
        promised: huge,
        found: 1,
    };
    assert_eq!(kind(&format!("{huge} 10 6\n0 1:2\n"), &auto), expected);
    let expected = ReadErrorKind::TooManyColumns {
        what: "feature",
        count: huge,
    };
    assert_eq!(kind(&format!("1 {huge} 6\n0 1:2\n"), &auto), expected);
    // The maximum number of columns must not cause any allocation.
    let data = read_from(&b"1 4294967295 134217728\n134217727 4294967294:1\n"[..], &auto).unwrap();
    assert_eq!(data.feature_names(), &Names::Numbered(4_294_967_295));
    // Labels are counted one by one.
    let too_many_labels = |count| ReadErrorKind::TooManyLabels {
        count,
        limit: 134_217_728,
    };
    assert_eq!(
        kind("2 4 4000000000\n0,1 0:1 3:1\n1 1:1\n", &auto),
        too_many_labels(4_000_000_000)
    );
    let sparse = ReadOptions {
        format: Format::SvmLight,
        ..ReadOptions::default()
    };
    let too_many = Some(4_294_967_296);
    for (what, n_features, n_outputs) in [("feature", too_many, None), ("label", None, too_many)] {
        let declared = ReadOptions {
            n_features,
            n_outputs,
            ..sparse.clone()
        };
        let count = 4_294_967_296;
        assert_eq!(
            kind("0 1:2\n", &declared),
            ReadErrorKind::TooManyColumns { what, count }
        );
    }
    let declared = ReadOptions {
        n_outputs: Some(4_294_967_295),
        ..sparse.clone()
    };
    assert_eq!(kind("0 1:2\n", &declared), too_many_labels(4_294_967_295));
    let declared = ReadOptions {
        n_features: Some(4_294_967_295),
        ..sparse.clone()
    };
    assert_eq!(
        read_from(&b"0 4294967295:1\n"[..], &declared)
            .unwrap()
            .n_features(),
        4_294_967_295
    );
    assert!(matches!(
        kind("0 4294967296:1\n", &sparse),
        ReadErrorKind::IndexOutOfRange { .. }
    ));
}

#[test]
fn a_csv_file_without_names_does_not_lose_its_first_row() {
    let csv = ReadOptions {
        format: Format::Csv,
        ..ReadOptions::default()
    };
    for text in ["1.5,2,3", "-1,2,3", "1,2,1", "0,,1e3", "NA,0.5,2", "1,0,0,\"1\""] {
        let expected = ReadErrorKind::NoNames(text.to_owned());
        assert_eq!(kind(&format!("{text}\n4,5,6\n"), &csv), expected);
    }
    // Column numbers are names, as some programs write them, but may be a row, which is noted; everything that is not a
    // number is a name.
    for (text, is_noted) in [
        ("0,1,2", true),
        ("7,3,12", true),
        (",0,1", true),
        ("x,1.5,2", false),
    ] {
        for row in ["4,5,6", "4,5,six"] {
            let read = read_from(format!("{text}\n{row}\n").as_bytes(), &csv).unwrap();
            let expected = is_noted.then(|| text.to_owned());
            assert_eq!(read.notes.numbers_as_names, expected, "{text}");
        }
    }
    assert!(matches!(
        kind("a,,\n4,5,6\n", &csv),
        ReadErrorKind::DeclaredTwice { .. }
    ));
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
        (&*data.name, data.n_samples(), data.n_features()),
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
    let with = |targets| ReadOptions {
        targets,
        ..ReadOptions::default()
    };
    let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
    let data = read_from(ARFF.as_bytes(), &with(Targets::Last(1))).unwrap();
    assert_eq!(
        (data.task(), data.label_statistics().counts),
        (Task::MultiLabel, vec![2])
    );
    assert_eq!(
        read_from(
            ARFF.as_bytes(),
            &ReadOptions {
                task: Some(Task::Regression),
                ..with(Targets::Last(1))
            }
        )
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
    let expected = "target \"z\" is not a column of the data file; its columns are \"a\", \"b\", \"y\"";
    assert_eq!(unknown.to_string(), expected);
    let repeated = kind(text, &with(Targets::Names(names(&["y", "b", "y"]))));
    assert_eq!(repeated, ReadErrorKind::RepeatedTarget("y".into()));
    let many = kind(text, &with(Targets::First(4)));
    assert_eq!(many, ReadErrorKind::TooManyTargets { asked: 4, columns: 3 });
    let not_01 = kind(
        text,
        &ReadOptions {
            task: Some(Task::MultiLabel),
            ..with(Targets::First(1))
        },
    );
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
        "@relation r\n@attribute y {1,2}\n@data\n",
        &ReadOptions {
            task: Some(Task::Regression),
            ..with(Targets::First(1))
        },
    );
    assert_eq!(
        nominal,
        ReadErrorKind::WrongTarget {
            name: "y".into(),
            found: "declared {1,2}".into(),
            expected: "regression needs numeric targets"
        }
    );
    let missing = kind("a,y\n1,\n", &with(Targets::Last(1)));
    assert_eq!(missing, ReadErrorKind::MissingOutput("y".into()));
    let missing = kind("a,y\n1,NA\n", &with(Targets::Last(1)));
    assert_eq!(missing, ReadErrorKind::MissingOutput("y".into()));
    let refused = kind(
        "a,y\n,1\n",
        &ReadOptions {
            missing: Missing::Refuse,
            ..ReadOptions::default()
        },
    );
    assert_eq!(refused, ReadErrorKind::MissingFeature("a".into()));
}

#[test]
fn missing_targets_are_kept_where_asked() {
    let keep = |targets| ReadOptions {
        targets,
        missing_outputs: Some(Missing::Keep),
        ..ReadOptions::default()
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
        let x = data.features().view().to_dense(usize::MAX).unwrap();
        let [x, y] = [x, y].map(|a| a.iter().filter(|v| v.is_nan()).count());
        assert_eq!((x, y), (1, 2));
        assert_eq!(data.label_statistics().counts, [0, 1]);
    }
    let numbers = read_from(&b"x,y\n1,NA\n2,0.5\n"[..], &keep(Targets::Last(1))).unwrap();
    assert_eq!(
        (numbers.task(), numbers.outputs().view().has_missing()),
        (Task::Regression, true)
    );
    // A written NaN is still not a number, and a value that is too large is not a missing one.
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
    let demand = ReadOptions {
        n_features: Some(3),
        ..ReadOptions::default()
    };
    let dimension = |what, expected, given| {
        ReadErrorKind::from(Mismatch {
            what,
            expected,
            given,
        })
    };
    assert_eq!(kind("a,b\n1,2\n", &demand), dimension("features", 3, 2));
    assert_eq!(kind("1 2 3\n0 1:1\n", &demand), dimension("features", 3, 2));
    let demand = ReadOptions {
        format: Format::SvmLight,
        n_outputs: Some(2),
        ..ReadOptions::default()
    };
    let out = ReadErrorKind::IndexOutOfRange {
        what: "label",
        index: 2,
        count: 2,
    };
    assert_eq!(kind("2 1:1\n", &demand), out);
    let option = |option, format| ReadErrorKind::Option { option, format };
    let targets = ReadOptions {
        targets: Targets::Last(1),
        ..ReadOptions::default()
    };
    assert_eq!(kind(XMLREPO, &targets), option("targets", Format::XmlRepo));
    let first = ReadOptions {
        first_feature: Some(FirstFeature::Zero),
        ..ReadOptions::default()
    };
    assert_eq!(kind(CSV, &first), option("first_feature", Format::Csv));
    let missing = ReadOptions {
        missing_outputs: Some(Missing::Keep),
        ..ReadOptions::default()
    };
    assert_eq!(
        kind(XMLREPO, &missing),
        option("missing_outputs", Format::XmlRepo)
    );
    let types = || [("x".to_owned(), ColumnType::Category)].into();
    for (name, of_columns) in [
        (
            "types",
            ReadOptions {
                types: types(),
                ..ReadOptions::default()
            },
        ),
        (
            "ignore",
            ReadOptions {
                ignore: vec!["x".to_owned()],
                ..ReadOptions::default()
            },
        ),
        (
            "id",
            ReadOptions {
                id: Some("x".to_owned()),
                ..ReadOptions::default()
            },
        ),
    ] {
        for (text, format) in [
            (XMLREPO, Format::XmlRepo),
            (SVMLIGHT, Format::SvmLight),
            (ARFF, Format::Arff),
        ] {
            // ARFF has columns that can be left out.
            if (name, format) != ("ignore", Format::Arff) {
                assert_eq!(kind(text, &of_columns), option(name, format));
            }
        }
    }
    // A model sets types for those files that have columns.
    let of_model = ReadOptions {
        types: types(),
        ignore_untyped: true,
        ..ReadOptions::default()
    };
    assert!(read_from(XMLREPO.as_bytes(), &of_model).is_ok());
    let too_large = kind("a,b\n1,1e39\n", &ReadOptions::default());
    assert!(matches!(too_large, ReadErrorKind::TooLarge { bits: 32, .. }));
}

/// Messages about the values of features name them as the file does.
#[test]
fn features_of_samples_are_named_as_in_the_file() {
    let svmlight = |first| ReadOptions {
        first_feature: first,
        ..options(Format::SvmLight)
    };
    for (head, options) in [
        ("0 ", svmlight(None)),
        ("0 ", svmlight(Some(FirstFeature::One))),
        ("0 ", svmlight(Some(FirstFeature::Zero))),
        ("1 9 2\n0 ", options(Format::XmlRepo)),
    ] {
        // Too large for 64 bits, for 32 bits, and for all its digits.
        for value in ["1e999", "1e39"] {
            let found = kind(&format!("{head}5:{value}\n"), &options);
            assert!(
                matches!(&found, ReadErrorKind::TooLarge { column, .. } if column == "feature 5"),
                "{found:?}"
            );
        }
        let data = read_from(format!("{head}5:16777217\n").as_bytes(), &options).unwrap();
        assert_eq!(data.notes.rounded[0].column, "feature 5");
    }
}

fn options(format: Format) -> ReadOptions {
    ReadOptions {
        format,
        ..ReadOptions::default()
    }
}

/// Returns the line and the kind of the error that reading returns.
fn refused(text: &[u8], options: &ReadOptions) -> (Option<u64>, ReadErrorKind) {
    let e = read_from(text, options).unwrap_err();
    (e.line, e.kind)
}

#[test]
fn no_sample_comes_or_goes_by_a_blank_line() {
    let xmlrepo = options(Format::XmlRepo);
    let blank = |line, written| (Some(line), ReadErrorKind::BlankLine(written));
    assert_eq!(
        refused(b"3 5 2\n0 1:1\n\n1 2:1\n", &xmlrepo),
        blank(3, "one blank")
    );
    assert_eq!(
        refused(b"2 5 2\r\n0 1:1\r\n\r\n", &xmlrepo),
        blank(3, "one blank")
    );
    let data = read_from(&b"3 5 2\n0 1:1\n \n1 2:1\n\n \n"[..], &xmlrepo).unwrap();
    assert_eq!((data.n_samples(), data.label_statistics().n_unlabelled), (3, 1));

    let svmlight = options(Format::SvmLight);
    assert_eq!(refused(b"0 1:1\n \n1 2:1\n", &svmlight), blank(2, "\" qid:0\""));
    assert_eq!(refused(b"0 1:1\n\t\r\n", &svmlight), blank(2, "\" qid:0\""));
    let data = read_from(&b"0 1:1\n\n  # c\n qid:0\n1 2:1\n"[..], &svmlight).unwrap();
    assert_eq!((data.n_samples(), data.label_statistics().n_unlabelled), (3, 1));
}

/// An empty line can stand for a sample only if there are samples before and after it.
#[test]
fn empty_lines_between_samples_are_counted() {
    let empty = |text: &[u8]| {
        let data = read_from(text, &options(Format::SvmLight)).unwrap();
        data.notes
            .empty_lines
            .map(|lines| (lines.count, lines.first_line))
    };
    assert_eq!(empty(b"\n0 1:1\n# c\n1 2:1\n\n\n"), None);
    assert_eq!(empty(b"0 1:1\n\n1 2:1\n\n\n0 1:1\n\n"), Some((3, 2)));
    let data = read_from(&b"0 1:1\n\n1 2:1\n"[..], &options(Format::SvmLight)).unwrap();
    let note = "line 2 is empty: it is skipped; a sample without labels and features is written \" qid:0\"";
    assert_eq!(data.notes.empty_lines.unwrap().to_string(), note);
}

#[test]
fn queries_are_integers() {
    let svmlight = options(Format::SvmLight);
    for (text, query) in [
        ("1 qid:a 1:1", "a"),
        ("1 qid: 1:1", ""),
        ("qid:1:2 1:1", "1:2"),
        ("1 qid:-1", "-1"),
    ] {
        let expected = (Some(2), ReadErrorKind::BadQuery(query.to_owned()));
        assert_eq!(
            refused(format!("0 1:1\n{text}\n").as_bytes(), &svmlight),
            expected
        );
    }
}

#[test]
fn a_wrong_index_does_not_imply_a_billion_columns() {
    let svmlight = options(Format::SvmLight);
    let limit = 1 << 27;
    for (text, what) in [("0 300000000:1", "feature"), ("300000000 1:1", "label")] {
        let expected = ReadErrorKind::TooManyImplied { what, limit };
        assert_eq!(
            refused(format!("0 1:1\n{text}\n").as_bytes(), &svmlight),
            (Some(2), expected)
        );
    }
    let largest = read_from(&b"134217727 134217728:1\n"[..], &svmlight).unwrap();
    assert_eq!((largest.n_features(), largest.n_outputs()), (1 << 27, 1 << 27));
    let declared = ReadOptions {
        n_features: Some(300_000_000),
        ..svmlight
    };
    assert_eq!(
        read_from(&b"0 300000000:1\n"[..], &declared)
            .unwrap()
            .n_features(),
        300_000_000
    );
}

#[test]
fn what_is_no_text_is_said_to_be_none() {
    let samples: [(Format, &[u8]); 4] = [
        (Format::Arff, ARFF.as_bytes()),
        (Format::XmlRepo, XMLREPO.as_bytes()),
        (Format::SvmLight, SVMLIGHT.as_bytes()),
        (Format::Csv, CSV.as_bytes()),
    ];
    for (format, text) in samples {
        for options in [options(format), options(Format::Auto)] {
            let mut with_nul = text.to_vec();
            let last = text.len() - 1;
            with_nul[last] = 0;
            let line = text.iter().filter(|&&b| b == b'\n').count() as u64;
            assert_eq!(refused(&with_nul, &options), (Some(line), ReadErrorKind::NulByte));
            let utf_16: Vec<u8> = text.iter().flat_map(|&b| [b, 0]).collect();
            assert_eq!(refused(&utf_16, &options), (Some(1), ReadErrorKind::NulByte));
            let returns: Vec<u8> = text.iter().map(|&b| if b == b'\n' { b'\r' } else { b }).collect();
            assert_eq!(
                refused(&returns, &options),
                (Some(1), ReadErrorKind::CarriageReturns)
            );
            let longest_line = 10;
            let short = ReadOptions {
                longest_line,
                ..options
            };
            let limit = longest_line;
            assert_eq!(refused(text, &short).1, ReadErrorKind::LineTooLong { limit });
        }
    }
}

#[test]
fn bytes_after_gzip_are_told() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(CSV.as_bytes()).unwrap();
    let mut compressed = encoder.finish().unwrap();
    compressed.extend([0; 512]);
    assert_eq!(kind_of(&compressed), ReadErrorKind::Gzip);
    compressed.truncate(compressed.len() - 512);
    let twice = [&compressed[..], &compressed[..]].concat();
    assert!(
        matches!(kind_of(&twice), ReadErrorKind::MixedColumn { .. }),
        "members follow each other"
    );
    let last = compressed.len() - 6;
    compressed[last] ^= 1;
    assert_eq!(kind_of(&compressed), ReadErrorKind::Gzip);
}

fn kind_of(bytes: &[u8]) -> ReadErrorKind {
    read_from(bytes, &options(Format::Csv)).unwrap_err().kind
}

#[test]
fn messages_cut_long_names_and_escape_control_characters() {
    let name = format!("\u{1b}[31m{}", "x".repeat(1000));
    let text = format!("{name},b\n1,2\n3,4\nword,2\n");
    let message = read_from(text.as_bytes(), &options(Format::Csv))
        .unwrap_err()
        .to_string();
    let shown = format!("\"\\u{{1b}}[31m{}\"...", "x".repeat(75));
    assert_eq!(
        message,
        format!(
            "line 4: \"word\" is not a number; most values of {shown} are, so 1 value of 3 may be mistakes"
        )
    );
    let text = format!("{name},{name}\n1,2\n");
    let message = read_from(text.as_bytes(), &options(Format::Csv))
        .unwrap_err()
        .to_string();
    assert_eq!(message, format!("line 1: column {shown} is declared twice"));
}

#[test]
fn what_is_beyond_the_columns_of_a_model_is_left_out_where_that_is_asked_for() {
    let text = b"0,4,7 1:1\n1,4 2:1 9:4 12:1\n2 qid:1 3:1\n";
    let narrow = ReadOptions {
        n_features: Some(3),
        n_outputs: Some(3),
        leave_out: true,
        ..options(Format::SvmLight)
    };
    let same = read_from(&b"0 1:1\n1 2:1\n2 qid:1 3:1\n"[..], &narrow).unwrap();
    let found = read_from(&text[..], &narrow).unwrap();
    assert_eq!(
        (found.features(), found.outputs()),
        (same.features(), same.outputs())
    );
    let of = |others: &rpo_data::LeftOut| (others.count, others.first.clone(), others.n_distinct());
    assert_eq!(of(&found.notes.other_labels), (3, Some("4".to_owned()), 2));
    assert_eq!(of(&found.notes.other_features), (2, Some("9".to_owned()), 2));
    assert_eq!(of(&same.notes.other_features), (0, None, 0));
    // If a number is not given, the columns are those of the file.
    let features_alone = ReadOptions {
        n_outputs: None,
        ..narrow.clone()
    };
    let found = read_from(&text[..], &features_alone).unwrap();
    assert_eq!((found.n_features(), found.n_outputs()), (3, 8));
    // So they are in files that declare other numbers.
    for (header, n) in [("3 13 8", 3), ("3 13 8", 20), ("3 13 8", 8)] {
        let text = format!("{header}\n0,4,7 1:1\n1,4 2:1 9:4 12:1\n2 3:1\n");
        let of_model = ReadOptions {
            n_features: Some(n),
            n_outputs: Some(n),
            format: Format::XmlRepo,
            ..narrow.clone()
        };
        let found = read_from(text.as_bytes(), &of_model).unwrap();
        assert_eq!((found.n_features(), found.n_outputs()), (n, n));
        let (features, labels) = (found.notes.other_features.count, found.notes.other_labels.count);
        let expected = match n {
            3 => (3, 3),
            8 => (2, 0),
            _ => (0, 0),
        };
        assert_eq!((features, labels), expected);
    }
    // Entries that are left out are still parsed.
    for text in ["0 9:1 8:1\n", "0 9:x\n", "0,4,4 1:1\n"] {
        read_from(text.as_bytes(), &narrow).unwrap_err();
    }
    let refused = refused(
        text,
        &ReadOptions {
            leave_out: false,
            ..narrow
        },
    );
    assert!(
        matches!(refused.1, ReadErrorKind::IndexOutOfRange { .. }),
        "{refused:?}"
    );
}

/// A line of a million blanks beside a quote takes milliseconds, not hours.
#[test]
fn blanks_in_quoted_lines_are_read_once() {
    let blanks = " ".repeat(1 << 20);
    let text = format!("a,b,y\n{blanks}\"u\"{blanks},\"v{blanks}w\" ,1\n\"p\", q ,0\n");
    let options = ReadOptions {
        format: Format::Csv,
        targets: Targets::Last(1),
        ..ReadOptions::default()
    };
    let data = read_from(text.as_bytes(), &options).unwrap();
    assert_eq!((data.n_samples(), data.n_features()), (2, 2));
    let values = |feature: usize| data.nominal()[&feature].to_vec();
    assert_eq!(values(0), ["p", "u"]);
    assert_eq!(values(1), ["q".to_owned(), format!("v{blanks}w")]);
}
