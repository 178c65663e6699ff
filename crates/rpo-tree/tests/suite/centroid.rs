//! Nodes of centroids: what holds for the trees they make.

use crate::common::csr;
use ndarray::{Array2, Axis};
use proptest::prelude::*;
use rpo_core::{CsrMatrix, CsrView, MatrixView, ParameterError, Seed, csr_row};
use rpo_tree::centroid::{
    CentroidParams, CentroidRule, CentroidSplitter, ClusterTargets, Cosine, Euclidean, NodeSample, Routing,
    TreeRecord, rebuild,
};
use rpo_tree::cluster::Points;
use rpo_tree::splitter::Splitter;
use rpo_tree::{GrowParams, Grown, LeafMembers, Node, TreeError, apply, grow, grow_parallel};
use std::borrow::Cow;

/// Labels as they are; `names` says under which name each is known.
#[derive(Debug)]
struct Labels<'a> {
    labels: CsrView<'a>,
    names: Vec<u32>,
}

impl<'a> Labels<'a> {
    fn new(labels: CsrView<'a>) -> Self {
        let names = (0..labels.cols() as u32).collect();
        Self { labels, names }
    }
}

impl ClusterTargets for Labels<'_> {
    fn n_columns(&self) -> usize {
        self.labels.cols()
    }

    fn push(&self, rows: &[u32], _: Seed, points: &mut Points) {
        for &row in rows {
            let (labels, values) = csr_row(&self.labels, row as usize);
            let named = labels
                .iter()
                .zip(values)
                .map(|(&j, &v)| (self.names[j as usize], v));
            points.push(named, 1.0);
        }
    }

    fn all_equal(&self, rows: &[u32]) -> bool {
        let row = |i: u32| csr_row(&self.labels, i as usize);
        rows.windows(2).all(|pair| row(pair[0]) == row(pair[1]))
    }
}

/// Sparse features and labels of a few overlapping topics.
fn data(seed: u64, n: usize, p: usize, d: usize) -> (Array2<f32>, Array2<f32>) {
    let seed = Seed::new(seed);
    let topic = |i: usize| seed.child(1).hash(i as u64) as usize % 7;
    let chance = |key: u64, i: usize, j: usize| seed.child(key).hash((i * 10_000 + j) as u64) % 100;
    let x = Array2::from_shape_fn((n, p), |(i, j)| {
        let often = if j % 7 == topic(i) { 60 } else { 8 };
        if chance(2, i, j) < often {
            0.5 + chance(3, i, j) as f32 / 100.0
        } else {
            0.0
        }
    });
    let y = Array2::from_shape_fn((n, d), |(i, j)| {
        let often = if j % 7 == topic(i) { 50 } else { 5 };
        f32::from(u8::from(chance(4, i, j) < often))
    });
    (x, y)
}

fn params(k: usize) -> CentroidParams {
    let mut params = CentroidParams::craftml();
    params.kmeans.clusters = k;
    params
}

fn leaves_of(n: usize) -> GrowParams {
    GrowParams {
        min_samples_split: n,
        ..GrowParams::default()
    }
}

fn grow_on(
    x: &CsrMatrix,
    targets: &impl ClusterTargets,
    routing: &dyn Routing,
    params: CentroidParams,
    seed: u64,
) -> Grown<CentroidRule> {
    let splitter = CentroidSplitter::new(x.view(), targets, routing, params).unwrap();
    let rows = (0..x.rows() as u32).collect();
    grow(
        &splitter,
        &mut splitter.workspace(),
        rows,
        &leaves_of(5),
        Seed::new(seed),
    )
}

/// Training rows per leaf, as sets that do not depend on how leaves are numbered.
fn partition(grown: &Grown<CentroidRule>) -> Vec<Vec<u32>> {
    let members = &grown.members;
    let mut leaves: Vec<_> = (0..members.n_leaves())
        .map(|l| members.rows(l).to_vec())
        .collect();
    leaves.sort();
    leaves
}

