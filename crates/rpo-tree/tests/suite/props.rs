//! Invariants of growing and routing.
//!
//! Where a property says "the same tree", targets and weights are whole numbers: every sum is then exact in any order,
//! equal scores are equal to the last bit, and ties are broken as documented.

use super::common::random::{Cells, Targets, any_axis, any_cells, any_data, data};
use super::common::{Data, Layout, csr, label};
use ndarray::{Array2, Axis};
use proptest::prelude::*;
use rand::RngCore;
use rpo_core::{MatrixView, Seed};
use rpo_tree::splitter::{AxisParams, ThresholdSearch};
use rpo_tree::{AxisRule, GrowParams, Grown, LeafKind, Node};

/// Writes a tree out from its root: rules with gains, and the rows of leaves. Two trees that differ only in the numbers
/// of their nodes are written alike.
fn canonical(grown: &Grown<AxisRule>) -> Vec<String> {
    let (mut lines, mut stack) = (Vec::new(), vec![0]);
    while let Some(node) = stack.pop() {
        match &grown.structure.nodes()[node] {
            Node::Leaf(leaf) => lines.push(format!("{:?}", &grown.members[*leaf as usize])),
            Node::Split { rule, first_child } => {
                lines.push(format!("{rule:?} gains {:?}", grown.gains[node]));
                stack.extend([*first_child as usize + 1, *first_child as usize]);
            }
        }
    }
    lines
}

/// Returns the rows of each leaf, in the order of their first row.
fn partition(grown: &Grown<AxisRule>) -> Vec<Vec<u32>> {
    let mut leaves: Vec<_> = (0..grown.members.n_leaves())
        .map(|leaf| grown.members[leaf].to_vec())
        .collect();
    leaves.sort();
    leaves
}

/// Returns the squared norm of a row's targets times its weight.
fn square(data: &Data, row: u32) -> f64 {
    let targets = data.y.row(row as usize);
    let norm: f64 = targets.iter().map(|&z| f64::from(z).powi(2)).sum();
    f64::from(data.weights[row as usize]) * norm
}

/// Returns the variance of some rows times their weight, from the distances of their targets:
/// Σ_{i<k} w_i w_k ‖z_i − z_k‖² / Σ_i w_i.
fn spread(data: &Data, rows: &[u32]) -> f64 {
    let weight = |row: u32| f64::from(data.weights[row as usize]);
    let distance = |a: u32, b: u32| -> f64 {
        let pairs = data.y.row(a as usize).into_iter().zip(data.y.row(b as usize));
        pairs.map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum()
    };
    let sums = rows.iter().enumerate().map(|(i, &a)| {
        let later = rows[i + 1..].iter();
        later
            .map(|&b| weight(a) * weight(b) * distance(a, b))
            .sum::<f64>()
    });
    sums.sum::<f64>() / rows.iter().map(|&row| weight(row)).sum::<f64>()
}

/// Returns the variance of the targets of some rows, summed over targets, as a fraction of their mean square; 0 if all
/// are 0.
fn relative_variance(data: &Data, rows: &[u32]) -> f64 {
    let weight = |row: u32| f64::from(data.weights[row as usize]);
    let total: f64 = rows.iter().map(|&row| weight(row)).sum();
    let (mut spread, mut square) = (0.0, 0.0);
    for target in data.y.columns() {
        let value = |row: u32| f64::from(target[row as usize]);
        let mean = rows.iter().map(|&row| weight(row) * value(row)).sum::<f64>() / total;
        spread += rows
            .iter()
            .map(|&row| weight(row) * (value(row) - mean).powi(2))
            .sum::<f64>();
        square += rows
            .iter()
            .map(|&row| weight(row) * value(row).powi(2))
            .sum::<f64>();
    }
    if square > 0.0 { spread / square } else { 0.0 }
}

