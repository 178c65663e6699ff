//! Structured splits: properties of every tree, whatever solves its binary problems, and nodes that cannot be split.

use super::common::csr;
use ndarray::{Array2, array};
use proptest::prelude::*;
use rpo_core::{CsrMatrix, MatrixView, ParameterError, Seed, TooFew};
use rpo_tree::oblique::{
    FeatureScaling, Features, HellingerParams, LinearRule, ObliqueLogisticParams, ObliqueSplitter,
};
use rpo_tree::splitter::{BinarySplitter, FallbackSplitter, Splitter};
use rpo_tree::structured::{InformationGain, LabelClusteringParams, LabelWeighting, StructuredSplitter};
use rpo_tree::{GrowParams, Grown, Node, RankedFeatures, TreeError, grow};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Variant {
    Gain,
    Logistic,
    Hellinger,
    HellingerOrGain,
}

const VARIANTS: [Variant; 4] = [
    Variant::Gain,
    Variant::Logistic,
    Variant::Hellinger,
    Variant::HellingerOrGain,
];

/// A small problem: features, labels, and the subsets of them that a tree uses.
#[derive(Debug, Clone)]
struct Problem {
    x: Array2<f32>,
    y: Array2<f32>,
    features: Vec<u32>,
    labels: Vec<u32>,
    weighting: Option<LabelWeighting>,
    min_samples_leaf: usize,
}

impl Problem {
    fn all(x: Array2<f32>, y: Array2<f32>) -> Self {
        Self {
            features: (0..x.ncols() as u32).collect(),
            labels: (0..y.ncols() as u32).collect(),
            x,
            y,
            weighting: Some(LabelWeighting::default()),
            min_samples_leaf: 1,
        }
    }

    fn grow(&self, variant: Variant, x: MatrixView<'_>) -> Grown<LinearRule> {
        let (columns, features) = (
            RankedFeatures::new(x, &[]).unwrap(),
            Features::new(x, FeatureScaling::BySparsity).unwrap(),
        );
        let hellinger = HellingerParams {
            descent_steps: 40,
            batch_size: 16,
            ..HellingerParams::default()
        };
        let gain = InformationGain::new(&columns, &self.features, self.min_samples_leaf).unwrap();
        let hellinger =
            ObliqueSplitter::new(&features, &self.features, hellinger, self.min_samples_leaf).unwrap();
        let labels = csr(&self.y);
        match variant {
            Variant::Gain => self.grow_with(&labels, gain),
            Variant::Logistic => {
                let logistic = ObliqueLogisticParams::default();
                let splitter =
                    ObliqueSplitter::new(&features, &self.features, logistic, self.min_samples_leaf);
                self.grow_with(&labels, splitter.unwrap())
            }
            Variant::Hellinger => self.grow_with(&labels, hellinger),
            Variant::HellingerOrGain => self.grow_with(&labels, FallbackSplitter(hellinger, gain)),
        }
    }

    fn grow_with(
        &self,
        labels: &CsrMatrix,
        binary: impl BinarySplitter<Rule = LinearRule>,
    ) -> Grown<LinearRule> {
        let rows: Vec<u32> = (0..self.x.nrows() as u32).collect();
        let params = LabelClusteringParams {
            weighting: self.weighting,
            ..LabelClusteringParams::default()
        };
        let splitter = StructuredSplitter::new(labels.view(), &self.labels, &rows, &params, binary).unwrap();
        let mut workspace = splitter.workspace();
        grow(
            &splitter,
            &mut workspace,
            rows,
            &GrowParams::default(),
            Seed::new(5),
        )
        .unwrap()
    }
}

