//! Text columns: reading and weighting.

#![allow(
    clippy::disallowed_methods,
    reason = "tests compare with the standard library"
)]

use ndarray::Array2;
use proptest::prelude::*;
use rpo_data::preprocess::{
    Encoding, FeatureWeights, Fill, Normalization, Pipeline, Standardize, Steps, TextWeighting, Transform,
};
use rpo_data::read::{Cell, ColumnType, Missing, ReadErrorKind, ReadOptions, Targets, read_from, read_rows};
use rpo_data::text::{TextOptions, TextUnit};
use rpo_data::{Dataset, Layout};
use std::collections::{BTreeMap, BTreeSet};

const CSV: &str = "review,size,price,title,liked\n\
    \"Good, good; not bad\",small,3,Good pan,1\n\
    bad,large,,,0\n\
    ,small,1,NA,1\n\
    \"GOOD\nÉTÉ?\",medium,2,été,0\n\
    \"?!\",large,0,pan,0\n";

fn options() -> ReadOptions {
    let types = ["review", "title"].map(|name| (name.to_owned(), ColumnType::Text));
    ReadOptions {
        targets: Targets::Last(1),
        types: types.into(),
        text: TextOptions {
            min_samples: 1,
            ..TextOptions::default()
        },
        ..ReadOptions::default()
    }
}

fn read(text: &str, options: &ReadOptions) -> Dataset {
    read_from(text.as_bytes(), options).unwrap()
}

fn dense(data: &Dataset) -> Array2<f32> {
    data.features().view().to_dense(usize::MAX).unwrap()
}

