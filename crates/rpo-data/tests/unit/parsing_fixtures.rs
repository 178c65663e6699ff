//! Reads every file that `parsing.json` lists, in the folder given by the environment variable `RPO_FIXTURES`; each is
//! read as expected or refused with the expected error.

use super::arff::{ArffReader, AttributeKind};
use super::columns::check_unique;
use super::csv::{CsvReader, Delimiter};
use super::labelled_line::Sample;
use super::line::LineReader;
use super::row::Row;
use super::svmlight::SvmLightReader;
use super::xmlrepo::XmlRepoReader;
use super::{FirstFeature, Format, LabelFile, ReadError, ReadOptions, Targets, read};
use rpo_core::Matrix;
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

type Outcome = Result<Value, ReadError>;
type Lines = LineReader<BufReader<File>>;

#[test]
fn every_file_is_read_or_refused_as_listed() {
    let Some(folder) = std::env::var_os("RPO_FIXTURES").map(PathBuf::from) else {
        eprintln!("RPO_FIXTURES is not set: the parsing fixtures are not read");
        return;
    };
    let text = std::fs::read_to_string(folder.join("parsing.json")).unwrap();
    let list: Value = serde_json::from_str(&text).unwrap();
    let mut failures = Vec::new();
    let files = list["files"].as_array().unwrap();
    for file in files {
        let name = file["file"].as_str().unwrap();
        let outcomes = outcomes(&folder, file);
        for (how, outcome) in outcomes {
            let result = match file["kind"].as_str().unwrap() {
                "valid" => check_valid(&file["expected"], &outcome),
                "malformed" => check_malformed(&file["error"], &outcome),
                other => Err(format!("unknown kind {other}")),
            };
            if let Err(why) = result {
                failures.push(format!("{name} ({how}): {why}"));
            }
        }
    }
    assert!(!files.is_empty());
    assert!(
        failures.is_empty(),
        "{} of {} files:\n{}",
        failures.len(),
        files.len(),
        failures.join("\n")
    );
}

/// Results of reading a file with the streaming reader and, if one is expected, with [`read`].
fn outcomes(folder: &Path, file: &Value) -> Vec<(&'static str, Outcome)> {
    let path = folder.join(file["file"].as_str().unwrap());
    let open = || LineReader::new(BufReader::new(File::open(&path).unwrap()));
    let whole = |format| {
        read(
            &path,
            &ReadOptions {
                format,
                ..ReadOptions::default()
            },
        )
        .map(|_| Value::Null)
    };
    let (streamed, format) = match file["format"].as_str().unwrap() {
        "arff" => (arff(open()), Format::Arff),
        "csv" => (csv(open()), Format::Csv),
        "xml_repository" => (xmlrepo(open()), Format::XmlRepo),
        "svmlight_multilabel" => (svmlight(open()), Format::SvmLight),
        "mulan_xml" => return vec![("label file", label_file(&path))],
        "mulan_pair" => {
            let data = folder.join(file["options"]["arff"].as_str().unwrap());
            return vec![("pair", pair(&data, &path))];
        }
        other => panic!("unknown format {other}"),
    };
    let mut outcomes = vec![("streaming", streamed)];
    if file["kind"] == "malformed" {
        outcomes.push(("whole", whole(format)));
    }
    outcomes
}

fn check_valid(expected: &Value, outcome: &Outcome) -> Result<(), String> {
    match outcome {
        Err(e) => Err(format!("refused: {e}")),
        Ok(found) => {
            let expected = expected.as_object().unwrap();
            let differs = expected
                .iter()
                .find(|(key, value)| !same(value, &found[key.as_str()]));
            differs.map_or(Ok(()), |(key, value)| {
                Err(format!("{key}: expected {value}, found {}", found[key]))
            })
        }
    }
}

/// Compares JSON values, with numbers compared as doubles, bit for bit.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64().map(f64::to_bits) == b.as_f64().map(f64::to_bits),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn check_malformed(expected: &Value, outcome: &Outcome) -> Result<(), String> {
    let Err(e) = outcome else {
        return Err("accepted".to_owned());
    };
    let message = e.to_string();
    let line = json!(e.line);
    let lines = expected["line"]
        .as_array()
        .cloned()
        .unwrap_or_else(|| vec![expected["line"].clone()]);
    if !lines.contains(&line) {
        return Err(format!("line {line}, expected one of {lines:?}: {message}"));
    }
    // The message itself, without path and position, must name the problem.
    let told = e.kind.to_string().to_lowercase();
    let words = expected["mentions_any_of"].as_array().unwrap();
    if words
        .iter()
        .any(|word| told.contains(&word.as_str().unwrap().to_lowercase()))
    {
        Ok(())
    } else {
        Err(format!("none of {words:?} in {message:?}"))
    }
}

