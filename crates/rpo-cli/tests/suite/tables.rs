//! Real-world tables: words, dates, identifiers, semicolons.

use crate::common::{Folder, Run, number};
use rpo::data::read::{ReadOptions, read};
use std::io::Write;
use std::process::Stdio;

const CITIES: [&str; 4] = ["Bern", "Geneva", "Lausanne", "Zurich"];

/// Customers `first` to `first + n`, whose spending depends on city, age and month.
fn customers(n: usize, first: usize, cities: &[&str]) -> String {
    let mut text = "customer,city,age,since,member,spend_food,spend_fun\n".to_owned();
    for i in first..first + n {
        let (city, age, month) = (i * 7 % cities.len(), 20 + i * 13 % 50, 1 + i * 5 % 12);
        let (food, fun) = (10 * city + age / 10, if month > 6 { 40 } else { 5 } + city);
        let member = if i % 3 == 0 { "yes" } else { "no" };
        let age = if i % 11 == 0 {
            String::new()
        } else {
            age.to_string()
        };
        text += &format!(
            "c{i},{},{age},2024-{month:02}-{:02},{member},{food},{fun}\n",
            cities[city],
            1 + i % 28
        );
    }
    text
}

#[test]
fn a_column_named_as_dates_holds_nothing_else() {
    let folder = Folder::new();
    let row = |i: usize| format!("2024-0{}-11,{},{}\n", 1 + i % 9, i % 7, i % 3);
    let rows: String = (0..30).map(row).collect();
    folder.write("dates.csv", format!("when,x,y\n{rows}"));
    let described = "describe --targets y --dates when --data";
    // Days, month and weekday.
    assert!(
        folder
            .ok(&format!("{described} dates.csv"))
            .contains("n_features        4\n")
    );
    folder.write("soon.csv", format!("when,x,y\n{rows}soon,1,2\n"));
    let message = folder.fail(&format!("{described} soon.csv"));
    assert!(
        message.contains("line 32, column 1: \"soon\" is not a date"),
        "{message}"
    );
}

#[test]
fn words_and_dates_go_from_file_to_prediction() {
    let folder = Folder::new();
    folder.write("train.csv", customers(300, 0, &CITIES));
    folder.write("test.csv", customers(60, 300, &CITIES));
    let trained = folder.json(
        "train --data train.csv --id customer --targets spend_* --method extra-trees --trees 30 --seed 1 --model m.rpo",
    );
    // City, age, member, and the three parts of a date.
    assert_eq!(
        (number(&trained, "n_features"), number(&trained, "n_outputs")),
        (6.0, 2.0)
    );
    let scores = folder.json("evaluate --data test.csv --model m.rpo");
    assert!(number(&scores, "r2") > 0.9, "{scores}");
    let predicted = folder.ok("predict --data test.csv --id customer --model m.rpo");
    let mut lines = predicted.lines();
    assert_eq!(lines.next(), Some("customer,spend_food,spend_fun"));
    assert!(lines.next().unwrap().starts_with("c300,"), "{predicted}");
    // The columns of a model are found in any order, among other columns of any kind.
    let mut other = "note;since;city;member;age\n".to_owned();
    for line in customers(60, 300, &CITIES).lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        other += &format!("\"a; b\";{};{};{};{}\n", cells[3], cells[1], cells[4], cells[2]);
    }
    folder.write("other.csv", other);
    let again = folder.ok("predict --data other.csv --model m.rpo");
    let without_ids: String = predicted
        .lines()
        .map(|line| format!("{}\n", line.split_once(',').unwrap().1))
        .collect();
    assert_eq!(again, without_ids);
}

#[test]
fn published_lists_split_a_set() {
    let folder = Folder::new();
    folder.write("all.txt", "4 2 2\n0 0:1\n1 0:2\n0,1 1:3\n 1:4\n");
    folder.write("tr.txt", "4 1\n1 2\n").write("ts.txt", "3 4\n");
    let split = "split --data all.txt --train a.txt --test b.txt --lists tr.txt ts.txt";
    folder.ok(split);
    assert_eq!(folder.read("a.txt"), "2 2 2\n0 0:1\n 1:4\n");
    assert_eq!(folder.read("b.txt"), "1 2 2\n0,1 1:3\n");
    folder.ok(&format!("{split} --repetition 2"));
    assert_eq!(folder.read("a.txt"), "2 2 2\n0 0:1\n1 0:2\n");
    let message = folder.fail(&format!("{split} --repetition 3"));
    assert!(
        message.contains("tr.txt: line 1: ") && message.contains("expected 3, got 2"),
        "{message}"
    );
    folder.write("ts.txt", "1 2\n");
    let message = folder.fail(split);
    assert!(
        message.contains("ts.txt: line 1: sample index 1 is given twice"),
        "{message}"
    );
}

