//! Growing the trees of a forest.

use super::model::{ForestTree, Importances};
use super::options::FitOptions;
use super::params::{CriterionKind, ForestParams};
use crate::error::EnsembleError;
use crate::missing;
use crate::projection::ProjectionScope;
use crate::sampling::subset::{size, subset};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, Axis};
use rpo_core::{CsrMatrix, CsrView, Matrix, MatrixView, ParameterError, Seed};
use rpo_projections::ProjectionInput;
use rpo_tree::RankedFeatures;
use rpo_tree::criterion::{
    Criterion, Entropy, LabelCountVariance, LabelEntropy, ObservedVariance, PackedLabelVariance,
    SingleVariance, SparseObservedVariance, SparseVariance, Variance, WeightedEntropy, XLogXTable,
};
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
use rpo_tree::{AxisRule, Grown, LeafKind, Leaves, Tree, grow};
use std::sync::Arc;

/// What is made of the features, for any outputs.
pub(crate) struct TrainingFeatures<'a> {
    /// The features themselves, for projections that learn from them.
    x: MatrixView<'a>,
    columns: RankedFeatures,
    /// For entropies.
    k_log_k: XLogXTable,
}

impl<'a> TrainingFeatures<'a> {
    pub(crate) fn new(params: &ForestParams, x: MatrixView<'a>) -> Result<Self, EnsembleError> {
        let most = match params.criterion {
            CriterionKind::Entropy => x.n_rows(),
            _ => 0,
        };
        Ok(Self {
            x,
            columns: RankedFeatures::new(x)?,
            k_log_k: XLogXTable::up_to(most),
        })
    }

    pub(crate) fn columns(&self) -> &RankedFeatures {
        &self.columns
    }
}

/// What the trees of a forest have in common.
pub(crate) struct Training<'a, 'x> {
    params: &'a ForestParams,
    features: &'a TrainingFeatures<'x>,
    /// The outputs that leaves answer with.
    outputs: Arc<Matrix>,
    targets: Targets,
    weights: Option<&'a [f32]>,
    leaves: LeafKind,
    /// If outputs are missing: the mean of each over the rows that know it.
    known_means: Option<Vec<f32>>,
}

/// What trees grow on; dense numbers far from zero are centred.
enum Targets {
    /// One output; NaN where it is missing.
    Single(Vec<f32>),
    /// Several.
    Outputs(Matrix),
    /// The labels of an entropy.
    Labels(CsrMatrix),
    /// To be projected for each tree.
    Projected(Matrix),
    /// Projected for all trees.
    Shared(Array2<f32>),
}

impl<'a, 'x> Training<'a, 'x> {
    /// For outputs that were checked.
    pub(crate) fn new(
        params: &'a ForestParams,
        features: &'a TrainingFeatures<'x>,
        y: MatrixView<'_>,
        options: FitOptions<'a>,
    ) -> Result<Self, EnsembleError> {
        let known_means =
            (options.missing_outputs && y.has_missing()).then(|| missing::known_means(y, options.weights));
        Ok(Self {
            params,
            features,
            outputs: Arc::new(y.to_owned()),
            targets: targets(params, features.x, y, options, known_means.is_some())?,
            weights: options.weights,
            leaves: leaf_kind(params, y, known_means.is_some())?,
            known_means,
        })
    }

