//! Forests: fitting and predicting, on the labels themselves and on Gaussian projections of them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rpo::Predictor;
use rpo::core::TreeEnsemble;
use rpo::data::Dataset;
use rpo::ensemble::{ForestParams, Learner, ProjectionChoice};
use rpo::metrics::{Evaluation, EvaluationOptions, Metric};
use rpo::projections::{Components, ProjectionKind};
use rpo_benches::{measurements, name, texts};

fn params(m: Option<usize>) -> ForestParams {
    ForestParams {
        trees: 10,
        seed: 1,
        projection: m.map_or(ProjectionChoice::None, |_| ProjectionKind::Gaussian.into()),
        components: m.map(Components::Exact),
        ..ForestParams::default()
    }
}

fn forests(c: &mut Criterion) {
    for data in [texts(2000, 500, 200), measurements(1000, 50, 50)] {
        for m in [None, Some(25)] {
            fit_and_predict(c, &data, m);
        }
    }
}

fn fit_and_predict(c: &mut Criterion, data: &Dataset, m: Option<usize>) {
    let params = params(m);
    let (x, y) = (data.features().view(), data.outputs().view());
    let n_trees = 10;
    let mut group = c.benchmark_group("forest");
    group.throughput(Throughput::Elements((n_trees * x.n_rows()) as u64));
    group.bench_function(name("fit", data, m), |b| {
        b.iter(|| {
            let forest = params.fit(x, y).expect("the data are sound");
            assert_eq!(forest.trees().len(), n_trees);
            forest
        });
    });

    let forest = params.fit(x, y).expect("the data are sound");
    let scores = forest
        .predict(x)
        .expect("the features are those of the training set");
    let lrap = Evaluation::new(y, scores.view(), EvaluationOptions::default()).evaluate(&[Metric::Lrap]);
    // Most trees have seen the row, so its labels are ranked well.
    assert!(lrap.is_ok_and(|values| values[0] > 0.9));
    group.bench_function(name("predict", data, m), |b| {
        b.iter(|| {
            let again = forest
                .predict(x)
                .expect("the features are those of the training set");
            assert_eq!(again.row(0), scores.row(0));
            again
        });
    });
    group.bench_function(name("predict-top-5", data, m), |b| {
        b.iter(|| {
            let top = forest
                .predict_top_k(x, 5)
                .expect("the features are those of the training set");
            assert!(top.nnz() <= 5 * x.n_rows());
            top
        });
    });
}

criterion_group!(benches, forests);
criterion_main!(benches);