fn routing() -> impl Strategy<Value = &'static dyn Routing> {
    prop_oneof![
        Just(&Cosine as &'static dyn Routing),
        Just(&Euclidean as &'static dyn Routing)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn children_partition_a_node_and_rows_reach_their_leaves(seed in 0_u64..1 << 32, k in 2_usize..20, routing in routing(), max in prop_oneof![Just(None), Just(Some(4))], share in prop_oneof![Just(1.0), Just(0.4)]) {
        let (x, y) = data(seed, 150, 40, 20);
        let (sparse, labels) = (csr(&x), csr(&y));
        let params = CentroidParams { centroid_entries: max, node_sample: NodeSample::Share(share), ..params(k) };
        let grown = grow_on(&sparse, &Labels::new(labels.view()), routing, params, seed);
        let mut all: Vec<u32> = partition(&grown).concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..150).collect::<Vec<u32>>());
        // The rule that grew the tree routes dense and sparse rows alike.
        for view in [(&x).into(), MatrixView::Sparse(sparse.view())] {
            let reached = apply(&grown.structure, view);
            for leaf in 0..grown.members.n_leaves() {
                prop_assert!(!grown.members.rows(leaf).is_empty());
                for &row in grown.members.rows(leaf) {
                    prop_assert_eq!(reached[row as usize] as usize, leaf);
                }
            }
        }
        for node in grown.structure.nodes() {
            if let Node::Split { rule, .. } = node {
                prop_assert!((2..=k).contains(&rpo_tree::Rule::arity(rule)));
                let most = max.unwrap_or(usize::MAX);
                for child in 0..rpo_tree::Rule::arity(rule) as u16 {
                    let has = |i: &usize| rule.entries(*i).any(|(c, _)| c == child);
                    prop_assert!((0..rule.features().len()).filter(has).count() <= most);
                }
            }
        }
    }

    #[test]
    fn lengths_of_rows_do_not_matter_to_cosines(seed in 0_u64..1 << 32) {
        let (x, y) = data(seed, 120, 40, 20);
        let labels = csr(&y);
        let mut scaled = x.clone();
        for (i, mut row) in scaled.rows_mut().into_iter().enumerate() {
            // Powers of two round nothing, so that near ties cannot tip.
            row *= [0.25, 8.0, 1.0, 1024.0][i % 4];
        }
        let grow = |x: &Array2<f32>| grow_on(&csr(x), &Labels::new(labels.view()), &Cosine, params(6), seed);
        prop_assert_eq!(partition(&grow(&x)), partition(&grow(&scaled)));
    }

    #[test]
    fn a_tree_is_recalled_from_the_rows_that_taught_it(seed in 0_u64..1 << 32, k in 1_usize..20, max in prop_oneof![Just(None), Just(Some(4))], sample in prop_oneof![Just(NodeSample::Count(60)), Just(NodeSample::Share(1.0)), Just(NodeSample::Share(0.3))]) {
        let (x, y) = data(seed, 150, 40, 20);
        let (x, labels) = (csr(&x), csr(&y));
        let params = CentroidParams { centroid_entries: max, node_sample: sample, ..params(k) };
        let targets = Labels::new(labels.view());
        let splitter = CentroidSplitter::new(x.view(), &targets, &Cosine, params).unwrap().keep_members();
        let rows = (0..150).collect();
        let grown = grow(&splitter, &mut splitter.workspace(), rows, &leaves_of(5), Seed::new(seed));
        let record = TreeRecord::of(&grown.structure, &grown.members).unwrap();
        prop_assert_eq!(&rebuild(&record, x.view(), max).unwrap(), &grown.structure);
        // Without being asked to, a tree notes nothing, and is the same otherwise.
        let plain = grow_on(&x, &targets, &Cosine, params, seed);
        prop_assert_eq!(&plain.members, &grown.members);
        if plain.members.n_leaves() > 1 {
            prop_assert_eq!(TreeRecord::of(&plain.structure, &plain.members), None);
        }
    }

    #[test]
    fn names_of_labels_do_not_matter(seed in 0_u64..1 << 32) {
        let (x, y) = data(seed, 120, 40, 20);
        let x = csr(&x);
        // Label j is stored at 19 - j, but known by the same name.
        let turned: Array2<f32> = y.select(Axis(1), &(0..20).rev().collect::<Vec<_>>());
        let (labels, turned) = (csr(&y), csr(&turned));
        let plain = grow_on(&x, &Labels::new(labels.view()), &Cosine, params(6), seed);
        let renamed = Labels { labels: turned.view(), names: (0..20).rev().collect() };
        prop_assert_eq!(plain, grow_on(&x, &renamed, &Cosine, params(6), seed));
    }
}

#[test]
fn subtrees_in_parallel_are_the_same_tree() {
    let (x, y) = data(3, 9000, 30, 20);
    let (x, y) = (csr(&x), csr(&y));
    let targets = Labels::new(y.view());
    let splitter = CentroidSplitter::new(x.view(), &targets, &Cosine, params(3)).unwrap();
    let rows: Vec<u32> = (0..9000).collect();
    let alone = grow(
        &splitter,
        &mut splitter.workspace(),
        rows.clone(),
        &leaves_of(50),
        Seed::new(1),
    );
    assert!(
        alone.structure.depth() > 2,
        "children are large enough to be split off"
    );
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let together = pool.install(|| grow_parallel(&splitter, rows.clone(), &leaves_of(50), Seed::new(1)));
        assert!(alone == together, "{threads} threads");
    }
}

