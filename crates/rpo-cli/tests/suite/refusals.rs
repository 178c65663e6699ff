//! Bad input gives a message that names what is wrong and where, a nonzero exit code, and leaves earlier files
//! unchanged.

use crate::common::{Folder, arff, csv, folder_of, label_file, svmlight, xmlrepo};

/// A folder with good data and a good model `m.rpo` of the data.
fn ready() -> Folder {
    let folder = Folder::new();
    folder.write("a.arff", arff(300, 0)).write("l.xml", label_file());
    folder.ok("train --data a.arff --labels l.xml --model m.rpo --trees 5");
    folder
}

/// Checks that a command fails with a message that contains all words, and leaves the model and the other files as they
/// are.
fn check(folder: &Folder, arguments: &str, words: &[&str]) {
    let (model, files) = (std::fs::read(folder.path("m.rpo")).unwrap(), folder.files());
    let message = folder.fail(arguments);
    for word in words {
        assert!(
            message.contains(word),
            "rpo {arguments}: {message:?} should say {word:?}"
        );
    }
    assert_eq!(
        std::fs::read(folder.path("m.rpo")).unwrap(),
        model,
        "rpo {arguments}"
    );
    assert_eq!(folder.files(), files, "rpo {arguments}");
}

#[test]
fn data_that_cannot_be_trained_on() {
    let folder = ready();
    let header = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n";
    let cases: &[(&str, String, &str, &[&str])] = &[
        (
            "d.arff",
            format!("{header}1,0\n1\n"),
            "--n-targets 1",
            &["d.arff: line 6", "expected 2, got 1"],
        ),
        (
            "d.arff",
            header.to_owned(),
            "--n-targets 1",
            &["d.arff", "no samples"],
        ),
        ("d.arff", String::new(), "--n-targets 1", &["d.arff"]),
        (
            "d.arff",
            format!("{header}nan,0\n"),
            "--n-targets 1",
            &["d.arff: line 5", "nan"],
        ),
        (
            "d.arff",
            format!("{header}1e39,0\n"),
            "--n-targets 1",
            &["d.arff: line 5", "too large"],
        ),
        (
            "d.arff",
            format!("{header}1,2\n"),
            "--n-targets 1",
            &["d.arff: line 5", "declared values"],
        ),
        (
            "d.arff",
            format!("{header}1,0\n"),
            "",
            &["d.arff", "--labels", "--n-targets"],
        ),
        ("d.arff", format!("{header}1,0\n"), "--n-targets 2", &["d.arff"]),
        (
            "d.arff",
            format!("{header}1,0\n"),
            "--n-targets 3",
            &["3 targets"],
        ),
        (
            "d.arff",
            format!("{header}1,0\n"),
            "--labels l.xml",
            &["l.xml", "red"],
        ),
        (
            "d.csv",
            "a,y\n1,inf\n".to_owned(),
            "--n-targets 1",
            &["d.csv: line 2", "inf"],
        ),
        (
            "d.csv",
            "a,y\n1,\n".to_owned(),
            "--n-targets 1",
            &["d.csv: line 2", "missing"],
        ),
        (
            "d.csv",
            "a,y\n1,0.5\n".to_owned(),
            "--n-targets 1 --task multi-label",
            &["d.csv: line 2", "0.5"],
        ),
        (
            "d.txt",
            "1 3 3\n3 0:1\n".to_owned(),
            "",
            &["d.txt: line 2", "label index 3 is out of range"],
        ),
        (
            "d.txt",
            "3 3 3\n1 0:1\n".to_owned(),
            "",
            &["d.txt", "the header declares 3 samples, but the file has 1"],
        ),
        (
            "d.txt",
            "1 3 3\n1 7:1\n".to_owned(),
            "",
            &["d.txt: line 2", "feature index 7 is out of range"],
        ),
        (
            "d.txt",
            "1 3 3\n1 0:1\n".to_owned(),
            "--n-targets 1",
            &["d.txt", "targets"],
        ),
        ("d.svm", "1 0:1\n".to_owned(), "", &["d.svm: line 1", "index 0"]),
        ("d", "what is this\n".to_owned(), "", &["cannot tell the format"]),
    ];
    for (name, content, options, words) in cases {
        folder.write(name, content);
        check(
            &folder,
            &format!("train --data {name} {options} --model m.rpo"),
            words,
        );
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    check(
        &folder,
        "train --data nothing.arff --n-targets 1 --model m.rpo",
        &["nothing.arff: cannot read"],
    );
    check(
        &folder,
        "train --data . --format csv --n-targets 1 --model m.rpo",
        &["cannot read"],
    );
    check(
        &folder,
        "train --data a.arff --labels nothing.xml --model m.rpo",
        &["nothing.xml"],
    );
    folder.write("cut.arff.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x01");
    check(
        &folder,
        "train --data cut.arff.gz --n-targets 1 --model m.rpo",
        &["cut.arff.gz: line 1: cannot read"],
    );
}

#[test]
fn parameters_out_of_range() {
    let folder = ready();
    for (options, words) in [
        ("--trees 0", &["--trees must be at least 1, got 0"][..]),
        (
            "--first-tree 18446744073709551615",
            &["--first-tree + --trees must fit in a usize"],
        ),
        ("--row-share 0", &["--row-share must be in (0, 1], got 0"]),
        ("--max-leaves 0", &["--max-leaves must be at least 1, got 0"]),
        (
            "--min-samples-leaf 0",
            &["--min-samples-leaf must be at least 1, got 0"],
        ),
        (
            "--min-impurity-decrease nan",
            &["--min-impurity-decrease must be a number, at least 0, got \"nan\""],
        ),
        (
            "--min-impurity-decrease=-1",
            &["--min-impurity-decrease must be at least 0 and finite, got -1"],
        ),
        (
            "--projection subsample --components 4",
            &["a.arff", "at most 3 components here, got 4"],
        ),
        (
            "--projection pca --components 4",
            &["at most 3 components here, got 4"],
        ),
        ("--components 2", &["--components", "--projection"]),
        ("--projection fourier", &["--projection must be"]),
        ("--projection gaussian --components 0", &["--components"]),
        ("--max-features 0", &["--max-features must be"]),
        ("--max-features 1.5", &["--max-features must be"]),
        (
            "--projection none --projection-scope shared",
            &["--projection-scope"],
        ),
        ("--bootstrap=false --oob", &["--oob needs out-of-bag predictions"]),
        (
            "--method extra-trees --oob",
            &["--oob needs out-of-bag predictions"],
        ),
    ] {
        check(
            &folder,
            &format!("train --data a.arff --labels l.xml --model m.rpo {options}"),
            words,
        );
    }
    // Contradictory arguments, which the parser refuses with its own exit code.
    for arguments in [
        "train --data a.arff --n-targets 3 --labels l.xml --model m.rpo",
        "train --data a.arff --targets-first --model m.rpo",
        "train --data a.arff --labels l.xml --model m.rpo --threads 0",
        "train --data a.arff --labels l.xml --model m.rpo --threads 1000000",
        "train --data a.arff --labels l.xml --targets red --model m.rpo",
        "train --data a.arff --n-targets 2 --targets red --model m.rpo",
        "train --data a.arff --labels l.xml --model m.rpo --format excel",
        "evaluate --data a.arff --model m.rpo --metrics p@0",
        "evaluate --data a.arff --model m.rpo --metrics lrap,accuracy",
        "predict --data a.arff --model m.rpo --top-k 0",
        "merge --models m.rpo --out n.rpo",
        "train",
        "",
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.code, Some(2), "rpo {arguments}: {}", run.stderr);
        assert!(run.stderr.len() > 20 && run.stdout.is_empty(), "rpo {arguments}");
    }
}