/// Every command treats Parquet and Arrow files like a CSV file of the same table.
#[cfg(feature = "arrow")]
#[test]
fn parquet_and_arrow_go_wherever_csv_goes() {
    let folder = Folder::new();
    let dates_as_words = |n, first| customers(n, first, &CITIES).replace("2024-", "y24-");
    folder.write("train.csv", dates_as_words(200, 0));
    folder.write("test.csv", dates_as_words(40, 200));
    let targets = "--id customer --targets spend_*";
    folder.ok(&format!(
        "train --data train.csv {targets} --trees 5 --model csv.rpo"
    ));
    let predicted = folder.ok("predict --data test.csv --id customer --model csv.rpo");
    for name in ["parquet", "feather"] {
        for part in ["train", "test"] {
            folder.ok(&format!(
                "convert --data {part}.csv {targets} --out {part}.{name}"
            ));
        }
        folder.ok(&format!(
            "train --data train.{name} {targets} --trees 5 --model {name}.rpo"
        ));
        let read = |file: &str| std::fs::read(folder.path(file)).unwrap();
        assert_eq!(read(&format!("{name}.rpo")), read("csv.rpo"), "{name}");
        let again = folder.ok(&format!(
            "predict --data test.{name} --id customer --model csv.rpo"
        ));
        assert_eq!(again, predicted, "{name}");
        let scores = |file: &str| {
            let scores = folder.json(&format!("evaluate --data {file} --model csv.rpo"));
            (number(&scores, "r2"), number(&scores, "n_samples"))
        };
        assert_eq!(scores(&format!("test.{name}")), scores("test.csv"));
        let described = folder.json(&format!("describe --data train.{name} {targets}"));
        assert_eq!(number(&described, "n_samples"), 200.0);
        folder.ok(&format!("cv --data train.{name} {targets} --trees 3 --folds 2"));
        // Predictions are columns too, one for each output.
        folder.ok(&format!(
            "predict --data test.{name} --id customer --model csv.rpo --out scores.{name}"
        ));
        folder.ok(&format!(
            "convert --data scores.{name} --id customer --out scores.csv"
        ));
        assert_eq!(folder.read("scores.csv"), again);
        // A part of a file has the same columns.
        folder.ok(&format!(
            "split --data train.{name} --group city --test-fraction 0.3 --train first.{name} --test second.{name}"
        ));
        let parts = ["first", "second"].map(|part| {
            folder.ok(&format!(
                "convert --data {part}.{name} {targets} --out {part}.csv"
            ));
            folder.read(&format!("{part}.csv"))
        });
        let mut lines: Vec<&str> = parts.iter().flat_map(|part| part.lines().skip(1)).collect();
        folder.ok(&format!("convert --data train.{name} {targets} --out whole.csv"));
        let whole = folder.read("whole.csv");
        let mut expected: Vec<&str> = whole.lines().skip(1).collect();
        lines.sort_unstable();
        expected.sort_unstable();
        assert_eq!(lines, expected);
        // The best labels, from standard input.
        let mut child = folder
            .command(&format!(
                "predict --data - --format {} --model csv.rpo",
                if name == "parquet" { name } else { "arrow" }
            ))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(&read(&format!("test.{name}")))
            .unwrap();
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let message = folder.fail("predict --data test.parquet --model csv.rpo --out-format parquet");
    assert!(message.contains("give its name with --out"), "{message}");
    // The error for a damaged file names the file and the column.
    let mut bytes = std::fs::read(folder.path("test.parquet")).unwrap();
    bytes[60] ^= 0xff;
    folder.write("damaged.parquet", bytes);
    let message = folder.fail("predict --data damaged.parquet --id customer --model csv.rpo");
    assert!(
        message.contains("damaged.parquet: row group 0 (from 0), column "),
        "{message}"
    );
}

/// A pipe can only be read once, whatever its columns are.
#[cfg(unix)]
#[test]
fn tables_come_through_pipes() {
    let folder = Folder::new();
    folder.write("train.csv", customers(300, 0, &CITIES));
    let options = "--id customer --targets spend_* --trees 3";
    folder.ok(&format!("train --data train.csv {options} --model file.rpo"));
    for format in ["", "--format csv"] {
        let train = format!("train --data /dev/stdin {format} {options} --model pipe.rpo");
        let mut child = folder.command(&train).stdin(Stdio::piped()).spawn().unwrap();
        let text = folder.read("train.csv");
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let predict = |model: &str| folder.ok(&format!("predict --data train.csv --model {model}"));
        assert_eq!(predict("pipe.rpo"), predict("file.rpo"));
    }
}

#[test]
fn what_training_did_not_see_is_noted_or_refused() {
    let folder = Folder::new();
    folder.write("train.csv", customers(200, 0, &CITIES));
    folder.write("test.csv", customers(20, 0, &["Bern", "Oslo"]));
    folder.ok("train --data train.csv --ignore customer --targets spend_* --trees 5 --model m.rpo");
    let run = folder.run("predict --data test.csv --model m.rpo");
    assert_eq!(run.code, Some(0));
    let note =
        "note: 10 values of \"city\", \"Oslo\" for one, were not in the training data and count as missing";
    assert!(run.stderr.starts_with(note), "{}", run.stderr);
    let message = folder.fail("predict --data test.csv --model m.rpo --unseen error");
    assert!(
        message.contains("\"Oslo\"") && message.contains("city"),
        "{message}"
    );
    // The number of values is not taken for that of the first feature.
    folder.write("words.csv", "a,b,y\nu,v,0\nv,u,1\nu,u,0\n");
    folder.ok("train --data words.csv --targets y --trees 2 --model words.rpo");
    folder.write("others.csv", "a,b\nx,u\nu,w\n");
    let run = folder.run("predict --data others.csv --model words.rpo");
    assert!(
        run.stderr
            .starts_with("note: 2 values of 2 features, \"x\" of \"a\" for one, were not"),
        "{}",
        run.stderr
    );
    // A word in a numeric column of the model is an error that gives its position.
    let text = customers(3, 0, &CITIES).replace(",33,", ",old,");
    folder.write("word.csv", text);
    let message = folder.fail("predict --data word.csv --model m.rpo");
    assert!(
        message.contains("word.csv: line 3") && message.contains("\"old\" is not a number"),
        "{message}"
    );
}

/// Tabs, semicolons and bars are recognized wherever commas are: by the name of a file, or by the first line.
#[test]
fn tables_without_commas_are_recognized() {
    let folder = Folder::new();
    let commas = customers(30, 0, &CITIES);
    folder.write("table.csv", &commas);
    let options = "--id customer --targets spend_*";
    let described = folder.ok(&format!("describe --data table.csv {options}"));
    let train = format!("train --data table.csv {options} --trees 3 --model m.rpo");
    folder.ok(&train);
    let predicted = folder.ok("predict --data table.csv --model m.rpo");
    for (delimiter, names) in [
        ("\t", &["table.tsv", "table.tab", "table.txt"][..]),
        (";", &["table.txt"]),
        ("|", &["table"]),
    ] {
        let text = commas.replace(',', delimiter);
        for name in names {
            folder.write(name, &text);
            let again = folder.ok(&format!("describe --data {name} {options}"));
            assert_eq!(again, described, "{name} {delimiter:?}");
        }
        let mut child = folder
            .command("predict --model m.rpo --data -")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), predicted);
    }
    // A delimiter that is not detected implies CSV.
    folder.write("table.txt", commas.replace(',', ":"));
    let message = folder.fail(&format!("describe --data table.txt {options}"));
    assert!(message.contains("cannot tell the format"), "{message}");
    let again = folder.ok(&format!("describe --data table.txt --delimiter : {options}"));
    assert_eq!(again, described);
    // Tabs come before commas in names of columns, and are written by the same name.
    folder.write("names.tsv", "a, b\tt\nx, y\t2\nz\t3\n");
    folder.ok("convert --data names.tsv --out again.tsv");
    assert_eq!(folder.read("again.tsv"), "\"a, b\"\tt\n\"x, y\"\t2\nz\t3\n");
    folder.ok("convert --data again.tsv --format csv --out again.csv");
    assert_eq!(folder.read("again.csv"), "\"a, b\",t\n\"x, y\",2\nz,3\n");
}

