//! Standardization of features to zero mean and unit variance.

use super::kinds::Kinds;
use super::moments::Moments;
use super::scale::infinite;
use super::step::{Fitted, Step, restored};
use super::{PreprocessError, Steps, check_samples, text_features};
use crate::column_sums::{ColumnSums, column_sums};
use crate::dataset::{Dataset, is_sparse};
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_core::{
    DEFAULT_MEMORY_LIMIT, Matrix, MatrixError, MatrixView, Mismatch, Spread, finite_or_missing, measurements,
};

/// The names of the stored arrays of moments.
const MEAN: &str = "standardize.mean";
const FACTOR: &str = "standardize.factor";

/// The features that are standardized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standardize {
    /// None.
    #[default]
    None,
    /// [Measurements](measurements) among sparse features of one unit, such as ages beside indicators, at least a quarter
    /// of whose values are not 0. All other features keep their values: a word that is rare and often repeated is worth
    /// more than one that is never repeated.
    Measurements,
    /// All numeric features.
    All,
}

/// The step of [`Steps::standardize`]. Nominal features and terms of texts are left unchanged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standardization {
    moments: Moments,
    /// True if sparse values stay sparse, since most columns are left unchanged.
    keeps_sparse: bool,
}

/// Returns true for features that stay sparse: some are texts, or so few are shifted that a matrix in which all of these
/// are stored is sparse by the rule of [`Layout::Auto`](crate::Layout::Auto).
fn keeps_sparse(kinds: &Kinds, moments: &Moments) -> bool {
    !kinds.texts.is_empty() || is_sparse(moments.n_shifted(), kinds.n_features)
}

impl Standardization {
    /// Fits on the features, with the weights of the samples.
    fn fit(data: &Dataset, scope: Standardize) -> Result<Self, PreprocessError> {
        check_samples(data)?;
        let sums = column_sums(data.features().view(), data.weights());
        let mut moments = Moments::of_sums(&sums);
        if scope == Standardize::Measurements {
            let spreads: Vec<Spread> = sums.iter().map(ColumnSums::spread).collect();
            let is_measurement = measurements(&spreads);
            let kept = (0..spreads.len()).filter(|&j| spreads[j].is_sparse() || !is_measurement[j]);
            kept.for_each(|j| moments.keep(j));
        }
        let texts = text_features(data.texts());
        data.nominal()
            .keys()
            .copied()
            .chain(texts)
            .for_each(|j| moments.keep(j));
        Ok(Self {
            keeps_sparse: keeps_sparse(&Kinds::of(data), &moments),
            moments,
        })
    }

    /// Standardizes features; the result is dense and takes at most `memory_limit` bytes.
    fn dense(&self, x: MatrixView<'_>, memory_limit: usize) -> Result<Matrix, PreprocessError> {
        self.moments.dense(x, memory_limit).map_err(|e| match e {
            MatrixError::Memory(limit) => PreprocessError::Standardized(limit),
            e => e.into(),
        })
    }

    /// Creates the step from the moments of features of these kinds.
    fn new(moments: Moments, kinds: &Kinds) -> Result<Self, PreprocessError> {
        let Moments { mean, factor } = &moments;
        Mismatch::check("features", kinds.n_features, mean.len())?;
        Mismatch::check("features", mean.len(), factor.len())?;
        let means = mean.iter().enumerate().filter(|(_, mean)| !mean.is_finite());
        let factors = factor
            .iter()
            .enumerate()
            .filter(|(_, factor)| !(factor.is_finite() && **factor >= 0.0));
        if let Some((feature, &value)) = means.chain(factors).next() {
            return Err(PreprocessError::Moment { feature, value });
        }
        Ok(Self {
            keeps_sparse: keeps_sparse(kinds, &moments),
            moments,
        })
    }
}

impl Step for Standardization {
    fn fit_transform(steps: Steps<'_>, data: &Dataset) -> Fitted<Self> {
        match steps.standardize {
            Standardize::None => Ok(None),
            Standardize::All => Self::fit(data, Standardize::All)?.fitted(data),
            Standardize::Measurements => match Self::fit(data, Standardize::Measurements)? {
                step if step.moments.keep_all() => Ok(None),
                step => step.fitted(data),
            },
        }
    }

