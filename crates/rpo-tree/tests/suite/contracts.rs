//! Edge cases: degenerate training sets, and rejected input.

use super::common::{Data, Layout, answer, csr, grow_axis, label};
use ndarray::{Array2, array};
use rpo_core::{CsrMatrix, Matrix, MatrixView, Mismatch, ParameterError, Seed, TooFew, WeightError};
use rpo_tree::criterion::{Criterion, LabelCountVariance, SparseVariance, Variance};
use rpo_tree::leaves::{DenseLeaves, SampleLeaves};
use rpo_tree::oblique::{FeatureScaling, Features, ObliqueLogisticParams, ObliqueSplitter};
use rpo_tree::splitter::{AxisParams, AxisSplitter, BinarySplitter, NodeRows, ThresholdSearch};
use rpo_tree::structured::InformationGain;
use rpo_tree::{
    AxisRule, CheckParams, GrowParams, Grown, LeafBuilder, LeafKind, LeafMembers, LeafModel, Leaves, Node,
    RankedFeatures, Row, Rule, Structure, Tree, TreeError,
};
use std::sync::Arc;

fn axis(thresholds: ThresholdSearch) -> AxisParams {
    AxisParams {
        thresholds,
        ..AxisParams::default()
    }
}

fn grow(
    x: Array2<f32>,
    y: Array2<f32>,
    layout: Layout,
    thresholds: ThresholdSearch,
) -> (Data, Grown<AxisRule>) {
    let data = Data::unweighted(x, y);
    let grown = data.grow(layout, axis(thresholds), &GrowParams::default(), Seed::new(0));
    (data, grown)
}

/// Runs a check in every layout with both kinds of thresholds.
fn everywhere(x: &Array2<f32>, y: &Array2<f32>, check: impl Fn(&Data, &Grown<AxisRule>)) {
    for layout in Layout::ALL {
        for thresholds in [ThresholdSearch::Best, ThresholdSearch::Random] {
            let (data, grown) = grow(x.clone(), y.clone(), layout, thresholds);
            check(&data, &grown);
        }
    }
}

fn is_one_leaf(_: &Data, grown: &Grown<AxisRule>) {
    assert_eq!(grown.structure.nodes(), [Node::Leaf(0)]);
    assert_eq!(grown.gains, [0.0]);
    assert_eq!(grown.importances(2), [0.0, 0.0]);
}

/// A feature of zeros and one other value has the same threshold in every node, also where thresholds are drawn.
#[test]
fn binary_features_are_split_at_their_midpoint() {
    let bit = |i: usize, j: usize| i >> j & 1 == 1;
    let values = [(0.0, 1.0), (-3.0, 0.0), (0.0, 0.25), (1.0, 2.0)];
    let x = Array2::from_shape_fn(
        (16, 4),
        |(i, j)| if bit(i, j) { values[j].1 } else { values[j].0 },
    );
    let y = Array2::from_shape_fn((16, 1), |(i, _)| i as f32);
    everywhere(&x, &y, |_, grown| {
        let mut drawn = Vec::new();
        for (_, rule) in grown.structure.splits() {
            let (low, high) = values[rule.feature() as usize];
            match rule.feature() {
                3 => drawn.push(rule.threshold()),
                _ => assert_eq!(rule.threshold(), (low + high) / 2.0),
            }
        }
        assert!(!drawn.is_empty() && drawn.iter().all(|t| (1.0..2.0).contains(t)));
    });
}

#[test]
fn nothing_to_split_is_one_leaf() {
    const NAN: f32 = f32::NAN;
    // Constant targets, including some far from zero; constant features; one row; only missing values.
    let varied = array![[1.0, 2.0], [2.0, 0.0], [3.0, NAN]];
    for constant in [0.0, 0.1, -1e30] {
        everywhere(&varied, &Array2::from_elem((3, 2), constant), is_one_leaf);
    }
    let y = array![[1.0], [2.0], [3.0]];
    for constant in [0.0, -0.0, 7.5, NAN] {
        everywhere(&Array2::from_elem((3, 2), constant), &y, is_one_leaf);
    }
    everywhere(&array![[0.0, -0.0], [-0.0, 0.0], [0.0, 0.0]], &y, is_one_leaf);
    everywhere(&array![[1.0, NAN]], &array![[4.0, 0.0]], is_one_leaf);
}

