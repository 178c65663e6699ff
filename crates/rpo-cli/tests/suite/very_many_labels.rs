//! `--method one-vs-rest` and `--method label-tree`: from a file to a model to predictions.

use crate::common::{Folder, number, xmlrepo};

fn ready() -> Folder {
    let folder = Folder::new();
    folder
        .write("train.txt", xmlrepo(300, 0))
        .write("test.txt", xmlrepo(50, 300));
    folder
}

#[test]
fn from_a_file_to_scores_and_best_labels() {
    let folder = ready();
    for method in ["one-vs-rest", "label-tree --leaf-labels 1 --trees 2"] {
        for loss in ["squared-hinge", "logistic --cost 4"] {
            folder.ok(&format!(
                "train --data train.txt --method {method} --loss {loss} --model m.rpo"
            ));
            let scores = folder.json("evaluate --data test.txt --model m.rpo --metrics p@1,psp@3,lrap");
            assert!(number(&scores, "lrap") > 0.9, "{method} {loss}: {scores}");
            let best = folder.ok("predict --data test.txt --model m.rpo --top-k 2");
            assert!(best.starts_with("row,label,score\n"), "{best}");
            let inspected = folder.json("inspect --model m.rpo");
            assert!(number(&inspected, "weights") > 0.0, "{inspected}");
            // Chosen automatically if it is not given.
            assert!(number(&inspected, "cost") > 0.0, "{inspected}");
        }
        folder.fail(&format!(
            "train --data train.txt --method {method} --cost 0 --model n.rpo"
        ));
    }
    let inspected = folder.json("inspect --model m.rpo");
    assert_eq!(number(&inspected, "trees"), 2.0);
}

#[test]
fn label_trees_grow_in_parts() {
    let folder = ready();
    let train = "train --data train.txt --method label-tree --leaf-labels 1";
    folder.ok(&format!("{train} --trees 5 --model whole.rpo"));
    folder.ok(&format!("{train} --trees 2 --model a.rpo --threads 2"));
    folder.ok(&format!("{train} --trees 3 --first-tree 2 --model b.rpo"));
    folder.ok("merge --models a.rpo b.rpo --out merged.rpo");
    let predict = |name: &str| folder.ok(&format!("predict --data test.txt --model {name}"));
    assert_eq!(predict("merged.rpo"), predict("whole.rpo"));
    let message = folder.fail("merge --models a.rpo whole.rpo --out merged.rpo");
    assert!(message.contains("both hold the same tree"), "{message}");
}

/// The beam of predictions may differ from that of training.
#[test]
fn predictions_may_have_another_beam() {
    let folder = ready();
    let train = "train --data train.txt --method label-tree --leaf-labels 1 --trees 2 --model";
    folder.ok(&format!("{train} wide.rpo"));
    folder.ok(&format!("{train} narrow.rpo --beam 1"));
    for command in ["predict", "evaluate --metrics lrap,p@1 --json"] {
        let run = |model: &str| {
            let text = folder.ok(&format!("{command} --data test.txt --model {model}"));
            text.split("\"n_samples").next().unwrap_or_default().to_owned()
        };
        assert_eq!(run("wide.rpo --beam 1"), run("narrow.rpo"));
        assert_ne!(run("wide.rpo"), run("narrow.rpo"));
    }
    folder.ok("train --data train.txt --method one-vs-rest --model o.rpo");
    let message = folder.fail("predict --data test.txt --model o.rpo --beam 3");
    assert!(message.contains("have no beam"), "{message}");
}

#[test]
fn models_of_any_methods_combine() {
    let folder = ready();
    let train = "train --data train.txt --method";
    folder.ok(&format!(
        "{train} one-vs-rest --feature-weights idf --model a.rpo"
    ));
    folder.ok(&format!("{train} craftml --trees 5 --clusters 4 --model b.rpo"));
    folder.ok("combine --models a.rpo b.rpo --weights 3 1 --out both.rpo");
    let inspected = folder.json("inspect --model both.rpo");
    assert_eq!(number(&inspected["members"][0], "weight"), 3.0);
    let scores = folder.json("evaluate --data test.txt --model both.rpo --metrics p@1,lrap");
    assert!(number(&scores, "lrap") > 0.9, "{scores}");
    folder.ok("predict --data test.txt --model both.rpo --top-k 2");
    let message = folder.fail("combine --models a.rpo b.rpo --weights 3 --out c.rpo");
    assert!(message.contains("1 numbers for 2 models"), "{message}");
    folder.fail("combine --models a.rpo b.rpo --weights 3 -1 --out c.rpo");
    let message = folder.fail("combine --models a.rpo b.rpo --weights 1e308 1e308 --out c.rpo");
    assert!(message.contains("finite in sum"), "{message}");
    let message = folder.fail("inspect --model both.rpo --params");
    assert!(message.contains("no training parameters"), "{message}");
    folder.ok("combine --models a.rpo b.rpo --weights 3,1 --out again.rpo");
    assert_eq!(folder.json("inspect --model again.rpo"), inspected);
    let found = folder.json("combine --models a.rpo b.rpo --data test.txt --combine nnls --out found.rpo");
    assert!(number(&found, "cross_fitted_macro-auc") > 0.9, "{found}");
    let message = folder.fail("combine --models a.rpo b.rpo --data test.txt --weights 1 1 --out c.rpo");
    assert!(message.contains("cannot be combined with --data"), "{message}");
    folder.ok(&format!(
        "{train} blend --members one-vs-rest;label-tree --model m.rpo"
    ));
    let scores = folder.json("evaluate --data test.txt --model m.rpo --metrics p@1,lrap");
    assert!(number(&scores, "lrap") > 0.9, "{scores}");
}