#[test]
fn terms_come_after_the_features_of_other_columns() {
    let data = read(CSV, &options());
    let names: Vec<_> = data.feature_names().iter().collect();
    let expected = [
        "size",
        "price",
        "review[bad]",
        "review[good]",
        "review[not]",
        "review[été]",
        "title[good]",
        "title[pan]",
        "title[été]",
    ];
    assert_eq!(names, expected);
    assert_eq!(data.nominal()[&0][..], ["large", "medium", "small"]);
    let firsts: Vec<(usize, &str)> = data
        .texts()
        .iter()
        .map(|(&j, column)| (j, &*column.name))
        .collect();
    assert_eq!(firsts, [(2, "review"), (6, "title")]);
    let m = f32::NAN;
    let expected = ndarray::array![
        [2.0, 3.0, 1.0, 2.0, 1.0, 0.0, 1.0, 1.0, 0.0],
        [0.0, m, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, 2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    ];
    assert_eq!(format!("{:?}", dense(&data)), format!("{expected:?}"));
    assert_eq!(data.n_outputs(), 1);
    // A table of texts only.
    let alone = read(
        "t,y\na b,1\nb,0\n",
        &ReadOptions {
            types: [("t".to_owned(), ColumnType::Text)].into(),
            ..options()
        },
    );
    assert_eq!(dense(&alone), ndarray::array![[1.0, 1.0], [0.0, 1.0]]);
}

#[test]
fn other_texts_are_read_with_the_vocabulary_of_the_first() {
    let data = read(CSV, &options());
    let others = ReadOptions {
        texts: data.texts().values().cloned().collect(),
        text: TextOptions::default(),
        ..options()
    };
    assert_eq!(format!("{:?}", read(CSV, &others)), format!("{data:?}"));
    let new = read(
        "liked,title,review,size,price\n0,terrible,good news,xl,1\n",
        &ReadOptions {
            targets: Targets::Names(vec!["liked".into()]),
            ..others.clone()
        },
    );
    // In the order of the columns of that file.
    assert_eq!(
        new.texts()
            .values()
            .map(|column| &*column.name)
            .collect::<Vec<_>>(),
        ["title", "review"]
    );
    assert_eq!(
        dense(&new).row(0).to_vec(),
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    );
    let columns = ["title", "review"].map(String::from);
    let rows = [
        vec![Cell::Text("Pan"), Cell::Number(3.0)],
        vec![Cell::Missing, Cell::Text(" bad BAD ")],
    ];
    let in_memory = ReadOptions {
        targets: Targets::None,
        ..others
    };
    let found = read_rows(&columns, &rows, &in_memory).unwrap();
    assert_eq!(
        dense(&found),
        ndarray::array![
            [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
        ]
    );
}

#[test]
fn what_cannot_be_read_is_refused() {
    let refused = |text: &str, options: &ReadOptions| read_from(text.as_bytes(), options).unwrap_err();
    let strict = ReadOptions {
        missing: Missing::Refuse,
        ..options()
    };
    let e = refused("review,title,y\na,b,1\n,b,0\n", &strict);
    assert_eq!(
        (e.line, e.kind),
        (Some(3), ReadErrorKind::MissingFeature("review".into()))
    );
    let rare = ReadOptions {
        text: TextOptions::default(),
        ..options()
    };
    let e = refused("review,title,y\na,a,1\nb,a,0\n", &rare);
    let (column, min_samples) = ("review".to_owned(), 2);
    assert_eq!(e.kind, ReadErrorKind::NoTerms { column, min_samples });
    let target = ReadOptions {
        targets: Targets::Names(vec!["review".into()]),
        ..options()
    };
    let e = refused(CSV, &target).to_string();
    assert!(e.contains("\"review\"") && e.contains("texts"), "{e}");
    let e = refused("review,title,review[a],y\na b,b,1,1\n", &options()).to_string();
    assert!(e.contains("feature name \"review[a]\" is used twice"), "{e}");
    let small = ReadOptions {
        memory_limit: 200,
        ..options()
    };
    let e = refused(CSV, &small);
    assert!(matches!(e.kind, ReadErrorKind::Memory(_)), "{e}");
    for (text, name) in [
        (
            TextOptions {
                shortest: 3,
                longest: 2,
                ..TextOptions::default()
            },
            "shortest",
        ),
        (
            TextOptions {
                longest: 17,
                ..TextOptions::default()
            },
            "longest",
        ),
        (
            TextOptions {
                hash: Some(0),
                ..TextOptions::default()
            },
            "hash",
        ),
    ] {
        let e = refused(CSV, &ReadOptions { text, ..options() });
        assert!(
            matches!(&e.kind, ReadErrorKind::Parameter(p) if p.name() == name),
            "{e}"
        );
    }
    let mut bytes = b"review,title,y\na,b,1\n".to_vec();
    bytes.extend(b"\xff\xfe,b,1\n");
    let e = read_from(bytes.as_slice(), &options()).unwrap_err();
    assert_eq!(e.line, Some(3), "{e}");
}

#[test]
fn a_selection_has_the_texts_that_are_whole() {
    let data = read(CSV, &options());
    let part = data.select_features(&[1, 2, 3, 4, 5, 7, 8]).unwrap();
    assert_eq!(
        part.texts()
            .iter()
            .map(|(&j, c)| (j, &*c.name))
            .collect::<Vec<_>>(),
        [(1, "review")]
    );
    assert_eq!(data.select_samples(&[0, 2]).unwrap().texts(), data.texts());
    let other = read(
        CSV,
        &ReadOptions {
            types: [("review".to_owned(), ColumnType::Text)].into(),
            ..options()
        },
    );
    assert!(data.concat(&other).is_err());
    assert_eq!(data.concat(&data).unwrap().texts(), data.texts());
}

#[test]
fn tf_idf_by_hand() {
    let text = "t,x,y\n\"good good bad\",5,1\nbad,-1,0\n,0,0\n";
    let types = [("t".to_owned(), ColumnType::Text)].into();
    let data = read(text, &ReadOptions { types, ..options() });
    // One of three samples has "good", two have "bad": log(4 / 2) + 1 and log(4 / 3) + 1.
    let (good, bad) = (1.693_147_2_f32, 1.287_682_f32);
    let weighted = |weighting| {
        let steps = Steps {
            texts: weighting,
            ..Steps::default()
        };
        dense(&steps.fit(&data).unwrap().apply(&data).unwrap())
    };
    let check = |weighting, repeated: f32| {
        let found = weighted(weighting);
        let length = (repeated * good).hypot(bad);
        let expected = ndarray::array![
            [5.0, bad / length, repeated * good / length],
            [-1.0, 1.0, 0.0],
            [0.0, 0.0, 0.0]
        ];
        assert!((&found - &expected).iter().all(|d| d.abs() < 1e-6), "{found}");
    };
    check(TextWeighting::TfIdf, 2.0);
    check(TextWeighting::LogTfIdf, 1.0 + 2.0_f32.ln());
    assert_eq!(weighted(TextWeighting::Counts), dense(&data));
}

/// A term that only withheld samples have counts no more than one that the vocabulary lacks.
#[test]
fn terms_of_withheld_samples_are_left_out() {
    let text = "t,y\n\"good bad\",1\nbad,0\n\"bad news news\",0\nnews,1\n";
    let types = [("t".to_owned(), ColumnType::Text)].into();
    let data = read(text, &ReadOptions { types, ..options() });
    let steps = Steps {
        texts: TextWeighting::TfIdf,
        ..Steps::default()
    };
    let fitted = steps.fit(&data.select_samples(&[0, 1]).unwrap()).unwrap();
    let found = dense(&fitted.apply(&data).unwrap());
    let news = data.feature_names().position("t[news]").unwrap();
    assert!(found.column(news).iter().all(|v| *v == 0.0), "{found}");
    let bad = data.feature_names().position("t[bad]").unwrap();
    assert_eq!((found[[2, bad]], found[[3, bad]]), (1.0, 0.0));
}

/// Computes tf-idf of lower-case words and word pairs, directly from the formula.
fn naive(train: &[String], test: &[String], min_samples: usize) -> BTreeMap<String, Vec<f64>> {
    let terms = |text: &String| -> Vec<String> {
        let words: Vec<String> = text
            .split(' ')
            .filter(|w| !w.is_empty())
            .map(str::to_lowercase)
            .collect();
        let pairs = words.windows(2).map(|pair| pair.join(" "));
        pairs.chain(words.iter().cloned()).collect()
    };
    let all: BTreeSet<String> = train.iter().flat_map(terms).collect();
    let n_with = |term: &String| train.iter().filter(|text| terms(text).contains(term)).count();
    let known: Vec<String> = all
        .into_iter()
        .filter(|term| n_with(term) >= min_samples)
        .collect();
    let value = |text: &String, term: &String| {
        let count = terms(text).iter().filter(|other| *other == term).count() as f64;
        count * (((1 + train.len()) as f64 / (1 + n_with(term)) as f64).ln() + 1.0)
    };
    let lengths: Vec<f64> = test
        .iter()
        .map(|text| {
            known
                .iter()
                .map(|term| value(text, term).powi(2))
                .sum::<f64>()
                .sqrt()
        })
        .collect();
    let column = |term: &String| {
        let values = test.iter().zip(&lengths);
        values
            .map(|(text, &length)| {
                if length == 0.0 {
                    0.0
                } else {
                    value(text, term) / length
                }
            })
            .collect()
    };
    known.iter().map(|term| (term.clone(), column(term))).collect()
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec!["a", "B", "b", "Good", "é", "É", "x1"]);
    let text = prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "));
    prop::collection::vec(text, 2..8)
}

proptest! {
    #[test]
    fn tf_idf_is_that_of_the_formula(train in texts(), test in texts(), min_samples in 1_u32..3) {
        let csv = |texts: &[String]| {
            let lines = texts.iter().map(|text| format!("{text},1,1\n"));
            lines.fold("t,x,y\n".to_owned(), |all, line| all + &line)
        };
        let options = ReadOptions {
            types: [("t".to_owned(), ColumnType::Text)].into(),
            text: TextOptions { longest: 2, min_samples, ..TextOptions::default() },
            ..options()
        };
        let expected = naive(&train, &test, min_samples as usize);
        let data = match read_from(csv(&train).as_bytes(), &options) {
            Ok(data) => data,
            Err(e) => {
                prop_assert!(expected.is_empty() && matches!(e.kind, ReadErrorKind::NoTerms { .. }), "{}", e);
                return Ok(());
            }
        };
        let pipeline = Steps::default().fit(&data).unwrap();
        let texts = data.texts().values().cloned().collect();
        let new = read(&csv(&test), &ReadOptions { texts, ..options });
        let sparse = pipeline.apply(&new).unwrap();
        let dense_set = new.clone().with_layout(Layout::Dense, usize::MAX).unwrap();
        for found in [dense(&sparse), dense(&pipeline.apply(&dense_set).unwrap())] {
            let names: Vec<String> = expected.keys().map(|term| format!("t[{term}]")).collect();
            prop_assert_eq!(sparse.feature_names().iter().skip(1).collect::<Vec<_>>(), names);
            for (column, values) in expected.values().enumerate() {
                for (row, value) in values.iter().enumerate() {
                    let difference = f64::from(found[[row, column + 1]]) - value;
                    prop_assert!(difference.abs() < 1e-6, "{} at {:?}", difference, (row, column));
                }
            }
        }
    }
}

#[test]
fn other_steps_leave_terms_alone_and_sparse() {
    let data = read(CSV, &options());
    let only_texts = Steps::default().fit(&data).unwrap().apply(&data).unwrap();
    let steps = Steps {
        impute: Some(Fill::Mean),
        nominal: Encoding::OneHot,
        standardize: Standardize::All,
        ..Steps::default()
    };
    let pipeline = steps.fit(&data).unwrap();
    let made = pipeline.apply(&data).unwrap();
    // The indicators shift the terms by two columns.
    assert_eq!(made.texts().keys().copied().collect::<Vec<_>>(), [4, 8]);
    assert_eq!(made.feature_names().get(4).as_deref(), Some("review[bad]"));
    assert!(matches!(made.features(), rpo_data::Matrix::Sparse(_)));
    let (found, texts) = (dense(&made), dense(&only_texts));
    assert_eq!(
        found.slice(ndarray::s![.., 4..]),
        texts.slice(ndarray::s![.., 2..])
    );
    let prices = found.column(3).to_owned();
    assert!(
        prices.sum().abs() < 1e-6 && (prices.mapv(|v| v * v).sum() - 5.0).abs() < 1e-5,
        "{prices}"
    );
    // Sparse and dense features give the same values, in sets and in plain matrices.
    let dense_set = data.clone().with_layout(Layout::Dense, usize::MAX).unwrap();
    assert_eq!(dense(&pipeline.apply(&dense_set).unwrap()), found);
    assert_eq!(
        pipeline.transform(data.features().view()).unwrap(),
        *made.features()
    );
    // Feature weights apply to features without text weights.
    let weighted = Steps {
        weights: Some(FeatureWeights::Idf),
        normalize: Some(Normalization::L2),
        ..Steps::default()
    };
    let pipeline = Steps {
        normalize: None,
        ..weighted
    }
    .fit(&data)
    .unwrap();
    let found = dense(&pipeline.apply(&data).unwrap());
    assert_eq!(
        found.slice(ndarray::s![.., 2..]),
        texts.slice(ndarray::s![.., 2..])
    );
    let unit = dense(&weighted.fit(&data).unwrap().apply(&data).unwrap());
    assert!((unit.row(0).mapv(|v| v * v).sum() - 1.0).abs() < 1e-6);
    // Other texts have other features.
    let hashed = ReadOptions {
        text: TextOptions {
            hash: Some(4),
            ..TextOptions::default()
        },
        ..options()
    };
    assert!(pipeline.check(&read(CSV, &hashed)).is_err());
}

#[test]
fn pipelines_of_texts_are_stored() {
    use rpo_core::store::{Store, Writer};
    let data = read(CSV, &options());
    let steps = Steps {
        texts: TextWeighting::LogTfIdf,
        standardize: Standardize::All,
        impute: Some(Fill::Median),
        ..Steps::default()
    };
    let pipeline = steps.fit(&data).unwrap();
    let mut out = Writer::default();
    pipeline.store(&mut out).unwrap();
    let stored = out.finish().unwrap();
    let (n, nominal, texts) = (data.n_features(), data.nominal(), data.texts());
    let mut from = stored.reader();
    assert_eq!(Pipeline::restore(&mut from, n, nominal, texts), Ok(pipeline));
    // The weights are for other terms than there are.
    let fewer = data.select_features(&[0, 1, 2, 3, 4, 5]).unwrap();
    let mut from = stored.reader();
    assert!(Pipeline::restore(&mut from, 6, nominal, fewer.texts()).is_err());
}

#[test]
fn characters_and_hashes() {
    let text = TextOptions {
        unit: TextUnit::Characters,
        shortest: 2,
        longest: 2,
        min_samples: 1,
        ..TextOptions::default()
    };
    let types: BTreeMap<_, _> = [("t".to_owned(), ColumnType::Text)].into();
    let data = read(
        "t,y\n東京都,1\n京都,0\n",
        &ReadOptions {
            text,
            types: types.clone(),
            ..options()
        },
    );
    assert_eq!(
        data.feature_names().iter().collect::<Vec<_>>(),
        ["t[京都]", "t[東京]"]
    );
    assert_eq!(dense(&data), ndarray::array![[1.0, 1.0], [1.0, 0.0]]);
    let text = TextOptions {
        hash: Some(3),
        ..TextOptions::default()
    };
    let data = read(
        "t,y\na b c d e,1\n,0\n",
        &ReadOptions {
            text,
            types,
            ..options()
        },
    );
    assert_eq!(
        data.feature_names().iter().collect::<Vec<_>>(),
        ["t[#0]", "t[#1]", "t[#2]"]
    );
    assert_eq!(dense(&data).row(0).sum(), 5.0);
}
