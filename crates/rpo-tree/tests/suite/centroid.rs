//! Centroid nodes: properties of the trees they make.

use super::common::csr;
use ndarray::{Array2, Axis};
use proptest::prelude::*;
use rpo_core::store::{Restore, Sizes, Store, StoreError, Writer};
use rpo_core::{CsrMatrix, CsrView, MatrixView, ParameterError, Seed, csr_row};
use rpo_tree::centroid::{
    CentroidParams, CentroidRule, CentroidSplitter, ClusterTargets, Cosine, Euclidean, NodeSample,
    RecordedTree, RouteBuffers, Routing, StoredCentroids,
};
use rpo_tree::cluster::Points;
use rpo_tree::splitter::Splitter;
use rpo_tree::{GrowParams, Grown, Node, TreeError, grow, grow_parallel};
use std::cell::Cell;

/// Unmodified labels; `names` gives the name under which each is known.
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

/// Makes sparse features and labels of a few overlapping topics.
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
    let mut params = CentroidParams::default();
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
    let splitter =
        CentroidSplitter::new(x.view(), targets, routing, params, StoredCentroids::Weights).unwrap();
    let rows = (0..x.rows() as u32).collect();
    grow(
        &splitter,
        &mut splitter.workspace(),
        rows,
        &leaves_of(5),
        Seed::new(seed),
    )
    .unwrap()
}