/// A parameter out of range is named as the option that sets it, whatever its name in the library.
#[test]
fn parameters_go_by_the_names_of_options() {
    let folder = ready();
    for (options, word) in [
        ("soshf --descent-steps 0", "--descent-steps must be"),
        ("soshf --step-size 0", "--step-size must be"),
        ("soshf --rho 1", "--rho must be"),
        ("soshf --cluster-starts 0", "--cluster-starts must be"),
        ("craftml --starts 0", "--starts must be"),
        ("craftml --passes 0", "--passes must be"),
        ("craftml --clusters 0", "--clusters must be"),
        ("craftml --node-sample 0", "--node-sample must be"),
        ("craftml --centroid-entries 0", "--centroid-entries must be"),
        ("label-embedding --withhold 1", "--withhold must be"),
        ("label-embedding --bandwidth 0", "--bandwidth must be"),
        ("gbmort --iterations 0", "--iterations must be"),
        (
            "soshf --label-weight 1e308",
            "--label-weight must be from 1 to 1e9",
        ),
        (
            "gbrt-relabel-rpo --components 16777216",
            "300 samples and 3 outputs to 16777216 components would take",
        ),
        (
            "random-forest --projection gaussian --components 16777216",
            "300 samples and 3 outputs to 16777216 components would take",
        ),
        ("gbmort --leaf-values 0", "--leaf-values must be"),
    ] {
        let arguments = format!("train --data a.arff --labels l.xml --model m.rpo --method {options}");
        check(&folder, &arguments, &[word]);
    }
}