/// Words and numbers that mean a missing value are named by an option, which the errors and notes mention.
#[test]
fn further_texts_are_missing_values() {
    let folder = Folder::new();
    let row = |i: usize, x: &str, kind: &str| format!("{x},{kind},{}\n", i % 3);
    let line = |i: usize| match i % 5 {
        0 => row(i, "NaN", "n/a"),
        1 => row(i, "-999", "red"),
        _ => row(i, &i.to_string(), "blue"),
    };
    let text = format!("x,kind,y\n{}", (0..30).map(line).collect::<String>());
    folder.write("marked.csv", &text);
    let empty = text.replace("NaN", "").replace("n/a", "").replace("-999", "");
    folder.write("empty.csv", empty);
    let options = "--targets y --missing-values NaN,n/a,-999";
    let described = folder.ok(&format!("describe --data marked.csv {options}"));
    assert_eq!(described, folder.ok("describe --data empty.csv --targets y"));
    folder.ok(&format!(
        "train --data marked.csv {options} --trees 3 --model m.rpo"
    ));
    // The model stores them; other formats have missing values themselves.
    let inspected = folder.ok("inspect --model m.rpo");
    assert!(inspected.contains("NaN, n/a, -999"), "{inspected}");
    let predict = "predict --model m.rpo --data";
    let predicted = folder.ok(&format!("{predict} empty.csv"));
    folder.ok("convert --data empty.csv --targets y --out empty.arff");
    for other in [
        "marked.csv",
        "marked.csv --missing-values NaN,n/a,-999",
        "empty.arff",
    ] {
        assert_eq!(folder.ok(&format!("{predict} {other}")), predicted, "{other}");
    }
    let message = folder.fail("describe --data marked.csv --targets y");
    assert!(
        message.contains("help: ") && message.contains("--missing-values NaN"),
        "{message}"
    );
    folder.write("inf.csv", "x,y\ninf,1\n-inf,2\n3,3\n");
    let message = folder.fail("describe --data inf.csv --targets y");
    assert!(
        message.contains("help: ") && message.contains("inf,-inf"),
        "{message}"
    );
    folder.ok("describe --data inf.csv --targets y --missing-values inf,-inf");
    let run = folder.run("describe --data marked.csv --targets y --missing-values NaN");
    let note = "note: feature \"kind\" is a category with the value \"n/a\"; where that stands for a missing value in CSV, \
                --missing-values 'n/a' reads it as one\n";
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), note));
}

/// Features that are probably none, or something else, are noted with the options that change it.
#[test]
fn suspicious_features_are_noted_with_options() {
    let folder = Folder::new();
    let line = |i: usize| match i {
        0 => "k0,1,twelve,0\n".to_owned(),
        i => format!("k{i},{i},{i},0\n"),
    };
    let rows: String = (0..20).map(line).collect();
    folder.write("train.csv", format!("key,price,code#,y\n{rows}"));
    let convert = "convert --data train.csv --targets y --categorical price,code# --out train.parquet";
    let notes = |run: Run| {
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stderr
    };
    assert_eq!(notes(folder.run(convert)), "");
    let key = "note: feature \"key\" has a different value in every sample, as identifiers have; name it by --id or \
               --ignore if it is one\n";
    let price = "note: feature \"price\" is a category of texts such as \"1\", which are numbers; --types price=number \
                 reads them as such\n";
    let code = "note: feature \"code#\" is a category of texts such as \"1\", which are numbers; --types 'code#=number' \
                reads them as such, where the file has null in place of \"twelve\"\n";
    let described = folder.run("describe --data train.parquet --targets y");
    assert_eq!(notes(described), format!("{price}{code}{key}"));
}

/// The name of a column may contain the comma of another delimiter, and numbers as many.
#[test]
fn the_delimiter_fits_header_and_row() {
    let folder = Folder::new();
    let rows = |number: &str| format!("size, cm;price;y\n{number};2;0\n3;4;1\n");
    folder.write("a.csv", rows("1.5"));
    folder.ok("convert --data a.csv --targets y --out b.csv");
    assert_eq!(folder.read("b.csv"), "\"size, cm\",price,y\n1.5,2,0\n3,4,1\n");
    folder.write("c.csv", rows("1,5"));
    let message = folder.fail("convert --data c.csv --targets y --out d.csv");
    assert!(
        message.contains("\"1,5\" in \"size, cm\" has a decimal comma"),
        "{message}"
    );
    folder.ok("convert --data c.csv --targets y --decimal-comma --out d.csv");
    assert_eq!(folder.read("d.csv"), folder.read("b.csv"));
    let message = folder.fail("convert --data a.csv --targets y --decimal-comma --out d.csv");
    assert!(
        message.contains("\"1.5\" in \"size, cm\" has a point"),
        "{message}"
    );
    folder.write("a.svm", "1 1:2\n");
    let message = folder.fail("convert --data a.svm --decimal-comma --out d.csv");
    assert!(message.contains("--decimal-comma is for CSV files"), "{message}");
    folder.write("e.csv", "a,b\n1;2\n");
    let message = folder.fail("convert --data e.csv --out f.csv");
    assert!(
        message.contains(
            "line 2, column 4: the row has 1 field, but the header has 2; they are separated by ','"
        ) && message.contains("with --delimiter"),
        "{message}"
    );
}

