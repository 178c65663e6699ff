//! Replaces nominal features by means of targets.

use super::expansion::{Columns, Expansion, Replaced, Storage};
use super::kinds::Kinds;
use super::step::{Fitted, Step, restored};
use super::{Encoding, Nominal, PreprocessError, Steps, check_samples};
use crate::dataset::{Dataset, DatasetError};
use crate::split::{grouped_folds, k_fold};
use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_core::{
    DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, Mismatch, ParameterError, Seed, check_dense, finite_or_missing,
};

/// The names of the stored names of targets, and of the stored array of means.
const TARGETS: &str = "target_encoding.targets";
const TARGET_MEAN: &str = "target_encoding.mean";

/// Number of folds; each fold is encoded by the means of the others.
const FOLDS: usize = 5;

/// The targets of [`Encoding::Target`](super::Encoding::Target): a few numbers for each sample of a set. Each nominal
/// feature of three or more values becomes k columns: the means of k targets over the training samples with the value,
/// shrunken towards the mean μ over all training samples in which the feature is observed.
///
/// A value v of n samples, for which a target has the mean ȳ, becomes w ȳ + (1 - w) μ with w = n τ² / (n τ² + σ²). Here
/// σ² is the variance of the target within values and τ² that between values, both estimated for the feature by a
/// one-way analysis of variance with random effects (Searle, Casella and McCulloch 1992, *Variance Components*, section
/// 3.6): σ² = Σ (y - ȳᵥ)² / (N - C) and τ² = (Σ nᵥ (ȳᵥ - μ)² / (C - 1) - σ²) / n₀ for C values and N samples, where
/// n₀ = (N - Σ nᵥ² / N) / (C - 1). This is the empirical Bayes estimate of Micci-Barreca (2001, "A preprocessing scheme
/// for high-cardinality categorical attributes", section 3), but with one σ² for all values, as a value that occurs
/// once shows no variance and its mean would not be shrunken. If τ² is not positive, or no value is repeated, all
/// values become μ; so do a missing value and a value that no training sample has.
///
/// *The training samples themselves* are encoded out of fold ([`Steps::fit_apply`](super::Steps::fit_apply)): each of
/// five folds, drawn with the seed of the targets, by the means of the other four. If samples were encoded by means
/// that contain their own targets, a model would trust the columns far too much. Samples of a group
/// ([`Dataset::with_groups`]) are in one fold, as their targets may be alike.
///
/// Columns are named `mean(target|feature)`. With sample weights, means are weighted, n and nᵥ are sums of weights of
/// mean 1, and N - C counts samples and values. The layout of the features is kept; features of one or two values stay
/// unchanged. Samples of a single group are refused, as there are no others.
///
/// ```
/// use ndarray::array;
/// use rpo_data::Seed;
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
    /// Creates targets (n x k; NaN if missing) with their names, and the seed of the folds.
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
    /// The means for each replaced feature.
    means: Vec<Means>,
}

/// The means of k targets for each value of a feature, followed by those for a missing value, row by row.
#[derive(Debug, Clone, PartialEq)]
struct Means(Vec<f32>);

