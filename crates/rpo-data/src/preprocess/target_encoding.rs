//! Means of targets in place of nominal features.

use super::expansion::{Expansion, Replaced};
use super::{Nominal, PreprocessError, Transform, check_features, check_samples};
use crate::dataset::{Dataset, DatasetError};
use crate::names::Names;
use crate::split::k_fold;
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use rpo_core::{
    DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, Mismatch, ParameterError, Seed, check_dense, finite_or_missing,
};

/// The folds whose samples are encoded by the means of the others.
const FOLDS: usize = 5;

/// The targets of [`Encoding::Target`](super::Encoding::Target): few numbers for each sample of a set. Each nominal feature of
/// three or more values becomes k columns: the means of k targets over the training samples with the value, shrunken towards
/// the mean μ over all training samples in which the feature is observed.
///
/// A value v that n of them have, with the mean ȳ of a target, becomes w ȳ + (1 - w) μ with w = n τ² / (n τ² + σ²). Here
/// σ² is the variance of the target within values and τ² that between them, both estimated for the feature from the
/// analysis of variance of one way with random effects (Searle, Casella and McCulloch 1992, *Variance Components*,
/// section 3.6): σ² = Σ (y - ȳᵥ)² / (N - C) and τ² = (Σ nᵥ (ȳᵥ - μ)² / (C - 1) - σ²) / n₀ for C values and N samples,
/// where n₀ = (N - Σ nᵥ² / N) / (C - 1). This is the empirical Bayes estimate of Micci-Barreca (2001, "A preprocessing
/// scheme for high-cardinality categorical attributes", section 3) with one σ² for all values, as a value that occurs once
/// shows no variance, and would be taken at its word. Where τ² is not positive, or no value is repeated, all become μ. So
/// does a missing value, and one that no training sample has.
///
/// *The training samples themselves* are encoded out of fold ([`Steps::fit_apply`](super::Steps::fit_apply)): each by the other four of five
/// folds, drawn by the seed of the targets. Encoded by means that contain their own targets, a model would trust the
/// columns far more than it may.
///
/// Columns are named `mean(target|feature)`. All samples count the same, whatever their weights. The layout of the features
/// is kept; features of one or two values stay as they are.
///
/// ```
/// use ndarray::array;
/// use rpo_core::Seed;
/// use rpo_data::preprocess::{Encoding, EncodingTargets, Steps, Transform};
/// use rpo_data::{Dataset, Task};
/// let cities = ["Rome", "Oslo", "Bern"].map(String::from).into();
/// let train = Dataset::new(
///     array![[0.0], [0.0], [1.0], [1.0], [2.0]].into(),
///     array![[8.0], [10.0], [1.0], [3.0], [5.0]].into(),
///     Task::Regression,
/// )?.with_nominal([(0, cities)].into())?;
/// let y = train.outputs().view().to_dense(usize::MAX)?;
/// let targets = EncodingTargets::new(y, vec!["price".to_owned()], Seed::new(0))?;
/// let steps = Steps { nominal: Encoding::Target(&targets), ..Steps::default() };
/// let (pipeline, _for_training) = steps.fit_apply(&train)?;
/// let found = pipeline.apply(&train)?.features().view().to_dense(usize::MAX)?;
/// // 9, 2 and 5, nearer to the mean of all, 5.4.
/// assert!((found[[0, 0]] - 8.76).abs() < 0.01 && (found[[2, 0]] - 2.22).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EncodingTargets {
    values: Array2<f32>,
    names: Vec<String>,
    seed: Seed,
}

impl EncodingTargets {
    /// Targets (n x k; NaN where missing) with their names, and the seed of the folds.
    ///
    /// # Errors
    /// [`PreprocessError::Mismatch`] unless there are k names, [`PreprocessError::Parameter`] if k is 0,
    /// [`PreprocessError::Dataset`] for a target that is infinite.
    pub fn new(values: Array2<f32>, names: Vec<String>, seed: Seed) -> Result<Self, PreprocessError> {
        check_names(&names)?;
        Mismatch::check("names of targets", values.ncols(), names.len())?;
        let finite = MatrixView::from(&values).check_values(finite_or_missing);
        finite.map_err(DatasetError::Output)?;
        Ok(Self { values, names, seed })
    }
}

/// The step of [`Encoding::Target`](super::Encoding::Target).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TargetEncoding {
    columns: Expansion,
    targets: Vec<String>,
    /// Of each feature that is replaced.
    means: Vec<Means>,
}

/// The means of k targets for each value of a feature, and then those for a missing one, row by row.
#[derive(Debug, Clone, PartialEq)]
struct Means(Vec<f32>);

