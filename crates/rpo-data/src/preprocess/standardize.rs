//! Standardization to zero mean and unit variance.

use super::scale::infinite;
use super::{
    Nominal, PreprocessError, Transform, check_features, check_nominal, check_samples, check_task,
    text_features,
};
use crate::builder::MatrixBuilder;
use crate::column_sums::{ColumnSums, column_sums};
use crate::dataset::{Dataset, DatasetError, Task};
use ndarray::Array2;
use rpo_core::{DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, Mismatch, finite_or_missing};

/// Standardizes targets: y' = (y - mean) / sd, with the mean and the standard deviation (divisor n) of the observed
/// values of the set it is fitted on, which count equally, whatever the weights of the samples. A target that is
/// constant in that set becomes 0 everywhere. Missing values stay missing; a value so far from those of that set that
/// the result would be infinite is an error.
/// [`Steps::standardize`](super::Steps::standardize) standardizes features.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardizer {
    of_targets: bool,
    mean: Vec<f64>,
    /// 1 / sd; 0 for a constant column.
    factor: Vec<f64>,
    nominal: Nominal,
    /// True if sparse values stay sparse, since most columns are left unchanged.
    keeps_sparse: bool,
    memory_limit: usize,
}

impl Standardizer {
    /// Fits on the features, with the weights of the samples.
    pub(super) fn of_features(data: &Dataset) -> Result<Self, PreprocessError> {
        check_samples(data)?;
        let (mut mean, mut factor) = moments(data.features().view(), data.weights());
        let texts = text_features(data.texts());
        for j in data.nominal().keys().copied().chain(texts) {
            (mean[j], factor[j]) = (0.0, 1.0);
        }
        Ok(Self {
            of_targets: false,
            mean,
            factor,
            nominal: data.nominal().clone(),
            keeps_sparse: !data.texts().is_empty(),
            memory_limit: DEFAULT_MEMORY_LIMIT,
        })
    }

    /// Fits on the targets of a regression; [`Standardizer::restore`] reverts predictions.
    ///
    /// # Errors
    /// [`PreprocessError::NoSamples`], [`PreprocessError::Task`].
    pub fn of_targets(data: &Dataset) -> Result<Self, PreprocessError> {
        check_samples(data)?;
        check_task(data, Task::Regression)?;
        let (mean, factor) = moments(data.outputs().view(), None);
        Ok(Self {
            of_targets: true,
            mean,
            factor,
            nominal: Nominal::new(),
            keeps_sparse: false,
            memory_limit: DEFAULT_MEMORY_LIMIT,
        })
    }

    /// Creates a standardizer of features from the mean and factor 1 / sd of each (0 for a constant feature). Nominal
    /// features have mean 0 and factor 1. `keeps_sparse` is true if sparse values stay sparse.
    pub(super) fn new(
        mean: Vec<f64>,
        factor: Vec<f64>,
        nominal: Nominal,
        keeps_sparse: bool,
    ) -> Result<Self, PreprocessError> {
        Mismatch::check("features", mean.len(), factor.len())?;
        check_features(&nominal, mean.len())?;
        let means = mean.iter().enumerate().filter(|(_, mean)| !mean.is_finite());
        let factors = factor
            .iter()
            .enumerate()
            .filter(|(_, factor)| !(factor.is_finite() && **factor >= 0.0));
        if let Some((feature, &value)) = means.chain(factors).next() {
            return Err(PreprocessError::Moment { feature, value });
        }
        Ok(Self {
            of_targets: false,
            mean,
            factor,
            nominal,
            keeps_sparse,
            memory_limit: DEFAULT_MEMORY_LIMIT,
        })
    }

    /// Mean of each column in the set it was fitted on; 0 where values are left unchanged.
    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// 1 / sd of each column in the set it was fitted on; 0 for a constant column, 1 where values are left unchanged.
    pub(super) fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// Reverts standardized values, such as predictions (n x d), to the scale of the targets: y = y' sd + mean.
    ///
    /// # Errors
    /// [`PreprocessError::Mismatch`].
    pub fn restore(&self, values: &mut Array2<f32>) -> Result<(), PreprocessError> {
        Mismatch::check(self.what(), self.mean.len(), values.ncols())?;
        for mut row in values.rows_mut() {
            for (j, v) in row.iter_mut().enumerate() {
                let sd = if self.factor[j] == 0.0 {
                    0.0
                } else {
                    1.0 / self.factor[j]
                };
                *v = (f64::from(*v) * sd + self.mean[j]) as f32;
            }
        }
        Ok(())
    }