/// Programs do not join integers with texts.
#[test]
fn identifiers_keep_their_type_in_files_with_types() {
    let folder = Folder::new();
    let rows: String = (0..30).map(|i| format!("{i},{},{}\n", i % 7, i % 3)).collect();
    folder.write("t.csv", format!("key,x,y\n{rows}"));
    folder.ok("train --data t.csv --id key --targets y --trees 3 --model m.rpo");
    for (key, is_text) in [("12", false), ("007", true)] {
        folder.write("q.csv", format!("key,x\n{key},1\n13,2\n"));
        for more in ["", "--values"] {
            folder.ok(&format!(
                "predict --data q.csv --id key --model m.rpo --out p.parquet {more}"
            ));
            let data = read(folder.path("p.parquet"), &ReadOptions::default()).unwrap();
            assert_eq!(data.nominal().contains_key(&0), is_text, "{key} {more}");
        }
    }
}

/// Attributes of texts and dates are left out by name, and labels may be words.
#[test]
fn attributes_of_texts_are_left_out() {
    let folder = Folder::new();
    let row = |i: usize| format!("'name {i}',{},{}\n", i % 7, if i % 7 > 3 { "yes" } else { "no" });
    let rows: String = (0..40).map(row).collect();
    let header = "@relation r\n@attribute name string\n@attribute x numeric\n@attribute y {yes,no}\n@data\n";
    folder.write("names.arff", format!("{header}{rows}"));
    let train = "train --data names.arff --targets y --trees 5 --model m.rpo";
    let message = folder.fail(train);
    assert!(
        message.contains("line 2: attribute \"name\" has the unsupported type \"string\"")
            && message.contains("--ignore leaves"),
        "{message}"
    );
    folder.ok(&format!("{train} --ignore name"));
    let scores = folder.json("evaluate --data names.arff --model m.rpo");
    assert!(
        number(&scores, "macro-auc") == 1.0 && number(&scores, "hamming") == 0.0,
        "{scores}"
    );
    let predicted = folder.ok("predict --data names.arff --model m.rpo");
    assert_eq!(
        (predicted.lines().nth(1), predicted.lines().nth(6)),
        (Some("0"), Some("1"))
    );
}

/// Numbers beyond 2^24 are not changed silently, neither in training and scores nor in converted files.
#[test]
fn large_numbers_that_are_rounded_are_noted() {
    let folder = Folder::new();
    let row = |i: usize| {
        let seconds = 1_700_000_036 + 100 * i;
        format!("{seconds},{},{}\n", i % 7, 12_345_678_901_usize + i)
    };
    let rows: String = (0..30).map(row).collect();
    folder.write("large.csv", format!("time,x,cents\n{rows}"));
    let note = "note: numbers beyond 2^24 are rounded in \"time\", \"cents\", as about seven digits are stored: \
                1700000036 becomes 1700000000; subtract a constant";
    for command in [
        "train --data large.csv --targets cents --trees 2 --model m.rpo",
        "evaluate --data large.csv --model m.rpo --metrics r2",
        "describe --data large.csv --targets cents",
        "convert --data large.csv --targets cents --out stored.csv",
    ] {
        let run = folder.run(command);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stderr.starts_with(note), "{command}: {}", run.stderr);
        assert_eq!(run.stderr.matches("rounded").count(), 1, "{}", run.stderr);
    }
    // Numbers that are stored are written with all their digits, and can be read without a note.
    let stored = folder.read("stored.csv");
    assert_eq!(stored.lines().nth(2), Some("1700000128,1,12345678848"));
    assert!(
        folder
            .ok("convert --data stored.csv --out again.csv")
            .contains("n_samples")
    );
    assert_eq!(folder.read("again.csv"), stored);
    let run = folder.run("convert --data large.csv --out words.csv --categorical time,cents");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.contains("the words of \"time\" (and 1 other)"),
        "{}",
        run.stderr
    );
    assert_eq!(
        folder.read("words.csv").lines().nth(2),
        folder.read("large.csv").lines().nth(2)
    );
    // Large numbers of the other formats.
    folder.write("large.svm", "0 1:16777216 2:3\n1 1:16777217\n");
    let run = folder.run("convert --data large.svm --out out.svm");
    assert!(
        run.stderr.contains("rounded in \"feature 1\", ") && run.stderr.contains("16777217 becomes 16777216"),
        "{}",
        run.stderr
    );
}

/// Decimals whose differences get lost, and numbers too small to store, are not changed silently either.
#[test]
fn numbers_that_lose_their_differences_are_noted() {
    let folder = Folder::new();
    let row = |i: usize| {
        let x = (i % 11) as f64 / 4.0;
        format!("{x},{}e-60,{:.2},0.1\n", i % 3, 10_000_000.25 + 2.0 * x)
    };
    let rows: String = (0..30).map(row).collect();
    folder.write("fine.csv", format!("x,tiny,y,constant\n{rows}"));
    let notes = "note: numbers are rounded by more than a thousandth of the range of their column in \"y\", as about \
                 seven digits are stored: 10000000.25 becomes 10000000; subtract a constant from them\nnote: numbers \
                 below 1e-45 become 0 in \"tiny\", as smaller ones are not stored: 1e-60 becomes 0; multiply them by a \
                 constant\n";
    for command in [
        "cv --data fine.csv --targets y --trees 2 --folds 2",
        "convert --data fine.csv --targets y --out stored.csv",
    ] {
        let run = folder.run(command);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), notes), "{command}");
    }
    folder.ok("convert --data stored.csv --targets y --out again.csv");
}