/// A size beyond the number of samples does not overflow.
#[test]
fn leaves_larger_than_the_set() {
    let folder = ready();
    let train = "train --data a.arff --labels l.xml --trees 2 --model n.rpo --min-samples-leaf";
    for method in ["random-forest", "structured-forest"] {
        folder.ok(&format!("{train} 18446744073709551615 --method {method}"));
    }
}

/// Names cannot send control characters to the terminal.
#[test]
fn control_characters_of_names_are_escaped() {
    let folder = Folder::new();
    folder.write(
        "d.csv",
        "w\u{1b}[2J,x\u{9b}1m,y\u{7f}\n1,0,0\n2,5,1\n4,4,1\n5,6,0\n",
    );
    folder.ok("train --data d.csv --n-targets 1 --model m.rpo --trees 20 --bootstrap=false");
    let escaped = ["w\\u001b[2J", "x\\u009b1m"];
    for report in [
        folder.ok("inspect --model m.rpo"),
        folder.ok("inspect --model m.rpo --json"),
        folder.fail("evaluate --data d.csv --model nothing\u{1b}[2J.rpo"),
    ] {
        assert!(!report.chars().any(|c| c.is_control() && c != '\n'), "{report:?}");
        assert!(escaped.iter().any(|name| report.contains(name)) || report.contains("nothing\\u001b"));
    }
    // Names are unchanged in files and pipes.
    assert!(
        folder
            .ok("predict --data d.csv --model m.rpo")
            .starts_with("y\u{7f}\n")
    );
}

#[test]
fn what_is_for_labels_alone() {
    let folder = ready();
    folder.write("c.csv", csv(50, 0));
    for (options, word) in [
        ("--method structured-forest", "structured-forest is for labels"),
        (
            "--method logistic-regression",
            "logistic-regression is for labels",
        ),
        ("--method binary-relevance-forest", "set --criterion variance"),
        ("--method label-embedding", "set --link-loss squared"),
        (
            "--method ridge --decide f1",
            "cannot use --decide, which is for labels",
        ),
        (
            "--thresholds rate",
            "cannot use --thresholds, which is for labels",
        ),
    ] {
        let words = [word, "training on c.csv: ", "the outputs are numbers"];
        let arguments = format!("train --data c.csv --n-targets 2 --model m.rpo {options}");
        check(&folder, &arguments, &words);
    }
    let tune = "tune --data c.csv --n-targets 2 --method logistic-regression --space lambda=1,2";
    check(&folder, tune, &["logistic-regression is for labels"]);
    folder.ok("train --data c.csv --n-targets 2 --model r.rpo --trees 2");
    for options in [
        "--method binary-relevance-forest --criterion variance --trees 2",
        "--method label-embedding --link-loss squared",
    ] {
        folder.ok(&format!(
            "train --data c.csv --n-targets 2 --model q.rpo {options}"
        ));
    }
    check(
        &folder,
        "evaluate --data c.csv --model r.rpo --decide f1",
        &["--decide is for labels"],
    );
}

