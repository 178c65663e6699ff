//! What features contribute to predictions.

use crate::common::Folder;
use crate::serve::lines as served;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Rows whose price depends on a category and a number; another number has no part in it.
fn table(n: usize) -> String {
    let mut text = "name,kind,x,z,price\n".to_owned();
    for i in 0..n {
        let (kind, x, z) = (["a", "b", "c", "d"][i * 7 % 4], i * 5 % 11, i * 3 % 8);
        writeln!(text, "s{i},{kind},{x},{z},{}", 10 * (i * 7 % 4) + x).unwrap();
    }
    text
}

#[test]
fn contributions_add_up_to_scores() {
    let folder = Folder::new();
    folder.write("train.csv", table(200)).write("test.csv", table(12));
    for method in ["random-forest --trees 20", "gbmort --iterations 20", "ridge"] {
        folder.json(&format!(
            "train --method {method} --data train.csv --ignore name --targets price --model m.rpo"
        ));
        let predicted = folder.ok("predict --model m.rpo --data test.csv");
        let explain = "explain --model m.rpo --data test.csv --background train.csv --id name";
        let written = folder.ok(explain);
        let mut lines = written.lines();
        assert_eq!(lines.next(), Some("name,output,score,base,feature,contribution"));
        let lines: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        for (i, prediction) in predicted.lines().skip(1).enumerate() {
            let name = format!("s{i}");
            let of_sample: Vec<_> = lines.iter().filter(|line| line[0] == name).collect();
            let number = |text: &str| text.parse::<f64>().unwrap();
            let given: Vec<f64> = of_sample.iter().map(|line| number(line[5])).collect();
            assert!(given.is_sorted_by(|a, b| a.abs() >= b.abs()), "{given:?}");
            let (score, base) = (number(of_sample[0][2]), number(of_sample[0][3]));
            assert!((base + given.iter().sum::<f64>() - score).abs() < 1e-3);
            assert!(
                (number(prediction) - score).abs() < 1e-3,
                "{method}, {name}: {score}"
            );
            // The category is one feature, whatever columns it becomes.
            assert!(of_sample.iter().all(|line| ["kind", "x", "z"].contains(&line[4])));
        }
        let best = folder.ok(&format!("{explain} --features 1 --outputs price"));
        assert_eq!(best.lines().count(), 13);
    }
}

/// Every method has permutation importances, one for each column of the file.
#[test]
fn shuffled_columns_make_scores_worse() {
    let folder = Folder::new();
    let mut text = "kind,x,day,note,price\n".to_owned();
    for i in 0..80 {
        let (kind, x) = (["a", "b", "c"][i * 7 % 3], i * 5 % 11);
        let note = ["very good", "good, or bad", "bad"][i / 7 % 3];
        writeln!(
            text,
            "{kind},{x},2024-01-{:02},{note:?},{}",
            1 + i % 28,
            10 * (i * 7 % 3) + x
        )
        .unwrap();
    }
    folder.write("all.csv", text);
    for method in ["extra-trees --trees 20", "blend --members ridge;extra-trees"] {
        folder.json(&format!(
            "train --method {method} --data all.csv --targets price --text note --model m.rpo"
        ));
        let evaluate = "evaluate --model m.rpo --data all.csv --metrics mse,r2 --importances";
        folder.ok(&format!("{evaluate} i.csv --threads 1"));
        folder.ok(&format!("{evaluate} again.tsv --threads 2"));
        let written = folder.read("i.csv");
        assert_eq!(folder.read("again.tsv"), written.replace(',', "\t"));
        let lines: Vec<Vec<&str>> = written.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(lines[0], ["column", "importance", "deviation"]);
        let mut columns: Vec<&str> = lines[1..].iter().map(|line| line[0]).collect();
        assert_eq!(columns[..2], ["kind", "x"], "{written}");
        columns.sort_unstable();
        assert_eq!(columns, ["day", "kind", "note", "x"]);
        let importance = |line: &[&str]| line[1].parse::<f64>().unwrap();
        assert!(importance(&lines[1]) > 50.0, "{written}");
        assert!(
            lines[1..].is_sorted_by(|a, b| importance(a) >= importance(b)),
            "{written}"
        );
        folder.ok(&format!("{evaluate} other.csv --seed 1 --repeats 1"));
        let other = folder.read("other.csv");
        assert!(
            other != written && other.lines().nth(1).is_some_and(|line| line.ends_with(',')),
            "{other}"
        );
    }
    let refused = folder.fail("evaluate --model m.rpo --data all.csv --importances i.csv --repeats 0");
    assert!(refused.contains("repeats"), "{refused}");
    folder.fail("evaluate --model m.rpo --data all.csv --importances i.json");
}

