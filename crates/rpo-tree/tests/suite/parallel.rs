//! Trees grown on several threads.

use super::common::weighted_rows;
use ndarray::Array2;
use rpo_core::Seed;
use rpo_tree::criterion::SingleVariance;
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
use rpo_tree::{GrowParams, RankedFeatures, grow, grow_parallel};

/// A tree that splits off one row at a time is as deep as the number of rows: no stack may grow with it.
#[test]
fn trees_may_be_as_deep_as_rows_are_many() {
    let n = 6_000;
    let x = Array2::from_shape_fn((n, 1), |(i, _)| i as f32);
    let weights = vec![1.0; n];
    let columns = RankedFeatures::new((&x).into(), &[]).unwrap();
    // With alternating targets, the best split separates a single row.
    let criterion = SingleVariance::new((0..n).map(|i| (i % 2) as f32), &weights);
    let splitter = AxisSplitter::new(&columns, criterion, AxisParams::default()).unwrap();
    let params = GrowParams {
        max_depth: Some(1_500),
        ..GrowParams::default()
    };
    // A small stack overflows after few levels, a large one only after many.
    let small_stacks = rayon::ThreadPoolBuilder::new().num_threads(2).stack_size(1 << 17);
    let grown = small_stacks
        .build()
        .unwrap()
        .install(|| grow_parallel(&splitter, weighted_rows(&weights), &params, Seed::new(0)).unwrap());
    assert_eq!(grown.structure.depth(), 1_500);
    let one_thread = grow(
        &splitter,
        &mut splitter.workspace(),
        weighted_rows(&weights),
        &params,
        Seed::new(0),
    )
    .unwrap();
    assert!(grown == one_thread);
}