impl TargetEncoding {
    /// Learns the means from a set. Also returns the features encoded for training, in which each sample is encoded by
    /// the means of the other folds.
    fn fit(data: &Dataset, targets: &EncodingTargets) -> Result<(Self, Matrix), PreprocessError> {
        check_samples(data)?;
        Mismatch::check("samples of the targets", data.n_samples(), targets.values.nrows())?;
        let k = targets.names.len();
        let columns = Expansion::new(data.n_features(), data.nominal(), |_| k);
        for r in columns.replaced() {
            let cells = (r.values.len() + 1).saturating_mul(FOLDS);
            check_dense(cells, k, size_of::<Group>(), DEFAULT_MEMORY_LIMIT)?;
        }
        if data.groups().is_some() && data.n_groups() < 2 {
            let reason =
                "needs samples of two groups or more: the means for a sample are those of other groups";
            return Err(ParameterError::conflict("nominal", "target", reason).into());
        }
        let (folds, n_folds) = folds(data, targets.seed);
        let weights = relative_weights(data);
        let positions = positions(data, columns.replaced());
        let features = columns.replaced().par_iter().zip(&positions);
        let learned = features.map(|(r, positions)| {
            let mut groups = vec![Groups::new(r.values.len(), k); n_folds];
            let samples = positions.iter().zip(&folds).zip(&weights);
            for (((&position, &fold), &weight), y) in samples.zip(targets.values.rows()) {
                if !position.is_nan() {
                    groups[fold].push(position as usize, y, weight);
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
        Ok((encoding, features))
    }

    /// Creates the encoding of features of these kinds from the names and the means of targets. The means are those of the values of the first feature, then those for its missing values,
    /// then those of the next feature.
    fn new(kinds: &Kinds, targets: Vec<String>, means: &[f32]) -> Result<Self, PreprocessError> {
        check_names(&targets)?;
        let columns = Expansion::new(kinds.n_features, &kinds.nominal, |_| targets.len());
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

    /// Returns the replaced features.
    pub(super) fn replaced(&self) -> impl Iterator<Item = usize> {
        self.columns.replaced().iter().map(|r| r.feature)
    }

    /// Replaces nominal features by the means that `means` returns for a row and a position among the replaced
    /// features.
    fn encode_by<'a>(
        &self,
        x: MatrixView<'_>,
        means: impl Fn(usize, usize) -> &'a Means,
    ) -> Result<Matrix, PreprocessError> {
        self.columns
            .expand(x, Storage::of(x), |matrix, row, index, position| {
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
}

impl Step for TargetEncoding {
    fn fit_transform(steps: Steps<'_>, data: &Dataset) -> Fitted<Self> {
        match steps.nominal {
            Encoding::Target(targets) if data.nominal().values().any(|values| values.len() > 2) => {
                Self::fit(data, targets).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn transform(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        self.encode_by(x, |_, index| &self.means[index])
    }

    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        let means: Vec<f32> = self.means.iter().flat_map(|means| &means.0).copied().collect();
        out.field(TARGETS, &self.targets)?;
        out.array(TARGET_MEAN, &means)
    }

    fn restore(from: &mut Reader<'_>, kinds: &Kinds) -> Result<Option<Self>, StoreError> {
        if !from.has(TARGET_MEAN) {
            return Ok(None);
        }
        let targets = from.field(TARGETS)?;
        let means = from.array::<f32>(TARGET_MEAN)?.to_vec();
        restored(Self::new(kinds, targets, &means))
    }

    fn columns(&self) -> Option<&dyn Columns> {
        Some(&self.columns)
    }

    fn nominal(&self, before: Nominal) -> Nominal {
        self.columns.kept_nominal(&before)
    }

    fn feature_name(&self, before: &dyn Fn(usize) -> Option<String>, column: usize) -> Option<String> {
        let name =
            |_: &Replaced, feature: &str, target: usize| format!("mean({}|{feature})", self.targets[target]);
        self.columns.feature_name(before, column, name)
    }
}

/// Refuses an encoding without targets.
fn check_names(names: &[String]) -> Result<(), ParameterError> {
    ParameterError::unless(!names.is_empty(), "targets", names.len(), "at least 1")
}

/// Returns the fold of each sample and the number of folds. No fold is empty, and samples of a group are in one fold.
fn folds(data: &Dataset, seed: Seed) -> (Vec<usize>, usize) {
    let n_samples = data.n_samples();
    let n_folds = FOLDS.min(data.n_groups());
    let mut fold_of = vec![0; n_samples];
    if n_folds >= 2 {
        let splits = match data.groups() {
            None => k_fold(n_samples, n_folds, seed),
            Some(groups) => grouped_folds(groups, n_folds, seed),
        };
        let splits = splits.expect("there are no more folds than groups or samples");
        for (fold, split) in splits.iter().enumerate() {
            split.test.iter().for_each(|&sample| fold_of[sample] = fold);
        }
    }
    (fold_of, n_folds)
}

/// Returns the weight of each sample relative to their mean, so that they add up to the number of samples.
fn relative_weights(data: &Dataset) -> Vec<f64> {
    let Some(weights) = data.weights() else {
        return vec![1.0; data.n_samples()];
    };
    let mean = weights.iter().map(|w| f64::from(*w)).sum::<f64>() / weights.len() as f64;
    let relative = |w: &f32| if mean > 0.0 { f64::from(*w) / mean } else { 1.0 };
    weights.iter().map(relative).collect()
}

/// Returns the values of the replaced features, feature by feature: positions, or NaN.
fn positions(data: &Dataset, replaced: &[Replaced]) -> Vec<Vec<f32>> {
    // A value that is not stored is the first value.
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

/// Summary of a group of numbers: their count, the sum of their weights, and their weighted mean and sum of squared
/// deviations from it.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    count: f64,
    n: f64,
    mean: f64,
    squares: f64,
}

impl Group {
    fn push(&mut self, y: f64, weight: f64) {
        self.merge(&Self {
            count: 1.0,
            n: weight,
            mean: y,
            squares: 0.0,
        });
    }

    /// Merges another group (Chan, Golub and `LeVeque` 1983).
    fn merge(&mut self, other: &Self) {
        if other.n > 0.0 {
            let (n, difference) = (self.n + other.n, other.mean - self.mean);
            self.squares += other.squares + difference * difference * (self.n * other.n / n);
            self.mean += difference * (other.n / n);
            self.n = n;
            self.count += other.count;
        }
    }
}

/// Summaries of the k targets of the samples with each value of a feature.
#[derive(Debug, Clone)]
struct Groups {
    /// The k summaries for the first value, then those for the second, and so on.
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

    /// Adds the targets of a sample with this value.
    fn push(&mut self, value: usize, y: ArrayView1<'_, f32>, weight: f64) {
        let groups = &mut self.groups[value * self.k..][..self.k];
        for (groups, &y) in groups.iter_mut().zip(y) {
            if !y.is_nan() {
                groups.push(y.into(), weight);
            }
        }
    }

    /// Merges the summaries of other samples.
    fn merge(&mut self, other: &Self) {
        let pairs = self.groups.iter_mut().zip(&other.groups);
        pairs.for_each(|(mine, other)| mine.merge(other));
    }

    /// Returns the shrunken means; 0 for a target without observed values.
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

/// Returns the overall mean, and a function from the number of samples with a value to the weight of its mean.
fn shrinkage<'a>(values: impl Iterator<Item = &'a Group> + Clone) -> (f64, impl Fn(f64) -> f64) {
    let (mut all, mut n_values, mut sum_of_squares) = (Group::default(), 0.0, 0.0);
    for value in values.clone().filter(|value| value.n > 0.0) {
        all.merge(value);
        n_values += 1.0;
        sum_of_squares += value.n * value.n;
    }
    let sums = values.map(|value| (value.squares, value.n * (value.mean - all.mean).powi(2)));
    let (within, between) = sums.fold((0.0, 0.0), |sum, value| (sum.0 + value.0, sum.1 + value.1));
    // The variance per unit of weight, with the degrees of freedom of the samples.
    let within = match all.count > n_values {
        true => within / all.n * all.count / (all.count - n_values),
        false => f64::NAN,
    };
    let size = (all.n - sum_of_squares / all.n) / (n_values - 1.0);
    let between = (between / (n_values - 1.0) - within) / size;
    // NaN, which is not positive, if there is one value or no value is repeated.
    let weight = move |n: f64| match between > 0.0 {
        true => n * between / (n * between + within),
        false => 0.0,
    };
    (all.mean, weight)
}