#[test]
fn nodes_that_cannot_be_split_are_leaves() {
    let (x, y) = data(5, 60, 20, 10);
    let check = |x: &Array2<f32>, y: &Array2<f32>, k, why: &str| {
        let labels = csr(y);
        let grown = grow_on(&csr(x), &Labels::new(labels.view()), &Cosine, params(k), 1);
        assert_eq!(grown.members.n_leaves(), 1, "{why}");
    };
    check(&x, &y, 1, "one cluster");
    check(&x, &Array2::ones((60, 10)), 4, "equal labels");
    check(&Array2::ones((60, 20)), &y, 4, "equal features");
    check(&Array2::zeros((60, 20)), &y, 4, "no features");
    // Different rows of the same direction: all go one way, whatever is tried.
    let lengths = Array2::from_shape_fn((60, 20), |(i, _)| (1 + i) as f32);
    check(&lengths, &y, 4, "one direction");
    let labels = csr(&y);
    let splitter_of = |max_depth| {
        let x = csr(&x);
        let targets = Labels::new(labels.view());
        let splitter = CentroidSplitter::new(x.view(), &targets, &Cosine, params(2)).unwrap();
        let params = GrowParams {
            max_depth,
            ..GrowParams::default()
        };
        let rows = (0..60).collect();
        let grown = grow(&splitter, &mut splitter.workspace(), rows, &params, Seed::new(1));
        grown.structure.depth()
    };
    assert!(splitter_of(None) > 3);
    assert_eq!(splitter_of(Some(2)), 2);
}

#[test]
fn rows_with_as_few_kinds_as_clusters_part_by_kind() {
    // Three kinds of rows, five clusters: one leaf per kind.
    let x = Array2::from_shape_fn((30, 6), |(i, j)| f32::from(u8::from(j / 2 == i % 3)));
    let y = Array2::from_shape_fn((30, 3), |(i, j)| f32::from(u8::from(j == i % 3)));
    let labels = csr(&y);
    let grown = grow_on(&csr(&x), &Labels::new(labels.view()), &Cosine, params(5), 1);
    let kinds: Vec<Vec<u32>> = (0..3)
        .map(|kind| (0..30).filter(|i| i % 3 == kind).collect())
        .collect();
    assert_eq!(partition(&grown), kinds);
}

#[test]
fn records_that_contradict_themselves_are_refused() {
    let x = csr(&Array2::eye(5));
    let members = |rows: &[u32], sizes: &[u32]| LeafMembers::from_parts(rows.to_vec(), sizes, 5);
    let record = |children: &[u32], centroid_members: &[u32]| {
        let record = TreeRecord {
            children: children.to_vec(),
            leaf_members: Cow::Owned(members(&[0, 3, 1, 2, 4], &[2, 2, 1]).unwrap()),
            centroid_members: centroid_members.to_vec(),
        };
        rebuild(&record, x.view(), None)
    };
    let root = [1, 2, 1, 1, 0];
    assert_eq!(
        record(&[2, 0, 2, 0, 0], &[1, 2, 1, 1, 0, 2, 1, 0])
            .unwrap()
            .n_leaves(),
        3
    );
    assert_eq!(record(&[3, 0, 0, 0], &[1, 2, 0, 0, 3]).unwrap().n_leaves(), 3);
    for (children, centroid_members) in [
        (&[][..], &[][..]),
        (&[2, 0, 0], &root),
        (&[2, 0, 2, 0], &root),
        (&[2, 0, 2, 0, 0, 0], &root),
        (&[2, 0, 9, 0, 0], &root),
        (&[3, 0, 0, 0], &[1, 2, 0, 0]),
        (&[3, 0, 0, 0], &[1, 2, 0, 0, 3, 1]),
        (&[3, 0, 0, 0], &[1, 2, 0, 0, 4]),
        (&[3, 0, 0, 0], &[1, 2, 0, 0, 2]),
    ] {
        assert!(
            record(children, centroid_members).is_err(),
            "{children:?} {centroid_members:?}"
        );
    }
    for (rows, sizes) in [
        (&[0, 3, 1, 2][..], &[2, 2, 1][..]),
        (&[0, 3, 1, 2, 5], &[2, 2, 1]),
        (&[0, 3, 1, 2, 0], &[2, 2, 1]),
        (&[3, 0, 1, 2, 4], &[2, 2, 1]),
        (&[0, 3, 1, 2, 4], &[2, u32::MAX, 1]),
    ] {
        assert!(members(rows, sizes).is_err(), "{rows:?} {sizes:?}");
    }
    let few = TreeRecord {
        children: vec![0],
        leaf_members: Cow::Owned(members(&[0, 4], &[2]).unwrap()),
        centroid_members: vec![],
    };
    assert!(
        rebuild(&few, csr(&Array2::eye(4)).view(), None).is_err(),
        "row 4 of 4"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let (x, y) = data(5, 10, 4, 3);
    let labels = csr(&y);
    let targets = Labels::new(labels.view());
    let mut nan = csr(&x);
    nan.data_mut()[2] = f32::NAN;
    let refused = CentroidSplitter::new(nan.view(), &targets, &Cosine, params(3)).unwrap_err();
    assert!(matches!(refused, TreeError::NonFinite(_)));
    let columns = csr(&x).to_csc();
    let refused = CentroidSplitter::new(columns.view(), &targets, &Cosine, params(3)).unwrap_err();
    assert_eq!(refused, TreeError::NotCsr { what: "features" });
    let refused = CentroidSplitter::new(csr(&x).view(), &targets, &Cosine, params(0)).unwrap_err();
    assert!(matches!(
        refused,
        TreeError::Parameter(ParameterError::OutOfRange { name: "clusters", .. })
    ));
}
