//! The interfaces from outside: splitters, a criterion and a leaf model defined outside the crate.

use super::common::entropy::Entropy;
use super::common::random::{Cells, Targets, any_axis, data};
use super::common::{Data, csr, grow_axis, weighted_rows};
use ndarray::{Array2, ArrayView1, Axis, array};
use proptest::prelude::*;
use rand::RngCore;
use rpo_core::{Matrix, MatrixView, Mismatch, Seed};
use rpo_tree::criterion::{Criterion, Variance};
use rpo_tree::splitter::{AxisParams, AxisSearch, NodeRows, ProposedSplit, Splitter};
use rpo_tree::{
    AxisRule, GrowParams, Grown, LeafBuilder, LeafKind, LeafMembers, LeafModel, Node, RankedFeatures, Row,
    Rule, Structure, Tree, TreeError, grow,
};
use std::sync::Arc;

fn grow_with<S: Splitter>(splitter: &S, weights: &[f32], params: &GrowParams, seed: u64) -> Grown<S::Rule> {
    let rows = weighted_rows(weights);
    grow(splitter, &mut splitter.workspace(), rows, params, Seed::new(seed)).unwrap()
}

/// Checks that every row is routed to the leaf that holds it, from dense and from sparse rows.
fn check_routing<R: Rule>(grown: &Grown<R>, x: &Array2<f32>) {
    let sparse = csr(x);
    for view in [x.into(), MatrixView::Sparse(sparse.view())] {
        let leaf_of = grown.structure.apply(view).unwrap();
        for leaf in 0..grown.members.n_leaves() {
            let rows = &grown.members[leaf];
            assert!(!rows.is_empty());
            assert!(rows.iter().all(|&row| leaf_of[row as usize] as usize == leaf));
        }
    }
}

fn predict<R: Rule>(grown: &Grown<R>, data: &Data) -> Array2<f32> {
    let outputs = Arc::new(Matrix::from(data.y.clone()));
    let leaves = LeafKind::Samples
        .build(&grown.members, &data.weights, &outputs)
        .unwrap();
    Tree::new(grown.structure.clone(), leaves)
        .unwrap()
        .predict((&data.x).into())
        .unwrap()
}

/// Returns a value as hyperplanes and centroids read it: missing counts as 0.
fn present(value: f32) -> f32 {
    if value.is_nan() { 0.0 } else { value }
}

/// A sparse hyperplane: samples with a larger weighted sum of a few features go to child 1.
#[derive(Debug, Clone, PartialEq)]
struct Hyperplane {
    terms: Vec<(u32, f32)>,
    threshold: f32,
}

impl Hyperplane {
    fn sum(&self, row: Row<'_>) -> f32 {
        let term = |&(j, w): &(u32, f32)| w * present(row.values[j as usize]);
        self.terms.iter().map(term).sum()
    }
}

impl Rule for Hyperplane {
    fn arity(&self) -> usize {
        2
    }

    fn child(&self, row: Row<'_>) -> usize {
        usize::from(self.sum(row) > self.threshold)
    }

    fn n_features(&self) -> usize {
        self.terms.iter().map(|(j, _)| *j as usize + 1).max().unwrap_or(0)
    }
}

/// Tries hyperplanes x_i + x_j and x_i - x_j through random pairs of features, each at its best threshold.
struct Oblique<'a> {
    data: &'a Data,
    n_directions: usize,
}

