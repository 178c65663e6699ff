//! Rebuilds the trees of scikit-learn.
//!
//! `RPO_FIXTURES` names a folder with `tree_variance.json` and `tree_gini.json`; their layout is described in the
//! folder's README. Gini impurity of 0/1 labels is twice their variance, so the variance criteria grow those trees too;
//! for entropy, the criteria of one and of several labels are tested, and one from outside the crate.

use super::common::cases::{Case, TheirTree, Tolerance, matrix, read};
use super::common::entropy::Entropy as OutsideEntropy;
use super::common::{Data, answer, csr, grow_axis};
use ndarray::Array2;
use rpo_core::{Matrix, MatrixView, Seed};
use rpo_tree::criterion::{
    Criterion, Entropy, LabelCountVariance, LabelEntropy, SingleVariance, SparseVariance, Variance,
    WeightedEntropy, XLogXTable,
};
use rpo_tree::splitter::AxisParams;
use rpo_tree::{
    AxisRule, GrowParams, Grown, LeafBuilder, LeafKind, Leaves, Node, RankedFeatures, Structure, Tree,
};
use serde_json::Value;
use std::sync::Arc;

fn threshold(value: &Value) -> f32 {
    match value {
        Value::String(text) if text == "inf" => f32::INFINITY,
        other => other.as_f64().expect("a number or \"inf\"") as f32,
    }
}

/// One case, with the ratio of its impurity to the criterion's.
struct Check<'a> {
    case: &'a Case,
    tolerance: &'a Tolerance,
    data: Data,
    x_test: Array2<f32>,
    /// Ratio of the criterion's impurity to the fixture's, which is a mean over outputs.
    unit: f64,
}

impl<'a> Check<'a> {
    fn new(case: &'a Case, tolerance: &'a Tolerance) -> Self {
        let x = matrix(&case.x);
        let y = Array2::from_shape_fn((x.nrows(), case.y[0].len()), |(i, j)| case.y[i][j]);
        let d = y.ncols() as f64;
        let mut data = Data::unweighted(x, y);
        if let Some(weights) = &case.sample_weight {
            data.weights.clone_from(weights);
        }
        let gini = case.criterion.as_deref() == Some("gini");
        Self {
            case,
            tolerance,
            data,
            x_test: matrix(&case.x_test),
            unit: if gini { d / 2.0 } else { d },
        }
    }

    fn run(&self) {
        let (x, y) = (csr(&self.data.x), csr(&self.data.y));
        let dense = RankedFeatures::new((&self.data.x).into(), &[]).unwrap();
        let sparse = RankedFeatures::new(MatrixView::Sparse(x.view()), &[]).unwrap();
        let weights = &self.data.weights;
        let binary = self.data.y.iter().all(|v| *v == 0.0 || *v == 1.0);
        let whole = weights.iter().all(|w| w.fract() == 0.0);
        let mut grown = Vec::new();
        for columns in [&dense, &sparse] {
            if self.case.criterion.as_deref() == Some("entropy") {
                let outside = self.grow(columns, OutsideEntropy::new(self.data.y.view(), weights));
                let table = XLogXTable::up_to(self.data.x.nrows());
                let labels = self.grow(columns, LabelEntropy::new(y.view(), weights, table.clone()));
                self.check(&outside);
                if self.data.y.ncols() == 1 {
                    let positive = self.data.y.iter().map(|&v| v == 1.0);
                    let one = match Entropy::weighted(positive.clone(), weights, table) {
                        Some(counts) => self.grow(columns, counts),
                        None => self.grow(columns, WeightedEntropy::new(positive, weights)),
                    };
                    assert_eq!(one, labels, "{}: one label", self.case.name);
                }
                grown.push(labels);
                continue;
            }
            let by_dense = self.grow(columns, Variance::new(self.data.y.view(), weights));
            let by_sparse = self.grow(columns, SparseVariance::new(y.view(), weights));
            if binary && whole {
                let counts = LabelCountVariance::of(y.view(), weights).expect("labels and whole weights");
                assert_eq!(by_dense, by_sparse, "{}: layouts of targets", self.case.name);
                assert_eq!(by_dense, self.grow(columns, counts), "{}: counts", self.case.name);
            }
            self.check(&by_sparse);
            if self.data.y.ncols() == 1 {
                let one = self.grow(columns, SingleVariance::new(self.data.y.iter().copied(), weights));
                assert_eq!(by_dense, one, "{}: one target", self.case.name);
            }
            grown.push(by_dense);
        }
        assert_eq!(grown[0], grown[1], "{}: layouts of features", self.case.name);
        self.check(&grown[0]);
    }