#[test]
fn methods_that_need_every_value_say_so() {
    let folder = ready();
    folder
        .write("x.csv", "a,b,y\n1,0,0\n2,,1\n,4,1\n5,6,0\n")
        .write("y.csv", "a,b,y,z\n1,2,0,1\n2,3,,1\n3,4,1,0\n5,6,0,0\n");
    for method in ["craftml", "label-embedding", "ridge", "logistic-regression"] {
        let needs = format!("{method} does not take missing features");
        let words = [
            needs.as_str(),
            "training on x.csv: ",
            "\"b\" of sample 1 is missing",
        ];
        let train = format!("train --data x.csv --n-targets 1 --model m.rpo --method {method}");
        check(&folder, &train, &words);
    }
    for method in ["craftml", "one-vs-rest", "structured-forest"] {
        let words = ["does not take missing outputs", "\"y\" of sample 1 is missing"];
        let train =
            format!("train --data y.csv --n-targets 2 --missing-outputs --model m.rpo --method {method}");
        check(&folder, &train, &words);
    }
}

#[test]
fn options_that_no_metric_heeds() {
    let folder = ready();
    let evaluate = "evaluate --data a.arff --model m.rpo --metrics lrap,p@1";
    check(
        &folder,
        &format!("{evaluate} --propensity-a 0.5"),
        &["--propensity-a and --propensity-b are for psp@K"],
    );
    // Weights of outputs do not use them either, unless they are those of propensities.
    for command in ["train --model n.rpo", "cv --folds 2", "tune --space trees=1,2"] {
        let boosting = format!("{command} --data a.arff --method gbmort --propensity-a 0.5");
        for weights in ["", " --output-weights balanced"] {
            let words = [
                "--propensity-a and --propensity-b are for psp@K, psndcg@K, --rerank, --output-weights propensity",
            ];
            check(&folder, &format!("{boosting}{weights}"), &words);
        }
    }
    check(
        &folder,
        &format!("{evaluate} --decide f1"),
        &["--decide is for metrics of label sets"],
    );
    folder.ok(&format!("{evaluate},psp@1 --propensity-a 0.5"));
    folder.ok(&format!("{evaluate},hamming --decide threshold"));
    check(
        &folder,
        &format!("{evaluate},psp@1 --propensity-b -1"),
        &["--propensity-b must be positive and finite, got -1"],
    );
}

/// A vector of labels is as long as the largest index; a mistyped index must not end the process.
#[test]
fn labels_beyond_number() {
    let folder = ready();
    folder.write("d.svm", "3000000000 1:1\n1 2:1\n");
    let words = ["d.svm: line 1: a label index implies more than 134217728 labels"];
    check(&folder, "train --data d.svm --model m.rpo", &words);
    for (header, words) in [
        (
            "1 3 3000000000",
            "d.txt: line 1: 3000000000 labels are too many; a set may have at most 134217728",
        ),
        (
            "1 3000000000 3",
            "d.txt: there are 3000000000 features, at most 134217728",
        ),
    ] {
        folder.write("d.txt", format!("{header}\n1 2:1\n"));
        check(&folder, "train --data d.txt --model m.rpo", &[words]);
        let tune = "tune --data d.txt --trees 2 --space max-depth=1,2";
        check(&folder, tune, &[words]);
    }
}

