//! Drawing each family of projections and applying it to sparse labels.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rpo::core::MatrixView;
use rpo::projections::{Projection, ProjectionKind};
use rpo_benches::{SEED, name, texts};

const M: usize = 25;

/// Σ z² over Σ y²: about 1 for every random projection.
fn preserved(z: MatrixView<'_>, y: MatrixView<'_>) -> f64 {
    let squares = |a: MatrixView<'_>| {
        let mut sum = 0.0;
        for row in 0..a.n_rows() {
            a.for_each_in_row(row, |_, v| sum += f64::from(v).powi(2));
        }
        sum
    };
    squares(z) / squares(y)
}

fn draw_and_apply(c: &mut Criterion) {
    let data = texts(5000, 100, 1000);
    let y = data.outputs().view();
    let mut group = c.benchmark_group("projections");
    group.throughput(Throughput::Elements(y.n_stored() as u64));
    let random = ProjectionKind::NAMED.into_iter().filter(|kind| {
        !matches!(
            kind,
            ProjectionKind::Identity | ProjectionKind::Pca | ProjectionKind::LabelEmbedding
        )
    });
    for kind in random {
        group.bench_function(name(&kind.to_string(), &data, Some(M)), |b| {
            b.iter(|| {
                let map = kind
                    .fit(y.into(), M, SEED)
                    .expect("every family gives so many components");
                let z = map.apply(y).expect("labels are finite");
                assert_eq!(z.dim(), (y.n_rows(), M));
                z
            });
        });
        let map = kind
            .fit(y.into(), M, SEED)
            .expect("every family gives so many components");
        let z = map.apply(y).expect("labels are finite");
        let ratio = preserved(MatrixView::from(&z), y);
        assert!((0.1..10.0).contains(&ratio), "{kind}: {ratio}");
    }
}

criterion_group!(benches, draw_and_apply);
criterion_main!(benches);