    fn grow<C: Criterion + Sync>(&self, columns: &RankedFeatures, criterion: C) -> Grown<AxisRule> {
        let params = &self.case.params;
        let total: f64 = self.data.weights.iter().map(|&w| f64::from(w)).sum();
        let axis = AxisParams {
            min_samples_leaf: params.min_samples_leaf,
            min_gain: params.min_impurity_decrease * total * self.unit,
            ..AxisParams::default()
        };
        let limits = GrowParams {
            max_depth: params.max_depth,
            min_samples_split: params.min_samples_split,
            max_leaves: params.max_leaf_nodes,
        };
        grow_axis(
            columns,
            criterion,
            &self.data.weights,
            axis,
            &limits,
            Seed::new(0),
        )
    }

    fn check(&self, grown: &Grown<AxisRule>) {
        let (name, expected) = (&self.case.name, &self.case.expected);
        let structure = &grown.structure;
        if let Some(n_leaves) = expected.n_leaves {
            assert_eq!(structure.n_leaves(), n_leaves, "{name}: leaves");
        }
        if let Some(depth) = expected.depth {
            assert_eq!(structure.depth(), depth, "{name}: depth");
        }
        if let Some(importances) = &expected.feature_importances {
            let found = grown.importances(self.data.x.ncols());
            let tolerance = self.tolerance.importances_absolute;
            self.close(&found, importances, tolerance, "importances");
        }
        let outputs = Arc::new(Matrix::from(self.data.y.clone()));
        let leaves = LeafKind::Samples
            .build(&grown.members, &self.data.weights, &outputs)
            .unwrap();
        if let Some(tree) = &expected.tree {
            let rows = self.data.rows_of_nodes(structure);
            let walk = Walk {
                check: self,
                grown,
                theirs: tree,
                rows: &rows,
                leaves: &leaves,
            };
            walk.node(0, 0);
        }
        let test = expected
            .test_probability_of_1
            .as_ref()
            .or(expected.test_predictions.as_ref());
        for (x, expected) in [
            (&self.data.x, expected.train_predictions.as_ref()),
            (&self.x_test, test),
        ] {
            if let Some(expected) = expected {
                self.check_predictions(structure, &leaves, x, expected);
            }
        }
    }

    /// In `f64`, as leaves predict, to the tolerance of the file; then in `f32`, as trees predict, to its rounding; for
    /// both layouts of the rows.
    fn check_predictions(
        &self,
        structure: &Structure<AxisRule>,
        leaves: &Leaves,
        x: &Array2<f32>,
        expected: &[Vec<f64>],
    ) {
        let tree = Tree::new(structure.clone(), leaves.clone()).unwrap();
        let sparse = csr(x);
        assert_eq!(expected.len(), x.nrows());
        for view in [x.into(), MatrixView::Sparse(sparse.view())] {
            for (leaf, expected) in tree.structure().apply(view).unwrap().into_iter().zip(expected) {
                let tolerance = self.tolerance.predictions_absolute;
                self.close(&answer(leaves, leaf), expected, tolerance, "leaf answer");
            }
            for (row, expected) in tree.predict(view).unwrap().rows().into_iter().zip(expected) {
                for (&found, &expected) in row.iter().zip(expected) {
                    let tolerance =
                        self.tolerance.predictions_absolute + expected.abs() * f64::from(f32::EPSILON);
                    let error = (f64::from(found) - expected).abs();
                    assert!(error <= tolerance, "{}: {found} for {expected}", self.case.name);
                }
            }
        }
    }

    fn close(&self, found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
        assert_eq!(found.len(), expected.len(), "{}: {what}", self.case.name);
        for (f, e) in found.iter().zip(expected) {
            assert!(
                (f - e).abs() <= tolerance,
                "{}: {what} {f} for {e}",
                self.case.name
            );
        }
    }
}

/// Compares both trees side by side, from the root.
struct Walk<'a> {
    check: &'a Check<'a>,
    grown: &'a Grown<AxisRule>,
    theirs: &'a TheirTree,
    rows: &'a [Vec<u32>],
    leaves: &'a Leaves,
}