impl<'a> Splitter for Oblique<'a> {
    type Rule = Hyperplane;
    /// The criterion, and (sum, row) along a direction.
    type Workspace = (Variance<'a>, Vec<(f32, u32)>);

    fn n_rows(&self) -> usize {
        self.data.x.nrows()
    }

    fn workspace(&self) -> Self::Workspace {
        let data = self.data;
        (Variance::new(data.y.view(), &data.weights), Vec::new())
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        (criterion, along): &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<Hyperplane>> {
        criterion.start(node.rows);
        if criterion.is_pure() {
            return None;
        }
        let row = |i: u32| self.data.x.row(i as usize).to_vec();
        let mut rng = node.seed.purpose("directions").stream();
        let mut best: Option<(f64, Hyperplane)> = None;
        for _ in 0..self.n_directions {
            let [i, j, sign] = [(); 3].map(|()| rng.next_u32());
            let p = self.data.x.ncols() as u32;
            let mut plane = Hyperplane {
                terms: vec![(i % p, 1.0), (j % p, if sign % 2 == 0 { 1.0 } else { -1.0 })],
                threshold: 0.0,
            };
            along.clear();
            along.extend(node.rows.iter().map(|&i| {
                (
                    plane.sum(Row {
                        values: &row(i),
                        stored: None,
                    }),
                    i,
                )
            }));
            along.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            criterion.clear();
            for (k, &(sum, i)) in along.iter().enumerate() {
                criterion.move_row(i);
                let Some(&(next, _)) = along.get(k + 1) else { break };
                let score = criterion.score();
                if sum < next && best.as_ref().is_none_or(|(b, _)| score > *b) {
                    plane.threshold = sum;
                    best = Some((score, plane.clone()));
                }
            }
        }
        let (score, rule) = best?;
        for (child, &i) in children.iter_mut().zip(node.rows) {
            *child = rule.child(Row {
                values: &row(i),
                stored: None,
            }) as u16;
        }
        let gain = criterion.gain(score);
        Some(ProposedSplit { rule, gain })
    }
}

/// The nearest of several centroids; among equally near ones the first.
#[derive(Debug, Clone, PartialEq)]
struct Nearest {
    centroids: Array2<f32>,
}

impl Nearest {
    fn of(&self, values: ArrayView1<'_, f32>) -> usize {
        let distance = |centroid: ArrayView1<'_, f32>| -> f32 {
            let square = |(c, &v): (&f32, &f32)| (c - present(v)).powi(2);
            centroid.iter().zip(values).map(square).sum()
        };
        let distances = self.centroids.rows().into_iter().map(distance).enumerate();
        distances
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("some centroid")
            .0
    }
}

impl Rule for Nearest {
    fn arity(&self) -> usize {
        self.centroids.nrows()
    }

    fn child(&self, row: Row<'_>) -> usize {
        self.of(row.values.into())
    }

    fn n_features(&self) -> usize {
        self.centroids.ncols()
    }
}

/// Lloyd's k-means on the features of a node, from random rows; clusters that lose all rows are dropped.
struct KMeans<'a> {
    data: &'a Data,
    k: usize,
    passes: usize,
}

impl KMeans<'_> {
    fn centroids(&self, rows: &[u32], child_of: &[usize], k: usize) -> Array2<f32> {
        let mut centroids = Array2::zeros((k, self.data.x.ncols()));
        for child in 0..k {
            let members: Vec<u32> = rows
                .iter()
                .zip(child_of)
                .filter(|(_, c)| **c == child)
                .map(|(row, _)| *row)
                .collect();
            for &i in &members {
                let row = self.data.x.row(i as usize).mapv(present);
                centroids
                    .row_mut(child)
                    .scaled_add(1.0 / members.len() as f32, &row);
            }
        }
        centroids
    }
}

