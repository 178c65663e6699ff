//! What features contribute to predictions.

use crate::common::Folder;
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
    folder.json(&format!("{train} baseline"));
    assert!(
        folder
            .fail(&format!("{explain} train.csv"))
            .contains("models of the kind baseline")
    );
}
