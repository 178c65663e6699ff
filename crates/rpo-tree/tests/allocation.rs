//! Memory that the search of nodes never takes. A separate test program, as it counts every byte of the process.

use std::alloc::System;

use cap::Cap;
use ndarray::Array2;
use rpo_core::{MatrixView, Seed};
use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, SplitTargets};
use rpo_tree::splitter::{AxisParams, Splitter};
use rpo_tree::{GrowParams, grow};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const N: usize = 600;

/// Number of outputs.
const D: usize = 128;

/// Grows a tree of 32 leaves, and returns the largest number of bytes of the process so far less that before the growth.
fn bytes_of_a_tree(x: MatrixView<'_>) -> usize {
    let features = BinnedFeatures::new(x, 255, &[]).unwrap();
    let z = Array2::from_shape_fn((N, D), |(i, j)| ((i * (j + 3)) % 17) as f32);
    let targets = SplitTargets {
        gradients: z.view(),
        weights: &[1.0; N],
        ..SplitTargets::default()
    };
    let splitter = HistogramSplitter::new(&features, targets, AxisParams::default()).unwrap();
    let params = GrowParams {
        max_leaves: Some(32),
        ..GrowParams::default()
    };
    let before = ALLOCATOR.allocated();
    let rows = (0..N as u32).collect();
    let grown = grow(&splitter, &mut splitter.workspace(), rows, &params, Seed::new(0));
    assert_eq!(grown.unwrap().structure.n_leaves(), 32);
    ALLOCATOR.max_allocated() - before
}

#[test]
fn histograms_of_many_outputs_are_bounded() {
    // Twenty distinct values in each row: 12,000 bins, whose sums would take 6 MB for each node, and the values of a node at
    // most some 100 KB.
    let x = Array2::from_shape_fn((N, 3000), |(i, j)| {
        let is_stored = (i * 7919 + j) % 150 == 0;
        if is_stored {
            1.0 + ((i * 31 + j) % 1009) as f32
        } else {
            0.0
        }
    });
    let csr = MatrixView::from(&x).to_csr();
    let sparse = bytes_of_a_tree(MatrixView::Sparse(csr.view()));
    assert!(sparse < 6 << 20, "{sparse} bytes");

    // 250 bins of 200 features, whose sums take 27 MB for each node.
    let x = Array2::from_shape_fn((N, 200), |(i, j)| ((i * (2 * j + 1)) % 251) as f32);
    let dense = bytes_of_a_tree((&x).into());
    assert!(dense < 300 << 20, "{dense} bytes");
}
