//! Threshold search by bounds compared with scoring all thresholds.

use super::common::weighted_rows;
use ndarray::Array2;
use proptest::prelude::*;
use rpo_core::Seed;
use rpo_tree::criterion::{Criterion, Variance, round_for_exact_sums};
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
use rpo_tree::{GrowParams, RankedFeatures, grow};

/// A criterion without its bounds.
#[derive(Clone)]
struct Unbounded<C>(C);

impl<C: Criterion> Criterion for Unbounded<C> {
    fn start(&mut self, rows: &[u32]) {
        self.0.start(rows);
    }

    fn take_out(&mut self, rows: &[u32]) -> bool {
        self.0.take_out(rows)
    }

    fn is_pure(&self) -> bool {
        self.0.is_pure()
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    fn move_row(&mut self, row: u32) {
        self.0.move_row(row);
    }

    fn is_exact(&self) -> bool {
        self.0.is_exact()
    }

    fn score(&self) -> f64 {
        self.0.score()
    }

    fn gain(&self, score: f64) -> f64 {
        self.0.gain(score)
    }
}

/// Draws a number in [0, 1) for a cell.
fn uniform(seed: u64, row: usize, column: usize) -> f32 {
    (Seed::new(seed).hash((row * 64 + column) as u64) >> 40) as f32 / (1 << 24) as f32
}

/// Features with many values, with a few, with mostly one value, with two neighbouring numbers, with one value, and
/// with a missing value.
fn features(seed: u64, n: usize) -> Array2<f32> {
    Array2::from_shape_fn((n, 6), |(i, j)| {
        let u = uniform(seed, i, j);
        match j {
            0 => u - 0.5,
            1 => (10.0 * u).floor(),
            2 => (u - 0.9).max(0.0),
            3 => f32::from_bits(1.0_f32.to_bits() + u32::from(u > 0.3)),
            4 => 7.0,
            _ if i == n / 2 => f32::NAN,
            _ => u.powi(3),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The trees are the same, bit for bit: for targets that follow features, including steps inside bins, or nothing,
    /// in any unit; for nodes that are large enough and that are not; with weights; and if children have to be large.
    #[test]
    fn the_splits_are_those_of_all_thresholds(
        seed in any::<u64>(),
        n in 300_usize..5_000,
        m in 1_usize..9,
        signal in prop_oneof![Just(0.0_f32), 0.0_f32..20.0],
        step in 0.0_f32..0.02,
        unit in prop_oneof![Just(1.0_f32), Just(1e-9), Just(1e9)],
        most_weight in 1_u64..4,
        min_samples_leaf in prop_oneof![Just(1_usize), 2_usize..400],
        max_features in prop_oneof![Just(None), (1_usize..6).prop_map(Some)],
    ) {
        let x = features(seed, n);
        let mut targets = Array2::from_shape_fn((n, m), |(i, j)| {
            let shifted = x[(i, 0)] - step * j as f32;
            let step = f32::from(u8::from(shifted > 0.0));
            let follows = if j % 2 == 0 { step } else { x[(i, 1)] / 10.0 * shifted };
            unit * (uniform(seed, i, 32 + j) - 0.5 + signal * follows)
        });
        let weights: Vec<f32> =
            (0..n).map(|i| (Seed::new(seed).hash(i as u64) % most_weight + 1) as f32).collect();
        round_for_exact_sums(targets.as_slice_mut().unwrap(), (n as u64 * most_weight) as f64);
        let criterion = Variance::new(targets.view(), &weights);
        prop_assert!(criterion.is_exact());
        let columns = RankedFeatures::new((&x).into(), &[]).unwrap();
        let axis = AxisParams { max_features, min_samples_leaf, ..AxisParams::default() };
        let params = GrowParams { max_depth: Some(4), ..GrowParams::default() };
        let (rows, seed) = (weighted_rows(&weights), Seed::new(seed));
        let bounded = AxisSplitter::new(&columns, criterion.clone(), axis).unwrap();
        let unbounded = AxisSplitter::new(&columns, Unbounded(criterion), axis).unwrap();
        let grown = grow(&bounded, &mut bounded.workspace(), rows.clone(), &params, seed).unwrap();
        let expected = grow(&unbounded, &mut unbounded.workspace(), rows, &params, seed).unwrap();
        prop_assert!(grown == expected);
    }
}
