//! Messages name the option that was given, and what it applies to.

use crate::common::Folder;
use crate::serve::lines;

const TABLE: &str =
    "a,day,red,round\n1,2024-01-05,0,1\n2,2024-02-06,1,0\n3,2024-03-07,0,1\n4,2024-04-08,1,0\n";

/// A folder with a table of labels, and two models of it: a forest, and one whose scores are not probabilities.
fn ready() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", TABLE);
    let train = "train --data t.csv --targets red,round --ignore day";
    folder.ok(&format!("{train} --trees 2 --model f.rpo"));
    folder.ok(&format!("{train} --method ridge --model r.rpo"));
    folder
}

#[test]
fn the_option_that_was_given_is_named() {
    let folder = ready();
    folder
        .write("list", "1 2\n")
        .write("gap.csv", "a,y,z\n1,2,0\n2,,1\n3,1,3\n4,3,1\n5,4,2\n")
        .write("far.csv", "a\n2\n1000\n")
        .write("x.json", r#"{"method":"random-forest","trees":"x"}"#)
        .write("none.json", r#"{"trees":0}"#)
        .write("seed.json", r#"{"method":"ridge","seed":"x"}"#)
        .write("twice.json", r#"{"trees":3,"trees":5}"#)
        .write("x.yaml", "trees: 3\n");
    let train = "train --data t.csv --targets red,round --model x.rpo";
    // Options override invalid values in a file.
    folder
        .ok("train --data t.csv --targets red,round --ignore day --model y.rpo --params none.json --trees 2");
    let split = "split --data t.csv --train x.csv --test y.csv";
    let tune = "tune --data t.csv --targets red,round --space trees=1";
    let evaluate = "evaluate --data t.csv --model f.rpo --metrics psp@1";
    for (arguments, message) in [
        ("man t.csv".to_owned(), "FOLDER t.csv: "),
        (
            format!("{tune} --hold-out 0"),
            "--hold-out must be in (0, 1), got 0",
        ),
        (
            "cv --data t.csv --targets red,round --folds 1".to_owned(),
            "training on t.csv: --folds must be from 2 to the number of samples, got 1",
        ),
        (
            format!("{split} --group nope"),
            "t.csv: --group names the column \"nope\", which does not exist",
        ),
        (
            format!("{split} --time-column nope"),
            "t.csv: --time-column names the column \"nope\", which does not exist",
        ),
        (
            format!("{split} --targets red --time-column red"),
            "t.csv: \"red\" is named both as a target and by --time-column",
        ),
        (
            format!("{split} --lists list list --repetition 0"),
            "--repetition must be at least 1, as repetitions count from 1, got 0",
        ),
        (
            "split --data - --train x.csv --test y.csv".to_owned(),
            "--data -: split reads the data twice and needs a file: write what comes to one first",
        ),
        (
            "split --data @yeast --train x.csv --test y.csv".to_owned(),
            "--data @yeast: split copies the lines of a file",
        ),
        (
            format!("{train} --params x.yaml"),
            "x.yaml: not JSON: expected ident at line 1 column 3; parameters are read from JSON, or from TOML",
        ),
        (
            format!("{train} --ignore day --sample-weights aa"),
            "t.csv: --sample-weights: there is no feature \"aa\" (did you mean \"a\"?) and no file of that name",
        ),
        (
            "help tran".to_owned(),
            "\"tran\" is neither a command nor a method (did you mean train?); the commands are train, tune, ",
        ),
        (
            "predict --data t.csv --model f.rpo --id a".to_owned(),
            "--id \"a\" is a feature of the model: a column is one or the other",
        ),
        (
            format!("{tune} --trees 3"),
            "--trees has a value, and --space trees searches for one: leave one out",
        ),
        (
            "tune --data gap.csv --targets y,z --missing-outputs --method label-embedding --link-loss squared \
             --space lambda=1,2"
                .to_owned(),
            "training on gap.csv: label-embedding does not take missing outputs, but \"y\" of sample 1 is missing",
        ),
        (
            format!("{train} --categorical nope"),
            "t.csv: --categorical names the column \"nope\", which does not exist",
        ),
        (
            format!("{train} --text nope"),
            "t.csv: --text names the column \"nope\", which does not exist",
        ),
        (
            format!("{train} --types nope=number"),
            "t.csv: --types names the column \"nope\", which does not exist",
        ),
        (
            format!("{train} --ignore nope"),
            "t.csv: --ignore names the column \"nope\", which does not exist",
        ),
        (
            format!("{train} --ignore red"),
            "t.csv: \"red\" is named both as a target and as ignored; it can be one of them",
        ),
        (
            format!("{train} --dates day --categorical day"),
            "--categorical reads \"day\" as category, but --dates as date: a column has one type",
        ),
        (
            format!("{train} --types day=category,day=date"),
            "--types reads \"day\" as category, but --types as date: a column has one type",
        ),
        (
            format!("{train} --text day --categorical day"),
            "--categorical reads \"day\" as category, but --text as text: a column has one type",
        ),
        (
            format!("{train} --params x.json"),
            "x.json: `trees` must be a whole number, at least 1, got \"x\"",
        ),
        // A method without randomness has a seed too.
        (
            format!("{train} --params seed.json"),
            "seed.json: `seed` must be a whole number, got \"x\"",
        ),
        (
            format!("{train} --params none.json"),
            "none.json: `trees` must be at least 1, got 0",
        ),
        (
            format!("{train} --params twice.json"),
            "twice.json: \"trees\" is given twice at line 1",
        ),
        (
            format!("{evaluate} --propensity-a=-1"),
            "--propensity-a must be at least 0 and finite, got -1",
        ),
        (
            format!("{evaluate} --propensity-b 0"),
            "--propensity-b must be positive and finite, got 0",
        ),
        (
            "predict --data far.csv --model r.rpo --top-k 2 --rerank propensity".to_owned(),
            "predicting for far.csv: ",
        ),
    ] {
        let found = folder.fail(&arguments);
        assert!(
            found.starts_with(&format!("error: {message}")),
            "rpo {arguments}: {found:?} should begin with {message:?}"
        );
    }
}

#[test]
fn the_order_of_a_search_is_one_of_its_names() {
    let folder = ready();
    let run = folder.run("tune --data t.csv --space trees=1,2 --search grdi");
    let message = "'--search <ORDER>': `search` must be one of grid, random, got grdi";
    assert!(run.stderr.contains(message), "{}", run.stderr);
}

#[test]
fn methods_that_take_weights_are_listed() {
    let folder = ready();
    folder.write("w.txt", "1\n2\n1\n1\n");
    let train =
        "train --data t.csv --targets red,round --ignore day --sample-weights w.txt --model x.rpo --method";
    let refused = folder.fail(&format!("{train} structured-forest"));
    let (_, listed) = refused.trim_end().split_once("the methods that do are ").unwrap();
    assert!(
        folder
            .ok("help train")
            .replace('\n', " ")
            .contains("structured-forest")
    );
    for method in listed.split(", ") {
        folder.ok(&format!("{train} {method} --seed 1"));
    }
    for method in ["auto", "blend", "craftml", "label-embedding", "baseline"] {
        assert!(!listed.split(", ").any(|listed| listed == method), "{method}");
        assert!(folder.fail(&format!("{train} {method}")).contains(listed));
    }
}

#[test]
fn one_label_is_generated() {
    let folder = Folder::new();
    folder.ok("generate multi-label --outputs 1 --samples 20 --features 10 --out x.csv");
    assert!(folder.read("x.csv").lines().count() == 21);
}

#[test]
fn a_table_with_the_parts_of_a_date_is_predicted_as_the_date() {
    let folder = Folder::new();
    folder.write("t.csv", TABLE);
    folder.ok("train --data t.csv --targets red,round --trees 5 --model m.rpo");
    folder.ok("convert --data t.csv --targets red,round --out parts.csv");
    let predict = |data: &str| folder.ok(&format!("predict --model m.rpo --data {data}"));
    assert_eq!(predict("parts.csv"), predict("t.csv"));
}

#[test]
fn columns_from_which_nothing_is_learned_are_noted() {
    let folder = Folder::new();
    let notes = |table: &str, options: &str| {
        folder.write("t.csv", table);
        let run = folder.run(&format!(
            "train --data t.csv --model m.rpo --method random-forest --trees 2 {options}"
        ));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stderr
    };
    let empty = "note: feature \"e\" has no value in any sample, so that nothing is learned of it\n";
    assert_eq!(notes("x,e,y\n1,,2.5\n2,,1\n3,,2\n", "--targets y"), empty);
    let one_sided =
        "note: label \"y\" is present wherever it is given: if a blank stands for no, write 0 in its place\n";
    let table = "x,y,z\n1,yes,1\n2,,0\n3,yes,1\n";
    assert_eq!(notes(table, "--targets y,z --missing-outputs"), one_sided);
    assert_eq!(notes(table, "--targets z"), "");
    let constant =
        "note: every output has the same value in all samples, so that there is nothing to learn\n";
    assert_eq!(notes("x,y\n1,3\n2,3\n3,3\n", "--targets y"), constant);
    assert_eq!(notes("x,y,z\n1,3,1\n2,3,2\n3,3,7\n", "--targets y,z"), "");
}

#[test]
fn a_table_without_types_is_noted() {
    let folder = Folder::new();
    let rows = "1001,s,1\n1002,m,0\n2000,l,1\n1001,s,0\n";
    folder.write(
        "t.arff",
        format!("@relation r\n@attribute zip {{1001,1002,2000}}\n@attribute size {{s,m,l}}\n@attribute y {{0,1}}\n@data\n{rows}"),
    );
    let run = folder.run("convert --data t.arff --targets y --out t.csv");
    let note = "note: a CSV file does not tell the words of \"zip\" from numbers, dates and booleans: read it with \
                --categorical\n";
    assert_eq!((run.code, &run.stderr[..]), (Some(0), note));
    let described = folder.ok("describe --data t.csv --targets y --categorical zip");
    assert!(described.contains("\"zip\": 3 values"), "{described}");
    let run = folder.run("convert --data t.arff --targets y --out u.arff");
    assert_eq!((run.code, &run.stderr[..]), (Some(0), ""));
}

#[test]
fn folds_without_a_value_are_counted() {
    let folder = Folder::new();
    // A label of a single sample: its recall is defined in one fold.
    let rows: String = (0..12).map(|i| format!("{i},{}\n", u8::from(i == 3))).collect();
    folder.write("t.csv", format!("a,y\n{rows}"));
    let run = folder.run("cv --data t.csv --targets y --trees 2 --folds 3 --metrics balanced-accuracy");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.contains(
            "balanced-accuracy is undefined on 2 of 3 folds, which its mean and deviation leave out"
        ),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.contains("none") && !run.stdout.contains("NaN"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_first_line_of_numbers_is_noted() {
    let folder = Folder::new();
    folder.write("t.csv", "7,3,12\n1,2,3\n2,5,1\n3,4,4\n4,1,2\n");
    let noted = "note: the first line, \"7,3,12\", was taken for the names of the columns";
    for command in [
        "train --data t.csv --n-targets 1 --trees 2 --model m.rpo",
        "split --data t.csv --train a.csv --test b.csv --test-fraction 0.5",
    ] {
        let run = folder.run(command);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stderr.starts_with(noted), "{}", run.stderr);
    }
    // The names are those of the model.
    folder.ok("predict --data t.csv --model m.rpo");
}

#[test]
fn numbers_with_commas_for_a_model_name_the_option() {
    let folder = Folder::new();
    folder
        .write("t.csv", "x,y\n1.5,2\n2,3\n3.5,1\n")
        .write("q.csv", "x;y\n\"1,5\";2\n");
    folder.ok("train --data t.csv --targets y --trees 2 --model m.rpo");
    let message = folder.fail("predict --data q.csv --model m.rpo");
    // Not where it begins in the line, which is not known beside quotes.
    assert!(message.contains("line 2: \"1,5\" is not a number"), "{message}");
    assert!(message.contains("--decimal-comma reads numbers"), "{message}");
    folder.ok("predict --data q.csv --decimal-comma --model m.rpo");
}

#[test]
fn text_in_another_encoding_has_a_remedy() {
    let folder = Folder::new();
    folder.write("t.csv", b"kind,y\nr\xe9d,1\nblue,2\nr\xe9d,3\n");
    let message = folder.fail("train --data t.csv --targets y --model m.rpo");
    assert!(
        message.contains("line 2, column 1: invalid UTF-8 in \"r\u{fffd}d\" of column \"kind\"")
            && message.contains("iconv -f WINDOWS-1252 -t UTF-8"),
        "{message}"
    );
}

#[test]
fn long_values_are_cut() {
    let folder = Folder::new();
    let long = "x".repeat(100_000);
    folder.write(
        "t.csv",
        format!("kind,x,y\n{long},1,1\nblue,2,2\nblue,3,1\n{long},4,2\n"),
    );
    let text = folder.ok("describe --data t.csv --targets y");
    assert!(
        text.contains(&format!("[\"blue\", {:?}...]", "x".repeat(80))) && text.len() < 2000,
        "{text}"
    );
    folder.ok("train --data t.csv --targets y --trees 2 --model m.rpo");
    let list = format!("[{}1]", "1,".repeat(50_000));
    let requests = [
        format!("{{\"kind\":\"blue\",\"x\":{list}}}"),
        format!("{{\"kind\":\"{long}y\",\"x\":1}}"),
        format!("{{\"kind\":\"blue\",\"x\":\"{long}\"}}"),
        format!("{{\"rows\":[],\"top_k\":{list}}}"),
        format!("{{\"rows\":[],\"{long}\":1}}"),
        format!("{{\"{long}\":1,\"{long}\":1}}"),
    ];
    let found = lines(
        &folder,
        "--model m.rpo --unseen error",
        &(requests.join("\n") + "\n"),
    );
    assert_eq!(found.len(), requests.len());
    for response in found {
        assert!(
            response["error"].is_object() && response.to_string().len() < 600,
            "{response}"
        );
    }
}

#[test]
fn what_results_do_not_show_is_noted() {
    let folder = Folder::new();
    let table = |rows: std::iter::Chain<std::ops::Range<usize>, std::ops::Range<usize>>, gap: bool| {
        let row = |i: usize| {
            let w = if gap {
                String::new()
            } else {
                ((i * 3) % 8).to_string()
            };
            format!(
                "{}.5,{w},{}\n",
                (i * 7) % 1000,
                if (i * 37) % 101 < 50 { -1 } else { 1 }
            )
        };
        "x,w,y\n".to_owned() + &rows.map(row).collect::<String>()
    };
    folder
        .write("copies.csv", table((0..1000).chain(0..200), false))
        .write("few.csv", table((0..30).chain(0..20), false))
        .write("gap.csv", table((0..30).chain(0..0), true));
    let notes = |arguments: &str| {
        let run = folder.run(arguments);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stderr
    };
    let codes = "note: target \"y\" is a number with no other values than -1 and 1; --categorical makes classes of such values\n";
    let found = notes("cv --data copies.csv --targets y --trees 2 --folds 2");
    assert!(
        found.starts_with(codes) && found.contains("note: 200 of 1200 samples equal earlier ones"),
        "{found}"
    );
    assert_eq!(notes("cv --data few.csv --targets y --trees 2 --folds 2"), codes);
    notes("train --data few.csv --targets y --trees 2 --model m.rpo");
    let found = notes("evaluate --data gap.csv --model m.rpo");
    assert!(
        found.contains("note: feature \"w\" has no value in any of the 30 samples\n"),
        "{found}"
    );
}

/// Numbers stay numbers, but few whole ones may be the codes of classes.
#[test]
fn numbers_that_may_be_classes_are_noted() {
    let folder = Folder::new();
    let row = |i: usize| {
        let x = (i * 7) % 100;
        format!("{x}.5,{},{},{},{}\n", i % 3, i % 12, (i % 4) as f32 / 2.0, i % 2)
    };
    let rows = |n: usize| "x,grade,count,half,label\n".to_owned() + &(0..n).map(row).collect::<String>();
    folder.write("train.csv", rows(60)).write("few.csv", rows(29));
    let notes = |arguments: &str| {
        let run = folder.run(&format!("train --method ridge --model m.rpo {arguments}"));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stderr
    };
    let grade = "note: target \"grade\" is a number with no other values than 0, 1 and 2";
    let remedy = "--categorical makes classes of such values\n";
    let targets = "--targets grade,count,half,label --task regression";
    let found = notes(&format!("--data train.csv {targets}"));
    assert_eq!(found, format!("{grade}; {remedy}"));
    let twice =
        notes("--data train.csv --targets grade,x --ignore half --task regression --categorical grade");
    assert!(!twice.contains("no other values"), "{twice}");
    assert_eq!(notes(&format!("--data few.csv {targets}")), "");
}

/// Scores and intervals that are other than they seem, and values that training did not prepare for.
#[test]
fn doubtful_scores_intervals_and_predictions_are_noted() {
    let folder = Folder::new();
    let table = |missing: usize, zeros: usize| {
        let row = |i: usize| {
            let x = if i < missing {
                String::new()
            } else {
                format!("{}.5", i * 7 % 50)
            };
            let y = if i < zeros { 0 } else { i * 37 % 90 + 1 };
            format!("{x},{},{y}\n", i * 11 % 23)
        };
        "x,w,y\n".to_owned() + &(0..60).map(row).collect::<String>()
    };
    folder
        .write("whole.csv", table(0, 0))
        .write("gaps.csv", table(4, 0))
        .write("zeros.csv", table(0, 45));
    let notes = |arguments: &str| {
        let run = folder.run(arguments);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stderr
    };
    let trained = |data: &str, intervals: &str| {
        notes(&format!(
            "train --data {data} --targets y --trees 30 --model m.rpo {intervals}"
        ))
    };
    assert_eq!(trained("whole.csv", "--intervals 0.8"), "");
    let newly = "note: feature \"x\" is missing in 4 of 60 samples and was in none of the training: what is predicted for \
                 them may be far off\n";
    assert_eq!(notes("predict --data gaps.csv --model m.rpo --out p.csv"), newly);
    folder.write("one.csv", "x,w,y\n,1,2\n");
    let of_one = notes("predict --data one.csv --model m.rpo --out p.csv");
    assert!(
        of_one.starts_with("note: feature \"x\" is missing in 1 of 1 samples and was in none"),
        "{of_one}"
    );
    assert_eq!(trained("gaps.csv", ""), "");
    assert_eq!(notes("predict --data gaps.csv --model m.rpo --out p.csv"), "");
    let equal = "note: 75 % of the values of \"y\" are 0, which an interval includes or excludes all at once: intervals may \
                 cover far more or fewer values than their level\n";
    assert_eq!(trained("zeros.csv", "--intervals 0.8"), equal);

    let rare: String = (0..60)
        .map(|i| format!("{i},{},{}\n", i % 2, u8::from(i < 3)))
        .collect();
    folder.write("rare.csv", "x,often,rare\n".to_owned() + &rare);
    let found =
        notes("cv --data rare.csv --targets often,rare --trees 2 --folds 4 --metrics hamming,macro-f1");
    let rare = "note: 1 of 2 labels have fewer positives than there are folds: where a fold has none, means over labels \
                such as macro-f1 leave the label out or count it as 0\n";
    assert_eq!(found, rare);
    assert_eq!(
        notes("cv --data rare.csv --targets often,rare --trees 2 --folds 3 --metrics macro-f1"),
        ""
    );
    assert_eq!(
        notes("cv --data rare.csv --targets often,rare --trees 2 --folds 4 --metrics hamming"),
        ""
    );
}
