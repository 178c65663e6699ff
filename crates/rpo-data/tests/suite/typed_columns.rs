//! CSV files with words, dates, identifiers, and delimiters other than commas.

use proptest::prelude::*;
use rpo_core::Matrix;
use rpo_data::read::{ColumnType, Format, Missing, ReadErrorKind, ReadOptions, Targets, read, read_from};
use rpo_data::{Dataset, Task};

const CUSTOMERS: &str = "\
id,age,plan,since,active,spend_1,spend_2
a7,31,gold,2024-01-31,true,1.5,0
b2,NA,basic,2023-12-01,false,0.5,3
c9,45,\"gold\",,TRUE,2.5,1
";

fn csv() -> ReadOptions {
    ReadOptions {
        format: Format::Csv,
        ..ReadOptions::default()
    }
}

fn customers() -> ReadOptions {
    ReadOptions {
        targets: Targets::Names(vec!["spend_*".to_owned()]),
        id: Some("id".to_owned()),
        ..csv()
    }
}

fn dense(data: &Dataset) -> Vec<Vec<f32>> {
    let Matrix::Dense(x) = data.features() else {
        panic!("rows of a CSV file are dense")
    };
    x.rows().into_iter().map(|row| row.to_vec()).collect()
}

fn names(data: &Dataset) -> Vec<String> {
    data.feature_names().iter().map(Into::into).collect()
}

fn kind(text: &str, options: &ReadOptions) -> (Option<u64>, ReadErrorKind) {
    let e = read_from(text.as_bytes(), options).unwrap_err();
    (e.line, e.kind)
}

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn words_dates_and_identifiers_are_read() {
    let data = read_from(CUSTOMERS.as_bytes(), &customers()).unwrap();
    assert_eq!(data.ids(), Some(&strings(&["a7", "b2", "c9"])[..]));
    let expected = [
        "age",
        "plan",
        "since[days]",
        "since[month]",
        "since[weekday]",
        "active",
    ];
    assert_eq!(names(&data), expected);
    assert_eq!(data.nominal()[&1][..], strings(&["basic", "gold"]));
    assert_eq!(data.nominal().len(), 1);
    let rows = dense(&data);
    assert_eq!(rows[0], [31.0, 1.0, 19_753.0, 1.0, 3.0, 1.0]);
    assert!(rows[1][0].is_nan());
    assert_eq!(rows[1][1..], [0.0, 19_692.0, 12.0, 5.0, 0.0]);
    assert_eq!((rows[2][1], rows[2][5]), (1.0, 1.0));
    assert!(rows[2][2..5].iter().all(|part| part.is_nan()));
    assert_eq!((data.task(), data.n_outputs()), (Task::Regression, 2));
    let some = data.select_samples(&[2, 0]).unwrap();
    assert_eq!(some.ids(), Some(&strings(&["c9", "a7"])[..]));
    // From a file, compressed or not, which is opened more than once.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("customers.csv");
    std::fs::write(&path, CUSTOMERS).unwrap();
    let from_file = read(&path, &customers()).unwrap();
    assert_eq!(
        (&*from_file.name, dense(&from_file)[0].clone()),
        ("customers", rows[0].clone())
    );
}

/// Minutes of one day are less than a thousandth of the range apart from days since 1970, and the hour tells them.
#[test]
fn rounded_parts_of_dates_are_not_noted() {
    let rows = (0..60).map(|i| format!("2024-03-05T10:{i:02}:00,{},1", 19_787.0 + f64::from(i) / 1440.0));
    let text = format!("when,days,y\n{}\n", rows.collect::<Vec<_>>().join("\n"));
    let options = ReadOptions {
        targets: Targets::Names(strings(&["y"])),
        ..csv()
    };
    let data = read_from(text.as_bytes(), &options).unwrap();
    assert_eq!(data.dates().len(), 1);
    let columns = data.notes.rounded.iter().map(|rounded| &*rounded.column);
    assert_eq!(columns.collect::<Vec<_>>(), ["days"]);
}