impl TargetEncoding {
    /// Learns the means from a set and returns with them the set encoded for training, each sample by the means of the
    /// folds that it is not in.
    pub(super) fn fit_apply(
        data: &Dataset,
        targets: &EncodingTargets,
    ) -> Result<(Self, Dataset), PreprocessError> {
        check_samples(data)?;
        Mismatch::check("samples of the targets", data.n_samples(), targets.values.nrows())?;
        let k = targets.names.len();
        let columns = Expansion::new(data.n_features(), data.nominal().clone(), |_| k);
        for r in columns.replaced() {
            let cells = (r.values.len() + 1).saturating_mul(FOLDS);
            check_dense(cells, k, size_of::<Group>(), DEFAULT_MEMORY_LIMIT)?;
        }
        let (folds, n_folds) = folds(data.n_samples(), targets.seed);
        let positions = positions(data, columns.replaced());
        let features = columns.replaced().par_iter().zip(&positions);
        let learned = features.map(|(r, positions)| {
            let mut groups = vec![Groups::new(r.values.len(), k); n_folds];
            for ((&position, &fold), y) in positions.iter().zip(&folds).zip(targets.values.rows()) {
                if !position.is_nan() {
                    groups[fold].push(position as usize, y);
                }
            }
            let means = |without: Option<usize>| {
                let mut sum = Groups::new(r.values.len(), k);
                let others = (0..n_folds).filter(|&fold| Some(fold) != without);
                others.for_each(|fold| sum.merge(&groups[fold]));
                sum.means()
            };
            let of_folds = (0..n_folds).map(|fold| means(Some(fold)));
            (means(None), of_folds.collect())
        });
        let (means, of_folds): (Vec<Means>, Vec<Vec<Means>>) =
            learned.collect::<Vec<_>>().into_iter().unzip();
        let encoding = Self {
            columns,
            targets: targets.names.clone(),
            means,
        };
        let features =
            encoding.encode_by(data.features().view(), |row, index| &of_folds[index][folds[row]])?;
        let encoded = encoding.replaced(data, features)?;
        Ok((encoding, encoded))
    }

    /// The encoding of this many features, some of them nominal with these values, by means of targets of these names:
    /// those of the values of the first feature, then those where it is missing, and so on.
    pub(super) fn new(
        n_features: usize,
        nominal: Nominal,
        targets: Vec<String>,
        means: &[f32],
    ) -> Result<Self, PreprocessError> {
        check_names(&targets)?;
        check_features(&nominal, n_features)?;
        let columns = Expansion::new(n_features, nominal, |_| targets.len());
        let sizes = columns.replaced().iter();
        let sizes = sizes.map(|r| (r.values.len() + 1).saturating_mul(targets.len()));
        let n_means = sizes.clone().fold(0, usize::saturating_add);
        Mismatch::check("means of targets", n_means, means.len())?;
        let mut rest = means;
        let mut parts = Vec::with_capacity(columns.replaced().len());
        for (r, size) in columns.replaced().iter().zip(sizes) {
            let (part, after) = rest.split_at(size);
            if let Some(&value) = part.iter().find(|mean| !mean.is_finite()) {
                let (feature, value) = (r.feature, value.into());
                return Err(PreprocessError::Moment { feature, value });
            }
            parts.push(Means(part.to_vec()));
            rest = after;
        }
        Ok(Self {
            columns,
            targets,
            means: parts,
        })
    }

    /// Which columns take the place of which features.
    pub(super) fn columns(&self) -> &Expansion {
        &self.columns
    }

    /// The names of the targets.
    pub(super) fn targets(&self) -> &[String] {
        &self.targets
    }

    /// All means, as [`new`](Self::new) takes them.
    pub(super) fn means(&self) -> Vec<f32> {
        self.means.iter().flat_map(|means| &means.0).copied().collect()
    }

    /// Name of a feature in the result, from the names before; `None` beyond the last.
    pub(super) fn feature_name(&self, names: &Names, column: usize) -> Option<String> {
        let name =
            |_: &Replaced, feature: &str, target: usize| format!("mean({}|{feature})", self.targets[target]);
        self.columns.feature_name(names, column, name)
    }

    /// Features (n x p) with means in place of nominal ones.
    pub(super) fn encode(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        self.encode_by(x, |_, index| &self.means[index])
    }

    /// Features by the means that a function of the row and the position among the features that are replaced returns.
    fn encode_by<'a>(
        &self,
        x: MatrixView<'_>,
        means: impl Fn(usize, usize) -> &'a Means,
    ) -> Result<Matrix, PreprocessError> {
        self.columns.expand(x, |matrix, row, index, position| {
            let r = &self.columns.replaced()[index];
            let place = if position.is_nan() {
                r.values.len()
            } else {
                position as usize
            };
            let means = &means(row, index).0[place * r.n_columns..][..r.n_columns];
            for (target, &mean) in means.iter().enumerate() {
                matrix.push((r.first + target) as u32, mean);
            }
        })
    }

    /// The set with encoded features.
    fn replaced(&self, data: &Dataset, features: Matrix) -> Result<Dataset, PreprocessError> {
        let names = (0..self.columns.n_columns()).filter_map(|j| self.feature_name(data.feature_names(), j));
        Ok(data.replace_features(
            features,
            Names::Given(names.collect()),
            self.columns.kept_nominal(),
            self.columns.texts(data.texts()),
        )?)
    }
}