fn problems() -> impl Strategy<Value = Problem> {
    let cell = prop_oneof![3 => Just(0.0_f32), 1 => (-4_i8..5).prop_map(f32::from), 1 => -3.0_f32..3.0];
    let sizes = (2_usize..30, 1_usize..9, 1_usize..5);
    sizes.prop_flat_map(move |(n, p, d)| {
        let subset = |k: usize| prop::sample::subsequence((0..k as u32).collect::<Vec<_>>(), 1..=k);
        (
            prop::collection::vec(cell.clone(), n * p),
            prop::collection::vec(prop::bool::weighted(0.3), n * d),
            subset(p),
            subset(d),
            any::<bool>(),
            1_usize..4,
        )
            .prop_map(
                move |(x, y, features, labels, cost_sensitive, min_samples_leaf)| Problem {
                    x: Array2::from_shape_vec((n, p), x).unwrap(),
                    y: Array2::from_shape_vec((n, d), y.iter().map(|&y| f32::from(u8::from(y))).collect())
                        .unwrap(),
                    features,
                    labels,
                    weighting: cost_sensitive.then(LabelWeighting::default),
                    min_samples_leaf,
                },
            )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Children have three rows or more, every row is where the stored rules route it, and both layouts of the features
    /// give the same tree.
    #[test]
    fn rows_follow_the_stored_partition(problem in problems(), variant in prop::sample::select(VARIANTS.to_vec())) {
        let grown = problem.grow(variant, (&problem.x).into());
        let sparse = csr(&problem.x);
        let view = MatrixView::Sparse(sparse.view());
        prop_assert_eq!(&grown, &problem.grow(variant, view));
        let split = grown.structure.n_leaves() > 1;
        for view in [(&problem.x).into(), view] {
            let leaf_of = grown.structure.apply(view).unwrap();
            for leaf in 0..grown.members.n_leaves() {
                let rows = &grown.members[leaf];
                prop_assert!(!split || rows.len() >= problem.min_samples_leaf);
                prop_assert!(rows.iter().all(|&row| leaf_of[row as usize] as usize == leaf));
            }
        }
        for (node, gain) in grown.structure.nodes().iter().zip(&grown.gains) {
            prop_assert!(gain.is_finite() && *gain >= 0.0);
            let Node::Split { rule, .. } = node else { continue };
            let features = match rule {
                LinearRule::Axis(rule) => vec![rule.feature()],
                LinearRule::Oblique(rule) => rule.features().to_vec(),
            };
            prop_assert!(features.iter().all(|f| problem.features.contains(f)));
        }
    }

    /// The order of the labels does not matter.
    #[test]
    fn labels_may_be_permuted(problem in problems()) {
        let d = problem.y.ncols();
        let mut reversed = problem.clone();
        reversed.y.invert_axis(ndarray::Axis(1));
        reversed.y = reversed.y.as_standard_layout().into_owned();
        reversed.labels = problem.labels.iter().rev().map(|&j| d as u32 - 1 - j).collect();
        // Unweighted: sums of whole numbers, in any order.
        reversed.weighting = None;
        let problem = Problem { weighting: None, ..problem };
        let x = (&problem.x).into();
        prop_assert_eq!(problem.grow(Variant::Gain, x), reversed.grow(Variant::Gain, x));
    }
}

/// Nodes without a split are leaves; nothing is NaN.
#[test]
fn degenerate_nodes_are_leaves() {
    let x = Array2::from_shape_fn((8, 3), |(i, j)| (i * (j + 1)) as f32);
    let y = Array2::from_shape_fn((8, 2), |(i, j)| f32::from(u8::from(i % 3 == j)));
    let constant = Array2::from_elem((8, 3), 2.5);
    let zeros = Array2::zeros((8, 3));
    let identical = Array2::from_elem((8, 2), 1.0);
    let no_label = Array2::zeros((8, 2));
    for variant in VARIANTS {
        for (x, y) in [
            (&constant, &y),
            (&zeros, &y),
            (&x, &identical),
            (&x, &no_label),
            (&zeros, &no_label),
        ] {
            let problem = Problem::all(x.clone(), y.clone());
            assert_eq!(
                problem.grow(variant, x.into()).structure.n_leaves(),
                1,
                "{variant:?}"
            );
        }
        let few = Problem {
            min_samples_leaf: 5,
            ..Problem::all(x.clone(), y.clone())
        };
        assert_eq!(
            few.grow(variant, (&x).into()).structure.n_leaves(),
            1,
            "{variant:?}"
        );
        // Labels not used by the tree do not matter.
        let other = Problem {
            y: array![
                [0., 0.],
                [0., 1.],
                [0., 0.],
                [0., 1.],
                [0., 0.],
                [0., 1.],
                [0., 0.],
                [0., 1.]
            ],
            labels: vec![0],
            ..Problem::all(x.clone(), y.clone())
        };
        assert_eq!(
            other.grow(variant, (&x).into()).structure.n_leaves(),
            1,
            "{variant:?}"
        );
        // A second label that never occurs does no harm.
        let rare = Problem::all(
            x.clone(),
            Array2::from_shape_fn((8, 2), |(i, j)| f32::from(u8::from(i > 3 && j == 0))),
        );
        let grown = rare.grow(variant, (&x).into());
        assert_eq!(grown.structure.n_leaves(), 2, "{variant:?}");
    }
}

/// Rows that no hyperplane separates are split on one feature if requested.
#[test]
fn one_feature_serves_where_no_hyperplane_does() {
    // Exclusive or: every soft rate is the same for both classes, and least squares finds nothing.
    let x = array![[-1., -1.], [-1., 1.], [1., -1.], [1., 1.]];
    let y = array![[0.], [1.], [1.], [0.]];
    let problem = Problem::all(x.clone(), y);
    let leaves = |variant| problem.grow(variant, (&x).into()).structure.n_leaves();
    assert_eq!(leaves(Variant::Hellinger), 1);
    assert_eq!(leaves(Variant::HellingerOrGain), 4);
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = array![[1.0, 2.0], [f32::NAN, 1.0], [0.0, f32::INFINITY]];
    let refused = |x: &Array2<f32>| Features::new(x.into(), FeatureScaling::Standard).map(|_| ());
    assert_eq!(
        refused(&x),
        Err(TreeError::MissingFeature { sample: 1, column: 0 })
    );
    let rest = x.slice(ndarray::s![2.., ..]).to_owned();
    let value = f32::INFINITY;
    assert_eq!(
        refused(&rest),
        Err(TreeError::InfiniteFeature {
            sample: 0,
            column: 1,
            value
        })
    );

    let columns = RankedFeatures::new((&x.slice(ndarray::s![..2, ..]).to_owned()).into(), &[]).unwrap();
    let refused = |subset: &[u32], min| InformationGain::new(&columns, subset, min).map(|_| ());
    assert!(matches!(
        refused(&[1, 0], 1),
        Err(TreeError::Parameter(ParameterError::OutOfRange {
            name: "subset",
            ..
        }))
    ));
    assert!(matches!(
        refused(&[0, 2], 1),
        Err(TreeError::TooFew(TooFew {
            needed: 3,
            given: 2,
            ..
        }))
    ));
    assert!(matches!(
        refused(&[0], 0),
        Err(TreeError::Parameter(ParameterError::OutOfRange {
            name: "min_samples_leaf",
            ..
        }))
    ));

    let labels = csr(&array![[1.0], [0.0]]);
    let refused = |subset: &[u32], rows: &[u32], params: LabelClusteringParams| {
        let gain = InformationGain::new(&columns, &[0], 1).unwrap();
        StructuredSplitter::new(labels.view(), subset, rows, &params, gain)
            .map(|_| ())
            .unwrap_err()
    };
    let good = LabelClusteringParams::default();
    assert!(matches!(
        refused(&[1], &[0], good),
        TreeError::TooFew(TooFew {
            needed: 2,
            given: 1,
            ..
        })
    ));
    assert!(matches!(
        refused(&[0], &[2], good),
        TreeError::TooFew(TooFew {
            needed: 3,
            given: 2,
            ..
        })
    ));
    for cluster_starts in [0, 1001] {
        let starts = LabelClusteringParams {
            cluster_starts,
            ..good
        };
        assert!(matches!(
            refused(&[0], &[0], starts),
            TreeError::Parameter(ParameterError::OutOfRange {
                name: "cluster_starts",
                ..
            })
        ));
    }
}