#[test]
fn types_can_be_declared() {
    let mut options = customers();
    options.types = [
        ("age".to_owned(), ColumnType::Category),
        ("since".to_owned(), ColumnType::DateTime),
    ]
    .into();
    options.ignore = strings(&["act*"]);
    let data = read_from(CUSTOMERS.as_bytes(), &options).unwrap();
    let expected = [
        "age",
        "plan",
        "since[days]",
        "since[month]",
        "since[weekday]",
        "since[hour]",
    ];
    assert_eq!(names(&data), expected);
    assert_eq!(data.nominal()[&0][..], strings(&["31", "45"]));
    let plan_is_number = ReadOptions {
        types: [("plan".to_owned(), ColumnType::Number)].into(),
        ..customers()
    };
    let (line, kind_found) = kind(CUSTOMERS, &plan_is_number);
    assert_eq!(line, Some(2));
    assert!(matches!(kind_found, ReadErrorKind::NotANumber { column, .. } if column == "plan"));
    let plan_is_date = ReadOptions {
        types: [("plan".to_owned(), ColumnType::Date)].into(),
        ..customers()
    };
    assert!(matches!(
        kind(CUSTOMERS, &plan_is_date).1,
        ReadErrorKind::NotADate { .. }
    ));
    // Columns that a model does not use are not read, and those that it uses may be absent.
    let for_a_model = ReadOptions {
        types: [("age", ColumnType::Number), ("absent", ColumnType::Category)]
            .map(|(name, kind)| (name.to_owned(), kind))
            .into(),
        ignore_untyped: true,
        ..csv()
    };
    let data = read_from(CUSTOMERS.as_bytes(), &for_a_model).unwrap();
    assert_eq!((names(&data), data.n_outputs()), (strings(&["age"]), 0));
}

#[test]
fn categories_of_numbers_are_in_their_order() {
    let options = ReadOptions {
        types: [("code".to_owned(), ColumnType::Category)].into(),
        ..csv()
    };
    let data = read_from(&b"code\n10\n2\n10\n-1\n"[..], &options).unwrap();
    assert_eq!(data.nominal()[&0][..], strings(&["-1", "2", "10"]));
    assert_eq!(dense(&data), [[2.0], [1.0], [2.0], [0.0]]);
}

#[test]
fn a_few_words_among_numbers_are_mistakes() {
    let (line, found) = kind("a,b\n1,2\n3,x\n5,6\n7,y\n9,10\n", &csv());
    let expected = ReadErrorKind::MixedColumn {
        column: "b".to_owned(),
        text: "x".to_owned(),
        others: 2,
        total: 5,
    };
    assert_eq!((line, found), (Some(3), expected));
    // A date that does not exist would otherwise turn all dates into categories.
    let (line, found) = kind(
        "since\n2024-02-28\n2024-02-30\n2024-03-01\n7\n2024-03-02T10:00\n",
        &csv(),
    );
    let expected = ReadErrorKind::MixedDates {
        column: "since".to_owned(),
        text: "2024-02-30".to_owned(),
        others: 2,
        total: 5,
    };
    assert_eq!((line, found), (Some(3), expected));
    let declared = ReadOptions {
        types: [("b".to_owned(), ColumnType::Category)].into(),
        ..csv()
    };
    let data = read_from(&b"a,b\n1,2\n3,x\n5,2\n"[..], &declared).unwrap();
    assert_eq!(data.nominal()[&1][..], strings(&["2", "x"]));
    // Codes, most of which are words.
    assert!(read_from(&b"a\n1A\n2B\n3\n"[..], &csv()).is_ok());
    let (line, found) = kind("a;b\n1,5;2\n2,5;3\n", &csv());
    let (column, text) = ("a".to_owned(), "1,5".to_owned());
    assert_eq!(
        (line, found),
        (Some(2), ReadErrorKind::DecimalComma { column, text })
    );
}

