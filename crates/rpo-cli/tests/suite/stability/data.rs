//! Small data sets made by integer arithmetic: the same bytes on every machine and with every version of the library.

use crate::common::Folder;

/// A linear congruential generator with the constants of Knuth's MMIX.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Rows of cells, the outputs last.
type Rows = Vec<Vec<String>>;

/// An integer in units of 1/8, which text and binary numbers represent exactly.
fn eighths(value: u64, less: u64) -> String {
    format!("{}", (value as f64 - less as f64) / 8.0)
}

/// Twelve dense features, including a constant, a duplicate, a near-duplicate, and coarse and mostly zero ones; eight
/// labels, including a rare one and one of noise.
fn labels(n: usize) -> Rows {
    let mut random = Random(1);
    let sample = |_| {
        let [a, b, size] = [1000, 1000, 100].map(|n| random.below(n));
        let (level, flag) = (random.below(5), random.below(2));
        let shifted = random.below(2001);
        let seldom = if random.once_in(6) {
            1 + random.below(50)
        } else {
            0
        };
        let near = if random.once_in(4) {
            random.below(100)
        } else {
            size
        };
        let features = [
            a.to_string(),
            b.to_string(),
            level.to_string(),
            flag.to_string(),
            "7".to_owned(),
            a.to_string(),
            eighths(shifted, 1000),
            (b / 100).to_string(),
            size.to_string(),
            seldom.to_string(),
            eighths(random.below(10_000), 0),
            near.to_string(),
        ];
        let truth = [
            a > 500,
            a + b > 900,
            level >= 3,
            flag == 1 && b > 300,
            seldom > 0,
            (a > 500) != (level >= 3),
            shifted > 1850 || random.once_in(20),
            random.once_in(2),
        ];
        let noisy = truth.map(|label| u8::from(label != random.once_in(14)).to_string());
        features.into_iter().chain(noisy).collect()
    };
    (0..n).map(sample).collect()
}

/// Eight features and four outputs, one of them far from zero and one with steep outliers.
fn numbers(n: usize) -> Rows {
    let mut random = Random(2);
    let sample = |_| {
        let [a, b, c] = [0; 3].map(|_| random.below(800));
        let (level, shifted) = (random.below(6), random.below(401));
        let outlier = if random.once_in(15) { 4000 } else { 0 };
        let features = [
            a.to_string(),
            eighths(b, 0),
            eighths(c, 400),
            level.to_string(),
            eighths(shifted, 200),
            random.below(3).to_string(),
            (a / 50).to_string(),
            random.below(1000).to_string(),
        ];
        let noise = random.below(60);
        let outputs = [
            eighths(3 * a + noise, b),
            eighths(a * b / 500 + noise, 0),
            eighths(80_000 + 400 * level + shifted, 0),
            eighths(c.abs_diff(400) + outlier, 300),
        ];
        features.into_iter().chain(outputs).collect()
    };
    (0..n).map(sample).collect()
}

/// Four features and four classes, of which each sample has one.
fn classes(n: usize) -> Rows {
    let mut random = Random(3);
    let sample = |_| {
        let features = [0; 4].map(|_| random.below(200));
        let class = u64::from(features[0] > 100) + 2 * u64::from(features[1] + features[2] > 180);
        let class = if random.once_in(12) {
            random.below(4)
        } else {
            class
        };
        let outputs = (0..4).map(|j| u64::from(j == class));
        features
            .into_iter()
            .chain(outputs)
            .map(|v| v.to_string())
            .collect()
    };
    (0..n).map(sample).collect()
}

/// Three nominal features, one with two values, three numbers, and five labels.
fn words(n: usize) -> Rows {
    let mut random = Random(4);
    let sample = |_| {
        let (colour, size, flag) = (random.below(4), random.below(3), random.below(2));
        let [a, b, c] = [50, 600, 90].map(|n| random.below(n));
        let features = [
            ["red", "green", "blue", "'dark grey'"][colour as usize].to_owned(),
            ["small", "middling", "large"][size as usize].to_owned(),
            ["no", "yes"][flag as usize].to_owned(),
            a.to_string(),
            eighths(b, 300),
            c.to_string(),
        ];
        let truth = [
            colour == 1 || colour == 3,
            size == 2 && flag == 1,
            a > 25,
            b > 300 && colour != 0,
            (c > 45) != (flag == 1),
        ];
        let noisy = truth.map(|label| u8::from(label != random.once_in(12)).to_string());
        features.into_iter().chain(noisy).collect()
    };
    (0..n).map(sample).collect()
}

/// Empties one in `features_in` of the features and one in `outputs_in` of the outputs; 0 empties none.
fn with_holes(mut rows: Rows, outputs: usize, features_in: u64, outputs_in: u64) -> Rows {
    let mut random = Random(5);
    for row in &mut rows {
        let first_output = row.len() - outputs;
        for (j, cell) in row.iter_mut().enumerate() {
            let one_in = if j < first_output { features_in } else { outputs_in };
            if one_in > 0 && random.once_in(one_in) {
                cell.clear();
            }
        }
    }
    rows
}

fn csv(rows: &[Vec<String>], outputs: usize) -> String {
    let n_features = rows[0].len() - outputs;
    let features = (0..n_features).map(|j| format!("f{j}"));
    let names: Vec<String> = features.chain((0..outputs).map(|j| format!("y{j}"))).collect();
    let lines = rows.iter().map(|row| row.join(",") + "\n");
    format!("{}\n{}", names.join(","), lines.collect::<String>())
}