impl Splitter for KMeans<'_> {
    type Rule = Nearest;
    /// Nothing is kept between nodes.
    type Workspace = ();

    fn n_rows(&self) -> usize {
        self.data.x.nrows()
    }

    fn workspace(&self) {}

    fn split(&self, node: NodeRows<'_>, (): &mut (), children: &mut [u16]) -> Option<ProposedSplit<Nearest>> {
        let (data, rows) = (self.data, node.rows);
        if data.spread(rows) == 0.0 {
            return None;
        }
        let mut rng = node.seed.purpose("centroids").stream();
        let first: Vec<usize> = (0..self.k)
            .map(|_| rows[rng.next_u32() as usize % rows.len()] as usize)
            .collect();
        let mut rule = Nearest {
            centroids: data.x.select(Axis(0), &first).mapv(present),
        };
        for pass in 0..=self.passes {
            let nearest: Vec<usize> = rows.iter().map(|&i| rule.of(data.x.row(i as usize))).collect();
            let held: Vec<usize> = (0..rule.arity()).filter(|c| nearest.contains(c)).collect();
            if held.len() < 2 {
                return None;
            }
            // If a centroid that is nearest to no row is removed, the others stay nearest for their rows.
            rule.centroids = rule.centroids.select(Axis(0), &held);
            let child_of: Vec<usize> = nearest
                .iter()
                .map(|c| held.binary_search(c).expect("a child that is held"))
                .collect();
            if pass < self.passes {
                rule.centroids = self.centroids(rows, &child_of, held.len());
                continue;
            }
            children
                .iter_mut()
                .zip(child_of)
                .for_each(|(child, c)| *child = c as u16);
        }
        let of_child = |c: u16| -> Vec<u32> {
            rows.iter()
                .zip(&*children)
                .filter(|(_, child)| **child == c)
                .map(|(row, _)| *row)
                .collect()
        };
        let left: f64 = (0..rule.arity() as u16).map(|c| data.spread(&of_child(c))).sum();
        let gain = data.spread(rows) - left;
        Some(ProposedSplit { rule, gain })
    }
}

/// Splits each node by one output drawn for it, as in methods whose targets change from node to node: a custom
/// criterion with the search of the crate.
struct OneOutput<'a> {
    data: &'a Data,
    columns: &'a RankedFeatures,
}

impl Splitter for OneOutput<'_> {
    type Rule = AxisRule;
    type Workspace = AxisSearch;

    fn n_rows(&self) -> usize {
        self.columns.n_rows()
    }

    fn workspace(&self) -> AxisSearch {
        AxisSearch::new(self.columns, None)
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        search: &mut AxisSearch,
        children: &mut [u16],
    ) -> Option<ProposedSplit<AxisRule>> {
        let y = &self.data.y;
        let varies = |j: &usize| {
            node.rows
                .iter()
                .any(|&i| y[[i as usize, *j]] != y[[node.rows[0] as usize, *j]])
        };
        let varying: Vec<usize> = (0..y.ncols()).filter(varies).collect();
        if varying.is_empty() {
            return None;
        }
        let output = varying[node.seed.purpose("output").hash(0) as usize % varying.len()];
        let target = y.select(Axis(1), &[output]);
        let mut criterion = Variance::new(target.view(), &self.data.weights);
        criterion.start(node.rows);
        let params = AxisParams::default();
        search.search(self.columns, node, &mut criterion, None, &params, children)
    }
}

/// Each leaf predicts the medians of its rows (the lower of two).
struct Medians {
    values: Array2<f32>,
}

impl Medians {
    fn label(members: &LeafMembers, y: &Array2<f32>) -> Self {
        let median = |(leaf, j): (usize, usize)| {
            let mut values: Vec<f32> = members[leaf].iter().map(|&i| y[[i as usize, j]]).collect();
            values.sort_by(f32::total_cmp);
            values[(values.len() - 1) / 2]
        };
        Self {
            values: Array2::from_shape_fn((members.n_leaves(), y.ncols()), median),
        }
    }
}

impl LeafModel for Medians {
    fn n_leaves(&self) -> usize {
        self.values.nrows()
    }

    fn n_outputs(&self) -> usize {
        self.values.ncols()
    }

    fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        let row = self.values.row(leaf as usize);
        row.iter().enumerate().for_each(|(j, &v)| f(j as u32, v.into()));
    }
}

/// Makes distinct rows whose targets depend on the side of x0 + x1 = 0 on which they lie.
fn diagonal() -> Data {
    let mut rng = Seed::new(2).stream();
    let x = Array2::from_shape_fn((80, 2), |_| rng.next_u32() as f32 / u32::MAX as f32 - 0.5);
    let y = x.map_axis(Axis(1), |row| f32::from(u8::from(row.sum() > 0.0)));
    Data::unweighted(x, y.insert_axis(Axis(1)))
}

