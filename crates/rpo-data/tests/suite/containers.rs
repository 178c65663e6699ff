//! Parquet and Arrow IPC: files of other programs, agreement with CSV, all types, and damaged files.

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryViewArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray, Float64Array,
    Int64Array, NullArray, RecordBatch, StringArray, Time32SecondArray, TimestampMillisecondArray,
    UInt64Array,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use rpo_core::Matrix;
use rpo_data::read::{
    Cell, ColumnType, Format, Missing, ReadErrorKind, ReadOptions, Targets, read, read_from,
};
use rpo_data::write::{ColumnContent, ColumnWriter, WriteError, write};
use rpo_data::{Dataset, IntegerIds, Task, suspicious_features};
use std::path::PathBuf;
use std::sync::Arc;

fn file(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/files", name].iter().collect()
}

fn options(targets: &str) -> ReadOptions {
    ReadOptions {
        targets: Targets::Names(vec![targets.to_owned()]),
        ..ReadOptions::default()
    }
}

fn customers() -> ReadOptions {
    ReadOptions {
        id: Some("id".to_owned()),
        ..options("spend_*")
    }
}

/// Returns the bits of a set, including NaN.
fn shown(data: &Dataset) -> String {
    let mut data = data.clone();
    "set".clone_into(&mut data.name);
    format!("{data:?}")
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn parquet_of(batch: &RecordBatch, rows_of_a_group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows_of_a_group));
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow_of(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn column(data: &Dataset, feature: usize) -> Vec<f32> {
    let Matrix::Dense(x) = data.features() else {
        panic!("rows of a table are dense")
    };
    x.column(feature).to_vec()
}

/// The files were written by pyarrow 26.0.1, pandas 3.1.1 and polars 2.1.0: dictionaries, two versions of pages, views,
/// four codecs.
#[test]
fn files_of_other_libraries_are_read() {
    let text = "\
id,age,plan,since,seen,active,spend_1,spend_2
a7,31,gold,2024-01-31,2024-01-31T18:30:00,true,1.5,0
b2,,basic,2023-12-01,,false,0.5,3
c9,45,gold,,1970-01-01T00:00:00,true,2.5,1
";
    let expected = shown(&read_from(text.as_bytes(), &customers()).unwrap());
    for name in [
        "customers-snappy.parquet",
        "customers-gzip.parquet",
        "customers-zstd.parquet",
        "customers-lz4.feather",
        "customers-views.arrow",
        "customers.arrows",
    ] {
        let found = read(file(name), &customers()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(shown(&found), expected, "{name}");
        // From memory, where the first bytes identify the format of all files except the stream.
        let bytes = std::fs::read(file(name)).unwrap();
        let format = match name {
            "customers.arrows" => Format::Arrow,
            _ => Format::Auto,
        };
        let options = ReadOptions {
            format,
            ..customers()
        };
        assert_eq!(
            shown(&read_from(bytes.as_slice(), &options).unwrap()),
            expected,
            "{name}"
        );
    }
}

#[test]
fn what_is_not_read_is_named() {
    let message = |name: &str, options: &ReadOptions| {
        let e = read(file(name), options).unwrap_err().to_string();
        e.split_once(": ").unwrap().1.to_owned()
    };
    let brotli = message("customers-brotli.parquet", &customers());
    assert_eq!(
        brotli,
        "row group 0 (from 0), column \"id\": the parquet file cannot be decoded: it is compressed by brotli; snappy, \
         zstd, LZ4 and gzip are read"
    );
    let nested = message("nested.parquet", &ReadOptions::default());
    assert!(
        nested.starts_with("column \"a\" has the unsupported type Struct("),
        "{nested}"
    );
    let ignore = ReadOptions {
        ignore: vec!["a".to_owned()],
        ..ReadOptions::default()
    };
    assert_eq!(read(file("nested.parquet"), &ignore).unwrap().n_features(), 1);
    let times = batch(vec![("t", Arc::new(Time32SecondArray::from(vec![1])))]);
    let e = read_from(&*arrow_of(&times), &ReadOptions::default()).unwrap_err();
    assert!(matches!(e.kind, ReadErrorKind::UnsupportedColumn { .. }), "{e}");
    for (bytes, format) in [
        (&b"x,y\n1,2\n"[..], Format::Parquet),
        (b"FEA1....", Format::Arrow),
        (b"", Format::Arrow),
        (b"", Format::Parquet),
    ] {
        let options = ReadOptions {
            format,
            ..ReadOptions::default()
        };
        let e = read_from(bytes, &options).unwrap_err();
        assert!(
            matches!(e.kind, ReadErrorKind::Container { .. } | ReadErrorKind::Empty(_)),
            "{e}"
        );
    }
    let two = ReadErrorKind::DeclaredTwice {
        what: "column",
        name: "x".into(),
    };
    let x: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let schema = arrow_schema::Schema::new(vec![
        arrow_schema::Field::new("x", x.data_type().clone(), true);
        2
    ]);
    let twice = RecordBatch::try_new(Arc::new(schema), vec![x.clone(), x]).unwrap();
    let e = read_from(&*arrow_of(&twice), &ReadOptions::default()).unwrap_err();
    assert_eq!(e.kind, two);
    let ignored = ReadOptions {
        ignore: vec!["x".to_owned()],
        ..ReadOptions::default()
    };
    assert_eq!(read_from(&*arrow_of(&twice), &ignored).unwrap().n_features(), 0);
}

#[test]
fn every_type_is_a_number_a_word_or_a_date() {
    let big = i64::MAX - 1;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("key", Arc::new(Int64Array::from(vec![big, 2]))),
        ("large", Arc::new(UInt64Array::from(vec![Some(1 << 40), None]))),
        ("nan", Arc::new(Float64Array::from(vec![f64::NAN, -0.5]))),
        (
            "price",
            Arc::new(
                Decimal128Array::from(vec![Some(1_999), None])
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
        ),
        ("nothing", Arc::new(NullArray::new(2))),
        ("day", Arc::new(Date64Array::from(vec![86_400_000, -86_400_000]))),
        (
            "time",
            Arc::new(TimestampMillisecondArray::from(vec![43_200_000, 0]).with_timezone("+02:00")),
        ),
        ("bytes", Arc::new(BinaryViewArray::from_iter_values(["é", "NA"]))),
        (
            "level",
            Arc::new(DictionaryArray::<Int8Type>::new(
                vec![Some(1), None].into(),
                Arc::new(Int64Array::from(vec![7, 30])),
            )),
        ),
    ];
    let batch = batch(columns);
    for file in [arrow_of(&batch), parquet_of(&batch, 1)] {
        let options = ReadOptions {
            id: Some("key".to_owned()),
            ..ReadOptions::default()
        };
        let data = read_from(file.as_slice(), &options).unwrap();
        assert_eq!(data.ids().unwrap(), [big.to_string(), "2".to_owned()]);
        let names: Vec<_> = data.feature_names().iter().map(String::from).collect();
        assert_eq!(names[3], "nothing");
        assert_eq!(
            names[7..],
            [
                "time[days]",
                "time[month]",
                "time[weekday]",
                "time[hour]",
                "bytes",
                "level"
            ]
        );
        let times: Vec<_> = data
            .dates()
            .iter()
            .filter(|(_, column)| column.has_time)
            .collect();
        assert_eq!((times.len(), *times[0].0, &*times[0].1.name), (1, 7, "time"));
        let first: Vec<f32> = (0..data.n_features()).map(|j| column(&data, j)[0]).collect();
        let second: Vec<f32> = (0..data.n_features()).map(|j| column(&data, j)[1]).collect();
        let nan = f32::NAN;
        let same = |found: &[f32], expected: [f32; 13]| {
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        };
        same(
            &first,
            [
                1.099_511_6e12,
                nan,
                19.99,
                nan,
                1.0,
                1.0,
                5.0,
                0.5,
                1.0,
                4.0,
                12.0,
                1.0,
                0.0,
            ],
        );
        same(
            &second,
            [nan, -0.5, nan, nan, -1.0, 12.0, 3.0, 0.0, 1.0, 4.0, 0.0, 0.0, nan],
        );
        assert_eq!(data.nominal()[&11][..], ["NA".to_owned(), "é".to_owned()]);
        assert_eq!(data.nominal()[&12][..], ["30".to_owned()]);
    }
}

/// Pandas writes its index as columns after the others, and leaves them out of the frame that it reads.
#[test]
fn the_index_of_a_data_frame_is_not_read_unless_it_is_named() {
    let numbers = |values: [i64; 2]| -> ArrayRef { Arc::new(Int64Array::from(values.to_vec())) };
    let frame = batch(vec![
        ("x", numbers([1, 2])),
        ("y", numbers([3, 4])),
        ("customer", numbers([70, 80])),
        ("__index_level_1__", numbers([5, 6])),
    ]);
    let metadata = r#"{"index_columns": ["customer", "__index_level_1__"], "columns": []}"#;
    let schema = frame.schema().as_ref().clone();
    let schema = schema.with_metadata([("pandas".to_owned(), metadata.to_owned())]);
    let frame = frame.with_schema(Arc::new(schema)).unwrap();
    for bytes in [parquet_of(&frame, 10), arrow_of(&frame)] {
        let read = |options: &ReadOptions| read_from(bytes.as_slice(), options).unwrap();
        let last = ReadOptions {
            targets: Targets::Last(1),
            ..ReadOptions::default()
        };
        let data = read(&last);
        assert_eq!(data.notes.index_columns, ["customer", "__index_level_1__"]);
        assert_eq!(
            (data.n_features(), data.output_names().get(0).as_deref()),
            (1, Some("y"))
        );
        assert_eq!(column(&data, 0), [1.0, 2.0]);
        let named = ReadOptions {
            id: Some("customer".to_owned()),
            types: [("__index_level_1__".to_owned(), ColumnType::Number)].into(),
            ..last
        };
        let data = read(&named);
        assert_eq!(data.ids(), Some(&["70".to_owned(), "80".to_owned()][..]));
        assert_eq!(column(&data, 1), [5.0, 6.0]);
        assert!(data.notes.index_columns.is_empty());
        let ignored = ReadOptions {
            ignore: vec!["customer".to_owned()],
            ..ReadOptions::default()
        };
        assert_eq!(read(&ignored).notes.index_columns, ["__index_level_1__"]);
        let target = options("__index_level_1__");
        assert_eq!(
            read(&target).output_names().get(0).as_deref(),
            Some("__index_level_1__")
        );
    }
}

#[test]
fn values_that_do_not_fit_have_row_and_column() {
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some("1"), None, Some("wide")]));
    let days: ArrayRef = Arc::new(Date32Array::from(vec![0, 1, i32::MAX]));
    let batch = batch(vec![("width", words), ("since", days)]);
    let check = |options: &ReadOptions, message: &str| {
        for file in [arrow_of(&batch), parquet_of(&batch, 2)] {
            let e = read_from(file.as_slice(), options).unwrap_err();
            assert_eq!((e.line, e.has_rows), (Some(3), true));
            assert_eq!(e.to_string(), message);
        }
    };
    let number = ReadOptions {
        types: [("width".to_owned(), ColumnType::Number)].into(),
        ..ReadOptions::default()
    };
    check(&number, "row 3: \"wide\" is not a number; \"width\" is numeric");
    check(
        &ReadOptions::default(),
        "row 3: a date in \"since\" lies 2147483647 days after 1970-01-01, outside of the years -9999 to 9999",
    );
    let word = ReadErrorKind::TargetOfWords {
        name: "width".into(),
        text: "wide".into(),
    };
    let target = ReadOptions {
        missing_outputs: Some(Missing::Keep),
        class_columns: Some(Vec::new()),
        ..options("width")
    };
    assert_eq!(read_from(&*arrow_of(&batch), &target).unwrap_err().kind, word);
}