    fn what(&self) -> &'static str {
        if self.of_targets { "outputs" } else { "features" }
    }

    fn moved(&self, column: usize, value: f32) -> f32 {
        ((f64::from(value) - self.mean[column]) * self.factor[column]) as f32
    }

    /// Standardizes sparse values. A zero that is not stored becomes stored if the mean of its column is not 0.
    fn standardize_sparse(&self, values: MatrixView<'_>) -> Matrix {
        let shifted = |j: &u32| self.mean[*j as usize] != 0.0;
        let shifted: Vec<u32> = (0..values.n_cols() as u32).filter(shifted).collect();
        let mut builder = MatrixBuilder::sparse(values.n_cols());
        for row in 0..values.n_rows() {
            let mut absent = shifted.iter().copied().peekable();
            let mut push = |j: u32, v: f32| builder.push(j, self.moved(j as usize, v));
            values.for_each_in_row(row, |j, v| {
                while let Some(before) = absent.next_if(|before| *before < j) {
                    push(before, 0.0);
                }
                absent.next_if_eq(&j);
                push(j, v);
            });
            absent.for_each(|j| push(j, 0.0));
            builder.end_row();
        }
        builder.finish()
    }

    /// Standardizes targets (n x d); the result is dense.
    ///
    /// # Errors
    /// [`PreprocessError::Mismatch`], [`PreprocessError::Memory`], and [`PreprocessError::Dataset`] for a value that
    /// would become infinite.
    pub fn standardize(&self, values: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check(self.what(), self.mean.len(), values.n_cols())?;
        let moved = if self.keeps_sparse && matches!(values, MatrixView::Sparse(_)) {
            self.standardize_sparse(values)
        } else {
            let mut dense = values.to_dense(self.memory_limit)?;
            for mut row in dense.rows_mut() {
                row.iter_mut()
                    .enumerate()
                    .for_each(|(j, v)| *v = self.moved(j, *v));
            }
            Matrix::Dense(dense)
        };
        match moved.view().check_values(finite_or_missing) {
            Ok(()) => Ok(moved),
            Err(e) if !self.of_targets => Err(infinite(e)),
            Err(e) => Err(DatasetError::Output(e).into()),
        }
    }
}

impl Transform for Standardizer {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        if self.of_targets {
            check_task(data, Task::Regression)?;
            return Ok(data.replace_outputs(self.standardize(data.outputs().view())?));
        }
        check_nominal(&self.nominal, data)?;
        let features = self.standardize(data.features().view())?;
        Ok(data.replace_values(features))
    }
}

