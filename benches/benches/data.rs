//! Reading files: each format, from memory.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rpo::data::read::{Format, ReadOptions, Targets, read_from};
use rpo::data::{Dataset, Task, write};
use rpo_benches::{measurements, name, texts};
use std::fmt::Write as _;

fn parse_sparse(c: &mut Criterion) {
    let data = texts(2000, 2000, 500);
    let mut text = Vec::new();
    write::write(&data, Format::XmlRepo, &mut text).expect("memory takes it");
    parse(
        c,
        "xmlrepo",
        &text,
        &data,
        &ReadOptions {
            format: Format::XmlRepo,
            ..ReadOptions::default()
        },
    );

    let mut text = Vec::new();
    write::write(&data, Format::SvmLight, &mut text).expect("memory takes it");
    let options = ReadOptions {
        format: Format::SvmLight,
        n_features: Some(data.n_features()),
        n_outputs: Some(data.n_outputs()),
        ..ReadOptions::default()
    };
    parse(c, "svmlight", &text, &data, &options);
}

fn parse_tables(c: &mut Criterion) {
    let data = measurements(2000, 100, 10);
    let columns = (0..data.n_features() + data.n_outputs()).map(|column| format!("c{column}"));
    let columns: Vec<String> = columns.collect();
    let rows = rows(&data);
    let targets = ReadOptions {
        targets: Targets::Last(data.n_outputs()),
        task: Some(Task::MultiLabel),
        ..ReadOptions::default()
    };

    let text = format!("{}\n{rows}", columns.join(","));
    parse(
        c,
        "csv",
        text.as_bytes(),
        &data,
        &ReadOptions {
            format: Format::Csv,
            ..targets.clone()
        },
    );

    let mut text = "@relation measurements\n".to_owned();
    for column in &columns {
        writeln!(text, "@attribute {column} numeric").expect("memory takes it");
    }
    write!(text, "@data\n{rows}").expect("memory takes it");
    parse(
        c,
        "arff",
        text.as_bytes(),
        &data,
        &ReadOptions {
            format: Format::Arff,
            ..targets
        },
    );
}

/// The features and then the outputs of each sample, separated by commas.
fn rows(data: &Dataset) -> String {
    let (x, y) = (data.features().view(), data.outputs().view());
    let mut row = vec![0.0; data.n_features() + data.n_outputs()];
    let mut text = String::new();
    for i in 0..data.n_samples() {
        let (features, outputs) = row.split_at_mut(data.n_features());
        x.copy_row(i, features);
        y.copy_row(i, outputs);
        let cells: Vec<String> = row.iter().map(f32::to_string).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// Reads a text, which must give the set it was written from.
fn parse(c: &mut Criterion, format: &str, text: &[u8], written: &Dataset, options: &ReadOptions) {
    let read = || read_from(text, options).expect("the text is well formed");
    let data = read();
    assert_eq!(
        (data.features(), data.outputs()),
        (written.features(), written.outputs())
    );
    let mut group = c.benchmark_group("data");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(name(&format!("parse-{format}"), written, None), |b| {
        b.iter(|| {
            let data = read();
            assert_eq!(data.n_samples(), written.n_samples());
            data
        });
    });
}

criterion_group!(benches, parse_sparse, parse_tables);
criterion_main!(benches);
