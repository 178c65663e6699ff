//! Helpers shared by the tests of this crate. Every test file compiles them and uses what it needs.

pub(crate) mod cases;
pub(crate) mod entropy;
pub(crate) mod random;

use ndarray::{Array2, Axis};
use rpo_core::{CsrMatrix, Matrix, MatrixView, Seed};
use rpo_tree::criterion::{Criterion, LabelCountVariance, SparseVariance, Variance};
use rpo_tree::splitter::{AxisParams, AxisSplitter, NodeRows, ProposedSplit, Splitter};
use rpo_tree::{
    AxisRule, GrowParams, Grown, LeafBuilder, LeafKind, LeafModel, Node, RankedFeatures, Row, Rule,
    Structure, Tree, grow,
};
use std::sync::Arc;

/// Returns the entries of a matrix that differ from zero, including missing values.
pub(crate) fn csr(a: &Array2<f32>) -> CsrMatrix {
    MatrixView::from(a).to_csr()
}

/// Returns the rows of positive weight.
pub(crate) fn weighted_rows(weights: &[f32]) -> Vec<u32> {
    (0..weights.len() as u32)
        .filter(|&i| weights[i as usize] > 0.0)
        .collect()
}

/// Grows an axis-aligned tree.
pub(crate) fn grow_axis<C: Criterion + Sync>(
    columns: &RankedFeatures,
    criterion: C,
    weights: &[f32],
    axis: AxisParams,
    params: &GrowParams,
    seed: Seed,
) -> Grown<AxisRule> {
    let splitter = AxisSplitter::new(columns, criterion, axis).unwrap();
    grow(
        &splitter,
        &mut splitter.workspace(),
        weighted_rows(weights),
        params,
        seed,
    )
    .unwrap()
}

/// A splitter that splits every node individually: it neither copies subtrees nor grows them whole.
pub(crate) struct NodeByNode<'s, S>(pub(crate) &'s S);

impl<S: Splitter> Splitter for NodeByNode<'_, S> {
    type Rule = S::Rule;
    type Workspace = S::Workspace;

    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn workspace(&self) -> S::Workspace {
        self.0.workspace()
    }

    fn begin(&self, workspace: &mut S::Workspace) {
        self.0.begin(workspace);
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        workspace: &mut S::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<S::Rule>> {
        self.0.split(node, workspace, children)
    }

    fn opened(&self, parent: usize, children: &[(NodeRows<'_>, bool)], workspace: &mut S::Workspace) {
        self.0.opened(parent, children, workspace);
    }
}

/// A training set in its dense form.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub(crate) x: Array2<f32>,
    pub(crate) y: Array2<f32>,
    pub(crate) weights: Vec<f32>,
}

/// The layouts in which the features and the targets of a [`Data`] are passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) sparse_x: bool,
    pub(crate) sparse_y: bool,
}

impl Layout {
    pub(crate) const DENSE: Self = Self {
        sparse_x: false,
        sparse_y: false,
    };
    pub(crate) const ALL: [Self; 4] = [
        Self::DENSE,
        Self {
            sparse_x: true,
            sparse_y: false,
        },
        Self {
            sparse_x: false,
            sparse_y: true,
        },
        Self {
            sparse_x: true,
            sparse_y: true,
        },
    ];
}

impl Data {
    pub(crate) fn unweighted(x: Array2<f32>, y: Array2<f32>) -> Self {
        let weights = vec![1.0; x.nrows()];
        Self { x, y, weights }
    }

    /// Returns true if no two rows have the same features and no feature is missing.
    pub(crate) fn has_distinct_rows(&self) -> bool {
        let mut rows: Vec<Vec<f32>> = self.x.rows().into_iter().map(|row| row.to_vec()).collect();
        rows.sort_by(|a, b| a.partial_cmp(b).expect("no value is missing"));
        rows.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Returns the given rows, in the given order.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        Self {
            x: self.x.select(Axis(0), rows),
            y: self.y.select(Axis(0), rows),
            weights: rows.iter().map(|&i| self.weights[i]).collect(),
        }
    }