    fn transform(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.moments.mean.len(), x.n_cols())?;
        let moved = match x {
            MatrixView::Sparse(_) if self.keeps_sparse => self.moments.sparse(x),
            _ => self.dense(x, DEFAULT_MEMORY_LIMIT)?,
        };
        moved.view().check_values(finite_or_missing).map_err(infinite)?;
        Ok(moved)
    }

    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.array(MEAN, &self.moments.mean)?;
        out.array(FACTOR, &self.moments.factor)
    }

    fn restore(from: &mut Reader<'_>, kinds: &Kinds) -> Result<Option<Self>, StoreError> {
        if !from.has(MEAN) {
            return Ok(None);
        }
        let mean = from.array::<f64>(MEAN)?.to_vec();
        let factor = from.array::<f64>(FACTOR)?.to_vec();
        restored(Self::new(Moments { mean, factor }, kinds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{DatasetError, Layout, Task};
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn set(x: Array2<f32>) -> Dataset {
        let y = Array2::zeros((x.nrows(), 1));
        Dataset::new(x.into(), y.into(), Task::Regression).unwrap()
    }

    fn fit(data: &Dataset) -> Result<Standardization, PreprocessError> {
        Standardization::fit(data, Standardize::All)
    }

    fn transform(fitted: &Standardization, data: &Dataset) -> Result<Matrix, PreprocessError> {
        fitted.transform(data.features().view())
    }

    #[test]
    fn hand_computed() {
        // Columns: mean 2, sd 1; constant; constant in the training set only.
        let train = set(array![[1.0, 0.1, 5.0], [3.0, 0.1, 5.0]]);
        let test = set(array![[2.0, 0.1, 6.0]]);
        let fitted = fit(&train).unwrap();
        assert_eq!(
            transform(&fitted, &train),
            Ok(array![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]].into())
        );
        assert_eq!(transform(&fitted, &test), Ok(array![[0.0, 0.0, 0.0]].into()));
    }

    /// A number among rare indicators, in another unit, is standardized; indicators and an amount that is mostly 0 are
    /// not, and sparse features stay sparse.
    #[test]
    fn measurements_alone_are_standardized() {
        let x = Array2::from_shape_fn((12, 8), |(i, j)| match j {
            0 => 100.0 * (1 + i % 3) as f32,
            1 if i % 6 == 0 => 100.0,
            j => f32::from(j > 1 && i % 6 == j - 2),
        });
        let dense = set(x.clone());
        let sparse = dense.clone().with_layout(Layout::Sparse, usize::MAX).unwrap();
        for data in [dense, sparse] {
            let fitted = Standardization::fit(&data, Standardize::Measurements).unwrap();
            let found = transform(&fitted, &data).unwrap();
            assert_eq!(
                matches!(found, Matrix::Sparse(_)),
                matches!(data.features(), Matrix::Sparse(_))
            );
            let found = found.view().to_dense(usize::MAX).unwrap();
            let deviation = (2.0_f32 / 3.0).sqrt();
            let expected = Array2::from_shape_fn(x.dim(), |(i, j)| match j {
                0 => ((i % 3) as f32 - 1.0) / deviation,
                _ => x[[i, j]],
            });
            assert!((&found - &expected).iter().all(|v| v.abs() < 1e-6), "{found}");
        }
        let indicators = set(x.slice(ndarray::s![.., 1..]).to_owned());
        let steps = Steps {
            standardize: Standardize::Measurements,
            ..Steps::default()
        };
        assert!(steps.fit(&indicators).unwrap().is_identity());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let train = set(array![[1.0, 2.0]]);
        let fitted = fit(&train).unwrap();
        assert_eq!(
            transform(&fitted, &set(array![[1.0]])),
            Err(PreprocessError::Mismatch(Mismatch {
                what: "features",
                expected: 2,
                given: 1
            }))
        );
        let memory = fitted.dense(train.features().view(), 7);
        assert!(matches!(memory, Err(PreprocessError::Standardized(_))));
        let kinds = Kinds::of(&train);
        let again = |mean: f64, factor: f64| {
            let (mean, factor) = (vec![0.0, mean], vec![0.0, factor]);
            Standardization::new(Moments { mean, factor }, &kinds)
        };
        assert_eq!(again(2.0, 0.5).map(|s| s.moments.mean), Ok(vec![0.0, 2.0]));
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
        let narrow = set(array![[0.0], [1e-30]]);
        let far = set(array![[0.0], [1e20]]);
        assert_eq!(
            transform(&fit(&narrow).unwrap(), &far),
            Err(DatasetError::InfiniteFeature {
                sample: 1,
                feature: 0,
                value: f32::INFINITY
            }
            .into())
        );
        let empty = train.select_samples(&[]).unwrap();
        assert_eq!(fit(&empty), Err(PreprocessError::NoSamples));
    }

    /// Sparse features stay sparse if fewer than a quarter are numbers, with the values that they have in dense form, for
    /// the step and the restored one.
    #[test]
    fn few_numbers_leave_sparse_features_sparse() {
        let x = array![
            [3.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, f32::NAN, 0.0],
            [5.0, 0.0, 0.0, 1.0, 1.0]
        ];
        let values = || ["0", "1"].map(String::from).into();
        for (first, is_sparse) in [(1, true), (2, false)] {
            let dense = set(x.clone());
            let dense = dense.with_nominal((first..5).map(|j| (j, values())).collect());
            let dense = dense.unwrap();
            let sparse = dense.clone().with_layout(Layout::Sparse, usize::MAX).unwrap();
            let fitted = fit(&sparse).unwrap();
            let restored = Standardization::new(fitted.moments.clone(), &Kinds::of(&sparse));
            assert_eq!(restored.as_ref(), Ok(&fitted));
            let found = transform(&fitted, &sparse).unwrap();
            assert_eq!(matches!(found, Matrix::Sparse(_)), is_sparse);
            let expected = transform(&fitted, &dense).unwrap();
            assert!(matches!(expected, Matrix::Dense(_)));
            let text = |x: &Matrix| format!("{:?}", x.view().to_dense(usize::MAX));
            assert_eq!(text(&found), text(&expected));
        }
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
            let repeated = fit(&data.select_samples(&repeated).unwrap()).unwrap();
            // Weights have no unit; sums of tenths are rounded.
            let weights: Vec<f32> = times.iter().map(|&times| times as f32 * 0.1).collect();
            let weighted = fit(&data.with_weights(weights).unwrap()).unwrap();
            for (weighted, repeated) in weighted.moments.mean.iter().zip(&repeated.moments.mean) {
                prop_assert!((weighted - repeated).abs() < 1e-3, "{weighted} {repeated}");
            }
            for (weighted, repeated) in weighted.moments.factor.iter().zip(&repeated.moments.factor) {
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
            let moved = transform(&fit(&data).unwrap(), &data).unwrap();
            let Matrix::Dense(z) = &moved else { panic!("dense") };
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