impl Transform for TargetEncoding {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        self.columns.check(data)?;
        self.replaced(data, self.encode(data.features().view())?)
    }
}

/// Refuses an encoding by no target.
fn check_names(names: &[String]) -> Result<(), ParameterError> {
    ParameterError::unless(!names.is_empty(), "targets", names.len(), "at least 1")
}

/// The fold of each sample, and their number: no fold is empty.
fn folds(n_samples: usize, seed: Seed) -> (Vec<usize>, usize) {
    let n_folds = FOLDS.min(n_samples);
    let mut fold_of = vec![0; n_samples];
    if n_folds >= 2 {
        let splits = k_fold(n_samples, n_folds, seed).expect("there are no more folds than samples");
        for (fold, split) in splits.iter().enumerate() {
            split.test.iter().for_each(|&sample| fold_of[sample] = fold);
        }
    }
    (fold_of, n_folds)
}

/// The values of the features that are replaced, feature by feature: positions, or NaN.
fn positions(data: &Dataset, replaced: &[Replaced]) -> Vec<Vec<f32>> {
    // What is not stored is the first value.
    let mut positions = vec![vec![0.0; data.n_samples()]; replaced.len()];
    let mut place = vec![None; data.n_features()];
    for (index, r) in replaced.iter().enumerate() {
        place[r.feature] = Some(index);
    }
    for row in 0..data.n_samples() {
        data.features().view().for_each_in_row(row, |j, v| {
            if let Some(index) = place[j as usize] {
                positions[index][row] = v;
            }
        });
    }
    positions
}

/// A group of numbers: how many, their mean, and their squared deviations from it.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Group {
    fn push(&mut self, y: f64) {
        self.merge(&Self {
            n: 1.0,
            mean: y,
            squares: 0.0,
        });
    }

    /// Takes in other numbers (Chan, Golub and `LeVeque` 1983).
    fn merge(&mut self, other: &Self) {
        if other.n > 0.0 {
            let (n, difference) = (self.n + other.n, other.mean - self.mean);
            self.squares += other.squares + difference * difference * (self.n * other.n / n);
            self.mean += difference * (other.n / n);
            self.n = n;
        }
    }
}

/// The k targets of the samples with each value of a feature.
#[derive(Debug, Clone)]
struct Groups {
    /// Those of the targets for the first value, then for the second, and so on.
    groups: Vec<Group>,
    k: usize,
}

impl Groups {
    fn new(n_values: usize, k: usize) -> Self {
        Self {
            groups: vec![Group::default(); n_values * k],
            k,
        }
    }

    /// Takes in the targets of a sample with this value.
    fn push(&mut self, value: usize, y: ArrayView1<'_, f32>) {
        let groups = &mut self.groups[value * self.k..][..self.k];
        for (groups, &y) in groups.iter_mut().zip(y) {
            if !y.is_nan() {
                groups.push(y.into());
            }
        }
    }

    /// Takes in other samples.
    fn merge(&mut self, other: &Self) {
        let pairs = self.groups.iter_mut().zip(&other.groups);
        pairs.for_each(|(mine, other)| mine.merge(other));
    }

    /// The shrunken means.
    fn means(&self) -> Means {
        let mut means = vec![0.0; self.groups.len() + self.k];
        for target in 0..self.k {
            let values = || self.groups.iter().skip(target).step_by(self.k);
            let (overall, weight) = shrinkage(values());
            let shrunken = values().map(|value| match value.n > 0.0 {
                true => overall + weight(value.n) * (value.mean - overall),
                false => overall,
            });
            let column = means.iter_mut().skip(target).step_by(self.k);
            column
                .zip(shrunken.chain([overall]))
                .for_each(|(mean, found)| *mean = found as f32);
        }
        Means(means)
    }
}

/// The mean of all, and the weight of the mean of a value of n samples against it.
fn shrinkage<'a>(values: impl Iterator<Item = &'a Group> + Clone) -> (f64, impl Fn(f64) -> f64) {
    let (mut all, mut n_values, mut sum_of_squares) = (Group::default(), 0.0, 0.0);
    for value in values.clone().filter(|value| value.n > 0.0) {
        all.merge(value);
        n_values += 1.0;
        sum_of_squares += value.n * value.n;
    }
    let sums = values.map(|value| (value.squares, value.n * (value.mean - all.mean).powi(2)));
    let (within, between) = sums.fold((0.0, 0.0), |sum, value| (sum.0 + value.0, sum.1 + value.1));
    let within = within / (all.n - n_values);
    let size = (all.n - sum_of_squares / all.n) / (n_values - 1.0);
    let between = (between / (n_values - 1.0) - within) / size;
    // NaN, which is not positive, where there is one value or none is repeated.
    let weight = move |n: f64| match between > 0.0 {
        true => n * between / (n * between + within),
        false => 0.0,
    };
    (all.mean, weight)
}