    /// The tree of an index.
    pub(crate) fn tree(&self, index: usize) -> Result<(ForestTree, Importances), EnsembleError> {
        let params = self.params;
        let seed = params.seed.purpose("tree").child(index as u64);
        let n_rows = self.features.columns.n_rows();
        let mut weights = params.rows.resolve(n_rows).counts(seed, n_rows);
        if let Some(given) = self.weights {
            weights.iter_mut().zip(given).for_each(|(w, g)| *w *= g);
        }
        if weights.iter().all(|w| *w == 0.0) {
            return Err(EnsembleError::EmptyBag { tree: index });
        }
        let grown = match &self.targets {
            Targets::Single(target) => {
                leave_out_missing(target, &mut weights);
                self.grow_on_one(target, &weights, seed)
            }
            Targets::Shared(projected) => self.grow_on_numbers(projected.view(), &weights, seed),
            Targets::Projected(outputs) => {
                let projected = project(params, self.features.x, outputs, index)?;
                self.grow_on_numbers(projected.view(), &weights, seed)
            }
            Targets::Labels(y) => {
                let entropy = LabelEntropy::new(y.view(), &weights, self.features.k_log_k.clone());
                self.grow(entropy, y.cols(), &weights, seed)
            }
            Targets::Outputs(Matrix::Dense(y)) if self.known_means.is_some() => {
                let criterion = ObservedVariance::new(y.view(), &weights);
                self.grow(criterion, y.ncols(), &weights, seed)
            }
            Targets::Outputs(Matrix::Sparse(y)) if self.known_means.is_some() => {
                let criterion = SparseObservedVariance::new(y.view(), &weights);
                self.grow(criterion, y.cols(), &weights, seed)
            }
            Targets::Outputs(Matrix::Dense(y)) => self.grow_on_numbers(y.view(), &weights, seed),
            Targets::Outputs(Matrix::Sparse(y)) => self.grow_on_labels(y.view(), &weights, seed),
        }?;
        let importances = Importances::new(&grown.importances(self.features.columns.n_features()));
        let (kind, structure, members) = (self.leaves, &grown.structure, &grown.members);
        let leaves = match &self.known_means {
            None => Leaves::label(kind, members, &weights, &self.outputs),
            Some(means) => Leaves::label_observed(kind, structure, members, &weights, &self.outputs, means),
        }?;
        Ok((
            ForestTree {
                tree: Tree::new(grown.structure, leaves)?,
                seed,
            },
            importances,
        ))
    }

    fn grow_on_one(
        &self,
        target: &[f32],
        weights: &[f32],
        seed: Seed,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        if self.params.criterion == CriterionKind::Entropy {
            let positive = target.iter().map(|&v| v == 1.0);
            match Entropy::weighted(positive.clone(), weights, self.features.k_log_k.clone()) {
                Some(entropy) => self.grow(entropy, 1, weights, seed),
                None => self.grow(WeightedEntropy::new(positive, weights), 1, weights, seed),
            }
        } else {
            // What is missing counts only where nothing is known, and then must be equal.
            let values = target.iter().map(|&v| if v.is_nan() { 0.0 } else { v });
            self.grow(SingleVariance::new(values, weights), 1, weights, seed)
        }
    }

    fn grow_on_numbers<'y>(
        &self,
        y: ArrayView2<'y, f32>,
        weights: &'y [f32],
        seed: Seed,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        if y.ncols() == 1 {
            let target = y.column(0);
            self.grow(
                SingleVariance::new(target.iter().copied(), weights),
                1,
                weights,
                seed,
            )
        } else {
            self.grow(Variance::new(y, weights), y.ncols(), weights, seed)
        }
    }

    /// Grows on sparse outputs with the fastest criterion that fits them; all give the same tree.
    fn grow_on_labels(
        &self,
        y: CsrView<'_>,
        weights: &[f32],
        seed: Seed,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        let d = y.cols();
        if let Some(lanes) = PackedLabelVariance::<1>::new(y, weights) {
            self.grow(lanes, d, weights, seed)
        } else if let Some(lanes) = PackedLabelVariance::<2>::new(y, weights) {
            self.grow(lanes, d, weights, seed)
        } else if let Some(lanes) = PackedLabelVariance::<4>::new(y, weights) {
            self.grow(lanes, d, weights, seed)
        } else if let Some(counts) = LabelCountVariance::new(y, weights) {
            self.grow(counts, d, weights, seed)
        } else {
            self.grow(SparseVariance::new(y, weights), d, weights, seed)
        }
    }

    fn grow<C: Criterion + Sync>(
        &self,
        criterion: C,
        n_targets: usize,
        weights: &[f32],
        seed: Seed,
    ) -> Result<Grown<AxisRule>, EnsembleError> {
        let (params, columns) = (self.params, &self.features.columns);
        let rows: Vec<u32> = (0..weights.len() as u32)
            .filter(|&i| weights[i as usize] > 0.0)
            .collect();
        let total: f64 = rows.iter().map(|&i| f64::from(weights[i as usize])).sum();
        // Of 0/1 labels the variance is half of Gini's impurity.
        let unit = match params.criterion {
            CriterionKind::Gini => 0.5,
            CriterionKind::Variance | CriterionKind::Entropy => 1.0,
        };
        let p = columns.n_features();
        let n_features = size(params.feature_share, p);
        let axis = AxisParams {
            max_features: Some(params.max_features.resolve(n_features)),
            min_samples_leaf: params.min_samples_leaf,
            min_gain: params.min_impurity_decrease * unit * total * n_targets as f64,
            thresholds: params.thresholds,
        };
        let features = subset(p, n_features, seed.purpose("features"));
        let mut splitter = AxisSplitter::new(columns, criterion, axis)?;
        if n_features < p {
            splitter = splitter.on(&features)?;
        }
        Ok(grow(
            &splitter,
            &mut splitter.workspace(),
            rows,
            &params.grow,
            seed.purpose("grow"),
        ))
    }
}

