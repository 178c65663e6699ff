//! Trees: the search for the split of a root, and growth to pure leaves, for each layout of features and of split
//! targets.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rpo::data::Dataset;
use rpo::tree::criterion::{Criterion as SplitCriterion, CriterionVisitor, Impurity};
use rpo::tree::splitter::{AxisParams, AxisSplitter, NodeRows, Splitter, ThresholdSearch};
use rpo::tree::{GrowParams, RankedFeatures, grow};
use rpo_benches::{SEED, labels, measurements, name, projected, texts};

const M: usize = 25;

fn dense(c: &mut Criterion) {
    let data = measurements(2000, 100, 100);
    let (z, weights) = (projected(&data, M), vec![1.0; data.n_samples()]);
    for thresholds in [ThresholdSearch::Best, ThresholdSearch::Random] {
        let both = Both {
            c,
            layout: "dense",
            data: &data,
            m: Some(M),
            thresholds,
        };
        Impurity::Variance((&z).into()).visit(&weights, both);
    }
}

fn sparse(c: &mut Criterion) {
    let data = texts(2000, 1000, 200);
    let (z, labels) = (projected(&data, M), labels(&data));
    let weights = vec![1.0; data.n_samples()];
    for (m, targets) in [(Some(M), (&z).into()), (None, labels.into())] {
        let both = Both {
            c,
            layout: "sparse",
            data: &data,
            m,
            thresholds: ThresholdSearch::Best,
        };
        Impurity::Variance(targets).visit(&weights, both);
    }
}

/// Benchmarks the split of the root and a whole tree, with √p features drawn at a node.
struct Both<'a> {
    c: &'a mut Criterion,
    layout: &'a str,
    data: &'a Dataset,
    m: Option<usize>,
    thresholds: ThresholdSearch,
}

impl CriterionVisitor for Both<'_> {
    type Output = ();

    fn visit<C: SplitCriterion + Sync>(self, criterion: C) {
        let Self {
            c,
            layout,
            data,
            m,
            thresholds,
        } = self;
        let columns = RankedFeatures::new(data.features().view(), &[]).expect("features are finite");
        let params = AxisParams {
            max_features: Some(data.n_features().isqrt()),
            thresholds,
            ..AxisParams::default()
        };
        let splitter = AxisSplitter::new(&columns, criterion, params).expect("parameters are in range");
        let mut workspace = splitter.workspace();
        let rows: Vec<u32> = (0..data.n_samples() as u32).collect();
        let how = match thresholds {
            ThresholdSearch::Best => "best",
            ThresholdSearch::Random => "random",
        };
        let mut group = c.benchmark_group("tree");
        group.throughput(Throughput::Elements(rows.len() as u64));

        let root = NodeRows {
            number: 0,
            rows: &rows,
            depth: 0,
            seed: SEED,
        };
        let mut children = vec![0; rows.len()];
        group.bench_function(name(&format!("split-{how}-{layout}"), data, m), |b| {
            b.iter(|| {
                children.fill(0);
                let split = splitter
                    .split(root, &mut workspace, &mut children)
                    .expect("labels differ");
                assert!(split.gain > 0.0);
                split
            });
        });
        assert!(children.contains(&0) && children.contains(&1));

        let params = GrowParams::default();
        group.bench_function(name(&format!("grow-{how}-{layout}"), data, m), |b| {
            b.iter(|| {
                let grown = grow(&splitter, &mut workspace, rows.clone(), &params, SEED).unwrap();
                assert!(grown.structure.n_leaves() > rows.len() / 4);
                grown
            });
        });
    }
}

criterion_group!(benches, dense, sparse);
criterion_main!(benches);