/// What is wrong with a sample of the background is said of that sample, whatever samples are explained.
#[test]
fn a_background_is_checked_by_itself() {
    let folder = Folder::new();
    let full = table(40);
    let lines: Vec<&str> = full.lines().collect();
    let mut fields: Vec<&str> = lines[5].split(',').collect();
    fields[2] = "";
    let without = format!("{}\n{}\n", lines[..5].join("\n"), fields.join(","));
    folder
        .write("train.csv", &full)
        .write("two.csv", format!("{}\n", lines[..3].join("\n")))
        .write("lacks.csv", without);
    folder.ok("train --data train.csv --ignore name --targets price --model r.rpo --method ridge");
    let explain = "explain --model r.rpo --background lacks.csv --data";
    for data in ["two.csv", "train.csv"] {
        let message = folder.fail(&format!("{explain} {data}"));
        assert!(
            message.contains("lacks.csv") && message.contains("row 4"),
            "{message}"
        );
    }
    let message = folder.fail("serve --model r.rpo --background lacks.csv");
    assert!(message.contains("row 4"), "{message}");
}

#[test]
fn an_output_whose_name_has_a_comma_is_explained() {
    let folder = Folder::new();
    let rows: String = (0..20).map(|i| format!("{i},{},{}\n", 2 * i, i % 3)).collect();
    folder.write("t.csv", "x,\"depth, m\",width\n".to_owned() + &rows);
    folder.ok("train --data t.csv --n-targets 2 --method ridge --model m.rpo");
    let mut command = folder.command("explain --data t.csv --model m.rpo --outputs");
    let output = command.arg("\"depth, m\"").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && text.contains("\n0,\"depth, m\","),
        "{text}"
    );
    assert!(!text.contains("width"), "{text}");
}

#[test]
fn what_cannot_be_explained_is_said() {
    let folder = Folder::new();
    folder.write("train.csv", table(60)).write("one.csv", table(1));
    let train = "train --data train.csv --ignore name --targets price --model m.rpo --method";
    folder.json(&format!("{train} extra-trees --trees 3"));
    let explain = "explain --model m.rpo --data";
    assert!(
        folder
            .fail(&format!("{explain} one.csv"))
            .contains("--background")
    );
    assert!(
        folder
            .fail(&format!("{explain} train.csv --outputs cost"))
            .contains("\"cost\"")
    );
    assert!(
        folder
            .fail(&format!("{explain} train.csv --top-k 1"))
            .contains("--top-k is for labels")
    );
    assert!(
        folder
            .fail(&format!(
                "{explain} train.csv --background train.csv --out train.csv"
            ))
            .contains("train.csv")
    );
    let id = folder.fail(&format!("{explain} train.csv --id score"));
    assert!(
        id.contains("\"score\" is also the name of a column of explanations"),
        "{id}"
    );
    folder.json(&format!("{train} baseline"));
    assert!(
        folder
            .fail(&format!("{explain} train.csv"))
            .contains("models of the kind baseline")
    );
}

