//! Metrics of dense scores: of the ranking of all labels, of the best few labels, and of label sets.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndarray::Array2;
use rpo::core::{CsrMatrix, MatrixView};
use rpo::metrics::{Evaluation, EvaluationOptions, Metric};
use rpo_benches::{SEED, labels, name, texts};

/// Scores in [0, 1): noise, plus 0.3 for the labels of a sample.
fn scores(labels: &CsrMatrix) -> Array2<f32> {
    let noise = SEED.purpose("scores");
    let mut scores = Array2::from_shape_fn(labels.shape(), |(i, j)| {
        let drawn = noise.hash((i * labels.cols() + j) as u64) >> 40;
        drawn as f32 / (1 << 24) as f32 * 0.7
    });
    for (i, row) in labels.outer_iterator().enumerate() {
        row.iter().for_each(|(j, _)| scores[[i, j]] += 0.3);
    }
    scores
}

fn metrics(c: &mut Criterion) {
    let data = texts(2000, 100, 500);
    let scores = scores(labels(&data));
    let truth: MatrixView<'_> = data.outputs().into();
    let mut group = c.benchmark_group("metrics");
    group.throughput(Throughput::Elements(scores.len() as u64));
    for metric in [
        "lrap",
        "ranking-loss",
        "macro-auc",
        "p@5",
        "ndcg@5",
        "hamming",
        "micro-f1",
    ] {
        let metrics = [metric.parse::<Metric>().expect("it is a metric")];
        let evaluate = || {
            let evaluation = Evaluation::new(truth, scores.view(), EvaluationOptions::default());
            evaluation.evaluate(&metrics).expect("scores are finite")[0]
        };
        let value = evaluate();
        // Neither a chance result nor a perfect one.
        assert!(value > 0.01 && value < 0.99, "{metric}: {value}");
        group.bench_function(name(metric, &data, None), |b| {
            b.iter(|| assert_eq!(evaluate(), value));
        });
    }
}

criterion_group!(benches, metrics);
criterion_main!(benches);
