//! Compares the axis-aligned search with a naive one: every feature, every threshold, both sides for missing values,
//! variances in two passes. Equal gains may be reached by different splits, so gains are compared.

use super::common::random::{Cells, Targets};
use super::common::random::{any_data, data};
use super::common::{Data, Layout};
use ndarray::Array2;
use proptest::prelude::*;
use rpo_core::Seed;
use rpo_tree::splitter::{AxisParams, ThresholdSearch};
use rpo_tree::{AxisRule, GrowParams, Grown, Node, Row, Rule};

fn value(data: &Data, row: u32, feature: usize) -> f32 {
    data.x[[row as usize, feature]]
}

/// Returns the decrease of |S| Var(S) if the rows picked by `left` are split off; `None` if a child is too small.
fn gain(data: &Data, rows: &[u32], min_leaf: usize, left: impl Fn(u32) -> bool) -> Option<f64> {
    let (l, r): (Vec<u32>, Vec<u32>) = rows.iter().partition(|&&i| left(i));
    (l.len() >= min_leaf && r.len() >= min_leaf)
        .then(|| data.spread(rows) - data.spread(&l) - data.spread(&r))
}

/// Returns every split of a feature: an observed value that goes left with all below it, and whether missing values go
/// left.
fn cuts(data: &Data, rows: &[u32], feature: usize) -> Vec<(f32, bool)> {
    let mut cuts = Vec::new();
    for &row in rows {
        let v = value(data, row, feature);
        if !v.is_nan() {
            cuts.extend([(v, false), (v, true)]);
        }
    }
    cuts
}

/// Returns the largest gain of any split; `None` if no split leaves both children large enough.
fn best_gain(data: &Data, rows: &[u32], min_leaf: usize) -> Option<f64> {
    let mut best = None;
    for feature in 0..data.x.ncols() {
        for (threshold, missing_left) in cuts(data, rows, feature) {
            let left = |row| {
                let v = value(data, row, feature);
                v <= threshold || (v.is_nan() && missing_left)
            };
            best = best.max_by_value(gain(data, rows, min_leaf, left));
        }
    }
    best
}

trait MaxByValue {
    fn max_by_value(self, other: Self) -> Self;
}

impl MaxByValue for Option<f64> {
    fn max_by_value(self, other: Self) -> Self {
        [self, other].into_iter().flatten().reduce(f64::max)
    }
}

/// Returns the largest change of a gain by rounding.
fn tolerance(data: &Data, rows: &[u32]) -> f64 {
    1e-10 * squares(data, rows)
}

fn squares(data: &Data, rows: &[u32]) -> f64 {
    let row = |&i: &u32| {
        let squares: f64 = data.y.row(i as usize).iter().map(|&v| f64::from(v).powi(2)).sum();
        f64::from(data.weights[i as usize]) * squares
    };
    rows.iter().map(row).sum()
}

/// Returns a predicate that is true for rows of a node that a rule sends left.
fn goes_left(data: &Data, rule: &AxisRule) -> impl Fn(u32) -> bool {
    move |row| {
        rule.child(Row {
            values: &data.x.row(row as usize).to_vec(),
            stored: None,
        }) == 0
    }
}