fn number(value: f64) -> Value {
    if value.is_nan() { Value::Null } else { json!(value) }
}

fn arff(lines: Lines) -> Outcome {
    let mut reader = ArffReader::from_lines(lines)?;
    let attributes = reader.header.attributes.clone();
    reader.leave_out(&vec![false; attributes.len()])?;
    let described: Vec<Value> = attributes
        .iter()
        .map(|a| match &a.kind {
            AttributeKind::Numeric => json!({"name": a.name, "type": "numeric"}),
            AttributeKind::Nominal(values) => {
                json!({"name": a.name, "type": "nominal", "values": values.to_vec()})
            }
            AttributeKind::Other(_) => unreachable!("is refused"),
        })
        .collect();
    let (mut row, mut rows) = (Row::default(), Vec::new());
    while reader.read_row(&mut row)? {
        let mut filled = vec![0.0; attributes.len()];
        row.columns()
            .iter()
            .zip(row.values())
            .for_each(|(&j, &v)| filled[j as usize] = v);
        let shown = attributes.iter().zip(&filled).map(|(a, &v)| match &a.kind {
            AttributeKind::Nominal(values) if !v.is_nan() => json!(values[v as usize]),
            _ => number(v),
        });
        rows.push(shown.collect::<Value>());
    }
    Ok(json!({"relation": reader.header.relation, "attributes": described, "rows": rows}))
}

fn csv(lines: Lines) -> Outcome {
    let mut reader = CsvReader::from_lines(lines, Delimiter::Detected { with_comma: true })?;
    let all = vec![None; reader.columns().len()];
    check_unique(reader.columns(), &all).map_err(|kind| kind.at(reader.line()))?;
    let (mut row, mut rows) = (Row::default(), Vec::new());
    while reader.read_row(&mut row)? {
        rows.push(row.values().iter().map(|&v| number(v)).collect::<Value>());
    }
    Ok(json!({"columns": reader.columns(), "rows": rows}))
}

fn xmlrepo(lines: Lines) -> Outcome {
    let mut reader = XmlRepoReader::from_lines(lines)?;
    let (n_features, n_labels) = reader.sizes();
    let mut found = samples(|sample| reader.read_sample(sample))?;
    found["n_features"] = json!(n_features);
    found["n_labels"] = json!(n_labels);
    Ok(found)
}

fn svmlight(lines: Lines) -> Outcome {
    let mut reader = SvmLightReader::from_lines(lines, FirstFeature::One, None, None);
    samples(|sample| reader.read_sample(sample))
}

fn samples(mut read_sample: impl FnMut(&mut Sample) -> Result<bool, ReadError>) -> Outcome {
    let mut sample = Sample::default();
    let (mut labels, mut features) = (Vec::new(), Vec::new());
    while read_sample(&mut sample)? {
        labels.push(json!(sample.labels));
        features.push(json!(sample.features));
    }
    Ok(json!({"n": labels.len(), "labels": labels, "features": features}))
}

fn label_file(path: &Path) -> Outcome {
    let file = LabelFile::open(path)?;
    let parents: Vec<Option<&String>> = file.parents.iter().map(|p| p.map(|i| &file.labels[i])).collect();
    Ok(json!({"labels": file.labels, "parents": parents}))
}

fn pair(data: &Path, labels: &Path) -> Outcome {
    let options = ReadOptions {
        targets: Targets::LabelFile(labels.to_owned()),
        ..ReadOptions::default()
    };
    let data = read(data, &options)?;
    let rows = |a: &Matrix| -> Vec<Vec<f64>> {
        let dense = a.view().to_dense(1 << 20).unwrap();
        let decimal = |v: &f32| v.to_string().parse().unwrap();
        dense
            .rows()
            .into_iter()
            .map(|row| row.iter().map(decimal).collect())
            .collect()
    };
    Ok(json!({
        "features": rows(data.features()),
        "feature_names": data.feature_names().iter().collect::<Vec<_>>(),
        "label_names_in_column_order": data.output_names().iter().collect::<Vec<_>>(),
        "labels_in_column_order": rows(data.outputs()),
    }))
}
