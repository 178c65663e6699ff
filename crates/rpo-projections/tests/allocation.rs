//! Allocations that an embedding never makes. A separate test program, as it counts every byte of the process.

use std::alloc::System;

use cap::Cap;
use rand::Rng;
use rpo_core::{CsrMatrix, MatrixView, Seed};
use rpo_projections::least_squares::RidgeSolver;
use rpo_projections::{LabelEmbedding, Rank};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Number of samples, of features and of outputs.
const SIZE: usize = 20_000;

/// Ones at random columns, a few per row; `concentrated` towards the first.
fn random_rows(per_row: usize, concentrated: bool, seed: u64) -> CsrMatrix {
    let mut rng = Seed::new(seed).stream();
    let (mut indptr, mut columns) = (vec![0], Vec::new());
    for _ in 0..SIZE {
        let mut row: Vec<u32> = (0..per_row)
            .map(|_| {
                let u: f64 = rng.r#gen();
                (if concentrated { u.powi(8) } else { u } * SIZE as f64) as u32
            })
            .collect();
        row.sort_unstable();
        row.dedup();
        columns.extend(row);
        indptr.push(columns.len());
    }
    let values = vec![1.0; columns.len()];
    CsrMatrix::new((SIZE, SIZE), indptr, columns, values)
}

#[test]
fn nothing_quadratic_is_allocated() {
    let (x, y) = (random_rows(10, false, 1), random_rows(3, true, 2));
    let (x, y) = (MatrixView::Sparse(x.view()), MatrixView::Sparse(y.view()));
    let before = ALLOCATOR.allocated();
    let solver = RidgeSolver::ConjugateGradients {
        iterations: 5,
        tolerance: 1e-6,
        jacobi: true,
    };
    let embedding = LabelEmbedding {
        oversampling: 5,
        solver,
        ..LabelEmbedding::default()
    };
    for rank in [
        Rank::Exact(20),
        Rank::LabelShare {
            share: 0.3,
            at_most: None,
        },
    ] {
        let found = embedding.fit(&x, &y, rank, Seed::new(1)).unwrap();
        assert!(found.eigenvalues[0] > 0.0);
    }
    // d x d, p x p or n x d would be 4e8 numbers. The peak allocation is less than two bits for each.
    let most = ALLOCATOR.max_allocated() - before;
    assert!(most < SIZE * SIZE / 4, "{most} bytes");
}
