//! Growing a forest.

use crate::EnsembleError;
use crate::forest::{Forest, ForestTree, Importances};
use crate::missing;
use crate::params::{ForestParams, ProjectionScope, ValidForestParams};
use ndarray::{Array2, Axis};
use rand::Rng;
use rayon::prelude::*;
use rpo_core::{CsrView, Matrix, MatrixView, Seed};
use rpo_projections::LinearMap;
use rpo_tree::columns::Columns;
use rpo_tree::criterion::{
    Criterion, LabelCounts, LabelLanes, MaskedVariance, SparseMaskedVariance, SparseVariance, Variance,
};
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
use rpo_tree::{AxisRule, Grown, LeafKind, Leaves, Tree, TreeError, check_csr, grow};
use std::sync::Arc;

/// What a fit may be given beside features and outputs. Default neither.
#[derive(Clone, Copy, Default)]
pub struct FitOptions<'a> {
    /// One weight per row, finite and not negative; `None` means 1. A bootstrap draws rows whatever their
    /// weight and multiplies its counts by it.
    pub weights: Option<&'a [f32]>,
    /// Called whenever a tree is finished, from any thread.
    pub on_tree: Option<&'a (dyn Fn() + Sync)>,
    /// Whether outputs may be missing: NaN, in CSR a stored NaN, as what is not stored is a known 0. Otherwise, the
    /// default, they are refused: NaN by mistake would change silently what is learnt.
    ///
    /// A missing output takes no part in its row: splits are scored by, and leaves answer with, the rows that know
    /// an output ([`MaskedVariance`], [`Leaves::label_known`]). With a projection z = Φy, which needs every entry,
    /// trees grow on z with missing outputs at their mean over the rows that know them: if outputs are missing at
    /// random that leaves the mean of z as it would be, and as a constant has no variance to be explained, a
    /// missing entry pulls a split to no side; leaves are labelled with what is known. Leaves then keep means:
    /// they cannot refer to training rows.
    pub missing_outputs: bool,
}

/// Everything the trees of a fit share.
struct Training<'a> {
    params: &'a ForestParams,
    columns: &'a Columns,
    /// The outputs that leaves answer with.
    outputs: Arc<Matrix>,
    /// The outputs to grow on, or to project before: centred if dense and far from zero.
    targets: Matrix,
    shared: Option<Array2<f32>>,
    weights: Option<&'a [f32]>,
    leaves: LeafKind,
    /// If outputs are missing: the mean of each over the rows that know it.
    known_means: Option<Vec<f32>>,
}

impl ValidForestParams {
    /// Fits a forest to features `x` (n x p, NaN for missing) and outputs `y` (n x d).
    ///
    /// Trees grow in parallel on the current rayon pool; the result does not depend on its size. Tree j draws its
    /// bootstrap, its projection and its features from streams of their own, keyed by the seed and j. In-bag rows
    /// with their multiplicities grow the tree and label its leaves.
    ///
    /// Memory beside the forest: the coded features, the outputs, and per thread what one tree needs, m values
    /// per row with a projection. Nothing of n x d is made from sparse outputs.
    ///
    /// # Errors
    /// [`EnsembleError`] for shapes that do not fit, values that are not finite, or parameters that the data
    /// make impossible (more components than a projection allows).
    pub fn fit(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<Forest, EnsembleError> {
        self.fit_with(x, y, FitOptions::default())
    }

    /// [`fit`](Self::fit) with weights or an observer.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and for weights that are not finite, negative, or all zero, or zero for all that
    /// a bootstrap draws ([`EnsembleError::EmptyBag`]), and for leaves that refer to training rows where outputs are
    /// missing.
    pub fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: FitOptions<'_>,
    ) -> Result<Forest, EnsembleError> {
        check_inputs(x, y, options)?;
        self.fit_on(&Columns::new(x)?, y, options)
    }