/// A boolean is the same category in every format and spelling, and labels may be words.
#[test]
fn booleans_are_the_same_category_in_any_spelling() {
    let folder = Folder::new();
    let table = |words: [&str; 2]| {
        let row = |i: usize| format!("{},{},{}\n", words[i % 2], i % 7, ["no", "yes"][i % 2]);
        format!("member,x,click\n{}", (0..40).map(row).collect::<String>())
    };
    folder.write("a.csv", table(["False", "True"]));
    folder.ok("train --data a.csv --targets click --categorical member --trees 3 --model m.rpo");
    let scores = folder.json("evaluate --data a.csv --model m.rpo --metrics hamming");
    assert_eq!(number(&scores, "hamming"), 0.0);
    let expected = folder.ok("predict --data a.csv --model m.rpo");
    for words in [["false", "true"], ["FALSE", "TRUE"], ["False", "tRUE"]] {
        folder.write("b.csv", table(words));
        assert_eq!(
            folder.ok("predict --data b.csv --model m.rpo"),
            expected,
            "{words:?}"
        );
    }
    let header = "@relation r\n@attribute member {True,False}\n@attribute x numeric\n@data\n";
    let row = |i: usize| format!("{},{}\n", ["False", "True"][i % 2], i % 7);
    folder.write(
        "b.arff",
        format!("{header}{}", (0..40).map(row).collect::<String>()),
    );
    assert_eq!(folder.ok("predict --data b.arff --model m.rpo"), expected);
}

/// Names that repeat are refused where they are used. Delimiters at the ends of lines are no columns.
#[test]
fn columns_that_are_not_used_may_repeat() {
    let folder = Folder::new();
    let row = |i: usize| format!("{},a,{},b\n", i % 7, 2 * (i % 7));
    let rows: String = (0..30).map(row).collect();
    folder.write("a.csv", format!("x,note,y,note\n{rows}"));
    let train = "--targets y --trees 3 --model m.rpo";
    let message = folder.fail(&format!("train --data a.csv {train}"));
    assert!(
        message.contains("a.csv: line 1: column \"note\" is declared twice")
            && message.contains("help: --ignore leaves out all columns"),
        "{message}"
    );
    for ignored in ["note", "no*"] {
        folder.ok(&format!("train --data a.csv --ignore {ignored} {train}"));
    }
    let expected = folder.ok("predict --data a.csv --model m.rpo");
    folder.write("x.csv", format!("x,note,x,note\n{rows}"));
    let message = folder.fail("predict --data x.csv --model m.rpo");
    assert!(message.contains("\"x\" is declared twice"), "{message}");
    let message = folder.fail("train --data x.csv --targets x --ignore note --trees 3 --model n.rpo");
    assert!(message.contains("\"x\" is declared twice"), "{message}");

    let row = |i: usize| format!("{},{},,\n", i % 7, 2 * (i % 7));
    let rows: String = (0..30).map(row).collect();
    folder.write("b.csv", format!("x,y,,\n{rows}"));
    let note = "note: 2 columns have neither a name nor a value: they are not read\n";
    for targets in ["--targets y", "--n-targets 1"] {
        let run = folder.run(&format!("train --data b.csv {targets} --trees 3 --model b.rpo"));
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), note));
        assert_eq!(folder.ok("predict --data b.csv --model b.rpo"), expected);
    }
    folder.write("c.csv", "x,y,\n1,2,\n2,3,\n");
    let run = folder.run("convert --data c.csv --out d.csv");
    assert_eq!(
        run.stderr,
        "note: a column has neither a name nor a value: it is not read\n"
    );
    assert_eq!(folder.read("d.csv"), "x,y\n1,2\n2,3\n");
    folder.write("e.csv", "x,y,\n1,2,\n2,3,4\n");
    folder.ok("convert --data e.csv --out f.csv");
    assert_eq!(folder.read("f.csv"), "x,y,\"\"\n1,2,\n2,3,4\n");
    folder.write("g.csv", "x,,\n1,2,3\n");
    let message = folder.fail("convert --data g.csv --out h.csv");
    assert!(message.contains("column \"\" is declared twice"), "{message}");
}

#[test]
fn what_looks_like_a_mistake_is_noted() {
    let folder = Folder::new();
    let text = customers(40, 0, &CITIES).replace("spend_food,spend_fun", "spend_1,spend_2");
    folder.write("train.csv", text);
    let run = folder.run("train --data train.csv --targets spend_1 --trees 2 --model m.rpo");
    assert_eq!(run.code, Some(0));
    for note in [
        "feature \"customer\" has a different value in every sample",
        "feature \"spend_2\" is named like the target \"spend_1\"",
    ] {
        assert!(run.stderr.contains(note), "{}", run.stderr);
    }
    let message = folder.fail("train --data train.csv --targets spend_1 --ignore nothing --model n.rpo");
    assert!(
        message.contains("ignore names the column \"nothing\", which does not exist"),
        "{message}"
    );
    let types =
        "train --data train.csv --targets spend_1 --ignore customer,spend_2 --trees 2 --model n.rpo --types";
    let message = folder.fail(&format!("{types} city=number"));
    assert!(message.contains("\"Bern\" is not a number"), "{message}");
    let run = folder.run(&format!("{types} city=word"));
    assert!(
        run.code == Some(2) && run.stderr.contains("date-time or text"),
        "{}",
        run.stderr
    );
}

#[test]
fn every_sample_is_predicted_out_of_fold() {
    let folder = Folder::new();
    folder.write("train.csv", customers(120, 0, &CITIES));
    let cv = "cv --data train.csv --id customer --targets spend_* --method extra-trees --trees 10 --seed 3";
    let found = folder.json(&format!("{cv} --folds 4 --metrics r2,mae --predictions oof.csv"));
    let values = found["r2"]["values"].as_array().unwrap();
    assert_eq!(values.len(), 4);
    let mean = values.iter().map(|v| v.as_f64().unwrap()).sum::<f64>() / 4.0;
    assert!(
        (number(&found["r2"], "mean") - mean).abs() < 1e-12 && mean > 0.5,
        "{found}"
    );
    let predictions = folder.read("oof.csv");
    let mut lines = predictions.lines();
    assert_eq!(lines.next(), Some("customer,spend_food,spend_fun"));
    assert_eq!(lines.clone().count(), 120);
    assert!(
        lines
            .enumerate()
            .all(|(i, line)| line.starts_with(&format!("c{i},")))
    );
    assert_eq!(
        found,
        folder.json(&format!("{cv} --folds 4 --metrics r2,mae --threads 2"))
    );
    let table = folder.ok(&format!("{cv} --folds 2"));
    assert!(
        table.starts_with("metric") && table.lines().count() == 5,
        "{table}"
    );
    let message = folder.fail(&format!("{cv} --folds 1"));
    assert!(message.contains("fold"), "{message}");
}