#[test]
fn a_feature_without_values_is_never_used() {
    let x = array![[f32::NAN, 0.0], [f32::NAN, 1.0], [f32::NAN, 2.0]];
    let y = array![[0.0], [5.0], [1.0]];
    everywhere(&x, &y, |data, grown| {
        assert_eq!(grown.structure.n_leaves(), 3);
        assert_eq!(grown.importances(2), [0.0, 1.0]);
        let predicted = label(data, grown, LeafKind::Dense)
            .predict((&data.x).into())
            .unwrap();
        assert_eq!(predicted, data.y);
    });
}

/// Exclusive or: no first split gains, and yet both levels are needed.
#[test]
fn splits_without_gain_are_made_unless_forbidden() {
    let x = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let y = array![[0.0], [1.0], [1.0], [0.0]];
    everywhere(&x, &y, |data, grown| {
        assert_eq!(grown.gains[0], 0.0);
        let predicted = label(data, grown, LeafKind::Sparse)
            .predict((&data.x).into())
            .unwrap();
        assert_eq!(predicted, data.y);
    });
    let forbidding = AxisParams {
        min_gain: f64::MIN_POSITIVE,
        ..AxisParams::default()
    };
    let grown = Data::unweighted(x, y).grow(Layout::DENSE, forbidding, &GrowParams::default(), Seed::new(0));
    assert_eq!(grown.structure.n_leaves(), 1);
}

/// Two thresholds of equal gain differ in value and in the side of the missing value. The smaller threshold wins,
/// wherever zero lies.
#[test]
fn ties_do_not_depend_on_the_sign() {
    let y = array![[0.0], [2.0], [1.0]];
    for shift in [0.0, -1.0, -1.5, -2.0, -9.0] {
        let x = array![[1.0 + shift], [2.0 + shift], [f32::NAN]];
        for layout in Layout::ALL {
            let data = Data::unweighted(x.clone(), y.clone());
            let root = GrowParams {
                max_depth: Some(1),
                ..GrowParams::default()
            };
            let grown = data.grow(layout, AxisParams::default(), &root, Seed::new(0));
            let expected = AxisRule::new(0, 1.5 + shift, false);
            assert!(matches!(&grown.structure.nodes()[0], Node::Split { rule, .. } if *rule == expected));
        }
    }
}

/// Among two nodes of equal gain, best-first growth splits the one created first.
#[test]
fn equal_gains_are_taken_in_order() {
    let x = array![[0.0], [1.0], [10.0], [11.0]];
    let data = Data::unweighted(x.clone(), x);
    let three = GrowParams {
        max_leaves: Some(3),
        ..GrowParams::default()
    };
    let grown = data.grow(Layout::DENSE, AxisParams::default(), &three, Seed::new(0));
    assert_eq!(grown.gains[1], 0.5);
    assert!(matches!(grown.structure.nodes()[2], Node::Leaf(_)));
}

#[test]
fn features_are_checked() {
    let columns = |x: &Array2<f32>| {
        let sparse = csr(x);
        let found = [
            RankedFeatures::new(x.into(), &[]),
            RankedFeatures::new(MatrixView::Sparse(sparse.view()), &[]),
        ];
        found.map(Result::unwrap_err)
    };
    for (rows, columns_) in [(0, 3), (3, 0), (0, 0)] {
        let expected = TreeError::Empty {
            rows,
            columns: columns_,
        };
        assert_eq!(
            columns(&Array2::zeros((rows, columns_))),
            [expected.clone(), expected]
        );
    }
    for value in [f32::INFINITY, f32::NEG_INFINITY] {
        let mut x = array![[1.0, f32::NAN, 0.0], [0.0, 2.0, 3.0]];
        x[[1, 2]] = value;
        let expected = TreeError::InfiniteFeature {
            sample: 1,
            column: 2,
            value,
        };
        assert_eq!(columns(&x), [expected.clone(), expected]);
    }
}