/// A column of a single value takes almost no bytes in a file, however long it is.
#[test]
fn memory_is_bounded() {
    let n = 1 << 20;
    let batch = batch(vec![("x", Arc::new(NullArray::new(n)))]);
    for file in [arrow_of(&batch), parquet_of(&batch, n)] {
        assert!(file.len() < 4096);
        let options = ReadOptions {
            memory_limit: 1 << 20,
            ..ReadOptions::default()
        };
        let e = read_from(file.as_slice(), &options).unwrap_err();
        assert!(matches!(e.kind, ReadErrorKind::Memory(_)), "{e}");
        let options = ReadOptions {
            memory_limit: 4 << 20,
            ..ReadOptions::default()
        };
        assert_eq!(read_from(file.as_slice(), &options).unwrap().n_samples(), n);
    }
}

fn table() -> RecordBatch {
    let words = (0..60).map(|i| ["red", "green", "blue"][i % 3]);
    batch(vec![
        (
            "x",
            Arc::new(Float64Array::from_iter_values(
                (0..60).map(|i| f64::from(i) / 7.0),
            )),
        ),
        (
            "kind",
            Arc::new(words.clone().collect::<DictionaryArray<Int8Type>>()),
        ),
        ("text", Arc::new(words.map(Some).collect::<StringArray>())),
        ("since", Arc::new(Date32Array::from_iter_values(0..60))),
        (
            "y",
            Arc::new(Int64Array::from_iter_values((0..60).map(|i| i % 2))),
        ),
    ])
}