#[test]
fn data_and_outputs_are_described() {
    let folder = Folder::new();
    folder.write("train.csv", customers(120, 0, &CITIES));
    let found = folder.json("describe --data train.csv --id customer --targets spend_*");
    assert_eq!(
        (number(&found, "n_samples"), number(&found, "categories")),
        (120.0, 2.0)
    );
    assert_eq!(
        (number(&found, "missing_features"), number(&found, "duplicates")),
        (11.0, 0.0)
    );
    let every = "describe --data train.csv --id customer --targets spend_* --outputs --features";
    let text = folder.ok(every);
    assert!(text.contains("category \"city\": 4 values: [\"Bern\","), "{text}");
    assert!(text.contains("\"spend_fun\""), "{text}");
    let lists = folder.json(every);
    let (outputs, features) = (
        lists["outputs"].as_array().unwrap(),
        lists["features"].as_array().unwrap(),
    );
    assert_eq!(outputs.len() as f64, number(&lists, "n_outputs"));
    let feature = |name: &str| features.iter().find(|feature| feature["name"] == name).unwrap();
    assert_eq!(feature("city")["kind"], "category");
    assert_eq!(number(feature("city"), "categories"), 4.0);
    assert!(feature("city").get("mean").is_none());
    let missing: f64 = features.iter().map(|feature| number(feature, "missing")).sum();
    assert_eq!(missing, number(&lists, "missing_features"));
    let without = folder.json("describe --data train.csv --id customer");
    assert_eq!(number(&without, "n_outputs"), 0.0);
    assert!(
        ["task", "cardinality"]
            .iter()
            .all(|key| without.get(key).is_none())
            && number(&without, "n_features") > number(&lists, "n_features")
    );
    folder.write("labels.csv", "x,a,b\n1,1,0\n2,0,0\n3,1,1\n4,1,0\n");
    let found = folder.json("describe --data labels.csv --n-targets 2");
    assert_eq!(
        (number(&found, "cardinality"), number(&found, "unlabelled")),
        (1.0, 1.0)
    );
    assert_eq!(
        (number(&found, "mean_ir"), number(&found, "label_sets")),
        (2.0, 3.0)
    );
    folder.ok("train --data labels.csv --n-targets 2 --trees 5 --model m.rpo");
    folder.ok("evaluate --data labels.csv --model m.rpo --per-output outputs.csv");
    let outputs = folder.read("outputs.csv");
    let mut lines = outputs.lines();
    let header = "output,support,precision,recall,f1,mcc,g-mean,balanced-accuracy,auc,average-precision,log-loss,\
                  brier,ece,threshold";
    assert_eq!(lines.next(), Some(header));
    assert!(lines.next().unwrap().starts_with("a,3,") && lines.next().unwrap().starts_with("b,1,"));
    // No value of b is observed, and expected F1 needs no thresholds.
    folder.write("gaps.csv", "x,a,b\n1,1,\n2,0,\n3,1,\n");
    folder.ok(
        "evaluate --data gaps.csv --missing-outputs --model m.rpo --metrics lrap --decide f1 --per-output gaps-of.csv",
    );
    let gaps = folder.read("gaps-of.csv");
    let rows: Vec<&str> = gaps.lines().collect();
    assert!(rows[1].starts_with("a,2,") && rows[1].ends_with(','), "{gaps}");
    assert_eq!(rows[2], "b,0,,,,,,,,,,,,");
    let names = "log-loss,brier,ece,mcc,g-mean,balanced-accuracy";
    let scores = folder.json(&format!(
        "evaluate --data labels.csv --model m.rpo --metrics {names}"
    ));
    assert!(
        names.split(',').all(|name| number(&scores, name).is_finite()),
        "{scores}"
    );
    assert!(number(&scores, "brier") < 0.25, "{scores}");
    // Ridge does not predict probabilities.
    folder.ok("train --data labels.csv --n-targets 2 --method ridge --lambda variance:0.3 --model ridge.rpo");
    folder.write("far.csv", "x,a,b\n40,1,0\n-40,0,1\n");
    let message = folder.fail("evaluate --data far.csv --model ridge.rpo --metrics log-loss");
    assert!(
        message.contains("must be a probability")
            && message.contains("help: log-loss, brier, ece, --rerank and --decide f1 are for"),
        "{message}"
    );
    folder.ok("evaluate --data far.csv --model ridge.rpo --per-output outputs.csv");
    assert!(
        folder.read("outputs.csv").contains(",,,,"),
        "no errors of probabilities"
    );
}