#[test]
fn advice_names_the_option_that_helps() {
    let folder = ready();
    for (name, content, options, words) in [
        (
            "d.csv",
            "a,y\n1,0\n2,1\n",
            "--targets y --ignore a",
            &["there are no features", "is an output or is left out"],
        ),
        (
            "d.csv",
            "a,y\n1,0\n2,\n",
            "--n-targets 1",
            &[
                "line 3",
                "help: --missing-outputs allows missing outputs; if a blank stands for no",
            ],
        ),
        ("d.svm", "1 0:1\n", "", &["line 1", "help: --first-feature 0"]),
        (
            "d.svm",
            "1 1:1\n",
            "--targets red",
            &["does not apply to svmlight", "help: --labels, --targets"],
        ),
        (
            "d.svm",
            "1 1:1\n",
            "--missing-outputs",
            &[
                "svmlight",
                "help: --missing-outputs is for ARFF, CSV, Parquet and Arrow files",
            ],
        ),
        (
            "d.svm",
            "1 1:1\n",
            "--group site",
            &[
                "--group",
                "help: --group and --time-column are for columns of CSV",
            ],
        ),
        (
            "d.txt",
            "{\"a\": 1, \"y\": 0}\n{\"a\": 2, \"y\": 1}\n",
            "--targets y",
            &["the file is JSON", "help: save it as CSV or Parquet"],
        ),
        (
            "d.csv",
            "Report,,\na,b,y\n1,2,0\n",
            "--n-targets 1",
            &[
                "column \"\" is declared twice",
                "delete the lines above the header",
            ],
        ),
        (
            "d.csv",
            "Report,,\na,b,y\n1,2,0\n",
            "--targets y",
            &[
                "target \"y\" is not a column",
                "delete the lines above the header",
            ],
        ),
        (
            "d.csv",
            "Report of May\na,b,y\n1,2,0\n",
            "--n-targets 1",
            &["line 2", "delete the lines above the header"],
        ),
        (
            "d.csv",
            "a;y\n1,234;0\n",
            "--n-targets 1",
            &[
                "\"1,234\" in \"a\"",
                "help: if commas separate thousands, remove them",
            ],
        ),
        (
            "d.csv",
            "a,y\n1,0\n2,1\n",
            "--targets y --output-weights balance",
            &["balance: there is no such file", "balanced, propensity and"],
        ),
        (
            "d.csv",
            "a:b:y\n1:2:0\n",
            "--targets y",
            &["its only column is \"a:b:y\"", "with --delimiter"],
        ),
        (
            "d.csv",
            "a;y\n1.234,50;1\n2,5;0\n",
            "--targets y --decimal-comma",
            &["line 2", "\"1.234,50\" in \"a\" has separators of thousands"],
        ),
        (
            "d.csv",
            "PK\u{3}\u{4} of a workbook",
            "--targets y",
            &["compressed by zip", "help: a spreadsheet"],
        ),
        (
            "d.csv",
            "a,y\n1,0\n2,1\n",
            "--targets y --thresholds off",
            &[
                "--thresholds must be one of",
                "macro-f, label-f, micro-f, rate, none, got \"off\"",
            ],
        ),
        (
            "d.csv",
            "a,y\n1,0\n2,0\nred,1\n",
            "--n-targets 1",
            &["line 4", "help: --categorical reads a column"],
        ),
        (
            "d.csv",
            "a,y\n1,0\nnan,1\n",
            "--n-targets 1",
            &["line 3", "help: a missing value"],
        ),
        (
            "d.csv",
            "a;y\n1,5;0\n",
            "--n-targets 1",
            &["decimal comma", "help: --decimal-comma"],
        ),
        (
            "d.csv",
            "1.5,0\n2,1\n",
            "--n-targets 1",
            &["line 1", "names the columns"],
        ),
        (
            "d.csv",
            "a,y\n1,red\n2,blue\n",
            "--targets y --task regression",
            &[
                "target \"y\" is a column of words",
                "regression needs numeric targets",
            ],
        ),
        (
            "d.csv",
            "a,y\n1,0\n",
            "--targets z",
            &["d.csv", "\"z\" is not a column"],
        ),
    ] {
        folder.write(name, content);
        let arguments = format!("train --data {name} {options} --model m.rpo");
        check(&folder, &arguments, words);
        std::fs::remove_file(folder.path(name)).unwrap();
    }
}