    /// Grows a tree on the summed variance of `y`; sparse labels are also counted, with the same result.
    pub(crate) fn grow(
        &self,
        layout: Layout,
        axis: AxisParams,
        params: &GrowParams,
        seed: Seed,
    ) -> Grown<AxisRule> {
        let (x, y) = (csr(&self.x), csr(&self.y));
        let x = if layout.sparse_x {
            MatrixView::Sparse(x.view())
        } else {
            (&self.x).into()
        };
        let columns = RankedFeatures::new(x, &[]).unwrap();
        if layout.sparse_y {
            let criterion = SparseVariance::new(y.view(), &self.weights);
            let grown = grow_axis(&columns, criterion, &self.weights, axis, params, seed);
            if let Some(counts) = LabelCountVariance::of(y.view(), &self.weights) {
                let by_counts = grow_axis(&columns, counts, &self.weights, axis, params, seed);
                assert!(by_counts == grown, "counting labels changes nothing");
            }
            grown
        } else {
            let criterion = Variance::new(self.y.view(), &self.weights);
            grow_axis(&columns, criterion, &self.weights, axis, params, seed)
        }
    }

    /// Returns the training rows of each node, in node order, routed one by one.
    pub(crate) fn rows_of_nodes(&self, structure: &Structure<AxisRule>) -> Vec<Vec<u32>> {
        let mut rows_of = vec![Vec::new(); structure.nodes().len()];
        for i in weighted_rows(&self.weights) {
            let row = self.x.row(i as usize).to_vec();
            let mut node = 0;
            loop {
                rows_of[node].push(i);
                match &structure.nodes()[node] {
                    Node::Leaf(_) => break,
                    Node::Split { rule, first_child } => {
                        node = *first_child as usize
                            + rule.child(Row {
                                values: &row,
                                stored: None,
                            });
                    }
                }
            }
        }
        rows_of
    }

    /// Sum of the weights of rows.
    pub(crate) fn weight(&self, rows: &[u32]) -> f64 {
        rows.iter().map(|&i| f64::from(self.weights[i as usize])).sum()
    }

    /// Weighted mean of `y` over rows.
    pub(crate) fn mean(&self, rows: &[u32]) -> Vec<f64> {
        let weight = self.weight(rows);
        let share = |i: u32| f64::from(self.weights[i as usize]) / weight;
        (0..self.y.ncols())
            .map(|j| {
                rows.iter()
                    .map(|&i| share(i) * f64::from(self.y[[i as usize, j]]))
                    .sum()
            })
            .collect()
    }

    /// Computes |S| Var(S) in two passes: the weighted squared distances to the mean, summed over outputs.
    pub(crate) fn spread(&self, rows: &[u32]) -> f64 {
        let mean = self.mean(rows);
        rows.iter()
            .map(|&i| {
                let distance: f64 = mean
                    .iter()
                    .zip(self.y.row(i as usize))
                    .map(|(m, &v)| (f64::from(v) - m).powi(2))
                    .sum();
                f64::from(self.weights[i as usize]) * distance
            })
            .sum()
    }
}

/// Returns the prediction of a leaf in `f64`.
pub(crate) fn answer(leaves: &impl LeafModel, leaf: u32) -> Vec<f64> {
    let mut sums = vec![0.0; leaves.n_outputs()];
    leaves.for_each(leaf, |j, v| sums[j as usize] += v);
    sums
}

/// Returns the targets as outputs for labelling.
pub(crate) fn outputs(data: &Data) -> Arc<Matrix> {
    Arc::new(data.y.clone().into())
}

/// Makes a tree that predicts the targets it was grown on.
pub(crate) fn label(data: &Data, grown: &Grown<AxisRule>, kind: LeafKind) -> Tree<AxisRule> {
    let leaves = kind.build(&grown.members, &data.weights, &outputs(data)).unwrap();
    Tree::new(grown.structure.clone(), leaves).unwrap()
}