#[test]
fn numbers_may_have_decimal_commas() {
    let options = ReadOptions {
        decimal_comma: true,
        ..csv()
    };
    let points = "a b;kind;c\n0.5;x,y;3\n-12;1,5,2;1e-2\n4;31.12.2020;\"7\"\n";
    let commas = "a b;kind;c\n0,5;x,y;3\n-12;1,5,2;1e-2\n4;31.12.2020;\"7,0\"\n";
    let read = read_from(commas.as_bytes(), &options).unwrap();
    assert_eq!(read, read_from(points.as_bytes(), &csv()).unwrap());
    assert_eq!(dense(&read)[0][0], 0.5);
    // Commas outside quotes separate no columns, also where there is one column, or of numbers alone.
    for (text, n) in [("x\n0,5\n1,5\n", 1), ("a, b\tc\n0,5\t1,5\n2\t3\n", 2)] {
        let data = read_from(text.as_bytes(), &options).unwrap();
        assert_eq!((data.n_features(), dense(&data)[0][0]), (n, 0.5), "{text}");
    }
    // A point may separate thousands.
    let (line, found) = kind("a;b\n1,5;2\n1.500;3\n", &options);
    let (column, text) = ("a".to_owned(), "1.500".to_owned());
    assert_eq!(
        (line, found),
        (Some(3), ReadErrorKind::DecimalPoint { column, text })
    );
    let (line, found) = kind("a;b\n1,5;2\n1.500,5;3\n", &options);
    assert_eq!(line, Some(3));
    assert!(matches!(found, ReadErrorKind::Thousands { .. }));
    // A comma that separates columns is not within quotes.
    let quoted = "a,b,c\n\"0,5\",3,\"1,5\"\n2,\"4,25\",0\n";
    let with_commas = ReadOptions {
        delimiter: Some(','),
        ..options.clone()
    };
    for options in [&options, &with_commas] {
        let data = read_from(quoted.as_bytes(), options).unwrap();
        assert_eq!(dense(&data), [[0.5, 3.0, 1.5], [2.0, 4.25, 0.0]]);
    }
    let (line, found) = kind("a,b\n1,2\n1,5,2\n", &with_commas);
    assert_eq!(line, Some(3));
    assert!(matches!(found, ReadErrorKind::FieldCount { .. }), "{found}");
}

#[test]
fn booleans_are_the_same_category_in_any_spelling() {
    let options = ReadOptions {
        types: [("member".to_owned(), ColumnType::Category)].into(),
        ..csv()
    };
    let data = read_from(&b"member\nTrue\nFALSE\ntrue\nTruest\n"[..], &options).unwrap();
    assert_eq!(data.nominal()[&0][..], strings(&["Truest", "false", "true"]));
    assert_eq!(dense(&data), [[2.0], [1.0], [2.0], [0.0]]);
}

#[test]
fn labels_may_be_pairs_of_words() {
    let options = ReadOptions {
        targets: Targets::Names(strings(&["click", "sold"])),
        missing_outputs: Some(Missing::Keep),
        ..csv()
    };
    let text = "click,x,sold\nyes,1,F\nNo,2,t\n,3,f\nYES,4,f\n";
    let data = read_from(text.as_bytes(), &options).unwrap();
    assert_eq!(data.task(), Task::MultiLabel);
    assert_eq!(data.label_statistics().counts, [2, 1]);
    assert_eq!(data.n_features(), 1);
    // Words of several pairs are classes, unless the target is known to have none.
    let mixed = text.replace("YES", "true");
    let data = read_from(mixed.as_bytes(), &options).unwrap();
    assert_eq!(data.class_columns()[0].classes, ["No", "true", "yes"]);
    let expected = ReadErrorKind::TargetOfWords {
        name: "click".to_owned(),
        text: "true".to_owned(),
    };
    let known = ReadOptions {
        class_columns: Some(Vec::new()),
        ..options.clone()
    };
    assert_eq!(kind(&mixed, &known), (Some(5), expected));
    let numbers = ReadOptions {
        task: Some(Task::Regression),
        ..options
    };
    assert!(matches!(
        kind(text, &numbers).1,
        ReadErrorKind::WrongTarget { .. }
    ));
}

#[test]
fn targets_are_numbers_or_words() {
    let target = |name: &str| ReadOptions {
        targets: Targets::Names(vec![name.to_owned()]),
        ..csv()
    };
    let (_, dates) = kind(CUSTOMERS, &target("since"));
    assert!(
        matches!(&dates, ReadErrorKind::WrongTarget { name, found, .. } if name == "since" && found == "a column of dates"),
        "{dates:?}"
    );
    let data = read_from(CUSTOMERS.as_bytes(), &target("plan")).unwrap();
    assert_eq!(
        (data.task(), data.class_columns()[0].name.as_str()),
        (Task::MultiLabel, "plan")
    );
    let options = ReadOptions {
        targets: Targets::Names(vec!["active".to_owned()]),
        ..csv()
    };
    let data = read_from(CUSTOMERS.as_bytes(), &options).unwrap();
    assert_eq!(
        (data.task(), data.label_statistics().counts),
        (Task::MultiLabel, vec![2])
    );
}