#[test]
fn one_hyperplane_parts_what_many_axes_do_not() {
    let data = diagonal();
    let oblique = Oblique {
        data: &data,
        n_directions: 16,
    };
    let grown = grow_with(&oblique, &data.weights, &GrowParams::default(), 1);
    assert_eq!(grown.structure.n_leaves(), 2);
    check_routing(&grown, &data.x);
    assert_eq!(predict(&grown, &data), data.y);
    let axis = data.grow(
        super::common::Layout::DENSE,
        AxisParams::default(),
        &GrowParams::default(),
        Seed::new(1),
    );
    assert!(axis.structure.n_leaves() > 5);
}

/// Three clusters, one split into three children; a limit on leaves counts them all.
#[test]
fn nearest_centroids_part_clusters() {
    let mut rng = Seed::new(3).stream();
    let x = Array2::from_shape_fn((60, 2), |(i, j)| {
        let centre = [[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]][i % 3][j];
        centre + rng.next_u32() as f32 / u32::MAX as f32
    });
    let y = Array2::from_shape_fn((60, 3), |(i, j)| f32::from(u8::from(i % 3 == j)));
    let data = Data::unweighted(x, y);
    let k_means = KMeans {
        data: &data,
        k: 6,
        passes: 4,
    };
    let grown = grow_with(&k_means, &data.weights, &GrowParams::default(), 5);
    let Node::Split { rule, .. } = &grown.structure.nodes()[0] else {
        panic!("the root is split");
    };
    assert!(rule.arity() >= 3);
    check_routing(&grown, &data.x);
    assert_eq!(predict(&grown, &data), data.y);
    for max_leaves in 1..=12 {
        let params = GrowParams {
            max_leaves: Some(max_leaves),
            ..GrowParams::default()
        };
        let limited = grow_with(&k_means, &data.weights, &params, 5);
        assert!(limited.structure.n_leaves() <= max_leaves);
        assert_eq!(limited.structure.n_leaves() > 1, max_leaves >= rule.arity());
        check_routing(&limited, &data.x);
    }
}

proptest! {
    /// Custom splitters satisfy the guarantees of growing on any data: rows reach the leaf that holds them, and the
    /// order of growth does not matter.
    #[test]
    fn any_splitter_grows_and_routes(
        data in any::<(bool, bool)>().prop_flat_map(|(missing, coarse)| data(25, Cells { missing, coarse }, Targets::Real)),
        seed in any::<u64>(),
    ) {
        fn check<S: Splitter>(splitter: &S, data: &Data, seed: u64) {
            let depth_first = grow_with(splitter, &data.weights, &GrowParams::default(), seed);
            check_routing(&depth_first, &data.x);
            let limit = GrowParams { max_leaves: Some(usize::MAX), ..GrowParams::default() };
            let best_first = grow_with(splitter, &data.weights, &limit, seed);
            check_routing(&best_first, &data.x);
            assert_eq!(predict(&depth_first, data), predict(&best_first, data));
        }
        let columns = RankedFeatures::new((&data.x).into(), &[]).unwrap();
        check(&Oblique { data: &data, n_directions: 3 }, &data, seed);
        check(&KMeans { data: &data, k: 4, passes: 2 }, &data, seed);
        check(&OneOutput { data: &data, columns: &columns }, &data, seed);
    }

    /// A node that some output can split is split, so distinct rows are reproduced exactly.
    #[test]
    fn targets_may_change_from_node_to_node(
        data in data(25, Cells { missing: false, coarse: false }, Targets::Whole),
        seed in any::<u64>(),
    ) {
        let data = Data::unweighted(data.x, data.y);
        prop_assume!(data.has_distinct_rows());
        let columns = RankedFeatures::new((&data.x).into(), &[]).unwrap();
        let grown = grow_with(&OneOutput { data: &data, columns: &columns }, &data.weights, &GrowParams::default(), seed);
        prop_assert_eq!(predict(&grown, &data), data.y);
    }

    /// The search with a custom criterion: both layouts of the features give the same tree, whose gains are the entropy
    /// lost in the leaves.
    #[test]
    fn entropy_is_a_criterion(
        data in any::<(bool, bool)>().prop_flat_map(|(missing, coarse)| data(25, Cells { missing, coarse }, Targets::Labels)),
        axis in any_axis(),
    ) {
        let sparse = csr(&data.x);
        let [a, b] = [(&data.x).into(), MatrixView::Sparse(sparse.view())].map(|x| {
            let criterion = Entropy::new(data.y.view(), &data.weights);
            let columns = RankedFeatures::new(x, &[]).unwrap();
            grow_axis(&columns, criterion, &data.weights, axis, &GrowParams::default(), Seed::new(1))
        });
        prop_assert_eq!(&a, &b);
        let entropy = |rows: &[u32]| -> f64 {
            let bits = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
            let mean = data.mean(rows);
            data.weight(rows) * mean.iter().map(|&p| bits(p) + bits(1.0 - p)).sum::<f64>()
        };
        let left: f64 = (0..a.members.n_leaves()).map(|leaf| entropy(&a.members[leaf])).sum();
        let gained: f64 = a.gains.iter().sum();
        prop_assert!((entropy(&weighted_rows(&data.weights)) - left - gained).abs() < 1e-9);
    }
}