#[test]
fn data_that_does_not_fit_the_model() {
    let folder = ready();
    folder
        .write("c.csv", csv(5, 0))
        .write("t.txt", xmlrepo(5, 0))
        .write("s.svm", svmlight(5, 0));
    check(
        &folder,
        "evaluate --data c.csv --model m.rpo",
        &["c.csv", "\"red\" is not a column"],
    );
    check(
        &folder,
        "evaluate --data c.csv --n-targets 3 --model m.rpo",
        &["c.csv"],
    );
    check(
        &folder,
        "evaluate --data t.txt --n-targets 3 --model m.rpo",
        &["t.txt", "\"targets\" does not apply"],
    );
    check(
        &folder,
        "evaluate --data a.arff --model m.rpo --metrics r2,psp@1 --propensity-b 0",
        &["propensity"],
    );
    folder.ok("train --data c.csv --n-targets 2 --model r.rpo --trees 2");
    let run = folder.run("evaluate --data t.txt --model r.rpo");
    let problem = "error: t.txt does not fit the model: the data is for multi-label classification";
    assert!(
        run.code == Some(1) && run.stderr.contains(problem),
        "{}",
        run.stderr
    );
    check(
        &folder,
        "evaluate --data c.csv --model r.rpo --metrics psp@3",
        &["psp@3 is for labels"],
    );
    check(
        &folder,
        "evaluate --data c.csv --model r.rpo --metrics lrap",
        &["lrap is for labels; the model predicts numbers"],
    );
    check(
        &folder,
        "merge --models m.rpo r.rpo --out n.rpo",
        &["r.rpo: the models cannot be merged"],
    );
}

#[test]
fn model_files_that_are_no_models() {
    let folder = ready();
    let model = std::fs::read(folder.path("m.rpo")).unwrap();
    let commands = [
        "inspect --model x.rpo",
        "evaluate --data a.arff --model x.rpo",
        "predict --data a.arff --model x.rpo --out p.csv",
    ];
    for length in [0, 7, 8, 100, model.len() / 2, model.len() - 1] {
        folder.write("x.rpo", &model[..length]);
        commands
            .iter()
            .for_each(|command| check(&folder, command, &["x.rpo: ", "cut short or damaged"]));
    }
    for place in [model.len() - 1, model.len() / 2, 60] {
        let mut damaged = model.clone();
        damaged[place] ^= 4;
        folder.write("x.rpo", damaged);
        commands
            .iter()
            .for_each(|command| check(&folder, command, &["x.rpo: ", "damaged"]));
    }
    folder.write("x.rpo", arff(3, 0));
    check(&folder, commands[0], &["x.rpo: not a model file"]);
    check(
        &folder,
        "inspect --model nothing.rpo",
        &["nothing.rpo: cannot read"],
    );
}

#[test]
fn places_that_cannot_be_written() {
    let folder = ready();
    std::fs::create_dir(folder.path("sub")).unwrap();
    let train = "train --data a.arff --labels l.xml --trees 3 --model";
    check(
        &folder,
        &format!("{train} sub"),
        &["sub: cannot write: it is a folder"],
    );
    check(
        &folder,
        &format!("{train} no/such/m.rpo"),
        &["no/such/m.rpo: cannot write"],
    );
    check(
        &folder,
        &format!("{train} a.arff/m.rpo"),
        &["a.arff/m.rpo: cannot write"],
    );
    check(
        &folder,
        "predict --data a.arff --model m.rpo --out no/such.csv",
        &["no/such.csv: cannot write"],
    );
    check(
        &folder,
        "merge --models m.rpo m.rpo --out sub",
        &["sub: cannot write: it is a folder"],
    );
    if std::path::Path::new("/dev/full").exists() {
        check(
            &folder,
            &format!("{train} /dev/full"),
            &["/dev/full: cannot write: No space left"],
        );
        check(
            &folder,
            "predict --data a.arff --model m.rpo --out /dev/full",
            &["/dev/full: cannot write"],
        );
        let mut command = folder.command("predict --data a.arff --model m.rpo");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            message.starts_with("error: standard output: No space left"),
            "{message}"
        );
    }
}

