//! Subtrees grown on copies of their rows.

use super::common::{NodeByNode, weighted_rows};
use ndarray::{Array2, ArrayView2};
use rpo_core::Seed;
use rpo_tree::criterion::{Criterion, SingleVariance, Variance};
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter, ThresholdSearch};
use rpo_tree::{GrowParams, RankedFeatures, grow};

const N: usize = 66_000;

/// Makes features of which every other column has whole numbers, so that zeros and repetitions abound, and one in
/// twenty values is missing.
fn features() -> Array2<f32> {
    Array2::from_shape_fn((N, 6), |(i, j)| {
        let drawn = Seed::new(5).hash((i * 6 + j) as u64);
        let value = (drawn % 1_000) as f32 / 100.0 - 4.0;
        match drawn >> 32 {
            missing if missing % 20 == 0 => f32::NAN,
            _ if j % 2 == 0 => value.round(),
            _ => value,
        }
    })
}

fn same_tree_without_copies<C: Criterion + Sync>(criterion: &C, weights: &[f32]) {
    let columns = RankedFeatures::new((&features()).into(), &[]).unwrap();
    let params = GrowParams {
        max_depth: Some(12),
        ..GrowParams::default()
    };
    for thresholds in [ThresholdSearch::Best, ThresholdSearch::Random] {
        let axis = AxisParams {
            max_features: Some(3),
            thresholds,
            ..AxisParams::default()
        };
        let copied = AxisSplitter::new(&columns, criterion.clone(), axis).unwrap();
        assert!(copied.of_subtree(&(100..2_000).collect::<Vec<_>>()).is_some());
        let uncopied = NodeByNode(&copied);
        let (rows, seed) = (weighted_rows(weights), Seed::new(3));
        let expected = grow(&uncopied, &mut uncopied.workspace(), rows.clone(), &params, seed).unwrap();
        let grown = grow(&copied, &mut copied.workspace(), rows, &params, seed).unwrap();
        assert!(grown == expected, "{thresholds:?}");
        assert!(grown.structure.n_leaves() > 1_000);
    }
}

fn weights() -> Vec<f32> {
    (0..N).map(|i| (Seed::new(7).hash(i as u64) % 3) as f32).collect()
}

fn targets(value: impl Fn(u64) -> f32) -> Array2<f32> {
    Array2::from_shape_fn((N, 5), |(i, j)| value(Seed::new(9).hash((i * 5 + j) as u64)))
}

#[test]
fn numbers_grow_the_same_tree_on_copies() {
    let (weights, y) = (weights(), targets(|drawn| (drawn % 999) as f32 * 0.37));
    let view: ArrayView2<'_, f32> = y.view();
    same_tree_without_copies(&Variance::new(view, &weights), &weights);
    same_tree_without_copies(
        &SingleVariance::new(y.column(0).iter().copied(), &weights),
        &weights,
    );
}