#[test]
fn leaves_may_answer_with_medians() {
    let x = array![[0.0], [1.0], [2.0], [10.0], [11.0]];
    let y = array![[1.0, 0.0], [2.0, 0.0], [30.0, 9.0], [7.0, 5.0], [8.0, 5.0]];
    let rule = AxisRule::new(0, 5.0, false);
    let nodes = vec![Node::Split { rule, first_child: 1 }, Node::Leaf(0), Node::Leaf(1)];
    let structure = Structure::try_from(nodes).unwrap();
    let members = LeafMembers::from_assignment(&structure.apply((&x).into()).unwrap(), 2).unwrap();
    let tree = Tree::new(structure.clone(), Medians::label(&members, &y)).unwrap();
    assert_eq!(
        tree.predict((&array![[1.0], [99.0]]).into()).unwrap(),
        array![[2.0, 0.0], [7.0, 5.0]]
    );
    assert_eq!(tree.into_parts().0, structure);
    let one_leaf = LeafMembers::from_assignment(&[0; 5], 1).unwrap();
    assert!(matches!(
        Tree::new(structure, Medians::label(&one_leaf, &y)),
        Err(TreeError::Mismatch(Mismatch {
            expected: 2,
            given: 1,
            ..
        }))
    ));
}

/// A rule with any number of children that sends every sample to the same one.
#[derive(Debug, Clone, PartialEq)]
struct Constant {
    arity: usize,
    child: u16,
}

impl Rule for Constant {
    fn arity(&self) -> usize {
        self.arity
    }

    fn child(&self, _: Row<'_>) -> usize {
        self.child.into()
    }

    fn n_features(&self) -> usize {
        0
    }
}

impl Splitter for Constant {
    type Rule = Self;
    type Workspace = ();

    fn n_rows(&self) -> usize {
        9
    }

    fn workspace(&self) {}

    fn split(&self, _: NodeRows<'_>, (): &mut (), children: &mut [u16]) -> Option<ProposedSplit<Self>> {
        children.fill(self.child);
        Some(ProposedSplit {
            rule: self.clone(),
            gain: 1.0,
        })
    }
}

#[test]
fn splits_that_do_not_divide_a_node_panic_instead_of_growing_without_end() {
    for (arity, child) in [(1, 0), (2, 0), (2, 1), (2, 2), (2, u16::MAX), (3, 1), (3, 3)] {
        let splitter = Constant { arity, child };
        let grow = || grow_with(&splitter, &[1.0; 9], &GrowParams::default(), 0);
        assert!(std::panic::catch_unwind(grow).is_err(), "{arity} {child}");
    }
}