fn check_exact(data: &Data, grown: &Grown<AxisRule>, axis: &AxisParams, min_samples_split: usize) {
    let rows_of = data.rows_of_nodes(&grown.structure);
    let min_leaf = axis.min_samples_leaf;
    for (i, node) in grown.structure.nodes().iter().enumerate() {
        let rows = &rows_of[i];
        let best = best_gain(data, rows, min_leaf);
        let tolerance = tolerance(data, rows);
        match node {
            Node::Split { rule, .. } => {
                let best = best.expect("a split that leaves both children large enough");
                let found = grown.gains[i];
                assert!(
                    (found - best).abs() <= tolerance,
                    "node {i}: gain {found}, naive {best}"
                );
                let own = gain(data, rows, min_leaf, goes_left(data, rule)).expect("large children");
                assert!(
                    (found - own).abs() <= tolerance,
                    "node {i}: gain {found}, of its rule {own}"
                );
                assert!(rows.len() >= min_samples_split);
                assert!(found >= axis.min_gain, "node {i}: gain {found}");
                check_cut(data, rows, rule);
            }
            Node::Leaf(_) => {
                // Slightly above 1e-12: the criterion's own variance is rounded by some 1e-15 of the mean square.
                let pure = data.spread(rows) <= 1.1e-12 * squares(data, rows);
                let small = rows.len() < min_samples_split.max(2);
                let idle = best.is_none_or(|best| best <= axis.min_gain + tolerance && axis.min_gain > 0.0);
                assert!(
                    pure || small || idle,
                    "node {i} of {rows:?} is a leaf, best gain {best:?}"
                );
            }
        }
    }
}

/// Checks that a best threshold is the midpoint of two neighbouring values, and that missing values that a node does
/// not have follow the larger child.
fn check_cut(data: &Data, rows: &[u32], rule: &AxisRule) {
    let feature = rule.feature() as usize;
    let (missing, present): (Vec<u32>, Vec<u32>) =
        rows.iter().partition(|&&row| value(data, row, feature).is_nan());
    let values = |left: bool| {
        let side = present.iter().map(|&row| value(data, row, feature));
        side.filter(move |v| (*v <= rule.threshold()) == left)
    };
    let low = values(true)
        .reduce(f32::max)
        .expect("a present value on the left");
    match values(false).reduce(f32::min) {
        Some(high) => {
            let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
            let middle = if middle < high { middle } else { low };
            assert_eq!(rule.threshold(), middle, "between {low} and {high}");
        }
        None => {
            assert_eq!(rule.threshold(), f32::INFINITY);
            assert!(!missing.is_empty() && !rule.missing_left());
        }
    }
    if missing.is_empty() {
        let n_left = rows.iter().filter(|&&row| goes_left(data, rule)(row)).count();
        assert_eq!(rule.missing_left(), 2 * n_left > rows.len());
    }
}

/// Checks that a random threshold lies in [smallest, largest) observed value of the node, or separates observed from
/// missing values if all observed ones are equal; that the gain is that of the rule; and that missing values are on the
/// better side.
fn check_random(data: &Data, grown: &Grown<AxisRule>, min_leaf: usize) {
    let rows_of = data.rows_of_nodes(&grown.structure);
    for (i, node) in grown.structure.nodes().iter().enumerate() {
        let rows = &rows_of[i];
        let Node::Split { rule, .. } = node else {
            continue;
        };
        let present = || {
            let values = rows.iter().map(|&row| value(data, row, rule.feature() as usize));
            values.filter(|v| !v.is_nan())
        };
        let low = present().reduce(f32::min).expect("a present value");
        let high = present().reduce(f32::max).expect("a present value");
        if low == high {
            assert_eq!((rule.threshold(), rule.missing_left()), (f32::INFINITY, false));
        } else {
            assert!(
                (low..high).contains(&rule.threshold()),
                "{rule:?} in [{low}, {high})"
            );
        }
        let found = grown.gains[i];
        let sides = [false, true].map(|missing_left| {
            let rule = AxisRule::new(rule.feature(), rule.threshold(), missing_left);
            gain(data, rows, min_leaf, goes_left(data, &rule))
        });
        let best = sides[0].max_by_value(sides[1]).expect("large children");
        let own = sides[usize::from(rule.missing_left())].expect("large children");
        let tolerance = tolerance(data, rows);
        assert!(
            (found - best).abs() <= tolerance,
            "node {i}: gain {found}, naive {best}"
        );
        assert!(
            (found - own).abs() <= tolerance,
            "node {i}: gain {found}, of its rule {own}"
        );
    }
}

