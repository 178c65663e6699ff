//! Trees with missing targets and outputs, compared with the definitions.

use super::common::{Data, csr};
use ndarray::Array2;
use proptest::prelude::*;
use rand::Rng;
use rpo_core::{Matrix, MatrixView, ParameterError, Seed, WeightError};
use rpo_tree::criterion::{ObservedVariance, SparseObservedVariance};
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
use rpo_tree::{
    AxisRule, GrowParams, Grown, LeafBuilder, LeafKind, LeafMembers, LeafModel, Leaves, Node, RankedFeatures,
    Tree, TreeError, grow,
};
use std::sync::Arc;

/// Makes features, and targets of which about a fraction `share` is missing; target 3 is never observed.
fn example(seed: u64, n: usize, share: f64) -> Data {
    let mut rng = Seed::new(seed).rng();
    let mut uniform = || rng.r#gen::<f64>();
    let x = Array2::from_shape_fn((n, 3), |_| uniform() as f32);
    let y = Array2::from_shape_fn((n, 4), |(i, j)| {
        let value = f32::from(x[[i, j % 3]] > 0.5) + (j as f32) * uniform() as f32;
        let missing = uniform() < share || j == 3;
        if missing { f32::NAN } else { value }
    });
    let weights = (0..n).map(|_| (0.5 + uniform()) as f32).collect();
    Data { x, y, weights }
}

fn grown(data: &Data, axis: AxisParams, params: &GrowParams) -> Grown<AxisRule> {
    let columns = RankedFeatures::new((&data.x).into(), &[]).unwrap();
    let criterion = ObservedVariance::new(data.y.view(), &data.weights);
    let splitter = AxisSplitter::new(&columns, criterion, axis).unwrap();
    let rows = (0..data.x.nrows() as u32).collect();
    grow(&splitter, &mut splitter.workspace(), rows, params, Seed::new(1)).unwrap()
}

/// Returns the mean of an output over the rows in which it is observed.
fn known_mean(data: &Data, rows: &[u32], output: usize) -> Option<f64> {
    let known = || {
        let of = |&i: &u32| (f64::from(data.weights[i as usize]), data.y[[i as usize, output]]);
        rows.iter().map(of).filter(|(c, y)| !y.is_nan() && *c > 0.0)
    };
    let weight: f64 = known().map(|(c, _)| c).sum();
    let sum: f64 = known().map(|(c, y)| c * f64::from(y)).sum();
    (known().count() > 0).then(|| sum / weight)
}

/// Returns the expected predictions of each leaf: its own mean or that of the nearest ancestor that has one.
fn expected(data: &Data, grown: &Grown<AxisRule>, fallback: &[f32]) -> Array2<f64> {
    let nodes = grown.structure.nodes();
    let rows_of = data.rows_of_nodes(&grown.structure);
    let mut parent = vec![0; nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        if let Node::Split { first_child, .. } = node {
            parent[*first_child as usize..][..2].fill(i);
        }
    }
    let mut answers = Array2::zeros((grown.structure.n_leaves(), data.y.ncols()));
    for (i, node) in nodes.iter().enumerate() {
        let Node::Leaf(leaf) = node else { continue };
        for (j, &fallback) in fallback.iter().enumerate() {
            let mut at = i;
            answers[[*leaf as usize, j]] = loop {
                match known_mean(data, &rows_of[at], j) {
                    Some(mean) => break mean,
                    None if at == 0 => break f64::from(fallback),
                    None => at = parent[at],
                }
            };
        }
    }
    answers
}

fn answers(leaves: &Leaves) -> Array2<f64> {
    let mut found = Array2::zeros((leaves.n_leaves(), leaves.n_outputs()));
    for leaf in 0..leaves.n_leaves() {
        leaves.for_each(leaf as u32, |j, v| found[[leaf, j as usize]] += v);
    }
    found
}

fn close(a: &Array2<f64>, b: &Array2<f64>) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
}