    /// Fits to coded features, and outputs that were checked.
    pub(crate) fn fit_on(
        &self,
        columns: &Columns,
        y: MatrixView<'_>,
        options: FitOptions<'_>,
    ) -> Result<Forest, EnsembleError> {
        let params = &self.0;
        let known_means =
            (options.missing_outputs && y.has_missing()).then(|| missing::known_means(y, options.weights));
        let leaves = match (params.leaves, &known_means) {
            (Some(LeafKind::Samples), Some(_)) => {
                let (name, given) = ("leaves", "samples".to_owned());
                return Err(EnsembleError::Parameter {
                    name,
                    given,
                    expected: "dense or sparse leaves, as outputs are missing",
                });
            }
            (Some(kind), _) => kind,
            (None, Some(_)) => match y {
                MatrixView::Dense(_) => LeafKind::Dense,
                MatrixView::Sparse(_) => LeafKind::Sparse,
            },
            (None, None) => default_leaves(params, y),
        };
        let outputs = Arc::new(y.to_owned());
        let mut targets = match y {
            MatrixView::Dense(y) => {
                let mut centred = y.as_standard_layout().into_owned();
                centre(&mut centred);
                Matrix::Dense(centred)
            }
            MatrixView::Sparse(_) => y.to_owned(),
        };
        if known_means.is_some() && params.projection.is_some() {
            let means = missing::known_means(targets.view(), options.weights);
            missing::fill(&mut targets, &means);
        }
        let shared = match &params.projection {
            Some(p) if p.scope == ProjectionScope::Shared => Some(project(params, &targets, 0)?),
            _ => None,
        };
        let training = Training {
            params,
            columns,
            outputs,
            targets,
            shared,
            weights: options.weights,
            leaves,
            known_means,
        };
        let grown: Vec<(ForestTree, Importances)> = (0..params.n_trees)
            .into_par_iter()
            .map(|i| {
                let tree = training.tree(params.first_tree + i);
                if let Some(on_tree) = options.on_tree {
                    on_tree();
                }
                tree
            })
            .collect::<Result<_, EnsembleError>>()?;
        let mut importances = Importances::zero(columns.n_features());
        let mut trees = Vec::with_capacity(grown.len());
        for (tree, part) in grown {
            importances.add(&part);
            trees.push(tree);
        }
        Forest::from_parts(
            trees,
            importances,
            params.bootstrap,
            columns.n_rows(),
            columns.n_features(),
            y.n_cols(),
        )
    }
}

impl Training<'_> {
    fn tree(&self, index: usize) -> Result<(ForestTree, Importances), EnsembleError> {
        let params = self.params;
        let seed = params.seed.purpose("tree").child(index as u64);
        let n_rows = self.columns.n_rows();
        let mut weights = if params.bootstrap {
            bootstrap_counts(seed, n_rows)
        } else {
            vec![1.0; n_rows]
        };
        if let Some(given) = self.weights {
            weights.iter_mut().zip(given).for_each(|(w, g)| *w *= g);
        }
        if weights.iter().all(|w| *w == 0.0) {
            return Err(EnsembleError::EmptyBag { tree: index });
        }
        let partial = self.known_means.is_some();
        let grown = match (&params.projection, &self.shared, &self.targets) {
            (Some(_), Some(shared), _) => self.grow(Variance::new(shared.view(), &weights), &weights, seed),
            (Some(_), None, targets) => {
                let projected = project(params, targets, index)?;
                self.grow(Variance::new(projected.view(), &weights), &weights, seed)
            }
            (None, _, Matrix::Dense(y)) if partial => {
                self.grow(MaskedVariance::new(y.view(), &weights), &weights, seed)
            }
            (None, _, Matrix::Sparse(y)) if partial => {
                self.grow(SparseMaskedVariance::new(y.view(), &weights), &weights, seed)
            }
            (None, _, Matrix::Dense(y)) => self.grow(Variance::new(y.view(), &weights), &weights, seed),
            (None, _, Matrix::Sparse(y)) => self.grow_on_labels(y.view(), &weights, seed),
        }?;
        let importances = Importances::new(&grown.importances(self.columns.n_features()));
        let (kind, structure, members) = (self.leaves, &grown.structure, &grown.members);
        let leaves = match &self.known_means {
            None => Leaves::label(kind, members, &weights, &self.outputs),
            Some(means) => Leaves::label_known(kind, structure, members, &weights, &self.outputs, means),
        }?;
        Ok((
            ForestTree {
                tree: Tree::new(grown.structure, leaves)?,
                seed,
            },
            importances,
        ))
    }

    /// Grows on sparse outputs with the fastest criterion that fits them; all give the same tree.
    fn grow_on_labels(
        &self,
        y: CsrView<'_>,
        weights: &[f32],
        seed: Seed,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        if let Some(lanes) = LabelLanes::<1>::new(y, weights) {
            self.grow(lanes, weights, seed)
        } else if let Some(lanes) = LabelLanes::<2>::new(y, weights) {
            self.grow(lanes, weights, seed)
        } else if let Some(lanes) = LabelLanes::<4>::new(y, weights) {
            self.grow(lanes, weights, seed)
        } else if let Some(counts) = LabelCounts::new(y, weights) {
            self.grow(counts, weights, seed)
        } else {
            self.grow(SparseVariance::new(y, weights), weights, seed)
        }
    }

    fn grow<C: Criterion + Sync>(
        &self,
        criterion: C,
        weights: &[f32],
        seed: Seed,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        let params = self.params;
        let rows: Vec<u32> = (0..weights.len() as u32)
            .filter(|&i| weights[i as usize] > 0.0)
            .collect();
        let n_targets = match (&params.projection, &self.shared) {
            (_, Some(shared)) => shared.ncols(),
            (Some(p), None) => p.components.resolve(self.targets.n_cols())?,
            (None, None) => self.targets.n_cols(),
        };
        let total: f64 = rows.iter().map(|&i| f64::from(weights[i as usize])).sum();
        let axis = AxisParams {
            max_features: Some(params.max_features.resolve(self.columns.n_features())),
            min_samples_leaf: params.min_samples_leaf,
            min_gain: params.min_impurity_decrease * total * n_targets as f64,
            thresholds: params.thresholds,
        };
        let splitter = AxisSplitter::new(self.columns, criterion, axis)?;
        Ok(grow(
            &splitter,
            &mut splitter.workspace(),
            rows,
            &params.grow,
            seed.purpose("grow"),
        ))
    }
}