proptest! {
    /// Sparse and dense features grow the same tree, and so do sparse and dense targets if they are whole
    /// numbers.
    #[test]
    fn layouts_grow_the_same_tree(
        axis in any_axis(),
        seed in any::<u64>(),
        data in any_data(30),
        whole in any_cells().prop_flat_map(|cells| data(30, cells, Targets::Whole)),
    ) {
        let grow = |data: &Data, sparse_x, sparse_y| {
            data.grow(Layout { sparse_x, sparse_y }, axis, &GrowParams::default(), Seed::new(seed))
        };
        prop_assert_eq!(grow(&data, false, false), grow(&data, true, false));
        prop_assert_eq!(grow(&data, false, true), grow(&data, true, true));
        prop_assert_eq!(grow(&whole, false, false), grow(&whole, true, true));
    }

    /// Every row used for growth is in one leaf, the one it is routed to, in both layouts.
    #[test]
    fn rows_reach_the_leaf_that_holds_them(
        data in any_data(30),
        axis in any_axis(),
        max_leaves in proptest::option::of(1_usize..12),
        seed in any::<u64>(),
    ) {
        let params = GrowParams { max_leaves, ..GrowParams::default() };
        let grown = data.grow(Layout::DENSE, axis, &params, Seed::new(seed));
        let sparse = csr(&data.x);
        let mut held: Vec<u32> = Vec::new();
        for view in [(&data.x).into(), MatrixView::Sparse(sparse.view())] {
            let leaf_of = grown.structure.apply(view).unwrap();
            held.clear();
            for leaf in 0..grown.structure.n_leaves() {
                let rows = &grown.members[leaf];
                prop_assert!(rows.len() >= axis.min_samples_leaf.min(super::common::weighted_rows(&data.weights).len()));
                prop_assert!(rows.is_sorted());
                prop_assert!(rows.iter().all(|&row| leaf_of[row as usize] as usize == leaf));
                held.extend(rows);
            }
            held.sort_unstable();
            prop_assert_eq!(&held, &super::common::weighted_rows(&data.weights));
        }
    }

    /// The gain of a split is the decrease of the variance in its pairwise form (Joly, Geurts, Wehenkel 2014, equation 2),
    /// from which means are absent.
    #[test]
    fn gains_are_decreases_of_pairwise_distances(data in any_data(30), axis in any_axis(), seed in any::<u64>()) {
        let params = GrowParams { max_leaves: Some(2), ..GrowParams::default() };
        let grown = data.grow(Layout::DENSE, axis, &params, Seed::new(seed));
        if grown.members.n_leaves() == 2 {
            let [left, right] = [0, 1].map(|leaf| grown.members[leaf].to_vec());
            let all = [&left[..], &right].concat();
            let expected = spread(&data, &all) - spread(&data, &left) - spread(&data, &right);
            let size: f64 = all.iter().map(|&row| square(&data, row)).sum();
            prop_assert!((grown.gains[0] - expected).abs() <= 1e-10 * size, "{} {}", grown.gains[0], expected);
        }
    }

    /// Nodes become leaves only if they must: whatever the draws, a node is split if some feature varies in it and its
    /// targets differ by more than the purity tolerance (a variance of 1e-12 of the mean square).
    #[test]
    fn trees_are_fully_developed(
        data in any_data(30),
        max_features in 1_usize..3,
        random in any::<bool>(),
        sparse_x in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let thresholds = if random { ThresholdSearch::Random } else { ThresholdSearch::Best };
        let axis = AxisParams { max_features: Some(max_features), thresholds, ..AxisParams::default() };
        let layout = Layout { sparse_x, sparse_y: false };
        let grown = data.grow(layout, axis, &GrowParams::default(), Seed::new(seed));
        for leaf in 0..grown.members.n_leaves() {
            let rows = &grown.members[leaf];
            let first = data.x.row(rows[0] as usize);
            let equal = |(u, v): (&f32, &f32)| u == v || (u.is_nan() && v.is_nan());
            let constant = rows.iter().all(|&row| data.x.row(row as usize).iter().zip(first).all(equal));
            // Slightly above: the criterion's own variance is rounded by some 1e-15 of the mean square.
            prop_assert!(constant || relative_variance(&data, rows) < 1.1e-12, "leaf of {:?}", rows);
        }
    }

    /// Without a limit the order of growth does not matter.
    #[test]
    fn depth_first_and_best_first_agree(data in any_data(30), axis in any_axis(), seed in any::<u64>()) {
        let grow = |max_leaves| {
            let params = GrowParams { max_leaves, ..GrowParams::default() };
            data.grow(Layout::DENSE, axis, &params, Seed::new(seed))
        };
        prop_assert_eq!(canonical(&grow(None)), canonical(&grow(Some(usize::MAX))));
    }

    /// Best-first growth is greedy: it next opens the node with the largest gain in the fully grown tree.
    #[test]
    fn best_first_takes_the_largest_gain(data in any_data(30), axis in any_axis(), max_leaves in 1_usize..12) {
        let grow = |max_leaves| {
            let params = GrowParams { max_leaves, ..GrowParams::default() };
            data.grow(Layout::DENSE, axis, &params, Seed::new(3))
        };
        let (full, limited) = (grow(None), grow(Some(max_leaves)));
        // Each node with its time of creation; among equal gains the one created first is opened.
        let (mut frontier, mut made, mut opened) = (vec![(0_usize, 0)], 1, Vec::new());
        while opened.len() + 1 < max_leaves {
            frontier.retain(|&(node, _)| matches!(full.structure.nodes()[node], Node::Split { .. }));
            let order = |a: &&(usize, u32), b: &&(usize, u32)| {
                full.gains[a.0].total_cmp(&full.gains[b.0]).then(b.1.cmp(&a.1))
            };
            let Some(&best) = frontier.iter().max_by(order) else { break };
            frontier.retain(|&entry| entry != best);
            opened.push(full.gains[best.0]);
            let Node::Split { first_child, .. } = full.structure.nodes()[best.0] else { unreachable!() };
            frontier.extend([(first_child as usize, made), (first_child as usize + 1, made + 1)]);
            made += 2;
        }
        let splits = limited.structure.nodes().iter().zip(&limited.gains);
        let mut gains: Vec<f64> =
            splits.filter(|(node, _)| matches!(node, Node::Split { .. })).map(|(_, gain)| *gain).collect();
        gains.sort_by(f64::total_cmp);
        opened.sort_by(f64::total_cmp);
        prop_assert_eq!(gains, opened);
    }

    #[test]
    fn limits_are_respected(
        data in any_data(40),
        max_depth in 0_u32..5,
        min_samples_split in 0_usize..12,
        max_leaves in proptest::option::of(1_usize..9),
        axis in any_axis(),
    ) {
        let params = GrowParams { max_depth: Some(max_depth), min_samples_split, max_leaves };
        let grown = data.grow(Layout::DENSE, axis, &params, Seed::new(2));
        prop_assert!(grown.structure.depth() <= max_depth as usize);
        prop_assert!(max_leaves.is_none_or(|max| grown.structure.n_leaves() <= max));
        let rows_of = data.rows_of_nodes(&grown.structure);
        for (node, rows) in grown.structure.nodes().iter().zip(&rows_of) {
            if matches!(node, Node::Split { .. }) {
                prop_assert!(rows.len() >= min_samples_split.max(2));
            }
        }
    }

    /// The order of the training rows does not matter.
    #[test]
    fn rows_may_be_permuted(
        (data, order) in any_cells()
            .prop_flat_map(|cells| data(25, cells, Targets::Whole))
            .prop_flat_map(|data| {
                let order: Vec<usize> = (0..data.x.nrows()).collect();
                (Just(data), Just(order).prop_shuffle())
            }),
        axis in any_axis(),
    ) {
        let permuted = data.select(&order);
        for layout in [Layout::DENSE, Layout { sparse_x: true, sparse_y: true }] {
            let grow = |data: &Data| data.grow(layout, axis, &GrowParams::default(), Seed::new(4));
            let (a, b) = (grow(&data), grow(&permuted));
            prop_assert_eq!(&a.structure, &b.structure);
            prop_assert_eq!(&a.gains, &b.gains);
        }
    }

    /// The order of the outputs does not matter.
    #[test]
    fn outputs_may_be_permuted(data in any_cells().prop_flat_map(|cells| data(25, cells, Targets::Whole))) {
        let reversed: Vec<usize> = (0..data.y.ncols()).rev().collect();
        let permute = |y: Array2<f32>| y.select(Axis(1), &reversed).as_standard_layout().into_owned();
        let permuted = Data { y: permute(data.y.clone()), ..data.clone() };
        let grow = |data: &Data| data.grow(Layout::DENSE, AxisParams::default(), &GrowParams::default(), Seed::new(4));
        let (a, b) = (grow(&data), grow(&permuted));
        prop_assert_eq!(&a, &b);
        let predict = |data: &Data, grown| label(data, grown, LeafKind::Dense).predict((&data.x).into()).unwrap();
        prop_assert_eq!(permute(predict(&data, &a)), predict(&permuted, &b));
    }

    /// A strictly increasing transform of the features does not change the partition, even one that moves values
    /// across zero.
    #[test]
    fn features_may_be_transformed(
        data in any::<bool>().prop_flat_map(|missing| data(25, Cells { missing, coarse: true }, Targets::Whole)),
        max_depth in proptest::option::of(1_u32..3),
        min_samples_leaf in 1_usize..4,
        transform in prop_oneof![
            Just((|v| v * v * v) as fn(f32) -> f32), Just((|v| v + 100.0) as fn(f32) -> f32),
            Just((|v| v - 100.0) as fn(f32) -> f32), Just(f32::exp as fn(f32) -> f32),
        ],
    ) {
        let transformed = Data { x: data.x.mapv(transform), ..data.clone() };
        let grow = |data: &Data, sparse_x| {
            let layout = Layout { sparse_x, sparse_y: false };
            let axis = AxisParams { min_samples_leaf, ..AxisParams::default() };
            let params = GrowParams { max_depth, ..GrowParams::default() };
            data.grow(layout, axis, &params, Seed::new(4))
        };
        for sparse in [false, true] {
            let (a, b) = (grow(&data, false), grow(&transformed, sparse));
            prop_assert_eq!(partition(&a), partition(&b));
            prop_assert_eq!(a.gains, b.gains);
        }
    }

    /// The unit of the targets does not matter, nor does an orthogonal transform of them; the one here,
    /// half a Hadamard matrix, is exact in binary.
    #[test]
    fn targets_may_be_rescaled_and_rotated(
        data in any_data(25),
        whole in any_cells().prop_flat_map(|cells| data(25, cells, Targets::Whole)),
        axis in any_axis(),
        exponent in -30_i32..30,
    ) {
        let grow = |data: &Data| data.grow(Layout::DENSE, axis, &GrowParams::default(), Seed::new(4));
        let scaled = Data { y: data.y.mapv(|v| v * 2.0_f32.powi(exponent)), ..data.clone() };
        prop_assert_eq!(grow(&data).structure, grow(&scaled).structure);

        let (n, d) = whole.y.dim();
        let mut padded = Array2::zeros((n, 4));
        padded.slice_mut(ndarray::s![.., ..d]).assign(&whole.y);
        let half_hadamard = Array2::from_shape_fn((4, 4), |(i, j): (usize, usize)| {
            if (i & j).count_ones() % 2 == 0 { 0.5 } else { -0.5_f32 }
        });
        let rotated = Data { y: padded.dot(&half_hadamard), ..whole.clone() };
        prop_assert_eq!(grow(&whole).structure, grow(&rotated).structure);
    }

    /// Weight 2 is equivalent to repeating the row, for the predictions of observed values (the side of unseen missing
    /// values depends on the number of distinct rows).
    #[test]
    fn weights_are_repetitions(
        data in any::<bool>().prop_flat_map(|coarse| data(20, Cells { missing: false, coarse }, Targets::Whole)),
        max_depth in proptest::option::of(0_u32..5),
    ) {
        let rows: Vec<usize> = (0..data.x.nrows())
            .flat_map(|i| std::iter::repeat_n(i, data.weights[i] as usize))
            .collect();
        let mut repeated = data.select(&rows);
        repeated.weights.fill(1.0);
        let params = GrowParams { max_depth, ..GrowParams::default() };
        let predict = |data: &Data, x: &Array2<f32>| {
            let grown = data.grow(Layout::DENSE, AxisParams::default(), &params, Seed::new(4));
            label(data, &grown, LeafKind::Dense).predict(x.into()).unwrap()
        };
        let x = data.x.mapv(|v| v + 0.25);
        for (a, b) in predict(&data, &x).iter().zip(&predict(&repeated, &x)) {
            prop_assert!((a - b).abs() < 1e-6, "{} for {}", a, b);
        }
    }

    /// Importances are fractions: nonnegative, with sum 1, and 0 for features that never split.
    #[test]
    fn importances_are_shares(data in any_data(30), axis in any_axis()) {
        let grown = data.grow(Layout::DENSE, axis, &GrowParams::default(), Seed::new(1));
        let importances = grown.importances(data.x.ncols() + 1);
        prop_assert!(importances.iter().all(|v| *v >= 0.0));
        let total: f64 = importances.iter().sum();
        let expected = f64::from(u8::from(grown.gains.iter().any(|g| *g > 0.0)));
        prop_assert!((total - expected).abs() < 1e-12);
        prop_assert_eq!(importances[data.x.ncols()], 0.0);
    }

    /// Gains add up: the total gain of the splits is the spread of the root minus the spread left in the leaves.
    #[test]
    fn gains_add_up(data in any_data(30), axis in any_axis()) {
        let grown = data.grow(Layout::DENSE, axis, &GrowParams::default(), Seed::new(1));
        let root = data.spread(&super::common::weighted_rows(&data.weights));
        let left: f64 = (0..grown.members.n_leaves()).map(|l| data.spread(&grown.members[l])).sum();
        let gained: f64 = grown.gains.iter().sum();
        prop_assert!((root - left - gained).abs() <= 1e-9 * (1.0 + root));
    }
}