#[test]
fn matrices_stored_by_columns_are_refused() {
    let by_columns = csr(&array![[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]).to_csc();
    let view = MatrixView::Sparse(by_columns.view());
    let refused = |what| Err(TreeError::from(rpo_core::NotCsr { what }));
    assert_eq!(RankedFeatures::new(view, &[]).map(|_| ()), refused("features"));
    let outputs = Arc::new(Matrix::Sparse(by_columns.clone()));
    let members = LeafMembers::from_assignment(&[0, 0, 0], 1).unwrap();
    let label = |outputs| LeafKind::Samples.build(&members, &[1.0; 3], outputs);
    assert_eq!(label(&outputs).map(|_| ()), refused("outputs"));
    let stored = SampleLeaves::from_parts(vec![0, 1], vec![0], None, Arc::clone(&outputs));
    assert_eq!(stored.map(|_| ()), refused("outputs"));
    let by_rows = Arc::new(Matrix::from(by_columns.clone()));
    let tree = Tree::new(
        Structure::<AxisRule>::try_from(vec![Node::Leaf(0)]).unwrap(),
        label(&by_rows).unwrap(),
    );
    let relabelled = tree.unwrap().relabel(&LeafKind::Dense, view, &[1.0; 3], &by_rows);
    assert_eq!(relabelled.map(|_| ()), refused("features"));
}

#[test]
fn parameters_are_checked_at_their_bounds() {
    let name = |params: AxisParams| match params.check() {
        Err(TreeError::Parameter(ParameterError::OutOfRange { name, .. })) => name,
        other => panic!("{other:?}"),
    };
    let base = AxisParams::default();
    assert_eq!(base.check(), Ok(()));
    let max_features = AxisParams {
        max_features: Some(0),
        ..base
    };
    assert_eq!(name(max_features), "max_features");
    let min_samples_leaf = AxisParams {
        min_samples_leaf: 0,
        ..base
    };
    assert_eq!(name(min_samples_leaf), "min_samples_leaf");
    for min_gain in [-f64::MIN_POSITIVE, f64::NAN, f64::INFINITY] {
        assert_eq!(name(AxisParams { min_gain, ..base }), "min_gain");
    }
    let all_small = AxisParams {
        max_features: Some(1),
        min_samples_leaf: 1,
        min_gain: f64::MAX,
        ..base
    };
    assert_eq!(all_small.check(), Ok(()));
    let no_leaves = GrowParams {
        max_leaves: Some(0),
        ..GrowParams::default()
    };
    assert!(matches!(
        no_leaves.check(),
        Err(TreeError::Parameter(ParameterError::OutOfRange {
            name: "max_leaves",
            ..
        }))
    ));
    let one_leaf = GrowParams {
        max_depth: Some(0),
        min_samples_split: 0,
        max_leaves: Some(1),
    };
    assert_eq!(one_leaf.check(), Ok(()));
    // A splitter cannot be made with parameters out of range.
    let (x, y) = (array![[0.0], [1.0]], array![[0.0_f32], [1.0]]);
    let columns = RankedFeatures::new((&x).into(), &[]).unwrap();
    let criterion = Variance::new(y.view(), &[1.0, 1.0]);
    assert!(AxisSplitter::new(&columns, criterion, min_samples_leaf).is_err());
}

fn split(first_child: u32) -> Node<AxisRule> {
    Node::Split {
        rule: AxisRule::new(0, 0.0, false),
        first_child,
    }
}

#[test]
fn structures_that_are_no_trees_are_refused() {
    use Node::Leaf;
    let valid = vec![split(1), Leaf(1), split(3), Leaf(0), Leaf(2)];
    let structure = Structure::try_from(valid).unwrap();
    assert_eq!((structure.n_leaves(), structure.depth()), (3, 2));
    assert_eq!(structure.depths(), [0, 1, 1, 2, 2]);
    assert_eq!(structure.apply((&array![[-1.0]]).into()).unwrap(), [1]);
    assert_eq!(structure.apply((&array![[1.0]]).into()).unwrap(), [2]);
    for (nodes, offender) in [
        (vec![], 0),
        // No children, children outside the tree, a child that is its parent or precedes it.
        (vec![split(1)], 0),
        (vec![split(1), Leaf(0)], 0),
        (vec![split(u32::MAX), Leaf(0), Leaf(1)], 0),
        (vec![split(0), Leaf(0), Leaf(1)], 0),
        (vec![split(1), split(0), Leaf(0), Leaf(1)], 1),
        // A node that no node leads to, one with two parents.
        (vec![split(2), Leaf(0), Leaf(1), Leaf(2)], 1),
        (vec![Leaf(0), Leaf(1)], 1),
        (vec![split(1), split(3), split(4), Leaf(0), Leaf(1), Leaf(2)], 4),
        (vec![split(1), split(2), Leaf(0), Leaf(1)], 2),
        // Leaf numbers with a gap, with a repetition.
        (vec![split(1), Leaf(0), Leaf(2)], 2),
        (vec![split(1), Leaf(1), Leaf(1)], 2),
        (vec![Leaf(1)], 0),
    ] {
        match Structure::try_from(nodes.clone()) {
            Err(TreeError::Structure { node, .. }) => assert_eq!(node, offender, "{nodes:?}"),
            other => panic!("{nodes:?} gave {other:?}"),
        }
    }

    #[derive(Debug, Clone, PartialEq)]
    struct NoChildren;
    impl Rule for NoChildren {
        fn arity(&self) -> usize {
            0
        }
        fn child(&self, _: Row<'_>) -> usize {
            0
        }
        fn n_features(&self) -> usize {
            0
        }
    }
    let node = Node::Split {
        rule: NoChildren,
        first_child: 1,
    };
    assert!(matches!(
        Structure::try_from(vec![node, Leaf(0)]),
        Err(TreeError::Structure { node: 0, .. })
    ));
}

#[test]
fn leaf_members_are_checked() {
    let members = LeafMembers::from_assignment(&[2, 0, 2], 3).unwrap();
    assert_eq!([0, 1, 2].map(|leaf| &members[leaf]), [&[1][..], &[], &[0, 2]]);
    assert_eq!(
        LeafMembers::from_assignment(&[0], usize::MAX),
        Err(TreeError::TooLarge {
            what: "the number of leaves",
            given: usize::MAX,
            limit: 1 << 31
        })
    );
    assert!(matches!(
        LeafMembers::from_assignment(&[0, 3], 3),
        Err(TreeError::TooFew(TooFew {
            needed: 4,
            given: 3,
            ..
        }))
    ));
}

#[test]
fn labels_are_checked() {
    let members = LeafMembers::from_assignment(&[0, 1, 1], 2).unwrap();
    let outputs = |n| Arc::new(Matrix::from(Array2::<f32>::ones((n, 2))));
    let label = |weights: &[f32], n| LeafKind::Dense.build(&members, weights, &outputs(n));
    assert!(matches!(
        label(&[1.0; 2], 3),
        Err(TreeError::Mismatch(Mismatch {
            expected: 3,
            given: 2,
            ..
        }))
    ));
    assert!(matches!(
        label(&[1.0; 2], 2),
        Err(TreeError::TooFew(TooFew {
            needed: 3,
            given: 2,
            ..
        }))
    ));
    assert_eq!(label(&[0.0; 3], 3), Err(WeightError::AllZero.into()));
    for value in [-1.0, f32::NAN, f32::INFINITY] {
        let found = label(&[1.0, value, 1.0], 3);
        assert!(
            matches!(
                found,
                Err(TreeError::Weight(WeightError::OutOfRange { sample: 1, .. }))
            ),
            "{found:?}"
        );
    }
    // Leaf 0 has no weight: it predicts the mean of all.
    let outputs = Arc::new(Matrix::from(array![[9.0], [1.0], [3.0]]));
    let leaves = LeafKind::Samples
        .build(&members, &[0.0, 1.0, 3.0], &outputs)
        .unwrap();
    assert_eq!(answer(&leaves, 0), [2.5]);
    assert_eq!(answer(&leaves, 1), [2.5]);
}

/// The mean of all is computed once, and not stored for each leaf that predicts it.
#[test]
fn many_leaves_may_weigh_nothing() {
    let n = 70_000_u32;
    let leaf_of: Vec<u32> = (0..2 * n).map(|row| row.saturating_sub(n - 1)).collect();
    let members = LeafMembers::from_assignment(&leaf_of, n as usize + 1).unwrap();
    let weights: Vec<f32> = (0..2 * n).map(|row| f32::from(row < n)).collect();
    let y = Array2::from_shape_fn((weights.len(), 1), |(i, _)| (i % 2) as f32);
    let outputs = Arc::new(Matrix::from(y));
    for kind in [LeafKind::Dense, LeafKind::Sparse] {
        let leaves = kind.build(&members, &weights, &outputs).unwrap();
        for leaf in [0, 1, n - 1, n] {
            assert_eq!(answer(&leaves, leaf), [0.5]);
        }
    }
    let found = LeafKind::Samples.build(&members, &weights, &outputs);
    assert!(matches!(found, Err(TreeError::TooLarge { .. })));
}

#[test]
fn stored_sample_leaves_are_checked() {
    let outputs = Arc::new(Matrix::from(array![[1.0], [2.0], [4.0]]));
    let from_parts = |start: &[u32], rows: &[u32], weights: Option<&[f32]>| {
        let weights = weights.map(<[f32]>::to_vec);
        SampleLeaves::from_parts(start.to_vec(), rows.to_vec(), weights, Arc::clone(&outputs))
    };
    let leaves = from_parts(&[0, 2, 3], &[2, 0, 1], Some(&[3.0, 1.0, 2.0])).unwrap();
    assert_eq!(answer(&leaves, 0), [3.25]);
    assert_eq!(leaves.members(0), (&[2, 0][..], Some(&[3.0, 1.0][..])));
    for (start, rows, weights) in [
        // No starts, no 0 at the front, an end before or beyond the rows, an empty leaf, decreasing starts.
        (&[][..], &[][..], None),
        (&[1, 2], &[0, 1], None),
        (&[0, 1], &[0, 1], None),
        (&[0, 3], &[0, 1], None),
        (&[0, 0, 2], &[0, 1], None),
        (&[0, 2, 1, 2], &[0, 1], None),
        // A row without outputs, too few weights.
        (&[0, 2], &[0, 3], None),
        (&[0, 2], &[0, 1], Some(&[1.0][..])),
    ] {
        let found = from_parts(start, rows, weights);
        assert!(
            matches!(
                found,
                Err(TreeError::Mismatch(_) | TreeError::TooFew(_) | TreeError::Parameter(_))
            ),
            "{start:?} {rows:?}: {found:?}"
        );
    }
    for value in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let found = from_parts(&[0, 2], &[0, 2], Some(&[1.0, value]));
        assert!(
            matches!(
                found,
                Err(TreeError::Weight(WeightError::OutOfRange { sample: 2, .. }))
            ),
            "{found:?}"
        );
    }
    // Other outputs for the same rows.
    let doubled = Arc::new(Matrix::from(array![[2.0, 0.0], [4.0, 0.0], [8.0, 1.0]]));
    assert_eq!(
        answer(&leaves.clone().with_outputs(doubled).unwrap(), 0),
        [6.5, 0.75]
    );
    let too_few = Arc::new(Matrix::from(array![[1.0]]));
    assert!(matches!(
        leaves.with_outputs(too_few),
        Err(TreeError::Mismatch(Mismatch {
            expected: 3,
            given: 1,
            ..
        }))
    ));
}