/// Returns the mean and 1 / sd of each column; 0 in place of 1 / sd if the column is constant.
fn moments(a: MatrixView<'_>, weights: Option<&[f32]>) -> (Vec<f64>, Vec<f64>) {
    let factor = |sums: &ColumnSums| match sums.varies() {
        true => (sums.weight / sums.squares).sqrt(),
        false => 0.0,
    };
    let columns = column_sums(a, weights);
    columns.iter().map(|sums| (sums.mean, factor(sums))).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Layout;
    use ndarray::array;
    use proptest::prelude::*;

    fn regression(x: Array2<f32>) -> Dataset {
        let y = x.clone();
        let x = Matrix::from(x);
        Dataset::new(x, y.into(), Task::Regression).unwrap()
    }

    #[test]
    fn hand_computed() {
        // Columns: mean 2, sd 1; constant; constant in the training set only.
        let train = regression(array![[1.0, 0.1, 5.0], [3.0, 0.1, 5.0]]);
        let test = regression(array![[2.0, 0.1, 6.0]]);
        let fitted = Standardizer::of_features(&train).unwrap();
        assert_eq!(
            fitted.apply(&train).unwrap().features(),
            &array![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]].into()
        );
        assert_eq!(
            fitted.apply(&test).unwrap().features(),
            &array![[0.0, 0.0, 0.0]].into()
        );
        let targets = Standardizer::of_targets(&train).unwrap();
        let moved = targets.apply(&train).unwrap();
        assert_eq!(moved.outputs(), &array![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]].into());
        let mut back = moved.outputs().view().to_dense(1000).unwrap();
        targets.restore(&mut back).unwrap();
        assert_eq!(Matrix::from(back), *train.outputs());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let train = regression(array![[1.0, 2.0]]);
        let mut fitted = Standardizer::of_features(&train).unwrap();
        assert_eq!(
            fitted.apply(&regression(array![[1.0]])),
            Err(PreprocessError::Mismatch(Mismatch {
                what: "features",
                expected: 2,
                given: 1
            }))
        );
        let values = ["a", "b"].map(String::from).into();
        let nominal = regression(array![[1.0, 1.0]])
            .with_nominal([(1, values)].into())
            .unwrap();
        assert_eq!(fitted.apply(&nominal), Err(PreprocessError::Kind(1)));
        fitted.memory_limit = 7;
        assert!(matches!(fitted.apply(&train), Err(PreprocessError::Memory(_))));
        let again = |mean: f64, factor: f64| {
            Standardizer::new(vec![0.0, mean], vec![0.0, factor], Nominal::new(), false)
        };
        assert_eq!(again(2.0, 0.5).map(|s| s.mean().to_vec()), Ok(vec![0.0, 2.0]));
        assert_eq!(
            again(2.0, -0.5),
            Err(PreprocessError::Moment {
                feature: 1,
                value: -0.5
            })
        );
        assert!(matches!(
            again(f64::NAN, 1.0),
            Err(PreprocessError::Moment { feature: 1, .. })
        ));
        // A value so far from those of the training set that its standardised form exceeds f32.
        let narrow = regression(array![[0.0], [1e-30]]);
        let far = regression(array![[0.0], [1e20]]);
        let (row, column, value) = (1, 0, f32::INFINITY);
        assert_eq!(
            Standardizer::of_features(&narrow).unwrap().apply(&far),
            Err(DatasetError::InfiniteFeature {
                sample: row,
                feature: column,
                value
            }
            .into())
        );
        assert_eq!(
            Standardizer::of_targets(&narrow).unwrap().apply(&far),
            Err(DatasetError::Output(rpo_core::MatrixError::NonFinite { row, column, value }).into())
        );
        let empty = train.select_samples(&[]).unwrap();
        assert_eq!(Standardizer::of_features(&empty), Err(PreprocessError::NoSamples));
    }

    proptest! {
        #[test]
        fn a_weight_counts_as_often_as_the_sample_occurs(
            values in proptest::collection::vec(prop_oneof![Just(f32::NAN), Just(0.0), -1e3_f32..1e3], 24),
            times in proptest::collection::vec(0_usize..4, 8),
            sparse in any::<bool>(),
        ) {
            prop_assume!(times.iter().any(|&times| times > 0));
            let x = Array2::from_shape_vec((8, 3), values).unwrap();
            let layout = if sparse { Layout::Sparse } else { Layout::Dense };
            let data = Dataset::new(x.into(), Array2::zeros((8, 1)).into(), Task::Regression).unwrap();
            let data = data.with_layout(layout, usize::MAX).unwrap();
            let repeated: Vec<usize> = (0..8).flat_map(|sample| vec![sample; times[sample]]).collect();
            let repeated = Standardizer::of_features(&data.select_samples(&repeated).unwrap()).unwrap();
            // Weights have no unit; sums of tenths are rounded.
            let weights: Vec<f32> = times.iter().map(|&times| times as f32 * 0.1).collect();
            let weighted = Standardizer::of_features(&data.with_weights(weights).unwrap()).unwrap();
            for (weighted, repeated) in weighted.mean.iter().zip(&repeated.mean) {
                prop_assert!((weighted - repeated).abs() < 1e-3, "{weighted} {repeated}");
            }
            for (weighted, repeated) in weighted.factor.iter().zip(&repeated.factor) {
                prop_assert!((weighted - repeated).abs() <= 1e-5 * repeated, "{weighted} {repeated}");
            }
        }

        #[test]
        fn present_values_have_mean_0_and_variance_1(
            values in proptest::collection::vec(prop_oneof![Just(f32::NAN), Just(0.0), -1e3_f32..1e3], 30),
            sparse in any::<bool>(),
        ) {
            let x = Array2::from_shape_vec((10, 3), values).unwrap();
            let y = Array2::zeros((10, 1));
            let data = Dataset::new(x.clone().into(), y.into(), Task::Regression).unwrap();
            let layout = if sparse { Layout::Sparse } else { Layout::Dense };
            let data = data.with_layout(layout, usize::MAX).unwrap();
            let moved = Standardizer::of_features(&data).unwrap().apply(&data).unwrap();
            let Matrix::Dense(z) = moved.features() else { panic!("dense") };
            for (before, after) in x.columns().into_iter().zip(z.columns()) {
                let present: Vec<f64> = after.iter().filter(|v| !v.is_nan()).map(|&v| f64::from(v)).collect();
                prop_assert_eq!(present.len(), before.iter().filter(|v| !v.is_nan()).count());
                let n = present.len().max(1) as f64;
                let mean = present.iter().sum::<f64>() / n;
                let variance = present.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
                let mut distinct: Vec<f32> = before.iter().copied().filter(|v| !v.is_nan()).collect();
                distinct.sort_by(f32::total_cmp);
                distinct.dedup();
                let expected = if distinct.len() > 1 { 1.0 } else { 0.0 };
                prop_assert!(mean.abs() < 1e-5 && (variance - expected).abs() < 1e-4, "{mean} {variance}");
            }
        }
    }
}