#[test]
fn options_name_columns_that_exist() {
    let unknown = |option, name: &str| ReadErrorKind::UnknownColumn {
        option,
        name: name.to_owned(),
        nearest: None,
    };
    let ignore = ReadOptions {
        ignore: strings(&["x*"]),
        ..csv()
    };
    assert_eq!(kind(CUSTOMERS, &ignore).1, unknown("ignore", "x*"));
    let id = ReadOptions {
        id: Some("key".to_owned()),
        ..csv()
    };
    assert_eq!(kind(CUSTOMERS, &id).1, unknown("id", "key"));
    let types = ReadOptions {
        types: [("Plan".to_owned(), ColumnType::Category)].into(),
        ..csv()
    };
    let expected = ReadErrorKind::UnknownColumn {
        option: "types",
        name: "Plan".to_owned(),
        nearest: Some("plan".into()),
    };
    assert_eq!(kind(CUSTOMERS, &types).1, expected);
    assert!(
        expected.to_string().ends_with("(did you mean \"plan\"?)"),
        "{expected}"
    );
    let targets = ReadOptions {
        targets: Targets::Names(strings(&["sale_*"])),
        ..csv()
    };
    assert_eq!(
        kind(CUSTOMERS, &targets).1,
        ReadErrorKind::UnknownTarget {
            name: "sale_*".to_owned(),
            nearest: None,
            columns: strings(&["id", "age", "plan", "since", "active", "spend_1", "spend_2"]).into(),
        }
    );
}

#[test]
fn other_delimiters_are_found_or_given() {
    for delimiter in [';', '\t', '|'] {
        let text = "a,b,c\n1,,x\n,\"2\",\"y\nz\"\n".replace(',', &delimiter.to_string());
        let data = read_from(text.as_bytes(), &csv()).unwrap();
        assert_eq!(names(&data), ["a", "b", "c"], "{delimiter:?}");
        assert_eq!(data.nominal()[&2][..], strings(&["x", "y\nz"]));
        let rows = dense(&data);
        assert!(rows[0][0] == 1.0 && rows[0][1].is_nan() && rows[1][0].is_nan() && rows[1][1] == 2.0);
    }
    // A row of tabs is a row of missing values; quoted delimiters do not count.
    let tabs = read_from(&b"a\tb\n\t\n1\t2\n"[..], &csv()).unwrap();
    assert!(dense(&tabs).iter().flatten().filter(|v| v.is_nan()).count() == 2);
    assert_eq!(names(&read_from(&b"\"a;b\"\n1\n"[..], &csv()).unwrap()), ["a;b"]);
    assert_eq!(
        names(&read_from(&b"a;b,c\n1,2\n"[..], &csv()).unwrap()),
        ["a;b", "c"]
    );
    let given = ReadOptions {
        delimiter: Some(':'),
        ..csv()
    };
    assert_eq!(names(&read_from(&b"a:b\n1:2\n"[..], &given).unwrap()), ["a", "b"]);
    for delimiter in ['"', '5', 'é', '\n'] {
        let refused = ReadOptions {
            delimiter: Some(delimiter),
            ..csv()
        };
        assert_eq!(kind("a,b\n", &refused).1, ReadErrorKind::Delimiter(delimiter));
    }
}

#[test]
fn a_stream_without_end_is_refused() {
    let zeros = std::io::BufReader::new(std::io::repeat(0));
    let short = ReadOptions {
        longest_line: 10,
        ..csv()
    };
    let e = read_from(zeros, &short).unwrap_err();
    assert_eq!(
        (e.line, e.kind),
        (Some(1), ReadErrorKind::LineTooLong { limit: 10 })
    );
}