#[test]
fn the_catalogue_names_what_it_lacks() {
    let folder = ready();
    let fail = |arguments: &str, variable: Option<&std::path::Path>| {
        let mut command = folder.command(arguments);
        command.env_remove("RPO_DATA");
        variable.map(|path| command.env("RPO_DATA", path));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let train = "train --data @emotions --model m.rpo";
    assert!(fail(train, None).contains("RPO_DATA is not set"));
    assert!(fail(train, Some(&folder.path("nowhere"))).contains("manifest.json"));
    assert!(fail(&format!("{train} --n-targets 2"), None).contains("--n-targets are for files"));
    assert!(fail(&format!("{train} --format arff"), None).contains("--format"));
    if let Some(data) = folder_of("RPO_DATA") {
        assert!(fail("train --data @nothing --model m.rpo", Some(&data)).contains("no data set \"nothing\""));
    }
}

/// An option without effect is refused also where another option excludes the one that it belongs to.
#[test]
fn options_of_other_ways_to_name_outputs_are_refused() {
    let folder = ready();
    let rows = (0..20).map(|i| format!("{i},{},{}\n", i % 2, i % 3));
    folder.write("t.csv", "x,y,z\n".to_owned() + &rows.collect::<String>());
    for (arguments, option) in [
        (
            "train --data t.csv --targets y --targets-first --model n.rpo",
            "--targets-first",
        ),
        (
            "train --data t.csv --targets y --label-separator | --model n.rpo",
            "--label-separator",
        ),
        (
            "split --data t.csv --random --repetition 3 --train a.csv --test b.csv",
            "--repetition",
        ),
    ] {
        let output = folder.command(arguments).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains(option), "{arguments}: {message}");
    }
}

#[test]
fn boosting_names_the_option_that_was_given() {
    let folder = Folder::new();
    let rows = (0..80).map(|i| format!("{i},{}\n", i * 7 % 31));
    folder.write("t.csv", "x,y\n".to_owned() + &rows.collect::<String>());
    let train = "train --data t.csv --targets y --method gbmort --iterations";
    folder.ok(&format!("{train} 3 --model m.rpo"));
    for option in ["--early-stopping 5", "--find-iterations", "--validation 0.3"] {
        let given = option.split(' ').next().unwrap();
        let arguments = format!("{train} 9 {option} --continue m.rpo --model n.rpo");
        check(
            &folder,
            &arguments,
            &[given, "cannot be combined with a model to continue"],
        );
    }
    let arguments = format!("{train} 9 --early-stopping 5 --validation-metric lrap --model n.rpo");
    check(
        &folder,
        &arguments,
        &["lrap is for labels; the model predicts numbers"],
    );
    let arguments = format!("{train} 9 --early-stopping 5 --validation-metric interval-width --model n.rpo");
    let message = folder.fail(&arguments);
    assert!(
        message.contains("interval") && !message.contains("labels"),
        "{message}"
    );
    // Words that select what is done anyway are no error.
    folder.ok(
        "train --data t.csv --targets y --method auto --configurations 1 --thresholds none --model a.rpo",
    );
    // Numbers have no thresholds, whatever the default for labels is.
    folder.ok("train --data t.csv --targets y --method auto --configurations 1 --model a.rpo");
    let inspected = folder.json("inspect --model a.rpo");
    assert!(inspected["parameters"]["thresholds"].is_null(), "{inspected}");
}

/// The propensity model of the command is that of a method that weights by it.
#[test]
fn propensities_reach_the_method() {
    let folder = ready();
    let train = "train --data a.arff --labels l.xml --method one-vs-rest --model";
    let predicted = |options: &str| {
        folder.ok(&format!("{train} p.rpo {options}"));
        folder.ok("predict --model p.rpo --data a.arff")
    };
    let usual = predicted("--propensity-weights");
    assert_ne!(usual, predicted("--propensity-weights --propensity-a 2"));
    folder.write("p.json", "{\"propensity_weights\": true, \"propensity_a\": 2.0}");
    assert_eq!(
        predicted("--params p.json"),
        predicted("--propensity-weights --propensity-a 2")
    );
    check(
        &folder,
        &format!("{train} n.rpo --propensity-a 2"),
        &["--propensity-weights", "none of which was requested"],
    );
}
