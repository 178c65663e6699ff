//! Columns of texts, in every command.

use crate::common::{Folder, number};
use serde_json::Value;

/// Reviews: the words determine whether a product is liked, and its size and stars are further columns.
fn reviews(n: usize, first: usize) -> String {
    let mut text = "id,review,size,stars,liked,broken\n".to_owned();
    for i in first..first + n {
        let (liked, broken) = (i * 7 % 5 < 3, i * 11 % 4 == 0);
        let opinion = if liked {
            "Très BIEN, would buy"
        } else {
            "not good; would not buy"
        };
        let state = if broken { "arrived broken" } else { "fine" };
        let size = ["small", "medium", "large"][i % 3];
        // Some reviews are empty.
        let review = if i % 17 == 0 {
            String::new()
        } else {
            format!("{opinion}\nit is {state} word{i}")
        };
        text += &format!(
            "r{i},\"{review}\",{size},{},{},{}\n",
            i % 6,
            u8::from(liked),
            u8::from(broken)
        );
    }
    text
}

const DATA: &str = "--data train.csv --id id --targets liked,broken --text review";

#[test]
fn texts_go_from_file_to_prediction() {
    let folder = Folder::new();
    folder
        .write("train.csv", reviews(200, 0))
        .write("test.csv", reviews(60, 1000));
    for method in [
        "extra-trees --trees 10",
        "one-vs-rest",
        "craftml --trees 5",
        "logistic-regression --standardize",
    ] {
        let trained = folder.json(&format!("train {DATA} --method {method} --model m.rpo"));
        // Size, stars, and the words of more than one review: arrived, bien, broken, buy, fine, good, is, it, not, très, would.
        assert_eq!(number(&trained, "n_features"), 13.0, "{method}");
        let scores = folder.json("evaluate --model m.rpo --data test.csv --metrics lrap,micro-f1");
        assert!(number(&scores, "lrap") > 0.95, "{method}: {scores}");
    }
    let predicted = folder.ok("predict --data test.csv --id id --model m.rpo");
    // The columns in another order, with some that are not needed, and without outputs.
    let mut other = "x,stars,review,size\n".to_owned();
    for row in reviews(60, 1000).split("\nr").skip(1) {
        let (review, rest) = row.split_once(",\"").unwrap().1.split_once("\",").unwrap();
        let cells: Vec<&str> = rest.trim_end().split(',').collect();
        other += &format!("?,{},\"{review}\",{}\n", cells[1], cells[0]);
    }
    folder.write("other.csv", other);
    let again = folder.ok("predict --data other.csv --model m.rpo");
    let scores = |text: &str, skip: usize| -> Vec<String> {
        let lines = text.lines().skip(1);
        lines
            .map(|line| line.split(',').skip(skip).collect::<Vec<_>>().join(","))
            .collect()
    };
    assert_eq!(scores(&again, 0), scores(&predicted, 1));
    folder.write("few.csv", "size,stars\nsmall,1\n");
    let message = folder.fail("predict --data few.csv --model m.rpo");
    assert!(
        message.contains("the data has no column \"review\", which the model needs\n"),
        "{message}"
    );
    // Beside texts, categories become indicators for trees too, unless another encoding is set.
    for (nominal, has_indicators) in [("", true), ("--nominal codes", false)] {
        folder.ok(&format!("train {DATA} --trees 2 {nominal} --model t.rpo"));
        let inspected = folder.ok("inspect --model t.rpo --top-features 20");
        assert_eq!(inspected.contains("size=small"), has_indicators, "{inspected}");
    }
    let inspected = folder.ok("inspect --model m.rpo");
    assert!(
        inspected.contains("text_weights") && inspected.contains("tf-idf"),
        "{inspected}"
    );
}

#[test]
fn every_command_reads_texts() {
    let folder = Folder::new();
    folder
        .write("train.csv", reviews(120, 0))
        .write("test.csv", reviews(30, 500));
    let scores = folder.json(&format!(
        "cv {DATA} --method one-vs-rest --folds 3 --metrics lrap"
    ));
    assert!(scores["lrap"]["mean"].as_f64().unwrap() > 0.95, "{scores}");
    let tuned = folder.json(&format!(
        "tune {DATA} --method one-vs-rest --space text-weights=tf-idf,counts --metric lrap --model t.rpo"
    ));
    assert_eq!(tuned["trials"].as_array().unwrap().len(), 2);
    let described = folder.ok(&format!("describe {DATA} --text-ngrams 1-2 --test test.csv"));
    assert!(
        described.contains("text \"review\": 23 terms") && described.contains("n_test"),
        "{described}"
    );
    let hashed = folder.ok(&format!("describe {DATA} --text-hash 16 --text-case"));
    assert!(
        hashed.contains("text \"review\": terms hashed to 16 features"),
        "{hashed}"
    );
    // Members of blend and auto support texts.
    folder.ok(&format!(
        "train {DATA} --method blend --members=ridge;one-vs-rest --model b.rpo"
    ));
    let scores = folder.json("evaluate --model b.rpo --data test.csv --metrics lrap");
    assert!(number(&scores, "lrap") > 0.95, "{scores}");
    // Terms are weighted only once, by the member.
    let predict = |method: &str| {
        folder.ok(&format!("train {DATA} --method {method} --model p.rpo"));
        folder.ok("predict --data test.csv --model p.rpo")
    };
    assert_eq!(predict("blend --members=one-vs-rest"), predict("one-vs-rest"));
    // Weights of terms by name; counts are the weights as read.
    folder.ok(&format!(
        "train {DATA} --method ridge --text-weights counts --model c.rpo"
    ));
    folder.ok("evaluate --model c.rpo --data test.csv");
}