#[test]
fn blanks_within_quotes_belong_to_words_alone() {
    let text = "id,n,day,w,y\n\"a \",\" 1\",\"2024-01-31 \",\" red\",\"yes \"\n b , 2 , 2024-02-01 , red ,no\n\" \",\" NA \",\" \",\" \",no\n";
    let options = ReadOptions {
        id: Some("id".to_owned()),
        targets: Targets::Last(1),
        task: Some(Task::MultiLabel),
        ..csv()
    };
    let data = read_from(text.as_bytes(), &options).unwrap();
    assert_eq!(data.ids(), Some(&strings(&["a ", "b", ""])[..]));
    assert_eq!(data.nominal()[&4][..], [" red", "red"]);
    let rows = dense(&data);
    assert_eq!([rows[0][0], rows[1][0]], [1.0, 2.0]);
    assert_eq!([rows[0][4], rows[1][4]], [0.0, 1.0]);
    assert!(rows[2].iter().all(|value| value.is_nan()), "{:?}", rows[2]);
}

proptest! {
    /// A column of arbitrary words is read back value by value.
    #[test]
    fn words_come_back(words in proptest::collection::vec("[a-z ,;\"|]{0,6}x", 1..40)) {
        let mut text = String::from("n,w\n");
        for (i, word) in words.iter().enumerate() {
            text += &format!("{i},\"{}\"\n", word.replace('"', "\"\""));
        }
        let data = read_from(text.as_bytes(), &csv()).unwrap();
        let values = &data.nominal()[&1];
        prop_assert!(values.is_sorted());
        for (row, word) in dense(&data).iter().zip(&words) {
            prop_assert_eq!(&values[row[1] as usize], word);
        }
    }
}

#[test]
fn a_column_that_the_targets_name_is_nothing_else() {
    const TEXT: &str = "a,b,red,round\n1,2,0,1\n2,3,1,0\n";
    let options = |targets: &[&str], ignore: &[&str], id: Option<&str>| ReadOptions {
        targets: Targets::Names(strings(targets)),
        ignore: strings(ignore),
        id: id.map(str::to_owned),
        ..csv()
    };
    let outputs = |options: &ReadOptions| -> Vec<String> {
        let data = read_from(TEXT.as_bytes(), options).unwrap();
        data.output_names().iter().map(Into::into).collect()
    };
    for (ignore, id, other) in [(&["red"][..], None, "ignored"), (&[][..], Some("red"), "the id")] {
        let found = kind(TEXT, &options(&["red", "round"], ignore, id));
        let name = "red".to_owned();
        assert_eq!(found, (None, ReadErrorKind::TargetIsOther { name, other }));
    }
    // A name takes precedence over a pattern, on either side.
    assert_eq!(
        outputs(&options(&["red", "round"], &["r*", "b"], None)),
        ["red", "round"]
    );
    assert_eq!(outputs(&options(&["r*"], &["red"], None)), ["round"]);
    assert_eq!(outputs(&options(&["r*"], &[], Some("red"))), ["round"]);
    // If both are patterns, the one of `ignore` wins; counted columns are not named.
    assert_eq!(outputs(&options(&["r*"], &["re?"], None)), ["round"]);
    let counted = ReadOptions {
        targets: Targets::Last(2),
        ..options(&[], &["red"], None)
    };
    assert_eq!(outputs(&counted), ["round"]);
}

#[test]
fn the_type_of_a_name_comes_before_that_of_a_pattern() {
    // In alphabetical order the pattern comes last.
    let options = ReadOptions {
        types: [("a1", ColumnType::Category), ("a?", ColumnType::Number)]
            .map(|(name, kind)| (name.to_owned(), kind))
            .into(),
        ..csv()
    };
    let data = read_from(&b"a1,a2\n1,2\n3,4\n"[..], &options).unwrap();
    assert_eq!(data.nominal().keys().collect::<Vec<_>>(), [&0]);
}

#[test]
fn parts_of_dates_stand_for_dates_that_are_not_there() {
    let for_a_model = ReadOptions {
        types: [("day".to_owned(), ColumnType::Date)].into(),
        ignore_untyped: true,
        ..csv()
    };
    let parts = ["day[days]", "day[month]", "day[weekday]"];
    let of = |text: &str| {
        let data = read_from(text.as_bytes(), &for_a_model).unwrap();
        (names(&data), dense(&data))
    };
    let expected = (strings(&parts), vec![vec![19_753.0, 1.0, 3.0]]);
    assert_eq!(of("day\n2024-01-31\n"), expected);
    assert_eq!(
        of("day[days],day[month],day[weekday],day[hour]\n19753,1,3,0\n"),
        expected
    );
    // The date itself takes precedence.
    assert_eq!(of("day[days],day\n7,2024-01-31\n"), expected);
}