/// A server explains as the command does, and only where a request asks for it.
#[test]
fn servers_explain_as_the_command_does() {
    let folder = Folder::new();
    let mut text = "kind,x,red,blue\n".to_owned();
    for i in 0..60 {
        let (kind, x) = (["a", "b", "c"][i * 7 % 3], i * 5 % 11);
        writeln!(
            text,
            "{kind},{x},{},{}",
            u8::from(x > 4),
            u8::from(i * 7 % 3 == 1)
        )
        .unwrap();
    }
    folder.write("train.csv", text).write("one.csv", "kind,x\nb,9\n");
    folder.json("train --data train.csv --targets red,blue --trees 10 --model m.rpo");
    let explained = |options: &str| {
        let explain = "explain --model m.rpo --data one.csv --background train.csv --features 1";
        let text = folder.ok(&format!("{explain} {options}"));
        let lines = text.lines().skip(1).map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |i: usize| cells[i].parse::<f32>().unwrap();
            json!({"output": cells[1], "score": number(2), "base": number(3),
                "contributions": [{"feature": cells[4], "contribution": number(5)}]})
        });
        lines.collect::<Vec<Value>>()
    };
    let rows = r#""rows":[{"kind":"b","x":9}]"#;
    let requests = [
        format!("{{{rows},\"explain\":1}}"),
        format!("{{{rows},\"explain\":1,\"top_k\":1,\"id\":7}}"),
        format!("{{{rows},\"explain\":1,\"decide\":true}}"),
        format!("{{{rows}}}"),
        "{\"rows\":[],\"explain\":3}".to_owned(),
    ];
    let found = served(
        &folder,
        "--model m.rpo --background train.csv",
        &(requests.join("\n") + "\n"),
    );
    let narrow = |lines: Vec<Value>| json!([lines]);
    let close = |a: &Value, b: Value| {
        // Numbers are parsed as f64 here and as f32 there.
        let rounded = |v: &Value| {
            let text = v.to_string();
            let numbers = text.split([',', '}', ':']).map(|part| match part.parse::<f64>() {
                Ok(number) => format!("{number:.5}"),
                Err(_) => part.to_owned(),
            });
            numbers.collect::<Vec<_>>()
        };
        assert_eq!(rounded(a), rounded(&b));
    };
    close(&found[0]["explanations"], narrow(explained("")));
    close(&found[1]["explanations"], narrow(explained("--top-k 1")));
    assert_eq!(found[1]["id"], 7);
    let decided = found[2]["predictions"][0].as_array().unwrap().len();
    assert_eq!(found[2]["explanations"][0].as_array().unwrap().len(), decided);
    assert!(found[3].get("explanations").is_none());
    assert_eq!(found[4]["explanations"], json!([]));
    let refused = served(&folder, "--model m.rpo", &format!("{}\n", requests[0]));
    let message = refused[0]["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("cannot explain predictions: start it with typical samples, --background FILE"),
        "{message}"
    );
    let limited = "--model m.rpo --background train.csv --max-values 3";
    let refused = served(&folder, limited, &format!("{{{rows},\"explain\":2}}\n"));
    let message = refused[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("4 values, at most 3"), "{message}");
    folder.json("train --method label-tree --data train.csv --targets red,blue --model t.rpo");
    let message = folder.fail("serve --model t.rpo --background train.csv");
    assert!(message.contains("label-tree"), "{message}");
}

/// Features that no sample has change no explanation.
#[test]
fn scores_are_explained_alike_however_many_features_there_are() {
    let folder = Folder::new();
    let explained = |last: u32| {
        let mut text = String::new();
        for i in 0..40 {
            let labels = ["0", "1", "0,1", "0"][i % 4];
            let further = if i % 4 == 1 {
                String::new()
            } else {
                format!(" {last}:1.5")
            };
            writeln!(text, "{labels} 1:{} 3:0.5{further}", 1 + i % 4).unwrap();
        }
        folder.write("t.svm", text);
        folder.ok("train --method one-vs-rest --data t.svm --model m.rpo --json");
        let name = format!(",{},", last - 1);
        let lines = folder.ok("explain --model m.rpo --data t.svm");
        assert!(lines.contains(&name), "{lines}");
        lines.replace(&name, ",last,")
    };
    let (some, many) = (explained(70_000), explained(6_000_000));
    assert_eq!(some, many);
    assert!(some.lines().count() > 40 * 2);
}