#[test]
fn rare_labels_rank_by_propensity() {
    let folder = ready();
    folder.ok("train --data train.txt --method random-forest --trees 20 --model m.rpo");
    let scores = folder.json("evaluate --data test.txt --model m.rpo --rerank propensity");
    let by_score = folder.json("evaluate --data test.txt --model m.rpo --metrics psp@1,psp@5");
    for metric in ["psp@1", "psp@5"] {
        assert!(
            number(&scores, metric) > 0.9 * number(&by_score, metric),
            "{scores}"
        );
    }
    let predict = "predict --data test.txt --model m.rpo";
    let rerank = "--rerank propensity --propensity-a 0.6";
    let best = folder.ok(&format!("{predict} --top-k 2 {rerank}"));
    assert!(best.starts_with("row,label,score\n"), "{best}");
    assert_ne!(best, folder.ok(&format!("{predict} --top-k 2")));
    folder.ok(&format!("{predict} --out-format xmlrepo {rerank}"));

    folder.ok("train --data train.txt --method ridge --model ridge.rpo");
    let evaluate = "evaluate --data test.txt --model m.rpo";
    for (command, expected) in [
        (format!("{predict} {rerank}"), "--rerank is for --top-k"),
        (
            format!("{predict} --decide --out-format xmlrepo {rerank}"),
            "--rerank is for --top-k",
        ),
        (
            format!("{predict} --top-k 2 --propensity-a 0.6"),
            "none of which was requested",
        ),
        (
            format!("{evaluate} {rerank} --metrics p@1,lrap"),
            "lrap needs more than the best k labels",
        ),
        (
            format!("evaluate --data test.txt --model ridge.rpo {rerank}"),
            "for methods whose scores are probabilities",
        ),
    ] {
        let message = folder.fail(&command);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn frequent_and_rare_labels_are_scored_apart() {
    let folder = ready();
    folder.ok("train --data train.txt --method one-vs-rest --model m.rpo");
    let evaluate = "evaluate --data test.txt --model m.rpo --by-frequency 3";
    let scores = folder.json(&format!("{evaluate} --metrics p@1,psp@2,lrap"));
    let groups = scores["by_frequency"].as_array().unwrap();
    let sum: f64 = groups.iter().map(|group| number(group, "p@1")).sum();
    assert!((sum - number(&scores, "p@1")).abs() < 1e-12, "{scores}");
    assert!(
        groups
            .iter()
            .all(|group| number(group, "r@2") >= number(group, "r@1"))
    );
    assert!(groups[1]["most_frequent"].as_u64() <= groups[0]["least_frequent"].as_u64());
    let reranked = folder.json(&format!("{evaluate} --rerank propensity"));
    assert_ne!(reranked["by_frequency"], scores["by_frequency"]);
    let text = folder.ok(&format!("{evaluate} --metrics lrap"));
    let header = text.lines().find(|line| line.contains("positives")).unwrap();
    let names: Vec<&str> = header.split_whitespace().collect();
    let expected = [
        "labels",
        "frequency",
        "positives",
        "r@1",
        "r@3",
        "r@5",
        "p@1",
        "p@3",
        "p@5",
    ];
    assert_eq!(names, expected);

    let message = folder.fail("evaluate --data test.txt --model m.rpo --by-frequency 99");
    assert!(message.contains("--by-frequency takes 1 to"), "{message}");
    folder.write("numbers.csv", "x,y\n1,0.5\n2,1.5\n3,2.5\n");
    folder.ok("train --data numbers.csv --targets y --method ridge --model ridge.rpo");
    let message = folder.fail("evaluate --data numbers.csv --model ridge.rpo --by-frequency 2");
    assert!(message.contains("--by-frequency is for labels"), "{message}");
}

/// Hashed terms are spread over more features than occur.
#[test]
fn features_that_no_sample_has_cost_nothing() {
    let folder = Folder::new();
    let rows = |words: [usize; 3], others: usize| {
        let row = |i: usize| format!("{} {}:1 {}:0.5\n", i % 3, words[i % 3], others + i % 7);
        (0..210).map(row).collect::<String>()
    };
    folder
        .write("narrow.svm", rows([1, 2, 3], 4))
        .write("wide.svm", rows([7, 400_000, 800_000], 900_000));
    for method in ["one-vs-rest", "random-forest --trees 5", "ridge"] {
        let trained = |data: &str| {
            folder.json(&format!(
                "train --data {data}.svm --method {method} --model {data}.rpo"
            ));
            folder.ok(&format!("predict --data {data}.svm --model {data}.rpo"))
        };
        let [narrow, wide] = ["narrow", "wide"].map(trained);
        assert_eq!(narrow, wide, "{method}");
        let n_bytes = std::fs::metadata(folder.path("wide.rpo")).unwrap().len();
        assert!(n_bytes < 30_000, "{method}: {n_bytes}");
        let explained = folder.ok("explain --data wide.svm --model wide.rpo --features 1");
        let feature = |line: &str| line.split(',').nth(4).map(str::to_owned);
        let best: std::collections::BTreeSet<_> = explained.lines().skip(1).filter_map(feature).collect();
        // Features are numbered from 0 in a model.
        assert!(best.contains("399999"), "{method}: {best:?}");
    }
    // A feature that training does not have changes nothing.
    folder
        .write("other.svm", "0 7:1 8:4 900000:0.5\n")
        .write("same.svm", "0 7:1 900000:0.5\n");
    let predicted = |data: &str| folder.ok(&format!("predict --data {data}.svm --model wide.rpo"));
    assert_eq!(predicted("other"), predicted("same"));
}