#[test]
fn trees_are_checked() {
    let structure = Structure::try_from(vec![split(1), Node::Leaf(0), Node::Leaf(1)]).unwrap();
    let leaves = |n| {
        Leaves::Dense(DenseLeaves {
            values: Array2::zeros((n, 1)),
        })
    };
    assert!(matches!(
        Tree::new(structure.clone(), leaves(3)),
        Err(TreeError::Mismatch(Mismatch {
            expected: 2,
            given: 3,
            ..
        }))
    ));
    let tree = Tree::new(structure, leaves(2)).unwrap();
    let x = array![[-1.0], [1.0]];
    let outputs = |n| Arc::new(Matrix::from(Array2::<f32>::ones((n, 1))));
    let relabel = |n, weights: &[f32]| {
        tree.clone()
            .relabel(&LeafKind::Sparse, (&x).into(), weights, &outputs(n))
    };
    assert!(relabel(2, &[1.0, 1.0]).is_ok());
    assert!(matches!(relabel(3, &[1.0; 3]), Err(TreeError::Mismatch { .. })));
    assert!(matches!(relabel(2, &[1.0; 3]), Err(TreeError::Mismatch { .. })));
    assert_eq!(relabel(2, &[0.0; 2]), Err(WeightError::AllZero.into()));
    // No rows, no predictions.
    assert_eq!(
        tree.predict((&Array2::zeros((0, 1))).into()).unwrap().dim(),
        (0, 1)
    );
    let none = CsrMatrix::zero((0, 1));
    assert_eq!(
        tree.structure().apply(MatrixView::Sparse(none.view())).unwrap(),
        Vec::<u32>::new()
    );
}