impl Walk<'_> {
    fn node(&self, ours: usize, theirs: usize) {
        let (check, tree) = (self.check, self.theirs);
        let (name, rows) = (&check.case.name, &self.rows[ours]);
        let here = format!("{name}, their node {theirs}");
        assert_eq!(rows.len(), tree.n_node_samples[theirs], "{here}: samples");
        let tolerance = check.tolerance.predictions_absolute;
        check.close(
            &[check.data.weight(rows)],
            &[tree.weighted_n_node_samples[theirs]],
            tolerance,
            "weight",
        );
        check.close(&check.data.mean(rows), &tree.value[theirs], tolerance, "value");
        match &self.grown.structure.nodes()[ours] {
            Node::Leaf(leaf) => {
                assert_eq!(tree.feature[theirs], -1, "{here}: theirs is split");
                assert_eq!(&self.grown.members[*leaf as usize], rows, "{here}: members");
                check.close(
                    &answer(self.leaves, *leaf),
                    &tree.value[theirs],
                    tolerance,
                    "leaf",
                );
            }
            Node::Split { rule, first_child } => {
                assert_eq!(i64::from(rule.feature()), tree.feature[theirs], "{here}: feature");
                assert_eq!(
                    rule.threshold(),
                    threshold(&tree.threshold[theirs]),
                    "{here}: threshold"
                );
                assert_eq!(
                    Some(rule.missing_left()),
                    tree.missing_go_to_left[theirs],
                    "{here}: side of missing values"
                );
                let (left, right) = (tree.children_left[theirs], tree.children_right[theirs]);
                self.check_gain(ours, theirs, &[left as usize, right as usize]);
                self.node(*first_child as usize, left as usize);
                self.node(*first_child as usize + 1, right as usize);
            }
        }
        if check.case.criterion.as_deref() != Some("entropy") {
            let impurity = check.data.spread(rows) / check.data.weight(rows) / check.unit;
            let tolerance = check.tolerance.impurity_absolute;
            check.close(&[impurity], &[tree.impurity[theirs]], tolerance, "impurity");
        }
    }

    /// The gain of our split is the decrease of the weighted impurity of the other.
    fn check_gain(&self, ours: usize, theirs: usize, children: &[usize]) {
        let tree = self.theirs;
        let spread = |node: usize| tree.weighted_n_node_samples[node] * tree.impurity[node];
        let decrease = spread(theirs) - children.iter().map(|&c| spread(c)).sum::<f64>();
        let found = self.grown.gains[ours] / self.check.unit;
        let tolerance = self.check.tolerance.impurity_absolute * tree.weighted_n_node_samples[theirs];
        self.check.close(&[found], &[decrease], tolerance, "gain");
    }
}

fn rebuild(file: &str) {
    let Some(fixture) = read(file) else { return };
    for case in &fixture.cases {
        Check::new(case, &fixture.header.tolerance).run();
    }
}

#[test]
fn trees_of_least_variance() {
    rebuild("tree_variance.json");
}

#[test]
fn trees_of_least_gini_impurity_and_entropy() {
    rebuild("tree_gini.json");
}

/// Returns the gain of a criterion for moving `left`, per unit of weight.
fn gain(mut criterion: impl Criterion, n_rows: usize, left: &[u32]) -> f64 {
    criterion.start(&(0..n_rows as u32).collect::<Vec<_>>());
    left.iter().for_each(|&row| criterion.move_row(row));
    criterion.gain(criterion.score()) / n_rows as f64
}

#[test]
fn gains_of_every_threshold() {
    let Some(fixture) = read("tree_gini.json") else {
        return;
    };
    let tolerance = fixture
        .header
        .tolerance
        .gain_absolute
        .expect("a tolerance for gains");
    for table in &fixture.gain_tables {
        let n = table.x.len();
        let labels = Array2::from_shape_vec((n, 1), table.y.clone()).unwrap();
        let sparse = csr(&labels);
        let weights = vec![1.0; n];
        let table_of_logs = XLogXTable::up_to(n);
        let column = |name: &str| table.columns.iter().position(|c| c == name).expect("a column");
        for split in &table.splits {
            let threshold = split[column("threshold")];
            let left: Vec<u32> = (0..n as u32)
                .filter(|&i| f64::from(table.x[i as usize]) <= threshold)
                .collect();
            let gini = split[column("gini_decrease")];
            let entropy = split[column("entropy_decrease_bits")];
            // Gini impurity is twice the variance.
            let found = [
                2.0 * gain(Variance::new(labels.view(), &weights), n, &left) - gini,
                2.0 * gain(SparseVariance::new(sparse.view(), &weights), n, &left) - gini,
                gain(OutsideEntropy::new(labels.view(), &weights), n, &left) - entropy,
                gain(
                    LabelEntropy::new(sparse.view(), &weights, table_of_logs.clone()),
                    n,
                    &left,
                ) - entropy,
            ];
            for error in found {
                assert!(
                    error.abs() <= tolerance,
                    "{} at {threshold}: off by {error}",
                    table.name
                );
            }
        }
    }
}