/// How often each of n rows is drawn by the bootstrap of a tree: n draws with replacement.
pub(crate) fn bootstrap_counts(tree: Seed, n_rows: usize) -> Vec<f32> {
    let mut rng = tree.purpose("bootstrap").rng();
    let mut counts = vec![0.0; n_rows];
    for _ in 0..n_rows {
        counts[rng.gen_range(0..n_rows as u32) as usize] += 1.0;
    }
    counts
}

/// Draws the projection of a tree and applies it. The shared projection is that of tree 0.
fn project(params: &ForestParams, targets: &Matrix, index: usize) -> Result<Array2<f32>, EnsembleError> {
    let projection = params.projection.as_ref().expect("called with a projection");
    let n_components = projection.components.resolve(targets.n_cols())?;
    let seed = params.seed.purpose("projection").child(index as u64);
    let map: Box<dyn LinearMap> = projection.family.fit(targets.view(), n_components, seed)?;
    Ok(map.apply(targets.view())?)
}

/// Subtracts from each column far from zero its mean.
///
/// No split gain depends on it, and sums of such targets would lose the digits in which the targets differ. Where
/// the mean is not several times the standard deviation nothing would be lost, and the targets stay as they are:
/// subtracting rounds values that are not near the mean. Sparse targets keep their zeros and are left alone. What is
/// missing stays so and has no part in the mean.
fn centre(y: &mut Array2<f32>) {
    for mut column in y.axis_iter_mut(Axis(1)) {
        let known = || column.iter().filter(|v| !v.is_nan()).map(|&v| f64::from(v));
        let n = known().count() as f64;
        let mean = known().sum::<f64>() / n;
        let variance = known().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        if mean * mean > 16.0 * variance {
            column.mapv_inplace(|v| (f64::from(v) - mean) as f32);
        }
    }
}

fn default_leaves(params: &ForestParams, y: MatrixView<'_>) -> LeafKind {
    let grow = &params.grow;
    let few_rows = grow.max_depth.is_none()
        && grow.max_leaves.is_none()
        && grow.min_samples_split <= 16
        && params.min_samples_leaf <= 8
        && params.min_impurity_decrease == 0.0;
    match y {
        // A leaf's mean then has hardly more labels than the leaf has rows, and often fewer.
        MatrixView::Sparse(y) if y.nnz() <= 2 * y.rows() => LeafKind::Sparse,
        _ if few_rows => LeafKind::Samples,
        MatrixView::Dense(_) => LeafKind::Dense,
        MatrixView::Sparse(_) => LeafKind::Sparse,
    }
}

/// Checks what a forest is fitted to.
pub(crate) fn check_inputs(
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    options: FitOptions<'_>,
) -> Result<(), EnsembleError> {
    if options.missing_outputs {
        check_partial(x, y, options.weights)
    } else {
        check(x, y, options.weights)
    }
}

pub(crate) fn check(
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    weights: Option<&[f32]>,
) -> Result<(), EnsembleError> {
    check_shapes(x, y)?;
    y.check_finite().map_err(EnsembleError::Outputs)?;
    weights.map_or(Ok(()), |weights| check_weights(weights, x.n_rows()))
}

/// [`check`] where outputs may be missing.
fn check_partial(x: MatrixView<'_>, y: MatrixView<'_>, weights: Option<&[f32]>) -> Result<(), EnsembleError> {
    check_shapes(x, y)?;
    y.check_finite_or_missing().map_err(EnsembleError::Outputs)?;
    weights.map_or(Ok(()), |weights| check_weights(weights, x.n_rows()))
}

/// Checks that features and outputs are of the same rows, stored by rows, with at least one output.
pub(crate) fn check_shapes(x: MatrixView<'_>, y: MatrixView<'_>) -> Result<(), EnsembleError> {
    if x.n_rows() != y.n_rows() {
        return mismatch("rows of outputs for the rows of features", x.n_rows(), y.n_rows());
    }
    if y.n_cols() == 0 {
        return mismatch("number of outputs of at least", 1, 0);
    }
    check_csr("features", x)?;
    check_csr("outputs", y)?;
    Ok(())
}

/// Checks that there is a weight per row, finite and not negative, and not all zero.
pub(crate) fn check_weights(weights: &[f32], n_rows: usize) -> Result<(), EnsembleError> {
    if weights.len() != n_rows {
        return mismatch("weights for the rows of features", n_rows, weights.len());
    }
    if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        let value = weights[row];
        return Err(TreeError::Weight { row, value }.into());
    }
    if weights.iter().all(|w| *w == 0.0) {
        return Err(TreeError::NoWeight.into());
    }
    Ok(())
}

pub(crate) fn mismatch(what: &'static str, expected: usize, given: usize) -> Result<(), EnsembleError> {
    Err(EnsembleError::Mismatch {
        what,
        expected,
        given,
    })
}
