//! Invariants of labelling, relabelling and predicting.

use super::common::random::{Cells, Targets, any_axis, any_data, any_targets, data};
use super::common::{Data, Layout, answer, csr, label, outputs};
use ndarray::{Array2, ArrayView1};
use proptest::prelude::*;
use rpo_core::{Matrix, MatrixView, Seed};
use rpo_tree::splitter::{AxisParams, ThresholdSearch};
use rpo_tree::{AxisRule, GrowParams, LeafBuilder, LeafKind, LeafModel, Leaves, Node, Row, Rule, Structure};
use std::sync::Arc;

const KINDS: [LeafKind; 3] = [LeafKind::Dense, LeafKind::Sparse, LeafKind::Samples];

/// The rows of `others` beside which a sample ends, and the node where it does, if nodes that none of them reaches are
/// left out.
fn descend(
    structure: &Structure<AxisRule>,
    others: &Array2<f32>,
    rows: &[u32],
    x: ArrayView1<'_, f32>,
) -> (Vec<u32>, usize) {
    let (mut node, mut rows) = (0, rows.to_vec());
    while let Node::Split { rule, first_child } = &structure.nodes()[node] {
        let child = |row: ArrayView1<'_, f32>| {
            rule.child(Row {
                values: row.to_slice().unwrap(),
                stored: None,
            })
        };
        let of_child = |number: usize| {
            let is_there = |row: &&u32| child(others.row(**row as usize)) == number;
            rows.iter().filter(is_there).copied().collect::<Vec<_>>()
        };
        let [left, right] = [of_child(0), of_child(1)];
        let number = match (left.is_empty(), right.is_empty()) {
            (true, _) => 1,
            (_, true) => 0,
            _ => child(x),
        };
        rows = if number == 0 { left } else { right };
        node = *first_child as usize + number;
    }
    (rows, node)
}