/// Changes every byte of a small file, and truncates it to every length: gives a set or a typed error, never a panic.
#[test]
fn damage_is_an_error_or_another_set() {
    let mut stream = StreamWriter::try_new(Vec::new(), &table().schema()).unwrap();
    stream.write(&table()).unwrap();
    let compressed = std::fs::read(file("customers-lz4.feather")).unwrap();
    let files = [
        (Format::Parquet, parquet_of(&table(), 30), options("y")),
        (Format::Arrow, arrow_of(&table()), options("y")),
        (Format::Arrow, stream.into_inner().unwrap(), options("y")),
        // Its buffers say how long they are when they are decompressed.
        (Format::Arrow, compressed, customers()),
    ];
    for (format, file, options) in files {
        let options = ReadOptions {
            format,
            memory_limit: 1 << 24,
            ..options
        };
        let whole = shown(&read_from(file.as_slice(), &options).unwrap());
        for at in 0..file.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut damaged = file.clone();
                damaged[at] ^= change;
                if let Err(e) = read_from(damaged.as_slice(), &options) {
                    assert!(!e.to_string().is_empty());
                }
            }
            // A stream may end after any batch.
            match read_from(&file[..at], &options) {
                Ok(data) => {
                    assert!(file.starts_with(&[0xff]) && (data.n_samples() == 0 || shown(&data) == whole));
                }
                Err(e) => assert!(!e.to_string().is_empty()),
            }
        }
    }
}