#[test]
fn types_have_the_names_that_files_of_options_have() {
    let names = ["number", "category", "date", "date-time", "text"];
    assert_eq!(ColumnType::names(), names);
    for name in names {
        let kind: ColumnType = name.parse().unwrap();
        assert_eq!(kind.to_string(), name);
        assert_eq!(serde_json::to_value(kind).unwrap(), name);
    }
    let names = ["auto", "arff", "xmlrepo", "svmlight", "csv", "parquet", "arrow"];
    assert_eq!(Format::names(), names);
    for name in names {
        let format: Format = name.parse().unwrap();
        assert_eq!(serde_json::to_value(format).unwrap(), name);
    }
    let unknown = "words".parse::<ColumnType>().unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "\"words\" is not a type of columns: expected number, category, date, date-time or text"
    );
}

#[test]
fn further_texts_are_missing_values() {
    let texts = strings(&["NaN", " n/a", "-999"]);
    let options = ReadOptions {
        missing_values: texts,
        ..csv()
    };
    let text =
        "x,kind,day\n1,red,2024-01-31\nNaN,n/a,NaN\n-999, \"n/a\",-999\n NA,nan,\n-99,NULL,2024-02-01\n";
    let data = read_from(text.as_bytes(), &options).unwrap();
    assert_eq!(
        names(&data),
        ["x", "kind", "day[days]", "day[month]", "day[weekday]"]
    );
    assert_eq!(data.nominal()[&1][..], strings(&["NULL", "nan", "red"]));
    let is_missing: Vec<Vec<bool>> = dense(&data)
        .iter()
        .map(|row| row[..3].iter().map(|value| value.is_nan()).collect())
        .collect();
    let expected = [[false; 3], [true; 3], [true; 3], [true, false, true], [false; 3]];
    assert_eq!(is_missing, expected);
    // Numbers alone, which are read in one pass; without the option they are what they are.
    let numbers = "x,y\n-999,1\n\"-999\",-9990\n";
    let rows = dense(&read_from(numbers.as_bytes(), &options).unwrap());
    assert!(rows[0][0].is_nan() && rows[1][0].is_nan() && rows[1][1] == -9990.0);
    assert_eq!(
        dense(&read_from(numbers.as_bytes(), &csv()).unwrap())[0],
        [-999.0, 1.0]
    );
    let e = kind("x,y\n1,NaN\n", &csv());
    assert!(matches!(e, (Some(2), ReadErrorKind::NotFinite { .. })), "{e:?}");
    let (_, refused) = kind(
        "0 1:1\n",
        &ReadOptions {
            format: Format::SvmLight,
            ..options
        },
    );
    let (option, format) = ("missing_values", Format::SvmLight);
    assert_eq!(refused, ReadErrorKind::Option { option, format });
}

proptest! {
    /// Named texts are read as an empty cell is.
    #[test]
    fn texts_of_missing_values_are_read_as_empty_cells(
        cells in prop::collection::vec((0_u8..5, 0_u8..5), 1..20),
        marker in prop::sample::select(vec!["3", "n/a", "-0.5", "null"]),
    ) {
        let row = |missing: &str| -> String {
            let cell = |value: u8| match value {
                4 => missing.to_owned(),
                value => (value % 3).to_string(),
            };
            let lines = cells.iter().map(|&(a, b)| format!("{},w{},{}\n", cell(a), b % 3, cell(b)));
            format!("x,word,y\n{}", lines.collect::<String>())
        };
        let options = ReadOptions { missing_values: vec![marker.to_owned()], ..csv() };
        let mut found = read_from(row(marker).as_bytes(), &options).unwrap();
        prop_assert_eq!(std::mem::take(&mut found.missing_values), [marker]);
        let expected = read_from(row("").as_bytes(), &csv()).unwrap();
        prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
}