/// An ARFF file of the rows of `words`, empty cells missing.
fn arff(rows: &[Vec<String>]) -> String {
    let mut text = "@relation words\n\
        @attribute colour {red,green,blue,'dark grey'}\n\
        @attribute size {small,middling,large}\n\
        @attribute flag {no,yes}\n\
        @attribute a numeric\n@attribute b numeric\n@attribute c numeric\n"
        .to_owned();
    text.extend((0..5).map(|j| format!("@attribute y{j} {{0,1}}\n")));
    text += "@data\n";
    for row in rows {
        let cells = row.iter().map(|cell| if cell.is_empty() { "?" } else { cell });
        text += &cells.collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    text
}

/// Labels and counted words of a text.
type Text = (Vec<u64>, Vec<(u64, u64)>);

/// Word counts of texts: sixty mostly zero features, and thirty labels that depend on one or two of twelve topics; some
/// samples have no label.
fn texts(n: usize) -> Vec<Text> {
    let mut random = Random(6);
    let sample = |_| {
        let first = random.below(12);
        let second = if random.once_in(3) {
            random.below(12)
        } else {
            first
        };
        let mut counts = [0; 60];
        for topic in [first, second] {
            for _ in 0..4 {
                counts[(5 * topic + random.below(5)) as usize] += 1 + random.below(2);
            }
        }
        for _ in 0..3 {
            counts[random.below(60) as usize] += 1;
        }
        let mut labels = vec![first, second, 12 + first % 6, 18 + second % 3];
        if random.once_in(3) {
            labels.push(21 + first * second % 9);
        }
        if random.once_in(5) {
            labels.push(random.below(30));
        }
        if random.once_in(30) {
            labels.clear();
        }
        labels.sort_unstable();
        labels.dedup();
        let words = (0..60).zip(counts).filter(|(_, count)| *count > 0);
        (labels, words.collect())
    };
    (0..n).map(sample).collect()
}

fn pairs(texts: &[Text], first_feature: u64) -> String {
    let mut text = String::new();
    for (labels, words) in texts {
        let labels: Vec<String> = labels.iter().map(u64::to_string).collect();
        text += &labels.join(",");
        for (word, count) in words {
            text += &format!(" {}:{}", word + first_feature, eighths(2 * count, 0));
        }
        text.push('\n');
    }
    text
}

fn xmlrepo(texts: &[Text]) -> String {
    format!("{} 60 30\n{}", texts.len(), pairs(texts, 0))
}

/// Writes the training and test files of every data set.
pub(crate) fn write(folder: &Folder) {
    let table = |name: &str, rows: &[Vec<String>], outputs: usize, n_train: usize| {
        folder
            .write(&format!("{name}-train.csv"), csv(&rows[..n_train], outputs))
            .write(&format!("{name}-test.csv"), csv(&rows[n_train..], outputs));
    };
    table("labels", &labels(160), 8, 120);
    table("labels-gaps", &with_holes(labels(160), 8, 9, 0), 8, 120);
    table("labels-holes", &with_holes(labels(160), 8, 9, 5), 8, 120);
    table("numbers", &numbers(140), 4, 100);
    table("numbers-gaps", &with_holes(numbers(140), 4, 9, 0), 4, 100);
    table("numbers-holes", &with_holes(numbers(140), 4, 9, 5), 4, 100);
    table("classes", &classes(140), 4, 100);
    for (name, rows) in [
        ("words", words(150)),
        ("words-gaps", with_holes(words(150), 5, 9, 0)),
    ] {
        folder
            .write(&format!("{name}-train.arff"), arff(&rows[..110]))
            .write(&format!("{name}-test.arff"), arff(&rows[110..]));
    }
    let texts = texts(200);
    folder
        .write("texts-train.txt", xmlrepo(&texts[..150]))
        .write("texts-test.txt", xmlrepo(&texts[150..]))
        .write("texts-train.svm", pairs(&texts[..150], 1))
        .write("texts-test.svm", pairs(&texts[150..], 1));
}

/// Returns the options that name a data set of the table: for training, and for prediction.
pub(crate) fn options(set: &str) -> (String, String) {
    let both =
        |train: &str, test: &str, rest: &str| (format!("--data {train} {rest}"), format!("--data {test}"));
    let table =
        |name: &str, rest: &str| both(&format!("{name}-train.csv"), &format!("{name}-test.csv"), rest);
    match set {
        "labels" | "labels-gaps" => table(set, "--n-targets 8"),
        "labels-holes" => table(set, "--n-targets 8 --missing-outputs"),
        "labels-then-gaps" => both("labels-train.csv", "labels-gaps-test.csv", "--n-targets 8"),
        "labels-as-numbers" => table("labels", "--n-targets 8 --task regression"),
        "labels-sparse" => {
            let (train, test) = table("labels", "--n-targets 8");
            (train + " --layout sparse", test + " --layout sparse")
        }
        "numbers" | "numbers-gaps" | "classes" => table(set, "--n-targets 4"),
        "numbers-holes" => table(set, "--n-targets 4 --missing-outputs"),
        "words" | "words-gaps" => both(
            &format!("{set}-train.arff"),
            &format!("{set}-test.arff"),
            "--n-targets 5",
        ),
        "texts" => both("texts-train.txt", "texts-test.txt", ""),
        "texts-svmlight" => both("texts-train.svm", "texts-test.svm", ""),
        "texts-dense" => {
            let (train, test) = both("texts-train.txt", "texts-test.txt", "");
            (train + " --layout dense", test + " --layout dense")
        }
        catalogued if catalogued.starts_with('@') => both(set, set, ""),
        _ => panic!("the table names an unknown data set: {set:?}"),
    }
}