/// The columns of a batch that is not compressed share its memory.
#[test]
fn many_columns_fit_in_their_memory() {
    let column = |j: usize| -> (String, ArrayRef) {
        let numbers: Float64Array = (0..200).map(|i| Some((i * j % 97) as f64)).collect();
        (format!("c{j}"), Arc::new(numbers))
    };
    let table = RecordBatch::try_from_iter((0..300).map(column)).unwrap();
    let options = ReadOptions {
        format: Format::Arrow,
        memory_limit: 1 << 20,
        ..options("c7")
    };
    let data = read_from(arrow_of(&table).as_slice(), &options).unwrap();
    assert_eq!((data.n_samples(), data.n_features()), (200, 299));
}

/// A long text that all rows share takes its memory once.
#[test]
fn rows_of_one_long_text_fit_in_little_memory() {
    let text = "long ".repeat(20_000);
    let texts: StringArray = (0..3000).map(|_| Some(text.as_str())).collect();
    let numbers: Float64Array = (0..3000).map(|i| Some(f64::from(i))).collect();
    let columns: [(&str, ArrayRef); 2] = [("x", Arc::new(texts)), ("y", Arc::new(numbers))];
    let file = parquet_of(&RecordBatch::try_from_iter(columns).unwrap(), 3000);
    let options = ReadOptions {
        format: Format::Parquet,
        memory_limit: 1 << 24,
        ..options("y")
    };
    let data = read_from(file.as_slice(), &options).unwrap();
    assert_eq!((data.n_samples(), data.nominal()[&0].len()), (3000, 1));
}

/// A row of a table: two numbers, a word, a date as text, and a label.
type Line = (Option<i16>, Option<f32>, Option<u8>, Option<(u8, u8)>, bool);