#[test]
fn samples_weigh_what_a_column_or_a_file_says() {
    let folder = Folder::new();
    // Of two samples at every point, one is wrong and has weight 0.
    let (mut weighted, mut plain, mut weights) = ("x,w,y\n".to_owned(), "x,y\n".to_owned(), String::new());
    for i in 0..60 {
        let (x, wrong) = (i / 2, i % 2 == 1);
        let (y, weight) = if wrong { (1000, 0.0) } else { (x, 0.5) };
        weighted += &format!("{x},{weight},{y}\n");
        plain += &format!("{x},{y}\n");
        weights += &format!("{weight}\n");
    }
    folder.write("weighted.csv", weighted);
    folder.write("plain.csv", plain);
    folder.write("weights.txt", weights);
    let train = |data: &str, weights: &str, options: &str| {
        folder.ok(&format!(
            "train --data {data} --targets y {options} --seed 2 --sample-weights {weights} --model m.rpo"
        ));
        folder.ok("predict --data plain.csv --model m.rpo")
    };
    for options in [
        "--method extra-trees --trees 20",
        "--method gbmort --iterations 20",
    ] {
        let by_column = train("weighted.csv", "w", options);
        let values: Vec<f64> = by_column.lines().skip(1).map(|y| y.parse().unwrap()).collect();
        assert!(values.iter().all(|y| *y < 40.0), "{options}: {values:?}");
        assert_eq!(train("plain.csv", "weights.txt", options), by_column);
    }
    let cv = "cv --data weighted.csv --targets y --folds 3 --method extra-trees --sample-weights";
    assert!(number(&folder.json(&format!("{cv} w")), "n_samples") == 60.0);
    folder.write("bad.txt", "1\nheavy\n");
    for (weights, message) in [
        ("v", "there is no feature \"v\" and no file of that name"),
        ("bad.txt", "bad.txt: line 2: \"heavy\" is not a number"),
        (
            "w --method label-embedding --link-loss squared",
            "does not take sample weights",
        ),
    ] {
        let found = folder.fail(&format!("{cv} {weights}").replace("--method extra-trees", ""));
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn a_column_may_list_the_labels() {
    let folder = Folder::new();
    let rows = |n: usize, first: usize, more: &str| {
        let mut text = "x,y,tags\n".to_owned();
        for i in first..first + n {
            let (x, y) = (i * 7 % 10, i * 3 % 10);
            let tags = [(x > 4, "large"), (y > 4, "tall"), (x > 7 && y < 3, "rare")];
            let tags: Vec<&str> = tags.into_iter().filter(|tag| tag.0).map(|tag| tag.1).collect();
            text += &format!("{x},{y},{}\n", tags.join("|"));
        }
        text + more
    };
    folder
        .write("train.csv", rows(150, 0, ""))
        .write("test.csv", rows(40, 150, "1,1,new|tall\n"));
    let list = "--label-list tags --label-separator |";
    let trained = folder.json(&format!(
        "train --data train.csv {list} --method extra-trees --trees 20 --model m.rpo"
    ));
    assert_eq!(
        (number(&trained, "n_features"), number(&trained, "n_outputs")),
        (2.0, 3.0)
    );
    let predicted = folder.ok("predict --data test.csv --model m.rpo");
    assert!(predicted.starts_with("large,rare,tall\n"), "{predicted}");
    let evaluated = folder.run(&format!(
        "evaluate --data test.csv {list} --model m.rpo --metrics lrap,micro-f1 --json"
    ));
    let note = "note: label \"new\", which occurs once, is not among the model's labels: it is left out, as if no sample \
                had it; scores that count it as missed would be worse\n";
    assert_eq!((evaluated.code, evaluated.stderr.as_str()), (Some(0), note));
    let scores: serde_json::Value = serde_json::from_str(&evaluated.stdout).unwrap();
    assert!(number(&scores, "lrap") > 0.95, "{scores}");
    // The model stores the column; a set with labels as columns of 0 and 1 works as well.
    let timeless = |text: &str| {
        let kept = text.lines().filter(|line| !line.contains("seconds"));
        kept.map(str::to_owned).collect::<Vec<_>>()
    };
    let metrics = "--metrics lrap,micro-f1,hamming";
    let named = folder.run(&format!(
        "evaluate --data test.csv {list} --model m.rpo {metrics}"
    ));
    let again = folder.run(&format!("evaluate --data test.csv --model m.rpo {metrics}"));
    assert_eq!(again.stderr, note);
    assert_eq!(timeless(&again.stdout), timeless(&named.stdout));
    let described = folder.run(&format!(
        "describe --data train.csv {list} --test test.csv --json"
    ));
    assert!(
        described.stderr.contains("not among the data's labels"),
        "{}",
        described.stderr
    );
    let described: serde_json::Value = serde_json::from_str(&described.stdout).unwrap();
    assert_eq!(number(&described, "unlearnable"), 1.0);
    folder.ok(&format!("convert --data test.csv {list} --out columns.csv"));
    folder.ok("evaluate --data columns.csv --model m.rpo");
    folder.write("none.csv", "x,y\n1,2\n");
    let message = folder.fail("evaluate --data none.csv --model m.rpo");
    assert!(
        message.contains("\"tags\"") && message.contains("--label-list"),
        "{message}"
    );
    folder.ok(&format!(
        "split --data train.csv {list} --train a.csv --test b.csv --test-fraction 0.3"
    ));
    folder.ok(&format!("cv --data train.csv {list} --trees 3 --folds 3"));
    let message = folder.fail(&format!(
        "train --data train.csv {list} --task regression --model n.rpo"
    ));
    assert!(message.contains("\"tags\""), "{message}");
}

/// Words with very many values, encoded as means of the outputs: stored in the model, and missing or new words are not
/// errors.
#[test]
fn what_becomes_of_words_is_recorded() {
    let folder = Folder::new();
    folder.write("t.csv", customers(120, 0, &CITIES));
    let data = "--data t.csv --targets spend_food,spend_fun --id customer --method gbmort";
    for (layout, nominal) in [("dense", "native"), ("sparse", "one-hot")] {
        let data = format!("train {data} --layout {layout}");
        folder.ok(&format!("{data} --iterations 5 --model m.rpo"));
        let parameters = folder.ok("inspect --model m.rpo --params");
        assert!(
            parameters.contains(&format!("\"nominal\": \"{nominal}\"")),
            "{parameters}"
        );
        folder.write("p.json", &parameters);
        folder.ok(&format!("{data} --params p.json --model again.rpo"));
        let bytes = |file: &str| std::fs::read(folder.path(file)).unwrap();
        assert!(bytes("m.rpo") == bytes("again.rpo"), "{layout}");
        folder.ok(&format!(
            "{data} --iterations 8 --continue m.rpo --model longer.rpo"
        ));
    }
}

#[test]
fn words_become_means_of_outputs() {
    let folder = Folder::new();
    let words: Vec<String> = (0..60).map(|w| format!("w{}", w * 7 % 60)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    folder.write("train.csv", customers(600, 0, &words));
    folder.write("test.csv", customers(100, 600, &words));
    let ridge = "--id customer --targets spend_* --method ridge --impute median";
    let r2 = |model: &str, options: &str| {
        folder.ok(&format!(
            "train --data train.csv {ridge} {options} --model {model}"
        ));
        number(
            &folder.json(&format!("evaluate --data test.csv --model {model}")),
            "r2",
        )
    };
    let (target, codes) = (r2("t.rpo", "--nominal target"), r2("c.rpo", "--nominal codes"));
    assert!(target > 0.8 && target > codes + 0.2, "{target} {codes}");

    folder.ok(&format!("cv --data train.csv {ridge} --nominal target --folds 3"));
    // A missing word needs no imputation, and a word unseen in training is noted.
    folder.write(
        "new.csv",
        "city,age,since,member\n,30,2024-05-05,no\nw99,30,2024-05-05,no\n",
    );
    let run = folder.run("predict --data new.csv --model t.rpo");
    let note = "note: the value \"w99\" of \"city\" was not in the training data and counts as missing; --unseen error \
        refuses it\n";
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), note));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[1], lines[2]);
    let message =
        folder.fail("train --data train.csv --targets spend_* --nominal target --oob --model n.rpo");
    assert!(message.contains("--nominal target"), "{message}");
}