proptest! {
    #[test]
    fn best_thresholds_reach_the_naive_gain(
        data in any_data(20),
        min_samples_leaf in 1_usize..4,
        min_samples_split in 0_usize..8,
        min_gain in prop_oneof![3 => Just(0.0), 1 => 0.0_f64..3.0],
    ) {
        let axis = AxisParams { min_samples_leaf, min_gain, ..AxisParams::default() };
        let params = GrowParams { min_samples_split, ..GrowParams::default() };
        for layout in Layout::ALL {
            let grown = data.grow(layout, axis, &params, Seed::new(1));
            check_exact(&data, &grown, &axis, min_samples_split);
        }
    }

    #[test]
    fn random_thresholds_score_as_the_naive_search(
        data in any_data(20),
        min_samples_leaf in 1_usize..4,
        max_features in proptest::option::of(1_usize..4),
        seed in any::<u64>(),
    ) {
        let axis = AxisParams {
            max_features,
            min_samples_leaf,
            thresholds: ThresholdSearch::Random,
            ..AxisParams::default()
        };
        for layout in Layout::ALL {
            let grown = data.grow(layout, axis, &GrowParams::default(), Seed::new(seed));
            check_random(&data, &grown, min_samples_leaf);
        }
    }

    /// The threshold of a feature is drawn only from the node's seed and the feature, so the root of a tree on one
    /// feature, with the others made constant, shows the candidate of that feature at the root of the tree on all.
    #[test]
    fn the_best_random_cut_wins(
        data in data(20, Cells { missing: true, coarse: false }, Targets::Real),
        seed in any::<u64>(),
    ) {
        let axis = AxisParams { thresholds: ThresholdSearch::Random, ..AxisParams::default() };
        let root = GrowParams { max_depth: Some(1), ..GrowParams::default() };
        let seed = Seed::new(seed);
        let best = data.grow(Layout::DENSE, axis, &root, seed).gains[0];
        let offers = (0..data.x.ncols()).map(|feature| {
            let mut alone = Array2::zeros(data.x.dim());
            alone.column_mut(feature).assign(&data.x.column(feature));
            let alone = Data { x: alone, ..data.clone() };
            alone.grow(Layout::DENSE, axis, &root, seed).gains[0]
        });
        prop_assert_eq!(best, offers.reduce(f64::max).unwrap());
    }
}

/// Kolmogorov-Smirnov: thresholds of many roots are uniform between the smallest and the largest value,
/// wherever the other values lie.
#[test]
fn random_thresholds_are_uniform() {
    let values = [-1.0, -0.9, -0.8, -0.7, 0.0, 0.0, 2.9, 3.0];
    let x = Array2::from_shape_vec((8, 1), values.to_vec()).unwrap();
    let y = Array2::from_shape_fn((8, 1), |(i, _)| i as f32);
    let data = Data::unweighted(x, y);
    let axis = AxisParams {
        thresholds: ThresholdSearch::Random,
        ..AxisParams::default()
    };
    let root = GrowParams {
        max_depth: Some(1),
        ..GrowParams::default()
    };
    let trials = 4000;
    let mut found: Vec<f64> = (0..trials)
        .map(|i| {
            let grown = data.grow(Layout::DENSE, axis, &root, Seed::new(5).child(i));
            let Node::Split { rule, .. } = &grown.structure.nodes()[0] else {
                panic!("the root can be split");
            };
            (f64::from(rule.threshold()) + 1.0) / 4.0
        })
        .collect();
    found.sort_by(f64::total_cmp);
    let n = trials as f64;
    let distance = found
        .iter()
        .enumerate()
        .map(|(i, &u)| (u - i as f64 / n).max((i + 1) as f64 / n - u))
        .fold(0.0, f64::max);
    // Exceeded once in a thousand seeds.
    assert!(distance < 1.95 / n.sqrt(), "{distance}");
}