proptest! {
    #[test]
    fn csv_parquet_and_arrow_are_one_set(lines in prop::collection::vec(any::<Line>(), 1..40), rows_of_a_group in 1_usize..50) {
        let lines: Vec<_> = lines
            .into_iter()
            .map(|(i, x, word, day, label)| {
                let x = x.filter(|x| x.is_finite());
                (i, x, word.map(|w| format!("w{}", w % 5)), day.map(|(m, d)| (1 + m % 12, 1 + d % 28)), label)
            })
            .collect();
        // A column without values has no words in CSV.
        prop_assume!(lines.iter().any(|l| l.2.is_some()) && lines.iter().any(|l| l.3.is_some()));
        let mut text = "i,x,word,day,label\n".to_owned();
        for (i, x, word, day, label) in &lines {
            let cell = |value: Option<String>| value.unwrap_or_default();
            let day = day.map(|(m, d)| format!("2024-{m:02}-{d:02}"));
            text += &format!(
                "{},{},{},{},{}\n",
                cell(i.map(|i| i.to_string())), cell(x.map(|x| f64::from(x).to_string())), cell(word.clone()), cell(day), u8::from(*label)
            );
        }
        let starts = [0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335];
        let days = lines.iter().map(|l| l.3.map(|(m, d)| 19_723 + starts[usize::from(m) - 1] + i32::from(d) - 1));
        let batch = batch(vec![
            ("i", Arc::new(lines.iter().map(|l| l.0).collect::<arrow_array::Int16Array>())),
            ("x", Arc::new(lines.iter().map(|l| l.1).collect::<arrow_array::Float32Array>())),
            ("word", Arc::new(lines.iter().map(|l| l.2.as_deref()).collect::<StringArray>())),
            ("day", Arc::new(days.collect::<Date32Array>())),
            ("label", Arc::new(lines.iter().map(|l| Some(l.4)).collect::<arrow_array::BooleanArray>())),
        ]);
        let options = options("label");
        let expected = read_from(text.as_bytes(), &options).unwrap();
        for file in [arrow_of(&batch), parquet_of(&batch, rows_of_a_group)] {
            let found = read_from(file.as_slice(), &options).unwrap();
            prop_assert_eq!(shown(&found), shown(&expected));
        }
        // A written file is read back as the set that CSV gives, with the parts of dates as numbers.
        let parts = |data: &Dataset| shown(data).replace(&format!("dates: {:?}", data.dates()), "");
        for format in [Format::Parquet, Format::Arrow] {
            let mut written = Vec::new();
            write(&expected, format, &mut written).unwrap();
            let found = read_from(written.as_slice(), &options).unwrap();
            prop_assert!(found.dates().is_empty());
            prop_assert_eq!(parts(&found), parts(&expected));
            let (mut first, mut second) = (Vec::new(), Vec::new());
            write(&expected, Format::Csv, &mut first).unwrap();
            write(&found, Format::Csv, &mut second).unwrap();
            prop_assert_eq!(first, second);
        }
    }
}

#[test]
fn writers_refuse_what_they_cannot_hold() {
    let columns = ["a", "a"].map(|name| (name.to_owned(), ColumnContent::Number));
    let two = ColumnWriter::new(Format::Arrow, columns, Vec::new()).err();
    assert_eq!(two, Some(WriteError::TwoColumns { name: "a".into() }));
    let csv = ColumnWriter::new(Format::Csv, [], Vec::new()).err();
    assert_eq!(csv, Some(WriteError::NotColumns(Format::Csv)));
    // Running out of space is a system error.
    let mut small = [0_u8; 8];
    let columns = [("a".to_owned(), ColumnContent::Number)];
    let full = ColumnWriter::new(Format::Arrow, columns, &mut small[..]).and_then(|mut writer| {
        writer.push(Cell::Number(1.0))?;
        writer.finish().map(drop)
    });
    assert!(matches!(full, Err(WriteError::Io { .. })), "{full:?}");
}

#[test]
fn outputs_keep_their_task() {
    let data = read_from(&*parquet_of(&table(), 7), &options("y")).unwrap();
    assert_eq!(
        (data.task(), data.n_outputs(), data.n_samples()),
        (Task::MultiLabel, 1, 60)
    );
    let data = read_from(&*parquet_of(&table(), 7), &options("x")).unwrap();
    assert_eq!(data.task(), Task::Regression);
}

#[test]
fn bytes_that_are_not_text_are_named_by_their_column() {
    let kinds: ArrayRef = Arc::new(BinaryViewArray::from(vec![b"red".as_slice(), b"r\xe9d", b"blue"]));
    let x: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.5, 2.5]));
    let bytes = parquet_of(&batch(vec![("kind", kinds), ("x", x)]), 10);
    let error = read_from(&*bytes, &options("x")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 2: invalid UTF-8 in \"r\u{fffd}d\" of column \"kind\""
    );
}