/// Returns the training rows per leaf as sets that do not depend on the numbering of leaves.
fn partition(grown: &Grown<CentroidRule>) -> Vec<Vec<u32>> {
    let members = &grown.members;
    let mut leaves: Vec<_> = (0..members.n_leaves()).map(|l| members[l].to_vec()).collect();
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
        // The rule that grew the tree routes dense and sparse rows the same way.
        for view in [(&x).into(), MatrixView::Sparse(sparse.view())] {
            let reached = grown.structure.apply(view).unwrap();
            for leaf in 0..grown.members.n_leaves() {
                prop_assert!(!grown.members[leaf].is_empty());
                for &row in &grown.members[leaf] {
                    prop_assert_eq!(reached[row as usize] as usize, leaf);
                }
            }
        }
        for node in grown.structure.nodes() {
            if let Node::Split { rule, .. } = node {
                prop_assert!((2..=k).contains(&rpo_tree::Rule::arity(rule)));
                let most = max.unwrap_or(usize::MAX);
                for child in 0..rpo_tree::Rule::arity(rule) as u16 {
                    let has = |i: &usize| rule.entries_of(*i).any(|(c, _)| c == child);
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
            // Powers of two cause no rounding, so near ties cannot change.
            row *= [0.25, 8.0, 1.0, 1024.0][i % 4];
        }
        let grow = |x: &Array2<f32>| grow_on(&csr(x), &Labels::new(labels.view()), &Cosine, params(6), seed);
        prop_assert_eq!(partition(&grow(&x)), partition(&grow(&scaled)));
    }

    /// Compared with the rules that grew the tree. There are more than enough rows for sums to be subtracted from a
    /// total.
    #[test]
    fn a_recorded_tree_sends_samples_where_its_rules_do(
        seed in 0_u64..1 << 32,
        n in prop_oneof![Just(150), Just(600)],
        k in 1_usize..20,
        max in prop_oneof![Just(None), Just(Some(4))],
        sample in prop_oneof![Just(NodeSample::Count(60)), Just(NodeSample::Share(1.0)), Just(NodeSample::Share(0.3))],
        peeled in any::<bool>(),
        spread in prop_oneof![4 => Just(1), 1 => Just(40_000)],
    ) {
        let (x, mut y) = data(seed, n, 40, 20);
        if peeled {
            // Mostly one label: nodes split off a few rows.
            y.column_mut(0).fill(1.0);
            for (i, mut row) in y.rows_mut().into_iter().enumerate() {
                if i % 8 > 0 {
                    row.slice_mut(ndarray::s![1..]).fill(0.0);
                }
            }
        }
        let (unseen, _) = data(seed + 1, 70, 40, 20);
        // Widely spaced columns leave no room for tables.
        let p = 40 * spread;
        let spread = |x: &Array2<f32>| {
            let x = csr(x);
            let columns = x.indices().iter().map(|&j| j * spread as u32).collect();
            CsrMatrix::new((x.rows(), p), x.indptr().raw_storage().to_vec(), columns, x.data().to_vec())
        };
        let (x, labels, unseen) = (spread(&x), csr(&y), spread(&unseen));
        let params = CentroidParams { centroid_entries: max, node_sample: sample, ..params(k) };
        let targets = Labels::new(labels.view());
        let [grown, recorded] = [StoredCentroids::Weights, StoredCentroids::Members].map(|stored| {
            let splitter = CentroidSplitter::new(x.view(), &targets, &Cosine, params, stored).unwrap();
            let rows = (0..n as u32).collect();
            grow(&splitter, &mut splitter.workspace(), rows, &leaves_of(5), Seed::new(seed)).unwrap()
        });
        let recorded = RecordedTree::of(&recorded.structure, recorded.members, max).unwrap();
        prop_assert_eq!((recorded.n_nodes, recorded.depth), (grown.structure.nodes().len(), grown.structure.depth()));
        prop_assert_eq!(recorded.members(), &grown.members);
        let load = |rows: &[u32], push: &mut dyn FnMut(&[u32], &[f32])| {
            for &row in rows {
                let view = x.view();
                let (columns, values) = csr_row(&view, row as usize);
                push(columns, values);
            }
        };
        let mut work = RouteBuffers::default();
        for samples in [&x, &unseen] {
            let view = samples.view();
            let expected = grown.structure.apply(MatrixView::Sparse(view)).unwrap();
            let mut leaves = vec![u32::MAX; samples.rows()];
            recorded.leaves(p, n, &load, |i| csr_row(&view, i), &mut work, &mut leaves);
            prop_assert_eq!(&leaves, &expected);
            // One at a time, the samples go the same way.
            for (i, leaf) in expected.iter().enumerate().step_by(37) {
                recorded.leaves(p, n, &load, |_| csr_row(&view, i), &mut work, &mut leaves[..1]);
                prop_assert_eq!(leaves[0], *leaf);
            }
        }
        // Unless requested, a tree records nothing, and is otherwise the same.
        let plain = grow_on(&x, &targets, &Cosine, params, seed);
        prop_assert_eq!(&plain.members, &grown.members);
        if plain.members.n_leaves() > 1 {
            prop_assert_eq!(RecordedTree::of(&plain.structure, plain.members, max), None);
        }
    }

    #[test]
    fn names_of_labels_do_not_matter(seed in 0_u64..1 << 32) {
        let (x, y) = data(seed, 120, 40, 20);
        let x = csr(&x);
        // Label j is stored at 19 - j, but under the same name.
        let turned: Array2<f32> = y.select(Axis(1), &(0..20).rev().collect::<Vec<_>>());
        let (labels, turned) = (csr(&y), csr(&turned));
        let plain = grow_on(&x, &Labels::new(labels.view()), &Cosine, params(6), seed);
        let renamed = Labels { labels: turned.view(), names: (0..20).rev().collect() };
        prop_assert_eq!(plain, grow_on(&x, &renamed, &Cosine, params(6), seed));
    }
}

#[test]
fn centroids_of_large_nodes_are_kept() {
    let (x, y) = data(3, 9000, 30, 20);
    let (x, y) = (csr(&x), csr(&y));
    let targets = Labels::new(y.view());
    let [grown, recorded] = [StoredCentroids::Weights, StoredCentroids::Members].map(|stored| {
        let splitter = CentroidSplitter::new(x.view(), &targets, &Cosine, params(3), stored).unwrap();
        let rows = (0..9000).collect();
        grow(
            &splitter,
            &mut splitter.workspace(),
            rows,
            &leaves_of(500),
            Seed::new(1),
        )
        .unwrap()
    });
    let recorded = RecordedTree::of(&recorded.structure, recorded.members, Some(1000)).unwrap();
    let view = x.view();
    let expected = grown.structure.apply(MatrixView::Sparse(view)).unwrap();
    let loaded = Cell::new(0);
    let load = |rows: &[u32], push: &mut dyn FnMut(&[u32], &[f32])| {
        loaded.set(loaded.get() + rows.len());
        for &row in rows {
            let (columns, values) = csr_row(&view, row as usize);
            push(columns, values);
        }
    };
    let mut work = RouteBuffers::default();
    let mut leaves = vec![0; 9000];
    recorded.leaves(30, 9000, &load, |i| csr_row(&view, i), &mut work, &mut leaves);
    assert_eq!(leaves, expected);
    assert_eq!(loaded.replace(0), 9000);
    recorded.leaves(30, 9000, &load, |i| csr_row(&view, i), &mut work, &mut leaves);
    assert_eq!(leaves, expected);
    // Starting from the root, one sample needs no more than the rows of a small node.
    loaded.set(0);
    recorded.leaves(
        30,
        9000,
        &load,
        |i| csr_row(&view, i),
        &mut work,
        &mut leaves[..1],
    );
    assert_eq!(leaves[0], expected[0]);
    assert!(loaded.get() <= 4096, "{} rows", loaded.get());
}

#[test]
fn subtrees_in_parallel_are_the_same_tree() {
    let (x, y) = data(3, 9000, 30, 20);
    let (x, y) = (csr(&x), csr(&y));
    let targets = Labels::new(y.view());
    let splitter =
        CentroidSplitter::new(x.view(), &targets, &Cosine, params(3), StoredCentroids::Weights).unwrap();
    let rows: Vec<u32> = (0..9000).collect();
    let alone = grow(
        &splitter,
        &mut splitter.workspace(),
        rows.clone(),
        &leaves_of(50),
        Seed::new(1),
    )
    .unwrap();
    assert!(
        alone.structure.depth() > 2,
        "children are large enough to be split off"
    );
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let together =
            pool.install(|| grow_parallel(&splitter, rows.clone(), &leaves_of(50), Seed::new(1)).unwrap());
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
    // Different rows with the same direction: all go one way in every attempt.
    let lengths = Array2::from_shape_fn((60, 20), |(i, _)| (1 + i) as f32);
    check(&lengths, &y, 4, "one direction");
    let labels = csr(&y);
    let splitter_of = |max_depth| {
        let x = csr(&x);
        let targets = Labels::new(labels.view());
        let splitter =
            CentroidSplitter::new(x.view(), &targets, &Cosine, params(2), StoredCentroids::Weights).unwrap();
        let params = GrowParams {
            max_depth,
            ..GrowParams::default()
        };
        let rows = (0..60).collect();
        let grown = grow(&splitter, &mut splitter.workspace(), rows, &params, Seed::new(1)).unwrap();
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

/// Restores a recorded tree of 5 training samples from its arrays.
fn restored(
    children: &[u32],
    codes: &[u32],
    rows: &[u32],
    sizes: &[u32],
) -> Result<RecordedTree, StoreError> {
    let mut out = Writer::default();
    out.array("node.kind", children).unwrap();
    out.array("split.centroid", codes).unwrap();
    out.array("leaf.row", rows).unwrap();
    out.array("leaf.size", sizes).unwrap();
    let stored = out.finish().unwrap();
    let (mut from, n_train) = (stored.reader(), 5);
    let sizes = Sizes {
        n_train,
        n_features: 5,
        n_outputs: 1,
    };
    RecordedTree::restore(&mut from, sizes)
}

#[test]
fn records_that_contradict_themselves_are_refused() {
    let (rows, sizes) = ([0, 3, 1, 2, 4], [2, 2, 1]);
    let record = |children: &[u32], codes: &[u32]| restored(children, codes, &rows, &sizes);
    let root = [1, 2, 1, 1, 0];
    let chain = record(&[2, 0, 2, 0, 0], &[1, 2, 1, 1, 0, 2, 1, 0]).unwrap();
    assert_eq!(
        (chain.n_nodes, chain.members().n_leaves(), chain.depth),
        (5, 3, 2)
    );
    let mut out = Writer::default();
    chain.store(&mut out).unwrap();
    let stored = out.finish().unwrap();
    let kinds = stored.reader().array::<u32>("node.kind").unwrap().to_vec();
    assert_eq!(kinds, [2, 0, 2, 0, 0]);
    assert_eq!(record(&[3, 0, 0, 0], &[1, 2, 0, 0, 3]).unwrap().n_nodes, 4);
    for (children, codes) in [
        (&[][..], &[][..]),
        (&[2, 0, 0], &root),
        (&[2, 0, 2, 0], &root),
        (&[2, 0, 2, 0, 0, 0], &root),
        (&[2, 0, 9, 0, 0], &root),
        (&[2, 0, u32::MAX, 0, 0], &root),
        (&[1, 3, 0, 0, 0], &[1, 1, 1, 1, 1, 1, 2, 0, 0, 3]),
        (&[3, 0, 0, 0], &[1, 2, 0, 0]),
        (&[3, 0, 0, 0], &[1, 2, 0, 0, 3, 1]),
        (&[3, 0, 0, 0], &[1, 2, 0, 0, 4]),
        (&[3, 0, 0, 0], &[1, 2, 0, 0, 1 << 20]),
        (&[3, 0, 0, 0], &[1, 2, 0, 0, 2]),
    ] {
        assert!(record(children, codes).is_err(), "{children:?} {codes:?}");
    }
    for (rows, sizes) in [
        (&[0, 3, 1, 2][..], &[2, 2, 1][..]),
        (&[0, 3, 1, 2, 5], &[2, 2, 1]),
        (&[0, 3, 1, 2, 0], &[2, 2, 1]),
        (&[3, 0, 1, 2, 4], &[2, 2, 1]),
        (&[0, 3, 1, 2, 4], &[2, u32::MAX, 1]),
    ] {
        let codes = [1, 2, 0, 0, 3];
        assert!(
            restored(&[3, 0, 0, 0], &codes, rows, sizes).is_err(),
            "{rows:?} {sizes:?}"
        );
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (x, y) = data(5, 10, 4, 3);
    let labels = csr(&y);
    let targets = Labels::new(labels.view());
    let mut nan = csr(&x);
    nan.data_mut()[2] = f32::NAN;
    let refused = CentroidSplitter::new(nan.view(), &targets, &Cosine, params(3), StoredCentroids::Weights)
        .unwrap_err();
    assert!(matches!(refused, TreeError::NonFinite(_)));
    let columns = csr(&x).to_csc();
    let refused = CentroidSplitter::new(
        columns.view(),
        &targets,
        &Cosine,
        params(3),
        StoredCentroids::Weights,
    )
    .unwrap_err();
    assert_eq!(refused, TreeError::from(rpo_core::NotCsr { what: "features" }));
    let refused = CentroidSplitter::new(
        csr(&x).view(),
        &targets,
        &Cosine,
        params(0),
        StoredCentroids::Weights,
    )
    .unwrap_err();
    assert!(matches!(
        refused,
        TreeError::Parameter(ParameterError::OutOfRange { name: "clusters", .. })
    ));
}