proptest! {
    /// Leaves predict the weighted means of their rows, in every storage; labels lie in [0, 1]; the mean of the
    /// predictions for the training rows is the mean of their outputs.
    #[test]
    fn leaves_answer_weighted_means(data in any_data(30), max_depth in 0_u32..5, sparse_y in any::<bool>()) {
        let params = GrowParams { max_depth: Some(max_depth), ..GrowParams::default() };
        let grown = data.grow(Layout::DENSE, AxisParams::default(), &params, Seed::new(1));
        let outputs = Arc::new(if sparse_y { Matrix::from(csr(&data.y)) } else { Matrix::from(data.y.clone()) });
        for kind in KINDS {
            let leaves = kind.build(&grown.members, &data.weights, &outputs).unwrap();
            prop_assert_eq!((leaves.kind(), leaves.n_leaves()), (kind, grown.structure.n_leaves()));
            // Stored values are rounded to f32; samples are summed in f64.
            let tolerance = if kind == LeafKind::Samples { 1e-12 } else { 1e-6 };
            let mut mean = vec![0.0; data.y.ncols()];
            for leaf in 0..leaves.n_leaves() {
                let rows = &grown.members[leaf];
                let found = answer(&leaves, leaf as u32);
                for (j, (found, expected)) in found.iter().zip(data.mean(rows)).enumerate() {
                    prop_assert!((found - expected).abs() <= tolerance, "{} for {}", found, expected);
                    mean[j] += data.weight(rows) * found;
                }
                if data.y.iter().all(|v| *v == 0.0 || *v == 1.0) {
                    prop_assert!(found.iter().all(|v| (0.0..=1.0 + 1e-12).contains(v)));
                }
            }
            let all = super::common::weighted_rows(&data.weights);
            for (found, expected) in mean.iter().zip(data.mean(&all)) {
                let found = found / data.weight(&all);
                prop_assert!((found - expected).abs() <= tolerance, "{} for {}", found, expected);
            }
        }
    }

    /// All storages predict alike, for both layouts of the rows; fractions of training rows sum to 1.
    #[test]
    fn storages_predict_alike(data in any_data(30), axis in any_axis()) {
        let grown = data.grow(Layout::DENSE, axis, &GrowParams::default(), Seed::new(1));
        let sparse = csr(&data.x);
        let predictions = KINDS.map(|kind| {
            let tree = label(&data, &grown, kind);
            let predicted = tree.predict((&data.x).into()).unwrap();
            assert_eq!(predicted, tree.predict(MatrixView::Sparse(sparse.view())).unwrap());
            predicted
        });
        prop_assert_eq!(&predictions[0], &predictions[1]);
        prop_assert_eq!(&predictions[0], &predictions[2]);
        let tree = label(&data, &grown, LeafKind::Samples);
        let Leaves::Samples(samples) = tree.leaves() else { unreachable!() };
        for leaf in 0..grown.members.n_leaves() {
            let (mut rows, mut total) = (Vec::new(), 0.0);
            samples.for_each_member(leaf as u32, |row, share| { rows.push(row); total += share; });
            prop_assert_eq!(rows, &grown.members[leaf]);
            prop_assert!((total - 1.0).abs() < 1e-12);
        }
    }

    /// Relabelling with the training rows changes nothing; with other rows a leaf predicts the mean of those that reach
    /// it, and a split of which only one child is reached stands for this child.
    #[test]
    fn relabelling_is_labelling(
        both in data(40, Cells { missing: true, coarse: true }, Targets::Real),
        kind in prop_oneof![Just(LeafKind::Dense), Just(LeafKind::Sparse), Just(LeafKind::Samples)],
    ) {
        let n = both.x.nrows();
        let data = both.select(&(0..n.div_ceil(2)).collect::<Vec<_>>());
        let mut other = both.select(&(n / 2..n).collect::<Vec<_>>());
        other.weights[0] = 1.0;
        let grown = data.grow(Layout::DENSE, AxisParams::default(), &GrowParams::default(), Seed::new(1));
        let tree = label(&data, &grown, kind);
        let again = tree.relabel(&kind, (&data.x).into(), &data.weights, &outputs(&data)).unwrap();
        prop_assert_eq!(&again, &tree);

        let honest = tree.relabel(&kind, (&other.x).into(), &other.weights, &outputs(&other)).unwrap();
        let all = super::common::weighted_rows(&other.weights);
        let ends: Vec<(Vec<u32>, usize)> =
            both.x.rows().into_iter().map(|x| descend(tree.structure(), &other.x, &all, x)).collect();
        let leaf_of = honest.structure().apply((&both.x).into()).unwrap();
        for ((rows, end), leaf) in ends.iter().zip(&leaf_of) {
            for ((_, another), other_leaf) in ends.iter().zip(&leaf_of) {
                prop_assert_eq!(end == another, leaf == other_leaf);
            }
            for (found, expected) in answer(honest.leaves(), *leaf).iter().zip(other.mean(rows)) {
                prop_assert!((found - expected).abs() < 1e-6, "{} for {}", found, expected);
            }
        }
    }

    /// Without a projection: a fully developed tree on distinct rows reproduces its training set, if targets
    /// differ by more than the purity tolerance.
    #[test]
    fn distinct_rows_are_learnt_by_heart(
        data in any_targets().prop_flat_map(|t| data(30, Cells { missing: false, coarse: false }, t)),
        random in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let thresholds = if random { ThresholdSearch::Random } else { ThresholdSearch::Best };
        let axis = AxisParams { thresholds, max_features: Some(1), ..AxisParams::default() };
        let data = Data::unweighted(data.x, data.y.mapv(|v| (64.0 * v).round() / 64.0));
        prop_assume!(data.has_distinct_rows());
        let grown = data.grow(Layout::DENSE, axis, &GrowParams::default(), Seed::new(seed));
        prop_assert_eq!(label(&data, &grown, LeafKind::Samples).predict((&data.x).into()).unwrap(), data.y);
    }
}