const FALLBACK: [f32; 4] = [7.0, 8.0, 9.0, -3.5];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn leaves_answer_with_what_is_known(
        seed in any::<u64>(),
        n in 1_usize..60,
        share in 0.0_f64..1.0,
        max_leaves in prop_oneof![Just(None), (2_usize..9).prop_map(Some)],
    ) {
        let data = example(seed, n, share);
        let params = GrowParams { max_leaves, ..GrowParams::default() };
        let grown = grown(&data, AxisParams::default(), &params);
        let expected = expected(&data, &grown, &FALLBACK);
        for outputs in [Matrix::from(data.y.clone()), csr(&data.y).into()] {
            for kind in [LeafKind::Dense, LeafKind::Sparse] {
                let (structure, members) = (&grown.structure, &grown.members);
                let leaves = Leaves::label_observed(kind, structure, members, &data.weights, &outputs, &FALLBACK);
                let leaves = leaves.unwrap();
                prop_assert_eq!(leaves.kind(), kind);
                prop_assert!(close(&answers(&leaves), &expected));
            }
        }
    }

    #[test]
    fn without_missing_outputs_leaves_are_the_same(seed in any::<u64>(), n in 1_usize..40) {
        let mut data = example(seed, n, 0.0);
        data.y.column_mut(3).fill(0.25);
        let grown = grown(&data, AxisParams::default(), &GrowParams::default());
        let outputs = Arc::new(Matrix::from(data.y.clone()));
        for kind in [LeafKind::Dense, LeafKind::Sparse] {
            let (structure, members) = (&grown.structure, &grown.members);
            let plain = kind.build(members, &data.weights, &outputs).unwrap();
            let known = Leaves::label_observed(kind, structure, members, &data.weights, &outputs, &FALLBACK);
            prop_assert!(close(&answers(&plain), &answers(&known.unwrap())));
        }
    }

    /// Both layouts find splits of the same gain, and again below a split that both found. Equal gains may be reached
    /// by different splits: rows without observed targets may go to either side.
    #[test]
    fn both_layouts_grow_the_same_tree(seed in any::<u64>(), share in 0.0_f64..0.7) {
        let data = example(seed, 60, share);
        let axis = AxisParams { min_samples_leaf: 7, ..AxisParams::default() };
        let dense = grown(&data, axis, &GrowParams::default());
        let (sparse_y, columns) = (csr(&data.y), RankedFeatures::new((&data.x).into(), &[]).unwrap());
        let criterion = SparseObservedVariance::new(sparse_y.view(), &data.weights);
        let splitter = AxisSplitter::new(&columns, criterion, axis).unwrap();
        let rows = (0..60).collect();
        let sparse = grow(&splitter, &mut splitter.workspace(), rows, &GrowParams::default(), Seed::new(1)).unwrap();
        let mut pairs = vec![(0, 0)];
        while let Some((i, j)) = pairs.pop() {
            let (a, b) = (dense.gains[i], sparse.gains[j]);
            prop_assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{a} and {b}");
            match (&dense.structure.nodes()[i], &sparse.structure.nodes()[j]) {
                (Node::Split { rule: a, first_child: i }, Node::Split { rule: b, first_child: j }) if a == b => {
                    let children = (0..2).map(|side| (*i as usize + side, *j as usize + side));
                    pairs.extend(children);
                }
                (Node::Split { .. }, Node::Split { .. }) | (Node::Leaf(_), Node::Leaf(_)) => {}
                (a, b) => prop_assert!(false, "{a:?} and {b:?}"),
            }
        }
    }
}

/// Small weights keep their digits beside the large one of a sample whose output is missing, so that the mean of a label
/// is a probability.
#[test]
fn weights_of_any_size_give_means_of_the_observed() {
    const M: f32 = f32::NAN;
    let data = Data::unweighted(
        ndarray::array![[0.0], [0.0], [0.0], [0.0]],
        ndarray::array![[M, 1.0, M], [1.0, 0.0, 0.0], [1.0, 0.0, M], [1.0, M, 1.0]],
    );
    let grown = grown(&data, AxisParams::default(), &GrowParams::default());
    for large in [1e14, 1e16, 1e30] {
        for outputs in [Matrix::from(data.y.clone()), Matrix::from(csr(&data.y))] {
            let weights = [large, 0.1, 0.3, 0.7];
            let (kind, structure, members) = (LeafKind::Dense, &grown.structure, &grown.members);
            let leaves =
                Leaves::label_observed(kind, structure, members, &weights, &outputs, &[0.0; 3]).unwrap();
            assert_eq!(
                answers(&leaves).mapv(|v| v as f32),
                ndarray::array![[1.0, 1.0, 0.875]]
            );
        }
    }
}

/// A leaf that no weight reaches predicts as its nearest ancestor would.
#[test]
fn a_leaf_without_rows_asks_its_ancestors() {
    let data = Data::unweighted(
        ndarray::array![[0.0], [1.0], [2.0], [3.0]],
        ndarray::array![[0.0, 1.0], [0.0, f32::NAN], [4.0, 2.0], [8.0, 0.0]],
    );
    let grown = grown(&data, AxisParams::default(), &GrowParams::default());
    let outputs = Matrix::from(data.y.clone());
    let label = |weights: &[f32], members: &LeafMembers, fallback: &[f32]| {
        let kind = LeafKind::Sparse;
        Leaves::label_observed(kind, &grown.structure, members, weights, &outputs, fallback)
    };
    let leaves = label(&[1.0, 1.0, 0.0, 1.0], &grown.members, &[0.0; 2]).unwrap();
    let tree = Tree::new(grown.structure.clone(), leaves).unwrap();
    // Row 2 is next to row 3 below the root's right child.
    let found = tree.predict(MatrixView::from(&data.x)).unwrap();
    assert_eq!(
        found,
        ndarray::array![[0.0, 1.0], [0.0, 1.0], [8.0, 0.0], [8.0, 0.0]]
    );
    assert_eq!(
        label(&[0.0; 4], &grown.members, &[0.0; 2]),
        Err(TreeError::Weight(WeightError::AllZero))
    );
    let one = LeafMembers::from_assignment(&[0; 4], 1).unwrap();
    for (members, fallback) in [(&one, &[0.0; 2][..]), (&grown.members, &[0.0; 3][..])] {
        assert!(matches!(
            label(&[1.0; 4], members, fallback),
            Err(TreeError::Mismatch { .. })
        ));
    }
    let samples = Leaves::label_observed(
        LeafKind::Samples,
        &grown.structure,
        &grown.members,
        &[1.0; 4],
        &outputs,
        &[0.0; 2],
    );
    assert!(matches!(
        samples,
        Err(TreeError::Parameter(ParameterError::Conflict {
            name: "leaves",
            ..
        }))
    ));
}