#[test]
fn identifiers_are_integers_where_the_file_has_integers() {
    let file = |ids: ArrayRef| {
        let x: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.5, 2.5]));
        parquet_of(&batch(vec![("key", ids), ("x", x)]), 10)
    };
    let read = |bytes: &[u8]| {
        let options = ReadOptions {
            id: Some("key".to_owned()),
            ..ReadOptions::default()
        };
        read_from(bytes, &options).unwrap()
    };
    let with_gap: ArrayRef = Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX)]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["1", "2", "3"]));
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![1, 2, u64::MAX]));
    let small: ArrayRef = Arc::new(UInt64Array::from(vec![1, 2, 3]));
    let (signed, unsigned) = (Some(IntegerIds::Signed), Some(IntegerIds::Unsigned));
    let rows = |ids: [&str; 3]| format!("key,x\n{},1\n{},2\n{},3\n", ids[0], ids[1], ids[2]).into_bytes();
    for (bytes, expected) in [
        (file(with_gap), signed),
        (file(texts), None),
        (file(large), unsigned),
        (file(small), unsigned),
        (rows(["1", "-2", "0"]), signed),
        (rows(["1", "007", "2"]), None),
        (rows(["1", "", "2"]), None),
        (rows(["1", "9223372036854775808", "2"]), unsigned),
        (rows(["-1", "9223372036854775808", "2"]), None),
        (rows(["1", "18446744073709551616", "2"]), None),
    ] {
        let data = read(&bytes);
        assert_eq!(data.notes.integer_ids, expected, "{:?}", data.ids());
        let mut written = Vec::new();
        write(&data, Format::Parquet, &mut written).unwrap();
        let again = read_from(
            written.as_slice(),
            &ReadOptions {
                id: Some("key".to_owned()),
                ..ReadOptions::default()
            },
        );
        let again = again.unwrap();
        assert_eq!((again.ids(), again.notes.integer_ids), (data.ids(), expected));
    }
}

/// In CSV the same columns are numbers and dates.
#[test]
fn texts_that_are_numbers_or_dates_are_noted_and_read_as_such_on_request() {
    let texts = |values: &[Option<&str>]| -> ArrayRef { Arc::new(StringArray::from(values.to_vec())) };
    let dictionary: DictionaryArray<Int8Type> = ["1", "2", "3"].into_iter().collect();
    let bytes = parquet_of(
        &batch(vec![
            ("the amount", texts(&[Some("1.5"), Some(" 2"), Some("")])),
            ("day", texts(&[Some("2024-01-31"), None, Some("2024-02-01")])),
            (
                "seen",
                texts(&[Some("2024-01-31T12:00"), Some("2024-02-01"), Some("NA")]),
            ),
            ("code", texts(&[Some("1"), Some("2"), Some("3")])),
            ("level", Arc::new(dictionary)),
            ("kind", texts(&[Some("a"), Some("b"), Some("1")])),
        ]),
        10,
    );
    let mut options = ReadOptions {
        types: [("code".to_owned(), ColumnType::Category)].into(),
        ..ReadOptions::default()
    };
    let data = read_from(bytes.as_slice(), &options).unwrap();
    let notes: Vec<String> = suspicious_features(&data)
        .iter()
        .map(ToString::to_string)
        .collect();
    let note = |name, value, what| {
        format!("feature {name:?} is a category of texts such as {value:?}, which are {what}")
    };
    let expected = [
        note("the amount", " 2", "numbers"),
        note("day", "2024-01-31", "dates"),
        note("seen", "2024-01-31T12:00", "dates"),
    ];
    assert_eq!(notes, expected);
    options.types.extend([
        ("the amount".to_owned(), ColumnType::Number),
        ("day".to_owned(), ColumnType::Date),
        ("seen".to_owned(), ColumnType::DateTime),
    ]);
    let typed = read_from(bytes.as_slice(), &options).unwrap();
    assert_eq!(suspicious_features(&typed), []);
    let csv = "the amount,day,seen,code,level,kind\n1.5,2024-01-31,2024-01-31T12:00,1,1,a\n2,,2024-02-01,2,2,b\n\
               ,2024-02-01,NA,3,3,1\n";
    options.types.insert("level".to_owned(), ColumnType::Category);
    let as_csv = read_from(csv.as_bytes(), &options).unwrap();
    assert_eq!(shown(&typed), shown(&as_csv));
}