/// Takes the rows that do not know a target out of a bag, unless nothing would be left.
fn leave_out_missing(target: &[f32], weights: &mut [f32]) {
    let known = |(weight, target): (&f32, &f32)| *weight > 0.0 && !target.is_nan();
    if weights.iter().zip(target).any(known) {
        let missing = weights.iter_mut().zip(target).filter(|(_, t)| t.is_nan());
        missing.for_each(|(weight, _)| *weight = 0.0);
    }
}

fn targets(
    params: &ForestParams,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    options: FitOptions<'_>,
    is_partial: bool,
) -> Result<Targets, EnsembleError> {
    if y.n_cols() == 1 && params.projection.is_none() {
        let mut target = Array1::zeros(y.n_rows());
        for (row, target) in target.iter_mut().enumerate() {
            y.copy_row(row, std::slice::from_mut(target));
        }
        let is_label = |v: &f32| *v == 0.0 || *v == 1.0 || v.is_nan();
        if !target.iter().all(is_label) {
            centre(target.view_mut());
        }
        return Ok(Targets::Single(target.into_raw_vec_and_offset().0));
    }
    let entropy = params.criterion == CriterionKind::Entropy;
    let mut targets = match y {
        MatrixView::Dense(y) if !entropy => {
            let mut centred = y.as_standard_layout().into_owned();
            centred.axis_iter_mut(Axis(1)).for_each(centre);
            Matrix::Dense(centred)
        }
        y => y.to_owned(),
    };
    if let Some(projection) = &params.projection {
        if is_partial {
            let means = missing::known_means(targets.view(), options.weights);
            missing::fill(&mut targets, &means);
        }
        return Ok(match projection.scope {
            ProjectionScope::Shared => Targets::Shared(project(params, x, &targets, 0)?),
            ProjectionScope::Tree => Targets::Projected(targets),
        });
    }
    Ok(match (entropy, is_partial) {
        (false, _) => Targets::Outputs(targets),
        (true, false) => Targets::Labels(y.to_csr()),
        (true, true) => {
            let expected = "variance or single targets, as labels are missing";
            return Err(ParameterError::out_of_range("criterion", params.criterion, expected).into());
        }
    })
}

fn leaf_kind(params: &ForestParams, y: MatrixView<'_>, is_partial: bool) -> Result<LeafKind, EnsembleError> {
    match (params.leaves, is_partial) {
        (Some(LeafKind::Samples), true) => {
            let expected = "dense or sparse leaves, as outputs are missing";
            Err(ParameterError::out_of_range("leaves", "samples", expected).into())
        }
        (Some(kind), _) => Ok(kind),
        (None, true) => Ok(match y {
            MatrixView::Dense(_) => LeafKind::Dense,
            MatrixView::Sparse(_) => LeafKind::Sparse,
        }),
        (None, false) => Ok(default_leaves(params, y)),
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

/// Draws the projection of a tree and applies it. The shared projection is that of tree 0.
fn project(
    params: &ForestParams,
    x: MatrixView<'_>,
    targets: &Matrix,
    index: usize,
) -> Result<Array2<f32>, EnsembleError> {
    let projection = params.projection.as_ref().expect("called with a projection");
    let n_components = projection.components.resolve(targets.n_cols())?;
    let seed = params.seed.purpose("projection").child(index as u64);
    let data = ProjectionInput {
        features: Some(x.reborrow()),
        outputs: targets.view(),
    };
    let map = projection.family.fit(data, n_components, seed)?;
    Ok(map.apply(targets.view())?)
}

/// Subtracts from a column far from zero its mean.
///
/// No split gain depends on it, and sums of such targets would lose the digits in which the targets differ. Where
/// the mean is not several times the standard deviation nothing would be lost, and the targets stay as they are:
/// subtracting rounds values that are not near the mean. Sparse targets keep their zeros and are left alone. What is
/// missing stays so and has no part in the mean.
fn centre(mut column: ArrayViewMut1<'_, f32>) {
    let known = || column.iter().filter(|v| !v.is_nan()).map(|&v| f64::from(v));
    let n = known().count() as f64;
    let mean = known().sum::<f64>() / n;
    let variance = known().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    if mean * mean > 16.0 * variance {
        column.mapv_inplace(|v| (f64::from(v) - mean) as f32);
    }
}