/// Counting requires labels of 1 and whole weights whose sums stay exact.
#[test]
fn what_cannot_be_counted_is_not() {
    let counts = |label: f32, weight: f32| {
        let labels = csr(&array![[1.0, 0.0], [1.0, label]]);
        LabelCountVariance::of(labels.view(), &[1.0, weight]).is_some()
    };
    assert!(counts(1.0, 0.0) && counts(1.0, 3.0) && counts(0.0, 1.0));
    assert!(!counts(2.0, 1.0) && !counts(0.5, 1.0) && !counts(-1.0, 1.0) && !counts(f32::NAN, 1.0));
    for weight in [0.5, -1.0, 1e9, 1e30, f32::NAN, f32::INFINITY] {
        assert!(!counts(1.0, weight), "{weight}");
    }
}

/// A weight beyond the integers used is not truncated to them, even if the row has no label.
#[test]
fn heavy_rows_without_labels_keep_their_weight() {
    let labels = csr(&array![[1.0], [0.0], [0.0]]);
    let weights = [1.0, 6e9, 2.0];
    fn score(mut criterion: impl Criterion) -> f64 {
        criterion.start(&[0, 1, 2]);
        criterion.move_row(0);
        criterion.move_row(1);
        criterion.score()
    }
    let general = score(SparseVariance::new(labels.view(), &weights));
    assert!(LabelCountVariance::of(labels.view(), &weights).is_none_or(|counts| score(counts) == general));
}