#[test]
fn served_rows_have_texts() {
    let folder = Folder::new();
    folder.write("train.csv", reviews(200, 0));
    folder.ok(&format!("train {DATA} --method one-vs-rest --model m.rpo"));
    folder.write(
        "rows.csv",
        "review,size,stars\nnot GOOD arrived broken,small,2\n,large,3\n",
    );
    let expected = folder.ok("predict --data rows.csv --model m.rpo");
    let rows = "[{\"review\":\"not GOOD arrived broken\",\"size\":\"small\",\"stars\":2},\
        {\"review\":null,\"size\":\"large\",\"stars\":3}]\n{\"review\":5}\n";
    folder.write("rows.json", rows);
    let input = std::fs::File::open(folder.path("rows.json")).unwrap();
    let output = folder
        .command("serve --model m.rpo")
        .stdin(input)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let served = lines.next().unwrap();
    for (row, line) in expected.lines().skip(1).enumerate() {
        for (name, value) in ["liked", "broken"].iter().zip(line.split(',')) {
            let value: f64 = value.parse().unwrap();
            assert_eq!(served["predictions"][row][name].as_f64(), Some(value), "{served}");
        }
    }
    assert_eq!(lines.next().unwrap()["error"]["column"], "size");
}

#[test]
fn long_texts_are_no_categories_by_mistake() {
    let folder = Folder::new();
    folder
        .write("train.csv", reviews(100, 0))
        .write("x.svm", "0 1:2\n1 2:1\n");
    let run = folder.run("train --data train.csv --id id --targets liked,broken --trees 2 --model m.rpo");
    let note = "note: feature \"review\" is a category of 94 values that look like texts; --text makes features of their words\n";
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), note));
    let refused = |options: &str| {
        folder.fail(&format!(
            "train {options} --targets liked --trees 2 --model m.rpo"
        ))
    };
    let message = refused("--data train.csv --text review,sizes");
    assert!(
        message.contains("\"sizes\", which does not exist (did you mean \"size\"?)"),
        "{message}"
    );
    let message = refused("--data train.csv --text review --text-min-samples 1000");
    assert!(
        message.contains("no term of the texts of \"review\" occurs in 1000 samples or more"),
        "{message}"
    );
    let message = refused("--data train.csv --text review --text-ngrams 3-2");
    assert!(message.contains("--text-ngrams"), "{message}");
    for of_texts in ["--text-case", "--text-ngrams 1-2", "--text-hash 64"] {
        let run = folder.run(&format!("train --data train.csv --model m.rpo {of_texts}"));
        assert!(
            run.code == Some(2) && run.stderr.contains("--text <NAME,...>"),
            "{}",
            run.stderr
        );
    }
    let message = refused("--data train.csv --text liked");
    assert!(message.contains("target"), "{message}");
    let message = folder.fail("train --data x.svm --text review --model m.rpo");
    assert!(
        message.contains("--text are for columns of CSV, Parquet and Arrow files"),
        "{message}"
    );
}

#[test]
fn a_table_of_the_terms_of_texts_is_predicted_as_the_texts() {
    let folder = Folder::new();
    folder
        .write("train.csv", reviews(200, 0))
        .write("few.csv", reviews(4, 1000));
    let convert = |data: &str, out: &str, options: &str| {
        folder.ok(&format!(
            "convert --data {data} --targets liked,broken --ignore id --text review {options} --out {out}"
        ));
    };
    for options in ["", "--text-hash 64"] {
        folder.ok(&format!(
            "train {DATA} {options} --method one-vs-rest --model m.rpo"
        ));
        let predict = |data: &str| folder.ok(&format!("predict --model m.rpo --data {data}"));
        let expected = predict("train.csv");
        for out in ["terms.csv", "terms.arff"] {
            convert("train.csv", out, options);
            assert_eq!(predict(out), expected, "{out} {options}");
        }
    }
    // The features of hashed terms are not listed.
    let trained = folder.json(&format!(
        "train {DATA} --text-hash 65536 --method baseline --model m.rpo"
    ));
    // Four bytes for the weight of each, and little else.
    assert!(number(&trained, "model_bytes") < 270_000.0, "{trained}");
    // Texts with other terms.
    folder.ok(&format!("train {DATA} --method one-vs-rest --model m.rpo"));
    convert("few.csv", "other.csv", "");
    let message = folder.fail("predict --model m.rpo --data other.csv");
    assert!(
        message.contains("the data has no column \"review\", which the model needs")
            && message.contains("help: a model of texts or dates takes their columns"),
        "{message}"
    );
}

/// A date counts in ten thousands of days, beside which texts of length 1 would not count.
#[test]
fn numbers_beside_texts_do_not_outweigh_them() {
    let folder = Folder::new();
    let table = |first: usize| {
        let mut text = "review,price,since,liked\n".to_owned();
        for i in first..first + 200 {
            let liked = i * 7 % 5 < 3;
            let words = if liked { "good and solid" } else { "bad and broken" };
            let (price, month, day) = (i * 13 % 89, 1 + i % 12, 1 + i % 28);
            text += &format!(
                "{words} word{},{price}.5,2023-{month:02}-{day:02},{}\n",
                i % 20,
                u8::from(liked)
            );
        }
        text
    };
    folder.write("train.csv", table(0)).write("test.csv", table(1000));
    for method in [
        "one-vs-rest",
        "label-tree",
        "craftml --trees 20",
        "ridge",
        "logistic-regression",
        "label-embedding",
    ] {
        let train =
            format!("train --data train.csv --text review --targets liked --method {method} --model m.rpo");
        folder.ok(&train);
        let scores = folder.json("evaluate --model m.rpo --data test.csv --metrics macro-auc");
        assert!(number(&scores, "macro-auc") > 0.95, "{method}: {scores:?}");
    }
}