/// With sparse features gathered in every way: many and few rows, entries or bits, one value or more.
#[test]
fn layouts_grow_the_same_tree_at_every_density() {
    let mut rng = Seed::new(11).stream();
    let mut uniform = move || f64::from(rng.next_u32()) / 2.0_f64.powi(32);
    for (n, p, density, values) in [
        (400, 8, 0.5, 1),
        (60, 300, 0.05, 1),
        (300, 200, 0.02, 5),
        (300, 130, 0.01, 1),
        (200, 100, 0.6, 5),
        (70, 70, 0.95, 3),
    ] {
        let x = Array2::from_shape_fn((n, p), |_| match (uniform() < density, uniform()) {
            (false, _) => 0.0,
            (true, u) if values > 1 && u < 0.05 => f32::NAN,
            (true, u) => [1.0, -2.0, 0.5, 3.0, -0.25][(u * f64::from(values)) as usize],
        });
        // Few labels and many are counted differently.
        let d = if n % 200 == 0 { 90 } else { 6 };
        let y = Array2::from_shape_fn((n, d), |_| f32::from(u8::from(uniform() < 0.3)));
        let data = Data::unweighted(x, y);
        for thresholds in [ThresholdSearch::Best, ThresholdSearch::Random] {
            for max_features in [None, Some(10), Some(1)] {
                let axis = AxisParams {
                    max_features,
                    thresholds,
                    ..AxisParams::default()
                };
                let grow = |layout| data.grow(layout, axis, &GrowParams::default(), Seed::new(1));
                let dense = grow(Layout::DENSE);
                for layout in Layout::ALL {
                    assert!(
                        grow(layout) == dense,
                        "{n} x {p} at {density}: {layout:?}, {axis:?}"
                    );
                }
            }
        }
    }
}