/// A minimum child size that no node reaches leaves one leaf, however large it is.
#[test]
fn children_of_impossible_size_leave_one_leaf() {
    let data = Data::unweighted(array![[0.0], [1.0]], array![[0.0], [1.0]]);
    for min_samples_leaf in [2, usize::MAX / 2 + 1, usize::MAX] {
        let axis = AxisParams {
            min_samples_leaf,
            ..AxisParams::default()
        };
        let grown = data.grow(Layout::DENSE, axis, &GrowParams::default(), Seed::new(0));
        assert_eq!(grown.structure.n_leaves(), 1);
        let columns = RankedFeatures::new((&data.x).into(), &[]).unwrap();
        let gain = InformationGain::new(&columns, &[0], min_samples_leaf).unwrap();
        let features = Features::new((&data.x).into(), FeatureScaling::Raw).unwrap();
        let oblique = ObliqueSplitter::new(
            &features,
            &[0],
            ObliqueLogisticParams::default(),
            min_samples_leaf,
        )
        .unwrap();
        let node = NodeRows {
            number: 0,
            rows: &[0, 1],
            depth: 0,
            seed: Seed::new(0),
        };
        let marks = [false, true];
        assert_eq!(gain.split(node, &marks, &mut gain.workspace(), &mut [0, 0]), None);
        assert_eq!(
            oblique.split(node, &marks, &mut oblique.workspace(), &mut [0, 0]),
            None
        );
    }
}

/// Targets that are not finite make scores NaN, and no split is made; so do weights that are negligible beside others,
/// whose side of a split would have no weight.
#[test]
fn scores_that_are_not_finite_split_nothing() {
    const NAN: f32 = f32::NAN;
    let x = array![[0.0, NAN], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0]];
    let columns = RankedFeatures::new((&x).into(), &[]).unwrap();
    let weights = [1e30_f32, 1.0, 1.0, 1.0];
    for (y, weights) in [
        (array![[1.0], [NAN], [2.0], [3.0]], [1.0; 4]),
        (array![[1.0], [f32::INFINITY], [2.0], [3.0]], [1.0; 4]),
        (array![[0.0], [3e38], [3e38], [3e38]], weights),
    ] {
        for thresholds in [ThresholdSearch::Best, ThresholdSearch::Random] {
            let criterion = Variance::new(y.view(), &weights);
            let params = GrowParams::default();
            let grown = grow_axis(
                &columns,
                criterion,
                &weights,
                axis(thresholds),
                &params,
                Seed::new(1),
            );
            assert!(grown.gains.iter().all(|g| g.is_finite()), "{:?}", grown.gains);
            if y.iter().any(|v| !v.is_finite()) {
                assert_eq!(grown.structure.n_leaves(), 1, "{y} {thresholds:?}");
            }
        }
    }
}

/// A leaf model reports its numbers of leaves and outputs, whatever its storage.
#[test]
fn storages_know_their_shape() {
    let (data, grown) = grow(
        array![[0.0], [1.0], [2.0]],
        array![[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]],
        Layout::DENSE,
        ThresholdSearch::Best,
    );
    for kind in [LeafKind::Dense, LeafKind::Sparse, LeafKind::Samples] {
        let tree = label(&data, &grown, kind);
        assert_eq!((tree.leaves().n_leaves(), tree.leaves().n_outputs()), (3, 2));
        // All storages have their full predictions in common.
        let mut sum = 0.0;
        let leaves = tree.leaves();
        (0..leaves.n_leaves() as u32).for_each(|leaf| leaves.for_each(leaf, |_, v| sum += v));
        assert_eq!(sum, 2.0);
    }
}