#[test]
fn options_of_columns_are_for_tables() {
    let folder = Folder::new();
    folder
        .write("x.svm", "0 1:1 2:3\n1 1:2\n0,1 2:1\n1 1:3 2:2\n")
        .write("x.txt", "3 2 2\n0 0:1\n1 1:2\n0,1 0:3\n")
        .write(
            "x.arff",
            "@relation r\n@attribute x numeric\n@attribute y {0,1}\n@data\n1,0\n2,1\n3,1\n",
        );
    let options = [
        (
            "--types x=category",
            "--types, --categorical, --dates and --text are",
        ),
        (
            "--categorical x",
            "--types, --categorical, --dates and --text are",
        ),
        ("--dates x", "--types, --categorical, --dates and --text are"),
        ("--text x", "--types, --categorical, --dates and --text are"),
        ("--ignore x", "--ignore is"),
        ("--id x", "--id is"),
    ];
    let delimiter = "--delimiter is for CSV files";
    let missing = "--missing-values is for CSV files";
    for data in ["x.svm", "x.txt", "x.arff --targets y"] {
        folder.ok(&format!("train --data {data} --trees 2 --model m.rpo"));
        let is_arff = data.starts_with("x.arff");
        for (option, named) in options
            .into_iter()
            .filter(|(option, _)| !(is_arff && *option == "--ignore x"))
        {
            let expected = format!("{named} for columns of CSV, Parquet and Arrow files");
            for command in ["train --trees 2 --model n.rpo", "describe"] {
                let message = folder.fail(&format!("{command} --data {data} {option}"));
                assert!(message.contains(&expected), "{data} {option}: {message}");
            }
        }
        let file = data.split(' ').next().expect("a name");
        for command in [
            "train --trees 2 --model n.rpo",
            "describe",
            "convert --out y.csv",
            "split --train a --test b --test-fraction 0.5",
        ] {
            let message = folder.fail(&format!("{command} --data {data} --delimiter ;"));
            assert!(message.contains(delimiter), "{command} {data}: {message}");
            let message = folder.fail(&format!("{command} --data {data} --missing-values -1"));
            assert!(message.contains(missing), "{command} {data}: {message}");
        }
        for command in ["predict --model m.rpo", "evaluate --model m.rpo"] {
            let message = folder.fail(&format!("{command} --data {file} --delimiter ;"));
            assert!(message.contains(delimiter), "{command} {data}: {message}");
            folder.ok(&format!("{command} --data {file}"));
            let message = folder.fail(&format!("{command} --data {file} --id x"));
            assert!(
                message.contains("--id is for columns of CSV"),
                "{data}: {message}"
            );
        }
    }
    let of_csv = [
        ("--delimiter ;", "--delimiter"),
        ("--missing-values -1", "--missing-values"),
    ];
    for (option, named) in options.into_iter().chain(of_csv) {
        let message = folder.fail(&format!("train --data @emotions {option} --model n.rpo"));
        let expected = named.split([' ', ',']).next().expect("an option");
        assert!(
            message.contains("the catalogue") && message.contains(expected),
            "{message}"
        );
    }
}

#[test]
fn names_with_commas_stand_in_quotes() {
    let folder = Folder::new();
    let rows: String = (0..20).map(|i| format!("{i},{},{}\n", i % 3, i % 2)).collect();
    folder.write("t.csv", format!("x,\"y,one\",z\n{rows}"));
    folder.ok("train --data t.csv --targets \"y,one\",z --task regression --trees 2 --model m.rpo");
    folder.ok("predict --data t.csv --model m.rpo --out p.csv");
    assert!(folder.read("p.csv").starts_with("\"y,one\",z\n"));
    let left = folder.json("describe --data t.csv --targets z --ignore \"y,one\"");
    assert_eq!(number(&left, "n_features"), 1.0);
    let message = folder.run("describe --data t.csv --targets \"y,one").stderr;
    assert!(message.contains("double quote that is not closed"), "{message}");
}

/// Penalties are in units of samples of weight 1.
#[test]
fn weights_so_small_that_penalties_dominate_are_noted() {
    let folder = Folder::new();
    let rows: String = (0..60)
        .map(|i| format!("{},{},0.001\n", i % 7, 2 * (i % 7)))
        .collect();
    folder.write("t.csv", format!("x,y,w\n{rows}"));
    let run = |method: &str| {
        let train =
            format!("train --data t.csv --targets y --sample-weights w --model m.rpo --method {method}");
        let run = folder.run(&train);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stderr.contains("the mean weight is 1.00e-3")
    };
    for penalized in [
        "gbmort --iterations 2",
        "gbmort --iterations 2 --leaf-l2 0 --min-split-gain 1",
        "single-target-gbrt --iterations 2 --leaf-l2 0 --leaf-l1 1",
        "ridge --lambda variance:0.3",
    ] {
        assert!(run(penalized), "{penalized}");
    }
    for free in [
        "extra-trees --trees 2",
        "single-target-forest --trees 2",
        "gbmort --iterations 2 --leaf-l2 0",
        "gbmort --iterations 2 --loss absolute",
        "gbmort --iterations 2 --preset paper",
        "gbrt-rpo --iterations 2",
        "ridge",
        "ridge --lambda 0.1",
        "ridge --lambda variance:0",
    ] {
        assert!(!run(free), "{free}");
    }
}
